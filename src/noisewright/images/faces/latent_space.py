r"""The codes of faces: a box of public ranges with a lattice in it, and how far apart two codes are.

A model gives every face a code of n numbers, and public training faces give every element a range. In the box of these ranges

.. math:: d(x, x') = \sum_i w_i\, \frac{|x_i - x'_i|}{\text{range}_i}, \qquad \sum_i w_i = 1,

is 0 for equal codes and 1 between opposite corners; even weights :math:`w_i = 1/n` are the usual metric. Element i is
rounded to one of ``steps[i] + 1`` places of its range, and those numbers of steps *are* the weights: :math:`w_i =
\text{steps}_i / \sum \text{steps}`. One step is then worth the same in every element, and d is the Manhattan distance
of integers, divided by the sum of steps. A code beyond the box is moved to its border first, which reads only public
ranges.

>>> space = CodeSpace.of([0, -1], [10, 1], steps=100)
>>> space.points([[2.5, 0], [99, 1]]).tolist()
[[25, 50], [100, 100]]
>>> space.metric.distance([0, 0], [10, 0])
0.5
>>> CodeSpace.of([0, 0], [1, 1], steps=100, weights=[3, 1]).steps
(150, 50)

With c components the noise on component i has the scale ``c range_i / epsilon``. It is worth while as long as that is
below ``alpha`` standard deviations, for all kept components; the result is the largest c with

.. math:: c\, \text{range}_i / \varepsilon < \alpha\, \text{sd}_i \qquad \text{for every } i \le c.

Both the factor c and the set of conditions grow with c, so the counts that satisfy it come first, and the answer is how many
of ``c * cummax(range / sd)`` are below ``alpha epsilon``. It depends on epsilon and public numbers alone. A published search
by halving returns one too many; this one does not.

>>> component_count([1] * 5, [9] * 5, epsilon=25)  # 2 * 9 / 25 = 0.72, and 3 * 9 / 25 = 1.08
2

Known identities have features X_1, ..., X_m and a new face has features Y, all from one public recogniser. The weights
W minimise :math:`\sum_i |Y_i - \sum_j W_j X_{ji}|`. As a linear program with one row per feature; its dual,

.. math:: \max_v \; Y^\top v \quad \text{subject to} \quad X v = 0, \quad -1 \le v_i \le 1,

has m, and its multipliers are the weights. In a simplex (weights of at least 0 that add up to 1) the condition is
:math:`X_j v \le \lambda` with :math:`Y^\top v - \lambda` to be maximised. The weights are a function of the secret
face, found *before* any noise: the resulting code is clamped to its box and protected as any other code.

>>> identity_weights([[1, 0, 2], [0, 1, 1]], [0.5, 0.25, 1.25]).weights.round(9).tolist()
[0.5, 0.25]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from noisewright._typing import Floats
from noisewright._utils.validation import fields_alone, is_number, is_whole
from noisewright.claims.phrases import metric_name
from noisewright.exceptions import DataError, ParameterError
from noisewright.images.pictures import Inside
from noisewright.metrics.base import Metric
from noisewright.numerics.exact import Exact, positive_fraction

__all__ = [
    "ALPHA",
    "STEPS",
    "CodeSpace",
    "LatentMetric",
    "Mixture",
    "component_count",
    "identity_weights",
    "least_error_weights",
]


STEPS = 4096
"""Maximum average number of steps in the range of an element: far finer than any noise that hides something."""
MOST_STEPS = 1 << 40


@dataclass(frozen=True)
class CodeSpace:
    """Public ranges of the elements of codes, and the steps that each is cut into; make one with :meth:`of`."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    steps: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.low or not len(self.low) == len(self.high) == len(self.steps):
            raise ParameterError(
                "a code has one element or more, each with a low end, a high end and a number of steps."
            )
        if not np.isfinite([self.low, self.high]).all() or not all(
            a < b for a, b in zip(self.low, self.high, strict=True)
        ):
            raise ParameterError(
                "the range of an element has two finite ends, low before high; leave out constant elements."
            )
        if not np.isfinite(self.ranges).all():
            raise ParameterError("the range of an element is wider than all floats; rescale the model.")
        if not all(is_whole(steps) and 1 <= steps <= MOST_STEPS for steps in self.steps):
            raise ParameterError(f"the range of an element has 1 to {MOST_STEPS:,} steps, a whole number of them.")

    @classmethod
    def of(
        cls, low: ArrayLike, high: ArrayLike, *, steps: int = STEPS, weights: Sequence[float] | Floats | None = None
    ) -> CodeSpace:
        """The space with these ranges; ``steps`` are the steps of an element of average weight.

        A weight becomes a positive integer number of steps: the metric has the weights that result.
        """
        ends = [np.atleast_1d(np.asarray(end, np.float64)) for end in (low, high)]
        if ends[0].ndim != 1 or ends[0].shape != ends[1].shape:
            raise ParameterError("the low ends and the high ends of ranges are two lists of one length.")
        many = len(ends[0])
        if not is_whole(steps) or not 1 <= steps <= MOST_STEPS:
            raise ParameterError(f"steps is a whole number from 1 to {MOST_STEPS:,}.")
        share = np.full(many, 1.0) if weights is None else np.asarray(weights, np.float64)
        if share.shape != (many,) or not np.isfinite(share).all() or not (share > 0).all():
            raise ParameterError(
                "every element of a code has a weight above 0; leave out those that shall not be released."
            )
        found = np.maximum(1, np.rint(steps * many * (share / share.sum()))).astype(np.int64)
        return cls(tuple(ends[0].tolist()), tuple(ends[1].tolist()), tuple(found.tolist()))

    @property
    def size(self) -> int:
        """Return how many elements a code has."""
        return len(self.steps)

    @property
    def total(self) -> int:
        """The sum of all steps: the Manhattan distance of opposite corners."""
        return sum(self.steps)

    @property
    def weights(self) -> Floats:
        """Weight of each element in the metric; they add up to 1."""
        return np.array(self.steps) / self.total

    @cached_property
    def ranges(self) -> Floats:
        """The width of each range."""
        with np.errstate(over="ignore"):
            return np.asarray(np.array(self.high) - np.array(self.low))

    @property
    def metric(self) -> LatentMetric:
        """The distance between codes."""
        return LatentMetric(self)

    def points(self, codes: ArrayLike) -> NDArray[np.int64]:
        """The places of the lattice that codes are rounded to, from 0 to the steps of each element."""
        given = np.asarray(codes, np.float64)
        if given.ndim not in (1, 2) or given.shape[-1] != self.size:
            raise DataError(f"a code has {self.size} elements here; give one code, or one in each row.")
        if not np.isfinite(given).all():
            raise DataError("a code is made of finite numbers; look at the picture or the model that it came from.")
        inside = (np.clip(given, self.low, self.high) - self.low) / self.ranges
        return np.asarray(np.rint(inside * np.array(self.steps)), np.int64)

    def codes(self, points: NDArray[Any]) -> Floats:
        """The codes at places of the lattice."""
        return np.asarray(np.array(self.low) + points / np.array(self.steps) * self.ranges)

    def apart(self, points: NDArray[Any], others: NDArray[Any]) -> Floats:
        """Distances between places of the lattice: a row for each of the first, a column for each of the others."""
        return np.asarray(cdist(points.astype(float), others.astype(float), "cityblock") / self.total)

    __getstate__ = fields_alone


