"""Estimates of leaks from samples: against exact values, with stated error rates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta, norm
from sklearn.feature_selection import mutual_info_classif

from noisewright.context_aware import Mixture, accuracy_interval
from noisewright.context_aware import gaussian as shifts
from noisewright.context_aware.distributions import binned, from_beliefs, mixture_beliefs, nearest_neighbours, plug_in
from noisewright.exceptions import DataError, NoisewrightError, ParameterError

EVEN = Mixture(py1=0.5, mean0=-3, mean1=3)
OPTIMUM = shifts.shift_and_noise(EVEN, 5)
SIZE = 20_000


def sample(size: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size)
    x = np.where(y == 1, 3.0, -3.0) + rng.normal(size=size)
    return x, y, OPTIMUM.release(x, y, rng)


def posterior_of_truth(out: np.ndarray, y: np.ndarray) -> np.ndarray:
    law = OPTIMUM.released
    assert law is not None
    ones, zeros = norm.pdf(out, law.mean1, law.sd1), norm.pdf(out, law.mean0, law.sd0)
    return np.where(y == 1, ones, zeros) / (ones + zeros)


def test_5_5_estimators_near_the_exact_information() -> None:
    """Exact: .2013. Published: 32 bins .2086, neighbours .2068; seven standard errors are about .02."""
    assert OPTIMUM.information == pytest.approx(0.2013, abs=5e-5)
    _, y, out = sample(SIZE, 1)
    assert binned(out, y) == pytest.approx(0.2013, abs=0.02)
    assert nearest_neighbours(out, y) == pytest.approx(0.2013, abs=0.03)
    found = from_beliefs(posterior_of_truth(out, y), y, confidence=0.9999)
    assert found.value == pytest.approx(0.2013, abs=0.02)
    assert found.low < 0.2013 < found.high


def test_neighbours_agree_with_another_library() -> None:
    _, y, out = sample(4000, 3)
    theirs = float(mutual_info_classif(out[:, None], y, n_neighbors=3, random_state=0)[0])
    assert nearest_neighbours(out, y) == pytest.approx(theirs, abs=2e-3)
    both = np.stack([out, out[::-1]], axis=1)
    assert abs(nearest_neighbours(both, y) - theirs) < 0.08  # a second, useless number


def test_plug_in_takes_its_bias_off() -> None:
    """Independent columns, 200 samples of 500: the mean of the corrected estimate is far below the bias of the plain one."""
    rng = np.random.default_rng(0)
    found = [plug_in(rng.integers(0, 8, 500), rng.integers(0, 3, 500)) for _ in range(200)]
    assert np.mean(found) < 0.25 * 7 * 2 / 1000
    x, y = np.repeat([0, 1], 50), np.repeat([0, 1], 50)
    assert plug_in(x, y) == pytest.approx(math.log(2) - 1 / 200)


def test_intervals_cover() -> None:
    """95 % intervals in 400 samples of 300: at least 92 % cover (that fails with probability below 1e-2 if coverage is 95 %)."""
    rng = np.random.default_rng(4)
    hits = sum(
        found.low <= 0.8 <= found.high
        for found in (accuracy_interval(int(rng.binomial(300, 0.8)), 300) for _ in range(400))
    )
    assert hits >= 0.92 * 400
    found = accuracy_interval(1500, 2000)
    assert (found.low, found.high) == pytest.approx((beta.ppf(0.025, 1500, 501), beta.ppf(0.975, 1501, 500)))
    assert (accuracy_interval(0, 10).low, accuracy_interval(10, 10).high) == (0, 1)


def test_beliefs_of_a_mixture_are_the_posterior() -> None:
    """Centres drawn from the classes, noise as it is: near the posterior of the mixture of normal laws."""
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 4000)
    centres = np.where(y == 1, 1.0, -1.0) + 0.5 * rng.normal(size=4000)
    truth = rng.integers(0, 2, 300)
    seen = np.where(truth == 1, 1.0, -1.0) + math.hypot(0.5, 1.0) * rng.normal(size=300)
    found = mixture_beliefs(seen, centres, y, 1.0)
    sd = math.hypot(0.5, 1.0)
    share = y.mean()
    ones, zeros = share * norm.pdf(seen, 1, sd), (1 - share) * norm.pdf(seen, -1, sd)
    assert found.sum(axis=1) == pytest.approx(np.ones(300))
    assert found[:, 1] == pytest.approx(ones / (ones + zeros), abs=0.06)


def test_a_belief_of_zero_in_the_truth_is_infinitely_wrong() -> None:
    assert from_beliefs([0.0, 1.0, 1.0], [0, 1, 1]).value == -math.inf


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: accuracy_interval(5, 4), ParameterError),
        (lambda: accuracy_interval(1, 4, 1.5), ParameterError),
        (lambda: plug_in([1, 2], [1]), DataError),
        (lambda: plug_in([1.0, math.nan], [1, 2]), DataError),
        (lambda: binned([1.0, math.inf], [0, 1]), DataError),
        (lambda: binned([1.0, 2.0], [0, 1], bins=1), ParameterError),
        (lambda: from_beliefs([0.5, 1.5], [0, 1]), DataError),
        (lambda: nearest_neighbours([1.0, 2.0, 3.0], [0, 0, 1]), DataError),
        (lambda: mixture_beliefs([1.0], [1.0], [0], 0.0), ParameterError),
    ],
)
def test_bad_input_gets_one_sentence(call: object, error: type[NoisewrightError]) -> None:
    with pytest.raises(error) as caught:
        call()  # type: ignore[operator]
    assert str(caught.value).endswith(".")
