"""GAP-3: an adversary who guesses a number, in finite games; and a finite optimum as a channel of the house."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import noisewright as nw
from noisewright.context_aware import FiniteGame, GaussianPair, Joint, SquaredLoss
from noisewright.context_aware import gaussian as shifts
from noisewright.context_aware.gaussian import Mixture
from noisewright.exceptions import GuaranteeError, ParameterError

THREE = Joint([[0.30, 0.05, 0.05], [0.05, 0.20, 0.05], [0.05, 0.05, 0.20]], private=[0, 1, 3])


def mean_squared_error(joint: np.ndarray, values: list[float]) -> float:
    """From the definition, output by output."""
    total = 0.0
    for column in joint.T:
        if column.sum() > 0:
            mean = column @ values / column.sum()
            total += float(column @ (np.array(values) - mean) ** 2)
    return total


def test_gap_3_the_best_guess_is_the_conditional_mean() -> None:
    joint = np.array([[0.30, 0.05], [0.10, 0.55]])
    loss = SquaredLoss((10.0, 20.0))
    assert loss.smallest(joint) == pytest.approx(mean_squared_error(joint, [10, 20]), abs=1e-12)
    best = loss.best_response(joint)
    assert best[0].tolist() == pytest.approx([12.5, 10 + 5.5 / 0.6])
    for moved in (-0.1, 0.1):
        assert (joint * loss.of(best + moved)).sum() > loss.smallest(joint)
    assert loss.information(joint[:, :1] / joint[:, :1].sum()) == 0.0
    assert str(loss) == "squared"


@pytest.mark.parametrize("given_", ["x", "xy"])
def test_gap_3_the_certificate_holds_by_its_definition(given_: str) -> None:
    """Guesses and a price bound every mechanism's error from above; recomputed in plain Python."""
    game = FiniteGame(THREE, given=given_)
    values = [0.0, 1.0, 3.0]
    for budget in (0.0, 0.1, 0.15, 0.3, 0.6):
        made = game.optimum(budget, "squared")
        dual = made.dual
        assert dual is not None
        assert made.loss_value == pytest.approx(mean_squared_error(made.joint, values), abs=1e-12)
        gains = [[-((v - a) ** 2) for a in dual.beliefs[0]] for v in values]
        total = 0.0
        for x in range(3):
            p = THREE.probabilities[x]
            if given_ == "x":
                total += min(
                    sum(p[y] * gains[y][k] for y in range(3)) + dual.price * p.sum() * (x != k) for k in range(3)
                )
            else:
                total += sum(min(p[y] * (gains[y][k] + dual.price * (x != k)) for k in range(3)) for y in range(3))
        assert made.bound == pytest.approx(max(-(total - dual.price * budget), made.loss_value), abs=1e-8)
        assert 0 <= made.gap < 1e-7
        assert made.spent <= Fraction(budget)


def test_gap_3_raw_and_saturated_values() -> None:
    """At 0 the raw error, from some budget on the variance 1.56; given both is never worse."""
    raw = mean_squared_error(THREE.probabilities.T, [0, 1, 3])
    curves = [
        [made.loss_value for made in FiniteGame(THREE, given=g).curve([i / 10 for i in range(7)], "squared")]
        for g in ("x", "xy")
    ]
    for curve in curves:
        assert curve[0] == pytest.approx(raw)
        assert curve[-1] == pytest.approx(1.56, abs=1e-8)
        assert (np.diff(curve) >= -1e-8).all()
        assert (np.diff(curve, 2) <= 1e-7).all()
    assert all(both >= alone - 1e-8 for alone, both in zip(*curves, strict=True))


