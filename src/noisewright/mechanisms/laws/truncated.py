r"""The Laplace law cut to a feasible set: density, distribution, quantiles, mean, variance and expected errors.

For a true answer ``mu`` in the feasible set ``X`` and a scale ``s`` the density on ``X`` is

.. math:: p(x \mid \mu) = e^{-|x - \mu|/s} / Z(\mu), \qquad Z(\mu) = \int_X e^{-|x - \mu|/s}\,dx .

This is the continuous limit of what :func:`noisewright.laplace` draws on its lattice, for analysis; nothing is drawn from
here. Every function takes arrays and broadcasts them. Masses beyond an interval's ends come from one pass over the
intervals, so a call costs O(1) for each value after O(n) for n intervals.

>>> law = TruncatedLaplace(Feasible.parse((0, None)), 2.0)
>>> float(law.density(0.0, 0.0)), float(law.mean(0.0)), float(law.error(0.0, "absolute"))
(0.5, 2.0, 2.0)
>>> bool(abs(law.cdf(law.quantile(0.3, 1.0), 1.0) - 0.3) < 1e-15)
True
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright.core.arrays import Floats
from noisewright.core.errors import ParameterError
from noisewright.core.mechanism import fields_alone
from noisewright.mechanisms.laws.feasible import Feasible
from noisewright.mechanisms.laws.lattice import feasible_shares, shifted

__all__ = ["TruncatedLaplace"]


@dataclass(frozen=True)
class TruncatedLaplace:
    """The truncated and normalised Laplace law on ``feasible`` with the given ``scale``."""

    feasible: Feasible
    scale: float

    def __post_init__(self) -> None:
        if not 0 < self.scale < math.inf:
            raise ParameterError(f"the scale must be a finite number above 0, not {self.scale}.")

    def density(self, x: ArrayLike, mu: ArrayLike) -> Floats:
        """``p(x | mu)``, zero outside the feasible set."""
        places, centre = np.asarray(x, dtype=np.float64), self._centre(mu)
        k = self._rank(places)
        inside = (places >= self._lows[k]) & (places <= self._highs[k])
        return np.asarray(
            np.where(inside, np.exp(-np.abs(places - centre) / self.scale - self.log_normaliser(mu)), 0.0)
        )

    def cdf(self, x: ArrayLike, mu: ArrayLike) -> Floats:
        """The probability of an output of at most ``x``."""
        places, centre = np.asarray(x, dtype=np.float64), self._centre(mu)
        total = self._left(centre) + self._right(centre)
        away = np.exp(-np.abs(places - centre) / self.scale)
        return np.asarray(
            np.where(places <= centre, away * self._left(places) / total, 1 - away * self._right(places) / total)
        )

    def quantile(self, probability: ArrayLike, mu: ArrayLike) -> Floats:
        """The smallest ``x`` with ``cdf(x | mu) >= probability``, for probabilities strictly between 0 and 1."""
        p = np.asarray(probability, dtype=np.float64)
        if not bool(((p > 0) & (p < 1)).all()):
            raise ParameterError("a quantile needs probabilities strictly between 0 and 1.")
        p, centre = np.broadcast_arrays(p, self._centre(mu))
        left, right = self._left(centre), self._right(centre)
        total = left + right
        low = self._upto(p * total, centre)
        high = -self._mirror._upto((1 - p) * total, -centre)
        return np.asarray(np.where(p * total <= left, low, high))

    def log_normaliser(self, mu: ArrayLike) -> Floats:
        """``ln Z(mu)``."""
        centre = self._centre(mu)
        return np.asarray(np.log(self.scale * (self._left(centre) + self._right(centre))))

    def loss(self, mu: ArrayLike, other: ArrayLike) -> Floats:
        """``sup_x |ln p(x | mu) - ln p(x | other)|``: reached at one of the two answers themselves."""
        apart = np.abs(self._centre(mu) - self._centre(other))
        return np.asarray(apart / self.scale + np.abs(self.log_normaliser(mu) - self.log_normaliser(other)))

    def mean(self, mu: ArrayLike) -> Floats:
        """The mean output; away from ``mu`` where the set is lopsided around it."""
        left, right = self._moments(mu)
        return np.asarray(self._centre(mu) + (right[1] - left[1]) / (left[0] + right[0]))

    def variance(self, mu: ArrayLike) -> Floats:
        """The variance of the output around its own mean."""
        left, right = self._moments(mu)
        total = left[0] + right[0]
        return np.asarray((left[2] + right[2]) / total - ((right[1] - left[1]) / total) ** 2)

    def error(self, mu: ArrayLike, loss: str = "absolute") -> Floats:
        """The expected ``|x - mu|`` (``"absolute"``) or ``(x - mu)^2`` (``"squared"``)."""
        if loss not in ("absolute", "squared"):
            raise ParameterError(f"the loss must be 'absolute' or 'squared', not {loss!r}.")
        left, right = self._moments(mu)
        order = 1 if loss == "absolute" else 2
        return np.asarray((left[order] + right[order]) / (left[0] + right[0]))

    # Masses on each side -------------------------------------------------------------------------------------------

    @cached_property
    def _lows(self) -> Floats:
        return np.array([-math.inf if lo is None else float(lo) for lo, _ in self.feasible.components])

    @cached_property
    def _highs(self) -> Floats:
        return np.array([math.inf if hi is None else float(hi) for _, hi in self.feasible.components])

    @cached_property
    def _below(self) -> Floats:
        """Mass for each interval below its low end, in scales, as seen from that end."""
        return feasible_shares(1 / self.scale, self._lows[1:] - self._highs[:-1], (self._highs - self._lows)[:-1])

    @cached_property
    def _mirror(self) -> TruncatedLaplace:
        swapped = tuple(
            (None if hi is None else -hi, None if lo is None else -lo) for lo, hi in reversed(self.feasible.components)
        )
        return TruncatedLaplace(Feasible(swapped), self.scale)

    def _centre(self, mu: ArrayLike) -> Floats:
        centre = np.asarray(mu, dtype=np.float64)
        k = self._rank(centre)
        if not bool(((centre >= self._lows[k]) & (centre <= self._highs[k])).all()):
            raise ParameterError("a true answer must lie in the feasible set.")
        return centre

    def _rank(self, places: Floats) -> NDArray[np.intp]:
        return np.maximum(np.searchsorted(self._lows, places, side="right") - 1, 0)

    def _left(self, places: Floats) -> Floats:
        """The feasible mass at most ``places``, in scales, as seen from there; any place will do."""
        k = self._rank(places)
        inside = np.maximum(np.minimum(places, self._highs[k]) - self._lows[k], 0.0) / self.scale
        beyond = np.maximum(places - self._highs[k], 0.0) / self.scale
        mass = np.exp(-inside) * self._below[k] - np.expm1(-inside)
        return np.asarray(np.where(places < self._lows[0], 0.0, np.exp(-beyond) * mass))

    def _right(self, places: Floats) -> Floats:
        return self._mirror._left(-places)

    def _upto(self, mass: Floats, centre: Floats) -> Floats:
        """The place left of ``centre`` with that much mass (in scales, as seen from the centre) at most there."""
        # ln of e^(x/s) times the mass left of x grows with x; find its interval, then solve inside it.
        with np.errstate(divide="ignore", invalid="ignore"):
            goal = centre / self.scale + np.log(mass)
            starts = np.where(np.isinf(self._lows), -np.inf, self._lows / self.scale + np.log(self._below))
            k = np.clip(np.searchsorted(starts, goal, side="right") - 1, 0, self._lows.size - 1)
            low, below = self._lows[k], self._below[k]
            ahead = goal - low / self.scale
            near = np.log1p(np.maximum(np.exp(np.minimum(ahead, 1.0)) - below, 0.0))
            far = ahead + np.log1p((1 - below) * np.exp(-np.maximum(ahead, 1.0)))
            found = np.where(np.isinf(low), self.scale * goal, low + self.scale * np.where(ahead < 1, near, far))
        return np.asarray(np.minimum(np.clip(found, low, self._highs[k]), centre))

    def _moments(self, mu: ArrayLike) -> tuple[Floats, Floats]:
        """Integrals of ``d^p e^(-d/s)`` over the feasible points at distance d on the left and on the right, p = 0, 1, 2."""
        centre = self._centre(mu)
        return self._moments_left(centre), self._mirror._moments_left(-centre)

    def _moments_left(self, centre: Floats) -> Floats:
        k = self._rank(centre)
        way = centre - self._lows[k]
        near = np.where(np.isinf(way), 0.0, way)
        rest = np.where(np.isinf(way), 0.0, np.exp(-near / self.scale)) * self._moments_below[:, k]
        return np.asarray(self._inside(way) + shifted(rest, near))

    def _inside(self, length: Floats) -> Floats:
        """Integrals over distances 0 to ``length``: incomplete gamma functions, which keep their digits for short ones."""
        from scipy.special import gammainc

        powers = [math.gamma(p + 1) * self.scale ** (p + 1) for p in range(3)]
        return np.array([c * gammainc(p + 1, length / self.scale) for p, c in enumerate(powers)])

    @cached_property
    def _moments_below(self) -> Floats:
        own = self._inside(self._highs - self._lows)
        found = np.zeros((3, self._lows.size))
        for k in range(1, self._lows.size):
            gap = np.array([self._lows[k] - self._highs[k - 1]])
            length = np.array([0.0 if k == 1 and np.isinf(self._lows[0]) else self._highs[k - 1] - self._lows[k - 1]])
            before = np.exp(-length / self.scale) * shifted(found[:, k - 1 : k], length)
            found[:, k] = (np.exp(-gap / self.scale) * shifted(own[:, k - 1 : k] + before, gap))[:, 0]
        return found

    __getstate__ = fields_alone
