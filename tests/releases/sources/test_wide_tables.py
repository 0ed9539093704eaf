"""Tables with very many columns, of which a policy uses one: only that one is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.exceptions import DataError, NoisewrightError
from noisewright.tables import files
from noisewright.tables.reading import source_of

MANY = 100_000
POLICY = {
    "dataset": "wide",
    "budget": {"epsilon": 1},
    "order": "kept",
    "columns": [{"name": "used", "mechanism": "randomised-response", "categories": ["a", "b"], "epsilon": 1}],
}


def wide(many: int = MANY) -> pa.Table:
    ones = pa.array([1, 1, 1], pa.int8())
    columns = {f"c{place}": ones for place in range(many)}
    return pa.table({**columns, "used": pa.array(["a", "b", "a"])})


def csv_file(path: Path, many: int = MANY) -> Path:
    rows = [",".join([*(f"c{place}" for place in range(many)), "used"])]
    rows += ["1," * many + cell for cell in ("a", "b", "a")]
    path.write_text("\n".join(rows) + "\n")
    return path


def parquet_file(path: Path) -> Path:
    pq.write_table(wide(), path, compression="none", use_dictionary=False, write_statistics=False)
    return path


def arrow_file(path: Path) -> Path:
    pyarrow.feather.write_feather(wide(), path, compression="uncompressed")
    return path


def pandas_frame(path: Path) -> Any:
    import pandas as pd

    frame = pd.DataFrame(np.ones((3, MANY), dtype=np.int8), columns=[f"c{place}" for place in range(MANY)])
    frame["used"] = ["a", "b", "a"]
    return frame


def polars_frame(path: Path) -> Any:
    import polars as pl

    return pl.from_arrow(wide())


MAKERS = {
    "csv": csv_file,
    "parquet": parquet_file,
    "arrow": arrow_file,
    "table": lambda path: wide(),
    "pandas": pandas_frame,
    "polars": polars_frame,
}


@pytest.mark.filterwarnings("ignore:DataFrame is highly fragmented")
@pytest.mark.parametrize("kind", MAKERS)
def test_a_hundred_thousand_columns_of_which_one_is_used(kind: str, tmp_path: Path) -> None:
    data = MAKERS[kind](tmp_path / f"wide.{kind}")
    done = nw.release(POLICY, data, output=tmp_path / "out", ledger=tmp_path / "ledger")
    assert done.rows == 3
    assert not done.reread
    if kind in ("csv", "arrow"):
        assert nw.release(POLICY, data, output=tmp_path / "out", ledger=tmp_path / "ledger").reread


def test_a_wide_csv_file_is_read_like_a_narrow_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = '"x","n",used\n"a ""b"", c",007,é\n"",,"two\nlines"\n1,2,\n'
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    types, names = {"n": pa.string()}, ["x", "used", "n"]
    narrow = [batch.to_pylist() for batch in source_of(path, types, used=names).batches(names)]
    monkeypatch.setattr(files, "MOST_COLUMNS", 2)
    copy = source_of(path, types, used=names)
    assert [batch.to_pylist() for batch in copy.batches(names)] == narrow
    assert copy.origin == (str(path),)
    for bad in ("a,b,c\n1,2\n", "a,b,c\n1,2,3,4\n", 'a,b,c\n1,2,"3\n', "a,b,c\n\n"):
        path.write_text(bad)
        with pytest.raises(NoisewrightError, match="table"):
            source_of(path, used=["a"])


def test_a_wide_file_that_changes_while_it_is_copied_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_COLUMNS", 2)
    path, real = csv_file(tmp_path / "wide.csv", 3), files.from_cells

    def slow(*args: Any) -> Any:
        found = real(*args)
        path.write_text("c0,c1,c2,used\n")
        return found

    monkeypatch.setattr(files, "from_cells", slow)
    with pytest.raises(DataError, match="was changed while it was read"):
        source_of(path, used=["used"])
