r"""Conditions for a channel to replace a member of a family: closed forms in place of linear programs.

A geometric, response or exponential member ``A`` has an explicit inverse. Therefore ``A R = B`` has one solution, and
its signs are the signs of a few sums. With ``a = e^(-epsilon)`` and rows ``B[0] .. B[n-1]``:

* geometric: ``B[0] >= a B[1]``, ``B[n-1] >= a B[n-2]`` and ``(1 + a^2) B[x] >= a (B[x-1] + B[x+1])`` between, entry by entry;
* response: in every column, ``min_x B[x,y] >= a/(1+(n-1)a) sum_z B[z,y]``;
* exponential: the geometric test with ``b`` in place of ``a``, for the rows ``s_x B[x]``.

The columns of ``A`` are linearly independent, so the average-case and the max-case order have the same answer.

**Exactness.** All entries are tested in floats at once; those whose sign is not clear are decided with fractions where decays
and probabilities are fractions, and with enclosures of ``e^(-epsilon)`` otherwise. An answer about exact probabilities is
exact; for a channel of floats, a sign within their rounding counts as ``holds within tol``.

>>> from noisewright.adversary.families.families import exponential_family, geometric_family
>>> precise = geometric_family.member(epsilon=8, size=5)
>>> print(closed_margin(precise, exponential_family.member(epsilon=8, size=5)))
the least entry of A^-1 B is -1.26642e-14 (secret 1, output 0)
>>> print(closed_refined(precise, geometric_family.member(epsilon=2, size=5)).status)
holds (exact)

Reference: Chatzikokolakis, Fernandes and Palamidessi (2019); the inverse of ``a^|x-y|`` is tridiagonal (Kac, Murdock and Szegő).
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from noisewright.adversary.exact.enclosures import PRECISIONS, Enclosure, ends_of, sign_of
from noisewright.adversary.exact.nearest import distance_to_hull
from noisewright.adversary.families._inequalities import (
    Target,
    inequality,
    inverse_row,
    inverse_scale,
    inverse_times,
    margin_at,
    rounding,
    sides,
)
from noisewright.adversary.families.member import EXPONENTIAL, GEOMETRIC, OVER_TRUNCATED, RESPONSE, Member
from noisewright.adversary.measures.gallery import Gain
from noisewright.adversary.refinement import Refinement
from noisewright.adversary.witness import GainWitness, PosteriorWitness, PostProcessing
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import ParameterError
from noisewright.core.exact import float_down
from noisewright.core.verdict import EXACT, FAILS, UNDECIDED, WITHIN
from noisewright.optimality.algebra.elimination import Rows

__all__ = ["Margin", "closed_margin", "closed_post_processing", "closed_refined"]


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

    >>> from noisewright.adversary.families.families import geometric_family, response_family
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

    >>> from noisewright.adversary.families.families import geometric_family
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
