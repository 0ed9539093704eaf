"""Marginals of released tables: counts that add up, and estimates of the table before that come near it."""

from __future__ import annotations

import itertools
from datetime import date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from release_samples import TYPES, sample_plan
from scipy.optimize import minimize

from noisewright.releases.columns.plan import compile_column
from noisewright.releases.policy.policy import Policy
from noisewright.releases.report.marginals import Bins, bins_of, marginal_of, shares_before

PLAN = sample_plan()
ROWS = 40_000


def column(**policy: Any) -> Any:
    made = Policy.from_dict({"dataset": "d", "budget": {"epsilon": 99}, "columns": [policy]})
    types = {**TYPES, "when": pa.timestamp("ms"), "code": pa.string()}
    return compile_column(made.columns[0], 0, types, made)


def truth(rng: np.random.Generator) -> dict[str, list[pa.Array]]:
    """A table that looks like something: two humps of ages, few smokers, a busy winter, two towns."""
    age = np.clip(np.where(rng.random(ROWS) < 0.3, rng.normal(20, 6, ROWS), rng.normal(60, 10, ROWS)), 0, 110)
    day = np.where(rng.random(ROWS) < 0.7, rng.integers(20_095, 20_200, ROWS), rng.integers(20_340, 20_440, ROWS))
    town = rng.random(ROWS) < 0.3
    return {
        "age": [pa.array(age.astype(np.int64))],
        "smoker": [pa.array(rng.random(ROWS) < 0.15)],
        "day": [pa.array(day.astype(np.int32)).cast(pa.date32())],
        "latitude": [
            pa.array(np.where(town, 53.40, 53.50) + rng.normal(0, 0.01, ROWS)),
            pa.array(np.where(town, -2.10, -2.30) + rng.normal(0, 0.015, ROWS)),
        ],
    }


@pytest.mark.parametrize(("name", "gain"), [("age", 1.5), ("smoker", 20.0), ("day", 1.1), ("latitude", 1.1)])
def test_the_estimate_is_nearer_to_the_truth_than_the_released_counts(name: str, gain: float) -> None:
    """One fixed seed; the total variation distance to the true counts falls by the stated factor at least."""
    rng = np.random.default_rng(5)
    true = truth(rng)[name]
    plan = next(c for c in PLAN.columns if c.names[0] == name)
    released = plan.perturb(true, rng)
    bins = bins_of(plan, released)
    assert bins is not None
    marginal = marginal_of(plan, bins, bins.count(released))
    before = bins.count(true)[:-1]
    assert sum(marginal.counts) == ROWS
    assert marginal.estimated is not None
    assert sum(marginal.estimated) == pytest.approx(ROWS)
    away = [float(np.abs(np.asarray(counts) - before).sum()) for counts in (marginal.counts, marginal.estimated)]
    assert away[1] * gain < away[0]


def test_kinds_and_labels() -> None:
    rng = np.random.default_rng(1)
    true, kinds = truth(rng), {}
    for plan in PLAN.columns:
        if not plan.keep:
            bins = bins_of(plan, plan.perturb(true[plan.names[0]], rng))
            assert bins is not None
            kinds[bins.name] = bins.kind
    assert kinds == {"age": "numbers", "smoker": "categories", "day": "dates", "latitude, longitude": "places"}


def test_whiskers_hold_the_estimate_and_most_of_the_truth() -> None:
    rng = np.random.default_rng(2)
    plan = next(c for c in PLAN.columns if c.names[0] == "smoker")
    true = truth(rng)["smoker"]
    released = plan.perturb(true, rng)
    bins = bins_of(plan, released)
    assert bins is not None
    marginal = marginal_of(plan, bins, bins.count(released))
    assert marginal.labels == ("true", "false")
    assert marginal.estimated is not None
    assert marginal.low is not None
    assert marginal.high is not None
    before = bins.count(true)
    width = np.subtract(marginal.high, marginal.low)
    # A response kept with probability p has a standard error of sqrt(n q (1 - q)) / (2p - 1); nine of ten span 3.29 of them.
    p = np.e / (1 + np.e)
    q = marginal.counts[0] / ROWS
    assert width[0] == pytest.approx(3.29 * np.sqrt(ROWS * q * (1 - q)) / (2 * p - 1), rel=0.3)
    for k in range(2):
        assert marginal.low[k] <= marginal.estimated[k] <= marginal.high[k]
        assert abs(before[k] - marginal.estimated[k]) <= 2 * width[k]


def test_missing_values_are_counted_apart() -> None:
    plan = column(name="age", mechanism="geometric", within=[0, 110], protect=5, epsilon=1, missing="keep")
    released = plan.perturb([pa.array([1, None, 50, None, 100] * 100)], np.random.default_rng(0))
    bins = bins_of(plan, released)
    assert bins is not None
    marginal = marginal_of(plan, bins, bins.count(released))
    assert marginal.missing == 200
    assert sum(marginal.counts) == 300
    categories = Bins("x", "categories", (pa.string(),), labels=("a", "b"), others=True)
    assert categories.count([pa.array(["a", None, "c", "a"])]).tolist() == [2, 0, 1, 1]
    assert categories.count([pa.array(["a", None, "c", "a"]).dictionary_encode()]).tolist() == [2, 0, 1, 1]


