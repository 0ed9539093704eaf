"""Releases: plan, run, certificate, report, and what a recipient does with them."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.releases.checks import inspect_table as inspect_table
    from noisewright.releases.folder import verify_folder as verify_folder
    from noisewright.releases.marginals import bins_of as bins_of
    from noisewright.releases.marginals import marginal_of as marginal_of
    from noisewright.releases.policy_template import starting_policy as starting_policy
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "bins_of": "marginals",
            "inspect_table": "checks",
            "marginal_of": "marginals",
            "starting_policy": "policy_template",
            "verify_folder": "folder",
        },
    )
