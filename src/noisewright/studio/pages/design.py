"""Design a mechanism by moving its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nicegui import run, ui
from starlette.requests import Request

from noisewright.cli.shared.parameters import read_labels
from noisewright.cli.shared.words import plainly
from noisewright.core.arrays import Floats
from noisewright.core.errors import NoisewrightError
from noisewright.core.exact import as_fraction, upward
from noisewright.mechanisms.registry import registry
from noisewright.studio.answers.design import (
    KINDS,
    Designed,
    Law,
    choices,
    code_of,
    cost_of,
    delta_words,
    designed,
    enough_for,
    gaps_of,
    law_of,
    loss_of,
    options_of,
    posterior_of,
    read_prior,
)
from noisewright.studio.answers.places import Map, listed_map, open_map
from noisewright.studio.look import figures, words
from noisewright.studio.look.buttons import button
from noisewright.studio.look.fields import parameter_field
from noisewright.studio.look.frame import is_dark
from noisewright.studio.look.live import Live
from noisewright.studio.look.proof import SameElsewhere
from noisewright.studio.look.tabs import tabs
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
    "points": "0..800/100:0..800/100",
    "metric": "euclidean",
    "radius": "200",
    "reference": "48.85:2.35",
    "delta": "1e-6",
    "epsilon": "1",
    "dimension": "2",
    "sensitivity": "1",
    "grid": "0,1,2,3",
}
"""What a form starts with: an example, which a person replaces."""

OFTEN = ("within", "radius")
"""Not required, and hardly ever left out."""

ELSEWHERE = {"/text": "Texts", "/pictures": "Pictures"}
"""Kinds of secrets that have pages of their own."""

QUESTIONS = {
    "apart": ("two secrets that are so far apart", "for the table of beliefs"),
    "secret": ("the true value", "a place as 200:300"),
    "observed": ("an observed output", "what is believed after it"),
    "prior": ("how likely each secret is before", "numbers with commas; empty: all alike"),
}
LOSSES = {"absolute": "distance from the truth", "squared": "its square", "zero-one": "whether it is wrong"}

LISTED = {"points": "0..9", "metric": "line"}
"""The same for secrets that are listed, which need not be places."""


def examples(kind: str, name: str) -> dict[str, str]:
    """What the form of a mechanism for this kind of secret starts with."""
    known = EXAMPLES | (LISTED if kind == "category" else {})
    wanted = [p.name for p in options_of(name) if p.required or p.name in OFTEN]
    return {parameter: known[parameter] for parameter in wanted if parameter in known}


def build(request: Request) -> None:
    """Tabs of kinds, the form of one mechanism, and what it does."""
    kind = request.path_params.get("kind", "number")
    titles = {**{k: title for k, (title, _) in KINDS.items()}, "best": "Find the best"}
    if kind not in titles:
        ui.html(words.alarm("There is no page for such a kind of secret."), sanitize=False)
        return
    tabs("/design", {**titles, **ELSEWHERE}, kind, "Kinds of secrets")
    asked = read_query(request.query_params)
    if kind == "best":
        BestPage(asked).build()
    else:
        _Design(kind, asked).build()


@dataclass(frozen=True)
class _Answer:
    """What is shown of a mechanism."""

    made: Designed
    law: Law | None
    map: Map | None
    loss: str
    cost: tuple[float | None, float] | None
    observed: Any
    posterior: tuple[tuple[Any, ...], Floats] | None


class _Design:
    """The page about one kind of secret."""

    def __init__(self, kind: str, asked: dict[str, str]) -> None:
        self.kind = kind
        self.names = [e.name for e in choices(kind)]
        chosen = asked.pop("mechanism", "")
        self.name = chosen if chosen in self.names else FIRST[kind]
        self.shown: dict[str, str] = {key: asked.pop(key) for key in (*QUESTIONS, "loss") if key in asked}
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
            for key, (label, hint) in QUESTIONS.items():
                field = ui.input(label, value=self.shown.get(key, ""))
                field.props("outlined dense debounce=300 stack-label").props["hint"] = hint
                field.on_value_change(lambda e, key=key: self._look(key, e.value))
            chosen = self.shown.get("loss", "")
            pick = ui.select(LOSSES, value=chosen if chosen in LOSSES else "absolute", label="an error is measured by")
            pick.props("outlined dense").on_value_change(lambda e: self._look("loss", e.value))
            ui.html("<h2>The other way round</h2>", sanitize=False)
            error = ui.input("an expected error that I can live with").props("outlined dense")
            button("Find the epsilon for it", lambda: self._accuracy(error.value, "epsilon"))
            self.for_delta = button("Find the delta for it", lambda: self._accuracy(error.value, "delta"))
            self.accuracy = ui.html("", sanitize=False)

    @property
    def _apart(self) -> str:
        """How far apart the two secrets are that beliefs are about: a radius, where places within it are to look alike."""
        return self.shown.get("apart") or self.given.get("radius", "").strip() or "1"

    @property
    def _loss(self) -> str:
        return self.shown.get("loss", "absolute")

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
        self.for_delta.set_visibility(registry[self.name].takes.delta)
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

    async def _accuracy(self, error: str, word: str) -> None:
        """From an error to an epsilon or a delta; the form then shows it."""
        try:
            found = await run.io_bound(enough_for, self.name, dict(self.given), error or "", self._loss, word)
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
        name, given, shown, apart = self.name, dict(self.given), dict(self.shown), self._apart

        def compute() -> _Answer:
            made = designed(name, given, float(as_fraction(apart, "the distance")))
            secret = read_labels(shown["secret"], "secret")[0] if "secret" in shown else None
            law = law_of(made, secret)
            observed = read_labels(shown["observed"], "observed")[0] if "observed" in shown else None
            if observed is None and law is not None and not law.edges:
                observed = law.at[int(law.probability.argmax())]
            prior = read_prior(shown.get("prior", ""), made.channel.inputs) if made.channel is not None else None
            loss = loss_of(made, shown.get("loss", "absolute"))
            cost = cost_of(made, loss, prior)
            return _Answer(
                made, law, open_map(made.mechanism, secret), loss, cost, observed, posterior_of(made, observed, prior)
            )

        self.live.ask(compute)

    def _download(self) -> None:
        if self.made is not None:
            ui.download.content(self.made.certificate.to_json().encode(), f"{self.name}.json")

    def _refuse(self, sentence: str) -> None:
        self.promise.content = words.alarm(sentence)

    def _show(self, answer: _Answer) -> None:
        made = self.made = answer.made
        beliefs = words.beliefs_table(
            [(f"{100 * before:g} %", f"{upward(100 * after, 3)} %") for before, after in made.beliefs],
            f"In one of two secrets that are {self._apart} apart",
        )
        facts = words.facts(_facts(answer, "prior" in self.shown))
        self.promise.content = words.said(made.reading) + facts + (beliefs if made.beliefs else "")
        self._draw_law(made, answer.law, answer.map)
        self._draw_map(made)
        self._draw_belief(answer.observed, answer.posterior)
        task = Task(
            f"/design/{self.kind}", ("design", self.name), dict(made.given), {"mechanism": self.name, **self.shown}
        )
        self.elsewhere.show(task, code_of(made, registry[self.name]))

    def _draw_law(self, made: Designed, law: Law | None, around: Map | None) -> None:
        if law is not None and not law.edges:
            text = f"The exact law of what comes out for the true place {_label(law.secret)}, which is marked."
            around = listed_map(list(law.at), law.probability, law.secret, "probability", text)
        self.law.set_visibility(law is not None or around is not None)
        if around is not None:
            self.law_words.content = words.note(around.words)
            self.law.update_figure(figures.place_map(around, self.dark))
            return
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
        if posterior is None:
            return
        secrets, beliefs = posterior
        before = (
            "with the prior beside"
            if "prior" in self.shown
            else f"to whom all {len(secrets)} secrets were alike before"
        )
        text = f"By somebody who saw {_label(observed)}, {before}."
        on_map = listed_map(secrets, beliefs, observed, "belief", f"{text} What was seen is marked.")
        self.belief_words.content = words.note(text if on_map is None else on_map.words)
        self.belief.update_figure(
            figures.bars([("", [_label(x) for x in secrets], beliefs)], "the true value", "belief", self.dark)
            if on_map is None
            else figures.place_map(on_map, self.dark)
        )


def _facts(answer: _Answer, with_prior: bool) -> list[tuple[str, str]]:
    made, loss = answer.made, answer.loss
    rows = [("Guarantee", made.mechanism.guarantee.reading())]
    delta = delta_words(made)
    rows += [("Delta", delta)] if delta else []
    worst = made.errors.get(loss)
    rows.append(
        ("Expected error", "none that applies" if worst is None else f"{worst:.4g} at the worst secret ({loss})")
    )
    if answer.cost is not None:
        face, best = answer.cost
        before = "with this prior" if with_prior else "all secrets alike"
        plain = "" if face is None else f"{face:.4g} taken at face value, "
        rows.append(("On average", f"{plain}{best:.4g} after the best guess ({loss}, {before})"))
    proved = f"checked again just now: {plainly(made.proved)}" if made.proved else "a theorem about real numbers"
    return [*rows, ("Proof", proved)]


def _label(value: Any) -> Any:
    """A label as an axis shows it."""
    return value if isinstance(value, (int, str)) else f"{value:.6g}" if isinstance(value, float) else str(value)
