"""Tables and views of an SQLite database as rows of text, opened so that nothing can be written.

SQLite has no types that hold for a whole column, so the policy states the type of a column, as for CSV files. A view is
run once; what SQL it consists of can reach no other file.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from noisewright.core.choices import nearest_name
from noisewright.core.errors import DataError, FileFormatError
from noisewright.files.inputs import open_input
from noisewright.releases.sources._cells import Cells, spelled_number
from noisewright.releases.sources.duck import identifier

__all__ = ["is_sqlite", "read_sqlite"]

MAGIC = b"SQLite format 3\0"
ROWS = 10_000
"""Rows that are held at once."""


def is_sqlite(path: str) -> bool:
    """Return whether a file begins as an SQLite database does; one without a single byte is an empty one."""
    with open_input(path) as file:
        found = file.read(len(MAGIC))
    return found == MAGIC or (not found and path.lower().endswith((".sqlite", ".sqlite3")))


def read_sqlite(path: str, table: str, used: Collection[str] | None = None) -> tuple[list[str], Iterator[Cells]]:
    """The names of the columns of a table or a view, and its rows; those of columns that are not used are None."""
    with _opened(path) as db:
        known = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
        if table not in known:
            near = nearest_name(table, known)
            hint = f"did you mean {near!r}?" if near else f"its tables: {', '.join(sorted(known)) or 'none'}."
            raise FileFormatError(f"{Path(path).name} has no table {table!r}; {hint}")
        names = [str(one[0]) for one in db.execute(f"SELECT * FROM {identifier(table)} LIMIT 0").description]
    return names, _rows(path, table, names, used)


def _rows(path: str, table: str, names: list[str], used: Collection[str] | None) -> Iterator[Cells]:
    listed = ", ".join(identifier(name) if used is None or name in used else "NULL" for name in names)
    with _opened(path) as db:
        cursor = db.execute(f"SELECT {listed} FROM {identifier(table)}")
        while block := cursor.fetchmany(ROWS):
            for row in block:
                yield [_spelled(value, name) for value, name in zip(row, names, strict=True)]


def _spelled(value: object, name: str) -> str | None:
    if isinstance(value, bytes):
        raise DataError(f"the column {name!r} holds bytes, which are read from Parquet and Arrow files alone.")
    if isinstance(value, float):
        return spelled_number(value)
    return None if value is None else str(value)


@contextmanager
def _opened(path: str) -> Iterator[sqlite3.Connection]:
    """A connection that writes nothing and reaches nothing else; errors become a sentence, since SQLite's quote what
    they met.
    """
    sentence = (
        f"{Path(path).name} is no SQLite database that can be read, it is damaged, or another program is writing to it"
    )
    try:
        address = f"file:{quote(os.path.abspath(path))}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as db:
            db.execute("PRAGMA trusted_schema = OFF")
            db.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
            yield db
    except (sqlite3.Error, UnicodeError):
        raise FileFormatError(f"{sentence}.") from None
