r"""Budgets of single units: millions of small accounts in one table, charged all together or not at all.

An account holds what its unit has spent, as whole *grains*: epsilon in steps of 1/3 of 10^-12, delta in steps of 10^-18.
Decimals and thirds are exact; everything else is rounded up when it is charged, and budgets are rounded down. A unit that was
never seen has no account yet and the whole budget. Accounts are named by 16 bytes of a keyed hash; should two units ever
share one, they pay for each other, which protects them no less.

Memory does not grow with the number of units: identifiers go through a temporary table on the disk, and are sorted there so
that the accounts are visited in the order in which they lie.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from fractions import Fraction
from hashlib import sha256
from math import ceil, floor

from noisewright.core.errors import ParameterError

__all__ = ["DELTA_GRAINS", "EPSILON_GRAINS", "charge", "check_budget", "gather"]

EPSILON_GRAINS, DELTA_GRAINS = 3 * 10**12, 10**18
"""Grains in one."""
MOST = 2**62 - 1
"""No account and no charge is larger, so their sum stays within 64 bits, beyond which SQLite would turn to floats."""
NAME_BYTES = 16
CACHE = -32_768
"""In KiB, as SQLite wants it: what sorting and the pages of the table may take before they go to the disk."""


def check_budget(epsilon: Fraction) -> None:
    """Refuse a budget that an account cannot hold."""
    if epsilon * EPSILON_GRAINS > MOST:
        raise ParameterError(
            f"the epsilon of a budget with the scope unit must be at most {MOST // EPSILON_GRAINS}; such an epsilon protects "
            "nobody anyway."
        )


def gather(db: sqlite3.Connection, key: bytes, units: Iterable[bytes]) -> None:
    """Put the units that take part into a temporary table, under their hashed names; nothing is locked meanwhile."""
    db.execute(f"PRAGMA cache_size = {CACHE}")
    db.execute("CREATE TEMP TABLE taking_part (unit BLOB NOT NULL)")
    db.execute("BEGIN")
    db.executemany("INSERT INTO taking_part VALUES (?)", _names(key, units))
    db.execute("COMMIT")


def charge(
    db: sqlite3.Connection,
    dataset: int,
    release: int,
    price: tuple[Fraction, Fraction],
    budget: tuple[Fraction, Fraction],
) -> bool:
    """Charge every gathered unit once; False if one of them lacks budget, and then the caller rolls back.

    All accounts are charged before the question is asked, so how long a refusal takes does not tell who lacked what.
    """
    epsilon, delta = ceil(price[0] * EPSILON_GRAINS), ceil(price[1] * DELTA_GRAINS)
    most_epsilon, most_delta = floor(budget[0] * EPSILON_GRAINS), floor(budget[1] * DELTA_GRAINS)
    if epsilon > most_epsilon or delta > most_delta:
        return False
    db.execute(
        "INSERT INTO units (dataset, unit, epsilon, delta, latest) "
        "SELECT ?, unit, ?, ?, ? FROM taking_part WHERE true GROUP BY unit ORDER BY unit "
        "ON CONFLICT (dataset, unit) DO UPDATE SET epsilon = epsilon + excluded.epsilon, delta = delta + excluded.delta, "
        "latest = excluded.latest",
        (dataset, epsilon, delta, release),
    )
    found = db.execute(
        "SELECT max(epsilon), max(delta) FROM units WHERE dataset = ? AND latest = ?", (dataset, release)
    ).fetchone()
    return found[0] is None or (found[0] <= most_epsilon and found[1] <= most_delta)


def _names(key: bytes, units: Iterable[bytes]) -> Iterator[tuple[bytes]]:
    """HMAC-SHA256, spelled out: its two padded keys are hashed once instead of once a unit, which halves the time."""
    block = key.ljust(64, b"\0")
    inner, outer = (sha256(bytes(byte ^ pad for byte in block)) for pad in (0x36, 0x5C))
    for unit in units:
        if not isinstance(unit, bytes):
            raise ParameterError("units are named by bytes; encode their identifiers first.")
        first, second = inner.copy(), outer.copy()
        first.update(unit)
        second.update(first.digest())
        yield (second.digest()[:NAME_BYTES],)
