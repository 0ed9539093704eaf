r"""Kernel mechanisms: the finitely many private mechanisms that all others are made of.

A private channel whose posteriors (from the uniform prior) are corners of :mod:`~noisewright.optimality.kernels.posteriors` is a
*vertex mechanism*; if they are also linearly independent it is a *kernel mechanism*. Every private mechanism is a
post-processing of a mix of kernels, so for any loss and any prior some kernel is best. No kernel is a post-processing
of another, and with more than two secrets there are several: no mechanism is best for everyone.

Kernels are the extreme points of ``{a >= 0 : V a = uniform}``, where the columns of ``V`` are the corners. They are listed

* in integers, for a rational ``factor``, and for any budget under the discrete metric. There the corners are
  ``1 + (q - 1) [i in S]`` for a set ``S`` of secrets, and kernels are the minimal balanced collections of such sets;
* exactly as well, for a rational ``epsilon`` and distances in whole steps: ``e^epsilon`` is transcendental, so a tie is an
  identity, which can be tested; signs are taken from an approximation with a running bound of its error;
* in floats, for distances without a common step (a plane); ``verified`` is then False.

>>> from noisewright.core.metrics.metric import Line
>>> found = kernels(Line(), range(3), factor=2)
>>> for kernel in found:
...     print(kernel)
kernel of 2 outputs: [2/3 1/3] [1/3 2/3] [2/3 1/3]
kernel of 3 outputs: [2/3 1/6 1/6] [1/3 1/3 1/3] [1/6 1/6 2/3]
>>> [len(kernels(Line(), range(n), factor=2)) for n in (2, 3, 4, 5)], len(kernels(Line(), range(5), epsilon="1/2"))
([1, 2, 11, 187], 218)
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

from noisewright.claims.readings import rate
from noisewright.core.arrays import Floats
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact
from noisewright.core.metrics.metric import Metric
from noisewright.mechanisms.categories.finite import FiniteMechanism
from noisewright.mechanisms.categories.finite import mechanism as finite_mechanism
from noisewright.optimality import algebra
from noisewright.optimality.kernels._potentials import Potential
from noisewright.optimality.kernels._rays import MOST_RAYS, Ray, balanced_rays
from noisewright.optimality.kernels.posteriors import PrivatePosteriors

__all__ = ["Kernel", "Kernels", "kernel_of", "kernels", "kernels_of"]


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
        from noisewright.core.labels import encode_label

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
    :func:`~noisewright.optimality.design.optimal.optimal` finds the best mechanism for one loss without listing anything.
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
