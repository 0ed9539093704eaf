"""Correlated secrets: the joint distribution, and what a release tells through it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import qif
from adversary_support import seeds
from hypothesis import given

import noisewright as nw
from noisewright.attacks.correlation import Correlation, dalenius_vulnerability
from noisewright.channels.channel import Channel
from noisewright.exceptions import DataError, ParameterError
from noisewright.qif.vulnerability import posterior_vulnerability


def random_pair(seed: int) -> tuple[Correlation, Channel]:
    rng = np.random.default_rng(seed)
    z, x, y = rng.integers(1, 6, 3)
    joint = rng.dirichlet(np.full(z * x, 0.5)).reshape(z, x)
    return Correlation(joint), Channel(rng.dirichlet(np.full(y, 0.4), x), normalise=True)


@given(seeds)
def test_it_is_the_vulnerability_of_the_marginal_under_both_channels(seed: int) -> None:
    pi, channel = random_pair(seed)
    known = pi.prior > 0
    through = pi.channel() @ channel
    expected = posterior_vulnerability((pi.prior[known] / pi.prior[known].sum()).tolist(), through)
    assert dalenius_vulnerability(pi, channel) == pytest.approx(expected, abs=1e-12)


@given(seeds)
def test_it_is_the_vulnerability_of_pairs_under_the_channel_that_ignores_z(seed: int) -> None:
    pi, channel = random_pair(seed)
    pairs = [(z, x) for z in pi.secrets for x in pi.inputs]
    ignoring = channel.after(lambda pair: pair[1], pairs)
    gain = nw.qif.gains.partition(pairs, lambda pair: pair[0])
    expected = posterior_vulnerability(pi.joint.ravel().tolist(), ignoring, gain)
    assert dalenius_vulnerability(pi, channel) == pytest.approx(expected, abs=1e-12)


def test_qif_agrees() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        joint = rng.dirichlet(np.ones(12)).reshape(3, 4)
        matrix = rng.dirichlet(np.full(5, 0.5), 4)
        rho = joint.sum(axis=1)
        expected = qif.measure.bayes_vuln.posterior(rho, (joint / rho[:, None]) @ matrix)
        assert dalenius_vulnerability(joint, Channel(matrix, normalise=True)) == pytest.approx(expected, abs=1e-9)


@given(seeds)
def test_post_processing_never_tells_more(seed: int) -> None:
    pi, channel = random_pair(seed)
    rng = np.random.default_rng(seed + 1)
    after = Channel(rng.dirichlet(np.ones(3), channel.shape[1]), channel.outputs, normalise=True)
    gain = rng.random((4, len(pi.secrets)))
    before, later = (dalenius_vulnerability(pi, c, gain) for c in (channel, channel @ after))
    assert later <= before + 1e-12
    assert later >= (gain @ pi.prior).max() - 1e-12


def test_a_gain_is_on_the_secrets_of_the_correlation() -> None:
    pi = Correlation([[0.2, 0.1], [0.1, 0.2], [0.2, 0.2]], "abc", [0, 1])
    channel = Channel.identity([0, 1])
    blocks = nw.qif.gains.partition("abc", [{"a", "b"}, {"c"}])
    assert dalenius_vulnerability(pi, channel, blocks) == pytest.approx(0.6)
    with pytest.raises(ParameterError):
        dalenius_vulnerability(pi, channel, np.ones((2, 2)))


def test_inputs_are_matched_by_name_and_not_by_place() -> None:
    pi = Correlation([[0.5, 0.0], [0.0, 0.5]], ["s", "t"], ["b", "a"])
    channel = Channel([[1, 0], [0.5, 0.5], [0, 1]], ["a", "b", "c"])
    assert pi.after(channel).joint.tolist() == [[0.25, 0.25], [0.5, 0.0]]
    with pytest.raises(ParameterError, match="1 of the 2 inputs of the correlation is no input of the channel"):
        dalenius_vulnerability(pi, Channel.identity(["b", "c"]))


def test_tables_of_every_kind_give_the_same() -> None:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    columns = {"vote": ["red", "blue", "red", "red"], "age": [30, 30, 40, 40]}
    for table in (columns, pa.table(columns), pa.record_batch(columns), pd.DataFrame(columns), pl.DataFrame(columns)):
        found = Correlation.from_table(table, secret="vote", useful="age")
        assert (found.secrets, found.inputs) == (("blue", "red"), (30, 40))
        assert found.joint.tolist() == [[0.25, 0.0], [0.25, 0.5]]


def test_partitions_take_mappings_functions_and_sets() -> None:
    prior = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}
    ways = [
        Correlation.from_partitions(prior, [{"a", "b"}, {"c", "d"}], lambda x: x in "ac"),
        Correlation.from_partitions(prior, {"a": 0, "b": 0, "c": 1, "d": 1}, [{"a", "c"}, {"b", "d"}]),
        Correlation.from_partitions([0.1, 0.2, 0.3, 0.4], [{0, 1}, {2, 3}], lambda x: x % 2),
    ]
    for found in ways:
        assert found.joint == pytest.approx(np.array([[0.1, 0.2], [0.3, 0.4]]))
    with pytest.raises(ParameterError, match="name the states"):
        Correlation.from_partitions(None, [{0}], [{0}])
    with pytest.raises(ParameterError):
        Correlation.from_partitions(prior, [{"a", "b"}, {"c"}], lambda x: x)


def test_it_does_not_change_and_survives_pickling() -> None:
    pi = Correlation([[0.5, 0.5]], ["z"], "xy")
    with pytest.raises(AttributeError, match="does not change"):
        pi.joint = np.ones((1, 1))
    with pytest.raises(ValueError, match="read-only"):
        pi.joint[0, 0] = 1
    again = pickle.loads(pickle.dumps(pi))
    assert again == pi
    assert hash(again) == hash(pi)
    assert pi != Correlation([[0.5, 0.5]], ["z"], "ab")


@pytest.mark.parametrize(
    ("joint", "words"),
    [
        ([[0.5, 0.6]], "must sum to 1, not to 1.1"),
        ([[1.5, -0.5]], "0 or more"),
        ([[float("nan"), 1.0]], "finite"),
        ([0.5, 0.5], "a row for each secret"),
        ([["a", "b"]], "matrix of probabilities"),
        ([[0.5], [0.25, 0.25]], "matrix of probabilities"),
        (np.zeros((0, 3)), "a row for each secret"),
    ],
)
def test_what_is_no_joint_distribution_is_refused(joint: object, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Correlation(joint)
    with pytest.raises(ParameterError, match=words):
        dalenius_vulnerability(joint, Channel.identity("ab"))


def test_labels_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ParameterError, match="3 secrets were named for a correlation with 1 rows"):
        Correlation([[0.5, 0.5]], "abc")
    with pytest.raises(ParameterError, match="different from each other"):
        Correlation([[0.5, 0.5]], "a", "bb")
    with pytest.raises(ParameterError, match="has as many columns, not 3"):
        dalenius_vulnerability(np.full((2, 3), 1 / 6), Channel.identity("ab"))
    with pytest.raises(DataError, match="no column 'other'"):
        Correlation.from_table({"a": [1]}, "a", "other")
