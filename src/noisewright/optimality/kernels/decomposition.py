r"""Whether a channel is a vertex or a kernel mechanism, of which mechanisms it is a mix, and which are at least as
useful for everyone.

* :func:`is_vertex_mechanism`, :func:`is_kernel`: the two tests, with the odd output or the dependence as evidence;
* :func:`decompose`: a vertex mechanism as a convex sum of kernels (Caratheodory: peel off a kernel until nothing is left).
  The result is not unique. A convex sum means running one of the kernels, chosen at random, and saying which;
* :func:`anti_refine`: for any private channel a vertex mechanism that it is a post-processing of, so at least as good for
  every prior and every loss.

>>> from noisewright.core.metrics.metric import Discrete, Line
>>> from noisewright.optimality.kernels.posteriors import PrivatePosteriors
>>> line = PrivatePosteriors.of(Line(), range(3), factor=2)
>>> print(is_kernel([["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]], line))
holds (exact): 3 outputs, all corners, linearly independent.
>>> better = anti_refine([["3/5", "2/5"], ["1/2", "1/2"], ["2/5", "3/5"]], line)
>>> len(better.parts.potentials), better.residual
(4, 0.0)

Channels are given as a :class:`~noisewright.core.channels.channel.Channel` of floats, compared within a tolerance, or
as rows of fractions, integers or strings, which are taken exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.channels.channel import Channel
from noisewright.core.choices import as_tolerance
from noisewright.core.errors import GuaranteeError, ParameterError
from noisewright.core.verdict import EXACT, FAILS, WITHIN, Verdict
from noisewright.optimality import algebra
from noisewright.optimality.extreme.point import exact_matrix
from noisewright.optimality.kernels._potentials import Potential
from noisewright.optimality.kernels.kernel_list import Kernel, kernel_of, rank_of
from noisewright.optimality.kernels.posteriors import TOLERANCE, PrivatePosteriors

__all__ = [
    "AntiRefinement",
    "Given",
    "KernelPart",
    "VertexHyper",
    "anti_refine",
    "check_private",
    "decompose",
    "is_kernel",
    "is_vertex_mechanism",
    "vertex_hyper",
]

Given = Channel | Kernel | Sequence[Sequence[Any]]
"""A channel in floats, a kernel, or rows of exact numbers."""

NOTHING = 1e-13
"""Weights in floats below this are what rounding left over."""

MOST_PARTS = 20_000
"""An anti-refinement with more corners than this is refused."""


@dataclass(frozen=True, eq=False)
class VertexHyper:
    """A vertex mechanism: corners, and how often each is seen (from the uniform prior)."""

    space: PrivatePosteriors
    potentials: tuple[Potential, ...]
    outers: tuple[Any, ...]

    def channel(self) -> Channel:
        """The channel; its outputs are numbered."""
        posteriors = np.array([self.space.posterior(p) for p in self.potentials]).T
        joint = posteriors * np.array([float(o) for o in self.outers]) * self.space.size
        return Channel(joint, self.space.points, range(len(self.potentials)), normalise=True)


@dataclass(frozen=True, eq=False)
class KernelPart:
    """A kernel and its share in a mix."""

    share: Any
    kernel: Kernel


@dataclass(frozen=True, eq=False)
class AntiRefinement:
    """A vertex mechanism, and how to post-process it to the channel that it came from."""

    parts: VertexHyper
    remap: Channel
    residual: float
    """The largest difference between the channel and the post-processed vertex mechanism."""

    def channel(self) -> Channel:
        """The vertex mechanism as a channel."""
        return self.parts.channel()


@dataclass(frozen=True, eq=False)
class _Read:
    """Posteriors from the uniform prior with their weights, equal ones merged; and each column of the channel as it was given."""

    posteriors: Sequence[Sequence[Any]]
    outers: Sequence[Any]
    exact: bool
    columns: list[int]
    shares: Sequence[Any]


def is_vertex_mechanism(channel: Given, space: PrivatePosteriors, tolerance: float = TOLERANCE) -> Verdict:
    """Return whether every posterior is a corner."""
    read, tolerance = _read(channel, space), as_tolerance(tolerance)
    status = EXACT if read.exact and space.steps is not None else WITHIN
    for place, posterior in enumerate(read.posteriors):
        verdict = space.is_vertex(posterior, tolerance)
        if not verdict:
            return Verdict(FAILS, f"output {read.columns.index(place)}: {verdict.reason}", verdict.evidence)
    return Verdict(status, f"{len(read.posteriors)} outputs with different posteriors, all corners.")


def is_kernel(channel: Given, space: PrivatePosteriors, tolerance: float = TOLERANCE) -> Verdict:
    """Return whether every posterior is a corner and they are linearly independent."""
    corners = is_vertex_mechanism(channel, space, tolerance)
    if not corners:
        return corners
    hyper = vertex_hyper(channel, space, tolerance)
    rank = rank_of(space, hyper.potentials)
    if rank < len(hyper.potentials):
        return Verdict(
            FAILS,
            f"{len(hyper.potentials)} outputs, all corners, but only {rank} of them are linearly independent; it is a mix of "
            "several kernels, see decompose.",
            rank,
        )
    return Verdict(corners.status, f"{rank} outputs, all corners, linearly independent.")


def vertex_hyper(channel: Given, space: PrivatePosteriors, tolerance: float = TOLERANCE) -> VertexHyper:
    """The corners of a vertex mechanism with their weights; any other channel is refused."""
    read, tolerance = _read(channel, space), as_tolerance(tolerance)
    found: dict[Potential, Any] = {}
    for posterior, outer in zip(read.posteriors, read.outers, strict=True):
        corner = space.snap(posterior, tolerance)
        if corner is None:
            raise GuaranteeError(
                "this is no vertex mechanism for this metric and budget: a posterior is not a corner; anti_refine gives a vertex "
                "mechanism that is at least as useful, for any private channel."
            )
        found[corner] = found.get(corner, 0) + outer
    return VertexHyper(space, tuple(found), tuple(found.values()))


def decompose(channel: Given | VertexHyper, space: PrivatePosteriors, tolerance: float = TOLERANCE) -> list[KernelPart]:
    """Kernels and shares that a vertex mechanism is a convex sum of; at most one for each output.

    Exact for rows of fractions where the factors are rational; otherwise shares are right to about 1e-9.
    """
    hyper = channel if isinstance(channel, VertexHyper) else vertex_hyper(channel, space, tolerance)
    exact = space.rational and all(isinstance(o, Fraction) for o in hyper.outers)
    left: dict[Potential, Any] = dict(zip(hyper.potentials, hyper.outers, strict=True))
    parts: list[KernelPart] = []
    while left:
        kernel = _some_kernel(space, left, exact)
        if kernel is None:  # the remainder of rounding is not a mechanism any more
            break
        outers = dict(zip(kernel.potentials, kernel.outers, strict=True))
        share = min(left[p] / o for p, o in outers.items())
        parts.append(KernelPart(share, kernel))
        left = {p: o - share * outers.get(p, 0) for p, o in left.items()}
        left = {p: o for p, o in left.items() if o > (0 if exact else NOTHING)}
    if not exact:
        whole = sum(float(part.share) for part in parts)
        if abs(whole - 1) > 1e-9:
            raise ParameterError("this mechanism could not be taken apart in floats; give its rows as exact fractions.")
        parts = [KernelPart(float(part.share) / whole, part.kernel) for part in parts]
    return parts


def check_private(channel: Given, space: PrivatePosteriors, tolerance: float = TOLERANCE) -> _Read:
    """The posteriors of a channel, all of which are private in the space; any other channel is refused."""
    read, tolerance = _read(channel, space), as_tolerance(tolerance)
    for posterior in read.posteriors:
        verdict = space.contains(posterior, tolerance)
        if not verdict:
            raise GuaranteeError(
                f"this channel is not private for {space.factor} per unit of {space.metric}: {verdict.reason}"
            )
    return read


def anti_refine(channel: Given, space: PrivatePosteriors, tolerance: float = TOLERANCE) -> AntiRefinement:
    """A vertex mechanism that the given private channel is a post-processing of.

    A posterior that is not a corner lies between two private ones that reach more of their bounds; splitting it again
    and again ends in corners, which share its weight. Nothing is listed or optimised.
    """
    read = check_private(channel, space, tolerance)
    masses: dict[Potential, dict[int, Any]] = {}
    for place, (posterior, outer) in enumerate(zip(read.posteriors, read.outers, strict=True)):
        for corner, mass in _spread(space, posterior, outer, tolerance).items():
            masses.setdefault(corner, {})[place] = mass
    corners = sorted(masses)
    outers = tuple(sum(masses[c].values()) for c in corners)
    matrix = np.zeros((len(corners), len(read.columns)))
    for row, corner in enumerate(corners):
        for column, place in enumerate(read.columns):
            if place >= 0:
                matrix[row, column] = float(masses[corner].get(place, 0) / outers[row] * read.shares[column])
    parts = VertexHyper(space, tuple(corners), outers)
    labels = channel.outputs if isinstance(channel, Channel) else range(len(read.columns))
    remap = Channel(matrix, range(len(corners)), labels, normalise=True)
    apart = np.abs((parts.channel() @ remap).matrix - _floats(channel))
    return AntiRefinement(parts, remap, float(apart.max()) if apart.max() > 1e-15 else 0.0)


def _spread(space: PrivatePosteriors, posterior: Sequence[Any], mass: Any, tolerance: float) -> dict[Potential, Any]:
    """A posterior's weight shared out over corners that it lies between."""
    found: dict[Potential, Any] = {}
    open_ends: dict[tuple[Any, ...], Any] = {tuple(posterior): mass}
    exact = isinstance(posterior[0], Fraction) and space.rational
    while open_ends:
        again: dict[tuple[Any, ...], Any] = {}
        for point, weight in open_ends.items():
            groups = space.tight_groups(point, 0.0 if exact else tolerance)
            if max(groups) == 0:
                corner = space.snap(point, 100 * tolerance)
                if corner is None:
                    raise ParameterError(
                        "a posterior of this channel is too close to a corner for floats; give exact rows."
                    )
                found[corner] = found.get(corner, 0) + weight
                continue
            share, low, high = space.split(point, groups)
            for end, part in ((low, 1 - share), (high, share)):
                key = tuple(end) if exact else tuple(round(float(v), 15) for v in end)
                again[key] = again.get(key, 0) + part * weight
        if len(again) + len(found) > MOST_PARTS:
            raise ParameterError(
                f"a posterior lies between more than {MOST_PARTS} corners; nw.optimal finds the best mechanism without them."
            )
        open_ends = {key: weight for key, weight in again.items() if weight}
    return found


