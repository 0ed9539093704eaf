r"""The privacy order between members of families, in closed form: whether any two secrets are farther apart in B than
in A.

With ``a = e^(-epsilon)`` the distances of the families are ``epsilon |x-x'|`` (geometric), ``epsilon`` (response) and
``-|x-x'| ln b + |ln(s_x/s_x')|`` (exponential). They are compared as ``e^(-d)``: powers of a decay exactly, others
within bounds that are tightened until the comparison is decided.

>>> from noisewright.adversary.families.families import exponential_family, geometric_family, response_family
>>> a, b = geometric_family.member(epsilon=1, size=4), exponential_family.member(epsilon=1, size=4)
>>> print(closed_private(a, b).status, "|", closed_private(b, a).status)
holds (exact) | fails (witness)
>>> shown = closed_private(b, a).witness  # for the metric of the exponential the geometric needs more than 1
>>> shown.pair, round(shown.after, 5)
((0, 3), 1.23077)

Reference: Chatzikokolakis, Fernandes and Palamidessi, *Comparing systems* (2019), the order on all metrics.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from noisewright.adversary.exact.enclosures import Number, ends_of, sign_of
from noisewright.adversary.families.decay import Decay
from noisewright.adversary.families.member import EXPONENTIAL, GEOMETRIC, OVER_TRUNCATED, RESPONSE, Member
from noisewright.adversary.refinement import Refinement
from noisewright.adversary.witness import OWN, MetricWitness
from noisewright.core.arrays import Floats
from noisewright.core.errors import ChannelError
from noisewright.core.exact import float_down, log_bounds
from noisewright.core.metrics.metric import Table
from noisewright.core.verdict import EXACT, FAILS, UNDECIDED

__all__ = ["CLOSED", "closed_private", "closeness", "member_distances"]

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
