r"""Codes: the bits of a hash, packed. Bit ``j`` is bit ``j % 8``, the lowest first, of byte ``j // 8``.

Codes of ``bits`` bits are rows of ``ceil(bits / 8)`` bytes; unused bits of the last byte are 0. Their Hamming distance
is the number of bits in which they differ.

>>> codes = packed([[1, 0, 1, 0, 0, 0, 0, 0, 1], [0, 0, 1, 0, 0, 0, 0, 0, 0]])
>>> codes.tolist()
[[5, 1], [4, 0]]
>>> hamming(codes[0], codes[1]).tolist(), hamming_matrix(codes, codes).tolist()
(2, [[0, 2], [2, 0]])
>>> unpacked(codes, 9)[1].tolist()
[0, 0, 1, 0, 0, 0, 0, 0, 0]

.. math:: h_r(x) = 1 \text{ if } r \cdot x \ge 0, \text{ else } 0, \qquad r \sim N(0, I_n), \qquad
   \Pr[h_r(x) \ne h_r(x')] = d_\theta(x, x') = \arccos\left(\frac{x \cdot x'}{|x| |x'|}\right) / \pi.

The identity is that of real numbers and of real normal directions. Here directions are drawn from the public seed, in
multiples
of 2^-20, and products are made in 32-bit floats: a bit is another one than that of real numbers where a vector lies within
about a millionth of the border. What is proved about noisy bits holds whatever the hash is.

*Direction j* is made of the stream ``seed.generator("projection", j)``: its bytes are read as 32-bit words, lowest
byte first, two for each two coordinates; words a and b give :math:`\sqrt{-2 \ln u} \cos(2 \pi v)` and :math:`\sqrt{-2
\ln u} \sin(2 \pi v)` with :math:`u = (a + 1/2) / 2^{32}`, :math:`v = (b + 1/2) / 2^{32}`, each rounded to a multiple
of :math:`2^{-20}` (Box and Muller 1958). Therefore more bits, or more coordinates, go on with the same directions.

>>> from noisewright.resources import Seed
>>> hashing = Projection(3, 16, Seed.from_hex("00" * 32))
>>> codes = hashing.hash([[1.0, 2.0, 0.5], [2.0, 4.0, 1.0], [-1.0, -2.0, -0.5]])
>>> codes.shape, bool((codes[0] == codes[1]).all()), bool((codes[0] == ~codes[2]).all())
((3, 2), True, True)

Reference: Charikar, *Similarity estimation techniques from rounding algorithms* (2002).

For a random order of all items, the first items of two sets are the same one with probability J, the size of their common part
over the size of both together (Jaccard). With one random bit of the first item,

.. math:: \Pr[h(A) \ne h(B)] = (1 - J(A, B)) / 2,

and with an answer out of B that are equally likely it is :math:`(1 - J)(1 - 1/B)`. The identity holds for random
orders. Here hash j orders items by a bijection of 64-bit numbers, :math:`m(m(i \oplus a_j) + b_j)` with m the mixing
function of SplitMix64 and keys from the stream ``seed.generator("minhash")``, 8 bytes for a and 8 for b, lowest first;
the answer is given by the lowest bits of the smallest number. Items are integers, or texts, which count as the first 8
bytes of their SHA-256.

>>> from noisewright.resources import Seed
>>> hashing = MinHash(16, Seed.from_hex("00" * 32))
>>> codes = hashing.hash([{"tea", "milk"}, ["milk", "tea", "tea"], {7}])
>>> codes.shape, bool((codes[0] == codes[1]).all()), bool((codes[0] == codes[2]).all())
((3, 2), True, False)

A profile of numbers is the set of coordinates that are not zero, where ``dimension`` says how many there are.

References: Broder (1997); Li and König, *b-bit minwise hashing* (2010); Steele, Lea and Flood, *Fast splittable pseudorandom
number generators* (2014).

.. math:: h_c(x) = 1 \text{ if } x_c \ne 0, \qquad
   \Pr[h_c(x) \ne h_c(x')] = \text{the share of coordinates that are zero in one of the two alone.}

The coordinates are ``seed.generator("sampling").integers(dimension, bits)``.

>>> from noisewright.resources import Seed
>>> Sampling(4, 8, Seed.from_hex("00" * 32)).hash([[1, 1, 1, 1], [0, 0, 0, 0]]).tolist()
[[255], [0]]

Reference: Indyk and Motwani, *Approximate nearest neighbors* (1998).

A vector is filled up with zeros to n' = 2^k numbers, and three times multiplied by random signs and by the Hadamard matrix;
the
bits are the signs of numbers 0, 1, 2 and so on of the result, and of another such round for every n' bits. That takes about
:math:`n' \log n'` operations for n' bits, in place of :math:`n'^2`, and n' public signs in place of n' directions. For 1024
bits of 1024 numbers it takes half of the time of normal directions, for 4096 of 4096 a sixth; for a few hundred bits it does
not pay.

**Another law.** Directions are orthogonal to each other and made of a few random signs, so that bits of one vector are not
independent, and the probability that a bit differs is only about the angle: no theorem says how nearly. What is proved about
noisy bits holds whatever the hash is; what :mod:`noisewright.matching` says of an angle is for normal directions
alone, and is refused for these.

>>> from noisewright.resources import Seed
>>> hashing = FastProjection(3, 16, Seed.from_hex("00" * 32))
>>> codes = hashing.hash([[1.0, 2.0, 0.5], [2.0, 4.0, 1.0], [-1.0, -2.0, -0.5]])
>>> codes.shape, bool((codes[0] == codes[1]).all()), bool((codes[0] == ~codes[2]).all())
((3, 2), True, True)

Reference: Ailon and Chazelle, *The fast Johnson-Lindenstrauss transform* (2009); Andoni and others, *Practical and optimal LSH
for angular distance* (2015).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright._utils.validation import fields_alone
from noisewright.exceptions import DataError
from noisewright.resources import Seed

__all__ = [
    "Codes",
    "FastProjection",
    "MinHash",
    "Projection",
    "Sampling",
    "Vectors",
    "as_codes",
    "as_rows",
    "blocks_of",
    "check_directions",
    "code_bytes",
    "hamming",
    "hamming_matrix",
    "normals",
    "packed",
    "sides",
    "unpacked",
    "zero_rows",
]


Codes: TypeAlias = NDArray[np.uint8]
"""Packed bits: a row for each profile."""

CODES_AT_ONCE = 1 << 22
"""Bytes of compared codes that are held at once."""


def code_bytes(bits: int) -> int:
    """Return the number of bytes of a code of this length."""
    return -(-bits // 8)


def packed(bits: ArrayLike) -> Codes:
    """Codes of rows of bits; the last axis runs over the bits."""
    return np.packbits(np.asarray(bits).astype(bool), axis=-1, bitorder="little")


def unpacked(codes: Codes, bits: int) -> NDArray[np.uint8]:
    """The first ``bits`` bits of codes, 0 or 1, a column for each."""
    return np.unpackbits(np.ascontiguousarray(codes), axis=-1, count=bits, bitorder="little")


def as_codes(given: Any, bits: int) -> Codes:
    """Return codes of a number of bits, with a row for each; refused where they have another length, or a bit after
    the last one.

    >>> as_codes([b"\x05\x01"], 9).tolist()
    [[5, 1]]
    >>> as_codes(np.zeros((3, 4), np.uint8), 9)
    Traceback (most recent call last):
    noisewright.exceptions.DataError: a code of 9 bits has 2 bytes, not 4; these codes are of another scheme.
    """
    wanted = code_bytes(bits)
    try:
        if isinstance(given, (list, tuple)) and given and all(isinstance(code, (bytes, bytearray)) for code in given):
            given = [np.frombuffer(code, np.uint8) for code in given]
        rows = np.asarray(given)
    except ValueError:  # rows of different lengths
        raise DataError(
            f"a code of {bits} bits has {wanted} bytes, and these have different lengths; give codes of one scheme."
        ) from None
    if not rows.size and rows.ndim < 2:
        rows = np.zeros((0, wanted), np.uint8)
    if rows.dtype != np.uint8 or rows.ndim != 2:
        raise DataError("codes are an array of bytes (uint8) with a row for each; encode() gives them so.")
    if rows.shape[1] != wanted:
        raise DataError(
            f"a code of {bits} bits has {wanted} bytes, not {rows.shape[1]}; these codes are of another scheme."
        )
    if bits % 8 and len(rows) and int(rows[:, -1].max()) >> bits % 8:
        raise DataError(f"a code of {bits} bits has a bit after its last one; these codes are of another scheme.")
    return rows


def hamming(one: Codes, other: Codes) -> NDArray[np.int64]:
    """Return in how many bits codes differ, row by row; a single code is compared with all rows of the other."""
    return np.asarray(np.bitwise_count(np.bitwise_xor(one, other)).sum(axis=-1, dtype=np.int64))


def hamming_matrix(one: Codes, other: Codes) -> NDArray[np.int32]:
    """Return in how many bits every row of one differs from every row of the other."""
    result = np.zeros((len(one), len(other)), np.int32)
    left, right = (_words(codes) for codes in (one, other))
    step = max(1, CODES_AT_ONCE // max(8 * len(other), 1))
    for start in range(0, len(one), step):
        part = result[start : start + step]
        for word in range(left.shape[1]):
            part += np.bitwise_count(left[start : start + step, word, None] ^ right[None, :, word])
    return result


def _words(codes: Codes) -> NDArray[np.uint64]:
    """The same bits in whole words, filled up with zeros."""
    width = -(-codes.shape[1] // 8) * 8
    filled = np.zeros((len(codes), width), np.uint8)
    filled[:, : codes.shape[1]] = codes
    return filled.view(np.uint64)


# Projection ---------------------------------------------------------------------------------------------------------------
#
# Random projections: on which side of public random directions a vector lies, a bit for each direction.


GRID = 2.0**20
SMALL = 1e-30
"""Bound below which, or above whose inverse, products may have the wrong sign."""
PROJECTIONS_AT_ONCE = 1 << 22
"""Maximum number of elements of vectors, or bits of codes, held at once in addition to the input."""

Vectors = Any
"""Rows of numbers: an array, nested lists, or a sparse matrix of SciPy."""


@dataclass(frozen=True)
class Projection:
    """Signs of products with ``bits`` public normal directions in ``dimension`` coordinates."""

    dimension: int
    bits: int
    seed: Seed
    zero: str = "refuse"
    """Handling of a vector of zeros, which has no direction: ``refuse``, or ``fixed``: it is taken for the first axis."""

    @cached_property
    def directions(self) -> NDArray[np.float32]:
        """A column for each bit, and zeros up to whole bytes."""
        return _directions(self.seed, self.dimension, self.bits)

    def hash(self, vectors: Vectors) -> Codes:
        """The code of each vector. Codes are not private: add noise to them."""
        rows = as_rows(vectors, self.dimension)
        result = np.empty((rows.shape[0], code_bytes(self.bits)), np.uint8)
        room: NDArray[np.float32] | None = None
        for part in blocks_of(rows, self.dimension, self.bits):
            block = rows[part]
            if isinstance(block, np.ndarray):
                size = len(block)
                room = np.empty((size, self.directions.shape[1]), np.float32) if room is None else room[:size]
                with np.errstate(all="ignore"):  # products too large for these floats are computed again
                    found = np.matmul(block.astype(np.float32, copy=False), self.directions, out=room)
            else:
                with np.errstate(all="ignore"):
                    found = np.asarray(block.astype(np.float32) @ self.directions)
            self._look_again(block, found)
            result[part] = sides(found, self.bits)
        return result

    def check(self, vectors: Vectors) -> None:
        """Refuse what ``hash`` would refuse, without the products."""
        rows = as_rows(vectors, self.dimension)
        if not isinstance(rows, np.ndarray):
            self.hash(rows)
            return
        for part in blocks_of(rows, self.dimension, 1):
            check_directions(rows[part], self.zero)

    def _look_again(self, block: Any, found: NDArray[np.float32]) -> None:
        """Products of vectors that 32-bit floats do not hold, made again with the vector brought to a largest number of 1.

        NaN or infinity occurs in every product; a vector of zeros has only products of 0. Therefore one column
        suffices.
        """
        first = found[:, 0]
        odd = np.flatnonzero(~((np.abs(first) > SMALL) & (np.abs(first) < 1 / SMALL)))
        step = max(1, PROJECTIONS_AT_ONCE // self.dimension)
        for some in (odd[start : start + step] for start in range(0, odd.size, step)):
            scaled = zero_rows(block[some], self.zero)
            found[some] = (scaled.astype(np.float64) @ self.directions).astype(np.float32)

    __getstate__ = fields_alone


@lru_cache(maxsize=2)
def _directions(seed: Seed, dimension: int, bits: int) -> NDArray[np.float32]:
    """Kept for the next block of a release, which is another object of the same scheme."""
    found = np.zeros((dimension, 8 * code_bytes(bits)), np.float32)
    step = max(1, PROJECTIONS_AT_ONCE // dimension)
    for start in range(0, bits, step):
        stop = min(start + step, bits)
        found[:, start:stop] = normals(seed, "projection", range(start, stop), dimension).T
    found.flags.writeable = False
    return found


def normals(seed: Seed, name: str, numbers: range, count: int) -> NDArray[np.float64]:
    """Return for each public stream (a row) ``count`` normal numbers, in multiples of 2^-20."""
    pairs = -(-count // 2)
    drawn = b"".join(seed.generator(name, number).bytes(8 * pairs) for number in numbers)
    uniform = (np.frombuffer(drawn, "<u4").reshape(len(numbers), pairs, 2) + 0.5) * 2.0**-32
    length, angle = np.sqrt(-2 * np.log(uniform[..., 0])), 2 * math.pi * uniform[..., 1]
    made = np.stack([length * np.cos(angle), length * np.sin(angle)], axis=2).reshape(len(numbers), -1)[:, :count]
    return np.asarray(np.rint(made * GRID) / GRID)


def sides(products: NDArray[Any], bits: int) -> Codes:
    """The packed signs of products with directions, whose number is filled up to whole bytes."""
    codes = np.packbits((products >= 0).reshape(-1), bitorder="little").reshape(len(products), -1)
    if bits % 8:
        codes[:, -1] &= np.uint8((1 << bits % 8) - 1)
    return codes


def as_rows(vectors: Vectors, dimension: int) -> Any:
    """Vectors with a row for each, as an array or as a sparse matrix by rows; refused where they have another length."""
    wanted = f"vectors must be rows of {dimension} numbers"
    if hasattr(vectors, "tocsr"):
        rows = vectors.tocsr()
        if rows.ndim != 2 or rows.dtype.kind not in "fiub":
            raise DataError(f"{wanted}; this sparse matrix is something else.")
    else:
        try:
            rows = np.asarray(vectors)
        except ValueError:  # rows of different lengths
            raise DataError(f"{wanted}, and these have different lengths.") from None
        if not rows.size and rows.ndim < 2:
            rows = np.zeros((0, dimension), np.float32)
        if rows.ndim != 2 or rows.dtype.kind not in "fiub":
            raise DataError(f"{wanted}; this is no array of numbers in two dimensions.")
    if rows.shape[1] != dimension:
        raise DataError(f"{wanted}, and these have {rows.shape[1]}; the dimension is that of the public scheme.")
    return rows


def blocks_of(rows: Any, dimension: int, bits: int) -> Iterator[slice]:
    """Cuts of rows so that neither a block of them nor their products take much memory."""
    step = max(1, PROJECTIONS_AT_ONCE // max(dimension if isinstance(rows, np.ndarray) else 1, bits))
    for start in range(0, rows.shape[0], step):
        yield slice(start, min(start + step, rows.shape[0]))


def zero_rows(rows: Any, zero: str) -> NDArray[Any]:
    """Rows, each divided by its largest number; vectors of zeros and NaN are refused, or replaced."""
    given = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)
    given = given if given.dtype in (np.float32, np.float64) else given.astype(np.float64)
    largest = check_directions(given, zero)
    nothing = largest == 0
    scaled = given / np.where(nothing, 1, largest)[:, None]
    scaled[nothing, 0] = 1
    return np.asarray(scaled)


def check_directions(rows: NDArray[Any], zero: str) -> NDArray[Any]:
    """The largest number of every row, without its sign; refused where that is none, or 0 where ``zero`` refuses it."""
    largest = np.maximum(rows.max(axis=1, initial=0), -rows.min(axis=1, initial=0))  # NaN stays NaN
    if not np.isfinite(largest).all():
        raise DataError("a vector has a number that is missing or infinite; fill it in, or leave that vector out.")
    if zero != "fixed" and not largest.all():
        raise DataError(
            "a vector of zeros has no direction; leave such profiles out, or say zero='fixed' to give all of them the code of "
            "the first axis."
        )
    return np.asarray(largest)


# Minhash ------------------------------------------------------------------------------------------------------------------
#
# MinHash: which item of a set comes first in a public random order, reported by one bit of it, or by a few.


MINHASH_AT_ONCE = 1 << 21
"""Maximum number of mixed numbers held at once."""


@dataclass(frozen=True)
class MinHash:
    """First items of sets in ``bits`` public orders, reported by one bit each."""

    bits: int
    seed: Seed
    dimension: int | None = None
    """Number of coordinates of a profile of numbers; None: profiles are collections of items."""
    zero: str = "refuse"
    """Handling of an empty set: ``refuse``, or ``fixed``: it is taken for the set of item 0."""

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """Two for each order."""
        return np.frombuffer(self.seed.generator("minhash").bytes(16 * self.bits), "<u8").reshape(self.bits, 2)

    def hash(self, profiles: Any) -> Codes:
        """The code of each set. Codes are not private: add noise to them."""
        return packed(self.answers(profiles, 2))

    def answers(self, profiles: Any, count: int) -> NDArray[np.uint8]:
        """Return for each set (a row) and each order (a column), which of ``count`` answers its first item gives; a
        power of two."""
        items, sizes = self._items(profiles)
        result = np.empty((len(sizes), self.bits), np.uint8)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        row = 0
        while row < len(sizes):
            end = max(row + 1, int(np.searchsorted(starts, starts[row] + MINHASH_AT_ONCE // 8, side="right")) - 1)
            mine = items[starts[row] : starts[end]]
            step = max(1, MINHASH_AT_ONCE // len(mine))
            for first in range(0, self.bits, step):
                keys = self.keys[first : first + step, :, None]
                ranks = _mixed(_mixed(mine ^ keys[:, 0]) + keys[:, 1])
                least = np.minimum.reduceat(ranks, starts[row:end] - starts[row], axis=1)
                result[row:end, first : first + step] = (least & np.uint64(count - 1)).T
            row = end
        return result

    def _items(self, profiles: Any) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """All items of all sets, one after the other, and how many each set has."""
        if self.dimension is not None:
            items, sizes = _coordinates(as_rows(profiles, self.dimension))
        else:
            items, sizes = _listed(profiles)
        if sizes.all():
            return items, sizes
        if self.zero != "fixed":
            raise DataError(
                "an empty set has no first item; leave such profiles out, or say zero='fixed' to give all of them the code of "
                "the set of item 0."
            )
        places = np.cumsum(sizes)[sizes == 0]
        return np.insert(items, places, np.uint64(0)), np.maximum(sizes, 1)

    __getstate__ = fields_alone


def _coordinates(rows: Any) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    if hasattr(rows, "tocsr"):
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
        missing, where, sizes = np.isnan(rows.data).any(), rows.indices, np.diff(rows.indptr)
    else:
        there = rows != 0
        missing, where, sizes = np.isnan(rows).any(), np.nonzero(there)[1], there.sum(axis=1)
    if missing:
        raise DataError("a vector has a number that is missing; fill it in, or leave that vector out.")
    return where.astype(np.uint64), sizes.astype(np.int64)


def _listed(profiles: Any) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    wanted = "profiles are collections of items, each a text or a whole number from 0 to below 2^63"
    if isinstance(profiles, (str, bytes)) or not isinstance(profiles, Iterable):
        raise DataError(f"{wanted}; give a list of them.")
    items: list[int] = []
    sizes: list[int] = []
    known: dict[Any, int] = {}
    for profile in profiles:
        if isinstance(profile, (str, bytes)) or not isinstance(profile, Iterable):
            raise DataError(f"{wanted}; one of these is no collection.")
        held = list(profile)
        for item in held:
            if isinstance(item, bool) or not isinstance(item, (str, int, np.integer)):
                raise DataError(f"{wanted}; one of these is something else.")
            if item not in known:
                known[item] = _number(item if isinstance(item, str) else int(item), wanted)
        items += [known[item] for item in held]
        sizes.append(len(held))
    return np.array(items, dtype=np.uint64), np.array(sizes, dtype=np.int64)


def _number(item: str | int, wanted: str) -> int:
    if isinstance(item, str):
        return int.from_bytes(hashlib.sha256(item.encode("utf-8", "surrogatepass")).digest()[:8], "little")
    if not 0 <= item < 1 << 63:
        raise DataError(f"{wanted}; one of these is another number.")
    return int(item)


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The mixing function of SplitMix64, a bijection; multiplication is modulo 2^64."""
    mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


