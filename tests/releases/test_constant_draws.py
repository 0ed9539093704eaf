"""Neighbours with columns of every type are the same to the last byte once all draws are those of one value.

Every mechanism is handed the same public value for each row, under one seed, so its draws are a constant stream. Whatever else
is published of two neighbours must then agree: each file of the folder with its dictionaries, row groups, statistics and size,
the returned tables, what the commands print, and their JSON. What is random by design (names of a release, nonces, times) is
left out.
"""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from picture_support import small_picture
from tests.attack.neighbours import differences
from word_support import clusters

import noisewright as nw
from noisewright.cli import run
from noisewright.planning.column_plan import ColumnPlan
from noisewright.queries.answers import QueryPlan
from noisewright.queries.statistics import Noise

ROWS = 12
DAY = datetime.date(2025, 3, 1)
FIXED: dict[str, Any] = {
    "age": 50,
    "weight": 60.5,
    "smoker": "no",
    "day": DAY,
    "seen": datetime.datetime(2025, 3, 1, 8),
    "latitude": 53.45,
    "longitude": -2.2,
    "word": "w1",
    "note": "w1 w2",
    "taste": [1.0, 0.0, 0.0],
    "badge": small_picture(1),
}
TYPES = {
    "age": pa.int64(),
    "weight": pa.float64(),
    "smoker": pa.string(),
    "day": pa.date32(),
    "seen": pa.timestamp("us"),
    "latitude": pa.float64(),
    "longitude": pa.float64(),
    "word": pa.string(),
    "note": pa.string(),
    "taste": pa.list_(pa.float64(), 3),
    "badge": pa.binary(),
}
ONLY_IN_TYPES = ("taste", "badge")
"""Columns that neither CSV nor pandas gives a type."""


