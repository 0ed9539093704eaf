"""The geometric mechanism: integer noise with two geometric tails, unbounded or clamped to a range.

An integer ``x`` is released as ``x + Z`` with ``P(Z = k) = (1-a)/(1+a) a^|k|`` and ``a = e^(-epsilon/sensitivity)``;
with ``within=(low, high)`` the sum is then clamped (the *truncated* geometric). Every two secrets are exactly
``epsilon |x - x'| / sensitivity`` apart, and on a line no mechanism with that guarantee is better for monotone losses.

A range that does not hold all secrets (``outside="keep"``, the *over-truncated* geometric) is private too, but it is no
longer the best, and a smaller epsilon does not always leak less to every adversary.

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
import numbers
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import guided, one_of
from noisewright.base import EPSILON, OUTSIDE, SENSITIVITY, WITHIN, BaseMechanism, Entry, Takes, check_loss
from noisewright.certificates.certificate import Certificate
from noisewright.channels.channel import Channel
from noisewright.columns.adapters import in_kind
from noisewright.columns.label_encoder import check_dense, whole_numbers
from noisewright.exceptions import DataError, NoChannelError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.metrics.base import as_labels
from noisewright.metrics.composite import line_in
from noisewright.numerics.exact import Exact, positive_fraction
from noisewright.sampling.laplace import discrete_laplace

__all__ = ["GeometricMechanism", "check_range", "geometric"]


@guided
def geometric(
    *,
    epsilon: Annotated[Exact, EPSILON],
    sensitivity: Annotated[Exact, SENSITIVITY] = 1,
    within: Annotated[tuple[int, int] | None, WITHIN] = None,
    outside: Annotated[str, OUTSIDE] = "refuse",
) -> GeometricMechanism:
    """The geometric mechanism on integers.

    ``within=(low, high)`` clamps outputs to a public range. A secret outside it is refused (``outside="refuse"``),
    moved to the nearer end first (``outside="clamp"``, which brings no two secrets farther apart and so keeps the
    guarantee), or taken as it is (``outside="keep"``, where only the output is clamped; the range may then be a single
    number).
    """
    one_of(outside, "outside", ("refuse", "clamp", "keep"))
    if within is not None:
        within = check_range(within, single=outside == "keep")
    budget = positive_fraction(epsilon, "epsilon")
    mechanism = GeometricMechanism(budget, positive_fraction(sensitivity, "sensitivity"), within, outside)
    discrete_laplace(mechanism.scale, 0)  # refuses a scale whose noise would not fit, before any data is seen
    if budget >= 10**308:
        raise ParameterError("epsilon must be below 1e308; a larger one hides nothing and cannot be certified.")
    return mechanism


def check_range(within: tuple[int, int], single: bool = False) -> tuple[int, int]:
    """A range of integers, refused if it is none; ``single`` allows a range of one number."""
    ends: tuple[object, ...]
    try:
        ends = tuple(within)
    except TypeError:
        raise ParameterError(
            f"within must be two whole numbers, low before high, not {type(within).__name__}."
        ) from None
    if len(ends) != 2:
        raise ParameterError(f"within must be two whole numbers, low before high, not {len(ends)} of them.")
    if not all(_is_whole(end) for end in ends):
        kinds = " and ".join(str(end) if isinstance(end, float) else type(end).__name__ for end in ends)
        raise ParameterError(f"within must be two whole numbers, low before high, not {kinds}.")
    low, high = (int(end) for end in ends)  # type: ignore[call-overload]
    if max(abs(low), abs(high)) > 2**53:
        raise ParameterError("within must stay between -2^53 and 2^53; rescale the column.")
    if low > high or (low == high and not single):
        raise ParameterError(f"within must be two whole numbers, low before high, not {low} and {high}.")
    return low, high


def _is_whole(number: object) -> bool:
    if isinstance(number, (bool, np.bool_)) or not isinstance(number, numbers.Real):
        return False
    return isinstance(number, numbers.Integral) or (math.isfinite(number) and number == math.floor(number))


@dataclass(frozen=True)
class GeometricMechanism(BaseMechanism):
    """Two-sided geometric noise; build it with :func:`geometric`."""

    name = "geometric"

    epsilon: Fraction
    sensitivity: Fraction
    within: tuple[int, int] | None
    outside: str

    @property
    def scale(self) -> Fraction:
        """The scale of the noise: ``P(k)`` is proportional to ``e^(-|k|/scale)``."""
        return self.sensitivity / self.epsilon

    @property
    def noise_error(self) -> float | None:
        """The mean size of the noise, where every output is a secret plus noise; None where ends bound it."""
        return None if self.within is not None else self.error("absolute")

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` per ``sensitivity`` units of the line."""
        return Guarantee.exactly(self.epsilon, line_in(self.sensitivity))

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One exact draw for every value."""
        given, single = whole_numbers(values)
        given = self._inside(given)
        noisy = given + discrete_laplace(self.scale, given.shape, rng)
        released = noisy if self.within is None else np.clip(noisy, *self.within)
        return int(released) if single else released

    def below(self, values: Any, places: Any) -> Floats:
        """The chance that the output for a value (a row) is below a place (a column).

        >>> geometric(epsilon=1, within=(0, 9)).below([0, 5], [0, 1, 10]).round(4).tolist()
        [[0.0, 0.7311, 1.0], [0.0, 0.0049, 1.0]]
        """
        given, first = self._inside(whole_numbers(values)[0]), np.ceil(np.asarray(places, dtype=np.float64))
        away = first - given.astype(np.float64).reshape(-1, 1)  # the noise is below this
        beyond = np.exp(-self._rate * np.where(away > 0, away, 1 - away)) / (1 + math.exp(-self._rate))
        chance = np.where(away > 0, 1 - beyond, beyond)
        if self.within is not None:
            chance = np.where(first <= self.within[0], 0.0, np.where(first > self.within[1], 1.0, chance))
        return np.asarray(chance)

    def _inside(self, given: NDArray[Any]) -> NDArray[Any]:
        """The values that noise is added to: clamped, or refused, where a range says so."""
        if self.within is None or self.outside == "keep":
            return given
        inside: NDArray[Any] = np.clip(given, *self.within)
        if self.outside == "refuse" and not np.array_equal(inside, given):
            raise DataError("a value is outside the declared range; clamp with outside='clamp', or widen the range.")
        return inside

    @property
    def _rate(self) -> float:
        """The rate as a float; beyond 1e300 every draw is the secret itself, and products must not overflow."""
        return float(min(1 / self.scale, Fraction(10**300)))

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The law of the noise and the claim it proves."""
        clamp = None if self.within is None else list(self.within)
        return Certificate.of_mechanism(
            self,
            rng,
            distances={"shape": "steps", "distance": str(1 / self.sensitivity)},
            proof={"kind": "law", "law": "discrete laplace", "scale": str(self.scale), "clamp": clamp},
            outside=self.outside,
        )

    def error(self, loss: str = "absolute") -> float:
        """The expected loss for the secret of the range where it is largest, in closed form."""
        check_loss(loss)
        rate = self._rate
        a = math.exp(-rate)
        if loss == "zero-one":
            # The ends of a range keep one whole tail, so an inner secret is the worst, where there is one.
            inner = 2 if self.within is None else min(self.within[1] - self.within[0], 2)
            return inner * a / (1 + a)
        if self.within is None:
            return 2 * a / ((1 + a) * -math.expm1(-rate)) if loss == "absolute" else 2 * a / math.expm1(-rate) ** 2
        span = self.within[1] - self.within[0]
        places = {
            0,
            span // 2,
            (span + 1) // 2,
        }  # what one side gains in a step rises once, then falls: an end or the middle
        return max(_tail(rate, x, loss) + _tail(rate, span - x, loss) for x in places)

    def channel(self, inputs: Iterable[int] | None = None) -> Channel:
        """The channel over its range; ``inputs`` chooses other secrets, as ``outside="keep"`` allows."""
        if self.within is None:
            raise NoChannelError("an unbounded geometric has infinitely many outputs; give it a range with within=.")
        low, high = self.within
        if inputs is not None and self.outside != "keep":
            raise ParameterError("the secrets of a geometric are those of its range; other ones need outside='keep'.")
        check_dense(high - low + 1)
        names = None if inputs is None else as_labels(inputs, "inputs")
        secrets = np.arange(low, high + 1) if names is None else whole_numbers(list(names))[0]
        check_dense(len(secrets))
        outputs, rate = np.arange(low, high + 1), self._rate
        logs = -rate * np.abs(secrets[:, None] - outputs[None, :]) - math.log1p(math.exp(-rate))
        logs[:, 1:-1] += math.log(-math.expm1(-rate))
        # A secret beyond an end: P(Z <= k) = 1 - a^(k+1)/(1 + a) for k >= 0, on the column of that end.
        for column, past in ((0, low - secrets), (-1, secrets - high)):
            beyond = past > 0
            logs[beyond, column] = np.log1p(-np.exp(-rate * (past[beyond] + 1)) / (1 + math.exp(-rate)))
        if low == high:
            logs[:] = 0.0
        return Channel.from_logs(logs, secrets.tolist(), outputs.tolist())


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


def _rebuilt(certificate: Certificate) -> GeometricMechanism:
    """The mechanism behind its certificate."""
    stated = certificate.document
    return geometric(
        epsilon=certificate.epsilon,
        sensitivity=1 / Fraction(stated["claim"]["distances"]["distance"]),
        within=stated["proof"]["clamp"],
        outside=stated["outside"],
    )


ENTRY = Entry(
    "geometric",
    geometric,
    Takes("integer", budget="sensitivity", within=True),
    summary="integer noise, unbounded or clamped to a range",
    words="whole numbers",
    rebuild=_rebuilt,
)
