"""The tables of a ledger, and the triggers with which the file itself refuses to forget.

Rows are only ever added. No row of any table is changed or deleted, with two exceptions that go one way: the account of a unit
grows, and the head of the chain moves on. ``INSERT OR REPLACE`` deletes without asking the triggers for deletions (unless the
connection has ``recursive_triggers``, which a file cannot demand), so every table also refuses to be given a key that it has.

What is spent is written as a fraction in plain digits: a negative, an infinite or a broken number does not get in.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import cache

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
    "TABLES",
    "UNITS",
    "UNIT_COLUMNS",
    "VERSION",
    "add_later",
    "build",
    "schema_of",
    "wanted_schema",
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
