"""Gains: how they are given, what is refused, and the changes that keep the order of channels."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from adversary_support import by_hand, random_case, seeds
from hypothesis import given

from noisewright.channels.channel import Channel
from noisewright.design.named_losses import absolute, property_loss
from noisewright.design.utility import posterior_loss, prior_loss
from noisewright.exceptions import MetricError, NoisewrightError, ParameterError
from noisewright.metrics.base import Discrete, Line, Table
from noisewright.qif.gains import (
    Gain,
    as_gain,
    from_callable,
    from_loss,
    identity,
    is_belief_function,
    metric_gain,
    partition,
    property_gain,
    to_loss,
)
from noisewright.qif.vulnerability import leakage, posterior_vulnerability, prior_vulnerability

close = pytest.approx


@pytest.mark.parametrize(
    "blocks",
    [
        {"a": "vowel", "b": "consonant", "c": "consonant", "e": "vowel"},
        lambda x: "vowel" if x in "ae" else "consonant",
        [{"a", "e"}, {"b", "c"}],
        [["a", "e"], ("b", "c")],
    ],
)
def test_a_partition_is_given_as_a_mapping_a_function_or_sets(blocks: Any) -> None:
    gain = partition("abce", blocks)
    assert gain.matrix.tolist() == [[1, 0, 0, 1], [0, 1, 1, 0]]
    assert gain.actions in (("vowel", "consonant"), (0, 1))
    assert not gain.signed


def test_sets_keep_their_order_whatever_secret_comes_first() -> None:
    gain = partition("abc", [{"b", "c"}, {"a"}])
    assert gain.actions == (0, 1)
    assert gain.matrix.tolist() == [[0, 1, 1], [1, 0, 0]]


@given(seeds)
def test_block_gains_are_worth_what_their_matrix_is(seed: int) -> None:
    case = random_case(seed, most=9)
    n = len(case.prior)
    of = np.random.default_rng(seed).integers(0, 4, n).tolist()
    gain = partition(range(n), dict(enumerate(of)))
    plain = Gain(gain.matrix, gain.actions, gain.secrets)
    assert gain == plain
    joint = case.prior[:, None] * case.channel.matrix
    assert gain.expected(joint) == close(plain.expected(joint), abs=1e-15)
    assert posterior_vulnerability(case.prior, case.channel, gain) == close(
        by_hand(case.prior, case.channel.matrix, gain.matrix), rel=1e-12
    )
    assert identity(range(n)).expected(joint) == close(joint)


def test_names_of_gains() -> None:
    assert as_gain("identity", "xyz") == identity("xyz")
    assert as_gain("property:10, 30", [10, 20, 30]).matrix.tolist() == [[1, 0, 1], [0, 1, 0]]
    assert as_gain("property:2..7", [1, 2, 5, 7, 8]).matrix[0].tolist() == [0, 1, 1, 1, 0]
    assert as_gain("property:1..2", ["1..2", "other"]).matrix[0].tolist() == [1, 0]  # a label may look like a range
    assert as_gain("metric:line", [0, 1, 4]).matrix[1].tolist() == [0.75, 1, 0.25]
    assert as_gain("metric:discrete", "ab") == Gain(np.eye(2), "ab", "ab")
    assert as_gain(Line(), [0, 1, 4]) == as_gain("metric:line", [0, 1, 4])


def test_a_matrix_a_function_and_a_loss_are_gains() -> None:
    square = as_gain([[1, 2], [3, 4]], "ab")
    assert square.actions == ("a", "b")  # as many actions as secrets: they are guesses
    wide = as_gain([[1, 2], [3, 4], [5, 6]], "ab")
    assert (wide.actions, wide.secrets) == ((0, 1, 2), ("a", "b"))
    assert as_gain(lambda w, x: 10 * w + x, [1, 2]).matrix.tolist() == [[11, 12], [21, 22]]
    assert from_callable(lambda w, x: w * x, [3], [1, 2]).matrix.tolist() == [[3, 6]]
    assert as_gain(absolute([0, 1, 2]), [0, 1, 2]).matrix.tolist() == [[2, 1, 0], [1, 2, 1], [0, 1, 2]]
    assert as_gain(property_loss("abc", {"b"}), "abc").matrix.tolist() == property_gain("abc", {"b"}).matrix.tolist()


@given(seeds)
def test_gain_and_loss_turn_into_each_other(seed: int) -> None:
    case = random_case(seed)
    gain = Gain(case.gain)
    loss = to_loss(gain, bound=7)
    assert from_loss(loss, bound=7).matrix == close(gain.matrix)
    secrets = case.channel.inputs
    assert 7 - prior_loss(case.prior, loss, secrets).value == close(prior_vulnerability(case.prior, gain))
    assert 7 - posterior_loss(case.prior, case.channel, loss).value == close(
        posterior_vulnerability(case.prior, case.channel, gain)
    )
    assert from_loss(to_loss(gain)).matrix.min() >= 0


@given(seeds)
def test_shifting_moves_every_vulnerability_alike(seed: int) -> None:
    case = random_case(seed)
    signed = Gain(case.gain - 0.5)
    shifted = signed.shifted()
    assert not shifted.signed
    assert shifted.matrix.min(axis=0) == close(0, abs=1e-15)
    moved = float(case.prior @ (shifted.matrix - signed.matrix)[0])
    for channel in (case.channel, case.channel @ case.after, Channel.constant(case.channel.inputs)):
        assert posterior_vulnerability(case.prior, channel, shifted) == close(
            posterior_vulnerability(case.prior, channel, signed) + moved
        )
    scaled = signed.scaled()
    assert scaled.matrix.min() >= 0
    assert scaled.matrix.max() in (0.0, 1.0)


def test_scaling_a_gain_of_0_or_more_keeps_ratios() -> None:
    channel = Channel([[0.8, 0.2], [0.3, 0.7]])
    gain = Gain([[4, 1], [2, 8]])
    assert gain.scaled().matrix.tolist() == [[0.5, 0.125], [0.25, 1]]
    assert leakage(channel, None, gain.scaled()).multiplicative == close(leakage(channel, None, gain).multiplicative)
    assert Gain([[0, 0]]).scaled().matrix.tolist() == [[0, 0]]


def test_a_gain_is_fitted_to_the_secrets_by_their_labels() -> None:
    gain = Gain([[1, 2, 3], [4, 5, 6]], secrets="abc")
    assert as_gain(gain, "ca").matrix.tolist() == [[3, 1], [6, 4]]
    assert as_gain(identity("abc"), "cab").expected(np.array([[1.0], [2.0], [3.0]])).ravel().tolist() == [2, 3, 1]
    assert as_gain(Gain([[1, 2]]), "xy").secrets == ("x", "y")  # unlabelled: by place
    channel = Channel(np.eye(3), inputs="cab")
    assert leakage(channel, None, gain).posterior == close((4 + 5 + 6) / 3)
    lonely = partition("abc", [{"a"}, {"b", "c"}]).restrict("bc")
    assert lonely.matrix.tolist() == [[0, 0], [1, 1]]


def test_gains_do_not_change_and_survive_pickling() -> None:
    for gain in (identity("ab"), Gain([[1, -1]], name="bet"), partition("abc", [{"a", "c"}, {"b"}])):
        again = pickle.loads(pickle.dumps(gain))
        assert (again, again.name, again.labelled) == (gain, gain.name, gain.labelled)
        assert hash(again) == hash(gain)
        with pytest.raises(AttributeError, match="does not change"):
            gain.name = "other"
        with pytest.raises(ValueError, match="read-only"):
            gain.matrix[0, 0] = 5
    given_matrix = np.eye(2)
    kept = Gain(given_matrix)
    given_matrix[:] = 9
    assert kept.matrix.tolist() == [[1, 0], [0, 1]]


def test_a_large_identity_needs_no_matrix() -> None:
    n = 6000
    gain = identity(range(n))
    with pytest.raises(ParameterError, match="too large"):
        _ = gain.matrix
    channel = Channel(np.repeat([[0.25, 0.75], [0.5, 0.5]], n // 2, axis=0))
    assert posterior_vulnerability(None, channel, gain) == close((0.5 + 0.75) / n)


@pytest.mark.parametrize(
    ("function", "belief"),
    [
        (max, True),
        (np.max, True),
        (lambda p: p[0], True),
        (lambda w, x: 0.0, False),
        (lambda p, scale=2: scale * p[0], True),
        (identity("ab"), False),
        ("identity", False),
        (Discrete(), False),
        ([[1, 0]], False),
    ],
)
def test_functions_of_beliefs_are_told_from_functions_of_actions(function: object, belief: bool) -> None:
    assert is_belief_function(function) is belief


REFUSED = [
    (lambda: partition("abc", []), "one block or more"),
    (lambda: partition("abc", [{"a", "b", "c"}, set()]), "none is empty"),
    (lambda: partition("abc", [{"a", "b"}]), "there is none for 1 of the 3 secrets (the one at place 2"),
    (lambda: partition("abc", [{"a", "b"}, {"b", "c"}]), "'b' is in blocks 0 and 1"),
    (lambda: partition("abc", [{"a", "b"}, {"c", "z"}]), "'z', which is not one of the secrets"),
    (lambda: partition("abc", {"a": 1, "b": 2}), "there is none for 1 of the 3 secrets (the one at place 2"),
    (lambda: partition("abc", "abc"), "a list of sets of secrets, not str"),
    (lambda: partition("abc", 3), "a list of sets of secrets, not int"),
    (lambda: partition("abc", lambda x: 1 / 0), "ZeroDivisionError"),
    (lambda: property_gain("abc", set()), "leaves a block empty"),
    (lambda: property_gain("abc", "abc"), "leaves a block empty"),
    (lambda: property_gain("abc", {"z"}), "'z' is not one of these 3"),
    (lambda: metric_gain("ab", "lines"), "there is no metric called 'lines'"),
    (lambda: metric_gain("ab", Table([[0, np.inf], [np.inf, 0]], ("a", "b"))), "finite distances"),
    (lambda: as_gain("identiti", "ab"), "choose one of identity, property:A,B, metric:NAME"),
    (lambda: as_gain("property:q", "ab"), "'q' is not one of the 2 secrets"),
    (lambda: as_gain(None, "ab"), "a gain is needed"),
    (lambda: as_gain([[1, 2, 3], [4, 5, 6]], "ab"), "3 columns for 2 secrets; give one for each. It looks transposed"),
    (lambda: as_gain(identity("ac"), "ab"), "no column for 1 of the 2 secrets"),
    (lambda: as_gain(lambda w, x: "much", "ab"), "must give a number for every action and secret"),
    (lambda: Gain([[1, np.nan]]), "NaN or infinite"),
    (lambda: Gain([[1, 2], [3]]), "rows of one length"),
    (lambda: Gain([]), "one row for each action"),
    (lambda: Gain([["a"]]), "a matrix of numbers"),
    (lambda: Gain([[1e200]]), "rescale it"),
    (lambda: Gain([[1, 2]], secrets="a"), "1 secrets were named for 2 columns"),
    (lambda: Gain([[1, 2]], secrets="aa"), "different from each other"),
    (lambda: identity([]), "at least one secret"),
    (lambda: identity("ab").restrict("az"), "each named once"),
    (lambda: from_loss(3), "made from a Loss, not from int"),  # type: ignore[arg-type]
    (lambda: to_loss(3), "made from a Gain, not from int"),  # type: ignore[arg-type]
    (lambda: from_loss(absolute([0, 1]), bound=10**400), "below 1e150 in size"),
    (lambda: from_loss(absolute([0, 1]), bound="much"), "the bound of a loss"),  # type: ignore[arg-type]
    (lambda: from_callable(lambda w, x: 0, range(6000), range(6000)), "too large"),
]


@pytest.mark.parametrize(("make", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_what_is_no_gain_is_refused_in_a_sentence(make: Any, words: str) -> None:
    with pytest.raises(NoisewrightError) as problem:
        make()
    assert isinstance(problem.value, (ParameterError, MetricError))
    assert words in str(problem.value)


def test_secrets_with_commas_can_be_named_in_text() -> None:
    places = ["Rome, IT", "Paris, FR", "Paris, TX"]
    assert as_gain("property:Rome, IT", places).matrix.tolist() == [[1, 0, 0], [0, 1, 1]]
    assert as_gain('property:"Paris, FR", "Paris, TX"', places).matrix.tolist() == [[0, 1, 1], [1, 0, 0]]
    assert as_gain("property:(0, 1)", [(0, 1), (1, 0)]).matrix.tolist() == [[1, 0], [0, 1]]
