"""Variances of estimated shares, of rare and common categories: against the whole channel, and against repeated surveys."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

import noisewright as nw
from noisewright.estimation.frequencies import variance
from noisewright.estimation.operators import HadamardOperator
from noisewright.exceptions import ParameterError
from noisewright.mechanisms.categorical.local_hashing import LocalHashingMechanism
from noisewright.mechanisms.categorical.randomised_response import ResponseMechanism
from noisewright.mechanisms.categorical.subset_selection import HadamardMechanism

Floats = NDArray[np.float64]

MAKERS: dict[str, Callable[..., Any]] = {
    "randomised response": nw.randomised_response,
    "unary": nw.mechanisms.unary_encoding,
    "symmetric": lambda size, *, epsilon: nw.mechanisms.unary_encoding(size, epsilon=epsilon, variant="symmetric"),
    "hashing": nw.mechanisms.local_hashing,
    "subset": nw.mechanisms.subset_selection,
    "hadamard": nw.mechanisms.hadamard_response,
}
POPULATIONS = {
    "one common, one rare": [0.9, 0.05, 0.03, 0.0199, 0.0001],
    "everybody": [1.0, 0.0, 0.0, 0.0, 0.0],
    "even": [0.2] * 5,
}


def blocks_of(mechanism: Any, true: Floats) -> Floats | None:
    if not isinstance(mechanism, HadamardMechanism):
        return None
    block = np.arange(len(true)) // (mechanism.length - 1)
    return np.asarray(np.bincount(block, true)[block])


def weights(mechanism: Any, outputs: Any) -> Floats:
    """What each output adds to the estimate of each category: ``(supported - q) / (p - q)``, or a row of Hadamard's inverse."""
    if isinstance(mechanism, HadamardMechanism):
        return HadamardOperator(mechanism).inverse().right(np.eye(len(mechanism.categories))).T
    if isinstance(mechanism, ResponseMechanism):
        p, q, held = float(mechanism.keep_probability), mechanism.other / (1 << mechanism.width), np.eye(len(outputs))
    else:
        p, q = map(float, mechanism.support_probabilities)
        held = np.array([mechanism.support(np.array([output], dtype=np.int64)).counts for output in outputs])
    return np.asarray((held - q) / (p - q))


