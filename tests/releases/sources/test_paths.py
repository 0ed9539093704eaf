"""A path is a path: never a pattern, a statement, an address or a column; decoys lie beside every file."""

from __future__ import annotations

import gzip
import os
import socket
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from noisewright.engines.local import LocalEngine
from noisewright.exceptions import DataError, FileFormatError, NoisewrightError
from noisewright.policy.policy import UnitPolicy
from noisewright.releases.release import release
from noisewright.tables.duckdb import connected, one_database
from noisewright.tables.files import read_written
from noisewright.tables.reading import source_of

TABLE = pa.table({"patient": ["p1", "p2", "p3"], "smoker": ["yes", "no", "no"]})
DECOY = pa.table({"patient": ["d1"] * 5, "smoker": ["maybe"] * 5})
SUFFIXES = [".csv", ".parquet", ".arrow", ".jsonl", ".csv.gz", ".tsv"]
NAMES = [
    ("v[12]", ["v1", "v2"]),
    ("v*", ["va", "vb"]),
    ("**", ["x"]),
    ("v?", ["v1"]),
    ("{a,b}", ["a", "b"]),
    ("v[!a]", ["vb"]),
    ("back\\slash*", ["back*slash", "backslash1"]),
    ("it's; COPY (SELECT 1) TO 'x'; --", []),
    ('"quoted"', ["quoted"]),
    ("new\nline", ["new"]),
    ("~", []),
    ("~root", []),
    ("ward=maybe", []),
    ("_hidden", ["hidden"]),
    (".hidden", ["hidden"]),
    ("%41", ["A"]),
    ("$HOME", []),
    ("häuser 病院", []),
]
POLICY = {
    "dataset": "clinic",
    "budget": {"epsilon": 4},
    "columns": [{"name": "smoker", "mechanism": "randomised-response", "categories": ["yes", "no"], "epsilon": 1}],
    "unit": {"column": "patient"},
}


def write(path: Path, table: pa.Table) -> None:
    rows = table.to_pylist()
    name = path.name
    if name.endswith((".csv", ".csv.gz", ".tsv")):
        sign = "\t" if name.endswith(".tsv") else ","
        content = "".join(sign.join(line) + "\n" for line in [list(rows[0]), *(list(row.values()) for row in rows)])
        path.write_bytes(gzip.compress(content.encode()) if name.endswith(".gz") else content.encode())
    elif name.endswith(".jsonl"):
        path.write_text("".join(f'{{"patient": "{r["patient"]}", "smoker": "{r["smoker"]}"}}\n' for r in rows))
    elif name.endswith(".parquet"):
        with path.open("wb") as file:
            pq.write_table(table, file)
    else:
        with path.open("wb") as file:
            pyarrow.feather.write_feather(table, file)


@pytest.mark.parametrize(
    ("name", "decoys", "suffix"),
    [
        (name, decoys, suffix)
        for place, (name, decoys) in enumerate(NAMES)
        for suffix in (SUFFIXES if place < 2 else SUFFIXES[place % 3 :: 3])
    ],
)
def test_signs_in_a_name_are_signs(tmp_path: Path, name: str, decoys: list[str], suffix: str) -> None:
    """Every way of reading sees the rows of the named file, once."""
    folder = tmp_path / "smoker=maybe" / "[a]"
    folder.mkdir(parents=True)
    (tmp_path / "smoker=maybe" / "a").mkdir()
    write(folder / f"{name}{suffix}", TABLE)
    write(tmp_path / "smoker=maybe" / "a" / f"{name}{suffix}", DECOY)
    for decoy in decoys:
        write(folder / f"{decoy}{suffix}", DECOY)
    source = source_of(folder / f"{name}{suffix}")
    assert source.schema.names == ["patient", "smoker"]
    assert source.rows in (None, 3)
    streamed = pa.Table.from_batches(source.batches(["patient", "smoker"]))
    assert streamed.to_pylist() == TABLE.to_pylist()
    with source.database() as duck:
        assert duck.sql("SELECT * FROM data").fetchall() == [tuple(row.values()) for row in TABLE.to_pylist()]
    LocalEngine().check_units(source, UnitPolicy(column="patient", rows=1))
    assert sorted(LocalEngine().units(source, UnitPolicy(column="patient"))) == [b"p1", b"p2", b"p3"]


