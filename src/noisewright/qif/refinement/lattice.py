"""Hulls of posteriors: the beliefs to which a channel can lead an observer with a uniform prior, and the beliefs that
two channels share.

The posteriors of a channel for the uniform prior ``u`` average to ``u``, so ``u`` lies in the relative interior of their
convex
hull. A hull is kept as half-spaces ``normal . z <= offset`` in coordinates of its own affine space, with ``u`` as the
origin: all
offsets are above zero, also for hulls of lower dimension, such as those of over-truncated mechanisms.

* ``n`` independent posteriors: the half-spaces are the barycentric coordinates, and nothing is searched.
* otherwise quickhull finds them (``scipy.spatial.ConvexHull``) inside the affine space.

Numbers are floats: vertices are right to about ``1e-9``.

>>> half = hull_of(np.array([[2/3, 1/3], [1/3, 2/3]]))
>>> other = hull_of(np.array([[3/4, 1/4], [2/5, 3/5]]))
>>> np.round(intersection(half, other), 6).tolist()
[[0.4, 0.6], [0.666667, 0.333333]]

Reference: Barber, Dobkin and Huhdanpaa, *The quickhull algorithm for convex hulls* (1996); the bound on the number of faces is
McMullen's upper bound theorem (1970).

In the privacy order a channel is the metric ``d_C(x, x')`` that it puts between secrets, and the smaller metric is the safer
one.

* **join**, the least metric-safe one above both: the largest metric below ``min(d_A, d_B)``, that is its shortest-path
closure;
* **meet**: ``max(d_A, d_B)``, which is a metric already.

Either is realised by a channel (:mod:`noisewright.mechanisms.categorical.exponential`), so it is a mechanism and not just a
number.

>>> from noisewright.qif.refinement.families import geometric_family, response_family
>>> g, r = geometric_family.member(decay="1/2", size=3), response_family.member(decay="1/3", size=3)
>>> np.round(np.exp(privacy_join(g, r).metric.distances), 6)[0].tolist()
[1.0, 2.0, 3.0]
>>> np.round(np.exp(privacy_meet(g, r).metric.distances), 6)[0].tolist()
[1.0, 3.0, 4.0]

Reference: Fernandes, *Differential privacy for metric spaces* (2021), the lattice of the privacy-based order.

``X`` is randomised response on three secrets with ``a = 1/4``, and ``Y`` has the posteriors of ``X`` mirrored at the uniform
distribution. Their hulls are two triangles that meet in a hexagon, whose corners are the six orders of ``(1/2, 1/3, 1/6)``.
Those corners can be weighted in many ways so that they average to the uniform distribution. :func:`hexagon` gives two: both
channels may replace X and Y on average, and neither may replace the other. They are equal in the max-case order, where weights
do not matter.

>>> demo = hexagon()
>>> [str(v) for v in demo.posteriors[0]], str(sum(demo.first_weights))
(['1/6', '1/3', '1/2'], '1')
>>> len(demo.first[0]), [str(v) for v in demo.y[0]]
(6, ['0', '1/2', '1/2'])

Reference: Fernandes, *Differential privacy for metric spaces* (2021); McIver, Morgan et al. on the refinement order (2014).

Mechanisms that may replace each other are one node. Node ``j`` is above node ``i`` where it may replace it; an edge of the
*Hasse diagram* is such a pair with nothing between. Answers within rounding count as holding, and undecided ones as failing.

>>> from noisewright.qif.refinement.families import geometric_family, response_family
>>> things = {f"{f.name} {e}": f.member(epsilon=e, size=3) for f in (geometric_family, response_family) for e in (1, 2)}
>>> found = hasse(things, order="privacy")
>>> found.edges
(('geometric 1', 'response 1'), ('geometric 2', 'response 2'), ('response 2', 'geometric 1'))

In the max-case order a channel is its hull of posteriors, and the smaller hull is the safer one. So

* the **join** of A and B has the vertices of the intersection of their hulls as posteriors;
* the **meet** has the posteriors of both: toss a fair coin, use A or B, and state which.

Weights do not matter in this order; the join's are positive and as equal as possible, so that it is one definite channel.
The average-case order has no joins (:mod:`noisewright.qif.refinement.lattice`), so none is offered.

**Guarantee.** Every channel that may replace both A and B in the max-case order may replace their join, and the join may
replace
both, up to the accuracy of its vertices (about ``1e-9``).

>>> from noisewright.qif.refinement.families import geometric_family, response_family
>>> both = max_join(geometric_family.member(decay="1/2", size=3), response_family.member(decay="1/3", size=3))
>>> np.round(both.posteriors * 35, 6).tolist()[0]  # (1/5, 2/7, 18/35)
[7.0, 10.0, 18.0]
>>> both.channel.shape
(3, 5)

Reference: Fernandes, *Differential privacy for metric spaces* (2021), the lattice of max-case refinement.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import one_of
from noisewright.channels.channel import Channel
from noisewright.exceptions import ParameterError
from noisewright.mechanisms.categorical.exponential import realising_channel
from noisewright.metrics.base import Table
from noisewright.metrics.sensitivity import closure
from noisewright.numerics.linear_algebra import Rows
from noisewright.qif.refinement.closed_forms import member_distances
from noisewright.qif.refinement.exact_channel import common_secrets, read
from noisewright.qif.refinement.families import as_member, response_family
from noisewright.qif.refinement.replacement import ORDERS, may_replace

__all__ = [
    "MOST_FACES",
    "ChannelBound",
    "Hasse",
    "Hexagon",
    "Hull",
    "MetricBound",
    "hasse",
    "hexagon",
    "hull_corners",
    "hull_of",
    "intersection",
    "max_join",
    "max_meet",
    "positive_weights",
    "posteriors",
    "privacy_join",
    "privacy_meet",
]


TOLERANCE = 1e-9
MOST_FACES = 500_000
"""Hulls that could have more faces (by the upper bound theorem) are refused: their number grows exponentially."""


@dataclass(frozen=True, eq=False)
class Hull:
    """``{u + basis z : normals z <= offsets}``, where ``u`` is the uniform distribution; ``basis`` has orthonormal columns."""

    basis: Floats
    normals: Floats
    offsets: Floats

    @property
    def dimension(self) -> int:
        """The dimension of the hull: 0 for the channel that reveals nothing."""
        return int(self.basis.shape[1])

    def contains(self, points: Floats, tolerance: float = TOLERANCE) -> NDArray[np.bool_]:
        """Return which of the points (one row each) lie in the hull, up to the tolerance."""
        away = points - 1 / points.shape[1]
        inside = away @ self.basis
        flat = np.abs(away - inside @ self.basis.T).max(axis=1) <= tolerance
        if not self.dimension:
            return np.asarray(flat)
        return np.asarray(flat & (inside @ self.normals.T <= self.offsets + tolerance).all(axis=1))


def posteriors(channel: Channel) -> Floats:
    """The different posteriors of the channel for the uniform prior, one row each."""
    return np.ascontiguousarray(channel.push(None).reduce().inners.T)


def hull_of(points: Floats) -> Hull:
    """The hull of posteriors (one row each) that average to the uniform distribution with some positive weights."""
    n = points.shape[1]
    away = points - 1 / n
    basis = _span(away)
    dimension = basis.shape[1]
    if dimension == 0:
        return Hull(basis, np.zeros((0, 0)), np.zeros(0))
    inside = away @ basis
    if len(points) == dimension + 1:  # a simplex: barycentric coordinates are 0 or more
        lifted = np.linalg.inv(np.vstack([inside.T, np.ones(dimension + 1)]))
        normals, offsets = -lifted[:, :-1], lifted[:, -1]
    elif dimension == 1:
        normals, offsets = np.array([[1.0], [-1.0]]), np.array([inside.max(), -inside.min()])
    else:
        normals, offsets = _quickhull(inside)
    size = np.linalg.norm(normals, axis=1)
    return Hull(basis, normals / size[:, None], offsets / size)


def intersection(first: Hull, second: Hull) -> Floats:
    """The vertices of the part that two hulls share, one row each, in lexicographic order.

    It is never empty, since ``u`` is inside both.
    """
    n = first.basis.shape[0]
    shared = _common(first.basis, second.basis)
    dimension = shared.shape[1]
    if dimension == 0:
        return np.full((1, n), 1 / n)
    normals = np.vstack([h.normals @ (h.basis.T @ shared) for h in (first, second)])
    offsets = np.concatenate([first.offsets, second.offsets])
    cutting = np.linalg.norm(normals, axis=1) > TOLERANCE  # a face that is parallel to the shared space cuts nothing
    normals, offsets = normals[cutting], offsets[cutting]
    if dimension == 1:
        ends = offsets / normals[:, 0]
        inside = np.array([[ends[ends < 0].max()], [ends[ends > 0].min()]])
    else:
        _check_size(len(offsets), dimension)
        from scipy.spatial import HalfspaceIntersection, QhullError

        try:
            found = HalfspaceIntersection(np.hstack([normals, -offsets[:, None]]), np.zeros(dimension))
        except QhullError:
            raise ParameterError(
                "the hulls of these channels share too thin a part for floating point; take channels that differ more."
            ) from None
        inside = found.intersections[np.isfinite(found.intersections).all(axis=1)]
    return _sorted(1 / n + inside @ shared.T)


def hull_corners(points: Floats) -> Floats:
    """The points that are not mixtures of the others, in lexicographic order."""
    basis = _span(points - points.mean(axis=0))
    inside = (points - points.mean(axis=0)) @ basis
    dimension = basis.shape[1]
    if dimension == 0:
        return points[:1]
    if dimension == 1:
        return _sorted(points[[inside[:, 0].argmin(), inside[:, 0].argmax()]])
    if len(points) == dimension + 1:
        return _sorted(points)
    from scipy.spatial import ConvexHull

    _check_size(len(points), dimension)
    return _sorted(points[ConvexHull(inside).vertices])


def positive_weights(points: Floats) -> Floats:
    """Weights above zero with which the points average to the uniform distribution; the smallest is as large as it can be."""
    from scipy.optimize import linprog

    count, n = points.shape
    equations = np.hstack([np.vstack([points.T, np.ones(count)]), np.zeros((n + 1, 1))])
    totals = np.append(np.full(n, 1 / n), 1.0)
    above = np.hstack([-np.eye(count), np.ones((count, 1))])
    goal = np.append(np.zeros(count), -1.0)
    bounds = [(0, None)] * count + [(None, None)]
    found = linprog(goal, A_ub=above, b_ub=np.zeros(count), A_eq=equations, b_eq=totals, bounds=bounds)
    point = np.zeros(count + 1) if found.x is None else np.asarray(found.x)
    if found.status != 0 or point[-1] <= 0:
        raise ParameterError("no positive weights were found with which these posteriors average to the uniform prior.")
    weights = point[:-1]
    weights = weights + np.linalg.lstsq(equations[:, :-1], totals - equations[:, :-1] @ weights, rcond=None)[0]
    return np.asarray(weights)


def _quickhull(inside: Floats) -> tuple[Floats, Floats]:
    from scipy.spatial import ConvexHull, QhullError

    _check_size(*inside.shape)
    try:
        faces = ConvexHull(inside).equations
    except QhullError:
        raise ParameterError(
            "the posteriors of this channel span too thin a hull for floating point; merge outputs that are nearly alike."
        ) from None
    faces = faces[_distinct(faces)]
    return faces[:, :-1], -faces[:, -1]


def _check_size(count: int, dimension: int) -> None:
    """Refuse what could have too many faces: ``count`` points in this dimension, or half-spaces, which is the same."""
    half, other = dimension // 2, (dimension + 1) // 2
    most = math.comb(max(count - other, 0), half) + math.comb(max(count - half - 1, 0), max(other - 1, 0))
    if most > MOST_FACES:
        raise ParameterError(
            f"{count} posteriors or faces in {dimension} dimensions can have {most:.3g} vertices, and {MOST_FACES} is the limit; "
            "join channels with fewer secrets or outputs."
        )


def _span(vectors: Floats) -> Floats:
    """An orthonormal basis of the span of the rows, as columns."""
    _, sizes, right = np.linalg.svd(vectors, full_matrices=False)
    return np.ascontiguousarray(right[sizes > TOLERANCE].T)


def _common(first: Floats, second: Floats) -> Floats:
    """An orthonormal basis of what two spaces (orthonormal columns) share: principal angles that are zero."""
    if not first.shape[1] or not second.shape[1]:
        return np.zeros((first.shape[0], 0))
    left, cosines, _ = np.linalg.svd(first.T @ second, full_matrices=False)
    return np.ascontiguousarray(first @ left[:, cosines > 1 - TOLERANCE])


def _sorted(points: Floats) -> Floats:
    """Different points in lexicographic order, with entries that are zero up to rounding set to zero."""
    cleaned = np.where(np.abs(points) < TOLERANCE, 0.0, points)
    kept = cleaned[_distinct(cleaned)]
    kept = kept / kept.sum(axis=1, keepdims=True)
    return np.asarray(kept[np.lexsort(np.round(kept, 9).T[::-1])])


def _distinct(rows: Floats) -> NDArray[np.intp]:
    """One row of each group of rows that agree up to the tolerance."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    pairs = cKDTree(rows).query_pairs(100 * TOLERANCE, p=np.inf, output_type="ndarray")
    links = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(rows),) * 2)
    _, group = connected_components(links, directed=False)
    return np.asarray(np.unique(group, return_index=True)[1])


