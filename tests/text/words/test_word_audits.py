"""What each mechanism on words promises, held against probabilities that are enumerated; and words by an index."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, norm
from test_noisy_words import line_channel
from word_support import clusters, written

from noisewright.exceptions import MissingPartError, NoChannelError, ParameterError
from noisewright.text import (
    enumerated,
    exact_words,
    laplace_words,
    least_epsilon,
    mahalanobis_words,
    nearest,
    truncated_exponential_words,
    vickrey_words,
)
from noisewright.text.nearest_words import WordIndex

LONG = np.array([[0, 0], [0.25, 0.5], [3, 0], [3.25, 0.5], [-3, 0.25], [6, 0], [6, 0.25]])
"""Words that vary in one direction much more than in the other."""
CLOSE = 1.001
"""Directions in the plane are summed."""


def audited(mechanism: Any) -> float:
    """The smallest epsilon that holds for the enumerated probabilities, for each unit of distance."""
    channel = mechanism.channel() if hasattr(mechanism, "weights") else enumerated(mechanism)
    return float(channel.epsilon(metric=mechanism.guarantee.metric).value)


def test_on_a_line_the_enumeration_is_the_closed_form() -> None:
    places = np.array([0.0, 0.5, 1.25, 3.0, 3.25, 6.0])
    words = laplace_words(written(places[:, None]), epsilon="1.5")
    assert np.allclose(enumerated(words).matrix, line_channel(places, 1.5), rtol=1e-9)
    assert audited(words) == pytest.approx(1.5, rel=1e-6)


@pytest.mark.parametrize(
    ("make", "least"),
    [
        (exact_words, 1.99),
        (truncated_exponential_words, 1.0),
        (laplace_words, 1.5),
        (lambda *a, **b: mahalanobis_words(*a, stretch="0.9", **b), 1.2),
        (vickrey_words, 1.0),
    ],
)
def test_every_mechanism_keeps_its_promise_and_uses_some_of_it(make: Callable[..., Any], least: float) -> None:
    assert least < audited(make(written(LONG), epsilon=2)) <= 2 * CLOSE


def test_the_published_epsilon_of_mahalanobis_is_none_for_the_euclidean_distance() -> None:
    """Its authors' epsilon is for a distance of their own. Read as one for each unit it is exceeded; ours holds."""
    words = mahalanobis_words(written(LONG), epsilon=2, stretch="0.9")
    published = words.rays(np.eye(2))[0]
    assert published < audited(words) / 1.5 <= 2 * CLOSE


@pytest.mark.parametrize("make", [laplace_words, mahalanobis_words, vickrey_words])
def test_draws_have_the_enumerated_probabilities(make: Callable[..., Any]) -> None:
    """Chi-squared at 1e-7 for 20,000 draws of one word, where at least 5 are expected."""
    words = make(written(LONG), epsilon=1)
    expected = enumerated(words).matrix[3] * 20_000
    seen = np.bincount(words.release_rows(np.full(20_000, 3), np.random.default_rng(1)), minlength=len(LONG))
    large = expected >= 5
    assert (((seen - expected) ** 2 / expected)[large]).sum() < chi2.isf(1e-7, large.sum())


def test_what_cannot_be_enumerated_is_refused() -> None:
    with pytest.raises(NoChannelError, match="at most 20 words in at most 2 dimensions"):
        enumerated(laplace_words(clusters(), epsilon=1))
    with pytest.raises(NoChannelError, match="laplace-words"):
        least_epsilon(vickrey_words(clusters(), epsilon=1))


def test_from_below_the_epsilon_of_two_words_is_nearly_its_own() -> None:
    """Two words at distance 3.44 in 100 dimensions, epsilon 10: kept with p = 0.9565, and lost with 1 - p, so that the true
    epsilon is ln(p / (1 - p)) / 3.44 = 0.899, far below what is promised. Measured with 4,000 draws."""
    vectors = np.zeros((2, 100))
    vectors[1, 0] = 3.44
    lost = norm.cdf(-3.44 * 10 / (2 * math.sqrt(101)))
    true = math.log((1 - lost) / lost) / 3.44
    found = least_epsilon(laplace_words(written(vectors), epsilon=10), 4000, rng=np.random.default_rng(1))
    assert 0.97 * true < found < 1.005 * true < 1


@pytest.mark.parametrize("vectors", [LONG, LONG[:, :1]])
def test_from_below_is_below(vectors: np.ndarray) -> None:
    words = laplace_words(written(vectors[[0, 2, 4, 5]]), epsilon=2)
    assert 0.1 < least_epsilon(words, rng=np.random.default_rng(1)) <= audited(words)


def test_an_index_finds_nearly_all_nearest_words() -> None:
    pytest.importorskip("faiss")
    embedding = clusters(3000, 20, 5)
    rows = np.arange(1000)
    vectors = embedding.vectors(rows) + np.random.default_rng(1).normal(size=(1000, 20)) * 0.5
    assert (WordIndex(embedding).nearest(vectors) == nearest(embedding, vectors)).mean() >= 0.98
    words = laplace_words(embedding, epsilon=100, decoding="index")
    assert (words.release_rows(rows, np.random.default_rng(3)) == rows).mean() > 0.98
    assert words.certificate().document["proof"]["decoding"] == "index"
    assert words.guarantee == laplace_words(embedding, epsilon=100).guarantee
    odd = written(np.random.default_rng(2).normal(size=(500, 3)))
    assert (WordIndex(odd).nearest(odd.vectors()) == np.arange(500)).mean() > 0.98


def test_without_faiss_a_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "faiss":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingPartError, match=r"noisewright\[text\], or use decoding='exact'"):
        laplace_words(clusters(), epsilon=1, decoding="index").release(["w1"])
    with pytest.raises(ParameterError, match="decoding"):
        laplace_words(clusters(), epsilon=1, decoding="quick")  # type: ignore[arg-type]
