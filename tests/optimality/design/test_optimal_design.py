"""``nw.optimal``: certified, as good as it says, the same as independent programs find, and clear about what it refuses."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import qif
from hypothesis import given, settings
from hypothesis import strategies as st

import noisewright as nw
from noisewright.base import expected_loss
from noisewright.certificates.certificate import Certificate
from noisewright.claims.figures import upward
from noisewright.design.loss import Loss
from noisewright.design.named_losses import absolute, zero_one
from noisewright.design.utility import face_value_loss, posterior_loss, secret_losses
from noisewright.exceptions import NoisewrightError, ParameterError
from noisewright.testing import check_mechanism

GRID = [(i, j) for i in range(4) for j in range(4)]
NON_MONOTONE = np.array([[0, 1, 0, 1, 0], [1, 0, 1, 0, 1], [0.4, 0.4, 0.4, 0.4, 0.4], [0, 2, 2, 2, 0.1]])

EXAMPLES: dict[str, dict[str, Any]] = {
    "line": {"points": 7, "epsilon": "0.5", "loss": "absolute"},
    "line out of order": {
        "points": [30, 10, 20, 40],
        "epsilon": "0.05",
        "loss": "squared",
        "prior": [0.1, 0.2, 0.3, 0.4],
    },
    "uneven line": {"points": [0, 1, 3, 7], "epsilon": 0.3, "loss": "absolute"},
    "scaled line": {"points": 5, "epsilon": 1, "loss": "absolute", "metric": nw.metrics.Line() * Fraction(1, 3)},
    "response": {"points": ["a", "b", "c"], "epsilon": 1, "loss": "zero-one", "metric": nw.metrics.Discrete()},
    "scaled response": {
        "points": ["a", "b", "c"],
        "epsilon": 1,
        "loss": "zero-one",
        "metric": nw.metrics.Discrete() * 2,
    },
    "two outputs": {"points": 5, "epsilon": 1, "loss": "parity", "metric": nw.metrics.Discrete()},
    "program on a line": {"points": 5, "epsilon": 1.5, "loss": NON_MONOTONE},
    "program, one distance": {"points": 5, "epsilon": 1.5, "loss": NON_MONOTONE, "metric": nw.metrics.Discrete()},
    "plane": {"points": GRID, "epsilon": 0.5, "loss": "squared", "metric": nw.metrics.Euclidean()},
    "plane with a spanner": {
        "points": GRID,
        "epsilon": 0.5,
        "loss": "squared",
        "metric": nw.metrics.Euclidean(),
        "dilation": 1.3,
    },
    "worst secret": {"points": 6, "epsilon": 0.5, "loss": "absolute", "objective": "minimax"},
    "shaped": {"points": 6, "epsilon": 0.5, "loss": "absolute", "shape": "fair,monotone"},
}


def make(name: str) -> Any:
    chosen = dict(EXAMPLES[name])
    return nw.optimal(chosen.pop("points"), **chosen)


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_every_kind_passes_the_conformance_suite(name: str) -> None:
    made = make(name)
    unknown = [10**6] if all(isinstance(x, int) for x in made.secrets) else []
    report = check_mechanism(
        made,
        secrets=made.secrets,
        unknown=unknown,
        refused=[lambda: nw.optimal(5, epsilon=0, loss="absolute"), lambda: nw.optimal(1, epsilon=1, loss="absolute")],
    )
    assert {"guarantee", "certificate", "law", "pickling", "forking"} <= set(report.passed)


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_the_stated_loss_is_that_of_the_channel(name: str) -> None:
    made = make(name)
    risks = secret_losses(made.channel(), made.loss)
    value = (
        float(risks.max()) if made.objective == "minimax" else face_value_loss(made.prior, made.channel(), made.loss)
    )
    assert made.loss_value == pytest.approx(value, abs=1e-9)
    assert made.bound <= made.loss_value
    assert made.gap < 1e-7 or made.dilation > 1
    if made.objective == "bayes" and not made.shape:  # nobody can do better by answering the answers
        assert posterior_loss(made.prior, made.channel(), made.loss).value == pytest.approx(value, abs=1e-7)
    assert upward(made.loss_value) in made.in_words()


def test_the_paths_taken() -> None:
    paths = {name: make(name).path for name in EXAMPLES}
    assert paths["line"] == paths["line out of order"] == paths["scaled line"] == "closed form: truncated geometric"
    assert paths["uneven line"] == "closed form: truncated geometric of uneven steps"
    assert paths["response"] == paths["scaled response"] == "closed form: randomised response"
    assert paths["two outputs"] == "closed form: two-output response"
    assert {paths[n] for n in ("program on a line", "plane", "worst secret", "shaped")} == {"linear program"}


# Against others ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_qif_finds_the_same_optimum_on_a_line(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 8))
    loss, prior, epsilon = rng.random((n, n)), rng.dirichlet(np.ones(n)), float(rng.uniform(0.2, 1.5))
    qif.lp.defaults.solver = "CLP"
    found = qif.mechanism.d_privacy.min_loss_given_d(
        prior, n, lambda x, y: epsilon * abs(x - y), lambda x, w: loss[w, x], vars="all"
    )
    value = float((prior[:, None] * found * loss.T).sum())
    assert nw.optimal(n, epsilon=epsilon, loss=loss, prior=prior).loss_value == pytest.approx(value, abs=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_qif_finds_the_same_optimum_for_one_distance_and_in_the_plane(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = [tuple(p) for p in rng.integers(0, 30, (5, 2)).tolist()]
    loss = rng.random((5, 5))
    for metric in (nw.metrics.Discrete(), nw.metrics.Euclidean()):
        distances = metric.matrix(points)
        qif.lp.defaults.solver = "CLP"
        found = qif.mechanism.d_privacy.min_loss_given_d(
            np.full(5, 0.2), 5, lambda x, y, d=distances: 0.3 * d[x, y], lambda x, w: loss[w, x], vars="all"
        )
        made = nw.optimal(points, epsilon=0.3, loss=loss, metric=metric)
        assert made.loss_value == pytest.approx(float((0.2 * found * loss.T).sum()), abs=1e-7)


def test_no_other_mechanism_of_ours_is_better() -> None:
    points = list(range(9))
    prior = np.random.default_rng(2).dirichlet(np.ones(9))
    others = [
        nw.geometric(epsilon=0.4, within=(0, 8)),
        nw.exponential(points, epsilon=0.4),
        nw.mechanisms.explicit_fair(epsilon=0.4, within=(0, 8)),
    ]
    for loss in ("absolute", "squared", "zero-one", "pinball:1,4"):
        best = nw.optimal(points, epsilon=0.4, loss=loss, prior=prior).loss_value
        assert all(best <= posterior_loss(prior, other.channel(), loss).value + 1e-12 for other in others)


# Everything certified --------------------------------------------------------------------------------------------------------


def random_problem(seed: int) -> tuple[Any, dict[str, Any]]:
    """A design problem of any kind, with extreme budgets too."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    kind = int(rng.integers(0, 5))
    metric: nw.metrics.Metric = (
        nw.metrics.Line(),
        nw.metrics.Line(),
        nw.metrics.Discrete(),
        nw.metrics.Euclidean(),
        nw.metrics.Hamming(),
    )[kind]
    points: Any = list(range(n))
    if kind == 1:
        points = [float(v) for v in np.cumsum(rng.uniform(0.05, 3, n))]
    elif kind == 3:
        points = list(dict.fromkeys((int(a), int(b)) for a, b in rng.integers(0, 12, (n + 2, 2))))
    elif kind == 4:
        points = [tuple(int(b) for b in f"{j:03b}") for j in range(n)]
    actions = int(rng.integers(1, 7))
    loss = rng.normal(size=(actions, len(points))) if rng.random() < 0.7 else rng.integers(0, 4, (actions, len(points)))
    objective = "minimax" if rng.random() < 0.3 else "bayes"
    prior = rng.dirichlet(np.full(len(points), rng.choice([0.2, 1.0]))) if objective == "bayes" else None
    epsilon = float(rng.choice([1e-6, 1e-3, 0.1, 1.0, 5.0, 50.0]))
    chosen = {"epsilon": epsilon, "loss": loss, "metric": metric, "prior": prior, "objective": objective}
    return points, {**chosen, "outputs": range(actions)}


