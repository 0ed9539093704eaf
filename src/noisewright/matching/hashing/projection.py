r"""Random projections: on which side of public random directions a vector lies, a bit for each direction.

.. math:: h_r(x) = 1 \text{ if } r \cdot x \ge 0, \text{ else } 0, \qquad r \sim N(0, I_n), \qquad
   \Pr[h_r(x) \ne h_r(x')] = d_\theta(x, x') = \arccos\left(\frac{x \cdot x'}{|x| |x'|}\right) / \pi.

The identity is that of real numbers and of real normal directions. Here directions are drawn from the public seed, in multiples
of 2^-20, and products are made in 32-bit floats: a bit is another one than that of real numbers where a vector lies within
about a millionth of the border. What is proved about noisy bits holds whatever the hash is.

*Direction j* is made of the stream ``seed.generator("projection", j)``: its bytes are read as 32-bit words, lowest
byte first, two for each two coordinates; words a and b give :math:`\sqrt{-2 \ln u} \cos(2 \pi v)` and :math:`\sqrt{-2
\ln u} \sin(2 \pi v)` with :math:`u = (a + 1/2) / 2^{32}`, :math:`v = (b + 1/2) / 2^{32}`, each rounded to a multiple
of :math:`2^{-20}` (Box and Muller 1958). Therefore more bits, or more coordinates, go on with the same directions.

>>> from noisewright.core.seed import Seed
>>> hashing = Projection(3, 16, Seed.from_hex("00" * 32))
>>> codes = hashing.hash([[1.0, 2.0, 0.5], [2.0, 4.0, 1.0], [-1.0, -2.0, -0.5]])
>>> codes.shape, bool((codes[0] == codes[1]).all()), bool((codes[0] == ~codes[2]).all())
((3, 2), True, True)

Reference: Charikar, *Similarity estimation techniques from rounding algorithms* (2002).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import DataError
from noisewright.core.mechanism import fields_alone
from noisewright.core.seed import Seed
from noisewright.matching.hashing.codes import Codes, code_bytes

__all__ = ["Projection", "Vectors", "as_rows", "blocks_of", "check_directions", "normals", "sides", "zero_rows"]

GRID = 2.0**20
SMALL = 1e-30
"""Bound below which, or above whose inverse, products may have the wrong sign."""
AT_ONCE = 1 << 22
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
        step = max(1, AT_ONCE // self.dimension)
        for some in (odd[start : start + step] for start in range(0, odd.size, step)):
            scaled = zero_rows(block[some], self.zero)
            found[some] = (scaled.astype(np.float64) @ self.directions).astype(np.float32)

    __getstate__ = fields_alone


@lru_cache(maxsize=2)
def _directions(seed: Seed, dimension: int, bits: int) -> NDArray[np.float32]:
    """Kept for the next block of a release, which is another object of the same scheme."""
    found = np.zeros((dimension, 8 * code_bytes(bits)), np.float32)
    step = max(1, AT_ONCE // dimension)
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
    step = max(1, AT_ONCE // max(dimension if isinstance(rows, np.ndarray) else 1, bits))
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
