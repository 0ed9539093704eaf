"""The distance behind two noisy codes: unbiased, and inside its interval as often as it says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from noisewright.exceptions import ParameterError
from noisewright.matching.nearest_neighbours import debiased, differing


@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.parametrize(("distance", "flip"), [(0.0, 0.2), (0.13, 0.1), (0.5, 0.3), (0.8, 0.05)])
def test_lsh_3_9_how_often_bits_differ(distance: float, flip: float, one_sided: bool) -> None:
    """Real projections of two vectors at this angle, and real flips on one side or both; five standard errors of 400,000 bits."""
    rng = np.random.default_rng(1)
    angle = np.pi * distance
    one, two = np.array([1.0, 0.0]), np.array([np.cos(angle), np.sin(angle)])
    directions = rng.standard_normal((400_000, 2))
    bits = [directions @ vector >= 0 for vector in (one, two)]
    bits[0] = bits[0] ^ (rng.random(400_000) < flip)
    bits[1] = bits[1] ^ (rng.random(400_000) < flip) if not one_sided else bits[1]
    expected = float(differing(distance, flip, one_sided=one_sided))
    assert np.mean(bits[0] != bits[1]) == pytest.approx(expected, abs=5 * np.sqrt(0.25 / 400_000))


@given(
    bits=st.integers(1, 200),
    distance=st.floats(0, 1),
    flip=st.floats(0, 0.45),
    confidence=st.sampled_from([0.5, 0.9, 0.95, 0.999]),
    one_sided=st.booleans(),
)
def test_it_is_unbiased_and_covers(bits: int, distance: float, flip: float, confidence: float, one_sided: bool) -> None:
    """Over the whole binomial law, computed by SciPy: the mean is the distance, and the interval holds it as often as it says."""
    found = debiased(np.arange(bits + 1), bits=bits, flip=flip, confidence=confidence, one_sided=one_sided)
    law = stats.binom.pmf(np.arange(bits + 1), bits, differing(distance, flip, one_sided=one_sided))
    assert law @ found.unbiased == pytest.approx(distance, abs=1e-8)
    inside = (found.low <= distance + 1e-9) & (distance - 1e-9 <= found.high)
    assert law @ inside >= confidence - 1e-9
    assert np.all((found.low <= found.distance) & (found.distance <= found.high))
    assert np.all(np.diff(found.low) >= 0)
    assert np.all(np.diff(found.high) >= 0)


def test_the_chosen_among_many_are_covered_together() -> None:
    """The nearest of 500 codes at one distance looks too near: its own interval fails almost always, that for 500 holds."""
    rng = np.random.default_rng(2)
    distance, flip, bits = 0.4, 0.1, 128
    differ = rng.binomial(bits, float(differing(distance, flip)), size=(400, 500)).min(axis=1)
    alone = debiased(differ, bits=bits, flip=flip)
    together = debiased(differ, bits=bits, flip=flip, among=500)
    assert np.mean(alone.high >= distance) < 0.2
    # At least 0.95 of 400 runs; fewer than 0.9 has a chance below one in 100,000.
    assert np.mean((together.low <= distance) & (distance <= together.high)) > 0.9


@pytest.mark.parametrize(
    ("differ", "given", "sentence"),
    [
        (3, {"bits": 8, "flip": 0.5}, "with a chance from 0 to below 1/2, not 0.5"),
        (3, {"bits": 8, "flip": float("nan")}, "with a chance from 0 to below 1/2"),
        (9, {"bits": 8, "flip": 0.1}, "codes of 8 bits differ in 0 to 8 of them"),
        (0.5, {"bits": 8, "flip": 0.1}, "codes of 8 bits differ in 0 to 8 of them"),
        (0, {"bits": 0, "flip": 0.1}, "a code has 1 bit or more"),
        (0, {"bits": 8, "flip": 0.1, "among": 0}, "among 1 code or more"),
        (0, {"bits": 8, "flip": 0.1, "confidence": 1.5}, "confidence"),
    ],
)
def test_what_is_refused(differ: float, given: dict[str, float], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        debiased(differ, **given)  # type: ignore[arg-type]


def test_distances_are_from_0_to_1() -> None:
    with pytest.raises(ParameterError, match="numbers from 0 to 1"):
        differing([0.5, 1.1], 0.1)
