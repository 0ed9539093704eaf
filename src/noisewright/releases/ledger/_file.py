"""The file of a ledger: how it is made, opened and guarded, and what is said when that fails.

One SQLite database in WAL mode with ``synchronous=FULL``: a commit is on the disk before it returns, and a process that dies
leaves all of a transaction or nothing. The tables refuse, by triggers, whatever would forget or reduce a spend. The file holds
a secret key and can be read by its owner alone.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from noisewright.core.errors import LedgerError
from noisewright.files.renames import rename_new, sync_folder

__all__ = ["KEY_BYTES", "check_place", "create", "default_path", "opened", "reading", "trying", "writing"]

APPLICATION = 0x4E57_4C44
"""``NWLD`` in the header of the database: this is a ledger, not a database of another program."""
VERSION = 2
"""Version 1 did not know the protected distances of columns."""
KEY_BYTES = 32

SCHEMA = """
CREATE TABLE secret (one INTEGER PRIMARY KEY CHECK (one = 1), key BLOB NOT NULL, created TEXT NOT NULL);
CREATE TABLE datasets (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    scope TEXT NOT NULL CHECK (scope IN ('dataset', 'unit')),
    neighbours TEXT NOT NULL
);
CREATE TABLE budgets (
    number INTEGER PRIMARY KEY,
    dataset INTEGER NOT NULL REFERENCES datasets,
    time TEXT NOT NULL,
    event TEXT NOT NULL CHECK (event IN ('set', 'raised', 'lowered')),
    epsilon TEXT NOT NULL,
    delta TEXT NOT NULL
);
CREATE TABLE releases (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    dataset INTEGER NOT NULL REFERENCES datasets,
    time TEXT NOT NULL,
    policy TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('started', 'finished')),
    finished TEXT,
    output TEXT
);
CREATE TABLE charges (
    number INTEGER PRIMARY KEY,
    release INTEGER NOT NULL REFERENCES releases,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    epsilon TEXT NOT NULL,
    delta TEXT NOT NULL,
    guarantee TEXT NOT NULL
);
CREATE INDEX charges_of_release ON charges (release);
CREATE TABLE units (
    dataset INTEGER NOT NULL,
    unit BLOB NOT NULL,
    epsilon INTEGER NOT NULL CHECK (typeof(epsilon) = 'integer' AND epsilon >= 0),
    delta INTEGER NOT NULL CHECK (typeof(delta) = 'integer' AND delta >= 0),
    latest INTEGER NOT NULL,
    PRIMARY KEY (dataset, unit)
) WITHOUT ROWID;
CREATE TRIGGER releases_finish BEFORE UPDATE ON releases
    WHEN OLD.state <> 'started' OR NEW.state <> 'finished' OR NEW.number <> OLD.number OR NEW.name <> OLD.name
        OR NEW.dataset <> OLD.dataset OR NEW.time <> OLD.time OR NEW.policy <> OLD.policy
    BEGIN SELECT RAISE(ABORT, 'a ledger forgets nothing'); END;
CREATE TRIGGER units_grow BEFORE UPDATE ON units
    WHEN NEW.epsilon < OLD.epsilon OR NEW.delta < OLD.delta OR NEW.unit <> OLD.unit OR NEW.dataset <> OLD.dataset
    BEGIN SELECT RAISE(ABORT, 'a ledger forgets nothing'); END;
