r"""Hulls of posteriors: the beliefs to which a channel can lead an observer with a uniform prior, and the beliefs that
two channels share.

The posteriors of a channel for the uniform prior ``u`` average to ``u``, so ``u`` lies in the relative interior of their convex
hull. A hull is kept as half-spaces ``normal . z <= offset`` in coordinates of its own affine space, with ``u`` as the origin: all
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
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import ParameterError

__all__ = ["MOST_FACES", "Hull", "hull_corners", "hull_of", "intersection", "positive_weights", "posteriors"]


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
