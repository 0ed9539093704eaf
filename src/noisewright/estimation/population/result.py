"""Estimates: shares of the population with intervals, the certificate of the fit, and averages.

:func:`noisewright.estimation.population.estimate.estimate` builds one.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_number
from noisewright.core.errors import ParameterError
from noisewright.core.exact import upward
from noisewright.core.labels import encode_label
from noisewright.core.verdict import card
from noisewright.estimation.fitting.inversion import linear_estimate
from noisewright.estimation.fitting.likelihood import TracePoint
from noisewright.estimation.operators.operator import Operator
from noisewright.estimation.population.intervals import mean_interval

__all__ = ["METHODS", "Average", "Estimate", "short_name"]

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
    """An estimated population; build it with :func:`~noisewright.estimation.population.estimate.estimate`."""

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
