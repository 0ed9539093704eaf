"""Laws of additive noise: an integer number of lattice steps, symmetric about 0, more likely the nearer to it.

A law is known by its tail: the expected error and the guarantee for two numbers at some number of steps follow from
it. :class:`LaplaceLaw` is here, the others are next to their mechanisms.

>>> law = LaplaceLaw(Fraction(2))
>>> law.loss(3, Fraction(0)), round(law.loss(3, Fraction(1, 10)), 6)  # 3 steps apart, without and with a delta
(1.5, 1.324869)
>>> round(float(law.mass(np.array(0.0)) + 2 * law.tail(np.array(1.0))), 12)
1.0

A number is rounded to the nearest point of the lattice (part of the query), noise is added in whole steps, and with
``within`` the sum is moved to the nearest lattice point of the feasible set. Moving the *output* is post-processing,
so the guarantee of the noise holds for any set. A *true value* outside the set is

* refused (``outside="refuse"``), without being shown;
* moved to the nearer end first (``outside="clamp"``, for one interval only: across a gap it would part near values);
* taken as it is (``outside="keep"``): noise is added where it lies, and only the output is moved.

**Guarantee.** Two numbers at most ``sensitivity`` apart are at most ``ceil(sensitivity / step)`` steps apart after
rounding, and the law is calibrated for that number of steps (``scope="adjacent"``). With ``scope="metric"`` distances
are those between the lattice points that numbers are rounded to, and the metric's name says so; ``map`` takes the
distance of the numbers themselves, and counts rounding in.

The laws are in :mod:`~noisewright.mechanisms.numeric.additive` and next to their mechanisms.

>>> from noisewright.mechanisms.numeric.additive import LaplaceLaw
>>> laplace = LaplaceLaw(scale=Fraction(2))  # in steps
>>> halves = additive("laplace", laplace, lattice=Lattice(-1), epsilon=Fraction(1), sensitivity=Fraction(1), within=(0, None))
>>> halves.steps, halves.scale, halves.release(3.14) % 0.5
(2, 1.0, 0.0)
>>> halves.certificate().verify()
'epsilon = 1 between neighbours (line at most 1), in steps of 1/2'
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import one_of
from noisewright.base import MechanismAudit, check_loss
from noisewright.certificates.certificate import Certificate
from noisewright.channels.channel import Channel
from noisewright.claims.figures import exp_bounds, float_up
from noisewright.columns.adapters import in_kind
from noisewright.columns.label_encoder import check_dense
from noisewright.exceptions import DataError, NoChannelError, ParameterError
from noisewright.guarantees import Guarantee, Scope
from noisewright.mechanisms.numeric.calibration import RoundingCells, worst_answer
from noisewright.mechanisms.numeric.feasible_sets import Feasible, Interval, Range, loss_before_rounding, metric_of
from noisewright.numerics.exact import Exact, as_fraction, in_words, positive_fraction
from noisewright.sampling.laplace import discrete_laplace
from noisewright.sampling.lattice import LARGEST_INDEX, Lattice, exact_floats
from noisewright.sampling.random_bits import Rng

__all__ = [
    "SPREADS",
    "AdditiveMechanism",
    "LaplaceLaw",
    "Law",
    "Within",
    "additive",
    "additive_of",
    "check_scope",
    "checked",
    "choose_lattice",
    "lattice_delta",
    "smallest_epsilon",
    "snap",
]


Indices = NDArray[np.int64]

BITS = 192
"""Bits of the integers that enclose a delta."""

SPREADS = 70
"""Noise beyond this many spreads has probability below 2**-100 for every law here."""


class Law(Protocol):
    """Integer noise that is symmetric about 0 and falls away from it."""

    @property
    def spread(self) -> float:
        """The size of the noise in steps: ``SPREADS`` times as far out nothing is ever seen."""

    @property
    def parameter(self) -> float:
        """The number that names the law, in steps: its scale, its sigma, its mean size."""

    def draw(self, shape: tuple[int, ...], rng: Rng) -> Indices:
        """Independent exact draws."""

    def proof(self) -> Mapping[str, Any]:
        """The law as the certificate states it."""

    def loss(self, steps: int, delta: Fraction) -> float:
        """The smallest epsilon of two numbers ``steps`` apart at this delta; rounded up."""

    def mass(self, k: Floats) -> Floats:
        """``P(k)`` for integers."""

    def tail(self, k: Floats) -> Floats:
        """``P(noise >= k)`` for integers ``k >= 1``."""

    def sums(self, room: Floats, loss: str) -> Floats:
        """``sum of P(noise >= k)`` over ``k = 1..room``, each times ``2k - 1`` for the squared loss; the limit may be
        infinite."""


@dataclass(frozen=True)
class LaplaceLaw:
    """``P(k) = (1 - a)/(1 + a) a^|k|`` with ``a = e^(-1/scale)``."""

    scale: Fraction

    @classmethod
    def of(cls, proof: Mapping[str, Any]) -> LaplaceLaw:
        """The law that :meth:`proof` states."""
        return cls(Fraction(proof["scale"]))

    @property
    def spread(self) -> float:
        return float(self.scale)

    @property
    def parameter(self) -> float:
        return self.spread

    def draw(self, shape: tuple[int, ...], rng: Rng) -> Indices:
        return discrete_laplace(self.scale, shape, rng)

    def proof(self) -> Mapping[str, Any]:
        return {"law": "discrete laplace", "scale": str(self.scale)}

    def loss(self, steps: int, delta: Fraction) -> float:
        if not delta:
            return float_up(steps / self.scale)
        return smallest_epsilon(lambda epsilon: lattice_delta(epsilon, self.scale, steps) <= delta, steps / self.scale)

    def mass(self, k: Floats) -> Floats:
        rate = 1 / float(self.scale)
        return np.asarray(math.tanh(rate / 2) * np.exp(-rate * np.abs(k)))

    def tail(self, k: Floats) -> Floats:
        rate = 1 / float(self.scale)
        return np.asarray(np.exp(-rate * k) / (1 + math.exp(-rate)))

    def sums(self, room: Floats, loss: str) -> Floats:
        rate = 1 / float(self.scale)
        a, q = math.exp(-rate), -math.expm1(-rate)
        bounded = np.minimum(room, 800 * self.spread + 1)  # beyond, nothing is left to add, and inf * 0 is NaN
        cut = np.exp(-rate * bounded)
        plain = a * -np.expm1(-rate * bounded) / q
        if loss == "absolute":
            return np.asarray(plain / (1 + a))
        return np.asarray((2 * (plain / q - bounded * cut * a / q) - plain) / (1 + a))


def lattice_delta(epsilon: Fraction, scale: Fraction, steps: int) -> Fraction:
    """At least the delta of discrete Laplace noise on two integers ``steps`` apart: the closed form, rounded up."""
    start = (steps + epsilon * scale) // 2 + 1
    if start > steps:
        return Fraction(0)
    kept = exp_bounds(-(steps + 1 - start) / scale, BITS)[0] + exp_bounds(epsilon - start / scale, BITS)[0]
    return 1 - Fraction(kept, (1 << BITS) + exp_bounds(-1 / scale, BITS)[1])


def smallest_epsilon(enough: Callable[[Fraction], bool], known: Fraction) -> float:
    """The smallest epsilon that is ``enough``, to 40 bits and rounded up, by halving the interval below a ``known`` one."""
    if enough(Fraction(0)):
        return 0.0
    low, high = Fraction(0), Fraction(float_up(known))
    for _ in range(45):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return float_up(high)


# Additive -----------------------------------------------------------------------------------------------------------------
#
# Additive mechanisms: integer noise of a stated law on a public lattice, the output perhaps snapped into a feasible set.


Within = Interval | tuple[Interval, ...] | Feasible | None
"""An interval ``(low, high)`` with None for an open end, several of them, or nothing for the whole line."""

LARGEST_EPSILON = 10**6


def additive(
    name: str,
    law: Law,
    *,
    lattice: Lattice,
    epsilon: Fraction,
    sensitivity: Fraction,
    delta: Fraction = Fraction(0),
    scope: Scope = "adjacent",
    within: Within = None,
    outside: str = "refuse",
) -> AdditiveMechanism:
    """An additive mechanism, its parameters checked against each other before any data is seen."""
    one_of(outside, "outside", ("refuse", "clamp", "keep"))
    if delta and scope == "metric":
        raise ParameterError("a promise with a delta is made between neighbours; use scope='adjacent'.")
    feasible = None if within is None else Feasible.parse(within).as_floats()
    if feasible is not None:
        feasible.on(lattice)
        if outside == "clamp" and len(feasible.components) > 1:
            raise ParameterError(
                "outside='clamp' needs one interval: moving true values across a gap would part values that are close; "
                "use outside='keep'."
            )
    return AdditiveMechanism(name, law, lattice, epsilon, sensitivity, delta, scope, feasible, outside)


def additive_of(law: Callable[[Any], Law], certificate: Certificate) -> AdditiveMechanism:
    """The additive mechanism behind its certificate; ``law`` reads the law of the noise from its proof."""
    stated, shape = certificate.document, certificate.document["claim"]["distances"]["shape"]
    noise, within = law(stated["proof"]), stated["snapped_to"]
    grid = Lattice.with_step(stated["step"])
    width = grid.step / Fraction(stated["claim"]["distances"]["distance"])
    return additive(
        str(stated["mechanism"]),
        noise,
        lattice=choose_lattice(grid.step, width, Fraction(noise.spread) * grid.step),
        epsilon=certificate.epsilon,
        sensitivity=width,
        delta=Fraction(stated["claim"]["delta"]),
        scope="adjacent" if shape == "adjacent" else "metric",
        within=None if within is None else Feasible.from_json(within),
        outside=stated["outside"],
    )


def choose_lattice(lattice: Exact, sensitivity: Fraction, spread: Fraction) -> Lattice:
    """The lattice with the given step, or for ``"auto"`` one that is fine next to the sensitivity and the size of the
    noise.

    Refused when the noise could leave the numbers that floats hold exactly.
    """
    chosen = Lattice.asked(lattice) or Lattice.for_scale(min(sensitivity, spread))
    if SPREADS * max(spread, sensitivity) > LARGEST_INDEX * chosen.step:
        raise ParameterError(
            f"noise of this size takes more than 2^52 lattice steps of {float(chosen.step):g}; use a coarser lattice, or a "
            "larger epsilon."
        )
    return chosen


def check_scope(scope: str) -> Scope:
    """The scope, if it is one."""
    return "adjacent" if one_of(scope, "scope", ("adjacent", "metric")) == "adjacent" else "metric"


@dataclass(frozen=True)
class AdditiveMechanism:
    """Noise of one law on one lattice; build it with the constructor of the law's mechanism."""

    name: str
    law: Law
    lattice: Lattice
    epsilon: Fraction
    sensitivity: Fraction
    delta: Fraction
    scope: Scope
    within: Feasible | None
    outside: str

    @property
    def steps(self) -> int:
        """Return how many lattice steps apart two values can be that are at most ``sensitivity`` apart."""
        return self.lattice.steps(self.sensitivity)

    @property
    def scale(self) -> float:
        """In units of the data: the scale of a Laplace law, the sigma of a Gaussian, the mean size of a staircase."""
        return float(Fraction(self.law.parameter) * self.lattice.step)

    @property
    def noise_error(self) -> float | None:
        """The mean size of the noise in lattice steps, where every output is a secret plus noise; None where ends bound it."""
        return None if self.within is not None else 2 * float(self.law.sums(np.array(np.inf), "absolute"))

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee, one unit being one ``sensitivity``."""
        metric = metric_of(self.lattice, self.sensitivity, self.scope)
        return Guarantee.exactly(self.epsilon, metric, delta=self.delta, scope=self.scope)

    @in_kind
    def release(self, values: Any, rng: Rng = None) -> Any:
        """One exact draw for every value, as lattice points."""
        given = exact_floats(values)
        indices = self._indices(given)
        noisy = indices + self.law.draw(indices.shape, rng)
        released = self.lattice.values(noisy if self._ranges is None else snap(noisy, self._ranges))
        return float(released) if given.ndim == 0 else released

    def check(self, values: Any) -> None:
        """Refuse what :meth:`release` would refuse."""
        self._indices(exact_floats(values))

    def map(self, distance: float) -> float:
        """The largest log-ratio for two numbers that are this many sensitivities apart themselves, rounding included.

        For the metric scope the guarantee is about lattice points: ``guarantee.bound`` takes their distance.
        """
        if self.scope == "adjacent":
            return self.guarantee.bound(distance)
        return loss_before_rounding(
            self.guarantee,
            distance,
            lambda apart: self.law.loss(self.lattice.steps(apart * self.sensitivity), self.delta),
        )

    def certificate(self, rng: Rng = None) -> Certificate:
        """The law of the noise in lattice steps, and the claim it proves."""
        shape = "adjacent" if self.scope == "adjacent" else "steps"
        return Certificate.of_mechanism(
            self,
            rng,
            delta=self.delta,
            distances={"shape": shape, "distance": str(self.lattice.step / self.sensitivity)},
            proof={"kind": "law", **self.law.proof()},
            step=str(self.lattice.step),
            snapped_to=None if self.within is None else self.within.to_json(),
            outside=self.outside,
        )

    def audit(self) -> MechanismAudit:
        """The smallest epsilon of the law itself, for neighbours or for one unit of the metric."""
        value = self.law.loss(self.steps, self.delta)
        words = f"the law of the noise, {self.steps} lattice steps apart"
        if self.scope == "metric":
            value = float_up(Fraction(self.law.loss(1, self.delta)) * self.sensitivity / self.lattice.step)
            words = "the law of the noise, one lattice step apart"
        return MechanismAudit(
            value, self.guarantee.metric, None, None, None, self.guarantee.delta, scope=self.scope, words=words
        )

    def error(self, loss: str = "absolute") -> float:
        """The expected loss against the true number where it is largest, rounding to the lattice included.

        It is computed from the tail of the law, at the worst number of the worst lattice cell, for the numbers of ``within``
        (with ``outside="keep"`` others have larger losses the farther out they are). A number between lattice points never
        comes out, so ``zero-one`` is 1.
        """
        check_loss(loss)
        if loss == "zero-one":
            return 1.0
        answers = self.within or Feasible(((None, None),))
        # As in _indices: only one interval, and only where values outside are not kept, holds rounded values back.
        cells = RoundingCells.of(answers, self.lattice, clipped=len(answers.components) == 1 and self.outside != "keep")
        worst = worst_answer(cells, self.law.spread, lambda _, *cell: self._losses(loss, *cell))
        return worst * float(self.lattice.step) ** (1 if loss == "absolute" else 2)

    def channel(self, inputs: Any = None) -> Channel:
        """The channel over a bounded range; ``inputs`` chooses other true values (lattice points) than the range's."""
        ranges = self._ranges
        if ranges is None or ranges[0][0] is None or ranges[-1][1] is None:
            raise NoChannelError(f"{self.name} has infinitely many outputs; give it a bounded range with within=.")
        check_dense(sum(high - low + 1 for low, high in ranges if low is not None and high is not None))
        outputs = np.concatenate([np.arange(lo, hi + 1) for lo, hi in ranges if lo is not None and hi is not None])
        secrets = outputs if inputs is None else self._lattice_points(inputs)
        matrix = self.law.mass((outputs - secrets[:, None]).astype(np.float64))
        below, above = _cells(outputs)
        ends = np.flatnonzero(below != above)  # outputs that more than one noisy value is moved to
        matrix[:, ends] = self._between(below[ends] - secrets[:, None], above[ends] - secrets[:, None])
        return Channel(matrix, self.lattice.values(secrets).tolist(), self.lattice.values(outputs).tolist())

    def below(self, values: Any, places: Any) -> Floats:
        """The chance that the output for a value (a row) is below a place (a column).

        >>> from noisewright.mechanisms.numeric.staircase import snapped_laplace
        >>> snapped_laplace(epsilon=1, within=(0, 9), lattice=1).below([0.2, 5], [0, 1, 10]).round(4).tolist()
        [[0.0, 0.7311, 1.0], [0.0, 0.0049, 1.0]]
        """
        indices = self._indices(exact_floats(values)).astype(np.float64)
        first = self.lattice.first_from(places)
        if self._ranges is not None:  # the first noisy value whose output is not below the place: outputs are moved
            low, high = self._ranges[0][0], self._ranges[-1][1]
            first = np.where(first <= (-math.inf if low is None else low), -math.inf, first)
            first = np.where(first > (math.inf if high is None else high), math.inf, first)
            for (_, before), (after, _) in pairwise(self._ranges):
                assert before is not None
                assert after is not None
                first = np.where((first > before) & (first <= after), (before + after) // 2 + 1, first)
        return self._between(np.array(-np.inf), first - 1 - indices.reshape(-1, 1))

    # Helpers ---------------------------------------------------------------------------------------------------

    @cached_property
    def _ranges(self) -> tuple[Range, ...] | None:
        return None if self.within is None else self.within.on(self.lattice)

    def _indices(self, given: NDArray[Any]) -> Indices:
        if self.within is None or self._ranges is None or self.outside == "keep":
            return self.lattice.indices(given)
        placed, component = self.within.place(given, self.lattice, self._ranges, self.outside)
        # Next to a gap a value stays where it is rounded to, so that rounding never parts two values any further.
        return placed if component is None else self.lattice.indices(given)

    def _lattice_points(self, inputs: Any) -> Indices:
        given = np.asarray(list(inputs))
        points = self.lattice.indices(given)
        if not np.array_equal(self.lattice.values(points), given):
            raise DataError(f"the inputs of a channel must be lattice points, {self.lattice}.")
        return points

    def _between(self, first: Floats, last: Floats) -> Floats:
        """``P(first <= noise <= last)``, from the tail on the side where it is small."""
        right, left = first > 0, last < 0
        near = np.where(right, first, np.where(left, -last, 1 - first))
        far = np.where(right, last + 1, np.where(left, 1 - first, last + 1))
        outer, inner = (np.where(np.isinf(k), 0.0, self.law.tail(np.clip(k, 1, 2.0**62))) for k in (far, near))
        return np.where(right | left, inner - outer, 1 - inner - outer)

    def _losses(self, loss: str, indices: Indices, low: Floats, high: Floats) -> Floats:
        """The expected loss at the worst number that is rounded to each index, ``low`` to ``high`` steps away from it.

        Losses are convex, so that is an end: moving the number up brings it nearer to all outputs above the index and farther
        from all others.
        """
        places = indices.astype(np.float64)
        above, below = self._both_sides(places, loss)
        if loss == "absolute":
            more, less = self._both_sides(places, "zero-one")
            ends = [t * np.where(t > 0, 1 - 2 * more, 2 * less - 1) for t in (low, high)]
        else:
            right, left = self._both_sides(places, "absolute")
            ends = [t * t - 2 * t * (right - left) for t in (low, high)]
        return np.asarray(above + below + np.maximum(*ends))

    def _both_sides(self, places: Floats, loss: str) -> tuple[Floats, Floats]:
        """Losses by outputs above each place, and by those below."""
        ranges = self._ranges or ((None, None),)
        mirrored = tuple((None if hi is None else -hi, None if lo is None else -lo) for lo, hi in reversed(ranges))
        return self._one_side(places, ranges, loss, 1), self._one_side(-places, mirrored, loss, 0)

    def _one_side(self, places: Floats, ranges: tuple[Range, ...], loss: str, tie: int) -> Floats:
        """Losses to the right of each place: snapping never turns back, so the loss grows by steps and by jumps over gaps.

        A place can be just outside of a range, in a gap. From the middle of a gap a noisy value goes down (``tie`` = 1), which
        in the mirror is up (``tie`` = 0).
        """
        total = np.zeros_like(places)
        for low, high in ranges:
            start = np.maximum(-math.inf if low is None else low - places, 0.0)
            end = np.maximum(math.inf if high is None else high - places, 0.0)
            if loss == "zero-one":
                total += np.where((start == 0) & (end > 0), self.law.tail(np.ones_like(places)), 0.0)
            else:
                inside = self.law.sums(end, loss) - self.law.sums(np.minimum(start, end), loss)
                total += np.where(end > start, inside, 0.0)
        if (lowest := ranges[0][0]) is not None:  # nothing comes out below
            total += _loss_of(lowest - places, loss)
        for (_, high), (low, _) in pairwise(ranges):
            assert high is not None
            assert low is not None
            turn = (high + low + 1 + tie) // 2 - places  # the first noise that lands beyond the gap
            jump = _loss_of(low - places, loss) - _loss_of(high - places, loss)
            beyond = self.law.tail(np.maximum(turn, 1.0))
            total += jump * np.where(turn > 0, beyond, 1 - self.law.tail(np.maximum(1 - turn, 1.0)))
        return total


def _loss_of(apart: Floats, loss: str) -> Floats:
    """The loss of an output that far above a place; none below it."""
    if loss == "zero-one":
        return (apart > 0).astype(np.float64)
    return np.asarray(np.maximum(apart, 0.0) ** (1 if loss == "absolute" else 2))


def snap(indices: Indices, ranges: tuple[Range, ...]) -> Indices:
    """The nearest integer in a union of ranges; from the middle of a gap the lower one."""
    middles = np.array([(high + low) // 2 for (_, high), (low, _) in pairwise(ranges)], dtype=np.int64)  # type: ignore[operator]
    lows = np.array([-(1 << 62) if low is None else low for low, _ in ranges], dtype=np.int64)
    highs = np.array([1 << 62 if high is None else high for _, high in ranges], dtype=np.int64)
    if not middles.size:
        return np.clip(indices, lows[0], highs[0])
    component = np.searchsorted(middles, indices, side="left")
    return np.clip(indices, lows[component], highs[component])


def _cells(outputs: Indices) -> tuple[Floats, Floats]:
    """For each output the first and the last noisy value that is snapped to it."""
    points = outputs.astype(np.float64)
    middles = np.floor((points[:-1] + points[1:]) / 2)
    return np.concatenate([[-np.inf], middles + 1]), np.concatenate([middles, [np.inf]])


def checked(
    epsilon: Exact, sensitivity: Exact, delta: Exact | None = None, zero_epsilon: bool = False
) -> tuple[Fraction, Fraction, Fraction]:
    """Epsilon, sensitivity and delta as exact numbers within their ranges."""
    budget = as_fraction(epsilon, "epsilon") if zero_epsilon else positive_fraction(epsilon, "epsilon")
    if budget < 0:
        raise ParameterError(f"epsilon must be 0 or more, not {in_words(budget)}.")
    if budget > LARGEST_EPSILON:
        raise ParameterError(f"epsilon must be at most {LARGEST_EPSILON}; more than that promises nothing.")
    failure = Fraction(0)
    if delta is not None:
        failure = as_fraction(delta, "delta")
        if not 0 < failure < 1:
            raise ParameterError(f"delta must be above 0 and below 1, not {in_words(failure)}.")
    return budget, positive_fraction(sensitivity, "sensitivity"), failure
