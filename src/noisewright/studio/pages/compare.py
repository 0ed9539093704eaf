"""Compare mechanisms."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from html import escape
from typing import Any

import numpy as np
from nicegui import ui
from starlette.requests import Request

from noisewright.claims.figures import downward
from noisewright.qif.refinement.compare import Comparison
from noisewright.render import html as words
from noisewright.studio import figures
from noisewright.studio.components import Live, SameElsewhere, button, is_dark, parameter_field
from noisewright.studio.figures import Plot
from noisewright.studio.services.compare import (
    CORNERS,
    LETTERS,
    Compared,
    Triangle,
    commands_of,
    compared,
    finite_choices,
    script_of,
    triangle_of,
)
from noisewright.studio.services.design import options_of
from noisewright.studio.sessions import Task, read_query, with_option

__all__ = ["build"]


EXAMPLE = {
    "a": "geometric",
    "a_epsilon": "1",
    "a_within": "0:2",
    "b": "randomised-response",
    "b_epsilon": "1",
    "b_categories": "0,1,2",
    "metric": "line",
}
STARTS = {"epsilon": "1", "within": "0:2", "categories": "0,1,2", "points": "0,1,2", "metric": "line", "delta": "1e-6"}


def build(request: Request) -> None:
    """Build a form for each mechanism, and the results."""
    _Compare(read_query(request.query_params) or dict(EXAMPLE)).build()


class _Compare:
    def __init__(self, asked: dict[str, str]) -> None:
        self.dark = is_dark()
        self.metric = asked.get("metric", "")
        known = finite_choices()
        letters = [k for k in LETTERS.lower() if k in "ab" or asked.get(k) in known]
        self.names = [asked[k] if asked.get(k) in known else EXAMPLE[k] for k in letters]
        self.given = [{n[2:]: t for n, t in asked.items() if n.startswith(f"{k}_")} for k in letters]

    def build(self) -> None:
        with ui.element("div").classes("nw-columns"):
            with ui.element("div").classes("nw-stack"):
                self.place = ui.element("div").classes("nw-stack")
                with ui.element("section").classes("nw-panel nw-fields").props('aria-label="All of them"'):
                    field = ui.input("also for this metric", value=self.metric).props("outlined dense debounce=300")
                    field.on_value_change(lambda e: self._metric(e.value))
                    self.add = button("Add a mechanism", self._add, icon="add")
                    self.take = button("Take the last one away", self._take, icon="remove")
            with ui.element("div").classes("nw-stack"):
                self._results()
        self.elsewhere = SameElsewhere()
        self.live = Live(self._show, self._refuse)
        self._forms()
        self._ask()

    def _forms(self) -> None:
        """A form for each of them, again."""
        self.place.clear()
        with self.place:
            self.forms = [self._form(which) for which in range(len(self.names))]
        for which in range(len(self.names)):
            self._fill(which)
        self.add.set_visibility(len(self.names) < len(LETTERS))
        self.take.set_visibility(len(self.names) > 2)

    def _add(self) -> None:
        self.names.append(self.names[-1])
        self.given.append(dict(self.given[-1]))
        self._forms()
        self._ask()

    def _take(self) -> None:
        del self.names[-1], self.given[-1]
        self._forms()
        self._ask()

    def _form(self, which: int) -> Any:
        letter = LETTERS[which]
        with ui.element("section").classes("nw-panel").props(f'aria-label="Mechanism {letter}"'):
            ui.html(f"<h2>{letter}</h2>", sanitize=False)
            pick = ui.select(finite_choices(), value=self.names[which], label=f"mechanism {letter}")
            pick.props("outlined dense").on_value_change(lambda e: self._choose(which, e.value))
            return ui.element("div").classes("nw-fields").style("margin-top: 12px")

    def _results(self) -> None:
        with (
            ui.element("section").classes("nw-panel").props('aria-label="May one replace the other" aria-live="polite"')
        ):
            ui.html("<h2>May one replace the other?</h2>", sanitize=False)
            self.verdict = ui.html("", sanitize=False)
        self.more = ui.element("div").classes("nw-stack")
        with self.more:
            with ui.element("section").classes("nw-panel").props('aria-label="What each costs"'):
                ui.html("<h2>What each costs</h2>", sanitize=False)
                self.costs = ui.html("", sanitize=False)
            with ui.element("section").classes("nw-panel").props('aria-label="What an adversary gains"'):
                ui.html("<h2>What an adversary gains</h2>", sanitize=False)
                ui.html(
                    words.note(
                        "The chance of guessing the secret after an output, all secrets alike before; dotted: without one."
                    ),
                    sanitize=False,
                )
                self.curves = Plot()
            self.triangle_panel = (
                ui.element("section").classes("nw-panel").props('aria-label="Beliefs after an output"')
            )
            with self.triangle_panel:
                ui.html("<h2>Beliefs after an output</h2>", sanitize=False)
                ui.html(
                    words.note(
                        "Each mark is what an output makes one believe about three secrets; the nearer to a corner, the surer. "
                        "Where the area of one lies inside that of the other, it may replace it at every output; a star is a "
                        "belief that lies outside."
                    ),
                    sanitize=False,
                )
                self.triangle = Plot("nw-plot nw-tall")
            with ui.element("section").classes("nw-panel").props('aria-label="Evidence for each answer"'):
                ui.html("<h2>Evidence for each answer</h2>", sanitize=False)
                self.evidence = ui.html("", sanitize=False)

    def _fill(self, which: int) -> None:
        self.forms[which].clear()
        with self.forms[which]:
            for parameter in options_of(self.names[which]):
                if parameter.required or parameter.name in self.given[which] or parameter.name == "within":
                    parameter_field(parameter, self.given[which].get(parameter.name), partial(self._change, which))

    def _choose(self, which: int, name: str) -> None:
        self.names[which] = name
        wanted = [p.name for p in options_of(name) if p.required or p.name == "within"]
        self.given[which] = {n: self.given[which].get(n, STARTS.get(n, "")) for n in wanted}
        self._fill(which)
        self._ask()

    def _change(self, which: int, name: str, text: str | None) -> None:
        self.given[which] = with_option(self.given[which], name, text)
        self._ask()

    def _metric(self, text: str) -> None:
        self.metric = text.strip()
        self._ask()

    def _ask(self) -> None:
        names, given, metric = tuple(self.names), [dict(g) for g in self.given], self.metric
        self.live.ask(lambda: (compared(names, given, metric), script_of(names, given, metric)))

    def _refuse(self, sentence: str) -> None:
        self.verdict.content = words.alarm(sentence)
        self.more.set_visibility(False)
        self.elsewhere.hide()

    def _show(self, answer: tuple[Compared, str]) -> None:
        found, script = answer
        self.more.set_visibility(True)
        self.verdict.content = "".join(map(_verdict, found.orders)) + "".join(
            words.note(
                f"Against everybody on average, {name} may replace {found.names[0]} up to an epsilon of {downward(epsilon, 4)}."
            )
            for name, epsilon in found.safe
        )
        self._costs(found)
        self.curves.show(
            figures.lines(
                [(name, at, values) for name, at, values in found.curves],
                "epsilon",
                "chance of a right guess",
                self.dark,
                xaxis=figures.in_factors(*_ends(found)),
                yaxis={"range": [0, 1.02]},
                shapes=[figures.level(found.blind)],
            )
        )
        self._triangle(found)
        self.evidence.content = "".join(
            f"<h3>{words.text(f'{title}: {status}')}</h3>" + words.code(text, title)
            for pair in found.orders
            for title, status, text in pair.evidence()
        )
        shown = {"metric": self.metric} if self.metric else {}
        for letter, name, given in zip(LETTERS.lower(), self.names, self.given, strict=False):
            shown |= {letter: name, **{f"{letter}_{key}": text for key, text in given.items()}}
        each = [Task("", ("design", name), given).command for name, given in zip(self.names, self.given, strict=True)]
        self.elsewhere.show(Task("/compare", ("compare",), {}, shown), script, command=commands_of(each, self.metric))

    def _costs(self, found: Compared) -> None:
        self.costs.content = words.table_html(
            ("mechanism", "loss", "taken at face value", "after the best guess"),
            found.costs,
            "Expected loss, all secrets equally likely, rounded up",
            numbers=(2, 3),
        )

    def _triangle(self, found: Compared) -> None:
        drawn = [triangle_of(name, channel) for name, channel in zip(found.names, found.channels, strict=True)]
        self.triangle_panel.set_visibility(all(drawn))
        if not all(drawn):
            self.triangle.show(None)
            return
        data = [_outline(found.channels[0].inputs)]
        for place, one in enumerate(drawn):
            assert one is not None
            data += _area(one, figures.COLOURS[place])
        data += _witnesses(found, figures.INK["dark" if self.dark else "light"][0])
        bare = {"visible": False, "range": [-0.1, 1.1]}
        height = {**bare, "scaleanchor": "x", "range": [-0.08, 0.95]}
        self.triangle.show(
            figures.figure(data, "", "", self.dark, xaxis=bare, yaxis=height, margin={"l": 0, "r": 0, "t": 8, "b": 8})
        )


def _ends(found: Compared) -> tuple[float, float]:
    """Return the ends of all curves over epsilon."""
    return min(float(at[0]) for _, at, _ in found.curves), max(float(at[-1]) for _, at, _ in found.curves)


def _outline(secrets: Sequence[Any]) -> dict[str, Any]:
    """The triangle itself, with a secret at each corner."""
    return {
        "type": "scatter",
        "mode": "lines+text",
        "x": figures.rounded(np.append(CORNERS[:, 0], CORNERS[0, 0])),
        "y": figures.rounded(np.append(CORNERS[:, 1], CORNERS[0, 1])),
        "text": figures.labels([*(f"it is {secret}" for secret in secrets), ""]),
        "textposition": ["bottom center", "bottom center", "top center", "top center"],
        "line": {"color": "#7d8791", "width": 1},
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _area(one: Triangle, colour: str) -> list[dict[str, Any]]:
    """The beliefs after the outputs of one mechanism, and the area of all mixtures of them."""
    area = {
        "type": "scatter",
        "mode": "lines",
        "x": figures.rounded([*one.corners[:, 0], one.corners[0, 0]]),
        "y": figures.rounded([*one.corners[:, 1], one.corners[0, 1]]),
        "fill": "toself",
        "opacity": 0.6,
        "line": {"color": colour},
        "showlegend": False,
        "hoverinfo": "skip",
    }
    marks = {
        "type": "scatter",
        "mode": "markers",
        "name": escape(one.name),
        "x": figures.rounded(one.points[:, 0]),
        "y": figures.rounded(one.points[:, 1]),
        "marker": {"size": figures.rounded(8 + 22 * one.weights), "color": colour, "opacity": 0.8},
        "hoverinfo": "name",
    }
    return [area, marks]


def _witnesses(found: Compared, ink: str) -> list[dict[str, Any]]:
    """Show witnesses that a replacement is unsafe: a belief outside of the other area, and the way back to it."""
    return [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": "surer than before",
            "x": figures.rounded(line[:, 0]),
            "y": figures.rounded(line[:, 1]),
            "line": {"color": ink, "width": 2, "dash": "dot"},
            "marker": {"symbol": ["star", "circle-open"], "size": [15, 9], "color": ink},
            "showlegend": place == 0,
            "hoverinfo": "name",
        }
        for place, line in enumerate(found.beyond)
    ]


def _verdict(pair: Comparison) -> str:
    first, second = pair.names
    head = ("order", "against", f"{second} may replace {first}", f"{first} may replace {second}")
    return "".join(map(words.said, pair.in_words())) + words.table_html(
        head, pair.answers(), "Which replacements are safe"
    )
