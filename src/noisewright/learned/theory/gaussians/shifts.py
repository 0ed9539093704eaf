r"""Affine mechanisms for two Gaussian classes, the best of each family in closed form or by a small search.

``x' = slope[y] x + offset[y] + noise[y] N`` with a standard normal N. Within a budget D of expected squared distance:

====================  =====  =======================================================================================
function              given  the best of its family
====================  =====  =======================================================================================
``additive_noise``    x      ``noise = sqrt(D)``: only the best among "X plus independent Gaussian noise"
``shrink_and_noise``  x      also shrinks towards the mean, the test channel of rate-distortion theory; always better
``shift``             xy     classes moved together, the rarer one further; at ``D = p(1-p)(m1-m0)^2`` they coincide
``shift_and_noise``   xy     and common noise: a closed form, although the program is not convex
``class_noise``       xy     and noise of its own for each class: a search over how the budget is divided
``transport``         xy     maps both classes to their barycentre: hides the class completely, at the least price
====================  =====  =======================================================================================

None of these is the optimum of the game: :mod:`~noisewright.learned.theory.gaussians.grids` is much lower.

>>> law = Mixture(py1=0.5, mean0=-3, mean1=3)
>>> for family in (additive_noise, shrink_and_noise, shift, shift_and_noise):
...     print(f"{family.__name__:17} {family(law, 5).accuracy:.4f}")
additive_noise    0.8897
shrink_and_noise  0.8171
shift             0.7775
shift_and_noise   0.7602

Reference: Huang and others (2017), theorems 2 to 4 (the condition on the budget of theorem 3 is added here); the rest is
this library's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_number
from noisewright.core.errors import DataError, ParameterError
from noisewright.learned.theory.gaussians.mixtures import Mixture, mixture_accuracy, mixture_information
from noisewright.learned.theory.losses import as_adversary_loss
from noisewright.noise.bits import bits_from

__all__ = [
    "AffineMechanism",
    "additive_noise",
    "class_noise",
    "saturation_budget",
    "shift",
    "shift_and_noise",
    "shrink_and_noise",
    "transport",
]

BLIND = 1e-9
"""An accuracy within this of blind guessing is that of blind guessing."""


@dataclass(frozen=True)
class AffineMechanism:
    """``x' = slope[y] x + offset[y] + noise[y] N`` for records of a mixture. Floats: a theorem about real numbers."""

    law: Mixture
    slopes: tuple[float, float]
    offsets: tuple[float, float]
    noises: tuple[float, float]

    @property
    def released(self) -> Mixture | None:
        """The law of the releases; None where they are constants."""
        means = [a * m + b for a, m, b in zip(self.slopes, (self.law.mean0, self.law.mean1), self.offsets, strict=True)]
        sds = [
            math.hypot(a * s, g) for a, s, g in zip(self.slopes, (self.law.sd0, self.law.sd1), self.noises, strict=True)
        ]
        return Mixture(self.law.py1, means[0], means[1], sds[0], sds[1]) if min(sds) > 0 else None

    @property
    def accuracy(self) -> float:
        """Return how often the best guess of the class from one release is right."""
        return self.law.prior_accuracy if self.released is None else self.released.accuracy

    @property
    def information(self) -> float:
        """The mutual information between the class and one release, in nats."""
        return 0.0 if self.released is None else self.released.information

    @property
    def spent(self) -> float:
        """The expected squared distance."""
        p = self.law.py1
        parts = zip(
            (self.law.mean0, self.law.mean1),
            (self.law.sd0, self.law.sd1),
            self.slopes,
            self.offsets,
            self.noises,
            strict=True,
        )
        costs = [((a - 1) * m + b) ** 2 + ((a - 1) * s) ** 2 + g**2 for m, s, a, b, g in parts]
        return (1 - p) * costs[0] + p * costs[1]

    def release(self, x: Any, y: Any = None, rng: np.random.Generator | None = None) -> Floats:
        """One release for each value; ``y`` (0 or 1) is needed unless both classes are treated alike."""
        from scipy.special import ndtri

        values = np.asarray(x, dtype=np.float64)
        if not np.isfinite(values).all():
            raise DataError("the values must be finite numbers.")
        alike = (
            self.slopes[0] == self.slopes[1] and self.offsets[0] == self.offsets[1] and self.noises[0] == self.noises[1]
        )
        if alike:
            classes = np.zeros(values.shape, dtype=np.intp)
        else:
            if y is None:
                raise DataError(
                    "this mechanism is given the private value as well; pass the classes 0 and 1 beside the values."
                )
            classes = np.asarray(y)
            if classes.shape != values.shape or classes.dtype.kind not in "biu" or not np.isin(classes, (0, 1)).all():
                raise DataError("the classes must be 0 or 1, one for each value.")
            classes = classes.astype(np.intp)
        words = bits_from(rng).words(values.size)
        normal = ndtri((words >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54).reshape(values.shape)
        slopes, offsets, noises = (np.array(part)[classes] for part in (self.slopes, self.offsets, self.noises))
        return np.asarray(slopes * values + offsets + noises * normal)


def additive_noise(law: Mixture, distortion: float) -> AffineMechanism:
    """Noise of variance D, the same for both classes."""
    noise = math.sqrt(_budget(distortion))
    return AffineMechanism(law, (1.0, 1.0), (0.0, 0.0), (noise, noise))


def shrink_and_noise(law: Mixture, distortion: float) -> AffineMechanism:
    """``a = 1 - D/V`` and noise of variance ``D (1 - D/V)`` for the variance V of X; a constant from ``D = V`` on."""
    share = min(1.0, _budget(distortion) / law.variance)
    slope, noise = 1 - share, math.sqrt(law.variance * share * (1 - share))
    return AffineMechanism(law, (slope, slope), (share * law.mean, share * law.mean), (noise, noise))


def shift(law: Mixture, distortion: float) -> AffineMechanism:
    """Classes moved towards each other by ``sqrt(D / p(1-p))`` in all, until their means are one."""
    budget, gap = _budget(distortion), abs(law.mean1 - law.mean0)
    return _moved(law, min(gap, math.sqrt(budget / _spread(law))), 0.0, 0.0)


def shift_and_noise(law: Mixture, distortion: float) -> AffineMechanism:
    """Moved by ``min((sd^2 + D) / (gap p(1-p)), sqrt(D / p(1-p)))`` in all, the rest of the budget for common noise.

    For classes of one standard deviation. Noise is used only for budgets between two thresholds, see :func:`noise_budgets`.
    """
    _check_equal(law)
    budget, gap, c = _budget(distortion), abs(law.mean1 - law.mean0), _spread(law)
    if budget >= gap**2 * c:
        return _moved(law, gap, 0.0, 0.0)
    total, whole = (law.sd0**2 + budget) / (gap * c), math.sqrt(budget / c)
    rest = math.sqrt(budget - c * total**2) if total < whole else 0.0
    return _moved(law, min(total, whole), rest, rest)


def noise_budgets(law: Mixture) -> tuple[float, float] | None:
    """Return the range of budgets in which :func:`shift_and_noise` uses noise; None if empty."""
    _check_equal(law)
    far, least = abs(law.mean1 - law.mean0) / 2 * math.sqrt(_spread(law)), law.sd0
    if far <= least:
        return None
    side = math.sqrt(far**2 - least**2)
    return (far - side) ** 2, (far + side) ** 2


def class_noise(law: Mixture, distortion: float, loss: object = "zero-one") -> AffineMechanism:
    """Shifts, and noise of its own for each class: the best division of the budget, for the 0-1 or the log loss.

    The accuracy depends on the two shifts through their sum alone, so the cheapest split moves the rarer class
    further. If guesses are already no better than blind ones, the mechanism with the least information in nats is
    taken, then the cheapest.
    """
    budget, wanted = _budget(distortion), as_adversary_loss(loss)
    if not (wanted.is_zero_one or wanted.is_log):
        raise ParameterError("the search over shifts and noise is for the loss 'zero-one' or 'log'.")
    if budget == 0:
        return _moved(law, 0.0, 0.0, 0.0)
    search = _Search(law, budget)
    if wanted.is_log:
        return search.best(search.information, 61)
    found = search.best(search.accuracy, 201)
    if found.accuracy > law.prior_accuracy + BLIND:
        return found

    def told(a: Any, b: Any) -> Floats:
        """The information, and more than there can be where guesses are not blind."""
        more = search.accuracy(a, b) - law.prior_accuracy
        return np.where(more > BLIND / 2, 10.0 + more, search.information(a, b))

    return min(
        (found, search.best(told, 61)), key=lambda made: (made.accuracy > law.prior_accuracy + BLIND, made.information)
    )


def saturation_budget(law: Mixture) -> tuple[float, AffineMechanism]:
    r"""The smallest budget with which shifts and noise of its own for each class make guesses no better than blind ones.

    For ``p >= 1/2`` guesses are blind exactly if ``V1 > V0`` and ``ln(V1/V0)/2 + d^2 / (2(V1 - V0)) <= ln(p/(1-p))``
    for the remaining distance d, or if both laws are one.
    """
    if law.py1 < 0.5:
        budget, made = saturation_budget(law.swapped())
        return budget, AffineMechanism(law, made.slopes[::-1], made.offsets[::-1], made.noises[::-1])
    p, c, gap, odds = law.py1, _spread(law), abs(law.mean1 - law.mean0), math.log(law.py1 / (1 - law.py1))
    v0, v1 = law.sd0**2, law.sd1**2

    def parts(more0: Any, apart: Any) -> tuple[Any, Any, Any]:
        """The shift and the two variances that go with an addition to V0 and a difference of the variances."""
        first = v0 + more0
        second = first + apart
        with np.errstate(invalid="ignore", divide="ignore"):
            left = np.sqrt(np.maximum(2 * apart * (odds - 0.5 * np.log(second / first)), 0.0))
        return np.maximum(gap - left, 0.0), more0, second - v1

    def cost(point: Any) -> Any:
        more0, apart = np.abs(point[0]), np.maximum(np.abs(point[1]), v1 - v0 - np.abs(point[0]))
        moved, extra0, extra1 = parts(more0, apart)
        allowed = 0.5 * np.log((v0 + more0 + apart) / (v0 + more0)) <= odds
        return np.where(allowed, c * moved**2 + (1 - p) * extra0 + p * extra1, np.inf)

    widest = v0 * (math.exp(2 * odds) - 1) + abs(v0 - v1) + 1e-12
    mesh = np.meshgrid(np.linspace(0, 2 * (v0 + v1), 41), np.linspace(0, widest, 2001), indexing="ij")
    values = cost(mesh)
    place = np.unravel_index(int(values.argmin()), values.shape)
    start = np.array([mesh[0][place], mesh[1][place]])
    point = np.abs(_descended(lambda z: float(cost(z)), start, xatol=1e-11, maxiter=4000)[1])
    more0, apart = float(point[0]), max(float(point[1]), v1 - v0 - float(point[0]))
    moved, extra0, extra1 = (float(v) for v in parts(more0, apart))
    made = _moved(law, moved, math.sqrt(extra0), math.sqrt(max(extra1, 0.0)))
    return made.spent, made


def transport(law: Mixture) -> AffineMechanism:
    """Each class mapped to the barycentre of both: the release says nothing about the class.

    It costs ``p(1-p) ((m1 - m0)^2 + (sd1 - sd0)^2)``, the least there is.
    """
    p = law.py1
    sd, mean = (1 - p) * law.sd0 + p * law.sd1, law.mean
    slopes = (sd / law.sd0, sd / law.sd1)
    return AffineMechanism(law, slopes, (mean - slopes[0] * law.mean0, mean - slopes[1] * law.mean1), (0.0, 0.0))


class _Search:
    """Divisions of a budget: a share ``a`` for the shift, ``b`` for the noise of class 0, the rest for that of class 1."""

    def __init__(self, law: Mixture, budget: float) -> None:
        self.law, self.budget, self.c = law, budget, _spread(law)
        self.gap = abs(law.mean1 - law.mean0)
        self.most = min(1.0, self.gap**2 * self.c / budget)

    def parts(self, a: Any, b: Any) -> tuple[Any, Any, Any]:
        p, rest = self.law.py1, np.maximum(1 - a - b, 0.0)
        moved = np.sqrt(a * self.budget / self.c)
        return moved, b * self.budget / (1 - p), rest * self.budget / p

    def accuracy(self, a: Any, b: Any) -> Floats:
        moved, extra0, extra1 = self.parts(a, b)
        return mixture_accuracy(self.law.py1, self.gap - moved, self.law.sd0**2 + extra0, self.law.sd1**2 + extra1)

    def information(self, a: Any, b: Any) -> Floats:
        moved, extra0, extra1 = self.parts(a, b)
        return mixture_information(self.law.py1, self.gap - moved, self.law.sd0**2 + extra0, self.law.sd1**2 + extra1)

    def best(self, value: Any, points: int) -> AffineMechanism:
        """The division where a function is least: a grid over the triangle, and a simplex search from its best places."""
        u, w = (v.ravel() for v in np.meshgrid(np.linspace(0, 1, points), np.linspace(0, 1, points)))
        found = value(u * self.most, w * (1 - u * self.most))

        def at(z: Floats) -> float:
            a, b = (min(max(float(v), 0.0), 1.0) for v in z)  # outside the square: as at its edge
            return float(value(a * self.most, b * (1 - a * self.most)))

        best = (float("inf"), np.zeros(2))
        for place in np.argsort(found, kind="stable")[:3]:
            start = np.array([u[place], w[place]])
            simplex = np.clip(start + np.array([[0, 0], [1, 0], [0, 1]]) * np.where(start > 0.5, -1, 1) / points, 0, 1)
            found_here = _descended(at, start, initial_simplex=simplex, xatol=1e-9, maxiter=600)
            best = min(best, found_here, key=lambda pair: pair[0])
        share, other = np.clip(best[1], 0, 1)
        a, b = share * self.most, other * (1 - share * self.most)
        moved, extra0, extra1 = self.parts(a, b)
        return _moved(self.law, float(moved), math.sqrt(extra0), math.sqrt(extra1))


def _descended(value: Callable[[Floats], float], start: Floats, **settings: Any) -> tuple[float, Floats]:
    """The least value that the simplex method of Nelder and Mead finds, and where; never more than at the start."""
    from scipy.optimize import minimize

    options: Any = {"fatol": 1e-13, **settings}
    done = minimize(value, start, method="Nelder-Mead", options=options)
    return min((float(done.fun), np.asarray(done.x)), (value(start), start), key=lambda pair: pair[0])


def _moved(law: Mixture, total: float, noise0: float, noise1: float) -> AffineMechanism:
    """Classes moved towards each other by ``total`` in all, class 0 by its share ``p`` of it."""
    towards = math.copysign(1.0, law.mean1 - law.mean0)
    offsets = (towards * law.py1 * total, -towards * (1 - law.py1) * total)
    return AffineMechanism(law, (1.0, 1.0), offsets, (noise0, noise1))


def _spread(law: Mixture) -> float:
    return law.py1 * (1 - law.py1)


def _check_equal(law: Mixture) -> None:
    if law.sd0 != law.sd1:
        raise ParameterError("this closed form is for classes of one standard deviation; class_noise takes others.")


def _budget(distortion: object) -> float:
    if not is_number(distortion) or not 0 <= distortion < math.inf:
        given = distortion if is_number(distortion) else f"a thing of type {type(distortion).__name__}"
        raise ParameterError(f"distortion must be a finite number that is 0 or more, not {given}.")
    return float(distortion)
