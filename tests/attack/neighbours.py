"""Neighbouring tables from every kind of source: what is published of two of them differs in draws alone.

Five ways in which two tables can be neighbours, each under one seed:

* ``unused``: they differ in columns and keys that the policy does not use (how many, their names, their types, one odd cell), in
  the order of columns, and in dictionaries; the folders are the same byte for byte;
* ``dropped``: they differ in a row that is left out, because its unit has too many; the same byte for byte;
* ``protected``: they differ in the protected values of one row; schemas, row groups, kept columns, the certificate, the lock and
  the words of the report are the same, and so is everything but draws;
* ``values``: they have the same rows of every unit (same-rows), and all protected values of the rows of one unit are any others:
  missing, undeclared, beyond all ranges, of types that only look alike; only draws differ, also in the plan;
* ``rows``: one of them lacks all rows of one unit (add-remove, answers alone), as many as it has, whatever they hold; only
  draws differ, also in the plan.

What is random by design (the name of a release, its nonce, the time) is left out.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from openpyxl.cell import WriteOnlyCell

import noisewright as nw

__all__ = ["SOURCES", "WAYS", "compare", "differences"]

Row = dict[str, Any]
WAYS = ("unused", "dropped", "protected", "values", "rows")
FORMATS = ("parquet", "csv", "arrow", "xlsx", "csv.gz")
REGIONS = ["a", "b", "elsewhere", "nobody declared this"]
WARDS = ["north", "south", "=east", "wést", None]
POLICY: dict[str, Any] = {
    "dataset": "clinic",
    "budget": {"epsilon": 100},
    "unit": {"column": "patient", "rows": 2, "excess": "first"},
    "types": {"stay": "integer"},
    "columns": [
        {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1},
        {"name": "ward", "keep": True},
        {"name": "stay", "keep": True},
        {"name": "smoker", "mechanism": "randomised-response", "categories": ["yes", "no"], "epsilon": 1},
        {
            "name": "region",
            "mechanism": "randomised-response",
            "categories": ["a", "b", "elsewhere"],
            "other": "elsewhere",
            "epsilon": 1,
        },
    ],
    "queries": [
        {"name": "smokers", "aggregate": "count", "by": {"smoker": ["yes", "no"]}, "where": "stay > 1", "epsilon": 1},
        {"name": "weight", "aggregate": "mean", "column": "weight", "within": [0, 200], "epsilon": 1},
    ],
}
USED = {
    "patient": pa.string(),
    "age": pa.int64(),
    "stay": pa.int64(),
    "smoker": pa.string(),
    "region": pa.string(),
    "weight": pa.float64(),
}
ANY_VALUES: dict[str, Any] = {
    **POLICY,
    "types": {"stay": "integer", "weight": "number"},
    "columns": [
        {**POLICY["columns"][0], "outside": "clamp", "fill": 50},
        *POLICY["columns"][1:3],
        {**POLICY["columns"][3], "other": "no", "fill": "no"},
        {**POLICY["columns"][4], "fill": "elsewhere"},
    ],
    "queries": [
        {**POLICY["queries"][0], "missing": "skip"},
        {**POLICY["queries"][1], "missing": "skip"},
        {"name": "visits", "aggregate": "count", "epsilon": 1},
        {
            "name": "longer",
            "aggregate": "count",
            "by": {"ward": ["north", "south"]},
            "where": "stay > 1",
            "epsilon": 1,
        },
        {"name": "old", "aggregate": "count", "where": "age >= 60", "epsilon": 1},
    ],
}
ANY_VALUES["queries"][0]["missing"] = "refuse"  # a count of groups has nothing to skip
"""With a rule for every value, so that nothing is refused."""
ANSWERS: dict[str, Any] = {
    **{name: POLICY[name] for name in ("dataset", "budget", "unit")},
    "types": {"stay": "integer", "weight": "number", "age": "integer"},
    "queries": [
        *ANY_VALUES["queries"],
        {
            "name": "regions",
            "aggregate": "histogram",
            "column": "region",
            "values": REGIONS[:2],
            "missing": "skip",
            "epsilon": 1,
        },
        {
            "name": "days",
            "aggregate": "sum",
            "column": "stay",
            "within": [0, 30],
            "by": {"ward": ["north"]},
            "epsilon": 1,
        },
        {
            "name": "median",
            "aggregate": "quantile",
            "quantile": 0.5,
            "column": "age",
            "within": [0, 110],
            "missing": "skip",
            "epsilon": 1,
        },
    ],
}
ODD: dict[str, list[Any]] = {
    "age": [None, -(10**6), 10**9, 0, 110, 31],
    "smoker": [None, "", "Yes", "yes ", "1", "true", "nan", "no"],
    "region": [None, "", "A", " a", "elsewhere", "NULL", "0", "b"],
    "weight": [None, float("nan"), float("inf"), -float("inf"), 1e300, -0.0, 70.0, 70.5],
}
"""Values of the protected columns: missing, undeclared, beyond all ranges, and whole numbers among others."""
MADE = re.compile(r"Made on [^<]* UTC by")
PART = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""In the names that Spark gives to parts of a table."""
DRAWN = re.compile(r"<svg.*?</svg>|<td[^>]*>[^<]*</td>|[0-9][0-9,.]*", re.DOTALL)


