"""Losses and priors: the gallery by its formulas, the algebra by its identities, and what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisewright.channels.channel import Channel
from noisewright.channels.hyper import Prior, as_prior, uniform
from noisewright.design.loss import Displacement, Loss
from noisewright.design.named_losses import (
    absolute,
    as_loss,
    from_callable,
    last_train,
    parity,
    pinball,
    property_loss,
    squared,
    step_loss,
    zero_one,
)
from noisewright.design.utility import posterior_loss, prior_loss
from noisewright.exceptions import ParameterError

POINTS = [0, 1, 3, 7]


@pytest.mark.parametrize(
    ("loss", "formula"),
    [
        (absolute(POINTS), lambda w, x: abs(w - x)),
        (squared(POINTS), lambda w, x: (w - x) ** 2),
        (zero_one(POINTS), lambda w, x: float(w != x)),
        (pinball(POINTS, 2, 5), lambda w, x: 2 * max(w - x, 0) + 5 * max(x - w, 0)),
        (last_train(POINTS, 4), lambda w, x: 4 if w > x else x - w),
        (absolute(POINTS, actions=[0.5, 2]), lambda w, x: abs(w - x)),
    ],
)
def test_the_gallery_follows_its_formulas(loss: Loss, formula: Any) -> None:
    assert loss.matrix.tolist() == [[float(formula(w, x)) for x in loss.secrets] for w in loss.actions]


def test_losses_of_places_are_distances_and_their_squares() -> None:
    places = [(0, 0), (3, 4)]
    assert absolute(places).matrix.tolist() == [[0.0, 5.0], [5.0, 0.0]]
    assert squared(places).matrix.tolist() == [[0.0, 25.0], [25.0, 0.0]]


def test_properties_parity_and_steps() -> None:
    assert property_loss("abc", {"a", "c"}).matrix.tolist() == [[0, 1, 0], [1, 0, 1]]
    assert property_loss(range(4), lambda x: x > 1).actions == ("in", "out")
    assert parity(4).matrix.tolist() == [[0, 1, 0, 1], [1, 0, 1, 0]]
    assert step_loss([0, 0.25, 0.5, 0.75], 2).matrix[0].tolist() == [0, 0, 0.5, 0.5]


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("absolute", absolute(range(4))),
        ("zero_one", zero_one(range(4))),
        ("pinball:1,3", pinball(range(4), 1, 3)),
        ("last-train:2.5", last_train(range(4), 2.5)),
        ("step:2", step_loss(range(4), 2)),
        ("parity", parity(4)),
    ],
)
def test_a_loss_can_be_named(text: str, made: Loss) -> None:
    found = as_loss(text, range(4))
    assert found == made
    assert np.array_equal(found.matrix, made.matrix)


def test_a_loss_can_be_a_function_a_matrix_or_a_loss() -> None:
    by_function = as_loss(lambda w, x: abs(w - x), range(3))
    assert np.array_equal(by_function.matrix, absolute(range(3)).matrix)
    by_matrix = as_loss([[0, 1, 2], [2, 1, 0]], ["a", "b", "c"])
    assert by_matrix.actions == (0, 1)
    assert by_matrix.secrets == ("a", "b", "c")
    assert as_loss(absolute(range(5)), [4, 0]).matrix.tolist() == [[4, 0], [3, 1], [2, 2], [1, 3], [0, 4]]
    assert as_loss(np.eye(3), "abc").actions == ("a", "b", "c")


def test_a_rule_is_kept_instead_of_a_matrix() -> None:
    large = absolute(range(100_000)) * 2
    assert large.rule == Displacement((0.0, 2.0, 0.0), (0.0, 2.0, 0.0))
    with pytest.raises(ParameterError, match="too large"):
        _ = large.matrix


def test_what_a_loss_was_made_of_can_be_told() -> None:
    made = (zero_one(range(3)) * 2 - 1).add([1, 2, 3])
    assert str(made.made) == "zero-one loss, times 2, minus 1, plus an amount for each secret"
    assert made.made.root.what == "zero-one loss"
    both = absolute(range(3)).combine(parity(3), 2, 3)
    assert str(both.made) == "2 times (absolute loss) and 3 times (parity loss) together"
    assert both.made.root is both.made


def test_losses_are_immutable_and_picklable() -> None:
    loss = absolute(range(3))
    with pytest.raises(AttributeError):
        loss.actions = ()  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        loss.matrix[0, 0] = 1
    assert pickle.loads(pickle.dumps(loss)) == loss
    assert pickle.loads(pickle.dumps(loss + 1)) == loss + 1


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.random.Generator, Any, Channel, Loss, Loss]:
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, outputs = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    prior = rng.dirichlet(np.ones(n))
    channel = Channel(rng.dirichlet(np.ones(outputs), n))
    one, two = (Loss(rng.normal(size=(draw(st.integers(1, 4)), n))) for _ in range(2))
    return rng, prior, channel, one, two


@given(problems())
def test_06_opt11_identities_of_the_algebra(problem: Any) -> None:
    rng, prior, channel, one, two = problem
    a, b = rng.uniform(0, 3, 2)
    q = rng.normal(size=len(prior))

    def both(loss: Loss) -> np.ndarray[Any, Any]:
        return np.array([posterior_loss(prior, channel, loss).value, prior_loss(prior, loss).value])

    first, second = both(one), both(two)
    assert both(one * a) == pytest.approx(a * first, abs=1e-12)
    assert both(one + a) == pytest.approx(first + a, abs=1e-12)
    assert both(one - a) == pytest.approx(first - a, abs=1e-12)
    assert both(one.add(q)) == pytest.approx(first + prior @ q, abs=1e-12)
    assert both(one.combine(two, a, b)) == pytest.approx(a * first + b * second, abs=1e-12)
    weighted = posterior_loss(None, channel, one.weighted(prior)).value
    assert len(prior) * weighted == pytest.approx(first[0], abs=1e-12)


def test_restriction_and_lifting_undo_each_other() -> None:
    loss = absolute([0, 1, 2])
    wide = loss.lift([5, 2, 1, 0])
    assert wide.matrix[:, 0].tolist() == [0, 0, 0]
    assert np.array_equal(wide.restrict([0, 1, 2]).matrix, loss.matrix)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Loss([[0, np.nan]]), "finite"),
        (lambda: Loss([[0, 1], [2]]), "rows of one length"),
        (lambda: Loss([["a", "b"]]), "matrix of numbers"),
        (lambda: Loss([[0, 1, 2], [1, 2, 3]], secrets=["a", "b"]), "transposed"),
        (lambda: as_loss([[0, 1], [1, 2], [2, 3]], range(3)), "transposed"),
        (lambda: as_loss([[0, 1]], range(3)), "one column for each secret"),
        (lambda: as_loss(Loss([[0, 1]] * 3, actions="abc", secrets=[0, 1]), "abc"), "transposed"),
        (lambda: as_loss("quadratic", range(3)), "no loss called"),
        (lambda: as_loss("pinball:1", range(3)), "no loss called"),
        (lambda: as_loss("absolute", ["a", "b"]), "numbers"),
        (lambda: as_loss(None, range(3)), "a loss is needed"),
        (lambda: as_loss(lambda w, x: "much", range(2)), "must give a number"),
        (lambda: parity([0.5, 1]), "whole numbers"),
        (lambda: pinball(range(3), -1, 2), "0 or more"),
        (lambda: step_loss(range(3), 0), "1 or more"),
        (lambda: absolute(range(3)) * -1, "0 or more"),
        (lambda: absolute(range(3)) * float("nan"), "finite"),
        (lambda: absolute(range(3)).add([1, 2]), "one for each secret"),
        (lambda: absolute(range(3)).weighted([1, -2, 0]), "negative"),
        (lambda: absolute(range(3)).restrict([7]), "its own secrets"),
        (lambda: absolute(range(3)).lift([0, 1]), "hold all of its own"),
        (lambda: absolute(range(3)).combine(absolute(range(4))), "same secrets"),
        (lambda: absolute([]), "at least one"),
        (lambda: Loss([[1e200]]), "rescale"),
        (lambda: from_callable(lambda w, x: 1, range(6000), range(6000)), "too large"),
    ],
)
def test_bad_losses_are_refused_in_a_sentence(call: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        call()


def test_priors_from_all_that_can_be_given() -> None:
    assert as_prior(None, "ab").is_uniform
    assert as_prior("uniform", "ab") == uniform("ab")
    assert as_prior({"b": 0.25, "a": 0.75}, ["a", "b"]).probabilities.tolist() == [0.75, 0.25]
    assert as_prior({"b": 1.0}, ["a", "b"]).probabilities.tolist() == [0.0, 1.0]
    given_one = Prior(np.array([0.2, 0.8]), ("a", "b"))
    assert as_prior(given_one, ("b", "a")).probabilities.tolist() == [0.8, 0.2]
    assert as_prior(given_one, ("a", "b")) is given_one
    assert not given_one.is_uniform
    assert hash(given_one) == hash(Prior(np.array([0.2, 0.8]), ("a", "b")))


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        ([0.5, 0.6], "sum to 1"),
        ([0.5, -0.5], "0 or more"),
        ([np.nan, 1.0], "finite"),
        ([1.0], "2 probabilities"),
        ("guess", "list of probabilities"),
        ({"a": 0.5, "z": 0.5}, "not among"),
    ],
)
def test_bad_priors_are_refused(prior: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        as_prior(prior, ["a", "b"])
