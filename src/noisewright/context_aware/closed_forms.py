"""The binary data model in closed form: two public values, two private ones, Hamming distortion.

A mechanism is its *keep probabilities*: ``s[x]`` where it is given X alone (PDI), ``s[x, y]`` where it is given both (PDD).
The best accuracy of a guess falls with the budget D until it is that of blind guessing:

=======  ====================================================  =========================================================
given    the least accuracy                                    reached by
=======  ====================================================  =========================================================
``xy``   ``max(prior, sum_x max_y P(x,y) - D)``                changing only the x whose likeliest y is not everybody's
``x``    ``max(prior, sum_x max_y P(x,y) - D m)``, with the    changing only the x where the two private values differ
         larger ``|P(1|x) - P(0|x)|`` for ``m``                most; nothing where both x have one likeliest y
=======  ====================================================  =========================================================

The first formula holds for two private values and any number of public ones; for more private values it is a lower bound.

In the model ``Y = X xor N`` everything depends on ``u = p s[1] + (1-p) s[0]``, one minus the distortion, so that there are
infinitely many best mechanisms (for D > 0 and 0 < p < 1): :func:`best_kept`.

>>> from noisewright.context_aware import Joint
>>> law = Joint.xor(px1=0.75, flip=0.25)
>>> least_accuracy(law, 0.1), least_accuracy(law, 0.1, given="xy")
(0.7, 0.65)
>>> keeps(law, 0.1, given="xy").round(4).tolist()
[[0.4667, 1.0], [1.0, 1.0]]

Reference: Huang and others (2017), theorem 1; the closed forms for both values and for any joint law are this library's.

* :func:`independence_budget`: the least distortion of a mechanism whose release says nothing about Y, for a finite game, by
  a linear program with a bound from its dual. For Hamming distortion, two private values and ``given="xy"`` it is ``min_y
  P(y) TV(P(X|0), P(X|1))``; given X alone, two public values and dependence, ``1 - max_x P(x)``.
* :func:`saturation_budget`: the least distortion from which on a guess is no better than blind. Never more than the other,
  and often less: an accuracy alone certifies no independence.
* On the line and in space, squared distance, given both: :func:`line_budget` (a weighted Wasserstein barycentre of the
classes),
  :func:`mixture_budget` (two Gaussians) and :func:`classes_budget` (classes of one covariance: the variance between them).

>>> from noisewright.context_aware import Joint
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

from noisewright._typing import Floats
from noisewright._utils.validation import is_number, one_of
from noisewright.context_aware.distributions import as_joint, chance
from noisewright.context_aware.games import FiniteGame
from noisewright.context_aware.gaussian import Mixture
from noisewright.context_aware.programs import GameRows, independent, saturated
from noisewright.exceptions import ParameterError

__all__ = [
    "FreeBudget",
    "best_kept",
    "classes_budget",
    "even_information",
    "independence_budget",
    "keeps",
    "kept_accuracy",
    "least_accuracy",
    "line_budget",
    "mechanism_rows",
    "mixture_budget",
    "saturation_budget",
    "shift_budget",
]


def least_accuracy(joint: Any, distortion: float, given: str = "x") -> float:
    """The least accuracy of the best guess within a Hamming budget."""
    law, budget = as_joint(joint), _budget(distortion)
    table, prior = law.probabilities, law.prior_accuracy
    raw = float(table.max(axis=1).sum())
    if one_of(given, "given", ("x", "xy")) == "xy":
        return max(prior, raw - budget)
    if table.shape != (2, 2):
        raise ParameterError("this closed form is for two public and two private values; others are a FiniteGame.")
    leaning = table[:, 1] - table[:, 0]
    if leaning[0] * leaning[1] >= 0:
        return prior
    return max(prior, raw - budget * float(np.abs(leaning / law.marginal).max()))


def keeps(joint: Any, distortion: float, given: str = "x") -> Floats:
    """Keep probabilities of a best mechanism against guesses: ``s[x]``, or ``s[x, y]`` for ``given="xy"``.

    It distorts no more than it must. Among the best mechanisms given X alone another may leak less in nats.
    """
    law, budget = as_joint(joint), _budget(distortion)
    table = law.probabilities
    if table.shape != (2, 2):
        raise ParameterError("keep probabilities are for two public and two private values; others are a FiniteGame.")
    both = one_of(given, "given", ("x", "xy")) == "xy"
    kept = np.ones((2, 2) if both else 2)
    leaning = table[:, 1] - table[:, 0]
    if leaning[0] * leaning[1] >= 0:
        return kept
    if both:
        majority = int(law.prior[1] > law.prior[0])
        x = int((leaning[1] > 0) != majority)  # the public value whose likeliest private one is not everyone's
        y = int(leaning[x] > 0)
        needed = float(table.max(axis=1).sum()) - law.prior_accuracy
        kept[x, y] = 1 - min(budget, needed) / table[x, y]
        return kept
    x = int(np.argmax(np.abs(leaning) / law.marginal))
    kept[x] = 1 - min(float(np.abs(leaning).min() / abs(leaning[x])), budget / law.marginal[x])
    return kept


def mechanism_rows(kept: Any) -> Floats:
    """Keep probabilities as the rows of a mechanism, for ``FiniteGame.mechanism``: outputs are 0 and 1."""
    given = np.asarray(kept, dtype=np.float64)
    if given.shape not in ((2,), (2, 2)) or not ((given >= 0) & (given <= 1)).all():
        raise ParameterError("keep probabilities are two numbers, or two rows of two, from 0 to 1.")
    flat = given.reshape(2, -1)
    return np.array([[s, 1 - s] if x == 0 else [1 - s, s] for x in (0, 1) for s in flat[x]])


def kept_accuracy(*, px1: float, flip: float, kept: float) -> float:
    """The accuracy of the best guess in the model ``Y = X xor N`` when X is kept with probability ``kept`` on average.

    .. math:: \\tfrac12 \\bigl(1 + |1-2q| (|p-u| + |u-(1-p)|)\\bigr)
    """
    p, q, u = chance(px1, "px1"), chance(flip, "flip"), chance(kept, "kept")
    return 0.5 * (1 + abs(1 - 2 * q) * (abs(p - u) + abs(u - (1 - p))))


def best_kept(*, px1: float, flip: float, distortion: float) -> tuple[float, float]:
    """The interval of ``u = p s[1] + (1-p) s[0]`` for which a mechanism given X alone is best in the model ``Y = X xor N``."""
    p, q, budget = chance(px1, "px1"), chance(flip, "flip"), _budget(distortion)
    least = max(0.0, 1 - budget)
    if q == 0.5:
        return least, 1.0
    if least >= max(p, 1 - p):
        return least, least
    return max(min(p, 1 - p), least), max(p, 1 - p)


def even_information(*, flip: float, distortion: float, given: str = "x") -> float:
    """The least mutual information in nats in the model ``Y = X xor N`` with ``P(X=1) = 1/2``.

    >>> round(even_information(flip=0.25, distortion=0.1), 5), round(even_information(flip=0.25, distortion=0.1, given="xy"), 5)
    (0.08228, 0.0457)
    """
    q, budget = chance(flip, "flip"), _budget(distortion)
    q = min(q, 1 - q)
    if one_of(given, "given", ("x", "xy")) == "xy":
        return math.log(2) - _entropy(min(q + budget, 0.5))
    moved = min(budget, 0.5)
    return math.log(2) - _entropy(q * (1 - moved) + (1 - q) * moved)


def _entropy(t: float) -> float:
    return -sum(v * math.log(v) for v in (t, 1 - t) if v > 0)


def _budget(distortion: object) -> float:
    if not is_number(distortion) or not distortion >= 0:
        given = distortion if is_number(distortion) else f"a thing of type {type(distortion).__name__}"
        raise ParameterError(f"distortion must be a number that is 0 or more, not {given}.")
    return min(float(distortion), 1.0)


# Budgets ------------------------------------------------------------------------------------------------------------------
#
# Distortion needed to hide a private value: budgets beyond which more distortion has no effect.


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
