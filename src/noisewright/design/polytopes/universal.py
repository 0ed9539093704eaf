"""Priors at which the best remap of a channel changes: where a test over all priors can be made.

For an output ``y`` and two actions the priors with ``sum_x pi_x M[x,y] (L[w,x] - L[v,x]) = 0`` form a plane. Between such
planes the best action at every output stays the same. :func:`remap_corners` lists the priors where planes of actions that
are best there, and the sides of the simplex, meet in a point.

For a loss ``l`` a mechanism ``M`` is *universally l-optimal* if ``U_l[pi > M] <= U_l[pi > N]`` for every prior ``pi`` and
every private ``N``. Kernels suffice as rivals, and finitely many priors suffice as tests:

* while the best remap of ``M`` does not change, ``U_l[pi > M]`` is linear in ``pi``, and the loss of any rival is
  concave. Therefore the difference is largest at a corner of a region where the remap stays the same;
* those corners are where ties between actions, and secrets of probability 0, leave one prior: linear algebra in fractions.

A failure comes with a witness: a prior, a kernel that is better there, and both losses. Where the factors are rational and the
mechanism is given as a kernel or in fractions every comparison is exact; otherwise it is made in floats, and the status says
so.

>>> from noisewright.metrics.base import Line
>>> from noisewright.design.polytopes.kernel_mechanisms import kernels
>>> from noisewright.design.named_losses import absolute, parity
>>> line = kernels(Line(), range(3), factor=2)
>>> fold, geometric = line
>>> print(universally_optimal(geometric, absolute(range(3)), line))
holds (exact): at all 13 priors where its best remap changes no kernel is better.
>>> answer = universally_optimal(geometric, parity(3), line)
>>> answer.status, str(answer.evidence.loss), str(answer.evidence.less), answer.evidence.better is fold
('fails (witness)', '571/1500', '1/3', True)

A mechanism that is universally optimal is a post-processing of a mix of kernels that are. Therefore,
:func:`optimal_kernels` decides whether any exists: it takes the kernels one by one and strikes out, at each witness,
all that are not best there.

>>> four = kernels(Line(), range(4), factor=2)
>>> none = optimal_kernels(parity(4), four)
>>> none.status, none.optimal, len(none.priors) <= 4
('fails (witness)', (), True)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, islice
from math import comb, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright.channels.channel import Channel
from noisewright.design.named_losses import as_loss
from noisewright.design.polytopes.extreme_point import exact_matrix
from noisewright.design.polytopes.kernel_mechanisms import Given, Kernel, Kernels, check_private
from noisewright.exceptions import ParameterError
from noisewright.guarantees import EXACT, FAILS, UNDECIDED, WITHIN, Verdict
from noisewright.numerics.linear_algebra import Echelon, whole_row

__all__ = [
    "SAMPLES",
    "ChannelEntries",
    "Existence",
    "PriorPoint",
    "Witness",
    "at_least_as_good",
    "optimal_kernels",
    "remap_corners",
    "sample_priors",
    "universally_optimal",
    "whole_costs",
]


PriorPoint = tuple[Any, ...]
"""Probabilities of the secrets, fractions or floats."""

MOST_EXACT = 30_000
"""Maximum number of sets of planes that are gone through in fractions; beyond it floats are used."""

MOST_FLOAT = 3_000_000
"""More sets of planes than this are not gone through."""

SAMPLES = 300


@dataclass(frozen=True, eq=False)
class ChannelEntries:
    """A channel in floats, and as integers over one denominator where it is exact."""

    floats: Floats
    exact: NDArray[Any] | None
    over: int = 1

    @classmethod
    def of(cls, channel: Given, size: int) -> ChannelEntries:
        """A channel of ``size`` secrets, read."""
        if isinstance(channel, Kernel) and channel.rows is None:
            channel = channel.channel()
        if isinstance(channel, Channel):
            found = cls(channel.matrix, None)
        else:
            rows = exact_matrix(channel.rows if isinstance(channel, Kernel) else channel, "a channel")
            if any(sum(row) != 1 or min(row) < 0 for row in rows):
                raise ParameterError(
                    "the rows of an exact channel are 0 or more and sum to 1; wrap floats in Channel(...)."
                )
            over = lcm(*(v.denominator for row in rows for v in row))
            whole = np.array([[int(v * over) for v in row] for row in rows], dtype=object)
            found = cls(np.array([[float(v) for v in row] for row in rows]), whole, over)
        if len(found.floats) != size:
            raise ParameterError(f"a channel of {size} secrets is needed here, not one of {len(found.floats)}.")
        return found


def remap_corners(mine: ChannelEntries, costs: Floats, exact: bool) -> tuple[list[PriorPoint] | None, bool, int]:
    """The corners, whether they are exact, and how many sets of planes there were; None if those are too many."""
    planes = _planes(mine, costs, exact)
    sets = comb(len(planes), costs.shape[1] - 1)
    if exact and sets <= MOST_EXACT:
        return _exact_corners(planes, mine, costs), True, sets
    if sets <= MOST_FLOAT:
        return _float_corners(np.array(planes, dtype=np.float64), mine, costs), False, sets
    return None, False, sets


def sample_priors(size: int) -> Iterator[PriorPoint]:
    """Priors to try first, in fractions: the uniform one, then random ones, some nearly or quite without some secrets."""
    yield tuple(Fraction(1, size) for _ in range(size))
    rng = np.random.default_rng(20230)
    for k in range(SAMPLES):
        drawn = rng.gamma((0.2, 1.0, 3.0)[k % 3], size=size)
        if k % 5 == 4:
            drawn[rng.permutation(size)[: int(rng.integers(0, max(1, size - 2) + 1))]] = 0
        counts = np.round(drawn / drawn.sum() * 1000).astype(int).tolist()
        if sum(counts):
            yield tuple(Fraction(c, sum(counts)) for c in counts)


def whole_costs(costs: Floats) -> tuple[NDArray[Any], int]:
    exact = [[Fraction(v) for v in row] for row in costs.tolist()]
    over = lcm(*(v.denominator for row in exact for v in row))
    return np.array([[int(v * over) for v in row] for row in exact], dtype=object), over


def _planes(mine: ChannelEntries, costs: Floats, exact: bool) -> list[tuple[Any, ...]]:
    """Planes of priors at which two actions tie at an output, and those at which a secret has probability 0."""
    size = costs.shape[1]
    found: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for x in range(size):
        unit = tuple(int(x == z) for z in range(size))
        found[unit] = unit
    whole, _ = whole_costs(costs)
    columns = mine.exact.T if exact and mine.exact is not None else mine.floats.T
    for column in columns:
        for w, v in combinations(range(len(costs)), 2):
            if exact:
                row = whole_row([int(a) for a in column * (whole[w] - whole[v])])
            else:
                row = column * (costs[w] - costs[v])
                largest = np.abs(row).max()
                if not largest:
                    continue
                row = (row / largest).tolist()
            first = next((a for a in row if a), 0)
            if first and min(row) < 0 < max(row):  # a plane with one side only meets the priors in a face of zeros
                turned = tuple(a if first > 0 else -a for a in row)
                found.setdefault(tuple(round(a, 12) for a in turned) if not exact else turned, turned)
    return list(found.values())


def _exact_corners(planes: Sequence[tuple[int, ...]], mine: ChannelEntries, costs: Floats) -> list[PriorPoint]:
    """Priors that lie on planes of full rank and at which the best remap changes."""
    size = costs.shape[1]
    found: dict[tuple[Fraction, ...], None] = {}

    def grow(echelon: Echelon, start: int) -> None:
        if len(echelon) == size - 1:
            vector = next(echelon.orthogonal())
            if min(vector) >= 0:
                total = sum(vector)
                found.setdefault(tuple(v / total for v in vector))
            return
        for k in range(start, len(planes) - (size - 2 - len(echelon))):
            further = Echelon(size)
            further.rows = dict(echelon.rows)
            if further.add(planes[k]):
                grow(further, k + 1)

    grow(Echelon(size), 0)
    return [prior for prior in found if _changes_exactly(prior, mine, costs)]


def _changes_exactly(prior: Sequence[Fraction], mine: ChannelEntries, costs: Floats) -> bool:
    """Return whether the ties that count at a prior, those between best actions, and its zeros leave no other prior."""
    assert mine.exact is not None
    whole, _ = whole_costs(costs)
    common = lcm(*(p.denominator for p in prior))
    joint = whole @ (np.array([int(p * common) for p in prior], dtype=object)[:, None] * mine.exact)
    echelon = Echelon(len(prior))
    for x in (x for x, p in enumerate(prior) if not p):
        echelon.add([int(x == z) for z in range(len(prior))])
    for column, values in zip(mine.exact.T, joint.T, strict=True):
        best = np.flatnonzero(values == values.min())
        for w in best[1:]:
            echelon.add([int(v) for v in column * (whole[w] - whole[best[0]])])
    return len(echelon) >= len(prior) - 1


def _float_corners(planes: Floats, mine: ChannelEntries, costs: Floats) -> list[PriorPoint]:
    size = costs.shape[1]
    found: dict[tuple[float, ...], tuple[float, ...]] = {}
    every = combinations(range(len(planes)), size - 1)
    while chunk := list(islice(every, 100_000)):
        systems = planes[np.array(chunk)]
        # The vector orthogonal to n - 1 rows is made of their minors.
        minors = [np.linalg.det(np.delete(systems, j, axis=2)) * (-1) ** j for j in range(size)]
        vectors = np.stack(minors, axis=1)
        sums = vectors.sum(axis=1)
        usable = np.abs(sums) > 1e-13
        vectors = vectors[usable] / sums[usable, None]
        vectors = vectors[(vectors >= -1e-12).all(axis=1)]
        for vector in np.maximum(vectors, 0.0):
            prior = tuple((vector / vector.sum()).tolist())
            found.setdefault(tuple(np.round(prior, 11).tolist()), prior)
    return [prior for prior in found.values() if _changes(prior, mine, costs)]


def _changes(prior: Sequence[float], mine: ChannelEntries, costs: Floats) -> bool:
    """The same in floats."""
    weights = np.asarray(prior)
    joint = costs @ (weights[:, None] * mine.floats)
    tied = joint <= joint.min(axis=0) + 1e-9 * np.abs(costs).max()
    rows = [np.eye(len(weights))[x] for x in np.flatnonzero(weights < 1e-12)]
    for y in range(joint.shape[1]):
        best = np.flatnonzero(tied[:, y])
        scale = max(1e-300, float(mine.floats[:, y].max() * np.abs(costs).max()))
        rows += [mine.floats[:, y] * (costs[w] - costs[best[0]]) / scale for w in best[1:]]
    return len(rows) >= len(weights) - 1 and int(np.linalg.matrix_rank(np.array(rows), tol=1e-9)) >= len(weights) - 1


# Universal ----------------------------------------------------------------------------------------------------------------
#
# Is a mechanism best for one loss whatever the prior, and is there any that is?


TOLERANCE = 1e-12
"""Losses in floats that differ by less than this, relatively, count as equal. What is compared are regrets, sums of numbers that
are 0 or more, so rounding is relative to them."""

WIDEST = 1e-12
"""Spread of an output's probabilities beyond which floats do not find the priors at which remaps change."""