def compare(kind: str, way: str, number: int, folder: Path, session: Any = None) -> list[str]:
    """Publish two neighbouring tables; what differs although it must not."""
    rng = np.random.default_rng([SOURCES.index(kind), WAYS.index(way), number])
    rows = _rows(rng)
    others = [dict(row) for row in rows]
    if way == "dropped":
        last = max(place for place, row in enumerate(rows) if row["patient"] == "p0")
        others[last] |= {
            "ward": "a ward that nobody else was in",
            "age": 109,
            "stay": 10**9,
            "smoker": "yes",
            "region": "a region that nobody else is from",
            "weight": 1.5,
        }
    policy = {"values": ANY_VALUES, "rows": ANSWERS}.get(way, POLICY)
    if way in ("values", "rows"):
        for row in rows:
            row["weight"] = float(int(row["weight"]))
        others = [dict(row) for row in rows]
        who = ["p0", "p2"][int(rng.integers(2))]  # with three rows, of which two count, or with one
        for table in (rows, others):
            for row in table:
                row |= {
                    name: cells[int(rng.integers(len(cells)))] for name, cells in ODD.items() if row["patient"] == who
                }
    if way == "rows":
        others = [row for row in others if row["patient"] != who]
    if way == "protected":
        place = int(rng.integers(2, len(rows) - 1))
        others[place] |= {"age": int(rng.integers(0, 110)), "smoker": "yes", "weight": float(rng.uniform(0, 200))}
        others[place] |= {"region": "a region that nobody else is from"}
    form = FORMATS[number % (2 if session is not None else len(FORMATS))]
    found, plans = [], []
    for name, content in (("one", rows), ("other", others)):
        place = folder / name
        place.mkdir()
        noise = rng if way == "unused" else np.random.default_rng(number)
        data = _given(kind, content, noise, place, session)
        engine: Any = "spark" if session else "local"
        done = nw.release(policy, data, output=place / "out", seed=number, format=form, engine=engine)
        plans.append(done.plan.to_json())
        found.append(place / "out")
    if plans[0] != plans[1]:
        return ["the plan differs"]
    return list(differences(*found, draws=way in ("protected", "values", "rows")))


# Tables -------------------------------------------------------------------------------------------------------------------


def _rows(rng: np.random.Generator) -> list[Row]:
    """Some visits; p0 has three, of which the last does not count."""
    size = int(rng.integers(6, 12))
    return [
        {
            "patient": f"p{place}" if 1 < place < size - 1 else "p0",
            "age": int(rng.integers(0, 110)),
            "ward": WARDS[int(rng.integers(len(WARDS)))],
            "stay": int(rng.integers(0, 5)),
            "smoker": ["yes", "no"][int(rng.integers(2))],
            "region": REGIONS[int(rng.integers(len(REGIONS)))],
            "weight": round(float(rng.uniform(40, 120)), 1),
        }
        for place in range(size)
    ]


def _unused(rng: np.random.Generator, size: int) -> dict[str, list[Any]]:
    """Columns that nobody uses: numbers with an odd cell among them, text, mixed objects, whole lists."""
    found: dict[str, list[Any]] = {}
    for place in range(int(rng.integers(1, 4))):
        cells: list[Any] = [int(cell) for cell in rng.integers(0, 10, size)]
        match int(rng.integers(4)):
            case 0:
                cells[int(rng.integers(size))] = "refused"
            case 1:
                cells = [str(cell) for cell in cells]
            case 2:
                cells[0] = None
        found[f"secret {rng.integers(1_000_000)} {place}"] = cells
    return found


