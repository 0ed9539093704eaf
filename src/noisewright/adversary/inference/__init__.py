"""Inference attacks: correlated records, tallies, a new row, tables crossed, and the theorem that nothing is free."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.adversary.inference.correlation import Correlation as Correlation
    from noisewright.adversary.inference.correlation import as_correlation as as_correlation
    from noisewright.adversary.inference.correlation import dalenius_vulnerability as dalenius_vulnerability
    from noisewright.adversary.inference.correlation import states_of as states_of
    from noisewright.adversary.inference.cross_table import CrossTable as CrossTable
    from noisewright.adversary.inference.cross_table import arrow_column as arrow_column
    from noisewright.adversary.inference.insensitive import Placement as Placement
    from noisewright.adversary.inference.insensitive import SensitivePair as SensitivePair
    from noisewright.adversary.inference.insensitive import focus as focus
    from noisewright.adversary.inference.insensitive import placements as placements
    from noisewright.adversary.inference.insensitive import secrecy_focussed as secrecy_focussed
    from noisewright.adversary.inference.insensitive import utility_focussed as utility_focussed
    from noisewright.adversary.inference.loss_and_accuracy import Guess as Guess
    from noisewright.adversary.inference.loss_and_accuracy import Inference as Inference
    from noisewright.adversary.inference.loss_and_accuracy import accuracy as accuracy
    from noisewright.adversary.inference.loss_and_accuracy import best_guess as best_guess
    from noisewright.adversary.inference.loss_and_accuracy import guess as guess
    from noisewright.adversary.inference.loss_and_accuracy import guess_through as guess_through
    from noisewright.adversary.inference.loss_and_accuracy import inference as inference
    from noisewright.adversary.inference.loss_and_accuracy import privacy_loss as privacy_loss
    from noisewright.adversary.inference.new_row import NOISES as NOISES
    from noisewright.adversary.inference.new_row import Limits as Limits
    from noisewright.adversary.inference.new_row import NewRow as NewRow
    from noisewright.adversary.inference.new_row import Outcome as Outcome
    from noisewright.adversary.inference.no_free_lunch import Counterexample as Counterexample
    from noisewright.adversary.inference.no_free_lunch import check_promise as check_promise
    from noisewright.adversary.inference.no_free_lunch import check_secrecy_focussed as check_secrecy_focussed
    from noisewright.adversary.inference.no_free_lunch import check_utility_focussed as check_utility_focussed
    from noisewright.adversary.inference.no_free_lunch import smallest_promise as smallest_promise
    from noisewright.adversary.inference.tally import TallyRow as TallyRow
    from noisewright.adversary.inference.tally import TallySurvey as TallySurvey
    from noisewright.adversary.inference.tally import noisy_tally as noisy_tally
    from noisewright.adversary.inference.tally import randomised_tally as randomised_tally
else:
    __getattr__, __dir__ = door(__name__)
