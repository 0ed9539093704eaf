"""Obfuscate the words of a text."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from nicegui import run, ui
from starlette.requests import Request

from noisewright.claims.figures import figure, upward
from noisewright.claims.readings import OF_PICTURES
from noisewright.images.pictures import png_of
from noisewright.render import html as words
from noisewright.render.claims import short
from noisewright.studio.components import (
    Linked,
    Live,
    SameElsewhere,
    Work,
    button,
    choice_field,
    epsilon_field,
    file_button,
    named,
)
from noisewright.studio.services.media import (
    EXAMPLE,
    METHODS,
    HiddenPicture,
    HiddenText,
    example_picture,
    given_picture,
    hidden_picture,
    hidden_text,
    marked,
    measured_risk,
    picture_code,
    text_code,
)
from noisewright.studio.sessions import Task, read_query, visit_here, with_option

__all__ = ["build_pictures", "build_start", "build_text"]


OWN = "own"
"""Mark in a link: its text was typed by a person, and is not in the link."""


def build_text(request: Request) -> None:
    """A text, its words before and after, and the guarantee."""
    given = read_query(request.query_params)
    own = given.pop(OWN, None) is not None
    _TextPage(given or {"epsilon": "2", "size": "20"}, own).build()


class _TextPage:
    def __init__(self, given: dict[str, str], own: bool) -> None:
        self.given, self.own = given, own

    def build(self) -> None:
        with ui.element("div").classes("nw-columns"):
            with ui.element("section").classes("nw-panel nw-fields").props('aria-label="The text"'):
                ui.html("<h2>The text</h2>", sanitize=False)
                self.text = ui.textarea("text in English", value="" if self.own else EXAMPLE).props(
                    "outlined debounce=500 autogrow"
                )
                self.text.on_value_change(self._ask)
                ui.html(words.note("It stays in this page, and is in no link."), sanitize=False)
                epsilon_field(
                    "epsilon *",
                    self.given.get("epsilon", "2"),
                    lambda text: self._change("epsilon", text),
                    ends=(0.2, 20.0),
                )
                ui.html(
                    words.note(
                        "For each unit of distance between words; the nearer two words, the harder to tell apart."
                    ),
                    sanitize=False,
                )
                size = ui.input("words that come out", value=self.given.get("size", "")).props(
                    "outlined dense debounce=300"
                )
                size.on_value_change(lambda e: self._change("size", e.value or None))
                ui.html(
                    words.note("The same number for every text; empty: as many as there are, which then shows."),
                    sanitize=False,
                )
                order = ui.switch("keep the order of words", value="keep_order" in self.given)
                order.on_value_change(lambda e: self._change("keep_order", "" if e.value else None))
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
                with ui.element("section").classes("nw-panel").props('aria-label="What one word becomes"'):
                    ui.html("<h2>What one word becomes</h2>", sanitize=False)
                    self.law = ui.html("", sanitize=False)
        self.elsewhere = SameElsewhere()
        self.live = Live(self._show, self._refuse)
        self._ask()

    def _change(self, name: str, text: str | None) -> None:
        self.given = with_option(self.given, name, text)
        self._ask()

    def _ask(self) -> None:
        text, given = self.text.value or "", dict(self.given)
        if self.own and not text.strip():
            self._refuse("A link holds no text; type or paste it again.")
            return
        self.live.ask(lambda: hidden_text(text, given))

    def _refuse(self, sentence: str) -> None:
        self.shown.content = words.alarm(sentence)
        self.promise.content = self.law.content = ""
        self.elsewhere.hide()

    def _show(self, found: HiddenText) -> None:
        share = f"{found.kept} of {len(found.after)} words that came out had been in the text; they are marked."
        sides = ((found.before, found.after, "that were read"), (found.after, found.before, "that come out"))
        both = (
            f"<div><h3>{len(these)} words {told}</h3><p>{_spelled(these, those)}</p></div>"
            for these, those, told in sides
        )
        self.shown.content = f'{words.note(share)}<div class="nw-pair">{"".join(both)}</div>'
        attacker = (
            f"who knows that a word is one of {round(1 / found.blind)} frequent ones guesses it from what came out "
            f"{upward(100 * found.guess, 3)} % of the time; blindly {upward(100 * found.blind, 2)} %"
        )
        self.promise.content = (
            words.said(found.promise)
            + words.facts_html([("Best attacker", attacker)])
            + words.proof(short(found.proved))
        )
        self.law.content = words.table_html(
            ("comes out", "probability"),
            [(word, f"{figure(100 * chance)} %") for word, chance in found.becomes],
            f"For {found.word}, most likely first" if found.word else "No word of the vocabulary was read.",
            numbers=(1,),
        )
        options = {name: text for name, text in self.given.items() if text or name == "keep_order"}
        own = {OWN: ""} if self.text.value != EXAMPLE else {}
        task = Task("/text", ("text", "obfuscate", "note.txt", "-o", "released"), options, own)
        command = f"# the text above, saved as note.txt\n{task.command}"
        self.elsewhere.show(task, text_code(self.text.value or "", self.given), command)


def _spelled(these: tuple[str, ...], others: tuple[str, ...]) -> str:
    return " ".join(f"<mark>{escape(word)}</mark>" if same else escape(word) for word, same in marked(these, others))


# Pictures -----------------------------------------------------------------------------------------------------------------
#
# Hide content of a picture.


ALLOWED = (".png", ".jpg", ".jpeg")
PICTURE_EXAMPLE = "face.png"
START = {"method": "laplace", "epsilon": "1000", "block": "8"}
KNOWN = (*START, "resize")
ATTACKERS = (
    "Somebody who trains on such pictures tells more than an eye sees. How much, is measured on made-up faces of 48 x 48 pixels "
    "that are drawn in the same way; it takes some seconds, beside the page."
)


def build_pictures(request: Request) -> None:
    """A picture before and after, and the guarantee."""
    asked = read_query(request.query_params)
    given = {name: text for name, text in asked.items() if name in KNOWN}
    _PicturePage(given or dict(START), Linked(asked)).build()


class _PicturePage:
    def __init__(self, given: dict[str, str], linked: Linked) -> None:
        self.given, self.linked, self.visit = given, linked, visit_here()
        self.file: dict[str, str] = {}
        """Part of a link that names the file."""
        self.picture, self.name = example_picture(), PICTURE_EXAMPLE

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
        ui.download.content(png_of(example_picture()), PICTURE_EXAMPLE)

    def _measure(self) -> None:
        if not self.work.busy:
            self.go.set_enabled(False)
            self.work.start(measured_risk, dict(self.given))

    def _measured(self, found: tuple[tuple[str, str], ...]) -> None:
        self.go.set_enabled(True)
        self.risk.content = words.facts_html(found)

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
        shown = words.said(found.promise) + (words.facts_html([("Likeness", alike)]) if alike else "")
        shown += words.proof(short(found.proved))
        shown += words.listed(found.measured, "Measured on public faces") if found.measured else ""
        shown += words.facts_html([("Model", found.model)]) if found.model else ""
        self.promise.content = shown
        used = ("method", "epsilon") if faces else ("method", "epsilon", "block")
        options = {name: self.given[name] for name in used if self.given.get(name)}
        more = {"resize": ""} if faces else {}
        more |= {"draw-unlike": ""} if faces and self.given.get("draw-unlike") else {}
        task = Task("/pictures", ("images", "obfuscate", self.name, "-o", "shown.png"), options | more, self.file)
        self.elsewhere.show(task, picture_code(self.name, self.given))


# Start --------------------------------------------------------------------------------------------------------------------
#
# First page: links from the user's data to the page that helps.


DOORS = {
    "Something to protect": (
        ("A table", "a row for each person, to be released with noise and a proof", "/release?example=clinic"),
        ("A number", "an age, a salary, a count, with the range it lies in", "/design/number"),
        ("Categories", "an answer out of a list, such as yes and no", "/design/category"),
        ("Places", "points of a plane or coordinates on a map", "/design/place"),
        ("Documents", "texts whose words are replaced by similar ones", "/text"),
        ("Pictures", "photographs, or the faces on them", "/pictures"),
        ("Profiles", "of people, to find who is like whom from noisy codes", "/matching"),
        ("A survey question", "that people would rather not answer openly", "/survey"),
        ("A mechanism to check", "a table of probabilities, or a certificate", "/audit"),
    ),
    "Or something else": (
        ("Vectors", "a few numbers that belong together", "/design/vector"),
        ("A private column", "that other columns give away, and records to learn from", "/learned"),
        ("A question", "for which you want the best mechanism there is", "/design/best"),
        ("Several mechanisms", "to see whether one may replace another", "/compare"),
        ("Answers of a survey", "or other private reports, to estimate the truth", "/survey/estimate?example=sport"),
        ("A release", "that somebody gave you, to see what is proved of it", "/release/check"),
        ("A budget", "what was spent of it so far, and what is left", "/ledger"),
    ),
}


def build_start(request: Request) -> None:
    """Build the links to the pages."""
    del request
    ui.html("".join(_part(title, doors) for title, doors in DOORS.items()), sanitize=False)


def _part(title: str, doors: Sequence[tuple[str, str, str]]) -> str:
    cards = "".join(
        f'<a class="nw-card" href="{escape(path)}"><strong>{escape(name)}</strong><span>{escape(words)}</span></a>'
        for name, words, path in doors
    )
    return f'<h2 class="nw-part">{escape(title)}</h2><div class="nw-cards">{cards}</div>'
