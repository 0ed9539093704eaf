"""Sources from tables and frames in memory: Arrow, pandas and Polars.

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
import re
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import duckdb
import pyarrow as pa

from noisewright import exceptions as errors
from noisewright.columns.registry import kind_named, kind_of, recast
from noisewright.columns.scalars import INTEGER, NUMBER
from noisewright.exceptions import DataError, NoisewrightError, ParameterError
from noisewright.io.atomic import Spool
from noisewright.tables.duckdb import Result, check_names, misfit, quiet, readable
from noisewright.tables.files import from_arrow, from_path
from noisewright.tables.source import BATCH, Source, SourceKind, spooled, stamps_of, used_part

__all__ = [
    "arrow_schema",
    "from_pandas",
    "from_polars",
    "in_memory",
    "sentences",
    "silent_python",
    "source_of",
    "spark_schema",
    "table_of",
    "through_spark",
    "zoned",
]


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


# Spark --------------------------------------------------------------------------------------------------------------------
#
# Types between Arrow and Spark.


def arrow_schema(frame: Any, used: Collection[str] | None = None) -> pa.Schema:
    """The names and Arrow types of a Spark frame; with ``used`` of these columns alone."""
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    with sentences("a column of the Spark frame has a type that Arrow does not know"):
        fields = [field for field in frame.schema.fields if used is None or field.name in used]
        found = to_arrow_schema(StructType(fields), timezone="UTC")
    return pa.schema([pa.field(field.name, field.type) for field in found])


def spark_schema(schema: pa.Schema) -> Any:
    """The Spark types of a schema; times without a zone stay so."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema, prefer_timestamp_ntz=True)


def through_spark(field: pa.Field) -> pa.DataType | None:
    """The type that a column has after Spark, or None where Spark has none for it."""
    from pyspark.sql.pandas.types import to_arrow_schema

    try:
        with sentences("Spark has no such type"):
            found = to_arrow_schema(spark_schema(pa.schema([field])), timezone="UTC")
    except DataError:
        return None
    return found.field(0).type


def zoned(kind: pa.DataType, own: pa.DataType) -> pa.DataType:
    """Spark keeps moments but not the name of their time zone; it comes from the source."""
    both = pa.types.is_timestamp(kind) and pa.types.is_timestamp(own) and kind.tz is not None and own.tz is not None
    return pa.timestamp(kind.unit, own.tz) if both else kind


LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


@contextmanager
def sentences(otherwise: str, session: Any = None) -> Iterator[None]:
    """Turn what Spark raises into one sentence; a sentence of ours that a worker raised is carried over."""
    try:
        with ExitStack() as silent:
            silent.enter_context(silent_python())
            if session is not None:
                silent.enter_context(_java(session))
            yield
    except NoisewrightError:
        raise
    except Exception as problem:  # py4j, Spark and Python in workers: many kinds, and their texts may quote cells
        with silent_python():  # a request for the text makes PySpark log it
            found = re.search(rf"{re.escape(errors.__name__)}\.(\w+): ([^\n]+)", str(problem))
        kind = getattr(errors, found[1], None) if found else None
        if found and isinstance(kind, type) and issubclass(kind, NoisewrightError):
            raise kind(found[2]) from None
        raise DataError(f"{otherwise}.") from None


@contextmanager
def silent_python() -> Iterator[None]:
    """No warnings, and no records of PySpark's loggers. They are opened before, so that Spark finds them shut."""
    from pyspark.logger import PySparkLogger

    loggers = [PySparkLogger.getLogger(name) for name in LOGGERS]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


@contextmanager
def _java(session: Any) -> Iterator[None]:
    """No records of the Java side; its level comes back afterwards."""
    context = session.sparkContext
    root = context._jvm.org.apache.logging.log4j.LogManager.getRootLogger()
    before = str(root.getLevel().toString())
    if before == "OFF":
        yield
        return
    context.setLogLevel("OFF")
    try:
        yield
    finally:
        context.setLogLevel(before)


# Open ---------------------------------------------------------------------------------------------------------------------
#
# Where the rows come from, and how they go back: files, tables and frames behind one :class:`Source`.


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
        check_names("the Spark frame", data.columns)
        schema = arrow_schema(data, used)
        return Source("spark", "the Spark frame", "spark", schema, held=data)
    raise ParameterError(
        "data are a path, or a table of pyarrow, pandas, Polars, DuckDB or Spark, not " + type(data).__name__ + "."
    )