def columns(words: str) -> list[dict[str, Any]]:
    """Return one column of every type, each with a rule for what is missing or undeclared."""
    return [
        {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": "any", "fill": 50, "epsilon": 8},
        {"name": "weight", "mechanism": "laplace", "within": [0, 200], "protect": "any", "fill": 60, "epsilon": 8},
        {
            "name": "smoker",
            "mechanism": "randomised-response",
            "categories": ["yes", "no"],
            "other": "no",
            "fill": "no",
            "epsilon": 8,
        },
        {
            "name": "day",
            "mechanism": "laplace",
            "within": ["2025-01-01", "2025-12-31"],
            "protect": "any",
            "outside": "clamp",
            "epsilon": 8,
        },
        {"name": "seen", "mechanism": "laplace", "protect": "1 hour", "epsilon": 8},
        {
            "name": ["latitude", "longitude"],
            "mechanism": "geo-laplace",
            "reference": [53.45, -2.2],
            "protect": 500,
            "epsilon": 1,
        },
        {"name": "word", "mechanism": "exact-words", "embedding": words, "protect": 1, "epsilon": 8},
        {"name": "note", "mechanism": "private-documents", "embedding": words, "size": 3, "protect": 1, "epsilon": 8},
        {"name": "taste", "mechanism": "lshrr", "dimension": 3, "bits": 8, "seed": "5e" * 32, "epsilon": 8},
        {"name": "badge", "mechanism": "pixel-laplace", "width": 8, "height": 6, "block": 2, "epsilon": 8},
        {"name": "ward", "keep": True},
    ]


QUERIES = [
    {"name": "visits", "aggregate": "count", "epsilon": 1},
    {"name": "smokers", "aggregate": "count", "where": "age >= 60", "epsilon": 1},
    {"name": "mean weight", "aggregate": "mean", "column": "weight", "within": [0, 200], "epsilon": 1},
    {"name": "old", "aggregate": "quantile", "quantile": 0.5, "column": "age", "within": [0, 110], "epsilon": 1},
]


def person(rng: np.random.Generator, odd: bool) -> dict[str, Any]:
    """Return the protected values of one row; odd ones are missing, undeclared, alike, long, or of another length."""
    if not odd:
        return {
            "age": int(rng.integers(1, 110)),
            "weight": float(rng.integers(40, 120)) + 0.5,
            "smoker": ["yes", "no"][int(rng.integers(2))],
            "day": DAY + datetime.timedelta(days=int(rng.integers(200))),
            "seen": datetime.datetime(2025, 3, 1, 8) + datetime.timedelta(seconds=int(rng.integers(10**6))),
            "latitude": 53.45 + float(rng.uniform(0, 0.01)),
            "longitude": -2.2 + float(rng.uniform(0, 0.01)),
            "word": f"w{rng.integers(16)}",
            "note": " ".join(f"w{rng.integers(16)}" for _ in range(4)),
            "taste": [float(x) for x in rng.normal(size=3)],
            "badge": small_picture(int(rng.integers(100))),
        }
    return {
        "age": None,
        "weight": [None, 0.0, 200.0, 1e-9][int(rng.integers(4))],
        "smoker": [None, "", "a very long answer " * 40, "123", "true"][int(rng.integers(5))],
        "day": datetime.date(1900, 1, 1),
        "seen": datetime.datetime(1999, 12, 31, 23, 59, 59, 999999),
        "latitude": 53.45,
        "longitude": -2.2,
        "word": "w5",
        "note": ["", "w5 " * 500, "nobody knows these"][int(rng.integers(3))],
        "taste": [1e-300, 0.0, 0.0],
        "badge": small_picture(7),
    }


def neighbours(seed: int) -> tuple[pa.Table, pa.Table]:
    """Return two tables that differ in all protected values of one patient, who has three rows."""
    rng = np.random.default_rng(seed)
    rows = [
        {"patient": f"p{max(0, row - 2)}", "ward": ["a", "b", None][row % 3], **person(rng, odd=False)}
        for row in range(ROWS)
    ]
    other = [{**row, **person(rng, odd=True)} if row["patient"] == "p0" else row for row in rows]
    schema = pa.schema({"patient": pa.string(), "ward": pa.string(), **TYPES})
    one, two = (pa.Table.from_pylist(found, schema) for found in (rows, other))
    return one, two


@pytest.fixture(autouse=True)
def _constant_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hand every mechanism the same public values, whatever is in the table; what reads the table still reads it."""

    def released(self: ColumnPlan, arrays: list[pa.Array], rng: Any) -> list[pa.Array]:
        assert self.mechanism is not None
        assert self.secret is not None
        self.secret.read(arrays)
        fixed = [
            pa.array([FIXED[name]] * len(arrays[0]), array.type) for name, array in zip(self.names, arrays, strict=True)
        ]
        return self.secret.write(self.mechanism.release(self.secret.read(fixed), rng), len(arrays[0]))

    monkeypatch.setattr(ColumnPlan, "_released", released)
    add, quantiles = Noise.add, QueryPlan._quantiles
    monkeypatch.setattr(Noise, "add", lambda self, exact, rng: add(self, np.zeros_like(exact), rng))
    monkeypatch.setattr(QueryPlan, "_quantiles", lambda self, counts, rng: quantiles(self, np.zeros_like(counts), rng))


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        ("arrow", "parquet"),
        ("parquet", "arrow"),
        ("polars", "csv.zst"),
        ("pandas", "parquet"),
        ("csv", "xlsx"),
    ],
)
def test_everything_published_is_alike(kind: str, form: str, tmp_path: Path, capsys: Any) -> None:
    plain = kind in ("csv", "pandas") or form in ("csv", "csv.zst", "xlsx")
    chosen = [
        one for one in columns(str(clusters(16).resource.place())) if not (plain and one["name"] in ONLY_IN_TYPES)
    ]
    policy = {
        "dataset": "clinic",
        "budget": {"epsilon": 1000},
        "floating": True,
        "unit": {"column": "patient", "rows": 3},
        "columns": chosen,
        "queries": [{**one, "missing": "skip"} if "column" in one or "where" in one else one for one in QUERIES],
    }
    if kind in ("csv", "pandas"):
        policy["types"] = {"age": "integer", "weight": "number", "day": "date", "seen": "time"}
    found = []
    for which, table in enumerate(neighbours(3)):
        (tmp_path / str(which)).mkdir()
        data = given(kind, table, tmp_path / "t")
        done = nw.release(
            policy, data, output=tmp_path / str(which) / "out", seed=5, format=form, ledger=tmp_path / "l"
        )
        printed = [repr(done), done._repr_html_(), json.dumps(done.plan.to_json()), type(done.data).__name__]
        printed += [str(answer) for answer in done.answers.values()]
        for command in (
            (["verify"], ["verify", "--json"], ["estimate"], ["estimate", "--json"]) if kind == "arrow" else ()
        ):
            capsys.readouterr()
            run([command[0], str(tmp_path / str(which) / "out"), *command[1:]])
            printed += capsys.readouterr()
        found.append([text.replace(f"{tmp_path}/{which}", "") for text in printed])
    assert [random_left_out(text) for text in found[0]] == [random_left_out(text) for text in found[1]]
    assert list(differences(tmp_path / "0" / "out", tmp_path / "1" / "out", draws=False)) == []


def random_left_out(text: str) -> str:
    """Return a text without the names, digests and times of one release."""
    return re.sub(r"[0-9a-f]{12,64}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.+]*", "", text)


def given(kind: str, table: pa.Table, place: Path) -> Any:
    """Return a table as a user has it."""
    if kind == "pandas":
        return table.drop_columns(list(ONLY_IN_TYPES)).to_pandas()
    if kind == "polars":
        import polars as pl

        return pl.from_arrow(table)
    if kind == "csv":
        pyarrow.csv.write_csv(table.drop_columns(list(ONLY_IN_TYPES)), f"{place}.csv")
        return Path(f"{place}.csv")
    if kind == "parquet":
        pq.write_table(table, f"{place}.parquet")
        return Path(f"{place}.parquet")
    return table
