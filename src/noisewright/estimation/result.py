"""Confidence intervals for the shares of a population: for each secret alone, or for all secrets together.

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
>>> from noisewright.estimation.operators import ResponseOperator
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
import unicodedata
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from noisewright._typing import Floats
from noisewright._utils.validation import is_number, is_whole
from noisewright.claims.figures import upward
from noisewright.estimation.inverses import Inverse, ResponseInverse
from noisewright.estimation.likelihood import TracePoint, linear_estimate
from noisewright.estimation.operators import Operator
from noisewright.exceptions import ParameterError
from noisewright.guarantees import card
from noisewright.metrics.base import encode_label
from noisewright.numerics.exact import as_confidence

__all__ = [
    "METHODS",
    "Average",
    "Estimate",
    "asymptotic",
    "bootstrap",
    "mean_interval",
    "needs_tails",
    "quantile",
    "shared_confidence",
    "short_name",
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


# Result -------------------------------------------------------------------------------------------------------------------
#
# Estimates: shares of the population with intervals, the certificate of the fit, and averages.
#
# :func:`noisewright.estimation.estimate.estimate` builds one.


METHODS = {"inversion": "unbiased and projected", "ibu": "by Bayesian updates", "mle": "the likeliest one"}
"""Names of the methods of estimation, in words."""
LEAST_GAP = 0.001
"""A smaller difference of certified gaps is ignored: no data could show it."""

MOST_SHOWN = 20
"""Secrets that a notebook shows."""


@dataclass(frozen=True)
class Average:
    """The mean of some numbers over the population, with an interval that is about this mean alone."""

    value: float
    low: float
    high: float
    standard_error: float
    confidence: float


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """An estimated population; build it with :func:`~noisewright.estimation.estimate.estimate`."""

    secrets: Sequence[Hashable]
    probabilities: Floats
    reports: int
    dropped: int
    """Reports that were left out because they are not outputs of the mechanism."""
    method: str
    likelihood: float | None
    """The mean log-likelihood of a report; minus infinity if a report is impossible under the estimate, and None where only
    counts of support are known."""
    gap: float
    """No population has a mean log-likelihood of more than ``likelihood + gap``."""
    iterations: int
    converged: bool
    warnings: tuple[str, ...]
    mechanism: str
    promise: str | None
    low: Floats | None = None
    high: Floats | None = None
    confidence: float = 0.95
    intervals: str | None = None
    joint: bool = False
    """Whether the intervals of all secrets hold together at ``confidence``, or each for its secret alone."""
    unbiased: Floats | None = None
    """Result of matrix inversion before its projection; only for that method."""
    trace: tuple[TracePoint, ...] = ()
    _shares: Floats = field(default_factory=lambda: np.zeros(0))
    _operator: Operator | None = None

    @property
    def gap_units(self) -> float:
        """The certified gap in log-likelihood units: the gap of one report times the number of reports."""
        return self.gap * self.reports

    @property
    def counts(self) -> Floats:
        """Estimated number of people who reported and hold each secret."""
        return self.probabilities * self.reports

    @property
    def scope(self) -> str:
        """Meaning of the intervals, in words."""
        return "for all secrets together" if self.joint else "each for one secret alone"

    @property
    def confidence_in_words(self) -> str:
        """The confidence of the intervals as a percentage."""
        return f"{100 * self.confidence:.10g} %"

    def average(self, values: ArrayLike) -> Average:
        """The mean of ``values`` (one for each secret) over the population: unbiased, from the reports themselves.

        Means of slowly changing values are known far better than single shares: noise cancels between neighbours. A
        share of several secrets is the mean of ones and zeros. The interval has the confidence of the estimate's, for this mean
        alone.
        """
        try:
            weights = np.asarray(list(values) if isinstance(values, range) else values, dtype=np.float64)
        except (TypeError, ValueError):
            weights = np.empty(0)
        if weights.shape != (len(self.secrets),) or not np.isfinite(weights).all():
            raise ParameterError(f"an average needs {len(self.secrets)} finite numbers, one for each secret.")
        if self._operator is None:
            raise ParameterError(
                "counts of support give standard errors of single shares only; for averages use Hadamard or randomised response."
            )
        inverse = self._operator.inverse()
        value, error = linear_estimate(weights, self._shares, self.reports, inverse)
        worth = inverse.centred(inverse.right(weights), self._shares)
        ends = np.array(value), np.array(self._shares @ worth**2), (worth.min(), worth.max())
        low, high = mean_interval(*ends, self.reports, self.confidence)
        return Average(value, min(float(low), value), max(float(high), value), error, self.confidence)

    def table(self, most: int = 20) -> str:
        """The secrets with the largest shares, in their own order."""
        return "\n".join(self._lines(most))

    def _lines(self, most: int) -> list[str]:
        shown = np.sort(np.argsort(-self.probabilities, kind="stable")[:most])
        names = [short_name(self.secrets[int(i)]) for i in shown]
        wide = max(_width(name) for name in [*names, "secret"])
        head = f"  {_padded('secret', wide)}  {'share':>7}"
        lines = [head + (f"    {self.confidence_in_words} interval" if self.low is not None else "")]
        for name, i in zip(names, shown, strict=True):
            line = f"  {_padded(name, wide)}  {self.probabilities[i]:>7.4f}"
            if self.low is not None and self.high is not None:
                line += f"   {self.low[i]:.4f} to {self.high[i]:.4f}"
            lines.append(line)
        rest = len(self.secrets) - len(shown)
        if rest:
            share = max(1 - float(self.probabilities[shown].sum()), 0.0)
            lines.append(f"  and {rest:,} more secret{_s(rest)}, with {share:.4f} together")
        if self.low is not None:
            lines.append(f"intervals: {self.intervals}, {self.scope}")
        return lines

    def _repr_html_(self) -> str:
        facts = [
            ("reports", f"{self.reports:,} of {self.mechanism}"),
            ("method", METHODS.get(self.method, self.method)),
            ("likelihood", self.certificate()),
        ]
        interval = [f"{self.confidence_in_words} interval"] if self.low is not None else []
        rows = []
        largest = np.argsort(-self.probabilities, kind="stable")[:MOST_SHOWN]
        for i in np.sort(largest) if is_number(self.secrets[0]) else largest:
            row = [short_name(self.secrets[int(i)]), f"{self.probabilities[i]:.4f}"]
            if self.low is not None and self.high is not None:
                row.append(f"{self.low[i]:.4f} to {self.high[i]:.4f}")
            rows.append(row)
        rest = len(self.secrets) - len(rows)
        facts += [("not shown", f"{rest:,} more with smaller shares")] if rest else []
        return card("Estimate", facts, ("secret", "share", *interval), rows)

    def certificate(self) -> str:
        """Describe the distance of the estimate from the best likelihood, in words."""
        if self.likelihood is None:
            return "unbiased from counts of support, then projected; no likelihood is computed"
        if math.isinf(self.likelihood):
            return "some reports are impossible under this estimate, so it has no likelihood; choose method='mle'"
        gap = upward(max(self.gap_units, LEAST_GAP), 3)
        return f"within {gap} log-likelihood units of the best population (certified)"

    def to_json(self) -> dict[str, Any]:
        """The estimate as plain data."""
        return {
            "mechanism": self.mechanism,
            "promise": self.promise,
            "method": self.method,
            "reports": self.reports,
            "dropped": self.dropped,
            "secrets": [encode_label(secret) for secret in self.secrets],
            "probabilities": self.probabilities.tolist(),
            "intervals": self.intervals,
            "level": self.confidence if self.intervals else None,
            "joint": self.joint if self.intervals else None,
            "low": None if self.low is None else self.low.tolist(),
            "high": None if self.high is None else self.high.tolist(),
            "unbiased": None if self.unbiased is None else self.unbiased.tolist(),
            "log_likelihood": None if self.likelihood is None or math.isinf(self.likelihood) else self.likelihood,
            "gap": self.gap if math.isfinite(self.gap) else None,
            "gap_units": self.gap_units if math.isfinite(self.gap) else None,
            "iterations": self.iterations,
            "converged": self.converged,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        steps = f"{self.iterations:,} {'Newton ' if self.method == 'mle' else ''}step{_s(self.iterations)}"
        how = {"mle": steps if self.iterations else "exact closed form", "ibu": steps}.get(self.method)
        title = f"estimate of {self._size()} ({self.method}" + (f", {how})" if how else ")")
        return "\n".join([title, *self._lines(20), self.certificate(), *(f"note: {w}" for w in self.warnings)])

    def __repr__(self) -> str:
        return f"<Estimate of {self._size()}, by {self.method}>"

    def _size(self) -> str:
        n = len(self.secrets)
        return f"{n:,} secret{_s(n)} from {self.reports:,} report{_s(self.reports)}"


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def short_name(secret: Any, most: int = 30) -> str:
    """Return a secret's name, safe to show; a long one without its middle, as names often differ in their ends.

    >>> short_name("the first of two long names: alpha"), short_name("the first of two long names: omega")
    ('the first of t...names: alpha', 'the first of t...names: omega')
    """
    text = str(secret)
    clean = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    last = (most - 3) // 2
    return clean if len(clean) <= most else f"{clean[: most - 3 - last]}...{clean[-last:]}"


def _width(text: str) -> int:
    """Return the number of columns of a text: East Asian characters take two, marks on others none."""
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def _padded(text: str, wide: int) -> str:
    return text + " " * (wide - _width(text))
