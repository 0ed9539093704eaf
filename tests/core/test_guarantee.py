"""Guarantees: what they mean for a person, by Bayes' rule, and how they add up."""

from __future__ import annotations

import math
import re
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from core_support import decimal, randomised_response, seeds, truncated_geometric
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import noisewright as nw
from noisewright.channels.channel import Channel
from noisewright.exceptions import MetricError, ParameterError
from noisewright.guarantees import Guarantee, split
from noisewright.metrics.base import Discrete, Euclidean, Hamming, Line, Table
from noisewright.metrics.composite import Neighbours

positive = st.floats(1e-6, 30)


ONE_ROW = {"relation": "same-rows", "unit": None, "rows": 1}
TABLES = "two tables with the same number of rows that differ in the values of one row"


@given(positive, st.floats(0, 1))
@settings(max_examples=200)
def test_posterior_is_bayes_rounded_up(epsilon: float, prior: float) -> None:
    reported = Guarantee(epsilon, Discrete()).posterior(prior)
    with localcontext() as context:
        context.prec = 50
        factor, belief = Decimal(epsilon).exp(), Decimal(prior)
        truth = factor * belief / (factor * belief + 1 - belief)
    assert Decimal(reported) >= truth * (1 - Decimal("1e-48"))
    assert reported <= math.nextafter(float(truth), math.inf)


@given(positive, st.floats(0, 1), st.sampled_from([Fraction(1, 10), Fraction(0.1), Fraction(1, 3), Fraction(1, 10**7)]))
@settings(max_examples=100)
def test_guesses_and_deltas_are_rounded_up(epsilon: float, delta: float, exact: Fraction) -> None:
    """The next float above the truth at most; and no digit of a sentence below it, where the delta is known exactly."""
    promise = Guarantee(epsilon, Discrete(), delta=delta)
    with localcontext() as context:
        context.prec = 50
        factor = Decimal(epsilon).exp()
        truth = (factor + Decimal(delta)) / (factor + 1)
        assert Decimal(promise.guess()) >= truth * (1 - Decimal("1e-48"))
        assert promise.guess() <= math.nextafter(float(truth), math.inf)
        said = re.search(
            "plus ([0-9.e-]+)[.] .* at most ([0-9.]+) %",
            Guarantee.exactly(Fraction(epsilon), Discrete(), exact).in_words(),
        )
        assert said is not None
        assert exact <= Fraction(said[1]) <= exact * Fraction(102, 100)
        assert 100 * (factor + decimal(exact)) / (factor + 1) <= Decimal(said[2]) * (1 + Decimal("1e-48"))


def test_a_float_is_stated_in_12_digits_and_an_exact_number_exactly() -> None:
    assert "plus 0.1. " in Guarantee(1, Discrete(), delta=0.1).in_words()
    assert "plus 0.1. " in Guarantee.exactly(1, Discrete(), Fraction(1, 10)).in_words()
    assert "plus 0.10000000000000001. " in Guarantee.exactly(1, Discrete(), Fraction(0.1)).in_words()


@given(seeds)
@settings(max_examples=40)
def test_no_posterior_of_a_private_channel_exceeds_the_reading(seed: int) -> None:
    rng = np.random.default_rng(seed)
    epsilon = rng.uniform(0.05, 3)
    promise = Guarantee(epsilon * (1 + 1e-9), Line())
    channel = truncated_geometric(6, epsilon)
    x, other = (int(i) for i in rng.choice(6, 2, replace=False))
    belief = rng.uniform(0.01, 0.99)
    prior = np.zeros(6)
    prior[x], prior[other] = belief, 1 - belief
    highest = channel.push(prior).inners[x].max()
    assert highest <= promise.posterior(belief, abs(x - other))
    if abs(x - other) == 1:
        assert highest == pytest.approx(promise.posterior(belief, 1), rel=1e-6)