@dataclass(frozen=True, eq=False)
class Witness:
    """A prior at which another mechanism is better, and the two losses there."""

    prior: PriorPoint
    loss: Fraction | float
    less: Fraction | float
    place: int
    """Index of the rival: the place of the kernel in its list."""
    better: Kernel | None = None


@dataclass(frozen=True, eq=False)
class Existence:
    """The universally optimal kernels for a loss, and the priors that struck out all others."""

    status: str
    reason: str
    optimal: tuple[Kernel, ...]
    priors: tuple[PriorPoint, ...]

    def __bool__(self) -> bool:
        return bool(self.optimal)

    def __str__(self) -> str:
        return f"{self.status}: {self.reason}"


def universally_optimal(channel: Given, loss: object, kernels: Kernels) -> Verdict:
    """Return whether no private mechanism is better than ``channel`` for this loss at any prior.

    ``kernels`` are all kernels of the space; the evidence of a failure is a :class:`Witness`. A channel that is not private there
    is refused: it may well be better than all that are.
    """
    _check(kernels)
    mine = ChannelEntries.of(channel, len(kernels.space.points))
    check_private(channel, kernels.space)
    costs = _Costs(as_loss(loss, kernels.space.points).matrix)
    rivals = _Rivals([ChannelEntries.of(kernel, len(kernels.space.points)) for kernel in kernels])
    verdict = _never_beaten(mine, rivals, costs)
    if isinstance(verdict.evidence, Witness):
        found = replace(verdict.evidence, better=kernels[verdict.evidence.place])
        return Verdict(verdict.status, verdict.reason, found)
    return verdict


