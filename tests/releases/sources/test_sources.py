"""Sources: every kind of table in, the same kind out; types that hold for all rows; faults in one sentence without a value."""

from __future__ import annotations

import datetime
import gzip
import os
import signal
import subprocess
import sys
import textwrap
import traceback
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisewright.columns.registry import fits
from noisewright.exceptions import DataError, FileFormatError, NoisewrightError, ParameterError
from noisewright.tables.reading import source_of
from noisewright.tables.source import Source

TABLE = pa.table(
    {
        "patient": pa.array([3, 1, 2], pa.int64()),
        "weight": pa.array([61.5, None, 80.25], pa.float64()),
        "ward": pa.array(["A", "B", None], pa.string()),
        "day": pa.array([datetime.date(2024, 2, 29), datetime.date(1969, 12, 31), None], pa.date32()),
    }
)
SECRET = "s3cr3t-cell"


def read(source: Source) -> pa.Table:
    return pa.Table.from_batches(source.batches(source.schema.names), source.schema)


def write(folder: Path, suffix: str) -> Path:
    path = folder / f"visits{suffix}"
    if suffix == ".parquet":
        pq.write_table(TABLE, path)
    elif suffix == ".csv":
        pyarrow.csv.write_csv(TABLE, path)
    elif suffix == ".csv.gz":
        pyarrow.csv.write_csv(TABLE, folder / "plain.csv")
        path.write_bytes(gzip.compress((folder / "plain.csv").read_bytes()))
    elif suffix == ".tsv":
        pyarrow.csv.write_csv(TABLE, path, pyarrow.csv.WriteOptions(delimiter="\t"))
    elif suffix == ".jsonl":
        with duckdb.connect() as duck:
            duck.register("rows_of_table", TABLE)
            duck.execute(f"COPY rows_of_table TO '{path}' (FORMAT json)")
    elif suffix == ".feather":
        pyarrow.feather.write_feather(TABLE, path)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, TABLE.schema) as writer:
            writer.write_table(TABLE)
    return path


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".csv.gz", ".tsv", ".jsonl", ".feather", ".arrow"])
def test_every_file_format_gives_the_same_table(tmp_path: Path, suffix: str) -> None:
    source = source_of(write(tmp_path, suffix))
    assert source.types == dict(zip(TABLE.schema.names, TABLE.schema.types, strict=True))
    assert read(source).equals(TABLE)
    assert read(source).equals(TABLE)  # and again: a source can be read more than once
    assert source.rows == (None if suffix == ".jsonl" else 3)
    with source.database() as duck:
        assert duck.sql("SELECT sum(patient) FROM data").fetchall() == [(6,)]


@pytest.mark.parametrize("word", ["select", "WITH", "from "])
def test_a_path_is_a_path_whatever_word_it_begins_with(tmp_path: Path, word: str) -> None:
    path = tmp_path / f"{word} x.csv"
    path.write_text("a\n1\n")
    assert read(source_of(path)).to_pydict() == {"a": [1]}
    with pytest.raises(FileFormatError, match="there is no file"):
        source_of(f"{word} * from '{path}'")


def test_a_table_of_a_database_and_a_relation(tmp_path: Path) -> None:
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as duck:
        duck.register("rows_of_table", TABLE)
        duck.execute("CREATE SCHEMA main2; CREATE TABLE main2.visits AS SELECT * FROM rows_of_table")
    source = source_of(f"main2.visits@{path}")
    assert read(source).equals(TABLE)
    assert source.rows == 3
    pq.write_table(TABLE, tmp_path / "v.parquet")
    chosen = source_of(
        duckdb.sql(f"SELECT patient, ward FROM '{tmp_path}/v.parquet' WHERE patient < 3 ORDER BY patient")
    )
    assert read(chosen).to_pydict() == {"patient": [1, 2], "ward": ["B", None]}


