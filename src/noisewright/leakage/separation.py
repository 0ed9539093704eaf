r"""Directions that separate: the reason why neither the max-case nor the average-case order holds.

The posteriors of B lie in the hull of those of A exactly when the columns of B lie in the cone of A's columns. If one does
not, some direction ``h`` over the secrets has ``h . A_j <= 0 < h . B_w`` for all j: an adversary who may bet ``h`` or pass
never gains by betting after A, and does after B. One direction thus refutes both orders, and it is looked for cheapest
first:

1. two secrets: where B tells a pair apart better than A ever does, ``h`` compares just these two;
2. in floats: a line of the pseudo-inverse of A, or what is left of a posterior after its projection on the cone;
3. in fractions, where both channels are exact: elimination, then the dual simplex method for each column.

Whatever its source, a direction counts only by its ``gap`` in exact arithmetic.

>>> from noisewright.leakage.columns import reduce_columns
>>> from noisewright.leakage.exact_matrix import read
>>> a = reduce_columns(read([["4/5", "1/5"], ["2/5", "3/5"]]))
>>> b = reduce_columns(read([["2/5", "3/5"], ["4/5", "1/5"]]))
>>> found = separate(a, b)
>>> found.direction, str(gap_of_bet(found.direction, a.given, b.given))
((Fraction(1, 2), Fraction(-1, 1)), '1/20')
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from noisewright.leakage.columns import Columns
from noisewright.leakage.enclosed_solution import enclose, short_solution
from noisewright.leakage.exact_matrix import Floats, Integers, Read, Rows, whole_columns
from noisewright.leakage.nearest import distance_to_hull, hull_weights
from noisewright.leakage.rational_program import (
    LARGEST_ELIMINATION,
    Elimination,
    TooLargeError,
    cone,
    elimination_work,
)
from noisewright.leakage.witness import GainWitness, PosteriorWitness, gain_witness

__all__ = [
    "Separation",
    "Vector",
    "bet",
    "beyond",
    "gap_of_bet",
    "gap_of_posterior",
    "pair_direction",
    "posterior_slack",
    "rounding_slack",
    "separate",
    "separating",
    "shorten",
]

Vector = tuple[Fraction, ...]

PLAIN, BINARY = (12, 1000), (30, 60)
"""Directions are shown with denominators up to, or binary places as many as, the first of these that keeps most of the gap."""

ENCLOSURES = (128, 384)
"""Binary places to which solutions are enclosed, one after the other."""

MOST_PAIRS = 60_000_000
"""Pairs of secrets are compared where that takes no more than this many ratios."""


@dataclass(frozen=True, eq=False)
class Separation:
    """What was found out about the columns of B and the cone of A's.

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
    """A separating direction, or weights that show there is none; for floats, as far as ``tol`` asks for."""
    exact = a.whole is not None and b.whole is not None
    blocks = _by_blocks(a, b)
    if blocks is not None:
        return blocks
    pair = _by_pair(a, b)
    best = None if pair is None else _shortened(pair, a, b)
    if best is not None and (exact or _far(*best, a, b, tol)):
        return Separation(best[1])
    near, independent = _weights(a, b)
    for direction in _suggested(a, b, near, independent):
        short = _shortened(direction, a, b)
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


def rounding_slack(a: Read, b: Read) -> Fraction:
    """How much of a gap may come from floats whose rows sum to one only up to rounding; 0 for exact channels."""
    units = [
        (len(given.outputs) + 2) * (1 if given.rounded_from is None else 8) for given in (a, b) if given.exact is None
    ]
    return Fraction(sum(units), 1 << 52)


def posterior_slack(a: Read, b: Read) -> Fraction:
    """What rounding of floats can add to the gap of a direction in ``[-1, 1]`` between posteriors.

    A logarithm is right to a share of its size, and so many times as wrong is the probability.
    """
    largest = 0.0
    for given in (a, b):
        if given.exact is None and (given.faint or given.rounded_from is not None):
            logs = given.channel.logs
            largest = max(largest, float(np.abs(logs[np.isfinite(logs)]).max(initial=0.0)))
    return Fraction(math.ceil(1 + largest), 1 << 49)


def gap_of_bet(direction: Sequence[Fraction], a: Read, b: Read) -> Fraction:
    """What betting ``direction`` or passing is worth after B beyond after A, from a uniform prior; exact."""
    return _measure(direction, a, b).bet


def gap_of_posterior(direction: Sequence[Fraction], a: Read, b: Read) -> tuple[Fraction, int]:
    """How far B's posteriors reach beyond A's along ``direction``, exactly, and the output of B that does."""
    found = _measure(direction, a, b)
    return found.reach, found.output


@dataclass(frozen=True)
class _Measured:
    """Along one direction: what a bet gains, how far B's posteriors reach beyond A's, at which output, and how far A's do."""

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


def separating(direction: Vector, a: Columns, b: Columns) -> Vector | None:
    """The direction, moved and shortened, if it separates a posterior of B from all of A's exactly; None if it does not."""
    short = _shortened(direction, a, b)
    return None if short is None else short[1]


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
    """Whether a direction in floats shows that both orders fail by more than ``tol``, so that nothing else need be tried."""
    if gap <= rounding_slack(a.given, b.given) or 2 * gap / len(b.given.outputs) <= Fraction(tol):
        return False
    reach = gap_of_posterior(direction, a.given, b.given)[0]
    return reach > posterior_slack(a.given, b.given) and reach / sum(abs(v) for v in direction) > Fraction(tol)


def _shortened(direction: Vector, a: Columns, b: Columns) -> tuple[Fraction, Vector] | None:
    """The direction in short numbers with what betting it gains, if it separates exactly; None if it does not.

    Subtracting a number from a direction moves all posteriors along it alike, so that those of A can be brought to at most 0
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
    """Where A is a program without randomness, B must be constant on each block of secrets that A does not tell apart."""
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
    """``e_x - c e_x'`` with c the largest ratio in A, for the pair that B tells apart best beyond it."""
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
    """``max_y C[x, y] / C[x', y]`` for all pairs; two zeros are no constraint, a zero below anything else is infinite."""
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
        return _shown(tuple(sign * v for v in vector), a, b, found)
    if found.independent:
        weights = found.solution
        if all(v >= 0 for row in weights for v in row):
            return Separation(None, weights, independent=True, elimination=found)
        pivot = min(range(len(weights)), key=lambda j: min(weights[j]) / max(abs(v) for v in found.left(j)))
        return _shown(tuple(-v for v in found.left(pivot)), a, b, found)
    columns: list[Vector] = []
    try:
        for w in range(right.shape[1]):
            inside, vector = cone(found, w, near[:, w].tolist())
            if not inside:
                return _shown(vector, a, b, found)
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
                short = _shortened(vector, a, b)
                if short is not None:
                    return Separation(short[1], independent=True)
    weights = None if found is None else short_solution(found, left, right)
    if weights is None or any(v < 0 for line in weights for v in line):
        return None
    return Separation(None, weights, independent=True)


def _shown(direction: Vector, a: Columns, b: Columns, found: Elimination) -> Separation:
    short = _shortened(direction, a, b)
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
