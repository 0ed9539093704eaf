"""Directions that separate: the reason why neither the max-case nor the average-case order holds.

The posteriors of B lie in the hull of A's posteriors exactly when the columns of B lie in the cone of A's columns. If
one does not, some direction ``h`` over the secrets has ``h . A_j <= 0 < h . B_w`` for all j: an adversary who may bet
``h`` or pass never gains by betting after A, and does after B. One direction thus refutes both orders, and it is looked
for cheapest first:

1. two secrets: where B distinguishes a pair better than A ever does, ``h`` compares just these two;
2. in floats: a line of the pseudo-inverse of A, or the remainder of a posterior after its projection on the cone;
3. in fractions, where both channels are exact: elimination, then the dual simplex method for each column.

Whatever its source, a direction counts only by its gap in exact arithmetic
(:mod:`~noisewright.qif.refinement.reduced_channel`).

>>> from noisewright.qif.refinement.reduced_channel import reduce_columns
>>> from noisewright.qif.refinement.reduced_channel import gap_of_bet
>>> from noisewright.qif.refinement.exact_channel import read
>>> a = reduce_columns(read([["4/5", "1/5"], ["2/5", "3/5"]]))
>>> b = reduce_columns(read([["2/5", "3/5"], ["4/5", "1/5"]]))
>>> found = separate(a, b)
>>> found.direction, str(gap_of_bet(found.direction, a.given, b.given))
((Fraction(1, 2), Fraction(-1, 1)), '1/20')

The member with ``a = e^(-epsilon)`` lies between two members of its family whose decays are fractions as near to it as
one likes: a *sharper* one, which reveals a little more, and a *safer* one. Smaller epsilons of a family refine larger
ones (which the closed forms check each time), and the orders are transitive, so that for any A

* if the sharper one may replace A, the member may;
* if not even the safer one may, the member may not, with the same witness: the member reveals at least as much.

Only where A lies exactly between the two does this leave an answer open.

>>> from noisewright.qif.refinement.families import geometric_family
>>> sharper, safer = neighbours(geometric_family.member(epsilon=1, size=3))
>>> sharper.decay.compare(safer.decay), sharper.exact, safer.exact
(-1, True, True)

>>> found = prepare([["2/3", "1/3"], ["1/3", "2/3"]], [["1/2", "1/2"], ["1/2", "1/2"]], 1e-8)
>>> found.exact, len(found.a.groups), len(found.b.groups)
(True, 2, 1)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from noisewright._typing import Floats, Integers
from noisewright._utils.validation import as_slack
from noisewright.channels.channel import Channel
from noisewright.guarantees import EXACT, FAILS, UNDECIDED, WITHIN
from noisewright.numerics.exact import Enclosure
from noisewright.numerics.linear_algebra import (
    LARGEST_ELIMINATION,
    Elimination,
    Rows,
    Vector,
    elimination_work,
    enclose,
    short_solution,
)
from noisewright.numerics.polyhedra import TooLargeError, cone
from noisewright.qif.refinement.closed_forms import closed_refined
from noisewright.qif.refinement.exact_channel import Read, common_secrets, hull_weights, read
from noisewright.qif.refinement.families import EXPONENTIAL, FAMILIES, Member, as_member
from noisewright.qif.refinement.reduced_channel import (
    Columns,
    Refinement,
    gap_of_posterior,
    posterior_slack,
    quick_post_processing,
    reduce_columns,
    rounding_slack,
    separating,
)
from noisewright.qif.refinement.witness import PostProcessing

__all__ = [
    "FORWARD",
    "Decision",
    "Pair",
    "Separation",
    "answered",
    "check_tolerance",
    "neighbours",
    "pair_direction",
    "prepare",
    "separate",
    "through_neighbours",
    "trivial",
]


ENCLOSURES = (128, 384)
"""Binary places to which solutions are enclosed, one after the other."""

MOST_PAIRS = 60_000_000
"""Pairs of secrets are compared where that takes no more than this many ratios."""


@dataclass(frozen=True, eq=False)
class Separation:
    """Findings about the columns of B and the cone of A's.

    ``direction`` separates them, or is None. ``weights`` are fractions ``W >= 0`` with ``A W = B``, where that was proved;
    ``near`` are the best weights in floats, and ``proved`` says that exact ones near them exist, although they were not written
    out. ``elimination`` is A in reduced form, where it was computed.
    """

    direction: Vector | None
    weights: Rows | None = None
    near: Floats | None = None
    independent: bool = False
    elimination: Elimination | None = None
    proved: bool = False


def separate(a: Columns, b: Columns, tol: float = 0.0) -> Separation:
    """Return a separating direction, or weights that show that none exists; for floats, as far as ``tol`` asks for."""
    exact = a.whole is not None and b.whole is not None
    blocks = _by_blocks(a, b)
    if blocks is not None:
        return blocks
    pair = _by_pair(a, b)
    best = None if pair is None else separating(pair, a, b)
    if best is not None and (exact or _far(*best, a, b, tol)):
        return Separation(best[1])
    near, independent = _weights(a, b)
    for direction in _suggested(a, b, near, independent):
        short = separating(direction, a, b)
        if short is not None and (best is None or short[0] > best[0]):
            best = short
    if best is not None and (exact or _far(*best, a, b, tol)):
        return Separation(best[1])
    if exact:
        found = _exactly(a, b, near)
        if found is not None:
            return found
    seen = best is not None and best[0] > rounding_slack(a.given, b.given)
    return Separation(best[1] if best is not None and seen else None, None, near, independent)


def pair_direction(a: Columns, x: int, other: int) -> Vector | None:
    """``e_x - c e_x'`` with c the largest ratio in A, exactly; None where it is infinite."""
    whole = a.given.whole[0]
    ratios = [Fraction(int(v), int(u)) for v, u in zip(whole[x], whole[other], strict=True) if u]
    if any(v and not u for v, u in zip(whole[x], whole[other], strict=True)) or not ratios:
        return None
    direction = [Fraction(0)] * len(whole)
    direction[x], direction[other] = Fraction(1), -max(ratios)
    return tuple(direction)


