"""The privacy order between members of families, in closed form: whether any two secrets are farther apart in B than
in A.

With ``a = e^(-epsilon)`` the distances of the families are ``epsilon |x-x'|`` (geometric), ``epsilon`` (response) and
``-|x-x'| ln b + |ln(s_x/s_x')|`` (exponential). They are compared as ``e^(-d)``: powers of a decay exactly, others
within bounds that are tightened until the comparison is decided.

>>> from noisewright.qif.refinement.families import exponential_family, geometric_family, response_family
>>> a, b = geometric_family.member(epsilon=1, size=4), exponential_family.member(epsilon=1, size=4)
>>> print(closed_private(a, b).status, "|", closed_private(b, a).status)
holds (exact) | fails (witness)
>>> shown = closed_private(b, a).witness  # for the metric of the exponential the geometric needs more than 1
>>> shown.pair, round(shown.after, 5)
((0, 3), 1.23077)

Reference: Chatzikokolakis, Fernandes and Palamidessi, *Comparing systems* (2019), the order on all metrics.

``A^-1 B`` for a geometric, response or exponential member ``A`` is, row by row and up to a positive factor, a sum of a few
rows of ``B``. The *margin* of a secret ``x`` and an output ``y`` is that sum: B may replace A exactly when none is below zero.

>>> from noisewright.qif.refinement.families import geometric_family, response_family
>>> a, b = geometric_family.member(decay="1/2", size=3), response_family.member(decay="1/2", size=3)
>>> str(margin_at(a, Target.of(a, b), 1, 0, 64))
'-1/16'

A geometric, response or exponential member ``A`` has an explicit inverse. Therefore ``A R = B`` has one solution, and
its signs are the signs of a few sums. With ``a = e^(-epsilon)`` and rows ``B[0] .. B[n-1]``:

* geometric: ``B[0] >= a B[1]``, ``B[n-1] >= a B[n-2]`` and ``(1 + a^2) B[x] >= a (B[x-1] + B[x+1])`` between, entry by entry;
* response: in every column, ``min_x B[x,y] >= a/(1+(n-1)a) sum_z B[z,y]``;
* exponential: the geometric test with ``b`` in place of ``a``, for the rows ``s_x B[x]``.

The columns of ``A`` are linearly independent, so the average-case and the max-case order have the same answer.

**Exactness.** All entries are tested in floats at once; those whose sign is not clear are decided with fractions where decays
and probabilities are fractions, and with enclosures of ``e^(-epsilon)`` otherwise. An answer about exact probabilities is
exact; for a channel of floats, a sign within their rounding counts as ``holds within tol``.

>>> from noisewright.qif.refinement.families import exponential_family, geometric_family
>>> precise = geometric_family.member(epsilon=8, size=5)
>>> print(closed_margin(precise, exponential_family.member(epsilon=8, size=5)))
the least entry of A^-1 B is -1.26642e-14 (secret 1, output 0)
>>> print(closed_refined(precise, geometric_family.member(epsilon=2, size=5)).status)
holds (exact)

Reference: Chatzikokolakis, Fernandes and Palamidessi (2019); the inverse of ``a^|x-y|`` is tridiagonal (Kac, Murdock and
Szegő).
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from noisewright._typing import Floats
from noisewright.channels.channel import Channel
from noisewright.claims.figures import float_down
from noisewright.exceptions import ChannelError, ParameterError
from noisewright.guarantees import EXACT, FAILS, UNDECIDED, WITHIN
from noisewright.metrics.base import Table
from noisewright.numerics.exact import PRECISIONS, Enclosure, Number, ends_of, log_bounds, sign_of
from noisewright.numerics.linear_algebra import Rows
from noisewright.qif.gains import Gain
from noisewright.qif.refinement.exact_channel import common_secrets, distance_to_hull, read
from noisewright.qif.refinement.families import (
    EXPONENTIAL,
    GEOMETRIC,
    OVER_TRUNCATED,
    RESPONSE,
    Decay,
    Member,
    as_member,
)
from noisewright.qif.refinement.reduced_channel import Refinement
from noisewright.qif.refinement.witness import OWN, GainWitness, MetricWitness, PosteriorWitness, PostProcessing

__all__ = [
    "CLOSED",
    "Margin",
    "Target",
    "closed_margin",
    "closed_post_processing",
    "closed_private",
    "closed_refined",
    "closeness",
    "inequality",
    "inverse_row",
    "inverse_scale",
    "inverse_times",
    "margin_at",
    "member_distances",
    "rounding",
    "sides",
]


CLOSED = (GEOMETRIC, RESPONSE, EXPONENTIAL)
"""Families whose distances have a closed form."""
MOST_PAIRS = 20_000
"""Pairs that are decided one by one; beyond them an answer stays open."""


def closed_private(a: Member, b: Member) -> Refinement | None:
    """Return whether ``b`` is at least as private as ``a`` for every metric; None where there is no closed form.

    ``a`` is geometric, response or exponential; ``b`` is one of those, or over-truncated where ``a`` is geometric. A failure
    carries the metric of ``a``, for which ``b`` needs the larger epsilon.
    """
    clamped = a.family == GEOMETRIC and b.family == OVER_TRUNCATED
    if a.made is not None or b.made is not None or a.family not in CLOSED or not (b.family in CLOSED or clamped):
        return None
    if a.inputs != b.inputs:
        raise ChannelError("the privacy order compares members over the same secrets in the same order.")
    words, direction = "no two secrets are farther apart in the new one", "b may replace a"
    if b.no_leak:
        return Refinement("privacy", direction, EXACT, "the new one tells nothing", 0.0)
    if a.family == b.family and a.decay.compare(b.decay) == 0:
        return Refinement("privacy", direction, EXACT, "they are one and the same channel", 0.0)
    open_pairs = False
    for x, z in _doubtful(a, b):
        sign = _sign(a, b, x, z)
        if sign == 1:  # e^(-d_A) > e^(-d_B): the pair is farther apart in B
            reason = f"secrets {a.secrets[x]!r} and {a.secrets[z]!r} are farther apart in the new one"
            return Refinement("privacy", direction, FAILS, reason, None, _witness(a, b, x, z))
        open_pairs = open_pairs or sign is None
    if open_pairs:
        return Refinement("privacy", direction, UNDECIDED, "some distances are not told apart at 2048 bits")
    return Refinement("privacy", direction, EXACT, words, 0.0)


def member_distances(member: Member) -> Floats:
    """The distances that the member itself puts between its secrets, as floats."""
    if member.made is not None or member.family == OVER_TRUNCATED:
        return member.channel().distinguishability()
    x, epsilon = np.arange(member.size), -member.decay.log
    steps = np.abs(x[:, None] - x[None, :])
    if member.family == RESPONSE:
        return np.asarray(np.where(steps > 0, epsilon, 0.0))
    if member.family == GEOMETRIC:
        return np.asarray(epsilon * steps)
    sums = member.log_sums()
    return np.asarray(-member.log_base() * steps + np.abs(sums[:, None] - sums[None, :]))


def _doubtful(a: Member, b: Member) -> list[tuple[int, int]]:
    """Pairs whose order floats do not show, or one that is clearly farther apart in B."""
    n = a.size
    if a.family == GEOMETRIC and b.family in (GEOMETRIC, OVER_TRUNCATED):
        return [(0, 1)]
    if a.family == RESPONSE and b.family in (GEOMETRIC, RESPONSE):
        return [(0, n - 1)]
    first, second = member_distances(a), member_distances(b)
    gap = first - second
    slack = 64 * 2.0**-52 * (1 + np.maximum(first, second)) + n * 2.0**-50
    if a.family == GEOMETRIC or b.family == RESPONSE:  # a sum of steps, or the nearest pairs: neighbours decide
        near = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) == 1
        gap = np.where(near, gap, np.inf)
    gap[np.tril_indices(n)] = np.inf
    if (gap < -slack).any():
        place = np.unravel_index(int(gap.argmin()), gap.shape)
        return [(int(place[0]), int(place[1]))]
    return [(int(x), int(z)) for x, z in np.argwhere(np.abs(gap) <= slack)[:MOST_PAIRS]]


def _sign(a: Member, b: Member, x: int, z: int) -> int | None:
    """The sign of ``e^(-d_A(x,z)) - e^(-d_B(x,z))``; None where it stays open."""
    first, second = _power(a, x, z), _power(b, x, z)
    if first is not None and second is not None:
        (one, many), (other, times) = first, second
        if one.rate is not None and other.rate is not None:
            left, right = many * one.rate, times * other.rate
            return (left < right) - (left > right)
        if one.exact is not None and other.exact is not None:
            left, right = one.exact**many, other.exact**times
            return (left > right) - (left < right)
    return sign_of(lambda bits: closeness(a, x, z, bits) - closeness(b, x, z, bits))


def _power(member: Member, x: int, z: int) -> tuple[Decay, int] | None:
    """``e^(-d)`` as a power of the decay, where it is one: always, except in the exponential family away from its ends."""
    if member.family == EXPONENTIAL and member.size > 2:
        ends = {(0, 1), (member.size - 2, member.size - 1)}
        return (member.decay, 1) if (min(x, z), max(x, z)) in ends else None
    return member.decay, 1 if member.family == RESPONSE else abs(x - z)


def closeness(member: Member, x: int, z: int, bits: int) -> Number:
    """``e^(-d)`` for two secrets of a member of one of the closed families."""
    power = _power(member, x, z)
    if power is not None:
        return power[0].number(bits) ** power[1]
    base = member.base(bits)
    assert base is not None
    n = member.size
    steps: Number = base ** abs(x - z)
    if x + z == n - 1:  # mirror images have equal sums
        return steps
    small, large = (x, z) if min(x, n - 1 - x) < min(z, n - 1 - z) else (z, x)
    return steps * member.row_sum(base, small) / member.row_sum(base, large)


def _witness(a: Member, b: Member, x: int, z: int) -> MetricWitness:
    """The metric of A, for which A needs epsilon 1 and B more: at least the ratio of the two distances of this pair."""
    after = math.inf
    if not a.no_leak:
        bits = 256 + 2 * max(a.decay.fine, b.decay.fine)  # also for an epsilon near 0
        ends = [ends_of(closeness(member, x, z, bits)) for member in (a, b)]
        least = Fraction(log_bounds(1 / ends[1][1], bits)[0], 1 << bits)
        most = Fraction(log_bounds(1 / ends[0][0], bits)[1], 1 << bits)
        after = max(float_down(least / most), math.nextafter(1.0, 2.0))  # the sign is known, whatever floats show
    metric = Table(member_distances(a), a.secrets, name=OWN)
    with np.errstate(invalid="ignore"):
        ratios = np.abs(b.logs()[x] - b.logs()[z])
    return MetricWitness(
        metric, (a.secrets[x], a.secrets[z]), b.outputs[int(np.nanargmax(ratios))], float(not a.no_leak), after
    )


# Inequalities -------------------------------------------------------------------------------------------------------------
#
# The inequalities behind the closed forms: rows of the explicit inverses, in floats for all entries and exactly for one.


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


# Closed refinement --------------------------------------------------------------------------------------------------------
#
# Conditions for a channel to replace a member of a family: closed forms in place of linear programs.


MOST_CELLS = 20_000
"""Entries that are decided one by one; beyond them an answer stays open."""
MOST_NEAREST = 200
"""Secrets up to which the point of a hull that is nearest to a posterior is searched."""
SMALL = 2_500
"""Maximum number of entries for which the post-processing is also given in fractions."""


@dataclass(frozen=True)
class Margin:
    """The least entry of ``A^-1 B``, between two fractions, and where it is; B may replace A where it is 0 or more.

    ``test`` encloses the left side of the inequality minus the right one there, which has the same sign.
    """

    low: Fraction
    high: Fraction
    test: tuple[Fraction, Fraction]
    secret: Hashable
    output: Hashable

    def __float__(self) -> float:
        return float((self.low + self.high) / 2)

    def __str__(self) -> str:
        return f"the least entry of A^-1 B is {float(self):.6g} (secret {self.secret!r}, output {self.output!r})"


def closed_refined(member: Member, b: Any, order: str = "average") -> Refinement | None:
    """Return whether ``b`` (a member, mechanism, channel or rows of numbers) may replace ``member``; None without a
    closed form.

    ``order`` is ``average`` or ``max``, which agree here. A failure carries a :class:`GainWitness`: an adversary with
    two actions who learns nothing from ``member`` and something from ``b``. Its ``gap`` is rounded down, and so are
    before and after. For the order ``max``, on up to ``MOST_NEAREST`` secrets, it is a :class:`PosteriorWitness` from
    the same row of the inverse.
    """
    if order not in ("average", "max"):
        raise ParameterError(f"closed forms are for the orders 'average' and 'max', not {str(order)[:40]!r}.")
    if not isinstance(member, Member) or member.family not in (GEOMETRIC, RESPONSE, EXPONENTIAL) or member.made:
        return None
    target = Target.of(member, b)
    if target.subnormal:  # floats so near to zero have hardly any digits
        return None

    def answer(status: str, reason: str, residual: float | None = None, witness: Any = None) -> Refinement:
        return Refinement(order, "b may replace a", status, reason, residual, witness)

    known = _known(member, target)
    if known is not None:
        return answer(EXACT, known, 0.0, _post_processing(member, target))
    found = _scan(member, target)
    if found.negative is not None:
        x, y = found.negative
        bet = _bet(member, target, x, y)
        if bet is not None:
            outside = order == "max" and member.size <= MOST_NEAREST
            witness = _posterior_witness(member, target, bet) if outside else _gain_witness(member, bet)
            place = f"secret {member.secrets[x]!r}, output {target.outputs[y]!r}"
            return answer(FAILS, f"{inequality(member, x)} fails at {place}", None, witness)
    if found.negative is not None or found.open:
        return answer(UNDECIDED, "some signs of the closed form are not clear at 2048 bits")
    made = _post_processing(member, target)
    if target.rounded:
        return answer(WITHIN, "the closed form holds up to the rounding of floats", made.residual, made)
    return answer(EXACT, f"{inequality(member, None)} in every column", 0.0, made)


def closed_margin(member: Member, b: Any) -> Margin:
    """The least entry of ``A^-1 B`` for a geometric, response or exponential member with epsilon greater than 0.

    >>> from noisewright.qif.refinement.families import geometric_family, response_family
    >>> found = closed_margin(geometric_family.member(decay="1/2", size=3), response_family.member(decay="1/2", size=3))
    >>> str(found.low), str(found.test[0])
    ('-1/4', '-1/16')
    """
    if not isinstance(member, Member) or member.family not in (GEOMETRIC, RESPONSE, EXPONENTIAL):
        raise ParameterError("a margin needs a geometric, response or exponential member to be replaced.")
    if member.no_leak:
        raise ParameterError("a member with epsilon 0 has no inverse and no margin; only constant channels replace it.")
    target = Target.of(member, b)
    entries = inverse_times(member, target)
    finite = np.where(np.isnan(entries), 0.0, entries)
    noise = 256 * np.spacing(np.abs(finite).max()) + np.abs(finite) * 1e-9
    near = np.argwhere(finite - noise <= (finite + noise).min())
    if len(near) > MOST_CELLS:  # all alike within rounding: any of them stands for the others
        near = near[:MOST_CELLS]
    best: Margin | None = None
    for x, y in near:
        test = margin_at(member, target, int(x), int(y), 256)
        base = member.base(256)
        assert base is not None
        low, high = ends_of(test / inverse_scale(member, base, int(x)))
        if best is None or high < best.low:
            best = Margin(low, high, ends_of(test), member.secrets[x], target.outputs[y])
    assert best is not None
    return best


def closed_post_processing(member: Member, b: Any) -> PostProcessing:
    """The one ``R`` with ``A R = B``, by the explicit inverse; its entries below zero, if there are any, are cut.

    >>> from noisewright.qif.refinement.families import geometric_family
    >>> quarter, half = (geometric_family.member(decay=f, size=3) for f in ("1/4", "1/2"))
    >>> [str(v) for v in closed_post_processing(quarter, half).exact[1]]
    ['7/27', '13/27', '7/27']
    """
    return _post_processing(member, Target.of(member, b))


@dataclass(frozen=True)
class _Scan:
    """Findings about the entries: one that is below zero, if any, and whether some stayed open."""

    negative: tuple[int, int] | None
    open: bool


def _known(a: Member, target: Target) -> str | None:
    """Why the target may replace ``a`` without any arithmetic on entries; None where that is not known."""
    b = target.member
    if (b is not None and b.no_leak) or (target.exact is not None and all(r == target.exact[0] for r in target.exact)):
        return "its rows are all equal, so it tells nothing"
    if b is None:
        return None
    same = a.family == b.family or (a.size == 2 and b.family in (GEOMETRIC, RESPONSE, EXPONENTIAL))
    clamped = a.family == GEOMETRIC and b.family == OVER_TRUNCATED
    order = b.decay.compare(a.decay)
    if order == 0 and same:
        return "they are one and the same channel"
    if order >= 0 and same and (a.size == 2 or a.family != EXPONENTIAL):
        return f"a smaller epsilon of the {a.family} family is a post-processing of a larger one"
    if order >= 0 and clamped:
        return "more geometric noise, and clamping, are post-processings"
    return None


def _scan(a: Member, target: Target) -> _Scan:
    left, right = sides(a, target)
    slack = rounding(target.logs) + rounding(np.array([a.size * a.log_base()]))
    with np.errstate(invalid="ignore"):
        gap = left - right
    gap[np.isnan(gap)] = np.inf  # zero on both sides
    negative = gap < -slack
    if negative.any():
        worst = np.where(negative, np.exp(left) * -np.expm1(-np.maximum(gap, -700)), 0.0)
        place = np.unravel_index(int(worst.argmin() if worst.min() < 0 else gap.argmin()), gap.shape)
        return _Scan((int(place[0]), int(place[1])), False)
    unclear = np.argwhere(np.abs(gap) <= slack)
    if target.rounded:
        return _Scan(None, False)
    unclear = unclear[np.argsort(gap[unclear[:, 0], unclear[:, 1]], kind="stable")]
    still_open = len(unclear) > MOST_CELLS
    for x, y in unclear[:MOST_CELLS]:
        sign = sign_of(partial(margin_at, a, target, int(x), int(y)))
        if sign == -1:
            return _Scan((int(x), int(y)), False)
        still_open = still_open or sign is None
    return _Scan(None, still_open)


def _post_processing(a: Member, target: Target) -> PostProcessing:
    b = Channel.from_logs(target.logs, a.inputs, target.outputs) if target.member else None
    matrix = np.exp(target.logs) if b is None else b.matrix
    constant = a.log_base() == 0  # nothing is known after A, and B must be constant
    made = np.repeat(matrix[:1], a.size, axis=0) if constant else np.maximum(inverse_times(a, target), 0.0)
    lost = made.sum(axis=1) <= 0  # with an epsilon near 0 floats may not see the inverse
    made[lost] = matrix[lost]
    channel = Channel(made, a.outputs, target.outputs, normalise=True)
    residual = float(np.abs(np.exp(a.logs()) @ channel.matrix - matrix).max())
    return PostProcessing(channel, residual, _exact_post_processing(a, target))


def _exact_post_processing(a: Member, target: Target) -> Rows | None:
    known = target.exact is not None or (target.member is not None and target.member.exact)
    if not a.exact or not known or a.no_leak or target.logs.size > SMALL:
        return None
    base = a.base(64)
    assert base is not None
    cells = [
        [margin_at(a, target, x, y, 64) / inverse_scale(a, base, x) for y in range(len(target.outputs))]
        for x in range(a.size)
    ]
    if any(isinstance(v, Enclosure) or v < 0 for row in cells for v in row):
        return None
    return tuple(tuple(Fraction(v) for v in row if not isinstance(v, Enclosure)) for row in cells)


@dataclass(frozen=True)
class _Bet:
    """``stakes[z]`` on secret ``z``: a mean of 0 or more after every output of A, of ``-worth`` or less after ``y`` of B.

    The largest of them is 1 or -1.
    """

    stakes: dict[int, Fraction]
    worth: Fraction
    y: int


def _bet(a: Member, target: Target, x: int, y: int) -> _Bet | None:
    """Row ``x`` of ``A^-1`` as fractions, rounded upwards, which can only raise a mean that is 0 or more.

    None where its mean after output ``y`` of B is not below zero after all.
    """
    for bits in PRECISIONS:
        stakes = {z: ends_of(v)[1] for z, v in inverse_row(a, x, bits).items()}
        worth = -ends_of(sum((v * target.entry(z, y, bits) for z, v in stakes.items()), Fraction(0)))[1]
        if worth > 0:
            largest = max(abs(v) for v in stakes.values())
            return _Bet({z: v / largest for z, v in stakes.items()}, worth / largest, y)
    return None


def _gain_witness(a: Member, bet: _Bet) -> GainWitness:
    """Two actions, to bet and to pass: A's output does not help to choose between them, and output ``y`` of B does.

    The gap is what that one output brings, rounded down.
    """
    n = a.size
    wins, keeps = ([Fraction(0)] * n for _ in range(2))
    for z, v in bet.stakes.items():
        (keeps if v > 0 else wins)[z] = abs(v)
    before, gap = sum(keeps, Fraction(0)) / n, bet.worth / n
    exact = (tuple(wins), tuple(keeps))
    gain = Gain([[float(v) for v in row] for row in exact], ("bet", "pass"), a.secrets, name="witness")
    return GainWitness(gain, (1 / n,) * n, float_down(before), float_down(before + gap), gap, exact)


def _posterior_witness(a: Member, target: Target, bet: _Bet) -> PosteriorWitness:
    """The posterior after output ``y`` of B, beyond the hull of A's along the stakes, by a gap that is rounded down."""
    direction = tuple(-bet.stakes.get(z, Fraction(0)) for z in range(a.size))
    weight = sum((target.entry(z, bet.y, 256) for z in range(a.size)), Fraction(0))
    gap = bet.worth / ends_of(weight)[1]
    column = target.logs[:, bet.y]
    posterior = np.exp(column - column.max())
    posterior /= posterior.sum()
    own = np.exp(a.logs())
    own = own[:, own.any(axis=0)]
    nearest, distance = distance_to_hull(own / own.sum(axis=0), posterior)
    if distance < 1e-9:  # floats do not see it; the gap bounds the distance from below
        distance = float(gap) / math.sqrt(float(sum(v * v for v in direction)))
    return PosteriorWitness(posterior, target.outputs[bet.y], distance, nearest, direction, gap, a.secrets)
