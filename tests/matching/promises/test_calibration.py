"""From a loss to a price of bits and back, the best number of bits, and angles in Euclidean distance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from noisewright.exceptions import DataError, ParameterError
from noisewright.matching import (
    BY_SEED,
    Client,
    Scheme,
    angular,
    angular_distances,
    best_bits,
    euclidean,
    euclidean_epsilon,
    hamming,
    most_bits,
    price_of_a_bit,
    ranked_first,
)
from noisewright.metrics import Angular
from noisewright.resources import Seed

NAMES = ("hoeffding", "chernoff", "binomial", "exact-xdp")


def test_fact_f26_the_worked_example() -> None:
    """F-26: 20 bits, a loss of 5 at 0.05 but for 0.01."""
    price = price_of_a_bit(5, radius=0.05, bits=20, delta=0.01, accountant="chernoff")
    assert round(price, 5) == 0.98892
    flip = float(Scheme(dimension=2, bits=20, epsilon=price).flip)
    assert round(flip, 4) == 0.2711
    assert round(20 * flip, 1) == 5.4


@pytest.mark.parametrize(
    ("at", "wanted"),
    [
        ((0.05, 10), (0.9437, 1.3846, 1.6667, 2.5127)),
        ((0.05, 20), (0.6422, 0.9889, 1.2500, 1.6967)),
        ((0.05, 50), (0.3779, 0.5983, 0.7143, 1.0634)),
        ((0.25, 20), (0.4242, 0.4388, 0.5000, 0.7940)),
        ((0.25, 50), (0.2152, 0.2232, 0.2500, 0.5017)),
    ],
)
def test_fact_f26c_prices_for_a_loss_of_5(at: tuple[float, int], wanted: tuple[float, ...]) -> None:
    """F-26c: at delta = 0.01."""
    for name, printed in zip(NAMES, wanted, strict=True):
        found = price_of_a_bit(5, radius=at[0], bits=at[1], delta=0.01, accountant=name)
        assert found == pytest.approx(printed, abs=5.1e-5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("radius", "bits", "delta", "loss"), [(0.1, 64, 1e-6, 8.0), (0.5, 7, 0.05, 0.5), (1.0, 3, 0.1, 2.0)]
)
def test_a_price_keeps_its_promise_and_hardly_misses_it(
    name: str, radius: float, bits: int, delta: float, loss: float
) -> None:
    price = price_of_a_bit(loss, radius=radius, bits=bits, delta=delta, accountant=name)
    assert BY_SEED[name](radius, bits=bits, epsilon=price, delta=delta) <= loss
    assert BY_SEED[name](radius, bits=bits, epsilon=price * 1.0001, delta=delta) > loss
    found = most_bits(loss, radius=radius, epsilon=price, delta=delta, accountant=name)
    assert found >= bits
    assert BY_SEED[name](radius, bits=found, epsilon=price, delta=delta) <= loss
    assert BY_SEED[name](radius, bits=found + 1, epsilon=price, delta=delta) > loss


def test_the_worst_case_is_split_among_the_bits() -> None:
    assert price_of_a_bit(5, radius=1, bits=20, delta=0.01, accountant="worst-case") == pytest.approx(0.25)
    assert most_bits(5, radius=1, epsilon="0.25", delta=0.01, accountant="worst-case") == 20


def test_where_delta_covers_everything_no_price_is_told() -> None:
    with pytest.raises(ParameterError, match="delta alone covers"):
        price_of_a_bit(5, radius=1e-4, bits=10, delta=0.01)
    with pytest.raises(ParameterError, match="not even one bit"):
        most_bits("1e-3", radius=1, epsilon=1, delta=0.01)


@pytest.mark.parametrize(("near", "far", "between"), [(0.1, 0.4, None), (0.2, 0.3, 0.45), (0.05, 0.5, 0.52)])
def test_the_nearer_is_first_as_often_as_in_a_simulation(near: float, far: float, between: float | None) -> None:
    """Three vectors at these angles, 30,000 times new directions and flips; off by chance with probability 1e-6."""
    third = far if between is None else between
    cosines = np.cos(np.pi * np.array([[0, near, far], [near, 0, third], [far, third, 0]]))
    vectors = np.linalg.cholesky(cosines)
    assert angular_distances(vectors, vectors) == pytest.approx(np.arccos(np.clip(cosines, -1, 1)) / np.pi, abs=1e-7)
    bits, runs, price, rng = 24, 30_000, 1.2, np.random.default_rng(5)
    hashed = vectors @ rng.standard_normal((runs, 3, bits)) >= 0
    sent = hashed ^ (rng.random(hashed.shape) < 1 / (1 + np.exp(price)))
    near_bits, far_bits = ((sent[:, 0] != sent[:, other]).sum(axis=1) for other in (1, 2))
    wins = np.where(near_bits < far_bits, 1.0, np.where(near_bits == far_bits, 0.5, 0.0))
    found = ranked_first(near, far, bits=bits, epsilon=price, between=between)
    assert wins.mean() == pytest.approx(found, abs=stats.norm.isf(5e-7) * 0.5 / np.sqrt(runs))


def test_the_best_number_of_bits_is_the_best_of_its_choices() -> None:
    at: dict[str, Any] = {"radius": 0.1, "delta": 1e-3}
    found = best_bits(12, **at, near=0.1, far=0.45, choices=(4, 16, 64))
    odds = {
        bits: ranked_first(0.1, 0.45, bits=bits, epsilon=price_of_a_bit(12, **at, bits=bits)) for bits in (4, 16, 64)
    }
    assert found.ranked_first == max(odds.values()) == odds[found.bits]
    assert BY_SEED["exact-xdp"](0.1, bits=found.bits, epsilon=found.epsilon, delta=1e-3) <= 12
    with pytest.raises(ParameterError, match="numbers of bits to choose"):
        best_bits(5, **at, near=0.1, far=0.4, choices=())
    with pytest.raises(ParameterError, match="no three profiles"):
        ranked_first(0.1, 0.5, bits=8, epsilon=1, between=0.9)


def test_fact_f26f_angles_in_euclidean_distance() -> None:
    """F-26f: and random unit vectors agree."""
    assert [round(euclidean(angle), 5) for angle in (0.05, 0.25, 0.5)] == [0.15692, 0.76537, 1.41421]
    vectors = np.random.default_rng(1).standard_normal((40, 7))
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    between = angular_distances(vectors[:20], vectors[20:])
    for i, j in ((0, 0), (3, 7), (19, 19)):
        apart = float(np.linalg.norm(vectors[i] - vectors[20 + j]))
        assert euclidean(between[i, j]) == pytest.approx(apart, rel=1e-12)
        assert angular(apart) == pytest.approx(between[i, j], rel=1e-12)
        assert Angular().distance(tuple(vectors[i]), tuple(vectors[20 + j])) == pytest.approx(between[i, j], rel=1e-12)
    assert euclidean_epsilon(5, 0.05) * euclidean(0.05) == pytest.approx(5)


def test_what_has_no_angle_is_refused_in_a_sentence() -> None:
    for wrong in ([[0.0, 0.0]], [[np.nan, 1.0]], [1.0, 2.0]):
        with pytest.raises(DataError, match="rows of finite numbers"):
            angular_distances(wrong, [[1.0, 1.0]])
    with pytest.raises(DataError, match="one length"):
        angular_distances([[1.0, 2.0]], [[1.0, 1.0, 1.0]])
    with pytest.raises(ParameterError, match="lose nothing"):
        euclidean_epsilon(5, 0)
    with pytest.raises(ParameterError, match="0 to 2 apart"):
        angular(3)


def test_codes_of_the_same_person_are_as_near_as_the_flips_say() -> None:
    scheme = Scheme(dimension=3, bits=4000, epsilon=1, seed=Seed(bytes(32)))
    one, other = Client(scheme).encode([[1.0, 2.0, 3.0]] * 2, np.random.default_rng(1))
    flip = float(scheme.flip)
    law = stats.binom(4000, 2 * flip * (1 - flip))
    assert law.ppf(5e-7) <= int(hamming(one, other)) <= law.isf(5e-7)


def test_more_bits_than_a_code_may_have_are_never_asked_for():
    for accountant in ("exact-xdp", "chernoff", "binomial"):
        assert most_bits(20, radius=0.001, epsilon=0.05, delta=0.01, accountant=accountant) == 1 << 16
