"""DuckDB as the reader and the aggregator: connections with bounds, and errors that quote no data.

An error text of DuckDB or Arrow often shows the cell that it stumbled over. :func:`quiet` replaces such an error by a
sentence of our own; the original is not chained, so that it cannot reach a log either.

>>> with quiet("the numbers cannot be read"), connected() as duck:
...     duck.sql("SELECT CAST('secret' AS INTEGER)").fetchall()
Traceback (most recent call last):
noisewright.core.errors.DataError: the numbers cannot be read.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa

from noisewright.core.errors import DataError, FileFormatError, NoisewrightError
from noisewright.files.inputs import max_memory
from noisewright.files.scratch import scratch_folder
from noisewright.releases.sources.connection import Connection

__all__ = [
    "FILES",
    "MEMORY",
    "MOST_COLUMNS",
    "PACKED",
    "check_names",
    "connected",
    "identifier",
    "literal",
    "one_database",
    "packed_ending",
    "quiet",
    "readable",
    "valid",
]

MEMORY = 400 * 10**6
"""Maximum number of bytes that DuckDB may hold; the rest of a large sort or grouping goes to a private temporary folder."""
MOST_COLUMNS = 20_000
"""The maximum number of columns that DuckDB is given; it takes minutes to begin with more."""
MOST_IN_BATCH = 2**31 - 1
"""Arrow's own advice; more can only be said of columns that take no space."""
SETTINGS: dict[str, str | int | float | list[str]] = {
    "preserve_insertion_order": True,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,  # a name in SQL is never a variable of Python
}

PACKED = {".gz": "gzip", ".zst": "zstd"}
"""Endings of compressed files, which DuckDB and Arrow both read, and Arrow's names for their compression."""

FILES = "getvariable('files')"
"""The files of a connection, in SQL: a path itself is never a part of a statement."""
PATTERNS = frozenset("*?[]{}\\")
"""Characters that DuckDB may take for a pattern in a path."""

_Known = dict[tuple[tuple[str, ...], tuple[str, ...]], "_Database"]
_SHARED: ContextVar[tuple[ExitStack, _Known] | None] = ContextVar("_SHARED", default=None)


class _Database(NamedTuple):
    """A database, and the names under which it reaches the files that it may read."""

    duck: Connection
    links: list[str]


@contextmanager
def one_database() -> Iterator[None]:
    """Connections to the same files share a database: to start one takes longer than to look through a small table."""
    with ExitStack() as stack:
        before = _SHARED.set((stack, {}))
        try:
            yield
        finally:
            _SHARED.reset(before)


@contextmanager
def connected(
    paths: Sequence[str] = (), *, database: str | None = None, packed: Sequence[str] = ()
) -> Iterator[Connection]:
    """A connection of our own: all cores, bounded memory, rows in their order, in UTC; it reaches named
    files and nothing else.

    The files at ``paths`` are :data:`FILES` in its SQL. They have plain names for DuckDB (links in a private folder), so that
    nothing in a path is a pattern, an address, a home or a column. A ``database`` is attached as ``source``. Then access
    is closed: whatever the SQL says, even in a view of the database, no other file can be read or written, no extension
    loaded, no setting changed. Temporary tables and views are seen by no one else. ``packed``: files that can be far
    smaller than their content; DuckDB may then hold no more than their sizes allow.

    >>> with quiet("that is out of reach"), connected() as duck:
    ...     duck.sql("SELECT * FROM read_text('/etc/hostname')").fetchall()
    Traceback (most recent call last):
    noisewright.core.errors.DataError: that is out of reach.
    """
    shared = _SHARED.get()
    if shared is None or database is not None:
        with _database(paths, database, packed) as (duck, _):
            yield duck
        return
    stack, known = shared
    key = tuple(paths), tuple(packed)
    if key not in known:
        known[key] = stack.enter_context(_database(paths, None, packed))
    whole, links = known[key]
    duck = whole.cursor()
    try:
        duck.execute("SET VARIABLE files = $1", [links])
        yield duck
    finally:
        duck.close()