@pytest.mark.parametrize("seed", range(60))
def test_random_problems_are_all_certified(seed: int) -> None:
    points, chosen = random_problem(seed)
    made = nw.optimal(points, **chosen)
    certificate = Certificate.from_json(made.certificate().to_json())
    assert certificate.verify().startswith("epsilon = ")
    assert certificate.epsilon == Fraction(chosen["epsilon"])
    assert made.gap <= 1e-4 * max(1.0, float(np.abs(made.loss.matrix).max()))


@pytest.mark.parametrize("epsilon", [1e-6, 50])
@pytest.mark.parametrize("metric", [nw.metrics.Line(), nw.metrics.Discrete()])
def test_extreme_budgets_are_still_right(epsilon: float, metric: nw.metrics.Metric) -> None:
    """Next to no budget leaves the prior's best action, next to no privacy the truth; in between nothing is lost to rounding."""
    made = nw.optimal(5, epsilon=epsilon, loss=NON_MONOTONE, metric=metric)
    assert made.certificate().verify()
    blind = float(NON_MONOTONE.mean(axis=1).min())
    seeing = float(NON_MONOTONE.min(axis=0).mean())
    assert made.loss_value == pytest.approx(blind if epsilon < 1 else seeing, abs=1e-5)
    assert seeing <= made.loss_value <= blind + 1e-12
    assert made.gap < 1e-8


