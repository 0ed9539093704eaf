"""One answer of one refinement order, in one direction: may this mechanism replace that one?

``A <= B`` reads "B is at least as safe as A", that is "B may replace A". An answer is a
:class:`~noisewright.guarantees.Verdict` with the order and the two names, a residual, and a witness that shows it: the
post-processing where it holds, an adversary where it does not.

>>> from noisewright.guarantees import EXACT
>>> print(Refinement("average", "B may replace A", EXACT, "B is A followed by a coin"))
average: B may replace A: holds (exact): B is A followed by a coin

Two outputs whose columns are proportional lead to the same belief, so no adversary loses by their being merged. A
post-processing between reduced channels is one between the channels: outputs of one group of the first are treated alike, and
a group of the second is split in the shares that its outputs have.

>>> from noisewright.qif.refinement.exact_channel import read
>>> found = reduce_columns(read([["1/4", "1/2", 0, "1/4"], ["1/8", "1/4", 0, "5/8"]]))
>>> found.groups, found.shares
([[0, 1], [3]], [Fraction(1, 3), Fraction(2, 3), Fraction(0, 1), Fraction(1, 1)])

For a direction ``h`` an adversary may bet, to win ``h(x)`` at secret ``x``, or pass. What that is worth after B beyond after
A,
and how far B's posteriors reach beyond A's along ``h``, are computed in exact arithmetic; a direction that was found in floats
counts only by these gaps. Where a direction is written in fewer digits, most of its gap is kept.

>>> from noisewright.qif.refinement.reduced_channel import reduce_columns
>>> from noisewright.qif.refinement.exact_channel import read
>>> a = reduce_columns(read([["4/5", "1/5"], ["2/5", "3/5"]]))
>>> b = reduce_columns(read([["2/5", "3/5"], ["4/5", "1/5"]]))
>>> direction = (Fraction(1, 2), Fraction(-1))
>>> str(gap_of_bet(direction, a.given, b.given)), [str(part) for part in gap_of_posterior(direction, a.given, b.given)]
('1/20', ['1/8', '1'])
>>> print(bet(direction, a.given, b.given).gap > 0, beyond(direction, a, b).output)
True 1

* The **deficiency** of A with respect to B is the largest ``V_g[u > B] - V_g[u > A]`` over gains with values in ``[0, 1]``
  at the uniform prior. By duality it is ``min_R sum |A R - B| / 2n`` over channels R: half the total variation distance,
  averaged over secrets, that no post-processing of A can do without. It is 0 exactly when B refines A, and the best gain
  shows why where it does not.
* The **shortfall** is ``min_R max |A R - B|``, the same in the worst entry.

The output of a solver is raw material. The deficiency is reported between the value of the gain that was found (exact
arithmetic) and the error of the post-processing that was found.

>>> a = [["3/4", 0, "1/4", 0], ["3/4", "1/4", 0, 0], [0, "1/4", "1/4", "1/2"]]
>>> b = [["1/2", 0, "1/2"], ["1/2", "1/2", 0], [0, "1/2", "1/2"]]
>>> found = deficiency(a, b)
>>> round(found.value, 9), found.upper - found.value < 1e-9
(0.083333333, True)
>>> round(shortfall(a, b), 9)
0.125

Reference: Le Cam, *Sufficiency and approximate sufficiency* (1964); Torgersen, *Comparison of statistical experiments* (1991).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from noisewright._typing import Floats, Integers
from noisewright.channels.channel import Channel
from noisewright.claims.figures import float_down
from noisewright.guarantees import EXACT, WITHIN
from noisewright.numerics.linear_algebra import Rows, Vector
from noisewright.numerics.polyhedra import solved
from noisewright.qif.refinement.exact_channel import Read, common_secrets, distance_to_hull, read, whole_columns
from noisewright.qif.refinement.witness import GainWitness, PosteriorWitness, PostProcessing, gain_witness

__all__ = [
    "Columns",
    "Deficiency",
    "Refinement",
    "best_gain",
    "bet",
    "beyond",
    "deficiency",
    "gap_of_bet",
    "gap_of_posterior",
    "least_total",
    "least_worst",
    "post_processing",
    "posterior_slack",
    "quick_post_processing",
    "reduce_columns",
    "rounding_slack",
    "separating",
    "shorten",
    "shortfall",
]


@dataclass(frozen=True)
class Refinement:
    """Whether one mechanism may replace another under one order; true where it may.

    ``order`` is ``average``, ``max``, ``privacy`` or ``metric``; ``direction`` says who replaces whom. ``status`` is one of the
    words of :mod:`noisewright.guarantees`. ``residual`` is how far the second channel is from a refinement of the first
    (0 where it is one, exactly), and None where that was not measured.
    """

    order: str
    direction: str
    status: str
    reason: str
    residual: float | None = None
    witness: Any = None

    def __bool__(self) -> bool:
        return self.status in (EXACT, WITHIN)

    def __str__(self) -> str:
        return f"{self.order}: {self.direction}: {self.status}: {self.reason}"


# Columns ------------------------------------------------------------------------------------------------------------------
#
# Columns of a channel, reduced: impossible outputs dropped, proportional columns merged, and the way back.


DIGITS = 13
"""Columns of floats are merged where their beliefs agree to this many digits."""


SMALLEST = 1e-300
"""Stands for sums that are too small for a float."""

LARGEST_INVERSE = 1e150
"""A guess is not made from an inverse with entries beyond this: products would overflow."""

TURNS = 200
"""Projections that a guess may take."""

MOST_PRODUCT = 4_000_000_000
"""Terms of products of the matrices that a guess may take."""


@dataclass(frozen=True, eq=False)
class Columns:
    """``floats[:, g]`` is the sum of the columns of group ``g``; ``whole`` the same in integers over ``total`` if exact.

    ``shares[y]`` is the part of its group that column ``y`` of the channel is, 0 for an impossible output. ``beliefs``
    are the posteriors where the floats are too small to distinguish them.
    """

    given: Read
    floats: Floats
    whole: Integers | None
    total: int
    groups: list[list[int]]
    shares: Sequence[Fraction | float]
    beliefs: Floats | None = None

    @cached_property
    def posteriors(self) -> Floats:
        """The beliefs after each group, from a uniform prior; one column each."""
        if self.whole is not None:  # also where probabilities are too small for floats
            heights = self.whole.sum(axis=0).tolist()
            return np.array([[v / s for v, s in zip(row, heights, strict=True)] for row in self.whole.tolist()])
        if self.beliefs is not None:
            return self.beliefs
        scaled = self.floats / self.floats.max(axis=0)
        return np.asarray(scaled / scaled.sum(axis=0))

    @cached_property
    def heights(self) -> Floats:
        """The sums of the columns, above zero also where floats underflow."""
        return np.asarray(np.maximum(self.floats.sum(axis=0), SMALLEST))


def reduce_columns(given: Read) -> Columns:
    """The reduced columns of a channel, exactly where it is exact."""
    groups: dict[object, list[int]] = {}  # by belief
    if given.faint:
        return _from_logs(given)
    if given.exact is None:
        matrix = given.floats
        sums = matrix.sum(axis=0)
        seen = np.flatnonzero(sums > 0)
        beliefs = np.round(matrix[:, seen] / sums[seen], DIGITS)
        for y, belief in zip(seen.tolist(), beliefs.T, strict=True):
            groups.setdefault(belief.tobytes(), []).append(y)
        found = list(groups.values())
        if len(found) == matrix.shape[1]:  # nothing to drop or to merge
            return Columns(given, matrix, None, 1, found, [1.0] * len(found))
        floats = np.stack([matrix[:, g].sum(axis=1) for g in found], axis=1)
        weights = np.zeros(len(sums))
        for group in found:
            weights[group] = sums[group] / sums[group].sum()
        return Columns(given, floats, None, 1, found, weights.tolist())
    whole, total = given.whole
    for y in range(whole.shape[1]):
        column = whole[:, y].tolist()
        divisor = math.gcd(*column)
        if divisor:
            groups.setdefault(tuple(v // divisor for v in column), []).append(y)
    found = list(groups.values())
    merged = np.stack([whole[:, g].sum(axis=1) for g in found], axis=1)
    heights = whole.sum(axis=0).tolist()
    shares: list[Fraction | float] = [Fraction(0)] * len(heights)
    for group in found:
        height = sum(heights[y] for y in group)
        for y in group:
            shares[y] = Fraction(heights[y], height)
    floats = np.array([[v / total for v in row] for row in merged.tolist()])
    return Columns(given, floats, merged, total, found, shares)


def _from_logs(given: Read) -> Columns:
    """The reduced columns where some probabilities are too small for floats: an output counts, however rare it is."""
    logs = given.channel.logs
    tops = logs.max(axis=0)
    seen = np.flatnonzero(np.isfinite(tops))
    scaled = np.exp(logs[:, seen] - tops[seen])
    sums = scaled.sum(axis=0)
    groups: dict[bytes, list[int]] = {}
    for k, belief in enumerate(np.round(scaled / sums, DIGITS).T):
        groups.setdefault(belief.tobytes(), []).append(k)
    heights = np.log(sums) + tops[seen]
    shares, found = np.zeros(logs.shape[1]), []
    for group in groups.values():
        parts = np.exp(heights[group] - heights[group].max())
        found.append(seen[group].tolist())
        shares[seen[group]] = parts / parts.sum()
    firsts = [group[0] for group in groups.values()]
    floats = np.stack([given.floats[:, g].sum(axis=1) for g in found], axis=1)
    return Columns(given, floats, None, 1, found, shares.tolist(), (scaled / sums)[:, firsts])


def post_processing(a: Columns, b: Columns, between: Floats | Rows) -> PostProcessing:
    """The post-processing of the channels themselves from one of their reduced columns, with its residual measured again.

    Floats are repaired first: clipped at zero and rows rescaled to one. An impossible output of the first is sent where the
    second goes on average; it never happens.
    """
    if isinstance(between, np.ndarray):
        clipped = np.clip(between, 0.0, None)
        sums = clipped.sum(axis=1, keepdims=True)
        clipped = np.where(sums > 0, clipped / np.where(sums > 0, sums, 1.0), 1 / clipped.shape[1])
        lifted = np.zeros((len(a.given.outputs), len(b.given.outputs)))
        lifted[:] = b.given.floats.mean(axis=0)
        shares = np.array([float(v) for v in b.shares])
        spread = np.zeros((len(b.groups), len(b.given.outputs)))
        for g, group in enumerate(b.groups):
            spread[g, group] = shares[group]
        for g, group in enumerate(a.groups):
            lifted[group] = clipped[g] @ spread
        channel = Channel(lifted, a.given.outputs, b.given.outputs, normalise=True)
        return PostProcessing(channel, float(np.abs(a.given.floats @ channel.matrix - b.given.floats).max()))
    assert b.given.exact is not None
    size = len(b.given.inputs)
    average = tuple(sum((row[y] for row in b.given.exact), Fraction(0)) / size for y in range(len(b.given.outputs)))
    place = {y: g for g, group in enumerate(b.groups) for y in group}
    exact: list[tuple[Fraction, ...]] = [average] * len(a.given.outputs)
    for g, group in enumerate(a.groups):
        row = tuple(
            between[g][place[y]] * Fraction(share) if y in place else Fraction(0) for y, share in enumerate(b.shares)
        )
        for y in group:
            exact[y] = row
    floats = [[float(v) for v in row] for row in exact]
    return PostProcessing(Channel(floats, a.given.outputs, b.given.outputs), 0.0, tuple(exact))


def quick_post_processing(a: Read, b: Read, tol: float) -> PostProcessing | None:
    """A post-processing in floats that misses by at most ``tol``, where projections find one; None says nothing.

    The least solution of ``A R = B``, then turns of clipping it at zero and going back to the solutions whose rows sum to
    one. Where there are solutions without zeros this gets to one in a few turns.
    """
    left, right = a.floats, b.floats
    turns = min(TURNS, MOST_PRODUCT // (left.size * right.shape[1])) if left.shape[1] > left.shape[0] else 1
    try:
        inverse = np.linalg.inv(left) if left.shape[0] == left.shape[1] else np.linalg.pinv(left)
    except np.linalg.LinAlgError:
        return None
    if not np.abs(inverse).max() < LARGEST_INVERSE:  # also where it is not a number
        return None
    found = inverse @ right
    least = found.min()
    for _ in range(turns):
        if least >= -1e-9:  # near enough that clipping may do
            made = _repaired(found, a, b)
            if made.residual <= tol:
                return made
        found = np.clip(found, 0.0, None)
        found += (1 - found.sum(axis=1, keepdims=True)) / found.shape[1]
        found -= inverse @ (left @ found - right)
        least = found.min()
    return None


def _repaired(found: Floats, a: Read, b: Read) -> PostProcessing:
    clipped = np.clip(found, 0.0, None)
    clipped[clipped.sum(axis=1) == 0] = b.floats.mean(axis=0)
    channel = Channel(clipped, a.outputs, b.outputs, normalise=True)
    return PostProcessing(channel, float(np.abs(a.floats @ channel.matrix - b.floats).max()))


# Directions ---------------------------------------------------------------------------------------------------------------
#
# Directions over the secrets: what betting along one gains, how far posteriors reach along it, and few digits that keep both.


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


# Deficiency ---------------------------------------------------------------------------------------------------------------
#
# Distance of a channel from a refinement of another, by linear programs.


ACCURACY = 1e-10
"""The finest that the simplex solver takes."""

SMALL = 4_000
"""Programs with fewer unknowns than this are solved by the simplex method, whose answer is a vertex."""

BITS = 40
"""Number of binary digits to which gains from a solver are rounded: digits below it are its noise."""


@dataclass(frozen=True, eq=False)
class Deficiency:
    """``value <= deficiency <= upper``: what ``witness`` gains by B (None at 0), and what ``processing`` misses."""

    value: float
    upper: float
    witness: GainWitness | None
    processing: PostProcessing


def deficiency(a: Any, b: Any) -> Deficiency:
    """The deficiency of ``a`` with respect to ``b``, with the gain and the post-processing that show it."""
    first, second = read(a), read(b)
    common_secrets(first, second)
    left, right = reduce_columns(first), reduce_columns(second)
    between, gain = least_total(left.floats, right.floats)
    witness = best_gain(gain, left, right, keep=1 - Fraction(1, 10**9))
    processing = post_processing(left, right, between)
    missed = np.abs(first.floats @ processing.channel.matrix - second.floats).sum() / (2 * len(first.inputs))
    value = 0.0 if witness is None else float_down(witness.gap)
    return Deficiency(value, max(float(missed) + 1e-15, value), witness, processing)


def shortfall(a: Any, b: Any) -> float:
    """``min_R max |A R - B|``: by how much, in the worst entry, B misses being a post-processing of A.

    Columns are as in the given channels, because splitting one changes its worst entry.
    """
    first, second = read(a), read(b)
    common_secrets(first, second)
    return float(least_worst(first.floats, second.floats)[1])


def best_gain(gain: Floats, a: Columns, b: Columns, keep: Fraction = Fraction(7, 8)) -> GainWitness | None:
    """A gain ``g[x, w]`` of a solver as a witness; None if it does not prefer B in exact arithmetic.

    It is rounded to plain fractions where these keep that part of the gap.
    """
    if not np.isfinite(gain).all() or np.ptp(gain, axis=1).max(initial=0.0) == 0:
        return None
    actions = [b.given.outputs[group[0]] for group in b.groups]
    spread = gain - gain.min(axis=1, keepdims=True)
    spread = spread / spread.max()
    whole = None
    for plain in (False, True):
        rows = [[_short(v, plain) for v in row] for row in spread.T.tolist()]
        if all(len(set(column)) == 1 for column in zip(*rows, strict=True)):
            continue
        found = gain_witness(rows, actions, a.given, b.given)
        if found.gap > 0 and (whole is None or found.gap >= keep * whole.gap):
            whole = found
    return whole


def _short(value: float, plain: bool) -> Fraction:
    return Fraction(value).limit_denominator(12) if plain else Fraction(round(value * 2**BITS), 2**BITS)


@dataclass
class _Program:
    """``minimise goal z`` with ``rows z <= 0``, ``sums z = totals``, ``z >= 0``."""

    goal: Floats
    rows: Any
    sums: Any
    totals: Floats
    signed: int = field(init=False)

    def __post_init__(self) -> None:
        self.signed = len(self.goal)


def least_total(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The channel R that makes ``sum |A R - B|`` least, and the gain ``g[x, w]`` in ``[0, 1]`` that proves it; in floats."""
    (n, m), k = a.shape, b.shape[1]
    apart = sparse.identity(n * k, format="csr")
    product = sparse.kron(sparse.csr_matrix(a), sparse.identity(k), format="csr")  # row x k + w, column y k + w
    sums = sparse.kron(sparse.identity(m), np.ones((1, k)), format="csr")
    equations = sparse.vstack(
        [sparse.hstack([product, apart, -apart]), sparse.hstack([sums, sparse.csr_matrix((m, 2 * n * k))])],
        format="csr",
    )
    goal = np.r_[np.zeros(m * k), np.ones(2 * n * k)]
    totals = np.r_[b.ravel(), np.ones(m)]
    program = _Program(goal, sparse.csr_matrix((0, len(goal))), equations, totals)
    answer = solved(program, "HiGHS" if len(goal) <= SMALL else "clarabel", ACCURACY)
    assert answer is not None, "the distance to a set that is not empty has a least value"
    gain = np.clip(0.5 - answer.sums[: n * k].reshape(n, k) / 2, 0.0, 1.0)
    return answer.point[: m * k].reshape(m, k), gain


