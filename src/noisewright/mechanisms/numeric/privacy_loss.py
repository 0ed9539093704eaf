r"""Auditors for continuous mechanisms: the exact privacy loss and the exact delta of two Laplace-like densities.

A :class:`LaplaceDensity` falls off exponentially on both sides of its location, possibly at two rates, and lives on a
*feasible set* ``X``: a union of intervals, outside which it is zero,

.. math:: p(x) = \frac{1}{Z} \begin{cases} e^{-\lambda (\mu - x)} & x < \mu \\ e^{-\rho (x - \mu)} & x \ge \mu \end{cases}
          \qquad x \in X .

The logarithm of the ratio of two such densities is piecewise linear in ``x``, with kinks at the two locations only. So

* its largest absolute value is attained at a location or at an end point of ``X``, unless ``X`` reaches infinity on a
  side where the rates differ: there the ratio has no bound (:func:`pair_loss`);
* the outputs where it exceeds ``epsilon`` are a few intervals, whose masses have closed forms (:func:`pair_delta`).

No grid of outputs is involved. A whole calibration is audited by running the first over pairs of locations
(:func:`audit_family`).

>>> wall, inside = (laplace_density(place, scale=1, within=(0, math.inf)) for place in (0, 1))
>>> round(pair_loss(wall, inside).value, 6)  # noise of scale 1 cut at a wall: not 1, but ln(2e - 1)
1.48988

References: Holohan, Antonatos, Braghin and Mac Aonghusa, *The bounded Laplace mechanism in differential privacy* (2018), for
the loss through the normaliser; Balle and Wang (2018) for the hockey-stick form of delta.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from noisewright._typing import Floats
from noisewright.base import MechanismAudit
from noisewright.claims.figures import upward
from noisewright.claims.readings import delta_between
from noisewright.exceptions import NoLossError, ParameterError
from noisewright.guarantees import Scope
from noisewright.metrics.composite import line_in

__all__ = [
    "LaplaceDensity",
    "PairDelta",
    "PairLoss",
    "audit_family",
    "audit_locations",
    "laplace_density",
    "pair_delta",
    "pair_loss",
]


Interval = tuple[float, float]

NEAR = 1e-6
"""Pairs this far apart (in units of the sensitivity) are tried at every end point: the local loss peaks there."""

ROUNDING = 1e-12
"""A loss that exceeds epsilon by less than this is taken for equality; its addition to a delta is smaller still."""


def laplace_density(
    location: float, *, scale: float, within: Interval | Sequence[Interval] | None = None
) -> LaplaceDensity:
    """The Laplace density with one scale on both sides, cut to ``within`` and renormalised.

    ``within`` is an interval, a list of disjoint intervals, or nothing for the whole line; ends may be infinite.
    """
    if not 0 < scale < math.inf:
        raise ParameterError(f"scale must be a finite number above 0, not {scale}.")
    return LaplaceDensity(location, 1 / scale, 1 / scale, _pieces(within))


@dataclass(frozen=True)
class LaplaceDensity:
    """A density that falls at rate ``left`` below its location and ``right`` above it, on a union of intervals.

    A rate of 0 is flat, which is allowed only where the feasible set is bounded on that side.
    """

    location: float
    left: float
    right: float
    pieces: tuple[Interval, ...] = ((-math.inf, math.inf),)

    def __post_init__(self) -> None:
        if not math.isfinite(self.location) or not any(low <= self.location <= high for low, high in self.pieces):
            raise ParameterError("the location of a density must be a point of its feasible set.")
        for rate, end in ((self.left, self.pieces[0][0]), (self.right, self.pieces[-1][1])):
            if not 0 <= rate < math.inf or (rate == 0 and math.isinf(end)):
                raise ParameterError("a rate must be a finite number above 0, or 0 where the set ends on that side.")

    @cached_property
    def total(self) -> float:
        """``Z``: the integral of the unnormalised density."""
        return sum(weight for weight, _ in self._sides())

    def log(self, x: ArrayLike) -> Floats:
        """The logarithm of the density."""
        at = np.asarray(x, dtype=np.float64)
        inside = np.zeros(at.shape, dtype=bool)
        for low, high in self.pieces:
            inside |= (at >= low) & (at <= high)
        apart = at - self.location
        exponent = np.where(apart < 0, self.left * apart, -self.right * apart)
        return np.where(inside, exponent - math.log(self.total), -np.inf)

    def pdf(self, x: ArrayLike) -> Floats:
        """The density."""
        return np.exp(self.log(x))

    def mass(self, low: float = -math.inf, high: float = math.inf) -> float:
        """The probability of an interval, in closed form."""
        if not low <= high:
            raise ParameterError("an interval has its lower end first.")
        return sum(weight for weight, _ in self._sides(low, high)) / self.total

    def error(self, loss: str = "absolute") -> float:
        """The expected distance from the location (``"absolute"``) or its square (``"squared"``), in closed form."""
        if loss not in ("absolute", "squared"):
            raise NoLossError(f"there is no loss called {loss!r} for densities; choose 'absolute' or 'squared'.")
        power = 1 if loss == "absolute" else 2
        return sum(_moment(rate, *span, power) for span, rate in self._spans()) / self.total

    def _sides(self, low: float = -math.inf, high: float = math.inf) -> list[tuple[float, float]]:
        """The integral of the unnormalised density over each one-sided part of the set, and the part's rate."""
        return [(_moment(rate, *span, 0), rate) for span, rate in self._spans(low, high)]

    def _spans(self, low: float = -math.inf, high: float = math.inf) -> list[tuple[Interval, float]]:
        """The parts of the set between ``low`` and ``high`` as distances from the location, each with its rate."""
        here = self.location
        spans: list[tuple[Interval, float]] = []
        for start, end in self.pieces:
            start, end = max(start, low), min(end, high)  # noqa: PLW2901
            if start < min(end, here):
                spans.append(((here - min(end, here), here - start), self.left))
            if max(start, here) < end:
                spans.append(((max(start, here) - here, end - here), self.right))
        return spans


