"""Ledgers as earlier versions wrote them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from noisewright.ledger.witness import default_witness

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
KEPT = ("secret", "datasets", "budgets", "releases", "charges", "units")
FROZEN = ("secret", "datasets", "budgets", "charges")


def make_older(path: Path, version: int) -> None:
    """Turn a ledger into the file that an earlier version would have written, with the same key and records.

    There were no witnesses then.
    """
    if (witness := default_witness()) is not None:
        witness.unlink(missing_ok=True)
    if version >= 3:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            for table in ("others", "adoptions", *(("inputs",) if version == 3 else ())):
                db.execute(f"DROP TABLE {table}")
            db.execute(f"PRAGMA user_version = {version}")
        return
    with closing(sqlite3.connect(path)) as db:
        rows = {
            "secret": db.execute("SELECT * FROM secret").fetchall(),
            "datasets": db.execute("SELECT * FROM datasets").fetchall(),
            "budgets": db.execute("SELECT * FROM budgets").fetchall(),
            "releases": db.execute(
                "SELECT r.number, r.name, r.dataset, r.time, r.policy, iif(f.release IS NULL, 'started', 'finished'), "
                "f.time, f.output FROM releases r LEFT JOIN finishes f ON f.release = r.number"
            ).fetchall(),
            "charges": db.execute("SELECT * FROM charges").fetchall(),
            "units": db.execute("SELECT * FROM units").fetchall(),
            **({"protections": db.execute("SELECT * FROM protections").fetchall()} if version > 1 else {}),
        }
    path.unlink()
    later = ("protections",) if version > 1 else ()
    guards = [
        f"CREATE TRIGGER {table}_{name} BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, 'a ledger forgets nothing'); END;"
        for verb, name, tables in (("DELETE", "stay", (*KEPT, *later)), ("UPDATE", "frozen", (*FROZEN, *later)))
        for table in tables
    ]
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f"PRAGMA application_id = {0x4E57_4C44}")
        db.execute(f"PRAGMA user_version = {version}")
        db.executescript(f"BEGIN; {SCHEMA} {PROTECTIONS if later else ''} {' '.join(guards)} COMMIT;")
        for table, content in rows.items():
            if content:
                db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(content[0]))})", content)
        db.execute("PRAGMA journal_mode = WAL")
    path.chmod(0o600)
