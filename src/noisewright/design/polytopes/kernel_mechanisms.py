"""Kernel mechanisms: the finitely many private mechanisms that all others are made of.

A private channel whose posteriors (from the uniform prior) are corners of :mod:`~noisewright.design.polytopes.posteriors` is a
*vertex mechanism*; if they are also linearly independent it is a *kernel mechanism*. Every private mechanism is a
post-processing of a mix of kernels, so for any loss and any prior some kernel is best. No kernel is a post-processing
of another, and with more than two secrets there are several: no mechanism is best for everyone.

Kernels are the extreme points of ``{a >= 0 : V a = uniform}``, where the columns of ``V`` are the corners. They are listed

* in integers, for a rational ``factor``, and for any budget under the discrete metric. There the corners are
  ``1 + (q - 1) [i in S]`` for a set ``S`` of secrets, and kernels are the minimal balanced collections of such sets;
* exactly as well, for a rational ``epsilon`` and distances in whole steps: ``e^epsilon`` is transcendental, so a tie is an
  identity, which can be tested; signs are taken from an approximation with a running bound of its error;
* in floats, for distances without a common step (a plane); ``verified`` is then False.

>>> from noisewright.metrics.base import Line
>>> found = kernels(Line(), range(3), factor=2)
>>> for kernel in found:
...     print(kernel)
kernel of 2 outputs: [2/3 1/3] [1/3 2/3] [2/3 1/3]
kernel of 3 outputs: [2/3 1/6 1/6] [1/3 1/3 1/3] [1/6 1/6 2/3]
>>> [len(kernels(Line(), range(n), factor=2)) for n in (2, 3, 4, 5)], len(kernels(Line(), range(5), epsilon="1/2"))
([1, 2, 11, 187], 218)

* :func:`is_vertex_mechanism`, :func:`is_kernel`: the two tests, with the odd output or the dependence as evidence;
* :func:`decompose`: a vertex mechanism as a convex sum of kernels (Caratheodory: peel off a kernel until nothing is left).
  The result is not unique. A convex sum means running one of the kernels, chosen at random, and saying which;
* :func:`anti_refine`: for any private channel a vertex mechanism that it is a post-processing of, so at least as good for
  every prior and every loss.

>>> from noisewright.metrics.base import Discrete, Line
>>> from noisewright.design.polytopes.posteriors import PrivatePosteriors
>>> line = PrivatePosteriors.of(Line(), range(3), factor=2)
>>> print(is_kernel([["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]], line))
holds (exact): 3 outputs, all corners, linearly independent.
>>> better = anti_refine([["3/5", "2/5"], ["1/2", "1/2"], ["2/5", "3/5"]], line)
>>> len(better.parts.potentials), better.residual
(4, 0.0)

Channels are given as a :class:`~noisewright.channels.channel.Channel` of floats, compared within a tolerance, or
as rows of fractions, integers or strings, which are taken exactly.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, overload

import numpy as np

from noisewright._typing import Floats
from noisewright._utils.validation import as_tolerance
from noisewright.channels.channel import Channel
from noisewright.claims.readings import rate
from noisewright.design.polytopes.extreme_point import exact_matrix
from noisewright.design.polytopes.posteriors import TOLERANCE, Potential, PrivatePosteriors
from noisewright.exceptions import GuaranteeError, ParameterError
from noisewright.guarantees import EXACT, FAILS, WITHIN, Verdict
from noisewright.mechanisms.categorical.base import FiniteMechanism
from noisewright.mechanisms.categorical.base import mechanism as finite_mechanism
from noisewright.metrics.base import Metric
from noisewright.numerics import linear_algebra as algebra
from noisewright.numerics.exact import Exact
from noisewright.numerics.polyhedra import MOST_RAYS, Ray, balanced_rays

__all__ = [
    "AntiRefinement",
    "Given",
    "Kernel",
    "KernelPart",
    "Kernels",
    "VertexHyper",
    "anti_refine",
    "check_private",
    "decompose",
    "is_kernel",
    "is_vertex_mechanism",
    "kernel_of",
    "kernels",
    "kernels_of",
    "vertex_hyper",
]


FLOAT_TOLERANCE = 1e-10

MOST_LOSS = 300
"""Kernels are listed where no two secrets are allowed a loss beyond this: their numbers would be too long to be useful."""

MOST_CORNERS = 600
"""Kernels of spaces with more corners than this are not listed."""


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel mechanism: a corner for each output, and the one way to mix them to a channel."""

    space: PrivatePosteriors
    potentials: tuple[Potential, ...]
    mix: tuple[Any, ...]
    """Weights of the corners, each taken with its smallest entry 1, up to a common factor; fractions or floats."""

    @cached_property
    def rows(self) -> tuple[tuple[Fraction, ...], ...] | None:
        """The channel in exact fractions; None where the factors are not rational."""
        if not self.space.rational:
            return None
        weights = [self.space.weights(p) for p in self.potentials]
        raw = [[a * w[x] for a, w in zip(self.mix, weights, strict=True)] for x in range(self.space.size)]
        return tuple(tuple(Fraction(v) / sum(row) for v in row) for row in raw)

    def channel(self) -> Channel:
        """The channel; its outputs are numbered."""
        logs = np.array([_log(a) - _log(sum(self.mix)) for a in self.mix])
        grown = logs[None, :] + self.space.step * np.array(self.potentials, dtype=np.float64).T
        grown -= np.logaddexp.reduce(grown, axis=1)[:, None]
        return Channel.from_logs(grown, self.space.points, range(len(self.potentials)))

    def mechanism(self) -> FiniteMechanism:
        """A mechanism that draws from this kernel, certified for the space's own budget and metric."""
        return finite_mechanism(
            self.channel(), epsilon=self.space.factor.budget, metric=self.space.metric, name="kernel"
        )

    @property
    def posteriors(self) -> Floats:
        """The corners as probabilities, one column each."""
        return np.array([self.space.posterior(p) for p in self.potentials]).T

    @property
    def outers(self) -> tuple[Any, ...]:
        """Probability of each output if all secrets are equally likely."""
        if self.rows is not None:
            return tuple(sum(column, Fraction(0)) / self.space.size for column in zip(*self.rows, strict=True))
        return tuple(self.channel().matrix.mean(axis=0).tolist())

    def __len__(self) -> int:
        return len(self.potentials)

    def __str__(self) -> str:
        if self.rows is not None:
            shown = [" ".join(map(str, row)) for row in self.rows]
        else:
            shown = [" ".join(f"{v:.4f}" for v in row) for row in self.channel().matrix]
        return f"kernel of {len(self)} outputs: " + " ".join(f"[{row}]" for row in shown)


