"""Hide what is on a picture."""

from __future__ import annotations

from pathlib import Path

from nicegui import run, ui
from starlette.requests import Request

from noisewright.cli.shared.words import plainly
from noisewright.studio.answers.pictures import (
    METHODS,
    HiddenPicture,
    example_picture,
    given_picture,
    hidden_picture,
    picture_code,
)
from noisewright.studio.look import words
from noisewright.studio.look.buttons import button
from noisewright.studio.look.fields import epsilon_field
from noisewright.studio.look.live import Live
from noisewright.studio.look.proof import SameElsewhere
from noisewright.studio.look.uploads import file_button
from noisewright.studio.task import Task, read_query, with_option

__all__ = ["build"]

ALLOWED = (".png", ".jpg", ".jpeg")
ATTACKERS = "somebody who trains on such pictures tells more than an eye sees; measure it with noisewright attack faces --pixels"


def build(request: Request) -> None:
    """A picture before and after, and what is promised."""
    _PicturePage(read_query(request.query_params) or {"method": "laplace", "epsilon": "1000", "block": "8"}).build()


class _PicturePage:
    def __init__(self, given: dict[str, str]) -> None:
        self.given = given
        self.picture = example_picture()

    def build(self) -> None:
        with ui.element("div").classes("nw-columns"):
            with ui.element("section").classes("nw-panel nw-fields").props('aria-label="The picture"'):
                ui.html("<h2>The picture</h2>", sanitize=False)
                file_button("Open a picture", ALLOWED, self._taken, self._refuse)
                self.which = ui.html(words.note("Loaded: a drawn face of nobody."), sanitize=False)
                pick = ui.select(list(METHODS), label="method", value=self.given.get("method", "laplace"))
                pick.props("outlined dense").on_value_change(lambda e: self._change("method", e.value))
                epsilon_field(
                    "epsilon *",
                    self.given.get("epsilon", "1000"),
                    lambda text: self._change("epsilon", text),
                    ends=(1.0, 100_000.0),
                )
                ui.html(words.note("Between any two pictures; for faces, between any two faces."), sanitize=False)
                block = ui.input("side of blocks, in pixels", value=self.given.get("block", "16"))
                block.props("outlined dense debounce=300").on_value_change(
                    lambda e: self._change("block", e.value or None)
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
        self.elsewhere = SameElsewhere()
        self.live = Live(self._show, self._refuse)
        self._ask()

    async def _taken(self, name: str, where: Path) -> None:
        found = await run.io_bound(given_picture, where)
        if found is not None:
            self.picture = found
            self.which.content = words.note(f"Loaded: {name}")
            self._ask()

    def _change(self, name: str, text: str | None) -> None:
        self.given = with_option(self.given, name, text)
        self._ask()

    def _ask(self) -> None:
        picture, given = self.picture, dict(self.given)
        self.live.ask(lambda: hidden_picture(picture, given))

    def _refuse(self, sentence: str) -> None:
        self.shown.content = words.alarm(sentence)

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
        rows = [("Proof", f"checked again just now: {plainly(found.proved, 'faces')}")]
        if found.alike is not None:
            rows.append(("Likeness", f"{found.alike:.2f} (structural similarity; 1 for the same picture)"))
        rows += [("On public faces", text) for text in found.measured]
        if not found.measured:
            rows.append(("Attackers", ATTACKERS))
        self.promise.content = words.said(found.promise) + words.facts(rows)
        used = ("method", "epsilon") if self.given.get("method") == "faces" else ("method", "epsilon", "block")
        options = {name: self.given[name] for name in used if self.given.get(name)}
        more = {"resize": ""} if self.given.get("method") == "faces" else {}
        task = Task("/pictures", ("images", "obfuscate", "photograph.png", "-o", "shown.png"), options | more)
        self.elsewhere.show(task, picture_code(self.given))
