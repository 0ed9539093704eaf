r"""Directions over the secrets: what betting along one gains, how far posteriors reach along it, and few digits that keep both.

For a direction ``h`` an adversary may bet, to win ``h(x)`` at secret ``x``, or pass. What that is worth after B beyond after A,
and how far B's posteriors reach beyond A's along ``h``, are computed in exact arithmetic; a direction that was found in floats
counts only by these gaps. Where a direction is written in fewer digits, most of its gap is kept.

>>> from noisewright.adversary.orders._columns import reduce_columns
>>> from noisewright.adversary.exact.channels import read
>>> a = reduce_columns(read([["4/5", "1/5"], ["2/5", "3/5"]]))
>>> b = reduce_columns(read([["2/5", "3/5"], ["4/5", "1/5"]]))
>>> direction = (Fraction(1, 2), Fraction(-1))
>>> str(gap_of_bet(direction, a.given, b.given)), [str(part) for part in gap_of_posterior(direction, a.given, b.given)]
('1/20', ['1/8', '1'])
>>> print(bet(direction, a.given, b.given).gap > 0, beyond(direction, a, b).output)
True 1
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from noisewright.adversary.exact.channels import Read, whole_columns
from noisewright.adversary.exact.nearest import distance_to_hull
from noisewright.adversary.orders._columns import Columns
from noisewright.adversary.witness import GainWitness, PosteriorWitness, gain_witness
from noisewright.optimality.algebra.elimination import Vector

__all__ = [
    "bet",
    "beyond",
    "gap_of_bet",
    "gap_of_posterior",
    "posterior_slack",
    "rounding_slack",
    "separating",
    "shorten",
]


PLAIN, BINARY = (12, 1000), (30, 60)
"""Denominators and numbers of binary places for directions; the first of these that keeps most of the gap is used."""


def rounding_slack(a: Read, b: Read) -> Fraction:
    """Return the part of a gap that may come from floats whose rows sum to one only up to rounding; 0 for exact
    channels.
    """
    units = [
        (len(given.outputs) + 2) * (1 if given.rounded_from is None else 8) for given in (a, b) if given.exact is None
    ]
    return Fraction(sum(units), 1 << 52)


def posterior_slack(a: Read, b: Read) -> Fraction:
    """Return the most that rounding of floats can add to the gap of a direction in ``[-1, 1]`` between posteriors.

    A logarithm is right up to a relative error, and the probability is wrong by the multiple of that error.
    """
    largest = 0.0
    for given in (a, b):
        if given.exact is None and (given.faint or given.rounded_from is not None):
            logs = given.channel.logs
            largest = max(largest, float(np.abs(logs[np.isfinite(logs)]).max(initial=0.0)))
    return Fraction(math.ceil(1 + largest), 1 << 49)


def gap_of_bet(direction: Sequence[Fraction], a: Read, b: Read) -> Fraction:
    """Return the value of betting ``direction`` or passing after B beyond after A, from a uniform prior; exact."""
    return _measure(direction, a, b).bet


def gap_of_posterior(direction: Sequence[Fraction], a: Read, b: Read) -> tuple[Fraction, int]:
    """Return how far B's posteriors reach beyond A's along ``direction``, exactly, and the output of B that does."""
    found = _measure(direction, a, b)
    return found.reach, found.output


@dataclass(frozen=True)
class _Measured:
    """One direction: the gain of a bet, how far B's posteriors reach beyond A's, at which output, and how far A's
    do.
    """

    bet: Fraction
    reach: Fraction
    output: int
    furthest: Fraction


def _measure(direction: Sequence[Fraction], a: Read, b: Read) -> _Measured:
    whole, scale = whole_columns([direction])
    rows = [x for x, v in enumerate(whole[0]) if v]
    worth, means = [], []
    for given in (a, b):
        columns, total = given.whole
        values = np.dot(whole[0, rows], columns[rows]).tolist()
        worth.append(Fraction(sum(v for v in values if v > 0), total * scale))
        means.append(_largest_mean(values, given.heights, scale))
    (furthest, _), (theirs, output) = means
    return _Measured((worth[1] - worth[0]) / len(a.inputs), theirs - furthest, output, furthest)


def _largest_mean(values: list[int], heights: list[int], scale: int) -> tuple[Fraction, int]:
    """The largest quotient of a value and a height, with its place: floats find those near it, fractions the largest."""
    rough = [(v / (s * scale), y) for y, (v, s) in enumerate(zip(values, heights, strict=True)) if s]
    top = max(rough)[0]
    near = [y for r, y in rough if r >= top - abs(top) * 2.0**-50]
    return max((Fraction(values[y], heights[y] * scale), y) for y in near)


def bet(direction: Vector, a: Read, b: Read) -> GainWitness:
    """The adversary who may bet ``direction`` or pass, as a gain in ``[0, 1]``."""
    nothing = (Fraction(0),) * len(direction)
    return gain_witness([direction, nothing], ("bet", "pass"), a, b)


def beyond(direction: Vector, a: Columns, b: Columns) -> PosteriorWitness:
    """The posterior of B that is furthest outside along ``direction``, with its distance from the hull of A's."""
    short = shorten(direction, lambda h: gap_of_posterior(h, a.given, b.given)[0])
    chosen = direction if short is None else short[1]
    gap, output = gap_of_posterior(chosen, a.given, b.given)
    posterior = np.array([int(v) / b.given.heights[output] for v in b.given.whole[0][:, output]])
    nearest, distance = distance_to_hull(a.posteriors, posterior)
    length = float(sum(v * v for v in chosen)) ** 0.5
    if distance < 1e-9:  # floats do not see it; the exact gap bounds the distance from below
        distance = float(gap) / length
    return PosteriorWitness(posterior, b.given.outputs[output], distance, nearest, chosen, gap, a.given.inputs)


def shorten(
    direction: Sequence[Fraction], gap: Callable[[Sequence[Fraction]], Fraction]
) -> tuple[Fraction, Vector] | None:
    """The direction scaled to ``[-1, 1]`` in as few digits as keep most of its gap; None if it has none."""
    largest = max((abs(v) for v in direction), default=Fraction(0))
    if not largest:
        return None
    scaled = tuple(v / largest for v in direction)
    whole = gap(scaled)
    if whole <= 0:
        return None
    for rounded in _roundings(scaled):
        kept = gap(rounded)
        if 4 * kept >= 3 * whole:
            return kept, rounded
    return whole, scaled


def _roundings(vector: Vector) -> Iterator[Vector]:
    for most in PLAIN:
        yield tuple(v.limit_denominator(most) for v in vector)
    for bits in BINARY:  # one denominator for all: thousands of bits less than one for each
        yield tuple(Fraction(round(v * (1 << bits)), 1 << bits) for v in vector)


def separating(direction: Vector, a: Columns, b: Columns) -> tuple[Fraction, Vector] | None:
    """The direction in short numbers with what betting it gains, if it separates exactly; None if it does not.

    Subtracting a number from a direction moves all posteriors along it alike. Therefore A's can be brought to at most 0
    and the one of B beyond them above it.
    """
    largest = max(abs(v) for v in direction)
    if not largest:
        return None
    scaled = tuple(v / largest for v in direction)
    found = _measure(scaled, a.given, b.given)
    if found.reach <= 0:
        return None
    bets = found.furthest <= 0 and found.bet > 0
    centred = scaled if bets else tuple(v - found.furthest for v in scaled)

    def gap(h: Sequence[Fraction]) -> Fraction:
        measured = _measure(h, a.given, b.given)
        return measured.bet if measured.reach > 0 else Fraction(0)

    return shorten(centred, gap)
