"""DuckDB as the reader and the aggregator: connections with bounds, and errors that quote no data.

An error text of DuckDB or Arrow often shows the cell that it stumbled over. :func:`quiet` replaces such an error by a sentence of
our own; the original is not chained, so that it cannot reach a log either.

>>> with quiet("the numbers cannot be read"), connected() as duck:
...     duck.sql("SELECT CAST('secret' AS INTEGER)").fetchall()
Traceback (most recent call last):
noisewright.core.errors.DataError: the numbers cannot be read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import duckdb
import pyarrow as pa

from noisewright.core.errors import DataError, NoisewrightError
from noisewright.files.scratch import scratch_folder

__all__ = ["MEMORY", "check_names", "connected", "identifier", "literal", "one_database", "quiet"]

MEMORY = "400MB"
"""What DuckDB may hold; the rest of a large sort or grouping goes to a private temporary folder."""


_SHARED: ContextVar[duckdb.DuckDBPyConnection | None] = ContextVar("_SHARED", default=None)


@contextmanager
def one_database() -> Iterator[None]:
    """Connections made inside share one database, because to start one takes longer than to look through a small table."""
    with connected(alone=True) as duck:
        before = _SHARED.set(duck)
        try:
            yield
        finally:
            _SHARED.reset(before)


@contextmanager
def connected(*, alone: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection of our own: all cores, bounded memory, rows in their order, in UTC, nothing fetched from a network.

    Its temporary tables and views are seen by nobody else; with ``alone`` nothing else is shared either.
    """
    if not alone and (shared := _SHARED.get()) is not None:
        duck = shared.cursor()
        try:
            duck.execute("SET TimeZone = 'UTC'")
            yield duck
        finally:
            duck.close()
        return
    with scratch_folder() as folder:
        duck = duckdb.connect(
            config={
                "threads": os.cpu_count() or 1,
                "memory_limit": MEMORY,
                "temp_directory": folder,
                "preserve_insertion_order": True,
                "autoinstall_known_extensions": False,
            }
        )
        try:
            duck.execute("SET TimeZone = 'UTC'")  # moments do not depend on where the machine stands
            yield duck
        finally:
            duck.close()


@contextmanager
def quiet(sentence: str, error: type[NoisewrightError] = DataError) -> Iterator[None]:
    """Replace errors of DuckDB and Arrow by one sentence (without its full stop); errors of ours pass."""
    try:
        yield
    except NoisewrightError:
        raise
    except (duckdb.Error, pa.ArrowException, OSError, UnicodeError):
        raise error(f"{sentence}.") from None


def identifier(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def check_names(name: str, columns: Sequence[str]) -> None:
    """SQL does not tell upper from lower case in names, so two columns must differ in more than that."""
    if not columns:
        raise DataError(f"{name} has no columns.")
    if len({column.casefold() for column in columns}) < len(columns):
        raise DataError(f"{name} has two columns of the same name (in upper or lower case); rename one of them.")
