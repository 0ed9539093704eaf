"""The tables of a ledger, and the triggers with which the file itself refuses to forget.

Rows are only ever added. No row of any table is changed or deleted, with two exceptions that go one way: the account of a unit
grows, and the head of the chain moves on. ``INSERT OR REPLACE`` deletes without asking the triggers for deletions (unless the
connection has ``recursive_triggers``, which a file cannot demand), so every table also refuses to be given a key that it has.

What is spent is written as a fraction in plain digits: a negative, an infinite or a broken number does not get in.

>>> address = Address.read("postgresql://ann:secret@db.example/team")
>>> str(address), repr(address)
('postgresql://ann@db.example/team', "Address('postgresql://ann@db.example/team')")
>>> shown("postgresql://ann:secret@db.example/team?schema=clinic"), shown("clinic.sqlite")
('postgresql://ann@db.example/team?schema=clinic', 'clinic.sqlite')
"""

from __future__ import annotations

import getpass
import os
import re
import socket
import sqlite3
import ssl
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from noisewright._utils.inputs import is_url
from noisewright.exceptions import LedgerError

__all__ = [
    "APPLICATION",
    "CHAINED",
    "CHAIN_SINCE",
    "FORGETS_NOTHING",
    "KEYS",
    "LATER",
    "NOT_FIRST",
    "OLDEST",
    "ONE_WAY",
    "REFUSED",
    "TABLES",
    "UNITS",
    "UNIT_COLUMNS",
    "VERSION",
    "Address",
    "ConflictError",
    "Database",
    "NoTlsError",
    "Place",
    "Store",
    "UncertainError",
    "add_later",
    "build",
    "default_path",
    "has_chain",
    "old_version",
    "reading",
    "schema_of",
    "shown",
    "trying",
    "wanted_schema",
    "writing",
]


APPLICATION = 0x4E57_4C44
"""``NWLD`` in the header of the database: this is a ledger, not a database of another program."""
VERSION = 5
"""Version 1 did not know the protected distances of columns; version 2 had no chain, and marked finished releases by a change;
version 3 did not know which releases are of the same data; version 4 charged a release to one dataset alone."""
OLDEST, CHAIN_SINCE = 1, 3
LATER = {"inputs": 4, "others": 5, "adoptions": 5}
"""The tables that came after the chain, and the version in which each of them came."""
CHAINED = {
    "datasets": "number, name, scope, neighbours",
    "budgets": "number, dataset, time, event, epsilon, delta",
    "releases": "number, name, dataset, time, policy",
    "charges": "number, release, name, kind, epsilon, delta, guarantee",
    "protections": "number, dataset, release, columns, distance, unit",
    "totals": "number, dataset, accounts, digest",
    "finishes": "number, release, time, output",
    "inputs": "number, release, digest, place",
    "others": "number, release, dataset, reason",
    "adoptions": "number, time, head, reason",
}
"""Tables whose rows the chain covers, in the order in which one transaction adds to it, with the covered columns."""


def _amount(name: str, *besides: str) -> str:
    """A column for an exact number of at least 0, as ``str(Fraction)`` writes it."""
    digits = (
        f"typeof({name}) = 'text' AND {name} GLOB '[0-9]*' AND {name} NOT GLOB '*[^0-9/]*' AND {name} NOT GLOB '*/*/*' "
        f"AND {name} NOT GLOB '*/' AND {name} NOT GLOB '*/0*'"
    )
    return f"{name} TEXT NOT NULL CHECK ({' OR '.join((*(f'{name} = {word!r}' for word in besides), f'({digits})'))})"


