"""Devices: what the words say is what the numbers prove, and no split of the instrument is better."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from noisewright.channels.channel import product_channel
from noisewright.exceptions import DataError, GuaranteeError, ParameterError
from noisewright.mechanisms.categorical.probability_table import Chances
from noisewright.surveys.designs import binary, optimal_design
from noisewright.surveys.devices import INSTRUMENTS, WITH_SLIPS, Device, best_device, devices, instrument
from noisewright.testing import check_mechanism

HEADS = {3: "all heads", 2: "two heads", 1: "one head", 0: "all tails"}
RANKS = ["ace", *map(str, range(2, 11)), "jack", "queen", "king"]


def physical(name: str) -> list[str]:
    """Every equally likely outcome of the thing itself, named as a respondent would; written without looking at the library."""
    if name.startswith("two flips") or name.startswith("a coin"):
        return ["heads", "tails"]
    if name.startswith("three coins"):
        return [HEADS[sum(flips)] for flips in product((0, 1), repeat=3)]
    if name.startswith("a die"):
        return [str(i) for i in range(1, 7)]
    if name.startswith("two dice"):
        return [f"{red}{white}" for red in range(1, 7) for white in range(1, 7)]
    if name.startswith("two ten"):
        return [f"{red}{white}" for red in range(10) for white in range(10)]
    if name.startswith("three ten"):
        return [f"{r}{w}{b}" for r in range(10) for w in range(10) for b in range(10)]
    if name.startswith("a spinner"):
        return [str(i) for i in range(1, int(name.split()[3]) + 1)]
    return RANKS[: int(name.split(maxsplit=1)[0])]


def means(words: str, outcome: str, order: list[str]) -> bool:
    """Whether words such as "5", "5 or 6" or "1 to 4" cover an outcome."""
    for part in words.split(" or "):
        first, _, last = part.partition(" to ")
        if not last and part == outcome:
            return True
        if last and order.index(first) <= order.index(outcome) <= order.index(last):
            return True
    return False


def follow(device: Device) -> list[list[Fraction]]:
    """The probabilities of the answers for each truth when the spoken rules are followed to the letter."""
    outcomes = physical(device.instrument.name)
    size = len(device.answers)
    rows = []
    for truth in range(size):
        row = [Fraction(0)] * size
        for outcome in outcomes:
            hits = [action for words, action in device.rules() if means(words, outcome, outcomes)]
            assert len(hits) == 1, (device, outcome, hits)
            chance = Fraction(1, len(outcomes))
            if hits[0] == "answer truthfully.":
                row[truth] += chance
            elif hits[0].startswith("say"):
                row[[str(a) for a in device.answers].index(hits[0].split('"')[1])] += chance
            else:
                row = [p + chance / size for p in row]
        rows.append(row)
    return rows


PROMISES = [
    {"epsilon": "0.3"},
    {"epsilon": "1", "prevalence": "0.1"},
    {"epsilon": "2.2"},
    {"epsilon": "1", "delta": "0.3", "prevalence": "0.05"},
    {"epsilon": "0", "delta": "0.2", "prevalence": "0.9", "allow_certain_disclosure": True},
    {"epsilon": "1", "delta": "0.7"},
]


@pytest.mark.parametrize("promise", PROMISES, ids=str)
@pytest.mark.parametrize("answers", [("no", "yes"), ("never", "rarely", "often")], ids=len)
def test_the_spoken_rules_give_the_chances_that_are_proved(promise, answers):
    found = devices(answers, **promise)
    assert found
    for device in found:
        chances = device.chances()
        assert follow(device) == [[Fraction(v, chances.total) for v in row] for row in chances.rows]
        assert chances.private(promise["epsilon"], promise.get("delta", 0))
        assert device.smallest_epsilon <= float(promise["epsilon"])
        if not promise.get("allow_certain_disclosure"):
            assert not chances.discloses()


def test_every_instrument_has_as_many_cases_as_the_thing_itself():
    for tool in (*INSTRUMENTS, *WITH_SLIPS):
        assert tool.cases == len(physical(tool.name))
        assert set(tool.outcomes) == set(physical(tool.name))
        assert tool.act.endswith(".")
        assert "nobody else can see" in tool.act


@pytest.mark.parametrize(
    "name", ["a die", "three coins", "7 cards", "13 cards", "a spinner with 20 fields", "two dice"]
)
@pytest.mark.parametrize("promise", PROMISES, ids=str)
def test_no_split_of_the_instrument_is_better(name, promise):
    tool = instrument(name)
    disclosing, delta = promise.get("allow_certain_disclosure", False), Fraction(promise.get("delta", 0))
    best = best_device(tool, **promise)
    reachable = {(no, yes) for no in range(tool.cases) for yes in range(tool.cases - no)}
    if name == "three coins":  # each of 1, 3, 3, 1 cases to one of three actions
        splits = product(range(3), repeat=4)
        reachable = {
            tuple(sum(w for w, a in zip((1, 3, 3, 1), s, strict=True) if a == k) for k in (1, 2)) for s in splits
        }
    found = []
    for no, yes in reachable:
        p00, p11 = Fraction(tool.cases - yes, tool.cases), Fraction(tool.cases - no, tool.cases)
        if p00 + p11 <= 1 or (not disclosing and (min(p00, p11) < Fraction(1, 2) or 0 in (no, yes))):
            continue
        if not disclosing and delta >= Fraction(1, 2) and no != yes:
            continue
        design = binary(p00, p11)
        if design.chances().private(promise["epsilon"], delta):
            found.append(design.planned_variance(promise.get("prevalence")))
    if best is None:
        assert not found
    else:
        assert best.design.planned_variance(promise.get("prevalence")) == pytest.approx(min(found), rel=1e-12)


@settings(max_examples=40)
@given(
    st.fractions(Fraction(1, 20), 4, max_denominator=20),
    st.fractions(0, Fraction(9, 10), max_denominator=20),
    st.none() | st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50),
    st.booleans(),
)
def test_devices_are_private_and_never_beat_the_best_design(epsilon, delta, share, disclosing):
    best = optimal_design(epsilon=epsilon, delta=delta, prevalence=share, allow_certain_disclosure=disclosing)
    for name in ("two flips of a coin", "a die", "three coins", "11 cards", "two ten-sided dice"):
        device = best_device(
            instrument(name), epsilon=epsilon, delta=delta, prevalence=share, allow_certain_disclosure=disclosing
        )
        if device is None:
            continue
        assert device.design.planned_variance(share) >= best.variance * (1 - 1e-9)
        assert device.chances().private(epsilon, delta)
        assert device.channel().delta(epsilon) <= float(delta) + 1e-12


@given(st.integers(3, 12), st.fractions(Fraction(1, 10), 5, max_denominator=20))
def test_more_answers_are_forced_as_rarely_as_privacy_allows(size, epsilon):
    device = best_device(instrument("two ten-sided dice and slips"), range(size), epsilon=epsilon)
    assume(device is not None)
    assert device is not None
    total, _, forced = device.cases()
    assert len(set(forced)) == 1
    fewer = forced[0] - 1  # one case less in the first lot
    keep = total - (size - 1) * fewer
    rows = tuple(tuple(keep if x == y else fewer for y in range(size)) for x in range(size))
    if fewer > 0:
        assert not Chances(rows, total, tuple(range(size)), tuple(range(size))).private(epsilon)
    assert float(device.design.p11) <= 1 / (1 + (size - 1) * math.exp(-float(epsilon))) + 1e-12


def test_two_flips_of_a_coin_are_for_ln_3():
    assert best_device(instrument("two flips of a coin"), epsilon="1.0986") is None
    device = best_device(instrument("two flips of a coin"), epsilon="1.0987")
    assert device is not None
    assert device.chances().rows == ((3, 1), (1, 3))
    assert device.instruction().splitlines() == [
        "Flip a coin where nobody else can see it.",
        "Heads: answer truthfully.",
        'Tails: flip the coin again and say "yes" for heads and "no" for tails, whatever the truth is.',
    ]


@pytest.mark.parametrize("answers", [("no", "yes"), ("a", "b", "c", "d")], ids=len)
def test_a_device_conforms_as_a_mechanism(answers):
    for name in ("a die", "a die and a coin") if len(answers) == 2 else ("two dice and slips",):
        device = best_device(instrument(name), answers, epsilon="1.7")
        assert device is not None
        report = check_mechanism(device, secrets=list(answers), unknown=["other", 3])
        assert {"guarantee", "certificate", "law", "pickling", "forking", "unknown values"} <= set(report.passed)


def test_03_fnd5_a_survey_is_as_private_as_one_answer():
    device = best_device(instrument("a die"), epsilon=1, delta="0.2")
    assert device is not None
    one = device.channel()
    three = product_channel(one, 3)
    apart = np.array([[sum(a != b for a, b in zip(x, y, strict=True)) for y in three.inputs] for x in three.inputs])
    q = math.e
    worst = max(
        float(np.maximum(three.matrix[i] - q * three.matrix[j], 0).sum()) for i, j in np.argwhere(apart == 1).tolist()
    )
    assert worst == pytest.approx(one.delta(1), abs=1e-12)
    assert worst <= 0.2


def test_draws_follow_an_asymmetric_device():
    device = Device(instrument("two dice"), ("no", "yes"), 16, (12, 8), Fraction(2))
    truths = np.repeat(["no", "yes"], 100_000)
    drawn = device.release(truths, np.random.default_rng(3)) == "yes"
    for share, chance in ((drawn[:100_000].mean(), 8 / 36), (drawn[100_000:].mean(), 24 / 36)):
        assert abs(share - chance) < 6 * math.sqrt(chance * (1 - chance) / 100_000)  # 1e-8
    counts = [int((~drawn).sum()), int(drawn.sum())]
    np.testing.assert_allclose(device.estimate(counts), [0.5, 0.5], atol=0.02)
    assert pickle.loads(pickle.dumps(device)) == device
    assert device.design_of("no") == device.design.swapped


def test_certificates_say_who_draws():
    device = best_device(instrument("a die"), epsilon=1)
    assert device is not None
    assert "AES" in device.certificate().randomness
    assert device.certificate_by_hand().randomness == "drawn by each respondent with a die"
    assert device.certificate_by_hand().verify() == device.certificate().verify() == "epsilon = 1 per unit of discrete"
    assert "NOT FOR RELEASE" in device.certificate(np.random.default_rng(1)).verify()


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: instrument("a hat"), ParameterError, "no instrument called"),
        (lambda: devices(family="dominoes", epsilon=1), ParameterError, "coins, dice, cards, spinner"),
        (lambda: Device(instrument("a die"), ("no", "yes"), 5, (1, 1), Fraction(1)), ParameterError, "6 cases"),
        (lambda: Device(instrument("a die"), ("no", "yes"), 4, (1,), Fraction(2)), ParameterError, "for each answer"),
        (lambda: Device(instrument("a die"), ("no", "yes"), 4, (1, 1), Fraction(1)), GuaranteeError, "fewer cases"),
        (lambda: Device(instrument("a die"), ("no", "yes"), 0, (3, 3), Fraction(1)), ParameterError, "1 or more cases"),
        (lambda: Device(instrument("a die"), ("no", "no"), 2, (2, 2), Fraction(1)), ParameterError, "all different"),
        (
            lambda: Device(instrument("a die"), ("no", "yes"), 2.0, (2, 2), Fraction(1)),
            ParameterError,
            "number of cases",
        ),
        (lambda: best_device("a die", epsilon=1), ParameterError, "instrument\\(name\\)"),  # type: ignore[arg-type]
        (
            lambda: best_device(instrument("a die"), epsilon=2).design_of("perhaps"),
            ParameterError,
            "one of the answers",
        ),
        (lambda: best_device(instrument("a die"), epsilon=-1), ParameterError, "epsilon must be from 0"),
        (lambda: best_device(instrument("a die"), epsilon=2).release(["perhaps"]), DataError, "declared secrets"),
        (lambda: best_device(instrument("a die"), epsilon=2).estimate([0, 0]), DataError, "no answers"),
    ],
)
def test_bad_input_is_refused(call, kind, words):
    with pytest.raises(kind, match=words) as caught:
        call()
    assert "perhaps" not in str(caught.value)