@pytest.mark.parametrize("epsilon", [1e-12, 300, 5000])
@pytest.mark.parametrize(
    "metric", [nw.metrics.Line(), nw.metrics.Discrete(), nw.metrics.Line() + nw.metrics.Discrete()]
)
def test_budgets_beyond_floats_are_certified_without_a_warning(epsilon: float, metric: nw.metrics.Metric) -> None:
    made = nw.optimal(4, epsilon=epsilon, loss="parity", metric=metric)
    assert made.certificate().verify()
    assert made.loss_value == pytest.approx(0.5 if epsilon < 1 else 0.0, abs=1e-8)
    assert made.gap < 1e-8


def test_secrets_at_no_distance_and_at_an_infinite_one() -> None:
    """Twins must look alike, so one of them is always taken for the other; what nothing is promised about is told."""
    twins = nw.metrics.Table(np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0.0]]), ("a", "b", "c"))
    made = nw.optimal("abc", epsilon=1, metric=twins, loss="zero-one")
    assert np.array_equal(made.channel().matrix[0], made.channel().matrix[1])
    apart = nw.metrics.Table(np.array([[0, 1, np.inf], [1, 0, np.inf], [np.inf, np.inf, 0.0]]), ("a", "b", "c"))
    free = nw.optimal("abc", epsilon=1, metric=apart, loss="zero-one")
    assert free.loss_value == pytest.approx(2 / 3 / (1 + np.e), abs=1e-8)


def test_a_tiny_budget_still_gains_what_it_can() -> None:
    """The loss falls by a first-order amount below that of the best constant, as the closed form says."""
    exact = nw.optimal(2, epsilon=1e-6, loss="zero-one").loss_value
    assert 0.5 - exact == pytest.approx(0.25e-6, rel=1e-4)
    mirrored = nw.optimal(3, epsilon=1e-6, loss=[[0, 1, 0], [1, 0, 1], [0.5, 0.5, 0.5]], prior=[0.25, 0.5, 0.25])
    assert 0.5 - mirrored.loss_value == pytest.approx(0.25e-6, rel=1e-2)


# Large ---------------------------------------------------------------------------------------------------------------------


def test_a_hundred_thousand_secrets_need_no_matrix() -> None:
    made = nw.optimal(100_000, epsilon="0.1", loss="absolute")
    a = np.exp(-0.1)
    assert made.loss_value == pytest.approx(2 * a / (1 - a * a), rel=1e-3)  # the ends matter little
    assert made.certificate().verify() == "epsilon = 0.1 per unit of line"
    drawn = made.release(np.full(20_000, 50_000), np.random.default_rng(1))
    assert np.abs(drawn - 50_000).mean() == pytest.approx(made.error("absolute"), rel=0.05)
    assert nw.audit(made).value == pytest.approx(0.1)
    assert pickle.loads(pickle.dumps(made)).loss_value == made.loss_value
    with pytest.raises(ParameterError, match="too large"):
        made.channel()


