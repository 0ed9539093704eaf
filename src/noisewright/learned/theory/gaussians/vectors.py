r"""Gaussian vectors and jointly Gaussian pairs in closed form.

**Two classes of one covariance.** ``X|Y`` is normal with means ``delta`` apart and covariance ``S``; noise of
covariance N and trace at most D is added. The least squared separation is ``delta' (S + D I)^-1 delta``, and noise in
a single direction reaches it: as private as noise of variance D in *every* coordinate, at a ``d``-th of the cost.

>>> noise = direction_noise([[1.0, 0.0], [0.0, 4.0]], [6.0, 0.0], distortion=3)
>>> noise.covariance.tolist(), noise.separation
([[3.0, 0.0], [0.0, 0.0]], 3.0)

**A Gaussian private number.** X and Y jointly normal with correlation r, squared distortion, given X alone (noise, or
shrinking and noise) or both (what Y explains is taken out of X, in part or whole).

>>> pair = GaussianPair(sd_x=1, sd_y=2, correlation=0.8)
>>> [round(v, 4) for v in (pair.additive(0.5).mmse, pair.shrunk(0.5).mmse, pair.independence_budget)]
[2.2933, 2.72, 0.64]
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_number
from noisewright.core.errors import ParameterError
from noisewright.learned.theory.gaussians.mixtures import equal_accuracy

__all__ = ["DirectionNoise", "GaussianPair", "Told", "direction_noise"]


@dataclass(frozen=True, eq=False)
class DirectionNoise:
    """Noise of variance D along one direction, and the separation of the classes after it, in standard deviations."""

    direction: Floats
    distortion: float
    separation: float

    @property
    def covariance(self) -> Floats:
        """The covariance of the noise, of rank one."""
        return np.asarray(self.distortion * np.outer(self.direction, self.direction))

    def accuracy(self, *, py1: float = 0.5) -> float:
        """Return how often the best guess of the class is right."""
        return float(equal_accuracy(self.separation, py1=py1))


def direction_noise(covariance: Any, delta: Any, *, distortion: float) -> DirectionNoise:
    """The best additive noise of trace ``distortion`` between two normal classes of one covariance."""
    try:
        s, apart = np.asarray(covariance, dtype=np.float64), np.asarray(delta, dtype=np.float64)
    except (TypeError, ValueError):
        s, apart = np.zeros((0, 0)), np.zeros(0)
    if apart.ndim != 1 or not apart.size or s.shape != (apart.size, apart.size) or not np.isfinite(s).all():
        raise ParameterError(
            "give a square covariance matrix, and a difference of means with a number for each of its rows."
        )
    if not np.isfinite(apart).all() or not np.allclose(s, s.T) or np.linalg.eigvalsh(s).min() <= 0:
        raise ParameterError(
            "the covariance must be symmetric and positive definite; add a small ridge to a singular one."
        )
    budget = _amount(distortion, "distortion")
    towards = np.linalg.solve(s + budget * np.eye(apart.size), apart)
    length = float(np.linalg.norm(towards))
    direction = np.asarray(towards / length if length else np.zeros(apart.size), dtype=np.float64)
    return DirectionNoise(direction, budget, math.sqrt(max(float(apart @ towards), 0.0)))


@dataclass(frozen=True)
class Told:
    """Information of a release of X about a jointly normal Y: the explained share of its variance."""

    explained: float
    sd_y: float

    @property
    def mmse(self) -> float:
        """The least mean squared error of an adversary's guess of Y."""
        return self.sd_y**2 * (1 - self.explained)

    @property
    def information(self) -> float:
        """The mutual information, in nats."""
        return math.inf if self.explained >= 1 else -0.5 * math.log1p(-self.explained)


@dataclass(frozen=True)
class GaussianPair:
    """X and Y jointly normal, with standard deviations greater than 0 and a correlation from -1 to 1."""

    sd_x: float
    sd_y: float
    correlation: float

    def __post_init__(self) -> None:
        for name in ("sd_x", "sd_y"):
            if not _amount(getattr(self, name), name) > 0:
                raise ParameterError(f"{name} must be above 0.")
        if not is_number(self.correlation) or not -1 <= self.correlation <= 1:
            raise ParameterError("correlation must be a number from -1 to 1.")

    def additive(self, distortion: float) -> Told:
        """After noise of variance D: ``r^2 V / (V + D)`` is explained."""
        v = self.sd_x**2
        return Told(self.correlation**2 * v / (v + _amount(distortion, "distortion")), self.sd_y)

    def shrunk(self, distortion: float) -> Told:
        """After ``x' = a x + noise`` with ``a = 1 - D/V``: ``r^2 (1 - D/V)`` is explained; nothing from ``D = V`` on."""
        share = max(0.0, 1 - _amount(distortion, "distortion") / self.sd_x**2)
        return Told(self.correlation**2 * share, self.sd_y)

    @property
    def independence_budget(self) -> float:
        """Distortion for removing from X all that Y explains: ``r^2 V``; ``x' = x - (cov / sd_y^2) (y - E y)``."""
        return self.correlation**2 * self.sd_x**2

    @property
    def removal_slope(self) -> float:
        """``cov / sd_y^2``: how much of Y is taken out of X for independence."""
        return self.correlation * self.sd_x / self.sd_y


def _amount(value: object, name: str) -> float:
    if not is_number(value) or not 0 <= value < math.inf:
        given = value if is_number(value) else f"a thing of type {type(value).__name__}"
        raise ParameterError(f"{name} must be a finite number that is 0 or more, not {given}.")
    return float(value)
