"""Places of a ledger: a file (SQLite), or a database for a team (PostgreSQL); and the witnesses, which are elsewhere."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.releases.ledger.homes.address import Address as Address
    from noisewright.releases.ledger.homes.address import default_path as default_path
    from noisewright.releases.ledger.homes.address import shown as shown
    from noisewright.releases.ledger.homes.database import ConflictError as ConflictError
    from noisewright.releases.ledger.homes.database import Database as Database
    from noisewright.releases.ledger.homes.database import Place as Place
    from noisewright.releases.ledger.homes.database import Store as Store
    from noisewright.releases.ledger.homes.postgresql import PostgresqlStore as PostgresqlStore
    from noisewright.releases.ledger.homes.schema import VERSION as VERSION
    from noisewright.releases.ledger.homes.sqlite import SqliteStore as SqliteStore
    from noisewright.releases.ledger.homes.stores import store_of as store_of
    from noisewright.releases.ledger.homes.witness import Witness as Witness
    from noisewright.releases.ledger.homes.witness import default_witness as default_witness
else:
    __getattr__, __dir__ = door(__name__)
