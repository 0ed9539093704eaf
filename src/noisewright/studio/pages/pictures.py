"""Hide content of a picture."""

from __future__ import annotations

from pathlib import Path

from nicegui import run, ui
from starlette.requests import Request

from noisewright.claims.readings import OF_PICTURES
from noisewright.images.pictures.writing import png_of
from noisewright.render import short
from noisewright.studio.answers.pictures import (
    METHODS,
    HiddenPicture,
    example_picture,
    given_picture,
    hidden_picture,
    measured_risk,
    picture_code,
)
from noisewright.studio.look import words
from noisewright.studio.look.buttons import button
from noisewright.studio.look.fields import choice_field, epsilon_field
from noisewright.studio.look.linked import Linked, named
from noisewright.studio.look.live import Live
from noisewright.studio.look.proof import SameElsewhere
from noisewright.studio.look.uploads import file_button
from noisewright.studio.look.work import Work
from noisewright.studio.task import Task, read_query, with_option
from noisewright.studio.visits import visit_here

__all__ = ["build"]

ALLOWED = (".png", ".jpg", ".jpeg")
EXAMPLE = "face.png"
START = {"method": "laplace", "epsilon": "1000", "block": "8"}
KNOWN = (*START, "resize")
ATTACKERS = (
    "Somebody who trains on such pictures tells more than an eye sees. How much, is measured on made-up faces of 48 x 48 pixels "
    "that are drawn in the same way; it takes some seconds, beside the page."
)


def build(request: Request) -> None:
    """A picture before and after, and the guarantee."""
    asked = read_query(request.query_params)
    given = {name: text for name, text in asked.items() if name in KNOWN}
    _PicturePage(given or dict(START), Linked(asked)).build()


