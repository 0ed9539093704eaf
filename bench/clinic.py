"""The table that releases are measured on: made-up visits to a clinic, five columns, a fixed seed.

``python -m bench.clinic FILE ROWS`` writes one. Rows are made once, a million of them, and repeated: what a release costs does not
depend on it, and a table of 1e8 rows is then written as fast as the disk takes it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["COLUMNS", "POLICY", "visits", "write_visits"]

DIAGNOSES = ["asthma", "back pain", "diabetes", "fracture", "hypertension", "infection", "migraine", "skin", "other"]
COLUMNS = 5
FIRST, LAST, HOLIDAY = "2025-01-02", "2025-12-23", ("2025-08-01", "2025-08-31")
MADE = 1_000_000
"""Rows that are different, and rows of a row group."""

POLICY: dict[str, Any] = {
    "dataset": "clinic",
    "budget": {"epsilon": 100},
    "columns": [
        {"name": "age", "mechanism": "geometric", "within": [0, 110], "epsilon": 0.5, "protect": 5},
        {"name": "diagnosis", "mechanism": "randomised-response", "categories": DIAGNOSES, "epsilon": 1},
        {"name": "smoker", "mechanism": "randomised-response", "categories": [True, False], "epsilon": 1},
        {
            "name": "visit_date",
            "mechanism": "laplace",
            "within": [np.datetime64(FIRST).item(), np.datetime64(LAST).item()],
            "excluding": [[np.datetime64(day).item() for day in HOLIDAY]],
            "epsilon": 0.5,
            "protect": 7,
        },
        {"name": "cost", "mechanism": "laplace", "within": [0, 2000], "epsilon": 0.5, "protect": 100},
    ],
}


def visits(rows: int) -> pa.Table:
    """The first rows of the table; every call makes the same ones."""
    rng = np.random.default_rng(2025)
    days = np.arange(np.datetime64(FIRST), np.datetime64(LAST) + 1)
    days = days[(days < np.datetime64(HOLIDAY[0])) | (days > np.datetime64(HOLIDAY[1]))]
    return pa.table(
        {
            "age": rng.integers(0, 105, MADE),
            "diagnosis": pa.array(np.array(DIAGNOSES)[rng.integers(0, len(DIAGNOSES), MADE)]),
            "smoker": rng.random(MADE) < 0.2,
            "visit_date": pa.array(rng.choice(days, MADE)),
            "cost": np.minimum(rng.gamma(2.0, 120.0, MADE).round(2), 2000.0),
        }
    ).slice(0, rows)


def write_visits(path: Path, rows: int) -> None:
    """A Parquet file of so many rows."""
    made = visits(min(rows, MADE))
    with pq.ParquetWriter(path, made.schema) as writer:
        for start in range(0, rows, MADE):
            writer.write_table(made.slice(0, min(MADE, rows - start)))


if __name__ == "__main__":
    write_visits(Path(sys.argv[1]), int(sys.argv[2]))
