"""Reports that no population explains: the bound on their chance, and that it is said."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import noisewright as nw
from noisewright.estimation.likelihood import log_chance

WORDS = "no population explains these reports"


def outcomes(reports: int, outputs: int) -> np.ndarray:
    """All ways in which reports can fall on outputs."""
    found = [one for one in product(range(reports + 1), repeat=outputs) if sum(one) == reports]
    return np.array(found)


def chances(counts: np.ndarray, law: np.ndarray) -> np.ndarray:
    logs = np.array([math.lgamma(n.sum() + 1) - sum(math.lgamma(x + 1) for x in n) for n in counts.astype(float)])
    with np.errstate(divide="ignore", invalid="ignore"):
        powers = np.where(counts > 0, counts * np.log(law), 0.0).sum(axis=1)
    return np.exp(logs + powers)


@given(
    st.integers(1, 12),
    st.lists(st.floats(0.02, 1), min_size=2, max_size=4),
    st.floats(0.0, 0.99),
)
def test_the_moments_of_relative_entropy_are_bounded(reports: int, weights: list[float], rate: float) -> None:
    """The inequality behind the bound, by summing over all outcomes."""
    law = np.array(weights) / sum(weights)
    counts = outcomes(reports, len(law))
    shares = counts / reports
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = np.where(counts > 0, shares * np.log(shares / law), 0.0).sum(axis=1)
    moment = float(chances(counts, law) @ np.exp(rate * reports * entropy))
    assert moment <= (1 - rate) ** -(len(law) - 1) * (1 + 1e-9)


@given(st.integers(1, 60), st.floats(0.05, 0.95))
def test_the_bound_is_never_below_the_chance(reports: int, chance: float) -> None:
    """Two outputs, every outcome: reports that fit as badly as it are at most as likely as the bound says."""
    law = np.array([1 - chance, chance])
    counts = np.array([[reports - k, k] for k in range(reports + 1)])
    shares = counts / reports
    values = np.array([float(q @ np.log(law)) for q in shares])
    logs = [log_chance(q, reports, value, 0.0, 1) for q, value in zip(shares, values, strict=True)]
    weights = binom.pmf(range(reports + 1), reports, chance)
    for log in logs:
        assert weights[[other <= log for other in logs]].sum() <= math.exp(log) + 1e-9


def test_a_certified_gap_is_in_favour_of_the_reports() -> None:
    q, value = np.array([0.9, 0.1]), float(np.array([0.9, 0.1]) @ np.log([0.75, 0.25]))
    bounds = [log_chance(q, 1000, value, gap, 1) for gap in (0.0, 0.01, 0.05, 1.0)]
    assert bounds == sorted(bounds)
    assert bounds[0] < -60
    assert bounds[-1] == 0


def test_the_wrong_mechanism_is_told() -> None:
    """Reports at epsilon 6 lie too close to few categories for a file that says epsilon 1/2."""
    rng = np.random.default_rng(3)
    used, said = (nw.randomised_response(["a", "b", "c", "d"], epsilon=epsilon) for epsilon in (6, "1/2"))
    reports = used.release(["a"] * 3000, rng)
    assert WORDS in nw.estimate(reports, said).warnings[0]
    assert nw.estimate(reports, used).warnings == ()


@pytest.mark.parametrize("method", ["mle", "ibu", "inversion"])
def test_other_noise_on_numbers_is_told(method: str) -> None:
    rng = np.random.default_rng(4)
    narrow, wide = (nw.geometric(epsilon=epsilon, within=(0, 30)) for epsilon in (3, "0.1"))
    reports = narrow.release(np.full(20_000, 15), rng)
    assert any(WORDS in note for note in nw.estimate(reports, wide, method=method).warnings)
    assert not any(WORDS in note for note in nw.estimate(reports, narrow, method=method).warnings)


def test_reports_of_the_mechanism_are_left_in_peace() -> None:
    """300 data sets of few and of many reports, at corners and inside: a false alarm has a chance below 3e-4 for all of them."""
    rng = np.random.default_rng(5)
    makers = [nw.randomised_response(["a", "b", "c"], epsilon=1), nw.geometric(epsilon="1/2", within=(0, 9))]
    for round_ in range(150):
        for maker, secrets in zip(makers, (["a", "b", "c"], range(10)), strict=True):
            size = (3, 30, 1000)[round_ % 3]
            truth = rng.choice(list(secrets), size, p=rng.dirichlet(np.full(len(secrets), 0.3)))
            assert not any(
                WORDS in note for note in nw.estimate(maker.release(truth, rng), maker, method="mle").warnings
            )


def test_mixtures_are_judged_together() -> None:
    rng = np.random.default_rng(6)
    used, other = (nw.randomised_response(["a", "b", "c"], epsilon=epsilon) for epsilon in (5, "1/2"))
    reports = [maker.release(["a"] * 2000, rng) for maker in (used, other)]
    assert not any(WORDS in note for note in nw.estimate(reports, [used, other]).warnings)
    assert any(WORDS in note for note in nw.estimate(reports, [other, used]).warnings)


def test_respondents_who_do_not_follow_the_device() -> None:
    plan = nw.survey(epsilon=1, respondents=1000)  # at least 3 of 11 say yes, whatever is true
    assert WORDS in plan.estimate({"yes": 40, "no": 960}).warnings[0]
    assert plan.estimate({"yes": 260, "no": 740}).warnings == ()
