"""Noise on word vectors and the nearest word: laws, decoding, and what the peers' mechanisms promise for our metric."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, norm
from word_support import clusters, written

from noisewright.exceptions import ParameterError
from noisewright.mechanisms.registry import registry
from noisewright.testing import check_entry
from noisewright.text import laplace_words, mahalanobis_words, nearest, two_nearest, vickrey_words

NAMES = ["laplace-words", "mahalanobis-words", "vickrey-words"]


@pytest.mark.parametrize("name", NAMES)
def test_entries_are_true(name: str) -> None:
    embedding, entry = clusters(), registry[name]
    place = str(embedding.resource.place())
    assert not check_entry(
        entry, {"embedding": place, "epsilon": 2, "protect": 1}, [pa.array(embedding.words()[:20])]
    ).not_applicable


@given(st.integers(0, 10**6), st.integers(1, 40))
def test_the_nearest_word_is_the_nearest(seed: int, count: int) -> None:
    embedding = clusters(700, 20, 5)
    vectors = np.random.default_rng(seed).normal(size=(count, 20)) * 3
    apart = np.linalg.norm(vectors[:, None] - embedding.vectors().astype(np.float64), axis=2)
    assert np.array_equal(nearest(embedding, vectors), apart.argmin(axis=1))
    rows, distances = two_nearest(embedding, vectors)
    assert np.array_equal(rows, np.argsort(apart, axis=1, kind="stable")[:, :2])
    assert np.allclose(distances, np.sort(apart, axis=1)[:, :2], rtol=1e-4)


def test_of_words_with_one_vector_the_first_comes_out() -> None:
    embedding = clusters()
    assert nearest(embedding, embedding.vectors([6, 5])).tolist() == [5, 5]


def test_07_txt6_a_word_loses_to_a_neighbour_by_projected_noise() -> None:
    """n = 100, D = 3.44, epsilon = 10: about Phi(-D epsilon / (2 sqrt(n + 1))) = 0.0435. Five standard errors: 1 in a million."""
    vectors = np.zeros((2, 100))
    vectors[1, 0] = 3.44
    embedding, draws = written(vectors), 40_000
    lost = laplace_words(embedding, epsilon=10).release_rows(np.zeros(draws, int), np.random.default_rng(7)).mean()
    expected = norm.cdf(-3.44 * 10 / (2 * math.sqrt(101)))
    assert expected == pytest.approx(0.0435, abs=5e-4)
    assert lost == pytest.approx(expected, abs=5 * math.sqrt(expected / draws) + 5e-4)


def line_channel(places: np.ndarray, rate: float) -> np.ndarray:
    """On a line the cell of a word is an interval, so that the channel of noise with rate and decoding has a closed form."""
    borders = np.concatenate([[-np.inf], (places[1:] + places[:-1]) / 2, [np.inf]])

    def cdf(z: np.ndarray) -> np.ndarray:
        return np.where(z < 0, np.exp(np.minimum(rate * z, 0)) / 2, 1 - np.exp(-rate * np.maximum(z, 0)) / 2)

    return np.diff(cdf(borders - places[:, None]), axis=1)


def test_on_a_line_the_channel_is_known_and_its_audit_is_the_promise() -> None:
    places = np.array([0.0, 0.5, 1.25, 3.0, 3.25, 6.0])
    embedding = written(places[:, None])
    channel = line_channel(places, 1.5)
    losses = np.abs(np.log(channel[:, None]) - np.log(channel)).max(axis=2)
    apart = np.abs(places[:, None] - places)
    # Behind the last words the loss is the whole of epsilon d.
    assert (losses[apart > 0] / apart[apart > 0]).max() == pytest.approx(1.5, rel=1e-9)
    for words in (laplace_words(embedding, epsilon="1.5"), mahalanobis_words(embedding, epsilon="1.5", stretch="0.9")):
        for row in (0, 3):
            seen = np.bincount(words.release_rows(np.full(20_000, row), np.random.default_rng(row)), minlength=6)
            expected = channel[row] * 20_000
            assert ((seen - expected) ** 2 / expected).sum() < chi2.isf(1e-8, 5)


def test_mahalanobis_noise_is_within_the_promise_in_every_direction() -> None:
    """The density at v is c exp(-e |v|_M), and e |v|_M <= epsilon |v| for all v, with equality in one direction."""
    embedding = clusters()
    words = mahalanobis_words(embedding, epsilon=2, stretch="0.6")
    root, smallest = words._stretch
    directions = np.random.default_rng(1).normal(size=(2000, 4))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    lengths = 2 * smallest * np.linalg.norm(directions @ np.linalg.inv(root), axis=1)
    assert lengths.max() <= 2
    assert lengths.max() > 1.95
    covariance = np.cov(embedding.vectors().astype(float).T, bias=True)
    expected = 0.6 * covariance * 4 / np.trace(covariance) + 0.4 * np.eye(4)
    assert np.allclose(root @ root, expected)


def test_vickrey_takes_the_second_nearest_by_the_distances() -> None:
    """With hardly any noise the nearest word is at 0, and comes out unless first is 0."""
    embedding = written(np.array([[0.0], [1.0], [5.0]]))
    given = np.repeat(np.arange(3), 200)
    assert (vickrey_words(embedding, epsilon=10**4, first=1).release_rows(given) == given).all()
    second = vickrey_words(embedding, epsilon=10**4, first=0).release_rows(given)
    assert second.tolist() == [1] * 200 + [0] * 200 + [1] * 200
    # In the middle of two words both are equally far, and the nearest of them wins with probability `first`.
    tie = written(np.array([[-1.0], [1.0], [0.0], [40.0]]))
    words = vickrey_words(tie, epsilon=1, first="0.25")
    rows, apart = two_nearest(tie, np.array([[0.0]]))
    assert rows[0, 0] == 2
    assert apart[0, 0] == 0
    half = np.full((20_000, 1), 20.0)
    chosen = words._second(half, np.random.default_rng(5))
    expected = 0.25 * 20 / (0.25 * 20 + 0.75 * 19)  # 1 is at 19, 40 is at 20
    assert (chosen == 1).mean() == pytest.approx(expected, abs=5 * math.sqrt(expected / 20_000))


@pytest.mark.parametrize(
    ("make", "bad"),
    [(mahalanobis_words, {"stretch": 1}), (mahalanobis_words, {"stretch": -1}), (vickrey_words, {"first": 2})],
)
def test_bad_shares_are_refused(make, bad) -> None:
    with pytest.raises(ParameterError, match=r"stretch must|first must"):
        make(clusters(), epsilon=1, **bad)
