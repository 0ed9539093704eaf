r"""Exact geometric and discrete Laplace noise on the integers.

With :math:`a = e^{-\text{rate}}`, the geometric law is :math:`P(k) = (1 - a) a^k` on k = 0, 1, 2, ..., and the discrete
Laplace law with scale t is :math:`P(k) = \frac{1 - a}{1 + a}\, a^{|k|}` on all integers, with :math:`a = e^{-1/t}`.
Discrete Laplace noise on an integer query of sensitivity s gives s/t differential privacy (A. Ghosh, T. Roughgarden and
M. Sundararajan, "Universally utility-maximizing privacy mechanisms", STOC 2009).

*Digits.* The binary digits of a geometric number are independent (C. Dwork, K. Kenthapadi, F. McSherry, I. Mironov and
M. Naor, Eurocrypt 2006). Neighbouring digits are drawn together: n of them from digit s on are a number below N = 2**n
with :math:`P(D < d) = (1 - A^d) / (1 - A^N)`, :math:`A = a^{2^s}`, one draw by the alias method
(:mod:`~noisewright.sampling.categorical`). The last ones, with :math:`P(D < d) = 1 - A^d`, have one outcome more, N and above:
it is drawn by one in billions, and the excess is then counted exactly, coin by coin.

*Sign.* If S = 1 with probability a/(1 + a) and G is geometric, then G where S = 0 and -1 - G where S = 1 is discrete
Laplace: the two halves weigh 1/(1 + a) and a/(1 + a), and each is geometric. On two's complement machines -1 - G is
``~G``, so the sign is one more coin and an exclusive or; nothing is rejected, and the time does not depend on any data.

:class:`FixedPowers` gives, in 64-bit integer arithmetic and without a float, numbers of ``2**-62`` units that are at most
``error`` units below the truth. :class:`PowerBounds` gives Python integers that enclose a power as tightly as one likes.
A sampler decides by the first and settles the rare draw that falls within the error by the second.

>>> powers = FixedPowers(Fraction(1, 3))
>>> exact = PowerBounds(Fraction(1, 3), 62)
>>> low, high = exact(5)
>>> 0 <= low - int(powers(np.array([5], dtype=np.uint64))[0]) <= powers.error + 2
True

Let a value lie in ``0, ..., reach`` and let value + noise be clamped to the same range. Noise beyond ``reach`` on
either side then does the same as noise of exactly that size, so only :math:`2\,\text{reach} + 1` outcomes are
distinguished. Their thresholds

.. math:: P(K \le k) = \begin{cases} a^{-k} / (1 + a) & k < 0 \\ 1 - a^{k+1} / (1 + a) & k \ge 0 \end{cases} \qquad a =
e^{-1/t}

are compared with 64 bits of a uniform number, and with more where those do not settle it
(:mod:`noisewright.sampling.categorical`). Therefore the clamped output has exactly the law that noise of any size would give
it, at the cost of a look-up.

>>> noise = ClampedLaplace(Fraction(2), reach=3)
>>> sorted(set(noise.draw(1000, np.random.default_rng(1)).tolist()))
[-3, -2, -1, 0, 1, 2, 3]
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from noisewright._utils.validation import fields_alone
from noisewright.claims.figures import ceil_div, exp_bounds
from noisewright.exceptions import ParameterError
from noisewright.numerics.exact import Exact, positive_fraction
from noisewright.sampling.bernoulli_bits import Probability, coins
from noisewright.sampling.categorical import Alias, Enclosure, Lookup, decide
from noisewright.sampling.random_bits import BLOCK, Bits, Rng, Size, bits_from, draw_blocks, uniform_below

__all__ = [
    "ONE",
    "UNIT_BITS",
    "ClampedLaplace",
    "FixedPowers",
    "GeometricPlan",
    "PowerBounds",
    "discrete_laplace",
    "geometric",
    "geometric_block",
    "geometric_plan",
    "laplace_block",
    "multiply_high",
    "staircase_noise",
]


MAX_SCALE = (1 << 62) // 70
"""Up to this scale a draw leaves 2**62 with probability below e**-70 < 2**-100."""

TOGETHER = 10
"""Maximum number of digits that are drawn together."""

SPARE = 128
"""Bits beyond the bits of a threshold: one minus a power may begin with sixty zeros, and a power is a product of 2**10
factors.
"""


@overload
def geometric(rate: Exact, size: None = None, rng: Rng = None) -> int: ...
@overload
def geometric(rate: Exact, size: Size, rng: Rng = None) -> NDArray[np.int64]: ...
def geometric(rate: Exact, size: Size | None = None, rng: Rng = None) -> Any:
    """Independent numbers with ``P(k) = (1 - e**-rate) * e**(-rate * k)`` on k = 0, 1, 2, ..., exactly.

    >>> draws = geometric("1/2", size=10_000, rng=np.random.default_rng(1))
    >>> int(draws.min()), draws.dtype.name, bool(1.45 < draws.mean() < 1.65)  # the mean is 1/(e**0.5 - 1) = 1.54
    (0, 'int64', True)
    """
    bits = bits_from(rng)
    plan = geometric_plan(positive_fraction(rate, "rate"))
    return draw_blocks(size, np.int64, lambda count: geometric_block(plan, count, bits))


@overload
def discrete_laplace(scale: Exact, size: None = None, rng: Rng = None) -> int: ...
@overload
def discrete_laplace(scale: Exact, size: Size, rng: Rng = None) -> NDArray[np.int64]: ...
def discrete_laplace(scale: Exact, size: Size | None = None, rng: Rng = None) -> Any:
    """Independent numbers with ``P(k)`` proportional to ``e**(-|k| / scale)`` on all integers, exactly.

    >>> noise = discrete_laplace(10, size=10_000, rng=np.random.default_rng(1))
    >>> bool(abs(noise.mean()) < 0.6), bool(9.6 < abs(noise).mean() < 10.4)
    (True, True)
    """
    bits = bits_from(rng)
    plan = geometric_plan(1 / positive_fraction(scale, "scale"))
    return draw_blocks(size, np.int64, lambda count: laplace_block(plan, count, bits))


@dataclass(frozen=True)
class GeometricPlan:
    """Plan for drawing a geometric number."""

    rate: Fraction
    parts: tuple[int, ...]
    """Numbers of binary digits that are drawn together, from the lowest up."""

    @property
    def digits(self) -> int:
        """Number of digits drawn in all; the excess above them is hardly ever not zero."""
        return sum(self.parts)

    @cached_property
    def negative(self) -> Probability:
        """The sign that makes it a discrete Laplace number."""
        return Probability.logistic(self.rate)

    @cached_property
    def more(self) -> Probability:
        """Return whether to add another ``2**digits``."""
        return Probability.exp(self.rate * (1 << self.digits))

    @cached_property
    def samplers(self) -> tuple[Alias, ...]:
        """One for each of the parts."""
        return tuple(Alias(self.enclosure(place)) for place in range(len(self.parts)))

    def enclosure(self, place: int) -> Enclosure:
        """Return bounds of the thresholds of one part: the thresholds of its numbers except 0, and for the last part
        also the threshold of the excess above.
        """
        size, rate = 1 << self.parts[place], self.rate * (1 << sum(self.parts[:place]))
        last = place == len(self.parts) - 1

        def bounds(width: int) -> tuple[list[int], list[int]]:
            work = width + SPARE
            one, (below, above) = 1 << work, Probability.exp(rate).bounds(work)
            powers = [(one, one)]  # of A, from both sides
            for _ in range(size):
                low, high = powers[-1]
                powers.append((low * below >> work, min(ceil_div(high * above, one), one)))
            if last:
                return [one - high >> SPARE for _, high in powers[1:]], [
                    ceil_div(one - low, 1 << SPARE) for low, _ in powers[1:]
                ]
            least, most = one - powers[-1][1], one - powers[-1][0]
            return (
                [((one - high) << width) // most for _, high in powers[1:-1]],
                [min(ceil_div((one - low) << width, least), 1 << width) for low, _ in powers[1:-1]],
            )

        return bounds

    __getstate__ = fields_alone


@lru_cache(maxsize=64)
def geometric_plan(rate: Fraction) -> GeometricPlan:
    """The plan for ``rate``; a rate so small that draws might not fit in 64 bits is refused."""
    if rate * MAX_SCALE < 1:
        raise ParameterError(
            f"the scale 1/rate = {_short(1 / rate)} is above {float(MAX_SCALE):.3g}, where noise may leave 64-bit "
            "integers; use a coarser lattice, so that the same noise takes fewer steps."
        )
    # e**-24 is below 2**-32: there is nothing above the digits for all but one draw in 2**32.
    digits = 0
    while rate * (1 << digits) < 24:
        digits += 1
    parts = max(1, ceil_div(digits, TOGETHER))
    return GeometricPlan(rate, tuple((digits + place) // parts for place in range(parts)))


def geometric_block(plan: GeometricPlan, count: int, bits: Bits) -> NDArray[np.int64]:
    """Return ``count`` geometric numbers: their digits from the lowest up, then the excess above all digits."""
    first, *others = plan.samplers
    result = drawn = first.draw(count, bits)
    shift = plan.parts[0]
    for size, sampler in zip(plan.parts[1:], others, strict=True):
        drawn = sampler.draw(count, bits)
        result = result | drawn << shift
        shift += size
    for position in np.flatnonzero(drawn == 1 << plan.parts[-1]):
        result[position] = _above_digits(plan, int(result[position]), bits)
    return result


def laplace_block(plan: GeometricPlan, count: int, bits: Bits) -> NDArray[np.int64]:
    """``count`` discrete Laplace numbers: the sign first, then the geometric number, complemented where negative."""
    negative = coins(plan.negative, count, bits)
    return geometric_block(plan, count, bits) ^ -negative.astype(np.int64)


def _above_digits(plan: GeometricPlan, drawn: int, bits: Bits) -> int:
    """``drawn + 2**digits * further successes``: a geometric number counts coins until the first failure."""
    times = 0
    while coins(plan.more, 1, bits)[0]:
        times += 1
    result = drawn + (times << plan.digits)
    if result >= 1 << 63:
        raise ParameterError("a draw left the 64-bit integers, which has probability below 2**-100; lower the scale.")
    return result


def _short(number: Fraction) -> str:
    try:
        return f"{float(number):.3g}"
    except OverflowError:
        return "a number beyond all floats"


# Powers -------------------------------------------------------------------------------------------------------------------
#
# Powers :math:`a^n` of :math:`a = e^{-\text{rate}}`: for whole columns of n in fixed point, and enclosed exactly for one.


UNIT_BITS = 62
"""Fixed-point numbers are multiples of ``2**-62``; a sum of two probabilities still fits in a signed word."""

ONE = 1 << UNIT_BITS
DIGIT_BITS = 11

_HALF_WORD = np.uint64(32)
_LOW = np.uint64((1 << 32) - 1)

Words = NDArray[np.uint64]


def multiply_high(x: Words, y: Words) -> Words:
    """``x * y / 2**64`` rounded down, or up to two units less: the three leading products of 32-bit halves.

    The fourth product and the two fractions that are cut off are each below one unit. ``x`` is below ``2**63``.
    """
    x_high, y_high = x >> _HALF_WORD, y >> _HALF_WORD
    return np.asarray(x_high * y_high + (x_high * (y & _LOW) >> _HALF_WORD) + ((x & _LOW) * y_high >> _HALF_WORD))


class FixedPowers:
    """``a**n * 2**62`` for arrays of ``n``, by one table look-up for each digit of n and a product of them.

    The result is never above the truth, and at most ``error`` units below it. Every n takes the same work.
    """

    def __init__(self, rate: Fraction) -> None:
        # From this n on the power is below one unit; larger n are treated as this one, and give zero.
        self._largest = ceil_div(UNIT_BITS * rate.denominator, rate.numerator)
        digits = max(1, ceil_div(self._largest.bit_length(), DIGIT_BITS))
        self._width = ceil_div(self._largest.bit_length(), digits)
        self._tables = []
        for place in range(digits):
            # The first table is in units of 2**-62, the others in units of 2**-64 (where 1 is written one unit less).
            scale = UNIT_BITS if place == 0 else 64
            base = PowerBounds(rate * (1 << (place * self._width)), scale + 32)
            values = [min(base(n)[0] >> 32, (1 << 64) - 1) for n in range(1 << self._width)]
            self._tables.append(np.array(values, dtype=np.uint64))
        # A table entry is less than one unit too low. A product adds the error of the other factor (below 1, and below
        # 1/2 from its own rounding) and at most 3 of its own.
        self.error = 1 + 5 * (digits - 1)

    def __call__(self, exponents: Words) -> Words:
        n = np.minimum(exponents, np.uint64(self._largest))
        mask = np.uint64((1 << self._width) - 1)
        result: Words = self._tables[0].take((n & mask).view(np.int64))
        for place, table in enumerate(self._tables[1:], start=1):
            digit = (n >> np.uint64(place * self._width)) & mask
            result = multiply_high(result, table.take(digit.view(np.int64)))
        return result


class PowerBounds:
    """``bounds(n)`` gives integers ``low <= a**n * 2**bits <= high``, by repeated squaring with outward rounding."""

    def __init__(self, rate: Fraction, bits: int) -> None:
        self.bits = bits
        # Squaring doubles relative errors; 64 more bits keep a power of 2**60 as tight as the first.
        self._work = bits + 72
        self._squares = [exp_bounds(-rate, self._work)]

    def __call__(self, n: int) -> tuple[int, int]:
        low = high = 1 << self._work
        place = 0
        while n >> place and high > 1:
            if place == len(self._squares):
                below, above = self._squares[-1]
                self._squares.append((below * below >> self._work, ceil_div(above * above, 1 << self._work)))
            if n >> place & 1:
                below, above = self._squares[place]
                low, high = low * below >> self._work, ceil_div(high * above, 1 << self._work)
            place += 1
        if n >> place:  # so small that further factors only make it smaller
            low = 0
        return low >> 72, min(ceil_div(high, 1 << 72), 1 << self.bits)


# Clamped ------------------------------------------------------------------------------------------------------------------
#
# Exact discrete Laplace noise for outputs that are clamped afterwards: one word for each draw.


class ClampedLaplace:
    """Noise of scale t on integers, clamped to ``-reach, ..., reach``: outcomes beyond are put on the ends."""

    def __init__(self, scale: Fraction, reach: int) -> None:
        self.rate, self.reach = 1 / scale, reach
        low, high = self._enclosure(64)
        ends = [np.array([min(c, (1 << 64) - 1) for c in side], np.uint64)[None, :] for side in (low, high)]
        self._lookup = Lookup(*ends)

    def draw(self, count: int, rng: Rng = None) -> NDArray[np.int32]:
        """``count`` draws."""
        bits = bits_from(rng)
        result = np.empty(count, np.int32)
        for start in range(0, count, BLOCK):
            result[start : start + BLOCK] = self.block(min(BLOCK, count - start), bits)
        return result

    def block(self, count: int, bits: Bits) -> NDArray[np.int64]:
        """The same for a block that fits into the processor's cache."""
        words = bits.words(count)
        found, tied = self._lookup.find(None, words)
        for place in tied:
            found[place] = decide(self._enclosure, int(words[place]), 64, bits)
        found -= self.reach
        return found

    def _enclosure(self, width: int) -> tuple[list[int], list[int]]:
        """Integers below and above each threshold times ``2**width``, for k = -reach, ..., reach - 1."""
        bits = width + 32
        power, one = PowerBounds(self.rate, bits), 1 << bits
        over_low, over_high = (one + end for end in power(1))
        tails = []  # bounds of a^n / (1 + a) for n = 1, ..., reach
        for n in range(1, self.reach + 1):
            below, above = power(n)
            tails.append(((below << bits) // over_high, ceil_div(above << bits, over_low)))
        lows = [low >> 32 for low, _ in reversed(tails)] + [(one - high) >> 32 for _, high in tails]
        highs = [ceil_div(high, 1 << 32) for _, high in reversed(tails)]
        return lows, highs + [ceil_div(one - low, 1 << 32) for low, _ in tails]


# Staircase ----------------------------------------------------------------------------------------------------------------
#
# Exact staircase noise on the integers: a Laplace law whose slope is gathered in steps.
#
# With ``level(n) = floor((n + width - first) / width)`` for n = 0, 1, 2, ... the law is :math:`P(k) \propto
# e^{-\text{rate}\,\cdot\,\text{level}(|k|)}` on all integers: the numbers up to ``first - 1`` weigh most, the next
# ``width`` on either side weigh :math:`e^{-\text{rate}}` of that, and so on. Two integers at most ``width`` apart differ
# by at most one level, so this noise gives ``rate`` differential privacy to an integer query of sensitivity ``width``,
# and for the best ``first`` it has the least expected size of all such noise (Q. Geng and P. Viswanath, "The optimal
# noise-adding mechanism in differential privacy", IEEE Transactions on Information Theory 62, 2016).
#
# *Sampler.* A size n falls in block b = 0, 1, ... of ``width`` numbers with geometric probability; inside every block the
# first part (``first`` numbers) and the rest (``width - first`` numbers, one level lower) weigh ``first : (width - first)
# e^-rate``, which is one coin with lazily drawn bits; inside a part all numbers are alike. Then a fair sign. Zero would
# come up with both signs, so a negative zero is drawn again; how often depends on the parameters alone, never on data.


_TOP = (1 << 64) - 1
_HALF = Probability.fraction("1/2")


@overload
def staircase_noise(rate: Exact, width: int, first: int, size: None = None, rng: Rng = None) -> int: ...
@overload
def staircase_noise(rate: Exact, width: int, first: int, size: Size, rng: Rng = None) -> NDArray[np.int64]: ...
def staircase_noise(rate: Exact, width: int, first: int, size: Size | None = None, rng: Rng = None) -> Any:
    """Independent numbers with ``P(k)`` proportional to ``e**(-rate * level(|k|))``, exactly.

    >>> noise = staircase_noise(1, width=10, first=4, size=10_000, rng=np.random.default_rng(1))
    >>> bool(abs(noise.mean()) < 0.6), bool(9.1 < abs(noise).mean() < 10.1)  # 9.59 in closed form
    (True, True)
    """
    bits = bits_from(rng)
    plan = _plan(positive_fraction(rate, "rate"), operator.index(width), operator.index(first))
    return draw_blocks(size, np.int64, lambda count: _block(plan, count, bits))


@dataclass(frozen=True, eq=False)
class _Plan:
    rate: Fraction
    width: int
    first: int
    blocks: GeometricPlan
    lookup: Lookup | None
    """Finds the part of a block; None when every block is its first part."""

    def enclosure(self, bits: int) -> tuple[list[int], list[int]]:
        """Bounds of the probability of the first part, ``first / (first + (width - first) e**-rate)``, over ``2**bits``."""
        work = bits + self.width.bit_length() + 8
        low, high = exp_bounds(-self.rate, work)
        first, rest = self.first << work, self.width - self.first
        return [(first << bits) // (first + rest * high)], [ceil_div(first << bits, first + rest * low)]


@lru_cache(maxsize=64)
def _plan(rate: Fraction, width: int, first: int) -> _Plan:
    if not 1 <= first <= width:
        raise ParameterError(f"a staircase needs 1 <= first <= width, not first = {first} and width = {width}.")
    if (width * 70) > rate * (1 << 62):
        raise ParameterError(
            "the steps of this staircase are so wide that noise may leave 64-bit integers; use a coarser lattice."
        )
    plan = _Plan(rate, width, first, geometric_plan(rate), None)
    if first == width:
        return plan
    low, high = (min(bound[0] >> 64, _TOP) for bound in plan.enclosure(128))
    lookup = Lookup(np.array([[low]], dtype=np.uint64), np.array([[high]], dtype=np.uint64))
    return _Plan(rate, width, first, plan.blocks, lookup)


def _block(plan: _Plan, count: int, bits: Bits) -> NDArray[np.int64]:
    result = np.empty(count, dtype=np.int64)
    filled = 0
    while filled < count:
        sizes = _sizes(plan, count - filled, bits)
        negative = coins(_HALF, sizes.size, bits)
        kept = np.where(negative, -sizes, sizes)[~(negative & (sizes == 0))]
        result[filled : filled + kept.size] = kept
        filled += kept.size
    return result


def _sizes(plan: _Plan, count: int, bits: Bits) -> NDArray[np.int64]:
    """Numbers n = 0, 1, ... with weights ``e**(-rate * level(n))``."""
    sizes = geometric_block(plan.blocks, count, bits) * plan.width
    inside: NDArray[np.int64] = uniform_below(plan.first, count, bits)
    if plan.lookup is not None:
        words = bits.words(count)
        part, tied = plan.lookup.find(None, words)
        for position in tied:
            part[position] = decide(plan.enclosure, int(words[position]), 64, bits)
        rest = uniform_below(plan.width - plan.first, count, bits)
        inside = np.where(part == 0, inside, plan.first + rest)
    return sizes + inside
