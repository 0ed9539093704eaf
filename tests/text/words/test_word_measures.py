"""What an epsilon does to words, and the epsilon that a wish amounts to."""

from __future__ import annotations

import math

import numpy as np
import pytest
from word_support import clusters

from noisewright.exceptions import DataError, ParameterError
from noisewright.text import (
    compare_words,
    epsilon_between,
    exact_words,
    laplace_words,
    measure,
    neighbour_distances,
    typical_epsilon,
)
from noisewright.text.partition_sums import telling


def test_measures_of_a_choice_are_those_of_its_channel() -> None:
    embedding = clusters()
    words = exact_words(embedding, epsilon=2)
    sample = ["w1", "w2", "w2", "w50"]
    channel, rows = words.channel().matrix, embedding.rows(sample)
    found = measure(words, sample)
    assert found.kept == pytest.approx(channel[rows, rows].mean(), rel=1e-9)
    distances = embedding.distances(rows, np.arange(60))
    assert found.distance == pytest.approx((channel[rows] * distances).sum(axis=1).mean(), rel=1e-6)
    assert found.draws is None


def test_warnings_where_nearly_every_word_is_kept_or_replaced() -> None:
    sample = [f"w{i}" for i in range(20, 40)]
    much, little, fair = (measure(exact_words(clusters(), epsilon=e), sample) for e in (14, "1/10", 4))
    assert "keeps" in (much.warning or "")
    assert "hides more" in (much.warning or "")
    assert "keeps more of the meaning" in (little.warning or "")
    assert fair.warning is None


def test_the_choice_keeps_more_words_than_noise_in_many_dimensions() -> None:
    """In 20 dimensions at the same epsilon; noise is measured by 1000 draws, and the gap is many standard errors."""
    embedding = clusters(700, 20, 5)
    [(choice, noise)] = compare_words(embedding, embedding.words()[:50], [3], np.random.default_rng(2))
    assert (choice.mechanism, noise.mechanism, noise.draws) == ("exact-words", "laplace-words", 1000)
    assert choice.kept > noise.kept + 0.3
    assert choice.distance < noise.distance


def test_two_words_within_a_factor() -> None:
    embedding = clusters()
    apart = embedding.distances([1], [2])[0, 0]
    epsilon = epsilon_between(embedding, "w1", "w2", factor=3)
    assert math.exp(epsilon * apart) == pytest.approx(3)
    assert epsilon * apart <= math.log(3)
    with pytest.raises(ParameterError, match="same vector"):
        epsilon_between(embedding, "w5", "w6")
    with pytest.raises(DataError, match="not in the vocabulary"):
        epsilon_between(embedding, "w1", "secret")
    with pytest.raises(ParameterError, match="factor above 1"):
        epsilon_between(embedding, "w1", "w2", factor=1)


def test_typical_neighbours() -> None:
    embedding = clusters()
    apart = embedding.distances(np.arange(60), np.arange(60))
    expected = np.where(apart == 0, np.inf, apart).min(axis=1)
    assert np.allclose(neighbour_distances(embedding, embedding.words()), expected)
    assert typical_epsilon(embedding, embedding.words()) == pytest.approx(1 / np.median(expected))
    with pytest.raises(ParameterError, match="no words"):
        typical_epsilon(embedding, [])
    with pytest.raises(ParameterError, match="no words"):
        measure(laplace_words(embedding, epsilon=1), [])


def test_comparing_all_pairs_of_words_tells_how_far_it_is(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("NOISEWRIGHT_CACHE", str(tmp_path))
    told: list[tuple[int, int | None]] = []
    with telling(lambda done, total: told.append((done, total))):
        exact_words(clusters(700, 20, 5), epsilon="3.25")
    done = [number for number, _ in told]
    assert done == sorted(set(done))
    assert {total for _, total in told} == {done[-1]}  # it ends where it said
    told.clear()
    exact_words(clusters(700, 20, 5), epsilon="3.5")
    assert not told
