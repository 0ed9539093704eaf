"""Records of what columns protect: the values between which a claim holds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.certificates.checker import checker, checker_release
from noisewright.core.metrics.metric import Metric
from noisewright.releases.columns.fitting import distance_of
from noisewright.releases.columns.secret import Secret
from noisewright.releases.kinds.spans import Span, largest_unit
from noisewright.releases.policy.policy import ColumnPolicy

__all__ = ["distance_said", "protection_of"]


def distance_said(certificate: Certificate, distance: Fraction, anything: bool) -> str:
    """Return the protected distance as a part says it: in the plainest words that cost no more than the number."""
    number = str(distance)
    words = ["any"] if anything else ["radius"] if "radius" in certificate.document["claim"] else []
    for word in words:
        try:
            costs = [checker_release.loss_of(certificate.document, said)[0] for said in (word, number)]
        except (checker.NotProved, LookupError):
            continue
        if costs[0] <= costs[1]:
            return word
    return number


def protection_of(column: ColumnPolicy, metric: Metric, secret: Secret, said: str, outside: str) -> dict[str, Any]:
    """Return which values of a column are protected: any two, or those at most a distance apart, in a unit of its type.

    ``said``: the distance as its certificate's part says it; ``outside``: what is done to values outside of the range.
    """
    more: dict[str, Any] = {"missing": "shown"} if column.missing == "keep" else {}
    if column.other is not None:
        more["other"] = column.other
    if column.protect == "any":
        stated = {} if said == "any" and outside != "keep" else {"range": "stated"}
        return {"kind": "any", **stated, **more}
    unit = metric.unit or secret.unit
    size = distance_of(column.protect, secret)
    if isinstance(column.protect, Span):  # in the largest unit of which it is an integer
        size, unit = largest_unit(column.protect.seconds)
    found = {"kind": "near", "type": _type_of(unit, secret), "distance": str(size), **({"unit": unit} if unit else {})}
    named = not unit and (secret.numbers > 1 or metric.record().get("base") == "words")
    return {**found, **({"metric": _unrounded(metric)} if named else {}), **more}


def _type_of(unit: str, secret: Secret) -> str:
    """The type that gives distances their unit, as the checker names it."""
    own = {"day": "date", "second": "time"}.get(secret.unit)
    return own or UNIT_TYPES.get(unit, "number")


UNIT_TYPES = {
    "metre": "place",
    "pixel": "picture",
    "step": "picture",
    "code unit": "face",
    "differing bit": "hash",
    "differing answer": "hash",
}


def _unrounded(metric: Metric) -> dict[str, Any]:
    """Return the record of a metric without its factor and its lattice: the unit of distances between values themselves."""
    return {name: value for name, value in metric.record().items() if name not in ("factor", "lattice")}