@dataclass(frozen=True)
class PairLoss:
    """The largest absolute log-ratio of two densities, the output where it is attained, and the locations.

    Where the ratio has no bound, ``output`` is the infinity in whose direction it grows. The first of ``pair`` is the
    more likely.
    """

    value: float
    pair: tuple[float, float]
    output: float

    def __str__(self) -> str:
        pair = f"locations {self.pair[0]:g} and {self.pair[1]:g}"
        if math.isinf(self.value):
            return f"the ratio of densities at {pair} has no bound as the output goes to {self.output:g}"
        return f"loss {upward(self.value)} between {pair}, at output {self.output:g}"


@dataclass(frozen=True)
class PairDelta:
    """The hockey-stick divergence of two densities at ``epsilon``, and the outputs that make it.

    ``probability`` is the chance, under the first of ``pair``, of an output whose loss exceeds ``epsilon``.
    """

    value: float
    epsilon: float
    pair: tuple[float, float]
    outputs: tuple[Interval, ...]
    probability: float

    def __str__(self) -> str:
        where = " or ".join(f"{low:.6g} to {high:.6g}" for low, high in self.outputs) or "nowhere"
        return f"{delta_between(self.value, self.epsilon, self.pair)}; the loss is larger at outputs {where}"


def pair_loss(first: LaplaceDensity, second: LaplaceDensity) -> PairLoss:
    r"""``sup |ln p_1(x) - ln p_2(x)|`` over the feasible set, exactly: a handful of points decide."""
    _same_set(first, second)
    pair = (first.location, second.location)
    for end, mine, theirs in (
        (first.pieces[-1][1], first.right, second.right),
        (first.pieces[0][0], first.left, second.left),
    ):
        if math.isinf(end) and mine != theirs:
            return PairLoss(math.inf, pair if mine < theirs else pair[::-1], end)
    at = np.array(_kinks(first, second))
    gaps = first.log(at) - second.log(at)
    k = int(np.abs(gaps).argmax())
    return PairLoss(float(abs(gaps[k])), pair if gaps[k] >= 0 else pair[::-1], float(at[k]))


def pair_delta(first: LaplaceDensity, second: LaplaceDensity, epsilon: float) -> PairDelta:
    r"""``integral of max(0, p_1 - e^epsilon p_2)``: the delta that the first needs against the second, in closed form.

    The order matters; audit both orders of a pair and take the larger.
    """
    _same_set(first, second)
    if not 0 <= epsilon < math.inf:
        raise ParameterError(f"epsilon must be a finite number that is 0 or more, not {epsilon}.")
    outputs: list[Interval] = []
    for low, high in _linear_parts(first, second):
        part = _where_above(first, second, low, high, epsilon)
        if part is not None:
            joined = outputs and outputs[-1][1] == part[0]
            outputs[-1:] = [(outputs[-1][0], part[1])] if joined else [*outputs[-1:], part]
    likely = [first.mass(*part) for part in outputs]
    gaps = [a - math.exp(epsilon) * second.mass(*part) for a, part in zip(likely, outputs, strict=True)]
    pair = (first.location, second.location)
    return PairDelta(max(0.0, math.fsum(gaps)), epsilon, pair, tuple(outputs), math.fsum(likely))


def audit_locations(
    within: Interval | Sequence[Interval] | None, sensitivity: float = 1.0, points: int = 41, reach: float = 20.0
) -> list[float]:
    """Locations at which a calibration is worth auditing: a grid on each piece, its ends, and points one sensitivity
    from them.

    An unbounded piece is covered up to ``reach`` sensitivities from its end.
    """
    pieces = _pieces(within)
    places: set[float] = set()
    span = reach * sensitivity
    for low, high in pieces:
        start = low if math.isfinite(low) else (high - span if math.isfinite(high) else -span / 2)
        end = high if math.isfinite(high) else start + span
        places.update(float(v) for v in np.linspace(start, end, points))
        for edge in (low, high):
            if math.isfinite(edge):
                places.update(edge + sensitivity * step for step in (0.0, NEAR, -NEAR, 1.0, -1.0))
    return sorted(p for p in places if any(low <= p <= high for low, high in pieces))


