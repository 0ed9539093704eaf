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

from noisewright.estimation.frequencies import soft_bars
from noisewright.planning.column_plan import compile_column
from noisewright.policy.policy import Policy
from noisewright.releases.marginals import Bins, bins_of, marginal_of, numbers_of
from noisewright.render.charts import calendar_bars, day_of

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


@pytest.mark.parametrize(("name", "gain"), [("age", 1.5), ("smoker", 20.0), ("day", 1.1)])
def test_the_estimate_is_nearer_to_the_truth_than_the_released_counts(name: str, gain: float) -> None:
    """One fixed seed; the total variation distance to the true counts falls by the stated factor at least."""
    rng = np.random.default_rng(5)
    true = truth(rng)[name]
    plan = next(c for c in PLAN.columns if c.names[0] == name)
    released = plan.perturb(true, rng)
    bins = bins_of(plan, released)
    assert bins is not None
    marginal = marginal_of(plan, bins, bins.count(released))
    before = np.asarray(bins.count(true)[:-1])
    if bins.kind != "categories":
        before = soft_bars(numbers_of(true[0]), np.asarray(marginal.edges) - 0.5, marginal.blend).sum(axis=0)
    assert sum(marginal.counts) == ROWS
    assert marginal.estimated is not None
    assert sum(marginal.estimated) == pytest.approx(ROWS, rel=0.02)
    away = [float(np.abs(np.asarray(counts) - before).sum()) for counts in (marginal.counts, marginal.estimated)]
    assert away[1] * gain < away[0]


def test_places_have_no_estimate_and_the_reason_is_told() -> None:
    rng = np.random.default_rng(5)
    plan = next(c for c in PLAN.columns if c.names[0] == "latitude")
    released = plan.perturb(truth(rng)["latitude"], rng)
    bins = bins_of(plan, released)
    assert bins is not None
    marginal = marginal_of(plan, bins, bins.count(released))
    assert sum(marginal.counts) == ROWS
    assert (marginal.estimated, marginal.low, marginal.high) == (None, None, None)
    assert marginal.reason == "no honest bounds are known for the cells of a map"


def test_kinds_and_labels() -> None:
    rng = np.random.default_rng(1)
    true, kinds = truth(rng), {}
    for plan in PLAN.columns:
        if not plan.keep:
            bins = bins_of(plan, plan.perturb(true[plan.names[0]], rng))
            assert bins is not None
            kinds[bins.name] = bins.kind
    assert kinds == {"age": "numbers", "smoker": "categories", "day": "dates", "latitude, longitude": "places"}


def test_whiskers_of_a_response_are_as_long_as_theory_says() -> None:
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
    # A response kept with probability p has a standard error of sqrt(n q (1 - q)) / (2p - 1); 95 % span 3.92 of them.
    p = np.e / (1 + np.e)
    q = marginal.counts[0] / ROWS
    assert marginal.estimated[0] == pytest.approx(ROWS * (q - (1 - p)) / (2 * p - 1))
    width = np.subtract(marginal.high, marginal.low)
    assert width == pytest.approx(3.92 * np.sqrt(ROWS * q * (1 - q)) / (2 * p - 1), rel=0.01)


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
    assert marginal.labels[-1] == "171 others"
    assert sum(marginal.counts) == 20_000
    before = bins.count([true])
    assert marginal.estimated is not None
    assert marginal.low is not None
    assert marginal.high is not None
    assert np.less_equal(marginal.low, before[:-1]).all()
    assert np.less_equal(before[:-1], marginal.high).all()


@given(
    values=st.lists(st.one_of(st.none(), st.integers(-30, 140)), max_size=60),
    cut=st.integers(0, 60),
    edges=st.lists(st.integers(0, 110), min_size=2, max_size=8, unique=True).map(sorted),
)
def test_counts_of_batches_add_up(values: list[int | None], cut: int, edges: list[int]) -> None:
    places = tuple(float(edge) for edge in edges)
    bins = Bins("age", "numbers", (pa.int64(),), edges=places, cuts=places)
    whole, first, second = (bins.count([pa.array(part, pa.int64())]) for part in (values, values[:cut], values[cut:]))
    assert (first + second).tolist() == whole.tolist()
    assert whole.sum() == len(values)
    assert whole[-1] == values.count(None)
    for k, (low, high) in enumerate(itertools.pairwise(edges)):
        inside = [v for v in values if v is not None and (v >= low or k == 0) and (v < high or k == len(edges) - 2)]
        assert whole[k] == len(inside)


@given(
    low=st.floats(-900_000, 2_900_000),
    span=st.floats(0.001, 200_000),
    bars=st.integers(1, 30),
    finest=st.floats(0.0005, 5000),
)
def test_bars_of_dates_begin_where_calendars_do(low: float, span: float, bars: int, finest: float) -> None:
    width = max(finest, span / bars)
    edges = np.array(calendar_bars(low, low + span, width))
    assert edges[0] <= low
    assert edges[-1] >= low + span or day_of(edges[-1]) >= date(9999, 1, 1)
    widths = np.diff(edges)
    assert (widths > 0.9 * width).all()  # February is shorter than other months
    assert len(widths) <= bars + 2 if widths[0] < 20 else len(widths) <= bars + 3
    if widths[0] >= 28:
        assert all(day_of(edge).day == 1 for edge in edges if date(1, 2, 1) < day_of(edge) < date(9999, 12, 1))
    elif widths[0] >= 7:
        assert all(day_of(edge).weekday() == 0 for edge in edges if day_of(edge) < date(9999, 12, 1))


def test_times_are_counted_in_hours_that_people_use() -> None:
    """Noise of about 21 hours: bars are days, and begin at midnight, not 1.4 days wide."""
    plan = column(
        name="when", mechanism="laplace", within=[date(2025, 3, 1), date(2025, 3, 31)], protect="6 hours", epsilon=0.5
    )
    rng = np.random.default_rng(2)
    start = int(datetime(2025, 3, 1).timestamp() * 1000)
    true = pa.array(start + rng.integers(0, 20 * 86_400_000, 5000)).cast(pa.timestamp("ms"))
    bins = bins_of(plan, plan.perturb([true], rng))
    assert bins is not None
    assert np.diff(bins.edges).tolist() == [1.0] * (len(bins.edges) - 1)
    assert all(edge == int(edge) for edge in bins.edges)
    assert set(bins.edges) <= set(bins.cuts)


def test_wider_bars_are_pairs_of_bars() -> None:
    months = Bins(
        "day", "dates", (pa.date32(),), edges=(0.0, 31.0, 59.0, 90.0), cuts=(0.0, 31.0, 59.0, 90.0), whole=True
    )
    assert months.wider().edges == (0.0, 59.0, 121.0)
    assert months.wider().bars(np.array([1, 2, 4])).tolist() == [3, 4]
