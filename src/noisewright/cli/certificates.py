"""Certificates on their way to a person: what is claimed, between which secrets, and the channel behind it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noisewright.core.certificate import Certificate
    from noisewright.core.channel import Channel
    from noisewright.core.guarantee import Guarantee
    from noisewright.core.metric import Metric

__all__ = ["channel_of", "claimed", "distances_in_words", "prove", "prove_release", "source_of"]


def prove(document: Any) -> tuple[str | None, str | None]:
    """The claim in words if the checker proves it, otherwise the reason why not."""
    from noisewright.core import checker

    try:
        return checker.check(document), None
    except checker.NotProved as problem:
        return None, str(problem)
    except (ArithmeticError, MemoryError, RecursionError):
        return None, "it holds numbers that are too large to check."


def prove_release(document: Any) -> tuple[dict[str, Any] | None, str | None]:
    """What was found in the certificate of a release, and the reason why it, or some of it, is not proved."""
    from noisewright.core import checker, checker_release

    try:
        found = checker_release.examine(document)
    except checker.NotProved as problem:
        return None, str(problem)
    except (
        LookupError,
        TypeError,
        ValueError,
        ArithmeticError,
        AttributeError,
        MemoryError,
        RecursionError,
    ) as problem:
        return None, f"the file is incomplete or malformed ({type(problem).__name__})."
    try:
        checker_release.verdict(found)
    except checker.NotProved as problem:
        return found, str(problem).partition("\n")[0]
    return found, None


def claimed(document: Mapping[str, Any]) -> Guarantee:
    """The claim of a proved certificate as a guarantee."""
    from noisewright.core.exact import float_up
    from noisewright.core.guarantee import Guarantee, Scope

    claim = document["claim"]
    epsilon, delta = (float_up(Fraction(claim[name])) for name in ("epsilon", "delta"))
    scope: Scope = "adjacent" if claim["distances"]["shape"] == "adjacent" else "metric"
    proof = document["proof"]
    broken = scope == "adjacent" and proof["kind"] == "ranged" and len(proof["inputs"]) > 1
    return Guarantee(epsilon, _metric(str(claim["metric"])), delta, scope, radius=1.0 if broken else None)


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
    if shape == "line":
        places = sorted(Fraction(place) for place in stated["places"])
        return f"along a line of {len(places)} places, from {_number(places[0])} to {_number(places[-1])}"
    if shape != "table":
        return f"of the shape {shape}"
    finite = [Fraction(d) for d in stated["distances"] if d != "inf"]
    span = f", from {_number(min(finite))} to {_number(max(finite))}" if finite else ""
    return f"a table of {len(stated['distances'])} distances{span}"


def channel_of(certificate: Certificate) -> tuple[Channel, Metric] | str:
    """The channel that a proved certificate is about and the metric of its claim, or why there is none."""
    from noisewright.core.channel import Channel
    from noisewright.core.errors import ParameterError

    found = source_of(certificate)
    if isinstance(found, str):
        return found
    try:
        return found[0] if isinstance(found[0], Channel) else found[0].channel(), found[1]
    except ParameterError as problem:
        return str(problem)


def source_of(certificate: Certificate) -> tuple[Any, Metric] | str:
    """What a proved certificate is about, in the exact numbers it has where it has them, as something with a channel."""
    from noisewright.core.channel import Channel
    from noisewright.core.errors import NoisewrightError, ParameterError
    from noisewright.core.labels import decode_label
    from noisewright.core.metric import Discrete
    from noisewright.mechanisms.certified import certified_oracle
    from noisewright.mechanisms.geometric import GeometricMechanism
    from noisewright.mechanisms.response import ResponseMechanism

    try:
        oracle = certified_oracle(certificate)  # its table is about two categories only, the channel about all
        if oracle is not None:
            return oracle.channel(), Discrete()
    except NoisewrightError as problem:
        return str(problem)
    proof = certificate.document["proof"]
    if proof["kind"] == "table":
        table = certificate.table()
        return table, table.metric
    metric = _metric(str(certificate.document["claim"]["metric"]))
    try:
        if proof["kind"] == "response":
            names = tuple(decode_label(x) for x in certificate.document["inputs"])
            parts = int(proof["width"]), int(proof["precision"]), int(proof["keep"], 16), int(proof["other"], 16)
            return ResponseMechanism(names, certificate.epsilon, *parts), metric
        if proof["kind"] == "chances":
            rows = [[count / proof["total"] for count in row] for row in proof["table"]]
            labels = [[decode_label(x) for x in certificate.document[side]] for side in ("inputs", "outputs")]
            return Channel(rows, *labels), metric
        if proof["kind"] == "law" and proof["law"] == "discrete laplace":
            if proof.get("clamp") is None:
                return "it is about noise without bounds, which has infinitely many outputs."
            stated = certificate.document["claim"]["distances"]
            if stated["shape"] != "steps" or metric.exact([0, 1]).between(0, 1) != Fraction(stated["distance"]):
                return "one step of its outputs is not one unit of a whole number, so they are not audited as such."
            low, high = (int(end) for end in proof["clamp"])
            rate = 1 / Fraction(proof["scale"])
            return GeometricMechanism(rate, Fraction(1), (low, high), "refuse"), metric
    except ParameterError as problem:
        return str(problem)
    except (KeyError, TypeError, ValueError, ArithmeticError):
        return "it does not name its secrets properly."
    return "a channel is not rebuilt from a proof of this kind."


def _metric(name: str) -> Metric:
    from noisewright.core.errors import ParameterError
    from noisewright.core.metric import Metric, named_metric

    try:
        return named_metric(name)
    except ParameterError:
        metric = Metric()
        metric.name = name
        return metric


def _number(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{float(value):.6g}"
