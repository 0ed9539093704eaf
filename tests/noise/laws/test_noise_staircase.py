"""Exact staircase noise: its law, its coin, and what it refuses."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from noisewright.exceptions import ParameterError
from noisewright.sampling import staircase_noise
from noisewright.sampling.laplace import _plan

RATE = 1e-7  # chance that a correct sampler fails one of the statistical tests below


@pytest.mark.parametrize(
    ("rate", "width", "first"), [("1", 10, 4), ("0.3", 1, 1), ("5", 7, 1), ("1/3", 5, 5), ("2", 3, 2)]
)
def test_draws_follow_the_law_on_both_sides(rate, width, first):
    draws, far = 400_000, 2000
    noise = staircase_noise(rate, width, first, size=draws, rng=np.random.default_rng(3))
    k = np.arange(-far, far + 1)
    weights = np.exp(-float(Fraction(rate)) * ((np.abs(k) + width - first) // width))
    expected = weights / weights.sum() * draws
    seen = np.bincount(noise + far, minlength=len(k))
    common = expected >= 10
    rest = draws - seen[common].sum(), draws - expected[common].sum()
    statistic = ((seen - expected) ** 2)[common] @ (1 / expected[common]) + (rest[0] - rest[1]) ** 2 / max(rest[1], 1.0)
    assert statistic <= chi2.isf(RATE, common.sum())


def test_the_coin_between_the_parts_is_enclosed_tightly():
    plan = _plan(Fraction(7, 3), 10**6, 123_457)
    p = 123_457 / (123_457 + (10**6 - 123_457) * np.exp(-7 / 3))
    for bits in (64, 128, 512):
        (low,), (high,) = plan.enclosure(bits)
        assert low / 2**bits == pytest.approx(p, rel=1e-14)
        assert 0 <= high - low <= 2


def test_one_draw_equals_a_column_of_one():
    alone = staircase_noise(1, 9, 3, rng=np.random.default_rng(5))
    assert isinstance(alone, int)
    assert staircase_noise(1, 9, 3, size=1, rng=np.random.default_rng(5)).tolist() == [alone]
    assert staircase_noise(1, 9, 3, size=(2, 0)).shape == (2, 0)


@pytest.mark.parametrize(("rate", "width", "first"), [(1, 3, 0), (1, 3, 4), (0, 3, 1), (1e-9, 1 << 50, 5)])
def test_refused(rate, width, first):
    with pytest.raises(ParameterError):
        staircase_noise(rate, width, first, size=3)