@pytest.mark.parametrize("loss", ["absolute", "squared", "zero-one"])
def test_errors_in_linear_time_are_those_of_the_channel(loss: str) -> None:
    made = nw.optimal(range(0, 2400, 2), epsilon="0.05", loss="pinball:1,2", prior=None)
    assert made.error(loss) == pytest.approx(expected_loss(made.channel(), loss), rel=1e-9)


def test_a_million_categories_can_be_guessed() -> None:
    made = nw.optimal(1_000_000, epsilon=12, loss="zero-one", metric=nw.metrics.Discrete())
    assert made.path == "closed form: randomised response"
    assert made.loss_value == pytest.approx(1 - 1 / (1 + 999_999 * np.exp(-12)), abs=1e-9)
    assert made.release(np.arange(5)).shape == (5,)


def test_a_grid_is_certified_in_the_true_metric() -> None:
    points = [(i, j) for i in range(6) for j in range(6)]
    exact = nw.optimal(points, epsilon=0.5, loss="squared", metric=nw.metrics.Euclidean())
    near = nw.optimal(points, epsilon=0.5, loss="squared", metric=nw.metrics.Euclidean(), dilation=1.2)
    assert exact.gap < 1e-7
    assert 1 < near.dilation <= 1.2
    assert exact.loss_value <= near.loss_value <= 1.1 * exact.loss_value
    assert near.bound <= exact.loss_value
    for made in (exact, near):
        assert nw.audit(made).value <= 0.5 + 1e-9
        assert made.certificate().verify() == "epsilon = 0.5 per unit of euclidean"


# Minimax and shapes ----------------------------------------------------------------------------------------------------------


def test_01_fact33_the_worst_secret_fares_better_under_minimax() -> None:
    made = nw.optimal(6, epsilon=0.5, loss="absolute", objective="minimax")
    bayes = nw.optimal(6, epsilon=0.5, loss="absolute")
    assert bayes.secret_losses().max() == pytest.approx(1.4521, abs=5e-5)
    assert made.loss_value < 1.351951
    assert made.loss_value == pytest.approx(float(made.secret_losses().max()), abs=1e-9)


def test_minimax_is_the_bayes_loss_at_its_least_favourable_prior() -> None:
    made = nw.optimal(5, epsilon=0.7, loss="squared", objective="minimax")
    at_that_prior = nw.optimal(5, epsilon=0.7, loss="squared", prior=made.prior)
    assert at_that_prior.loss_value == pytest.approx(made.loss_value, abs=1e-6)


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 4.0])
@pytest.mark.parametrize("metric", [nw.metrics.Line(), nw.metrics.Discrete()])
def test_a_shape_is_kept_and_costs_what_it_must(epsilon: float, metric: nw.metrics.Metric) -> None:
    free = nw.optimal(5, epsilon=epsilon, loss="absolute", metric=metric)
    fair = nw.optimal(5, epsilon=epsilon, loss="absolute", metric=metric, shape=["fair", "symmetric"])
    matrix = fair.channel().matrix
    assert np.ptp(np.diag(matrix)) < 1e-7
    assert matrix == pytest.approx(matrix[::-1, ::-1], abs=1e-7)
    assert fair.loss_value >= free.bound
    assert fair.gap < 1e-7
    assert fair.certificate().verify()


def test_an_equal_loss_everywhere_is_minimax() -> None:
    made = nw.optimal(4, epsilon=1, loss="zero-one", metric=nw.metrics.Discrete(), objective="minimax")
    assert made.path == "closed form: randomised response"
    assert made.objective == "minimax"
    assert "same at every secret" in made.why


def test_01_fact38_answers_need_no_second_remap() -> None:
    made = nw.optimal(11, epsilon=0.2, loss="absolute")
    assert posterior_loss(None, made.channel(), "absolute").value == pytest.approx(made.loss_value, abs=1e-12)


