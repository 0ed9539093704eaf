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
certificates say ``floating``, and nothing is proved about their last bits. :func:`~noisewright.text.exact_words`
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
Feyisetan and Teissier, *A differentially private text perturbation method using regularized Mahalanobis metric* (2020) and
*On a
utilitarian approach to privacy preserving text generation* (2021).

Decoding only post-processes, so the true epsilon of noisy words is at most the noise's epsilon; how much decoding
takes away has no closed form. On a line or in a plane the probability that noise from a word lands in a cell is an
integral that can be added up: :func:`enumerated` does, and the channel's own epsilon is the smallest that holds. In
many dimensions two facts bound it from below. A word y comes out of itself with a probability that draws measure, and
out of a word x at distance D with at most the probability that noise goes further than D / 2 in one direction, since
it must pass the middle:

.. math:: \epsilon \ge \frac{\ln \Pr[y \to y] - \ln \Pr[\langle v, u \rangle \ge D / 2]}{D}.

>>> import numpy as np, pathlib, tempfile
>>> from noisewright.text import write_embedding
>>> from noisewright.text import laplace_words
>>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.nwe")
>>> tiny = write_embedding(path, ["tea", "coffee", "ship"], np.array([[1, 0], [1, 0.5], [-3, 4]]), licence="CC0-1.0")
>>> words = laplace_words(tiny, epsilon=2)
>>> round(enumerated(words).epsilon(metric=words.guarantee.metric).value, 2)
1.32
>>> 0 < least_epsilon(words, rng=np.random.default_rng(1)) < 1.32
True
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import fields_alone, one_of
from noisewright.base import EPSILON, BaseMechanism, Entry, MechanismAudit, Parameter, Takes
from noisewright.certificates.certificate import Certificate
from noisewright.channels.channel import Channel
from noisewright.claims.figures import float_up
from noisewright.exceptions import NoChannelError, NoLossError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.mechanisms.spatial.vectors import spherical_noise
from noisewright.numerics.exact import Exact, as_fraction, in_words, positive_fraction
from noisewright.resources import Resource, public_keys
from noisewright.sampling.random_bits import Rng, bits_from
from noisewright.text.embedding import EMBEDDING, LIMIT, Embedding
from noisewright.text.nearest_words import WordDistance, WordIndex, as_embedding, nearest, rows_of, spelled, two_nearest

__all__ = ["NoisyWords", "enumerated", "laplace_words", "least_epsilon", "mahalanobis_words", "vickrey_words"]


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
    (:mod:`~noisewright.text.nearest_words`): faster for vocabularies of some hundred thousand words, with the same
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
        """Raise `NoLossError`: words are not numbers. See :func:`~noisewright.text.measure`."""
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


# Audits -------------------------------------------------------------------------------------------------------------------
#
# Audit of noise on word vectors after decoding: enumerated for a few words in the plane, and bounded from below for
# many.


MOST_WORDS = 20
RAYS, STEPS, LONGEST = 720, 100, 60
"""Number of directions in the plane, of lengths along each of them, and their maximum in units of 1 / epsilon."""
PROBES = 20
"""Number of words that are sampled from: those with the longest vectors, which are far from others and often come out
as themselves."""
PLACES, GRID = 120, 2000
"""Distances, and lengths of noise for each of them, at which tails are computed."""


