"""Optimal mechanisms where numbers are of very different sizes: bounds that must not lie, and sentences that must not either."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import noisewright as nw
from noisewright.design.linear_program import fold
from noisewright.design.named_losses import parity
from noisewright.design.optimal import relevant
from noisewright.design.polytopes.kernel_mechanisms import kernels
from noisewright.design.polytopes.universal import optimal_kernels, universally_optimal
from noisewright.design.shapes import SHAPES, check_shape
from noisewright.design.solver import solve
from noisewright.exceptions import GuaranteeError, NoisewrightError, ParameterError
from noisewright.metrics.base import Table

Floats = np.ndarray[Any, Any]


def least(losses: Floats, loss: Floats, prior: Floats) -> float:
    """The optimum by scipy, with every constraint and no device."""
    actions, n = loss.shape
    rows = []
    for x in range(n):
        for z in range(n):
            if x != z and np.isfinite(losses[x, z]):
                for w in range(actions):
                    row = np.zeros(n * actions)
                    row[x * actions + w], row[z * actions + w] = np.exp(-losses[x, z]), -1
                    rows.append(row)
    exact = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    sums = np.kron(np.eye(n), np.ones(actions))
    goal = (prior[:, None] * loss.T).ravel()
    return float(linprog(goal, np.array(rows), np.zeros(len(rows)), sums, np.ones(n), options=exact).fun)


# Symmetries ------------------------------------------------------------------------------------------------------------------

FAR = np.array([[0, 6, 14, 1e12], [6, 0, 12, 1e12], [14, 12, 0, 1e12], [1e12, 1e12, 1e12, 0]])


def test_a_far_secret_makes_no_symmetry() -> None:
    points = list("abcd")
    made = nw.optimal(points, epsilon=0.1, loss="zero-one", metric=Table(FAR, points))
    assert made.loss_value == pytest.approx(0.311115, abs=1e-6)
    assert made.gap < 1e-9
    truth = least(np.minimum(0.1 * FAR, 60), 1 - np.eye(4), np.full(4, 0.25))
    assert made.loss_value == pytest.approx(truth, abs=1e-8)
    assert fold(FAR, 1 - np.eye(4)).count == 16


@pytest.mark.parametrize("objective", ["bayes", "minimax"])
@pytest.mark.parametrize("epsilon", [1e-3, 0.5])
def test_a_wrong_symmetry_cannot_make_a_false_bound(epsilon: float, objective: Any) -> None:
    """The folding is that of an even line; the line is not even, so the folded answer is worse, and the bound must stay below."""
    places = np.array([0.0, 1.0, 2.5, 4.0])
    losses, even = (epsilon * np.abs(np.subtract.outer(p, p)) for p in (places, np.arange(4.0)))
    cost = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0))) / 4
    pairs = np.array([(0, 1), (1, 2), (2, 3)])
    whole = solve(losses, cost, pairs=pairs, objective=objective)
    folded = solve(losses, cost, pairs=pairs, objective=objective, folding=fold(even, cost))
    assert folded.bound <= whole.value + 1e-9


# Costs of very different sizes -----------------------------------------------------------------------------------------------

BASE = np.array([[0, 1, 5.0], [2, 0, 1], [3, 3, 0]])


@pytest.mark.parametrize("big", [1e6, 1e9, 1e10, 1e12, 1e13])
def test_an_answer_that_is_never_given_changes_nothing(big: float) -> None:
    prior = [0.2, 0.3, 0.5]
    made = nw.optimal(3, epsilon=1, loss=np.vstack([BASE, [big] * 3]), metric=nw.metrics.Discrete(), prior=prior)
    assert made.loss_value == pytest.approx(0.830306274, abs=1e-8)
    assert made.gap < 1e-9
    assert made.channel().matrix[:, 3].max() == 0
    assert len(made.actions) == 4


@pytest.mark.parametrize("big", [1e8, 1e10, 1e12])
def test_a_third_answer_to_a_parity(big: float) -> None:
    odd = np.arange(5) % 2
    made = nw.optimal(5, epsilon=0.5, loss=np.vstack([odd, 1 - odd, np.full(5, big)]))
    assert made.loss_value == pytest.approx(0.3775406688, abs=1e-9)
    assert made.gap < 1e-9


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([1e3, 1e5, 1e8, 1e12]))
def test_dear_answers_make_no_false_bound_and_no_false_words(seed: int, big: float) -> None:
    rng = np.random.default_rng(seed)
    loss, prior = rng.random((4, 3)) * 3, rng.dirichlet(np.ones(3))
    loss[3, rng.integers(3)] = big
    loss[3, rng.integers(3)] = -0.5
    made = nw.optimal(3, epsilon=1, loss=loss, prior=prior, metric=[nw.metrics.Line(), nw.metrics.Discrete()][seed % 2])
    losses = [nw.metrics.Line(), nw.metrics.Discrete()][seed % 2].matrix(range(3))
    assert made.bound <= least(losses, loss[:3], prior) + 1e-8  # without the dear answer it is no better
    assert made.bound <= made.loss_value
    assert "nothing is better" not in made.in_words()
    assert ("No mechanism" in made.in_words()) is (made.status != "not proved")


def test_what_every_mechanism_pays_is_left_out() -> None:
    rng = np.random.default_rng(3)
    loss = rng.random((4, 4))
    plain = nw.optimal(4, epsilon=1, loss=loss)
    paid = np.array([1e6, 0, -3e5, 7])
    shifted = nw.optimal(4, epsilon=1, loss=loss + paid)
    assert shifted.loss_value - paid.mean() == pytest.approx(plain.loss_value, abs=1e-8)
    assert shifted.gap < 1e-6


def test_actions_that_matter() -> None:
    found = relevant(np.array([[1.0, 0], [1, 0], [2, 0], [0, 1]]), np.array([0.5, 0.5]))
    assert found.kept.tolist() == [0, 3]
    assert relevant(np.array([[0.0, 9], [1, 0]]), np.array([1.0, 0])).kept.tolist() == [0]


# Shapes ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1e-12, 1e-9, 1e-3, 0.1, 2.0, 30.0])
@pytest.mark.parametrize("shape", ["fair", "symmetric", "fair,symmetric,monotone", "honest", "weakly-honest"])
def test_shapes_hold_in_the_integers_as_said(shape: str, epsilon: float) -> None:
    made = nw.optimal(5, epsilon=epsilon, loss="absolute", shape=shape)
    table, width = made.source.certified.table, made.source.certified.width  # type: ignore[union-attr]
    assert set(made.shapes) == set(made.shape)
    for name, apart in made.shapes.items():
        assert apart <= 1e-9
        assert check_shape(made.channel(), name).excess <= apart + 1e-12
    if "symmetric" in made.shape:
        assert (table == table[::-1, ::-1]).all()
        assert made.shapes["symmetric"] == 0
    if "fair" in made.shape:
        spread = max(table.diagonal()) - min(table.diagonal())
        assert Fraction(int(spread), 1 << width) <= made.shapes["fair"] or spread == 0
        assert made.shapes["fair"] < 1e-20
    assert made.gap < 1e-6
    assert made.status == "a dual solution, in floats"
    assert made.certificate().verify()
    assert "The probabilities that are drawn from are" in made.in_words()


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_shaped_bounds_are_below_what_a_plain_program_finds(seed: int) -> None:
    from noisewright.design.shapes import constraints

    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(2, 5)), float(rng.choice([1e-9, 1e-6, 1e-2, 1.0]))
    wanted = [str(v) for v in rng.choice(SHAPES, 2, replace=False)]
    prior = rng.dirichlet(np.ones(n))
    made = nw.optimal(n, epsilon=epsilon, loss="squared", prior=prior, shape=wanted)
    further = constraints(wanted, range(n), range(n))
    rows = []
    for x in range(n - 1):
        for a, b in ((x, x + 1), (x + 1, x)):
            for w in range(n):
                row = np.zeros(n * n)
                row[a * n + w], row[b * n + w] = np.exp(-epsilon), -1
                rows.append(row)
    below = np.vstack([np.array(rows), further.inequalities.toarray()])
    equal = np.vstack([np.kron(np.eye(n), np.ones(n)), further.equalities.toarray()])
    totals = np.append(np.ones(n), np.zeros(further.equalities.shape[0]))
    goal = (prior[:, None] * made.loss.matrix.T).ravel()
    best = linprog(goal, below, np.zeros(len(below)), equal, totals).fun
    assert made.bound <= best + 1e-6
    assert made.loss_value == pytest.approx(best, abs=1e-5)
    assert made.gap < 1e-5


# Points --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("points", [np.linspace(0, 1, 1001).tolist(), [i / 10 for i in range(2001)]])
def test_grids_of_floats_are_even_up_to_rounding(points: list[float]) -> None:
    made = nw.optimal(points, epsilon=5, loss="absolute")
    unit = Fraction(1, 1000 if len(points) == 1001 else 10)
    exact = nw.optimal([i * unit for i in range(len(points))], epsilon=5, loss="absolute")
    assert made.path == "closed form: truncated geometric"
    assert made.loss_value == pytest.approx(exact.loss_value, rel=1e-9)
    assert 0 < made.gap < 1e-9
    assert made.drawing.step is not None
    gaps = [Fraction(b) - Fraction(a) for a, b in pairwise(points)]
    assert made.drawing.step == min(gaps)  # so that no two points are promised less than their distance
    assert made.certificate().verify()
    assert set(made.release(points[:50]).tolist()) <= set(points)


def test_uneven_points_that_are_too_many_are_told_what_to_do() -> None:
    with pytest.raises(ParameterError, match="exact fractions"):
        nw.optimal([0, *range(2, 3000)], epsilon=0.1, loss="absolute")
    with pytest.raises(ParameterError, match="leave the shape out"):
        nw.optimal(1000, epsilon=0.1, loss="absolute", shape="fair")


def test_points_that_are_very_far_apart() -> None:
    made = nw.optimal([0, 1, 3, 10**7], epsilon=700, loss="absolute")
    assert 0 < made.loss_value < 1e-300
    assert made.certificate().verify() == "epsilon = 700 per unit of line"
    points = list("abc")
    table = Table([[0, 1, 1e9], [1, 0, 1e9], [1e9, 1e9, 0]], points)
    assert nw.optimal(points, epsilon=9, loss="zero-one", metric=table).certificate().verify()


# Universal optimality ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "budget", [{"epsilon": "20"}, {"epsilon": "40"}, {"epsilon": "100"}, {"factor": 235385266837019985}]
)
def test_no_mechanism_is_best_for_the_parity_of_four_at_large_budgets(budget: Any) -> None:
    found = optimal_kernels(parity(4), kernels(nw.metrics.Line(), range(4), **budget))
    assert found.status == "fails (witness)"
    assert found.optimal == ()


def test_what_floats_cannot_decide_is_undecided() -> None:
    assert optimal_kernels("absolute", kernels(nw.metrics.Line(), range(3), epsilon="40")).status == "undecided"


@pytest.mark.parametrize("channel", [[[1, 0, 0], [0, 1, 0], [0, 0, 1]], nw.Channel(np.eye(3))])
def test_a_channel_that_is_not_private_is_no_candidate(channel: Any) -> None:
    with pytest.raises(GuaranteeError, match="not private"):
        universally_optimal(channel, "absolute", kernels(nw.metrics.Line(), range(3), factor=2))


# The rest ----------------------------------------------------------------------------------------------------------------------


def test_cat5_a_delta_for_categories() -> None:
    made = nw.optimal(
        "abcd", epsilon="0.6931471805599453094", delta="0.1", loss="zero-one", metric=nw.metrics.Discrete()
    )
    assert made.loss_value == pytest.approx(0.54, abs=1e-12)
    assert made.guarantee.delta == pytest.approx(0.1)
    assert made.channel().matrix.diagonal() == pytest.approx([0.46] * 4)
    assert (made.gap, made.status) == (0, "a theorem")
    assert made.certificate().verify() == "epsilon = 0.693148 per unit of discrete, delta = 0.1"
    assert set(made.release(["a", "d"]).tolist()) <= set("abcd")


@pytest.mark.parametrize(
    "asked",
    [
        {"loss": "zero-one"},
        {"loss": "absolute", "metric": nw.metrics.Discrete()},
        {"loss": "zero-one", "metric": nw.metrics.Discrete(), "prior": [0.5, 0.3, 0.2]},
        {"loss": "zero-one", "metric": nw.metrics.Discrete(), "shape": "fair"},
    ],
)
def test_a_delta_is_refused_elsewhere(asked: Any) -> None:
    with pytest.raises(ParameterError, match="leave delta out"):
        nw.optimal(3, epsilon=1, delta=0.01, **asked)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: nw.optimal(6, epsilon=0.5, loss="parity", outputs=["yes", "no"]), "'even' and 'odd'"),
        (lambda: nw.optimal([1, 1.0, 2], epsilon=1, loss="absolute"), "given twice"),
    ],
)
def test_refusals(call: Any, words: str) -> None:
    with pytest.raises(NoisewrightError, match=words):
        call()


def test_certificates_name_the_secrets() -> None:
    colours = nw.optimal(
        ["red", "green", "blue"], epsilon=1, loss="zero-one", metric=nw.metrics.Discrete()
    ).certificate()
    assert colours.document["inputs"] == ["red", "green", "blue"]
    places = nw.optimal([20, 0, 10], epsilon=1, loss="absolute").certificate()
    assert places.document["secrets"] == [0, 10, 20]
    assert places.verify() == "epsilon = 1 per unit of line, between points in steps of 10"
    assert "secrets" not in nw.optimal(5, epsilon=1, loss="absolute").certificate().document


def test_utilities_at_a_list_of_priors() -> None:
    found = nw.design.compare_utility(
        [nw.geometric(epsilon=0.5, within=(0, 2))], priors=[None, [0.5, 0.3, 0.2], {0: 0.1, 1: 0.1, 2: 0.8}]
    )
    assert found.priors == ("uniform", "prior 2", "prior 3")
    assert found.rows[2].bayes["absolute"] < found.rows[0].bayes["absolute"]


# Inequalities in the integers ------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_shapes_of_small_mechanisms_hold_exactly(seed: int) -> None:
    """Row by row in the integers that are drawn from, and no better than the best that has the shape."""
    from noisewright.design.shapes import EQUAL, pairs_of

    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(2, 7)), float(rng.choice([0.05, 0.5, 2.0, 20.0]))
    wanted = [str(v) for v in rng.choice(SHAPES, 3, replace=False)]
    made = nw.optimal(n, epsilon=epsilon, loss="pinball:1,3", prior=rng.dirichlet(np.ones(n)), shape=wanted)
    certified = made.source.certified  # type: ignore[union-attr]
    flat, one = certified.table.ravel(), 1 << certified.width
    for name in set(wanted) - EQUAL:
        low, high = pairs_of(name, range(n), range(n))
        assert made.shapes[name] == 0
        assert (n * flat[high] >= one).all() if name == "weakly-honest" else (flat[low] <= flat[high]).all()
    assert made.gap < 1e-5
    assert made.certificate().verify()


def test_discrete_labels_hold_shapes_exactly() -> None:
    made = nw.optimal("abcde", epsilon=0.3, loss=np.random.default_rng(5).random((5, 5)), outputs="abcde",
                      metric=nw.metrics.Discrete(), shape="honest,weakly-honest")  # fmt: skip
    table = made.source.certified.table  # type: ignore[union-attr]
    assert (table.diagonal() == table.max(axis=1)).all()
    assert (table.diagonal() == table.max(axis=0)).all()
    assert made.shapes == {"row-honest": 0, "column-honest": 0, "weakly-honest": 0}


@pytest.mark.parametrize("epsilon", [50, 700])
def test_a_randomised_response_at_a_large_budget_costs_more_than_nothing(epsilon: int) -> None:
    made = nw.optimal(4, epsilon=epsilon, loss="absolute", metric=nw.metrics.Discrete())
    assert made.path == "closed form: randomised response"
    # sum over pairs of |x - y| is 20, each has probability e^-epsilon but for rounding, and 4 secrets are equally likely
    assert made.loss_value == pytest.approx(5 * np.exp(-float(epsilon)), rel=1e-9)
    assert made.loss_value == pytest.approx(float(made.secret_losses().mean()), rel=1e-9)


# Secrets that need no saying, and refusals -----------------------------------------------------------------------------------


def test_secrets_are_taken_from_what_names_them() -> None:
    from noisewright.channels.hyper import Prior
    from noisewright.design.named_losses import absolute

    told = nw.optimal([2, 4, 6], epsilon=0.5, loss="absolute").loss_value
    assert nw.optimal(epsilon=0.5, loss=absolute([2, 4, 6])).loss_value == told
    assert nw.optimal(epsilon=0.5, loss="absolute", prior=Prior([1 / 3] * 3, (2, 4, 6))).loss_value == told
    named = nw.optimal(metric=Table(FAR, list("abcd")), epsilon=0.1, loss="zero-one")
    assert named.secrets == tuple("abcd")
    with pytest.raises(ParameterError, match="what the secrets are"):
        nw.optimal(metric=nw.metrics.Line(), epsilon=0.5, loss="absolute")


def test_what_is_no_tolerance_is_refused_everywhere() -> None:
    from noisewright.design.polytopes.kernel_mechanisms import anti_refine, is_kernel, vertex_hyper
    from noisewright.design.polytopes.posteriors import PrivatePosteriors
    from noisewright.design.polytopes.restriction import is_two_input

    space = PrivatePosteriors.of(nw.metrics.Line(), range(3), factor=2)
    channel = nw.geometric(epsilon="0.5", within=(0, 2)).channel()
    for tolerance in (-1, 0, None, "x", float("nan"), True, 1):
        for call in (
            lambda t: anti_refine(channel, space, t),
            lambda t: is_kernel(channel, space, t),
            lambda t: vertex_hyper(channel, space, t),
            lambda t: space.contains([0.5, 0.3, 0.2], t),
            lambda t: is_two_input(channel, (0, 1), metric=nw.metrics.Line(), factor=2, tolerance=t),
        ):
            with pytest.raises(ParameterError, match="tolerance must be a number above 0"):
                call(tolerance)
    for tolerance in (-1, None, "x", float("nan"), 1):
        with pytest.raises(ParameterError, match="tolerance of a shape"):
            check_shape(channel, "fair", tolerance=tolerance)  # type: ignore[arg-type]


def test_things_of_the_wrong_kind_are_refused_in_a_sentence() -> None:
    from noisewright.channels.hyper import Prior
    from noisewright.design import named_losses as loss_classes
    from noisewright.design import named_losses as losses
    from noisewright.design import response_categories as categories
    from noisewright.design import utility as evaluate
    from noisewright.design.polytopes.kernel_mechanisms import kernels_of

    channel: Any = nw.Channel(np.eye(3))
    wrong: list[tuple[Any, str]] = [
        (lambda: evaluate.secret_losses(None, "absolute"), "on a Channel, not on NoneType"),  # type: ignore[arg-type]
        (lambda: evaluate.face_value_loss(None, "x", "absolute"), "on a Channel, not on str"),  # type: ignore[arg-type]
        (lambda: evaluate.posterior_losses("x", channel, "absolute"), "rows of a matrix of numbers"),
        (lambda: loss_classes.is_trivial("absolute"), "the class of a Loss"),  # type: ignore[arg-type]
        (lambda: loss_classes.is_monotone(losses.absolute(range(3)), None, distances="x"), "square matrix of numbers"),  # type: ignore[arg-type]
        (lambda: losses.pinball(range(3), 10**400, 1), "below 1e150"),
        (lambda: losses.as_loss("pinball:1e400,1", range(3)), "below 1e150"),
        (lambda: losses.property_loss(range(3), None), "a set of secrets or a function"),  # type: ignore[arg-type]
        (lambda: losses.absolute(range(3)) * 10**400, "below 1e150"),
        (lambda: losses.parity(10**400), "the number of them up to"),
        (lambda: Prior([10**400, 1], (0, 1)), "far too large"),  # type: ignore[arg-type]
        (lambda: kernels_of(None), "PrivatePosteriors"),  # type: ignore[arg-type]
        (lambda: categories.laplace_law("x"), "scale of Laplace noise"),  # type: ignore[arg-type]
        (lambda: nw.optimal(3, epsilon=1, loss="absolute", prior={0: 0.5, 1: 0.3, 9: 0.2}), "names 1 secret that is not"),
        (lambda: check_shape(channel, "fair", categories="x"), "the categories must be"),  # type: ignore[arg-type]
    ]  # fmt: skip
    for call, words in wrong:
        with pytest.raises(NoisewrightError, match=words):
            call()


def test_shapes_that_make_no_sense_for_words_are_left_out() -> None:
    from noisewright.design.shapes import shapes_of

    found = shapes_of(nw.Channel(np.eye(3), inputs="abc", outputs="abc"))
    assert set(found) == {"fair", "row-honest", "column-honest", "weakly-honest"}


@pytest.mark.parametrize("objective", ["bayes", "minimax"])
@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 5.0])
def test_a_shape_where_one_action_would_be_best_for_everybody(epsilon: float, objective: Any) -> None:
    """Without the shape that action would be given always; the shape rules it out, so it is no measure of what costs much."""
    loss = np.array([[0.4, 0.9], [0.3, 0.2]])  # the second action is better at both secrets
    prior = np.array([0.7, 0.3])
    made = nw.optimal(2, epsilon=epsilon, loss=loss, shape="weakly-honest,column-honest", objective=objective,
                      prior=prior if objective == "bayes" else None)  # fmt: skip
    # The first action at the first secret half of the time, at the second one as rarely as privacy allows.
    rare = max(0.5 * np.exp(-epsilon), 1 - 0.5 * np.exp(epsilon))
    costs = np.array([(0.4 + 0.3) / 2, 0.2 + 0.7 * rare])
    expected = prior @ costs if objective == "bayes" else costs.max()
    assert made.loss_value == pytest.approx(expected, abs=1e-7)
    assert made.gap < 1e-6
    assert made.status == "a dual solution, in floats"


def test_a_shape_at_a_prior_that_is_nearly_sure() -> None:
    points = [(0, 0), (0, 1), (1, 0)]
    prior = [1 - 5.6e-7, 5.6e-7, 0]
    made = nw.optimal(
        points, epsilon=0.0016, loss="squared", metric=nw.metrics.Manhattan(), prior=prior, shape="row-honest"
    )
    assert made.gap < 1e-6
    assert made.status == "a dual solution, in floats"


@pytest.mark.parametrize(
    ("n", "epsilon", "metric"),
    [(4, 5.4e-5, nw.metrics.Line()), (6, 1e-6, nw.metrics.Discrete()), (5, 1e-4, nw.metrics.Line())],
)
def test_shapes_are_exact_at_a_tiny_epsilon(n: int, epsilon: float, metric: Any) -> None:
    prior = np.random.default_rng(1).dirichlet(np.ones(n))
    made = nw.optimal(n, epsilon=epsilon, loss="pinball:1,3", metric=metric, prior=prior, shape="row-honest")
    table = made.source.certified.table  # type: ignore[union-attr]
    assert (table.diagonal() == table.max(axis=1)).all()
    assert made.shapes == {"row-honest": 0}
    assert made.gap < 1e-6
    assert made.certificate().verify()


def test_a_loss_table_at_the_command_line_needs_a_file() -> None:
    from noisewright.cli.commands.design import read_loss

    with pytest.raises(ParameterError, match="names no file"):
        read_loss("table:")
    assert read_loss("pinball:1,3") == "pinball:1,3"
