"""Where the rows come from, and how they go back: files, tables and frames behind one :class:`Source`.

=================================  =====================================================================================
a path of a file or a folder       ``.parquet``, ``.csv``, ``.tsv`` (also ``.gz``, ``.zst``), ``.arrow``/``.feather``,
                                   ``.jsonl``, ``.xlsx``; the files of a folder are read in the order of their names
``table@file.duckdb``, ``.sqlite`` a table or view of a database, which reaches no other file
``sheet@file.xlsx``                a sheet of a workbook; one that is alone needs no name
pyarrow, pandas, Polars, DuckDB    tables, record batch readers, frames (lazy ones too) and relations
Spark                              data frames, with the engine ``spark``
=================================  =====================================================================================

Rows have an order, and every pass over a source sees the same rows in that order: a source that can be read only once
or may change between two readings (readers, lazy frames, relations) is written once to a private file that has no name.

>>> source = source_of(pa.table({"age": [31, 47]}))
>>> source.types, source.rows
({'age': DataType(int64)}, 2)
>>> [batch.num_rows for batch in source.batches(["age"])]
[2]
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import duckdb
import pyarrow as pa

from noisewright.core.errors import ParameterError
from noisewright.releases.kinds.numbers import INTEGER, NUMBER
from noisewright.releases.sources._cells import spooled, used_part
from noisewright.releases.sources.connection import Result
from noisewright.releases.sources.duck import check_names, quiet
from noisewright.releases.sources.files import from_path
from noisewright.releases.sources.frames import from_pandas, from_polars, in_memory
from noisewright.releases.sources.source import BATCH, Source

__all__ = ["source_of", "table_of"]


def source_of(
    data: Any,
    types: Mapping[str, pa.DataType] | None = None,
    stated: Mapping[str, str] | None = None,
    used: Collection[str] | None = None,
) -> Source:
    """The source of anything in the table above.

    ``types``: types of columns where the data have no types of their own, from the policy (CSV, JSON lines,
    pandas); a value that is not of that type is refused. Data with types keep them, except columns of integers of which a
    policy has ``stated`` that they are numbers. ``used``: the columns that a policy names; the others are not looked
    at, and those of unknown type are text.
    """
    stated = stated or {}
    found = _source_of(data, dict(types or {}), stated, used)
    found = found if used is None else replace(found, used=frozenset(used))
    whole = {name for name in stated if name in found.types and INTEGER.holds(found.types[name])}
    widened = frozenset(name for name in whole if types is not None and NUMBER.holds(types[name]))
    if not widened or found.format in ("spark", "remote"):
        return found
    fields = [field.with_type(pa.float64()) if field.name in widened else field for field in found.schema]
    return replace(found, schema=pa.schema(fields), widened=widened)


def table_of(data: Any) -> pa.Table:
    """Return all rows and columns at once, for code that learns from all of them."""
    source = source_of(data)
    return pa.Table.from_batches(source.batches(list(source.schema.names)), source.schema)


def _source_of(
    data: Any, types: dict[str, pa.DataType], stated: Mapping[str, str], used: Collection[str] | None
) -> Source:
    if isinstance(data, (str, os.PathLike)):
        return from_path(os.fsdecode(data), types, used)
    module = type(data).__module__.partition(".")[0]
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if isinstance(data, pa.Table):
        check_names("the Arrow table", data.schema.names, used)
        return in_memory("arrow", "the Arrow table", data.select(used_part(data.schema, used).names))
    if isinstance(data, pa.RecordBatchReader):
        return spooled("reader", "the record batch reader", data, used)
    if isinstance(data, duckdb.DuckDBPyRelation):
        with quiet("the DuckDB relation cannot be run"):
            return spooled("duckdb", "the DuckDB relation", Result(data).to_arrow_reader(BATCH), used)
    if module == "pandas" and hasattr(data, "columns"):
        return from_pandas(data, types, stated, used)
    if module == "polars" and hasattr(data, "lazy"):
        return from_polars(data, used)
    if module == "pyspark" and hasattr(data, "mapInArrow"):
        from noisewright.releases.sources.spark import arrow_schema

        check_names("the Spark frame", data.columns)
        schema = arrow_schema(data, used)
        return Source("spark", "the Spark frame", "spark", schema, held=data)
    raise ParameterError(
        "data are a path, or a table of pyarrow, pandas, Polars, DuckDB or Spark, not " + type(data).__name__ + "."
    )
