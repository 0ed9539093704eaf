r"""The distance between profiles by their hashes: in how many bits of the public hash they differ.

**Guarantee.** ``epsilon`` for each unit of Euclidean distance, for real numbers and every seed; hashing only
post-processes. There is no delta and no fine print about seeds. But noise of length about n / epsilon hides the
direction of a vector of length 1 wherever n is large, so that codes are hardly better than random ones. The draw is
made in floats, and the certificate states so.

>>> from noisewright.resources import Seed
>>> noisy = laplace_hash(epsilon=20, dimension=3, bits=16, seed=Seed(bytes(32)))
>>> noisy.release([[0.6, 0.0, 0.8]]).shape, noisy.certificate().numerics
((1, 2), 'floating')

Reference: Fernandes, Kawamoto and Murakami, *Locality sensitive hashing with extended differential privacy* (2021).

A vector is hashed to ``bits`` bits by a public :class:`~noisewright.matching.Scheme`, and each bit goes through
randomised response on its own, with a flip probability of :math:`1 / (1 + e^\epsilon)`, an integer over a power of two,
rounded
up. Similar vectors have similar codes, so that a server that sees codes alone can find them.

**Guarantee, whatever the hash and for the seed as it is.** ``epsilon`` for every bit in which the hashes of two vectors
differ,
hence ``bits * epsilon`` between any two; exactly. The certificate proves it as a product of independent bits.

**What it means for a distance**, such as an angle, is said by :meth:`HashedResponse.promise`, and is another kind of
statement: it is about two vectors that were fixed before the public seed was drawn, and it holds except for a delta.
Anyone who chooses vectors when the seed is known can find some that are near each other and differ in many bits.

>>> from noisewright.resources import Seed
>>> taste = lshrr(epsilon="1/2", dimension=3, bits=64, seed=Seed(bytes(32)))
>>> codes = taste.release([[5.0, 0.0, 3.0], [4.0, 0.0, 3.0]])
>>> codes.shape, codes.dtype.name
((2, 8), 'uint8')
>>> taste.certificate().verify()  # doctest: +NORMALIZE_WHITESPACE
'epsilon = 0.5 per unit of hamming, over 64 independent parts; between hashes of vectors of 3 numbers (projection), as stated;
uses the public seed 000000000000..., as stated'
>>> round(taste.promise(radius=0.05, delta=0.01).loss, 2)
2.02

Reference: Fernandes, Kawamoto and Murakami, *Locality sensitive hashing with extended differential privacy* (2021).

A set, given as a vector whose numbers are not zero for its items, is hashed by MinHash: in each of ``hashes`` public
orders its first item gives one of :math:`B = 2^b` answers, and every answer goes through B-ary randomised response on
its own. With b = 1 these are the bits of :func:`~noisewright.matching.lshrr` under ``family = "minhash"``;
more answers distinguish equal from unequal items more surely, and are kept less often at the same epsilon.

**Guarantee, whatever the orders and for the seed as it is.** ``epsilon`` for every answer in which two sets differ,
exactly; the certificate proves it as a product. Before the seed is drawn, answers of two fixed sets differ with
probability :math:`(1 - J)(1 - 1/B)`, J being the share of items that they have in common; :meth:`HashedSets.promise`
states the resulting guarantee.

>>> from noisewright.resources import Seed
>>> visits = hashed_sets(epsilon=2, dimension=5, hashes=64, answer_bits=4, seed=Seed(bytes(32)))
>>> codes = visits.release([[1, 0, 2, 0, 0], [3, 0, 1, 0, 1]])
>>> codes.shape
(2, 32)
>>> visits.certificate().verify().partition(";")[0]
'epsilon = 2 per unit of hamming, over 64 independent parts'

References: Li and König, *b-bit minwise hashing* (2010); Kairouz, Oh and Viswanath (2014).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import fields_alone, is_whole
from noisewright.base import DIMENSION, EPSILON, SEED, BaseMechanism, Entry, MechanismAudit, Parameter, Takes
from noisewright.certificates.certificate import Certificate
from noisewright.certificates.composition import Part, parts_of, product_certificate
from noisewright.claims import phrases
from noisewright.claims.figures import float_up
from noisewright.exceptions import DataError, MetricError, NoLossError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.matching.accountants import checked_distance
from noisewright.matching.guarantees import SeedPromise, scheme_promise, seed_promise
from noisewright.matching.hash_functions import (
    Codes,
    Projection,
    as_codes,
    as_rows,
    code_bytes,
    hamming_matrix,
    packed,
    unpacked,
)
from noisewright.matching.scheme import Scheme, checked_bits, checked_dimension, flipped, give_codes, read_vectors
from noisewright.mechanisms.categorical.randomised_response import ResponseMechanism
from noisewright.mechanisms.spatial.vectors import spherical_noise
from noisewright.metrics.base import Euclidean, Metric
from noisewright.numerics.exact import Exact, log_bounds, positive_fraction
from noisewright.resources import Seed, public_keys
from noisewright.sampling.bernoulli_bits import packed_coins, response_integers
from noisewright.sampling.random_bits import bits_from

__all__ = [
    "CodeDistance",
    "HashedResponse",
    "HashedSets",
    "NoisyVectors",
    "OverHashes",
    "hashed_sets",
    "laplace_hash",
    "lshrr",
    "whole_bits",
]


@dataclass(frozen=True)
class CodeDistance(Metric):
    """The Hamming distance of hashes.

    >>> from noisewright.resources import Seed
    >>> metric = CodeDistance(Scheme(dimension=2, bits=32, epsilon=1, seed=Seed(bytes(32))))
    >>> metric.distance((1.0, 0.0), (-1.0, 0.0)), metric.distance((1.0, 0.0), (2.0, 0.0))
    (32.0, 0.0)
    """

    scheme: Scheme
    answers: int = 2
    """Number of answers of a hash; with two, it is a bit."""
    name = "hamming"
    finite = True

    @property
    def secret(self) -> dict[str, Any]:
        """The kind of the hashed points and the size of hashes."""
        return {"kind": "hash", "family": self.scheme.family, "bits": self.scheme.bits, "answers": self.answers}

    @property
    def largest(self) -> Fraction:
        """All bits."""
        return Fraction(self.scheme.bits)

    @property
    def unit(self) -> str:
        """Counted objects."""
        return phrases.unit(self.record(), self.secret)

    def record(self) -> dict[str, Any]:
        return {"base": "hamming"}

    def matrix(self, points: Sequence[Any]) -> Floats:
        """All distances between profiles."""
        try:
            if self.answers > 2:
                found = self.scheme.answers(list(points), self.answers)
                return np.asarray((found[:, None] != found[None]).sum(axis=2).astype(np.float64))
            codes = self.scheme.hash(list(points))
        except DataError as problem:
            raise MetricError(str(problem)) from None
        return hamming_matrix(codes, codes).astype(np.float64)


def whole_bits(guarantee: Guarantee, distance: float) -> float:
    """The bound for a distance between hashes, which is an integer: a value between two is rounded up."""
    plain = guarantee.bound(distance)  # rejects an invalid distance
    return plain if math.isinf(distance) else guarantee.bound(math.ceil(distance))


# Parameters ---------------------------------------------------------------------------------------------------------------
#
# Parameters that several mechanisms for vectors and sets share.


BITS = Parameter("Number of bits of a code.", "bits = 128")
ZERO = Parameter(
    "Treatment of a vector of zeros: refuse the column, or give the vector one fixed code.", 'zero = "fixed"'
)


# Over hashes --------------------------------------------------------------------------------------------------------------
#
# Base of mechanisms that answer every hash of a public scheme by exact randomised response, each on its own.


@dataclass(frozen=True)
class OverHashes(BaseMechanism):
    """Noisy hashes under a public scheme, at its epsilon for every hash that differs."""

    no_channel = "there are too many vectors to list; a product of responses has a channel between codes."

    scheme: Scheme
    name: ClassVar[str]

    def __post_init__(self) -> None:
        checked_dimension(self.scheme.dimension)  # collections of items are for clients

    @property
    def epsilon(self) -> Fraction:
        """The cost of a hash that differs."""
        return Fraction(self.scheme.epsilon)

    @property
    def seed(self) -> Seed:
        """The public seed of the hashes."""
        return self.scheme.seed

    @property
    def dimension(self) -> int | None:
        """Return how many numbers a vector has."""
        return self.scheme.dimension

    @property
    def answers(self) -> int:
        """Return how many answers a hash has."""
        return 2

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` for every hash that differs."""
        return Guarantee.exactly(self.epsilon, CodeDistance(self.scheme, self.answers))

    @cached_property
    def response(self) -> ResponseMechanism:
        """Response for every hash."""
        found = response_integers(self.answers, self.epsilon)
        names = tuple(range(self.answers))
        return ResponseMechanism(names, self.epsilon, found.width, found.precision, found.keep, found.other)

    def check(self, values: Any) -> None:
        """Refuse what ``release`` would refuse."""
        self.scheme.check(read_vectors(values, self.scheme.dimension)[0])

    def map(self, distance: float) -> float:
        """The largest log-ratio for two secrets of which a number of hashes differ: integers alone."""
        return whole_bits(self.guarantee, distance)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """Return the proof of one response for the number of hashes, and the stated family of hashes."""
        return product_certificate(
            self.name,
            [Part(self.response.certificate(rng), self.scheme.bits)],
            simulated=rng is not None,
            hashing={"family": self.scheme.family, "dimension": self.scheme.dimension, "zero": self.scheme.zero},
            **public_keys(seed=self.seed),
        )

    def audit(self) -> MechanismAudit:
        """The loss of one response, from its integers."""
        ratio = Fraction(self.response.keep, self.response.other)
        loss = 0.0 if ratio == 1 else float_up(Fraction(log_bounds(ratio, 128)[1], 1 << 128))
        words = "every hash that differs between two secrets, and that comes out as one of them has it"
        return MechanismAudit(loss, self.guarantee.metric, None, None, None, words=words)

    def error(self, loss: str = "absolute") -> float:
        """Raise `NoLossError`: hashes are not vectors."""
        raise NoLossError(
            "codes are not compared with vectors; a server tells how far apart vectors are from their codes."
        )

    __getstate__ = fields_alone


