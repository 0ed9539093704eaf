"""Audit a channel or a certificate that somebody brings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nicegui import run, ui
from starlette.requests import Request

from noisewright.cli.shared.words import plainly
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import NoisewrightError
from noisewright.core.exact import upward
from noisewright.core.guarantee import Guarantee
from noisewright.studio.answers.auditing import Audited, audited, example_channel, repaired
from noisewright.studio.look import figures, words
from noisewright.studio.look.buttons import button
from noisewright.studio.look.frame import is_dark
from noisewright.studio.look.proof import SameElsewhere
from noisewright.studio.look.uploads import file_button
from noisewright.studio.task import Task, read_query

__all__ = ["build"]

ALLOWED = (".json", ".csv")


def build(request: Request) -> None:
    """A file, what it promises, and a way to repair it."""
    asked = read_query(request.query_params)
    _AuditPage(asked.get("metric", "")).build()


class _AuditPage:
    def __init__(self, metric: str) -> None:
        self.metric, self.dark = metric, is_dark()
        self.thing: Path | Channel = example_channel()
        self.name = "channel.csv"
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
                    field = ui.input("metric between secrets", value=self.metric, placeholder="line, discrete, ...")
                    field.props("outlined dense debounce=400").on_value_change(lambda e: self._measure(e.value))
                with ui.element("section").classes("nw-panel nw-fields").props('aria-label="Repair"'):
                    ui.html("<h2>Repair and certify</h2>", sanitize=False)
                    self.epsilon = ui.input("epsilon that it must have").props("outlined dense")
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
                    self.map = ui.plotly(figures.figure([], "output", "secret", self.dark)).classes("nw-plot")
        self.elsewhere = SameElsewhere()
        ui.timer(0, self._audit, once=True)

    async def _taken(self, name: str, where: Path) -> None:
        self.thing, self.name = where, name
        self.which.content = words.note(f"Loaded: {name}")
        await self._audit()

    async def _measure(self, text: str) -> None:
        self.metric = text
        await self._audit()

    def _refuse(self, sentence: str) -> None:
        self.promise.content = words.alarm(sentence)
        self.map_panel.set_visibility(False)

    async def _audit(self) -> None:
        try:
            found = await run.io_bound(audited, self.thing, self.metric)
        except NoisewrightError as problem:
            self._refuse(str(problem))
            return
        assert found is not None
        self.found = found
        rows: list[tuple[str, str]] = []
        if found.claim:
            rows.append(("Certificate", f"proved: {plainly(found.claim)}"))
        if found.reason:
            rows.append(("Certificate" if found.claim is None else "Channel", found.reason))
        if found.found is not None:
            worst = found.found
            rows.append(("Smallest epsilon", Guarantee(worst.value, worst.metric).reading()))
            if worst.pair is not None:
                rows.append(("Worst pair", f"{worst.pair[0]} and {worst.pair[1]}"))
            if worst.probabilities is not None:
                here, there = worst.probabilities
                rows.append(("Worst output", f"{worst.output}: probability {here:.4g} against {there:.4g}"))
        self.promise.content = words.said(found.reading) + words.facts(rows)
        self._draw(found.channel)
        asked = {"metric": self.metric} if self.metric.strip() else {}
        said = f', metric="{self.metric}"' if asked else ""
        code = f"import noisewright as nw\n\nchannel = nw.load({self.name!r})\nprint(nw.audit(channel{said}))"
        self.elsewhere.show(Task("/audit", ("audit", self.name), asked), code)

    def _draw(self, channel: Channel | None) -> None:
        self.map_panel.set_visibility(channel is not None and max(channel.shape) <= 200)
        if channel is not None and max(channel.shape) <= 200:
            self.map.update_figure(figures.heat_map(channel, self.dark))

    async def _repair(self) -> None:
        self.downloads.clear()
        if self.found is None or self.found.channel is None or self.found.found is None:
            self.repaired.content = words.alarm("There is no channel here to repair.")
            return
        channel, metric = self.found.channel, self.found.found.metric
        try:
            made: Any = await run.io_bound(repaired, channel, self.epsilon.value or "", metric)
        except NoisewrightError as problem:
            self.repaired.content = words.alarm(str(problem))
            return
        self.repaired.content = words.note(
            f"Proved: {plainly(made.proved)}. At most {upward(100 * made.change, 3)} % of the probability of a row had to move."
        )
        content = made.certificate.to_json().encode()
        with self.downloads:
            ui.button(
                "Download the certificate",
                icon="download",
                on_click=lambda: ui.download.content(content, "certificate.json"),
            ).props("outline no-caps")
        self._draw(made.channel)
