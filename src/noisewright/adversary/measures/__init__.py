"""Measures of leakage: vulnerability under gains, entropies, the worst case, beliefs, caps, hiding and revealing."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.adversary.measures.beliefs import Growth as Growth
    from noisewright.adversary.measures.beliefs import Odds as Odds
    from noisewright.adversary.measures.beliefs import largest_growth as largest_growth
    from noisewright.adversary.measures.beliefs import odds_change as odds_change
    from noisewright.adversary.measures.beliefs import revealing_prior as revealing_prior
    from noisewright.adversary.measures.caps import Caps as Caps
    from noisewright.adversary.measures.caps import leakage_caps as leakage_caps
    from noisewright.adversary.measures.caps import promise_cap as promise_cap
    from noisewright.adversary.measures.caps import success_cap as success_cap
    from noisewright.adversary.measures.gain import Gain as Gain
    from noisewright.adversary.measures.gain import gain_labels as gain_labels
    from noisewright.adversary.measures.gain import make_gain as make_gain
    from noisewright.adversary.measures.gallery import NAMES as NAMES
    from noisewright.adversary.measures.gallery import as_gain as as_gain
    from noisewright.adversary.measures.gallery import from_callable as from_callable
    from noisewright.adversary.measures.gallery import from_loss as from_loss
    from noisewright.adversary.measures.gallery import identity as identity
    from noisewright.adversary.measures.gallery import is_belief_function as is_belief_function
    from noisewright.adversary.measures.gallery import metric_gain as metric_gain
    from noisewright.adversary.measures.gallery import partition as partition
    from noisewright.adversary.measures.gallery import property_gain as property_gain
    from noisewright.adversary.measures.gallery import to_loss as to_loss
    from noisewright.adversary.measures.hiding import HidingAndRevealing as HidingAndRevealing
    from noisewright.adversary.measures.hiding import Nesting as Nesting
    from noisewright.adversary.measures.hiding import hiding_and_revealing as hiding_and_revealing
    from noisewright.adversary.measures.hiding import revealing as revealing
    from noisewright.adversary.measures.max_case import WorstOutput as WorstOutput
    from noisewright.adversary.measures.max_case import d_leakage as d_leakage
    from noisewright.adversary.measures.max_case import d_vulnerability as d_vulnerability
    from noisewright.adversary.measures.max_case import max_vulnerability as max_vulnerability
    from noisewright.adversary.measures.max_case import quasi_convex as quasi_convex
    from noisewright.adversary.measures.uncertainty import MEASURES as MEASURES
    from noisewright.adversary.measures.uncertainty import Uncertainty as Uncertainty
    from noisewright.adversary.measures.uncertainty import bayes_risk as bayes_risk
    from noisewright.adversary.measures.uncertainty import guessing as guessing
    from noisewright.adversary.measures.uncertainty import shannon as shannon
    from noisewright.adversary.measures.vulnerability import Leakage as Leakage
    from noisewright.adversary.measures.vulnerability import as_channel as as_channel
    from noisewright.adversary.measures.vulnerability import bayes_capacity as bayes_capacity
    from noisewright.adversary.measures.vulnerability import belief_values as belief_values
    from noisewright.adversary.measures.vulnerability import leakage as leakage
    from noisewright.adversary.measures.vulnerability import posterior_vulnerability as posterior_vulnerability
    from noisewright.adversary.measures.vulnerability import prior_vulnerability as prior_vulnerability
    from noisewright.adversary.measures.vulnerability import secrets_of as secrets_of
else:
    __getattr__, __dir__ = door(__name__)
