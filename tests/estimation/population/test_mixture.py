"""Mixtures of mechanisms: every report counts for its own mechanism, whatever the batches, and promises are kept apart."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noisewright as nw
from noisewright.estimation.counts import model_of
from noisewright.estimation.likelihood import linear_estimate, standard_errors
from noisewright.estimation.mixture import Mixture
from noisewright.estimation.operators import StackedOperator
from noisewright.estimation.result import asymptotic
from noisewright.exceptions import DataError, ParameterError

TRAVEL = ["car", "bike", "foot"]
CARDS = nw.randomised_response(TRAVEL, epsilon=1)
DICE = nw.randomised_response(TRAVEL, epsilon="0.5")


def drawn(seed: int = 0) -> tuple[list[str], list[str]]:
    """Reports of 3,000 people with cards and 2,000 with dice, in a mixed order, and what each of them used."""
    rng = np.random.default_rng(seed)
    cards = CARDS.release(rng.choice(TRAVEL, 3000, p=[0.5, 0.3, 0.2]), rng)
    dice = DICE.release(rng.choice(TRAVEL, 2000, p=[0.5, 0.3, 0.2]), rng)
    order = rng.permutation(5000)
    answers, devices = np.concatenate([cards, dice])[order], np.repeat(["cards", "dice"], [3000, 2000])[order]
    return answers.tolist(), devices.tolist()


def test_a_mixture_is_the_estimate_of_lists():
    answers, devices = drawn()
    mixture = Mixture({"cards": CARDS, "dice": DICE})
    mixture.add(answers, devices)
    columns = [[a for a, d in zip(answers, devices, strict=True) if d == name] for name in ("cards", "dice")]
    expected = nw.estimate(columns, [CARDS, DICE], intervals="asymptotic")
    found = mixture.estimate(intervals="asymptotic")
    assert found.probabilities.tolist() == expected.probabilities.tolist()
    assert found.low.tolist() == expected.low.tolist()
    assert found.reports == 5000
    assert [part.reports for part in mixture.parts] == [3000, 2000]


@given(st.lists(st.integers(0, 5000), max_size=6), st.sampled_from(["list", "numpy", "arrow", "chunked"]))
def test_batches_of_any_size_and_kind_give_the_same(cuts, kind):
    answers, devices = drawn(1)
    whole = Mixture({"cards": CARDS, "dice": DICE})
    whole.add(answers, devices)
    batched = Mixture({"cards": CARDS, "dice": DICE})
    ends = [0, *sorted(cuts), 5000]
    make = {"list": list, "numpy": np.array, "arrow": pa.array, "chunked": lambda rows: pa.chunked_array([rows])}[kind]
    for start, end in pairwise(ends):
        if end > start:
            batched.add(make(answers[start:end]), make(devices[start:end]))
    assert [c.counts.tolist() for c in batched.result()[0]] == [c.counts.tolist() for c in whole.result()[0]]


def test_each_report_keeps_the_promise_of_its_own_mechanism():
    mixture = Mixture({"cards": CARDS, "dice": DICE, "own": DICE.channel()})
    mixture.add(["car", "bike", "foot"], ["cards", "dice", "own"])
    assert mixture.estimate().promise == (
        "cards: epsilon = 1 per unit of discrete; dice: epsilon = 0.5 per unit of discrete; own: no promise known"
    )
    same = Mixture({"a": CARDS, "b": CARDS})
    same.add(["car", "foot"], ["a", "b"])
    assert same.estimate().promise == "epsilon = 1 per unit of discrete"


def test_one_mechanism_with_several_names_is_one_mechanism():
    """Its counts add up, so the closed form stays; two copies would take Newton steps."""
    answers, devices = drawn(2)
    mixture = Mixture({"cards": CARDS, "dice": CARDS})
    mixture.add(answers, devices)
    alone = nw.estimate(answers, CARDS)
    found = mixture.estimate()
    assert found.iterations == 0
    assert found.probabilities.tolist() == alone.probabilities.tolist()


def test_rows_that_name_no_mechanism_are_counted_and_refused_or_left_out():
    mixture = Mixture({"cards": CARDS, "dice": DICE})
    mixture.add(["car", "bike", "foot", "car"], ["cards", "Cards", None, "dice"])
    with pytest.raises(DataError, match="2 of 4 rows name none of the mechanisms") as refused:
        mixture.estimate()
    assert "Cards" not in str(refused.value)
    found = mixture.estimate(outside="drop")
    assert (found.reports, found.dropped, mixture.unnamed) == (2, 2, 2)
    assert "2 of 4 reports were left out" in found.warnings[0]
    nobody = Mixture({"cards": CARDS})
    nobody.add(["car"], ["dice"])
    with pytest.raises(DataError, match="1 of 1 rows name none"):
        nobody.estimate(outside="drop")


def test_reports_that_are_no_outputs_are_told_with_their_mechanism():
    mixture = Mixture({"cards": CARDS, "dice": DICE})
    mixture.add(["car", "boat", "foot"], ["cards", "dice", "dice"])
    with pytest.raises(DataError, match=r"^dice: 1 of 2 reports are not outputs of this mechanism") as refused:
        mixture.estimate()
    assert "boat" not in str(refused.value)
    found = mixture.estimate(outside="drop")
    assert (found.dropped, [part.dropped for part in mixture.parts]) == (1, [0, 1])


def test_a_mechanism_without_reports_is_noted():
    mixture = Mixture({"cards": CARDS, "dice": DICE})
    mixture.add(["car", "foot"], ["cards", "cards"])
    found = mixture.estimate()
    assert found.probabilities.tolist() == nw.estimate(["car", "foot"], CARDS).probabilities.tolist()
    assert "there are no reports of dice; the estimate is from the others." in found.warnings
    assert found.promise == "epsilon = 1 per unit of discrete"
    with pytest.raises(DataError, match="no reports"):
        Mixture({"cards": CARDS, "dice": DICE}).estimate()


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ([1, 2, None], ("1", "2")),
        ([True, False, None], ("true", "false")),
        (pa.array(["x y", "", None]).dictionary_encode(), ("x y", "")),
        (pa.array(["a", "b", None], pa.large_string()), ("a", "b")),
    ],
)
def test_names_are_compared_as_text(by, names):
    mixture = Mixture(dict(zip(names, (CARDS, DICE), strict=True)))
    mixture.add(["car", "bike", "foot"], by)
    assert ([part.rows for part in mixture.parts], mixture.unnamed) == ([1, 1], 1)


def test_places_and_counted_rows():
    plane = nw.mechanisms.planar_geometric(nw.mechanisms.Grid(3, 2, step=50), epsilon="1/50")
    mixture = Mixture({"a": plane, "b": plane})
    mixture.add(np.array([[0, 0], [50, 50], [100, 0]]), ["a", "b", "a"])
    assert [part.rows for part in mixture.parts] == [2, 1]
    for part, rows in mixture.split(pa.array(["b", "z"]), np.array([5, 7])):
        part.add([(0, 50)], np.array([5, 7])[rows])
    assert ([part.rows for part in mixture.parts], mixture.unnamed) == ([2, 6], 7)
    assert mixture.estimate(outside="drop").reports == 8


def test_a_range_is_for_those_that_do_not_tell_their_secrets():
    bounded, free = nw.geometric(epsilon=1, within=(0, 9)), nw.geometric(epsilon="0.5")
    mixture = Mixture({"bounded": bounded, "free": free}, within=(0, 9))
    mixture.add([3, 12], ["bounded", "free"])
    assert mixture.estimate().reports == 2
    with pytest.raises(ParameterError, match="without bounds"):
        Mixture({"a": bounded, "b": nw.geometric(epsilon=2, within=(0, 9))}, within=(0, 9))
    with pytest.raises(ParameterError, match="range"):
        Mixture({"bounded": bounded, "free": free})


@pytest.mark.parametrize("name", ["unary-encoding", "subset-selection", "local-hashing"])
def test_oracles_are_combined(name):
    from noisewright.estimation.frequencies import combine
    from noisewright.mechanisms.registry import registry

    rng = np.random.default_rng(3)
    makers = [registry[name].make(TRAVEL, epsilon=epsilon) for epsilon in (2, 1)]
    told = [m.release(pa.array(rng.choice(TRAVEL, 4000, p=[0.6, 0.3, 0.1]).tolist()), rng) for m in makers]
    mixture = Mixture({"a": makers[0], "b": makers[1], "c": makers[1]})
    mixture.add(pa.concat_arrays(told), ["a"] * 4000 + ["b"] * 4000)
    found = mixture.estimate(intervals="asymptotic")
    assert found.unbiased.tolist() == combine(told, makers).unbiased.tolist()
    assert [part.reports for part in mixture.parts] == [4000, 4000, 0]
    assert any("no reports of c" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("mechanisms", "words"),
    [
        ({}, "at least one mechanism"),
        ({"a": CARDS, "b": nw.randomised_response(["car", "foot", "bike"], epsilon=1)}, "same secrets"),
        ({"a": CARDS, "b": nw.geometric(epsilon=1, within=(0, 2))}, "same secrets"),
        ({"a": CARDS, "b": nw.mechanisms.unary_encoding(TRAVEL, epsilon=1)}, "estimate from them apart"),
        (
            {
                "a": nw.mechanisms.unary_encoding(TRAVEL, epsilon=1),
                "b": nw.mechanisms.unary_encoding(["x", "y"], epsilon=1),
            },
            "same secrets",
        ),
    ],
)
def test_mixtures_that_make_no_sense(mechanisms, words):
    with pytest.raises(ParameterError, match=words):
        Mixture(mechanisms)


@pytest.mark.parametrize(
    ("values", "by", "words"),
    [
        (["car"], ["cards", "cards"], "1 reports and 2 names"),
        ("car", ["cards"], "a column"),
        (["car"], [1.5], "text, whole numbers"),
        (["car", "car"], ["cards", 3], "of one kind"),
    ],
)
def test_columns_that_do_not_fit(values, by, words):
    with pytest.raises(DataError, match=words):
        Mixture({"cards": CARDS}).add(values, by)


@pytest.mark.parametrize("careful", [100, 1000, 30_000])
def test_standard_errors_of_a_mixture_are_those_of_draws(careful):
    """How many reports each mechanism has is known: that their means differ before they are weighed is no uncertainty.

    A standard deviation of 20,000 draws is off by 0.5 % of itself, and by 4 % with a chance below 1e-12.
    """
    rng, truth = np.random.default_rng(13), np.array([0.9, 0.08, 0.02, 0.0, 0.0])
    operators = [model_of(nw.randomised_response(5, epsilon=epsilon)).operator for epsilon in ("5", "0.5")]
    sizes = np.array([1000, careful])
    stacked = StackedOperator(operators, sizes / sizes.sum())
    inverse, law = stacked.inverse(), stacked.forward(truth)
    draws = [rng.multinomial(n, one.forward(truth), size=20_000) for n, one in zip(sizes, operators, strict=True)]
    shares = np.concatenate(draws, axis=1) / sizes.sum()
    assert standard_errors(law, sizes.sum(), inverse) == pytest.approx(inverse.left(shares).std(axis=0), rel=0.04)
    ages = np.arange(5.0)
    value, error = linear_estimate(ages, law, sizes.sum(), inverse)
    assert value == pytest.approx(truth @ ages)
    assert error == pytest.approx((inverse.left(shares) @ ages).std(), rel=0.04)


def test_intervals_of_a_mixture_cover_where_few_reports_tell_nearly_everything():
    """500 trials at a level of 0.95: fewer than 460 hits have a chance below 0.002 at each secret if the level holds."""
    rng = np.random.default_rng(11)
    truth = np.array([0.9, 0.08, 0.02, 0.0, 0.0])
    mechanisms = [nw.randomised_response(5, epsilon=3), nw.randomised_response(5, epsilon="0.1")]
    operators, sizes = [model_of(one).operator for one in mechanisms], [12, 400]
    inverse = StackedOperator(operators, [12 / 412, 400 / 412]).inverse()
    drawn = [rng.multinomial(n, one.forward(truth), size=500) for n, one in zip(sizes, operators, strict=True)]
    low, high = asymptotic(np.concatenate(drawn, axis=1) / 412, 412, inverse, 0.95)
    assert (((low <= truth) & (truth <= high)).sum(axis=0) >= 460).all()


def test_joint_intervals_of_oracles_hold_where_three_reports_tell_nearly_everything():
    """300 trials at a level of 0.95: fewer than 270 hits have a chance below 0.0005 if the level holds."""
    rng = np.random.default_rng(12)
    truth = np.array([0.9, 0.08, 0.02, 0.0, 0.0])
    page, site = nw.mechanisms.unary_encoding(5, epsilon=3), nw.mechanisms.local_hashing(5, epsilon="0.1")
    hits = 0
    for _ in range(300):
        reports = [one.release(rng.choice(5, size, p=truth), rng) for one, size in ((page, 3), (site, 400))]
        found = nw.estimate(reports, [page, site], intervals="asymptotic", joint=True)
        hits += bool(((found.low <= truth) & (truth <= found.high)).all())
    assert hits >= 270


def test_a_bootstrap_keeps_the_number_of_reports_of_each_mechanism():
    """Its intervals for the unbiased estimate are as wide as the standard errors say, to the 10 % that 2,000 draws allow."""
    truth = np.array([0.9, 0.08, 0.02])
    mechanisms = [nw.randomised_response(3, epsilon=epsilon) for epsilon in ("5", "0.5")]
    laws = [model_of(one).operator.forward(truth) for one in mechanisms]
    counts = [dict(enumerate((1000 * law).round().astype(int).tolist())) for law in laws]
    found = nw.estimate(counts, mechanisms, method="inversion", intervals="bootstrap", replicates=2000)
    stacked = StackedOperator([model_of(one).operator for one in mechanisms], [0.5, 0.5])
    errors = standard_errors(stacked.forward(truth), 2000, stacked.inverse())
    assert (found.high - found.low)[:2] == pytest.approx(2 * 1.96 * errors[:2], rel=0.1)
