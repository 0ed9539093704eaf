r"""Private answers about sets: the first item in public random orders, reported by one of a few answers, through exact
response.

A set, given as a vector whose numbers are not zero for its items, is hashed by MinHash: in each of ``hashes`` public
orders its first item gives one of :math:`B = 2^b` answers, and every answer goes through B-ary randomised response on
its own. With b = 1 these are the bits of :func:`~noisewright.matching.responses.lshrr` under ``family = "minhash"``;
more answers distinguish equal from unequal items more surely, and are kept less often at the same epsilon.

**Guarantee, whatever the orders and for the seed as it is.** ``epsilon`` for every answer in which two sets differ,
exactly; the certificate proves it as a product. Before the seed is drawn, answers of two fixed sets differ with
probability :math:`(1 - J)(1 - 1/B)`, J being the share of items that they have in common; :meth:`HashedSets.promise`
states the resulting guarantee.

>>> from noisewright.core.seed import Seed
>>> visits = hashed_sets(epsilon=2, dimension=5, hashes=64, answer_bits=4, seed=Seed(bytes(32)))
>>> codes = visits.release([[1, 0, 2, 0, 0], [3, 0, 1, 0, 1]])
>>> codes.shape
(2, 32)
>>> visits.certificate().verify().partition(";")[0]
'epsilon = 2 per unit of hamming, over 64 independent parts'

References: Li and König, *b-bit minwise hashing* (2010); Kairouz, Oh and Viswanath (2014).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.certificates.certificate import Certificate
from noisewright.core.certificates.product import parts_of
from noisewright.core.choices import is_whole
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact
from noisewright.core.loading.parameters import DIMENSION, EPSILON, SEED, Parameter
from noisewright.core.mechanism import Takes
from noisewright.core.seed import Seed
from noisewright.matching._parameters import ZERO
from noisewright.matching.hashing.codes import Codes, as_codes, packed, unpacked
from noisewright.matching.hashing.scheme import Scheme, checked_bits, checked_dimension
from noisewright.matching.promises.about_seeds import SeedPromise, seed_promise
from noisewright.matching.promises.loss_law import checked_distance
from noisewright.matching.responses._columns import give_codes, read_vectors
from noisewright.matching.responses._over_hashes import OverHashes
from noisewright.mechanisms.registry import Entry
from noisewright.noise.bits import bits_from
from noisewright.noise.packed import packed_coins

__all__ = ["HashedSets", "hashed_sets"]

HASHES = Parameter("Number of hashes of a set that are answered.", "hashes = 64")
ANSWER_BITS = Parameter("Number of bits of an answer about a set.", "answer_bits = 1")

NAME = "hashed-sets"
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
    name = NAME

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


def _rebuilt(certificate: Certificate) -> HashedSets:
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


ENTRY = Entry(
    NAME,
    hashed_sets,
    Takes("vector", gives="bytes", form="arrow", dimension=True, unit="differing answer"),
    summary="private answers about which items two sets share",
    words="sets, as vectors that are not zero for their items",
    rebuild=_rebuilt,
)
