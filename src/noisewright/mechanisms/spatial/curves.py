"""Functional data: release a curve, known on a public grid, with a guarantee for the whole function.

A curve ``f`` is given by its values at grid points ``t_1 < ... < t_k``. Each value is moved to a public lattice and
gets independent discrete Laplace noise, the noisy values may be clamped to a public range, and interpolation gives a
function again.

**Guarantee.** ``epsilon`` between every two curves at most ``sensitivity`` apart on the grid, where the distance is
the largest difference (``norm="sup"``) or the sum of differences (``norm="l1"``). The noise is calibrated for the
difference after rounding: values ``d`` apart land at most ``ceil(d/step) < d/step + 1`` steps apart. With D the
sensitivity and k points these are at most ``k ceil(D/step)`` steps together under the first norm, and ``ceil(D/step) +
k - 1`` under the second, and these steps may cost epsilon. The certificate claims the same, and its checker counts the
steps itself.

It is a guarantee *for the function*: a random continuous function is private if and only if its values on every
finite grid are (events that look at finitely many points generate all events, and it suffices to check those). Here
every finite grid sees a function of the same ``k`` noisy numbers, so interpolating, smoothing or integrating the
released curve costs nothing.

>>> day = curve(epsilon=2, sensitivity="0.5", norm="l1", grid=range(24), within=(0, 10))
>>> noisy = day.release([5.0] * 24)
>>> noisy.shape, bool(0 <= day.function(noisy)(13.5) <= 10)
((24,), True)
>>> print(day.guarantee)
epsilon = 2 between neighbours (2 * sum of 24 differences at most 1)
>>> day.certificate().verify()
'epsilon = 2 between neighbours (2 * sum of 24 differences at most 1), in steps of 1/131072'

With ``norm="sup"`` every grid point can change by the whole sensitivity, so noise grows with the number of points: choose a
grid no finer than the curve needs.

Reference: Hall, Rinaldo and Wasserman, *Differential privacy for functions and functional data* (2013), for the grid theorem.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from noisewright._utils.validation import one_of
from noisewright.base import (
    EPSILON,
    LATTICE,
    OUTSIDE,
    SENSITIVITY,
    WITHIN,
    BaseMechanism,
    Entry,
    MechanismAudit,
    Parameter,
    Takes,
)
from noisewright.certificates.certificate import Certificate
from noisewright.channels.channel import Channel, product_channel
from noisewright.claims.figures import float_down, float_up, upward
from noisewright.columns.adapters import as_numbers, in_kind
from noisewright.columns.label_encoder import check_dense
from noisewright.exceptions import DataError, NoChannelError, NoLossError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.mechanisms.numeric.geometric import geometric
from noisewright.metrics.base import Metric
from noisewright.metrics.composite import Differences, Scaled
from noisewright.numerics.exact import Exact, as_fraction, positive_fraction
from noisewright.sampling.laplace import discrete_laplace
from noisewright.sampling.lattice import Lattice

__all__ = ["CurveMechanism", "curve"]


GRID = Parameter("Public positions at which a curve is given.", "grid = [0, 1, 2]")
NORM = Parameter(
    "Distance between curves: the largest difference (sup), or the sum of differences (l1).", 'norm = "sup"'
)


LARGEST_STEPS = 1 << 51
"""The range, in lattice steps: with a margin for noise, so that every sum is an exact float."""


def curve(
    *,
    epsilon: Annotated[Exact, EPSILON],
    sensitivity: Annotated[Exact, SENSITIVITY],
    grid: Annotated[Iterable[float], GRID],
    norm: Annotated[str, NORM] = "sup",
    within: Annotated[tuple[Exact, Exact] | None, WITHIN] = None,
    outside: Annotated[str, OUTSIDE] = "refuse",
    lattice: Annotated[str | Exact, LATTICE] = "auto",
) -> CurveMechanism:
    """A mechanism for curves on a public grid.

    ``sensitivity`` is yours to state: how far apart two curves are, in the chosen ``norm`` on the grid, when one
    person's data change. ``within`` clamps the noisy values; true values outside it are refused, or clamped with
    ``outside="clamp"``.
    """
    try:
        points = () if isinstance(grid, (str, bytes)) or np.ma.is_masked(grid) else tuple(float(t) for t in grid)
    except (TypeError, ValueError, OverflowError):
        points = ()
    if not points or not all(math.isfinite(t) for t in points) or any(a >= b for a, b in pairwise(points)):
        raise ParameterError("grid must be one or more finite numbers in increasing order.")
    one_of(norm, "norm", ("sup", "l1"))
    one_of(outside, "outside", ("refuse", "clamp"))
    budget, size = positive_fraction(epsilon, "epsilon"), positive_fraction(sensitivity, "sensitivity")
    chosen = Lattice.asked(lattice)
    if chosen is None:
        # Under l1 rounding may add one step at every point: a finer lattice keeps that below a thousandth of the noise.
        spread = len(points) if norm == "l1" else 1
        chosen = Lattice.for_scale(min(size / budget, size) / spread)
    made = CurveMechanism(
        budget, size, points, norm, None if within is None else _range(within, chosen), outside, chosen
    )
    discrete_laplace(made.scale_in_steps, 0)  # refuses a scale whose noise would not fit, before any data is seen
    return made


@dataclass(frozen=True)
class CurveMechanism(BaseMechanism):
    """Lattice noise on every point of a curve; build it with :func:`curve`."""

    name = "curve"

    epsilon: Fraction
    sensitivity: Fraction
    grid: tuple[float, ...]
    norm: str
    within: tuple[Fraction, Fraction] | None
    outside: str
    lattice: Lattice

    @property
    def dimension(self) -> int:
        """Return how many numbers a curve is given by."""
        return len(self.grid)

    @property
    def steps(self) -> int:
        """The sum over the grid of the lattice steps by which two neighbouring curves can differ."""
        points, single = len(self.grid), self.lattice.steps(self.sensitivity)
        # Sum of ceil(d_i / step) where the d_i add up to the sensitivity: below it plus one step a point.
        return points * single if self.norm == "sup" else single + points - 1

    @property
    def ends(self) -> tuple[int, int] | None:
        """The range in lattice steps, rounded inwards."""
        if self.within is None:
            return None
        return math.ceil(self.within[0] / self.lattice.step), math.floor(self.within[1] / self.lattice.step)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise at each point."""
        return self.scale_in_steps * self.lattice.step

    @property
    def scale_in_steps(self) -> Fraction:
        """The scale in lattice steps: at each point ``P(k)`` is proportional to ``e^(-|k|/scale_in_steps)``."""
        return self.steps / self.epsilon

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` between curves at most ``sensitivity`` apart, before rounding."""
        whole: Metric = Differences(len(self.grid), self.norm)
        if self.sensitivity != 1:
            whole = Scaled(whole, 1 / self.sensitivity)
        return Guarantee.exactly(self.epsilon, whole, scope="adjacent")

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One noisy curve for every curve: the last axis runs over the grid."""
        given = as_numbers(values)
        if given.dtype.kind == "O":
            raise DataError(f"a curve must have one number for each of the {len(self.grid)} grid points.")
        if given.dtype.kind not in "iuf" and given.size:
            raise DataError("the curves are not numbers; convert them first.")
        if given.size == 0 and given.ndim == 1:
            given = np.empty((0, len(self.grid)))  # a column without curves
        if given.ndim == 0 or given.shape[-1] != len(self.grid):
            raise DataError(f"a curve must have one value for each of the {len(self.grid)} grid points.")
        ends = self.ends
        if self.within is None or ends is None:
            places = self.lattice.indices(given)
            return self.lattice.values(places + discrete_laplace(self.scale_in_steps, places.shape, rng))
        low, high = float_down(self.within[0]), float_up(self.within[1])
        if self.outside == "refuse" and not bool(((given >= low) & (given <= high)).all()):
            raise DataError("a value is outside the declared range; clamp with outside='clamp', or widen the range.")
        # Clamping brings no two curves farther apart at any point, before or after the noise.
        places = np.clip(self.lattice.indices(np.clip(given, low, high)), *ends)
        return self.lattice.values(np.clip(places + discrete_laplace(self.scale_in_steps, places.shape, rng), *ends))

    def function(self, released: ArrayLike) -> Callable[[ArrayLike], Any]:
        """The released curve as a function: straight lines between grid points, constant beyond the ends. Post-processing."""
        values = as_numbers(released)
        if values.shape != (len(self.grid),) or values.dtype.kind not in "iuf":
            raise ParameterError(f"one released curve has {len(self.grid)} values, all of them numbers.")
        values = values.astype(np.float64)
        return lambda t: np.interp(np.asarray(t, dtype=np.float64), self.grid, values)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The law of the noise at each point; the checker counts the steps that all points together can differ by."""
        return Certificate.of_mechanism(
            self,
            rng,
            distances={"shape": "adjacent", "distance": str(self.lattice.step / self.sensitivity)},
            proof={
                "kind": "law",
                "law": "discrete laplace",
                "scale": str(self.scale_in_steps),
                "norm": self.norm,
                "coordinates": len(self.grid),
                "clamp": None if self.ends is None else list(self.ends),
            },
            outside=self.outside,
            lattice=self.lattice.exponent,
            sensitivity=str(self.sensitivity),
        )

    def audit(self) -> MechanismAudit:
        """The loss of curves that are as many lattice steps apart as neighbours can be."""
        words = (
            f"one lattice step more or less at one point costs {upward(1 / self.scale_in_steps)}, and neighbours are at most "
            f"{self.steps} steps apart, all points together"
        )
        return MechanismAudit(
            float_up(self.epsilon), self.guarantee.metric, None, None, None, scope="adjacent", words=words
        )

    def error(self, loss: str = "absolute") -> float:
        """The expected sum over the grid of absolute or squared errors, before clamping (which only lowers them).

        Rounding to the lattice is included, by its bound of half a step.
        """
        rate = float(1 / self.scale_in_steps)
        a, q, step = math.exp(-rate), -math.expm1(-rate), float(self.lattice.step)
        if loss == "absolute":
            return len(self.grid) * step * (2 * a / ((1 + a) * q) + 0.5)
        if loss == "squared":
            return len(self.grid) * step**2 * (2 * a / q**2 + 0.25)
        raise NoLossError(f"there is no loss called {loss!r} for curves; choose 'absolute' or 'squared'.")

    def channel(self) -> Channel:
        """All curves on the lattice, when the range holds few of them: for study and audits."""
        if self.ends is None:
            raise NoChannelError("an unbounded curve has infinitely many outputs; give it a range with within=.")
        low, high = self.ends
        check_dense((high - low + 1) ** len(self.grid))
        point = geometric(epsilon=1 / self.scale_in_steps, within=(low, high)).channel()
        whole = product_channel(point, len(self.grid))
        curves = [tuple(self.lattice.values(np.array(places)).tolist()) for places in whole.inputs]
        return Channel(whole.matrix, curves, curves)


def _range(within: tuple[Exact, Exact], lattice: Lattice) -> tuple[Fraction, Fraction]:
    try:
        low, high = within
    except (TypeError, ValueError):
        raise ParameterError("within must be two numbers, low before high, more than a lattice step apart.") from None
    low, high = (as_fraction(end, "an end of within") for end in (low, high))
    first, last = math.ceil(low / lattice.step), math.floor(high / lattice.step)
    if not first < last:
        raise ParameterError("within must be two numbers, low before high, more than a lattice step apart.")
    if max(abs(first), abs(last)) > LARGEST_STEPS:
        raise ParameterError("within is too wide for this lattice; use a coarser one with lattice=.")
    return low, high


ENTRY = Entry(
    "curve",
    curve,
    Takes("vector", parts=None, budget="sensitivity", within=True, lattice=True),
    summary="lattice noise on every point, a guarantee for the function",
    words="curves on a grid",
)
