"""Surveys: exact rows, the promise, refinement for every size, and the scenario against simulation."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisewright.attacks.correlation import Correlation
from noisewright.attacks.local_and_central import TallySurvey, noisy_tally, randomised_tally
from noisewright.channels.channel import Channel
from noisewright.exceptions import ParameterError
from noisewright.guarantees import EXACT, FAILS
from noisewright.metrics.base import Hamming, Line
from noisewright.qif.refinement.average_case import average_refined

truths = st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50)


@given(st.integers(1, 8), truths)
def test_exact_rows_sum_to_one_and_the_channels_are_their_floats(people: int, truth: Fraction) -> None:
    survey = TallySurvey(people, truth)
    for rows, channel in (
        (randomised_tally(people, truth), survey.randomised()),
        (noisy_tally(people, truth), survey.noisy()),
    ):
        assert all(sum(row) == 1 for row in rows)
        assert channel.matrix == pytest.approx(np.array(rows, dtype=float), rel=1e-12)


@given(st.integers(1, 5), truths)
def test_the_randomised_tally_is_local_noise_that_is_counted(people: int, truth: Fraction) -> None:
    """Against the product of the participants' own channels, list by list."""
    right = float((1 + truth) / 2)
    single = np.array([[right, 1 - right], [1 - right, right]])
    whole = np.ones((1, 1))
    for _ in range(people):
        whole = np.kron(whole, single)
    lists = [tuple(int(b) for b in f"{i:0{people}b}") for i in range(2**people)]
    counted = Channel(whole, lists, lists) @ Channel.deterministic(sum, lists)
    survey = TallySurvey(people, truth)
    on_lists = survey.on_answers(survey.randomised())
    order = on_lists.positions(lists)
    tallies = [counted.outputs.index(k) for k in range(people + 1)]
    assert on_lists.matrix[order] == pytest.approx(counted.matrix[:, tallies], abs=1e-12)


@given(st.integers(1, 5), truths)
def test_the_promise_is_exact_for_every_participant(people: int, truth: Fraction) -> None:
    survey = TallySurvey(people, truth)
    expected = math.log((1 + truth) / (1 - truth))
    assert survey.epsilon == pytest.approx(expected, rel=1e-12)
    for channel in (survey.randomised(), survey.noisy()):
        assert survey.on_answers(channel).epsilon(Hamming()).value == pytest.approx(expected, rel=1e-9)


@given(st.integers(1, 14), truths)
def test_05_in6_the_noisy_tally_is_refined_by_the_randomised_one(people: int, truth: Fraction) -> None:
    """In fractions: the inverse of the geometric times the randomised tally has no negative entry, at any size."""
    a = TallySurvey(people, truth).decay
    rows = randomised_tally(people, truth)
    zero = (Fraction(0),) * (people + 1)
    for k in range(people + 1):
        left, right = rows[k - 1] if k else zero, rows[k + 1] if k < people else zero
        middle = 1 if k in (0, people) else 1 + a * a
        assert all(middle * m - a * (x + y) >= 0 for x, m, y in zip(left, rows[k], right, strict=True))


@pytest.mark.parametrize("people", [3, 11])
def test_05_in6_and_never_the_other_way_round(people: int) -> None:
    assert average_refined(noisy_tally(people), randomised_tally(people)).status == EXACT
    assert average_refined(randomised_tally(people), noisy_tally(people)).status == FAILS


def test_one_person_is_randomised_response_either_way() -> None:
    assert randomised_tally(1) == noisy_tally(1) == ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    first, second = TallySurvey(1).compare()
    assert (first.participant, second.participant, first.privacy_loss) == (0.75, 0.75, 1.5)


def test_answers_need_not_be_equally_likely() -> None:
    survey = TallySurvey(3, yes="1/5")
    states = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    prior = {s: 0.2 ** sum(s) * 0.8 ** (3 - sum(s)) for s in states}
    expected = Correlation.from_partitions(prior, lambda s: s[0], sum)
    order = [expected.inputs.index(k) for k in range(4)]
    assert survey.correlation.joint == pytest.approx(expected.joint[:, order], abs=1e-12)
    row = survey.compare()[0]
    assert row.participant_before == pytest.approx(0.8)
    assert row.tally_before == pytest.approx(0.512)


def test_the_scenario_against_simulation() -> None:
    """200,000 surveys of four people with a fixed seed; five standard errors are 0.0056, an error rate below 1e-6."""
    rng = np.random.default_rng(11)
    runs, people = 200_000, 4
    answers = rng.integers(0, 2, (runs, people))
    said = np.where(rng.random((runs, people)) < 0.5, answers, rng.integers(0, 2, (runs, people)))
    published = said.sum(axis=1)
    for secret, size, expected in (
        (answers[:, 0], 2, TallySurvey(people).compare()[0].participant),
        (answers.sum(axis=1), people + 1, TallySurvey(people).compare()[0].tally),
    ):
        joint = np.bincount(secret * (people + 1) + published, minlength=size * (people + 1)).reshape(size, -1)
        assert joint.max(axis=0).sum() / runs == pytest.approx(expected, abs=0.0056)


def test_a_large_survey_keeps_its_smallest_probabilities() -> None:
    survey = TallySurvey(300, "0.9")
    for channel in (survey.randomised(), survey.noisy()):
        assert channel.epsilon(Line()).value == pytest.approx(math.log(19), rel=1e-9)
        assert channel.logs.min() < -700


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0,), "from 1 to 500, not 0"),
        ((501,), "from 1 to 500"),
        ((2.5,), "whole number, not float"),
        ((True,), "whole number, not bool"),
        ((2, 1), "truth must be a probability between 0 and 1"),
        ((2, 0), "truth must be"),
        ((2, "1/2", 1.5), "yes must be"),
        ((2, "half"), "is not a number"),
    ],
)
def test_what_is_no_survey_is_refused(arguments: tuple[object, ...], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        TallySurvey(*arguments)  # type: ignore[arg-type]


def test_lists_of_answers_are_for_few() -> None:
    survey = TallySurvey(13)
    with pytest.raises(ParameterError, match="12 people at most"):
        survey.on_answers(survey.noisy())
