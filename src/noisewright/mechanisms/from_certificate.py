r"""The mechanism behind a certificate: anyone who has the file can draw, audit, compare and estimate with it.

A certificate is proved first. Then the mechanism is built from its integers: by the registry's entry of its name where
that states how, otherwise by its kind of proof (:mod:`~noisewright.mechanisms.proofs`). Its own certificate must then
be the one that was given, in everything but who made it and where its random bits come from. Therefore no one can put
another mechanism behind a proof.

>>> from noisewright.mechanisms.oracles.unary import unary_encoding
>>> page = unary_encoding(["home", "news", "help"], epsilon=1)
>>> mechanism_of(page.certificate()) == page
True

Processing of outputs afterwards (a remapping of places) is post-processing, and not part of a certificate. Some
certificates do not name the inputs of a draw: the candidates of a choice, the places of a planar geometric, the
outputs of a uniform responder, the grid of a curve. They are refused in one sentence.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.certificates.checker import checker
from noisewright.core.certificates.claims import metric_called
from noisewright.core.certificates.product import parts_of
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import CertificateError, NoChannelError, NoisewrightError
from noisewright.core.labels import decode_label
from noisewright.core.mechanism import Mechanism
from noisewright.core.metrics.metric import Metric
from noisewright.mechanisms.categories.answered import AnsweredMechanism
from noisewright.mechanisms.categories.chances import ChancesMechanism
from noisewright.mechanisms.categories.finite import FiniteMechanism
from noisewright.mechanisms.categories.response import response_of
from noisewright.mechanisms.laws.feasible import Feasible
from noisewright.mechanisms.numbers.snapped import SnappedMechanism
from noisewright.mechanisms.products import ProductMechanism
from noisewright.mechanisms.proofs import PROOFS
from noisewright.mechanisms.registry import registry

__all__ = [
    "chances_mechanism",
    "channel_of",
    "law_mechanism",
    "mechanism_of",
    "oracle_of",
    "product_mechanism",
    "response_mechanism",
    "source_of",
    "table_mechanism",
]

UNTRAINED = "not-a-training-record"
"""The condition of a claim about noise behind a learned privatiser."""
APART = {"made_by", "randomness", "digest"}
"""Fields that may differ between a certificate and its mechanism's certificate: the program that made it, and where
random bits come from."""


def mechanism_of(certificate: Certificate) -> Mechanism:
    """The mechanism behind a certificate, which is proved first; a :class:`CertificateError` states why none can be
    built.

    A floating certificate proves nothing about its draws, and is only held to be unchanged; see ``numerics``.
    """
    if certificate.numerics != "floating":
        certificate.verify()
    elif certificate.document["digest"] != checker.digest(dict(certificate.document)):
        raise CertificateError("the certificate was changed or cut after it was written: its digest does not match.")
    name = str(certificate.document["mechanism"])
    if any(one.get("code") == UNTRAINED for one in certificate.document["claim"].get("conditions", ())):
        raise CertificateError(
            "the certificate is of noise behind a learned privatiser, and the privatiser is not in the file; use "
            "GAPPrivatiser.load(...).with_epsilon(...) in Python."
        )
    try:
        found = _rebuilt(name, certificate)
        own = None if found is None else _snapped(found, certificate)
    except CertificateError:
        raise
    except NoisewrightError as problem:
        raise CertificateError(f"no mechanism is built from this certificate of {name}: {problem}") from None
    except (KeyError, IndexError, TypeError, ValueError, ArithmeticError, AttributeError):
        raise CertificateError("the certificate does not name its categories or its integers properly.") from None
    if own is None:
        raise CertificateError(
            f"the certificate proves its promise, but does not say all that {name} draws from; build the mechanism again "
            "from its parameters."
        )
    if not _alike(own.certificate(np.random.default_rng(0) if certificate.simulated else None), certificate):
        raise CertificateError("the certificate does not describe the mechanism that it proves.")
    return own


def oracle_of(certificate: Certificate) -> Any:
    """The frequency oracle behind a certificate, which is proved first; None for a certificate of another mechanism."""
    name = str(certificate.document["mechanism"])
    return mechanism_of(certificate) if name in registry and registry[name].takes.purpose == "report" else None


def channel_of(certificate: Certificate) -> tuple[Channel, Metric] | str:
    """Return the channel that a proved certificate is about and the metric of its claim, or why it has no channel."""
    found = source_of(certificate)
    if isinstance(found, str):
        return found
    try:
        return found[0] if isinstance(found[0], Channel) else found[0].channel(), found[1]
    except NoChannelError as problem:
        return str(problem)


def source_of(certificate: Certificate) -> tuple[Any, Metric] | str:
    """Return the subject of a proved certificate, in the exact numbers it has where it has them, as something with a
    channel."""
    try:
        found = mechanism_of(certificate)
    except NoisewrightError as problem:
        return str(problem)
    if isinstance(found, FiniteMechanism):
        return found.certified, found.certified.metric
    return found, metric_called(certificate.document["claim"]["metric"])


# The kinds of proof -------------------------------------------------------------------------------------------------------


def table_mechanism(certificate: Certificate) -> Mechanism:
    """An integer table, drawn from as it is."""
    return FiniteMechanism(certificate.table(), str(certificate.document["mechanism"]))


def response_mechanism(certificate: Certificate) -> Mechanism | None:
    """Randomised response; or one whose outputs are answered, or that has a delta."""
    stated = certificate.document
    if "answers" in stated or Fraction(str(stated["claim"]["delta"])):
        return AnsweredMechanism.of(certificate)
    names: tuple[Hashable, ...] = tuple(decode_label(label) for label in stated["inputs"])
    return response_of(stated["proof"], certificate.epsilon, names)


def chances_mechanism(certificate: Certificate) -> Mechanism:
    """A table of chances, drawn by a computer."""
    return ChancesMechanism.of(certificate)


def law_mechanism(certificate: Certificate) -> Mechanism | None:
    """Return a mechanism for a law and its answers; a law alone does not state its input."""
    return AnsweredMechanism.of(certificate) if "answers" in certificate.document else None


def product_mechanism(certificate: Certificate) -> Mechanism:
    """The mechanisms of all parts, side by side."""
    parts = tuple((mechanism_of(part.certificate), part.count) for part in parts_of(certificate))
    base = checker.unit_of(certificate.document["claim"]["metric"])[1].get("base")
    return ProductMechanism(parts, base, str(certificate.document["mechanism"]))  # type: ignore[arg-type]


# Helpers ------------------------------------------------------------------------------------------------------------------


def _rebuilt(name: str, certificate: Certificate) -> Mechanism | None:
    rebuild = registry[name].rebuild if name in registry else None
    if rebuild is not None:
        return rebuild(certificate)
    kind = PROOFS.get(str(certificate.document["proof"]["kind"]))
    return None if kind is None else kind.rebuild(certificate)


def _snapped(found: Mechanism, certificate: Certificate) -> Mechanism:
    """Return it with outputs moved, where the certificate states that and the mechanism does not do it itself."""
    ends = certificate.document.get("snapped_to")
    if ends is None or "snapped_to" in found.certificate().document:
        return found
    return SnappedMechanism(found, Feasible.from_json(ends))


def _alike(own: Certificate, given: Certificate) -> bool:
    """Return whether two certificates say the same, in JSON, in which 2, 2.0 and true are distinguished."""
    first, second = (
        json.dumps({key: value for key, value in one.document.items() if key not in APART}, sort_keys=True)
        for one in (own, given)
    )
    return first == second