def _far(gap: Fraction, direction: Vector, a: Columns, b: Columns, tol: float) -> bool:
    """Return whether a direction in floats shows that both orders fail by more than ``tol``, so that nothing else need
    be tried.
    """
    if gap <= rounding_slack(a.given, b.given) or 2 * gap / len(b.given.outputs) <= Fraction(tol):
        return False
    reach = gap_of_posterior(direction, a.given, b.given)[0]
    return reach > posterior_slack(a.given, b.given) and reach / sum(abs(v) for v in direction) > Fraction(tol)


def _suggested(a: Columns, b: Columns, near: Floats, independent: bool) -> Iterator[Vector]:
    """Directions that floats suggest, from the best weights with ``A W`` near B."""
    if independent:
        inverse = np.linalg.pinv(a.floats)
        lengths = np.abs(inverse).max(axis=1)
        for weights in (near, near / b.heights) if b.given.faint else (near,):  # a rare output counts as much
            scores = weights.min(axis=1) / lengths
            if scores.min() < 0:
                yield _fractions(-inverse[int(scores.argmin())])
        left = b.floats - a.floats @ near
        if np.abs(left).max() > 1e-12:
            yield _fractions(left[:, int(np.abs(left).sum(axis=0).argmax())])
        return
    mixed = a.posteriors @ (near * a.heights[:, None] / b.heights)
    rest = b.posteriors - mixed
    worst = int(np.abs(rest).max(axis=0).argmax())
    if np.abs(rest[:, worst]).max() > 1e-13:
        yield _fractions(rest[:, worst] - rest[:, worst] @ mixed[:, worst])


def _by_blocks(a: Columns, b: Columns) -> Separation | None:
    """Return the answer where A is a deterministic program: B must be constant on each block of secrets that A does not
    distinguish.
    """
    if a.whole is not None:
        certain = bool(((a.whole == 0) | (a.whole == a.total)).all())
    else:
        certain = not a.given.channel.has_logs and bool(np.isin(a.floats, (0.0, 1.0)).all())
    if not certain:
        return None
    rows = [int(np.flatnonzero(a.floats[:, j])[0]) for j in range(a.floats.shape[1])]
    block = a.floats.argmax(axis=1)
    numbers = b.floats if b.whole is None else b.whole
    differs = np.argwhere(numbers != numbers[np.array(rows)[block]])
    if not len(differs):
        exact = None if b.whole is None else tuple(tuple(Fraction(int(v), b.total) for v in b.whole[x]) for x in rows)
        return Separation(None, exact, b.floats[rows], True)
    if b.whole is None:
        return None
    x, w = (int(i) for i in differs[0])
    direction = [Fraction(0)] * len(b.whole)
    sign = 1 if b.whole[x, w] > b.whole[rows[block[x]], w] else -1
    direction[x], direction[rows[block[x]]] = Fraction(sign), Fraction(-sign)
    return Separation(tuple(direction))


