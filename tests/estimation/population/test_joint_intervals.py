"""Joint intervals: all of them hold at the same time as often as they say, for few reports and for many.

Simulations draw ``TRIALS`` data sets with a fixed seed. Where all intervals hold together with a probability of 0.95, the rate
over 2000 data sets lies below ``LEAST`` with a probability below 1.3e-5, and that over 400 below ``LEAST_RELEASED`` with one
below 3.2e-5; about 50 rates are looked at.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, norm

import noisewright as nw
from noisewright.estimation.bayesian_update import response_mle
from noisewright.estimation.operators import (
    DenseOperator,
    GeometricOperator,
    ProductOperator,
    ResponseOperator,
    StackedOperator,
)
from noisewright.estimation.result import (
    asymptotic,
    bootstrap,
    mean_interval,
    needs_tails,
    quantile,
    shared_confidence,
    tail_interval,
)
from noisewright.exceptions import ParameterError
from noisewright.mechanisms.categorical.frequency_oracle import Support

TRIALS = 2000
LEAST = 0.95 - 4.5 * math.sqrt(0.95 * 0.05 / TRIALS)
RELEASES = 400
LEAST_RELEASED = 0.95 - 4.5 * math.sqrt(0.95 * 0.05 / RELEASES)
SPREAD = np.random.default_rng(3).dirichlet(np.full(20, 0.5))

POPULATIONS = {
    "response": (ResponseOperator(4, 0.15, 0.4), [0.4, 0.3, 0.2, 0.1]),
    "rare secrets": (ResponseOperator(4, 0.0025, 0.99), [0.97, 0.03, 0.0, 0.0]),
    "many categories": (ResponseOperator(20, 0.03, 0.4), SPREAD),
    "geometric": (GeometricOperator(6, 0.7), [0.05, 0.25, 0.3, 0.2, 0.15, 0.05]),
    "geometric peak": (GeometricOperator(6, 2.0), [0.0, 0.99, 0.01, 0.0, 0.0, 0.0]),
    "nearly open": (DenseOperator(0.97 * np.eye(20) + 0.03 * np.diag(np.ones(19), 1) + np.diag([0] * 19 + [0.03])), SPREAD),
    "two parts": (ProductOperator([GeometricOperator(3, 1.0), ResponseOperator(2, 0.2, 0.6)]), [0.3, 0.1, 0.2, 0.1, 0.3, 0]),
    "two mechanisms": (
        StackedOperator([ResponseOperator(3, 0.2, 0.4), ResponseOperator(3, 0.1, 0.7)], [0.3, 0.7]),
        [0.5, 0.3, 0.2],
    ),
}  # fmt: skip


def together(operator, p, reports, joint, seed):
    """How often the intervals of all secrets hold at the same time."""
    rng, truth = np.random.default_rng(seed), np.asarray(p, dtype=np.float64)
    stacked = isinstance(operator, StackedOperator)  # then how many reports each mechanism has is known
    laws = [part.forward(truth) for part in operator.parts] if stacked else [operator.forward(truth)]
    sizes = (operator.shares * reports).round().astype(int) if stacked else [reports]
    drawn = np.concatenate([rng.multinomial(n, law, size=TRIALS) for n, law in zip(sizes, laws, strict=True)], axis=1)
    low, high = asymptotic(drawn / reports, reports, operator.inverse(), 0.95, joint=joint)
    return float(((low <= p) & (p <= high)).all(axis=1).mean())


@pytest.mark.parametrize("reports", [1, 5, 20, 3000])
@pytest.mark.parametrize("name", POPULATIONS)
def test_all_intervals_hold_at_once(name, reports):
    assert together(*POPULATIONS[name], reports, True, 17) >= LEAST


def test_intervals_of_one_secret_each_do_not_hold_at_once():
    """The same count finds out that 20 intervals, each at its own level, miss some share in most data sets."""
    assert together(*POPULATIONS["many categories"], 3000, False, 17) < 0.6


def released_together(mechanism, secrets, truth, reports):
    """The same of whole estimates from reports that the mechanism made; fewer data sets, as each takes its time."""
    rng, covered = np.random.default_rng(5), 0
    for _ in range(RELEASES):
        column = mechanism.release(rng.choice(secrets, reports, p=truth), rng)
        found = nw.estimate(column, mechanism, method="inversion", intervals="asymptotic", joint=True)
        covered += bool(((found.low <= truth) & (truth <= found.high)).all())  # type: ignore[operator]
    return covered / RELEASES


@pytest.mark.parametrize("reports", [3, 30, 2000])
@pytest.mark.parametrize("epsilon", [1, 4])
def test_all_intervals_of_an_oracle_hold_at_once(epsilon, reports):
    pages = [f"page {i}" for i in range(12)]
    truth = np.array([0.5, 0.3, 0.1, 0.05, 0.05, *[0.0] * 7])
    assert (
        released_together(nw.mechanisms.unary_encoding(pages, epsilon=epsilon), pages, truth, reports) >= LEAST_RELEASED
    )


@pytest.mark.parametrize("reports", [10, 2000])
@pytest.mark.parametrize(
    "mechanism", [nw.randomised_response(6, epsilon=2), nw.geometric(epsilon=1, within=(0, 5))], ids=lambda m: m.name
)
def test_all_intervals_of_whole_estimates_hold_at_once(mechanism, reports):
    truth = np.array([0.02, 0.2, 0.4, 0.3, 0.08, 0.0])
    assert released_together(mechanism, np.arange(6), truth, reports) >= LEAST_RELEASED


@pytest.mark.parametrize("reports", [4, 1500])
def test_all_intervals_of_two_oracles_hold_at_once(reports):
    mechanisms = [nw.mechanisms.unary_encoding(6, epsilon=epsilon) for epsilon in (1, 3)]
    truth = np.array([0.6, 0.2, 0.1, 0.1, 0.0, 0.0])
    rng, covered = np.random.default_rng(6), 0
    for _ in range(RELEASES):
        columns = [one.release(rng.choice(6, reports, p=truth), rng) for one in mechanisms]
        found = nw.estimate(columns, mechanisms, intervals="asymptotic", joint=True)
        covered += bool(((found.low <= truth) & (truth <= found.high)).all())  # type: ignore[operator]
    assert covered / RELEASES >= LEAST_RELEASED


def test_the_joint_bootstrap_holds_at_once_inside_the_simplex():
    operator, reports, p = ResponseOperator(4, 0.15, 0.4), 3000, np.array([0.4, 0.3, 0.2, 0.1])
    rng, trials = np.random.default_rng(9), 400

    def again(q):
        return response_mle(q, other=operator.other, lift=operator.lift)

    rates = {}
    for joint in (False, True):
        covered = 0
        for counts in rng.multinomial(reports, operator.forward(p), size=trials):
            low, high = bootstrap(counts / reports, reports, again, 0.9, 200, rng, joint=joint)
            covered += bool(((low <= p) & (p <= high)).all())
        rates[joint] = covered / trials
    # 200 replicates put the reach at a quantile that is itself off by about 2 %: one more point either way.
    assert rates[True] == pytest.approx(0.9, abs=4.5 * math.sqrt(0.9 * 0.1 / trials) + 0.01)
    assert rates[False] < 0.8


def test_a_secret_that_no_draw_moves_stays_where_it_is():
    centre = np.array([0.7, 0.3, 0.0])
    low, high = bootstrap(np.array([0.7, 0.3, 0.0]), 100, lambda q: q, 0.95, 50, np.random.default_rng(0), joint=True)
    assert (low[2], high[2]) == (0, 0)
    assert (high - centre)[:2] == pytest.approx((centre - low)[:2])
    assert (high - centre)[0] == pytest.approx((high - centre)[1])  # what one loses, the other gains
    assert 0.05 < (high - centre)[0] < 0.2


# The parts that joint intervals are made of ----------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "reports"), [(0, 1), (1, 1), (0, 50), (5, 50), (50, 50), (137, 4000), (3, 10**6)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.9995])
def test_the_interval_of_counts_is_clopper_and_pearsons(number, reports, level):
    """Against scipy, which solves for the ends to 1e-12; also after what one report counts for was scaled."""
    wanted = binomtest(number, reports).proportion_ci(level, method="exact")
    low, high = tail_interval(np.array([number / reports]), (0.0, 1.0), reports, level, either=True)
    assert (low[0], high[0]) == pytest.approx((wanted.low, wanted.high), rel=1e-9, abs=1e-12)
    scaled = np.array([-0.7 + 3.1 * number / reports])
    low, high = tail_interval(scaled, (-0.7, 2.4), reports, level, either=True)
    assert (low[0], high[0]) == pytest.approx((-0.7 + 3.1 * wanted.low, -0.7 + 3.1 * wanted.high), rel=1e-9)


@given(st.integers(1, 40), st.floats(0, 1), st.floats(0.5, 0.9999))
def test_the_interval_of_counts_covers_for_every_share(reports, share, level):
    """No simulation: the chance of every count is added up."""
    counts = np.arange(reports + 1)
    low, high = tail_interval(counts / reports, (0.0, 1.0), reports, level, either=True)
    held = (low <= share) & (share <= high)
    assert binom.pmf(counts, reports, share)[held].sum() >= level - 1e-9


@given(st.integers(1, 12), st.floats(0, 1), st.floats(0, 1), st.floats(0.05, 0.95), st.floats(0.5, 0.999))
def test_the_interval_of_bounded_values_covers_for_every_law(reports, first, second, middle, level):
    """Reports count for 0, ``middle`` or 1; the chance of every pair of counts is added up."""
    one = first
    between = (1 - first) * second
    wanted, total = one + between * middle, 0.0
    for ones in range(reports + 1):
        rest = reports - ones
        others = np.arange(rest + 1)
        conditional = 0.0 if one >= 1 else min(between / (1 - one), 1.0)
        chance = binom.pmf(ones, reports, one) * binom.pmf(others, rest, conditional)
        mean = (ones + others * middle) / reports
        low, high = tail_interval(mean, (0.0, 1.0), reports, level, either=False)
        total += chance[(low <= wanted + 1e-12) & (wanted - 1e-12 <= high)].sum()
    assert total >= level - 1e-9


def test_two_shares_need_no_division():
    """One is what the other is not, so both hold when one does, and the level is not shared out."""
    coin, q = ResponseOperator(2, 0.25, 0.5), np.array([0.4, 0.6])
    low, high = asymptotic(q, 500, coin.inverse(), 0.95, joint=True)
    wanted = binomtest(200, 500).proportion_ci(0.95, method="exact")
    assert (low[0], high[0]) == pytest.approx(((wanted.low - 0.25) / 0.5, (wanted.high - 0.25) / 0.5), rel=1e-9)
    assert low + high[::-1] == pytest.approx([1, 1], rel=1e-12)


def test_joint_intervals_are_as_wide_as_the_quantiles_say():
    """With many reports both are normal: the widths are as the quantiles of 0.95 and of 1 - 0.05/20."""
    operator, q = ResponseOperator(20, 0.03, 0.4), np.full(20, 0.05)
    alone, joint = (asymptotic(q, 10**7, operator.inverse(), 0.95, joint=joint)[1] - 0.05 for joint in (False, True))
    assert joint / alone == pytest.approx(np.full(20, norm.isf(0.05 / 40) / norm.isf(0.025)), rel=2e-3)


def test_beyond_what_floats_can_tell_the_normal_law_is_taken():
    operator, q = ResponseOperator(5, 0.1, 0.5), np.full(5, 0.2)
    inverse = operator.inverse()
    low, high = asymptotic(q, 10**12, inverse, 0.95, joint=True)
    wanted = mean_interval(inverse.left(q), inverse.squares(q), inverse.extremes(), 10**12, 0.99)
    assert (low.tolist(), high.tolist()) == (wanted[0].tolist(), wanted[1].tolist())
    assert needs_tails(10**7, 0.99, True)
    assert not needs_tails(10**7, 0.99, False)


def test_levels_near_1():
    assert quantile(1 - 2**-53) == pytest.approx(
        8.2924, abs=1e-3
    )  # 0.5 + level/2 would be 1, and the quantile infinite
    assert shared_confidence(0.95, 4) == pytest.approx(0.9875)
    with pytest.raises(ParameterError, match="a confidence so near to 1 cannot be shared by 1000 intervals"):
        shared_confidence(1 - 2**-53, 1000)


# What an estimate says of it -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["asymptotic", "bootstrap"])
def test_an_estimate_says_what_its_intervals_are_about(kind):
    mechanism = nw.randomised_response(["car", "bike", "foot", "train"], epsilon=2)
    counts = {"car": 400, "bike": 300, "foot": 200, "train": 150}
    alone, joint = (nw.estimate(counts, mechanism, intervals=kind, joint=joint) for joint in (False, True))
    assert (joint.low <= alone.low).all()  # type: ignore[operator]
    assert (joint.high >= alone.high).all()  # type: ignore[operator]
    for found, words in ((alone, "each for one secret alone"), (joint, "for all secrets together")):
        assert found.scope == words
        assert f"intervals: {kind}, {words}" in str(found).splitlines()
        assert json.loads(json.dumps(found.to_json()))["joint"] is found.joint
    assert joint.average([1, 0, 0, 0]) == alone.average([1, 0, 0, 0])  # one mean alone
    assert nw.estimate(counts, mechanism).to_json()["joint"] is None


def test_a_picture_says_what_its_intervals_are_about():
    from noisewright.plotting.estimates import draw_estimate

    line = nw.geometric(epsilon=1, within=(0, 5))
    for mechanism, counts in (
        (nw.randomised_response(["a", "b", "c"], epsilon=2), {"a": 40, "b": 30, "c": 20}),
        (line, {x: 10 + x for x in range(6)}),
    ):
        for joint, words in ((False, "each for one secret alone"), (True, "for all secrets together")):
            found = nw.estimate(counts, mechanism, intervals="asymptotic", joint=joint)
            legend = draw_estimate(found).axes[0].get_legend()
            assert legend is not None
            assert f"95 % interval (asymptotic, {words})" in [text.get_text() for text in legend.get_texts()]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"joint": True}, "joint is about intervals"),
        ({"joint": "all", "intervals": "asymptotic"}, "True or False"),
        ({"joint": True, "intervals": "asymptotic", "confidence": 1 - 2**-53}, "so near to 1"),
    ],
)
def test_what_joint_is_not(options, words):
    with pytest.raises(ParameterError, match=words):
        nw.estimate({0: 5, 1: 6, 2: 7}, nw.randomised_response(3, epsilon=1), **options)
    with pytest.raises(ParameterError, match=words):
        nw.estimate(Support(np.array([3, 4, 5]), 9), nw.mechanisms.unary_encoding(3, epsilon=1), **options)
