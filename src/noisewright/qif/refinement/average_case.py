"""Average-case refinement for two secrets: compare the curves of the best tests.

For two secrets an adversary tests one against the other, and ``f_C(s) = sum_y max(s C[0, y], C[1, y])`` says how well a
test does when being right about the first secret counts ``s`` times. A is refined by B exactly when ``f_A >= f_B``
everywhere, that is when A's concave curve of detection against false alarms lies on or above B's. ``f_A`` is linear between
the likelihood ratios of A, and ``f_B`` is convex, so the ratios of A decide: ``O(m log m)``, in fractions or in floats.

Where it holds, the post-processing is built directly: outputs of B, in the order of their beliefs, each take the
stretch of A's remaining outputs that has their mass and their mean. (The left-curtain coupling of two measures in
convex order.)

>>> from noisewright.qif.refinement.reduced_channel import reduce_columns
>>> from noisewright.qif.refinement.exact_channel import read
>>> a = reduce_columns(read([["3/4", "1/4"], ["1/4", "3/4"]]))
>>> b = reduce_columns(read([["5/8", "3/8"], ["3/8", "5/8"]]))
>>> [[str(v) for v in row] for row in curtain(a, b)]
[['3/4', '1/4'], ['1/4', '3/4']]
>>> better_test(a, b) is None, [str(v) for v in better_test(b, a)]
(True, ['3/5', '-1'])

Reference: Blackwell (1953); Beiglboeck and Juillet, *On a problem of optimal transport under marginal martingale
constraints* (2016).

``A <= B`` holds exactly when ``A R = B`` for some channel R (post-processing), and exactly when ``V_g[pi > A] >= V_g[pi >
B]`` for every gain and every prior. It implies the max-case order, which implies the privacy order. Answers come from the
cheapest of:

1. one secret, equal channels, or a B that reveals nothing; a closed form, where A is of a family that has one;
2. two secrets: the curves of the best tests (:mod:`~noisewright.qif.refinement.average_case`);
3. a direction that separates a column of B from the cone of A's (:mod:`~noisewright.qif.refinement.decisions`);
4. independent columns of A: the only candidate for R, solved for;
5. a linear program; for exact channels its answer is a hint for one in fractions.

**Exactness.** For exact channels the answer is ``holds (exact)`` or ``fails (witness)`` unless the sizes are too large
for fractions. For floats it is ``holds within tol`` (with the post-processing and its error, measured again),
``fails (witness)`` (an adversary whose advantage, computed exactly from the given floats, is beyond the effect of rows
that sum to one only up to rounding), or ``undecided``.

>>> geometric = [["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]]
>>> response = [["3/5", "1/5", "1/5"], ["1/5", "3/5", "1/5"], ["1/5", "1/5", "3/5"]]
>>> found = average_refined(geometric, response)
>>> print(found.status, found.witness.gap)
fails (witness) 1/30
>>> print(average_refined(geometric, [["1/2", "1/2"], ["1/2", "1/2"], ["1/2", "1/2"]]))
average: B may replace A: holds (exact): the new one tells nothing about the secret

Reference: Blackwell (1953); McIver, Morgan, Smith, Espinoza and Meinicke, *Abstract channels and their robust
information-leakage ordering* (2014).

A hyper with weights ``a_i`` on posteriors ``delta^i`` is refined by one with weights ``b_j`` on ``gamma^j`` exactly
when each posterior can be split (``lambda_ij >= 0``, ``sum_j lambda_ij = 1``) so that the mass at j is
``b_j gamma^j = sum_i lambda_ij a_i delta^i``: mass ``lambda_ij a_i`` moves from i to j, and every target is the mean of
its parts. Both must have the same mean, the prior. This is refinement of the channels behind the hypers, so the answer
comes from :mod:`~noisewright.qif.refinement.average_case`.

If the posteriors of the first are linearly independent *and the means agree*, it is enough that the posteriors of the
second lie in the hull.

>>> from noisewright.channels.channel import Channel
>>> fine, coarse = Channel([[0.75, 0.25], [0.25, 0.75]]).push(), Channel([[0.625, 0.375], [0.375, 0.625]]).push()
>>> found = earth_move(fine, coarse)
>>> print(found.status), found.witness.plan.tolist()
holds (exact)
(None, [[0.375, 0.125], [0.125, 0.375]])
>>> print(earth_move(coarse, fine).status)
fails (witness)

Reference: Alvim et al., *The science of quantitative information flow* (2020), chapter 12.

The refinements of A, ``{A R : R a channel}``, are a compact convex set. Let ``B*`` be the point of it nearest to B in the
Euclidean norm. If it is B, then B refines A; otherwise ``G = B - B*``, read as a gain ``g(w, x) = G[x, w]``, prefers B at
the uniform prior:

    ``V_g[u > A] = <B*, G> / n``  and  ``V_g[u > B] - V_g[u > A] >= ||G||^2 / n > 0``.

The gain is signed; ``witness`` has it shifted for each secret and scaled to ``[0, 1]``, with its exact gap. Prefer
:func:`~noisewright.qif.refinement.reduced_channel.deficiency` for reporting: its gain is the one with the largest gap.

>>> a = [["3/4", 0, "1/4", 0], ["3/4", "1/4", 0, 0], [0, "1/4", "1/4", "1/2"]]
>>> b = [["1/2", 0, "1/2"], ["1/2", "1/2", 0], [0, "1/2", "1/2"]]
>>> found = project(a, b)
>>> ((8 * found.gain).round(9) + 0.0).tolist()
[[0.0, -1.0, 1.0], [0.0, 1.0, -1.0], [0.0, 0.0, 0.0]]
>>> round(48 * found.before, 9), round(24 * found.after, 9)
(1.0, 1.0)

Reference: McIver, Morgan, Smith, Espinoza and Meinicke (2014), for the separating gain.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from scipy import sparse

from noisewright._typing import Floats
from noisewright.channels.channel import Channel
from noisewright.channels.hyper import Hyper
from noisewright.exceptions import ParameterError
from noisewright.guarantees import EXACT, FAILS, UNDECIDED, WITHIN
from noisewright.numerics.linear_algebra import Rows, Vector
from noisewright.numerics.polyhedra import TooLargeError, stochastic
from noisewright.qif.refinement.decisions import FORWARD, Decision, Pair, answered, check_tolerance, trivial
from noisewright.qif.refinement.exact_channel import common_secrets, read
from noisewright.qif.refinement.reduced_channel import (
    Columns,
    Refinement,
    best_gain,
    bet,
    gap_of_bet,
    least_total,
    least_worst,
    post_processing,
    rounding_slack,
    shorten,
)
from noisewright.qif.refinement.witness import GainWitness, PostProcessing, gain_witness

__all__ = [
    "MeanWitness",
    "Projection",
    "Transport",
    "average_refined",
    "better_test",
    "curtain",
    "curtain_in_floats",
    "curves",
    "earth_move",
    "project",
]


def curves(a: Columns, b: Columns) -> tuple[Floats, Floats, Floats]:
    """The likelihood ratios of A, and both curves there, in floats; for pictures and for quick answers."""
    first, second = a.floats
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = second / first
    ratios = np.unique(ratios[np.isfinite(ratios)])
    values = [np.maximum(ratios[:, None] * c.floats[0], c.floats[1]).sum(axis=1) for c in (a, b)]
    return ratios, values[0], values[1]


def better_test(a: Columns, b: Columns) -> Vector | None:
    """Return the direction ``(s, -1)`` for the ratio of A at which B's curve is furthest above A's, scaled; None if no
    ratio has one.

    Exact where both channels are; for floats it is exact about the binary fractions that they are.
    """
    left, right = a.given.whole, b.given.whole
    ratios = sorted({Fraction(int(v), int(u)) for u, v in left[0].T if u})
    above, best = Fraction(0), None
    curve_a, curve_b = (_Curve(whole.T.tolist(), total) for whole, total in (left, right))
    for s in ratios:
        gap = (curve_b.at(s) - curve_a.at(s)) / max(s, Fraction(1))
        if gap > above:
            above, best = gap, s
    return None if best is None else (min(best, Fraction(1)), -min(1 / best, Fraction(1)) if best else Fraction(-1))


class _Curve:
    """``f(s)`` of integer columns, by sums over the columns sorted by their ratio."""

    def __init__(self, columns: list[list[int]], total: int) -> None:
        finite = sorted((Fraction(v, u), u, v) for u, v in columns if u)
        self._ratios = [r for r, _, _ in finite]
        self._below = [0, *accumulate(u for _, u, _ in finite)]  # first row, of columns whose ratio is below s
        upper = sum(v for _, v in columns)
        self._above = [upper - v for v in [0, *accumulate(v for _, _, v in finite)]]
        self._total = total

    def at(self, s: Fraction) -> Fraction:
        i = bisect_left(self._ratios, s)
        return (s * self._below[i] + self._above[i]) / self._total


def curtain(a: Columns, b: Columns) -> Rows:
    """The post-processing between reduced exact channels on two secrets, where :func:`better_test` found nothing."""
    assert a.whole is not None
    assert b.whole is not None
    first = [(Fraction(int(u), int(u + v)), Fraction(int(u + v), a.total)) for u, v in a.whole.T]
    second = [(Fraction(int(u), int(u + v)), Fraction(int(u + v), b.total)) for u, v in b.whole.T]
    return tuple(tuple(Fraction(v) for v in row) for row in _couple(first, second))


def curtain_in_floats(a: Columns, b: Columns) -> Floats:
    """The same for channels in floats; it misses by a few roundings where the order holds, and by more where it does not."""
    masses = [c.floats.sum(axis=0) for c in (a, b)]
    places = [c.posteriors[0] for c in (a, b)]
    masses = [m / m.sum() for m in masses]
    first, second = (list(zip(p.tolist(), m.tolist(), strict=True)) for p, m in zip(places, masses, strict=True))
    return np.array(_couple(first, second), dtype=np.float64)


Number = Fraction | float
Atoms = list[tuple[Any, Any, int]]


def _couple(first: Sequence[tuple[Number, Number]], second: Sequence[tuple[Number, Number]]) -> list[list[Any]]:
    """Return the part of each of the first atoms that goes to each of the second; an atom is (place, mass)."""
    rest: Atoms = sorted((place, mass, j) for j, (place, mass) in enumerate(first))
    result: list[list[Any]] = [[0] * len(second) for _ in first]
    for w, (place, mass) in sorted(enumerate(second), key=lambda pair: pair[1][0]):
        taken, rest = _stretch(rest, mass, place)
        for j, amount in taken:
            result[j][w] += amount / first[j][1]
    return result


def _stretch(atoms: Atoms, mass: Any, mean: Any) -> tuple[list[tuple[int, Any]], Atoms]:
    """Return the stretch of sorted atoms (place, mass, name) with this mass and this mean, and the remaining atoms."""
    ends: list[Any] = [0]
    for _, amount, _ in atoms:
        ends.append(ends[-1] + amount)
    last = max(ends[-1] - mass, 0)
    starts = sorted({min(max(v, 0), last) for e in ends for v in (e, e - mass)})
    low, high = 0, len(starts) - 1  # the mean grows with the start, linearly between these
    while high - low > 1:
        middle = (low + high) // 2
        if _sum(atoms, ends, starts[middle], mass) <= mass * mean:
            low = middle
        else:
            high = middle
    start = starts[low]
    first, second = (_sum(atoms, ends, starts[i], mass) for i in (low, high))
    if second != first:
        start += (starts[high] - starts[low]) * min(max((mass * mean - first) / (second - first), 0), 1)
    stop = start + mass
    taken: list[tuple[int, Any]] = []
    left: Atoms = []
    for (place, amount, j), begin, end in zip(atoms, ends, ends[1:], strict=False):
        inside = max(0, min(end, stop) - max(begin, start))
        if inside:
            taken.append((j, inside))
        if inside < amount:
            left.append((place, amount - inside, j))
    return taken, left


def _sum(atoms: Atoms, ends: list[Any], start: Any, mass: Any) -> Any:
    """The sum of places over the stretch of this mass that begins at ``start``."""
    stop = start + mass
    return sum(
        place * (min(end, stop) - max(begin, start))
        for (place, _, _), begin, end in zip(atoms, ends, ends[1:], strict=False)
        if end > start and begin < stop
    )


# Average ------------------------------------------------------------------------------------------------------------------
#
# The average-case order: may B replace A against every adversary who plays the average over outputs?


MOST_UNKNOWNS = 60_000
"""Linear programs with more unknowns than this are not started."""

MOST_ENTRIES = 1_000_000
"""The largest table of fractions that the exact program starts from."""


def average_refined(
    a: Any, b: Any, tol: float = 1e-8, *, direction: str = FORWARD, pair: Callable[[], Pair] | None = None
) -> Refinement:
    """Return whether ``b`` may replace ``a`` against every gain and prior; a channel, a mechanism, a member or rows of
    numbers each.

    ``tol`` is the largest entry that may be off where floats are compared. The witness is a :class:`PostProcessing` where
    it holds and a :class:`GainWitness` where it fails.
    """
    return answered("average", _decide, a, b, tol, direction, pair)


def _decide(pair: Pair) -> Decision:
    known = trivial(pair)
    if known is not None:
        return EXACT, known[0], 0.0, known[1]
    if not pair.exact and pair.guess is not None:
        return _within(pair.guess)
    a, b = pair.a, pair.b
    if len(a.given.inputs) == 2:
        answer = _two_secrets(pair)
        if answer is not None:
            return answer
    found = pair.separation
    if found.direction is not None:
        witness = bet(found.direction, a.given, b.given)
        if pair.exact or _clear(witness, pair):
            return FAILS, _LOST, None, witness
    if pair.exact and found.independent and found.weights is not None:
        return EXACT, _SOLVED, 0.0, post_processing(a, b, found.weights)
    if found.proved and found.near is not None:
        return EXACT, _ENCLOSED, 0.0, post_processing(a, b, found.near)
    if found.near is not None and found.independent:
        made = post_processing(a, b, found.near)
        if made.residual <= pair.tol and not pair.exact:
            return _within(made)
    return _by_program(pair)


_LOST = "an adversary who bets on some secrets or passes gains more from the new one"
_ENCLOSED = "the only post-processing there can be has entries proved to be above 0"
_SOLVED = "the new one is a post-processing of the old one, solved in fractions"


def _within(made: PostProcessing) -> Decision:
    """The answer that a post-processing within the tolerance gives."""
    return WITHIN, f"the post-processing misses by {made.residual:.2g}", made.residual, made


def _clear(witness: GainWitness, pair: Pair) -> bool:
    """Return whether a gap in floats is beyond rounding and shows a miss of more than ``tol`` in some entry.

    A gain in ``[0, 1]`` gains at most ``k/2`` times the worst entry by which B, with k outputs, misses a refinement.
    """
    if witness.gap <= rounding_slack(pair.a.given, pair.b.given):
        return False
    return 2 * witness.gap / len(pair.b.given.outputs) > Fraction(pair.tol)


def _two_secrets(pair: Pair) -> Decision | None:
    a, b = pair.a, pair.b
    test = better_test(a, b)
    short = None if test is None else shorten(test, lambda h: gap_of_bet(h, a.given, b.given))
    if short is not None:
        witness = bet(short[1], a.given, b.given)
        if pair.exact or _clear(witness, pair):
            return FAILS, "a test of one secret against the other does better with the new one", None, witness
    if pair.exact:
        return (
            EXACT,
            "the curve of best tests of the old one is nowhere below",
            0.0,
            post_processing(a, b, curtain(a, b)),
        )
    made = post_processing(a, b, curtain_in_floats(a, b))
    if made.residual <= pair.tol:
        return _within(made)
    return None


def _by_program(pair: Pair) -> Decision:
    """Linear programs, in floats, and in fractions where both channels are exact."""
    a, b, found = pair.a, pair.b, pair.separation
    unknowns = len(a.groups) * len(b.groups)
    if unknowns > MOST_UNKNOWNS:
        return UNDECIDED, f"a linear program of {unknowns} unknowns is too large", None, None
    between, gain = least_total(a.floats, b.floats)
    witness = best_gain(gain, a, b)
    if found.direction is not None:
        other = bet(found.direction, a.given, b.given)
        witness = other if witness is None or other.gap > witness.gap else witness
    if witness is not None and (pair.exact or _clear(witness, pair)):
        return FAILS, "an adversary gains more from the new one", None, witness
    if pair.exact:
        proved = _in_fractions(pair, between)
        if proved is not None:
            return proved
    made = _better(pair, between)
    if made.residual <= pair.tol:
        return _within(made)
    if witness is not None and witness.gap > rounding_slack(a.given, b.given):
        return FAILS, "an adversary gains more from the new one", made.residual, witness
    return UNDECIDED, f"the best post-processing found misses by {made.residual:.2g}", made.residual, made


def _better(pair: Pair, between: Floats) -> PostProcessing:
    """The post-processing of a solver; where it misses by more than ``tol``, the one that misses least in the worst entry."""
    made = post_processing(pair.a, pair.b, between)
    if made.residual <= pair.tol:
        return made
    again = post_processing(pair.a, pair.b, least_worst(pair.a.floats, pair.b.floats)[0])
    return min(made, again, key=lambda one: one.residual)


def _in_fractions(pair: Pair, hints: Floats) -> Decision | None:
    """The decision by the exact program; None if it would take too long."""
    found = pair.separation.elimination
    if found is None:
        return None
    rank, free = len(found.pivots), found.unknowns - len(found.pivots)
    if (rank * found.right + free) * (free * (found.right - 1) + 2) > MOST_ENTRIES:
        return None
    try:
        holds, rows = stochastic(found, hints)
    except TooLargeError:
        return None
    if holds:
        return EXACT, _SOLVED, 0.0, post_processing(pair.a, pair.b, rows)
    actions = [pair.b.given.outputs[group[0]] for group in pair.b.groups]
    return (
        FAILS,
        "an adversary gains more from the new one",
        None,
        gain_witness(rows, actions, pair.a.given, pair.b.given),
    )


# Earth move ---------------------------------------------------------------------------------------------------------------
#
# The average-case order on hyper-distributions, as a transport of beliefs.


@dataclass(frozen=True, eq=False)
class Transport:
    """``shares[i, j]`` is ``lambda_ij`` and ``plan[i, j]`` the mass that moves; it misses by ``residual`` in the worst entry."""

    shares: Floats
    plan: Floats
    residual: float

    def to_json(self) -> dict[str, Any]:
        """The transport as plain data."""
        return {
            "kind": "transport",
            "shares": self.shares.tolist(),
            "plan": self.plan.tolist(),
            "residual": self.residual,
        }


@dataclass(frozen=True)
class MeanWitness:
    """A secret whose probability is ``before`` in the mean of the first hyper and ``after`` in the mean of the
    second.
    """

    secret: Hashable
    before: float
    after: float

    def to_json(self) -> dict[str, Any]:
        """The difference as plain data."""
        return {"kind": "mean", "secret": str(self.secret), "before": self.before, "after": self.after}


def earth_move(first: Hyper, second: Hyper, tol: float = 1e-8, *, direction: str = FORWARD) -> Refinement:
    """Return whether the second hyper refines the first; the witness is a :class:`Transport` where it does.

    Where it does not, the witness is a :class:`MeanWitness` if the means differ, otherwise the :class:`GainWitness` of the
    channels behind the hypers, on the secrets that the prior does not leave out.
    """
    check_tolerance(tol)
    if not isinstance(first, Hyper) or not isinstance(second, Hyper):
        raise ParameterError("earth moves are between two hypers; push a prior through a channel to get one.")
    if first.inputs != second.inputs:
        raise ParameterError("the two hypers must be about the same secrets in the same order.")
    means = [(h.inners * h.outers).sum(axis=1) for h in (first, second)]
    apart = np.abs(means[0] - means[1])
    if apart.max() > max(tol, 1e-12):
        x = int(apart.argmax())
        witness = MeanWitness(first.inputs[x], float(means[0][x]), float(means[1][x]))
        return Refinement(
            "average", direction, FAILS, "the two hypers have different means", float(apart.max()), witness
        )
    kept = np.flatnonzero(means[0] > 0)
    channels = [_behind(h, kept) for h in (first, second)]
    found = average_refined(channels[0], channels[1], tol, direction=direction)
    if isinstance(found.witness, PostProcessing):
        shares = found.witness.channel.matrix
        plan = shares * first.outers[:, None]
        return replace(found, witness=Transport(shares, plan, found.witness.residual))
    return found


def _behind(hyper: Hyper, kept: Any) -> Channel:
    """The channel that the hyper comes from, on the secrets of positive probability."""
    joint = (hyper.inners * hyper.outers)[kept]
    names = tuple(hyper.inputs[int(x)] for x in kept)
    return Channel(joint / joint.sum(axis=1, keepdims=True), names, tuple(range(joint.shape[1])))


# Projection ---------------------------------------------------------------------------------------------------------------
#
# The refinement of A that is nearest to B, and the gain that points from it to B.


ACCURACY = 1e-13
MOST_POLISHED = 1_500
"""The active set is solved again where it has no more unknowns than this."""


@dataclass(frozen=True, eq=False)
class Projection:
    """``nearest`` is ``B* = A R``, ``between`` is R, ``gain[x, w]`` is ``B - B*`` and ``distance`` its Euclidean norm.

    ``before`` and ``after`` are the vulnerabilities of A and B under the signed gain. ``witness`` is None where its
    exact gap is not beyond the possible effect of rounding: then B is a refinement as far as floats can distinguish.
    """

    nearest: Floats
    between: Floats
    gain: Floats
    distance: float
    before: float
    after: float
    witness: GainWitness | None


def project(a: Any, b: Any) -> Projection:
    """The Euclidean projection of ``b`` on the refinements of ``a``."""
    first, second = read(a), read(b)
    common_secrets(first, second)
    left, right = first.floats, second.floats
    between = _polished(left, right, _solve(left, right))
    known = average_refined(first, second).witness
    if isinstance(known, PostProcessing):  # where B refines A, the solver gets only near to it
        between = min(between, known.channel.matrix, key=lambda one: float(np.linalg.norm(left @ one - right)))
    nearest = left @ between
    gain = right - nearest
    worth = [float((gain.T @ matrix).max(axis=0).sum()) / len(left) for matrix in (left, right)]
    witness = None
    if np.abs(gain).max() > 1e-12:
        rows = [[Fraction(v) for v in row] for row in gain.T.tolist()]
        witness = gain_witness(rows, second.outputs, first, second)
        if witness.gap <= rounding_slack(first, second):
            witness = None
    return Projection(nearest, between, gain, float(np.linalg.norm(gain)), worth[0], worth[1], witness)


def _solve(a: Floats, b: Floats) -> Floats:
    """``min ||A R - B||^2`` over channels R, by an interior-point method."""
    import clarabel  # type: ignore[import-untyped]

    (n, m), k = a.shape, b.shape[1]
    unknowns, apart = m * k, n * k
    goal = sparse.block_diag([sparse.csc_matrix((unknowns, unknowns)), sparse.identity(apart)], format="csc")
    product = sparse.kron(sparse.csr_matrix(a), sparse.identity(k))
    sums = sparse.kron(sparse.identity(m), np.ones((1, k)))
    rest = sparse.csr_matrix((m + unknowns, apart))
    matrix = sparse.hstack(
        [sparse.vstack([product, sums, -sparse.identity(unknowns)]), sparse.vstack([-sparse.identity(apart), rest])],
        format="csc",
    )
    right = np.concatenate([b.ravel(), np.ones(m), np.zeros(unknowns)])
    cones = [clarabel.ZeroConeT(apart + m), clarabel.NonnegativeConeT(unknowns)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = ACCURACY
    found = clarabel.DefaultSolver(goal, np.zeros(unknowns + apart), matrix, right, cones, settings).solve()
    point = np.array(found.x)[:unknowns].reshape(m, k)
    if not np.isfinite(point).all():
        raise ParameterError(f"the projection could not be computed ({found.status}); use channels with fewer outputs.")
    point = np.clip(point, 0.0, None)
    return np.asarray(point / point.sum(axis=1, keepdims=True))


def _polished(a: Floats, b: Floats, between: Floats) -> Floats:
    """The least-squares problem solved once more on the entries that are not zero, where that is no worse and stays a channel."""
    (n, m), k = a.shape, b.shape[1]
    used = np.argwhere(between > 1e-7)
    if len(used) > MOST_POLISHED:
        return between
    design = np.zeros((n * k, len(used)))
    sums = np.zeros((m, len(used)))
    for column, (y, w) in enumerate(used.tolist()):
        design[w::k, column] = a[:, y]
        sums[y, column] = 1.0
    system = np.block([[design.T @ design, sums.T], [sums, np.zeros((m, m))]])
    solution = np.linalg.lstsq(system, np.r_[design.T @ b.ravel(), np.ones(m)], rcond=None)[0]
    polished = np.zeros_like(between)
    polished[used[:, 0], used[:, 1]] = solution[: len(used)]
    if polished.min() < 0 or np.abs(polished.sum(axis=1) - 1).max() > 1e-12:
        return between
    better = np.linalg.norm(a @ polished - b) <= np.linalg.norm(a @ between - b) + 1e-15
    return polished if better else between
