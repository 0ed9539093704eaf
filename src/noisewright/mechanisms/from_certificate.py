r"""The oracle behind a certificate: whoever has the file can read its reports, and list its channel where that is small.

The proof of an oracle is about less than the whole channel: two bits of unary encoding, four cases of a set, the buckets. All of
its integers are there, so the mechanism is built from them, and its own certificate must then be the one that was given.

>>> from noisewright.mechanisms.oracles.unary import unary_encoding
>>> page = unary_encoding(["home", "news", "help"], epsilon=1)
>>> certified_oracle(page.certificate()) == page
True
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from noisewright.core.errors import CertificateError, NoisewrightError

if TYPE_CHECKING:  # to prove a certificate takes none of them
    from noisewright.core.certificates.certificate import Certificate
    from noisewright.core.channels.channel import Channel
    from noisewright.core.guarantee import Guarantee
    from noisewright.core.metrics.metric import Metric
    from noisewright.mechanisms.categories.response import ResponseMechanism
    from noisewright.mechanisms.oracles.hadamard import HadamardMechanism
    from noisewright.mechanisms.oracles.local_hashing import LocalHashingMechanism
    from noisewright.mechanisms.oracles.oracle import Oracle
    from noisewright.mechanisms.oracles.subset import SubsetMechanism
    from noisewright.mechanisms.oracles.unary import UnaryMechanism

__all__ = ["certified_oracle", "channel_of", "claimed", "distances_in_words", "prove", "prove_release", "source_of"]


def certified_oracle(certificate: Certificate) -> Oracle | HadamardMechanism | None:
    """The oracle behind a certificate, which is proved first; None for a certificate of another mechanism.

    The oracle is read from the integers of the proof, and then its own certificate must say the same: the claim, which another
    metric would make another one, the proof, and how reports are read.
    """
    from noisewright.mechanisms.oracles.oracle import read_domain

    document = certificate.document
    build = _BUILDERS.get(str(document["mechanism"]))
    if build is None:
        return None
    certificate.verify()
    try:
        found = build(document["proof"], certificate.epsilon, read_domain(document["oracle"]["domain"]))
        own = found.certificate().document
    except NoisewrightError:
        raise
    except (KeyError, TypeError, ValueError, ArithmeticError):
        raise CertificateError("the certificate does not name its categories or its integers properly.") from None
    if any(_spelled(own[part]) != _spelled(document[part]) for part in ("claim", "proof", "oracle")):
        raise CertificateError("the certificate does not describe the mechanism that it proves.")
    return found  # type: ignore[no-any-return]


def _spelled(part: Any) -> str:
    """As JSON, in which 2, 2.0 and true are told apart."""
    return json.dumps(part, sort_keys=True)


def _unary(proof: Any, epsilon: Fraction, names: tuple[Hashable, ...]) -> UnaryMechanism:
    """The table of two bits has the probability of the truth's bit in its first two entries, and of the other in every second."""
    from noisewright.mechanisms.oracles.unary import UnaryMechanism

    width = proof["width"] // 2
    both, first, second, _ = (int(entry, 16) for entry in proof["table"][0])
    one, other = (both + first) >> width, (both + second) >> width
    variant = "optimised" if 2 * one == 1 << width else "symmetric"
    if not 0 < other < one < 1 << width or (variant == "symmetric" and one + other != 1 << width):
        raise ValueError("no probabilities of unary encoding")
    return UnaryMechanism(names, epsilon, variant, width, proof["precision"], one, other)


def _subset(proof: Any, epsilon: Fraction, names: tuple[Hashable, ...]) -> SubsetMechanism:
    from noisewright.mechanisms.oracles.subset import SubsetMechanism

    both, first, _, _ = proof["table"][0]
    inside, whole = (both + first) // (len(names) - 1), proof["total"] // (len(names) - 1)
    size = both // inside + 1
    if not 1 <= size < len(names) or inside * len(names) <= size * whole:
        raise ValueError("no sets that hold the truth more often than others")
    return SubsetMechanism(names, epsilon, size, whole.bit_length() - 1, inside)


def _hashing(proof: Any, epsilon: Fraction, names: tuple[Hashable, ...]) -> LocalHashingMechanism:
    from noisewright.mechanisms.oracles.local_hashing import MOST_BUCKETS, LocalHashingMechanism

    return LocalHashingMechanism(names, _response(proof, epsilon, MOST_BUCKETS))


def _hadamard(proof: Any, epsilon: Fraction, names: tuple[Hashable, ...]) -> HadamardMechanism:
    from noisewright.mechanisms.oracles.hadamard import HadamardMechanism

    if proof["size"] % 2:
        raise ValueError("no halves")
    return HadamardMechanism(names, _response(proof, epsilon, 4 * len(names)))


def _response(proof: Any, epsilon: Fraction, most: int) -> ResponseMechanism:
    from noisewright.mechanisms.categories.response import ResponseMechanism

    size, keep, other = proof["size"], int(proof["keep"], 16), int(proof["other"], 16)
    if size > most or keep <= other:
        raise ValueError("no response that an oracle uses")
    return ResponseMechanism(tuple(range(size)), epsilon, proof["width"], proof["precision"], keep, other)


_BUILDERS: dict[str, Callable[[Any, Fraction, tuple[Hashable, ...]], Any]] = {
    "unary-encoding": _unary,
    "local-hashing": _hashing,
    "subset-selection": _subset,
    "hadamard-response": _hadamard,
}


def prove(document: Any) -> tuple[str | None, str | None]:
    """The claim in words if the checker proves it, otherwise the reason why not."""
    from noisewright.core.certificates.checker import checker

    try:
        return checker.check(document), None
    except checker.NotProved as problem:
        return None, str(problem)
    except (ArithmeticError, MemoryError, RecursionError):
        return None, "it holds numbers that are too large to check."


def prove_release(document: Any) -> tuple[dict[str, Any] | None, str | None]:
    """What was found in the certificate of a release, and the reason why it, or some of it, is not proved."""
    from noisewright.core.certificates.checker import checker, checker_release

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
    from noisewright.core.channels.channel import Channel
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
    from noisewright.core.channels.channel import Channel
    from noisewright.core.errors import NoisewrightError, ParameterError
    from noisewright.core.labels import decode_label
    from noisewright.core.metrics.metric import Discrete
    from noisewright.mechanisms.categories.response import ResponseMechanism
    from noisewright.mechanisms.numbers.geometric import GeometricMechanism

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
    from noisewright.core.metrics.metric import Metric, named_metric

    try:
        return named_metric(name)
    except ParameterError:
        metric = Metric()
        metric.name = name
        return metric


def _number(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{float(value):.6g}"