@contextmanager
def _database(paths: Sequence[str], database: str | None, packed: Sequence[str]) -> Iterator[_Database]:
    with scratch_folder() as folder:
        if paths and not PATTERNS.isdisjoint(folder):
            raise DataError(
                f"the temporary folder {folder} has signs of a pattern in its name; set TMPDIR to another one."
            )
        links = [os.path.join(folder, f"{place}{packed_ending(path)}") for place, path in enumerate(paths)]
        for path, link in zip(paths, links, strict=True):
            os.symlink(os.path.abspath(path), link)
        most: dict[str, str | int | float | list[str]] = {
            "memory_limit": f"{_memory(packed)}B",
            "threads": os.cpu_count() or 1,
            "temp_directory": folder,
        }
        duck = Connection(duckdb.connect(config={**SETTINGS, **most}))
        try:
            duck.execute("SET enable_progress_bar = false")  # the terminal is the program's
            duck.execute("SET GLOBAL TimeZone = 'UTC'")  # moments do not depend on where the machine stands
            duck.execute("SET VARIABLE files = $1", [links])
            if database is not None:
                with quiet(
                    f"{Path(database).name} is not a DuckDB database, or another program has it open", FileFormatError
                ):
                    duck.execute(f"ATTACH {literal(os.path.abspath(database))} AS source (READ_ONLY)")
            duck.execute(f"SET allowed_paths = [{', '.join(map(literal, links))}]")
            duck.execute("SET enable_external_access = false")
            duck.execute("SET lock_configuration = true")
            yield _Database(duck, links)
        finally:
            duck.close()


def _memory(paths: Sequence[str]) -> int:
    """Return the maximum number of bytes that DuckDB may hold for packed files."""
    return min(MEMORY, max_memory(sum(os.path.getsize(path) for path in paths)) * 3 // 8) if paths else MEMORY


def packed_ending(path: str) -> str:
    """The ending of a name that states the file is compressed, or nothing."""
    return next((ending for ending in PACKED if path.lower().endswith(ending)), "")


@contextmanager
def quiet(sentence: str, error: type[NoisewrightError] = DataError) -> Iterator[None]:
    """Replace errors of DuckDB and Arrow by one sentence (without its full stop); errors of ours pass."""
    try:
        yield
    except NoisewrightError:
        raise
    except (duckdb.OutOfMemoryException, MemoryError):
        raise error(
            f"{sentence}, or it takes more memory than a table of its size may; write it in smaller parts."
        ) from None
    except (duckdb.Error, pa.ArrowException, OSError, UnicodeError):
        raise error(f"{sentence}.") from None


def readable(schema: pa.Schema) -> pa.Schema:
    """The same schema without its notes, if all names in it, however deep, are text: Arrow does not look before they
    are used.
    """
    waiting = list(schema)
    while waiting:
        field = waiting.pop()
        field.name.encode()
        waiting += [field.type.field(place) for place in range(field.type.num_fields)]
    return schema.remove_metadata()


def valid(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the same batch if it is valid: offsets, codes and lengths inside of its buffers, text in UTF-8.

    Arrow does not check them, and anyone who reads a value at a false offset reads beyond the end.
    """
    batch.validate(full=True)
    if batch.num_rows > MOST_IN_BATCH:
        raise pa.ArrowInvalid("too many rows in a batch")
    return batch


def identifier(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def check_names(name: str, columns: Sequence[str], used: Collection[str] | None = None) -> None:
    """SQL does not distinguish upper from lower case in names, so two columns must differ in more than that.

    Of how many columns there may be: where a policy states which are ``used``, only they are read.
    """
    if not columns:
        raise DataError(f"{name} has no columns.")
    if used is None and len(columns) > MOST_COLUMNS:
        raise DataError(
            f"{name} has {len(columns):,} columns, and {MOST_COLUMNS:,} are the most where all are read; leave some out."
        )
    if any("\0" in column or not _encodes(column) for column in columns):
        raise DataError(
            f"{name} has a column whose name is no text (it holds a NUL or half of a character); rename it."
        )
    if len({column.casefold() for column in columns}) < len(columns):
        raise DataError(f"{name} has two columns of the same name (in upper or lower case); rename one of them.")


def _encodes(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
