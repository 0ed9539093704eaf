r"""Exact geometric and discrete Laplace noise on the integers.

With :math:`a = e^{-\text{rate}}`, the geometric law is :math:`P(k) = (1 - a) a^k` on k = 0, 1, 2, ..., and the discrete
Laplace law with scale t is :math:`P(k) = \frac{1 - a}{1 + a}\, a^{|k|}` on all integers, with :math:`a = e^{-1/t}`.
Discrete Laplace noise on an integer query of sensitivity s gives s/t differential privacy (A. Ghosh, T. Roughgarden and
M. Sundararajan, "Universally utility-maximizing privacy mechanisms", STOC 2009).

*Digits.* The binary digits of a geometric number are independent, and digit i is 1 with probability
:math:`1/(1 + e^{2^i \text{rate}})` (C. Dwork, K. Kenthapadi, F. McSherry, I. Mironov and M. Naor, Eurocrypt 2006). The
first L digits are drawn as exact coins; what is above them, the geometric number of ratio :math:`a^{2^L}`, is zero for
all but one draw in billions and is counted exactly, coin by coin, when it is not.

*Sign.* If S = 1 with probability a/(1 + a) and G is geometric, then G where S = 0 and -1 - G where S = 1 is discrete
Laplace: the two halves weigh 1/(1 + a) and a/(1 + a), and each is geometric. On two's complement machines -1 - G is
``~G``, so the sign is one more coin and an exclusive or; nothing is rejected, and the time does not depend on any data.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, positive_fraction
from noisewright.noise._blocks import Size, draw_blocks
from noisewright.noise.bits import Bits, Rng, bits_from
from noisewright.noise.probability import Probability, coins

__all__ = ["GeometricPlan", "discrete_laplace", "geometric", "geometric_block", "geometric_plan", "laplace_block"]

MAX_SCALE = (1 << 62) // 70
"""Up to this scale a draw leaves 2**62 with probability below e**-70 < 2**-100."""


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
    """The coins that make a geometric number."""

    digits: tuple[Probability, ...]
    more: Probability
    """Whether to add another 2**L, with L the number of digits."""
    negative: Probability
    """The sign that makes it a discrete Laplace number."""


@lru_cache(maxsize=256)
def geometric_plan(rate: Fraction) -> GeometricPlan:
    """The coins for ``rate``; a rate so small that draws might not fit in 64 bits is refused."""
    if rate * MAX_SCALE < 1:
        raise ParameterError(
            f"the scale 1/rate = {_short(1 / rate)} is above {float(MAX_SCALE):.3g}, where noise may leave 64-bit "
            "integers; use a coarser lattice, so that the same noise takes fewer steps."
        )
    # e**-24 is below 2**-32: the coin for more is False at the first word for all but one draw in 2**32.
    digits = 0
    while rate * (1 << digits) < 24:
        digits += 1
    return GeometricPlan(
        digits=tuple(Probability.logistic(rate * (1 << i)) for i in range(digits)),
        more=Probability.exp(rate * (1 << digits)),
        negative=Probability.logistic(rate),
    )


def geometric_block(plan: GeometricPlan, count: int, bits: Bits) -> NDArray[np.int64]:
    """``count`` geometric numbers: their digits from the lowest up, then what is above all digits."""
    result = np.zeros(count, dtype=np.int64)
    # Eight digits are gathered in bytes before they are widened, which moves an eighth of the memory; and the bytes in words of
    # eight, which are shifted at once: a coin is 0 or 1, so no bit leaves its byte.
    coin = np.zeros(-(-count // 8) * 8, dtype=np.bool_)
    for start in range(0, len(plan.digits), 8):
        octets = np.zeros(coin.size // 8, dtype=np.uint64)
        for place, digit in enumerate(plan.digits[start : start + 8]):
            coin[:count] = coins(digit, count, bits)
            octets |= coin.view(np.uint64) << np.uint64(place)
        result |= octets.view(np.uint8)[:count].astype(np.int64) << start
    more = coins(plan.more, count, bits)
    if more.any():
        for position in np.flatnonzero(more):
            result[position] = _above_digits(plan, int(result[position]), bits)
    return result


def laplace_block(plan: GeometricPlan, count: int, bits: Bits) -> NDArray[np.int64]:
    """``count`` discrete Laplace numbers: the sign first, then the geometric number, complemented where negative."""
    negative = coins(plan.negative, count, bits)
    return geometric_block(plan, count, bits) ^ -negative.astype(np.int64)


def _above_digits(plan: GeometricPlan, low: int, bits: Bits) -> int:
    """``low + 2**L * (1 + further successes)``: a geometric number counts coins until the first failure."""
    times = 1
    while coins(plan.more, 1, bits)[0]:
        times += 1
    result = low + (times << len(plan.digits))
    if result >= 1 << 63:
        raise ParameterError("a draw left the 64-bit integers, which has probability below 2**-100; lower the scale.")
    return result


def _short(number: Fraction) -> str:
    try:
        return f"{float(number):.3g}"
    except OverflowError:
        return "a number beyond all floats"
