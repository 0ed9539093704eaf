"""Find the best mechanism for a question."""

from __future__ import annotations

from functools import partial

from nicegui import ui

from noisewright.render import short
from noisewright.studio.answers.best import LOSSES, Best, best, best_code, best_command
from noisewright.studio.answers.design import LOSS_WORDS
from noisewright.studio.look import figures, words
from noisewright.studio.look.buttons import button
from noisewright.studio.look.fields import choice_field, epsilon_field
from noisewright.studio.look.frame import is_dark
from noisewright.studio.look.live import Live
from noisewright.studio.look.plot import Plot
from noisewright.studio.look.proof import SameElsewhere
from noisewright.studio.task import Task, with_option

__all__ = ["BestPage"]

CHOICES = {
    "loss": ("an error is measured by", {name: LOSS_WORDS[name] for name in LOSSES}),
    "objective": (
        "what is to be small",
        {"bayes": "the error on average over the prior", "minimax": "the error of the worst secret"},
    ),
}
EXAMPLE = {"metric": "line:0..10", "epsilon": "1", "loss": "absolute"}
NOTES = {
    "metric": "How far apart secrets are, and which there are: line:0..20, discrete:red,green,blue, euclidean:0:0,0:1,1:0.",
    "prior": "How likely each secret is, in their order, with commas; public knowledge. Empty: all alike.",
    "shape": "What else it must be: fair, symmetric, monotone, honest.",
}


class BestPage:
    """The form, and the mechanism that nothing beats."""

    def __init__(self, asked: dict[str, str]) -> None:
        self.given, self.dark = asked or dict(EXAMPLE), is_dark()
        self.made: Best | None = None

    def build(self) -> None:
        """Make the page."""
        with ui.element("div").classes("nw-columns"):
            with ui.element("section").classes("nw-panel nw-fields").props('aria-label="The question"'):
                ui.html("<h2>The question</h2>", sanitize=False)
                self._text("metric", "metric and secrets *")
                epsilon_field("epsilon *", self.given.get("epsilon", "1"), lambda text: self._change("epsilon", text))
                for name, (label, choices) in CHOICES.items():
                    choice_field(label, choices, self.given.get(name, ""), partial(self._change, name))
                self._text("prior", "prior")
                self._text("shape", "shape")
            with ui.element("div").classes("nw-stack"):
                with (
                    ui.element("section").classes("nw-panel").props('aria-label="The best there is" aria-live="polite"')
                ):
                    ui.html("<h2>The best there is</h2>", sanitize=False)
                    self.promise = ui.html("", sanitize=False)
                    self.take = button("Download the certificate", self._download, icon="download")
                self.map_panel = ui.element("section").classes("nw-panel").props('aria-label="All probabilities"')
                with self.map_panel:
                    ui.html("<h2>All probabilities</h2>", sanitize=False)
                    self.map = Plot()
        self.elsewhere = SameElsewhere()
        self.live = Live(self._show, self._refuse)
        self._there(False)
        self._ask()

    def _text(self, name: str, label: str) -> None:
        field = ui.input(label, value=self.given.get(name, "")).props("outlined dense debounce=400")
        field.on_value_change(lambda e: self._change(name, e.value))
        ui.html(words.note(NOTES[name]), sanitize=False)

    def _change(self, name: str, text: str | None) -> None:
        self.given = with_option(self.given, name, text or None)
        self._ask()

    def _ask(self) -> None:
        given = dict(self.given)
        self.live.ask(lambda: (best(given), given))

    def _refuse(self, sentence: str) -> None:
        self.made = None
        self.promise.content = words.alarm(sentence)
        self._there(False)
        self.elsewhere.hide()

    def _there(self, there: bool) -> None:
        self.map_panel.set_visibility(there)
        self.take.set_visibility(there)

    def _download(self) -> None:
        if self.made is not None:
            ui.download.content(self.made.certificate.to_json().encode(), "optimal.json")

    def _show(self, answer: tuple[Best, dict[str, str]]) -> None:
        self.made, given = answer
        self._there(True)
        made = self.made.mechanism
        rows = [
            ("Guarantee", made.guarantee.reading()),
            made.loss_in_words,
            ("How good", made.goodness),
            ("Why", f"{made.path}: {made.why}"),
            ("Proof", f"checked again just now: {short(self.made.proved)}"),
        ]
        self.promise.content = words.said(made.in_words()) + words.facts(rows)
        channel = self.made.channel
        self.map.show(figures.heat_map(channel, self.dark))
        self.elsewhere.show(Task("/design/best", ("design", "optimal"), given), best_code(given), best_command(given))