@pytest.mark.parametrize("name", ["v[12].csv", "*.csv", "v?.csv", "from range(1); COPY (SELECT 1) TO 'made.csv'.csv"])
def test_a_policy_names_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    for decoy in ("v1.csv", "v2.csv"):
        write(tmp_path / decoy, DECOY)
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(FileFormatError, match="there is no file"):
        release(POLICY, name, ledger=tmp_path / "ledger", output=tmp_path / "out")
    assert sorted(os.listdir(tmp_path)) == before
    write(tmp_path / name, TABLE)
    done = release(POLICY, name, ledger=tmp_path / "ledger", output=tmp_path / "out")
    assert done.rows == 3
    assert "maybe" not in set(done.data.column("smoker").to_pylist())
    assert not (tmp_path / "made.csv").exists()


def test_what_was_released_is_read_as_a_path_too(tmp_path: Path) -> None:
    folder = tmp_path / "o[ut]"
    done = release(POLICY, TABLE, ledger=tmp_path / "ledger", output=folder, format="csv")
    (tmp_path / "ou").mkdir()
    (tmp_path / "ou" / "data.csv").write_text('"smoker"\n"maybe"\n')
    written = read_written(folder / "data.csv", {"smoker": pa.string()})
    assert written.num_rows == 3
    assert set(written.column("smoker").to_pylist()) <= {"yes", "no"}
    assert done.data.num_rows == 3


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_folders_on_the_way_add_no_column(tmp_path: Path, suffix: str) -> None:
    folder = tmp_path / "smoker=maybe" / "town=york"
    folder.mkdir(parents=True)
    write(folder / f"a{suffix}", TABLE)
    write(folder / f"b{suffix}", TABLE)
    source = source_of(folder)
    assert source.schema.names == ["patient", "smoker"]
    with source.database() as duck:
        assert duck.sql("SELECT * FROM data").to_arrow_table().column_names == ["patient", "smoker"]
        assert duck.sql("SELECT count(*) FROM data WHERE smoker = 'maybe'").fetchall() == [(0,)]


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("_more.csv", "holds _more.csv, a name that says it is no data"),
        (".more.csv", "holds .more.csv"),
        ("ward=1/more.csv", "holds ward=1, a folder in it"),
    ],
)
def test_rows_of_a_folder_are_not_passed_over_in_silence(tmp_path: Path, extra: str, words: str) -> None:
    write(tmp_path / "a.csv", TABLE)
    for note in ("_SUCCESS", ".a.csv.crc", "_started_1"):
        (tmp_path / note).write_text("")
    assert source_of(tmp_path).rows == 3
    (tmp_path / extra).parent.mkdir(exist_ok=True)
    write(tmp_path / extra, DECOY)
    with pytest.raises(FileFormatError, match=words):
        source_of(tmp_path)


def test_pipes_devices_and_sockets_are_refused_unopened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(os.path.relpath(tmp_path / "socket.csv"))
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a.csv").symlink_to("/dev/full")
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    with listening:
        for name in ("pipe.csv", "socket.csv", "zero.csv", "full"):
            with pytest.raises(FileFormatError, match="a pipe, a device or a socket, and no file"):
                source_of(tmp_path / name)
    for name in ("loop.csv", "a" * 5000 + ".csv", "\ud800.csv"):
        with pytest.raises(FileFormatError, match=r"cannot be read|no file|cannot be the name"):
            source_of(tmp_path / name)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileFormatError, match="holds no files"):
        source_of(tmp_path / "folder.csv")


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/a.csv", "s3://bucket/a.parquet", "file:///etc/a.csv"])
def test_addresses_are_left_to_spark(address: str) -> None:
    with pytest.raises(DataError, match="can only be read by Spark"):
        release(POLICY, address, seed=1)
    for spelled in ("HTTP://127.0.0.1/a.csv", "http:a.csv", "gcs:/a.csv"):
        with pytest.raises(FileFormatError, match="there is no file"):
            source_of(spelled)


