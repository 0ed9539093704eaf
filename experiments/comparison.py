"""What the comparisons of range-adherent mechanisms share: the queries, and the mechanisms as channels.

Two queries on small databases: the **mean** of whole numbers from 0 to 4, and the **count** of a yes-or-no attribute,
both over a public number of records, one of which may be replaced. Five mechanisms for each: noise that is snapped to
the valid range (Laplace and staircase; for counts the truncated geometric), the explicit fair mechanism (counts
only), Laplace noise cut to the range and normalised, and two linear programs: variant 1 under privacy alone, variant
2 with the shapes monotone, symmetric and fair besides.

Everything is computed from matrices, nothing is drawn. The published figures carry no numbers; ``reported`` are those
of a recomputation.
"""

from __future__ import annotations

from collections.abc import Callable

import noisewright as nw
from noisewright.channels.channel import Channel
from noisewright.design.optimal import optimal
from noisewright.design.response_categories import (
    Answers,
    Categories,
    StaircaseNoise,
    discretise,
    exact_number,
    laplace_law,
    truncated_laplace_law,
)
from noisewright.numerics.exact import as_fraction

HIGHEST = 4
VARIANT_2 = ("monotone", "symmetric", "fair")
MEASURES = ("absolute", "squared", "Bayes absolute", "Bayes squared")
SOURCE = "a recomputation of the published comparison, whose figures carry no numbers"


def answers(query: str, size: int, highest: int = HIGHEST) -> Answers:
    """The possible true answers of a query; those of a mean are of numbers from 0 to ``highest``."""
    return Answers.of_mean(size, highest) if query == "mean" else Answers.of_count(size)


def mechanisms(
    query: str, size: int, epsilon: str, *, highest: int = HIGHEST, widened: bool = False
) -> dict[str, Callable[[], Channel]]:
    """The mechanisms of the comparison, each built when it is called; ``widened`` makes the output range three times as wide."""
    asked = answers(query, size, highest)
    outputs = categories(asked, widened)
    budget, reach = float(as_fraction(epsilon)), float(asked.reach)

    def snapped(law: object) -> Callable[[], Channel]:
        return lambda: discretise(law, asked.points, outputs, snap=True)  # type: ignore[arg-type]

    def program(shape: tuple[str, ...]) -> Callable[[], Channel]:
        return lambda: optimal(
            asked.points, epsilon=epsilon, loss="absolute", metric=asked.metric, shape=shape, outputs=outputs.labels
        ).channel()

    found: dict[str, Callable[[], Channel]] = {}
    if query == "mean":
        found["snapped Laplace"] = snapped(laplace_law(reach / budget))
        found["snapped staircase"] = snapped(StaircaseNoise(budget, reach))
    else:
        found["truncated geometric"] = lambda: geometric(size, epsilon, outputs)
        if not widened:  # there is no explicit fair mechanism with more outputs than secrets
            found["explicit fair"] = lambda: nw.mechanisms.explicit_fair(epsilon=epsilon, within=(0, size)).channel()
    law = truncated_laplace_law(2 * reach / budget, outputs.span)
    found["normalised Laplace"] = lambda: discretise(law, asked.points, outputs)
    found["variant 1"] = program(())
    found["variant 2"] = program(VARIANT_2)
    return found


def categories(asked: Answers, widened: bool) -> Categories:
    """One category about each answer; a widened range has as much again on either side."""
    if not widened:
        return asked.categories()
    places = [exact_number(p) for p in asked.points]
    step, more = places[1] - places[0], len(places) - 1
    return Categories.centred([places[0] + step * j for j in range(-more, 2 * more + 1)])


def geometric(size: int, epsilon: str, outputs: Categories) -> Channel:
    """The geometric clamped to the range of the outputs, for counts from 0 to ``size``."""
    low, high = int(outputs.labels[0]), int(outputs.labels[-1])
    whole = nw.geometric(epsilon=epsilon, within=(low, high)).channel()
    rows = slice(-low, size + 1 - low)
    return Channel.from_logs(whole.logs[rows], range(size + 1), whole.outputs)


def measures(channel: Channel) -> tuple[float, ...]:
    """Expected absolute and squared error at face value, then after the best guess of somebody with the uniform prior."""
    row = nw.design.compare_utility({"it": channel}).rows[0]
    return (
        *(float(row.face[loss] or 0.0) for loss in ("absolute", "squared")),
        row.bayes["absolute"],
        row.bayes["squared"],
    )
