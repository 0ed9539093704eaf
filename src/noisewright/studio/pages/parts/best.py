"""Find the best mechanism for a question."""

from __future__ import annotations

from nicegui import ui

from noisewright.cli.shared.words import plainly
from noisewright.studio.answers.best import LOSSES, Best, best, best_code, best_command
from noisewright.studio.look import figures, words
from noisewright.studio.look.buttons import button
from noisewright.studio.look.fields import epsilon_field
from noisewright.studio.look.frame import is_dark
from noisewright.studio.look.live import Live
from noisewright.studio.look.proof import SameElsewhere
from noisewright.studio.task import Task, with_option

__all__ = ["BestPage"]

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
                for name, choices in (("loss", LOSSES), ("objective", ("bayes", "minimax"))):
                    pick = ui.select(list(choices), label=name, value=self.given.get(name) or choices[0])
                    pick.props("outlined dense").on_value_change(lambda e, name=name: self._change(name, e.value))
                self._text("prior", "prior")
                self._text("shape", "shape")
            with ui.element("div").classes("nw-stack"):
                with (
                    ui.element("section").classes("nw-panel").props('aria-label="The best there is" aria-live="polite"')
                ):
                    ui.html("<h2>The best there is</h2>", sanitize=False)
                    self.promise = ui.html("", sanitize=False)
                    button("Download the certificate", self._download, icon="download")
                with ui.element("section").classes("nw-panel").props('aria-label="All probabilities"'):
                    ui.html("<h2>All probabilities</h2>", sanitize=False)
                    self.map = ui.plotly(figures.figure([], "", "", self.dark)).classes("nw-plot")
        self.elsewhere = SameElsewhere()
        self.live = Live(self._show, self._refuse)
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
        self.promise.content = words.alarm(sentence)

    def _download(self) -> None:
        if self.made is not None:
            ui.download.content(self.made.certificate.to_json().encode(), "optimal.json")

    def _show(self, answer: tuple[Best, dict[str, str]]) -> None:
        self.made, given = answer
        made = self.made.mechanism
        which = "Expected loss" if made.objective == "bayes" else "Loss of the worst secret"
        rows = [
            (which, f"{made.loss_value:.6g}, and nothing has less than {made.bound:.6g}"),
            ("Why", made.why),
            ("Proof", f"checked again just now: {plainly(self.made.proved)}"),
        ]
        self.promise.content = words.said(made.in_words()) + words.facts(rows)
        channel = self.made.channel
        self.map.update_figure(figures.heat_map(channel, self.dark))
        self.elsewhere.show(Task("/design/best", ("design", "optimal"), given), best_code(given), best_command(given))
