"""A source as a Spark frame: the columns that are requested, under names by their places, and the rows that count."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from noisewright.core.errors import DataError
from noisewright.releases.engines.spark._ordering import NUMBER, ROW, places
from noisewright.releases.policy.policy import UnitPolicy
from noisewright.releases.sources.source import SUFFIXES, Source
from noisewright.releases.sources.spark import sentences, spark_schema, through_spark

__all__ = ["counted", "frame_of", "local_url"]


def frame_of(session: Any, source: Source, ordered: bool = False) -> Any:
    """A source as a Spark frame; ``ordered``: its rows in the order in which the local engine reads them."""
    if source.format == "spark":
        return source.held
    with sentences(f"Spark cannot read {source.name}", session):
        if source.format == "remote":
            return _remote(session, source.paths[0])
        if source.format not in ("parquet", "csv", "json") or source.held is not None:
            raise DataError(f"Spark cannot read {source.name}; use the engine local, or store the table as Parquet.")
        if any(os.path.basename(path).startswith((".", "_")) for path in source.paths):
            raise DataError(f"Spark passes over files whose names begin with . or _, as {source.name} does; rename it.")
        paths = [local_url(os.path.abspath(path)) for path in source.paths]
        if not ordered or len(paths) == 1:
            return _read(session, source, paths)
        # Spark sorts the pieces of several files by size; one file keeps its order, and so does a union.
        frame = _read(session, source, paths[:1])
        for path in paths[1:]:
            frame = frame.unionAll(_read(session, source, [path]))
        return frame


def _read(session: Any, source: Source, paths: list[str]) -> Any:
    reader = session.read.option("recursiveFileLookup", True)  # folders on the way are not columns
    if source.format == "parquet":
        return reader.parquet(*paths)
    reader = reader.schema(spark_schema(source.schema)).option("mode", "FAILFAST")
    if source.format == "json":
        return reader.json(paths)
    options = {"header": True, "sep": source.separator, "quote": '"', "escape": '"', "multiLine": True}
    return reader.options(**options).csv(paths)


def _remote(session: Any, url: str) -> Any:
    reader, place = session.read.option("recursiveFileLookup", True), _literal(url)
    for suffix, form in SUFFIXES.items():
        if url.rstrip("/").lower().endswith(suffix) and form in ("parquet", "json"):
            return getattr(reader, form)(place)
    if os.path.splitext(url)[1]:
        raise DataError(f"{url}: Spark reads addresses of Parquet and JSON lines; store the table as one of these.")
    return reader.parquet(place)


def _picked(session: Any, source: Source, columns: Sequence[str], ordered: bool) -> Any:
    """Some columns of the source, called by their places; only they are read, whatever the others hold."""
    from pyspark.sql import functions

    frame = None if source.format == "memory" else frame_of(session, source, ordered)
    known = source.schema.names if frame is None else frame.columns
    for name in columns:
        if name not in known:
            raise DataError(f"{source.name} has no column {name!r}; the names in a policy must be those of the table.")
    if frame is None and not columns:
        return session.range(source.rows)
    if frame is None:
        table = source.held.select(list(columns))
        for field in table.schema:
            if through_spark(field) is None:
                raise DataError(
                    f"Spark has no type for the column {field.name!r} ({field.type}); cast it, or use the engine local."
                )
        table = table.cast(pa.schema([source.schema.field(name) for name in columns]))
        table = table.rename_columns(places(columns))
        return session.createDataFrame(table, spark_schema(table.schema))
    placed = frame.toDF(*(f"nw_a{place}" for place in range(len(known))))
    found = [functions.col(f"nw_a{known.index(name)}") for name in columns]
    wide = [one.cast("double") if name in source.widened else one for name, one in zip(columns, found, strict=True)]
    return placed.select([one.alias(f"nw_c{place}") for place, one in enumerate(wide or [functions.lit(1)])])


def counted(session: Any, source: Source, unit: UnitPolicy, columns: Sequence[str], ordered: bool = False) -> Any:
    """The rows that count; if some are left out, with their place in the table in the column ``nw_row``."""
    if not unit.drops:
        return _picked(session, source, columns, ordered)
    whose = str(unit.column)
    listed = list(dict.fromkeys([*columns, whose]))
    return _first(_picked(session, source, listed, True), f"nw_c{listed.index(whose)}", unit.rows)


def _first(frame: Any, whose: str, most: int) -> Any:
    """The first rows of every unit, with their place in the whole table in the column ``nw_row``."""
    from pyspark.sql import Window, functions

    placed = frame.withColumn(ROW, functions.monotonically_increasing_id())
    own = Window.partitionBy(whose).orderBy(ROW)
    counted = placed.withColumn(NUMBER, functions.row_number().over(own))
    return counted.where(functions.col(NUMBER) <= most).drop(NUMBER)


def local_url(path: str) -> str:
    """A local path, taken literally: Hadoop would read brackets and stars as patterns."""
    return "file://" + _literal(path)


def _literal(path: str) -> str:
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", path)
