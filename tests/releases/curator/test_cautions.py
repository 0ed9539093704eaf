"""Cautions that need the data: a table in the order of what it protects."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from noisewright.engines.base import engine_for
from noisewright.policy.policy import as_policy
from noisewright.releases.checks import data_cautions as cautions
from noisewright.releases.release import plan_for
from noisewright.tables.reading import source_of

POLICY = as_policy(
    {
        "dataset": "clinic",
        "budget": {"epsilon": 3},
        "order": "kept",
        "columns": [
            {"name": "age", "mechanism": "geometric", "within": [0, 120], "protect": 5, "epsilon": 1},
            {"name": "smoker", "mechanism": "randomised-response", "categories": ["yes", "no"], "epsilon": 1},
            {"name": "visit", "keep": True},
        ],
    }
)
AGES = np.random.default_rng(3).integers(18, 90, 200)
SMOKERS = np.array(["no", "yes"])[np.random.default_rng(4).integers(2, size=200)]


def told(ages, smokers, rows: int = 200, policy=POLICY) -> list[str]:
    table = pa.table({"age": pa.array(ages), "smoker": pa.array(smokers), "visit": np.arange(200)}).slice(0, rows)
    source = source_of(table)
    with engine_for("local", source) as engine:
        return [text for text in cautions(plan_for(policy, source, engine), source, engine) if "sorted" in text]


@pytest.mark.parametrize("ages", [np.sort(AGES), np.sort(AGES)[::-1], [*np.sort(AGES)[:199].tolist(), None]])
def test_a_table_sorted_by_a_protected_column_is_noticed(ages):
    (text,) = told(ages, SMOKERS)
    assert text.startswith("age: the table is sorted by it")
    assert not any(character.isdigit() for character in text)


def test_a_table_whose_rows_are_shuffled_may_be_sorted():
    assert told(np.sort(AGES), SMOKERS, policy=POLICY.model_copy(update={"order": "random"})) == []


def test_categories_in_blocks_are_noticed():
    (text,) = told(AGES, np.sort(SMOKERS))
    assert text.startswith("smoker: ")


@pytest.mark.parametrize(("ages", "rows"), [(AGES, 200), (np.full(200, 40), 200), (np.sort(AGES), 19)])
def test_no_alarm_without_a_reason(ages, rows):
    """Rows in any order, a column of one value, a few rows; and a kept column (visit) may be sorted."""
    assert told(ages, SMOKERS, rows) == []


def test_one_row_out_of_order_is_not_sorted():
    ages = np.sort(AGES)
    ages[[0, 199]] = ages[[199, 0]]
    assert told(ages, SMOKERS) == []
