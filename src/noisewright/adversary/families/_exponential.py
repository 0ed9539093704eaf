r"""The ``b`` of the exponential mechanism on ``0 .. n-1`` that has a given true epsilon, enclosed as tightly as asked for.

``e^(-epsilon) = b s_0/s_1``, where ``s_0 = 1 + b + .. + b^(n-1)`` and ``s_1 = s_0 + b - b^(n-1)``; each epsilon has one ``b``.

>>> from noisewright.adversary.families.decay import Decay
>>> low, high = exponential_weight(Decay.of(decay="7/16"), 3, 100).ends()  # it is 1/2
>>> bool(low < Fraction(1, 2) < high), bool(high - low < Fraction(1, 2**90))
(True, True)
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from noisewright.adversary.exact.enclosures import Enclosure, Number
from noisewright.adversary.families.decay import Decay

__all__ = ["exponential_weight"]


@lru_cache(maxsize=256)
def exponential_weight(decay: Decay, size: int, bits: int) -> Number:
    """The ``b`` of the exponential mechanism with this true decay, enclosed and checked at both ends.

    ``h(b) = 1/b + (1 - b^(n-2))/s_0 - 1/a`` falls in ``b`` and is zero at the answer. Steps with a slope of float accuracy add
    about fifty bits each; the two ends are then moved apart until ``h`` is above zero at one and below zero at the other.
    """
    if decay.exact == 1:
        return Fraction(1)
    bits += decay.fine  # so that one minus the answer has as many
    work = bits + 32
    target = 1 / _enclosed(decay.number(work), work)

    def excess(b: Fraction) -> Enclosure:
        point = Enclosure.of_fraction(b, work)
        total = (1 - point**size) / (1 - point)
        return 1 / point + (1 - point ** (size - 2)) / total - target

    low_log, high_log = decay.log, decay.log / 2  # t/2 <= epsilon <= t
    for _ in range(60):
        middle = (low_log + high_log) / 2
        total = math.expm1(size * middle) / math.expm1(middle)
        more = -math.exp(middle) * math.expm1((size - 2) * middle) / total
        if math.log1p(more) - middle > -decay.log:
            low_log = middle
        else:
            high_log = middle
    b = _rounded_exp(low_log, work)
    step = min(b, 1 - b) / 2**24
    ends = [excess(b - step).ends()[0], excess(b + step).ends()[1]]
    slope = (ends[1] - ends[0]) / (2 * step)
    for _ in range(2 + work // 20):
        low, high = excess(b).ends()
        before, b = b, Enclosure.of_fraction(b - (low + high) / 2 / slope, work).ends()[0]
        if abs(b - before) * 2**work < b:
            break
    width = b / 2**bits
    while excess(b - width).sign() != 1 or excess(b + width).sign() != -1:
        width *= 4
    left, right = Enclosure.of_fraction(b - width, work), Enclosure.of_fraction(b + width, work)
    scale = min(left.scale, right.scale)
    return Enclosure(left.low << (left.scale - scale), right.high << (right.scale - scale), scale, bits)


def _rounded_exp(exponent: float, bits: int) -> Fraction:
    low, high = Enclosure.of_exp(Fraction(exponent), bits).ends()
    return (low + high) / 2


def _enclosed(number: Number, bits: int) -> Enclosure:
    return number if isinstance(number, Enclosure) else Enclosure.of_fraction(number, bits)