@dataclass(frozen=True)
class LatentMetric(Metric):
    """The weighted distance between two codes, each moved into the box and rounded to the lattice."""

    space: CodeSpace
    inside: Inside | None = field(default=None, kw_only=True)
    """Outside of which parts two pictures are alike, if faces are parts of pictures."""
    finite = True

    @property
    def secret(self) -> dict[str, Any]:
        """Faces, and how many steps opposite corners of the box are apart."""
        return {"kind": "face", "steps": self.space.total, **({} if self.inside is None else self.inside.record())}

    @property
    def name(self) -> str:  # type: ignore[override]
        return metric_name(self.record())

    def record(self) -> dict[str, Any]:
        return {"base": "manhattan", "factor": f"1/{self.space.total}"}

    @property
    def largest(self) -> Fraction:
        """Opposite corners of the box are at distance 1."""
        return Fraction(1)

    @property
    def unit(self) -> str:
        return "code unit"

    def matrix(self, points: Sequence[Any]) -> Floats:
        """All distances between codes."""
        given = self.space.points(np.asarray(points, np.float64))
        return self.space.apart(given, given)


def least_error_weights(ranges: ArrayLike) -> Floats:
    """The weights with the least expected squared error in an orthonormal basis: in proportion to ranges to the power 2/3.

    The noise of element i has a scale of ``range / (weight * epsilon)``, and the sum of twice its square is minimised.

    >>> least_error_weights([1, 8]).round(3).tolist()
    [0.2, 0.8]
    """
    raised = np.asarray(ranges, np.float64) ** (2 / 3)
    return np.asarray(raised / raised.sum())


