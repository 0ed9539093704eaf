"""A small policy with every kind of part, planned for real, for tests of certificates and reports."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from noisewright.policy.policy import Policy
from noisewright.releases.plan import Plan, make_plan

TYPES = {
    "patient": pa.string(),
    "age": pa.int64(),
    "smoker": pa.bool_(),
    "day": pa.date32(),
    "latitude": pa.float64(),
    "longitude": pa.float64(),
    "ward": pa.string(),
    "note": pa.string(),
}

COLUMNS: list[dict[str, Any]] = [
    {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": "1/2"},
    {"name": "smoker", "mechanism": "randomised-response", "categories": [True, False], "epsilon": 1},
    {
        "name": "day",
        "mechanism": "laplace",
        "within": ["2025-01-07", "2025-12-19"],
        "excluding": [["2025-08-01", "2025-08-31"]],
        "protect": 7,
        "epsilon": 1,
    },
    {
        "name": ["latitude", "longitude"],
        "mechanism": "geo-laplace",
        "reference": [53.45, -2.2],
        "protect": 500,
        "epsilon": "1.4",
    },
    {"name": "ward", "keep": True},
]

QUERIES: list[dict[str, Any]] = [
    {"name": "smokers", "aggregate": "histogram", "column": "smoker", "values": [True, False], "epsilon": "1/2"},
    {
        "name": "mean age",
        "aggregate": "mean",
        "column": "age",
        "within": [0, 110],
        "epsilon": "1/4",
        "where": "age >= 18",
    },
]


def sample_plan(**changes: Any) -> Plan:
    """The plan of the sample policy; a patient has up to three rows."""
    policy = {
        "dataset": "clinic",
        "budget": {"epsilon": 100},
        "unit": {"column": "patient", "rows": 3},
        "columns": COLUMNS,
        "queries": QUERIES,
        **changes,
    }
    return make_plan(Policy.from_dict(policy), TYPES)
