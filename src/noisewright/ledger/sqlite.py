"""The file of a ledger, in SQLite: how it is made, opened and checked, and the messages when that fails.

One SQLite database in WAL mode with ``synchronous=FULL``: a commit is on the disk before it returns, and a process that dies
leaves all of a transaction or nothing. Before the file is closed, the content of the journal is written to it, so that
the one file is all of the ledger whenever no one writes to it. It holds a secret key and can be read by its owner alone.

A name is reduced to its **skeleton**: compatibility forms (full width, ligatures) and digits of other scripts to plain ones,
marks dropped, and each letter replaced by the Latin one that it looks like. That is done once before and once after upper
and lower case are made one: ``I`` looks like ``l``, and ``CLINIC`` is read as ``clinic``. The idea is Unicode's (Technical
Standard 39); the table is a short one of our own, of letters that print alike in common fonts.

>>> alike("clinic", "Clinic"), alike("clinic", "cIinic"), alike("clinic", "clinic 2")
(True, True, False)
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import sqlite3
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from noisewright._utils.inputs import is_url
from noisewright.exceptions import LedgerError
from noisewright.io.atomic import dead, place, rename_new, started, sync_folder, turn
from noisewright.ledger.database import (
    APPLICATION,
    CHAIN_SINCE,
    CHAINED,
    LATER,
    OLDEST,
    VERSION,
    Place,
    Store,
    build,
    default_path,
    has_chain,
    schema_of,
    wanted_schema,
    writing,
)

__all__ = ["SqliteDatabase", "SqliteStore", "alike", "appear", "sentences", "store_of"]


CACHE = -32_768
"""Cache in KiB, as SQLite wants it: memory for sorting and the pages of the accounts before they go to the disk."""
SETTINGS = (
    "synchronous = FULL",
    "fullfsync = ON",
    "trusted_schema = OFF",
    "recursive_triggers = ON",
    f"cache_size = {CACHE}",
)
EMPTY = "''"
_NOTHING = {"number": "0", "release": "0", "dataset": "0"}
LARGE = 1 << 26
"""Bytes of a file above which the pages of the accounts of units are not read through on every opening."""


class SqliteDatabase(sqlite3.Connection):
    """A connection to a ledger in a file."""

    BLOB = "BLOB"
    JOIN = "CROSS JOIN"

    def begin(self, *, write: bool) -> None:
        self.execute("BEGIN IMMEDIATE" if write else "BEGIN")

    def version(self) -> int:
        return int(self.execute("PRAGMA user_version").fetchone()[0])

    def fill(self, table: str, rows: Iterable[tuple[bytes]]) -> None:
        self.executemany(f"INSERT INTO {table} VALUES (?)", rows)

    def check_pages(self, place: Place, *, all_of_it: bool = False) -> None:
        """Let SQLite check that pages fit together, indexes the rows, and rows the constraints of their tables.

        The chain covers rows. What is found through an index is only what that holds, so the quick check is not enough.
        """
        size = self.execute("PRAGMA page_count").fetchone()[0] * self.execute("PRAGMA page_size").fetchone()[0]
        tables = [name for type_, name, _ in schema_of(self) if type_ == "table" and name != "units"]
        checks = [""] if all_of_it or size <= LARGE else [f"({name})" for name in tables]
        for check in checks:
            if self.execute(f"PRAGMA integrity_check{check}").fetchall() != [("ok",)]:
                raise _damaged(place)


class SqliteStore:
    """A ledger in one file."""

    def __init__(self, place: Path) -> None:
        self.place = place
        if "\0" in str(place):
            raise LedgerError(f"{str(place)!r} cannot be the name of a ledger.")
        if os.path.isdir(place):
            raise LedgerError(f"{place} is a folder, not a ledger; name a file.")

    def exists(self) -> bool:
        return os.path.lexists(self.place)

    def check_place(self, *, with_folder: bool) -> None:
        """Refuse a place where no ledger can be made, without making anything; ``with_folder``: its folder may be missing."""
        folder = self.place.parent
        while with_folder and not os.path.lexists(folder):
            folder = folder.parent
        if not folder.is_dir():
            raise _no_folder(self.place)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise LedgerError(f"{self.place}: the ledger cannot be created: this user may not write to {folder}.")

    def create(self, begin: Callable[[Any], object], *, with_folder: bool) -> bool:
        return create(self.place, begin, with_folder=with_folder)

    def opened(self, wait: float) -> AbstractContextManager[SqliteDatabase]:
        return opened(self.place, wait)

    @contextmanager
    def turn(self, name: str, busy: Callable[[], None], *, with_folder: bool) -> Iterator[None]:
        """Lock a hidden file next to the ledger, which is deleted after the turn."""
        path = Path(os.path.realpath(self.place))
        missing = [folder for folder in (path.parent, *path.parent.parents) if with_folder and not folder.exists()]
        with suppress(OSError):  # where nothing can be written, no ledger is made either
            for folder in reversed(missing):
                folder.mkdir(mode=0o700, exist_ok=True)
        tag = hashlib.sha256(name.encode()).hexdigest()[:16]
        try:
            with turn(path.with_name(f".{path.name}.{tag}.turn"), busy):
                yield
        finally:
            for folder in missing:
                with suppress(OSError):  # the ledger lies there now
                    folder.rmdir()


def create(path: Path, begin: Callable[[SqliteDatabase], object], *, with_folder: bool) -> bool:
    """Make a ledger; it appears whole, or nothing does, not even its folder (``with_folder``). Return whether it was made.

    ``begin`` writes its key, and its other content. A ledger that is there already, or is made meanwhile, is left alone.
    """
    missing = [folder for folder in (path.parent, *path.parent.parents) if with_folder and not os.path.lexists(folder)]

    def fill(made: Path) -> None:
        with sentences(path), closing(sqlite3.connect(made, isolation_level=None, factory=SqliteDatabase)) as db:
            db.execute(f"PRAGMA application_id = {APPLICATION}")
            db.execute(f"PRAGMA user_version = {VERSION}")
            with writing(db):
                build(db)
                begin(db)
            db.execute("PRAGMA journal_mode = WAL")

    try:
        try:
            for wanted in reversed(missing):
                wanted.mkdir(mode=0o700, exist_ok=True)
            try:
                appear(path, fill)
            except FileExistsError:
                return False
            return True
        except FileNotFoundError:
            raise _no_folder(path) from None
        except OSError as problem:
            raise LedgerError(f"{path}: the ledger cannot be created: {problem.strerror}.") from None
    except BaseException:
        for folder in missing:
            with suppress(OSError):  # it was not made, or someone else has put something in it
                folder.rmdir()
        raise


def appear(path: Path, fill: Callable[[Path], None]) -> None:
    """Let ``fill`` write a database under a hidden name that its owner alone can read, and give it its own name in one step.

    What processes that were killed left half made is removed. ``FileExistsError`` if the name is taken.
    """
    pattern = re.compile(rf"\.{re.escape(path.name)}\.(\d+)-(\d+)-([0-9a-f]+)-[0-9a-f]+\.making(-journal|-wal|-shm)?")
    for other in path.parent.iterdir():
        found = pattern.fullmatch(other.name)
        if found and dead(int(found[1]), found[2], found[3]):
            other.unlink(missing_ok=True)
    tag = f"{os.getpid()}-{started(os.getpid())}-{place()}-{secrets.token_hex(4)}"
    made = path.with_name(f".{path.name}.{tag}.making")
    try:
        os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        fill(made)
        with open(made, "rb+") as file:
            os.fsync(file.fileno())
        rename_new(made, path)
        sync_folder(path.parent)
    finally:
        for ending in ("", "-journal", "-wal", "-shm"):
            made.with_name(made.name + ending).unlink(missing_ok=True)


def _no_folder(path: Path) -> LedgerError:
    return LedgerError(f"{path}: there is no folder {path.parent}; create it, or name another ledger.")


@contextmanager
def opened(path: Path, wait: float) -> Iterator[SqliteDatabase]:
    """A connection of its own for one call, so that threads and forked processes share nothing.

    The file is only ever opened through SQLite: closing any other descriptor of it would drop this process's locks.
    """
    with sentences(path, wait), closing(connected(path, wait)) as db:
        _recognise(db, path)
        for setting in SETTINGS:
            db.execute(f"PRAGMA {setting}")
        if has_chain(db):  # tables are exchanged when an older ledger is brought up to date
            db.execute("PRAGMA foreign_keys = ON")
        before = db.total_changes
        yield db
        if db.total_changes != before:
            _settle(db)


def _settle(db: sqlite3.Connection) -> None:
    """Write the content of the journal to the file itself, even while others have the ledger open: a copy of one file is
    enough then.

    Where someone reads at this very moment it is left to them, and the journal stays next to the file.
    """
    db.execute("PRAGMA busy_timeout = 1000")
    with suppress(sqlite3.OperationalError):
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def connected(path: Path, wait: float) -> SqliteDatabase:
    """Connect to a file that is there."""
    uri = f"{path.as_uri()}?mode=rw"
    return sqlite3.connect(uri, uri=True, timeout=wait, isolation_level=None, factory=SqliteDatabase)


def _recognise(db: SqliteDatabase, path: Path) -> None:
    application = db.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION:
        empty = not application and not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        what = "is empty, not a Noisewright ledger" if empty else "is a database, but not a Noisewright ledger"
        raise LedgerError(f"{path} {what}; restore the ledger that was there, or name another file.")
    version = db.version()
    if version > VERSION:
        raise LedgerError(
            f"{path} was written by a newer Noisewright (ledger version {version}, this program knows {VERSION}); update it."
        )
    if version < VERSION:
        _recognise_old(db, path, version)
    elif schema_of(db) != wanted_schema():
        raise _damaged(path)
    if db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":  # a copy made with another tool may have lost it
        db.execute("PRAGMA journal_mode = WAL")


def _recognise_old(db: sqlite3.Connection, path: Path, version: int) -> None:
    """An older ledger is read as it is; views stand in for the tables that it has not got."""
    for table, since in LATER.items():
        if since > version:
            columns = ", ".join(f"{_NOTHING.get(name, EMPTY)} AS {name}" for name in CHAINED[table].split(", "))
            db.execute(f"CREATE TEMP VIEW {table} AS SELECT {columns} WHERE false")
    if version >= CHAIN_SINCE:
        if schema_of(db) != wanted_schema(version):
            raise _damaged(path)
        return
    names = {name for type_, name, _ in schema_of(db) if type_ == "table"}
    wanted = {
        "secret",
        "datasets",
        "budgets",
        "releases",
        "charges",
        "units",
        *(("protections",) if version > 1 else ()),
    }
    if version < OLDEST or names != wanted:
        raise _damaged(path)
    if version == 1:
        if db.execute("SELECT 1 FROM charges WHERE kind = 'column' LIMIT 1").fetchone():
            raise LedgerError(
                f"{path} was written by an earlier Noisewright, which did not record how far apart the values are that its "
                "releases of columns protect, so nothing can be added to them; keep it, and name a new ledger."
            )
        db.execute(
            "CREATE TEMP VIEW protections AS SELECT 0 AS number, 0 AS dataset, 0 AS release, '' AS columns, '' AS distance, "
            "'' AS unit WHERE false"
        )
    db.execute(
        "CREATE TEMP VIEW finishes AS SELECT number AS release, finished AS time, output FROM main.releases "
        "WHERE state = 'finished'"
    )
    wrong = "{0} GLOB '*[^0-9/]*' OR {0} NOT GLOB '[0-9]*'"
    for table in ("budgets", "charges"):
        amounts = " OR ".join(wrong.format(name) for name in ("epsilon", "delta"))
        if db.execute(f"SELECT 1 FROM {table} WHERE {amounts} LIMIT 1").fetchone():
            raise _damaged(path)


def _damaged(path: Place) -> LedgerError:
    return LedgerError(f"{path} {WORDS[sqlite3.SQLITE_CORRUPT]}.")


WORDS = {
    sqlite3.SQLITE_NOTADB: "is not a Noisewright ledger; name the right file",
    sqlite3.SQLITE_CORRUPT: "is damaged; restore it from a backup, because what was spent must not be forgotten",
    sqlite3.SQLITE_READONLY: "cannot be written: it or its folder is read-only; a spend is recorded before any draw",
    sqlite3.SQLITE_FULL: "cannot be written: the disk is full; make room and try again",
    sqlite3.SQLITE_IOERR: "cannot be read or written: the disk is full or failing, or a limit on file sizes is reached",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: the ledger and its folder must be readable and writable by this user",
    sqlite3.SQLITE_CONSTRAINT: "refused a change that would make it forget or reduce a spend",
}


@contextmanager
def sentences(path: Path, wait: float = 0) -> Iterator[None]:
    """Return the message of SQLite as one sentence for a person."""
    try:
        yield
    except (sqlite3.Error, UnicodeError) as problem:
        code = (getattr(problem, "sqlite_errorcode", None) or 0) & 0xFF
        if code == sqlite3.SQLITE_BUSY:
            said = f"has been in use by another program for more than {wait:g} s; try again when that has ended"
        elif isinstance(problem, UnicodeError) or str(problem).startswith("Could not decode"):  # text that is none
            said = WORDS[sqlite3.SQLITE_CORRUPT]
        else:
            said = WORDS.get(code, f"cannot be used as a ledger ({problem})")
        raise LedgerError(f"{path} {said}.") from None


# Lookalikes ---------------------------------------------------------------------------------------------------------------
#
# Which names look alike: two datasets whose names a person takes for one would have two budgets for the same people.


_PAIRS = (
    ("аеорсухіјѕһԁԛԝѵӏвмнткгпьԍ", "aeopcyxijshdqwvlbmhtkrnbg"),
    ("АЕОРСУХІЈЅԌԚԜѴӀВМНТКЗЬГҺ", "AEOPCYXIJSGQWVlBMHTK3brh"),
    ("αβγεηικμνορστυχωϲϳ", "abyeniluvopotuxwcj"),
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ", "ABEZHIKMNOPTYXCJ"),
    ("օսհոցզլյ", "ouhngqlj"),
    ("ՕՍՏԼ", "OUSL"),
    ("ᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᏚᎢᏙᎳᏃᎡ", "ABCDEGHJKLMPSTVWZR"),
    ("ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ", "BPDTGKJCZFMNLSRVHWXYAEIOU"),
    ("ⲃⲉⲏⲓⲕⲙⲛⲟⲣⲥⲧⲭ", "behikmnopctx"),
    ("ᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdeghijklmnoprstuvwyz"),
    ("ıɑɡɩƿøđłħŧƅɛØĐŁĦŦ", "iagipodlhtbeODLHT"),
    ("‐‑‒–—―−⁃", "--------"),
    ("‘’ʼ′`´·•∙", "''''''..."),
    ("0O1I|!", "oollll"),
)
_TABLE = {ord(one): ord(plain) for many, plains in _PAIRS for one, plain in zip(many, plains, strict=True)}
_JOINED = (("rn", "m"), ("vv", "w"))
"""Two letters that look like one."""


def alike(first: str, second: str) -> bool:
    """Return whether a person could take one name for the other."""
    return not _skeletons(first).isdisjoint(_skeletons(second))


def _skeletons(name: str) -> set[str]:
    plain = "".join(_plain(character) for character in unicodedata.normalize("NFKD", name))
    before = _replaced(plain).casefold()
    return {_joined(before), _joined(_replaced(plain.casefold()))}


def _plain(character: str) -> str:
    """Without marks and invisible signs; one blank for all, and a digit for every digit."""
    kind = unicodedata.category(character)
    if kind in ("Mn", "Me", "Cf", "Cc"):
        return ""
    digit = unicodedata.digit(character, None)
    return str(digit) if digit is not None else " " if kind == "Zs" else character


def _replaced(name: str) -> str:
    return name.translate(_TABLE)


def _joined(name: str) -> str:
    for two, one in _JOINED:
        name = name.replace(two, one)
    return " ".join(name.split())


# Stores -------------------------------------------------------------------------------------------------------------------
#
# Place of a ledger by its name: a file, or a PostgreSQL database.


def store_of(name: str | os.PathLike[str] | None) -> Store:
    """Return the store of a ledger by its name; None: the ledger of this user."""
    named = default_path() if name is None else name
    if isinstance(named, str) and is_url(named):
        from noisewright.ledger.postgresql import PostgresqlStore

        return PostgresqlStore(named)
    return SqliteStore(Path(os.path.abspath(named)))
