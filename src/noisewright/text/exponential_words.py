r"""Words chosen exactly: an exponential choice over the public vocabulary, drawn from integers, with its true epsilon.

The word y comes out with probability :math:`W(d(x, y)) / Z(x)`, where the integer weight is
:math:`W = \lfloor 2^k e^{-\min(\beta d, C)} \rfloor` and :math:`Z(x)` is their sum over all words
(:mod:`~noisewright.text.partition_sums`). A uniform integer below Z(x), from cryptographic bits, decides.

**Guarantee.** ``epsilon`` for each unit of Euclidean distance between word vectors. For words at distance d the loss
is at most :math:`\beta d + 2\eta + |\ln Z(x) - \ln Z(x')|`, :math:`\eta` being what rounding can do, and it is reached
at y = x. Therefore the true epsilon is :math:`\beta` plus the slope of :math:`\ln Z`, computed over all pairs of
words; it lies between :math:`\beta` and :math:`2\beta`. :func:`exact_words` chooses the largest beta whose true
epsilon is within the budget. The slope depends on the file alone: a certificate states it, and anyone with the file
can compute it again (:func:`recomputed`).

:func:`truncated_exponential_words` is the mechanism of Carvalho, Vasiloudis and Feyisetan as they calibrate it: beta is half
of
epsilon, the exponent is cut at a reach, and nothing needs to be known about the file. It is the same choice with less use of
the
budget.

>>> import numpy as np, pathlib, tempfile
>>> from noisewright.text import write_embedding
>>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.nwe")
>>> tiny = write_embedding(path, ["tea", "coffee", "ship"], np.array([[1, 0], [1, 0.5], [-3, 4]]), licence="CC0-1.0")
>>> words = exact_words(tiny, epsilon=2)
>>> words.release(["tea", "ship", "tea"]).shape, words.certificate().numerics
((3,), 'exact')
>>> float(words.beta) < float(words.true_epsilon) <= 2
True
>>> words.channel().matrix.round(3)[0].tolist()
[0.725, 0.275, 0.0]

References: McSherry and Talwar, *Mechanism design via differential privacy* (2007); Carvalho, Vasiloudis and Feyisetan, *TEM:
high utility metric differential privacy on text* (2021).

>>> import numpy as np, pathlib, tempfile
>>> from noisewright.text import write_embedding
>>> from noisewright.text import exact_words
>>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.nwe")
>>> tiny = write_embedding(path, ["tea", "coffee", "ship"], np.array([[1, 0], [1, 0.5], [-3, 4]]), licence="CC0-1.0")
>>> round(epsilon_between(tiny, "tea", "coffee"), 6)
2.0
>>> found = measure(exact_words(tiny, epsilon=2), ["tea", "ship"])
>>> round(found.kept, 2), found.warning
(0.86, None)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import fields_alone
from noisewright.base import EPSILON, BaseMechanism, Entry, MechanismAudit, Parameter, Stated, Takes
from noisewright.certificates.certificate import Certificate
from noisewright.channels.channel import Channel
from noisewright.channels.integer_table import CertifiedChannel
from noisewright.claims.figures import float_up, upward
from noisewright.exceptions import CertificateError, NoChannelError, NoLossError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.numerics.exact import Exact, positive_fraction
from noisewright.resources import Resource, public_keys
from noisewright.sampling.random_bits import Rng, uniform_below
from noisewright.text.embedding import EMBEDDING, LIMIT, Embedding
from noisewright.text.nearest_words import (
    Tiles,
    WordDistance,
    as_embedding,
    keep_sums,
    kept_sums,
    on_all_cores,
    rows_of,
    spelled,
)
from noisewright.text.noisy_words import NoisyWords, laplace_words
from noisewright.text.partition_sums import (
    Remembered,
    Weights,
    all_sums,
    block_sums,
    calibrated,
    free,
    locate,
    seconds_for,
    slopes_of,
)

__all__ = [
    "Measured",
    "WordChoice",
    "compare_words",
    "epsilon_between",
    "exact_words",
    "measure",
    "neighbour_distances",
    "recomputed",
    "truncated_exponential_words",
    "typical_epsilon",
]


REACH = Parameter("Distance beyond which all words count as equally far.", "reach = 8")

EXACT, TRUNCATED = "exact-words", "truncated-exponential-words"
LARGEST_CHANNEL = 2000
"""Maximum number of words listed as a channel."""


def exact_words(
    embedding: Annotated[Resource | Embedding, EMBEDDING],
    *,
    epsilon: Annotated[Exact, EPSILON],
    limit: Annotated[int | None, LIMIT] = None,
) -> WordChoice:
    """The exponential choice of words with true epsilon ``epsilon``, over the first ``limit`` words of an embedding.

    All pairs of words are compared when an embedding and an epsilon meet for the first time: some minutes for 50,000 words. The
    result is kept in the user's cache folder.
    """
    found, budget = as_embedding(embedding, limit), positive_fraction(epsilon, "epsilon")
    weights, slope = calibrated(found, budget)
    return WordChoice(found, budget, weights.beta, weights.cap, slope)


def truncated_exponential_words(
    embedding: Annotated[Resource | Embedding, EMBEDDING],
    *,
    epsilon: Annotated[Exact, EPSILON],
    reach: Annotated[Exact | None, REACH] = None,
    limit: Annotated[int | None, LIMIT] = None,
) -> WordChoice:
    """The truncated exponential choice: half of epsilon for each unit, and all words beyond a ``reach`` alike.

    Without a reach it is where words beyond it weigh nothing together. No pairs are compared: the guarantee holds
    whatever the vectors are, and its proof needs no file.
    """
    found, budget = as_embedding(embedding, limit), positive_fraction(epsilon, "epsilon")
    weights = free(found, budget, None if reach is None else positive_fraction(reach, "reach"))
    return WordChoice(found, budget, weights.beta, weights.cap)


@dataclass(frozen=True)
class WordChoice(BaseMechanism):
    """An exact choice of words; build it with :func:`exact_words` or :func:`truncated_exponential_words`."""

    embedding: Embedding
    epsilon: Fraction
    beta: Fraction
    cap: Fraction
    slope: Fraction | None = None
    """At most how much the logarithm of the sum of weights changes for each unit, with what rounding does; None: not known."""

    @property
    def name(self) -> str:
        """The name in the registry."""
        return TRUNCATED if self.slope is None else EXACT

    @property
    def resources(self) -> tuple[Resource, ...]:
        """The embedding's file."""
        return (self.embedding.resource,)

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` for each unit of distance between word vectors."""
        return Guarantee.exactly(self.epsilon, WordDistance(self.embedding))

    @cached_property
    def weights(self) -> Weights:
        """The integers that are drawn from."""
        return Weights.of(self.embedding, self.beta, self.cap)

    @property
    def true_epsilon(self) -> Fraction:
        """The smallest epsilon that is known to hold: at most ``epsilon``."""
        return self.weights.bound if self.slope is None else self.beta + self.slope

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One exact draw for every word, given as text or as a row of the embedding; a single word gives a single word."""
        rows, shape = rows_of(self.embedding, values)
        return spelled(self.embedding, self.release_rows(rows, rng), shape)

    def release_rows(self, rows: NDArray[np.int64], rng: Rng = None) -> NDArray[np.int64]:
        """The same for rows of the embedding, in one dimension. Words that occur more than once are multiplied once."""
        distinct, words = np.unique(rows, return_inverse=True)
        sums = self._sums_of(distinct)
        below = uniform_below(sums.sum(axis=1, dtype=np.uint64)[words].astype(np.int64), rng=rng).astype(np.uint64)
        return locate(self._tiles, self.weights, sums, distinct, words, below)

    def check(self, values: Any) -> None:
        """Refuse what ``release`` would refuse."""
        rows_of(self.embedding, values)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The formula of the weights, their SHA-256, and for a true epsilon the slope, which is stated."""
        weights = self.weights
        stated = {} if self.slope is None else {"slope": str(self.slope), "eta": str(weights.eta)}
        return Certificate.of_mechanism(
            self,
            rng,
            distances={"shape": "words"},
            proof={
                "kind": "words",
                "beta": str(weights.beta),
                "cap": str(weights.cap),
                "width": weights.width,
                "step": str(weights.step),
                "words": self.embedding.size,
                "weights": weights.fingerprint,
                **stated,
            },
            **public_keys(self.resources),
        )

    def audit(self) -> MechanismAudit:
        """The true epsilon, as far as it is known."""
        words = "for all pairs of words" if self.slope is not None else "whatever the vectors are"
        metric = self.guarantee.metric
        return MechanismAudit(float_up(self.true_epsilon), metric, None, None, None, words=f"a bound {words}")

    def error(self, loss: str = "absolute") -> float:
        """Raise `NoLossError`: words are not numbers. See :func:`~noisewright.text.measure`."""
        raise NoLossError("words are no numbers; measure(mechanism, words) says how far outputs are from their words.")

    def channel(self) -> Channel:
        """All probabilities, for a vocabulary of at most 2,000 words."""
        size = self.embedding.size
        if size > LARGEST_CHANNEL:
            raise NoChannelError(
                f"a vocabulary of {size} words has too many pairs to list; keep the first {LARGEST_CHANNEL} or fewer."
            )
        table = self.integers(np.arange(size)).astype(np.float64)
        names = self.embedding.words()
        return Channel(table / table.sum(axis=1, keepdims=True), names, names)

    def certify(self) -> CertifiedChannel:
        """The same probabilities as an explicit table, every entry of which is proved, for a small vocabulary."""
        return self.channel().certify(self.epsilon, self.guarantee.metric)

    def integers(self, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The weights of all words for each of a few rows."""
        everything = np.arange(self.embedding.size)
        return self.weights.at(self.embedding.squares(rows, everything))

    def kept(self, rows: NDArray[np.int64]) -> Floats:
        """The probability that a word comes out as itself, for each row."""
        own = float(self.weights.table[0])
        return np.asarray(own / self._sums_of(rows).sum(axis=1, dtype=np.uint64).astype(np.float64))

    def prepare(self) -> None:
        """Compute the sums of all words and keep them in the cache folder: a draw then needs the product with one block only."""
        if self._prepared is None:
            keep_sums(all_sums(self._tiles, [self.weights], by_block=True)[0], self.embedding, *self._about)
            self.__dict__.pop("_prepared")

    @cached_property
    def _tiles(self) -> Tiles:
        return Tiles(self.embedding)

    @property
    def _about(self) -> tuple[object, ...]:
        return "sums", self.beta, self.cap, self._tiles.count

    @cached_property
    def _prepared(self) -> NDArray[np.uint64] | None:
        """The sums of blocks of all words, mapped into memory, if they were prepared."""
        return kept_sums(self.embedding, (self.embedding.size, self._tiles.count), *self._about)

    @cached_property
    def _seen(self) -> Remembered:
        return Remembered(self.embedding.size, self._tiles.count)

    def _sums_of(self, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The sums of blocks of each word."""
        if self._prepared is not None:
            return np.asarray(self._prepared[rows])
        return self._seen.of(rows, lambda new: block_sums(self._tiles, self.weights, new))

    __getstate__ = fields_alone

    def __repr__(self) -> str:
        return f"{self.name}({self.embedding.name!r}, {self.embedding.size} words, {self.guarantee})"


def recomputed(certificate: Certificate) -> Fraction:
    """The slope that a certificate of exact words states, computed again from its file; refused if it is larger.

    All pairs of words are compared: some seconds for 34,000 words with 300 numbers each on two cores, some minutes for 340,000
    with 100. ``noisewright verify`` does it where the file is at hand.
    """
    found = _rebuilt(certificate)
    if found.slope is None:
        raise CertificateError("this certificate states no slope; its proof needs no file.")
    if found.weights.fingerprint != certificate.document["proof"]["weights"]:
        raise CertificateError(
            "the weights are not those that this version makes for the file; it cannot compare them."
        )
    slope = slopes_of(found.embedding, [found.weights])[0].value
    if slope > found.slope:
        raise CertificateError(
            "the slope of the file is larger than the certificate states; its epsilon does not hold."
        )
    return slope


def _stated(certificate: Certificate) -> Stated | None:
    """The slope, if one is stated."""
    if "slope" not in certificate.document["proof"]:
        return None
    embedding = _rebuilt(certificate).embedding
    what = f"the stated slope of {embedding.resource.name} over {embedding.size:,} words"
    return Stated(
        what,
        seconds_for(embedding),
        lambda: f"{what} was computed again from the file: {float(recomputed(certificate)):.6g}, within what is stated",
    )


def _rebuilt(certificate: Certificate) -> WordChoice:
    """The mechanism behind its certificate, if the file is here."""
    stated = certificate.document["proof"]
    embedding = Embedding(Resource.from_json(certificate.document["resources"][0]), stated["words"])
    if Fraction(stated["step"]) != Fraction(embedding.step) or embedding.size != stated["words"]:
        raise CertificateError("the file has another step, or fewer words, than the certificate states.")
    slope = Fraction(stated["slope"]) if "slope" in stated else None
    return WordChoice(embedding, certificate.epsilon, Fraction(stated["beta"]), Fraction(stated["cap"]), slope)


ENTRY = Entry(
    EXACT,
    exact_words,
    Takes("text"),
    summary="near words likelier, drawn from integers, calibrated to its true epsilon",
    words="words of a public embedding",
    rebuild=_rebuilt,
    stated=_stated,
)


TRUNCATED_ENTRY = Entry(
    TRUNCATED,
    truncated_exponential_words,
    Takes("text"),
    summary="near words likelier, drawn from integers, all words beyond a reach alike",
    words="words of a public embedding",
    rebuild=_rebuilt,
)


# Measures -----------------------------------------------------------------------------------------------------------------
#
# Effect of an epsilon on words: share kept, distance of outputs, and the epsilon for a wanted effect.


NEARLY = 0.95
"""An epsilon that keeps more than this share of the words, or less than 1 minus it, deserves a warning."""
DRAWS = 1000
"""Minimum number of draws of words to measure a mechanism whose probabilities have no closed form."""

WordMechanism = WordChoice | NoisyWords


@dataclass(frozen=True)
class Measured:
    """Effect of a mechanism on some words."""

    mechanism: str
    epsilon: float
    kept: float
    """The share of the words that come out as themselves."""
    distance: float
    """The mean distance between a word and its output."""
    draws: int | None
    """Number of draws; None if the probabilities were computed."""

    @property
    def warning(self) -> str | None:
        """A sentence where nearly every word is kept or replaced."""
        share = f"{100 * self.kept:.1f} %"
        if self.kept > NEARLY:
            return f"epsilon = {upward(self.epsilon)} keeps {share} of the words as they are; a smaller one hides more."
        if self.kept < 1 - NEARLY:
            return (
                f"epsilon = {upward(self.epsilon)} keeps {share} of the words; a larger one keeps more of the meaning."
            )
        return None


def measure(mechanism: WordMechanism, words: Iterable[str] | NDArray[np.int64], rng: Rng = None) -> Measured:
    """The share of words kept and the mean distance of outputs, for words with their frequencies, as in a corpus.

    Computed for an exact choice; by draws for noise in floats. Words outside the vocabulary must have been dropped.
    """
    rows, _ = rows_of(mechanism.embedding, words if isinstance(words, np.ndarray) else list(words))
    if not len(rows):
        raise ParameterError("there are no words to measure with; give some of the vocabulary.")
    distinct, counts = np.unique(rows, return_counts=True)
    epsilon = mechanism.guarantee.epsilon
    if isinstance(mechanism, WordChoice):
        kept = float(np.average(mechanism.kept(distinct), weights=counts))
        away = float(np.average(_expected(mechanism, distinct), weights=counts))
        return Measured(mechanism.name, epsilon, kept, away, None)
    given = np.tile(rows, -(-DRAWS // len(rows)))
    released = mechanism.release_rows(given, rng)
    step, codes = mechanism.embedding.step, mechanism.embedding.codes
    apart = np.linalg.norm(codes[given].astype(np.float64) - codes[released], axis=1) * step
    return Measured(mechanism.name, epsilon, float((given == released).mean()), float(apart.mean()), len(given))


def _expected(mechanism: WordChoice, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """The expected distance between each word and its output."""
    groups = [rows[start : start + 64] for start in range(0, len(rows), 64)]

    def work(group: NDArray[np.int64]) -> NDArray[np.float64]:
        squares = mechanism.embedding.squares(group, np.arange(mechanism.embedding.size))
        roots = np.sqrt(squares)
        weights = mechanism.weights.at(squares).astype(np.float64)
        return np.asarray((weights * roots).sum(axis=1) / weights.sum(axis=1) * mechanism.embedding.step)

    found: Any = on_all_cores(work, groups, len(rows) * mechanism.embedding.size)
    return np.concatenate(list(found))


def compare_words(
    embedding: Embedding, words: Sequence[str], epsilons: Iterable[Exact], rng: Rng = None
) -> list[tuple[Measured, Measured]]:
    """The exact choice and noise with decoding on the same words, at the same epsilon for each unit of distance.

    The epsilon of the choice is its true one. The epsilon of the noise is exact for the noisy vector; its reduction by
    decoding is unknown.
    """
    return [
        tuple(measure(make(embedding, epsilon=epsilon), words, rng) for make in (exact_words, laplace_words))  # type: ignore[misc]
        for epsilon in epsilons
    ]


def epsilon_between(embedding: Embedding, first: str, second: str, factor: float = math.e) -> float:
    """The epsilon at which two words are within a ``factor`` of each other, whatever comes out; rounded down."""
    if not factor > 1 or math.isinf(factor):
        raise ParameterError("two words are within a factor above 1 of each other, such as 2.72.")
    rows, _ = rows_of(embedding, [first, second])
    apart = float(embedding.distances(rows[:1], rows[1:])[0, 0])
    if not apart:
        raise ParameterError("these two words have the same vector, so nothing tells them apart at any epsilon.")
    return math.log(factor) / apart * (1 - 2.0**-50)


def neighbour_distances(embedding: Embedding, words: Iterable[str]) -> NDArray[np.float64]:
    """The distance of each word to the nearest other word of the vocabulary that has another vector."""
    rows, _ = rows_of(embedding, list(words))
    distinct, back = np.unique(rows, return_inverse=True)
    tiles, best = Tiles(embedding), np.full(len(distinct), np.inf)
    for start in range(0, len(distinct), 512):
        left = tiles.left(distinct[start : start + 512])

        def work(block: int, left: NDArray[np.float32] = left) -> NDArray[np.float32]:
            squares = left @ tiles.right(block).T
            np.copyto(squares, np.float32(np.inf), where=squares == 0)
            return np.asarray(squares.min(axis=1))

        found = on_all_cores(work, range(tiles.count), len(left) * embedding.size)
        best[start : start + 512] = np.sqrt(np.min(list(found), axis=0).astype(np.float64)) * embedding.step
    return best[back]


def typical_epsilon(embedding: Embedding, words: Iterable[str], factor: float = math.e, quantile: float = 0.5) -> float:
    """The epsilon at which a corpus' typical neighbours (a quantile of nearest distances) are within a factor of each other."""
    if not 0 <= quantile <= 1 or not factor > 1 or math.isinf(factor):
        raise ParameterError("a quantile is from 0 to 1, and a factor above 1.")
    apart = neighbour_distances(embedding, words)
    if not len(apart):
        raise ParameterError("there are no words to measure with; give some of the vocabulary.")
    return math.log(factor) / float(np.quantile(apart, quantile)) * (1 - 2.0**-50)