def at_least_as_good(first: Given, second: Given, loss: object, secrets: Sequence[Any] | None = None) -> Verdict:
    """Return whether the first channel costs no more than the second for this loss, at every prior."""
    names = secrets or getattr(first, "inputs", None) or (first.space.points if isinstance(first, Kernel) else None)
    size = len(names) if names is not None else len(exact_matrix(first))
    costs = _Costs(as_loss(loss, tuple(range(size)) if names is None else tuple(names)).matrix)
    verdict = _never_beaten(ChannelEntries.of(first, size), _Rivals([ChannelEntries.of(second, size)]), costs)
    if isinstance(verdict.evidence, Witness):
        return Verdict(verdict.status, "the second is better at the witness prior.", verdict.evidence)
    words = "at all priors where the best remap of the first changes the second is no better."
    return Verdict(verdict.status, words) if verdict else verdict


def optimal_kernels(loss: object, kernels: Kernels) -> Existence:
    """The kernels that are best for this loss at every prior; none of them means that no mechanism is.

    A loss of two actions counts by the signs of their difference alone: priors take up the sizes.
    """
    _check(kernels)
    size = len(kernels.space.points)
    costs = _Costs(as_loss(loss, kernels.space.points).matrix)
    rivals = _Rivals([ChannelEntries.of(kernel, size) for kernel in kernels])
    alive = list(range(len(rivals)))
    priors: list[PriorPoint] = []
    optimal: list[int] = []
    statuses = set()
    for prior in sample_priors(size):
        left = _best_at(prior, rivals, costs, alive)
        if len(left) < len(alive):
            alive = left
            priors.append(prior)
    while alive:
        verdict = _never_beaten(rivals[alive[0]], rivals, costs, sampled=False)
        statuses.add(verdict.status)
        if isinstance(verdict.evidence, Witness):
            priors.append(verdict.evidence.prior)
            alive = [k for k in _best_at(verdict.evidence.prior, rivals, costs, alive) if k != alive[0]]
            continue
        if verdict:
            optimal.append(alive[0])
        alive = alive[1:]
    found = tuple(kernels[k] for k in optimal)
    exact = kernels.verified and rivals.exact
    if found:
        status = EXACT if exact and WITHIN not in statuses else WITHIN
        best = f"{len(found)} of {len(kernels)} kernels {'is' if len(found) == 1 else 'are'} best at every prior."
        return Existence(status, best, found, tuple(priors))
    if UNDECIDED in statuses:
        words = "some kernels are beaten at no sampled prior, and not all priors could be gone through."
        return Existence(UNDECIDED, words, (), tuple(priors))
    beaten = f"each of {len(kernels)} kernels is beaten at one of {len(priors)} priors"
    words = f"no mechanism is best at every prior: {beaten}."
    return Existence(FAILS, words, (), tuple(priors))


