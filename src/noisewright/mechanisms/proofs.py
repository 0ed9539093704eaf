"""The kinds of proof, one line each: subject, construction of the mechanism from the certificate, audit.

The checker proves all of them and knows nothing of this table. Functions are addresses, loaded when they are called.

>>> PROOFS["response"].covers
'both of its probabilities'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noisewright.core.certificates.certificate import Certificate
    from noisewright.core.channels.audit import Audit
    from noisewright.core.guarantee import Guarantee
    from noisewright.core.mechanism import Mechanism

__all__ = ["PROOFS", "ProofKind"]


@dataclass(frozen=True)
class ProofKind:
    """A kind of proof."""

    name: str
    covers: str
    """Statement that is proved, in words."""
    rebuilder: str | None = None
    """The address of a function from a certificate to its mechanism, where the proof and the labels say all about it."""
    auditor: str | None = None
    """The address of a function from proof, distances and guarantee to the smallest epsilon."""

    def rebuild(self, certificate: Certificate) -> Mechanism | None:
        """The mechanism behind a proved certificate; None if the proof alone does not determine it."""
        return None if self.rebuilder is None else _at(self.rebuilder)(certificate)

    def audit(self, proof: Mapping[str, Any], distances: Mapping[str, Any], promise: Guarantee) -> Audit | None:
        """The smallest epsilon of the subject of such a proof; None if the proof alone does not determine it."""
        return None if self.auditor is None else _at(self.auditor)(proof, distances, promise)


def _at(address: str) -> Any:
    module, _, name = address.partition(":")
    return getattr(import_module(f"noisewright.mechanisms.{module}"), name)


PROOFS: Mapping[str, ProofKind] = {
    kind.name: kind
    for kind in (
        ProofKind("table", "every entry of its table", "from_certificate:table_mechanism"),
        ProofKind("response", "both of its probabilities", "from_certificate:response_mechanism"),
        ProofKind("chances", "every chance of its device", "from_certificate:chances_mechanism"),
        ProofKind("law", "the law of its noise", "from_certificate:law_mechanism", "auditing:law_audit"),
        ProofKind("planar", "the law of its noise in the plane"),
        ProofKind("ranged", "the law of its outputs within their range", auditor="auditing:ranged_audit"),
        ProofKind("half line", "the law of its outputs on a half line"),
        ProofKind("weights", "the bounds of its weights"),
        ProofKind("constant", "an output that never depends on the secret"),
        ProofKind("words", "the law of its choice of words"),
        ProofKind("product", "every one of its independent parts", "from_certificate:product_mechanism"),
    )
}
