"""A table with every type, a policy for it, and plans: for the tests of both engines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from noisewright.planning.column_plan import ColumnPlan, compile_column
from noisewright.policy.policy import Policy, as_policy
from noisewright.queries.answers import QueryPlan
from noisewright.queries.compile import compile_query

COLUMNS: list[dict[str, Any]] = [
    {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1},
    {"name": "visits", "mechanism": "laplace", "within": [0, 1000], "protect": 10, "epsilon": 1, "missing": "keep"},
    {"name": "weight", "mechanism": "laplace", "within": [30, 200], "protect": 5, "epsilon": 1},
    {"name": "height", "mechanism": "staircase", "protect": 1, "epsilon": 1, "rename": "size"},
    {"name": "smoker", "mechanism": "randomised-response", "categories": [True, False], "epsilon": 1},
    {"name": "code", "mechanism": "randomised-response", "categories": ["A", "B", "é"], "epsilon": 1, "fill": "A"},
    {"name": "day", "mechanism": "laplace", "within": ["2023-01-01", "2024-12-31"], "protect": 7, "epsilon": 1},
    {"name": "moment", "mechanism": "geometric", "protect": "1 hour", "epsilon": 1},
    {
        "name": ["latitude", "longitude"],
        "mechanism": "geo-laplace",
        "reference": [53.45, -2.2],
        "protect": 500,
        "epsilon": 1,
    },
    {"name": "region", "keep": True},
]
QUERIES: list[dict[str, Any]] = [
    {"name": "rows", "aggregate": "count", "epsilon": 1, "where": "age >= 18 AND code IN ('A', 'é')"},
    {"name": "weights", "aggregate": "sum", "column": "weight", "within": [30, 200], "epsilon": 1},
    {"name": "spread", "aggregate": "variance", "column": "age", "within": [0, 110], "epsilon": 1},
    {
        "name": "by code",
        "aggregate": "mean",
        "column": "age",
        "within": [0, 110],
        "by": {"code": ["A", "B"]},
        "epsilon": 1,
    },
    {"name": "days", "aggregate": "histogram", "column": "day", "within": [19358, 20088], "bins": 6, "epsilon": 1},
    {"name": "moments", "aggregate": "mean", "column": "moment", "within": [1672531200, 1735689600], "epsilon": 1},
    {"name": "median", "aggregate": "quantile", "quantile": "1/2", "column": "age", "within": [0, 110], "epsilon": 1},
]


def table(rows: int, seed: int = 0) -> pa.Table:
    """Synthetic visits; a patient has one to three rows, scattered over the table."""
    rng = np.random.default_rng(seed)
    days = rng.integers(19358, 20089, rows)
    missing = rng.random(rows) < 0.1
    return pa.table(
        {
            "patient": pa.array(rng.permutation(rows) // 3),
            "age": pa.array(rng.integers(0, 111, rows)),
            "visits": pa.array(rng.integers(0, 1001, rows).astype(np.int32), mask=missing),
            "weight": pa.array(rng.uniform(30, 200, rows)),
            "height": pa.array(rng.uniform(140, 200, rows).astype(np.float32)),
            "smoker": pa.array(rng.random(rows) < 0.3),
            "code": pa.array(np.array(["A", "B", "é"])[rng.integers(0, 3, rows)], mask=rng.random(rows) < 0.05),
            "day": pa.array(days.astype(np.int32)).cast(pa.date32()),
            "moment": pa.array(days * 86_400_000_000 + rng.integers(0, 86_400, rows) * 1_000_000).cast(
                pa.timestamp("us")
            ),
            "latitude": pa.array(rng.uniform(53.4, 53.5, rows)),
            "longitude": pa.array(rng.uniform(-2.3, -2.1, rows)),
            "region": pa.array(np.array(["north", "south"])[rng.integers(0, 2, rows)]),
        }
    )


def policy(**changes: Any) -> Policy:
    return as_policy({"dataset": "clinic", "budget": {"epsilon": 100, "delta": "1/100"}, "columns": COLUMNS, **changes})


def plans(types: Mapping[str, pa.DataType], **changes: Any) -> tuple[ColumnPlan, ...]:
    found = policy(**changes)
    return tuple(compile_column(column, place, types, found) for place, column in enumerate(found.columns))


def queries(types: Mapping[str, pa.DataType], **changes: Any) -> tuple[QueryPlan, ...]:
    found = policy(**{"columns": [], "queries": QUERIES, "neighbours": "add-remove", **changes})
    return tuple(compile_query(query, place, types, found) for place, query in enumerate(found.queries))
