"""Claims for people: half a line, or the name of a distance, from the record of a claim. Exact terms are in ``phrases``.

>>> half = {"epsilon": "1/2", "delta": "0", "scope": "metric", "conditions": [], "metric": {"base": "line", "factor": "1/5"}}
>>> reading(half), reading(half, "year")
('epsilon 0.5 for each 5 of difference', 'epsilon 0.5 for each 5 years of difference')
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from noisewright.claims import phrases
from noisewright.claims.figures import figure, upward

__all__ = ["reading"]

Record = Mapping[str, Any]


def reading(record: Record, unit: str = "") -> str:
    """Return a claim in half a line: what its epsilon is for, and all conditions.

    Parameters
    ----------
    record : mapping
        The record of a claim.
    unit : str, default ""
        The unit of the values, such as ``"year"``, if the record does not say.
    """
    metric, secret, epsilon = record["metric"], record.get("secret"), Fraction(record["epsilon"])
    factor, base = phrases.factor(metric, secret), metric.get("base")
    size, unit = 1 / factor, phrases.unit(metric, secret) or unit
    many = figure(size, 4, "down") + (f" {unit}" + "s" * (size != 1) if unit else "")
    alone = record["scope"] == "adjacent"
    if base == "tables":
        words = f"between {phrases.base_name(metric)}"
    elif base == "discrete" and (not alone or factor <= 1):
        epsilon, words = epsilon if alone else epsilon * factor, phrases.each(metric, secret, many)
    elif alone:
        words = f"between two {_answers(metric, secret)} at most {many} apart"
    else:
        words = phrases.each(metric, secret, many if size != 1 or not unit else unit)
    delta = Fraction(record["delta"])
    text = f"epsilon {upward(epsilon, 4)} {words}" + (f", delta {upward(delta, 3)}" if delta else "")
    if "lattice" in metric:
        text += f", rounded to steps of {figure(Fraction(2) ** metric['lattice'])}"
    if "radius" in record and base != "tables":
        text += f", up to {figure(Fraction(record['radius']) * size, 4, 'down')} apart" * (not alone)
        text += ", and for no others" * alone
    return text + phrases.share(record) + "".join(phrases.conditions(record["conditions"]))


def _answers(metric: Record, secret: Record | None) -> str:
    """Return what two secrets are called that a person compares."""
    kind = phrases.kind_of(metric, secret)
    return "answers" if kind == "value" else phrases.noun(kind, secret)
