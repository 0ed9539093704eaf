"""Design a mechanism by moving its parameters."""

from __future__ import annotations

from html import escape
from typing import Any

from nicegui import run, ui
from starlette.requests import Request

from noisewright.cli.shared.parameters import read_labels
from noisewright.cli.shared.words import plainly
from noisewright.core.errors import NoisewrightError
from noisewright.core.exact import as_fraction, upward
from noisewright.mechanisms.registry import registry
from noisewright.studio.answers.design import (
    KINDS,
    Designed,
    Law,
    choices,
    code_of,
    designed,
    epsilon_of,
    gaps_of,
    law_of,
    options_of,
    posterior_of,
)
from noisewright.studio.look import figures, words
from noisewright.studio.look.buttons import button
from noisewright.studio.look.fields import parameter_field
from noisewright.studio.look.frame import is_dark
from noisewright.studio.look.live import Live
from noisewright.studio.look.proof import SameElsewhere
from noisewright.studio.pages.parts.best import BestPage
from noisewright.studio.task import Task, read_query, with_option

__all__ = ["build", "examples"]

FIRST = {
    "number": "laplace",
    "category": "randomised-response",
    "place": "planar-geometric",
    "vector": "product-laplace",
}
EXAMPLES = {
    "within": "0:100",
    "categories": "yes,no,no answer",
    "points": "0:0,0:1,0:2,1:0,1:1,1:2,2:0,2:1,2:2",
    "metric": "euclidean",
    "level": "1",
    "radius": "1",
    "reference": "48.85:2.35",
    "delta": "1e-6",
    "epsilon": "1",
    "dimension": "2",
    "sensitivity": "1",
    "grid": "0,1,2,3",
}
"""What a form starts with: an example, which a person replaces."""

OFTEN = ("within", "level", "radius")
"""Not required, and hardly ever left out."""

LISTED = {"points": "0..9", "metric": "line"}
"""The same for secrets that are listed, which need not be places."""


def examples(kind: str, name: str) -> dict[str, str]:
    """What the form of a mechanism for this kind of secret starts with."""
    known = EXAMPLES | (LISTED if kind == "category" else {})
    wanted = [p.name for p in options_of(name) if p.required or p.name in OFTEN]
    if "epsilon" in wanted and "level" in wanted:  # one or the other
        wanted.remove("epsilon")
    return {parameter: known[parameter] for parameter in wanted if parameter in known}


def build(request: Request) -> None:
    """Tabs of kinds, the form of one mechanism, and what it does."""
    kind = request.path_params.get("kind", "number")
    titles = {**{k: title for k, (title, _) in KINDS.items()}, "best": "Find the best"}
    if kind not in titles:
        ui.html(words.alarm("There is no page for such a kind of secret."), sanitize=False)
        return
    tabs = "".join(
        f'<a href="/design/{k}"{" aria-current=page" if k == kind else ""}>{escape(title)}</a>'
        for k, title in titles.items()
    )
    ui.html(f'<nav class="nw-tabs" aria-label="Kinds of secrets">{tabs}</nav>', sanitize=False)
    asked = read_query(request.query_params)
    if kind == "best":
        BestPage(asked).build()
    else:
        _Design(kind, asked).build()