@dataclass(frozen=True, eq=False)
class Kernels(Sequence[Kernel]):
    """All kernel mechanisms of a space, from the fewest outputs to the most."""

    space: PrivatePosteriors
    found: tuple[Kernel, ...]

    @property
    def verified(self) -> bool:
        """Return whether ties and signs were decided exactly; counts in floats are not verified."""
        return self.space.steps is not None

    @property
    def by_size(self) -> dict[int, int]:
        """Number of kernels with each number of outputs."""
        return dict(sorted(Counter(len(kernel) for kernel in self.found).items()))

    def to_json(self) -> dict[str, object]:
        """Everything as plain JSON values."""
        from noisewright.metrics.base import encode_label

        return {
            "metric": str(self.space.metric),
            "points": [encode_label(x) for x in self.space.points],
            "epsilon": self.space.rate,
            "budget": str(self.space.factor),
            "vertices": len(self.space.potentials),
            "verified": self.verified,
            "count": len(self),
            "by_size": {str(size): count for size, count in self.by_size.items()},
            "kernels": [
                {
                    "outers": [str(v) if isinstance(v, Fraction) else v for v in kernel.outers],
                    "exact": None if kernel.rows is None else [[str(v) for v in row] for row in kernel.rows],
                    "matrix": kernel.channel().matrix.tolist(),
                }
                for kernel in self
            ],
        }

    @overload
    def __getitem__(self, place: int) -> Kernel: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Kernel, ...]: ...
    def __getitem__(self, place: int | slice) -> Kernel | tuple[Kernel, ...]:
        return self.found[place]

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Kernel]:
        return iter(self.found)

    def __str__(self) -> str:
        sizes = ", ".join(f"{count} of {size} outputs" for size, count in self.by_size.items())
        checked = "counted exactly" if self.verified else "counted in floats, unverified"
        return (
            f"{len(self)} kernels ({sizes}) on {len(self.space.potentials)} corners for "
            f"{rate(self.space.rate, self.space.metric)}, {checked}"
        )


def kernels(
    metric: Metric,
    points: Iterable[Hashable],
    *,
    epsilon: Exact | None = None,
    factor: Exact | None = None,
    most: int = MOST_RAYS,
) -> Kernels:
    """All kernel mechanisms; the budget is ``epsilon``, or ``factor = e^epsilon`` as a rational number.

    The number may change with the budget (on a line of 5 points or more it does), so it is meaningless without it. It grows very
    fast: a line of 6 points has 15,346 at factor 2. Spaces with more than ``most`` are refused;
    :func:`~noisewright.design.optimal.optimal` finds the best mechanism for one loss without listing anything.
    """
    return kernels_of(PrivatePosteriors.of(metric, points, epsilon=epsilon, factor=factor), most=most)


