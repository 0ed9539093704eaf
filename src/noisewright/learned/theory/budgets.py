r"""Distortion needed to hide a private value: budgets beyond which more distortion has no effect.

* :func:`independence_budget`: the least distortion of a mechanism whose release says nothing about Y, for a finite game, by
  a linear program with a bound from its dual. For Hamming distortion, two private values and ``given="xy"`` it is ``min_y
  P(y) TV(P(X|0), P(X|1))``; given X alone, two public values and dependence, ``1 - max_x P(x)``.
* :func:`saturation_budget`: the least distortion from which on a guess is no better than blind. Never more than the other,
  and often less: an accuracy alone certifies no independence.
* On the line and in space, squared distance, given both: :func:`line_budget` (a weighted Wasserstein barycentre of the classes),
  :func:`mixture_budget` (two Gaussians) and :func:`classes_budget` (classes of one covariance: the variance between them).

>>> from noisewright.learned.theory import Joint
>>> game = FiniteGame(Joint.xor(px1=0.75, flip=0.25), given="xy")
>>> print(saturation_budget(game))
0.125 (no mechanism does with less than 0.125)
>>> print(independence_budget(game))
0.15 (no mechanism does with less than 0.15)
>>> mixture_budget(Mixture(py1=0.75, mean0=-3, mean1=3, sd0=2))
6.9375
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.errors import ParameterError
from noisewright.learned.theory._programs import independent, saturated
from noisewright.learned.theory._rows import GameRows
from noisewright.learned.theory.games import FiniteGame
from noisewright.learned.theory.gaussians.mixtures import Mixture
from noisewright.learned.theory.joint import as_joint

__all__ = [
    "FreeBudget",
    "classes_budget",
    "independence_budget",
    "line_budget",
    "mixture_budget",
    "saturation_budget",
    "shift_budget",
]


@dataclass(frozen=True, eq=False)
class FreeBudget:
    """The distortion of the cheapest mechanism, a bound that none goes below, and the mechanism (up to a solver's accuracy)."""

    value: float
    bound: float
    matrix: Floats

    def __str__(self) -> str:
        return f"{self.value:.6g} (no mechanism does with less than {self.bound:.6g})"


def independence_budget(game: FiniteGame) -> FreeBudget:
    """The least distortion with which a release says nothing at all about the private value."""
    found = independent(game.rows)
    if found is None:
        raise ParameterError("no mechanism of this game hides the private value completely.")
    matrix, multipliers = found
    # With J = P(y) q[k] and sum_y P(y) v[y, k] <= 0, adding v . J makes the distortion no larger: a bound for every such v.
    excess = np.maximum((game.joint.prior[:, None] * multipliers).sum(axis=0, keepdims=True), 0.0)
    multipliers = multipliers - excess
    return _free(game.rows, matrix, multipliers)


def saturation_budget(game: FiniteGame) -> FreeBudget:
    """The least distortion with which the best guess of the private value is no better than a blind one."""
    found = saturated(game.rows)
    if found is None:
        raise ParameterError("no mechanism of this game makes guesses blind.")
    return _free(game.rows, *found)


def line_budget(joint: Any, points: Any = None) -> float:
    r"""The least squared distance that makes a number on the line independent of Y, given both; outputs may lie anywhere.

    .. math:: \sum_y P(y) \int_0^1 (F_y^{-1}(t) - \bar{F}^{-1}(t))^2\, dt

    with the mean of the quantile functions, weighted by ``P(y)``, in the middle: every class is moved there monotonically.

    >>> line_budget([[0.5, 0.0], [0.0, 0.5]], [0, 6])  # each class is one point: both move to the middle
    9.0
    """
    law = as_joint(joint)
    places = np.asarray(law.public if points is None else points, dtype=np.float64)
    if places.shape != (law.shape[0],) or not np.isfinite(places).all():
        raise ParameterError("the line needs a finite number for each public value.")
    order = np.argsort(places)
    seen = np.flatnonzero(law.prior)
    weights = law.prior[seen]
    steps = np.cumsum(law.probabilities[np.ix_(order, seen)], axis=0) / weights
    levels = np.unique(np.concatenate([[0.0], np.clip(steps, 0, 1).ravel(), [1.0]]))
    middles, widths = (levels[1:] + levels[:-1]) / 2, np.diff(levels)
    at = np.array([np.minimum(np.searchsorted(column, middles), len(order) - 1) for column in steps.T])
    quantiles = places[order][at]
    centre = weights @ quantiles
    return float(weights @ ((quantiles - centre) ** 2 @ widths))


def mixture_budget(law: Mixture) -> float:
    """``p(1-p) ((m1 - m0)^2 + (sd1 - sd0)^2)``: what ``shifts.transport`` costs, and no mechanism does with less."""
    return law.py1 * (1 - law.py1) * ((law.mean1 - law.mean0) ** 2 + (law.sd1 - law.sd0) ** 2)


def shift_budget(law: Mixture) -> float:
    """Return the distortion for independence with shifts and noise alone, without scaling: noise makes the smaller
    variance the larger one."""
    shift = law.py1 * (1 - law.py1) * (law.mean1 - law.mean0) ** 2
    more = law.sd0**2 - law.sd1**2
    return shift + (law.py1 * more if more > 0 else (1 - law.py1) * -more)


def classes_budget(priors: Any, means: Any) -> float:
    """``sum_y P(y) |mean_y - mean|^2``: what independence costs for classes that differ in their means alone.

    >>> round(classes_budget([0.5, 0.3, 0.2], [(2, 0), (-1, 1.7), (-1, -1.7)]), 3)
    3.666
    """
    weights, centres = np.asarray(priors, dtype=np.float64), np.asarray(means, dtype=np.float64)
    centres = centres[:, None] if centres.ndim == 1 else centres
    if weights.ndim != 1 or centres.shape[:1] != weights.shape or not np.isfinite(centres).all():
        raise ParameterError("give a probability and a mean (a number or a row of numbers) for each class.")
    if not np.isfinite(weights).all() or (weights < 0).any() or abs(weights.sum() - 1) > 1e-9:
        raise ParameterError("the probabilities of the classes must be 0 or more and sum to 1.")
    return float(weights @ ((centres - weights @ centres) ** 2).sum(axis=1))


def _free(rows: GameRows, matrix: Floats, multipliers: Floats) -> FreeBudget:
    """The bound ``sum_r min_k (P(r) d[r, k] + sum_y P(r, y) v[y, k])``, less the rounding of floats."""
    terms = rows.mass[:, None] * (rows.cost + rows.worth(multipliers))
    sizes = rows.mass[:, None] * (rows.cost + rows.worth(np.abs(multipliers)))
    slack = (rows.privates + len(rows.mass) + 24) * 2.0**-52 * float(sizes.max(axis=1).sum())
    value = rows.spent(matrix)
    return FreeBudget(value, max(0.0, min(value, math.fsum(terms.min(axis=1)) - slack)), matrix)
