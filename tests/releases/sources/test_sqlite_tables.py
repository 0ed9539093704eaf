"""Tables of SQLite as sources: what is read and refused, and that nothing can be written."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from noisewright.exceptions import NoisewrightError
from noisewright.tables.reading import source_of

MANY = 25_000


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.sqlite"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute('CREATE TABLE visits (age INTEGER, weight REAL, note TEXT, photo BLOB, "odd ""name" TEXT)')
        rows = [(31, 71.5, "", b"\1", "a"), (None, 80.0, "=x", None, None)]
        db.executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?)", rows)
        db.execute("CREATE VIEW adults AS SELECT age, note FROM visits WHERE age > 17")
        db.execute("CREATE TABLE many (i INTEGER)")
        db.executemany("INSERT INTO many VALUES (?)", ((i,) for i in range(MANY)))
    return path


def rows_of(data: Any, **how: Any) -> list[dict[str, Any]]:
    source = source_of(data, **how)
    return [row for batch in source.batches(list(source.types)) for row in batch.to_pylist()]


def test_rows_in_the_types_of_the_policy(clinic: Path) -> None:
    types = {"age": pa.int64(), "weight": pa.float64(), "note": pa.string(), 'odd "name': pa.string()}
    assert rows_of(f"visits@{clinic}", types=types, used=set(types)) == [
        {"age": 31, "weight": 71.5, "note": "", 'odd "name': "a"},
        {"age": None, "weight": 80.0, "note": "=x", 'odd "name': None},
    ]
    assert rows_of(f"adults@{clinic}") == [{"age": 31, "note": ""}]
    assert [row["i"] for row in rows_of(f"many@{clinic}")] == list(range(MANY))
    with pytest.raises(NoisewrightError, match="'weight' holds something that is not a whole number") as problem:
        source_of(f"visits@{clinic}", {"weight": pa.int64()}, used={"weight"})
    assert "71" not in str(problem.value)


def test_whose_database_it_is_the_first_bytes_tell(clinic: Path) -> None:
    other = clinic.rename(clinic.with_suffix(".db"))
    assert len(rows_of(f"adults@{other}")) == 1


def test_what_is_refused(clinic: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.sqlite").write_bytes(clinic.read_bytes()[:5000])
    (tmp_path / "none.sqlite").write_bytes(b"")
    for data, words in (
        (f"visit@{clinic}", "clinic.sqlite has no table 'visit'; did you mean 'visits'?"),
        (f"x@{clinic}", "clinic.sqlite has no table 'x'; its tables: adults, many, visits."),
        (str(clinic), "clinic.sqlite holds many tables; say which, as in visits@clinic.sqlite."),
        (f"visits@{clinic}", "the column 'photo' holds bytes"),
        (f"many@{tmp_path}/cut.sqlite", "cut.sqlite is no SQLite database that can be read, it is damaged"),
        (f"visits@{tmp_path}/none.sqlite", "none.sqlite has no table 'visits'; its tables: none."),
    ):
        with pytest.raises(NoisewrightError, match=re.escape(words)):
            source_of(data)


def test_nothing_is_written_not_even_beside_it(clinic: Path) -> None:
    with closing(sqlite3.connect(clinic)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
    before = clinic.read_bytes(), clinic.stat().st_mtime_ns
    rows_of(f"many@{clinic}")
    assert (clinic.read_bytes(), clinic.stat().st_mtime_ns) == before
    assert [path.name for path in clinic.parent.iterdir()] == [clinic.name]