def _by_pair(a: Columns, b: Columns) -> Vector | None:
    """Return ``e_x - c e_x'`` with c the largest ratio in A, for the pair that B distinguishes best beyond it."""
    size, columns = a.floats.shape
    if size < 2 or size * size * max(columns, b.floats.shape[1]) > MOST_PAIRS:
        return None
    allowed, taken = _ratios(a.floats), _ratios(b.floats)
    with np.errstate(invalid="ignore"):
        excess = np.where(np.isinf(allowed), -np.inf, taken / allowed)
    x, other = (int(i) for i in np.unravel_index(int(excess.argmax()), excess.shape))
    if not excess[x, other] > 1 + 1e-9:
        return None
    return pair_direction(a, x, other)


def _ratios(matrix: Floats) -> Floats:
    """Return ``max_y C[x, y] / C[x', y]`` for all pairs; two zeros do not constrain, a zero below anything else is
    infinite.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found = np.array([np.nanmax(row / matrix, axis=1) for row in matrix])
    np.fill_diagonal(found, 1.0)
    return found


def _weights(a: Columns, b: Columns) -> tuple[Floats, bool]:
    """Weights in floats with ``A W`` near B, and whether A's columns are independent; signs are kept only if they are."""
    size, columns = a.floats.shape
    if columns <= size:
        targets = b.posteriors if b.given.faint else b.floats
        weights, _, rank, values = np.linalg.lstsq(a.floats, targets, rcond=None)
        if rank == columns and values[-1] > 1e-13 * values[0]:
            return np.asarray(weights * b.heights if b.given.faint else weights), True
    points, targets = a.posteriors, b.posteriors
    found = np.stack([hull_weights(points, target) for target in targets.T], axis=1)
    return np.asarray(found * b.heights / a.heights[:, None]), False


def _exactly(a: Columns, b: Columns, near: Floats) -> Separation | None:
    """The decision in fractions; None if it would take too long."""
    assert a.whole is not None
    assert b.whole is not None
    left, right = _same_scale(a, b)
    bits = max(int(v).bit_length() for matrix in (left, right) for v in matrix.ravel())
    if elimination_work(len(left), left.shape[1], right.shape[1], bits) > LARGEST_ELIMINATION:
        return _by_enclosure(a, b, left, right) if left.shape[0] == left.shape[1] else None
    found = Elimination(left.tolist(), right.tolist())
    if found.outside is not None:
        column, vector = found.outside
        sign = 1 if sum(v * int(u) for v, u in zip(vector, right[:, column], strict=True)) > 0 else -1
        return _separated(tuple(sign * v for v in vector), a, b, found)
    if found.independent:
        weights = found.solution
        if all(v >= 0 for row in weights for v in row):
            return Separation(None, weights, independent=True, elimination=found)
        pivot = min(range(len(weights)), key=lambda j: min(weights[j]) / max(abs(v) for v in found.left(j)))
        return _separated(tuple(-v for v in found.left(pivot)), a, b, found)
    columns: list[Vector] = []
    try:
        for w in range(right.shape[1]):
            inside, vector = cone(found, w, near[:, w].tolist())
            if not inside:
                return _separated(vector, a, b, found)
            columns.append(vector)
    except TooLargeError:
        return None
    return Separation(None, tuple(zip(*columns, strict=True)), elimination=found)