@given(positive, st.floats(0, 1e6))
@settings(max_examples=100)
def test_bound_is_rounded_up(epsilon: float, distance: float) -> None:
    bound = Guarantee(epsilon, Line()).bound(distance)
    assert Fraction(bound) >= Fraction(epsilon) * Fraction(distance)
    assert bound == pytest.approx(epsilon * distance, rel=1e-15)


def test_scope_and_radius() -> None:
    adjacent = Guarantee(0.5, Hamming(), scope="adjacent")
    assert adjacent.bound(0.3) == 0.5
    assert adjacent.bound(2.5) == 1.5
    near = Guarantee(0.5, Euclidean(), radius=10.0)
    assert near.bound(10) == 5
    assert near.bound(10.1) == math.inf
    assert near.posterior(0.5, 11) == 1.0
    assert near.posterior(0.0, 11) == 0.0
    assert near.in_words(11) == "Nothing is promised about any two secrets at most 11 apart."
    assert Guarantee(1.0, Line()).bound(math.inf) == math.inf


def hockey_stick(p: np.ndarray, steps: int, epsilon: float) -> float:
    """The delta at epsilon between a law on whole numbers and itself, moved by some steps."""
    q = np.concatenate([np.zeros(steps), p[:-steps]])
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


@pytest.mark.parametrize(
    ("mechanism", "at_two", "true_guess"),
    [
        (nw.mechanisms.approximate_laplace(epsilon=0.01, delta=0.3, lattice=1 / 64), 0.510, 0.757),
        (nw.mechanisms.gaussian(epsilon=0.1, delta=0.2, lattice=1 / 64), 0.399, 0.727),
    ],
)
def test_a_delta_grows_with_the_distance_of_neighbours(mechanism: Any, at_two: float, true_guess: float) -> None:
    """The law itself, with its mass summed up: two sensitivities apart its delta at twice epsilon is far above delta."""
    promise = mechanism.guarantee
    law = mechanism.law.mass(np.arange(-40_000, 40_001).astype(float))
    assert hockey_stick(law, 128, promise.bound(2)) == pytest.approx(at_two, abs=5e-4)
    for distance in (1, 2, 3):
        steps = 64 * distance
        true = hockey_stick(law, steps, promise.bound(distance))
        right = (1 + hockey_stick(law, steps, 0.0)) / 2
        assert true <= promise.delta_at(distance) + 1e-9
        assert right <= promise.guess(distance)
        if distance == 2:
            assert right == pytest.approx(true_guess, abs=5e-4)
            assert true > promise.delta + 0.1
    assert promise.delta_at(2) == pytest.approx(promise.delta * (1 + math.exp(promise.epsilon)), rel=1e-12)
    assert f"plus {math.ceil(1000 * promise.delta_at(2)) / 1000}." in promise.in_words(2)


@given(st.floats(0, 3), st.floats(1e-12, 0.2), st.floats(0, 40))
@settings(max_examples=150)
def test_the_delta_of_a_chain_is_its_sum_rounded_up(epsilon: float, delta: float, distance: float) -> None:
    promise = Guarantee(epsilon, Line(), delta, "adjacent")
    with localcontext() as context:
        context.prec = 200
        truth = sum(Decimal(delta) * (i * Decimal(epsilon)).exp() for i in range(max(1, math.ceil(distance))))
    reported = promise.delta_at(distance)
    assert min(truth, Decimal(1)) <= Decimal(reported)
    assert reported == pytest.approx(float(min(truth, Decimal(1))), rel=1e-12)
    assert (promise.bound(distance) == math.inf) == (reported == 1)
    if reported == 1:
        assert promise.guess(distance) == 1
        assert promise.in_words(distance).startswith("Nothing is promised")
    assert Guarantee(epsilon, Line(), delta).delta_at(distance) == delta  # one delta for all pairs


