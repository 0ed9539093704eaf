"""The table that releases are measured on: made-up visits to a clinic, five columns, a fixed seed.

``python -m bench.clinic FILE ROWS`` writes one. A million rows are made and then repeated: what a release costs does not depend
on that, and a table of 1e8 rows is written as fast as the disk takes it.
"""

from __future__ import annotations

import datetime
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["COLUMNS", "DIAGNOSES", "POLICY", "kept", "unsafe_release", "visits", "write_visits"]

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


def unsafe_release(source: Path, target: Path) -> None:
    """What a release costs without a promise: numpy's noise with the scales of ``POLICY``, cut off at the ranges.

    Nothing is checked, nothing is exact, the gap in the dates is ignored and the rows keep their order.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng()
    days = [np.datetime64(day).astype(np.int64) for day in (FIRST, LAST)]
    given = pq.ParquetFile(source)
    with pq.ParquetWriter(target, given.schema_arrow) as writer:
        for group in range(given.num_row_groups):
            table = given.read_row_group(group)
            rows = table.num_rows
            age = table["age"].to_numpy() + np.rint(rng.laplace(0, 10, rows))
            names = table["diagnosis"].combine_chunks().dictionary_encode()
            codes = np.where(
                rng.random(rows) < math.e / (math.e + len(DIAGNOSES) - 1),
                names.indices.to_numpy(),
                # one of the others, by its distance from the true one
                (names.indices.to_numpy() + rng.integers(1, len(DIAGNOSES), rows)) % len(DIAGNOSES),
            )
            smoker = table["smoker"].to_numpy() ^ (rng.random(rows) < 1 / (1 + math.e))
            date = table["visit_date"].combine_chunks().cast(pa.int32()).to_numpy() + np.rint(rng.laplace(0, 14, rows))
            cost = table["cost"].to_numpy() + rng.laplace(0, 200, rows)
            columns = [
                np.clip(age, 0, 110).astype(np.int64),
                pa.array(names.dictionary.take(pa.array(codes))),
                smoker,
                pa.array(np.clip(date, *days).astype(np.int32)).cast(pa.date32()),
                np.clip(cost, 0, 2000),
            ]
            writer.write_table(pa.table(columns, schema=table.schema))


if __name__ == "__main__":
    write_visits(Path(sys.argv[1]), int(sys.argv[2]))
