"""The table of kinds: names of column types in a policy, and which kind an Arrow type is of.

A package offers a kind by an entry point in its ``pyproject.toml``::

    [project.entry-points."noisewright.kinds"]
    colour = "colours.kind:COLOUR"

>>> kind_of(pa.int8()).name, kind_of(pa.dictionary(pa.int8(), pa.string())).name, kind_of(pa.time32("s"))
('integer', 'text', None)
>>> kind_named("vector").words
'vectors'
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa

from noisewright.core.errors import ParameterError
from noisewright.core.loading.addresses import Addresses
from noisewright.releases.kinds.kind import Kind, not_a_date
from noisewright.releases.kinds.rows import Mask

__all__ = [
    "KINDS",
    "describe",
    "every_kind",
    "kind_named",
    "kind_names",
    "kind_of",
    "place_in",
    "present",
]

_PLACES = {
    "integer": "numbers:INTEGER",
    "number": "numbers:NUMBER",
    "date": "dates:DATE",
    "time": "dates:TIME",
    "text": "texts:TEXT",
    "boolean": "booleans:BOOLEAN",
    "vector": "vectors:VECTOR",
    "bytes": "binary:BYTES",
    "image": "binary:IMAGE",
    "document": "texts:DOCUMENT",
}

KINDS = Addresses(
    "noisewright.kinds",
    "kind",
    {name: f"noisewright.releases.kinds.{place}" for name, place in _PLACES.items()},
)


def kind_named(name: str) -> Kind:
    """The kind that a policy calls by this name."""
    if name not in KINDS:
        raise ParameterError(f"there is no kind of column called {name!r}; choose one of {', '.join(kind_names())}.")
    found = KINDS.load(name)
    if not isinstance(found, Kind) or found.name != name:
        raise ParameterError(f"{KINDS.provider(name)} offers a kind {name!r} that is no Kind of that name.")
    return found


def kind_names() -> tuple[str, ...]:
    """All names, Noisewright's own first."""
    return tuple(KINDS)


def kind_of(type_: pa.DataType) -> Kind | None:
    """The first kind that holds an Arrow type, Noisewright's own first; None for a type that no mechanism takes.

    Where several kinds hold a type (text and documents, bytes and pictures) the plainer one comes first, and a policy or a
    mechanism says where it is another.
    """
    return next((kind for kind in every_kind() if kind.holds(type_)), None)


def every_kind() -> Iterator[Kind]:
    """All kinds, Noisewright's own first; other packages are only looked for after those, and one that is broken is
    passed over.

    Anyone who asks for that one by its name gets its error.
    """
    yield from map(kind_named, _PLACES)
    for name in KINDS:
        if name not in _PLACES:
            with suppress(ParameterError):
                yield kind_named(name)


def present(kinds: Sequence[Kind], arrays: Sequence[pa.Array]) -> Mask | None:
    """Return a mask of the rows without missing values in any column; None where that is everywhere."""
    found: Mask | None = None
    for kind, array in zip(kinds, arrays, strict=True):
        mask = kind.present(array)
        if mask is not None:
            found = mask if found is None else found & mask
    return found


def place_in(value: Any, type_: pa.DataType, name: str, side: int = 0) -> Any:
    """A value of a policy on the axis of a column of this type: :meth:`Kind.place`, also for a type of no kind."""
    kind = kind_of(type_)
    return not_a_date(value, name, describe(type_)) if kind is None else kind.place(value, type_, name, side)


def describe(type_: pa.DataType, kind: Kind | None = None) -> str:
    """Describe a column of this type, for a message."""
    found = kind or kind_of(type_)
    if found is not None:
        return found.in_words(type_)
    return f"decimals with {type_.scale} places" if pa.types.is_decimal(type_) else f"of type {type_}"
