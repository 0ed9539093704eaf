r"""The integer weights of the exact choice of words: :math:`\lfloor 2^k e^{-\min(\beta d, C)} \rfloor`, by levels of distance.

The table is made by the checker's own function, in integers; so the certified law is the sampled law. Cutting the
exponent at C keeps every weight greater than 0, and :math:`e^{-C}` times the size of the vocabulary is below a
thousandth.

>>> table = Weights(Fraction(2), Fraction(9), 40, Fraction(1, 256))
>>> float(table.table[0]) / 2**40 > 0.999, float(table.eta) < 0.001, len(table.table)
(True, True, 18433)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from noisewright.core.certificates.checker import checker_words
from noisewright.core.certificates.checker.checker import NotProved
from noisewright.core.errors import ParameterError
from noisewright.core.exact import in_words
from noisewright.text.embeddings.embedding import Embedding

__all__ = ["Weights"]

NEGLIGIBLE = 7
"""Words beyond the cap weigh together less than e^-7 of the word itself."""


@dataclass(frozen=True)
class Weights:
    """Weights by level; build them with :meth:`of`."""

    beta: Fraction
    """The exponent for each unit of distance."""
    cap: Fraction
    """The largest exponent."""
    width: int
    """The weight of the word itself is just below ``2**width``."""
    step: Fraction
    """One unit of a code."""

    @classmethod
    def of(cls, embedding: Embedding, beta: Fraction, cap: Fraction | None = None) -> Weights:
        """Weights for the vocabulary of an embedding; ``cap`` is by default where words weigh nothing together."""
        chosen = Fraction(math.ceil(math.log(embedding.size))) + NEGLIGIBLE if cap is None else cap
        made = cls(beta, chosen, 62 - embedding.size.bit_length(), Fraction(embedding.step))
        made.table  # noqa: B018  (refuses what cannot be)
        return made

    @property
    def rate(self) -> Fraction:
        """The exponent for one level."""
        return self.beta * self.step / checker_words.FINE

    @cached_property
    def _made(self) -> tuple[list[int], Fraction]:
        try:
            return _weights(self.rate, self.cap, self.width)
        except NotProved:
            raise ParameterError(
                "epsilon (or the reach) is too large or too small for the distances of this embedding: the exponent would be "
                f"{in_words(self.beta)} for each unit and at most {in_words(self.cap)}; choose another one."
            ) from None

    @cached_property
    def table(self) -> NDArray[np.uint64]:
        """The weights; words beyond the last level have its weight."""
        found = np.array(self._made[0], dtype=np.uint64)
        found.flags.writeable = False
        return found

    @property
    def fingerprint(self) -> str:
        """The SHA-256 that a certificate states."""
        return checker_words.fingerprint(self._made[0])

    @property
    def eta(self) -> Fraction:
        """Largest difference of ``ln W`` from its exponent, rounded up to a short fraction."""
        exact = checker_words.rounding(self.rate, self.cap, self._made[1])
        return Fraction(math.ceil(exact * (1 << 60)), 1 << 60)

    @property
    def bound(self) -> Fraction:
        """The epsilon that holds whatever the vectors are."""
        return 2 * self.beta + 4 * self.eta / self.step

    def levels(self, squares: NDArray[np.float32]) -> NDArray[np.intp]:
        """The levels of squared distances in code units, which are overwritten. IEEE rounds roots and products by 16 alike on
        every machine."""
        np.sqrt(squares, out=squares)
        squares *= np.float32(checker_words.FINE)
        return squares.astype(np.intp)

    def at(self, squares: NDArray[np.float32]) -> NDArray[np.uint64]:
        """The weights for squared distances in code units, which are overwritten."""
        return np.take(self.table, self.levels(squares), mode="clip")


@lru_cache(maxsize=64)
def _weights(rate: Fraction, cap: Fraction, width: int) -> tuple[list[int], Fraction]:
    return checker_words.weights(rate, cap, width)
