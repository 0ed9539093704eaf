r"""Two Gaussian classes on a line: accuracy of guessing the class from a value, and information of the value.

``Y`` is 1 with probability ``py1``; given Y, X is normal with means ``mean0`` and ``mean1`` and standard deviations ``sd0``
and ``sd1``. Every affine mechanism with Gaussian noise (:mod:`~noisewright.learned.theory.gaussians.shifts`) turns one
such mixture into another.

>>> law = Mixture(py1=0.75, mean0=-3, mean1=3)
>>> round(law.accuracy, 6), round(law.information, 4)
(0.998847, 0.559)
>>> round(float(equal_accuracy(2.0, py1=0.5)), 6)
0.841345
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_number
from noisewright.core.errors import ParameterError
from noisewright.learned.theory.joint import chance

__all__ = ["Mixture", "accuracy_slope", "equal_accuracy", "mixture_accuracy", "mixture_information"]

FLAT = 1e-12
"""A quadratic term below this is none: the two variances are equal."""

REACH, STEPS = 9.0, 577
"""Quadrature by the trapezoidal rule: standard deviations to each side, and points."""


@dataclass(frozen=True)
class Mixture:
    """A mixture of two normal laws with labels 0 and 1."""

    py1: float
    mean0: float
    mean1: float
    sd0: float = 1.0
    sd1: float = 1.0

    def __post_init__(self) -> None:
        chance(self.py1, "py1", inside=True)
        for name in ("mean0", "mean1", "sd0", "sd1"):
            value = getattr(self, name)
            if not is_number(value) or not math.isfinite(value):
                raise ParameterError(f"{name} must be a finite number.")
        if not (self.sd0 > 0 and self.sd1 > 0):
            raise ParameterError("the standard deviations sd0 and sd1 of a mixture must be above 0.")

    @property
    def prior_accuracy(self) -> float:
        """Return how often the class is guessed blindly."""
        return max(self.py1, 1 - self.py1)

    @property
    def accuracy(self) -> float:
        """Return how often the best guess of the class is right."""
        found = mixture_accuracy(self.py1, self.mean1 - self.mean0, self.sd0**2, self.sd1**2)
        return float(found)

    @property
    def information(self) -> float:
        """The mutual information between class and value, in nats."""
        return float(mixture_information(self.py1, self.mean1 - self.mean0, self.sd0**2, self.sd1**2))

    @property
    def variance(self) -> float:
        """The variance of X, both classes together."""
        spread = self.py1 * (1 - self.py1) * (self.mean1 - self.mean0) ** 2
        return (1 - self.py1) * self.sd0**2 + self.py1 * self.sd1**2 + spread

    @property
    def mean(self) -> float:
        """The mean of X."""
        return (1 - self.py1) * self.mean0 + self.py1 * self.mean1

    def swapped(self) -> Mixture:
        """The same with the labels exchanged."""
        return Mixture(1 - self.py1, self.mean1, self.mean0, self.sd1, self.sd0)


def equal_accuracy(sep: Any, *, py1: float) -> Floats:
    r"""The accuracy of the best guess between two normal laws of one variance, ``sep`` standard deviations apart.

    .. math:: p\,\Phi(s/2 - \ln\eta/s) + (1-p)\,\Phi(s/2 + \ln\eta/s), \qquad \eta = (1-p)/p
    """
    from scipy.special import ndtr

    p, apart = chance(py1, "py1"), _separations(sep)
    if p in (0.0, 1.0):
        return np.ones_like(apart)
    log = math.log((1 - p) / p)
    with np.errstate(divide="ignore", invalid="ignore"):
        tilt = np.where(apart > 0, log / apart, 0.0)
        found = p * ndtr(apart / 2 - tilt) + (1 - p) * ndtr(apart / 2 + tilt)
    return np.where(apart > 0, found, max(p, 1 - p))


def accuracy_slope(sep: Any, *, py1: float) -> Floats:
    """The derivative of :func:`equal_accuracy`, ``p phi(s/2 - ln eta / s)``: positive, so less separation is more privacy."""
    p, apart = chance(py1, "py1", inside=True), _separations(sep)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = apart / 2 - np.where(apart > 0, math.log((1 - p) / p) / apart, 0.0 if p == 0.5 else np.inf)
    return np.asarray(p * np.exp(-(at**2) / 2) / math.sqrt(2 * math.pi))


def mixture_accuracy(py1: Any, shift: Any, variance0: Any, variance1: Any) -> Floats:
    """The accuracy of the best guess between ``N(0, variance0)`` and ``N(shift, variance1)``, for arrays of any common shape.

    The better guess is 1 where a quadratic is positive; its roots are found without cancellation.
    """
    from scipy.special import ndtr

    p, m, v0, v1 = _laws(py1, shift, variance0, variance1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        a = 0.5 * (1 / v0 - 1 / v1)
        b = m / v1
        c = -(m**2) / (2 * v1) + np.log(p / (1 - p)) + 0.5 * np.log(v0 / v1)
        flat = np.abs(a) * np.maximum(v0, v1) < FLAT
        # Equal variances: one threshold, or none at all.
        edge = -c / b
        s0, s1 = np.sqrt(v0), np.sqrt(v1)
        upper = p * ndtr((m - edge) / s1) + (1 - p) * ndtr(edge / s0)
        lower = p * ndtr((edge - m) / s1) + (1 - p) * ndtr(-edge / s0)
        linear = np.where(b == 0, np.where(c > 0, p, 1 - p), np.where(b > 0, upper, lower))
        inside = b**2 - 4 * a * c
        root = -0.5 * (b + np.where(b < 0, -1.0, 1.0) * np.sqrt(np.maximum(inside, 0.0)))
        first, second = root / a, c / root
        low, high = np.minimum(first, second), np.maximum(first, second)
        within0 = ndtr(high / s0) - ndtr(low / s0)
        within1 = ndtr((high - m) / s1) - ndtr((low - m) / s1)
        two = np.where(a > 0, p * (1 - within1) + (1 - p) * within0, p * within1 + (1 - p) * (1 - within0))
        curved = np.where(inside <= 0, np.where(a > 0, p, 1 - p), two)
    return np.asarray(np.maximum(np.where(flat, linear, curved), np.maximum(p, 1 - p)))


def mixture_information(py1: Any, shift: Any, variance0: Any, variance1: Any) -> Floats:
    """The mutual information in nats between the class and a value of ``N(0, variance0)`` or ``N(shift, variance1)``."""
    p, m, v0, v1 = (v[..., None] for v in _laws(py1, shift, variance0, variance1))
    z = np.linspace(-REACH, REACH, STEPS)
    weights = np.exp(-(z**2) / 2)
    weights /= weights.sum()

    def odds(x: Floats) -> Floats:
        """The log-odds of class 1 at a value, beyond the prior log-odds."""
        return np.asarray(x**2 / (2 * v0) - (x - m) ** 2 / (2 * v1) + 0.5 * np.log(v0 / v1))

    # I = E[ln(posterior / prior)]: -ln(p + (1 - p) e^-L) for class 1, -ln(1 - p + p e^L) for class 0
    told1 = -np.logaddexp(np.log(p), np.log1p(-p) - odds(m + np.sqrt(v1) * z))
    told0 = -np.logaddexp(np.log1p(-p), np.log(p) + odds(np.sqrt(v0) * z))
    return np.asarray(np.maximum(((p * told1 + (1 - p) * told0) * weights).sum(axis=-1), 0.0))


def _laws(py1: Any, shift: Any, variance0: Any, variance1: Any) -> tuple[Floats, ...]:
    """Pairs of normal laws as arrays of one shape."""
    p, m, v0, v1 = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (py1, shift, variance0, variance1)))
    if not ((p > 0) & (p < 1)).all() or not np.isfinite(m).all():
        raise ParameterError("py1 is a number between 0 and 1, both left out, and a shift a finite number.")
    if not ((v0 > 0) & (v1 > 0) & (v0 < np.inf) & (v1 < np.inf)).all():
        raise ParameterError(
            "the variances of normal laws are finite and above 0; a class that always gives one value has no density."
        )
    return p, m, v0, v1


def _separations(sep: Any) -> Floats:
    apart = np.asarray(sep, dtype=np.float64)
    if not np.isfinite(apart).all() or (apart < 0).any():
        raise ParameterError("a separation is a finite number of standard deviations, 0 or more.")
    return apart
