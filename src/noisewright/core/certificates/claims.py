r"""What a certificate claims: whether it is proved, the claim as a guarantee, and its distances in words.

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

from noisewright.core.certificates.checker import checker
from noisewright.core.exact import float_up
from noisewright.core.guarantee import Guarantee, Scope
from noisewright.core.metrics.metric import Metric, metric_or_none

__all__ = ["claimed", "distances_in_words", "metric_called", "prove"]


def prove(document: Any) -> tuple[str | None, str | None]:
    """The claim in words if the checker proves it, otherwise the reason why not."""
    try:
        return checker.check(dict(document) if isinstance(document, Mapping) else document), None
    except checker.NotProved as problem:
        return None, str(problem)
    except (ArithmeticError, MemoryError, RecursionError):
        return None, "it holds numbers that are too large to check."


def claimed(document: Mapping[str, Any]) -> Guarantee:
    """The claim of a proved certificate as a guarantee."""
    claim = checker.restated(document)["claim"]
    epsilon, delta = (float_up(Fraction(claim[name])) for name in ("epsilon", "delta"))
    scope: Scope = "adjacent" if claim["distances"]["shape"] == "adjacent" else "metric"
    inputs = document["proof"].get("inputs", ())  # several ranges of them: no chain of neighbours leads across a gap
    broken = scope == "adjacent" and len(inputs) > 1
    return Guarantee(epsilon, metric_called(str(claim["metric"])), delta, scope, radius=1.0 if broken else None)


def distances_in_words(document: Mapping[str, Any]) -> str:
    """The distances that the proof is about. They are part of the claim, and a metric's name alone does not give them."""
    stated = document["claim"]["distances"]
    shape = stated["shape"]
    if shape == "uniform":
        return f"{stated['distance']} between any two secrets"
    if shape == "steps":
        return f"{stated['distance']} for one step of the outputs"
    if shape == "adjacent":
        return f"neighbours, at most 1 apart; one step of the outputs is {stated['distance']}"
    if shape == "words":
        return "those of word vectors in its public file"
    if shape == "product":
        return "those of its parts, which are drawn independently"
    if shape == "line":
        places = sorted(Fraction(place) for place in stated["places"])
        return f"along a line of {len(places)} places, from {_number(places[0])} to {_number(places[-1])}"
    if shape != "table":
        return f"of the shape {shape}"
    finite = [Fraction(d) for d in stated["distances"] if d != "inf"]
    span = f", from {_number(min(finite))} to {_number(max(finite))}" if finite else ""
    return f"a table of {len(stated['distances'])} distances{span}"


def metric_called(name: str) -> Metric:
    """The metric of a name as the checker reads it; one that only bears the name where that alone does not give the distances."""
    factor, base = checker.unit_of(name)
    known = metric_or_none(base)
    if known is not None:
        return known if factor == 1 else factor * known
    metric = Metric()
    metric.name = checker.metric_in_words(name)
    return metric


def _number(value: Fraction) -> str:
    return str(value) if len(str(value)) <= 12 else f"about {float(value):.6g}"
