"""Coarse and fine outputs: how the width of the response categories changes the error of the mean over ten records.

Run:  noisewright reproduce discretisation [--quick] [--json]

Published as figure 5.8 of a doctoral thesis on range-adherent mechanisms: at high privacy snapped Laplace noise does
*better* with coarser categories, where even the uniform responder beats it; the linear program gets worse with
coarser ones. The first effect is there only if the categories **tile** the range, so that the midpoints of the outer
ones lie inside it; with outer midpoints on the ends of the range it is gone. Both are shown.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from experiments.comparison import HIGHEST, SOURCE, answers
from experiments.report import Result, Row, Table, command
from noisewright.channels.channel import Channel
from noisewright.design.optimal import optimal
from noisewright.design.response_categories import Categories, discretise, laplace_law
from noisewright.design.utility import face_value_loss

SECONDS = (1, 2)
SIZE = 10
FACTORS = (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(5), Fraction(10))
"""The width of a category in units of the spacing of the true answers."""

REPORTED: dict[tuple[str, str], tuple[float | None, ...]] = {
    ("snapped Laplace, tiled", "0.05"): (1.6828, 1.6643, 1.6272, 1.5255, 1.3765),
    ("snapped Laplace, tiled", "0.5"): (0.6312, 0.6279, 0.6194, 0.6114, 0.6190),
    ("uniform, tiled", "0.05"): (1.3500, 1.3500, 1.3488, 1.3451, 1.3293),
    ("snapped Laplace, ends on the range", "0.05"): (1.7012, 1.7012, 1.7015, 1.7034, 1.7101),
    ("variant 1, ends on the range", "0.1"): (None, 0.9721, 0.9739, 0.9738, 1.0244),
    ("variant 1, ends on the range", "0.5"): (None, 0.5700, 0.5725, 0.5793, 0.6375),
}

ASKED = answers("mean", SIZE)


def tiled(factor: Fraction) -> Categories:
    """Categories that tile the range of the query."""
    return Categories.tiling(0, HIGHEST, int(HIGHEST * SIZE / factor))


def centred(factor: Fraction) -> Categories:
    """Categories whose first and last midpoints are the ends of the range."""
    count = int(HIGHEST * SIZE / factor)
    return Categories.centred([Fraction(HIGHEST * j, count) for j in range(count + 1)])


def snapped(epsilon: str, outputs: Categories) -> Channel:
    return discretise(laplace_law(float(ASKED.reach) / float(epsilon)), ASKED.points, outputs, snap=True)


def uniform(epsilon: str, outputs: Categories) -> Channel:
    del epsilon
    return Channel(np.full((len(ASKED.points), len(outputs)), 1 / len(outputs)), ASKED.points, outputs.labels)


def program(epsilon: str, outputs: Categories) -> Channel:
    made = optimal(ASKED.points, epsilon=epsilon, loss="absolute", metric=ASKED.metric, outputs=outputs.labels)
    return made.channel()


BUILT: dict[str, tuple[Callable[[str, Categories], Channel], Callable[[Fraction], Categories]]] = {
    "snapped Laplace, tiled": (snapped, tiled),
    "uniform, tiled": (uniform, tiled),
    "snapped Laplace, ends on the range": (snapped, centred),
    "variant 1, ends on the range": (program, centred),
}


def run(name: str, epsilon: str) -> list[Row]:
    """One row for each width that has a reported number."""
    build, cut = BUILT[name]
    rows = []
    for factor, known in zip(FACTORS, REPORTED[name, epsilon], strict=True):
        if known is not None:
            error = face_value_loss(None, build(epsilon, cut(factor)), "absolute")
            rows.append(Row((name, epsilon, f"{float(factor):g}"), (error,), (known,)))
    return rows


def result(quick: bool = False) -> Result:
    """All cases; a quick run leaves the linear programs out."""
    cases = [case for case in REPORTED if not quick or "variant" not in case[0]]
    rows = [row for case in cases for row in run(*case)]
    title = "Expected absolute error of the mean over ten records, by the width of the categories"
    columns = ("mechanism, categories", "epsilon", "width / spacing")
    return Result([Table(title, columns, ("error",), rows, SOURCE)])


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("discretisation", given)


if __name__ == "__main__":
    raise SystemExit(main())
