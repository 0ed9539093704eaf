"""Plans of surveys: what is recommended, what it costs, and what comes back."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from rich.text import Text

import noisewright as nw
from noisewright.design.closed_forms import optimal_response
from noisewright.exceptions import DataError, NoisewrightError, ParameterError
from noisewright.surveys.designs import optimal_design
from noisewright.surveys.planning import survey


def test_the_example_of_the_command():
    plan = nw.survey(epsilon=1, delta=0, respondents=1000, prevalence=0.1)
    assert plan.device.instrument.name == "11 cards"
    assert plan.device.chances().rows == ((8, 3), (3, 8))
    assert plan.variance == pytest.approx((0.09 + (24 / 121) / (25 / 121)) / 1000)
    assert plan.margin == pytest.approx(1.959964 * math.sqrt(plan.variance), rel=1e-6)
    assert plan.safe_margin == pytest.approx(math.sqrt(121 / 100 / 1000 / 0.05), rel=1e-9)
    best = optimal_design(epsilon=1, prevalence=0.1).variance
    assert plan.loss == pytest.approx(1000 * plan.variance / best - 1)
    assert str(plan.guarantee) == "epsilon = 1 per unit of discrete"
    assert plan.certificate().verify() == "epsilon = 1 per unit of discrete"


def test_the_handiest_device_within_the_tolerance_is_taken_and_else_the_most_accurate():
    assert survey(epsilon="1.1", respondents=10).device.instrument.name == "two flips of a coin"
    assert survey(epsilon="1.61", respondents=10).device.instrument.name == "a die"
    tight = survey(epsilon=1, respondents=10, tolerance="0.0001")
    spreads = [one.design.planned_variance(None) for one in tight.devices]
    assert tight.device.design.planned_variance(None) == min(spreads)
    assert tight.device.instrument.name == "three ten-sided dice"
    for family in ("coins", "dice", "cards", "spinner"):
        plan = survey(epsilon=1, respondents=10, device=family)
        assert {one.instrument.family for one in plan.devices} == {family}
        assert plan.loss >= 0


def test_a_target_margin_says_how_many():
    plan = survey(epsilon=1, prevalence="0.1", target_margin="0.03")
    assert plan.respondents == plan.needed == 4482
    assert plan.margin <= 0.03
    both = survey(epsilon=1, prevalence="0.1", target_margin="0.03", respondents=100)
    assert (both.respondents, both.needed) == (100, 4482)
    needed = {row.name: row.needed for row in both.options()}
    assert needed["direct question"] == math.ceil(0.09 * (1.959963984540054 / 0.03) ** 2)
    assert (
        needed["direct question"]
        < needed["best design"]
        <= min(v for k, v in needed.items() if k not in ("direct question", "best design"))
    )


def test_the_ideal_of_more_answers_is_the_optimal_response():
    plan = survey(epsilon=1, delta="0.05", respondents=100, categories=["a", "b", "c", "d", "e"])
    ideal = optimal_response(5, epsilon=1, delta="0.05")
    assert float(plan.ideal.p11) == pytest.approx(float(ideal.keep_probability), abs=1e-12)
    assert float(1 - plan.ideal.p00) == pytest.approx(float(ideal.lie_probability), abs=1e-12)
    assert plan.device.design.p11 <= ideal.keep_probability
    assert plan.loss >= 0
    assert survey(epsilon=1, respondents=1, categories=5).device.answers == (0, 1, 2, 3, 4)
    assert survey(epsilon=1, respondents=1, categories=2).device.answers == ("no", "yes")


def test_disclosure_only_when_allowed_and_named():
    shy = survey(epsilon=1, delta="0.4", respondents=100, prevalence="0.1")
    frank = survey(epsilon=1, delta="0.4", respondents=100, prevalence="0.1", allow_certain_disclosure=True)
    assert not shy.to_json()["device"]["gives_truths_away"]
    assert frank.to_json()["device"]["gives_truths_away"]
    assert frank.variance < shy.variance
    assert frank.certificate().verify() == "epsilon = 1 per unit of discrete, delta = 0.4"
    assert not any(one.chances().discloses() for one in shy.devices)


def test_a_delta_too_small_to_disclose_anything_does_not_hinder():
    frank = survey(epsilon=1, delta="1e-300", respondents=100, allow_certain_disclosure=True)
    assert frank.device.chances() == survey(epsilon=1, respondents=100).device.chances()


def test_the_tolerance_may_be_none_or_large():
    assert survey(epsilon=1, respondents=10, tolerance=0).device.instrument.name == "three ten-sided dice"
    assert survey(epsilon=1, respondents=10, tolerance=2).device.instrument.name == "a die"


def test_a_device_that_needs_too_many_does_not_hide_the_others():
    """The target is met by the recommended device; with two dice it needs three times as many, more than can be counted."""
    plan = survey(epsilon="0.1", respondents=10, target_margin="0.00003")
    needed = {row.name: row.needed for row in plan.options()}
    assert plan.needed is not None
    assert None in needed.values()
    assert needed[plan.device.instrument.name] == plan.needed
    assert None in [row["respondents_needed"] for row in plan.to_json()["options"]]


def test_of_more_answers_only_a_response_is_called_the_best():
    """Subset selection has a smaller variance over twelve answers at epsilon 1 than the best response."""
    plan = survey(epsilon=1, respondents=10, categories=12)
    assert [row.name for row in plan.options()[:2]] == ["direct question", "best response"]
    subsets = nw.mechanisms.subset_selection(12, epsilon=1)
    size, q = subsets.size, math.e
    inside = size * q / (size * q + 12 - size)  # the chance that the set holds the truth
    other = (inside * (size - 1) + (1 - inside) * size) / 11
    assert other * (1 - other) / (inside - other) ** 2 < plan.ideal.variance(0)


def test_asking_everybody_leaves_out_the_sample():
    sample = survey(epsilon=1, respondents=500, prevalence="0.2", device="cards")
    everybody = survey(epsilon=1, respondents=500, prevalence="0.2", device="cards", whole_population=True)
    assert sample.variance - everybody.variance == pytest.approx(0.2 * 0.8 / 500)
    assert everybody.options()[0].margin == 0
    answers = {"yes": 200, "no": 300}
    (low, high), (first, last) = (p.estimate(answers, method="normal").intervals["yes"] for p in (everybody, sample))
    assert first < low < high < last
    certain = survey(
        epsilon=1, delta="0.4", respondents=5, prevalence=0, whole_population=True, allow_certain_disclosure=True
    )
    assert certain.loss == 0
    assert certain.margin == 0


@pytest.mark.parametrize("categories", [2, ("never", "once", "often")], ids=str)
def test_what_comes_back_is_the_population(categories):
    """Simulated surveys of 20 000: estimates are within six of their deviations, and intervals contain the shares (1e-6)."""
    plan = survey(epsilon="1.5", respondents=20_000, categories=categories, confidence="0.999999")
    answers, rng = plan.device.answers, np.random.default_rng(8)
    shares = dict(zip(answers, (0.7, 0.3) if len(answers) == 2 else (0.5, 0.3, 0.2), strict=True))
    truths = np.repeat(answers, [round(20_000 * p) for p in shares.values()])
    drawn = plan.device.release(truths, rng)
    counts = {answer: int((drawn == answer).sum()) for answer in answers}
    for method in ("exact", "normal"):
        found = plan.estimate(counts, method=method)
        assert found.respondents == 20_000
        assert sum(found.shares.values()) == pytest.approx(1)
        for answer, share in shares.items():
            spread = plan.device.design_of(answer).variance(Fraction(share).limit_denominator(10), 20_000)
            assert abs(found.shares[answer] - share) < 6 * math.sqrt(spread)
            low, high = found.intervals[answer]
            assert low <= share <= high
    assert plan.estimate([counts[a] for a in answers]).shares == plan.estimate(counts).shares


def test_the_plan_in_words_and_as_data():
    plan = survey(epsilon=1, delta="0.01", respondents=800, prevalence="0.1", target_margin="0.05")
    data = json.loads(json.dumps(plan.to_json(), allow_nan=False))
    assert data["options"][0]["epsilon"] == "inf"
    assert data["device"]["chances"]["table"] == [list(row) for row in plan.device.chances().rows]
    assert (data["epsilon"], data["delta"], data["respondents"]) == ("1", "1/100", 800)
    assert [row["name"] for row in data["options"][:2]] == ["direct question", "best design"]
    assert data["options"][0]["violation"] == 1
    assert plan.device.instruction() in str(plan)
    assert "800 respondents" in str(plan)


def test_the_table_is_headed_by_the_answers_cut_to_some_length():
    plan = survey(epsilon=1, respondents=10, prevalence="0.1", categories=["clean", "[red]I have taken some"])
    headings = [column.header for column in plan.__rich__().columns]
    assert all(isinstance(heading, Text) for heading in headings)  # so that markup in an answer is only text
    assert [str(heading) for heading in headings] == [
        "Way to ask",
        "epsilon",
        "clean told truly",
        "[red]I have tak… told truly",
        "± for 10",
        "belief after [red]I have tak…",
    ]


def test_answers_with_other_names():
    plan = survey(epsilon=1, respondents=10, categories=["clean", "doped"])
    assert 'say "doped", whatever the truth is.' in plan.device.instruction()
    assert plan.estimate({"doped": 5, "clean": 5}).shares["doped"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: survey(epsilon=1), "how many respondents"),
        (lambda: survey(epsilon=0, respondents=10), "both 0"),
        (lambda: survey(epsilon=1, delta=1, respondents=10), "promises nothing"),
        (lambda: survey(epsilon=-1, respondents=10), "epsilon must be from 0"),
        (lambda: survey(epsilon="0.0001", respondents=10), "let a computer draw"),
        (lambda: survey(epsilon="0.2", respondents=10, device="coins"), "no coins"),
        (lambda: survey(epsilon=1, respondents=10, device="dominoes"), "coins, dice, cards, spinner"),
        (lambda: survey(epsilon=1, respondents=0), "1 or more"),
        (lambda: survey(epsilon=1, respondents=1.5), "1 or more"),
        (lambda: survey(epsilon=1, respondents=10, prevalence=2), "from 0 to 1"),
        (lambda: survey(epsilon=1, respondents=10, confidence=1), "confidence"),
        (lambda: survey(epsilon=1, target_margin=0), "target margin"),
        (lambda: survey(epsilon=1, target_margin="1e-12"), "more than"),
        (lambda: survey(epsilon=1, respondents=10, categories=1), "from 2 to 100"),
        (lambda: survey(epsilon=1, respondents=10, categories=500), "from 2 to 100"),
        (lambda: survey(epsilon=1, respondents=10, categories=["a", "a"]), "all different"),
        (lambda: survey(epsilon=1, respondents=10, tolerance=-1), "tolerance"),
        (lambda: survey(epsilon=float("nan"), respondents=10), "finite"),
        (lambda: survey(epsilon="1e-300", respondents=10), "a larger epsilon"),
        (lambda: survey(epsilon=1, respondents=10**400), "at most 10"),
        (lambda: survey(epsilon=1, target_margin="1e-300"), "more than"),
        (lambda: survey(epsilon=1, respondents=10, categories="abc"), "a list such as"),
        (lambda: survey(epsilon=1, respondents=10, categories={"no", "yes"}), "in an order"),
    ],
)
def test_bad_plans_are_refused_in_one_sentence(call, words):
    with pytest.raises(ParameterError, match=words) as caught:
        call()
    assert str(caught.value).endswith(".")


def test_a_confidence_next_to_one_is_a_margin():
    assert survey(epsilon=1, respondents=10, confidence=1 - 2.0**-53).margin > survey(epsilon=1, respondents=10).margin


@pytest.mark.parametrize(
    "counts",
    [{"yes": 3, "maybe": 1}, {"yes": -1, "no": 5}, [1, 2, 3], [0, 0], {"yes": 0.5}, {"yes": 10**400}, {"yes": "3"}],
)
def test_bad_counts_are_refused_and_not_shown(counts):
    plan = survey(epsilon=1, respondents=10)
    with pytest.raises(DataError) as caught:
        plan.estimate(counts)
    assert "maybe" not in str(caught.value)
    assert isinstance(caught.value, NoisewrightError)
