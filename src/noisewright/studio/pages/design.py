"""Find the best mechanism for a question."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from nicegui import ui
from starlette.requests import Request

from noisewright._typing import Floats
from noisewright.base import errors_in_words
from noisewright.claims.figures import figure, upward
from noisewright.cli.parameters import read_labels
from noisewright.mechanisms.registry import registry
from noisewright.render import html as words
from noisewright.render.claims import promised, short
from noisewright.studio import figures
from noisewright.studio.components import (
    Live,
    SameElsewhere,
    beside,
    button,
    choice_field,
    epsilon_field,
    is_dark,
    parameter_field,
    tabs,
)
from noisewright.studio.figures import Map, Plot
from noisewright.studio.services.design import (
    KINDS,
    LOSS_WORDS,
    LOSSES,
    Best,
    Designed,
    Law,
    best,
    best_code,
    best_command,
    choices,
    code_of,
    cost_of,
    delta_words,
    designed,
    distance_of,
    enough_for,
    gaps_of,
    law_of,
    listed_map,
    loss_of,
    open_map,
    options_of,
    posterior_of,
    reach_of,
    read_prior,
)
from noisewright.studio.sessions import Task, read_query, with_option

__all__ = ["BestPage", "build", "examples"]


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
        self.promise.content = words.said(made.in_words()) + words.facts_html(rows)
        channel = self.made.channel
        self.map.show(figures.heat_map(channel, self.dark))
        self.elsewhere.show(Task("/design/best", ("design", "optimal"), given), best_code(given), best_command(given))


# Design -------------------------------------------------------------------------------------------------------------------
#
# Design a mechanism by moving its parameters.


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
    "excluding": "60:70",
}
"""Initial values of a form: an example, which a person replaces."""

OFTEN = {"number": ("within", "excluding"), "place": ("radius",)}
"""Not required, and hardly ever left out, for a kind of secrets."""
GAPS = ("laplace",)
"""Forms that start with an example of a gap in the range."""

ELSEWHERE = {"/text": "Texts", "/pictures": "Pictures"}
"""Kinds of secrets that have pages of their own."""

QUESTIONS = {
    "apart": ("two secrets that are so far apart", "for the table of beliefs"),
    "secret": ("the true value", ""),
    "observed": ("an observed output", "what is believed after it"),
    "prior": ("how likely each secret is before", "numbers with commas; empty: all alike"),
}
LOSS_LABELS = {name: LOSS_WORDS[name] for name in ("absolute", "squared", "zero-one")}

LISTED = {"points": "0..9", "metric": "line"}
"""The same for secrets that are listed, which need not be places."""


def examples(kind: str, name: str) -> dict[str, str]:
    """Return the initial values of the form of a mechanism for this kind of secret."""
    known = EXAMPLES | (LISTED if kind == "category" else {})
    wanted = [p.name for p in options_of(name) if p.required or p.name in OFTEN.get(kind, ())]
    wanted = [parameter for parameter in wanted if parameter != "excluding" or name in GAPS]
    return {parameter: known[parameter] for parameter in wanted if parameter in known}


def build(request: Request) -> None:
    """Build tabs of kinds, the form of one mechanism, and its effect."""
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
    """Displayed content about a mechanism."""

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
            self.fields: dict[str, ui.input] = {}
            for key, (label, hint) in QUESTIONS.items():
                field = self.fields[key] = ui.input(label, value=self.shown.get(key, ""))
                field.props("outlined dense debounce=300 stack-label")
                field.props["hint"] = "a place as 200:300" if (key, self.kind) == ("secret", "place") else hint
                field.on_value_change(lambda e, key=key: self._look(key, e.value))
            choice_field(
                "an error is measured by",
                LOSS_LABELS,
                self.shown.get("loss", ""),
                lambda loss: self._look("loss", loss),
            )
            ui.html("<h2>The other way round</h2>", sanitize=False)
            error = ui.input("an expected error that I can live with").props("outlined dense")
            button("Find the epsilon for it", lambda: self._accuracy(error.value, "epsilon"))
            self.for_delta = button("Find the delta for it", lambda: self._accuracy(error.value, "delta"))
            self.accuracy = ui.html("", sanitize=False)

    @property
    def _apart(self) -> str:
        """Distance of the two secrets that beliefs are about: a radius, where places within it are to look alike."""
        return self.shown.get("apart") or self.given.get("radius", "").strip() or "1"

    @property
    def _loss(self) -> str:
        return self.shown.get("loss", "absolute")

    def _results(self) -> None:
        with ui.element("section").classes("nw-panel").props('aria-label="The promise" aria-live="polite"'):
            ui.html("<h2>The promise</h2>", sanitize=False)
            self.promise = ui.html("", sanitize=False)
            self.made: Designed | None = None
            self.take = button("Download the certificate", self._download, icon="download")
        self.more = ui.element("div").classes("nw-stack")
        with self.more:
            with ui.element("section").classes("nw-panel").props('aria-label="What comes out"'):
                ui.html("<h2>What comes out</h2>", sanitize=False)
                self.law_words = ui.html("", sanitize=False)
                self.law = Plot()
            self.map_panel = ui.element("section").classes("nw-panel").props('aria-label="All probabilities"')
            with self.map_panel:
                ui.html("<h2>All probabilities</h2>", sanitize=False)
                self.map = Plot()
            self.belief_panel = ui.element("section").classes("nw-panel").props('aria-label="Beliefs after an output"')
            with self.belief_panel:
                ui.html("<h2>What is believed after an output</h2>", sanitize=False)
                self.belief_words = ui.html("", sanitize=False)
                self.belief = Plot()
        self._there(False)

    def _there(self, there: bool) -> None:
        """Return whether there is a mechanism to be shown."""
        self.more.set_visibility(there)
        self.take.set_visibility(there)

    def _fill(self) -> None:
        self.summary.content = words.note(registry[self.name].summary.capitalize() + ".")
        self.for_delta.set_visibility(registry[self.name].takes.delta)
        self.form.clear()
        with self.form:
            rest = []
            for parameter in options_of(self.name):
                often = parameter.name in OFTEN.get(self.kind, ())
                if parameter.required or often or parameter.name in self.given:
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
        """Compute an epsilon or a delta from an error; the form then shows it."""
        given, loss = dict(self.given), self._loss
        found = await beside(self._refuse_accuracy, enough_for, self.name, given, error or "", loss, word)
        if found is None:
            return
        given = self.given = {**given, word: found}
        made = await beside(self._refuse_accuracy, designed, self.name, given, distance_of(self._apart))
        if made is None:
            return
        said = f"{word.capitalize()} {found} is enough for an expected error of {error}."
        means = (delta_words(made) if word == "delta" else None) or made.reading
        self.accuracy.content = words.said(f"{said} {means[:1].upper()}{means[1:]}")
        self._fill()
        self._ask()

    def _refuse_accuracy(self, sentence: str) -> None:
        self.accuracy.content = words.alarm(sentence)

    def _look(self, key: str, text: str) -> None:
        self.shown = {k: v for k, v in {**self.shown, key: text}.items() if v}
        self._ask()

    def _ask(self) -> None:
        name, given, shown, apart = self.name, dict(self.given), dict(self.shown), self._apart

        def compute() -> _Answer:
            made = designed(name, given, distance_of(apart))
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
        self.made = None
        self.promise.content = words.alarm(sentence)
        self._there(False)
        self.elsewhere.hide()

    def _offer(self, answer: _Answer) -> None:
        """Offer the questions that this mechanism answers, with defaults for empty fields."""
        law, listed = answer.law, answer.made.channel is not None
        assumed = {"apart": self._apart, "observed": _label(answer.observed), "prior": "all alike"}
        assumed["secret"] = _label(law.secret) if law is not None else "0:0" if answer.map is not None else ""
        there = {"apart": True, "observed": listed, "prior": listed, "secret": bool(assumed["secret"] != "")}
        for key, field in self.fields.items():
            field.set_visibility(there[key])
            field.props["placeholder"] = str(assumed[key])
            field.update()

    def _show(self, answer: _Answer) -> None:
        made = self.made = answer.made
        self._there(True)
        self._offer(answer)
        beliefs = words.beliefs_table(
            [(f"{100 * before:g} %", f"{upward(100 * Fraction(after), 3)} %") for before, after in made.beliefs],
            f"In one of two secrets that are {self._apart} apart",
        )
        facts = words.facts_html(_facts(answer, "prior" in self.shown))
        self.promise.content = words.said(made.reading) + facts + (beliefs if made.beliefs else "")
        self._draw_law(made, answer.law, answer.map)
        self.map_panel.set_visibility(made.channel is not None)
        if made.channel is not None:
            self.map.show(figures.heat_map(made.channel, self.dark))
        self._draw_belief(answer.observed, answer.posterior)
        task = Task(
            f"/design/{self.kind}", ("design", self.name), dict(made.given), {"mechanism": self.name, **self.shown}
        )
        self.elsewhere.show(task, code_of(made, registry[self.name], answer.loss, distance_of(self._apart)))

    def _draw_law(self, made: Designed, law: Law | None, around: Map | None) -> None:
        if law is not None and not law.edges:
            text = f"The exact law of what comes out for the true place {_label(law.secret)}, which is marked."
            around = listed_map(list(law.at), law.probability, law.secret, "probability", text)
        if around is not None:
            self.law_words.content = words.note(around.words)
            self.law.show(figures.place_map(around, self.dark))
        elif law is not None:
            of = "one coordinate with the true value" if self.kind == "vector" else "the true value"
            gaps = gaps_of(made, float(law.at[0]), float(law.at[-1])) if law.edges else []
            more = "; nothing comes out in the grey gap" + "s" * (len(gaps) > 1) if gaps else ""
            self.law_words.content = words.note(f"The exact law of what comes out for {of} {_label(law.secret)}{more}.")
            self.law.show(self._density(law, gaps) if law.edges else self._columns(law))
        elif (reach := reach_of(made)) is not None:
            self.law_words.content = words.note("How far what comes out is from the true vector.")
            axes = ("distance from the true vector", "chance to be at most so far")
            self.law.show(figures.lines([("", *reach)], *axes, self.dark))
        else:
            self.law_words.content = words.note("There is no picture of what comes out of this mechanism.")
            self.law.show(None)

    def _density(self, law: Law, gaps: list[tuple[float, float]]) -> dict[str, Any]:
        middles = (law.at[1:] + law.at[:-1]) / 2  # type: ignore[operator]
        width = float(law.at[1] - law.at[0])
        return figures.lines(
            [("", middles, law.probability / width)],
            "what comes out",
            "probability density",
            self.dark,
            steps=True,
            shapes=[*(figures.band(*gap) for gap in gaps), figures.upright(float(law.secret))],
            xaxis={"range": [float(law.at[0]), float(law.at[-1])]},
        )

    def _columns(self, law: Law) -> dict[str, Any]:
        shown = [("", [_label(y) for y in law.at], law.probability)]
        return figures.bars(shown, "what comes out", "probability", self.dark)

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
        self.belief.show(
            figures.bars([("", [_label(x) for x in secrets], beliefs)], "the true value", "belief", self.dark)
            if on_map is None
            else figures.place_map(on_map, self.dark)
        )


def _facts(answer: _Answer, with_prior: bool) -> list[tuple[str, str]]:
    made, loss = answer.made, answer.loss
    rows = [("Guarantee", promised(made.mechanism.guarantee, made.proved))]
    delta = delta_words(made)
    rows += [("Delta", delta)] if delta else []
    rows.append(("Expected error", errors_in_words(made.mechanism, made.errors)))
    if answer.cost is not None:
        face, best = answer.cost
        before = "with this prior" if with_prior else "all secrets alike"
        plain = "" if face is None else f"{figure(face, 4)} taken at face value, "
        rows.append(("On average", f"{plain}{figure(best, 4)} after the best guess ({loss}, {before})"))
    proved = f"checked again just now: {short(made.proved)}" if made.proved else "a theorem about real numbers"
    return [*rows, ("Proof", proved)]


def _label(value: Any) -> Any:
    """A label as an axis shows it."""
    return value if isinstance(value, (int, str)) else f"{value:.6g}" if isinstance(value, float) else str(value)
