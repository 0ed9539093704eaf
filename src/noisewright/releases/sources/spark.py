"""Types between Arrow and Spark."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pyarrow as pa

from noisewright.core import errors
from noisewright.core.errors import DataError, NoisewrightError

__all__ = ["arrow_schema", "sentences", "silent_python", "spark_schema", "through_spark", "zoned"]


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
            found = re.search(r"noisewright\.core\.errors\.(\w+): ([^\n]+)", str(problem))
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