def _by_enclosure(a: Columns, b: Columns, left: Integers, right: Integers) -> Separation | None:
    """Signs of the only solution, where A is square and large; None where they stay open."""
    found = None
    for bits in ENCLOSURES:
        found = enclose(left, right, bits)
        if found is None:
            return None
        if found.positive:
            near = (found.scaled / (1 << bits)).astype(np.float64)
            return Separation(None, None, near, independent=True, proved=True)
        if found.negative:
            row = found.least[0]
            unit = np.array([[int(x == row)] for x in range(len(left))], dtype=object)
            line = enclose(
                left.T, unit << left.shape[0] * 64, bits
            )  # shifted, for digits of an inverse of large integers
            if line is not None:
                vector = tuple(Fraction(-int(v)) for v in line.scaled[:, 0])
                short = separating(vector, a, b)
                if short is not None:
                    return Separation(short[1], independent=True)
    weights = None if found is None else short_solution(found, left, right)
    if weights is None or any(v < 0 for line in weights for v in line):
        return None
    return Separation(None, weights, independent=True)


def _separated(direction: Vector, a: Columns, b: Columns, found: Elimination) -> Separation:
    short = separating(direction, a, b)
    assert short is not None, "a separating direction has a gap"
    return Separation(short[1], elimination=found)


