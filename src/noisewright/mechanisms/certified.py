r"""The oracle behind a certificate: whoever has the file can read its reports, and list its channel where that is small.

The proof of an oracle is about less than the whole channel: two bits of unary encoding, four cases of a set, the buckets. All of
its integers are there, so the mechanism is built from them, and its own certificate must then be the one that was given.

>>> from noisewright.mechanisms.unary import unary_encoding
>>> page = unary_encoding(["home", "news", "help"], epsilon=1)
>>> certified_oracle(page.certificate()) == page
True
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any

from noisewright.core.certificate import Certificate
from noisewright.core.errors import CertificateError, NoisewrightError
from noisewright.mechanisms.hadamard import HadamardMechanism
from noisewright.mechanisms.local_hashing import MOST_BUCKETS, LocalHashingMechanism
from noisewright.mechanisms.oracle import Oracle, read_domain
from noisewright.mechanisms.response import ResponseMechanism
from noisewright.mechanisms.subset import SubsetMechanism
from noisewright.mechanisms.unary import UnaryMechanism

__all__ = ["certified_oracle"]


def certified_oracle(certificate: Certificate) -> Oracle | HadamardMechanism | None:
    """The oracle behind a certificate, which is proved first; None for a certificate of another mechanism.

    The oracle is read from the integers of the proof, and then its own certificate must say the same: the claim, which another
    metric would make another one, the proof, and how reports are read.
    """
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
    width = proof["width"] // 2
    both, first, second, _ = (int(entry, 16) for entry in proof["table"][0])
    one, other = (both + first) >> width, (both + second) >> width
    variant = "optimised" if 2 * one == 1 << width else "symmetric"
    if not 0 < other < one < 1 << width or (variant == "symmetric" and one + other != 1 << width):
        raise ValueError("no probabilities of unary encoding")
    return UnaryMechanism(names, epsilon, variant, width, proof["precision"], one, other)


def _subset(proof: Any, epsilon: Fraction, names: tuple[Hashable, ...]) -> SubsetMechanism:
    both, first, _, _ = proof["table"][0]
    inside, whole = (both + first) // (len(names) - 1), proof["total"] // (len(names) - 1)
    size = both // inside + 1
    if not 1 <= size < len(names) or inside * len(names) <= size * whole:
        raise ValueError("no sets that hold the truth more often than others")
    return SubsetMechanism(names, epsilon, size, whole.bit_length() - 1, inside)


def _hashing(proof: Any, epsilon: Fraction, names: tuple[Hashable, ...]) -> LocalHashingMechanism:
    return LocalHashingMechanism(names, _response(proof, epsilon, MOST_BUCKETS))


def _hadamard(proof: Any, epsilon: Fraction, names: tuple[Hashable, ...]) -> HadamardMechanism:
    if proof["size"] % 2:
        raise ValueError("no halves")
    return HadamardMechanism(names, _response(proof, epsilon, 4 * len(names)))


def _response(proof: Any, epsilon: Fraction, most: int) -> ResponseMechanism:
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
