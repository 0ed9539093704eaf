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
from noisewright.releases.sources.delimited import misfit
from noisewright.releases.sources.duck import check_names, quiet, readable
from noisewright.releases.sources.files import from_arrow
from noisewright.releases.sources.source import Source, SourceKind, stamps_of

__all__ = ["from_pandas", "from_polars", "in_memory"]


def in_memory(kind: SourceKind, name: str, table: pa.Table) -> Source:
    if kind == "arrow":  # anyone's buffers; the others were made by a library a moment ago
        with quiet(f"{name} is not valid: a column has a name, offsets, codes or text that its type does not allow"):
            readable(table.schema)
            table.validate(full=True)
    check_names(name, table.schema.names)
    return Source(kind, name, "memory", table.schema.remove_metadata(), table.num_rows, held=table)


def from_pandas(
    frame: Any, types: Mapping[str, pa.DataType], stated: Mapping[str, str], used: Collection[str] | None
) -> Source:
    """A frame in the types of the policy: pandas chooses its own by the values (a missing one makes integers floats).

    The others have the types of their dtypes. A column of objects has none, so it is text, or the policy must say what it is.
    """
    names = [str(name) for name in frame.columns]
    check_names("the pandas frame", names, used)
    columns: dict[str, Any] = {}
    for place, name in enumerate(names):
        if used is None or name in used:
            series = frame.iloc[:, place]
            try:
                columns[name] = _from_series(series, types.get(name), stated.get(name), guess=used is None)
            except (ValueError, TypeError, OverflowError, pa.ArrowException):
                if name in types:
                    raise misfit(name, types[name]) from None
                raise DataError(
                    f"the column {name!r} of the pandas frame holds values of more than one type, or objects that are no text; "
                    "give it a dtype of its own, or say what it holds in the types of the policy."
                ) from None
    table = pa.table(columns) if columns else pa.table({names[0]: pa.nulls(len(frame))})
    dtypes = {name: frame.dtypes.iloc[place] for place, name in enumerate(names) if name in columns}
    source = in_memory("pandas", "the pandas frame", table)
    return replace(source, guessed=frozenset(columns) - set(types), dtypes=dtypes)


def _from_series(series: Any, type_: pa.DataType | None, stated: str | None, guess: bool) -> Any:
    if type_ is None:
        objects = series.dtype == object and not guess
        return pa.array(series, pa.string() if objects else None, from_pandas=True)
    column = pa.array(series, from_pandas=True)
    if series.dtype == object and pa.types.is_timestamp(column.type):
        if column.type.tz is not None:
            raise ValueError
        column = column.cast(pa.timestamp("us"))
    return column if _told_apart(column.type, stated) else recast(column, type_)


def _told_apart(type_: pa.DataType, stated: str | None) -> bool:
    """Return whether the policy states a kind that the type alone does not determine, such as pictures in bytes: these stay
    as they are.
    """
    return stated is not None and kind_named(stated).holds(type_) and kind_of(type_) is not kind_named(stated)


def from_polars(frame: Any, used: Collection[str] | None) -> Source:
    if hasattr(frame, "collect"):
        import polars

        spool, oldest = Spool(), polars.CompatLevel.oldest()
        try:
            names = frame.collect_schema().names()
            check_names("the Polars frame", names, used)
            chosen = frame.select([name for name in names if used is None or name in used] or names[:1])
            chosen.sink_ipc(spool.path, maintain_order=True, compression="lz4", compat_level=oldest)
        except NoisewrightError:
            raise
        except Exception:  # the texts of Polars' own errors quote cells, and its classes need Polars
            raise DataError("the lazy Polars frame cannot be run to its end.") from None
        schema, rows, _ = from_arrow((spool.path,))
        stamps = stamps_of((spool.path,))
        return Source(
            "polars-lazy", "the Polars frame", "arrow", schema, rows, (spool.path,), held=spool, stamps=stamps
        )
    check_names("the Polars frame", frame.columns, used)
    chosen = frame.select([name for name in frame.columns if used is None or name in used])
    if chosen.columns:
        return in_memory("polars", "the Polars frame", chosen.to_arrow())
    return in_memory("polars", "the Polars frame", pa.table({frame.columns[0]: pa.nulls(len(frame))}))
