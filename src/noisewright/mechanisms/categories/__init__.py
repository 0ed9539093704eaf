"""Mechanisms for finitely many secrets: randomised response, exponential choice, explicit tables."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.mechanisms.categories.answered import AnsweredMechanism as AnsweredMechanism
    from noisewright.mechanisms.categories.answered import draw_answers as draw_answers
    from noisewright.mechanisms.categories.categorical import OverCategories as OverCategories
    from noisewright.mechanisms.categories.categorical import discrete_certificate as discrete_certificate
    from noisewright.mechanisms.categories.categorical import distinct_categories as distinct_categories
    from noisewright.mechanisms.categories.chances import Chances as Chances
    from noisewright.mechanisms.categories.chances import ChancesMechanism as ChancesMechanism
    from noisewright.mechanisms.categories.chances import check_promise as check_promise
    from noisewright.mechanisms.categories.exponential import exponential_channel as exponential_channel
    from noisewright.mechanisms.categories.fair import explicit_fair as explicit_fair
    from noisewright.mechanisms.categories.fair import explicit_fair_channel as explicit_fair_channel
    from noisewright.mechanisms.categories.finite import FiniteMechanism as FiniteMechanism
    from noisewright.mechanisms.categories.finite import closest as closest
    from noisewright.mechanisms.categories.finite import log_weights as log_weights
    from noisewright.mechanisms.categories.finite import mechanism as mechanism
    from noisewright.mechanisms.categories.realising import metric_realising as metric_realising
    from noisewright.mechanisms.categories.realising import realising_channel as realising_channel
    from noisewright.mechanisms.categories.response import LARGEST_PLAIN as LARGEST_PLAIN
    from noisewright.mechanisms.categories.response import Response as Response
    from noisewright.mechanisms.categories.response import ResponseMechanism as ResponseMechanism
    from noisewright.mechanisms.categories.response import draw_response as draw_response
    from noisewright.mechanisms.categories.response import randomised_response as randomised_response
    from noisewright.mechanisms.categories.response import response_channel as response_channel
    from noisewright.mechanisms.categories.response import response_error as response_error
    from noisewright.mechanisms.categories.response import response_proof as response_proof
    from noisewright.mechanisms.categories.selection import MOST_CANDIDATES as MOST_CANDIDATES
    from noisewright.mechanisms.categories.selection import SelectionMechanism as SelectionMechanism
    from noisewright.mechanisms.categories.uniform import UniformMechanism as UniformMechanism
else:
    __getattr__, __dir__ = door(__name__)