def test_deltas_of_extreme_promises() -> None:
    assert Guarantee(0, Line(), 0.25, "adjacent").delta_at(3) == 0.75
    assert Guarantee(5e-324, Line(), 1e-300, "adjacent").delta_at(1e299) == pytest.approx(0.1)
    assert Guarantee(700, Line(), 5e-324, "adjacent").delta_at(2) == pytest.approx(5.011e-20, rel=1e-3)
    assert Guarantee(1, Line(), 5e-324, "adjacent").delta_at(1e308) == 1
    assert Guarantee(1, Line(), 0.01, "adjacent", radius=1).delta_at(1.5) == 1
    assert Guarantee(1, Line(), scope="adjacent").delta_at(1e308) == 0
    assert Guarantee(1, Line()).delta_at(math.inf) == 1


def test_exact_distances_are_not_rounded() -> None:
    third = Guarantee(1.0, Line(), scope="adjacent")
    assert third.bound(3 * Fraction(1, 3)) == 1
    assert third.bound(1 + Fraction(1, 10**30)) == 2
    assert Guarantee(3.0, Line()).bound(Fraction(1, 3)) == 1
    assert third.bound(np.float32(1.5)) == third.bound(np.int64(2)) == 2  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", ["a", None, [1], 10**400, np.array([1.0, 2.0]), True, 1j, -(10**400)])
def test_a_distance_is_a_number(bad: Any) -> None:
    promise = Guarantee(1, Line())
    for ask in (promise.bound, promise.delta_at, promise.guess, promise.in_words, lambda d: promise.posterior(0.5, d)):
        with pytest.raises(ParameterError, match="a distance is"):
            ask(bad)


def test_reading_in_words() -> None:
    text = Guarantee(math.log(3), Discrete()).in_words()
    assert "any two secrets that differ change by a factor of at most 3.01." in text  # the float is above ln 3
    assert text.endswith("A belief of 50 % in one of two such secrets can become at most 75.1 %.")
    below = Guarantee(math.nextafter(math.log(3), 0), Discrete()).in_words()
    assert "a factor of at most 3." in below
    assert below.endswith("at most 75 %.")
    channel = randomised_response(2, math.log(3))
    assert channel.push().inners.max() == pytest.approx(0.75)
    with_delta = Guarantee(1, Line(), delta=0.01).in_words()
    assert "no event is more than 2.72 times as likely under one as under the other, plus 0.01" in with_delta
    unlucky = Guarantee(1, Line(), seed_failure=0.001).in_words()
    assert unlucky.endswith("This holds unless the public seed is unlucky (probability 0.0010000000000000001).")
    assert "factor of at most e^50." in Guarantee(50, Line()).in_words()


def test_geo() -> None:
    promise = Guarantee.geo(epsilon=math.log(4), radius=200)
    assert promise.metric == Euclidean()
    assert Fraction(promise.epsilon) * 200 >= Fraction(math.log(4))
    assert promise.bound(200) == pytest.approx(math.log(4))
    for epsilon, radius, name in ((0, 1, "epsilon"), (1, -1, "radius"), ("x", 1, "epsilon")):
        with pytest.raises(ParameterError, match=name):
            Guarantee.geo(epsilon=epsilon, radius=radius)


@given(positive, positive, st.floats(0, 0.5), st.floats(0, 0.5))
@settings(max_examples=60)
def test_losses_add_rounded_up(first: float, second: float, d1: float, d2: float) -> None:
    same = Guarantee(first, Line(), d1).compose(Guarantee(second, Line(), d2))
    assert same.metric == Line()
    assert Fraction(same.epsilon) >= Fraction(first) + Fraction(second)
    assert Fraction(same.delta) >= min(1, Fraction(d1) + Fraction(d2))
    mixed = Guarantee(first, Line()).compose(Guarantee(second, Discrete()))
    assert mixed.bound(mixed.metric.distance(0, 3)) == pytest.approx(3 * first + second)
    nothing = Guarantee(0.0, Discrete()).compose(Guarantee(second, Line()))
    assert (nothing.epsilon, nothing.metric) == (second, Line())


