"""Records of claims and the library's own objects: metrics, columns released unchanged, random bits."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from noisewright.claims.phrases import CLEAR
from noisewright.core.metrics.metric import Metric, metric_or_none, named_metric

__all__ = ["clear_record", "metric_of", "metric_record", "named_only", "randomness_phrase"]


def metric_record(metric: Metric | Mapping[str, Any] | str) -> Mapping[str, Any]:
    """Return a metric as a certificate states it; a text is the name of one.

    >>> metric_record("1/5 * line"), metric_record("my own")
    ({'base': 'line', 'factor': '1/5'}, {'called': 'my own'})
    """
    if isinstance(metric, Mapping):
        return metric
    if isinstance(metric, Metric):
        return metric.record()
    return {"called": metric} if metric_or_none(metric) is None else named_metric(metric).record()


def metric_of(stated: Mapping[str, Any]) -> Metric | None:
    """Return the metric of a record, or None where the record alone does not give its distances."""
    base = named_only(stated)
    known = metric_or_none(str(base)) if base is not None else None
    factor = Fraction(stated.get("factor", 1))
    return known if known is None or factor == 1 else factor * known


def named_only(stated: Mapping[str, Any]) -> str | None:
    """Return the base of a metric without parameters, or the name of one that is only called something."""
    if set(stated) <= {"base", "factor"}:
        return str(stated["base"])
    return str(stated["called"]) if set(stated) == {"called"} else None


def clear_record(what: str | Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what an output shows as a record: a code of the phrase table, or a name that is quoted."""
    if not isinstance(what, str):
        return what
    return {"code": what} if what in CLEAR else {"called": what}


def randomness_phrase(stated: Any) -> str:
    """Return where random bits come from, in words."""
    return f"drawn by each respondent with {stated['lots']}" if isinstance(stated, Mapping) else str(stated)
