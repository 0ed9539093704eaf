"""One table in every format, and one release in every format: the same rows, the same promise, no partial file."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, get_args

import duckdb
import openpyxl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import noisewright as nw
from noisewright._utils.validation import OutputFormat
from noisewright.cli import run
from noisewright.exceptions import DataError
from noisewright.tables import excel as sheets
from noisewright.tables.source import SUFFIXES

TABLE = pa.table({"age": [31, 47, None, 74], "smoker": ["no", "yes", "no", "no"], "note": ["=1+1", "b", "", "d"]})
POLICY: dict[str, Any] = {
    "dataset": "clinic",
    "budget": {"epsilon": 3},
    "columns": [
        {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1, "missing": "keep"},
        {"name": "smoker", "mechanism": "randomised-response", "categories": ["yes", "no"], "epsilon": 1},
        {"name": "note", "keep": True},
    ],
    "queries": [{"name": "visits", "aggregate": "count", "epsilon": 1}],
}


def stored(folder: Path, ending: str) -> str:
    """The table in a file of this kind."""
    path = folder / f"visits{ending}"
    match ending.removesuffix(".gz").removesuffix(".zst"):
        case ".parquet" | ".pq":
            pyarrow.parquet.write_table(TABLE, path)
        case ".arrow" | ".feather" | ".ipc":
            pyarrow.feather.write_feather(TABLE, str(path))
        case ".csv" | ".tsv" as plain:
            packed = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix)
            with pa.output_stream(path, compression=packed) as file:
                options = pyarrow.csv.WriteOptions(delimiter="\t" if plain == ".tsv" else ",")
                pyarrow.csv.write_csv(TABLE, file, options)
        case ".jsonl" | ".ndjson":
            path.write_text("".join(json.dumps(row) + "\n" for row in TABLE.to_pylist()))
        case ".xlsx":
            book = openpyxl.Workbook()
            sheet: Any = book.active
            for row in (TABLE.schema.names, *(list(row.values()) for row in TABLE.to_pylist())):
                sheet.append(row)
            sheet["C2"].data_type = "s"
            book.save(path)
        case ".sqlite":
            with closing(sqlite3.connect(path)) as db, db:
                TABLE.to_pandas().to_sql("visits", db, index=False)
            return f"visits@{path}"
        case ".duckdb":
            with duckdb.connect(str(path)) as duck:
                duck.register("given", TABLE)
                duck.execute("CREATE TABLE visits AS SELECT * FROM given")
            return f"visits@{path}"
    return str(path)


@pytest.mark.parametrize("ending", [*SUFFIXES, ".sqlite", ".duckdb"])
def test_a_table_is_the_same_in_every_file(tmp_path: Path, ending: str) -> None:
    """Under one seed; but CSV, and sheets as other programs write them, have no empty text: it is missing."""
    expected = nw.release(POLICY, TABLE, seed=7).data
    found = nw.release(POLICY, stored(tmp_path, ending), seed=7).data
    assert found["age"].equals(expected["age"])
    assert found["smoker"].equals(expected["smoker"])
    assert [note or None for note in found["note"].to_pylist()] == [
        note or None for note in expected["note"].to_pylist()
    ]


@pytest.mark.parametrize("form", get_args(OutputFormat))
def test_a_release_is_the_same_in_every_format(tmp_path: Path, form: OutputFormat) -> None:
    expected = nw.release(POLICY, TABLE, seed=7)
    done = nw.release(POLICY, TABLE, output=tmp_path / "out", format=form, seed=7)
    assert [path.name for path in (tmp_path / "out").glob("data.*")] == [f"data.{form}"]
    assert done.data.equals(expected.data)
    received = nw.load(tmp_path / "out")
    assert received.table.equals(expected.data)
    assert received.verify().folder.problems == ()
    assert received.estimate("smoker").table().num_rows == 2


def test_a_release_becomes_any_other_format_for_nothing(tmp_path: Path) -> None:
    how: dict[str, Any] = {"ledger": tmp_path / "ledger"}
    first = nw.release(POLICY, TABLE, output=tmp_path / "parquet", **how)
    for form in ("csv.gz", "xlsx"):
        copy = nw.release(POLICY, TABLE, output=tmp_path / form, format=form, **how)
        assert copy.converted is not None
        assert copy.data.equals(first.data)
        assert run(["verify", str(tmp_path / form), "--ledger", str(tmp_path / "ledger")]) == 0
    assert nw.Ledger(tmp_path / "ledger").remaining("clinic").releases == 1


def test_a_compressed_release_states_no_name_and_no_time(tmp_path: Path) -> None:
    nw.release(POLICY, TABLE, output=tmp_path / "out", format="csv.gz", seed=7)
    content = (tmp_path / "out" / "data.csv.gz").read_bytes()
    assert content[:3] == b"\x1f\x8b\x08"
    assert content[3:8] == bytes(5), "flags (a name, a comment) and the time"
    assert b"'=1+1" in gzip.decompress(content)


def test_what_a_sheet_has_no_room_for_is_refused_before_the_spend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    how: dict[str, Any] = {"output": tmp_path / "out", "ledger": tmp_path / "ledger", "format": "xlsx"}
    with pytest.raises(DataError, match=r"'note' has a text of more than 32,767 characters"):
        nw.release(POLICY, TABLE.set_column(2, "note", [["x" * 32_768, "a", "b", "c"]]), **how)
    monkeypatch.setattr(sheets, "MOST_ROWS", 3)
    with pytest.raises(DataError, match="a sheet has room for 3 rows"):
        nw.release(POLICY, TABLE, **how)
    assert list(tmp_path.iterdir()) == []