class _PicturePage:
    def __init__(self, given: dict[str, str], linked: Linked) -> None:
        self.given, self.linked, self.visit = given, linked, visit_here()
        self.file: dict[str, str] = {}
        """Part of a link that names the file."""
        self.picture, self.name = example_picture(), EXAMPLE

    def build(self) -> None:
        with ui.element("div").classes("nw-columns"):
            with ui.element("section").classes("nw-panel nw-fields").props('aria-label="The picture"'):
                ui.html("<h2>The picture</h2>", sanitize=False)
                file_button("Open a picture", ALLOWED, self._taken, self._refuse)
                self.which = ui.html(words.note("Loaded: a drawn face of nobody."), sanitize=False)
                self.example = button("Download the example", self._download_example, icon="download", quiet=True)
                choice_field("method", METHODS, self.given.get("method", ""), lambda name: self._change("method", name))
                epsilon_field(
                    "epsilon *",
                    self.given.get("epsilon", "1000"),
                    lambda text: self._change("epsilon", text),
                    ends=(1.0, 100_000.0),
                )
                ui.html(words.note(OF_PICTURES), sanitize=False)
                self.block = ui.input("side of blocks, in pixels", value=self.given.get("block", "16"))
                self.block.props("outlined dense debounce=300").on_value_change(
                    lambda e: self._change("block", e.value or None)
                )
                self.unlike = ui.checkbox(
                    "draw it even if the model cannot",
                    value=bool(self.given.get("draw-unlike")),
                    on_change=lambda e: self._change("draw-unlike", "1" if e.value else None),
                )
                button("Draw again", self._ask, icon="refresh")
            with ui.element("div").classes("nw-stack"):
                with (
                    ui.element("section").classes("nw-panel").props('aria-label="Before and after" aria-live="polite"')
                ):
                    ui.html("<h2>Before and after</h2>", sanitize=False)
                    self.shown = ui.html("", sanitize=False)
                with ui.element("section").classes("nw-panel").props('aria-label="The promise"'):
                    ui.html("<h2>The promise</h2>", sanitize=False)
                    self.promise = ui.html("", sanitize=False)
                self.risk_panel = ui.element("section").classes("nw-panel nw-fields").props('aria-label="Attackers"')
                with self.risk_panel:
                    ui.html("<h2>What an attacker can still tell</h2>", sanitize=False)
                    self.risk = ui.html(words.note(ATTACKERS), sanitize=False).props('aria-live="polite"')
                    with ui.element("div"):
                        self.go = button("Measure it", self._measure, icon="speed")
                    self.work = Work("Attacking", self._measured, self._refuse_risk, unit="steps")
        self.elsewhere = SameElsewhere()
        self.live = Live(self._show, self._refuse)
        if self.linked.name:
            self.which.content = words.note(f"Not loaded: {self.linked.name}")
            self.example.set_visibility(False)
            self.linked.restore(self.visit, self._taken)
        self._ask()

    async def _taken(self, name: str, where: Path) -> None:
        found = await run.io_bound(given_picture, where)
        if found is not None:
            self.picture, self.name = found, name
            digest = self.visit.digests.get(str(where), "")
            self.which.content = words.note(f"Loaded: {name}") + self.linked.taken(name, digest)
            self.file = named(name, digest)
            self.example.set_visibility(False)
            self._ask()

    def _download_example(self) -> None:
        ui.download.content(png_of(example_picture()), EXAMPLE)

    def _measure(self) -> None:
        if not self.work.busy:
            self.go.set_enabled(False)
            self.work.start(measured_risk, dict(self.given))

    def _measured(self, found: tuple[tuple[str, str], ...]) -> None:
        self.go.set_enabled(True)
        self.risk.content = words.facts(found)

    def _refuse_risk(self, sentence: str) -> None:
        self.go.set_enabled(True)
        self.risk.content = words.alarm(sentence[:1].upper() + sentence[1:])

    def _change(self, name: str, text: str | None) -> None:
        self.work.cancel()
        self.risk.content = words.note(ATTACKERS)
        self.given = with_option(self.given, name, text)
        self._ask()

    def _ask(self) -> None:
        if self.linked.waiting:
            self._refuse(self.linked.waiting)
            return
        picture, given = self.picture, dict(self.given)
        self.block.set_visibility(given.get("method") != "faces")
        self.unlike.set_visibility(given.get("method") == "faces")
        self.live.ask(lambda: hidden_picture(picture, given))

    def _refuse(self, sentence: str) -> None:
        self.shown.content = words.alarm(sentence)
        self.promise.content = ""
        self.risk_panel.set_visibility(False)
        self.elsewhere.hide()

    def _show(self, found: HiddenPicture) -> None:
        both = (
            ("before", "the picture as it was given", found.before),
            ("after", "the picture that may be shown", found.after),
        )
        figures = (
            f'<figure><img class="nw-picture" alt="{told}" src="{where}"><figcaption>{when}</figcaption></figure>'
            for when, told, where in both
        )
        self.shown.content = f'<div class="nw-pair">{"".join(figures)}</div>'
        faces = self.given.get("method") == "faces"
        self.risk_panel.set_visibility(not faces)
        alike = f"{found.alike:.2f} (structural similarity; 1 for the same picture)" if found.alike is not None else ""
        shown = words.said(found.promise) + (words.facts([("Likeness", alike)]) if alike else "")
        shown += words.proof(short(found.proved))
        shown += words.listed(found.measured, "Measured on public faces") if found.measured else ""
        shown += words.facts([("Model", found.model)]) if found.model else ""
        self.promise.content = shown
        used = ("method", "epsilon") if faces else ("method", "epsilon", "block")
        options = {name: self.given[name] for name in used if self.given.get(name)}
        more = {"resize": ""} if faces else {}
        more |= {"draw-unlike": ""} if faces and self.given.get("draw-unlike") else {}
        task = Task("/pictures", ("images", "obfuscate", self.name, "-o", "shown.png"), options | more, self.file)
        self.elsewhere.show(task, picture_code(self.name, self.given))
