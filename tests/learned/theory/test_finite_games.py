"""Finite games: optima against independent programs, dual certificates, exact draws, and the house's own measures."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize
from scipy.stats import chisquare

import noisewright as nw
from noisewright.certificates.composition import Accountant
from noisewright.context_aware import (
    AdversaryLoss,
    DualCertificate,
    FiniteGame,
    Joint,
    Mixed,
    conditional_entropy,
    distortion_table,
    games,
    information_bounds,
    map_accuracy,
    mutual_information,
)
from noisewright.context_aware.closed_forms import least_accuracy
from noisewright.context_aware.distributions import as_adversary_loss
from noisewright.context_aware.interior_point import interior
from noisewright.context_aware.programs import GameRows
from noisewright.exceptions import DataError, GuaranteeError, ParameterError
from noisewright.guarantees import ContextAware
from noisewright.qif.vulnerability import uncertainty

THREE = Joint([[0.30, 0.05, 0.05], [0.05, 0.20, 0.05], [0.05, 0.05, 0.20]])
SKEWED = Joint.xor(px1=0.75, flip=0.25)
LOSSES = ("zero-one", "log", "alpha:2")


def random_law(seed: int, n: int, m: int) -> Joint:
    return Joint(np.random.default_rng(seed).dirichlet(np.ones(n * m)).reshape(n, m))


def least_by_program(law: Joint, distances: np.ndarray, budget: float, pairs: bool) -> float:
    """The 0-1 game as a dense linear program, written from the definition: probabilities W[row, k] and t[k]."""
    n, m = law.shape
    outputs = distances.shape[1]
    rows = [(x, y) for x in range(n) for y in range(m)] if pairs else [(x, None) for x in range(n)]
    size = len(rows) * outputs
    upper, right = [], []
    for y in range(m):
        for k in range(outputs):
            line = np.zeros(size + outputs)
            for r, (x, own) in enumerate(rows):
                line[r * outputs + k] = law.probabilities[x, y] if own in (None, y) else 0.0
            line[size + k] = -1
            upper.append(line)
            right.append(0.0)
    line = np.zeros(size + outputs)
    for r, (x, own) in enumerate(rows):
        mass = law.marginal[x] if own is None else law.probabilities[x, own]
        line[r * outputs : (r + 1) * outputs] = mass * distances[x]
    upper.append(line)
    right.append(budget)
    equal = np.zeros((len(rows), size + outputs))
    for r in range(len(rows)):
        equal[r, r * outputs : (r + 1) * outputs] = 1
    goal = np.concatenate([np.zeros(size), np.ones(outputs)])
    found = linprog(goal, A_ub=np.array(upper), b_ub=right, A_eq=equal, b_eq=np.ones(len(rows)))
    assert found.status == 0
    return float(found.fun)


def test_fact_9_three_classes() -> None:
    both, alone = FiniteGame(THREE, given="xy"), FiniteGame(THREE)
    found = [float(both.optimum(d).accuracy) for d in (0, "0.1", "0.2", "0.3")]
    assert found == pytest.approx([0.7, 0.6, 0.5, 0.4], abs=1e-9)
    found = [float(alone.optimum(d).accuracy) for d in (0, "0.1", "0.2", "0.3", "0.4", "0.5")]
    assert found == pytest.approx([0.7, 0.6375, 0.575, 0.5125, 0.45, 0.4], abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(2, 5),
    st.integers(2, 4),
    st.sampled_from(["hamming", "squared"]),
    st.booleans(),
    st.integers(0, 12),
)
def test_optima_agree_with_a_program_written_from_the_definition(
    seed: int, n: int, m: int, distortion: str, pairs: bool, tenth: int
) -> None:
    law, budget = random_law(seed, n, m), tenth / 10
    game = FiniteGame(law, distortion, given="xy" if pairs else "x")
    made = game.optimum(budget)
    assert float(made.accuracy) == pytest.approx(least_by_program(law, game.distances, budget, pairs), abs=1e-8)
    assert made.spent <= budget
    assert 0 <= made.gap < 1e-8


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["log", "alpha:1.5", "alpha:3", "alpha:20"]), st.booleans())
def test_no_mechanism_within_the_budget_beats_the_bound(seed: int, loss: str, pairs: bool) -> None:
    """Random mechanisms and small steps from the optimum: none makes the adversary lose more than the bound."""
    rng = np.random.default_rng(seed)
    law = random_law(seed, 3, 2)
    game = FiniteGame(law, given="xy" if pairs else "x")
    made = game.optimum(0.15, loss)
    assert made.gap < 1e-6
    base = made.channel().matrix
    for scale in (1e-3, 0.05, 1.0):
        for _ in range(20):
            other = (1 - scale) * base + scale * rng.dirichlet(np.ones(3) * 0.3, size=len(base))
            tried = game.mechanism(other, loss)
            if tried.spent <= Fraction(0.15):
                assert tried.loss_value <= made.bound + 1e-12


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("given_", ["x", "xy"])
def test_a_general_solver_reaches_no_more_than_the_bound(loss: str, given_: str) -> None:
    game = FiniteGame(random_law(3, 3, 3), given=given_)
    made = game.optimum(0.2, loss)
    wanted, rows = AdversaryLoss(math.inf) if loss == "zero-one" else made.loss, game.rows

    def matrix(z: np.ndarray) -> np.ndarray:
        w = np.exp(z.reshape(rows.cost.shape))
        return w / w.sum(axis=1, keepdims=True)

    def lost(z: np.ndarray) -> float:
        w = matrix(z)
        over = max(0.0, rows.spent(w) - 0.2)
        joint = rows.joint(w)
        return -wanted.smallest(joint / joint.sum()) + 20 * over

    start = np.where(rows.cost == 0, 2.0, 0.0).ravel()
    best = min(
        minimize(lost, start + 0.1 * np.random.default_rng(i).normal(size=start.size), method="Powell").fun
        for i in range(2)
    )
    assert made.loss_value >= -best - 1e-4
    assert made.bound >= -best - 1e-6


@pytest.mark.parametrize("loss", [*LOSSES, "alpha:1.05", "alpha:50"])
@pytest.mark.parametrize("given_", ["x", "xy"])
def test_the_certificate_holds_by_its_definition(loss: str, given_: str) -> None:
    """The bound recomputed in plain Python from beliefs and price; beliefs of anybody else give a bound that is lower still."""
    game = FiniteGame(THREE, given=given_)
    made = game.optimum("0.15", loss)
    dual = made.dual
    assert dual is not None
    assert (dual.beliefs >= 0).all()
    assert (dual.beliefs.sum(axis=0) <= 1 + 1e-15).all()
    gains = made.loss.gain(dual.beliefs)
    total = 0.0
    for x in range(3):
        if given_ == "x":
            total += min(
                sum(THREE.probabilities[x, y] * gains[y, k] for y in range(3))
                + dual.price * THREE.marginal[x] * (x != k)
                for k in range(3)
            )
        else:
            total += sum(
                min(THREE.probabilities[x, y] * (gains[y, k] + dual.price * (x != k)) for k in range(3))
                for y in range(3)
            )
    assert dual.objective == pytest.approx(total - dual.price * 0.15, abs=1e-9)
    assert dual.objective <= made.loss.objective(made.joint) + 1e-15
    assert made.gap < 1e-6
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = DualCertificate.best(game.rows, Fraction(3, 20), made.loss, rng.random((3, 3)), float(rng.random()))
        assert other.objective <= dual.objective + 1e-7


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(LOSSES))
def test_the_curve_falls_is_convex_and_starts_at_the_raw_leakage(seed: int, loss: str) -> None:
    law = random_law(seed, 4, 2)
    curve = [made.loss.objective(made.joint) for made in FiniteGame(law).curve([i / 8 for i in range(9)], loss)]
    assert curve[0] == pytest.approx(AdversaryLoss(made_order(loss)).objective(law.probabilities.T), abs=1e-12)
    assert curve[-1] == pytest.approx(AdversaryLoss(made_order(loss)).objective(law.prior[:, None]), abs=1e-6)
    assert (np.diff(curve) <= 1e-7).all()
    assert (np.diff(curve, 2) >= -1e-6).all()


def made_order(loss: str) -> float:
    return {"zero-one": math.inf, "log": 1.0, "alpha:2": 2.0}[loss]


@pytest.mark.parametrize("loss", ["log", "alpha:1.2", "alpha:2", "alpha:8"])
@pytest.mark.parametrize("form", ["dense", "sparse", "one row each", "distant"])
def test_what_is_taken_apart_is_what_a_general_solver_finds(
    loss: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Private values with unequal numbers of rows, with one or with none, and outputs that nobody is near to."""
    generator = np.random.default_rng(11)
    table = generator.dirichlet(np.full(42, 0.3)).reshape(7, 6)
    if form == "sparse":
        table = table * (generator.random(table.shape) < 0.5)
        table[:, 2] = 0
    if form == "one row each":
        table = np.diag(generator.dirichlet(np.ones(7)))
    outputs = range(3, 12) if form == "distant" else range(7)
    game = FiniteGame(Joint(table / table.sum(), public=range(7)), "squared", outputs=outputs, given="xy")
    budgets = [Fraction(game.rows.least + room) for room in (1e-3, 0.3, 2.0, 40.0)]
    whole = [game.optimum(budget, loss) for budget in budgets]
    monkeypatch.setattr(games, "LARGE", 10)
    near = [game.optimum(budget, loss) for budget in budgets]
    assert [made.loss_value for made in near] == pytest.approx([made.loss_value for made in whole], abs=2e-6)
    assert all(made.gap < 1e-6 for made in (*near, *whole))


