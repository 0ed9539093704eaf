"""For the curator's eyes: what a table must be like, points to consider before signing, and a policy to start from."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.releases.curator.cautions import data_cautions as data_cautions
    from noisewright.releases.curator.checking import check_data as check_data
    from noisewright.releases.curator.checking import without_rows as without_rows
    from noisewright.releases.curator.inspecting import NOT_PRIVATE as NOT_PRIVATE
    from noisewright.releases.curator.inspecting import Inspected as Inspected
    from noisewright.releases.curator.inspecting import inspect_table as inspect_table
    from noisewright.releases.curator.starting import Proposal as Proposal
    from noisewright.releases.curator.starting import Start as Start
    from noisewright.releases.curator.starting import starting_policy as starting_policy
else:
    __getattr__, __dir__ = door(__name__)
