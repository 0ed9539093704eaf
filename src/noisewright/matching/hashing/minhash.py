r"""MinHash: which item of a set comes first in a public random order, reported by one bit of it, or by a few.

For a random order of all items, the first items of two sets are the same one with probability J, the size of their common part
over the size of both together (Jaccard). With one random bit of the first item,

.. math:: \Pr[h(A) \ne h(B)] = (1 - J(A, B)) / 2,

and with an answer out of B that are equally likely it is :math:`(1 - J)(1 - 1/B)`. The identity holds for random
orders. Here hash j orders items by a bijection of 64-bit numbers, :math:`m(m(i \oplus a_j) + b_j)` with m the mixing
function of SplitMix64 and keys from the stream ``seed.generator("minhash")``, 8 bytes for a and 8 for b, lowest first;
the answer is given by the lowest bits of the smallest number. Items are integers, or texts, which count as the first 8
bytes of their SHA-256.

>>> from noisewright.core.seed import Seed
>>> hashing = MinHash(16, Seed.from_hex("00" * 32))
>>> codes = hashing.hash([{"tea", "milk"}, ["milk", "tea", "tea"], {7}])
>>> codes.shape, bool((codes[0] == codes[1]).all()), bool((codes[0] == codes[2]).all())
((3, 2), True, False)

A profile of numbers is the set of coordinates that are not zero, where ``dimension`` says how many there are.

References: Broder (1997); Li and König, *b-bit minwise hashing* (2010); Steele, Lea and Flood, *Fast splittable pseudorandom
number generators* (2014).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import DataError
from noisewright.core.mechanism import fields_alone
from noisewright.core.seed import Seed
from noisewright.matching.hashing.codes import Codes, packed
from noisewright.matching.hashing.projection import as_rows

__all__ = ["MinHash"]

AT_ONCE = 1 << 21
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
            end = max(row + 1, int(np.searchsorted(starts, starts[row] + AT_ONCE // 8, side="right")) - 1)
            mine = items[starts[row] : starts[end]]
            step = max(1, AT_ONCE // len(mine))
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
