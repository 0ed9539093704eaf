"""Channels: what is accepted, what can be done with them, and what is refused with which words."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from core_support import random_channel, random_matrix, seeds, truncated_geometric_logs
from hypothesis import given, settings

from noisewright.channels.audit import d_vulnerability
from noisewright.channels.channel import Channel
from noisewright.exceptions import ChannelError, NoisewrightError, ParameterError
from noisewright.metrics.base import Discrete, Line


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.5, 0.4]], r"row 0 sums to 0\.9, not to 1; correct it, or normalise"),
        ([[1, 0], [0.5, 0.5 + 1e-8]], "row 1 sums to 1.00000001"),
        ([[1.5, -0.5]], "row 0 has a negative entry; probabilities are 0 or more"),
        ([[1, 0], [math.nan, 1]], "row 1 has an entry that is not a finite number"),
        ([[math.inf, 0]], "row 0 has an entry that is not a finite number"),
        ([[None, 1]], "row 0 has an entry that is not a finite number"),
        ([], r"at least one row and one column, not an array of shape \(0,\)"),
        ([[]], r"not an array of shape \(1, 0\)"),
        ([0.5, 0.5], r"not an array of shape \(2,\)"),
        ([[[1.0]]], r"not an array of shape \(1, 1, 1\)"),
        ([[1, 0], [1]], "a matrix of numbers with rows of one length"),
        ([["a", "b"]], "a matrix of numbers with rows of one length"),
        ([[10**400, 1]], "a matrix of numbers with rows of one length"),
        ([[1e308, 1e308]], "row 0 sums to inf"),
    ],
)
def test_matrices_that_are_no_channels(matrix: object, message: str) -> None:
    with pytest.raises(ChannelError, match=message):
        Channel(matrix)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        (["a"], None, "1 inputs were named for 2 rows; name each once"),
        (None, [1, 2, 3], "3 outputs were named for 2 columns"),
        (["a", "a"], None, "inputs must be different from each other"),
        ([1, True], None, "inputs must be different from each other"),
        ([[1], [2]], None, "inputs must be numbers, strings or tuples; a list cannot be a label"),
    ],
)
def test_labels_that_do_not_fit(inputs: object, outputs: object, message: str) -> None:
    with pytest.raises(ChannelError, match=message):
        Channel([[1, 0], [0, 1]], inputs, outputs)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("logs", "message"),
    [
        ([[0.0, math.nan]], "finite or -inf"),
        ([[math.inf]], "finite or -inf"),
        ([[800.0]], "not a finite number"),
        ([[0.0, 0.0]], "sums to 2"),
        ([["x"]], "a matrix of numbers"),
        ([[0.0, -2e9]], "at least -1e"),
        ([0.0], "at least one row"),
    ],
)
def test_logs_that_are_refused(logs: object, message: str) -> None:
    with pytest.raises(ChannelError, match=message):
        Channel.from_logs(logs)  # type: ignore[arg-type]


def test_refusals_are_value_errors_of_this_library() -> None:
    assert issubclass(ChannelError, ParameterError)
    assert issubclass(ParameterError, (NoisewrightError, ValueError))


def test_rows_within_tolerance_are_renormalised_and_others_left_alone() -> None:
    near = Channel([[0.5, 0.5 + 5e-10]])
    assert near.matrix.sum() == pytest.approx(1, abs=1e-15)
    exact = np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
    assert (Channel(exact).matrix == exact).all()


def test_normalise_takes_any_weights() -> None:
    assert Channel([[1, 3]], normalise=True).matrix.tolist() == [[0.25, 0.75]]
    assert Channel([[1e308, 1e308], [5e-324, 5e-324]], normalise=True).matrix.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    with pytest.raises(ChannelError, match="row 'b' has no weight"):
        Channel([[1, 1], [0, 0]], inputs="ab", normalise=True)


def test_a_channel_does_not_change() -> None:
    source = np.array([[0.5, 0.5]])
    channel = Channel(source)
    source[0, 0] = 7
    assert channel.matrix[0, 0] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        channel.matrix[0, 0] = 1
    with pytest.raises(AttributeError, match="does not change"):
        channel.inputs = (1,)  # type: ignore[misc]


@given(seeds)
@settings(max_examples=60)
def test_equal_channels_have_equal_hashes_and_survive_pickling(seed: int) -> None:
    channel = random_channel(seed)
    again = pickle.loads(pickle.dumps(channel))
    assert again == channel
    assert hash(again) == hash(channel)
    assert (again.matrix == channel.matrix).all()
    from_logs = Channel.from_logs(channel.logs)
    assert (hash(from_logs) == hash(channel)) or from_logs != channel
    assert channel != "something else"


def test_labels_of_every_kind() -> None:
    labels = [0, "a", (1, "b"), Fraction(1, 3), None, 2.5]
    channel = Channel(np.full((6, 1), 1.0), inputs=labels, outputs=[(0, 0)])
    assert channel.inputs == tuple(labels)
    assert channel.row((1, "b")).tolist() == [1.0]
    numpy_labels = Channel([[1.0], [1.0]], inputs=[tuple(np.array([1, 2])), np.str_("x")]).inputs
    assert numpy_labels == ((1, 2), "x")
    assert [type(part) for part in numpy_labels[0]] == [int, int]  # type: ignore[union-attr]
    with pytest.raises(ChannelError, match="a secret is not among the 6 inputs"):
        channel.row("nobody")
    with pytest.raises(ChannelError, match="a secret is not among the 6 inputs"):
        channel.row([])  # type: ignore[arg-type]


# Combining -----------------------------------------------------------------------------------------------------


def test_products_that_do_not_fit() -> None:
    first = Channel([[0.5, 0.5]], outputs="ab")
    with pytest.raises(
        ChannelError, match="the outputs of the first channel must be the inputs of the second; 'a' is not"
    ):
        first @ Channel([[1.0], [1.0]], inputs="xb")
    with pytest.raises(ChannelError, match="they are in another order"):
        first @ Channel([[1.0], [1.0]], inputs="ba")
    with pytest.raises(TypeError):
        first @ np.eye(2)
    with pytest.raises(ChannelError, match=r"same secrets in the same order; 'p' is in one of them only"):
        Channel([[1.0]], inputs="p").compose(Channel([[1.0]], inputs="q"))
    with pytest.raises(ChannelError, match="they are in another order"):
        Channel([[1.0]] * 2, inputs="pq").equivalent(Channel([[1.0]] * 2, inputs="qp"))
    with pytest.raises(ChannelError, match="an answer that is not an input of this channel"):
        first.after(lambda x: x, ["z"])
    with pytest.raises(ChannelError, match="an answer that is not an input of this channel"):
        first.after({}, ["z"])
    with pytest.raises(ChannelError, match="an answer that is not an input of this channel"):
        first.after(lambda x: [x], ["z"])
    with pytest.raises(ChannelError, match="a list cannot be a label"):
        Channel.deterministic(lambda x: [x], [1])
    with pytest.raises(ChannelError, match="at least one row"):
        first.after(lambda x: x, [])


@given(seeds)
@settings(max_examples=120)
def test_post_processing_never_adds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m, k = rng.integers(1, 6, 3)
    first, second = Channel(random_matrix(rng, n, m)), Channel(random_matrix(rng, m, k))
    after = first @ second
    slack = 1 + 1e-9
    for metric in (Discrete(), Line()):
        assert after.epsilon(metric).value <= first.epsilon(metric).value * slack + 1e-12
    for epsilon in (0, 0.3, 2):
        assert after.delta(epsilon) <= first.delta(epsilon) + 1e-13
    prior = rng.dirichlet(np.ones(n))
    peaks = [
        max(d_vulnerability(inner, Line(), range(n)) for inner in channel.push(prior).inners.T)
        for channel in (after, first)
    ]
    assert peaks[0] <= peaks[1] * slack + 1e-9


@given(seeds)
@settings(max_examples=60)
def test_after_and_compose_by_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    a, b = Channel(random_matrix(rng, n, 3)), Channel(random_matrix(rng, n, 2))
    both = a.compose(b)
    for x in range(n):
        for i in range(3):
            for j in range(2):
                column = both.outputs.index((i, j))
                assert both.matrix[x, column] == pytest.approx(a.matrix[x, i] * b.matrix[x, j], abs=1e-15)
    query = {s: int(y) for s, y in zip("pqrst", rng.integers(0, n, 5), strict=True)}
    asked = a.after(query, "pqrst")
    assert all((asked.row(s) == a.matrix[query[s]]).all() for s in "pqrst")


def test_entries_too_small_for_a_float_keep_their_meaning() -> None:
    channel = Channel.from_logs(truncated_geometric_logs(40, 30.0))
    assert (channel.matrix == 0).any()
    assert channel.epsilon(Line()).value == pytest.approx(30.0)
    assert channel.epsilon_at(0, Line()).value == pytest.approx(30.0)
    assert channel.after(lambda x: x, range(40)).epsilon(Line()).value == pytest.approx(30.0)
    assert channel.compose(channel).epsilon(Line()).value == pytest.approx(60.0)


def test_logs_and_matrix_say_the_same_after_renormalising() -> None:
    logs = np.log([[0.5, 0.5], [0.25, 0.75]]) + np.array([[4e-10], [-4e-10]])
    channel = Channel.from_logs(logs)
    assert np.exp(channel.logs) == pytest.approx(channel.matrix, rel=1e-14)
    assert channel.logs.flags.writeable is False


# The canonical form --------------------------------------------------------------------------------------------


@given(seeds)
@settings(max_examples=100)
def test_reduce_forgets_names_order_copies_and_impossible_outputs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 5)), int(rng.integers(1, 6))
    matrix = rng.dirichlet(np.ones(m), n)
    reduced = Channel(matrix).reduce()
    share = rng.uniform(0.1, 0.9)
    split = np.c_[matrix[:, :1] * share, matrix[:, 1:], matrix[:, :1] * (1 - share), np.zeros((n, 2))]
    other = Channel(split[:, rng.permutation(split.shape[1])])
    assert other.reduce().matrix == pytest.approx(reduced.matrix, abs=1e-12)
    assert other.equivalent(Channel(matrix))
    assert other.epsilon().value == pytest.approx(reduced.epsilon().value, rel=1e-9, abs=1e-12)
    assert reduced.reduce().matrix == pytest.approx(reduced.matrix, abs=1e-12)
    gain = rng.random((3, n))
    prior = rng.dirichlet(np.ones(n))
    worth = [(gain @ (prior[:, None] * c.matrix)).max(axis=0).sum() for c in (other, reduced)]
    assert worth[0] == pytest.approx(worth[1], abs=1e-12)


def test_nearly_proportional_columns_are_not_merged() -> None:
    channel = Channel([[0.5, 0.5], [0.5 + 1e-6, 0.5 - 1e-6]])
    assert channel.reduce().shape == (2, 2)
    assert not channel.equivalent(Channel.constant([0, 1]))
