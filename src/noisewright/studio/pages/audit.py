"""Audit a channel or a certificate that someone brings."""

from __future__ import annotations

from pathlib import Path

from nicegui import ui
from starlette.requests import Request

from noisewright.cli.commands.audit import worst_rows
from noisewright.core.channels.channel import Channel
from noisewright.core.exact import upward
from noisewright.files.channels import save
from noisewright.render import short
from noisewright.studio.answers.auditing import Audited, audit_code, audited, example_channel, repaired
from noisewright.studio.look import figures, words
from noisewright.studio.look.buttons import button
from noisewright.studio.look.frame import is_dark
from noisewright.studio.look.linked import Linked, named
from noisewright.studio.look.live import beside
from noisewright.studio.look.plot import Plot
from noisewright.studio.look.proof import SameElsewhere
from noisewright.studio.look.uploads import file_button
from noisewright.studio.task import Task, read_query
from noisewright.studio.visits import visit_here

__all__ = ["build"]

ALLOWED = (".json", ".csv")


def build(request: Request) -> None:
    """A file, its guarantee, and a way to repair it."""
    asked = read_query(request.query_params)
    _AuditPage(asked.get("metric", ""), asked.get("epsilon", ""), Linked(asked)).build()


class _AuditPage:
    def __init__(self, metric: str, wanted: str, linked: Linked) -> None:
        self.metric, self.wanted, self.linked, self.dark = metric, wanted, linked, is_dark()
        self.repaired_to = ""
        self.thing: Path | Channel = example_channel()
        self.name = "channel.csv"
        self.visit = visit_here()
        self.found: Audited | None = None

    def build(self) -> None:
        with ui.element("div").classes("nw-columns"):
            with ui.element("div").classes("nw-stack"):
                with ui.element("section").classes("nw-panel nw-fields").props('aria-label="What to audit"'):
                    ui.html("<h2>What to audit</h2>", sanitize=False)
                    file_button("Open a channel or certificate", ALLOWED, self._taken, self._refuse)
                    self.which = ui.html(
                        words.note("Loaded: an example that somebody rounded by hand."), sanitize=False
                    )
                    ui.html(
                        words.note(
                            "A channel is a table: a row for each secret, a column for each output, rows that sum to 1, with "
                            "names in the first row and column. A certificate is the .json that design and release write."
                        ),
                        sanitize=False,
                    )
                    self.example = button("Download the example", self._download_example, icon="download", quiet=True)
                    field = ui.input("metric between secrets", value=self.metric, placeholder="line, discrete, ...")
                    field.props("outlined dense debounce=400 stack-label")
                    field.on_value_change(lambda e: self._measure(e.value or ""))
                    ui.html(
                        words.note("Line: by their difference. Discrete: any two alike. Empty: what suits them."),
                        sanitize=False,
                    )
                with ui.element("section").classes("nw-panel nw-fields").props('aria-label="Repair"'):
                    ui.html("<h2>Repair and certify</h2>", sanitize=False)
                    self.epsilon = ui.input("epsilon that it must have", value=self.wanted).props("outlined dense")
                    button("Repair it", self._repair)
                    self.repaired = ui.html("", sanitize=False)
                    self.downloads = ui.element("div").classes("nw-fields")
            with ui.element("div").classes("nw-stack"):
                with (
                    ui.element("section").classes("nw-panel").props('aria-label="What it promises" aria-live="polite"')
                ):
                    ui.html("<h2>What it really promises</h2>", sanitize=False)
                    self.promise = ui.html("", sanitize=False)
                self.map_panel = ui.element("section").classes("nw-panel").props('aria-label="All probabilities"')
                with self.map_panel:
                    ui.html("<h2>All probabilities</h2>", sanitize=False)
                    self.map = Plot()
        self.elsewhere = SameElsewhere()
        if self.linked.name:
            self.which.content = words.note(f"Not loaded: {self.linked.name}")
            self.example.set_visibility(False)
            self._refuse(self.linked.waiting)
            self.linked.restore(self.visit, self._taken)
        else:
            ui.timer(0, self._begin, once=True)

    async def _begin(self) -> None:
        await self._audit()
        if self.wanted:
            await self._repair()

    def _download_example(self) -> None:
        ui.download.file(save(example_channel(), self.visit.place(self.name)), self.name)

    async def _taken(self, name: str, where: Path) -> None:
        self.thing, self.name = where, name
        self.which.content = words.note(f"Loaded: {name}") + self.linked.taken(
            name, self.visit.digests.get(str(where), "")
        )
        self.example.set_visibility(False)
        self._forget()
        await self._audit()

    async def _measure(self, text: str) -> None:
        self.metric = text
        self._forget()
        await self._audit()

    def _forget(self) -> None:
        """Forget the repair: it belonged to another one."""
        self.repaired_to, self.repaired.content = "", ""
        self.downloads.clear()

    def _refuse(self, sentence: str) -> None:
        self.found = None
        self.promise.content = words.alarm(self.visit.said(sentence))
        self.map_panel.set_visibility(False)
        self.elsewhere.hide()

    async def _audit(self) -> None:
        if self.linked.waiting:
            self._refuse(self.linked.waiting)
            return
        found = await beside(self._refuse, audited, self.thing, self.metric)
        if found is None:
            return
        self.found = found
        rows: list[tuple[str, str]] = []
        if found.claim:
            rows.append(("Certificate", f"proved: {short(found.claim)}"))
        if found.reason:
            rows.append(("Certificate" if found.claim is None else "Channel", found.reason))
        if found.found is not None:
            rows += worst_rows(found.found)
        self.promise.content = words.said(found.reading) + words.facts(rows)
        self._draw(found.channel)
        self._show_elsewhere()

    def _show_elsewhere(self) -> None:
        asked = {"metric": self.metric} if self.metric.strip() else {}
        shown = {"epsilon": self.repaired_to} if self.repaired_to else {}
        if isinstance(self.thing, Path):
            shown |= named(self.name, self.visit.digests.get(str(self.thing), ""))
        assert self.found is not None
        code = audit_code(self.name, self.metric, self.repaired_to, self.found)
        self.elsewhere.show(Task("/audit", ("audit", self.name), asked, shown), code)

    def _draw(self, channel: Channel | None) -> None:
        self.map_panel.set_visibility(channel is not None and max(channel.shape) <= 200)
        if channel is not None and max(channel.shape) <= 200:
            self.map.show(figures.heat_map(channel, self.dark))

    async def _repair(self) -> None:
        self._forget()
        if self.found is None or self.found.channel is None or self.found.found is None:
            self.repaired.content = words.alarm("There is no channel here to repair.")
            return
        channel, metric, epsilon = self.found.channel, self.found.found.metric, (self.epsilon.value or "").strip()
        made = await beside(self._refuse_repair, repaired, channel, epsilon, metric)
        if made is None:
            return
        self.repaired_to = epsilon
        self.repaired.content = words.note(
            f"Proved: {short(made.proved)}. At most {upward(100 * made.change, 3)} % of the probability of a row had to move."
        )
        content = made.certificate.to_json().encode()
        with self.downloads:
            button(
                "Download the certificate", lambda: ui.download.content(content, "certificate.json"), icon="download"
            )
        self._draw(made.channel)
        self._show_elsewhere()

    def _refuse_repair(self, sentence: str) -> None:
        self.repaired.content = words.alarm(sentence)