def test_a_folder_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    for place, name in ((2, "b.parquet"), (0, "a.parquet"), (1, "aa.parquet")):
        pq.write_table(pa.table({"x": [place * 10, place * 10 + 1]}), tmp_path / name)
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / ".hidden.crc").write_text("not a table")
    assert read(source_of(tmp_path)).column("x").to_pylist() == [0, 1, 10, 11, 20, 21]


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: TABLE, pa.Table),
        (TABLE.to_reader, pa.RecordBatchReader),
        (lambda: TABLE.to_batches()[0], pa.Table),
        (lambda: TABLE.select(["patient", "weight", "ward"]).to_pandas(), pd.DataFrame),
        (lambda: pl.from_arrow(TABLE), pl.DataFrame),
        (lambda: pl.from_arrow(TABLE).lazy(), pl.LazyFrame),
        (lambda: duckdb.from_arrow(TABLE), duckdb.DuckDBPyRelation),
    ],
)
def test_tables_and_frames_go_in_and_come_back_as_they_were(make: Any, kind: type) -> None:
    data = make()
    source = source_of(data)
    assert source.rows == 3
    for _ in range(2):
        found = read(source)
        assert found.column("patient").to_pylist() == [3, 1, 2]
        assert found.column("ward").to_pylist() == ["A", "B", None]
    back = source.wrap(found)
    assert isinstance(back, kind)
    again = source_of(back)
    assert read(again).to_pydict() == found.to_pydict()


def test_a_lazy_frame_or_relation_is_run_once() -> None:
    with duckdb.connect() as duck:
        source = source_of(duck.sql("SELECT random() AS x FROM range(5)"))
    assert read(source).equals(read(source))


def test_temporary_copies_go_when_the_source_goes() -> None:
    source = source_of(TABLE.to_reader())
    (path,) = source.paths
    assert os.path.exists(path)
    assert os.stat(os.path.dirname(path)).st_mode & 0o077 == 0
    del source
    assert not os.path.exists(path)


# Types of CSV cells -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-20", ""], pa.int64()),
        (["1", "2.5"], pa.float64()),
        (["1e3", "-.5", "0.25", "0"], pa.float64()),
        (["007", "12"], pa.string()),
        (["00.5", "12"], pa.string()),
        (["12345678901234567890", "1"], pa.string()),
        (["1_000", "2"], pa.string()),
        (["0x10", "2"], pa.string()),
        (["yes", "no"], pa.string()),
        (["true", "false"], pa.string()),
        (["2024-02-29", ""], pa.date32()),
        (["2024-02-30", "2024-02-29"], pa.string()),
        (["01/02/2024", "02/03/2024"], pa.string()),
        (["2024-02-29 12:30:00", "2024-03-01T00:00:00.5"], pa.timestamp("us")),
        (["2024-02-29", "2024-02-29 12:30:00"], pa.timestamp("us")),
        (["2024-02-29", "17"], pa.string()),
        (["", ""], pa.string()),
    ],
)
def test_types_are_those_of_all_cells(tmp_path: Path, cells: list[str], kind: pa.DataType) -> None:
    path = tmp_path / "x.csv"
    path.write_text("id,x\n" + "".join(f"a,{cell}\n" for cell in cells))
    source = source_of(path)
    assert source.types["x"] == kind
    expected = [cell or None for cell in cells]
    found = read(source).column("x").to_pylist()
    assert found == (expected if kind == pa.string() else pa.array(expected).cast(kind).to_pylist())


def test_a_late_cell_decides(tmp_path: Path) -> None:
    """The last of 200,000 rows is no whole number; a sample of the first rows would have rounded it away."""
    path = tmp_path / "x.csv"
    path.write_text("x,d\n" + "5,2024-01-01\n" * 199_999 + "1.5,17\n")
    source = source_of(path)
    assert source.types == {"x": pa.float64(), "d": pa.string()}
    assert source.rows == 200_000
    with source.database() as duck:
        assert duck.sql("SELECT max(x), min(x) FROM data").fetchall() == [(5.0, 1.5)]


def test_a_policy_may_know_types_better(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("code,smoker\n12,true\n7,FALSE\n")
    source = source_of(path, {"code": pa.string(), "smoker": pa.bool_(), "elsewhere": pa.bool_()})
    assert read(source).to_pydict() == {"code": ["12", "7"], "smoker": [True, False]}
    with pytest.raises(DataError, match="'code' holds something that is not true or false"):
        source_of(path, {"code": pa.bool_()})


@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), min_size=1))
def test_plain_whole_numbers_fit_and_padded_ones_do_not(numbers: list[int | None]) -> None:
    cells = [None if n is None else str(n) for n in numbers]
    assert fits(pa.array(cells, pa.string()), pa.int64())
    assert not fits(pa.array([*cells, "0" + str(abs(numbers[0] or 1))]), pa.int64())


def test_quotes_newlines_and_separators_inside_cells(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b'\xef\xbb\xbf"a;b";note\r\n1;"x;\r\n""y"""\r\n2;\r\n')
    assert read(source_of(path)).to_pydict() == {"a;b": [1, 2], "note": ['x;\r\n"y"', None]}


# Faults -------------------------------------------------------------------------------------------------------------------


