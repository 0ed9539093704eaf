"""Intervals of answers: how often they hold the answer without noise, and that they are no wider than they must be.

Error rates: seeds are fixed. Had they been drawn at random, a coverage of 95 % would be counted below 89 % of 300 draws with a
probability below 1e-4.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from query_support import plan_of, result_of

import noisewright as nw
from noisewright.base import described
from noisewright.exceptions import ParameterError
from noisewright.queries.answers import LEVEL, interval
from noisewright.queries.statistics import calibrate, usable

RNG = np.random.default_rng(11)
TABLE = pa.table({"age": RNG.integers(20, 80, 300), "ward": RNG.choice(["n", "s"], 300)})
DRAWS = 300


@pytest.mark.parametrize(
    ("aggregate", "mechanism", "neighbours"),
    [
        ("count", None, "add-remove"),
        ("count", "laplace", "replace"),
        ("sum", "staircase", "replace"),
        ("sum", "laplace", "add-remove"),
        ("mean", None, "replace"),
        ("mean", None, "add-remove"),
        ("variance", None, "replace"),
        ("variance", "gaussian", "add-remove"),
        ("histogram", None, "replace"),
    ],
)
def test_an_interval_holds_the_answer_without_noise(aggregate, mechanism, neighbours):
    query = {"aggregate": aggregate, "epsilon": "0.5", "where": "age < 70"}
    query |= {} if aggregate == "count" else {"column": "age", "within": (0, 100)}
    query |= {"bins": 4} if aggregate == "histogram" else {}
    query |= {} if mechanism is None else {"mechanism": mechanism}
    query |= {"delta": "1e-3"} if mechanism == "gaussian" else {}
    plan = plan_of(query, TABLE, neighbours=neighbours)
    tables, seen = (
        [result_of(s, TABLE) for s in plan.statistics],
        np.sort(TABLE["age"].to_numpy()[TABLE["age"].to_numpy() < 70]),
    )
    truth = {
        "count": len(seen), "sum": seen.sum(), "mean": seen.mean(), "variance": seen.var(),
        "histogram": np.histogram(seen, 4, (0, 100))[0],
    }[aggregate]  # fmt: skip
    answers = [plan.answer(tables, seed) for seed in range(DRAWS)]
    low, value, high = (
        np.array([table["answer" + side].to_numpy() for table in answers], float) for side in ("_low", "", "_high")
    )
    assert (low <= value).all()
    assert (value <= high).all()
    held = ((low <= truth + 1e-9) & (truth - 1e-9 <= high)).mean(axis=0)
    assert (held >= 0.89).all(), held
    assert (low > value - 2000).any()  # and it is about this answer, not about all numbers


@pytest.mark.parametrize("name", usable())
@pytest.mark.parametrize("within", [None, (0, 40)])
def test_intervals_are_those_of_the_law_by_brute_force(name, within):
    """All whole numbers are tried: those under which what was seen is not in one of the two tails make up the interval."""
    delta = Fraction(1, 1000) if name in ("gaussian", "approximate-laplace") else None
    noise = calibrate(name, epsilon=Fraction(2), l1=1, largest=1, changed=1, delta=delta, floor=0, within=within)
    below = described(noise.mechanism).below
    tried = np.arange(0, 41) if noise.where != (None, None) else np.arange(-60, 101)
    for seen in (0, 3, 25, 40):
        (low,), (high,) = interval(noise, np.array([seen], dtype=object))
        or_less = below(tried, [seen + 0.5])[:, 0]
        or_more = 1 - below(tried, [seen - 0.5])[:, 0]
        fitting = tried[(or_less > (1 - LEVEL) / 2) & (or_more > (1 - LEVEL) / 2)]
        assert (low, min(high, tried[-1])) == (fitting[0], fitting[-1])


def test_the_noisy_count_of_a_mean_is_told_and_can_be_negative_no_more():
    few = TABLE.slice(0, 2)
    plan = plan_of({"aggregate": "mean", "column": "age", "within": (0, 100), "epsilon": "0.1"}, few)
    counts = [
        plan.answer([result_of(s, few) for s in plan.statistics], seed)["answer_count"][0].as_py()
        for seed in range(200)
    ]
    assert min(counts) == 0
    assert len(set(counts)) > 20
    public = plan_of({"aggregate": "mean", "column": "age", "within": (0, 100)}, few, neighbours="replace")
    assert (
        "answer_count" not in public.answer([result_of(s, few) for s in public.statistics], 1).column_names
    )  # nobody paid for it


def test_names_of_intervals_are_not_those_of_groups():
    table = TABLE.append_column("answer_low", TABLE["ward"])
    with pytest.raises(ParameterError, match="name of its own"):
        plan_of({"aggregate": "count", "by": {"answer_low": ["n", "s"]}}, table)


def test_an_answer_is_read_again_with_its_interval(tmp_path):
    policy = {"dataset": "d", "budget": {"epsilon": 1}, "queries": [
        {"name": "old", "aggregate": "count", "where": "age >= 60", "epsilon": 1}]}  # fmt: skip
    first = nw.release(policy, TABLE, output=tmp_path / "out", ledger=tmp_path / "ledger")
    again = nw.release(policy, TABLE, output=tmp_path / "out", ledger=tmp_path / "ledger")
    assert again.reread
    assert again.answers["old"].to_pylist() == first.answers["old"].to_pylist()
    (row,) = first.answers["old"].to_pylist()
    assert list(row) == ["old", "old_low", "old_high"]
    assert row["old_low"] == row["old"] - 3 == row["old_high"] - 6