@pytest.mark.parametrize("swapped", [False, True])
def test_an_epsilon_of_0_drops_neither_a_metric_nor_the_delta_at_its_distance(swapped: bool) -> None:
    """Two records 3 places apart: delta 0.25 for each step is 0.75, and no promise about any two records says that."""
    steps = Guarantee(0.0, Hamming(), 0.25, "adjacent")
    assert steps.delta_at(3) == 0.75
    pair = (steps, Guarantee(1.0, Discrete(), scope="adjacent"))
    with pytest.raises(ParameterError, match="only when they mean the same neighbours"):
        pair[swapped].compose(pair[not swapped])
    apart = Table([[0, math.inf], [math.inf, 0]])  # nothing is promised between the two
    pair = (Guarantee(0.0, apart), Guarantee(1.0, Discrete()))
    with pytest.raises(ParameterError, match="epsilon 0 composes only in a metric without infinite distances"):
        pair[swapped].compose(pair[not swapped])
    pair = (Guarantee(0.0, Line(), 0.1, radius=2), Guarantee(1.0, Euclidean(), radius=2))
    with pytest.raises(ParameterError, match="a radius compose only in one metric"):
        pair[swapped].compose(pair[not swapped])
    # The radius is measured in each one's own metric: 2 of the sum would be 4 of either here.
    pair = (Guarantee(0.25, Line(), radius=2), Guarantee(0.25, Euclidean(), radius=2))
    with pytest.raises(ParameterError, match="a radius compose only in one metric"):
        pair[swapped].compose(pair[not swapped])


METRICS = (Discrete(), Line(), 2 * Line(), 0.5 * Discrete(), Line() | Discrete(), Line() + Discrete())


@given(st.data())
@settings(max_examples=300)
def test_what_is_composed_never_promises_more_than_its_parts(data: st.DataObject) -> None:
    """For every two of some secrets: the loss is at least the sum of the losses, and the delta the sum of the deltas."""
    scope = data.draw(st.sampled_from(["metric", "adjacent"]))
    parts = [
        Guarantee(
            data.draw(st.sampled_from([0.0, 0.25, 1.0])),
            data.draw(st.sampled_from(METRICS)),
            data.draw(st.sampled_from([0.0, 0.01, 0.3])),
            scope,
            data.draw(st.sampled_from([None, None, 2.0])),
        )
        for _ in range(2)
    ]
    try:
        both = parts[0].compose(parts[1])
    except ParameterError:
        assert parts[0].metric != parts[1].metric or parts[0].radius != parts[1].radius
        return
    for x, y in ((0, 1), (0, 2), (1, 4), (3, 3)):
        found, wanted = (
            [(p.bound(p.metric.distance(x, y)), p.delta_at(p.metric.distance(x, y))) for p in some]
            for some in ([both], parts)
        )
        assert found[0][0] >= sum(loss for loss, _ in wanted) - 1e-12
        assert found[0][1] >= min(1, sum(delta for _, delta in wanted)) - 1e-12 or math.isinf(found[0][0])


def test_guarantees_that_do_not_add() -> None:
    with pytest.raises(ParameterError, match="one scope and radius compose"):
        Guarantee(1, Line()).compose(Guarantee(1, Line(), radius=2))
    with pytest.raises(ParameterError, match="adjacent guarantees compose only"):
        Guarantee(1, Line(), scope="adjacent").compose(Guarantee(1, Discrete(), scope="adjacent"))