# Noisy vectors ------------------------------------------------------------------------------------------------------------
#
# LapLSH: spherical Laplace noise on the vector, then the public hash. A baseline, in floats.


LAPLACE_HASH_NAME = "laplace-hash"
DRAWN = 1 << 21
"""Maximum number of noise values held at once."""


def laplace_hash(
    *,
    epsilon: Annotated[Exact, EPSILON],
    dimension: Annotated[int, DIMENSION],
    bits: Annotated[int, BITS],
    seed: Annotated[Seed, SEED],
) -> NoisyVectors:
    """Codes of ``bits`` bits of vectors of ``dimension`` numbers with noise for ``epsilon`` a unit of Euclidean distance."""
    scheme = Scheme(dimension=dimension, bits=bits, epsilon=0, seed=seed)  # validates public parameters
    assert scheme.dimension is not None
    return NoisyVectors(positive_fraction(epsilon, "epsilon"), scheme.dimension, scheme.bits, seed)


@dataclass(frozen=True)
class NoisyVectors(BaseMechanism):
    """Hashes of noisy vectors; build it with :func:`laplace_hash`."""

    name = LAPLACE_HASH_NAME
    no_channel = "there are infinitely many vectors, and the cells of codes have no closed form."

    epsilon: Fraction
    dimension: int
    bits: int
    seed: Seed

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` for each unit of Euclidean distance (of real numbers)."""
        return Guarantee.exactly(self.epsilon, Euclidean())

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One code for every vector, a row of bytes; a column of Arrow gives one."""
        vectors, form = read_vectors(values, self.dimension)
        return give_codes(self._drawn(vectors, rng), form)

    def check(self, values: Any) -> None:
        """Refuse what ``release`` would refuse."""
        self._finite(as_rows(read_vectors(values, self.dimension)[0], self.dimension))

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The claim, marked as floating: it cites a theorem and proves nothing about the draw."""
        return Certificate.of_mechanism(
            self,
            rng,
            distances={"shape": "space", "dimension": self.dimension},
            proof={
                "kind": "theorem",
                "density": "c exp(-epsilon |v|)",
                "by": "triangle inequality, and hashing is post-processing",
                "bits": self.bits,
            },
            numerics="floating",
            **public_keys(seed=self.seed),
        )

    def audit(self) -> MechanismAudit:
        """The loss of the density before hashing."""
        words = "of the density over real numbers, before hashing; the float draw is not proved"
        return MechanismAudit(float_up(self.epsilon), self.guarantee.metric, None, None, None, words=words)

    def error(self, loss: str = "absolute") -> float:
        """Raise `NoLossError`: a code is not a vector."""
        raise NoLossError(
            "codes are not compared with vectors; a server tells how far apart vectors are from their codes."
        )

    @cached_property
    def _hashing(self) -> Projection:
        return Projection(self.dimension, self.bits, self.seed, "fixed")

    @staticmethod
    def _finite(rows: Any) -> None:
        if not np.isfinite(rows.data if hasattr(rows, "tocsr") else rows).all():
            raise DataError("a vector has a number that is missing or infinite; fill it in, or leave that vector out.")

    def _drawn(self, vectors: Any, rng: np.random.Generator | None) -> Codes:
        rows = as_rows(vectors, self.dimension)
        self._finite(rows)
        result = np.empty((rows.shape[0], code_bytes(self.bits)), np.uint8)
        step = max(1, DRAWN // self.dimension)
        for start in range(0, rows.shape[0], step):
            part = rows[start : start + step]
            part = part.toarray() if hasattr(part, "toarray") else part
            result[start : start + step] = self._hashing.hash(
                part + spherical_noise(self.epsilon, self.dimension, len(part), rng)
            )
        return result

    __getstate__ = fields_alone

    def __repr__(self) -> str:
        return f"laplace_hash({self.bits} bits, {self.dimension} numbers, {self.guarantee})"


def _rebuilt_noisy_vectors(certificate: Certificate) -> NoisyVectors:
    """The mechanism behind its certificate, which states its parameters and proves nothing."""
    stated = certificate.document
    return laplace_hash(
        epsilon=certificate.epsilon,
        dimension=stated["claim"]["distances"]["dimension"],
        bits=stated["proof"]["bits"],
        seed=Seed.from_hex(stated["seed"]),
    )


LAPLACE_HASH = Entry(
    LAPLACE_HASH_NAME,
    laplace_hash,
    Takes("vector", gives="bytes", form="arrow", dimension=True),
    summary="codes of vectors with spherical noise, in floats: a baseline",
    words="vectors",
    rebuild=_rebuilt_noisy_vectors,
)


# Hashed vectors -----------------------------------------------------------------------------------------------------------
#
# Private codes of vectors: a public hash, every bit of it flipped with an exact probability (LSHRR).


FAMILY = Parameter(
    "Hash functions of vectors: projection, fast-projection, sampling or minhash.", 'family = "projection"'
)

LSHRR_NAME = "lshrr"
SHOWN_DELTA = 1e-6
SHOWN_RADIUS = 0.1
"""Default guarantee in words, without a distance and a delta."""


def lshrr(
    *,
    epsilon: Annotated[Exact, EPSILON],
    dimension: Annotated[int, DIMENSION],
    bits: Annotated[int, BITS],
    seed: Annotated[Seed, SEED],
    family: Annotated[Literal["projection", "fast-projection", "sampling", "minhash"], FAMILY] = "projection",
    zero: Annotated[Literal["refuse", "fixed"], ZERO] = "refuse",
) -> HashedResponse:
    """Noisy codes of ``bits`` bits for vectors of ``dimension`` numbers, at ``epsilon`` for every bit that differs.

    ``zero``: a vector of zeros has no direction; one of them refuses all that is released, without telling which it was, or all
    of them have one ``fixed`` code before the noise.
    """
    return HashedResponse(Scheme(dimension=dimension, bits=bits, epsilon=epsilon, seed=seed, family=family, zero=zero))


@dataclass(frozen=True)
class HashedResponse(OverHashes):
    """Noisy codes under a public scheme; build it with :func:`lshrr`, or from the scheme of a service."""

    name = LSHRR_NAME

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One code for every vector, a row of bytes; a column of Arrow gives one."""
        vectors, form = read_vectors(values, self.scheme.dimension)
        return give_codes(flipped(self.scheme.hash(vectors), self.scheme.bits, self.scheme.flip, rng), form)

    def promise(
        self,
        *,
        delta: float,
        radius: float | None = None,
        distance: float | None = None,
        accountant: str = "smallest",
        notion: str = "xdp",
    ) -> SeedPromise:
        """Return the guarantee within a distance of two vectors that were fixed before the seed was drawn."""
        return scheme_promise(
            self.scheme, delta=delta, radius=radius, distance=distance, accountant=accountant, notion=notion
        )

    def in_words(self) -> str:
        """The guarantee for the seed as it is, and the one before it was drawn."""
        text = self.guarantee.in_words()
        if not self.scheme.words.exact or not self.epsilon:
            return text
        return f"{text} {self.promise(radius=SHOWN_RADIUS, delta=SHOWN_DELTA).in_words()}"

    def __repr__(self) -> str:
        return f"lshrr({self.scheme})"


def _rebuilt_hashed_response(certificate: Certificate) -> HashedResponse:
    """The mechanism behind its certificate."""
    stated, (part,) = certificate.document, parts_of(certificate)
    hashing = stated["hashing"]
    return lshrr(
        epsilon=certificate.epsilon,
        bits=part.count or 0,
        seed=Seed.from_hex(stated["seed"]),
        family=hashing["family"],
        dimension=hashing["dimension"],
        zero=hashing["zero"],
    )


LSHRR = Entry(
    LSHRR_NAME,
    lshrr,
    Takes("vector", gives="bytes", form="arrow", dimension=True, unit="differing bit"),
    summary="private codes of vectors, by which similar ones are found",
    words="vectors",
    rebuild=_rebuilt_hashed_response,
)


# Set answers --------------------------------------------------------------------------------------------------------------
#
# Private answers about sets: the first item in public random orders, reported by one of a few answers, through exact
# response.


HASHES = Parameter("Number of hashes of a set that are answered.", "hashes = 64")
ANSWER_BITS = Parameter("Number of bits of an answer about a set.", "answer_bits = 1")

HASHED_SETS_NAME = "hashed-sets"
MOST_ANSWER_BITS = 8


def hashed_sets(
    *,
    epsilon: Annotated[Exact, EPSILON],
    dimension: Annotated[int, DIMENSION],
    hashes: Annotated[int, HASHES],
    seed: Annotated[Seed, SEED],
    answer_bits: Annotated[int, ANSWER_BITS] = 1,
    zero: Annotated[Literal["refuse", "fixed"], ZERO] = "refuse",
) -> HashedSets:
    """Noisy answers of ``hashes`` MinHashes about sets of coordinates, at ``epsilon`` for every answer that differs."""
    if not is_whole(answer_bits) or not 1 <= answer_bits <= MOST_ANSWER_BITS:
        raise ParameterError(f"answer_bits must be a whole number from 1 to {MOST_ANSWER_BITS}.")
    checked_bits(hashes, "hashes")
    scheme = Scheme(
        dimension=checked_dimension(dimension), bits=hashes, epsilon=epsilon, seed=seed, family="minhash", zero=zero
    )
    return HashedSets(scheme, int(answer_bits))


@dataclass(frozen=True)
class HashedSets(OverHashes):
    """Noisy answers about sets; build it with :func:`hashed_sets`."""

    answer_bits: int
    name = HASHED_SETS_NAME

    @property
    def answers(self) -> int:
        """Return how many answers a hash has."""
        return 1 << self.answer_bits

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """The packed answers of every set, a row of bytes, ``answer_bits`` each; a column of Arrow gives one."""
        vectors, form = read_vectors(values, self.scheme.dimension)
        return give_codes(self._packed(self._drawn(vectors, rng)), form)

    def promise(
        self, *, delta: float, radius: float | None = None, distance: float | None = None, accountant: str = "smallest"
    ) -> SeedPromise:
        """Return the guarantee within a Jaccard distance of two sets that were fixed before the seed was drawn."""
        share = 1 - 2.0**-self.answer_bits
        within = None if radius is None else share * checked_distance(radius, "radius")
        exactly = None if distance is None else share * checked_distance(distance)
        found = seed_promise(
            bits=self.scheme.bits,
            epsilon=self.epsilon,
            delta=delta,
            radius=within,
            distance=exactly,
            accountant=accountant,
            answers=self.answers,
        )
        apart = radius if distance is None else distance
        return replace(found, distance=checked_distance(apart), measure=self.scheme.words.distance)

    def jaccard(self, one: Codes, other: Codes) -> Floats:
        """The share of common items of the sets behind two noisy codes, row by row, without bias: it may be below 0."""
        width, size = self.scheme.bits * self.answer_bits, self.answers
        first, second = (self._unpacked(as_codes(np.atleast_2d(codes), width)) for codes in (one, other))
        equal = (first == second).mean(axis=1)
        keep, lie = (
            float(self.response.keep_probability),
            float(Fraction(self.response.other, 1 << self.response.width)),
        )
        same, unlike = keep**2 + (size - 1) * lie**2, 2 * keep * lie + (size - 2) * lie**2
        if same <= unlike:
            raise ParameterError("at epsilon = 0 answers say nothing about sets.")
        agree = (equal - unlike) / (same - unlike)  # the share of equal answers before the noise
        return np.asarray((agree - 1 / size) / (1 - 1 / size))

    def _drawn(self, vectors: Any, rng: np.random.Generator | None) -> NDArray[np.uint8]:
        """Answers, each replaced by a uniform one (perhaps the same) with ``B other`` over the power of two, or kept."""
        truth, size = self.scheme.answers(vectors, self.answers), self.answers
        bits, count = bits_from(rng), truth.size
        chance = Fraction(size * self.response.other, 1 << self.response.width)
        coins = packed_coins(chance, -(-count // 64), bits).view(np.uint8)
        replaced = np.unpackbits(coins, count=count, bitorder="little").astype(bool)
        fresh = np.ascontiguousarray(bits.words(-(-count // 8))).view(np.uint8)[:count] & np.uint8(size - 1)
        return np.where(replaced, fresh, truth.reshape(-1)).reshape(truth.shape).astype(np.uint8)

    def _packed(self, answers: NDArray[np.uint8]) -> Codes:
        places = np.arange(self.answer_bits, dtype=np.uint8)
        return packed(((answers[:, :, None] >> places) & 1).reshape(len(answers), self.scheme.bits * self.answer_bits))

    def _unpacked(self, codes: Codes) -> NDArray[np.uint8]:
        shape = len(codes), self.scheme.bits, self.answer_bits
        bits = unpacked(codes, self.scheme.bits * self.answer_bits).reshape(shape)
        return np.asarray((bits << np.arange(self.answer_bits, dtype=np.uint8)).sum(axis=2).astype(np.uint8))

    def __repr__(self) -> str:
        return f"hashed_sets({self.answer_bits} bits for each of {self.scheme})"


def _rebuilt_sets(certificate: Certificate) -> HashedSets:
    """The mechanism behind its certificate."""
    stated, (part,) = certificate.document, parts_of(certificate)
    size = part.certificate.document["proof"]["size"]
    return hashed_sets(
        epsilon=certificate.epsilon,
        hashes=part.count or 0,
        seed=Seed.from_hex(stated["seed"]),
        dimension=stated["hashing"]["dimension"],
        answer_bits=size.bit_length() - 1,
        zero=stated["hashing"]["zero"],
    )


HASHED_SETS = Entry(
    HASHED_SETS_NAME,
    hashed_sets,
    Takes("vector", gives="bytes", form="arrow", dimension=True, unit="differing answer"),
    summary="private answers about which items two sets share",
    words="sets, as vectors that are not zero for their items",
    rebuild=_rebuilt_sets,
)
