"""Two Gaussian classes on a line: accuracy of guessing the class from a value, and information of the value.

``Y`` is 1 with probability ``py1``; given Y, X is normal with means ``mean0`` and ``mean1`` and standard deviations ``sd0``
and ``sd1``. Every affine mechanism with Gaussian noise (:mod:`~noisewright.context_aware.gaussian`) turns one
such mixture into another.

>>> law = Mixture(py1=0.75, mean0=-3, mean1=3)
>>> round(law.accuracy, 6), round(law.information, 4)
(0.998847, 0.559)
>>> round(float(equal_accuracy(2.0, py1=0.5)), 6)
0.841345

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

None of these is the optimum of the game: :mod:`~noisewright.context_aware.gaussian` is much lower.

>>> law = Mixture(py1=0.5, mean0=-3, mean1=3)
>>> for family in (additive_noise, shrink_and_noise, shift, shift_and_noise):
...     print(f"{family.__name__:17} {family(law, 5).accuracy:.4f}")
additive_noise    0.8897
shrink_and_noise  0.8171
shift             0.7775
shift_and_noise   0.7602

Reference: Huang and others (2017), theorems 2 to 4 (the condition on the budget of theorem 3 is added here); the rest is
this library's.

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

A mixture is cut into cells of a public grid and the finite game is solved with squared distortion. This shows how far
the Gaussian families of :mod:`~noisewright.context_aware.gaussian` are from the optimum, and the best that a
learned mechanism may reach.

>>> law = Mixture(py1=0.5, mean0=-3, mean1=3)
>>> best = grid_game(law, points=31).optimum(1)
>>> from noisewright.context_aware.gaussian import class_noise
>>> round(float(best.accuracy), 2), round(class_noise(law, 1).accuracy, 2)
(0.85, 0.97)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from noisewright._typing import Floats
from noisewright._utils.validation import is_number, is_whole
from noisewright.context_aware.distributions import Joint, as_adversary_loss, chance
from noisewright.context_aware.games import FiniteGame
from noisewright.exceptions import DataError, ParameterError
from noisewright.sampling.random_bits import bits_from

__all__ = [
    "AffineMechanism",
    "DirectionNoise",
    "GaussianPair",
    "Mixture",
    "Told",
    "accuracy_slope",
    "additive_noise",
    "class_noise",
    "direction_noise",
    "equal_accuracy",
    "grid_game",
    "mixture_accuracy",
    "mixture_information",
    "saturation_budget",
    "shift",
    "shift_and_noise",
    "shrink_and_noise",
    "transport",
]


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


# Shifts -------------------------------------------------------------------------------------------------------------------
#
# Affine mechanisms for two Gaussian classes, the best of each family in closed form or by a small search.


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


# Vectors ------------------------------------------------------------------------------------------------------------------
#
# Gaussian vectors and jointly Gaussian pairs in closed form.


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


# Grids --------------------------------------------------------------------------------------------------------------------
#
# The true optimum for a number on the line, on a grid: no family of mechanisms is assumed.


WIDE = 4.0
"""The grid reaches this many of the larger standard deviations beyond the means."""


def grid_game(law: Mixture, *, points: int = 61, given: str = "xy") -> FiniteGame:
    """The finite game of a mixture on an even grid: a value counts for the nearest point, the tails for its ends."""
    from scipy.special import ndtr

    if not is_whole(points) or not 3 <= points <= 400:
        raise ParameterError("a grid has 3 to 400 points; 31 to 81 are enough for three digits.")
    reach = WIDE * max(law.sd0, law.sd1)
    places = np.linspace(min(law.mean0, law.mean1) - reach, max(law.mean0, law.mean1) + reach, points)
    edges = np.concatenate([[-np.inf], (places[1:] + places[:-1]) / 2, [np.inf]])
    columns = [
        share * np.diff(ndtr((edges - mean) / sd))
        for share, mean, sd in ((1 - law.py1, law.mean0, law.sd0), (law.py1, law.mean1, law.sd1))
    ]
    return FiniteGame(Joint(np.stack(columns, axis=1), public=places.tolist()), "squared", given=given)
