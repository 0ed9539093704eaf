r"""Budgets of single units: millions of small accounts in one table, charged all together or not at all.

An account holds the spends of its unit, as whole *grains*: epsilon in steps of 1/3 of 10^-12, delta in steps of 10^-18.
Decimals and thirds are exact; everything else is rounded up when it is charged, and budgets are rounded down. A unit that was
never seen has no account yet and the whole budget. Accounts are named by 16 bytes of a keyed hash; should two units ever
share one, they pay for each other, which protects them no less.

Memory does not grow with the number of units: identifiers go through a temporary table on the disk, and are sorted there so
that the accounts are visited in the order in which they lie.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from hashlib import blake2b, sha256
from math import ceil, floor
from struct import Struct
from struct import error as StructError  # noqa: N812

from noisewright.core.errors import ParameterError
from noisewright.releases.ledger.homes.database import Database

__all__ = ["DELTA_GRAINS", "EPSILON_GRAINS", "agree", "charge", "check_budget", "count", "gather", "record_totals"]

EPSILON_GRAINS, DELTA_GRAINS = 3 * 10**12, 10**18
"""Grains in one."""
MOST = 2**62 - 1
"""No account and no charge is larger, so their sum stays within 64 bits, beyond which SQLite would turn to floats."""
NAME_BYTES = 16
PACKED = Struct(f">{NAME_BYTES}sqqqq").pack
"""An account as bytes."""
MODULUS = 2**256


def check_budget(epsilon: Fraction) -> None:
    """Refuse a budget that an account cannot hold."""
    if epsilon * EPSILON_GRAINS > MOST:
        raise ParameterError(
            f"the epsilon of a budget with the scope unit must be at most {MOST // EPSILON_GRAINS}; such an epsilon protects "
            "nobody anyway."
        )


def gather(db: Database, key: bytes, units: Iterable[bytes]) -> None:
    """Put the units that take part into a temporary table, once each and in order; nothing is locked meanwhile."""
    db.execute(f"CREATE TEMP TABLE arrived (unit {db.BLOB} NOT NULL)")
    db.execute("BEGIN")
    db.fill("arrived", _names(key, units))
    db.execute("CREATE TEMP TABLE taking_part AS SELECT DISTINCT unit FROM arrived ORDER BY unit")
    db.execute("DROP TABLE arrived")
    db.execute("COMMIT")


def charge(
    db: Database,
    key: bytes,
    dataset: int,
    release: int,
    price: tuple[Fraction, Fraction],
    budget: tuple[Fraction, Fraction],
) -> bool:
    """Charge every gathered unit once; False if one of them lacks budget, and then the caller rolls back.

    All accounts are charged before the question is asked, so the duration of a refusal does not disclose who lacked
    budget. The total of all accounts is recorded with them (``key``: what it is made with), so that no account can be
    lost or changed unseen.
    """
    epsilon, delta = ceil(price[0] * EPSILON_GRAINS), ceil(price[1] * DELTA_GRAINS)
    most_epsilon, most_delta = floor(budget[0] * EPSILON_GRAINS), floor(budget[1] * DELTA_GRAINS)
    if epsilon > most_epsilon or delta > most_delta:
        return False
    known, total = _recorded(db).get(dataset, (0, 0))
    own = "SELECT u.dataset, u.unit, u.epsilon, u.delta, u.latest FROM"
    total -= _total(
        key, db.execute(f"{own} taking_part t {db.JOIN} units u ON u.dataset = ? AND u.unit = t.unit", (dataset,))
    )
    db.execute(
        "UPDATE units SET epsilon = epsilon + ?, delta = delta + ?, latest = ? "
        "WHERE dataset = ? AND unit IN (SELECT unit FROM taking_part)",
        (epsilon, delta, release, dataset),
    )
    known += db.execute(
        "INSERT INTO units (dataset, unit, epsilon, delta, latest) SELECT ?, unit, ?, ?, ? FROM taking_part t "
        "WHERE NOT EXISTS (SELECT 1 FROM units u WHERE u.dataset = ? AND u.unit = t.unit)",
        (dataset, epsilon, delta, release, dataset),
    ).rowcount
    charged = "units u WHERE u.dataset = ? AND u.latest = ?"
    total += _total(key, db.execute(f"{own} {charged}", (dataset, release)))
    _record(db, dataset, known, total)
    found = db.execute(f"SELECT max(u.epsilon), max(u.delta) FROM {charged}", (dataset, release)).fetchone()
    return found[0] is None or bool(found[0] <= most_epsilon and found[1] <= most_delta)


def count(db: Database) -> int:
    """Return the number of accounts."""
    return int(db.execute("SELECT count(*) FROM units").fetchone()[0])


def agree(db: Database, key: bytes) -> bool:
    """Return whether the accounts of every dataset agree in number and in total with the last record."""
    recorded = _recorded(db)
    try:
        return all(
            (_number_of(db, dataset), _total_of(db, key, dataset)) == recorded.get(dataset, (0, 0))
            for dataset in {*recorded, *_datasets(db)}
        )
    except (StructError, TypeError):  # something that is not an account
        return False


def record_totals(db: Database, key: bytes) -> None:
    """Record the totals of accounts that were made before there were totals."""
    for dataset in _datasets(db):
        _record(db, dataset, _number_of(db, dataset), _total_of(db, key, dataset))


def _datasets(db: Database) -> list[int]:
    """The numbers of datasets that have accounts; a look at each dataset's first, not at all of them."""
    found, last = [], -(2**63)
    while (row := db.execute("SELECT min(dataset) FROM units WHERE dataset > ?", (last,)).fetchone())[0] is not None:
        last = row[0]
        found.append(last)
    return found