@given(positive, st.lists(st.integers(1, 50), min_size=1, max_size=6))
@settings(max_examples=60)
def test_a_split_budget_adds_up_exactly(epsilon: float, weights: list[int]) -> None:
    assert sum(split(epsilon, weights)) == Fraction(epsilon)  # type: ignore[arg-type]
    assert sum(split(epsilon, len(weights))) == Fraction(epsilon)
    assert len(set(split(epsilon, 3))) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Guarantee(-1, Line()), "epsilon must be a finite number that is 0 or more, not -1"),
        (lambda: Guarantee(math.inf, Line()), "epsilon must be a finite number"),
        (lambda: Guarantee(math.nan, Line()), "epsilon must be a finite number"),
        (lambda: Guarantee("much", Line()), "epsilon must be a number, not str"),
        (lambda: Guarantee(None, Line()), "epsilon must be a number, not NoneType"),
        (lambda: Guarantee(1, Line(), delta=1.5), "delta must be between 0 and 1, not 1.5"),
        (lambda: Guarantee(1, Line(), delta=math.nan), "delta must be between 0 and 1"),
        (lambda: Guarantee(1, Line(), seed_failure=-1), "seed_failure must be between 0 and 1"),
        (lambda: Guarantee(1, Line(), scope="all"), "scope must be 'metric' or 'adjacent', not 'all'"),
        (lambda: Guarantee(1, Line(), radius=0), "radius must be above 0, not 0; leave it out"),
        (lambda: Guarantee(1, Line()).bound(-1), "a distance is 0 or more, not -1"),
        (lambda: Guarantee(1, Line()).bound(math.nan), "a distance is 0 or more"),
        (lambda: Guarantee(1, Line()).posterior(1.5), "a prior belief is between 0 and 1"),
        (lambda: Guarantee(1, Line()).posterior("a"), "a prior belief is a number between 0 and 1, not str"),
        (lambda: Guarantee(1, Line(), radius="a"), "radius must be a number, not str"),
        (lambda: Guarantee(1, Line(), radius=True), "radius must be a number, not bool"),
        (lambda: Guarantee(1, Line(), radius=math.nan), "radius must be above 0, not nan"),
        (lambda: Guarantee(1, Line()).compose(5), "composes with another Guarantee, not int"),
        (lambda: split(1, None), "a number of parts or by weights, not NoneType"),
        (lambda: split(1, "12"), "a number of parts or by weights, not str"),
        (lambda: split(0, 3), "epsilon must be greater than 0, not 0"),
        (lambda: split(1, 0), "split into one or more parts"),
        (lambda: split(1, [1, 0]), "weights above 0"),
        (lambda: split(1, ["a"]), "a weight = 'a' is not a number"),
    ],
)
def test_bad_input(make: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()  # type: ignore[operator]


def test_as_text_and_data() -> None:
    promise = Guarantee(0.5, Hamming(), 1e-6, "adjacent", 3.0)
    assert str(promise) == (
        "epsilon = 0.5 between neighbours (hamming at most 1), delta = 0.000001, "
        "for pairs at most 3 apart, and for no others"
    )
    assert str(Guarantee(2, Line())) == "epsilon = 2 per unit of line"
    assert promise.to_json() == {
        "epsilon": 0.5,
        "metric": "hamming",
        "delta": 1e-6,
        "scope": "adjacent",
        "radius": 3.0,
        "seed_failure": 0.0,
    }
    assert decimal(Fraction(1, 4)) == Decimal("0.25")


def test_a_delta_is_an_extra_probability_and_not_a_chance_of_failure() -> None:
    """Randomised response at epsilon ln 3 has delta 0.0065 near epsilon 1.09, yet the odds change by 3 with probability 3/4."""
    channel = Channel([[0.75, 0.25], [0.25, 0.75]])
    epsilon = channel.epsilon_at("0.0065").value
    promise = Guarantee(epsilon, Discrete(), delta=0.0065)
    odds = channel.matrix[0] / channel.matrix[1]
    more = odds > math.exp(epsilon)
    assert channel.matrix[0][more].sum() == 0.75
    assert "fail" not in promise.in_words()
    with pytest.raises(ParameterError, match="no belief after one output is bounded"):
        promise.posterior(0.5)


@given(st.integers(0, 2**32 - 1), st.floats(0, 0.5))
def test_guessing_between_two_secrets_is_bounded(seed: int, delta: float) -> None:
    """The Bayes adversary's success at the uniform prior of two secrets is at most guess(), for the epsilon that delta needs."""
    matrix = np.random.default_rng(seed).dirichlet([1, 1, 1], 2)
    channel = Channel(matrix)
    epsilon = channel.epsilon_at(delta).value
    assume(epsilon < 600)
    success = channel.matrix.max(axis=0).sum() / 2
    assert success <= Guarantee(epsilon, Discrete(), delta=delta).guess() + 1e-12


def test_a_sentence_is_about_no_more_pairs_than_the_promise() -> None:
    """Half a unit of the discrete metric is no two secrets that differ; and a distance is never said larger than it is."""
    promise = Guarantee(1.0, Discrete())
    assert "between any two secrets within 0.5 (discrete) change by a factor of at most 1.65." in promise.in_words(0.5)
    assert "between any two secrets within 0 (discrete) change by a factor of at most 1." in promise.in_words(0)
    assert "any two secrets that differ change by a factor of at most 2.72." in promise.in_words(1)
    nearly = Guarantee(math.log(2), Line(), scope="metric").in_words(0.99999999)
    assert "any two secrets at most 0.999999 apart" in nearly
    assert Guarantee(1.0, Line()).in_words(math.inf) == (
        "Nothing is promised about secrets that are infinitely far apart."
    )
    assert str(Guarantee(1.0, Line(), seed_failure=0.001)) == (
        "epsilon = 1 per unit of line, unless the public seed is unlucky (probability 0.0010000000000000001)"
    )
    tables = Guarantee(1.0, Neighbours(ONE_ROW), scope="adjacent", radius=1.0)
    assert str(tables) == f"epsilon = 1 between {TABLES}"
    assert f"the odds between {TABLES} change by a factor of at most 2.72." in tables.in_words()
    assert tables.in_words().endswith("A belief of 50 % in one of two such tables can become at most 73.2 %.")
    assert tables.in_words(2) == f"Nothing is promised about tables farther apart than {TABLES}."
    with pytest.raises(MetricError, match="stated by a record"):
        tables.metric.distance(1, 2)
    assert tables.compose(tables).epsilon == 2


@pytest.mark.parametrize(
    ("guarantee", "unit", "words"),
    [
        (Guarantee(0.5, 0.2 * Line()), "", "epsilon 0.5 for each 4.9999999999999997 of difference"),
        (Guarantee(0.5, "1/5" * Line()), "year", "epsilon 0.5 for each 5 years of difference"),
        (Guarantee(1.0, Line()), "day", "epsilon 1 for each day of difference"),
        (Guarantee(1.0, Line()), "", "epsilon 1 for each 1 of difference"),
        (Guarantee(1.0, Discrete()), "year", "epsilon 1 between any two answers"),
        (Guarantee(1.0, 2 * Discrete()), "", "epsilon 2 between any two answers"),
        (Guarantee(1.0, "1/7" * Line(), scope="adjacent"), "day", "epsilon 1 between two answers at most 7 days apart"),
        (
            Guarantee(1.0, "1/7" * Line(), delta=1e-6, scope="adjacent", radius=1.0),
            "day",
            "epsilon 1 between two answers at most 7 days apart, delta 1e-6, and for no others",
        ),
        (Guarantee(2.0, Euclidean(), radius=3.0), "", "epsilon 2 for each 1 of distance, up to 3 apart"),
        (Guarantee(1.0, Neighbours(ONE_ROW)), "", f"epsilon 1 between {TABLES}"),
    ],
)
def test_readings(guarantee: Guarantee, unit: str, words: str) -> None:
    assert guarantee.reading(unit) == words
