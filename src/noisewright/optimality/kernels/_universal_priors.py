r"""Priors at which the best remap of a channel changes: where a test over all priors can be made.

For an output ``y`` and two actions the priors with ``sum_x pi_x M[x,y] (L[w,x] - L[v,x]) = 0`` form a plane. Between such
planes the best action at every output stays the same. :func:`remap_corners` lists the priors where planes of actions that
are best there, and the sides of the simplex, meet in a point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice
from math import comb, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import ParameterError
from noisewright.optimality.algebra.echelon import Echelon, whole_row
from noisewright.optimality.extreme.point import exact_matrix
from noisewright.optimality.kernels.decomposition import Given
from noisewright.optimality.kernels.kernel_list import Kernel

__all__ = ["SAMPLES", "ChannelEntries", "PriorPoint", "remap_corners", "sample_priors", "whole_costs"]

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
