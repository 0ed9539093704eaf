"""Tables that attacks are run on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["read_columns"]


def read_columns(path: str, columns: Sequence[str]) -> pa.Table:
    """Some columns of a file; its types are its own, or those that all its cells have."""
    import pyarrow as pa

    from noisewright.core.choices import nearest_name
    from noisewright.core.errors import DataError
    from noisewright.releases.sources.open import source_of

    source = source_of(path)
    names = list(dict.fromkeys(columns))
    for name in names:
        if name not in source.schema.names:
            near = nearest_name(name, source.schema.names)
            hint = "name one that is in its header." if near is None else f"did you mean {near}?"
            raise DataError(f"{Path(path).name} has no column {name!r}; {hint}")
    schema = pa.schema([source.schema.field(name) for name in names])
    return pa.Table.from_batches(source.batches(names), schema)
