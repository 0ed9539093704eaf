"""Surveys with coins, dice and cards: designs, their best parameters, margins, and devices with certificates."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.estimation.survey.categorical import ResponseDesign as ResponseDesign
    from noisewright.estimation.survey.categorical import SufficientSet as SufficientSet
    from noisewright.estimation.survey.categorical import hamming_delta as hamming_delta
    from noisewright.estimation.survey.categorical import hamming_error as hamming_error
    from noisewright.estimation.survey.categorical import hamming_range as hamming_range
    from noisewright.estimation.survey.categorical import response_range as response_range
    from noisewright.estimation.survey.categorical import sufficient_set as sufficient_set
    from noisewright.estimation.survey.categorical import utility_channel as utility_channel
    from noisewright.estimation.survey.designs import ANSWERS as ANSWERS
    from noisewright.estimation.survey.designs import LEAST_SEPARATION as LEAST_SEPARATION
    from noisewright.estimation.survey.designs import MOST_RESPONDENTS as MOST_RESPONDENTS
    from noisewright.estimation.survey.designs import Design as Design
    from noisewright.estimation.survey.designs import Worst as Worst
    from noisewright.estimation.survey.designs import as_prevalence as as_prevalence
    from noisewright.estimation.survey.designs import as_respondents as as_respondents
    from noisewright.estimation.survey.designs import binary as binary
    from noisewright.estimation.survey.designs import direct as direct
    from noisewright.estimation.survey.designs import warner as warner
    from noisewright.estimation.survey.device import Device as Device
    from noisewright.estimation.survey.device import best_device as best_device
    from noisewright.estimation.survey.device import devices as devices
    from noisewright.estimation.survey.device import instrument as instrument
    from noisewright.estimation.survey.mangat import SuperMangat as SuperMangat
    from noisewright.estimation.survey.mangat import as_counts as as_counts
    from noisewright.estimation.survey.mangat import as_shares as as_shares
    from noisewright.estimation.survey.margins import Method as Method
    from noisewright.estimation.survey.margins import TooManyError as TooManyError
    from noisewright.estimation.survey.margins import as_confidence as as_confidence
    from noisewright.estimation.survey.margins import deviations as deviations
    from noisewright.estimation.survey.margins import margin_of_error as margin_of_error
    from noisewright.estimation.survey.margins import respondents_for as respondents_for
    from noisewright.estimation.survey.margins import share_interval as share_interval
    from noisewright.estimation.survey.optimum import Branch as Branch
    from noisewright.estimation.survey.optimum import Optimum as Optimum
    from noisewright.estimation.survey.optimum import asymmetric_threshold as asymmetric_threshold
    from noisewright.estimation.survey.optimum import disclosing_threshold as disclosing_threshold
    from noisewright.estimation.survey.optimum import four_answer_variance as four_answer_variance
    from noisewright.estimation.survey.optimum import optimal_design as optimal_design
    from noisewright.estimation.survey.options import Option as Option
    from noisewright.estimation.survey.options import options_table as options_table
    from noisewright.estimation.survey.options import shortened as shortened
    from noisewright.estimation.survey.plan import Shares as Shares
    from noisewright.estimation.survey.plan import Survey as Survey
    from noisewright.estimation.survey.plan import survey as survey
    from noisewright.estimation.survey.region import Region as Region
    from noisewright.estimation.survey.violation import Comparison as Comparison
    from noisewright.estimation.survey.violation import beliefs as beliefs
    from noisewright.estimation.survey.violation import compare_at_violation as compare_at_violation
    from noisewright.estimation.survey.violation import mangat_for as mangat_for
    from noisewright.estimation.survey.violation import warner_for as warner_for
else:
    __getattr__, __dir__ = door(__name__)
