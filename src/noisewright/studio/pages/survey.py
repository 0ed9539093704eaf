"""The population behind private reports that someone brings, with the certificate of what made them."""

from __future__ import annotations

from html import escape
from pathlib import Path

from nicegui import ui
from starlette.requests import Request

from noisewright.claims.figures import numeral, upward
from noisewright.estimation.result import Estimate
from noisewright.exceptions import NoisewrightError
from noisewright.render import html as words
from noisewright.render.claims import short
from noisewright.studio import figures
from noisewright.studio.components import (
    Linked,
    Live,
    SameElsewhere,
    button,
    epsilon_field,
    file_button,
    is_dark,
    named,
    tabs,
)
from noisewright.studio.figures import Plot
from noisewright.studio.services.surveys import (
    DEVICES,
    EXAMPLE,
    FLAGS,
    READERS,
    counted,
    estimate_code,
    estimated,
    example_reports,
    option_table,
    plan_code,
    planned_survey,
)
from noisewright.studio.sessions import Task, read_query, visit_here
from noisewright.surveys.planning import Shares, Survey

__all__ = ["Reports", "build"]


REPORT_FIELDS = (
    ("column", "the column of the reports", "empty: the only one"),
    ("within", "the range of the secrets", "for noise without bounds, such as 0:100"),
    ("confidence", "confidence", "of each interval; empty: 0.95"),
)
MOST_SHOWN = 40
REPORTS_EXAMPLE = "sport"
KINDS = ("reports_", "mechanism_")
"""Prefixes by which a link distinguishes the two files."""


class Reports:
    """The page."""

    def __init__(self, asked: dict[str, str]) -> None:
        self.example = asked.get("example", "") == REPORTS_EXAMPLE
        self.asked = {key: asked[key] for key, *_ in REPORT_FIELDS if key in asked}
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
                for key, label, hint in REPORT_FIELDS:
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
        table = words.table_html(("true value", "share", "interval"), rows, "Estimated shares", numbers=(1, 2))
        more = words.listed(found.warnings, "To think about") if found.warnings else ""
        self.found.content = words.facts_html(facts) + more + table
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
        shown = {"example": REPORTS_EXAMPLE} if self.example else self._files()
        self.elsewhere.show(Task("/survey/estimate", (), {}, {**self.asked, **shown}), code, command)


# Survey -------------------------------------------------------------------------------------------------------------------
#
# Plan a survey on a sensitive question, and estimate the truth behind its answers.


TABS = {"": "Plan a survey", "estimate": "Estimate from reports"}
FIELDS = (
    ("respondents", "how many people are asked", ""),
    ("target_margin", "or the margin of error that is wanted", "such as 0.03"),
    ("prevalence", "a guess at the share of the sensitive answer", "empty: the worst; for accuracy alone"),
    ("categories", "the possible answers", "commas between, the sensitive one last"),
    ("delta", "delta", "an extra probability; empty: 0"),
    ("confidence", "confidence", "of the margin; empty: 0.95"),
)
SWITCHES = {
    "whole_population": "everybody is asked, so nothing comes from sampling",
    "allow_certain_disclosure": "answers may give a truth away for certain, to a share of at most delta",
}
OURS = ("question",)
SAID = "said_"
"""Names of the counts of answers in a link."""


def build(request: Request) -> None:
    """Tabs, and one of the two parts."""
    part = request.path_params.get("part", "")
    if part not in TABS:
        ui.html(words.alarm("There is no such page about surveys."), sanitize=False)
        return
    tabs("/survey", TABS, part, "Parts of a survey")
    asked = read_query(request.query_params)
    if part:
        Reports(asked).build()
    else:
        _Planner(asked).build()