def test_a_file_that_is_replaced_is_refused_whatever_its_size_and_time(tmp_path: Path) -> None:
    """Units are counted on the file that is drawn from."""
    path = tmp_path / "visits.csv"
    write(path, TABLE)
    kept = path.stat()
    source = source_of(path)
    write(tmp_path / "other.csv", TABLE)
    os.utime(tmp_path / "other.csv", ns=(kept.st_atime_ns, kept.st_mtime_ns))
    os.replace(tmp_path / "other.csv", path)
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (kept.st_size, kept.st_mtime_ns)
    with pytest.raises(DataError, match="was changed while it was read"):
        list(source.batches(["smoker"]))


def test_a_file_that_grows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "visits.jsonl"
    write(path, TABLE)
    source = source_of(path)
    with path.open("a") as file:
        file.write('{"patient": "p4", "smoker": "no"}\n')
    with pytest.raises(DataError, match="was changed while it was read"):
        list(source.batches(["smoker"]))


# What DuckDB can reach ----------------------------------------------------------------------------------------------------

SECRET = "other people's rows"


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """A folder with files that nobody named."""
    (tmp_path / "secret.csv").write_text(f"smoker\n{SECRET}\n")
    duckdb.connect(str(tmp_path / "secret.duckdb")).execute("CREATE TABLE t AS SELECT 1 AS x").close()
    (tmp_path / "secret.json").write_text(f'{{"smoker": "{SECRET}"}}\n')
    write(tmp_path / "secret.parquet", DECOY)
    write(tmp_path / "visits.csv", TABLE)
    return tmp_path


REACHING = [
    "SELECT * FROM read_csv('{0}/secret.csv')",
    "SELECT * FROM '{0}/secret.csv'",
    "SELECT * FROM read_text('{0}/*')",
    "SELECT * FROM read_blob('{0}/secret.csv')",
    "SELECT * FROM read_parquet('{0}/secret.parquet')",
    "SELECT * FROM parquet_metadata('{0}/secret.parquet')",
    "SELECT * FROM parquet_kv_metadata('{0}/secret.parquet')",
    "SELECT * FROM read_json('{0}/secret.json')",
    "SELECT * FROM sniff_csv('{0}/secret.csv')",
    "SELECT * FROM glob('{0}/*')",
    "SELECT * FROM query_table('{0}/secret.csv')",
    "SELECT * FROM query('FROM read_text(''{0}/secret.csv'')')",
]
DOING = [
    "COPY (SELECT 1) TO '{0}/made.csv'",
    "ATTACH '{0}/secret.duckdb' AS other",
    "ATTACH '{0}/made.duckdb' AS other",
    "EXPORT DATABASE '{0}/made'",
    "INSTALL httpfs",
    "LOAD '{0}/made.duckdb_extension'",
    "SET enable_external_access = true",
    "SET allowed_paths = ['{0}/secret.csv']",
    "RESET enable_external_access",
    "SET lock_configuration = false",
    "SET temp_directory = '{0}'",
    "PRAGMA enable_profiling; PRAGMA profiling_output = '{0}/made.json'",
]


@pytest.mark.parametrize("shared", [nullcontext, one_database])
def test_no_statement_reaches_what_was_not_named(beside: Path, shared: Callable[[], Any]) -> None:
    before = sorted(os.listdir(beside))
    with shared():
        source = source_of(beside / "visits.csv")
        with source.database() as duck:
            for statement in [*REACHING, *DOING]:
                with pytest.raises(duckdb.Error):
                    duck.execute(statement.format(beside)).fetchall()
    assert sorted(os.listdir(beside)) == before


