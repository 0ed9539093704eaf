r"""Confidence intervals for each secret's share of the population.

``asymptotic``: the unbiased linear estimate ``q W`` is a mean over reports, and the interval is Agresti and Coull's for such a
mean: :math:`z^2/2` reports are added at each end of what one report can count for, and the normal law is used for the mean
and the variance that result. Few reports, or shares near 0, which have hardly any variance of their own, so get intervals
that are wide enough, and many reports are left as they are. It holds at the boundary too, because nothing was clipped
before; only then is the interval cut to [0, 1]. For several mechanisms in one data set it is a little too wide, never
too narrow.

``bootstrap``: reports are drawn again from their own shares, the whole estimator is run on each draw, and the interval
is between quantiles of what comes out. It shows how much the estimate itself varies. For the unbiased estimate and for
most likely populations inside the simplex it covers as promised; for an estimate that was stopped early or lies on the
boundary, which is biased, it may cover less, and the asymptotic one is the honest one.

Each interval is about one secret alone, at the given level; all together hold less often.

Reference: Agresti and Coull, *Approximate is better than "exact" for interval estimation of binomial proportions* (1998).

>>> import numpy as np
>>> from noisewright.estimate.operators import ResponseOperator
>>> coin = ResponseOperator(2, other=0.25, lift=0.5)
>>> low, high = asymptotic(np.array([0.4, 0.6]), 1000, coin.inverse(), 0.95)
>>> low.round(3).tolist(), high.round(3).tolist()
([0.24, 0.639], [0.361, 0.76])
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from noisewright.core.errors import ParameterError
from noisewright.estimate.inverses import Inverse

__all__ = ["asymptotic", "bootstrap", "check_level", "mean_interval", "quantile"]

Floats = NDArray[np.float64]

LARGEST_BATCH = 1 << 27
"""Numbers that all draws of a bootstrap may have together: a gigabyte."""

TOGETHER = 1 << 22
"""Numbers that are worked on together."""


def asymptotic(q: Floats, reports: int, inverse: Inverse, level: float) -> tuple[Floats, Floats]:
    """Both ends of the interval of every secret, within [0, 1]."""
    low, high = mean_interval(inverse.left(q), inverse.squares(q), inverse.extremes(), reports, level)
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def mean_interval(
    mean: Floats, square: Floats, extremes: tuple[Floats, Floats], reports: int, level: float
) -> tuple[Floats, Floats]:
    """Agresti and Coull's interval of a mean over reports, given that of the squares and the ends of what one can be."""
    z, (low, high) = quantile(level), extremes
    size = reports + z * z
    centre = (reports * mean + z * z * (low + high) / 2) / size
    spread = (reports * square + z * z * (low**2 + high**2) / 2) / size - centre**2
    wide = z * np.sqrt(np.maximum(spread, 0.0) / size)
    return np.asarray(centre - wide), np.asarray(centre + wide)


def bootstrap(
    q: Floats,
    reports: int,
    estimator: Callable[[Floats], Floats],
    level: float,
    replicates: int,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Both ends of the interval of every secret; ``estimator`` takes a batch of shares, one problem in each row."""
    if isinstance(replicates, bool) or not isinstance(replicates, (int, np.integer)) or replicates < 20:
        raise ParameterError("a bootstrap needs 20 or more replicates, as a whole number.")
    if replicates * q.size > LARGEST_BATCH:
        raise ParameterError("a bootstrap over so many outputs needs too much memory; choose intervals='asymptotic'.")
    step = max(1, TOGETHER // q.size)
    drawn = []
    for start in range(0, replicates, step):
        counts = rng.multinomial(reports, q / q.sum(), size=min(step, replicates - start))
        drawn.append(estimator(counts / reports))
    tail = (1 - check_level(level)) / 2
    low, high = np.quantile(np.concatenate(drawn), [tail, 1 - tail], axis=0)
    return np.asarray(low), np.asarray(high)


def quantile(level: float) -> float:
    """How many standard errors an interval of this level reaches to either side."""
    return float(ndtri((1 + check_level(level)) / 2))


def check_level(level: float) -> float:
    """Refuse a level that is no probability."""
    if isinstance(level, bool) or not isinstance(level, (int, float)) or not 0 < level < 1:
        raise ParameterError("level must be a number between 0 and 1, such as 0.95.")
    return float(level)
