r"""Words by noise on their vectors: spherical Laplace, Mahalanobis and Vickrey, each decoded to words of the public vocabulary.

*Laplace*, the mechanism of Fernandes, Dras and McIver: the vector gets spherical noise with density proportional to
:math:`e^{-\epsilon \|v\|}`, and the word nearest to where it lands comes out. *Mahalanobis* (Xu and others 2020) stretches
the noise along the directions in which words vary, by the root of :math:`M = \lambda \Sigma + (1 - \lambda) I`,
:math:`\Sigma` being the covariance of the vocabulary, scaled to a mean variance of 1. *Vickrey* (Xu and others 2021) takes
the nearest or the second nearest word with probabilities that depend on the distances to the noisy vector.

**Guarantee.** ``epsilon`` for each unit of Euclidean distance between word vectors, for real numbers; decoding only
post-processes. Mahalanobis noise at nominal :math:`\epsilon'` has :math:`\epsilon' \|v\|_M`, and :math:`\|v\|_M \le
\|v\| / \sqrt{\mu}` for the smallest eigenvalue :math:`\mu` of M, so that the nominal :math:`\epsilon' = \epsilon
\sqrt{\mu}` is used; its authors guarantee the nominal one for a distance of their own. The draws are made in floats:
certificates say ``floating``, and nothing is proved about their last bits. :func:`~noisewright.text.words.exact_words`
is exact, and keeps many more words at the same epsilon.

>>> import numpy as np, pathlib, tempfile
>>> from noisewright.text import write_embedding
>>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.nwe")
>>> tiny = write_embedding(path, ["tea", "coffee", "ship"], np.array([[1, 0], [1, 0.5], [-3, 4]]), licence="CC0-1.0")
>>> laplace_words(tiny, epsilon=40).release(["ship", "tea"], np.random.default_rng(1)).tolist()
['ship', 'tea']
>>> vickrey_words(tiny, epsilon=40, first=0.25).certificate().numerics
'floating'

References: Fernandes, Dras and McIver, *Generalised differential privacy for text document processing* (2019); Xu, Aggarwal,
Feyisetan and Teissier, *A differentially private text perturbation method using regularized Mahalanobis metric* (2020) and *On a
utilitarian approach to privacy preserving text generation* (2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.certificates.certificate import Certificate
from noisewright.core.choices import one_of
from noisewright.core.errors import NoLossError, ParameterError
from noisewright.core.exact import Exact, as_fraction, float_up, in_words, positive_fraction
from noisewright.core.guarantee import Guarantee
from noisewright.core.loading.parameters import EPSILON, Parameter
from noisewright.core.mechanism import BaseMechanism, Takes, fields_alone
from noisewright.core.resource import Resource, public_keys
from noisewright.mechanisms.auditing import MechanismAudit
from noisewright.mechanisms.places.vectors import spherical_noise
from noisewright.mechanisms.registry import Entry
from noisewright.noise.bits import Rng, bits_from
from noisewright.text._parameters import EMBEDDING, LIMIT
from noisewright.text.embeddings.embedding import Embedding
from noisewright.text.words._vocabulary import as_embedding, rows_of, spelled
from noisewright.text.words.decoding import nearest, two_nearest
from noisewright.text.words.indexed import WordIndex
from noisewright.text.words.metric import WordDistance

__all__ = ["NoisyWords", "laplace_words", "mahalanobis_words", "vickrey_words"]

DECODING = Parameter("Search for the word of a noisy vector: exact, or approximate by an index.", 'decoding = "exact"')
STRETCH = Parameter("Share of the noise that follows the directions in which words vary, below 1.", 'stretch = "0.2"')
FIRST = Parameter("Probability of the nearest of two equally distant words.", 'first = "0.5"')

LAPLACE, MAHALANOBIS, VICKREY = "laplace-words", "mahalanobis-words", "vickrey-words"
DRAWN = 4096
"""Maximum number of noisy vectors held at once."""


def laplace_words(
    embedding: Annotated[Resource | Embedding, EMBEDDING],
    *,
    epsilon: Annotated[Exact, EPSILON],
    limit: Annotated[int | None, LIMIT] = None,
    decoding: Annotated[Literal["exact", "index"], DECODING] = "exact",
) -> NoisyWords:
    """Spherical Laplace noise on word vectors and the nearest of the first ``limit`` words of an embedding.

    ``decoding="index"`` takes a word that is nearest or nearly so, by an index
    (:mod:`~noisewright.text.words.indexed`): faster for vocabularies of some hundred thousand words, with the same
    guarantee.
    """
    one_of(decoding, "decoding", ("exact", "index"))
    found = as_embedding(embedding, limit)
    return NoisyWords(found, positive_fraction(epsilon, "epsilon"), LAPLACE, indexed=decoding == "index")


def mahalanobis_words(
    embedding: Annotated[Resource | Embedding, EMBEDDING],
    *,
    epsilon: Annotated[Exact, EPSILON],
    stretch: Annotated[Exact, STRETCH] = "0.2",
    limit: Annotated[int | None, LIMIT] = None,
) -> NoisyWords:
    """Noise along the directions in which words vary: ``stretch`` of it by their covariance, the rest the same all around."""
    part = as_fraction(stretch, "stretch")
    if not 0 <= part < 1:
        raise ParameterError(f"stretch must be from 0 to below 1, not {in_words(part)}; 0 is spherical noise.")
    return NoisyWords(as_embedding(embedding, limit), positive_fraction(epsilon, "epsilon"), MAHALANOBIS, part)


def vickrey_words(
    embedding: Annotated[Resource | Embedding, EMBEDDING],
    *,
    epsilon: Annotated[Exact, EPSILON],
    first: Annotated[Exact, FIRST] = "0.5",
    limit: Annotated[int | None, LIMIT] = None,
) -> NoisyWords:
    """Spherical noise, then the nearest word or the second nearest: with both equally far, the nearest with probability
    ``first``."""
    part = as_fraction(first, "first")
    if not 0 <= part <= 1:
        raise ParameterError(f"first must be a probability, not {in_words(part)}.")
    return NoisyWords(as_embedding(embedding, limit), positive_fraction(epsilon, "epsilon"), VICKREY, part)


@dataclass(frozen=True)
class NoisyWords(BaseMechanism):
    """Words by noise on their vectors; build it with :func:`laplace_words` and the other functions of this module."""

    no_channel = "the probabilities of noisy words are volumes without a closed form; there is no channel."

    embedding: Embedding
    epsilon: Fraction
    name: str
    share: Fraction = Fraction(0)
    """Strength of the covariance, or of the nearest word."""
    indexed: bool = False
    """Whether words are found by an index, and not always the nearest."""

    @property
    def resources(self) -> tuple[Resource, ...]:
        """The embedding's file."""
        return (self.embedding.resource,)

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` for each unit of distance between word vectors (of real numbers)."""
        return Guarantee.exactly(self.epsilon, WordDistance(self.embedding))

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One draw for every word, given as text or as a row of the embedding; a single word gives a single word."""
        rows, shape = rows_of(self.embedding, values)
        return spelled(self.embedding, self.release_rows(rows, rng), shape)

    def release_rows(self, rows: NDArray[np.int64], rng: Rng = None) -> NDArray[np.int64]:
        """The same for rows of the embedding, in one dimension."""
        result = np.empty(len(rows), np.int64)
        for start in range(0, len(rows), DRAWN):
            part = slice(start, start + DRAWN)
            vectors = self.embedding.vectors(rows[part]) + self._noise(len(rows[part]), rng)
            result[part] = self._second(vectors, rng) if self.name == VICKREY else self._nearest(vectors)
        return result

    def check(self, values: Any) -> None:
        """Refuse what ``release`` would refuse."""
        rows_of(self.embedding, values)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The claim, marked as floating: it cites a theorem and proves nothing about the draw."""
        return Certificate.of_mechanism(
            self,
            rng,
            distances={"shape": "words"},
            proof={
                "kind": "theorem",
                "density": "c exp(-epsilon |v|)" if self.name != MAHALANOBIS else "c exp(-epsilon sqrt(m) |v|_M)",
                "by": "triangle inequality, and decoding is post-processing",
                "words": self.embedding.size,
                "share": str(self.share),
                **({"decoding": "index"} if self.indexed else {}),
            },
            numerics="floating",
            **public_keys(self.resources),
        )

    def audit(self) -> MechanismAudit:
        """The loss of the density before decoding."""
        words = "of the density over real numbers, before decoding; the float draw is not proved"
        return MechanismAudit(float_up(self.epsilon), self.guarantee.metric, None, None, None, words=words)

    def error(self, loss: str = "absolute") -> float:
        """Raise `NoLossError`: words are not numbers. See :func:`~noisewright.text.words.measure`."""
        raise NoLossError("words are no numbers; measure(mechanism, words) says how far outputs are from their words.")

    def rays(self, directions: Floats) -> tuple[float, Floats]:
        """The rate of the lengths of noise, and where a noise of length 1 goes for each uniform direction."""
        if self.name != MAHALANOBIS:
            return float(self.epsilon), directions
        root, smallest = self._stretch
        return float(self.epsilon) * smallest, directions @ root

    def shares(self, apart: Floats) -> Floats:
        """The probability of every word for noisy vectors at these distances from all words."""
        lines, first = np.arange(len(apart)), apart.argmin(axis=1)
        result = np.zeros_like(apart)
        result[lines, first] = 1
        if self.name == VICKREY:
            rest = apart.copy()
            rest[lines, first] = np.inf
            second = rest.argmin(axis=1)
            won = self._first(apart[lines, first], apart[lines, second])
            result[lines, first], result[lines, second] = won, 1 - won
        return result

    def _noise(self, count: int, rng: Rng) -> Floats:
        if self.name != MAHALANOBIS:
            return spherical_noise(self.epsilon, self.embedding.dimension, count, rng)
        root, smallest = self._stretch
        return spherical_noise(float(self.epsilon) * smallest, self.embedding.dimension, count, rng) @ root

    def _nearest(self, vectors: Floats) -> NDArray[np.int64]:
        return self._index.nearest(vectors) if self.indexed else nearest(self.embedding, vectors)

    @cached_property
    def _index(self) -> WordIndex:
        return WordIndex(self.embedding)

    def _second(self, vectors: Floats, rng: Rng) -> NDArray[np.int64]:
        rows, apart = two_nearest(self.embedding, vectors)
        coins = (bits_from(rng).words(len(rows)) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return np.asarray(np.where(coins < self._first(*apart.T), rows[:, 0], rows[:, 1]))

    def _first(self, nearest: Floats, second: Floats) -> Floats:
        """The probability of the nearest word: its odds follow from the other's distance."""
        odds = float(self.share) * second, (1 - float(self.share)) * nearest
        both = odds[0] + odds[1]
        return np.asarray(np.where(both > 0, odds[0] / np.where(both > 0, both, 1), 0.0))

    @cached_property
    def _stretch(self) -> tuple[Floats, float]:
        """The root of M, and the root of its smallest eigenvalue."""
        size, dimension = self.embedding.size, self.embedding.dimension
        total, squares = np.zeros(dimension), np.zeros((dimension, dimension))
        for part in self.embedding.blocks():
            codes = self.embedding.codes[part].astype(np.float64)
            total += codes.sum(axis=0)
            squares += codes.T @ codes
        covariance = squares / size - np.outer(total, total) / size**2
        covariance *= dimension / max(float(np.trace(covariance)), 1e-300)
        share = float(self.share)
        values, axes = np.linalg.eigh(share * covariance + (1 - share) * np.eye(dimension))
        roots = np.sqrt(np.maximum(values, 1 - share))  # a covariance has no eigenvalue below 0
        return (axes * roots) @ axes.T, float(roots.min()) * (1 - 1e-9)

    __getstate__ = fields_alone

    def __repr__(self) -> str:
        return f"{self.name}({self.embedding.name!r}, {self.embedding.size} words, {self.guarantee})"


def _rebuilt(certificate: Certificate) -> NoisyWords:
    """The mechanism behind its certificate, if the file is here."""
    stated = certificate.document
    embedding = Embedding(Resource.from_json(stated["resources"][0]), stated["proof"]["words"])
    proof = stated["proof"]
    return NoisyWords(
        embedding, certificate.epsilon, stated["mechanism"], Fraction(proof["share"]), proof.get("decoding") == "index"
    )


def _entry(name: str, make: Any, summary: str) -> Entry:
    return Entry(name, make, Takes("text"), summary=summary, words="words of a public embedding", rebuild=_rebuilt)


LAPLACE_ENTRY = _entry(LAPLACE, laplace_words, "spherical noise on word vectors, then the nearest word, in floats")
MAHALANOBIS_ENTRY = _entry(
    MAHALANOBIS, mahalanobis_words, "noise along the directions in which words vary, then the nearest word, in floats"
)
VICKREY_ENTRY = _entry(VICKREY, vickrey_words, "spherical noise, then the nearest or second nearest word, in floats")