# Counting -----------------------------------------------------------------------------------------------------------------
#
# Choice of the number of components: each further component adds noise to all.


ALPHA = 0.9
"""Largest noise on a component, in its standard deviations."""


def component_count(spreads: ArrayLike, ranges: ArrayLike, *, epsilon: Exact, alpha: float = ALPHA) -> int:
    """The largest number of leading components whose noise stays below ``alpha`` standard deviations of each.

    Refused where even one component has more noise than that.
    """
    sds, wide = np.asarray(spreads, np.float64), np.asarray(ranges, np.float64)
    if sds.ndim != 1 or not len(sds) or sds.shape != wide.shape or not ((sds > 0) & (wide > 0)).all():
        raise ParameterError(
            "components have standard deviations and ranges above 0, as many of the one as of the other."
        )
    if not is_number(alpha) or not 0 < alpha < np.inf:
        raise ParameterError("alpha is a finite number of standard deviations above 0.")
    limit = float(positive_fraction(epsilon, "epsilon")) * alpha
    worst = np.maximum.accumulate(wide / sds)
    found = int((np.arange(1, len(sds) + 1) * worst < limit).sum())
    if not found:
        raise ParameterError(
            f"at this epsilon even one component has noise above alpha = {alpha:g} of its standard deviations; take a larger "
            "epsilon, or say components=1 and expect faces that have little to do with the original."
        )
    return found


# Identities ---------------------------------------------------------------------------------------------------------------
#
# A face that a model does not know, as a mixture of faces that it knows: least absolute deviations.


@dataclass(frozen=True, eq=False)
class Mixture:
    """The weights of known identities, and how far their mixture is from the new face in all features together."""

    weights: Floats
    deviation: float


def identity_weights(known: ArrayLike, face: ArrayLike, *, simplex: bool = False) -> Mixture:
    """The mixture of ``known`` features (one identity in each row) that is nearest to the features of a ``face``.

    ``simplex`` keeps it between the known faces, where a generator was trained.
    """
    X, Y = np.asarray(known, np.float64), np.asarray(face, np.float64)
    if X.ndim != 2 or not len(X) or Y.shape != X.shape[1:] or not Y.size:
        raise DataError("known features have one row for each identity, and the face has one such row itself.")
    if not np.isfinite(X).all() or not np.isfinite(Y).all():
        raise DataError("features are finite numbers; look at the pictures or the recogniser that they came from.")
    many = len(X)
    if simplex:
        program = linprog(
            np.append(-Y, 1.0),
            A_ub=np.column_stack([X, -np.ones(many)]),
            b_ub=np.zeros(many),
            bounds=[(-1, 1)] * len(Y) + [(None, None)],
            method="highs-ds",
        )
    else:
        program = linprog(-Y, A_eq=X, b_eq=np.zeros(many), bounds=(-1, 1), method="highs-ds")
    if program.status != 0:
        raise DataError("no mixture was found for the features of a face; scale them to the size of 1.")
    weights = -np.asarray((program.ineqlin if simplex else program.eqlin).marginals)
    if simplex:  # the last digits of a solver
        weights = np.maximum(weights, 0)
        weights /= weights.sum()
    return Mixture(weights, float(np.abs(Y - weights @ X).sum()))