def test_gap_3_x_9_a_gaussian_pair_on_a_grid_has_the_error_of_shrinking_and_noise() -> None:
    """``mmse(Y|out) = E var(Y|X) + c^2 mmse(X|out)`` and ``mmse(X|out) <= D``: no mechanism given X beats shrinking and noise."""
    pair = GaussianPair(sd_x=1, sd_y=1, correlation=0.8)
    points = np.linspace(-4, 4, 41)
    joint = np.exp(-(points[:, None] ** 2 - 1.6 * points[:, None] * points + points**2) / (2 * 0.36))
    game = FiniteGame(Joint(joint / joint.sum(), public=points.tolist(), private=points.tolist()), "squared")
    for distortion in (0.2, 0.5, 0.8):
        made = game.optimum(distortion, "squared")
        assert made.loss_value == pytest.approx(pair.shrunk(distortion).mmse, abs=2e-3)
        assert made.gap < 1e-6


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(2, 4), st.floats(0, 1), st.booleans())
def test_gap_3_no_mechanism_within_the_budget_beats_the_bound(
    seed: int, n: int, m: int, budget: float, pairs: bool
) -> None:
    rng = np.random.default_rng(seed)
    law = Joint(rng.dirichlet(np.ones(n * m)).reshape(n, m), private=(10 * rng.normal(size=m)).tolist())
    game = FiniteGame(law, given="xy" if pairs else "x")
    made = game.optimum(budget, "squared")
    assert made.gap <= 1e-5 * (1 + made.loss_value)
    matrix = rng.dirichlet(np.full(n, 0.3), size=n * m if pairs else n)
    keep = np.repeat(np.eye(n), m, axis=0) if pairs else np.eye(n)
    other = game.mechanism(matrix, "squared")
    share = min(1.0, budget / max(float(other.spent), 1e-12)) * (1 - 1e-12)
    mixed = game.mechanism(share * matrix + (1 - share) * keep, "squared")
    assert mixed.loss_value <= made.bound + 1e-9 * (1 + made.bound)


def test_gap_3_numbers_are_asked_for() -> None:
    with pytest.raises(ParameterError, match="private values that are finite numbers"):
        FiniteGame(Joint([[0.5, 0.1], [0.1, 0.3]], private=["ill", "well"])).optimum(0.1, "squared")
    with pytest.raises(ParameterError, match="finite games"):
        shifts.class_noise(Mixture(py1=0.5, mean0=-1, mean1=1), 1, "squared")


# A finite optimum is a channel of the house -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def flips():  # type: ignore[no-untyped-def]
    """The optimum of the log loss for the symmetric binary model: every value is flipped with probability 0.2."""
    return FiniteGame(Joint.xor(px1=0.5, flip=0.25)).optimum("0.2", "log")


def test_an_optimum_can_be_audited(flips) -> None:  # type: ignore[no-untyped-def]
    assert np.allclose(flips.channel().matrix, [[0.8, 0.2], [0.2, 0.8]], atol=1e-4)
    assert nw.audit(flips.channel()).value == pytest.approx(math.log(4), abs=1e-3)
    assert nw.audit(FiniteGame(Joint.xor(px1=0.5, flip=0.25)).optimum("0.2").channel()).value == math.inf


def test_an_optimum_can_be_compared(flips) -> None:  # type: ignore[no-untyped-def]
    noisier = FiniteGame(Joint.xor(px1=0.5, flip=0.25)).optimum("0.4", "log")
    verdict = nw.compare(flips.channel(), noisier.channel()).average
    assert (bool(verdict.forward), bool(verdict.backward)) == (
        True,
        False,
    )  # what distorts more tells less, to everybody


def test_an_optimum_is_certified_where_it_has_a_metric_guarantee(flips) -> None:  # type: ignore[no-untyped-def]
    words = flips.certified().certificate().verify()
    assert words.startswith("epsilon = 1.386")
    assert words.endswith("per unit of discrete")
    with pytest.raises(GuaranteeError):
        flips.certified(epsilon="1.3")  # less than it has
    with pytest.raises(GuaranteeError, match="inf"):
        FiniteGame(Joint.xor(px1=0.5, flip=0.25)).optimum("0.2").certified()


def test_an_optimum_is_drawn_exactly_from_its_whole_numbers(flips) -> None:  # type: ignore[no-untyped-def]
    """Its channel's floats are the whole numbers over 2^52 of its table; 40,000 draws, chi-square at 1e-4."""
    whole = [[int(v * 2**52) for v in row] for row in flips.channel().matrix.tolist()]
    assert whole == flips.table.tolist()
    assert [sum(row) for row in whole] == [2**52] * 2
    out = flips.release([1] * 40_000, rng=np.random.default_rng(2))
    counts = [int((out == k).sum()) for k in (0, 1)]
    assert chisquare(counts, 40_000 * flips.channel().matrix[1]).pvalue > 1e-4
