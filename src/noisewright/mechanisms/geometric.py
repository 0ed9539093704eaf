r"""The geometric mechanism: integer noise with two geometric tails, unbounded or clamped to a range.

A whole number ``x`` is released as ``x + Z`` with ``P(Z = k) = (1-a)/(1+a) a^|k|`` and ``a = e^(-epsilon/sensitivity)``; with
``within=(low, high)`` the sum is then clamped (the *truncated* geometric). Every two secrets are exactly
``epsilon |x - x'| / sensitivity`` apart, and on a line no mechanism with that guarantee is better for monotone losses.

**Guarantee.** ``epsilon`` per ``sensitivity`` units of the line metric, exactly, for all pairs. Clamping is post-processing.
The noise is drawn by an exact integer sampler with rational scale ``sensitivity / epsilon``; the certificate proves that
the scale suffices.

>>> count = geometric(epsilon=1, within=(0, 100))
>>> 0 <= count.release(42) <= 100
True
>>> round(count.error(), 4)  # expected absolute error at the worst count
0.8509
>>> count.certificate().verify()
'epsilon = 1 per unit of line'

Reference: Ghosh, Roughgarden and Sundararajan, *Universally utility-maximizing privacy mechanisms* (2009).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.core.certificate import Certificate
from noisewright.core.channel import Channel
from noisewright.core.errors import DataError, ParameterError
from noisewright.core.exact import Exact, float_up, positive_fraction
from noisewright.core.guarantee import Guarantee
from noisewright.core.metric import Line, Metric, Scaled
from noisewright.mechanisms.losses import LOSSES
from noisewright.mechanisms.values import check_dense, whole_numbers
from noisewright.noise import discrete_laplace

__all__ = ["GeometricMechanism", "geometric"]


def geometric(
    *,
    epsilon: Exact,
    sensitivity: Exact = 1,
    within: tuple[int, int] | None = None,
    outside: str = "refuse",
) -> GeometricMechanism:
    """The geometric mechanism on whole numbers.

    ``within=(low, high)`` clamps outputs to a public range. A secret outside it is refused (``outside="refuse"``) or moved to
    the nearer end first (``outside="clamp"``, which brings no two secrets farther apart and so keeps the guarantee).
    """
    if within is not None:
        low, high = within
        if int(low) != low or int(high) != high or not low < high:
            raise ParameterError(f"within must be two whole numbers, low before high, not {low} and {high}.")
        if max(abs(low), abs(high)) > 2**53:
            raise ParameterError("within must stay between -2^53 and 2^53; rescale the column.")
        within = (int(low), int(high))
    if outside not in ("refuse", "clamp"):
        raise ParameterError(f"outside must be 'refuse' or 'clamp', not {outside!r}.")
    mechanism = GeometricMechanism(
        positive_fraction(epsilon, "epsilon"), positive_fraction(sensitivity, "sensitivity"), within, outside
    )
    discrete_laplace(mechanism.scale, 0)  # refuses a scale whose noise would not fit, before any data is seen
    return mechanism


@dataclass(frozen=True)
class GeometricMechanism:
    """Two-sided geometric noise; build it with :func:`geometric`."""

    epsilon: Fraction
    sensitivity: Fraction
    within: tuple[int, int] | None
    outside: str

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "geometric"

    @property
    def scale(self) -> Fraction:
        """The scale of the noise: ``P(k)`` is proportional to ``e^(-|k|/scale)``."""
        return self.sensitivity / self.epsilon

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` per ``sensitivity`` units of the line."""
        metric: Metric = Line() if self.sensitivity == 1 else Scaled(Line(), 1 / self.sensitivity)
        return Guarantee(float_up(self.epsilon), metric)

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One exact draw for every value."""
        given, single = whole_numbers(values)
        if self.within is not None:
            inside = np.clip(given, *self.within)
            if self.outside == "refuse" and not np.array_equal(inside, given):
                raise DataError(
                    "a value is outside the declared range; clamp with outside='clamp', or widen the range."
                )
            given = inside
        noisy = given + discrete_laplace(self.scale, given.shape, rng)
        released = noisy if self.within is None else np.clip(noisy, *self.within)
        return int(released) if single else released

    def map(self, distance: float) -> float:
        """The largest log-ratio for two secrets at this distance in the guarantee's metric."""
        return self.guarantee.bound(distance)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The law of the noise and the claim it proves."""
        clamp = None if self.within is None else list(self.within)
        return Certificate.build(
            mechanism=self.name,
            epsilon=self.epsilon,
            metric=str(self.guarantee.metric),
            distances={"shape": "steps", "distance": str(1 / self.sensitivity)},
            proof={"kind": "law", "law": "discrete laplace", "scale": str(self.scale), "clamp": clamp},
            simulated=rng is not None,
            outside=self.outside,
        )

    def error(self, loss: str = "absolute") -> float:
        """The expected loss for the secret where it is largest, in closed form."""
        if loss not in LOSSES:
            raise ParameterError(f"there is no loss called {loss!r}; choose one of {', '.join(LOSSES)}.")
        rate = float(1 / self.scale)
        a = math.exp(-rate)
        if loss == "zero-one":
            # The ends of a range keep one whole tail, so an inner secret is the worst, where there is one.
            inner = self.within is None or self.within[1] - self.within[0] >= 2
            return (2 * a if inner else a) / (1 + a)
        if self.within is None:
            return 2 * a / ((1 + a) * -math.expm1(-rate)) if loss == "absolute" else 2 * a / math.expm1(-rate) ** 2
        span = self.within[1] - self.within[0]
        places = {0, span // 2, (span + 1) // 2}
        return max(_tail(rate, x, loss) + _tail(rate, span - x, loss) for x in places)

    def channel(self) -> Channel:
        """The truncated geometric as a channel over its range."""
        if self.within is None:
            raise ParameterError("an unbounded geometric has infinitely many outputs; give it a range with within=.")
        low, high = self.within
        check_dense(high - low + 1)
        places = np.arange(high - low + 1)
        rate = float(1 / self.scale)
        logs = -rate * np.abs(places[:, None] - places[None, :]) - math.log1p(math.exp(-rate))
        logs[:, 1:-1] += math.log(-math.expm1(-rate))
        return Channel.from_logs(logs, range(low, high + 1), range(low, high + 1))


def _tail(rate: float, room: int, loss: str) -> float:
    """Expected loss on one side of a secret that is ``room`` steps from the clamp there."""
    a = math.exp(-rate)
    # P(Z >= k) = a^k / (1 + a); sum it over k = 1..room, weighted by 2k - 1 for squares.
    cut = math.exp(-rate * room)
    q = -math.expm1(-rate)
    plain = a * (1 - cut) / q
    if loss == "absolute":
        return plain / (1 + a)
    weighted = a * (1 - cut) / q**2 - room * cut * a / q  # sum of k a^k, k = 1..room
    return (2 * weighted - plain) / (1 + a)