@pytest.mark.parametrize("true", POPULATIONS.values(), ids=POPULATIONS)
@pytest.mark.parametrize("epsilon", ["1/2", "2", "4"])
@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_the_variance_is_that_of_the_whole_channel(kind: str, epsilon: str, true: list[float]) -> None:
    """Moments of one report, summed over all outputs: no draw, no tolerance but that of floats."""
    if kind == "hashing":  # with so few hash functions that all of them are listed
        mechanism: Any = LocalHashingMechanism(tuple(range(5)), nw.randomised_response(3, epsilon=epsilon), prime=7)
    else:
        mechanism = MAKERS[kind](5, epsilon=epsilon)
    channel, f = mechanism.channel(), np.array(true)
    one = weights(mechanism, channel.outputs)
    first, second = channel.matrix @ one, channel.matrix @ one**2
    np.testing.assert_allclose(first, np.eye(5), atol=1e-11)  # unbiased
    block = blocks_of(mechanism, f)
    sampled = variance(f, 7, mechanism, block=block)
    np.testing.assert_allclose(sampled * 7, f @ second - (f @ first) ** 2, rtol=1e-9, atol=1e-12)
    fixed = variance(f, 7, mechanism, block=block, population="fixed")
    np.testing.assert_allclose(fixed * 7, f @ (second - first**2), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("population", ["sampled", "fixed"])
@pytest.mark.parametrize("kind", ["hadamard", "hashing", "randomised response", "subset", "unary"])
def test_repeated_surveys_have_the_stated_variance(kind: str, population: Any) -> None:
    """200 surveys of 500 people through ``nw.estimate``, fixed seed, for a share of 0.7 and one of 0.002.

    The sample variance times 199 over the stated one is nearly chi-squared; a right formula fails one of the four bounds here
    with probability below 4e-6.
    """
    true, people, repeats = np.array([0.7, 0.2, 0.098, 0.002, 0.0]), 500, 200
    mechanism, rng = MAKERS[kind](5, epsilon=3), np.random.default_rng(21)
    found = []
    for _ in range(repeats):
        fixed = np.repeat(np.arange(5), np.round(true * people).astype(int))
        values = fixed if population == "fixed" else rng.choice(5, people, p=true)
        found.append(nw.estimate(mechanism.release(values, rng), mechanism, method="inversion").unbiased)
    stated = variance(true, people, mechanism, population=population, block=blocks_of(mechanism, true))
    ratio = (np.array(found).var(axis=0, ddof=1) / stated * (repeats - 1))[[0, 3]]
    assert (ratio > chi2.isf(1 - 1e-6, repeats - 1)).all()
    assert (ratio < chi2.isf(1e-6, repeats - 1)).all()


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 3.0, 5.0])
def test_formulas_of_the_documentation_for_a_rare_category(epsilon: float) -> None:
    e = math.exp(epsilon)
    for size in (2, 5, 40, 1000):
        rare = {kind: float(variance(0.0, 1, make(size, epsilon=epsilon))) for kind, make in MAKERS.items()}
        assert rare["randomised response"] == pytest.approx((e + size - 2) / (e - 1) ** 2, rel=1e-9)
        assert rare["unary"] == pytest.approx(4 * e / (e - 1) ** 2, rel=1e-9)
        assert rare["unary"] <= rare["hashing"] * (1 + 1e-6)
        assert rare["hashing"] <= rare["unary"] * (1.01 if epsilon >= 0.5 else 1.2)  # buckets are whole numbers
        assert rare["subset"] <= min(rare["randomised response"], rare["unary"]) * (1 + 1e-9)
        assert (rare["randomised response"] < rare["unary"]) == (size < 3 * e + 2)
        even = nw.mechanisms.hadamard_response(size, epsilon=epsilon)
        times = float(variance(0.0, 1, even, block=1 / even.blocks)) / rare["unary"]
        if size > 4 * e:  # blocks of more than one category
            assert 1 <= times <= 2.25


def test_subset_selection_is_best_for_rare_categories_but_not_for_all() -> None:
    """For a category that nearly everybody has, unary encoding may have less variance, down to half of it."""
    times = {}
    for epsilon in (1, 2, 4, 6):
        for size in (5, 6, 15, 110, 200, 806, 1000):
            sets, bits = (
                nw.mechanisms.subset_selection(size, epsilon=epsilon),
                nw.mechanisms.unary_encoding(size, epsilon=epsilon),
            )
            for share in (0.0, 0.9):
                ratio = variance(share, 1, sets, population="fixed") / variance(share, 1, bits, population="fixed")
                times[share] = max(times.get(share, 0.0), float(ratio))
    assert times[0.0] <= 1
    assert 1.9 < times[0.9] < 2


def test_a_common_neighbour_in_the_block_adds_variance() -> None:
    page = nw.mechanisms.hadamard_response(100, epsilon=4)
    alone, beside = (float(variance(0.0, 1, page, block=mass)) for mass in (0.0, 1.0))
    assert beside / alone == pytest.approx((math.exp(4) + 1) / 2, rel=1e-9)
    full = (page.length - 2) / 99
    assert float(variance(0.0, 1, page)) == pytest.approx(float(variance(0.0, 1, page, block=full)), rel=1e-12)
    for block in (0.1, 1.1, math.nan):
        with pytest.raises(ParameterError, match="from the category's own share to 1"):
            variance(0.2, 1, page, block=block)
    with pytest.raises(ParameterError, match="only Hadamard response has blocks"):
        variance(0.2, 1, nw.mechanisms.unary_encoding(5, epsilon=1), block=0.5)