def _check(kernels: object) -> None:
    if not isinstance(kernels, Kernels):
        given = type(kernels).__name__
        raise ParameterError(f"the rivals must be all kernels of a space, kernels(metric, points, ...), not {given}.")


# The test -------------------------------------------------------------------------------------------------------------


class _Costs:
    """A loss in floats and in integers over one denominator, without the actions that no one needs."""

    def __init__(self, matrix: Floats) -> None:
        self.floats = matrix[[w for w in range(len(matrix)) if not _dominated(matrix, w)]]
        self.whole, self.over = whole_costs(self.floats)
        self.regrets = self.floats - self.floats.min(axis=0)
        """Costs above the cheapest action of each secret, which every mechanism pays."""

    def regret(self, prior: Floats, channel: ChannelEntries) -> float:
        """The expected regret with the best remap."""
        return float((self.regrets @ (prior[:, None] * channel.floats)).min(axis=0).sum())

    def at(self, prior: Floats, channel: ChannelEntries) -> float:
        """The expected loss with the best remap."""
        return float((self.floats @ (prior[:, None] * channel.floats)).min(axis=0).sum())

    def exactly(self, prior: PriorPoint, channel: ChannelEntries) -> Fraction:
        """The same in fractions."""
        common = lcm(*(p.denominator for p in prior))
        weights = np.array([int(p * common) for p in prior], dtype=object)
        sums = self.whole @ (weights[:, None] * channel.exact)
        return Fraction(int(sums.min(axis=0).sum()), common * self.over * channel.over)


