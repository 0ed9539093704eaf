"""The exponential mechanism with Hamming utility: the smallest delta by its rate, and the checks that sufficient sets save.

Run:  noisewright reproduce hamming_exponential [--quick] [--json] [--plot FILE.png]

Published as a figure and a worked example in a doctoral thesis on differential privacy in metric spaces. The figure: with
utility -k times the number of changed rows, delta is 0 exactly while |k| <= epsilon; beyond, it rises to 1 for a large k and
to 1/(m - 1) for a very negative one, which never tells the truth. The example: databases of two rows from {0, 1, 2} and
minus the Manhattan distance as utility. Of 18,360 checks 924 are left. The thesis prints 1092: where an output is exactly
as likely under both databases, rounding took it for likelier, and the same floats make the same mistake here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.report import Result, Row, Table, command
from noisewright.metrics.base import Discrete, Hamming, Manhattan
from noisewright.surveys.categorical import hamming_delta, hamming_range, sufficient_set, utility_channel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RATES = (-6, -4, -2, -1, 0, 1, 2, 4, 6)
REPORTED = {
    (0, 2): ".9951 .9640 .7616 .4621 0 .4621 .7616 .9640 .9951",
    (2, 2): ".9793 .8491 0 0 0 0 0 .8491 .9793",
    (0, 5): ".2492 .2443 .2091 .1447 0 .2558 .5610 .9147 .9877",
}
"""Smallest deltas at the rates, by epsilon and the number of categories."""
FAR = 40
"""At this rate the limits are reached to all digits of a float."""
SIZES = (3, 6, 9)
CHECKS_REPORTED = {
    "every event": (0, 0, 36, 18_360),
    "sufficient sets, exact": (24, 12, 0, 924),
    "floats, summed left to right": (21, 15, 0, 1092),
    "floats, summed in pairs": (22, 14, 0, 1036),
}
SOURCE = "a recomputation of the published figure, whose curves carry no numbers"
CHECKS_SOURCE = "exact recomputation, and the published 21, 15 and 1092 for floats summed left to right"
SECONDS = (1, 1)


# Smallest delta by rate ---------------------------------------------------------------------------------------------------


def audited(rate: float, epsilon: int, categories: int) -> float:
    """The smallest delta of the channel itself, over all events."""
    return utility_channel(-rate * Discrete().matrix(range(categories))).delta(epsilon)


def run(epsilon: int, categories: int) -> list[Row]:
    """One row for each rate, by formula and by audit, then both limits."""
    rows = []
    told = [float(word) for word in REPORTED[epsilon, categories].split()]
    limits = [(-FAR, 1 / (categories - 1)), (FAR, 1.0)]
    for rate, delta in [*zip(RATES, told, strict=True), *limits]:
        found = hamming_delta(rate, epsilon=epsilon, categories=categories), audited(rate, epsilon, categories)
        rows.append(Row((f"{epsilon}", f"{categories}", f"{rate}"), found, (delta, delta), close=5.1e-5))
    return rows


def figure(quick: bool = False) -> Figure:
    """The smallest delta by the rate, for all cases."""
    from noisewright.plotting.mechanisms import COLOURS, blank_figure

    drawn = blank_figure(8, 4.4)
    axes = drawn.add_subplot()
    rates = np.linspace(-6, 6, 601)
    for colour, style, (epsilon, m) in zip(COLOURS, ("-", "--", "-"), REPORTED, strict=False):
        deltas = [hamming_delta(rate, epsilon=epsilon, categories=m) for rate in rates]
        label = f"epsilon {epsilon}, {m} categories"
        axes.plot(rates, deltas, style, color=colour, linewidth=1.8, label=label, clip_on=False)
    faint: dict[str, Any] = {"color": "#5f6a72", "fontsize": 8}
    axes.axhline(1, color="#b8c0c8", linewidth=0.8, linestyle=":")
    axes.text(0, 1.015, "limit 1", ha="center", **faint)
    axes.plot([-6, 0], [1 / 4, 1 / 4], color="#b8c0c8", linewidth=0.8, linestyle=":")
    axes.text(-5.9, 0.265, "limit 1/(m - 1) = 1/4 for 5 categories", **faint)
    axes.set(
        xlabel="rate k: above 0 the truth is likeliest, below 0 it is least likely",
        ylabel="smallest delta",
        xlim=(-6, 6),
        ylim=(0, 1.08),
    )
    axes.legend(frameon=False, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, 0.93))
    return drawn


# Checks saved by sufficient sets ------------------------------------------------------------------------------------------

DATABASES = list(product(range(3), repeat=2))


def neighbours() -> Iterator[tuple[int, int]]:
    """Ordered pairs of databases that differ in one row."""
    yield from ((int(i), int(j)) for i, j in np.argwhere(Hamming().matrix(DATABASES) == 1))


def utilities() -> list[list[int]]:
    """Minus the Manhattan distance between databases."""
    return [[-int(d) for d in row] for row in Manhattan().matrix(DATABASES)]


def checks(sizes: Iterable[int], events: Callable[[int], int]) -> tuple[int, ...]:
    """How many pairs have each size of set, and how many events are checked in all."""
    counted = Counter(sizes)
    return *(counted[size] for size in SIZES), sum(n * events(size) for size, n in counted.items())


def subsets(size: int) -> int:
    """Events within a set, the empty one aside."""
    return (1 << size) - 1


def in_floats(total: Callable[[list[float]], float]) -> Iterator[int]:
    """The sizes of the sets with probabilities in floats, the normaliser summed in some order."""
    weights = [[math.exp(u) for u in row] for row in utilities()]
    laws = [[w / total(row) for w in row] for row in weights]
    yield from (sum(a > b for a, b in zip(laws[i], laws[j], strict=True)) for i, j in neighbours())


def left_to_right(values: list[float]) -> float:
    """A sum as a loop computes it; ``sum`` of a recent Python compensates for rounding."""
    total = 0.0
    for value in values:
        total += value
    return total


def run_checks() -> list[Row]:
    """Checks without sufficient sets, with them, and with ties left to rounding."""
    matrix, pairs = utilities(), list(neighbours())
    found = (
        checks(
            (len(DATABASES) for _ in pairs), lambda size: (1 << size) - 2
        ),  # nor is the whole space an event to check
        checks((len(sufficient_set(matrix, i, j).outputs) for i, j in pairs), subsets),
        checks(in_floats(left_to_right), subsets),
        checks(in_floats(lambda values: float(np.sum(values))), subsets),
    )
    return [
        Row((name,), here, told, close=0) for here, (name, told) in zip(found, CHECKS_REPORTED.items(), strict=True)
    ]


def result(quick: bool = False) -> Result:
    """Smallest deltas in all cases, a quick run in one; and the checks."""
    rows = [row for case in (list(REPORTED)[:1] if quick else REPORTED) for row in run(*case)]
    notes = []
    for epsilon, m in REPORTED:
        low, high = hamming_range(m, epsilon=epsilon)
        notes.append(f"Epsilon {epsilon}, {m} categories: delta = 0 for rates from {low + 0.0:.4f} to {high:.4f}.")
    columns, names = ("epsilon", "categories", "rate"), ("formula", "audit of all events")
    counted = (*(f"pairs with\n{size} outputs" for size in SIZES), "checks")
    tables = [
        Table("Smallest delta of the exponential mechanism with Hamming utility", columns, names, rows, SOURCE),
        Table(
            "Events to check on databases of two rows from {0, 1, 2}", ("how",), counted, run_checks(), CHECKS_SOURCE, 0
        ),
    ]
    return Result(tables, notes=notes)


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("hamming_exponential", given)


if __name__ == "__main__":
    raise SystemExit(main())
