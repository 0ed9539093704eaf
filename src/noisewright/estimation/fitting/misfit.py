r"""Whether reports can come from a mechanism at all: a bound on the probability of such reports, whatever the
population.

A wrong file, a changed setting or respondents who do not follow the rules often give reports that no population explains. For
``N`` reports with shares ``q`` and their law ``m``, the moments of relative entropy are bounded for any number of reports,
:math:`E[e^{\lambda N D(q\|m)}] \le (1-\lambda)^{-d}` with ``d`` one less than the number of outputs, so that for :math:`t > d`

.. math:: P\bigl(N D(q\|m) \ge t\bigr) \le e^{d - t}\, (t/d)^d .

The true population explains the reports no better than the best one does. Therefore, with ``t`` the relative entropy
that is left at the best population, certified from below, this bounds the chance of reports that fit as badly. Several
mechanisms, each with its own reports, multiply these moments, and their ``d`` add up. The bound is never below the
chance, and for many outputs far above it: silence proves nothing.

>>> import numpy as np
>>> coin = np.array([[3, 1], [1, 3]]) / 4                       # nobody's chance of a yes is below 1/4
>>> shares = np.array([0.9, 0.1])
>>> best = np.array([1.0, 0.0]) @ coin
>>> value = float(shares @ np.log(best))
>>> bool(np.exp(log_chance(shares, 1000, value, 0.0, 1)) < 1e-28)
True
>>> misfit(shares, 10, value, 0.0, 1)                           # ten reports may well look like that
()

Reference: Agrawal, *Finite-sample concentration of the multinomial in relative entropy* (2020).
"""

from __future__ import annotations

import math

import numpy as np

from noisewright.core.arrays import Floats

__all__ = ["log_chance", "misfit"]


UNLIKELY = 1e-6
"""Reports whose chance is below this are said not to fit."""


def log_chance(q: Floats, total: int, value: float, gap: float, degrees: int) -> float:
    """The logarithm of a bound on the chance of ``total`` reports that fit as badly as shares ``q`` do.

    ``value`` is the mean log-likelihood of a population, and no other one has more than ``gap`` above it.
    """
    seen = q[q > 0]
    left = total * (float(seen @ np.log(seen)) - value - gap)
    rounding = 1e-12 * total  # of the two sums, which nearly cancel where the fit is good
    left -= rounding
    if degrees < 1 or not left > degrees:
        return 0.0
    return min(degrees - left + degrees * math.log(left / degrees), 0.0)


def misfit(q: Floats, total: int, value: float, gap: float, degrees: int) -> tuple[str, ...]:
    """Return a sentence where the reports hardly come from the mechanism; nothing where they may."""
    if not math.isfinite(value) or log_chance(q, total, value, gap, degrees) > math.log(UNLIKELY):
        return ()
    return (
        "no population explains these reports: the chance of any that fit as badly is below one in a million; check that this "
        "is the mechanism that made them, and that it was followed.",
    )
