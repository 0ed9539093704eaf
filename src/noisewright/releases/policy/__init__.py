"""Policies: the content of a TOML file, and the messages about errors in it."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.releases.policy.parameters import SET_BY as SET_BY
    from noisewright.releases.policy.parameters import Accepts as Accepts
    from noisewright.releases.policy.parameters import accepts as accepts
    from noisewright.releases.policy.parameters import offered as offered
    from noisewright.releases.policy.parameters import tidy as tidy
    from noisewright.releases.policy.placeholders import PLACEHOLDER as PLACEHOLDER
    from noisewright.releases.policy.placeholders import still_to_fill as still_to_fill
    from noisewright.releases.policy.placeholders import unfilled as unfilled
    from noisewright.releases.policy.policy import Aggregate as Aggregate
    from noisewright.releases.policy.policy import Budget as Budget
    from noisewright.releases.policy.policy import ColumnPolicy as ColumnPolicy
    from noisewright.releases.policy.policy import LedgerPolicy as LedgerPolicy
    from noisewright.releases.policy.policy import Policy as Policy
    from noisewright.releases.policy.policy import QueryPolicy as QueryPolicy
    from noisewright.releases.policy.policy import UnitPolicy as UnitPolicy
    from noisewright.releases.policy.policy import as_policy as as_policy
else:
    __getattr__, __dir__ = door(__name__)