def kernels_of(space: PrivatePosteriors, *, most: int = MOST_RAYS) -> Kernels:
    """All kernel mechanisms of a space."""
    if not isinstance(space, PrivatePosteriors):
        raise ParameterError(f"kernels are those of a PrivatePosteriors space, not of {type(space).__name__}.")
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise ParameterError("most is a whole number of kernels, 1 or more.")
    if float(space.losses.max()) > MOST_LOSS:
        raise ParameterError(
            f"this budget allows the farthest secrets a loss above {MOST_LOSS}, which hides nothing; choose a smaller epsilon."
        )
    corners = space.potentials
    if len(corners) > MOST_CORNERS:
        raise ParameterError(
            f"this space has {len(corners)} corners, and kernels are listed for {MOST_CORNERS} at most; take fewer secrets, or "
            "let nw.optimal find the best mechanism for one loss without listing them."
        )
    columns, error = _columns(space, corners)
    rays = balanced_rays(columns, error=error, tolerance=0.0 if space.steps else FLOAT_TOLERANCE, most=most)
    return Kernels(space, tuple(_kernel(space, corners, ray) for ray in rays))


def kernel_of(space: PrivatePosteriors, potentials: Sequence[Potential]) -> Kernel | None:
    """The kernel with the given corners, or None where they are dependent or do not mix to a channel."""
    if not all(space.is_corner(p) for p in potentials):
        return None
    size = len(potentials)
    if space.base is None:
        matrix = np.array([space.posterior(p) for p in potentials]).T
        matrix /= matrix.min(axis=0)
        mix, _, rank, _ = np.linalg.lstsq(matrix, np.ones(space.size))
        if rank < size or (mix <= 0).any() or np.abs(matrix @ mix - 1).max() > FLOAT_TOLERANCE:
            return None
        return Kernel(space, tuple(potentials), tuple(mix.tolist()))
    weights = [space.weights(p) for p in potentials]
    exact = algebra.solve([[w[x] for w in weights] for x in range(space.size)], [1] * space.size)
    return None if exact is None or min(exact) <= 0 else Kernel(space, tuple(potentials), tuple(exact))


def rank_of(space: PrivatePosteriors, potentials: Sequence[Potential]) -> int:
    """Return the number of linearly independent corners: exactly, where distances are in whole steps."""
    if space.base is None:
        matrix = np.array([space.posterior(p) for p in potentials])
        return int(np.linalg.matrix_rank(matrix / matrix.max(axis=1, keepdims=True), tol=1e-9))
    return algebra.rank([space.weights(p) for p in potentials])


def _kernel(space: PrivatePosteriors, corners: Sequence[Potential], ray: Ray) -> Kernel:
    total = sum(ray.weights)
    centres = [float(space.posterior(corners[k]) @ np.arange(space.size)) for k in ray.support]
    order = sorted(range(len(ray.support)), key=lambda k: (round(centres[k], 9), [-v for v in corners[ray.support[k]]]))
    mix = tuple(Fraction(a, total) if isinstance(a, int) else a / total for a in ray.weights)  # type: ignore[arg-type]
    # Outputs in the order of the secrets they point at: on a line, from left to right.
    return Kernel(space, tuple(corners[ray.support[k]] for k in order), tuple(mix[k] for k in order))


def _columns(space: PrivatePosteriors, corners: Sequence[Potential]) -> tuple[list[list[float]], float]:
    """The corners as numbers that mixes can be computed with, and how far off they may be, relatively."""
    if space.base is None:
        return [[math.exp(p[x]) for p in corners] for x in range(space.size)], 0.0
    highest = int(max(max(p) for p in corners))
    if highest == 1:  # q^[i in S] = 1 + (q - 1) [i in S]: whether a mix is balanced does not depend on q
        return [[int(p[x]) for p in corners] for x in range(space.size)], 0.0
    up, down = space.base.numerator, space.base.denominator
    powers = [up**k * down ** (highest - k) for k in range(highest + 1)]
    error = 0.0 if space.rational else max(highest * 2.0 ** max(4 - space.bits, -1000), 1e-300)
    return [[powers[int(p[x])] for p in corners] for x in range(space.size)], error


def _log(value: Fraction | float) -> float:
    """The logarithm of a positive number, also of a fraction beyond the range of floats."""
    if isinstance(value, Fraction):
        return math.log(value.numerator) - math.log(value.denominator)
    return math.log(value)


# Decomposition ------------------------------------------------------------------------------------------------------------
#
# Whether a channel is a vertex or a kernel mechanism, of which mechanisms it is a mix, and which are at least as
# useful for everyone.


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
