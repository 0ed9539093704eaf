"""Types between Arrow and Spark."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from noisewright.core.errors import DataError
from noisewright.release.engines.silence import sentences

__all__ = ["arrow_schema", "spark_schema", "through_spark", "zoned"]


def arrow_schema(frame: Any) -> pa.Schema:
    """The names and Arrow types of a Spark frame."""
    from pyspark.sql.pandas.types import to_arrow_schema

    with sentences("a column of the Spark frame has a type that Arrow does not know"):
        found = to_arrow_schema(frame.schema, timezone="UTC")
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
