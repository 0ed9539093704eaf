"""Sources from tables and frames in memory: Arrow, pandas and Polars."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from noisewright.core.errors import DataError, NoisewrightError
from noisewright.files.scratch import Spool
from noisewright.releases.kinds.casts import recast
from noisewright.releases.kinds.registry import kind_named, kind_of
from noisewright.releases.sources._copies import used_part
from noisewright.releases.sources.delimited import misfit
from noisewright.releases.sources.duck import check_names, quiet
from noisewright.releases.sources.files import from_arrow
from noisewright.releases.sources.source import Source, SourceKind, stamps_of

__all__ = ["from_pandas", "from_polars", "in_memory"]


def in_memory(kind: SourceKind, name: str, table: pa.Table) -> Source:
    check_names(name, table.schema.names)
    if kind == "arrow":  # anybody's buffers; the others were made by a library a moment ago
        with quiet(f"{name} is not valid: a column has offsets, codes or text that its type does not allow"):
            table.validate(full=True)
    return Source(kind, name, "memory", table.schema.remove_metadata(), table.num_rows, held=table)


def from_pandas(frame: Any, types: Mapping[str, pa.DataType], stated: Mapping[str, str]) -> Source:
    """A frame in the types of the policy: pandas chooses its own by the values (a missing one makes whole numbers floats)."""
    names = [str(name) for name in frame.columns]
    check_names("the pandas frame", names)
    columns = []
    for place, name in enumerate(names):
        series = frame.iloc[:, place]
        try:
            column = pa.array(series, from_pandas=True)
            if name in types:
                if series.dtype == object and getattr(column.type, "tz", None) is not None:
                    raise ValueError
                if not _told_apart(column.type, stated.get(name)):
                    column = recast(column, types[name])
        except (ValueError, TypeError, OverflowError, pa.ArrowException):
            if name in types:
                raise misfit(name, types[name]) from None
            raise DataError(
                f"the column {name!r} of the pandas frame holds values of more than one type; give every column one type."
            ) from None
        columns.append(column)
    found = in_memory("pandas", "the pandas frame", pa.table(columns, names=names))
    return replace(found, guessed=frozenset(names) - set(types))


def _told_apart(type_: pa.DataType, stated: str | None) -> bool:
    """Whether the policy states a kind that the type alone does not tell, such as pictures in bytes: these stay as they are."""
    return stated is not None and kind_named(stated).holds(type_) and kind_of(type_) is not kind_named(stated)


def from_polars(frame: Any, used: Collection[str] | None) -> Source:
    if hasattr(frame, "collect"):
        import polars

        spool, oldest = Spool(), polars.CompatLevel.oldest()
        try:
            whole = frame.head(0).collect().to_arrow(compat_level=oldest).schema
            check_names("the Polars frame", whole.names)
            kept, left_out = used_part(whole, used)
            chosen = frame.select(kept.names)
            chosen.sink_ipc(spool.path, maintain_order=True, compression="lz4", compat_level=oldest)
        except NoisewrightError:
            raise
        except Exception:  # the texts of Polars' own errors quote cells, and its classes need Polars
            raise DataError("the lazy Polars frame cannot be run to its end.") from None
        schema, rows, _ = from_arrow((spool.path,))
        stamps = stamps_of((spool.path,))
        found = Source(
            "polars-lazy", "the Polars frame", "arrow", schema, rows, (spool.path,), held=spool, stamps=stamps
        )
        return replace(found, left_out=left_out)
    return in_memory("polars", "the Polars frame", frame.to_arrow())
