r"""Exact geometric and discrete Laplace noise on the integers.

With :math:`a = e^{-\text{rate}}`, the geometric law is :math:`P(k) = (1 - a) a^k` on k = 0, 1, 2, ..., and the discrete
Laplace law with scale t is :math:`P(k) = \frac{1 - a}{1 + a}\, a^{|k|}` on all integers, with :math:`a = e^{-1/t}`.
Discrete Laplace noise on an integer query of sensitivity s gives s/t differential privacy (A. Ghosh, T. Roughgarden and
M. Sundararajan, "Universally utility-maximizing privacy mechanisms", STOC 2009).

*Digits.* The binary digits of a geometric number are independent (C. Dwork, K. Kenthapadi, F. McSherry, I. Mironov and
M. Naor, Eurocrypt 2006). Neighbouring digits are drawn together: n of them from digit s on are a number below N = 2**n
with :math:`P(D < d) = (1 - A^d) / (1 - A^N)`, :math:`A = a^{2^s}`, one draw by the alias method
(:mod:`~noisewright.noise.alias`). The last ones, with :math:`P(D < d) = 1 - A^d`, have one outcome more, N and above:
it is drawn by one in billions, and the excess is then counted exactly, coin by coin.

*Sign.* If S = 1 with probability a/(1 + a) and G is geometric, then G where S = 0 and -1 - G where S = 1 is discrete
Laplace: the two halves weigh 1/(1 + a) and a/(1 + a), and each is geometric. On two's complement machines -1 - G is
``~G``, so the sign is one more coin and an exclusive or; nothing is rejected, and the time does not depend on any data.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, ceil_div, positive_fraction
from noisewright.core.mechanism import fields_alone
from noisewright.noise._blocks import Size, draw_blocks
from noisewright.noise.alias import Alias
from noisewright.noise.bits import Bits, Rng, bits_from
from noisewright.noise.probability import Probability, coins
from noisewright.noise.search import Enclosure

__all__ = ["GeometricPlan", "discrete_laplace", "geometric", "geometric_block", "geometric_plan", "laplace_block"]

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