class _Planner:
    def __init__(self, asked: dict[str, str]) -> None:
        self.shown = {key: asked.pop(key) for key in OURS if key in asked}
        self.given = {key: text for key, text in asked.items() if key in _known()} or dict(EXAMPLE)
        self.counts = {key[len(SAID) :]: text for key, text in asked.items() if key.startswith(SAID)}
        self.plan: Survey | None = None
        self.answers: tuple[str, ...] = ()
        self.dark = is_dark()

    def build(self) -> None:
        """The fields next to the plan."""
        with ui.element("div").classes("nw-columns"):
            with ui.element("section").classes("nw-panel nw-fields").props('aria-label="The survey"'):
                ui.html("<h2>The survey</h2>", sanitize=False)
                self._fields()
            with ui.element("div").classes("nw-stack"):
                self._results()
        self.elsewhere = SameElsewhere()
        self.live = Live(self._show, self._refuse)
        self._ask()

    def _fields(self) -> None:
        question = ui.input("the question, for the card", value=self.shown.get("question", ""))
        question.props("outlined dense debounce=300").on_value_change(lambda e: self._question(e.value or ""))
        epsilon_field("epsilon *", self.given.get("epsilon", "1"), lambda text: self._type("epsilon", text))
        for key, label, hint in FIELDS:
            entry = ui.input(label, value=self.given.get(key, "")).props("outlined dense debounce=300 stack-label")
            entry.props["hint"] = hint
            entry.on_value_change(lambda e, key=key: self._type(key, e.value or ""))
        chosen = self.given.get("device", "")
        pick = ui.select(
            {"": "the handiest that is good enough", **{name: name for name in DEVICES}},
            value=chosen if chosen in DEVICES else "",
            label="what lots are drawn with",
        ).props("outlined dense")
        pick.on_value_change(lambda e: self._type("device", e.value or ""))
        for key, label in SWITCHES.items():
            ui.switch(label, value=key in self.given).on_value_change(lambda e, key=key: self._switch(key, e.value))

    def _results(self) -> None:
        self.there = ui.element("section").classes("nw-panel nw-fields").props('aria-label="The card"')
        with self.there:
            ui.html("<h2>The card for the interview</h2>", sanitize=False)
            self.card = ui.html("", sanitize=False)
            with ui.element("div").classes("nw-row"):
                button("Print the card", lambda: ui.run_javascript("window.print()"), icon="print")
                button("Download the certificate", self._download, icon="download")
        with ui.element("section").classes("nw-panel").props('aria-label="The promise" aria-live="polite"'):
            ui.html("<h2>What is promised, and how exact it is</h2>", sanitize=False)
            self.promise = ui.html("", sanitize=False)
        self.below = ui.element("section").classes("nw-panel nw-fields").props('aria-label="The answers"')
        with self.below:
            ui.html("<h2>When the answers are counted</h2>", sanitize=False)
            self.boxes = ui.element("div").classes("nw-row")
            self.shares = ui.html("", sanitize=False)
            self.plot = Plot()

    def _type(self, key: str, text: str) -> None:
        self.given = {k: v for k, v in {**self.given, key: text}.items() if v.strip() or k in FLAGS}
        self._ask()

    def _switch(self, key: str, on: bool) -> None:
        self.given = {k: v for k, v in self.given.items() if k != key} | ({key: ""} if on else {})
        self._ask()

    def _question(self, text: str) -> None:
        self.shown = {"question": text} if text else {}
        self._ask()

    def _ask(self) -> None:
        given = dict(self.given)
        self.live.ask(lambda: planned_survey(given))

    def _refuse(self, sentence: str) -> None:
        self.plan = None
        self.promise.content = words.alarm(sentence)
        self.there.set_visibility(False)
        self.below.set_visibility(False)
        self.elsewhere.hide()

    def _show(self, plan: Survey) -> None:
        self.plan = plan
        self.there.set_visibility(True)
        self.below.set_visibility(True)
        self.card.content = _card(plan, self.shown.get("question", ""))
        head, rows = option_table(plan)
        self.promise.content = (
            words.said(plan.guarantee.in_words())
            + words.facts_html(_facts(plan))
            + words.table_html(head, rows, "Ways to ask", numbers=range(1, len(head)))
        )
        answers = tuple(str(answer) for answer in plan.device.answers)
        if answers != self.answers:
            self.counts = {answer: text for answer, text in self.counts.items() if answer in answers}
            self.answers = answers
            self._count_boxes()
        self._count()

    def _show_elsewhere(self, typed: dict[str, str]) -> None:
        options = {key: text for key, text in self.given.items() if text or key in FLAGS}
        said = {SAID + answer: text for answer, text in typed.items() if (SAID + answer).isidentifier()}
        code = plan_code(self.given, [typed.get(answer, "0") for answer in self.answers] if typed else ())
        self.elsewhere.show(Task("/survey", ("survey",), options, {**self.shown, **said}), code)

    def _count_boxes(self) -> None:
        self.boxes.clear()
        with self.boxes:
            for answer in self.answers:
                entry = ui.input(f"how many said {answer}", value=self.counts.get(answer, ""))
                entry.props("outlined dense debounce=300")
                entry.on_value_change(lambda e, answer=answer: self._counted(answer, e.value or ""))

    def _counted(self, answer: str, text: str) -> None:
        self.counts[answer] = text
        self._count()

    def _count(self) -> None:
        typed = {answer: text for answer, text in self.counts.items() if text.strip()}
        if self.plan is None:
            return
        if not typed:
            self._show_elsewhere({})
            self.shares.content = words.note("Type how often each answer was given.")
            self.plot.show(None)
            return
        try:
            found = counted(self.plan, typed)
        except NoisewrightError as problem:
            self.shares.content = words.alarm(str(problem))
            self.plot.show(None)
            return
        self._show_elsewhere(typed)
        self.shares.content = _shares(found)
        low, high = zip(*found.intervals.values(), strict=True)
        names, values = [str(answer) for answer in found.shares], list(found.shares.values())
        self.plot.show(figures.banded(names, values, low, high, "true answer", "share of people", self.dark))

    def _download(self) -> None:
        if self.plan is not None:
            ui.download.content(self.plan.certificate().to_json().encode(), "device.json")


