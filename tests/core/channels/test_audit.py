"""Audits against the truth with sixty digits: what is reported is never below it, and hardly above."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from core_support import (
    random_channel,
    random_matrix,
    random_metric,
    randomised_response,
    seeds,
    true_delta,
    true_epsilon,
    truncated_geometric,
)
from hypothesis import given, settings

from noisewright.channels.audit import d_leakage, d_vulnerability
from noisewright.channels.channel import Channel
from noisewright.exceptions import ParameterError
from noisewright.metrics.base import Discrete, Euclidean, Hamming, Line, Metric, Table


def hair(value: Decimal) -> Decimal:
    """What a report may be above the truth: rounding of logarithms of entries as small as e^-745."""
    return value * Decimal("1e-13") + Decimal("1e-12")


def assert_just_above(reported: float, truth: Decimal) -> None:
    if math.isinf(truth):
        assert reported == math.inf
    else:
        assert truth <= Decimal(reported) <= truth + hair(truth)


@given(seeds)
@settings(max_examples=150)
def test_epsilon_is_never_below_the_truth(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    places = [int(p) for p in rng.permutation(30)[:n]]
    channel = Channel(random_matrix(rng, n, int(rng.integers(1, 6))), inputs=places)
    table = random_metric(rng, n)
    cases: list[tuple[Metric, object]] = [
        (Discrete(), lambda i, j: Fraction(1)),
        (Line(), lambda i, j: Fraction(abs(places[i] - places[j]))),
        (Fraction(1, 3) * Line(), lambda i, j: Fraction(abs(places[i] - places[j]), 3)),
        (Table(table, tuple(places)), lambda i, j: None if math.isinf(table[i, j]) else Fraction(table[i, j])),
    ]
    for metric, between in cases:
        assert_just_above(channel.epsilon(metric).value, true_epsilon(channel.matrix, between))  # type: ignore[arg-type]


@given(seeds)
@settings(max_examples=60)
def test_epsilon_of_small_entries_whose_ratio_is_close_to_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = 10.0 ** rng.uniform(-300, 0, 4) * (1 + rng.uniform(-1, 1, (3, 4)) * 10.0 ** -rng.integers(1, 15))
    channel = Channel(weights, normalise=True)
    for metric in (Discrete(), Line(), Euclidean()):
        between = (lambda i, j: Fraction(1)) if isinstance(metric, Discrete) else (lambda i, j: Fraction(abs(i - j)))
        assert_just_above(channel.epsilon(metric).value, true_epsilon(channel.matrix, between))


@given(seeds)
@settings(max_examples=150)
def test_delta_is_never_below_the_truth(seed: int) -> None:
    rng = np.random.default_rng(seed)
    channel = random_channel(seed) if seed % 3 else randomised_response(int(rng.integers(2, 5)), rng.uniform(0.01, 3))
    truth = true_epsilon(channel.matrix, lambda i, j: Fraction(1))
    near = float(truth) if truth.is_finite() else 1.0
    for epsilon in (0.0, near * 0.5, near * (1 - 2.0**-52), near):
        reported = channel.delta(epsilon)
        exact = true_delta(channel.matrix, Fraction(epsilon), lambda i, j: Fraction(1))
        assert min(exact, Decimal(1)) <= Decimal(reported) <= exact + Decimal("1e-14")


@given(seeds)
@settings(max_examples=60)
def test_delta_for_a_metric_is_never_below_the_truth(seed: int) -> None:
    channel = random_channel(seed)
    for epsilon in (Fraction(1, 7), Fraction(2)):
        exact = true_delta(channel.matrix, epsilon, lambda i, j: Fraction(abs(i - j)))
        assert min(exact, Decimal(1)) <= Decimal(channel.delta(epsilon, Line())) <= exact + Decimal("1e-13")


@given(seeds)
@settings(max_examples=100)
def test_epsilon_and_delta_are_inverse_to_each_other(seed: int) -> None:
    rng = np.random.default_rng(seed)
    channel = random_channel(seed)
    delta = float(rng.uniform(0, 0.3) * 10.0 ** -rng.integers(0, 12))
    for metric, between in ((Discrete(), lambda i, j: Fraction(1)), (Line(), lambda i, j: Fraction(abs(i - j)))):
        audit = channel.epsilon_at(delta, metric)
        if math.isinf(audit.value):
            assert channel.delta(60, metric) > delta
            continue
        # Enough, and not with anything to spare: the truth at that epsilon is at most delta, just below it is more.
        assert true_delta(channel.matrix, Fraction(audit.value), between) <= Decimal(delta)
        if audit.value > 1e-6:
            assert channel.delta(audit.value * (1 - 1e-6), metric) > delta
    assert channel.epsilon_at(0).value == channel.epsilon().value
    assert channel.epsilon_at(1).value == 0


def test_delta_of_all_the_mass_that_one_row_has_alone() -> None:
    channel = Channel([[0.75, 0.25, 0], [0, 0.25, 0.75]])
    assert channel.epsilon_at(0.75).value == 0
    assert channel.epsilon_at(np.nextafter(0.75, 0)).value == math.inf
    assert channel.delta(100) == 0.75


def test_within_restricts_to_near_pairs() -> None:
    channel = Channel([[1, 0, 0], [0.5, 0.5, 0], [0, 0.5, 0.5]], inputs=["00", "01", "11"])
    assert channel.delta(0, Hamming()) == 1
    assert channel.delta(0, Hamming(), within=1) == 0.5
    assert channel.epsilon_at(0, Hamming(), within=0.5).value == 0
    assert channel.epsilon_at(0.5, Hamming(), within=1).value == 0


def test_pairs_at_infinite_distance_are_promised_nothing() -> None:
    metric = Table([[0, math.inf], [math.inf, 0]])
    channel = Channel.identity([0, 1])
    assert channel.epsilon(metric).value == 0
    assert channel.delta(0, metric) == 0
    assert channel.delta(5, metric) == 0
    assert channel.epsilon_at(0.1, metric).value == 0


@given(seeds)
@settings(max_examples=100)
def test_distinguishability_is_an_extended_pseudo_metric(seed: int) -> None:
    channel = random_channel(seed)
    own = channel.distinguishability()
    assert (own == own.T).all()
    assert (np.diag(own) == 0).all()
    detours = (own[:, :, None] + own[None, :, :]).min(axis=1)
    assert (own <= detours * (1 + 1e-9) + 1e-12).all()
    assert channel.epsilon(Table(np.minimum(own, detours))).value <= 1 + 1e-9
    directed = channel.directed()
    assert (directed >= 0).all()
    assert np.maximum(directed, directed.T) == pytest.approx(own, rel=1e-9, abs=1e-12)
    assert (np.maximum(directed, directed.T) >= own).all()


def test_the_evidence_can_be_checked_by_hand() -> None:
    audit = truncated_geometric(3, math.log(2)).epsilon(Line())
    assert str(audit).startswith("epsilon = 0.693148 per unit of line; worst pair ")
    channel = Channel([[0.5, 0.5], [0.2, 0.8]], inputs="ab", outputs="xy")
    audit = channel.epsilon()
    assert audit.pair == ("a", "b")
    assert audit.output == "x"
    assert audit.probabilities == pytest.approx((0.5, 0.2))
    assert float(audit) == pytest.approx(math.log(2.5))
    assert str(audit) == "epsilon = 0.916291 per unit of discrete; worst pair a and b, output x: 0.5 against 0.2"
    assert audit.to_json() == {
        "epsilon": audit.value,
        "metric": "discrete",
        "delta": 0.0,
        "pair": ["a", "b"],
        "output": "x",
        "probabilities": pytest.approx([0.5, 0.2]),
    }
    assert str(Channel.constant("ab").epsilon()) == "epsilon = 0 per unit of discrete; the output tells nothing"
    assert Channel.identity("ab").epsilon().to_json()["epsilon"] == "inf"
    assert str(channel.epsilon_at("0.1")).startswith(
        "epsilon = 0.693148 per unit of discrete, delta = 0.1; worst pair a and b"
    )


# The edges -----------------------------------------------------------------------------------------------------


def test_an_impossible_output_next_to_an_extremely_rare_one_is_an_infinite_loss() -> None:
    assert Channel.from_logs([[0.0, -1e9], [0.0, -math.inf]]).epsilon().value == math.inf
    assert Channel.from_logs([[0.0, -9.5e8], [0.0, -math.inf]]).distinguishability()[0, 1] == math.inf
    assert Channel.from_logs([[0.0, -5e8], [0.0, -1.0e8]]).epsilon().value == pytest.approx(4e8)
    assert Channel([[1, 5e-324], [1, 0]]).epsilon().value == math.inf
    assert Channel([[1, 5e-324], [1, 5e-324]]).epsilon().value == 0


@pytest.mark.parametrize("distance", [1e-300, 1e-150, 1e150, 1e300, 1.7e308])
def test_very_small_and_very_large_distances(distance: float) -> None:
    channel = Channel([[0.5, 0.5], [0.25, 0.75]], inputs=[0, distance])
    for metric in (Line(), Euclidean(), Table([[0, distance], [distance, 0]], (0, distance))):
        value = Fraction(channel.epsilon(metric).value)
        assert float(value * Fraction(distance)) == pytest.approx(math.log(2))
        assert value * Fraction(distance) >= Fraction(math.log(2))


def test_a_distance_so_small_that_epsilon_is_no_float() -> None:
    channel = Channel([[0.5, 0.5], [0.25, 0.75]], inputs=[0, 1e-310])
    assert channel.epsilon(Line()).value == math.inf
    assert channel.epsilon(Fraction(1, 10**400) * Discrete()).value == math.inf


def test_far_apart_places_are_not_free() -> None:
    channel = Channel([[0.5, 0.5], [0.25, 0.75]], inputs=[(0.0, 0.0), (1e200, 1e200)])
    assert channel.epsilon(Euclidean()).value == pytest.approx(math.log(2) / (math.sqrt(2) * 1e200))
    wide = Channel([[0.5, 0.5], [0.25, 0.75]], inputs=[-1.5e308, 1.5e308])
    assert wide.epsilon(Line()).value > 0


def test_integers_beyond_the_precision_of_floats() -> None:
    channel = Channel([[0.5, 0.5], [0.25, 0.75]], inputs=[2**53 + 1, 2**53 + 3])
    assert channel.epsilon(Line()).value == pytest.approx(math.log(2) / 2)
    thirds = Channel([[0.5, 0.5], [0.25, 0.75]], inputs=[Fraction(10**20, 3), Fraction(10**20 + 1, 3)])
    assert thirds.epsilon(Line()).value == pytest.approx(3 * math.log(2))
    assert thirds.epsilon(Euclidean() | Line()).value == pytest.approx(3 * math.log(2))


def test_places_unsorted_and_repeated() -> None:
    shuffled = truncated_geometric(5, 0.5).after(lambda x: x, [3, 0, 4, 1, 2])
    assert shuffled.epsilon(Line()).value == pytest.approx(0.5)
    same_place = Channel([[0.5, 0.5], [0.5, 0.5], [0.25, 0.75]], inputs=[1, Fraction(3, 2), 2])
    assert same_place.epsilon(Line()).value == pytest.approx(2 * math.log(2))


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (4, 1)])
def test_one_row_or_one_column_tells_nothing(shape: tuple[int, int]) -> None:
    channel = Channel(np.full(shape, 1 / shape[1]))
    for metric in (Discrete(), Line(), Euclidean()):
        assert channel.epsilon(metric).value == 0
        assert channel.delta(0, metric) == 0
        assert channel.epsilon_at("0.1", metric).value == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.delta(-1), "epsilon must be 0 or more, not -1"),
        (lambda c: c.delta(math.nan), "epsilon must be a finite number, not nan"),
        (lambda c: c.delta(math.inf), "epsilon must be a finite number, not inf"),
        (lambda c: c.delta("many"), "epsilon = 'many' is not a number; write it like 0.5 or 1/2"),
        (lambda c: c.delta(None), "epsilon must be a number, not NoneType"),
        (lambda c: c.epsilon_at(-0.1), "delta must be between 0 and 1, not -0.1"),
        (lambda c: c.epsilon_at("3/2"), "delta must be between 0 and 1, not 1.5"),
        (lambda c: c.epsilon_at("?"), r"delta = '\?' is not a number"),
    ],
)
def test_bad_input(call: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        call(Channel([[0.5, 0.5], [0.2, 0.8]]))  # type: ignore[operator]


def test_d_leakage_needs_every_secret() -> None:
    with pytest.raises(ParameterError, match="gives every secret a probability above 0"):
        d_leakage(np.array([[1.0], [1.0]]), np.array([1.0, 0.0]), Discrete(), range(2))


@given(seeds)
@settings(max_examples=60)
def test_d_capacity_is_reached_at_the_uniform_prior(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    matrix = rng.dirichlet(np.ones(4), n)
    metric = Line()
    epsilon = Channel(matrix).epsilon(metric).value
    assert d_leakage(matrix, np.full(n, 1 / n), metric, range(n)) == pytest.approx(epsilon)
    for prior in rng.dirichlet(np.ones(n), 10):
        assert d_leakage(matrix, prior, metric, range(n)) <= epsilon * (1 + 1e-9) + 1e-12
        peaks = [d_vulnerability(inner, metric, range(n)) for inner in Channel(matrix).push(prior).inners.T]
        leaked = max(peaks) - d_vulnerability(prior, metric, range(n))
        assert d_leakage(matrix, prior, metric, range(n)) == pytest.approx(leaked, abs=1e-9)
