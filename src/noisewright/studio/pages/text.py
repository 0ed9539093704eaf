"""Obfuscate the words of a text."""

from __future__ import annotations

from html import escape

from nicegui import ui
from starlette.requests import Request

from noisewright.core.exact import figure, upward
from noisewright.render import short
from noisewright.studio.answers.texts import EXAMPLE, HiddenText, hidden_text, marked, text_code
from noisewright.studio.look import words
from noisewright.studio.look.buttons import button
from noisewright.studio.look.fields import epsilon_field
from noisewright.studio.look.live import Live
from noisewright.studio.look.proof import SameElsewhere
from noisewright.studio.task import Task, read_query, with_option

__all__ = ["build"]

OWN = "own"
"""Mark in a link: its text was typed by a person, and is not in the link."""


def build(request: Request) -> None:
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
            words.said(found.promise) + words.facts([("Best attacker", attacker)]) + words.proof(short(found.proved))
        )
        self.law.content = words.table(
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
