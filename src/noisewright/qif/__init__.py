"""Quantitative information flow: gains, vulnerability, leakage, and beliefs."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.qif import refinement as refinement
    from noisewright.qif.beliefs import hiding_and_revealing as hiding_and_revealing
    from noisewright.qif.beliefs import largest_growth as largest_growth
    from noisewright.qif.beliefs import revealing_prior as revealing_prior
    from noisewright.qif.gains import partition as partition
    from noisewright.qif.gains import to_loss as to_loss
    from noisewright.qif.max_case import d_leakage as d_leakage
    from noisewright.qif.max_case import leakage_caps as leakage_caps
    from noisewright.qif.max_case import max_vulnerability as max_vulnerability
    from noisewright.qif.max_case import quasi_convex as quasi_convex
    from noisewright.qif.max_case import success_cap as success_cap
    from noisewright.qif.vulnerability import bayes_capacity as bayes_capacity
    from noisewright.qif.vulnerability import bayes_risk as bayes_risk
    from noisewright.qif.vulnerability import guessing as guessing
    from noisewright.qif.vulnerability import shannon as shannon
    from noisewright.qif.vulnerability import uncertainty as uncertainty
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "bayes_capacity": "vulnerability",
            "bayes_risk": "vulnerability",
            "d_leakage": "max_case",
            "guessing": "vulnerability",
            "hiding_and_revealing": "beliefs",
            "largest_growth": "beliefs",
            "leakage_caps": "max_case",
            "max_vulnerability": "max_case",
            "partition": "gains",
            "quasi_convex": "max_case",
            "refinement": "refinement:",
            "revealing_prior": "beliefs",
            "shannon": "vulnerability",
            "success_cap": "max_case",
            "to_loss": "gains",
            "uncertainty": "vulnerability",
        },
    )