def audit_family(
    density: Callable[[float], LaplaceDensity],
    locations: Iterable[float],
    *,
    sensitivity: float = 1.0,
    scope: Scope = "metric",
) -> MechanismAudit:
    """The largest loss over all pairs of ``locations``: per sensitivity (``"metric"``) or within one (``"adjacent"``).

    The loss of each pair is exact, the pairs are those given: a value above the guarantee is a proof that it fails, a
    value below is evidence that it holds. :func:`audit_locations` gives the places where it is known to be tight.
    """
    laws = [density(float(place)) for place in sorted(set(locations))]
    metric = line_in(sensitivity)
    worst, value = None, 0.0
    for i, first in enumerate(laws):
        for second in laws[i + 1 :]:
            distance = (second.location - first.location) / sensitivity
            if scope == "adjacent" and distance > 1 + 1e-12:
                break
            loss = pair_loss(first, second)
            need = loss.value / (distance if scope == "metric" else 1.0)
            if need > value:
                worst, value = loss, need
    if worst is None:
        return MechanismAudit(0.0, metric, None, None, None, scope=scope)
    by_place = {law.location: law for law in laws}
    densities = tuple(float(by_place[place].pdf(worst.output)) for place in worst.pair)
    return MechanismAudit(
        value, metric, worst.pair, worst.output, (densities[0], densities[1]), scope=scope, words=str(worst)
    )


def _pieces(within: Any) -> tuple[Interval, ...]:
    if within is None:
        return ((-math.inf, math.inf),)
    listed = list(within)
    if listed and not isinstance(listed[0], tuple | list):
        listed = [tuple(listed)]
    pieces = tuple((float(low), float(high)) for low, high in listed)
    if not pieces or any(not low < high for low, high in pieces) or any(a[1] >= b[0] for a, b in pairwise(pieces)):
        raise ParameterError("within must be intervals of positive length, in order, that do not touch each other.")
    return pieces


def _same_set(first: LaplaceDensity, second: LaplaceDensity) -> None:
    if first.pieces != second.pieces:
        raise ParameterError("two densities are compared on one feasible set; these live on different ones.")


def _kinks(first: LaplaceDensity, second: LaplaceDensity) -> list[float]:
    """Return where the log-ratio can turn: the locations, and the finite ends of the set."""
    ends = (end for piece in first.pieces for end in piece if math.isfinite(end))
    return sorted({first.location, second.location, *ends})


def _linear_parts(first: LaplaceDensity, second: LaplaceDensity) -> list[Interval]:
    """The feasible set cut at the kinks: on each part the log-ratio is linear."""
    parts = []
    for low, high in first.pieces:
        cuts = [low, *(k for k in sorted({first.location, second.location}) if low < k < high), high]
        parts += list(pairwise(cuts))
    return parts


def _where_above(
    first: LaplaceDensity, second: LaplaceDensity, low: float, high: float, epsilon: float
) -> Interval | None:
    """The part of an interval where the (linear) log-ratio exceeds ``epsilon``."""

    def slope_of(law: LaplaceDensity) -> float:
        return law.left if high <= law.location else -law.right

    anchor = low if math.isfinite(low) else high  # one end is finite, because the set is cut at both locations
    slope = slope_of(first) - slope_of(second)
    excess = float(first.log(anchor) - second.log(anchor)) - epsilon
    peak = excess + max(0.0, slope * (high - low) if anchor == low else -slope * (high - low)) if slope else excess
    if peak <= ROUNDING:
        return None
    if slope == 0:
        return (low, high)
    crossing = anchor - excess / slope
    start, end = (max(low, crossing), high) if slope > 0 else (low, min(high, crossing))
    return (start, end) if start < end else None


def _moment(rate: float, near: float, far: float, power: int) -> float:
    """The integral of ``d^power e^(-rate d)`` for ``d`` from ``near`` to ``far`` (perhaps infinite)."""
    width = far - near
    if rate * width < 1e-14:  # flat to the last bit
        return float((far ** (power + 1) - near ** (power + 1)) / (power + 1)) * math.exp(-rate * near)
    from scipy.special import gammainc

    # Moments of the distance from the near end, as incomplete gamma functions, then shifted; no difference of large numbers.
    plain = -math.expm1(-rate * width) / rate
    first = float(gammainc(2, rate * width)) / rate**2
    second = 2 * float(gammainc(3, rate * width)) / rate**3
    shifted = (plain, near * plain + first, near**2 * plain + 2 * near * first + second)
    return math.exp(-rate * near) * shifted[power]