def _alike(cells: list[Any]) -> pa.Array:
    mixed = any(isinstance(cell, str) for cell in cells)
    return pa.array([None if cell is None else str(cell) if mixed else cell for cell in cells])


def _table(rows: list[Row], rng: np.random.Generator) -> pa.Table:
    """With types; the kept ward has a dictionary with words that no row has, in some order."""
    columns = {name: pa.array([row[name] for row in rows], kind) for name, kind in USED.items()}
    columns |= {name: _alike(cells) for name, cells in _unused(rng, len(rows)).items()}
    words = [*{row["ward"] for row in rows if row["ward"]}, f"hidden {rng.integers(1_000_000)}"]
    rng.shuffle(words)
    codes = [words.index(row["ward"]) if row["ward"] else None for row in rows]
    columns["ward"] = pa.DictionaryArray.from_arrays(pa.array(codes, [pa.int8(), pa.int32()][rng.integers(2)]), words)
    return pa.table(columns).select(list(rng.permutation(list(columns))))


def _cells(rows: list[Row], rng: np.random.Generator) -> pd.DataFrame:
    """Without types."""
    columns = {name: [row[name] for row in rows] for name in rows[0]} | _unused(rng, len(rows))
    return pd.DataFrame({name: pd.Series(columns[name], dtype=object) for name in rng.permutation(list(columns))})


def _csv(rows: list[Row], rng: np.random.Generator, folder: Path) -> Path:
    _cells(rows, rng).to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def _workbook(rows: list[Row], rng: np.random.Generator, folder: Path) -> Path:
    book = openpyxl.Workbook(write_only=True)
    sheet, frame = book.create_sheet("visits"), _cells(rows, rng)
    for cells in (list(frame.columns), *frame.itertuples(index=False, name=None)):
        placed = [WriteOnlyCell(sheet, cell) for cell in cells]
        for one, cell in zip(placed, cells, strict=True):
            one.data_type = "s" if isinstance(cell, str) else one.data_type  # "=east" is a ward, and no formula
        sheet.append(placed)
    book.save(folder / "t.xlsx")
    return folder / "t.xlsx"


def _sqlite(rows: list[Row], rng: np.random.Generator, folder: Path) -> str:
    with closing(sqlite3.connect(folder / "t.sqlite")) as db, db:
        _cells(rows, rng).to_sql("visits", db, index=False)
    return f"visits@{folder / 't.sqlite'}"


def _json(rows: list[Row], rng: np.random.Generator, folder: Path) -> Path:
    """Some keys that only one row has, and some whose values are of all types."""
    lines = []
    for place, row in enumerate(rows):
        more = {name: cells[place] for name, cells in _unused(rng, len(rows)).items()} if rng.random() < 0.5 else {}
        keys = rng.permutation([*row, *more])
        lines.append(json.dumps({str(key): (row | more)[key] for key in keys}))
    (folder / "t.jsonl").write_text("\n".join(lines) + "\n")
    return folder / "t.jsonl"


def _pandas(rows: list[Row], rng: np.random.Generator, folder: Path) -> pd.DataFrame:
    frame = pd.DataFrame(rows)
    words = [*{row["ward"] for row in rows if row["ward"]}, f"hidden {rng.integers(1_000_000)}"]
    frame["ward"] = pd.Categorical(frame["ward"], categories=words)
    for name, cells in _unused(rng, len(rows)).items():
        frame[name] = pd.Series(cells, dtype=object)
    frame["objects"] = pd.Series([object() if rng.random() < 0.2 else 1 for _ in rows], dtype=object)
    return frame[list(rng.permutation(list(frame.columns)))]


def _file(writer: Callable[[pa.Table, str], None], name: str) -> Callable[..., Path]:
    def build(rows: list[Row], rng: np.random.Generator, folder: Path) -> Path:
        writer(_table(rows, rng), str(folder / name))
        return folder / name

    return build


def _database(rows: list[Row], rng: np.random.Generator, folder: Path) -> str:
    table = _plain(_table(rows, rng))
    with duckdb.connect(str(folder / "t.duckdb")) as duck:
        duck.register("given", table)
        duck.execute("CREATE TABLE visits AS SELECT * FROM given")
    return f"visits@{folder / 't.duckdb'}"


