"""Guarantees: what they mean for a person, by Bayes' rule, and how they add up."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from core_support import decimal, randomised_response, seeds, truncated_geometric
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from noisewright.core.channel import Channel
from noisewright.core.errors import ParameterError
from noisewright.core.guarantee import Guarantee, split
from noisewright.core.metric import Discrete, Euclidean, Hamming, Line

positive = st.floats(1e-6, 30)


@given(positive, st.floats(0, 1))
@settings(max_examples=200)
def test_posterior_is_bayes_rounded_up(epsilon: float, prior: float) -> None:
    reported = Guarantee(epsilon, Discrete()).posterior(prior)
    with localcontext() as context:
        context.prec = 50
        factor, belief = Decimal(epsilon).exp(), Decimal(prior)
        truth = factor * belief / (factor * belief + 1 - belief)
    assert truth <= Decimal(reported) + Decimal("1e-320") or reported == 1.0
    assert reported == pytest.approx(float(truth), rel=1e-13)


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
    assert near.reading(11) == "Nothing is promised about any two secrets within 11 (euclidean)."
    assert Guarantee(1.0, Line()).bound(math.inf) == math.inf


def test_reading_in_words() -> None:
    text = Guarantee(math.log(3), Discrete()).reading()
    assert "any two secrets that differ change by a factor of at most 3." in text
    assert text.endswith("A belief of 50 % in one of two such secrets can become at most 75 %.")
    channel = randomised_response(2, math.log(3))
    assert channel.push().inners.max() == pytest.approx(0.75)
    with_delta = Guarantee(1, Line(), delta=0.01).reading()
    assert "no event is more than 2.72 times as likely under one as under the other, plus 0.01" in with_delta
    assert "unlucky with probability 0.001" in Guarantee(1, Line(), seed_failure=0.001).reading()
    assert "factor of at most e^50." in Guarantee(50, Line()).reading()


def test_geo() -> None:
    promise = Guarantee.geo(level=math.log(4), radius=200)
    assert promise.metric == Euclidean()
    assert Fraction(promise.epsilon) * 200 >= Fraction(math.log(4))
    assert promise.bound(200) == pytest.approx(math.log(4))
    for level, radius, name in ((0, 1, "level"), (1, -1, "radius"), ("x", 1, "level")):
        with pytest.raises(ParameterError, match=name):
            Guarantee.geo(level=level, radius=radius)


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
    assert str(promise) == "epsilon = 0.5 between neighbours (hamming at most 1), delta = 1e-6, for pairs within 3"
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
    assert "fail" not in promise.reading()
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
