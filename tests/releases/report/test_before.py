"""The estimate of the table before: its whiskers hold it, for every mechanism that is charted and tables of every shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom, chi2

from noisewright.estimation.frequencies import soft_bars
from noisewright.planning.column_plan import ColumnPlan, compile_column
from noisewright.policy.policy import Policy
from noisewright.releases.marginals import Bins, _numbers, bins_of, marginal_of, numbers_of, typed
from noisewright.render.charts import Marginal

DAY = 20_100
WARDS = ["north", "east", "south", "west", "none"]
AGES = {"name": "x", "protect": 5, "epsilon": 1}
CASES: dict[str, tuple[dict[str, Any], pa.DataType]] = {
    "geometric": ({**AGES, "mechanism": "geometric"}, pa.int64()),
    "geometric within": ({**AGES, "mechanism": "geometric", "within": [0, 100]}, pa.int16()),
    "geometric clamped": ({**AGES, "mechanism": "geometric", "within": [20, 70], "outside": "clamp"}, pa.uint8()),
    "laplace": ({**AGES, "mechanism": "laplace"}, pa.float64()),
    "laplace within": ({**AGES, "mechanism": "laplace", "within": [0, 100]}, pa.float32()),
    "laplace whole": ({**AGES, "mechanism": "laplace", "within": [0, 100]}, pa.int8()),
    "laplace half line": (
        {**AGES, "mechanism": "laplace", "within": [0, float("inf")], "scope": "metric"},
        pa.float64(),
    ),
    "laplace fine": ({**AGES, "mechanism": "laplace", "within": [0, 100], "epsilon": 60}, pa.float64()),
    "snapped": ({**AGES, "mechanism": "snapped-laplace", "within": [0, 100]}, pa.float64()),
    "snapped gap": (
        {**AGES, "mechanism": "snapped-laplace", "within": [[0, 40], [60, 100]], "outside": "keep"},
        pa.float64(),
    ),
    "truncated": ({**AGES, "mechanism": "truncated-laplace", "within": [0, 100]}, pa.float64()),
    "staircase": ({**AGES, "mechanism": "staircase", "within": [0, 100]}, pa.float64()),
    "gaussian": ({**AGES, "mechanism": "gaussian", "delta": "1/1000", "epsilon": 3}, pa.float64()),
    "approximate": ({**AGES, "mechanism": "approximate-laplace", "delta": "1/1000"}, pa.float64()),
    "days": ({**AGES, "mechanism": "geometric"}, pa.date32()),
    "days laplace": ({**AGES, "mechanism": "laplace"}, pa.date64()),
    "times": ({**AGES, "mechanism": "laplace", "protect": "5 days"}, pa.timestamp("ms")),
    "fair": ({"name": "x", "mechanism": "explicit-fair", "within": [0, 100], "epsilon": 1, "protect": 5}, pa.int64()),
    "response": ({"name": "x", "mechanism": "randomised-response", "categories": WARDS, "epsilon": 1}, pa.string()),
    "truth": ({"name": "x", "mechanism": "randomised-response", "categories": [True, False], "epsilon": 1}, pa.bool_()),
    "codes": (
        {"name": "x", "mechanism": "randomised-response", "categories": list(range(101)), "epsilon": 3},
        pa.int64(),
    ),
}
SHAPES = ("uniform", "skewed", "spiky", "heaped", "two humps")


def column(policy: dict[str, Any], type_: pa.DataType) -> ColumnPlan:
    made = Policy.from_dict({"dataset": "d", "budget": {"epsilon": 999, "delta": "1/10"}, "columns": [policy]})
    return compile_column(made.columns[0], 0, {"x": type_}, made)


def shaped(shape: str, rows: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Numbers from 0 to 100."""
    if shape == "uniform":
        return rng.uniform(0, 100, rows)
    if shape == "skewed":
        return np.minimum(rng.exponential(8, rows), 100)
    if shape == "spiky":  # most have one value, just beside where an edge may be
        return np.where(rng.random(rows) < 0.55, 29.99, rng.uniform(0, 100, rows))
    humps = np.clip(np.where(rng.random(rows) < 0.3, rng.normal(20, 6, rows), rng.normal(70, 8, rows)), 0, 100)
    return np.round(humps / 10) * 10 if shape == "heaped" else humps


