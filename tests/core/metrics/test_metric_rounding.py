"""What a metric says of itself beside distances: its unit, its words, and how far apart secrets land once they are rounded."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from noisewright.claims.phrases import distance_name
from noisewright.mechanisms.numeric.feasible_sets import Feasible, LatticeLine, LatticePoints
from noisewright.mechanisms.spatial.geographic import LatticeMetres, LocalMetres
from noisewright.metrics import Discrete, Euclidean, Line, Manhattan, Metric, Scaled
from noisewright.sampling import Lattice

QUARTER = Lattice(-2)
PARIS = LocalMetres(48.85, 2.35)
GAP = Feasible.parse([(0, 4.9), (5.1, 10)])


def named(metric: Metric) -> str:
    return distance_name(metric.record(), metric.secret)


@pytest.mark.parametrize(
    ("metric", "unit", "words", "numbers", "step"),
    [
        (Line(), "", "line", True, None),
        (Discrete(), "", "discrete", False, None),
        (Scaled(Scaled(Euclidean(), Fraction(2)), Fraction(3)), "", "euclidean", False, None),
        (Scaled(LatticeLine(QUARTER), Fraction(1, 5)), "", "line", True, Fraction(1, 4)),
        (LatticePoints(Manhattan(), QUARTER), "", "manhattan", False, Fraction(1, 4)),
        (PARIS, "metre", "metres around (48.85, 2.35)", False, None),
        (
            Scaled(LatticeMetres(PARIS, QUARTER), Fraction(2)),
            "metre",
            "metres around (48.85, 2.35)",
            False,
            Fraction(1, 4),
        ),
    ],
)
def test_units_words_and_steps(metric: Metric, unit: str, words: str, numbers: bool, step: Fraction | None) -> None:
    assert (metric.unit, named(metric), metric.on_numbers, metric.step) == (unit, words, numbers, step)
    assert named(metric.unscaled()[0]) == words


def test_factors_multiply() -> None:
    metric = Scaled(Scaled(Line(), Fraction(2)), Fraction(3, 5))
    assert metric.unscaled() == (Line(), Fraction(6, 5))
    assert metric.after_rounding(Fraction(5), 1) == 6
    assert metric.diameter([0, Fraction(1, 3), 10]) == 12
    assert Scaled(Discrete(), Fraction(1, 2)).diameter("abc") == Fraction(1, 2)
    assert Euclidean().diameter([(0, 0), (3, 4)]) is None
    assert (Discrete().uniform, Scaled(Discrete(), Fraction(1)).uniform, Line().uniform) == (True, False, False)


@pytest.mark.parametrize(
    ("metric", "columns"),
    [
        (LatticeLine(QUARTER), 1),
        (LatticeLine(Lattice(0), GAP), 1),
        (LatticePoints(Euclidean(), QUARTER), 2),
        (LatticePoints(Euclidean(), QUARTER), 3),
        (LatticePoints(Manhattan(), QUARTER), 2),
        (LatticePoints(Manhattan(), QUARTER), 5),
        (Scaled(LatticePoints(Manhattan(), QUARTER), Fraction(1, 3)), 4),
    ],
)
def test_no_two_secrets_land_farther_apart_than_is_said(metric: Metric, columns: int) -> None:
    rng = np.random.default_rng(1)
    plain = {"line": Line(), "euclidean": Euclidean(), "manhattan": Manhattan()}[named(metric)]
    worst = 0.0
    for _ in range(300):
        first = rng.uniform(0, 4.9, columns)
        second = np.clip(first + rng.normal(scale=0.3, size=columns), 0, 4.9 if rng.random() < 0.5 else 10)
        pair = [p.item() if columns == 1 else tuple(p.tolist()) for p in (first, second)]
        if columns == 1 and any(4.9 < p < 5.1 for p in pair):  # type: ignore[operator]
            continue
        apart = Fraction(plain.distance(*pair)) * (1 + Fraction(1, 1 << 40))
        said = metric.after_rounding(apart, columns)
        found = metric.distance(*pair)
        assert found <= said * (1 + Fraction(1, 1 << 40))
        worst = max(worst, float(found / said)) if said else worst
    assert worst > 0.5  # and not needlessly far
