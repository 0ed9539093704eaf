"""The interface between a ledger and the database that holds it: SQLite in one file, or PostgreSQL for a team.

Both take the same statements, with ``?`` for parameters. What differs is behind :class:`Database` (one connection) and
:class:`Store` (the place that connections lead to). ``writing`` holds the right to write from its beginning, in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from noisewright.releases.ledger.homes.schema import CHAIN_SINCE, VERSION

__all__ = [
    "ConflictError",
    "Database",
    "Place",
    "Store",
    "UncertainError",
    "has_chain",
    "old_version",
    "reading",
    "trying",
    "writing",
]

Place = Path | str
"""Name of a ledger in messages: its file, or the URL of its database without a password."""


class ConflictError(Exception):
    """A transaction that the database rolled back because another one came first; it must be run again."""


class UncertainError(Exception):
    """A commit whose answer did not come: it may have been made, or not."""


class Database(Protocol):
    """One connection to a ledger."""

    BLOB: str
    """The type of a column of bytes."""
    JOIN: str
    """A join whose left table is read first, in its order."""

    @property
    def in_transaction(self) -> bool: ...

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Any: ...

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Any: ...

    def begin(self, *, write: bool) -> None:
        """Begin a transaction; one that writes waits here until it alone may."""

    def version(self) -> int:
        """Return the version of the tables."""

    def check_pages(self, place: Place, *, all_of_it: bool = False) -> None:
        """Check the storage below the rows, as far as this database can."""

    def fill(self, table: str, rows: Iterable[tuple[bytes]]) -> None:
        """Put many rows of one value into a table."""


class Store(Protocol):
    """Place of a ledger, with the functions that make and open it."""

    @property
    def place(self) -> Place: ...

    def exists(self) -> bool:
        """Return whether something is there; whether it is a ledger shows when it is opened."""

    def check_place(self, *, with_folder: bool) -> None:
        """Refuse a place where no ledger can be made, without making anything."""

    def create(self, begin: Callable[[Database], object], *, with_folder: bool) -> bool:
        """Make a ledger, whose key and rows ``begin`` writes; False if one is there already, which is left alone."""

    def opened(self, wait: float) -> AbstractContextManager[Database]:
        """Open a connection for one call."""

    def turn(self, name: str, busy: Callable[[], None], *, with_folder: bool) -> AbstractContextManager[None]:
        """Wait until no other process has the turn of this name; ``busy`` is called once if another one has it.

        The ledger need not exist. The turn ends with its process, however that ends.
        """


def old_version(db: Database) -> int | None:
    """Return the version of a ledger that was not brought up to date yet; None for one of this version."""
    version = db.version()
    return None if version == VERSION else version


def has_chain(db: Database) -> bool:
    """Return whether a ledger is of a version whose records are chained."""
    return db.version() >= CHAIN_SINCE


@contextmanager
def reading(db: Database) -> Iterator[None]:
    """Ask several questions of the same state of the ledger, whatever others write meanwhile."""
    with _undone(db, write=False):
        yield


@contextmanager
def writing(db: Database) -> Iterator[None]:
    """Open one transaction that holds the right to write from its beginning: what it reads is still true when it commits."""
    db.begin(write=True)
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        _take_back(db)
        raise


@contextmanager
def trying(db: Database) -> Iterator[None]:
    """Open the same transaction to see its answer; nothing of it stays."""
    with _undone(db, write=True):
        yield


@contextmanager
def _undone(db: Database, *, write: bool) -> Iterator[None]:
    """Open a transaction that is taken back at its end, unless an error already did so."""
    db.begin(write=write)
    try:
        yield
    finally:
        _take_back(db)


def _take_back(db: Database) -> None:
    """Take a transaction back; of a connection that is lost, the end does it, and the first problem is the one to report."""
    with suppress(Exception):
        if db.in_transaction:
            db.execute("ROLLBACK")
