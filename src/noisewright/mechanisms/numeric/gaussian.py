r"""The Gaussian mechanism for ``(epsilon, delta)``: discrete Gaussian noise on a lattice, with the smallest sigma that suffices.

``P(k)`` is proportional to ``e^(-k^2 / (2 sigma^2))`` on whole lattice steps. For neighbours ``m`` steps apart the exact
delta is

.. math:: \delta(\epsilon) = \sum_{k > k_0} P(k - m) - e^{\epsilon} P(k), \qquad k_0 = \frac{\sigma^2 \epsilon}{m} +
\frac{m}{2},

because ``P(k - m)/P(k)`` rises with ``k``; it grows with ``m``, so nearer neighbours need no check. ``sigma`` is
calibrated on this sum, not on its continuous limit, and not by the classical formula ``sqrt(2
ln(1.25/delta))/epsilon``, which wastes noise and is false for large epsilon.

**Guarantee.** ``(epsilon, delta)`` between numbers at most ``sensitivity`` apart, exactly: the certificate encloses
the sum with integers. Delta is an extra probability that any event may have beyond the factor ``e^epsilon``, not the
probability that the guarantee fails. The sum goes in runs of up to ``sigma / 2^13`` steps, which costs less than 0.01
% of sigma.

>>> mean = gaussian(epsilon=1, delta="1e-5", sensitivity=2)
>>> round(mean.scale, 3), round(2 * analytic_sigma(1, 1e-5), 3), round(2 * classical_sigma(1, 1e-5), 3)
(7.461, 7.461, 9.69)
>>> mean.certificate().verify()
'epsilon = 1 between neighbours (1/2 * line at most 1), delta = 0.00001, in steps of 1/512'

References: Canonne, Kamath and Steinke, *The discrete Gaussian for differential privacy* (2020); Balle and Wang, *Improving
the Gaussian mechanism for differential privacy* (2018).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any

import numpy as np

from noisewright._typing import Floats
from noisewright._utils.validation import guided
from noisewright.base import DELTA, EPSILON, LATTICE, OUTSIDE, SENSITIVITY, WITHIN, Entry, Takes
from noisewright.certificates.certificate import Certificate
from noisewright.certificates.checker.checker_noise import gaussian_delta
from noisewright.claims.figures import float_up
from noisewright.exceptions import ParameterError
from noisewright.mechanisms.numeric.additive import (
    AdditiveMechanism,
    Indices,
    Within,
    additive,
    additive_of,
    checked,
    choose_lattice,
    smallest_epsilon,
)
from noisewright.mechanisms.numeric.calibration import root
from noisewright.numerics.exact import Exact
from noisewright.sampling.gaussian import discrete_gaussian
from noisewright.sampling.random_bits import Rng

__all__ = ["GaussianLaw", "analytic_delta", "analytic_sigma", "classical_sigma", "gaussian"]


RUNS = 1 << 13
"""The sums of the proof are cut into this many runs for each sigma."""

SMALLEST_DELTA = Fraction(1, 1 << 100)


@guided
def gaussian(
    *,
    epsilon: Annotated[Exact, EPSILON],
    delta: Annotated[Exact, DELTA],
    sensitivity: Annotated[Exact, SENSITIVITY] = 1,
    within: Annotated[Within, WITHIN] = None,
    outside: Annotated[str, OUTSIDE] = "refuse",
    lattice: Annotated[Exact, LATTICE] = "auto",
) -> AdditiveMechanism:
    """The Gaussian mechanism on numbers; with ``within`` its outputs are moved to the nearest valid number.

    ``epsilon`` may be 0. On an automatic lattice ``sigma`` is close to the continuous limit; a coarse lattice of your own
    (``lattice=1`` for counts) is calibrated for itself.
    """
    budget, size, failure = checked(epsilon, sensitivity, delta, zero_epsilon=True)
    if failure < SMALLEST_DELTA or budget > 100:
        raise ParameterError(
            "the Gaussian mechanism is made for a delta of 1e-30 or more and an epsilon of 100 or less."
        )
    limit = size * Fraction(analytic_sigma(float(budget), float(failure)))
    grid = choose_lattice(lattice, size, limit)
    law = _calibrate(budget, failure, grid.steps(size))
    return additive(
        "gaussian",
        law,
        lattice=grid,
        epsilon=budget,
        sensitivity=size,
        delta=failure,
        within=within,
        outside=outside,
    )


def analytic_delta(epsilon: float, sigma: float) -> float:
    """The delta of the continuous Gaussian for sensitivity 1: ``Phi(1/2s - es) - e^e Phi(-1/2s - es)``."""
    import scipy

    low, high = 1 / (2 * sigma) - epsilon * sigma, -1 / (2 * sigma) - epsilon * sigma
    return float(scipy.special.ndtr(low) - math.exp(epsilon + float(scipy.special.log_ndtr(high))))


def analytic_sigma(epsilon: float, delta: float) -> float:
    """The smallest sigma of the continuous Gaussian for sensitivity 1 (Balle and Wang)."""
    low, high = 1e-3, 1.0
    while analytic_delta(epsilon, high) > delta:
        low, high = high, 2 * high
    return root(lambda s: analytic_delta(epsilon, s) - delta, low, high, rtol=1e-13)


def classical_sigma(epsilon: float, delta: float) -> float:
    """The textbook ``sqrt(2 ln(1.25/delta)) / epsilon``, for comparison: proved up to epsilon 1 only, and larger than needed."""
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


@dataclass(frozen=True)
class GaussianLaw:
    """``P(k)`` proportional to ``e^(-k^2 / (2 sigma^2))``; ``epsilon`` is its calibration target, at some delta."""

    sigma: Fraction
    epsilon: Fraction

    @property
    def stride(self) -> int:
        """The length of the runs in which a proof sums."""
        return max(1, math.floor(self.sigma / RUNS))

    @property
    def spread(self) -> float:
        return float(self.sigma)

    @property
    def parameter(self) -> float:
        return self.spread

    def draw(self, shape: tuple[int, ...], rng: Rng) -> Indices:
        return discrete_gaussian(self.sigma, shape, rng)

    def proof(self) -> Mapping[str, Any]:
        return {"law": "discrete gaussian", "sigma": str(self.sigma), "stride": self.stride}

    def loss(self, steps: int, delta: Fraction) -> float:
        # Floats find it, and the sum that the checker encloses confirms it; at the latest at the guaranteed epsilon.
        found, more = (
            smallest_epsilon(lambda e: _float_delta(float(e), steps, self.spread) <= float(delta), self.epsilon),
            2.0**-36,
        )
        while found < self.epsilon and gaussian_delta(Fraction(found), steps, self.sigma**2, self.stride) > delta:
            found, more = found * (1 + more) + more * 2.0**-20, 8 * more
        return min(found, float_up(self.epsilon))

    def mass(self, k: Floats) -> Floats:
        return np.asarray(np.exp(-(k**2) / (2 * self.spread**2)) / _table(self.spread)[0])

    def tail(self, k: Floats) -> Floats:
        import scipy

        _, tails, _ = _table(self.spread)
        if tails is None:
            return np.asarray(scipy.special.ndtr(-(k - 0.5) / self.spread))
        return np.asarray(tails[np.minimum(k, len(tails) - 1).astype(np.int64)])

    def sums(self, room: Floats, loss: str) -> Floats:
        _, tails, sums = _table(self.spread)
        if tails is None:
            return _continuous_sums(room, self.spread, loss)
        return np.asarray(sums[loss][np.minimum(room, len(tails) - 1).astype(np.int64)])


def _calibrate(epsilon: Fraction, delta: Fraction, steps: int) -> GaussianLaw:
    """The smallest sigma, up to one part in 2^30, whose delta the checker proves."""
    target = float(delta)
    guess = steps * analytic_sigma(float(epsilon), target)

    def excess(sigma: float) -> float:
        return _float_delta(float(epsilon), steps, sigma) - target

    low, high = guess / 2, guess * 2 + 1
    while excess(low) <= 0:  # on a coarse lattice the smallest sigma can be far below the continuous one
        low, high = low / 2, low
        if low < 2.0**-20:
            break
    while excess(high) > 0:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    unit = Fraction(2) ** (math.frexp(high)[1] - 40)
    sigma, more = math.ceil(Fraction(high) / unit) * unit, unit
    while gaussian_delta(epsilon, steps, sigma**2, GaussianLaw(sigma, epsilon).stride) > delta:
        sigma, more = sigma + more, 2 * more
    return GaussianLaw(sigma, epsilon)


def _float_delta(epsilon: float, steps: int, sigma: float) -> float:
    """The sum that the checker encloses, in floats, with the same runs: only for finding where to ask it."""
    stride = max(1, math.floor(sigma / RUNS))
    first = math.floor(sigma * sigma * epsilon / steps + steps / 2) + 1
    k = first + stride * np.arange(math.ceil((max(first, steps) - first + 14 * sigma) / stride) + 2.0)
    last = k + stride - 1
    near = np.clip(steps, k, last) if stride > 1 else k
    bracket = -np.expm1(np.minimum(epsilon - (2 * last * steps - steps * steps) / (2 * sigma * sigma), 0.0))
    excess = stride * (np.exp(-((near - steps) ** 2) / (2 * sigma * sigma)) * bracket).sum()
    ends = stride * np.arange(1.0, math.ceil(10 * sigma / stride) + 2)
    return float(excess / (1 + 2 * stride * np.exp(-(ends**2) / (2 * sigma * sigma)).sum()))


@lru_cache(maxsize=16)
def _table(sigma: float) -> tuple[float, Floats | None, dict[str, Floats]]:
    """The sum of all weights, the tails ``P(noise >= k)`` for k = 0, 1, ..., and their sums; None where sigma makes it long."""
    if sigma > 1 << 15:
        return sigma * math.sqrt(2 * math.pi), None, {}
    k = np.arange(math.ceil(40 * sigma) + 3.0)
    weights = np.exp(-(k**2) / (2 * sigma * sigma))
    total = float(2 * weights.sum() - 1)
    tails = np.cumsum(weights[::-1])[::-1] / total
    absolute = np.concatenate([[0.0], np.cumsum(tails[1:])])
    squared = np.concatenate([[0.0], np.cumsum((2 * k[1:] - 1) * tails[1:])])
    return total, tails, {"absolute": absolute, "squared": squared}


def _continuous_sums(room: Floats, sigma: float, loss: str) -> Floats:
    """The integral that the sum tends to: half of ``E min(|noise|, room)``, or of its square."""
    import scipy

    r = np.minimum(room, 40 * sigma)
    z = r / sigma
    beyond, bell = scipy.special.ndtr(-z), np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    if loss == "absolute":
        return np.asarray(sigma * (1 / math.sqrt(2 * math.pi) - bell) + r * beyond)
    return np.asarray(sigma * sigma * (0.5 - beyond - z * bell) + r * r * beyond)


def _rebuilt(certificate: Certificate) -> AdditiveMechanism:
    """The mechanism behind its certificate."""
    return additive_of(lambda proof: GaussianLaw(Fraction(proof["sigma"]), certificate.epsilon), certificate)


ENTRY = Entry(
    "gaussian",
    gaussian,
    Takes("number", budget="sensitivity", within=True, lattice=True, delta=True),
    summary="discrete Gaussian noise for epsilon and delta",
    words="numbers",
    rebuild=_rebuilt,
)
