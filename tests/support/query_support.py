"""What the tests of statistics and queries share: policies, tables in DuckDB, and an oracle in plain numpy."""

from __future__ import annotations

from functools import cache
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from noisewright.policy.policy import Policy, as_policy
from noisewright.queries.answers import QueryPlan
from noisewright.queries.compile import compile_query
from noisewright.queries.sql import DUCKDB
from noisewright.queries.statistics import Statistic


@cache
def _database() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


def policy_of(query: dict[str, Any], **more: Any) -> Policy:
    """A policy with one query, with a budget that always suffices."""
    asked = {"name": "answer", "epsilon": 1, **query}
    return as_policy({"dataset": "d", "budget": {"epsilon": 100, "delta": "1/2"}, "queries": [asked], **more})


def plan_of(query: dict[str, Any], types: Any, rows: int | None = None, **more: Any) -> QueryPlan:
    """The plan of one query for a table, or for its types."""
    policy = policy_of(query, **more)
    if isinstance(types, pa.Table):
        types = {field.name: field.type for field in types.schema}
    return compile_query(policy.queries[0], 0, types, policy, rows)


def result_of(statistic: Statistic, table: pa.Table) -> pa.Table:
    """The result of a statistic's SQL in DuckDB."""
    duck = _database()
    duck.register("data", table)
    return duck.sql(statistic.select("data", DUCKDB)).to_arrow_table()


def exact_of(statistic: Statistic, table: pa.Table) -> np.ndarray[Any, Any]:
    return statistic.read(result_of(statistic, table))


def answer_of(plan: QueryPlan, table: pa.Table, seed: int | None = None) -> pa.Table:
    return plan.answer([result_of(s, table) for s in plan.statistics], seed)


def many_answers(plan: QueryPlan, table: pa.Table, seeds: int) -> np.ndarray[Any, Any]:
    """The answer column under many test seeds; the SQL runs once."""
    results = [result_of(s, table) for s in plan.statistics]
    return np.array([plan.answer(results, seed).column("answer").to_numpy() for seed in range(seeds)])
