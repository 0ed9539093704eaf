"""Ledger of the spends, in one SQLite file or database, recorded before anything is sampled."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.releases.ledger.backup import back_up as back_up
    from noisewright.releases.ledger.budget_check import charges_of as charges_of
    from noisewright.releases.ledger.budget_check import existing_ledger as existing_ledger
    from noisewright.releases.ledger.budget_check import ledger_of as ledger_of
    from noisewright.releases.ledger.budget_check import protected_by as protected_by
    from noisewright.releases.ledger.budget_check import rehearse as rehearse
    from noisewright.releases.ledger.budget_check import spend as spend
    from noisewright.releases.ledger.export import document as document
    from noisewright.releases.ledger.export import kept as kept
    from noisewright.releases.ledger.ledger import NONCE_BYTES as NONCE_BYTES
    from noisewright.releases.ledger.ledger import Ledger as Ledger
    from noisewright.releases.ledger.records import Balance as Balance
    from noisewright.releases.ledger.records import BudgetEvent as BudgetEvent
    from noisewright.releases.ledger.records import BudgetScope as BudgetScope
    from noisewright.releases.ledger.records import Charge as Charge
    from noisewright.releases.ledger.records import Checked as Checked
    from noisewright.releases.ledger.records import Earlier as Earlier
    from noisewright.releases.ledger.records import Input as Input
    from noisewright.releases.ledger.records import LedgerRecord as LedgerRecord
    from noisewright.releases.ledger.records import Protected as Protected
    from noisewright.releases.ledger.records import Spend as Spend
    from noisewright.releases.ledger.records import State as State
    from noisewright.releases.ledger.records import Terms as Terms
    from noisewright.releases.ledger.records import downward as downward
else:
    __getattr__, __dir__ = door(__name__)
