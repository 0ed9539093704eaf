"""Public lattices: where real numbers live when noise must be exact.

A lattice is all whole multiples of a step ``2**exponent``. The step is chosen from public parameters, never from data. A
number is moved to the nearest lattice point before noise is added (half a step at most, ties upwards), noise is drawn in
whole steps, and the sum is an exact float again.

Rounding moves two numbers by the same rule, so numbers at most ``D`` apart land at most ``ceil(D / step)`` steps apart: that
is
the sensitivity that a mechanism on the lattice must be calibrated for (:meth:`Lattice.steps`).

>>> lattice = Lattice.for_scale(2)
>>> lattice.step
Fraction(1, 512)
>>> lattice.values(lattice.indices([0.3, -1.0])).tolist()
[0.30078125, -1.0]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.claims.figures import ceil_div
from noisewright.exceptions import DataError, ParameterError
from noisewright.numerics.exact import Exact, as_fraction, in_words, positive_fraction
from noisewright.sampling.categorical import decide
from noisewright.sampling.random_bits import Bits, Rng, bits_from

__all__ = ["LARGEST_INDEX", "Lattice", "exact_floats"]


LARGEST_INDEX = 1 << 52
"""Indices stay within this many steps of zero, noise included, so that every lattice point is an exact float."""

RESOLUTION_BITS = 10
"""Bits of resolution: by default a step is between 1/1024 and 1/512 of the noise scale, where rounding is invisible
next to the noise.
"""


@dataclass(frozen=True)
class Lattice:
    """All multiples of ``2**exponent``."""

    exponent: int

    def __post_init__(self) -> None:
        if not -1000 <= self.exponent <= 900:
            raise ParameterError(
                f"a lattice step of 2^{self.exponent} is outside what floats hold; rescale the column."
            )

    @classmethod
    def for_scale(cls, scale: Exact, bits: int = RESOLUTION_BITS) -> Lattice:
        """The lattice whose step is ``2**bits`` times finer than the largest power of two that is at most ``scale``."""
        size = positive_fraction(scale, "scale")
        power = size.numerator.bit_length() - size.denominator.bit_length()
        if Fraction(2) ** power > size:
            power -= 1
        return cls(power - bits)

    @classmethod
    def with_step(cls, step: Exact) -> Lattice:
        """The lattice with the given step, which must be a power of two such as 1, 0.5 or 1/1024."""
        size = positive_fraction(step, "the lattice step")
        power = size.numerator.bit_length() - size.denominator.bit_length()
        if Fraction(2) ** power != size:
            shown, near = in_words(size), cls(power)  # a power that no lattice has is refused here
            raise ParameterError(f"the lattice step must be a power of two, not {shown}; try {float(near.step):g}.")
        return cls(power)

    @classmethod
    def asked(cls, lattice: Any) -> Lattice | None:
        """The lattice that a parameter ``lattice=`` names: a step, or a Lattice itself; None for ``"auto"``."""
        if isinstance(lattice, Lattice):
            return lattice
        if isinstance(lattice, str) and lattice == "auto":
            return None
        return cls.with_step(lattice)

    @property
    def step(self) -> Fraction:
        """The distance between neighbouring points."""
        return Fraction(2) ** self.exponent

    def steps(self, distance: Exact) -> int:
        """Return the largest number of steps between two rounded numbers at most ``distance`` apart: the distance in
        steps, rounded up.
        """
        ratio = as_fraction(distance, "distance") / self.step
        return ceil_div(ratio.numerator, ratio.denominator)

    def indices(self, values: Any) -> NDArray[np.int64]:
        """The nearest lattice points, as integers of steps; ties go up, so that rounding commutes with shifts."""
        given = exact_floats(values)
        # Dividing by a power of two is exact, and so is taking a float apart into its whole and fractional parts.
        scaled = self._in_steps(given)
        if given.size and not (scaled.min() >= -LARGEST_INDEX and scaled.max() <= LARGEST_INDEX):
            if not bool(np.isfinite(given).all()):
                raise DataError("the values must be finite numbers; drop or replace the others first.")
            raise DataError("a value is too large for this lattice; clamp the column or use a coarser lattice.")
        whole = np.floor(scaled)
        return np.asarray(whole + (scaled - whole >= 0.5), dtype=np.int64)

    def indices_at_random(self, values: Any, rng: Rng = None) -> NDArray[np.int64]:
        """One of the two nearest lattice points, at random: the upper one with the probability that keeps the mean, exactly.

        Two numbers however close are then treated almost alike, which rounding to the nearest point does not do.
        """
        bits = bits_from(rng)
        given = exact_floats(values)
        shape = self.indices(given).shape  # refuses what cannot be rounded
        scaled = self._in_steps(given).reshape(-1)
        whole = np.floor(scaled)
        share = scaled - whole
        limits = np.ldexp(share, 64).astype(np.uint64)  # below 2**64; cut only where the share has more than 64 bits
        words = bits.words(share.size)
        up: NDArray[np.bool_] = words < limits
        for spot in np.flatnonzero(words == limits):  # further bits decide
            up[spot] = _settle(Fraction(float(share[spot])), int(words[spot]), bits)
        return np.asarray(whole.astype(np.int64) + up).reshape(shape)

    def first_from(self, places: Any) -> NDArray[np.float64]:
        """The first lattice point that is not below each place, in steps; a place may be infinite."""
        return np.ceil(self._in_steps(np.asarray(places, dtype=np.float64)))

    def values(self, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        """The lattice points as floats, exactly."""
        if indices.size and not (indices.min() >= -2 * LARGEST_INDEX and indices.max() <= 2 * LARGEST_INDEX):
            raise DataError("value and noise together are too large for this lattice; use a coarser lattice.")
        return np.asarray(indices * 2.0**self.exponent)

    def _in_steps(self, given: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):  # what overflows is refused as too large
            return np.asarray(given * 2.0**-self.exponent)

    def __str__(self) -> str:
        return f"multiples of 2^{self.exponent}"


def exact_floats(values: Any) -> NDArray[np.float64]:
    """Return a column as 64-bit floats, without any rounding; values that need rounding, guessing or filling in are
    rejected.

    Wider numbers would be rounded to floats first and to the lattice second, and rounding twice can move two numbers
    one step too far apart. Therefore, this comes before anything else is done to a column.
    """
    try:
        given = np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        raise DataError("the values do not form a column; give a list or an array with rows of one length.") from None
    parts = values if given.ndim > 1 and isinstance(values, (list, tuple)) else ()
    masks = sys.modules.get("numpy.ma")  # without it nothing is masked
    if masks is not None and (masks.is_masked(values) or any(masks.is_masked(part) for part in parts)):
        raise DataError("a masked column has missing values; fill or drop them first.")
    if given.dtype.kind not in "iuf":
        raise DataError("the values are not numbers; convert the column first.")
    wide = given.dtype.kind in "iu" and given.size and max(abs(int(given.min())), abs(int(given.max()))) > 1 << 53
    if wide or given.dtype.itemsize > 8:
        raise DataError("the values are wider than 64-bit floats or beyond 2^53; convert or rescale the column first.")
    return given.astype(np.float64, copy=False)


def _settle(chance: Fraction, word: int, bits: Bits) -> bool:
    """Return whether a uniform number with these first 64 bits is below ``chance``."""

    def enclosure(width: int) -> tuple[list[int], list[int]]:
        scaled = chance * (1 << width)
        return [scaled.numerator // scaled.denominator], [ceil_div(scaled.numerator, scaled.denominator)]

    return decide(enclosure, word, 64, bits) == 0