class _Design:
    """The page about one kind of secret."""

    def __init__(self, kind: str, asked: dict[str, str]) -> None:
        self.kind = kind
        self.names = [e.name for e in choices(kind)]
        chosen = asked.pop("mechanism", "")
        self.name = chosen if chosen in self.names else FIRST[kind]
        self.shown: dict[str, str] = {key: asked.pop(key) for key in ("apart", "secret", "observed") if key in asked}
        self.given = asked or self._examples()
        self.dark = is_dark()

    def _examples(self) -> dict[str, str]:
        return examples(self.kind, self.name)

    def build(self) -> None:
        with ui.element("div").classes("nw-columns"):
            with ui.element("div").classes("nw-stack"):
                with ui.element("section").classes("nw-panel").props('aria-label="Parameters"'):
                    ui.html("<h2>Mechanism</h2>", sanitize=False)
                    pick = ui.select(self.names, value=self.name, label="mechanism").props("outlined dense")
                    pick.on_value_change(lambda e: self._choose(e.value))
                    self.summary = ui.html("", sanitize=False)
                    self.form = ui.element("div").classes("nw-fields").style("margin-top: 12px")
                self._questions()
            with ui.element("div").classes("nw-stack"):
                self._results()
        self.elsewhere = SameElsewhere()
        self.live = Live(self._show, self._refuse)
        self._fill()
        self._ask()

    def _questions(self) -> None:
        with ui.element("section").classes("nw-panel nw-fields").props('aria-label="Questions"'):
            ui.html("<h2>Questions</h2>", sanitize=False)
            for key, label in (
                ("apart", "two secrets that are so far apart"),
                ("secret", "the true value"),
                ("observed", "an observed output"),
            ):
                field = ui.input(label, value=self.shown.get(key, "")).props("outlined dense debounce=300")
                field.on_value_change(lambda e, key=key: self._look(key, e.value))
            ui.html("<h2>The other way round</h2>", sanitize=False)
            error = ui.input("an expected error that I can live with").props("outlined dense")
            button("Find the epsilon for it", lambda: self._accuracy(error.value))
            self.accuracy = ui.html("", sanitize=False)

    def _results(self) -> None:
        with ui.element("section").classes("nw-panel").props('aria-label="The promise" aria-live="polite"'):
            ui.html("<h2>The promise</h2>", sanitize=False)
            self.promise = ui.html("", sanitize=False)
            self.made: Designed | None = None
            ui.button("Download the certificate", icon="download", on_click=self._download).props("outline no-caps")
        with ui.element("section").classes("nw-panel").props('aria-label="What comes out"'):
            ui.html("<h2>What comes out</h2>", sanitize=False)
            self.law_words = ui.html("", sanitize=False)
            self.law = ui.plotly(figures.figure([], "output", "probability", self.dark)).classes("nw-plot")
        self.map_panel = ui.element("section").classes("nw-panel").props('aria-label="All probabilities"')
        with self.map_panel:
            ui.html("<h2>All probabilities</h2>", sanitize=False)
            self.map = ui.plotly(figures.figure([], "output", "secret", self.dark)).classes("nw-plot")
        self.belief_panel = ui.element("section").classes("nw-panel").props('aria-label="Beliefs after an output"')
        with self.belief_panel:
            ui.html("<h2>What is believed after an output</h2>", sanitize=False)
            self.belief_words = ui.html("", sanitize=False)
            self.belief = ui.plotly(figures.figure([], "secret", "belief", self.dark)).classes("nw-plot")

    def _fill(self) -> None:
        self.summary.content = words.note(registry[self.name].summary.capitalize() + ".")
        self.form.clear()
        with self.form:
            rest = []
            for parameter in options_of(self.name):
                if parameter.required or parameter.name in OFTEN or parameter.name in self.given:
                    parameter_field(parameter, self.given.get(parameter.name), self._change)
                else:
                    rest.append(parameter)
            if rest:
                with ui.expansion("More parameters").classes("nw-more"), ui.element("div").classes("nw-fields"):
                    for parameter in rest:
                        parameter_field(parameter, None, self._change)

    def _choose(self, name: str) -> None:
        before, self.name = self.given, name
        known = {p.name for p in options_of(name)}
        self.given = {**self._examples(), **{key: text for key, text in before.items() if key in known}}
        self._fill()
        self._ask()

    def _change(self, name: str, text: str | None) -> None:
        self.given = with_option(self.given, name, text)
        self._ask()

    async def _accuracy(self, error: str) -> None:
        """From an error to an epsilon; the form then shows it."""
        word = "level" if "level" in self.given else "epsilon"
        try:
            found = await run.io_bound(epsilon_of, self.name, dict(self.given), error or "")
        except NoisewrightError as refused:
            self.accuracy.content = words.alarm(str(refused))
            return
        self.accuracy.content = words.note(
            f"{word.capitalize()} {found} is enough for an expected error of {error}. The promise beside says what it means."
        )
        self.given = {**self.given, word: str(found)}
        self._fill()
        self._ask()

    def _look(self, key: str, text: str) -> None:
        self.shown = {k: v for k, v in {**self.shown, key: text}.items() if v}
        self._ask()

    def _ask(self) -> None:
        name, given, shown = self.name, dict(self.given), dict(self.shown)

        def compute() -> tuple[Designed, Law | None, Any]:
            made = designed(name, given, float(as_fraction(shown.get("apart") or "1", "the distance")))
            secret = read_labels(shown["secret"], "secret")[0] if "secret" in shown else None
            law = law_of(made, secret)
            observed = read_labels(shown["observed"], "observed")[0] if "observed" in shown else None
            if observed is None and law is not None and not law.edges:
                observed = law.at[int(law.probability.argmax())]
            return made, law, (observed, posterior_of(made, observed))

        self.live.ask(compute)

    def _download(self) -> None:
        if self.made is not None:
            ui.download.content(self.made.certificate.to_json().encode(), f"{self.name}.json")

    def _refuse(self, sentence: str) -> None:
        self.promise.content = words.alarm(sentence)

    def _show(self, answer: tuple[Designed, Law | None, Any]) -> None:
        made, law, (observed, posterior) = answer
        self.made = made
        apart = self.shown.get("apart", "1")
        rows = [
            ("Guarantee", made.mechanism.guarantee.reading()),
            (
                "Expected error",
                ", ".join(f"{value:.4g} ({loss})" for loss, value in made.errors.items()) or "none that applies",
            ),
            (
                "Proof",
                f"checked again just now: {plainly(made.proved)}" if made.proved else "a theorem about real numbers",
            ),
        ]
        beliefs = words.beliefs_table(
            [(f"{100 * before:g} %", f"{upward(100 * after, 3)} %") for before, after in made.beliefs],
            f"In one of two secrets that are {apart} apart",
        )
        self.promise.content = words.said(made.reading) + words.facts(rows) + (beliefs if made.beliefs else "")
        self._draw_law(made, law)
        self._draw_map(made)
        self._draw_belief(observed, posterior)
        task = Task(
            f"/design/{self.kind}", ("design", self.name), dict(made.given), {"mechanism": self.name, **self.shown}
        )
        self.elsewhere.show(task, code_of(made, registry[self.name]))

    def _draw_law(self, made: Designed, law: Law | None) -> None:
        self.law.set_visibility(law is not None)
        if law is None:
            self.law_words.content = words.note(
                "This mechanism has no law over a line or a list that could be drawn here."
            )
            return
        self.law_words.content = words.note(f"The exact law of what comes out for the true value {_label(law.secret)}.")
        if law.edges:
            middles = (law.at[1:] + law.at[:-1]) / 2  # type: ignore[operator]
            width = float(law.at[1] - law.at[0])
            shown = figures.lines(
                [("", middles, law.probability / width)],
                "what comes out",
                "probability density",
                self.dark,
                steps=True,
                shapes=[figures.band(low, high) for low, high in gaps_of(made, float(law.at[0]), float(law.at[-1]))],
            )
        else:
            shown = figures.bars(
                [("", [_label(y) for y in law.at], law.probability)], "what comes out", "probability", self.dark
            )
        self.law.update_figure(shown)

    def _draw_map(self, made: Designed) -> None:
        self.map_panel.set_visibility(made.channel is not None)
        if made.channel is not None:
            self.map.update_figure(figures.heat_map(made.channel, self.dark))

    def _draw_belief(self, observed: Any, posterior: Any) -> None:
        self.belief_panel.set_visibility(posterior is not None)
        if posterior is not None:
            secrets, beliefs = posterior
            self.belief_words.content = words.note(
                f"By somebody who saw {_label(observed)} and held all {len(secrets)} secrets equally likely before."
            )
            self.belief.update_figure(
                figures.bars([("", [_label(x) for x in secrets], beliefs)], "the true value", "belief", self.dark)
            )


def _label(value: Any) -> Any:
    """A label as an axis shows it."""
    return value if isinstance(value, (int, str)) else f"{value:.6g}" if isinstance(value, float) else str(value)
