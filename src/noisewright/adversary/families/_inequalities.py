r"""The inequalities behind the closed forms: rows of the explicit inverses, in floats for all entries and exactly for one.

``A^-1 B`` for a geometric, response or exponential member ``A`` is, row by row and up to a positive factor, a sum of a few
rows of ``B``. The *margin* of a secret ``x`` and an output ``y`` is that sum: B may replace A exactly when none is below zero.

>>> from noisewright.adversary.families.families import geometric_family, response_family
>>> a, b = geometric_family.member(decay="1/2", size=3), response_family.member(decay="1/2", size=3)
>>> str(margin_at(a, Target.of(a, b), 1, 0, 64))
'-1/16'
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.adversary.exact.channels import common_secrets, read
from noisewright.adversary.exact.enclosures import Enclosure, Number
from noisewright.adversary.families.families import as_member
from noisewright.adversary.families.member import EXPONENTIAL, GEOMETRIC, RESPONSE, Member
from noisewright.core.arrays import Floats
from noisewright.optimality.algebra.elimination import Rows

__all__ = [
    "Target",
    "inequality",
    "inverse_row",
    "inverse_scale",
    "inverse_times",
    "margin_at",
    "rounding",
    "sides",
]


@dataclass(frozen=True, eq=False)
class Target:
    """The channel that may replace a member: its logarithms for the fast test, its entries for the exact one."""

    logs: Floats
    outputs: tuple[Hashable, ...]
    member: Member | None
    exact: Rows | None
    in_logs: bool = False

    @classmethod
    def of(cls, a: Member, b: Any) -> Target:
        """The target that a member, a mechanism, a channel or rows of numbers is, over the secrets of ``a``."""
        member = as_member(b)
        if member is not None and member.made is None:
            if member.inputs != a.inputs:
                common_secrets(read(a), read(member))
            return cls(member.logs(), member.outputs, member, None)
        given = read(b)
        if given.inputs != a.inputs:
            common_secrets(read(a), given)
        if given.exact is None:
            return cls(given.channel.logs, given.outputs, None, None, given.channel.has_logs)
        return cls(np.array([[_log(v) for v in row] for row in given.exact]), given.outputs, None, given.exact)

    @property
    def rounded(self) -> bool:
        """Return whether all that is known are floats."""
        return self.member is None and self.exact is None

    @property
    def subnormal(self) -> bool:
        """Return whether all that is known are floats, and some of them are too small to have all their digits."""
        return self.rounded and not self.in_logs and bool((np.isfinite(self.logs) & (self.logs < -667)).any())

    def entry(self, x: int, y: int, bits: int) -> Number:
        """The probability, as a fraction or within bounds; a float stands for all numbers that round to it or to a
        neighbouring float.
        """
        if self.member is not None:
            base = self.member.base(bits)
            assert base is not None
            return self.member.entry(base, x, y)
        if self.exact is not None:
            return self.exact[x][y]
        value = float(self.logs[x, y])
        if value == -math.inf:
            return Fraction(0)
        slack = rounding(self.logs)
        low, high = Enclosure.of_exp(Fraction(value - slack), 64), Enclosure.of_exp(Fraction(value + slack), 64)
        scale = min(low.scale, high.scale)
        return Enclosure(low.low << (low.scale - scale), high.high << (high.scale - scale), scale, bits)


def rounding(logs: Floats) -> float:
    """More than the rounding error of a logarithm of this size, and of a sum of a thousand of them."""
    finite = np.abs(logs[np.isfinite(logs)])
    return 64 * 2.0**-52 * (1 + float(finite.max(initial=0.0))) + len(logs) * 2.0**-50


def sides(a: Member, target: Target) -> tuple[Floats, Floats]:
    """Logarithms of both sides of every inequality."""
    logs, rate, n = target.logs, a.log_base(), a.size
    if a.family == RESPONSE:
        top = logs.max(axis=0)
        shift = np.where(np.isneginf(top), 0.0, top)
        with np.errstate(divide="ignore"):
            total = shift + np.log(np.exp(logs - shift).sum(axis=0))
        return logs.copy(), np.broadcast_to(rate - math.log1p((n - 1) * math.exp(rate)) + total, logs.shape)
    if a.family == EXPONENTIAL:
        logs = logs + a.log_sums()[:, None]
    left, right = logs.copy(), np.empty_like(logs)
    left[1:-1] += math.log1p(math.exp(2 * rate))
    right[0], right[-1] = rate + logs[1], rate + logs[-2]
    right[1:-1] = rate + np.logaddexp(logs[:-2], logs[2:])
    return left, right


def margin_at(a: Member, target: Target, x: int, y: int, bits: int) -> Number:
    """Left side minus right side of the inequality for secret ``x`` and output ``y``."""
    vector = inverse_row(a, x, bits)
    terms: list[Number] = [value * target.entry(z, y, bits) for z, value in vector.items()]
    return sum(terms[1:], terms[0])


def inverse_row(a: Member, x: int, bits: int) -> dict[int, Number]:
    """Row ``x`` of ``A^-1`` up to a positive factor, where it is not zero."""
    base = a.base(bits)
    assert base is not None
    if a.family == RESPONSE:
        lie: Number = base / (1 + (a.size - 1) * base)
        return {z: (1 - lie if z == x else -lie) for z in range(a.size)}
    ends = x in (0, a.size - 1)
    found: dict[int, Number] = {x: Fraction(1) if ends else 1 + base * base}
    found.update({z: -base for z in (x - 1, x + 1) if 0 <= z < a.size})
    return {z: v * a.row_sum(base, z) for z, v in found.items()} if a.family == EXPONENTIAL else found


def inverse_scale(a: Member, base: Number, x: int) -> Number:
    """Return the divisor of a margin that gives the entry of ``A^-1 B``."""
    if a.family == RESPONSE:
        return (1 - base) / (1 + (a.size - 1) * base)
    if a.family == EXPONENTIAL:
        return 1 - base * base
    return (1 - base) if x in (0, a.size - 1) else (1 - base) * (1 - base)


def inverse_times(a: Member, target: Target) -> Floats:
    """``A^-1 B`` in floats, with signs that are right where they are clear."""
    left, right = sides(a, target)
    with np.errstate(invalid="ignore", over="ignore"):
        gap = left - right
        tests = np.where(gap >= 0, np.exp(left) * -np.expm1(-np.maximum(gap, 0)), np.exp(right) * np.expm1(gap))
    tests[np.isnan(gap)] = 0.0
    rate = a.log_base()
    short, n = -math.expm1(rate), a.size
    if a.family == RESPONSE:
        return np.asarray(tests * (1 + (n - 1) * math.exp(rate)) / short)
    if a.family == EXPONENTIAL:
        return np.asarray(tests / -math.expm1(2 * rate))
    divisors = np.full((n, 1), short * short)
    divisors[[0, -1]] = short
    return np.asarray(tests / divisors)


def inequality(a: Member, x: int | None) -> str:
    """The closed form in words, for one secret or for those that are not at an end."""
    if a.family == RESPONSE:
        return "min_x N[x,y] >= a/(1+(n-1)a) sum_z N[z,y] for the entries N of the new one"
    name, times = ("a", "") if a.family == GEOMETRIC else ("b", " times s_x")
    words = f"(1+{name}^2) N[x] >= {name} (N[x-1] + N[x+1])"
    if x == 0:
        words = f"N[0] >= {name} N[1]"
    if x == a.size - 1:
        words = f"N[n-1] >= {name} N[n-2]"
    return f"{words} for the rows N of the new one{times}"


def _log(value: Fraction) -> float:
    """The logarithm of a fraction, also of one that is too small for a float; ``-inf`` for zero alone."""
    if value == 0:
        return -math.inf
    near = float(value)
    return math.log(near) if near > 1e-290 else math.log(value.numerator) - math.log(value.denominator)