def _number_of(db: Database, dataset: int) -> int:
    return int(db.execute("SELECT count(*) FROM units WHERE dataset = ?", (dataset,)).fetchone()[0])


def _total_of(db: Database, key: bytes, dataset: int) -> int:
    rows = db.execute("SELECT dataset, unit, epsilon, delta, latest FROM units WHERE dataset = ?", (dataset,))
    return _total(key, rows) % MODULUS


def _total(key: bytes, rows: Iterable[tuple[int, bytes, int, int, int]]) -> int:
    """The sum of a keyed hash of each account: what changes can be taken out and put in without looking at the rest.

    The key goes first, which is a sound way to key BLAKE2 and half the work of its own one.
    """
    return sum(
        int.from_bytes(blake2b(key + PACKED(unit, dataset, epsilon, delta, latest), digest_size=32).digest(), "big")
        for dataset, unit, epsilon, delta, latest in rows
    )


def _recorded(db: Database) -> dict[int, tuple[int, int]]:
    """Return, for each dataset, the number of accounts and their total, as they were recorded last."""
    rows = db.execute("SELECT dataset, accounts, digest FROM totals ORDER BY number")
    return {dataset: (accounts, int(digest, 16)) for dataset, accounts, digest in rows}


def _record(db: Database, dataset: int, accounts: int, total: int) -> None:
    db.execute(
        "INSERT INTO totals (dataset, accounts, digest) VALUES (?, ?, ?)",
        (dataset, accounts, f"{total % MODULUS:064x}"),
    )


def _names(key: bytes, units: Iterable[bytes]) -> Iterator[tuple[bytes]]:
    """HMAC-SHA256, written out: its two padded keys are hashed once instead of once a unit, which halves the time."""
    block = key.ljust(64, b"\0")
    inner, outer = (sha256(bytes(byte ^ pad for byte in block)) for pad in (0x36, 0x5C))
    for unit in units:
        if not isinstance(unit, bytes):
            raise ParameterError("units are named by bytes; encode their identifiers first.")
        first, second = inner.copy(), outer.copy()
        first.update(unit)
        second.update(first.digest())
        yield (second.digest()[:NAME_BYTES],)
