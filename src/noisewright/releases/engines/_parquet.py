"""A Parquet file written batch by batch, in which texts may come with a dictionary, and are plain text to readers all the same.

Parquet has dictionaries of its own, and Arrow's are written into them as they are, where plain texts would be looked up
again one by one. Floats and bytes, of which hardly any occurs twice, are not looked up at all.

>>> import io
>>> file, plain = io.BytesIO(), pa.schema([("ward", pa.string())])
>>> rows = ParquetRows(file, plain)
>>> rows.write_batch(pa.record_batch({"ward": pa.array(["north", "north"]).dictionary_encode()}))
>>> rows.close()
>>> pyarrow.parquet.read_table(file).schema == plain
True
"""

from __future__ import annotations

import base64
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from noisewright.releases.kinds.texts import is_text

__all__ = ["ParquetRows"]


class ParquetRows:
    """A writer of rows with one schema, which the first of them show; ``schema`` is what readers find."""

    def __init__(self, target: Any, schema: pa.Schema) -> None:
        self._target, self._schema = target, schema
        self._writer: Any = None

    def write_batch(self, rows: pa.RecordBatch) -> None:
        """Append rows."""
        self._opened(rows.schema).write_batch(rows)

    def close(self) -> None:
        """End the file, also one without rows."""
        self._opened(self._schema).close()

    def _opened(self, schema: pa.Schema) -> Any:
        if self._writer is None:
            counted = [one.name for one in self._schema if is_text(one.type) or _whole(one.type)]
            self._writer = pyarrow.parquet.ParquetWriter(
                self._target, schema, compression="snappy", use_dictionary=counted, store_schema=False
            )
            self._writer.add_key_value_metadata({"ARROW:schema": base64.b64encode(self._schema.serialize())})
        return self._writer


def _whole(type_: pa.DataType) -> bool:
    return bool(pa.types.is_integer(type_) or pa.types.is_temporal(type_))
