"""Long and repeated texts in Parquet files: what is legitimate is read, however small the file is."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from noisewright.tables.reading import source_of

ENCODINGS = ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"]


def read(path: Path, rows: int = 65_536) -> pa.Table:
    source = source_of(path)
    return pa.Table.from_batches(source.batches(source.schema.names, rows=rows), source.schema)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_texts_in_delta_encodings_are_read(tmp_path: Path, encoding: str, version: str) -> None:
    texts = [None if n % 7 == 0 else f"ward {n % 50}, bed {n}" for n in range(5000)]
    table = pa.table({"a": texts, "b": [None if one is None else one.encode() for one in texts], "n": range(5000)})
    encodings = {"a": encoding, "b": encoding}
    options = {"use_dictionary": False, "column_encoding": encodings, "data_page_version": version}
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=2000, data_page_size=4096, **options)
    assert read(tmp_path / "t.parquet").equals(table)
    with source_of(tmp_path / "t.parquet").database() as duck:
        assert duck.sql("SELECT a, b, n FROM data").to_arrow_table().to_pylist() == table.to_pylist()


@pytest.mark.parametrize("encoding", ["RLE_DICTIONARY", *ENCODINGS])
def test_a_long_text_in_every_row_of_a_small_file_is_read(tmp_path: Path, encoding: str) -> None:
    """A note of 400 characters in 200,000 rows is 80 MB, which compression makes a file of some kilobytes."""
    table = pa.table(
        {"note": pa.DictionaryArray.from_arrays(np.zeros(200_000, np.int32), ["x" * 400]).cast(pa.string())}
    )
    delta = {} if encoding == "RLE_DICTIONARY" else {"use_dictionary": False, "column_encoding": {"note": encoding}}
    pq.write_table(table, tmp_path / "t.parquet", compression="zstd", **delta)
    source = source_of(tmp_path / "t.parquet")
    assert sum(batch.num_rows for batch in source.batches(["note"])) == 200_000


@pytest.mark.parametrize("writer", ["duckdb", "pyarrow", "no groups", "empty groups", "empty groups, no dictionaries"])
def test_a_file_and_a_group_without_rows_are_read(tmp_path: Path, writer: str) -> None:
    """A group of rows may hold no page of data, and pyarrow then writes an empty dictionary alone."""
    table = pa.table({"a": ["x", None], "n": [1, 2], "l": [[1, 2], []]})
    path, whole = tmp_path / "t.parquet", 0
    if writer == "duckdb":
        with duckdb.connect() as duck:
            duck.from_arrow(table).filter("false").write_parquet(str(path))
    elif writer == "pyarrow":
        pq.write_table(table.slice(0, 0), path)
    else:
        with pq.ParquetWriter(path, table.schema, use_dictionary="no dictionaries" not in writer) as file:
            if writer != "no groups":
                whole = 2
                for part in (table.slice(0, 0), table, table.slice(0, 0), table.slice(0, 0), table):
                    file.write_table(part)
    assert read(path).to_pylist() == table.to_pylist() * whole
    with source_of(path).database() as duck:
        assert duck.sql("SELECT a, n FROM data").to_arrow_table().num_rows == 2 * whole
