r"""The binary data model in closed form: two public values, two private ones, Hamming distortion.

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

>>> from noisewright.learned.theory import Joint
>>> law = Joint.xor(px1=0.75, flip=0.25)
>>> least_accuracy(law, 0.1), least_accuracy(law, 0.1, given="xy")
(0.7, 0.65)
>>> keeps(law, 0.1, given="xy").round(4).tolist()
[[0.4667, 1.0], [1.0, 1.0]]

Reference: Huang and others (2017), theorem 1; the closed forms for both values and for any joint law are this library's.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_number, one_of
from noisewright.core.errors import ParameterError
from noisewright.learned.theory.joint import as_joint, chance

__all__ = ["best_kept", "even_information", "keeps", "kept_accuracy", "least_accuracy", "mechanism_rows"]


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
