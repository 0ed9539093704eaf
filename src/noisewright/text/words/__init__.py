"""Mechanisms on words: an exact choice with its true epsilon, noise with nearest words, and what an epsilon does to words."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.text.words.audits import enumerated as enumerated
    from noisewright.text.words.audits import least_epsilon as least_epsilon
    from noisewright.text.words.choice import WordChoice as WordChoice
    from noisewright.text.words.choice import exact_words as exact_words
    from noisewright.text.words.choice import recomputed as recomputed
    from noisewright.text.words.choice import truncated_exponential_words as truncated_exponential_words
    from noisewright.text.words.decoding import nearest as nearest
    from noisewright.text.words.decoding import two_nearest as two_nearest
    from noisewright.text.words.indexed import WordIndex as WordIndex
    from noisewright.text.words.measures import Measured as Measured
    from noisewright.text.words.measures import compare_words as compare_words
    from noisewright.text.words.measures import epsilon_between as epsilon_between
    from noisewright.text.words.measures import measure as measure
    from noisewright.text.words.measures import neighbour_distances as neighbour_distances
    from noisewright.text.words.measures import typical_epsilon as typical_epsilon
    from noisewright.text.words.metric import WordDistance as WordDistance
    from noisewright.text.words.noisy import NoisyWords as NoisyWords
    from noisewright.text.words.noisy import laplace_words as laplace_words
    from noisewright.text.words.noisy import mahalanobis_words as mahalanobis_words
    from noisewright.text.words.noisy import vickrey_words as vickrey_words
    from noisewright.text.words.true_epsilon import true_epsilons as true_epsilons
    from noisewright.text.words.weights import Weights as Weights
else:
    __getattr__, __dir__ = door(__name__)