def _some_kernel(space: PrivatePosteriors, outers: dict[Potential, Any], exact: bool) -> Kernel | None:
    """Return a kernel made of some of the corners (Caratheodory): shift weight along dependences until none is left."""
    left = dict(outers)
    while True:
        null = _dependence(space, tuple(left), exact)
        if null is None:
            break
        if not any(v > 0 for v in null):
            null = [-v for v in null]
        step = min(o / v for o, v in zip(left.values(), null, strict=True) if v > 0)
        left = {p: o - step * v for (p, o), v in zip(left.items(), null, strict=True)}
        least = min(left, key=lambda p: left[p])
        left = {p: o for p, o in left.items() if p != least and o > (0 if exact else NOTHING)}
    # In floats a corner of weight 0 may be left with a weight that is not: the lightest ones go first.
    for lightest in sorted(left, key=lambda p: left[p]):
        kernel = kernel_of(space, tuple(left))
        if kernel is not None or exact:
            return kernel
        del left[lightest]
    return None


def _dependence(space: PrivatePosteriors, potentials: Sequence[Potential], exact: bool) -> list[Any] | None:
    """A mix of corners, taken as probabilities, that is 0 everywhere; None where they are independent."""
    if exact:
        columns = [space.weights(p) for p in potentials]
        null = algebra.kernel([[c[x] for c in columns] for x in range(space.size)], len(columns))
        return None if null is None else [v * sum(c) for v, c in zip(null, columns, strict=True)]
    if rank_of(space, potentials) == len(potentials):
        return None
    *_, right = np.linalg.svd(np.array([space.posterior(p) for p in potentials]).T)
    found: list[float] = right[-1].tolist()
    return found


