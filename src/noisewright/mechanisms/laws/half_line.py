r"""The continuous law of Laplace noise on a half line whose side towards the bound adapts to the distance from it.

In units of ``sensitivity / epsilon`` let ``s`` be the distance of the true answer from the bound and ``y`` the
distance of the output. The density is ``e^(-(y-s)) / Z(s)`` away from the bound and ``e^(-k(s)(s-y)) / Z(s)`` towards
it, with ``Z(s) = 1 + (1 - e^(-ks))/k``:

* while ``s <= s* = 3.092...``, ``k(s)`` makes the density at the bound exactly ``e^-s``;
* beyond, ``k(s)`` keeps ``Z`` at its largest value ``Z* = 2.2099...``, and tends to 0.8265.

It is the limit of :class:`~noisewright.mechanisms.numbers.half_line.AsymmetricLaplace` on ever finer lattices, for analysis;
nothing is
drawn from it.

>>> law = AsymmetricLaw(Feasible.parse((0, None)), scale=1.0)
>>> round(float(law.density(0, 2)), 6), round(math.exp(-2), 6)  # at the wall
(0.135335, 0.135335)
>>> round(float(law.normaliser(5)), 4), round(float(law.cdf(law.quantile(0.3, 5), 5)), 6)
(2.2099, 0.3)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from noisewright.core.arrays import Floats
from noisewright.core.errors import ParameterError
from noisewright.mechanisms.laws.feasible import Feasible
from noisewright.mechanisms.laws.roots import root

__all__ = ["SWITCH", "AsymmetricLaw", "near_rate"]


@dataclass(frozen=True)
class AsymmetricLaw:
    """The continuous law on a half line with the given ``scale`` (``sensitivity / epsilon``)."""

    feasible: Feasible
    scale: float

    def density(self, x: ArrayLike, mu: ArrayLike) -> Floats:
        """The density of the output ``x`` for the true answer ``mu``."""
        s, y = np.broadcast_arrays(self._units(mu), self._units(x, check=False))
        k = near_rate(s)
        shape = np.where(y >= s, np.exp(-np.abs(y - s)), np.exp(-k * np.abs(s - y)))
        return np.asarray(np.where(y >= 0, shape / (self.normaliser(mu) * self.scale), 0.0))

    def normaliser(self, mu: ArrayLike) -> Floats:
        """``Z(s)``, in scales."""
        s = self._units(mu)
        k = near_rate(s)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(k * s < 1e-12, 1 + s, 1 - np.expm1(-k * s) / k))

    def cdf(self, x: ArrayLike, mu: ArrayLike) -> Floats:
        """The probability of an output of at most ``x``."""
        s, y = np.broadcast_arrays(self._units(mu), np.maximum(self._units(x, check=False), 0.0))
        k = np.maximum(near_rate(s), 1e-300)
        near = -np.exp(-k * np.maximum(s - y, 0.0)) * np.expm1(-k * np.minimum(y, s)) / k
        closer = (near - np.expm1(-np.maximum(y - s, 0.0))) / self.normaliser(mu)  # the outputs between the bound and x
        return np.asarray(closer if self._upwards else 1 - closer)

    def quantile(self, probability: ArrayLike, mu: ArrayLike) -> Floats:
        """The ``x`` with ``cdf(x | mu) = probability``, for probabilities strictly between 0 and 1."""
        p, s = np.broadcast_arrays(np.asarray(probability, dtype=np.float64), self._units(mu))
        if not bool(((p > 0) & (p < 1)).all()):
            raise ParameterError("a quantile needs probabilities strictly between 0 and 1.")
        k, total = np.maximum(near_rate(s), 1e-300), self.normaliser(mu)
        below = (p if self._upwards else 1 - p) * total
        inside = total - 1  # the mass towards the bound
        with np.errstate(divide="ignore", invalid="ignore"):
            near = np.log1p(below * k * np.exp(k * s)) / k  # mass up to y is e^(-ks) (e^(ky) - 1) / k
            far = s - np.log1p(-np.minimum(below - inside, 1 - 2.0**-53))
        y = np.where(below <= inside, near, far)
        return np.asarray(self._wall + self._sign * self.scale * y)

    def mean(self, mu: ArrayLike) -> Floats:
        """The mean output."""
        near, far, total = self._moments(mu)
        bias = (far[1] - near[1]) / total * self.scale
        return np.asarray(np.asarray(mu, dtype=np.float64) + self._sign * bias)

    def variance(self, mu: ArrayLike) -> Floats:
        """The variance of the output around its own mean."""
        near, far, total = self._moments(mu)
        return np.asarray(((near[2] + far[2]) / total - ((far[1] - near[1]) / total) ** 2) * self.scale**2)

    def error(self, mu: ArrayLike, loss: str = "absolute") -> Floats:
        """The expected ``|x - mu|`` (``"absolute"``) or ``(x - mu)^2`` (``"squared"``)."""
        if loss not in ("absolute", "squared"):
            raise ParameterError(f"the loss must be 'absolute' or 'squared', not {loss!r}.")
        near, far, total = self._moments(mu)
        order = 1 if loss == "absolute" else 2
        return np.asarray((near[order] + far[order]) / total * self.scale**order)

    @property
    def _upwards(self) -> bool:
        return self.feasible.low is not None

    @property
    def _wall(self) -> float:
        wall = self.feasible.low if self.feasible.low is not None else self.feasible.high
        assert wall is not None
        return float(wall)

    @property
    def _sign(self) -> float:
        return 1.0 if self._upwards else -1.0

    def _units(self, places: ArrayLike, check: bool = True) -> Floats:
        s = np.asarray(self._sign * (np.asarray(places, dtype=np.float64) - self._wall) / self.scale)
        if check and not bool((s >= 0).all()):
            raise ParameterError("a true answer must lie in the feasible set.")
        return s

    def _moments(self, mu: ArrayLike) -> tuple[list[Floats], list[float], Floats]:
        from scipy.special import gammainc

        s = self._units(mu)
        k = np.maximum(near_rate(s), 1e-300)
        near = []
        for p in range(3):  # integrals of d^p e^(-k d) over 0..s; a tiny k leaves the plain power
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                curved = math.gamma(p + 1) * gammainc(p + 1, k * s) / k ** (p + 1)
            near.append(np.where(k * s < 1e-8, s ** (p + 1) / (p + 1), curved))
        return near, [1.0, 1.0, 2.0], near[0] + 1.0


def near_rate(s: ArrayLike) -> Floats:
    """``k(s)`` of the head of this module, for distances from the bound in units of ``sensitivity / epsilon``."""
    given = np.asarray(s, dtype=np.float64)
    distinct, back = np.unique(given, return_inverse=True)
    return np.array([_near_rate(v) for v in distinct.tolist()])[back].reshape(given.shape)


def first_regime(s: float) -> float:
    """The rate that makes the density at the bound ``e^-s``: the root v in (0, s) of ``v + ln Z = s``, over s."""
    if s < 1e-4:
        return s / 2 - s * s / 12
    return root(lambda v: s - v - math.log1p(-s * math.expm1(-v) / v), 1e-6 * s, s) / s


def _near_rate(s: float) -> float:
    if s <= SWITCH:
        return first_regime(s)
    length = _LARGEST - 1  # (1 - e^(-k s)) / k is kept at this
    return root(lambda k: -math.expm1(-k * s) / k - length, 0.1, 1.0)


def _normaliser(s: float, k: float) -> float:
    return 1 + s if k == 0 else 1 - math.expm1(-k * s) / k


def _switch() -> float:
    """Return where Z of the first regime is largest: its derivative there is 0, which ``d(ks)/ds = 1`` says as well."""

    def slope(s: float) -> float:  # along v + ln Z(s, v) = s the derivative dv/ds is 1 exactly where dZ/ds is 0
        v = s * first_regime(s)
        z = 1 - s * math.expm1(-v) / v
        by_s = -math.expm1(-v) / v
        by_v = s * (v * math.exp(-v) + math.expm1(-v)) / v**2
        return by_s + by_v * (1 - by_s / z) / (1 + by_v / z)

    return root(slope, 2.5, 3.5)


SWITCH = _switch()
"""``s*``: up to this distance the density at the bound is ``e^-s``."""

_LARGEST = _normaliser(SWITCH, first_regime(SWITCH))
