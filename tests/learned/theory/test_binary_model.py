"""The binary data model: closed forms against published numbers, against the linear program and against each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisewright.context_aware import FiniteGame, Joint, map_accuracy, mutual_information
from noisewright.context_aware.closed_forms import (
    best_kept,
    even_information,
    independence_budget,
    keeps,
    kept_accuracy,
    least_accuracy,
    mechanism_rows,
    saturation_budget,
)
from noisewright.exceptions import ParameterError

EVEN, SKEWED = Joint.xor(px1=0.5, flip=0.25), Joint.xor(px1=0.75, flip=0.25)
TENTHS = [0.05 * i for i in range(1, 11)]

cells = st.integers(1, 40)
laws = st.tuples(cells, cells, cells, cells).map(lambda c: Joint.from_counts([c[:2], c[2:]]))
budgets = st.integers(0, 60).map(lambda i: i / 60)


def joint_after(law: Joint, kept: object, given: str) -> np.ndarray:
    """``P(y, output)`` by the definition: what is kept, and what is flipped."""
    rows = mechanism_rows(kept)
    found = np.zeros((2, 2))
    for x in (0, 1):
        for y in (0, 1):
            found[y] += law.probabilities[x, y] * (rows[x] if given == "x" else rows[2 * x + y])
    return found


def test_fact_1_the_even_law() -> None:
    assert EVEN.probabilities.tolist() == [[0.375, 0.125], [0.125, 0.375]]
    assert EVEN.prior[1] == 0.5
    assert map_accuracy(EVEN.probabilities.T) == 0.75
    assert mutual_information(EVEN.probabilities.T) == pytest.approx(0.130812, abs=5e-7)


def test_fact_2_the_curve_given_x_alone() -> None:
    expected = [0.725, 0.7, 0.675, 0.65, 0.625, 0.6, 0.575, 0.55, 0.525, 0.5]
    assert [least_accuracy(EVEN, d) for d in TENTHS] == pytest.approx(expected, abs=1e-9)
    game = FiniteGame(EVEN)
    assert [float(game.optimum(d).accuracy) for d in TENTHS] == pytest.approx(expected, abs=1e-9)


def test_fact_3_the_curve_given_both() -> None:
    expected = [0.7, 0.65, 0.6, 0.55, 0.5] + [0.5] * 5
    assert [least_accuracy(EVEN, d, "xy") for d in TENTHS] == pytest.approx(expected, abs=1e-9)
    game = FiniteGame(EVEN, given="xy")
    assert [float(game.optimum(d).accuracy) for d in TENTHS] == pytest.approx(expected, abs=1e-9)


def test_fact_4_the_skewed_law() -> None:
    assert SKEWED.probabilities.tolist() == [[0.1875, 0.0625], [0.1875, 0.5625]]
    assert SKEWED.prior[1] == 0.625
    assert map_accuracy(SKEWED.probabilities.T) == 0.75
    assert mutual_information(SKEWED.probabilities.T) == pytest.approx(0.099228, abs=5e-7)


def test_fact_5_the_curves_of_the_skewed_law() -> None:
    alone = [0.725, 0.7, 0.675, 0.65] + [0.625] * 6
    assert [least_accuracy(SKEWED, d) for d in TENTHS] == pytest.approx(alone, abs=1e-9)
    assert [least_accuracy(SKEWED, d, "xy") for d in (0.05, 0.1, 0.125, 0.15, 0.5)] == pytest.approx(
        [0.7, 0.65, 0.625, 0.625, 0.625], abs=1e-9
    )
    assert float(FiniteGame(SKEWED, given="xy").optimum("1/8").accuracy) == pytest.approx(0.625, abs=1e-9)


@pytest.mark.parametrize(
    ("p", "q", "d", "expected"),
    [
        (0.75, 0.25, 0.3, 0.625),
        (0.3, 0.8, 0.25, 0.65),
        (0.3, 0.8, 0.35, 0.62),
        (0.6, 0.9, 0.5, 0.58),
        (0.5, 0.25, 0.2, 0.65),
    ],
)
def test_fact_6_theorem_1(p: float, q: float, d: float, expected: float) -> None:
    assert least_accuracy(Joint.xor(px1=p, flip=q), d) == pytest.approx(expected, abs=1e-9)
    low, high = best_kept(px1=p, flip=q, distortion=d)
    assert [kept_accuracy(px1=p, flip=q, kept=u) for u in (low, (low + high) / 2, high)] == pytest.approx(
        [expected] * 3
    )
    assert low >= 1 - d - 1e-12


@settings(max_examples=40, deadline=None)
@given(laws, budgets)
def test_fact_7_the_program_finds_the_closed_form_and_both_values_are_never_worse(law: Joint, budget: float) -> None:
    values = {}
    for given_ in ("x", "xy"):
        closed = least_accuracy(law, budget, given_)
        made = FiniteGame(law, given=given_).optimum(budget)
        assert float(made.accuracy) == pytest.approx(closed, abs=1e-9)
        assert made.gap <= 1e-9
        kept = keeps(law, budget, given_)
        found = joint_after(law, kept, given_)
        assert map_accuracy(found) == pytest.approx(closed, abs=1e-12)
        flipped = law.marginal if given_ == "x" else law.probabilities
        assert (flipped * (1 - kept)).sum() <= budget + 1e-12
        values[given_] = closed
    assert values["xy"] <= values["x"] + 1e-15


@settings(max_examples=60)
@given(laws, st.sampled_from(["x", "xy"]))
def test_fact_7_curves_fall_and_are_convex(law: Joint, given_: str) -> None:
    curve = np.array([least_accuracy(law, i / 20, given_) for i in range(21)])
    assert (np.diff(curve) <= 1e-12).all()
    assert (np.diff(curve, 2) >= -1e-12).all()


def test_fact_8_the_set_of_best_mechanisms() -> None:
    for s0 in np.linspace(0.62, 1, 9):
        s1 = (0.9 - 0.25 * s0) / 0.75
        assert map_accuracy(joint_after(SKEWED, [s0, s1], "x")) == pytest.approx(0.7, abs=1e-9)
        more = joint_after(SKEWED, [s0, min(1.0, s1 + 0.004)], "x")
        assert map_accuracy(more) > 0.7 + 1e-4
    assert best_kept(px1=0.75, flip=0.25, distortion=0.1) == (0.9, 0.9)
    assert best_kept(px1=0.75, flip=0.25, distortion=0) == (1.0, 1.0)  # without a budget there is one mechanism only


@settings(max_examples=100)
@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
def test_accuracy_depends_on_what_is_kept_alone(p: int, q: int, s0: int, s1: int) -> None:
    px1, flip, kept = p / 20, q / 20, (s0 / 20, s1 / 20)
    direct = map_accuracy(joint_after(Joint.xor(px1=px1, flip=flip), kept, "x"))
    u = px1 * kept[1] + (1 - px1) * kept[0]
    assert kept_accuracy(px1=px1, flip=flip, kept=min(u, 1.0)) == pytest.approx(direct, abs=1e-12)


INFORMATION = [
    (0.5, 0.05, 0.10498, 0.08228),
    (0.5, 0.10, 0.08228, 0.04570),
    (0.5, 0.125, 0.07206, 0.03158),
    (0.5, 0.15, 0.06257, 0.02014),
    (0.5, 0.20, 0.04570, 0.00501),
    (0.5, 0.25, 0.03158, 0.0),
    (0.5, 0.40, 0.00501, 0.0),
    (0.5, 0.50, 0.0, 0.0),
    (0.75, 0.05, 0.07339, 0.05079),
    (0.75, 0.10, 0.05070, 0.01580),
    (0.75, 0.125, 0.04048, 0.00463),
    (0.75, 0.15, 0.03098, 0.0),
    (0.75, 0.20, 0.01412, 0.0),
    (0.75, 0.25, 0.0, 0.0),
]


@pytest.mark.parametrize(("p", "d", "alone", "both"), INFORMATION)
def test_table_4_2_the_least_information(p: float, d: float, alone: float, both: float) -> None:
    law = Joint.xor(px1=p, flip=0.25)
    for given_, expected in (("x", alone), ("xy", both)):
        made = FiniteGame(law, given=given_).optimum(d, "log")
        assert made.information == pytest.approx(expected, abs=2e-5)
        assert made.gap < 1e-7
        if p == 0.5:
            closed = even_information(flip=0.25, distortion=d, given=given_)
            assert made.information == pytest.approx(closed, abs=1e-7)
        low, high = made.information_bounds()
        assert float(low) - 1e-12 <= made.information <= float(high) + 1e-12


@pytest.mark.parametrize(
    ("law", "given_", "guess", "nothing"),
    [(EVEN, "x", 0.5, 0.5), (EVEN, "xy", 0.25, 0.25), (SKEWED, "x", 0.25, 0.25), (SKEWED, "xy", 0.125, 0.15)],
)
def test_fact_10_budgets_from_which_on_nothing_is_gained(law: Joint, given_: str, guess: float, nothing: float) -> None:
    game = FiniteGame(law, given=given_)
    blind, silent = saturation_budget(game), independence_budget(game)
    assert (blind.value, silent.value) == pytest.approx((guess, nothing), abs=1e-9)
    assert (blind.bound, silent.bound) == pytest.approx((guess, nothing), abs=1e-9)
    if given_ == "x":
        assert nothing == pytest.approx(1 - law.marginal.max())


def test_fact_11_blind_guesses_are_no_independence() -> None:
    for kept, nats in (((1, 2 / 3), 0.03382), ((0, 1), 0.0)):
        found = joint_after(SKEWED, kept, "x")
        assert map_accuracy(found) == pytest.approx(0.625, abs=1e-12)
        assert mutual_information(found) == pytest.approx(nats, abs=1e-5)
    told = {ties: FiniteGame(SKEWED).optimum(0.25, ties=ties) for ties in ("distortion", "information")}
    assert told["information"].information < 1e-6 < told["distortion"].information
    assert all(made.saturated and made.spent <= 0.25 for made in told.values())


def test_fact_12_mechanisms_that_tell_least() -> None:
    alone = FiniteGame(SKEWED).optimum(0.1, "log").channel().matrix
    assert (alone[0, 0], alone[1, 1]) == pytest.approx((0.675, 0.975), abs=1e-3)
    both = FiniteGame(SKEWED, given="xy").optimum(0.1, "log").channel()
    assert both.inputs == ((0, 0), (0, 1), (1, 0), (1, 1))
    assert [both.matrix[i, k] for i, k in ((0, 0), (1, 0), (2, 1), (3, 1))] == pytest.approx(
        [0.4667, 1, 1, 1], abs=1e-4
    )


def test_fact_13_log_loss_is_not_always_best_against_guesses() -> None:
    game = FiniteGame(Joint([[0.293, 0.137], [0.042, 0.528]]))
    gap = game.optimum(0.1906, "log").accuracy - game.optimum(0.1906).accuracy
    assert float(gap) == pytest.approx(0.058, abs=2e-3)


@settings(max_examples=15, deadline=None)
@given(laws, st.integers(1, 9).map(lambda i: i / 20))
def test_given_both_the_mechanism_that_tells_least_is_best_against_guesses_too(law: Joint, budget: float) -> None:
    game = FiniteGame(law, given="xy")
    assert float(game.optimum(budget, "log").accuracy) == pytest.approx(least_accuracy(law, budget, "xy"), abs=2e-5)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(cells, cells), min_size=3, max_size=6), budgets)
def test_the_closed_form_given_both_holds_for_any_number_of_public_values(
    counts: list[tuple[int, int]], budget: float
) -> None:
    law = Joint.from_counts(counts)
    made = FiniteGame(law, given="xy").optimum(budget)
    assert float(made.accuracy) == pytest.approx(least_accuracy(law, budget, "xy"), abs=1e-9)


@pytest.mark.parametrize("flip", [0.25, 0.75])
def test_more_budget_than_anybody_needs_is_as_good_as_enough(flip: float) -> None:
    assert even_information(flip=flip, distortion=3) == pytest.approx(0, abs=1e-15)
    assert even_information(flip=flip, distortion=3, given="xy") == pytest.approx(0, abs=1e-15)
    assert keeps(EVEN, 3).tolist() == keeps(EVEN, 1).tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda: least_accuracy(EVEN, -0.1),
        lambda: least_accuracy(EVEN, math.nan),
        lambda: least_accuracy(EVEN, "a"),
        lambda: least_accuracy([[0.5, 0.2], [0.2, 0.05], [0.05, 0.0]], 0.1),
        lambda: keeps([[0.5, 0.25, 0.25]], 0.1),
        lambda: least_accuracy(EVEN, 0.1, "y"),
        lambda: mechanism_rows([0.5, 1.5]),
        lambda: kept_accuracy(px1=1.5, flip=0, kept=0),
        lambda: Joint.xor(px1=0.5, flip=math.nan),
        lambda: Joint([[0.5, 0.6]]),
        lambda: Joint([[0.5, -0.5], [0.5, 0.5]]),
        lambda: Joint([[math.nan, 1]]),
        lambda: Joint([]),
        lambda: Joint([[1.0]], public=["a", "b"]),
        lambda: Joint([[0.5], [0.5]], public=["a", "a"]),
        lambda: Joint.from_counts([[0, 0]]),
    ],
)
def test_bad_laws_and_budgets_get_one_sentence(call: object) -> None:
    with pytest.raises(ParameterError) as caught:
        call()  # type: ignore[operator]
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)
