"""A column has one type whichever source it came from, and what comes back is of the kind that went in."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import noisewright as nw

DAYS = [date(2025, 1, 1), date(2025, 12, 31)]
POLICY = {
    "dataset": "d",
    "budget": {"epsilon": 99},
    "order": "kept",
    "columns": [
        {"name": "smoker", "mechanism": "randomised-response", "categories": ["yes", "no"], "epsilon": 1},
        {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1},
        {"name": "ill", "mechanism": "randomised-response", "categories": [True, False], "epsilon": 1},
        {"name": "day", "mechanism": "laplace", "within": DAYS, "protect": 7, "epsilon": 1},
        {"name": "weight", "mechanism": "laplace", "within": [0, 200], "protect": 5, "epsilon": 1},
        {"name": "grade", "mechanism": "randomised-response", "categories": [1, 2, 3], "epsilon": 1},
    ],
    "queries": [
        {
            "name": "mean age",
            "aggregate": "mean",
            "column": "age",
            "within": [0, 110],
            "by": {"smoker": ["yes", "no"]},
            "epsilon": 1,
        }
    ],
}
ROWS = 40
TABLE = pa.table(
    {
        "smoker": ["yes", "no"] * (ROWS // 2),
        "age": pa.array(range(ROWS), pa.int64()),
        "ill": [True, False, False, True] * (ROWS // 4),
        "day": pa.array([date(2025, 3, 1 + k % 28) for k in range(ROWS)]),
        "weight": 50 + np.arange(ROWS) * 1.5,
        "grade": pa.array([1, 2, 3, 1] * (ROWS // 4), pa.int64()),
    }
)
TYPES = [pa.string(), pa.int64(), pa.bool_(), pa.date32(), pa.float64(), pa.int64()]


def csv(folder: Path) -> Path:
    pa.csv.write_csv(TABLE, folder / "t.csv")
    return folder / "t.csv"


def parquet(folder: Path) -> Path:
    pq.write_table(TABLE, folder / "t.parquet")
    return folder / "t.parquet"


def lines(folder: Path) -> Path:
    (folder / "t.jsonl").write_text("".join(json.dumps(row, default=str) + "\n" for row in TABLE.to_pylist()))
    return folder / "t.jsonl"


def database(folder: Path) -> str:
    with duckdb.connect(folder / "t.duckdb") as found:
        found.register("given", TABLE)
        found.execute("CREATE TABLE visits AS SELECT * FROM given")
    return f"visits@{folder / 't.duckdb'}"


SOURCES: dict[str, Callable[[Path], Any]] = {
    "csv": csv,
    "parquet": parquet,
    "json lines": lines,
    "duckdb file": database,
    "arrow": lambda _: TABLE,
    "pandas": lambda _: TABLE.to_pandas(),
    "polars": lambda _: pl.from_arrow(TABLE),
    "duckdb relation": lambda _: duckdb.from_arrow(TABLE),
}


def as_arrow(frame: Any) -> pa.Table:
    if isinstance(frame, duckdb.DuckDBPyRelation):
        return frame.to_arrow_table()
    return pa.Table.from_pandas(frame, preserve_index=False) if isinstance(frame, pd.DataFrame) else pa.table(frame)


EXPECTED = nw.release(POLICY, TABLE, seed=5)


@pytest.mark.parametrize("name", SOURCES)
def test_the_same_table_through_every_source(name: str, tmp_path: Path) -> None:
    given = SOURCES[name](tmp_path)
    done = nw.release(POLICY, given, seed=5)
    kind = pa.Table if isinstance(given, (str, Path)) else type(given)
    assert isinstance(done.data, kind)
    assert isinstance(done.answers["mean age"], kind)
    found = as_arrow(done.data).cast(pa.schema(list(zip(TABLE.column_names, TYPES, strict=True))))
    if isinstance(done.data, pa.Table):
        assert done.data.schema.types == TYPES
    assert found.to_pylist() == EXPECTED.data.to_pylist()
    assert as_arrow(done.answers["mean age"]).to_pylist() == EXPECTED.answers["mean age"].to_pylist()


def test_a_frame_keeps_its_dtypes_in_memory_and_through_a_folder(tmp_path: Path) -> None:
    """Its index is no column of the policy, so it stays behind like every other column that is not named."""
    dtypes = {"smoker": "category", "age": "int16", "ill": "boolean", "weight": "float32", "grade": "Int8"}
    given = TABLE.to_pandas().astype(dtypes)
    given.index = pd.Index([f"patient {k}" for k in range(ROWS)])
    memory = nw.release(POLICY, given, seed=5)
    folder = nw.release(POLICY, given, seed=5, output=tmp_path / "out")
    for done in (memory, folder):
        assert {name: str(done.data[name].dtype) for name in dtypes} == dtypes
        assert done.data.index.equals(pd.RangeIndex(ROWS))
        assert done.data.age.tolist() == EXPECTED.data["age"].to_pylist()
        assert isinstance(done.answers["mean age"], pd.DataFrame)
