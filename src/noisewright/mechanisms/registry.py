"""The registry: the address of every mechanism. The command line, policies and reports read it; nothing else lists them.

An address is text such as ``"noisewright.mechanisms.numbers.laplace:ENTRY"``; the module is imported when its
mechanism is first asked for. Therefore a higher domain registers without an import from here, and a third party's
package does with an entry point in its ``pyproject.toml``::

    [project.entry-points."noisewright.mechanisms"]
    sign-bits = "signbits.mechanism:ENTRY"

>>> registry["geometric"].takes.kind
'integer'
>>> "geometric" in registry, "bogus" in registry
(True, False)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.choices import did_you_mean
from noisewright.core.errors import ParameterError
from noisewright.core.loading.addresses import Addresses
from noisewright.core.mechanism import Mechanism, Takes

__all__ = [
    "Entry",
    "Stated",
    "build",
    "entries",
    "foreign",
    "forget",
    "names",
    "register",
    "registry",
    "without_epsilon",
]


@dataclass(frozen=True)
class Stated:
    """A number about public files that a certificate states, and how to compute it again from them."""

    what: str
    """Description in words."""
    seconds: float
    """About how long that takes on this machine."""
    again: Callable[[], str]
    """Computes it and says in words that it agrees; refused with a ``CertificateError`` where it does not."""


@dataclass(frozen=True)
class Entry:
    """A mechanism in the registry."""

    name: str
    """Name at the command line and in policies."""
    make: Callable[..., Mechanism]
    """Its constructor."""
    takes: Takes
    """Inputs and outputs."""
    summary: str
    """Purpose, in half a line."""
    words: str
    """Secrets, in words."""
    rebuild: Callable[[Certificate], Mechanism] | None = None
    """The mechanism behind a certificate of this name, which was proved; None: built by its kind of proof. See
    :func:`~noisewright.mechanisms.from_certificate.mechanism_of`."""
    stated: Callable[[Certificate], Stated | None] | None = None
    """Function that describes the public files of a proved certificate of this name; None if it has none."""


_PLACES = {
    "numbers": {
        "geometric": "geometric",
        "laplace": "laplace",
        "snapped-laplace": "snapped",
        "staircase": "staircase",
        "gaussian": "gaussian",
        "approximate-laplace": "approximate",
        "truncated-laplace": "truncated",
    },
    "categories": {
        "randomised-response": "response",
        "exponential": "exponential",
        "selection": "selection",
        "metric-realising": "realising",
        "explicit-fair": "fair",
        "uniform": "uniform",
    },
    "oracles": {
        "unary-encoding": "unary",
        "local-hashing": "local_hashing",
        "subset-selection": "subset",
        "hadamard-response": "hadamard",
    },
    "places": {
        "planar-laplace": "planar",
        "planar-geometric": "planar_geometric",
        "geo-laplace": "geography",
        "spherical-laplace": "vectors:SPHERICAL",
        "product-laplace": "vectors:PRODUCT",
        "curve": "curves",
    },
}

_ABOVE = {
    "exact-words": "text.words.choice:ENTRY",
    "truncated-exponential-words": "text.words.choice:TRUNCATED_ENTRY",
    "laplace-words": "text.words.noisy:LAPLACE_ENTRY",
    "mahalanobis-words": "text.words.noisy:MAHALANOBIS_ENTRY",
    "vickrey-words": "text.words.noisy:VICKREY_ENTRY",
    "private-documents": "text.noisy_documents:ENTRY",
    "lshrr": "matching.responses.hashed_vectors:ENTRY",
    "hashed-sets": "matching.responses.set_answers:ENTRY",
    "laplace-hash": "matching.responses.noisy_vectors:ENTRY",
    "pixel-laplace": "images.pixels.laplace:ENTRY",
    "pixel-exponential": "images.pixels.exponential:ENTRY",
    "pixel-windows": "images.pixels.windows:ENTRY",
    "faces": "images.hidden_faces:ENTRY",
}
"""Domains that build on this package."""

ADDRESSES = Addresses(
    "noisewright.mechanisms",
    "mechanism",
    {
        name: f"noisewright.mechanisms.{folder}.{place if ':' in place else place + ':ENTRY'}"
        for folder, places in _PLACES.items()
        for name, place in places.items()
    }
    | {name: f"noisewright.{place}" for name, place in _ABOVE.items()},
)


_WITHOUT_EPSILON = Addresses(
    "noisewright.mechanisms.context", "mechanism", {"learned": "noisewright.learned.in_policies:ENTRY"}
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