# Privacy lattice ----------------------------------------------------------------------------------------------------------
#
# Joins and meets of the privacy order: metrics that two mechanisms have in common.


@dataclass(frozen=True, eq=False)
class MetricBound:
    """A join or a meet in the privacy order, as a metric; ``channel()`` is a channel that has it."""

    metric: Table

    def channel(self) -> Channel:
        """A channel whose own metric is :attr:`metric`; its utility is poor, it shows that there is one."""
        return realising_channel(self.metric.points, 1.0, self.metric)


def privacy_join(a: Any, b: Any) -> MetricBound:
    """The least private metric that is as private as both: every metric below ``d_A`` and ``d_B`` is below it."""
    first, second, secrets = _distances(a, b)
    return MetricBound(closure(np.minimum(first, second), secrets))


def privacy_meet(a: Any, b: Any) -> MetricBound:
    """The most private metric that neither is beyond: every metric above ``d_A`` and ``d_B`` is above it."""
    first, second, secrets = _distances(a, b)
    return MetricBound(Table(np.maximum(first, second), secrets, name="larger of two"))


def _distances(a: Any, b: Any) -> tuple[Floats, Floats, tuple[Any, ...]]:
    first, second = read(a), read(b)
    common_secrets(first, second)
    found = []
    for thing, given in ((a, first), (b, second)):
        member = as_member(thing)
        own = member_distances(member) if member is not None else given.channel.distinguishability()
        found.append(np.maximum(own, own.T))
    return found[0], found[1], first.inputs


