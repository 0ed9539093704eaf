"""The secret key of a ledger, and the keys that are made of it, one for each purpose."""

from __future__ import annotations

import hmac
import sqlite3
from pathlib import Path
from typing import cast

from noisewright.core.errors import LedgerError

__all__ = ["derived", "key_of"]


def key_of(db: sqlite3.Connection, path: Path) -> bytes:
    """The key itself."""
    found = db.execute("SELECT key FROM secret").fetchone()
    if found is None:
        raise LedgerError(f"{path} is damaged: its key is missing; restore it from a backup.")
    return cast(bytes, found[0])


def derived(key: bytes, *purpose: str) -> bytes:
    """A key for one purpose alone, so that a hash made for one says nothing about a hash made for another."""
    return hmac.digest(key, "\0".join(("noisewright", *purpose)).encode(), "sha256")