def typed_column(values: np.ndarray[Any, Any], plan: ColumnPlan, type_: pa.DataType) -> pa.Array:
    if pa.types.is_string(type_):
        return pa.array(np.array(WARDS)[np.minimum(values // 20, 4).astype(int)])
    if pa.types.is_boolean(type_):
        return pa.array(values < 12)
    if pa.types.is_date(type_):
        return pa.array((DAY + values).astype(np.int32)).cast(pa.date32()).cast(type_)
    if pa.types.is_timestamp(type_):
        return pa.array(((DAY + values) * 86_400_000).astype(np.int64)).cast(type_)
    if pa.types.is_floating(type_):
        return pa.array(values).cast(type_)
    return pa.array(np.round(values).astype(np.int64)).cast(type_)


def before(bins: Bins, marginal: Marginal, true: pa.Array) -> np.ndarray[Any, Any]:
    """What the estimate is of, counted in the true table."""
    if bins.kind == "categories":
        return bins.count([true])[:-1].astype(float)
    half = 0.5 if bins.whole else 0.0
    blend = marginal.blend or 1e-9
    return soft_bars(numbers_of(true), np.asarray(marginal.edges) - half, blend).sum(axis=0)


def released(plan: ColumnPlan, true: pa.Array, rng: np.random.Generator) -> tuple[Bins, Marginal]:
    drawn = plan.perturb([true], rng)
    bins = bins_of(plan, drawn)
    assert bins is not None
    return bins, marginal_of(plan, bins, bins.count(drawn))


@pytest.mark.parametrize("name", CASES)
def test_whiskers_hold_the_table_before(name: str) -> None:
    """All whiskers at once miss at most 1 table in 20: of 15 tables, one of each shape and size, more than 6 are missed with a
    chance below 1e-5."""
    policy, type_ = CASES[name]
    plan, rng, missed, shown = column(policy, type_), np.random.default_rng(7), 0, 0
    for k in range(15):
        rows = (300, 3_000, 30_000)[k % 3]
        true = typed_column(shaped(SHAPES[k % len(SHAPES)], rows, rng), plan, type_)
        bins, marginal = released(plan, true, rng)
        if marginal.estimated is None:
            assert "its bounds would be wider than the bars are high" in marginal.reason
            continue
        shown += 1
        truth = before(bins, marginal, true)
        assert sum(truth) == pytest.approx(rows)
        missed += bool(
            (np.less(truth, np.subtract(marginal.low, 1e-6)) | np.greater(truth, np.add(marginal.high, 1e-6))).any()
        )
    assert binom.sf(6, 15, 0.05) < 1e-5
    assert missed <= 6
    assert shown >= 5


def test_a_heap_of_equal_values_is_found() -> None:
    """A value that over half of the rows share was once shown as less than half as many, with short whiskers."""
    plan, rng = column({**AGES, "mechanism": "geometric", "within": [0, 110]}, pa.int64()), np.random.default_rng(3)
    values = np.where(rng.random(40_000) < 0.55, 20, rng.integers(0, 111, 40_000))
    _, marginal = released(plan, pa.array(values), rng)
    assert marginal.estimated is not None
    assert marginal.low is not None
    assert marginal.high is not None
    near = [k for k, edge in enumerate(marginal.edges[:-1]) if edge - 10 <= 20 < marginal.edges[k + 1] + 10]
    there = np.count_nonzero((values >= marginal.edges[near[0]]) & (values < marginal.edges[near[-1] + 1]))
    assert there > 22_000
    assert sum(marginal.estimated[k] for k in near) == pytest.approx(there, rel=0.05)
    assert max(np.subtract(marginal.high, marginal.low)) < 4_000


def test_rows_that_are_too_few_get_no_estimate() -> None:
    plan, rng = column(*CASES["geometric within"]), np.random.default_rng(3)
    _, marginal = released(plan, pa.array(rng.integers(0, 101, 20), pa.int16()), rng)
    assert marginal.estimated is None
    assert marginal.reason == "for 20 rows and this much noise, its bounds would be wider than the bars are high"


def test_a_mechanism_that_tells_no_chances_gets_no_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, rng = column(*CASES["laplace"]), np.random.default_rng(3)
    monkeypatch.delattr(type(plan.mechanism), "below")
    _, marginal = released(plan, pa.array(rng.uniform(0, 100, 5_000)), rng)
    assert marginal.estimated is None
    assert marginal.reason == "the chances of its outputs are not known exactly"


@pytest.mark.parametrize(
    "name", [name for name, (policy, _) in CASES.items() if "within" in policy or "protect" in policy]
)
def test_the_chances_are_those_of_what_is_released(name: str) -> None:
    """Draws of five values against their row, by a chi-square test each at an error rate of 1e-6."""
    plan, rng = column(*CASES[name]), np.random.default_rng(11)
    type_ = CASES[name][1]
    bins, _ = released(plan, typed_column(shaped("uniform", 3_000, rng), plan, type_), rng)
    law = _numbers(plan, bins)
    assert law is not None
    assert law.chances.sum(axis=1) == pytest.approx(1)
    inside = np.flatnonzero((law.values >= bins.edges[0]) & (law.values <= bins.edges[-1]))
    for k in inside[:: max(1, len(inside) // 5)]:
        drawn = plan.perturb([typed(np.full(20_000, law.values[k]), type_)], rng)
        counts, wanted = bins.count(drawn)[:-1], 20_000 * law.chances[k]
        large = wanted >= 5
        rest = [counts[~large].sum(), wanted[~large].sum()]
        assert rest[0] <= rest[1] + 6 * np.sqrt(rest[1]) + 20
        misfit = float(((counts - wanted)[large] ** 2 / wanted[large]).sum())
        assert chi2.sf(misfit, max(1, large.sum() - 1)) > 1e-6