# Hexagon ------------------------------------------------------------------------------------------------------------------
#
# The average-case order is not a lattice: two channels with two different least upper bounds.


@dataclass(frozen=True)
class Hexagon:
    """Four channels on three secrets, as fractions: ``x``, ``y``, and two upper bounds of both that are incomparable."""

    x: Rows
    y: Rows
    first: Rows
    second: Rows
    posteriors: Rows
    first_weights: tuple[Fraction, ...]
    second_weights: tuple[Fraction, ...]


def hexagon(share: Fraction = Fraction(23, 50)) -> Hexagon:
    """Return the four channels; ``share`` is the weight of each favoured corner, and the other four split the rest.

    Any share above 1/6 and below 1/2 gives two channels that are incomparable on average.
    """
    if not Fraction(1, 6) < share < Fraction(1, 2):
        raise ParameterError("share must be above 1/6, where all corners weigh the same, and below 1/2.")
    x = response_family.member(decay="1/4", size=3).rows()
    assert x is not None
    y = tuple(tuple(Fraction(2, 3) - value for value in row) for row in x)
    y = tuple(tuple(value / sum(row) for value in row) for row in y)
    corners = tuple(sorted(permutations((Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)))))
    third, sixth, half = Fraction(1, 3), Fraction(1, 6), Fraction(1, 2)
    favoured = [{(third, sixth, half), (third, half, sixth)}, {(half, third, sixth), (sixth, third, half)}]
    rest = (1 - 2 * share) / 4
    weights = [tuple(share if corner in chosen else rest for corner in corners) for chosen in favoured]
    made = [
        tuple(tuple(3 * w * corner[s] for w, corner in zip(ws, corners, strict=True)) for s in range(3))
        for ws in weights
    ]
    return Hexagon(x, y, made[0], made[1], corners, weights[0], weights[1])