def _known() -> set[str]:
    return {"epsilon", "device", *FLAGS, *(key for key, *_ in FIELDS)}


def _card(plan: Survey, question: str) -> str:
    """Show the text that is read out or handed over; the only thing that is printed."""
    first, *rules = plan.device.instruction().split("\n")
    asked = f"<p><strong>{escape(question)}</strong></p>" if question else ""
    lines = "".join(f"<li>{escape(rule)}</li>" for rule in rules)
    return (
        f'<div class="nw-card-print" role="group" aria-label="card">{asked}<p>{escape(first)}</p><ul>{lines}</ul></div>'
    )


def _facts(plan: Survey) -> list[tuple[str, str]]:
    at = "at the worst prevalence" if plan.prevalence is None else f"at prevalence {numeral(plan.prevalence)}"
    sure = f"{numeral(100 * plan.confidence)} %"
    plan.certificate().verify()  # refused where it were not so
    rows: list[tuple[str, str]] = [
        ("Guarantee", f"{plan.guarantee.reading()}; proved in whole numbers"),
        ("Margin", f"± {plan.margin:.4f} with {plan.respondents:,} respondents, {at} ({sure}, normal)"),
        ("At worst", f"± {plan.safe_margin:.4f} whatever the prevalence, without approximation"),
    ]
    if plan.needed is not None and plan.target_margin is not None:
        rows.append(("Needs", f"{plan.needed:,} respondents for a margin of {numeral(plan.target_margin)}"))
    more = f"{upward(100 * plan.loss, 3)} % more respondents" if plan.loss < float("inf") else "no such comparison"
    rows.append(("Costs", f"{more} than the {plan.ideal_name}, for the same margin"))
    if plan.device.chances().discloses():
        rows.append(("Beware", "some answers give the truth away for certain, as was allowed"))
    return rows


def _shares(found: Shares) -> str:
    rows = [
        (str(answer), f"{share:.4f}", f"{found.intervals[answer][0]:.4f} to {found.intervals[answer][1]:.4f}")
        for answer, share in found.shares.items()
    ]
    head = ("true answer", "share", f"{numeral(100 * found.confidence)} % interval")
    table = words.table_html(head, rows, f"Of {found.respondents:,} people", numbers=(1, 2))
    return table + (words.listed(found.warnings, "To think about") if found.warnings else "")
