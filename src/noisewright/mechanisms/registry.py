"""The registry: the address of every mechanism. The command line, policies and reports read it; nothing else lists them.

An address is text such as ``"noisewright.mechanisms.numeric.laplace:LAPLACE"``; the module is imported when its
mechanism is first asked for. Therefore a higher domain registers without an import from here, and a third party's
package does with an entry point in its ``pyproject.toml``::

    [project.entry-points."noisewright.mechanisms"]
    sign-bits = "signbits.mechanism:ENTRY"

>>> registry["geometric"].takes.kind
'integer'
>>> "geometric" in registry, "bogus" in registry
(True, False)

The checker proves all of them and knows nothing of this table. Functions are addresses, loaded when they are called.

>>> PROOFS["response"].covers
'both of its probabilities'
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from noisewright._utils.lazy import Addresses
from noisewright._utils.validation import did_you_mean
from noisewright.base import Entry, Mechanism
from noisewright.certificates.certificate import Certificate
from noisewright.exceptions import ParameterError

if TYPE_CHECKING:
    from noisewright.channels.audit import Audit
    from noisewright.guarantees import Guarantee

__all__ = [
    "PROOFS",
    "ProofKind",
    "build",
    "entries",
    "foreign",
    "forget",
    "names",
    "register",
    "registry",
    "without_epsilon",
]


ADDRESSES = Addresses(
    "noisewright.mechanisms",
    "mechanism",
    {
        "geometric": "noisewright.mechanisms.numeric.geometric:ENTRY",
        "laplace": "noisewright.mechanisms.numeric.laplace:LAPLACE",
        "snapped-laplace": "noisewright.mechanisms.numeric.staircase:SNAPPED_LAPLACE",
        "staircase": "noisewright.mechanisms.numeric.staircase:STAIRCASE",
        "gaussian": "noisewright.mechanisms.numeric.gaussian:ENTRY",
        "approximate-laplace": "noisewright.mechanisms.numeric.laplace:APPROXIMATE_LAPLACE",
        "truncated-laplace": "noisewright.mechanisms.numeric.truncated_laplace:ENTRY",
        "randomised-response": "noisewright.mechanisms.categorical.randomised_response:ENTRY",
        "exponential": "noisewright.mechanisms.categorical.exponential:EXPONENTIAL",
        "selection": "noisewright.mechanisms.categorical.selection:ENTRY",
        "metric-realising": "noisewright.mechanisms.categorical.exponential:METRIC_REALISING",
        "explicit-fair": "noisewright.mechanisms.categorical.exponential:EXPLICIT_FAIR",
        "uniform": "noisewright.mechanisms.categorical.exponential:UNIFORM",
        "unary-encoding": "noisewright.mechanisms.categorical.frequency_oracle:ENTRY",
        "local-hashing": "noisewright.mechanisms.categorical.local_hashing:ENTRY",
        "subset-selection": "noisewright.mechanisms.categorical.subset_selection:SUBSET_SELECTION",
        "hadamard-response": "noisewright.mechanisms.categorical.subset_selection:HADAMARD_RESPONSE",
        "planar-laplace": "noisewright.mechanisms.spatial.planar_laplace:ENTRY",
        "planar-geometric": "noisewright.mechanisms.spatial.planar_geometric:ENTRY",
        "geo-laplace": "noisewright.mechanisms.spatial.geographic:ENTRY",
        "spherical-laplace": "noisewright.mechanisms.spatial.vectors:SPHERICAL",
        "product-laplace": "noisewright.mechanisms.spatial.vectors:PRODUCT",
        "curve": "noisewright.mechanisms.spatial.curves:ENTRY",
        "exact-words": "noisewright.text.exponential_words:ENTRY",
        "truncated-exponential-words": "noisewright.text.exponential_words:TRUNCATED_ENTRY",
        "laplace-words": "noisewright.text.noisy_words:LAPLACE_ENTRY",
        "mahalanobis-words": "noisewright.text.noisy_words:MAHALANOBIS_ENTRY",
        "vickrey-words": "noisewright.text.noisy_words:VICKREY_ENTRY",
        "private-documents": "noisewright.text.document_mechanism:ENTRY",
        "lshrr": "noisewright.matching.mechanisms:LSHRR",
        "hashed-sets": "noisewright.matching.mechanisms:HASHED_SETS",
        "laplace-hash": "noisewright.matching.mechanisms:LAPLACE_HASH",
        "pixel-laplace": "noisewright.images.pixel_noise:PIXEL_LAPLACE",
        "pixel-exponential": "noisewright.images.pixel_noise:PIXEL_EXPONENTIAL",
        "pixel-windows": "noisewright.images.windows:ENTRY",
        "faces": "noisewright.images.faces.mechanism:ENTRY",
    },
)


_WITHOUT_EPSILON = Addresses(
    "noisewright.mechanisms.context", "mechanism", {"learned": "noisewright.learning.policy_mechanism:ENTRY"}
)
"""Entries that change columns without an epsilon: policies accept them by name, and no list of mechanisms has them."""


class _Registry(Mapping[str, Entry]):
    """All mechanisms by name; each is loaded on first use."""

    def __getitem__(self, name: str) -> Entry:
        found = _WITHOUT_EPSILON.load(name) if name in _WITHOUT_EPSILON else ADDRESSES.load(name)
        if not isinstance(found, Entry) or found.name != name:
            raise ParameterError(
                f"{ADDRESSES.provider(name)} offers a mechanism {name!r} that is no Entry of that name."
            )
        return found

    def __contains__(self, name: object) -> bool:
        return name in ADDRESSES or name in _WITHOUT_EPSILON

    def __iter__(self) -> Iterator[str]:
        return iter(ADDRESSES)

    def __len__(self) -> int:
        return len(ADDRESSES)


registry: Mapping[str, Entry] = _Registry()


def register(entry: Entry) -> None:
    """Add a mechanism for the rest of this process; a name can be taken once."""
    ADDRESSES.add(entry.name, entry)


def forget(name: str) -> None:
    """Take back what :func:`register` added."""
    ADDRESSES.remove(name)


def foreign(names: Iterable[str]) -> dict[str, str]:
    """Return the mechanisms that other packages or this program provide, with provider and version."""
    return ADDRESSES.foreign(names)


def build(name: str, *args: Any, **parameters: Any) -> Mechanism:
    """A mechanism by its registered name."""
    if name not in registry:
        raise ParameterError(f"there is no mechanism called {name!r}; {did_you_mean(name, names())}")
    return registry[name].make(*args, **parameters)


def entries() -> list[Entry]:
    """All entries in alphabetical order; one that cannot be loaded is skipped, and reported if requested by name."""
    found = []
    for name in names():
        with suppress(ParameterError):
            found.append(registry[name])
    return found


def without_epsilon() -> list[str]:
    """Return the entries without an epsilon that policies accept by name."""
    return sorted(_WITHOUT_EPSILON)


def names() -> list[str]:
    """All registered names, in alphabetical order."""
    return sorted(registry)


# Proofs -------------------------------------------------------------------------------------------------------------------
#
# The kinds of proof, one line each: subject, construction of the mechanism from the certificate, audit.


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
    return getattr(import_module(module), name)


PROOFS: Mapping[str, ProofKind] = {
    kind.name: kind
    for kind in (
        ProofKind("table", "every entry of its table", "noisewright.mechanisms.from_certificate:table_mechanism"),
        ProofKind(
            "response", "both of its probabilities", "noisewright.mechanisms.from_certificate:response_mechanism"
        ),
        ProofKind("chances", "every chance of its device", "noisewright.mechanisms.from_certificate:chances_mechanism"),
        ProofKind(
            "law",
            "the law of its noise",
            "noisewright.mechanisms.from_certificate:law_mechanism",
            "noisewright.mechanisms.audit:law_audit",
        ),
        ProofKind("planar", "the law of its noise in the plane"),
        ProofKind(
            "ranged", "the law of its outputs within their range", auditor="noisewright.mechanisms.audit:ranged_audit"
        ),
        ProofKind("half line", "the law of its outputs on a half line"),
        ProofKind("weights", "the bounds of its weights"),
        ProofKind("constant", "an output that never depends on the secret"),
        ProofKind("words", "the law of its choice of words"),
        ProofKind(
            "product", "every one of its independent parts", "noisewright.mechanisms.from_certificate:product_mechanism"
        ),
    )
}