TABLES = (
    """CREATE TABLE secret (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    key BLOB NOT NULL CHECK (typeof(key) = 'blob' AND length(key) = 32),
    created TEXT NOT NULL
)""",
    """CREATE TABLE datasets (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (length(name) > 0),
    scope TEXT NOT NULL CHECK (scope IN ('dataset', 'unit')),
    neighbours TEXT NOT NULL CHECK (length(neighbours) > 0)
)""",
    f"""CREATE TABLE budgets (
    number INTEGER PRIMARY KEY,
    dataset INTEGER NOT NULL REFERENCES datasets,
    time TEXT NOT NULL,
    event TEXT NOT NULL CHECK (event IN ('set', 'raised', 'lowered')),
    {_amount("epsilon")},
    {_amount("delta")}
)""",
    """CREATE TABLE releases (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE CHECK (length(name) > 0),
    dataset INTEGER NOT NULL REFERENCES datasets,
    time TEXT NOT NULL,
    policy TEXT NOT NULL
)""",
    f"""CREATE TABLE charges (
    number INTEGER PRIMARY KEY,
    release INTEGER NOT NULL REFERENCES releases,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    {_amount("epsilon")},
    {_amount("delta")},
    guarantee TEXT NOT NULL
)""",
    "CREATE INDEX charges_of_release ON charges (release)",
    f"""CREATE TABLE protections (
    number INTEGER PRIMARY KEY,
    dataset INTEGER NOT NULL REFERENCES datasets,
    release INTEGER NOT NULL REFERENCES releases,
    columns TEXT NOT NULL,
    {_amount("distance", "any")},
    unit TEXT NOT NULL,
    UNIQUE (dataset, columns)
)""",
    """CREATE TABLE totals (
    number INTEGER PRIMARY KEY,
    dataset INTEGER NOT NULL REFERENCES datasets,
    accounts INTEGER NOT NULL CHECK (typeof(accounts) = 'integer' AND accounts >= 0),
    digest TEXT NOT NULL CHECK (length(digest) = 64)
)""",
    """CREATE TABLE finishes (
    number INTEGER PRIMARY KEY,
    release INTEGER NOT NULL UNIQUE REFERENCES releases,
    time TEXT NOT NULL,
    output TEXT NOT NULL
)""",
    """CREATE TABLE inputs (
    number INTEGER PRIMARY KEY,
    release INTEGER NOT NULL UNIQUE REFERENCES releases,
    digest TEXT NOT NULL CHECK (length(digest) = 64),
    place TEXT NOT NULL
)""",
    """CREATE TABLE others (
    number INTEGER PRIMARY KEY,
    release INTEGER NOT NULL REFERENCES releases,
    dataset INTEGER NOT NULL REFERENCES datasets,
    reason TEXT NOT NULL,
    UNIQUE (release, dataset)
)""",
    """CREATE TABLE adoptions (
    number INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    head TEXT NOT NULL UNIQUE CHECK (length(head) = 64),
    reason TEXT NOT NULL CHECK (length(reason) > 0)
)""",
    """CREATE TABLE chain (
    number INTEGER PRIMARY KEY CHECK (number > 0),
    kind TEXT NOT NULL,
    row INTEGER NOT NULL,
    digest BLOB NOT NULL CHECK (typeof(digest) = 'blob' AND length(digest) = 32),
    UNIQUE (kind, row)
)""",
    """CREATE TABLE head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    number INTEGER NOT NULL CHECK (typeof(number) = 'integer' AND number >= 0),
    digest BLOB NOT NULL CHECK (typeof(digest) = 'blob' AND length(digest) = 32)
)""",
)
UNITS = """CREATE TABLE units (
    dataset INTEGER NOT NULL,
    unit BLOB NOT NULL,
    epsilon INTEGER NOT NULL CHECK (typeof(epsilon) = 'integer' AND epsilon >= 0),
    delta INTEGER NOT NULL CHECK (typeof(delta) = 'integer' AND delta >= 0),
    latest INTEGER NOT NULL,
    PRIMARY KEY (dataset, unit)
) WITHOUT ROWID"""
"""The accounts, as version 1 had them already: millions of rows stay where they are when a ledger is brought up to date."""
UNIT_COLUMNS = "dataset, unit, epsilon, delta, latest"
KEYS = {
    "secret": ("one",),
    "datasets": ("number", "name"),
    "budgets": ("number",),
    "releases": ("number", "name"),
    "charges": ("number",),
    "protections": ("number", "dataset, columns"),
    "totals": ("number",),
    "finishes": ("number", "release"),
    "inputs": ("number", "release"),
    "others": ("number", "release, dataset"),
    "adoptions": ("number", "head"),
    "chain": ("number", "kind, row"),
    "head": ("one",),
    "units": ("dataset, unit",),
}
"""Keys by which a row of each table is found; no second row may have the same."""
ONE_WAY = {
    "head": "NEW.one = OLD.one AND NEW.number > OLD.number",
    "units": "NEW.epsilon >= OLD.epsilon AND NEW.delta >= OLD.delta AND NEW.unit = OLD.unit AND NEW.dataset = OLD.dataset",
}
"""The tables that may change at all, and how."""
NOT_FIRST = "(NEW.event = 'set') = EXISTS (SELECT 1 FROM budgets WHERE dataset = NEW.dataset)"
"""Condition of a refused budget: a second first one, or a change of none."""
FORGETS_NOTHING = "a ledger forgets nothing"