def _plain(table: pa.Table) -> pa.Table:
    place = table.schema.get_field_index("ward")
    return table.set_column(place, "ward", table["ward"].combine_chunks().dictionary_decode())


GIVEN: dict[str, Callable[..., Any]] = {
    "csv": _csv,
    "xlsx": _workbook,
    "sqlite": _sqlite,
    "json": _json,
    "pandas": _pandas,
    "parquet": _file(pyarrow.parquet.write_table, "t.parquet"),
    "arrow file": _file(pyarrow.feather.write_feather, "t.arrow"),
    "arrow": lambda rows, rng, folder: _table(rows, rng),
    "reader": lambda rows, rng, folder: _table(rows, rng).to_reader(),
    "polars": lambda rows, rng, folder: pl.from_arrow(_table(rows, rng)),
    "lazy polars": lambda rows, rng, folder: pl.from_arrow(_table(rows, rng)).lazy(),  # type: ignore[union-attr]
    "duckdb": lambda rows, rng, folder: duckdb.from_arrow(_plain(_table(rows, rng))),
    "duckdb file": _database,
}
SOURCES = (*GIVEN, "spark")


def _given(kind: str, rows: list[Row], rng: np.random.Generator, folder: Path, session: Any) -> Any:
    if kind == "spark":
        return session.createDataFrame(_plain(_table(rows, rng)))
    return GIVEN[kind](rows, rng, folder)


# Folders ------------------------------------------------------------------------------------------------------------------


def differences(one: Path, other: Path, draws: bool) -> Iterator[str]:
    files = [sorted(p.relative_to(folder) for p in folder.rglob("*") if p.is_file()) for folder in (one, other)]
    plain = [[PART.sub("UUID", str(path)) for path in names] for names in files]
    if plain[0] != plain[1]:
        yield f"other files: {plain[0]} and {plain[1]}"
        return
    for mine, theirs in zip(*files, strict=True):
        if _seen(one / mine, draws) != _seen(other / theirs, draws):
            yield f"{mine} differs"


def _seen(path: Path, draws: bool) -> Any:
    """What there is to see in a file; with ``draws`` without what was drawn."""
    if path.name == "policy.lock":
        lock = json.loads(path.read_text())
        names = PART.sub("UUID", json.dumps(lock["outputs"] if not draws else sorted(lock["outputs"])))
        random = {"release", "nonce", "data", "at", "digest", "outputs"}
        own = {key: value for key, value in lock.items() if key not in random}
        return own, re.sub(r'("report.html": )"[^"]*"', "", names), len(path.read_bytes())
    if path.name == "report.html":
        text = MADE.sub("", path.read_text())
        return DRAWN.sub("", text) if draws else text
    if not draws or path.name == "certificate.json":
        return path.read_bytes()
    if path.parent.name == "answers":
        answer = pd.read_csv(path, dtype=str, keep_default_na=False)
        return list(answer.columns), answer[[name for name in answer.columns if not _of_draws(name, path)]].to_dict()
    return _kept(path)


def _of_draws(column: str, path: Path) -> bool:
    """Whether a column of an answer was drawn, or follows from what was: the answer, its interval and its noisy count."""
    name = re.sub("^[0-9]+-", "", path.stem)
    return column.removesuffix("_low").removesuffix("_high").removesuffix("_count") == name


def _kept(path: Path) -> Any:
    """Of a released table: its schema with all notes, how it is cut, and the columns that were not drawn."""
    if path.suffix == ".parquet":
        with pyarrow.parquet.ParquetFile(path) as file:
            groups = [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)]
            table = file.read()
            return (
                str(file.schema).partition("\n")[2],
                file.metadata.metadata,
                groups,
                table.select(["ward", "stay"]).to_pylist(),
            )
    if path.suffix == ".arrow":
        with pa.memory_map(str(path)) as mapped, pa.ipc.open_file(mapped) as opened:
            batches = [opened.get_batch(n) for n in range(opened.num_record_batches)]
            kept = [batch.select(["ward", "stay"]).to_pylist() for batch in batches]
            return opened.schema.serialize().to_pybytes(), kept
    read = pd.read_excel if path.suffix == ".xlsx" else pd.read_csv
    frame = read(path, dtype=str, keep_default_na=False)
    return list(frame.columns), frame[["ward", "stay"]].to_dict()
