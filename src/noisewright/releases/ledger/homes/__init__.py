"""Where a ledger is: in a file (SQLite), or in a database for a team (PostgreSQL)."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.releases.ledger.homes.address import shown as shown
    from noisewright.releases.ledger.homes.stores import store_of as store_of
else:
    __getattr__, __dir__ = door(__name__)