def test_01_fact39_answers_outside_the_range_change_nothing() -> None:
    for epsilon in (0.2, 0.5):
        inside = nw.optimal(6, epsilon=epsilon, loss="absolute").loss_value
        wider = nw.optimal(6, epsilon=epsilon, loss="absolute", outputs=range(-2, 8)).loss_value
        assert wider == pytest.approx(inside, abs=1e-9)


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_more_budget_and_more_actions_never_hurt(seed: int) -> None:
    rng = np.random.default_rng(seed)
    loss, prior = rng.random((3, 4)), rng.dirichlet(np.ones(4))
    values = [nw.optimal(4, epsilon=e, loss=loss, prior=prior).loss_value for e in (0.3, 0.6)]
    assert values[1] <= values[0] + 1e-8
    fewer = nw.optimal(4, epsilon=0.3, loss=loss[:2], prior=prior).loss_value
    assert values[0] <= fewer + 1e-8


# Bad input -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: nw.optimal(3, epsilon=1, loss="absolute", prior=[0.5, 0.5, 0.5]), "sum to 1"),
        (lambda: nw.optimal(3, epsilon=1, loss="absolute", prior=[0.5, 0.5]), "3 probabilities"),
        (lambda: nw.optimal(3, epsilon=1, loss="absolute", prior=[np.nan, 0.5, 0.5]), "finite"),
        (lambda: nw.optimal(3, epsilon=1, loss=[[0, 1], [1, 0], [1, 1]]), "transposed"),
        (lambda: nw.optimal(3, epsilon=1, loss=[[0, np.inf, 1]]), "finite"),
        (lambda: nw.optimal(3, epsilon=1, loss="absolut"), "no loss called"),
        (lambda: nw.optimal(3, epsilon=1, loss=None), "a loss is needed"),
        (lambda: nw.optimal(3, epsilon=1, loss=lambda w, x: 1 / (w - x)), "must give a number"),
        (lambda: nw.optimal(3, epsilon=1, loss="absolute", outputs=4), "list of numbers"),
        (lambda: nw.optimal(3, epsilon=-1, loss="absolute"), "greater than 0"),
        (lambda: nw.optimal(3, epsilon=1e6, loss="absolute"), "hides nothing"),
        (lambda: nw.optimal(1, epsilon=1, loss="absolute"), "2 or more"),
        (lambda: nw.optimal([1, 1, 2], epsilon=1, loss="absolute"), "different"),
        (lambda: nw.optimal(["a", "b"], epsilon=1, loss="zero-one"), "line metric needs finite numbers"),
        (lambda: nw.optimal(3, epsilon=1, loss="absolute", metric="line"), "metric must be an object"),
        (lambda: nw.optimal(3, epsilon=1, loss="absolute", objective="best"), "objective"),
        (lambda: nw.optimal(3, epsilon=1, loss="absolute", solver="simplex"), "solver"),
        (lambda: nw.optimal(3, epsilon=1, loss="absolute", dilation=0.5), "dilation"),
        (lambda: nw.optimal(3, epsilon=1, loss="absolute", shape="pretty"), "no shape called"),
        (lambda: nw.optimal(3, epsilon=1, loss="absolute", objective="minimax", prior=[1, 0, 0]), "takes no prior"),
        (
            lambda: nw.optimal(2000, epsilon=1, loss="absolute", metric=nw.metrics.Discrete()),
            "too large .*evenly spaced line",
        ),
        (lambda: nw.optimal(3, epsilon=1, loss=absolute(range(3)), outputs=[7]), "brings its own actions"),
        (lambda: nw.optimal(3, epsilon=1, loss=zero_one("abc")), "does not know"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call: Any, words: str) -> None:
    with pytest.raises(NoisewrightError, match=words) as problem:
        call()
    assert str(problem.value).endswith(".")


def test_a_loss_with_labels_may_be_in_another_order() -> None:
    loss = Loss([[0, 1, 5], [2, 0, 1]], ["low", "high"], [2, 1, 0])
    made = nw.optimal([0, 1, 2], epsilon=1, loss=loss)
    assert made.loss.matrix.tolist() == [[5, 1, 0], [1, 0, 2]]
    assert set(made.release([0, 1, 2]).tolist()) <= {"low", "high"}