def cut(path: Path) -> Path:
    pq.write_table(pa.table({"x": [SECRET] * 1000}), path)
    path.write_bytes(path.read_bytes()[:-20])
    return path


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def two_schemas(folder: Path) -> Path:
    pq.write_table(pa.table({"x": [1]}), folder / "a.parquet")
    pq.write_table(pa.table({"x": ["1"]}), folder / "b.parquet")
    return folder


def two_formats(folder: Path) -> Path:
    pq.write_table(pa.table({"x": [1]}), folder / "a.parquet")
    written(folder / "b.csv", "x\n1\n")
    return folder


FAULTS: list[tuple[Any, type[NoisewrightError], str]] = [
    (lambda p: p / "none.csv", FileFormatError, "there is no file"),
    (lambda p: p / "*.parquet", FileFormatError, "there is no file"),
    (lambda p: p, FileFormatError, "holds no files"),
    (lambda p: cut(p / "x.parquet"), FileFormatError, "x.parquet is not a Parquet file, or it was cut short."),
    (lambda p: written(p / "x.feather", SECRET), FileFormatError, "not an Arrow"),
    (lambda p: written(p / "x.csv", ""), FileFormatError, "x.csv is empty"),
    (lambda p: written(p / "x.csv", f"a,b\n1,2\n{SECRET}\n"), FileFormatError, "as many cells as the header has names"),
    (lambda p: written(p / "x.csv", f"a,b\n1,2\n1,2,{SECRET}\n"), FileFormatError, "as many cells"),
    (lambda p: written(p / "x.csv", f"a,b\n1,{SECRET}".encode() + b"\xff\n"), FileFormatError, "UTF-8"),
    (lambda p: written(p / "x.csv", f"a,b,A\n1,2,{SECRET}\n"), DataError, "two columns of the same name"),
    (lambda p: written(p / "x.csv", f"a,,c\n1,2,{SECRET}\n"), FileFormatError, "column without a name"),
    (lambda p: written(p / "x.jsonl", f'{{"a": 1}}\n{{"a": {SECRET}\n'), FileFormatError, "one JSON object a line"),
    (lambda p: written(p / "x.txt", SECRET), FileFormatError, "files ending in .parquet"),
    (lambda p: written(p / "x.duckdb", SECRET), FileFormatError, "say which, as in visits@x.duckdb"),
    (lambda p: f"t@{written(p / 'x.duckdb', SECRET)}", FileFormatError, "not a DuckDB database"),
    (lambda p: duckdb.sql(f"SELECT CAST('{SECRET}' AS INTEGER) AS x"), DataError, "the DuckDB relation cannot be r"),
    (two_schemas, DataError, "other columns or types than a.parquet"),
    (two_formats, FileFormatError, "more than one format"),
    (lambda p: pa.table([[1], [2]], names=["a", "a"]), DataError, "two columns of the same name"),
    (lambda p: pa.table({}), DataError, "has no columns"),
    (lambda p: pd.DataFrame([[1, 2]], columns=["a", "a"]), DataError, "two columns of the same name"),
    (lambda p: pd.DataFrame({"a": [1, SECRET, b"x"]}), DataError, "values of more than one type"),
    (lambda p: [1, 2], ParameterError, "not list"),
    (lambda p: "a\0b.csv", FileFormatError, "cannot be the name"),
]


@pytest.mark.parametrize("place", range(len(FAULTS)))
def test_faults_are_one_sentence_without_a_value(tmp_path: Path, place: int) -> None:
    make, kind, words = FAULTS[place]
    data = make(tmp_path)
    with pytest.raises(kind) as caught:
        source_of(data)
    message = str(caught.value)
    assert words in message
    assert "\n" not in message
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_damage_in_the_middle_is_found_while_reading(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"x": [f"{SECRET}{n}" for n in range(200_000)]}), path, compression="zstd")
    content = bytearray(path.read_bytes())
    content[len(content) // 3 : len(content) // 3 + 4000] = bytes(4000)
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"x.parquet cannot be read to its end; it is damaged.") as caught:
        read(source_of(path))
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_a_file_that_changes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"x": [1, 2]}), path)
    source = source_of(path)
    pq.write_table(pa.table({"x": [1, 2, 3]}), path)
    with pytest.raises(DataError, match="changed while it was read"):
        read(source)


def test_a_column_that_is_not_there() -> None:
    with pytest.raises(DataError, match="the Arrow table has no column 'age'"):
        list(source_of(TABLE).batches(["age"]))


# Copies that leave nothing behind -----------------------------------------------------------------------------------------

