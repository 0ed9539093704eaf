"""The numbered facts about inference: surveys, correlations and new rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

import noisewright as nw
from noisewright.attacks.correlation import Correlation, dalenius_vulnerability
from noisewright.attacks.inferential_privacy import accuracy, inference, privacy_loss
from noisewright.attacks.local_and_central import TallySurvey, noisy_tally, randomised_tally
from noisewright.attacks.new_row import NewRow
from noisewright.guarantees import EXACT, FAILS
from noisewright.metrics.base import Hamming
from noisewright.qif.refinement.average_case import average_refined

STATES = [(0, 0), (1, 0), (0, 1), (1, 1)]
FIRST = {state: state[0] for state in STATES}
TALLY = {state: sum(state) for state in STATES}


def test_05_f33_the_two_tallies_of_two_people() -> None:
    survey = TallySurvey(2)
    randomised, noisy = (survey.on_answers(c) for c in (survey.randomised(), survey.noisy()))
    assert list(randomised.inputs) == STATES
    middle = [0.1875, 0.625, 0.1875]
    expected = [[0.5625, 0.375, 0.0625], middle, middle, [0.0625, 0.375, 0.5625]]
    assert randomised.matrix == pytest.approx(np.array(expected), abs=1e-12)
    middle = [0.25, 0.5, 0.25]
    expected = [[0.75, 1 / 6, 1 / 12], middle, middle, [1 / 12, 1 / 6, 0.75]]
    assert noisy.matrix == pytest.approx(np.array(expected), abs=1e-12)


def test_05_f33_what_the_two_tallies_tell() -> None:
    survey = TallySurvey(2)
    for channel, participant, tally in (
        (survey.randomised(), 0.625, 0.59375),
        (survey.noisy(), 2 / 3, 0.625),
    ):
        found = inference(survey.on_answers(channel), FIRST, TALLY)
        assert (found.secret.before, found.useful.before) == (0.5, 0.5)
        assert found.secret.after == pytest.approx(participant, abs=1e-12)
        assert found.privacy_loss == pytest.approx(2 * participant, abs=1e-12)
        assert found.accuracy == pytest.approx(tally, abs=1e-12)
        assert privacy_loss(survey.on_answers(channel), FIRST) == found.privacy_loss
        assert accuracy(survey.on_answers(channel), TALLY) == found.accuracy


def test_05_f33_the_randomised_tally_refines_the_noisy_one_and_not_conversely() -> None:
    forward = average_refined(noisy_tally(2), randomised_tally(2))
    assert forward.status == EXACT
    backward = average_refined(randomised_tally(2), noisy_tally(2))
    assert backward.status == FAILS


@pytest.mark.parametrize("people", [1, 2, 3, 5])
def test_05_in6_both_tallies_promise_ln_3_for_each_answer(people: int) -> None:
    survey = TallySurvey(people)
    for channel in (survey.randomised(), survey.noisy()):
        found = survey.on_answers(channel).epsilon(Hamming())
        assert found.value == pytest.approx(math.log(3), abs=1e-9)
    assert math.log(3) <= survey.epsilon < math.log(3) + 1e-15


def test_05_f34_one_participant_and_the_tally() -> None:
    pi = Correlation.from_partitions(None, FIRST, TALLY, STATES)
    assert pi.joint.tolist() == [[0.25, 0.25, 0], [0, 0.25, 0.25]]
    assert TallySurvey(2).correlation.joint.tolist() == pi.joint.tolist()
    given_tally = pi.turned().channel()
    assert given_tally.row(0).tolist() == [1, 0]
    assert given_tally.row(1).tolist() == [0.5, 0.5]
    geometric = nw.geometric(epsilon=math.log(3), within=(0, 2))
    assert dalenius_vulnerability(pi, geometric) == pytest.approx(2 / 3, abs=1e-9)


@pytest.mark.parametrize(
    ("people", "randomised", "noisy"),
    [
        (3, (0.625, 0.492188), (0.666667, 0.5625)),
        (4, (0.59375, 0.436523), (0.638889, 0.5625)),
        (6, (0.578125, 0.360359), (0.622685, 0.53125)),
        (10, (0.561523, 0.282560), (0.603090, 0.511230)),
    ],
)
def test_05_f35_larger_surveys(people: int, randomised: tuple[float, float], noisy: tuple[float, float]) -> None:
    first, second = TallySurvey(people).compare()
    assert (first.participant, first.tally) == pytest.approx(randomised, abs=1e-6)
    assert (second.participant, second.tally) == pytest.approx(noisy, abs=1e-6)


@pytest.mark.parametrize("power", [5, 10, 100, 200, 500, 1000])
@pytest.mark.parametrize("share", [0.001, 0.2016, 0.5, 0.7704, 0.97])
def test_05_f36_utility_of_noise_on_the_count(power: int, share: float) -> None:
    attack = NewRow(Correlation(np.diag([share, 1 - share])), (100, 100), 0)
    found = attack.oblivious(epsilon=math.log(power))
    assert found.utility == pytest.approx(max(share, 1 - share, 1 / (1 + 1 / power)), abs=1e-12)


def test_05_f36_the_printed_numbers() -> None:
    attack = NewRow(Correlation(np.diag([0.5, 0.5])), (1, 1), 0)
    found = [round(attack.oblivious(epsilon=math.log(p)).utility, 4) for p in (5, 10, 100, 200, 500, 1000)]
    assert found == [0.8333, 0.9091, 0.9901, 0.9950, 0.9980, 0.9990]
