"""Releases: a policy and a table in; the protected table, answers, certificate and report out; the ledger records.

``nw.release(policy, data)`` is :func:`noisewright.releases.run.release`.
"""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.releases import columns as columns
    from noisewright.releases import curator as curator
    from noisewright.releases import engines as engines
    from noisewright.releases import kinds as kinds
    from noisewright.releases import ledger as ledger
    from noisewright.releases import output as output
    from noisewright.releases import policy as policy
    from noisewright.releases import queries as queries
    from noisewright.releases import report as report
    from noisewright.releases import sources as sources
    from noisewright.releases.columns.arguments import arguments as arguments
    from noisewright.releases.curator.cautions import data_cautions as data_cautions
    from noisewright.releases.curator.checking import check_data as check_data
    from noisewright.releases.curator.checking import without_rows as without_rows
    from noisewright.releases.curator.inspecting import inspect_table as inspect_table
    from noisewright.releases.curator.starting import Start as Start
    from noisewright.releases.curator.starting import starting_policy as starting_policy
    from noisewright.releases.ledger.export import export as export
    from noisewright.releases.ledger.ledger import Ledger as Ledger
    from noisewright.releases.output.proving import Verification as Verification
    from noisewright.releases.output.proving import verify as verify
    from noisewright.releases.plan import LARGE_EPSILON as LARGE_EPSILON
    from noisewright.releases.plan import BudgetLeft as BudgetLeft
    from noisewright.releases.plan import Plan as Plan
    from noisewright.releases.plan import left_over as left_over
    from noisewright.releases.plan import listed as listed
    from noisewright.releases.plan import make_plan as make_plan
    from noisewright.releases.plan import solve as solve
    from noisewright.releases.plan import title as title
    from noisewright.releases.policy.policy import Policy as Policy
    from noisewright.releases.run import Release as Release
    from noisewright.releases.run import plan_for as plan_for
    from noisewright.releases.run import release as release
else:
    __getattr__, __dir__ = door(__name__)