@pytest.mark.parametrize("recipe", [r for r in REACHING if "query" not in r and "metadata" not in r])
def test_a_view_of_a_database_reaches_no_other_file(beside: Path, recipe: str) -> None:
    with duckdb.connect(str(beside / "clinic.duckdb")) as duck:
        duck.execute(f"CREATE VIEW visits AS {recipe.format(beside)}")
        duck.execute(f"CREATE MACRO reach() AS TABLE {recipe.format(beside)}")
        duck.execute("CREATE VIEW through AS SELECT * FROM reach()")
    for name in ("visits", "through"):
        with pytest.raises(NoisewrightError, match=r"has no table .* that can be read") as problem:
            source_of(f"{name}@{beside}/clinic.duckdb")
        assert SECRET not in str(problem.value)


def test_a_view_of_the_database_itself_is_run_once(beside: Path) -> None:
    """A recipe may give other rows each time: what was checked must be what is drawn from."""
    with duckdb.connect(str(beside / "clinic.duckdb")) as duck:
        duck.execute("CREATE TABLE people AS SELECT range AS x FROM range(1000)")
        duck.execute("CREATE VIEW chosen AS SELECT x, random() AS r FROM people WHERE random() < 0.5")
    source = source_of(f"chosen@{beside}/clinic.duckdb")
    first, second = (pa.Table.from_batches(source.batches(["x", "r"])) for _ in range(2))
    assert first.equals(second)
    assert source.rows == first.num_rows
    with source.database() as duck:
        assert duck.sql("SELECT count(*), sum(r) FROM data").fetchall() == [
            (first.num_rows, pytest.approx(sum(first.column("r").to_pylist())))
        ]
    policy = {"dataset": "c", "budget": {"epsilon": 1}, "queries": [{"name": "n", "aggregate": "count", "epsilon": 1}]}
    with pytest.raises(NoisewrightError, match="cannot lie inside each other"):
        release(policy, f"chosen@{beside}/clinic.duckdb", output=beside, ledger=beside / "ledger")


def test_what_a_database_has_not_yet_moved_from_its_journal_is_read(tmp_path: Path) -> None:
    path = tmp_path / "it's [1].duckdb"
    duck = duckdb.connect(str(path))
    duck.execute("PRAGMA disable_checkpoint_on_shutdown")
    duck.execute("CREATE TABLE visits AS SELECT 1 AS x")
    duck.execute("CHECKPOINT")
    duck.execute("INSERT INTO visits VALUES (2)")
    duck.close()
    assert (tmp_path / "it's [1].duckdb.wal").exists()
    source = source_of(f"visits@{path}")
    assert [row["x"] for batch in source.batches(["x"]) for row in batch.to_pylist()] == [1, 2]


def test_a_name_in_sql_is_never_a_variable_of_python() -> None:
    people = pa.table({"x": [1]})
    with connected() as duck, pytest.raises(duckdb.Error):
        duck.sql("SELECT * FROM people")
    assert people.num_rows == 1


def test_what_does_not_fit_into_memory_goes_to_disk_behind_the_door(tmp_path: Path) -> None:
    with connected() as duck:
        duck.execute(
            "CREATE TEMP TABLE t AS SELECT hash(range) AS a, hash(range + 1) AS b, hash(range + 2) AS c FROM range(12000000)"
        )
        found = duck.sql("SELECT count(*), max(n) FROM (SELECT a, b, c, row_number() OVER (ORDER BY b, a) AS n FROM t)")
        assert found.fetchall() == [(12_000_000, 12_000_000)]


def test_a_temporary_folder_that_is_a_pattern_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "[t]").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "[t]"))
    write(tmp_path / "visits.csv", TABLE)
    with pytest.raises(DataError, match="set TMPDIR to another one"):
        source_of(tmp_path / "visits.csv")