class _Rivals(list[ChannelEntries]):
    """Channels that a mechanism is compared with; outputs that never occur make them alike in shape."""

    def __init__(self, matrices: Sequence[ChannelEntries]) -> None:
        super().__init__(matrices)
        widest = max(m.floats.shape[1] for m in matrices)
        self.stack = np.zeros((len(matrices), len(matrices[0].floats), widest))
        for k, m in enumerate(matrices):
            self.stack[k, :, : m.floats.shape[1]] = m.floats
        self.exact = all(m.exact is not None for m in matrices)

    def losses(self, prior: PriorPoint, costs: _Costs) -> tuple[Floats, Floats]:
        """A prior in floats, and the regret of each channel there."""
        weights = np.array([float(p) for p in prior])
        return weights, np.asarray((costs.regrets @ (weights[:, None] * self.stack)).min(axis=1).sum(axis=1))


def _never_beaten(mine: ChannelEntries, rivals: _Rivals, costs: _Costs, sampled: bool = True) -> Verdict:
    """Return whether no rival has a smaller loss at any prior; the evidence of a failure names the rival by its
    place.
    """
    for prior in islice(sample_priors(costs.floats.shape[1]), SAMPLES if sampled else 0):
        found = _beaten(prior, mine, rivals, costs, ties=False)
        if found is not None:
            return _failure(found)
    exactly = mine.exact is not None and rivals.exact
    if not exactly and _spread(mine.floats) < WIDEST:
        words = "its probabilities spread too widely for floats; no sampled prior shows a better rival; give a rational factor."
        return Verdict(UNDECIDED, words)
    corners, exact, sets = remap_corners(mine, costs.floats, exactly)
    if corners is None:
        words = (
            f"there are {sets} sets of ties to go through, which is too many; no sampled prior shows a better rival."
        )
        return Verdict(UNDECIDED, words)
    for prior in corners:
        found = _beaten(prior, mine, rivals, costs, ties=exact)
        if found is not None:
            return _failure(found)
    words = f"at all {len(corners)} priors where its best remap changes no kernel is better."
    return Verdict(EXACT if exact else WITHIN, words)


def _failure(witness: Witness) -> Verdict:
    return Verdict(
        FAILS,
        f"at the witness prior it costs {float(witness.loss):.9g} and another kernel {float(witness.less):.9g}.",
        witness,
    )


def _beaten(prior: PriorPoint, mine: ChannelEntries, rivals: _Rivals, costs: _Costs, ties: bool) -> Witness | None:
    """The best rival at a prior, if it is better: found in floats, then looked at again in fractions where that can be.

    With ``ties`` fractions also decide where floats show no difference.
    """
    if max(prior) == 1:  # a secret that is known costs the same with any mechanism
        return None
    weights, losses = rivals.losses(prior, costs)
    own = costs.regret(weights, mine)
    best = int(losses.argmin())
    slack = TOLERANCE * max(own, float(losses[best]))
    if losses[best] > own + slack or (losses[best] >= own - slack and not ties):
        return None
    if mine.exact is None or not rivals.exact or not isinstance(prior[0], Fraction):
        return Witness(prior, costs.at(weights, mine), costs.at(weights, rivals[best]), best)
    exactly = {int(k): costs.exactly(prior, rivals[k]) for k in np.flatnonzero(losses <= losses[best] + slack)}
    place = min(exactly, key=lambda k: exactly[k])
    loss = costs.exactly(prior, mine)
    return Witness(prior, loss, exactly[place], place) if exactly[place] < loss else None


def _best_at(prior: PriorPoint, rivals: _Rivals, costs: _Costs, alive: Sequence[int]) -> list[int]:
    """Return the rivals that no other one beats at a prior by more than rounding."""
    _, losses = rivals.losses(prior, costs)
    least = losses.min()
    return [k for k in alive if losses[k] <= least * (1 + TOLERANCE)]


def _spread(matrix: Floats) -> float:
    """The smallest probability of an output that can occur, relative to its largest one."""
    used = matrix[:, matrix.max(axis=0) > 0]
    return float((used.min(axis=0) / used.max(axis=0)).min())


def _dominated(costs: Floats, w: int) -> bool:
    """Return whether another action is at least as good everywhere; of several equal ones the first is not."""
    at_least = (costs <= costs[w]).all(axis=1)
    equal = (costs == costs[w]).all(axis=1)
    return bool((at_least & ~equal).any() or equal[:w].any())