def least_worst(a: Floats, b: Floats, channel: bool = True) -> tuple[Floats, float]:
    """R that makes ``max |A R - B|`` least, and that value as the solver has it; ``channel`` asks for rows that sum to one.

    Without it, columns of R sum to one: column w has the weights of the hull of A's columns nearest to B's column w.
    """
    (n, m), k = a.shape, b.shape[1]
    product = sparse.kron(sparse.csr_matrix(a), sparse.identity(k), format="csr")
    if channel:
        sums = sparse.kron(sparse.identity(m), np.ones((1, k)), format="csr")
    else:
        sums = sparse.kron(np.ones((1, m)), sparse.identity(k), format="csr")
    # The worst entry t and a constant 1 are two more unknowns: rows have zeros on their right.
    worst = -sparse.csr_matrix(np.ones((n * k, 1)))
    target = sparse.csr_matrix(b.reshape(-1, 1))
    rows = sparse.vstack(
        [sparse.hstack([product, worst, -target]), sparse.hstack([-product, worst, target])], format="csr"
    )
    count = sums.shape[0]
    constant = sparse.csr_matrix(([1.0], ([0], [m * k + 1])), shape=(1, m * k + 2))
    equations = sparse.vstack([sparse.hstack([sums, sparse.csr_matrix((count, 2))]), constant], format="csr")
    goal = np.zeros(m * k + 2)
    goal[-2] = 1.0
    program = _Program(goal, rows, equations, np.ones(count + 1))
    answer = solved(program, "HiGHS" if len(goal) <= SMALL else "clarabel", ACCURACY)
    assert answer is not None, "the distance to a set that is not empty has a least value"
    return answer.point[: m * k].reshape(m, k), float(answer.point[-2])
