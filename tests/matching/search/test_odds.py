"""The chance that a returned neighbour is a true one: against enumeration, against draws, and against real codes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from noisewright.exceptions import ParameterError
from noisewright.matching.evaluation import returned_odds, true_odds
from noisewright.matching.nearest_neighbours import differing, nearest_codes


def by_enumeration(distances: list[float], k: int, bits: int, flip: float) -> np.ndarray:
    """All numbers of bits of all codes; the last places are shared evenly among ties."""
    laws = stats.binom.pmf(np.arange(bits + 1)[None], bits, differing(distances, flip)[:, None])
    chances = np.zeros(len(distances))
    for numbers in product(range(bits + 1), repeat=len(distances)):
        weight = np.prod([law[h] for law, h in zip(laws, numbers, strict=True)])
        last = sorted(numbers)[k - 1]
        below, ties = sum(h < last for h in numbers), numbers.count(last)
        chances += weight * np.array([1.0 if h < last else (k - below) / ties if h == last else 0.0 for h in numbers])
    return chances


@settings(max_examples=30)
@given(
    distances=st.lists(st.floats(0, 1), min_size=2, max_size=4, unique=True),
    k=st.integers(1, 3),
    bits=st.integers(1, 4),
    flip=st.floats(0, 0.49),
)
def test_against_enumeration(distances: list[float], k: int, bits: int, flip: float) -> None:
    found = returned_odds(distances, [1] * len(distances), neighbours=k, bits=bits, flip=flip)
    expected = by_enumeration(distances, k, bits, flip) if k < len(distances) else np.ones(len(distances))
    np.testing.assert_allclose(found, expected, atol=1e-9)


@given(
    counts=st.lists(st.integers(1, 10**7), min_size=1, max_size=4),
    k=st.integers(1, 60),
    bits=st.sampled_from([1, 16, 128, 300]),
    flip=st.floats(0, 0.45),
)
def test_as_many_are_returned_as_were_asked_for(counts: list[int], k: int, bits: int, flip: float) -> None:
    distances = np.linspace(0.1, 0.5, len(counts))
    found = returned_odds(distances, counts, neighbours=k, bits=bits, flip=flip)
    assert found @ counts == pytest.approx(min(k, sum(counts)), rel=1e-6)
    assert np.all(np.diff(found) <= 1e-9)  # the nearer, the likelier


def test_one_group_of_many_is_a_group_of_ones() -> None:
    together = returned_odds([0.2, 0.4], [3, 5], neighbours=4, bits=20, flip=0.2)
    near, far = np.linspace(0.2, 0.2 + 1e-12, 3), np.linspace(0.4, 0.4 + 1e-12, 5)
    apart = returned_odds([*near, *far], [1] * 8, neighbours=4, bits=20, flip=0.2)
    np.testing.assert_allclose(apart, np.repeat(together, [3, 5]), atol=1e-9)


@pytest.mark.parametrize(("k", "bits", "flip"), [(1, 64, 0.1), (5, 64, 0.25), (5, 12, 0.05)])
def test_against_real_codes(k: int, bits: int, flip: float) -> None:
    """k profiles at a distance of 0.25 from the one that searches and 200 at right angles, all at right angles to each other.

    1500 runs with fresh directions and fresh flips on all sides, through the search of this library; within four standard errors,
    where a run's share of true ones has a deviation of at most one half.
    """
    rng = np.random.default_rng(3)
    others, runs, angle = 200, 1500, np.pi / 4
    hits = 0.0
    for _ in range(runs):
        # In such coordinates a direction has independent normal parts: one along the searcher, one along each candidate.
        own = rng.standard_normal(bits)
        along = rng.standard_normal((k + others, bits))
        near = np.cos(angle) * own + np.sin(angle) * along[:k]
        bits_of = np.vstack([own[None], near, along[k:]]) >= 0
        noisy = np.packbits(bits_of ^ (rng.random(bits_of.shape) < flip), axis=1, bitorder="little")
        rows, _ = nearest_codes(noisy[1:], noisy[:1], k, rng)
        hits += np.mean(rows < k)
    expected = true_odds([0.25] * k, [0.5] * others, neighbours=k, bits=bits, flip=flip)
    assert hits / runs == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(runs))


def test_rounded_distances_are_nearly_the_same() -> None:
    rng = np.random.default_rng(5)
    near, far = rng.uniform(0.2, 0.3, 10), rng.uniform(0.3, 0.5, 300)
    whole, short = (true_odds(near, far, neighbours=10, bits=64, flip=0.1, step=step) for step in (0.0, 0.01))
    assert short == pytest.approx(whole, abs=0.01)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"neighbours": 0}, "odds are for 1 to 400 neighbours"),
        ({"bits": 0}, "1 bit or more"),
        ({"flip": 0.5}, "below 1/2"),
        ({"counts": [1, 0]}, "a count of 1 or more"),
        ({"counts": [1]}, "a count of 1 or more"),
        ({"distances": [0.1, 1.5]}, "from 0 to 1"),
    ],
)
def test_what_is_refused(change: dict[str, object], sentence: str) -> None:
    good = {"distances": [0.1, 0.2], "counts": [1, 5], "neighbours": 1, "bits": 8, "flip": 0.1}
    with pytest.raises(ParameterError, match=sentence):
        returned_odds(**{**good, **change})  # type: ignore[arg-type]


def test_there_is_a_true_neighbour() -> None:
    with pytest.raises(ParameterError, match="one true neighbour or more"):
        true_odds([], [0.5], neighbours=1, bits=8, flip=0.1)
    assert true_odds([0.1], [], neighbours=3, bits=8, flip=0.1) == 1
