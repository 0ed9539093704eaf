r"""Confidence intervals for the shares of a population: for each secret alone, or for all secrets together.

``asymptotic``: the unbiased linear estimate ``q W`` is a mean over reports, and the interval is Agresti and Coull's for
such a mean: :math:`z^2/2` reports are added at each end of the range of one report's weight, and the normal law is used
for the mean and the variance that result. Shares near 0, which have hardly any variance of their own, so get intervals
that are wide enough, and many reports are left as they are. It holds at the boundary too, because nothing was clipped
before; only then is the interval cut to [0, 1]. At a confidence of 0.95 and with a dozen reports or more, each for a
secret or not, it covers with a probability of at least 0.92 wherever the share lies; with two that can fall to 0.82.
For several mechanisms in one data set only the variation among the reports of each counts, as the number of its reports
is known. There the most informative mechanism by itself must not have too few reports.

``bootstrap``: reports are drawn again from their own shares, the whole estimator is run on each draw, and the interval
is between quantiles of the results. It shows how much the estimate itself varies. For the unbiased estimate and for
most likely populations inside the simplex it covers as guaranteed; for an estimate that was stopped early or lies on
the boundary, which is biased, it may cover less, and the asymptotic one is the honest one.

**Together.** Where each of 20 intervals covers at a confidence of 0.95, some of them leaves its share out more often
than not. ``joint`` intervals all hold at once with the probability given. The asymptotic ones divide the error
probability (Bonferroni): each of ``n`` has the confidence ``1 - (1 - confidence)/n``. That is right however the shares
depend on each other, for few reports as for many. Using the known covariance of ``q W`` instead would need the normal
law for all shares at once. Far out in the tails that law is wrong even for one share, so :func:`tail_interval` is taken
wherever it is sharp: for responses and oracles, in which a report speaks for a secret or does not, it is Clopper and
Pearson's interval, which is exact. The joint bootstrap takes the largest deviation over all secrets, each in its own
standard errors, and reaches as far as a share ``confidence`` of the draws does.

References: Agresti and Coull, *Approximate is better than "exact" for interval estimation of binomial proportions* (1998);
Clopper and Pearson (1934); Bentkus, *On Hoeffding's inequalities* (2004).

>>> import numpy as np
>>> from noisewright.estimation.operators.operator import ResponseOperator
>>> coin = ResponseOperator(2, other=0.25, lift=0.5)
>>> low, high = asymptotic(np.array([0.4, 0.6]), 1000, coin.inverse(), 0.95)
>>> low.round(3).tolist(), high.round(3).tolist()
([0.24, 0.639], [0.361, 0.76])
>>> die = ResponseOperator(3, other=0.2, lift=0.4)
>>> shares = np.array([0.5, 0.3, 0.2])
>>> for joint in (False, True):
...     low, high = asymptotic(shares, 1000, die.inverse(), 0.95, joint=joint)
...     print(low.round(3).tolist(), high.round(3).tolist())
[0.673, 0.181, 0.0] [0.827, 0.323, 0.065]
[0.654, 0.164, 0.0] [0.846, 0.34, 0.08]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_whole
from noisewright.core.errors import ParameterError
from noisewright.estimation.operators.inverses import Inverse, ResponseInverse
from noisewright.estimation.survey.margins import as_confidence

__all__ = [
    "asymptotic",
    "bootstrap",
    "mean_interval",
    "needs_tails",
    "quantile",
    "shared_confidence",
    "tail_interval",
]


FEW = 20
"""Below this many times the square of the quantile, the normal law is not trusted with the ends of a joint interval."""

MOST_EXACT = 10**7
"""Reports up to which quantiles of the beta law are accurate in floats."""

LARGEST_BATCH = 1 << 27
"""Numbers that all draws of a bootstrap may have together: a gigabyte."""

TOGETHER = 1 << 22
"""Numbers that are worked on together."""


def asymptotic(
    q: Floats, reports: int, inverse: Inverse, confidence: float, *, joint: bool = False
) -> tuple[Floats, Floats]:
    """Both ends of the interval of every secret, within [0, 1]; with the confidence for each alone, or ``joint`` for all."""
    mean, secrets = inverse.left(q), inverse.shape[1]
    if joint:
        # Two shares sum to 1: one is known with the other.
        confidence = shared_confidence(confidence, 1 if secrets == 2 else secrets)
    either = isinstance(inverse, ResponseInverse) or inverse.shape[0] == 2
    if joint and needs_tails(reports, confidence, either):
        low, high = tail_interval(mean, inverse.extremes(), reports, confidence, either=either)
    else:
        low, high = mean_interval(mean, inverse.squares(q), inverse.extremes(q), reports, confidence)
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def mean_interval(
    mean: Floats, square: Floats, extremes: tuple[Floats, Floats], reports: int, confidence: float
) -> tuple[Floats, Floats]:
    """Return Agresti and Coull's interval of a mean over reports, given the mean of the squares and the ends of the
    range of one report.
    """
    z, (low, high) = quantile(confidence), extremes
    size = reports + z * z
    centre = (reports * mean + z * z * (low + high) / 2) / size
    spread = (reports * square + z * z * (low**2 + high**2) / 2) / size - centre**2
    wide = z * np.sqrt(np.maximum(spread, 0.0) / size)
    return np.asarray(centre - wide), np.asarray(centre + wide)


def tail_interval(
    mean: Floats, extremes: tuple[ArrayLike, ArrayLike], reports: int, confidence: float, *, either: bool
) -> tuple[Floats, Floats]:
    r"""An interval of a mean over reports that holds for any number of them, without the normal law.

    ``either``: each report counts for one of the two ``extremes``, so the number of either is binomial, and the
    interval is Clopper and Pearson's. Otherwise it counts for anything between them. Then the chance that the mean is
    so far off is at most ``e`` times the chance under the binomial law (Bentkus), and the interval is Clopper and
    Pearson's for an ``e``-th of the tail.

    >>> low, high = tail_interval(np.array([0.0, 0.1]), (0.0, 1.0), 50, 0.95, either=True)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 0.0333], [0.0711, 0.2181])
    """
    least, most = (np.asarray(end, dtype=np.float64) for end in extremes)
    tail = (1 - as_confidence(confidence)) / (2 if either else 2 * math.e)
    wide = np.maximum(most - least, np.finfo(np.float64).tiny)
    number = reports * np.clip((mean - least) / wide, 0, 1)
    # Rounded outwards; a number that is whole except for the rounding of floats is that number.
    whole = np.abs(number - np.rint(number)) < 1e-6
    below, above = (np.where(whole, np.rint(number), cut(number)) for cut in (np.floor, np.ceil))
    low, high = _lower_end(below, reports, tail), 1 - _lower_end(reports - above, reports, tail)
    return np.asarray(least + low * wide), np.asarray(least + high * wide)


def _lower_end(number: Floats, reports: int, tail: float) -> Floats:
    """The probability of an event at which it happens at least ``number`` times with the chance ``tail``."""
    from scipy.special import betaincinv  # takes long to load

    each, places = np.unique(
        number, return_inverse=True
    )  # many secrets have the same number, and a quantile takes long
    found = np.where(each > 0, betaincinv(np.maximum(each, 1), reports - each + 1, tail), 0.0)
    return np.asarray(found[places].reshape(number.shape))


def bootstrap(
    q: Floats,
    reports: int,
    estimator: Callable[[Floats], Floats],
    confidence: float,
    replicates: int,
    rng: np.random.Generator,
    *,
    joint: bool = False,
    cuts: Sequence[int] = (),
) -> tuple[Floats, Floats]:
    """Both ends of the interval of every secret; ``estimator`` takes a batch of shares, one problem in each row.

    At ``cuts`` the outputs of another mechanism begin: each of them keeps its number of reports in every draw.
    """
    if not is_whole(replicates) or replicates < 20:
        raise ParameterError("a bootstrap needs 20 or more replicates, as a whole number.")
    if replicates * q.size > LARGEST_BATCH:
        raise ParameterError("a bootstrap over so many outputs needs too much memory; choose intervals='asymptotic'.")
    step = max(1, TOGETHER // q.size)
    batches = []
    for start in range(0, replicates, step):
        size = min(step, replicates - start)
        parts = [(round(reports * one.sum()), one / one.sum()) for one in np.split(q, cuts)]
        counts = np.concatenate([rng.multinomial(number, one, size=size) for number, one in parts], axis=1)
        batches.append(estimator(counts / reports))
    drawn = np.concatenate(batches)
    if joint:
        return _largest_deviation(drawn, estimator(q[None])[0], as_confidence(confidence))
    tail = (1 - as_confidence(confidence)) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    return np.asarray(low), np.asarray(high)


def _largest_deviation(drawn: Floats, centre: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return the number of standard errors to either side, for every secret, that hold a share ``confidence`` of the
    draws altogether.
    """
    away = np.abs(drawn - centre)
    errors = np.sqrt((away**2).mean(axis=0))
    # A secret that no draw moves has no errors, and stays where it is.
    reach = np.divide(away, errors, out=np.zeros_like(away), where=errors > 0).max(axis=1)
    wide = np.quantile(reach, confidence, method="higher") * errors
    return np.asarray(centre - wide), np.asarray(centre + wide)


def shared_confidence(confidence: float, intervals: int) -> float:
    """Return the confidence of each interval, at which all of them hold together at ``confidence`` (Bonferroni).

    >>> shared_confidence(0.95, 10)
    0.995
    """
    each = 1 - (1 - as_confidence(confidence)) / intervals
    if not each < 1:
        raise ParameterError(
            f"a confidence so near to 1 cannot be shared by {intervals} intervals; choose a lower one."
        )
    return each


def needs_tails(reports: int, confidence: float, either: bool) -> bool:
    """Return whether a joint interval takes :func:`tail_interval`: where it is exact, and where the normal law has too
    few reports.
    """
    return reports <= MOST_EXACT and (either or reports < FEW * quantile(confidence) ** 2)


def quantile(confidence: float) -> float:
    """Return the number of standard errors that an interval of this confidence reaches to either side."""
    return -NormalDist().inv_cdf((1 - as_confidence(confidence)) / 2)