KILLED = """
    import os, signal, sys
    import pyarrow as pa
    from noisewright.tables.duckdb import connected
    from noisewright.tables.reading import source_of

    def batches():
        for _ in range(20):
            yield pa.record_batch({"name": [SECRET] * 1000, "vote": ["yes"] * 1000})
            names.update(os.listdir(sys.argv[1]))

    names = set()
    reader = pa.RecordBatchReader.from_batches(pa.schema([("name", pa.string()), ("vote", pa.string())]), batches())
    source = source_of(reader, used=["vote"])
    assert sum(batch.num_rows for batch in source.batches(["vote"])) == 20_000
    with source.database() as duck:
        assert duck.sql("SELECT count(*) FROM data WHERE vote = 'yes'").fetchall() == [(20_000,)]
    print(sorted(names | set(os.listdir(sys.argv[1]))), flush=True)
    with connected() as duck:
        (folder,) = os.listdir(sys.argv[1])
        print(folder, oct(os.stat(os.path.join(sys.argv[1], folder)).st_mode & 0o777), flush=True)
        open(os.path.join(sys.argv[1], folder, "spilled"), "w").write(SECRET)
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_leaves_no_rows_and_the_next_one_removes_its_folder(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    program = f"SECRET = {SECRET!r}\n{textwrap.dedent(KILLED)}"
    killed = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], env=environment, capture_output=True, text=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    names, folder = killed.stdout.splitlines()
    assert names == "[]"  # a copy has no name, not even while it is written
    assert folder.endswith(" 0o700")
    assert [path.name for path in tmp_path.iterdir()] == [folder.split()[0]]
    after = "from noisewright.tables.duckdb import connected\nwith connected() as duck: pass"
    subprocess.run([sys.executable, "-c", after], env=environment, check=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["reader", "duckdb", "polars"])
def test_only_columns_that_are_used_are_copied(kind: str) -> None:
    whole = pa.table({"name": [SECRET] * 100, "vote": ["yes", "no"] * 50, "age": range(100)})
    database = duckdb.connect()
    data = {
        "reader": whole.to_reader(),
        "duckdb": database.from_arrow(whole),
        "polars": pl.from_arrow(whole).lazy(),  # type: ignore[union-attr]
    }[kind]
    source = source_of(data, used=["vote", "nowhere"])
    assert source.schema.names == ["vote"]
    assert list(source.types) == ["vote"]
    assert read(source).column("vote").to_pylist() == ["yes", "no"] * 50
    with pa.memory_map(source.paths[0]) as file:
        assert SECRET.encode() not in file.read()
    assert os.stat(source.paths[0]).st_mode & 0o777 == 0o600
    with pytest.raises(DataError, match="no column 'name'"):
        list(source.batches(["name"]))


@pytest.mark.parametrize("size", [1_000, 65_536, 200_000])
def test_a_parquet_file_of_many_row_groups_is_read_in_the_memory_of_a_few(tmp_path: Path, size: int) -> None:
    rng = np.random.default_rng(1)
    table = pa.table({"x": rng.random(1_000_000), "y": rng.random(1_000_000)})  # nothing to compress: 16 MB
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=size)
    source, before = source_of(tmp_path / "x.parquet"), pa.total_allocated_bytes()
    held, rows, order = [], 0, []
    for batch in source.batches(["x", "y"]):
        held.append(pa.total_allocated_bytes() - before)
        order.append(batch.column("y")[0].as_py() == table.column("y")[rows].as_py())
        rows += batch.num_rows
    assert rows == 1_000_000
    assert all(order)
    assert max(held) < 16 * (2 * max(size, 65_536) + 65_536) + (4 << 20)  # two pieces at most, a batch, and windows


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".arrow"])
def test_one_in_so_many_rows_are_spread_over_the_table(tmp_path: Path, suffix: str) -> None:
    table = pa.table({"x": np.arange(500_000)})
    path = tmp_path / f"x{suffix}"
    if suffix == ".parquet":
        pq.write_table(table, path, row_group_size=10_000)
    elif suffix == ".csv":
        pyarrow.csv.write_csv(table, path)
    else:
        pyarrow.feather.write_feather(table, path, chunksize=10_000, compression="uncompressed")
    found = np.concatenate([np.asarray(batch.column(0)) for batch in source_of(path).batches(["x"], every=5)])
    assert len(set(found.tolist())) == len(found)
    assert 80_000 <= len(found) <= 200_000
    assert np.histogram(found, bins=2, range=(0, 500_000))[0].min() >= 30_000
