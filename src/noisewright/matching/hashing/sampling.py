r"""Bit sampling: the values, zero or not, of coordinates that the public seed chooses, each time out of all.

.. math:: h_c(x) = 1 \text{ if } x_c \ne 0, \qquad
   \Pr[h_c(x) \ne h_c(x')] = \text{the share of coordinates that are zero in one of the two alone.}

The coordinates are ``seed.generator("sampling").integers(dimension, bits)``.

>>> from noisewright.core.seed import Seed
>>> Sampling(4, 8, Seed.from_hex("00" * 32)).hash([[1, 1, 1, 1], [0, 0, 0, 0]]).tolist()
[[255], [0]]

Reference: Indyk and Motwani, *Approximate nearest neighbors* (1998).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import DataError
from noisewright.core.mechanism import fields_alone
from noisewright.core.seed import Seed
from noisewright.matching.hashing.codes import Codes, code_bytes, packed
from noisewright.matching.hashing.projection import Vectors, as_rows, blocks_of

__all__ = ["Sampling"]


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
