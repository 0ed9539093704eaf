r"""Claims of certificates: whether one is proved, the claim as a guarantee, and its distances in words.

>>> from noisewright.core.channels.channel import Channel
>>> from noisewright.core.certificates.certificate import Certificate
>>> document = Certificate.of(Channel([[0.75, 0.25], [0.5, 0.5]]).certify(1)).document
>>> prove(document)
('epsilon = 1 per unit of discrete', None)
>>> distances_in_words(document)
'1 between any two secrets'
>>> print(claimed(document))
epsilon = 1 per unit of discrete
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from noisewright.claims import phrases
from noisewright.claims.phrases import metric_name
from noisewright.claims.record import Condition
from noisewright.core.certificates.checker import checker
from noisewright.core.certificates.records import metric_of
from noisewright.core.guarantee import Guarantee, Scope
from noisewright.core.metrics.metric import Metric

__all__ = ["Claim", "claimed", "distances_in_words", "guarantee_of", "metric_called", "prove"]


class Claim(str):
    """A proved claim in exact terms, with the record that was proved.

    Parameters
    ----------
    record : mapping
        What the checker proved: codes, exact numbers and quoted names.
    """

    record: Mapping[str, Any]

    def __new__(cls, record: Mapping[str, Any]) -> Claim:
        found = super().__new__(cls, checker.said(record))
        found.record = record
        return found

    def __getnewargs__(self) -> tuple[Mapping[str, Any]]:  # type: ignore[override]
        return (self.record,)


def prove(document: Any) -> tuple[Claim | None, str | None]:
    """The claim if the checker proves it, otherwise the reason why not."""
    try:
        return Claim(checker.prove_record(dict(document) if isinstance(document, Mapping) else document)), None
    except checker.NotProved as problem:
        return None, str(problem)
    except (ArithmeticError, MemoryError, RecursionError):
        return None, "it holds numbers that are too large to check."


def claimed(document: Mapping[str, Any]) -> Guarantee:
    """The claim of a proved certificate as a guarantee."""
    document = checker.current(dict(document))
    inputs = document["proof"].get("inputs", ())  # several ranges of them: no chain of neighbours leads across a gap
    return guarantee_of(checker.claim_of(document), broken=len(inputs) > 1)


def guarantee_of(record: Mapping[str, Any], broken: bool = False) -> Guarantee:
    """Return the claim of a record as a guarantee; ``broken``: chains of neighbours do not lead to all secrets."""
    epsilon, delta = (Fraction(record[name]) for name in ("epsilon", "delta"))
    scope: Scope = record["scope"]
    radius = 1.0 if broken and scope == "adjacent" else None
    conditions = tuple(Condition(one["code"]) for one in record["conditions"] if one["code"] in checker.CONDITIONS)
    metric = metric_called(record["metric"], record.get("secret"))
    return Guarantee.exactly(epsilon, metric, delta, scope=scope, radius=radius, conditions=conditions)


def distances_in_words(document: Mapping[str, Any]) -> str:
    """The distances that the proof is about. They are part of the claim, and a metric's name alone does not give them."""
    return phrases.distances(checker.current(dict(document))["claim"]["distances"])


class StatedMetric(Metric):
    """A metric of which a certificate has the record, and which the record alone does not rebuild."""

    def __init__(self, stated: Mapping[str, Any], secret: Mapping[str, Any] | None) -> None:
        self.stated, self.name, self._secret = dict(stated), metric_name(stated), secret

    def record(self) -> dict[str, Any]:
        return self.stated

    @property
    def secret(self) -> Mapping[str, Any] | None:
        return self._secret


def metric_called(stated: Mapping[str, Any], secret: Mapping[str, Any] | None = None) -> Metric:
    """Return the metric of a record; one that only has the record where that alone does not give the distances."""
    known = metric_of(stated) if "base" in stated and secret is None else None
    return StatedMetric(stated, secret) if known is None else known