def test_nothing_released_makes_an_empty_marginal() -> None:
    plan = next(c for c in PLAN.columns if c.names[0] == "age")
    empty = [pa.array([], pa.int64())]
    bins = bins_of(plan, empty)
    assert bins is not None
    marginal = marginal_of(plan, bins, bins.count(empty))
    assert sum(marginal.counts) == 0
    assert marginal.estimated is None


def test_times_are_counted_in_days() -> None:
    plan = column(name="when", mechanism="laplace", protect="1 day", epsilon=1)
    start = datetime(2025, 3, 1)
    released = plan.perturb([pa.array([start] * 500, pa.timestamp("ms"))], np.random.default_rng(0))
    bins = bins_of(plan, released)
    assert bins is not None
    assert bins.kind == "dates"
    day = (date(2025, 3, 1) - date(1970, 1, 1)).days
    assert bins.edges[0] <= day <= bins.edges[-1]
    marginal = marginal_of(plan, bins, bins.count(released))
    assert marginal.estimated is not None
    peak = bins.edges[int(np.argmax(marginal.estimated))]
    assert abs(peak - day) <= 2 * (bins.edges[1] - bins.edges[0])


def test_many_categories_keep_the_largest() -> None:
    names = [f"code {k:03}" for k in range(200)]
    plan = column(name="code", mechanism="randomised-response", categories=names, epsilon=6)
    rng = np.random.default_rng(3)
    true = pa.array(np.array(names)[np.minimum(rng.geometric(0.1, 20_000), 199)])
    released = plan.perturb([true], rng)
    bins = bins_of(plan, released)
    assert bins is not None
    assert bins.size == 30
    assert bins.labels[0] in ("code 001", "code 002")
    marginal = marginal_of(plan, bins, bins.count(released))
    assert marginal.labels[-1] == "all others"
    assert sum(marginal.counts) == 20_000
    before = bins.count([true])
    assert marginal.estimated is not None
    away = [float(np.abs(np.asarray(counts) - before[:-1]).sum()) for counts in (marginal.counts, marginal.estimated)]
    assert away[1] < away[0]


@given(
    values=st.lists(st.one_of(st.none(), st.integers(-30, 140)), max_size=60),
    cut=st.integers(0, 60),
    edges=st.lists(st.integers(0, 110), min_size=2, max_size=8, unique=True).map(sorted),
)
def test_counts_of_batches_add_up(values: list[int | None], cut: int, edges: list[int]) -> None:
    bins = Bins("age", "numbers", (pa.int64(),), edges=tuple(float(edge) for edge in edges))
    whole, first, second = (bins.count([pa.array(part, pa.int64())]) for part in (values, values[:cut], values[cut:]))
    assert (first + second).tolist() == whole.tolist()
    assert whole.sum() == len(values)
    assert whole[-1] == values.count(None)
    for k, (low, high) in enumerate(itertools.pairwise(edges)):
        inside = [v for v in values if v is not None and (v >= low or k == 0) and (v < high or k == len(edges) - 2)]
        assert whole[k] == len(inside)


@given(st.lists(st.integers(1, 500), min_size=3, max_size=3))
def test_the_update_finds_the_likeliest_distribution(counts: list[int]) -> None:
    """An oracle: the same likelihood, maximised by a general optimiser over a softmax."""
    channel = np.array([[0.6, 0.25, 0.15], [0.2, 0.6, 0.2], [0.15, 0.25, 0.6]])
    seen = np.array(counts, dtype=float) / sum(counts)

    def loss(point: np.ndarray[Any, Any]) -> float:
        shares = np.exp(point - point.max())
        return float(-(seen * np.log(shares / shares.sum() @ channel)).sum())

    found = shares_before(channel, seen[None], "categories")[0]
    best = min(minimize(loss, start, method="BFGS").fun for start in (np.zeros(3), np.log(found + 1e-3)))
    assert found.sum() == pytest.approx(1)
    assert -(seen * np.log(found @ channel)).sum() <= best + 1e-7


@pytest.mark.parametrize("size", [2, 5, 30])
def test_the_closed_form_of_a_response_is_as_likely_as_what_newton_steps_find(size: int) -> None:
    channel = (np.ones((size, size)) + 2 * np.eye(size)) / (size + 2)
    rng = np.random.default_rng(size)
    released = rng.multinomial(500, rng.dirichlet(np.full(size, 0.3)) @ channel, size=20) / 500
    moved = np.roll(channel, 1, axis=0)  # the same with the secrets in another order, which hides the closed form

    def likelihood(found: np.ndarray[Any, Any], law: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return (released * np.log(found @ law)).sum(axis=1)

    closed, steps = shares_before(channel, released, "categories"), shares_before(moved, released, "categories")
    assert closed.sum(axis=1) == pytest.approx(1)
    assert likelihood(closed, channel) == pytest.approx(likelihood(steps, moved), abs=1e-6)
