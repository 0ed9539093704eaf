"""Hiding one partition while revealing another, and what cannot be had."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from adversary_support import random_case, seeds
from hypothesis import given

from noisewright.channels.channel import Channel
from noisewright.exceptions import NoisewrightError
from noisewright.qif.beliefs import hiding, hiding_and_revealing, revealing
from noisewright.qif.gains import Gain, partition, property_gain
from noisewright.qif.max_case import leakage_caps

close = pytest.approx
TOPICS = [{"a", "b"}, {"c", "d"}]
TELLS_TOPIC = Channel.deterministic(lambda x: x in "ab", "abcd")


def test_07_f17_crossing_partitions_can_have_both() -> None:
    found = hiding_and_revealing(TELLS_TOPIC, private=[{"a", "c"}, {"b", "d"}], useful=TOPICS)
    assert (found.useful.multiplicative, found.private.multiplicative) == (2, 1)
    assert (found.revealing, found.hiding) == (1, 0)
    assert (found.useful.posterior, found.private.posterior) == (1, 0.5)
    assert leakage_caps(TELLS_TOPIC).columns == 2
    assert found.nesting is None
    assert "neither limits the other" in str(found)


def test_07_f18_equally_likely_secrets_are_not_enough() -> None:
    found = hiding_and_revealing(TELLS_TOPIC, private=[{"a", "b"}, {"c"}, {"d"}], useful=TOPICS)
    assert (found.useful.multiplicative, found.private.multiplicative) == (2, 1.5)
    assert (found.revealing, found.hiding) == (1, 0.5)  # more is revealed than the hiding number allows at first sight
    assert found.nesting is not None
    assert (found.nesting.most, found.nesting.equal, found.nesting.ratio) == (2, False, 0.5)
    assert found.nesting.least_hiding(found.revealing) == 0


def nested(seed: int, equal: bool) -> tuple[Channel, list[int], list[int], np.ndarray]:
    """A random channel with private blocks inside useful ones, and a prior; private blocks equally likely if asked."""
    rng = np.random.default_rng(seed)
    blocks = int(rng.integers(2, 6))
    sizes = rng.integers(1, 4, blocks)
    private = np.repeat(np.arange(blocks), sizes)
    home = rng.integers(0, max(2, blocks - 1), blocks)
    mass = np.full(blocks, 1 / blocks) if equal else rng.dirichlet(np.ones(blocks))
    prior = np.concatenate([mass[b] * rng.dirichlet(np.ones(sizes[b])) for b in range(blocks)])
    channel = Channel(rng.dirichlet(np.full(int(rng.integers(1, 6)), 0.3), len(private)))
    return channel, private.tolist(), home[private].tolist(), prior / prior.sum()


@given(seeds)
def test_07_theorem_9_13_equally_likely_private_blocks_inside_useful_ones(seed: int) -> None:
    channel, private, useful, prior = nested(seed, equal=True)
    found = hiding_and_revealing(channel, dict(enumerate(private)), dict(enumerate(useful)), prior)
    assert found.nesting is not None
    assert found.nesting.equal
    assert found.nesting.ratio == close(1)
    assert found.revealing <= found.hiding + 1e-9


@given(seeds)
def test_07_theorem_9_13_the_general_inequality(seed: int) -> None:
    channel, private, useful, prior = nested(seed, equal=False)
    found = hiding_and_revealing(channel, dict(enumerate(private)), dict(enumerate(useful)), prior)
    assert found.nesting is not None
    assert found.private.multiplicative >= found.nesting.ratio * found.useful.multiplicative - 1e-9
    assert found.hiding >= found.nesting.least_hiding(found.revealing) - 1e-9


@given(seeds)
def test_07_lemma_9_12_post_processing_hides_more_and_reveals_less(seed: int) -> None:
    case = random_case(seed)
    later = case.channel @ case.after
    blocks = {x: x % 2 for x in case.channel.inputs}  # type: ignore[operator]
    assert hiding(later, blocks, case.prior) <= hiding(case.channel, blocks, case.prior) + 1e-9
    assert revealing(later, blocks, case.prior) <= revealing(case.channel, blocks, case.prior) + 1e-9


def test_secrets_that_cannot_be_do_not_count() -> None:
    # the block {b, c} crosses both topics, but c is impossible
    found = hiding_and_revealing(TELLS_TOPIC, [{"a"}, {"b", "c"}, {"d"}], TOPICS, [0.25, 0.25, 0, 0.5])
    assert found.nesting is not None
    assert (found.nesting.most, found.nesting.equal) == (2, False)
    assert found.nesting.ratio == close(0.5 / (2 * 0.5))


def test_partitions_may_be_gains() -> None:
    by_gain = hiding_and_revealing(TELLS_TOPIC, property_gain("abcd", {"a"}), partition("dcba", TOPICS))
    by_sets = hiding_and_revealing(TELLS_TOPIC, [{"a"}, {"b", "c", "d"}], TOPICS)
    assert (by_gain.hiding, by_gain.revealing) == (by_sets.hiding, by_sets.revealing)
    assert by_gain.to_json()["nesting"] is None
    nesting = hiding_and_revealing(TELLS_TOPIC, [{x} for x in "abcd"], TOPICS).to_json()["nesting"]
    assert nesting == {"most": 2, "equal": True, "ratio": 1.0, "least_hiding": 1.0}


@pytest.mark.parametrize(
    ("private", "words"),
    [
        (Gain([[1, 1, 0, 0.5], [0, 0, 1, 0.5]], secrets="abcd"), "private must be a partition"),
        (Gain([[1, 1, 1, 1], [0, 0, 0, 1]], secrets="abcd"), "private must be a partition"),
        ([{"a", "b"}], "there is none for 2 of the 4 secrets (the first of them is the one at place 2"),
        ([{"a", "b", "c", "d"}, set()], "none is empty"),
    ],
)
def test_what_is_no_partition_is_refused(private: Any, words: str) -> None:
    with pytest.raises(NoisewrightError) as problem:
        hiding_and_revealing(TELLS_TOPIC, private, TOPICS)
    assert words in str(problem.value)


def test_large_partitions_need_no_matrix() -> None:
    size = 6_000
    rows = np.random.default_rng(3).dirichlet(np.ones(3), size)
    found = hiding_and_revealing(Channel(rows), lambda x: x, lambda x: x % 2)
    assert found.private.posterior == pytest.approx(rows.max(axis=0).sum() / size)
    assert found.nesting is not None
    assert (found.nesting.most, found.nesting.equal) == (size // 2, True)
