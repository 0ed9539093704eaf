r"""Exact discrete Gaussian noise: :math:`P(k) \propto e^{-k^2 / (2\sigma^2)}` on all integers.

The noise gives :math:`s^2/(2\sigma^2)`-concentrated differential privacy to an integer query of sensitivity s, like the
continuous Gaussian, but it can be drawn without any rounding (C. Canonne, G. Kamath and T. Steinke, "The discrete
Gaussian for differential privacy", NeurIPS 2020). Two exact methods, chosen by sigma alone:

*Small sigma: inversion.* The integers are taken in the order 0, 1, -1, 2, -2, ...; the cumulative probabilities are
enclosed between integers over 2**64, and a uniform word falls between two of them. A word that meets an enclosure
(which includes the whole tail beyond the table) gets more bits, a tighter and a longer table, until it is settled.

*Large sigma: rejection.* With m the integer nearest to sigma, discrete Laplace noise Y of rate :math:`m/\sigma^2` is
kept with probability :math:`e^{-(|Y| - m)^2/(2\sigma^2)}`, because
:math:`-|y| m/\sigma^2 - (|y| - m)^2/(2\sigma^2) = -y^2/(2\sigma^2) - m^2/(2\sigma^2)`. About three of four are kept.
The square is split into base-128 digits, :math:`N = \sum_j v_j 128^j`, so that the coin is the product of coins for
:math:`e^{-v_j 128^j u}`: each compares a word with one entry of a fixed table. How often noise is redrawn depends on
sigma alone, never on data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from noisewright.claims.figures import ceil_div
from noisewright.exceptions import ParameterError
from noisewright.numerics.exact import Exact, positive_fraction
from noisewright.sampling.bernoulli_bits import Probability, coins, settle
from noisewright.sampling.categorical import Lookup, decide
from noisewright.sampling.laplace import GeometricPlan, geometric_plan, laplace_block
from noisewright.sampling.random_bits import Bits, Rng, Size, bits_from, draw_blocks, half_words

__all__ = ["discrete_gaussian"]


TABLE_UP_TO = 128
"""Inversion up to this sigma: its table is made in a few milliseconds, and it draws four times faster."""

LARGEST_SIGMA = 1 << 55
"""Up to here a draw leaves 2**62 with probability below 2**-1000."""

_TOP = (1 << 64) - 1


@overload
def discrete_gaussian(sigma: Exact, size: None = None, rng: Rng = None) -> int: ...
@overload
def discrete_gaussian(sigma: Exact, size: Size, rng: Rng = None) -> NDArray[np.int64]: ...
def discrete_gaussian(sigma: Exact, size: Size | None = None, rng: Rng = None) -> Any:
    """Independent numbers with ``P(k)`` proportional to ``e**(-k**2 / (2 * sigma**2))`` on all integers, exactly.

    >>> noise = discrete_gaussian(10, size=10_000, rng=np.random.default_rng(1))
    >>> bool(abs(noise.mean()) < 0.5), bool(95 < noise.var() < 105)
    (True, True)
    """
    bits = bits_from(rng)
    number = positive_fraction(sigma, "sigma")
    if number > LARGEST_SIGMA:
        raise ParameterError(
            "sigma is above 2**55, where noise may leave 64-bit integers; use a coarser lattice, so that the same "
            "noise takes fewer steps."
        )
    if number <= TABLE_UP_TO:
        square = number**2
        lookup = _lookup(square)
        return draw_blocks(size, np.int64, lambda count: _inversion_block(square, lookup, count, bits))
    plan = _rejection_plan(number)
    return draw_blocks(size, np.int64, lambda count: _rejection_block(plan, count, bits))


# Inversion.


def _inversion_block(square: Fraction, lookup: Lookup, count: int, bits: Bits) -> NDArray[np.int64]:
    words = bits.words(count)
    place, tied = lookup.find(None, words)
    for position in tied:
        place[position] = decide(lambda width: _thresholds(square, width), int(words[position]), 64, bits)
    # Places 0, 1, 2, 3, 4 stand for 0, 1, -1, 2, -2: half the place rounded up, negative at even places.
    negative = (place & 1) - 1
    place += 1
    place >>= 1
    return (place ^ negative) - negative


@lru_cache(maxsize=64)
def _lookup(square: Fraction) -> Lookup:
    low, high = _thresholds(square, 128)
    low64, high64 = [c >> 64 for c in low], [min(c >> 64, _TOP) for c in high]
    # Behind the first threshold that fills the word, only ties are left, and those go through all thresholds anyway.
    end = next((i + 1 for i, c in enumerate(low64) if c >= _TOP), len(low64))
    return Lookup(np.array([low64[:end]], dtype=np.uint64), np.array([high64[:end]], dtype=np.uint64))


def _thresholds(square: Fraction, width: int) -> tuple[list[int], list[int]]:
    """Enclosures over ``2**width`` of the probabilities of {0}, {0, 1}, {0, 1, -1}, ...; ``square`` is sigma squared.

    The last entry encloses all thresholds that are not listed, so that a draw beyond the table is never called settled.
    """
    work = width + 64
    # e**(-last**2 / (2 square)) is below 2**-(width + 8), since 7/10 is more than ln 2.
    last = math.isqrt(int(2 * square * Fraction(7 * (width + 8), 10))) + 1
    low_step, high_step = Probability.exp(1 / (2 * square)).bounds(work)
    low_ratio, high_ratio = Probability.exp(1 / square).bounds(work)
    low_weight = high_weight = 1 << work
    low_sums, high_sums = [low_weight], [high_weight]
    for _ in range(last):
        # e**(-(k+1)**2 u) = e**(-k**2 u) * e**(-(2k+1) u), and that factor shrinks by e**(-2u) each time.
        low_weight, high_weight = (low_weight * low_step) >> work, ceil_div(high_weight * high_step, 1 << work)
        low_step, high_step = (low_step * low_ratio) >> work, ceil_div(high_step * high_ratio, 1 << work)
        low_sums += [low_sums[-1] + low_weight, low_sums[-1] + 2 * low_weight]
        high_sums += [high_sums[-1] + high_weight, high_sums[-1] + 2 * high_weight]
    # Beyond the table the weights fall at least by e**-x each time, and 1 / (1 - e**-x) <= 1 + 1/x.
    next_weight = ceil_div(high_weight * high_step, 1 << work)
    rest = math.ceil(2 * next_weight * (1 + 2 * square / (2 * last + 3)))
    low_total, high_total = low_sums[-1], high_sums[-1] + rest
    low = [(part << width) // high_total for part in low_sums]
    high = [min(1 << width, ceil_div(part << width, low_total)) for part in high_sums]
    return [*low, low[-1]], [*high, 1 << width]


# Rejection.

_DIGIT = 7
_DIGITS = 4


@dataclass(frozen=True)
class _RejectionPlan:
    """Plan for sigma < 2**e: the exponent is N u, N = (|y| - m)**2, and N = head * 2**low_bits + rest with head <
    2**28.
    """

    centre: int
    unit: Fraction
    proposal: GeometricPlan
    far: int
    drop_bits: int
    low_bits: int
    digits: tuple[NDArray[np.uint32], ...]

    def digit_exponent(self, place: int, value: int) -> Fraction:
        return self.unit * (value << (_DIGIT * place + self.low_bits))


@lru_cache(maxsize=64)
def _rejection_plan(sigma: Fraction) -> _RejectionPlan:
    square = sigma**2
    centre, e = round(sigma), math.floor(sigma).bit_length()
    plan = _RejectionPlan(
        centre=centre,
        unit=1 / (2 * square),
        proposal=geometric_plan(centre / square),
        far=1 << (e + 4),
        drop_bits=max(0, e + 4 - 31),  # |y| - m is cut to 31 bits, so that its square fits in 62
        low_bits=max(0, 2 * e - 20),
        digits=(),
    )
    tables = tuple(
        np.array([_floor(plan.digit_exponent(place, value)) for value in range(1 << _DIGIT)], dtype=np.uint32)
        for place in range(_DIGITS)
    )
    return replace(plan, digits=tables)


def _floor(exponent: Fraction) -> int:
    """The first 32 bits of ``e**-exponent``, or the largest word for exponent 0, whose tie is then settled as True."""
    if exponent == 0:
        return (1 << 32) - 1
    width = 96
    while True:  # ends, because e**-x is irrational for rational x other than 0
        low, high = (bound >> (width - 32) for bound in Probability.exp(exponent).bounds(width))
        if low == high:
            return low
        width *= 2


def _rejection_block(plan: _RejectionPlan, count: int, bits: Bits) -> NDArray[np.int64]:
    result = np.empty(count, dtype=np.int64)
    filled = 0
    while filled < count:
        missing = count - filled
        noise = laplace_block(plan.proposal, missing + missing // 3 + 16, bits)
        kept = noise[_accepted(plan, np.abs(np.abs(noise) - plan.centre), bits)][:missing]
        result[filled : filled + kept.size] = kept
        filled += kept.size
    return result


def _accepted(plan: _RejectionPlan, distance: NDArray[np.int64], bits: Bits) -> NDArray[np.bool_]:
    """Coins with ``P(True) = e**(-distance**2 * unit)``."""
    far = np.flatnonzero(distance >= plan.far)  # at least 16 sigma: one in millions, and the square might not fit
    near = distance
    if far.size:
        near = distance.copy()
        near[far] = 0
    part = near >> plan.drop_bits
    head = (part * part) >> (plan.low_bits - 2 * plan.drop_bits)
    result = np.ones(distance.size, dtype=np.bool_)
    for place, table in enumerate(plan.digits):
        value = (head >> (_DIGIT * place)) & ((1 << _DIGIT) - 1)
        words = half_words(bits, distance.size)
        threshold = table.take(value)
        won = words < threshold
        tied = words == threshold
        if tied.any():
            for position in np.flatnonzero(tied):
                exponent = plan.digit_exponent(place, int(value[position]))
                won[position] = settle(Probability.exp(exponent), int(words[position]), bits)
        result &= won
    if plan.low_bits:
        # What the head leaves out is below 5/4 * 2**low_bits, hence its exponent below 5/4 * 2**-19 < 2**-18, and the
        # coin is True unless the word is in the last 2**-18.
        words = half_words(bits, distance.size)
        for position in np.flatnonzero(words >= (1 << 32) - (1 << 14)):
            rest = int(near[position]) ** 2 - (int(head[position]) << plan.low_bits)
            result[position] &= settle(Probability.exp(plan.unit * rest), int(words[position]), bits)
    for position in far:
        exponent = plan.unit * int(distance[position]) ** 2
        result[position] = coins(Probability.exp(exponent), 1, bits)[0]
    return result
