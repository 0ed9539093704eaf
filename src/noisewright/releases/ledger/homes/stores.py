"""Place of a ledger by its name: a file, or a PostgreSQL database."""

from __future__ import annotations

import os
from pathlib import Path

from noisewright.files.urls import is_url
from noisewright.releases.ledger.homes.address import default_path
from noisewright.releases.ledger.homes.database import Store
from noisewright.releases.ledger.homes.sqlite import SqliteStore

__all__ = ["store_of"]


def store_of(name: str | os.PathLike[str] | None) -> Store:
    """Return the store of a ledger by its name; None: the ledger of this user."""
    named = default_path() if name is None else name
    if isinstance(named, str) and is_url(named):
        from noisewright.releases.ledger.homes.postgresql import PostgresqlStore

        return PostgresqlStore(named)
    return SqliteStore(Path(os.path.abspath(named)))
