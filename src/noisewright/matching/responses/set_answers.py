r"""Private answers about sets: which item comes first in public random orders, told by one of a few answers, through exact
response.

A set, given as a vector whose numbers are not zero for its items, is hashed by MinHash: in each of ``hashes`` public orders its
first item gives one of :math:`B = 2^b` answers, and every answer goes through B-ary randomised response on its own. With b = 1
these are the bits of :func:`~noisewright.matching.responses.lshrr` under ``family = "minhash"``; more answers tell equal items
apart from unequal ones more surely, and are kept less often at the same epsilon.

**Guarantee, whatever the orders and for the seed as it is.** ``epsilon`` for every answer in which two sets differ, exactly;
the certificate proves it as a product. Before the seed is drawn, answers of two fixed sets differ with probability :math:`(1 -
J)(1 - 1/B)`, J being the share of items that they have in common; :meth:`HashedSets.promise` says what that makes of it.

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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.certificates.certificate import Certificate
from noisewright.core.certificates.product import Part, parts_of, product_certificate
from noisewright.core.channels.channel import Channel
from noisewright.core.choices import is_whole
from noisewright.core.errors import DataError, MetricError, NoChannelError, NoLossError, ParameterError
from noisewright.core.exact import Exact, downward, float_up
from noisewright.core.guarantee import Guarantee
from noisewright.core.mechanism import Takes, fields_alone
from noisewright.core.resource import public_keys
from noisewright.core.seed import Seed
from noisewright.matching.hashing.codes import Codes, as_codes, packed, unpacked
from noisewright.matching.hashing.minhash import MinHash
from noisewright.matching.hashing.scheme import Scheme, checked_bits, checked_dimension
from noisewright.matching.promises.about_seeds import SeedPromise, seed_promise
from noisewright.matching.promises.loss_law import checked_distance
from noisewright.matching.responses._columns import give_codes, read_vectors
from noisewright.matching.responses.code_metric import CodeDistance, response_loss, whole_bits
from noisewright.mechanisms.auditing import MechanismAudit
from noisewright.mechanisms.categories.response import ResponseMechanism
from noisewright.mechanisms.registry import Entry
from noisewright.noise.bits import bits_from
from noisewright.noise.packed import packed_coins
from noisewright.noise.response import response_integers

__all__ = ["AnswerDistance", "HashedSets", "hashed_sets"]

NAME = "hashed-sets"
MOST_ANSWER_BITS = 8


def hashed_sets(
    *,
    epsilon: Exact,
    dimension: int,
    hashes: int,
    seed: Seed,
    answer_bits: int = 1,
    zero: Literal["refuse", "fixed"] = "refuse",
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
class AnswerDistance(CodeDistance):
    """In how many answers two sets differ."""

    answers: int = 2

    @property
    def unit(self) -> str:
        """What is counted."""
        return "differing answer"

    def in_words(self) -> str:
        """What a distance is called."""
        return "answers in which sets differ"

    def pairs(self, distance: Fraction) -> str:
        """Which two sets are at most so far apart."""
        many = "1 answer differs" if distance == 1 else f"{downward(distance)} answers differ"
        return "any two sets" if distance >= self.scheme.bits else f"any two sets of which at most {many}"

    def matrix(self, points: Sequence[Any]) -> Floats:
        """All distances between sets."""
        try:
            found = answers_of(self.scheme, list(points), self.answers)
        except DataError as problem:
            raise MetricError(str(problem)) from None
        return np.asarray((found[:, None] != found[None]).sum(axis=2).astype(np.float64))


@dataclass(frozen=True)
class HashedSets:
    """Noisy answers about sets; build it with :func:`hashed_sets`."""

    scheme: Scheme
    answer_bits: int

    @property
    def name(self) -> str:
        """The name in the registry."""
        return NAME

    @property
    def epsilon(self) -> Fraction:
        """The price of an answer."""
        return Fraction(self.scheme.epsilon)

    @property
    def seed(self) -> Seed:
        """The public seed of the orders."""
        return self.scheme.seed

    @property
    def dimension(self) -> int | None:
        """How many numbers a vector has."""
        return self.scheme.dimension

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` for every answer in which two sets differ."""
        return Guarantee(float_up(self.epsilon), AnswerDistance(self.scheme, 1 << self.answer_bits))

    @cached_property
    def answer(self) -> ResponseMechanism:
        """What every answer goes through."""
        found = response_integers(1 << self.answer_bits, self.epsilon)
        names = tuple(range(1 << self.answer_bits))
        return ResponseMechanism(names, self.epsilon, found.width, found.precision, found.keep, found.other)

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """The packed answers of every set, a row of bytes, ``answer_bits`` each; a column of Arrow gives one."""
        vectors, form = read_vectors(values, self.scheme.dimension)
        return give_codes(self._packed(self._drawn(vectors, rng)), form)

    def check(self, values: Any) -> None:
        """Refuse what ``release`` would refuse."""
        answers_of(self.scheme, read_vectors(values, self.scheme.dimension)[0], 2)

    def promise(
        self, *, delta: float, radius: float | None = None, distance: float | None = None, accountant: str = "smallest"
    ) -> SeedPromise:
        """What holds within a Jaccard distance of two sets that were fixed before the seed was drawn."""
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
            answers=1 << self.answer_bits,
        )
        apart = radius if distance is None else distance
        return replace(found, distance=checked_distance(apart), measure=self.scheme.words.distance)

    def jaccard(self, one: Codes, other: Codes) -> Floats:
        """The share of common items of the sets behind two noisy codes, row by row, without bias: it may be below 0."""
        width, size = self.scheme.bits * self.answer_bits, 1 << self.answer_bits
        first, second = (self._unpacked(as_codes(np.atleast_2d(codes), width)) for codes in (one, other))
        equal = (first == second).mean(axis=1)
        keep, lie = float(self.answer.keep_probability), float(Fraction(self.answer.other, 1 << self.answer.width))
        same, unlike = keep**2 + (size - 1) * lie**2, 2 * keep * lie + (size - 2) * lie**2
        if same <= unlike:
            raise ParameterError("at epsilon = 0 answers say nothing about sets.")
        agree = (equal - unlike) / (same - unlike)  # the share of equal answers before the noise
        return np.asarray((agree - 1 / size) / (1 - 1 / size))

    def map(self, distance: float) -> float:
        """The largest log-ratio for two sets of which so many answers differ, whole ones alone."""
        return whole_bits(self.guarantee, distance)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The proof of one answer, so many times; and what it is an answer about, which is stated."""
        return product_certificate(
            self.name,
            [Part(self.answer.certificate(rng), self.scheme.bits)],
            simulated=rng is not None,
            hashing={"family": "minhash", "dimension": self.scheme.dimension, "zero": self.scheme.zero},
            **public_keys(seed=self.seed),
        )

    def audit(self) -> MechanismAudit:
        """The loss of one answer, from the integers themselves."""
        loss = response_loss(self.answer)
        words = "every answer in which two sets differ, and that comes out as one of them has it"
        return MechanismAudit(loss, self.guarantee.metric, None, None, None, words=words)

    def error(self, loss: str = "absolute") -> float:
        """There is none: answers are no set."""
        raise NoLossError("answers are not compared with sets; jaccard() tells how much two sets have in common.")

    def channel(self) -> Channel:
        """There is none that could be listed."""
        raise NoChannelError("there are too many sets to list; a product of answers has a channel between codes.")

    def _drawn(self, vectors: Any, rng: np.random.Generator | None) -> NDArray[np.uint8]:
        """Answers, each replaced by a uniform one (perhaps the same) with ``B other`` over the power of two, or kept."""
        truth, size = answers_of(self.scheme, vectors, 1 << self.answer_bits), 1 << self.answer_bits
        bits, count = bits_from(rng), truth.size
        chance = Fraction(size * self.answer.other, 1 << self.answer.width)
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

    __getstate__ = fields_alone

    def __repr__(self) -> str:
        return f"hashed_sets({self.answer_bits} bits for each of {self.scheme})"


def answers_of(scheme: Scheme, profiles: Any, answers: int) -> NDArray[np.uint8]:
    """Which of so many answers each hash (a column) gives for each set (a row)."""
    assert isinstance(scheme.hashing, MinHash)
    return scheme.hashing.answers(profiles, answers)


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