def build(db: sqlite3.Connection, *, units: bool = True) -> None:
    """Make the tables and triggers inside the transaction of the caller; without ``units``, that table is there already."""
    for statement in (*TABLES, *((UNITS,) if units else ()), *_guards()):
        db.execute(statement)


def add_later(db: sqlite3.Connection, version: int) -> None:
    """Make the tables that ``version`` did not have, inside the transaction of the caller."""
    for table in (name for name, since in LATER.items() if since > version):
        for statement in (*TABLES, *_guards()):
            if statement.startswith((f"CREATE TABLE {table} ", f"CREATE TRIGGER {table}_")):
                db.execute(statement)


def schema_of(db: sqlite3.Connection) -> frozenset[tuple[str, str, str]]:
    """Every table, index and trigger of a database, also indexes that SQLite made by itself: one more would be
    searched, too.
    """
    rows = db.execute("SELECT type, name, sql FROM main.sqlite_master")
    return frozenset((type_, name, str(sql)) for type_, name, sql in rows)


@cache
def wanted_schema(version: int = VERSION) -> frozenset[tuple[str, str, str]]:
    """Return the value of :func:`schema_of` for a ledger with a chain: a dropped or added trigger is found out."""
    db = sqlite3.connect(":memory:")
    try:
        build(db)
        for table in (name for name, since in LATER.items() if since > version):
            db.execute(f"DROP TABLE {table}")
        return schema_of(db)
    finally:
        db.close()


def _guards() -> Iterator[str]:
    for table, keys in KEYS.items():
        same = " OR ".join(
            f"EXISTS (SELECT 1 FROM {table} WHERE ({names}) = ({', '.join(f'NEW.{n}' for n in names.split(', '))}))"
            for names in keys
        )
        change = f"WHEN NOT ({ONE_WAY[table]}) " if table in ONE_WAY else ""
        yield _guard(f"{table}_new", f"INSERT ON {table} WHEN {same} ")
        yield _guard(f"{table}_frozen", f"UPDATE ON {table} {change}")
        yield _guard(f"{table}_stay", f"DELETE ON {table} ")
    yield _guard("budgets_first", f"INSERT ON budgets WHEN {NOT_FIRST} ")


def _guard(name: str, when: str) -> str:
    return f"CREATE TRIGGER {name} BEFORE {when}BEGIN SELECT RAISE(ABORT, '{FORGETS_NOTHING}'); END"


# Address ------------------------------------------------------------------------------------------------------------------
#
# Names of ledgers: a file, or the URL of a PostgreSQL database, whose password is never shown.