def enumerated(mechanism: NoisyWords) -> Channel:
    """All probabilities of noisy words, for at most 20 words with at most 2 dimensions: sums along rays around each word.

    A ray is cut where two words are equally far, so that on every piece the order of words by distance stays the same, and the
    noise on the piece has a closed form. What is left to be summed are directions, and for Vickrey the pieces.
    """
    from scipy.special import gammaincc

    embedding = mechanism.embedding
    size, dimension = embedding.size, embedding.dimension
    if size > MOST_WORDS or dimension > 2:
        raise NoChannelError(f"probabilities are enumerated for at most {MOST_WORDS} words in at most 2 dimensions.")
    rate, rays = mechanism.rays(_circle(dimension))
    vectors = embedding.vectors().astype(np.float64)
    first, second = np.triu_indices(size, 1)
    steps = np.broadcast_to(np.linspace(0, LONGEST / rate, STEPS + 1), (len(rays), STEPS + 1))
    table = np.zeros((size, size))
    for row, vector in enumerate(vectors):
        from_here = vectors - vector
        squares, along = (from_here**2).sum(axis=1), 2 * rays @ from_here.T
        with np.errstate(divide="ignore", invalid="ignore"):
            cuts = (squares[first] - squares[second]) / (along[:, first] - along[:, second])
        cuts = np.where((cuts > 0) & np.isfinite(cuts), cuts, 0)
        ends = np.sort(np.concatenate([steps, cuts], axis=1), axis=1)
        mass = gammaincc(dimension, rate * ends)
        mass = mass - np.append(mass[:, 1:], np.zeros((len(rays), 1)), axis=1)  # the last piece has no end
        middles = np.append((ends[:, 1:] + ends[:, :-1]) / 2, ends[:, -1:] + 1 / rate, axis=1)
        apart = np.sqrt(
            np.maximum(
                middles[..., None] ** 2 * (rays**2).sum(axis=1)[:, None, None]
                - middles[..., None] * along[:, None]
                + squares,
                0,
            )
        )
        table[row] = mass.ravel() @ mechanism.shares(apart.reshape(-1, size)) / len(rays)
    names = embedding.words()
    return Channel(table / table.sum(axis=1, keepdims=True), names, names)


def least_epsilon(mechanism: NoisyWords, draws: int = 400, confidence: float = 0.99, rng: Rng = None) -> float:
    """An epsilon that spherical noise with decoding does not go below, with this confidence; 0 where draws show nothing."""
    from scipy.special import betaincinv

    if mechanism.name != LAPLACE:
        raise NoChannelError("an epsilon is bounded from below for laplace-words; the others have no such formula.")
    embedding = mechanism.embedding
    probes = np.argsort(-embedding.norms, kind="stable")[:PROBES].astype(np.int64)
    out = mechanism.release_rows(np.repeat(probes, draws), rng).reshape(len(probes), draws)
    kept = (out == probes[:, None]).sum(axis=1)
    surely = np.where(kept > 0, betaincinv(np.maximum(kept, 1), draws - kept + 1, (1 - confidence) / len(probes)), 0)
    apart = embedding.distances(probes, np.arange(embedding.size))
    grid = np.linspace(0, apart.max(), PLACES)
    beyond = _log_beyond(float(mechanism.epsilon), embedding.dimension, grid / 2)
    # Beyond a place of the grid there is more than beyond the next one, so the place before stands for the values
    # between.
    passing = beyond[np.maximum(np.searchsorted(grid, apart, side="right") - 1, 0)]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(apart > 0, (np.log(surely)[:, None] - passing) / apart, 0)
    return max(0.0, float(found.max()))


def _circle(dimension: int) -> Floats:
    if dimension == 1:
        return np.array([[1.0], [-1.0]])
    angles = (np.arange(RAYS) + 0.5) * (2 * np.pi / RAYS)
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _log_beyond(epsilon: float, dimension: int, places: Floats) -> NDArray[np.float64]:
    """The logarithm of the probability that spherical noise goes at least so far in one direction: over all its lengths."""
    from scipy.special import betainc, gammaln

    if dimension == 1:
        return np.asarray(-epsilon * places - np.log(2))
    longest = (dimension + 60 * np.sqrt(dimension)) / epsilon
    found = np.empty(len(places))
    for number, place in enumerate(places.tolist()):
        lengths = np.linspace(place, place + longest, GRID + 1)[1:]
        with np.errstate(divide="ignore"):
            directions = np.log(betainc((dimension - 1) / 2, 0.5, 1 - (place / lengths) ** 2) / 2)
        density = dimension * np.log(epsilon) - gammaln(dimension) - epsilon * lengths
        logs = density + (dimension - 1) * np.log(lengths) + directions
        found[number] = logs.max() + np.log(np.exp(logs - logs.max()).sum() * (longest / GRID))
    return found