def _read(channel: Given, space: PrivatePosteriors) -> _Read:
    if not isinstance(space, PrivatePosteriors):
        raise ParameterError(
            f"the space must be PrivatePosteriors.of(metric, points, ...), not {type(space).__name__}."
        )
    if isinstance(channel, Kernel):
        if channel.space.points != space.points:
            raise ParameterError("this kernel is one of another space; its points are in .space.points.")
        channel = channel.channel() if channel.rows is None else channel.rows
    if isinstance(channel, Channel):
        if channel.inputs != space.points:
            raise ParameterError("the secrets of the channel must be the points of the space, in the same order.")
        hyper = channel.push()
        reduced = hyper.reduce()
        seen = {y: k for k, y in enumerate(hyper.outputs)}
        nearest = [
            int(np.abs(reduced.inners - hyper.inners[:, [seen[y]]]).max(axis=0).argmin()) if y in seen else -1
            for y in channel.outputs
        ]
        shares = [
            float(hyper.outers[seen[y]] / reduced.outers[nearest[k]]) if y in seen else 0.0
            for k, y in enumerate(channel.outputs)
        ]
        return _Read([tuple(c.tolist()) for c in reduced.inners.T], reduced.outers.tolist(), False, nearest, shares)
    rows = exact_matrix(channel, "a channel")
    if len(rows) != space.size or any(sum(row) != 1 or min(row) < 0 for row in rows):
        raise ParameterError(
            f"a channel has {space.size} rows here, one for each secret, that are 0 or more and sum to 1."
        )
    merged: dict[tuple[Fraction, ...], Fraction] = {}
    keys: list[tuple[Fraction, ...] | None] = []
    sums = [sum(column, Fraction(0)) for column in zip(*rows, strict=True)]
    for column, total in zip(zip(*rows, strict=True), sums, strict=True):
        key = tuple(v / total for v in column) if total else None
        keys.append(key)
        if key is not None:
            merged[key] = merged.get(key, Fraction(0)) + total / space.size
    place = {key: k for k, key in enumerate(merged)}
    columns = [-1 if key is None else place[key] for key in keys]
    exact_shares = [Fraction(0) if k is None else t / space.size / merged[k] for k, t in zip(keys, sums, strict=True)]
    return _Read(list(merged), list(merged.values()), True, columns, exact_shares)


def _floats(channel: Given) -> Floats:
    if isinstance(channel, Kernel):
        return channel.channel().matrix
    if isinstance(channel, Channel):
        return channel.matrix
    return np.array([[float(Fraction(v)) for v in row] for row in channel])