def _same_scale(a: Columns, b: Columns) -> tuple[Integers, Integers]:
    """Both as integers over one denominator, so that ``A R = B`` is the same equation."""
    assert a.whole is not None
    assert b.whole is not None
    common = math.gcd(a.total, b.total)
    return a.whole * (b.total // common), b.whole * (a.total // common)


def _fractions(vector: Floats) -> Vector:
    return tuple(Fraction(v) for v in vector.tolist())


# Neighbours ---------------------------------------------------------------------------------------------------------------
#
# Exact answers about members with powers of e in them, through neighbours in their family that are fractions.


BITS = 96
"""Significant bits of the decays of the neighbours."""
MOST_ENTRIES = 150
"""Members with more entries than this have fractions too long to decide orders in."""


def neighbours(member: Member) -> tuple[Member, Member] | None:
    """Return a member of the family that reveals a little more, and one that reveals a little less; None where no such
    member exists.
    """
    if member.made is not None or member.family not in FAMILIES or member.exact or member.size**2 > MOST_ENTRIES:
        return None
    base = member.base(BITS)
    if not isinstance(base, Enclosure):
        return None
    low, high = base.ends()
    if not 0 < low < high < 1:
        return None
    family = FAMILIES[member.family]
    weighted = member.family == EXPONENTIAL and member.size > 2
    kind = "weight" if weighted else "decay"
    sharper, safer = (family.member(**{kind: end}, secrets=member.secrets) for end in (low, high))  # type: ignore[arg-type]
    return sharper, safer


def through_neighbours(member: Member, decide: Callable[[Member], Refinement]) -> Refinement | None:
    """Return whether ``member`` may replace what ``decide`` compares its argument with; None where that stays open."""
    found = neighbours(member)
    if found is None:
        return None
    sharper, safer = found
    above = decide(sharper)
    if above.status == EXACT and _refines(sharper, member):
        return replace(
            above, reason="so may a member of its family that tells a little more, in fractions", witness=None
        )
    below = decide(safer)
    if below.status == FAILS and _refines(member, safer):
        return replace(below, reason=f"{below.reason}, and even from a member of its family that tells a little less")
    return None


def _refines(first: Member, second: Member) -> bool:
    found = closed_refined(first, second)
    return found is not None and found.status == EXACT


# Pair ---------------------------------------------------------------------------------------------------------------------
#
# Two channels to be compared: each is read, reduced and separated once.


@dataclass(frozen=True, eq=False)
class Pair:
    """Two channels over the same secrets, ready to be compared: the orders share the findings about them."""

    first: Read
    second: Read
    tol: float

    @property
    def exact(self) -> bool:
        """Return whether both are known exactly."""
        return self.first.exact is not None and self.second.exact is not None

    @cached_property
    def a(self) -> Columns:
        """The reduced columns of the first."""
        return reduce_columns(self.first)

    @cached_property
    def b(self) -> Columns:
        """The reduced columns of the second."""
        return reduce_columns(self.second)

    @cached_property
    def guess(self) -> PostProcessing | None:
        """A post-processing that misses by at most ``tol``, if plain linear algebra finds one; for floats."""
        return quick_post_processing(self.first, self.second, self.tol)

    @cached_property
    def separation(self) -> Separation:
        """Separation of B's columns from the cone of A's, if any."""
        return separate(self.a, self.b, self.tol)


def prepare(a: Any, b: Any, tol: float) -> Pair:
    """Two channels to compare; different secrets and a tolerance that is none are refused."""
    check_tolerance(tol)
    first, second = read(a), read(b)
    common_secrets(first, second)
    return Pair(first, second, float(tol))


def check_tolerance(tol: object) -> None:
    """Refuse a tolerance that is none."""
    as_slack(tol, "tol is the largest entry that may be off in a refinement: a number from 0 to below 1.")


# Answering ----------------------------------------------------------------------------------------------------------------
#
# Answers about an order between two channels: by a closed form, by inspection, or by the order's own decision
# procedure.


FORWARD = "B may replace A"

Decision = tuple[str, str, float | None, Any]
"""A status, the reason, the residual and the witness."""


def answered(
    order: str,
    decide: Callable[[Pair], Decision],
    a: Any,
    b: Any,
    tol: float,
    direction: str,
    pair: Callable[[], Pair] | None,
) -> Refinement:
    """The answer of one order: by a closed form where there is one, otherwise as ``decide`` finds for the two channels."""
    closed = _closed(a, b, order, direction)
    if closed is not None:
        return closed
    ready = prepare(a, b, tol) if pair is None else pair()
    found = Refinement(order, direction, *decide(ready))
    return _sharpened(found, ready, lambda near: answered(order, decide, ready.first, near, tol, direction, pair=None))


def _sharpened(found: Refinement, pair: Pair, decide: Callable[[Member], Refinement]) -> Refinement:
    """The answer, made exact where A is exact and B a member that only its floats stood for."""
    member = None if pair.second.rounded_from is None else as_member(pair.second.rounded_from)
    if found.status not in (WITHIN, UNDECIDED) or pair.first.exact is None or member is None:
        return found
    exact = through_neighbours(member, decide)
    if exact is None:
        return found
    return replace(exact, witness=found.witness) if exact.status == EXACT else exact


def _closed(a: Any, b: Any, order: str, direction: str) -> Refinement | None:
    """The answer of a closed form, where ``a`` belongs to a family that has one and its signs are clear."""
    member = as_member(a)
    found = None if member is None else closed_refined(member, b, order)
    return None if found is None or found.status == UNDECIDED else replace(found, direction=direction)


def trivial(pair: Pair) -> tuple[str, PostProcessing] | None:
    """Return why any order holds without computation, with the post-processing: one secret, nothing revealed, or no
    difference.
    """
    first, second = pair.first, pair.second
    if second.rounded_from is not None:
        same_rows = False  # rows that round to the same floats may differ
    elif second.exact is None:
        numbers = _given(second)
        same_rows = bool((numbers == numbers[0]).all())
    else:
        same_rows = all(row == second.exact[0] for row in second.exact)
    if len(first.inputs) == 1 or same_rows:
        reason = "there is only one secret" if len(first.inputs) == 1 else "the new one tells nothing about the secret"
        exact = None if second.exact is None else (second.exact[0],) * len(first.outputs)
        rows = Channel(np.tile(second.floats[0], (len(first.outputs), 1)), first.outputs, second.outputs)
        return reason, PostProcessing(rows, 0.0, exact)
    if _same(first, second):
        unit = np.eye(len(first.outputs))
        exact = tuple(tuple(Fraction(int(v)) for v in row) for row in unit)
        return "the two are equal", PostProcessing(Channel(unit, first.outputs, second.outputs), 0.0, exact)
    return None


def _same(first: Read, second: Read) -> bool:
    """Return whether the two are known to be one channel: by their fractions, by the floats given, or as one
    mechanism.
    """
    if first.exact is not None or second.exact is not None:
        return first.exact == second.exact
    if first.rounded_from is not None or second.rounded_from is not None:
        member = as_member(first.rounded_from)
        return first.rounded_from is second.rounded_from or (
            member is not None and member == as_member(second.rounded_from)
        )
    return np.array_equal(_given(first), _given(second))


def _given(one: Read) -> Floats:
    """The numbers that a channel was made of: logarithms where it has probabilities too small for floats."""
    return np.asarray(one.channel.logs) if one.channel.has_logs else one.floats