SCHEMA, PORT = "noisewright", 5432
REFUSED = "did not let this user in; look at the user and the database in the URL, and give the password in PGPASSWORD"
MODES = ("verify-full", "verify-ca", "require", "disable")
LOCAL = ("localhost", "127.0.0.1", "::1")
ASKS_FOR_TLS = struct.pack("!ii", 8, 80877103)
"""The first message to a server that is to speak TLS."""
KEPT_ALIVE = tuple(
    (level, option, value)
    for level, name, value in (
        (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
        (socket.IPPROTO_TCP, "TCP_KEEPIDLE", 10),
        (socket.IPPROTO_TCP, "TCP_KEEPINTVL", 5),
        (socket.IPPROTO_TCP, "TCP_KEEPCNT", 3),
        (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT", 30_000),
    )
    if (option := getattr(socket, name, None)) is not None
)
"""Options of a socket by which a connection without an end is noticed: in seconds, the last one in milliseconds."""
FORM = "postgresql://USER@HOST:PORT/DATABASE, with the password in PGPASSWORD"


def shown(name: str | os.PathLike[str]) -> str:
    """Return the name of a ledger for people and for files: a database is named without its password."""
    text = os.fspath(name)
    if not is_url(text):
        return text
    try:
        return str(Address.read(text))
    except LedgerError:
        return "postgresql://..."


def default_path() -> Path | str:
    """Return the ledger of this user, wherever a policy names none: ``$NOISEWRIGHT_LEDGER``, or one file in the home folder."""
    named = os.environ.get("NOISEWRIGHT_LEDGER")
    if named:
        return named if is_url(named) else Path(named)
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "noisewright" / "ledger.sqlite"


class NoTlsError(Exception):
    """The server speaks no TLS."""


@dataclass(frozen=True, repr=False)
class Address:
    """The database of a ledger, and who asks for it."""

    user: str
    host: str
    port: int
    database: str
    schema: str = SCHEMA
    tls: str = ""
    roots: str = ""
    password: str | None = field(default=None)

    @classmethod
    def read(cls, url: str) -> Address:
        """Read a URL; the problem is said without quoting it, because a password may stand anywhere in it."""
        try:
            parts = urlsplit(url.strip())
            port = parts.port or PORT
            more = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
        except ValueError:
            raise LedgerError(f"the ledger is not a URL of a PostgreSQL database; write it as {FORM}.") from None
        host = more.pop("host", "") or unquote(parts.hostname or "") or "localhost"
        schema, tls, roots = more.pop("schema", SCHEMA), more.pop("sslmode", ""), more.pop("sslrootcert", "")
        user = unquote(parts.username or "") or os.environ.get("PGUSER") or _own_name()
        database = unquote(parts.path.lstrip("/")) or user
        if more or parts.fragment or "/" in database or not parts.scheme.lower().startswith("postgres"):
            raise LedgerError(
                f"the URL of the ledger has a part that is not known; write it as {FORM}, and after a question mark only "
                "schema, sslmode, sslrootcert or host."
            )
        if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", schema) or schema.startswith("pg_"):
            raise LedgerError("the schema of a ledger has a name of small letters, digits and _; choose such a one.")
        if tls not in ("", *MODES):
            raise LedgerError(f"the sslmode of a ledger is one of {', '.join(MODES)}; choose one of them.")
        texts = (user, host, database, roots)
        if not all(text.isprintable() for text in texts):
            raise LedgerError(f"the URL of the ledger holds characters that cannot be printed; write it as {FORM}.")
        password = None if parts.password is None else unquote(parts.password)
        return cls(user, host, port, database, schema, tls, roots, password)

    def __str__(self) -> str:
        local = self.host.startswith("/")
        port = "" if self.port == PORT else f":{self.port}"
        host = "" if local else f"[{self.host}]" if ":" in self.host else self.host
        asked = [("host", self.host)] if local else []
        asked += [("schema", self.schema)] if self.schema != SCHEMA else []
        asked += [("sslmode", self.tls)] if self.tls else []
        asked += [("sslrootcert", self.roots)] if self.roots else []
        more = "&".join(f"{key}={quote(value, safe='/')}" for key, value in asked)
        return f"postgresql://{quote(self.user)}@{host}{port}/{quote(self.database)}{'?' + more if more else ''}"

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"

    def connect(self, driver: Any, wait: float) -> Any:
        """Connect; beyond this machine only with TLS and a certificate that fits the host, unless ``sslmode`` says
        otherwise.
        """
        context = self._context()
        sock = self._reached(max(wait, 1))
        try:
            if context is not None:
                sock = _with_tls(sock, context, self.host)
            password = os.environ.get("PGPASSWORD") if self.password is None else self.password
            made = driver.connect(
                self.user,
                host=self.host,
                database=self.database,
                password=password,
                sock=sock,
                ssl_context=False,  # it is there already
                application_name="noisewright",
            )
            sock.settimeout(None)
        except BaseException as problem:
            sock.close()
            if isinstance(
                problem.__cause__, ConnectionError
            ):  # the server closed the line, which is all that the driver says
                raise LedgerError(f"{self} {REFUSED}. If the server is just starting or ending, try again.") from None
            if isinstance(problem, AttributeError):  # the driver has no word for a missing password
                raise LedgerError(f"{self} {REFUSED}.") from None
            raise
        return made

    def _reached(self, wait: float) -> socket.socket:
        """Open a connection that notices within half a minute that the other end is gone."""
        if not self.host.startswith("/"):
            sock = socket.create_connection((self.host, self.port), wait)
            for level, option, value in KEPT_ALIVE:
                sock.setsockopt(level, option, value)
            return sock
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.settimeout(wait)
            sock.connect(f"{self.host}/.s.PGSQL.{self.port}")
        except BaseException:
            sock.close()
            raise
        return sock

    def _context(self) -> ssl.SSLContext | None:
        """Return whether and how TLS is spoken; None for a socket of this machine, and where nothing is requested on
        this machine.
        """
        if self.host.startswith("/"):
            return None
        stated = self.tls or os.environ.get("PGSSLMODE", "")
        mode = stated if stated in MODES else "disable" if self.host in LOCAL else "verify-full"
        if mode == "disable":
            return None
        roots = self.roots or os.environ.get("PGSSLROOTCERT") or _own_roots()
        try:
            context = ssl.create_default_context(cafile=None if roots in ("", "system") else roots)
        except (OSError, ValueError):  # an ssl.SSLError is an OSError
            raise LedgerError(
                f"the certificates in {roots!r} cannot be read; name a file in PEM form with sslrootcert=FILE or PGSSLROOTCERT."
            ) from None
        context.check_hostname = mode == "verify-full"
        if mode == "require" and not roots:  # as libpq has it: a named authority is checked
            context.verify_mode = ssl.CERT_NONE
        return context


def _with_tls(sock: socket.socket, context: ssl.SSLContext, host: str) -> socket.socket:
    """Ask the server for TLS, and begin it."""
    sock.sendall(ASKS_FOR_TLS)
    if sock.recv(1) != b"S":
        raise NoTlsError
    return context.wrap_socket(sock, server_hostname=host)


def _own_roots() -> str:
    """Return the file in which libpq looks for authorities, if this user has it."""
    with suppress(RuntimeError, OSError):
        own = Path.home() / ".postgresql" / "root.crt"
        return str(own) if own.is_file() else ""
    return ""


def _own_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise LedgerError(f"the URL of the ledger names no user; write it as {FORM}.") from None


# Database -----------------------------------------------------------------------------------------------------------------
#
# The interface between a ledger and the database that holds it: SQLite in one file, or PostgreSQL for a team.
#
# Both take the same statements, with ``?`` for parameters. What differs is behind :class:`Database` (one connection) and
# :class:`Store` (the place that connections lead to). ``writing`` holds the right to write from its beginning, in both.


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