@pytest.mark.parametrize("loss", ["log", "alpha:3"])
@pytest.mark.parametrize("budget", [0.05, 0.5, 4.0])
def test_a_game_that_is_taken_apart_ends_near_its_bound(loss: str, budget: float) -> None:
    """Without any help of the solvers that would go on from there; some pairs have no probability, and some next to none."""
    table = np.random.default_rng(3).dirichlet(np.full(225, 0.2)).reshape(15, 15)
    table[np.random.default_rng(4).random(table.shape) < 0.3] = 0
    rows = GameRows.of(table / table.sum(), (np.arange(15)[:, None] - np.arange(15)) ** 2.0, True)
    asked = as_adversary_loss(loss)
    found = interior(rows, budget, asked)
    assert found.finished
    assert rows.spent(found.matrix) <= budget * (1 + 1e-6)
    joint = rows.joint(found.matrix)
    shown = DualCertificate.best(rows, Fraction(budget), asked, found.beliefs, found.price)
    assert abs(asked.objective(joint / joint.sum()) - shown.objective) < 1e-6


@pytest.mark.parametrize("loss", ["log", "alpha:2"])
def test_large_games_are_taken_apart_and_find_the_same(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    law = Joint(random_law(5, 12, 2).probabilities, public=range(12))
    game = FiniteGame(law, "squared", given="xy")
    whole = [game.optimum(d, loss) for d in ("0.5", 4, 100)]
    monkeypatch.setattr(games, "LARGE", 10)
    near = [game.optimum(d, loss) for d in ("0.5", 4, 100)]
    assert [made.loss_value for made in near] == pytest.approx([made.loss_value for made in whole], abs=2e-6)
    assert all(made.gap < 2e-6 for made in (*near, *whole))
    assert near[2].information < 1e-9


@pytest.mark.parametrize(
    ("n", "m", "loss", "given_", "large"),
    [
        (10, 10, "alpha:20", "xy", 4000),
        (15, 15, "alpha:12", "xy", 4000),
        (15, 15, "log", "xy", 100),
        (15, 15, "log", "x", 100),
        (10, 10, "alpha:60", "xy", 100),
    ],
)
def test_large_orders_and_few_open_outputs_come_to_the_bound(
    n: int, m: int, loss: str, given_: str, large: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A solver that stops early goes in shorter steps, and outputs are not opened and closed round in circles."""
    monkeypatch.setattr(games, "LARGE", large)
    law = Joint(np.random.default_rng(n).dirichlet(np.full(n * m, 0.3)).reshape(n, m))
    made = FiniteGame(law, "squared", given=given_).optimum(1, loss)
    assert made.gap < 1e-6
    assert made.spent <= 1


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_for_three_private_values_the_closed_form_is_a_lower_bound(seed: int, tenth: int) -> None:
    law = random_law(seed, 3, 3)
    found = float(FiniteGame(law, given="xy").optimum(tenth / 20).accuracy)
    assert least_accuracy(law, tenth / 20, "xy") - 1e-9 <= found <= least_accuracy(law, tenth / 20, "xy") + 0.05


def test_3_7_an_adversary_who_sees_the_release_is_not_one_who_averages_beliefs() -> None:
    """Even law, a flip rate of .2: she is left with .6474 nats, not with .5623, which an averaged belief would suggest."""
    flipped = FiniteGame(Joint.xor(px1=0.5, flip=0.25)).mechanism([[0.8, 0.2], [0.2, 0.8]], "log")
    assert flipped.loss_value == pytest.approx(0.6474, abs=5e-5)
    assert -0.25 * math.log(0.25) - 0.75 * math.log(0.75) == pytest.approx(0.5623, abs=5e-5)


# Losses -------------------------------------------------------------------------------------------------------------------


def test_fact_14_limits_of_the_alpha_loss() -> None:
    t = np.linspace(0.05, 1, 30)
    assert AdversaryLoss(1 + 1e-9).of(t) == pytest.approx(-np.log(t), abs=1e-7)
    assert AdversaryLoss(1e6).of(t) == pytest.approx(1 - t, abs=1e-4)
    assert AdversaryLoss(2.0).of(t) == pytest.approx(2 * (1 - np.sqrt(t)))
    assert AdversaryLoss(math.inf).of(t) == pytest.approx(1 - t)


@pytest.mark.parametrize("order", [1.0, 1.3, 2.0, 7.0, math.inf])
def test_fact_15_the_tilted_posterior_loses_least(order: float) -> None:
    joint = random_law(8, 2, 3).probabilities  # two private values, three outputs
    loss = AdversaryLoss(order)
    beliefs = loss.best_response(joint)
    by_belief = float((joint * loss.of(beliefs)).sum())
    assert by_belief == pytest.approx(loss.smallest(joint), abs=1e-12)
    grid = np.linspace(1e-9, 1 - 1e-9, 200_001)
    brute = sum((joint[0, k] * loss.of(grid) + joint[1, k] * loss.of(1 - grid)).min() for k in range(3))
    assert by_belief == pytest.approx(brute, abs=1e-8)
    if 1 < order < math.inf:
        norms = sum(np.linalg.norm(joint[:, k], order) for k in range(3))
        assert by_belief == pytest.approx(order / (order - 1) * (1 - norms))
        arimoto = (
            order / (1 - order) * math.log(norms)
        )  # the conditional entropy: not the loss, but a growing function of it
        assert by_belief == pytest.approx(order / (order - 1) * (1 - math.exp((1 - order) / order * arimoto)))


def test_the_loss_and_arimotos_entropy_are_two_numbers() -> None:
    joint = random_law(8, 2, 3).probabilities
    loss = AdversaryLoss(2.0)
    norms = float(np.linalg.norm(joint, axis=0).sum())
    assert abs(loss.smallest(joint) + 2 * math.log(norms)) > 0.01
    renyi = -math.log(float((joint.sum(axis=1) ** 2).sum()))
    assert loss.information(joint) == pytest.approx(renyi + 2 * math.log(norms))
    assert AdversaryLoss(1.0).information(joint) == pytest.approx(mutual_information(joint))
    prior = joint.sum(axis=1).max()
    assert AdversaryLoss(math.inf).information(joint) == pytest.approx(math.log(map_accuracy(joint) / prior))


ALPHA = {1.5: (0.52360, 0.56344), 2: (0.47685, 0.52151), 5: (0.37248, 0.42887), 20: (0.31579, 0.36842)}


@pytest.mark.parametrize("order", ALPHA)
def test_fact_16_least_alpha_losses(order: float) -> None:
    for given_, expected, right in zip(("x", "xy"), ALPHA[order], (0.7, 0.65), strict=True):
        made = FiniteGame(SKEWED, given=given_).optimum("0.1", order)
        assert made.loss_value == pytest.approx(expected, abs=1.1e-5)
        assert float(made.accuracy) == pytest.approx(right, abs=1e-5)
        assert made.gap < 1e-7


def test_fact_17_large_orders_are_the_0_1_loss() -> None:
    for given_, expected in (("x", 0.30), ("xy", 0.35)):
        losses = [FiniteGame(SKEWED, given=given_).optimum("0.1", order).loss_value for order in (20, 200)]
        assert abs(losses[1] - expected) < abs(losses[0] - expected) < 0.02
        assert losses[1] == pytest.approx(expected, abs=2e-3)


@settings(max_examples=50)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(2, 5))
def test_information_is_enclosed(seed: int, n: int, m: int) -> None:
    joint = random_law(seed, n, m).probabilities
    low, high = information_bounds(joint)
    assert 0 <= high - low < Fraction(1, 10**15)
    assert float(low) == pytest.approx(mutual_information(joint), abs=1e-12)
    assert mutual_information(joint) == pytest.approx(
        float(-(joint.sum(axis=1) * np.log(joint.sum(axis=1))).sum()) - conditional_entropy(joint)
    )


# A mechanism of the house ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given_", ["x", "xy"])
@pytest.mark.parametrize("loss", LOSSES)
def test_what_is_stated_is_about_the_numbers_that_are_drawn(given_: str, loss: str) -> None:
    """Accuracy and distortion recomputed in fractions from the channel; the house's leakage agrees."""
    made = FiniteGame(THREE, given=given_).optimum("0.15", loss)
    seen = made.channel()
    total = Fraction(float(THREE.probabilities.sum()))
    law = [[Fraction(float(v)) for v in row] for row in THREE.probabilities]
    total = sum((v for row in law for v in row), Fraction(0))
    matrix = [[Fraction(float(v)) for v in row] for row in seen.matrix]
    assert all(sum(row) == 1 for row in matrix)
    place = {label: i for i, label in enumerate(seen.inputs)}
    spent, joint = Fraction(0), [[Fraction(0)] * 3 for _ in range(3)]
    for x in range(3):
        for y in range(3):
            row = matrix[place[x if given_ == "x" else (x, y)]]
            for k in range(3):
                joint[y][k] += law[x][y] / total * row[k]
                spent += law[x][y] / total * row[k] * (x != k)
    assert made.spent == spent <= Fraction("0.15")
    assert made.accuracy == sum(max(joint[y][k] for y in range(3)) for k in range(3))
    private = made.private_channel()
    assert nw.leakage(private, THREE.prior).posterior == pytest.approx(float(made.accuracy), abs=1e-12)
    nats = uncertainty(private, THREE.prior, "shannon").reduction * math.log(2)
    assert nats == pytest.approx(made.information, abs=1e-12)


def test_draws_have_the_law_of_the_table() -> None:
    """A chi-square test of 30,000 simulated draws for each row; error rate 1e-4 for each."""
    made = FiniteGame(THREE, given="xy").optimum("0.3", "log")
    for i, (x, y) in enumerate(made.channel().inputs):  # type: ignore[misc]
        out = made.release([x] * 30_000, [y] * 30_000, np.random.default_rng(i))
        expected = 30_000 * made.channel().matrix[i]
        counts = np.array([(out == k).sum() for k in range(3)])
        likely = expected > 5
        assert (counts[expected == 0] == 0).all()
        if likely.sum() > 1:
            scaled = expected[likely] * counts[likely].sum() / expected[likely].sum()
            assert chisquare(counts[likely], scaled).pvalue > 1e-4


def test_fact_31_a_mechanism_given_x_alone_never_looks_at_y() -> None:
    made = FiniteGame(THREE).optimum("0.3")
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 3, 500), rng.integers(0, 3, 500)
    first = made.release(x, y, np.random.default_rng(7))
    assert (first == made.release(x, rng.permutation(y), np.random.default_rng(7))).all()
    assert (first == made.release(x, rng=np.random.default_rng(7))).all()
    assert made.release(1) in (0, 1, 2)


def test_labels_come_back_as_labels() -> None:
    law = Joint.of(["red", "red", "blue", "blue"], ["ill", "well", "well", "well"])
    assert (law.public, law.private) == (("blue", "red"), ("ill", "well"))
    assert law.probabilities.tolist() == [[0, 0.5], [0.25, 0.25]]
    out = FiniteGame(law, given="xy").optimum(1).release(["red", "blue"], ["ill", "well"])
    assert set(out.tolist()) <= {"red", "blue"}


def test_a_channel_that_can_be_audited_compared_and_certified() -> None:
    """What has a metric guarantee is certified; what has none is refused with the pair that shows it."""
    game = FiniteGame(Joint.xor(px1=0.5, flip=0.25))
    made = game.mechanism([[0.8, 0.2], [0.2, 0.8]])
    assert nw.audit(made.channel()).value == pytest.approx(math.log(4))
    certified = made.certified()
    assert certified.certificate().verify().startswith("epsilon = 1.386")
    against = nw.compare(nw.Channel.identity([0, 1]), made.channel())
    assert (bool(against.average.forward), bool(against.average.backward)) == (True, False)  # the identity tells more
    best = game.optimum("0.2")
    assert best.channel().epsilon().value == math.inf  # a best mechanism against guesses changes one value only
    with pytest.raises(GuaranteeError, match="inf"):
        best.certified()
    assert nw.leakage(best).posterior == pytest.approx(0.8)  # of X itself


def test_several_releases_of_one_record_tell_more() -> None:
    law = Joint.xor(px1=0.5, flip=0.25)
    made = FiniteGame(law).mechanism([[0.7, 0.3], [0.3, 0.7]])
    found = [made.accuracy_after(n) for n in (1, 2, 3, 25)]
    assert found[0] == pytest.approx(float(made.accuracy)) == pytest.approx(0.6)
    # Three draws by hand: the majority is right about X with probability .784, and X about Y with .75.
    right = 0.7**3 + 3 * 0.7**2 * 0.3
    assert found[2] == pytest.approx(0.75 * right + 0.25 * (1 - right))
    assert found[1] == pytest.approx(found[0])
    assert 0.74 < found[3] < 0.75


def test_promises_of_context_add_to_no_budget() -> None:
    promise = FiniteGame(SKEWED).optimum("0.1").guarantee
    assert isinstance(promise, ContextAware)
    assert promise.kind == "context-aware"
    assert promise.to_json()["accuracy"] == pytest.approx(0.7)
    assert "it is not differential privacy" in promise.in_words()
    dp = nw.Guarantee(1.0, nw.metrics.Discrete())
    for call in (
        lambda: Accountant([0, 1]).add(promise),  # type: ignore[arg-type]
        lambda: dp.compose(promise),  # type: ignore[arg-type]
        lambda: promise.compose(dp),
        lambda: promise.compose(promise),
    ):
        with pytest.raises(ParameterError, match="adds to no differential privacy budget"):
            call()


def test_words_say_when_a_budget_is_more_than_is_needed() -> None:
    made = FiniteGame(SKEWED).optimum(5)
    assert made.spent == pytest.approx(0.25)
    assert "The budget of 5 is more than is needed: 0.25 do." in made.in_words()
    assert "more than is needed" not in FiniteGame(SKEWED).optimum("0.1").in_words()
    assert made.saturated


def test_without_a_budget_nothing_changes() -> None:
    for loss in LOSSES:
        for given_ in ("x", "xy"):
            made = FiniteGame(THREE, given=given_).optimum(0, loss)
            assert made.spent == 0
            assert made.gap < 1e-6
            assert float(made.accuracy) == pytest.approx(0.7)


def test_values_of_probability_zero_and_one_private_value_only() -> None:
    law = Joint([[0.5, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.5]])
    for given_ in ("x", "xy"):
        made = FiniteGame(law, given=given_).optimum("0.25", "log")
        assert made.gap < 1e-6
        assert made.channel().matrix.shape[1] == 3
        assert made.private_channel().inputs == (0, 2)
    sure = FiniteGame(Joint([[0.4], [0.6]])).optimum("0.2")
    assert (sure.accuracy, sure.information, sure.spent) == (1, 0, 0)


# Distortions --------------------------------------------------------------------------------------------------------------


def test_distortions() -> None:
    assert distortion_table("squared", [(0, 0), (3, 4)], [(0, 0), (0, 1)]).tolist() == [[0, 1], [25, 18]]
    assert distortion_table(lambda x, k: abs(x - k), [0, 2], [1]).tolist() == [[1], [1]]
    both = Mixed(weights=(1.0, 2.0), variances=(4.0, None))
    table = distortion_table(both, [(0, "a"), (2, "b")], [(0, "a"), (2, "a")])
    assert table.tolist() == [[0, 1], [3, 2]]
    assert both.parts((2, "b"), (0, "a")) == (1.0, 2.0)


def test_outputs_of_their_own() -> None:
    game = FiniteGame(Joint([[0.4, 0.1], [0.1, 0.4]], public=[0, 10]), "squared", outputs=[0, 5, 10])
    made = game.optimum(25)
    assert float(made.accuracy) == pytest.approx(0.5)
    assert made.channel().outputs == (0, 5, 10)
    hidden = FiniteGame(Joint([[0.4, 0.1], [0.1, 0.4]], public=[0, 10]), "squared", outputs=[5])
    assert hidden.optimum(25).spent == 25
    with pytest.raises(ParameterError, match="the nearest outputs alone have 25"):
        hidden.optimum(24)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: FiniteGame(THREE).optimum(-1), "distortion must be 0 or more"),
        (lambda: FiniteGame(THREE).optimum(math.nan), "finite"),
        (lambda: FiniteGame(THREE).optimum("a lot"), "not a number"),
        (lambda: FiniteGame(THREE).optimum(0.1, "cubic"), "'zero-one', 'log', 'squared' or 'alpha:'"),
        (lambda: FiniteGame(THREE).optimum(0.1, "alpha:0.5"), "1 or more"),
        (lambda: FiniteGame(THREE).optimum(0.1, "alpha:x"), "alpha:2"),
        (lambda: FiniteGame(THREE).optimum(0.1, ties="luck"), "ties must be"),
        (lambda: FiniteGame(THREE, given="y"), "given must be 'x' or 'xy'"),
        (lambda: FiniteGame(THREE, "cubed"), "not 'cubed'"),
        (lambda: FiniteGame(THREE, [[0, 1]]), "a row for each of 3"),
        (lambda: FiniteGame(THREE, -np.eye(3)), "0 or more"),
        (lambda: FiniteGame(THREE, outputs=[]), "one output or more"),
        (lambda: FiniteGame(Joint([[1.0]], public=["a"]), "squared"), "numbers"),
        (lambda: FiniteGame(np.full((1000, 1000), 1e-6)), "too large"),
        (lambda: FiniteGame(THREE).mechanism(np.eye(2)), "3 rows and 3 columns"),
        (lambda: FiniteGame(THREE).mechanism(np.full((3, 3), 0.5)), "sum to 1"),
        (lambda: FiniteGame(THREE).optimum(0.1).accuracy_after(0), "1 or more"),
        (lambda: FiniteGame(THREE).optimum(0.1).accuracy_after(10_000), "fewer"),
        (lambda: Mixed((1.0,), (0.0,)), "variance"),
        (lambda: map_accuracy([[0.5, 0.6]]), "sum to 1"),
        (lambda: ContextAware(1.5, 0.5, 0.1, "a", "b"), "between 0 and 1"),
        (lambda: ContextAware(0.5, 0.5, 0.1, "", "b"), "in words"),
    ],
)
def test_bad_input_gets_one_sentence(call: object, words: str) -> None:
    with pytest.raises(ParameterError) as caught:
        call()  # type: ignore[operator]
    assert words in str(caught.value)
    assert str(caught.value).endswith(".")


def test_data_that_do_not_fit_are_refused_without_their_values() -> None:
    made = FiniteGame(THREE, given="xy").optimum("0.1")
    for values in (([0, 7], [0, 0]), ([0, 1], None), ([0, 1], [0]), ([0, 1], [0, 9])):
        with pytest.raises(DataError) as caught:
            made.release(*values)
        assert "7" not in str(caught.value)
        assert "9" not in str(caught.value)