# Hasse --------------------------------------------------------------------------------------------------------------------
#
# The order of a set of mechanisms: who may replace whom, and the diagram of it.


MOST = 40
"""Mechanisms in one diagram; every ordered pair of them is decided."""


@dataclass(frozen=True)
class Hasse:
    """``nodes`` are groups of names that may replace each other, ``levels`` says how high each is.

    ``edges`` go upwards, to the safer one; each is a pair of first names of two groups.
    """

    order: str
    nodes: tuple[tuple[str, ...], ...]
    levels: tuple[int, ...]
    edges: tuple[tuple[str, str], ...]

    def above(self, safer: str, than: str) -> bool:
        """Return whether the mechanism called ``safer`` may replace the one called ``than``."""
        group = {name: node[0] for node in self.nodes for name in node}
        reached = {group[than]}
        while grown := {b for a, b in self.edges if a in reached} - reached:
            reached |= grown
        return group[safer] in reached


def hasse(things: Mapping[str, Any], *, order: str = "average") -> Hasse:
    """The diagram of named members, mechanisms or channels over the same secrets, under one order."""
    one_of(order, "order", ORDERS)
    if not isinstance(things, Mapping):
        raise ParameterError("a diagram takes mechanisms by name, such as {'old': .., 'new': ..}.")
    names = [str(name) for name in things]
    if not 1 <= len(names) <= MOST:
        raise ParameterError(f"a diagram takes from 1 to {MOST} mechanisms, not {len(names)}.")
    given = [thing if as_member(thing) is not None else read(thing) for thing in things.values()]
    below = np.array(
        [[i == j or bool(may_replace(a, b, order)) for j, b in enumerate(given)] for i, a in enumerate(given)]
    )
    same = below & below.T
    heads = [i for i in range(len(names)) if not same[i, :i].any()]
    nodes = tuple(tuple(names[j] for j in range(len(names)) if same[i, j]) for i in heads)
    strict = (below & ~same)[np.ix_(heads, heads)]
    cover = strict & ~((strict.astype(int) @ strict.astype(int)) > 0)
    edges = tuple((names[heads[i]], names[heads[j]]) for i, j in np.argwhere(cover))
    return Hasse(order, nodes, _levels(strict), edges)


