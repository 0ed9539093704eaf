"""The population behind private reports that someone brings, with the certificate of what made them."""

from __future__ import annotations

from pathlib import Path

from nicegui import ui

from noisewright.core.errors import NoisewrightError
from noisewright.estimation.population.result import Estimate
from noisewright.render import short
from noisewright.studio.answers.surveys import READERS, estimate_code, estimated, example_reports
from noisewright.studio.look import figures, words
from noisewright.studio.look.buttons import button
from noisewright.studio.look.frame import is_dark
from noisewright.studio.look.linked import Linked, named
from noisewright.studio.look.live import Live
from noisewright.studio.look.plot import Plot
from noisewright.studio.look.proof import SameElsewhere
from noisewright.studio.look.uploads import file_button
from noisewright.studio.task import Task
from noisewright.studio.visits import visit_here

__all__ = ["Reports"]

FIELDS = (
    ("column", "the column of the reports", "empty: the only one"),
    ("within", "the range of the secrets", "for noise without bounds, such as 0:100"),
    ("confidence", "confidence", "of each interval; empty: 0.95"),
)
MOST_SHOWN = 40
EXAMPLE = "sport"
KINDS = ("reports_", "mechanism_")
"""Prefixes by which a link distinguishes the two files."""


class Reports:
    """The page."""

    def __init__(self, asked: dict[str, str]) -> None:
        self.example = asked.get("example", "") == EXAMPLE
        self.asked = {key: asked[key] for key, *_ in FIELDS if key in asked}
        self.visit, self.dark = visit_here(), is_dark()
        self.linked = {kind: Linked(asked, kind) for kind in KINDS}
        self.reports: tuple[str, Path] | None = None
        self.mechanism: tuple[str, Path] | None = None
        self.others = ""
        """Warnings about files other than the link's."""

    def build(self) -> None:
        """The files next to the estimate."""
        with ui.element("div").classes("nw-columns"):
            with ui.element("section").classes("nw-panel nw-fields").props('aria-label="The reports"'):
                ui.html("<h2>The reports</h2>", sanitize=False)
                file_button("Open the reports", tuple(READERS), self._reports, self._refuse)
                file_button("Open the certificate", (".json",), self._mechanism, self._refuse)
                button("Example: hours of sport", self._example, icon="science")
                self.take = button("Download the example", self._download, icon="download", quiet=True)
                self.take.set_visibility(False)
                self.which = ui.html("", sanitize=False).props('role="status"')
                for key, label, hint in FIELDS:
                    entry = ui.input(label, value=self.asked.get(key, ""))
                    entry.props("outlined dense debounce=400 stack-label").props["hint"] = hint
                    entry.on_value_change(lambda e, key=key: self._type(key, e.value or ""))
            with ui.element("section").classes("nw-panel").props('aria-label="The population" aria-live="polite"'):
                ui.html("<h2>The population behind them</h2>", sanitize=False)
                self.plot = Plot()
                self.found = ui.html(
                    words.note(
                        "Reports are a table with what people said after noise; the certificate (.json) is what design and "
                        "survey write. Only counts of reports are used, and nothing here changes what was promised."
                    ),
                    sanitize=False,
                )
        self.elsewhere = SameElsewhere()
        self.live = Live(self._show, self._refuse)
        if self.example:
            ui.timer(0, self._example, once=True)
        else:
            self._elsewhere()
            self.linked["reports_"].restore(self.visit, self._reports)
            self.linked["mechanism_"].restore(self.visit, self._mechanism)
            self._ask()

    def _reports(self, name: str, where: Path) -> None:
        self.reports, self.example = (name, where), False
        self._opened("reports_", name, where)

    def _mechanism(self, name: str, where: Path) -> None:
        self.mechanism, self.example = (name, where), False
        self._opened("mechanism_", name, where)

    def _opened(self, kind: str, name: str, where: Path) -> None:
        self.others += self.linked[kind].taken(name, self.visit.digests.get(str(where), ""))
        self._ask()

    def _example(self) -> None:
        reports, mechanism = example_reports(self.visit.place("reports.csv").parent)
        self.reports, self.mechanism, self.example = (reports.name, reports), (mechanism.name, mechanism), True
        self._ask()

    def _download(self) -> None:
        for one in (self.reports, self.mechanism):
            if one is not None:
                ui.download.file(one[1], one[0])

    def _type(self, key: str, text: str) -> None:
        self.asked = {k: v for k, v in {**self.asked, key: text}.items() if v.strip()}
        self._ask()

    def _ask(self) -> None:
        names = [pair[0] for pair in (self.reports, self.mechanism) if pair is not None]
        wanted = (
            "" if self.example else "".join(words.alarm(one.waiting) for one in self.linked.values() if one.waiting)
        )
        self.which.content = words.note(f"Open: {', '.join(names)}" if names else "") + self.others + wanted
        self.take.set_visibility(self.example)
        if self.reports is None or self.mechanism is None:
            return
        reports, mechanism, asked = str(self.reports[1]), str(self.mechanism[1]), dict(self.asked)
        self.live.ask(lambda: estimated(reports, mechanism, asked))

    def _refuse(self, sentence: str) -> None:
        self.plot.show(None)
        self.found.content = words.alarm(self.visit.said(sentence))

    def _show(self, found: Estimate) -> None:
        assert found.low is not None
        assert found.high is not None
        order = sorted(range(len(found.secrets)), key=lambda i: -found.probabilities[i])[:MOST_SHOWN]
        order.sort()
        rows = [
            (str(found.secrets[i]), f"{found.probabilities[i]:.4f}", f"{found.low[i]:.4f} to {found.high[i]:.4f}")
            for i in order
        ]
        numbers = all(isinstance(secret, (int, float)) for secret in found.secrets)
        drawn = range(len(found.secrets)) if numbers else order
        drawing = figures.banded(
            [found.secrets[i] for i in drawn],
            found.probabilities[list(drawn)],
            found.low[list(drawn)],
            found.high[list(drawn)],
            "true value",
            "share of people",
            self.dark,
        )
        self.plot.show(drawing)
        facts = [
            ("Reports", f"{found.reports:,} of {found.mechanism}"),
            ("Promise", f"of each report: {short(found.promise or 'none')}; estimation does not change it"),
            ("Fit", found.certificate()),
            ("Band", f"{found.confidence_in_words} intervals, {found.scope}"),
        ]
        table = words.table(("true value", "share", "interval"), rows, "Estimated shares", numbers=(1, 2))
        more = words.listed(found.warnings, "To think about") if found.warnings else ""
        self.found.content = words.facts(facts) + more + table
        self._elsewhere()

    def _files(self) -> dict[str, str]:
        """Return the part of a link that names the files, given or still wanted."""
        found: dict[str, str] = {}
        for kind, pair in zip(KINDS, (self.reports, self.mechanism), strict=True):
            linked = self.linked[kind]
            if pair is not None:
                found |= named(pair[0], self.visit.digests.get(str(pair[1]), ""), kind)
            elif linked.name:
                found |= named(linked.name, linked.digest, kind)
        return found

    def _elsewhere(self) -> None:
        reports = "reports.csv" if self.reports is None else self.reports[0]
        mechanism = "mechanism.json" if self.mechanism is None else self.mechanism[0]
        try:
            code = estimate_code(reports, mechanism, self.asked)
        except NoisewrightError as problem:
            code = f"# {problem}"
        options = {"mechanism": mechanism, "intervals": "asymptotic", **self.asked}
        command = Task("", ("estimate", reports), options).command
        shown = {"example": EXAMPLE} if self.example else self._files()
        self.elsewhere.show(Task("/survey/estimate", (), {}, {**self.asked, **shown}), code, command)