"""
PROTECTIONS = """
CREATE TABLE protections (
    number INTEGER PRIMARY KEY,
    dataset INTEGER NOT NULL REFERENCES datasets,
    release INTEGER NOT NULL REFERENCES releases,
    columns TEXT NOT NULL,
    distance TEXT NOT NULL,
    unit TEXT NOT NULL,
    UNIQUE (dataset, columns)
);
"""
"""The protected distance of every column of a dataset, as its first release had it; what version 2 added."""
KEPT = ("secret", "datasets", "budgets", "releases", "charges", "units")
FROZEN = ("secret", "datasets", "budgets", "charges")


def default_path() -> Path:
    """The ledger of this user, wherever a policy names none: ``$NOISEWRIGHT_LEDGER``, or one file in the home folder."""
    named = os.environ.get("NOISEWRIGHT_LEDGER")
    if named:
        return Path(named)
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "noisewright" / "ledger.sqlite"


def check_place(path: Path, *, with_folder: bool) -> None:
    """Refuse a place where no ledger can be made, without making anything; ``with_folder``: its folder may be missing."""
    folder = path.parent
    while with_folder and not os.path.lexists(folder):
        folder = folder.parent
    if not folder.is_dir():
        raise _no_folder(path)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise LedgerError(f"{path}: the ledger cannot be created: this user may not write to {folder}.")


def create(path: Path, time: str, *, with_folder: bool) -> None:
    """Make a ledger with a key of its own; it appears whole, or nothing does, not even its folder (``with_folder``).

    A ledger that is there already, or is made meanwhile, is left alone.
    """
    missing = [folder for folder in (path.parent, *path.parent.parents) if with_folder and not os.path.lexists(folder)]
    try:
        _create(path, time, missing)
    except BaseException:
        for folder in missing:
            with suppress(OSError):  # it was not made, or somebody else has put something in it
                folder.rmdir()
        raise


def _create(path: Path, time: str, missing: list[Path]) -> None:
    try:
        for wanted in reversed(missing):
            wanted.mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
            made = Path(folder) / "ledger"
            os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            with _sentences(path), closing(sqlite3.connect(made, isolation_level=None)) as db:
                _build(db, time)
            with open(made, "rb+") as file:
                os.fsync(file.fileno())
            try:
                rename_new(made, path)
            except FileExistsError:
                return
            sync_folder(path.parent)
    except FileNotFoundError:
        raise _no_folder(path) from None
    except OSError as problem:
        raise LedgerError(f"{path}: the ledger cannot be created: {problem.strerror}.") from None


def _no_folder(path: Path) -> LedgerError:
    return LedgerError(f"{path}: there is no folder {path.parent}; create it, or name another ledger.")


def _build(db: sqlite3.Connection, time: str) -> None:
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute(f"PRAGMA user_version = {VERSION}")
    guards = _guards((*KEPT, "protections"), (*FROZEN, "protections"))
    db.executescript(f"BEGIN; {SCHEMA} {PROTECTIONS} {' '.join(guards)} COMMIT;")
    db.execute("INSERT INTO secret VALUES (1, ?, ?)", (os.urandom(KEY_BYTES), time))
    db.execute("PRAGMA journal_mode = WAL")


def _guards(kept: tuple[str, ...], frozen: tuple[str, ...]) -> list[str]:
    """Triggers that refuse to delete from tables, and to change rows of them."""
    return [
        f"CREATE TRIGGER {table}_{name} BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, 'a ledger forgets nothing'); END;"
        for verb, name, tables in (("DELETE", "stay", kept), ("UPDATE", "frozen", frozen))
        for table in tables
    ]


def _upgrade(db: sqlite3.Connection, path: Path) -> None:
    """A ledger of version 1 becomes one of version 2, in one transaction, if nothing that it records is of unknown meaning."""
    with writing(db):
        if db.execute("PRAGMA user_version").fetchone()[0] == VERSION:  # another process was faster
            return
        if db.execute("SELECT 1 FROM charges WHERE kind = 'column' LIMIT 1").fetchone():
            raise LedgerError(
                f"{path} was written by an earlier Noisewright, which did not record how far apart the values are that its "
                "releases of columns protect, so nothing can be added to them; keep it, and name a new ledger."
            )
        for command in (PROTECTIONS, *_guards(("protections",), ("protections",))):
            db.execute(command)
        db.execute(f"PRAGMA user_version = {VERSION}")


@contextmanager
def opened(path: Path, wait: float) -> Iterator[sqlite3.Connection]:
    """A connection of its own for one call, so that threads and forked processes share nothing.

    The file is only ever opened through SQLite: closing any other descriptor of it would drop this process's locks.
    """
    with _sentences(path, wait), closing(_connected(path, wait)) as db:
        _recognise(db, path)
        for setting in ("synchronous = FULL", "fullfsync = ON", "foreign_keys = ON", "trusted_schema = OFF"):
            db.execute(f"PRAGMA {setting}")
        yield db


@contextmanager
def reading(db: sqlite3.Connection) -> Iterator[None]:
    """Several questions to the same state of the ledger, whatever others write meanwhile."""
    with _undone(db, "BEGIN"):
        yield


@contextmanager
def writing(db: sqlite3.Connection) -> Iterator[None]:
    """One transaction that holds the right to write from its beginning: what it reads is still true when it commits."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


@contextmanager
def trying(db: sqlite3.Connection) -> Iterator[None]:
    """The same transaction, to see what it would say: nothing of it stays."""
    with _undone(db, "BEGIN IMMEDIATE"):
        yield


@contextmanager
def _undone(db: sqlite3.Connection, begin: str) -> Iterator[None]:
    """A transaction that is taken back at its end, unless an error already did so."""
    db.execute(begin)
    try:
        yield
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _connected(path: Path, wait: float) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=wait, isolation_level=None)


def _recognise(db: sqlite3.Connection, path: Path) -> None:
    application = db.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION:
        empty = not application and not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        what = "is empty, not a Noisewright ledger" if empty else "is a database, but not a Noisewright ledger"
        raise LedgerError(f"{path} {what}; restore the ledger that was there, or name another file.")
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        raise LedgerError(
            f"{path} was written by a newer Noisewright (ledger version {version}, this program knows {VERSION}); update it."
        )
    if version < VERSION:
        _upgrade(db, path)
    if db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":  # a copy made with another tool may have lost it
        db.execute("PRAGMA journal_mode = WAL")


@contextmanager
def _sentences(path: Path, wait: float = 0) -> Iterator[None]:
    """What SQLite says, as one sentence for a person."""
    try:
        yield
    except sqlite3.Error as problem:
        code = (getattr(problem, "sqlite_errorcode", None) or 0) & 0xFF
        words = {
            sqlite3.SQLITE_NOTADB: "is not a Noisewright ledger; name the right file",
            sqlite3.SQLITE_CORRUPT: "is damaged; restore it from a backup, because what was spent must not be forgotten",
            sqlite3.SQLITE_READONLY: "cannot be written: it or its folder is read-only; a spend is recorded before any draw",
            sqlite3.SQLITE_BUSY: f"has been in use by another program for more than {wait:g} s; try again when that has ended",
            sqlite3.SQLITE_FULL: "cannot be written: the disk is full; make room and try again",
            sqlite3.SQLITE_IOERR: "cannot be read or written: the disk is full or failing, or a limit on file sizes is reached",
            sqlite3.SQLITE_CANTOPEN: "cannot be opened: the ledger and its folder must be readable and writable by this user",
            sqlite3.SQLITE_CONSTRAINT: "refused a change that would make it forget or reduce a spend",
        }
        said = words.get(code, f"cannot be used as a ledger ({problem})")
        raise LedgerError(f"{path} {said}.") from None