def _levels(strict: NDArray[np.bool_]) -> tuple[int, ...]:
    """Return for each node the length of the longest chain below it."""
    level = np.zeros(len(strict), dtype=int)
    for _ in range(len(strict)):
        longer = np.where(strict, level[:, None] + 1, 0).max(axis=0, initial=0)
        if (longer <= level).all():
            break
        level = np.maximum(level, longer)
    return tuple(int(k) for k in level)


# Joins --------------------------------------------------------------------------------------------------------------------
#
# Joins and meets of the max-case order: the least channel that is safer than both, and the safest one that both refine.


@dataclass(frozen=True, eq=False)
class ChannelBound:
    """A join or a meet: its ``channel``, the ``posteriors`` of that for a uniform prior (one row each) and their ``weights``."""

    channel: Channel
    posteriors: Floats
    weights: Floats


def max_join(a: Any, b: Any) -> ChannelBound:
    """The least channel that may replace both ``a`` and ``b`` in the max-case order."""
    first, second = _read(a, b)
    return _bound(intersection(hull_of(posteriors(first)), hull_of(posteriors(second))), first)


def max_meet(a: Any, b: Any) -> ChannelBound:
    """The safest channel that both ``a`` and ``b`` may replace in the max-case order, with extreme posteriors only.

    >>> whole = max_meet([[1, 0], ["1/2", "1/2"]], [["1/2", "1/2"], [0, 1]])
    >>> np.round(whole.posteriors, 6).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    first, second = _read(a, b)
    glued = Channel(np.hstack([first.matrix / 2, second.matrix / 2]), first.inputs)
    return _bound(hull_corners(posteriors(glued)), first)


def _read(a: Any, b: Any) -> tuple[Channel, Channel]:
    first, second = read(a), read(b)
    common_secrets(first, second)
    return first.channel, second.channel


def _bound(points: Floats, like: Channel) -> ChannelBound:
    weights = positive_weights(points)
    channel = Channel((weights[:, None] * points).T * len(like.inputs), like.inputs, normalise=True)
    return ChannelBound(channel, points, weights)
