"""The table that releases are measured on: made-up visits to a clinic, five columns, a fixed seed.

``python -m bench.clinic FILE ROWS`` writes one. A million rows are made and then repeated: what a release costs does not depend
on that, and a table of 1e8 rows is written as fast as the disk takes it.
"""

from __future__ import annotations

import datetime
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["COLUMNS", "DIAGNOSES", "POLICY", "kept", "visits", "write_visits"]

DIAGNOSES = ["asthma", "back pain", "diabetes", "fracture", "hypertension", "infection", "migraine", "skin", "other"]
COLUMNS = 5
FIRST, LAST = datetime.date(2025, 1, 2), datetime.date(2025, 12, 23)
HOLIDAY = (datetime.date(2025, 8, 1), datetime.date(2025, 8, 31))
MADE = 1_000_000
"""Rows that are different, and rows of a row group."""

POLICY: dict[str, Any] = {
    "dataset": "clinic",
    "budget": {"epsilon": 10},
    "columns": [
        {"name": "age", "mechanism": "geometric", "within": [0, 110], "epsilon": 0.5, "protect": 5},
        {"name": "diagnosis", "mechanism": "randomised-response", "categories": DIAGNOSES, "epsilon": 1},
        {"name": "smoker", "mechanism": "randomised-response", "categories": [True, False], "epsilon": 1},
        {
            "name": "visit_date",
            "mechanism": "laplace",
            "within": [FIRST, LAST],
            "excluding": [list(HOLIDAY)],
            "epsilon": 0.5,
            "protect": 7,
        },
        {"name": "cost", "mechanism": "laplace", "within": [0, 2000], "epsilon": 0.5, "protect": 100},
    ],
}


def visits(rows: int) -> dict[str, NDArray[Any]]:
    """The columns of the table, at most a million rows; every call makes the same ones."""
    rng = np.random.default_rng(2025)
    days = np.arange(np.datetime64(FIRST), np.datetime64(LAST) + 1)
    open_days = days[(days < np.datetime64(HOLIDAY[0])) | (days > np.datetime64(HOLIDAY[1]))]
    made = {
        "age": rng.integers(0, 105, MADE),
        "diagnosis": np.array(DIAGNOSES)[rng.integers(0, len(DIAGNOSES), MADE)],
        "smoker": rng.random(MADE) < 0.2,
        "visit_date": rng.choice(open_days, MADE),
        "cost": np.minimum(rng.gamma(2.0, 120.0, MADE).round(2), 2000.0),
    }
    return {name: column[:rows] for name, column in made.items()}


def kept(diagnosis: Any, smoker: Any) -> float:
    """The share of cells of the two columns of categories that came out as they were, given for each cell whether it did.

    It is what all sides can be compared by: randomised response with the same epsilon keeps the same share everywhere.
    """
    return float((np.mean(diagnosis) + np.mean(smoker)) / 2)


def write_visits(path: Path, rows: int) -> None:
    """A Parquet file of so many rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = pa.table(visits(min(rows, MADE)))
    with pq.ParquetWriter(path, made.schema) as writer:
        for start in range(0, rows, MADE):
            writer.write_table(made.slice(0, min(MADE, rows - start)))


if __name__ == "__main__":
    write_visits(Path(sys.argv[1]), int(sys.argv[2]))