# Sampling -----------------------------------------------------------------------------------------------------------------
#
# Bit sampling: the values, zero or not, of coordinates that the public seed chooses, each time out of all.


@dataclass(frozen=True)
class Sampling:
    """Values of chosen coordinates."""

    dimension: int
    bits: int
    seed: Seed

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The coordinate of each bit."""
        return self.seed.generator("sampling").integers(self.dimension, self.bits)

    def hash(self, vectors: Vectors) -> Codes:
        """The code of each vector. Codes are not private: add noise to them."""
        rows = as_rows(vectors, self.dimension)
        result = np.empty((rows.shape[0], code_bytes(self.bits)), np.uint8)
        for part in blocks_of(rows, self.dimension, self.bits):
            chosen = rows[part][:, self.places]
            chosen = chosen.toarray() if hasattr(chosen, "toarray") else chosen
            whole = rows[part].data if hasattr(rows, "tocsr") else rows[part]
            if np.isnan(whole).any():
                raise DataError("a vector has a number that is missing; fill it in, or leave that vector out.")
            result[part] = packed(chosen != 0)
        return result

    __getstate__ = fields_alone


# Structured ---------------------------------------------------------------------------------------------------------------
#
# Fast projections: signs after three rounds of public random signs and Hadamard matrices, in place of normal directions.


ROUNDS = 3
SHORTEST = 256
IN_CACHE = 1 << 16
"""Maximum number of elements of vectors rotated at once."""
FACTOR = 64
"""Maximum number of rows of the factors of Hadamard matrices."""


@dataclass(frozen=True)
class FastProjection:
    """Signs after rounds of random signs and Hadamard matrices."""

    dimension: int
    bits: int
    seed: Seed
    zero: str = "refuse"

    @property
    def length(self) -> int:
        """The numbers of a vector that is filled up: enough that signs and sums seldom cancel to a product of 0."""
        return max(SHORTEST, 1 << (self.dimension - 1).bit_length())

    @cached_property
    def signs(self) -> NDArray[np.float32]:
        """Random signs for every ``length`` bits of each round."""
        blocks = -(-self.bits // self.length)
        drawn = [self.seed.generator("fast-projection", block).bits(ROUNDS * self.length) for block in range(blocks)]
        return np.where(np.array(drawn).reshape(blocks, ROUNDS, self.length), np.float32(1), np.float32(-1))

    def hash(self, vectors: Vectors) -> Codes:
        """The code of each vector. Codes are not private: add noise to them."""
        rows = as_rows(vectors, self.dimension)
        width = code_bytes(self.bits)
        result = np.empty((rows.shape[0], width), np.uint8)
        for part in _parts(rows.shape[0], max(1, IN_CACHE // self.length)):
            filled = np.zeros((part.stop - part.start, self.length), np.float32)
            filled[:, : self.dimension] = zero_rows(rows[part], self.zero)
            codes = [sides(self._rotated(filled, signs), self.length) for signs in self.signs]
            result[part] = np.concatenate(codes, axis=1)[:, :width]
        if self.bits % 8:
            result[:, -1] &= np.uint8((1 << self.bits % 8) - 1)
        return result

    @staticmethod
    def _rotated(rows: NDArray[np.float32], signs: NDArray[np.float32]) -> NDArray[np.float32]:
        for each in signs:
            rows = _hadamard(rows * each)
        return rows

    __getstate__ = fields_alone


def _hadamard(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Every row times the Hadamard matrix of its length, which is the product of small ones along parts of its index.

    The last part of the index is multiplied and moved to the front, until all parts are back in their places.
    """
    count, length = rows.shape
    left = length
    while left > 1:
        size = min(FACTOR, left)
        left //= size
        multiplied = rows.reshape(-1, size) @ _matrix(size)
        rows = multiplied.reshape(count, length // size, size).transpose(0, 2, 1).reshape(count, length)
    return rows


@cache
def _matrix(size: int) -> NDArray[np.float32]:
    found = np.ones((1, 1), np.float32)
    while len(found) < size:
        found = np.block([[found, found], [found, -found]])
    return found


def _parts(count: int, step: int) -> Iterator[slice]:
    return (slice(start, min(start + step, count)) for start in range(0, count, step))
