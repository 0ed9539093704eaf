"""What Spark writes: text that comes back as it was and does not run, all rows counted, and parts that follow from rows alone."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_support import plans
from scipy import stats

import noisewright as nw
from noisewright.engines.local import LocalEngine
from noisewright.engines.spark import SparkEngine, _harmless
from noisewright.exceptions import DataError
from noisewright.policy.policy import UnitPolicy
from noisewright.releases.folder import verify_folder
from noisewright.tables.files import read_written
from noisewright.tables.reading import source_of
from noisewright.tables.source import harmless

pytestmark = pytest.mark.xdist_group("spark")
NOBODY = UnitPolicy()
LOCAL = LocalEngine()
FORMULAS = [
    "=1+1",
    "'=x",
    " \t-y",
    "-3\n",
    "-3x",
    "@a",
    "＝1",
    "＋",
    "－2",
    "＠x",
    " =a ",
    "\r=c",
    "\n=d",
    "''＝",
    "=\n1",
]
NUMBERS = ["+", "-", "-3", "+4.5e-7", "'-", "'-3"]
TEXTS = ["", None, " lead", "trail ", "\ttab\t", "a\rb", "a\r\nb", "two\nlines", 'q"uo"te', '"', '""', "\\", 'a\\"b']
MORE = ["#c", "\x00=x", "\\N", "null", "é=", "\u2028=x", "\u00a0=x", "\x0b=x", "''", "'", "a,b", "\x85=1", "\ufeff=1"]
NOTES = pa.array([*FORMULAS, *NUMBERS, *TEXTS, *MORE])


@pytest.fixture(scope="module")
def engine(spark_session: Any) -> SparkEngine:
    return SparkEngine(session=spark_session)


def kept(source: Any) -> list[Any]:
    return plans(source.types, columns=[{"name": name, "keep": True} for name in source.schema.names])


def test_formulas_are_found_by_java_where_arrow_finds_them(engine: SparkEngine) -> None:
    signs = ["'", "=", "+", "-", "@", "＝", "\n", "\r", "\t", " ", "1", ".", "e", "a", "\u2028", "\x85"]
    texts = [a + b + c for a in ["", *signs] for b in ["", *signs] for c in ["", *signs]]
    column = pa.array([*texts, *NOTES.to_pylist()])
    found = _harmless(engine.session.createDataFrame(pa.table({"=x": column}))).toArrow()
    assert found.column_names == ["'=x"]
    assert found.column(0).combine_chunks().equals(harmless(column))
    changed = [text for text, now in zip(NOTES.to_pylist(), harmless(NOTES).to_pylist(), strict=True) if text != now]
    assert changed == FORMULAS


@pytest.mark.parametrize("order", ["kept", "random"])
def test_csv_has_every_text_as_the_local_engine_has_it(engine: SparkEngine, tmp_path: Path, order: Any) -> None:
    """Lines within cells, white space, quotes and missing cells; rows are counted, not lines."""
    source = source_of(pa.table({"=note": NOTES, "n": np.arange(len(NOTES))}))
    assert engine.perturb(source, kept(source), NOBODY, tmp_path / "data.csv", "csv", 3, order=order) == len(NOTES)
    expected = LOCAL.frame(source, kept(source), NOBODY, 3, order)
    assert read_written(tmp_path / "data.csv", source.types).equals(expected)
    cells = []
    for path in sorted((tmp_path / "data.csv").iterdir()):
        with path.open(newline="", encoding="utf-8") as file:
            cells += [row[0] for row in csv.reader(file)]
    assert cells == ["'=note", *("" if text is None else text for text in harmless(expected.column(0)).to_pylist())]


def test_a_release_of_spark_as_csv_is_verified_and_read_again(engine: SparkEngine, tmp_path: Path) -> None:
    policy = {
        "dataset": "notes",
        "budget": {"epsilon": 9},
        "columns": [
            {"name": "=note", "keep": True},
            {"name": "vote", "mechanism": "randomised-response", "categories": ["=A1", "-7"], "epsilon": 1},
        ],
    }
    table = pa.table({"=note": NOTES, "vote": ["=A1"] * len(NOTES)})
    given: dict[str, Any] = {"output": tmp_path / "out", "ledger": tmp_path / "ledger", "format": "csv"}
    done = nw.release(policy, table, engine="spark", **given)
    again = nw.release(policy, table, engine="spark", **given)
    assert (again.reread, again.rows, done.rows) == (True, len(NOTES), len(NOTES))
    assert again.data.equals(done.data)
    assert sorted(done.data["=note"].to_pylist(), key=repr) == sorted(NOTES.to_pylist(), key=repr)
    assert verify_folder(tmp_path / "out").problems == ()


def test_a_column_alone_whose_missing_values_would_be_lost_is_refused(engine: SparkEngine, tmp_path: Path) -> None:
    source = source_of(pa.table({"vote": ["yes", None, "no"]}))
    vote = {"name": "vote", "mechanism": "randomised-response", "categories": ["yes", "no"], "epsilon": 1}
    for column in ({"name": "vote", "keep": True}, {**vote, "missing": "keep"}):
        found = plans(source.types, columns=[column])
        for action in (
            lambda found=found: engine.check_output(source, found, "csv"),
            lambda found=found: engine.perturb(source, found, NOBODY, tmp_path / "out", "csv"),
        ):
            with pytest.raises(
                DataError, match="Spark leaves no line in a CSV file; choose parquet, or the engine local"
            ):
                action()
    assert not (tmp_path / "out").exists()
    filled = plans(source.types, columns=[{**vote, "fill": "no"}])
    engine.check_output(source, filled, "csv")
    assert engine.perturb(source, filled, NOBODY, tmp_path / "out", "csv") == 3


def test_parts_follow_from_the_number_of_rows_alone(engine: SparkEngine, tmp_path: Path) -> None:
    """600,000 rows in 1, in 7, and in 4 partitions of which one has nearly all: 3 parts, and every row is in each of them with
    probability 1/3, chi square with 2 degrees of freedom; system bits: chance of a false alarm 3e-9."""
    rows = 600_000
    session = engine.session
    skewed = session.range(rows - 30, numPartitions=1)
    for start in (rows - 30, rows - 20, rows - 10):
        skewed = skewed.unionAll(session.range(start, start + 10, numPartitions=1))
    for place, frame in enumerate([session.range(rows, numPartitions=1), session.range(rows, numPartitions=7), skewed]):
        source = source_of(frame)
        target = tmp_path / str(place)
        assert engine.perturb(source, kept(source), NOBODY, target) == rows
        found = [pq.read_table(path).column("id").to_numpy() for path in sorted(target.iterdir())]
        assert len(found) == 3
        sizes = np.array([part.size for part in found])
        assert ((sizes - rows / 3) ** 2 / (rows / 3)).sum() < stats.chi2.isf(1e-9, 2)
        assert np.array_equal(np.sort(np.concatenate(found)), np.arange(rows))
    assert engine.frame(source, kept(source), NOBODY).rdd.getNumPartitions() == 3


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_an_empty_table_is_one_part(engine: SparkEngine, tmp_path: Path, format: Any) -> None:
    source = source_of(pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.int64())}))
    assert engine.perturb(source, kept(source), NOBODY, tmp_path / f"data.{format}", format) == 0
    assert len(list((tmp_path / f"data.{format}").iterdir())) == 1
    assert read_written(tmp_path / f"data.{format}", source.types).num_rows == 0


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_kept_columns_hold_nothing_of_rows_that_are_left_out(tmp_path: Path, spark_session: Any, format: str) -> None:
    """A word that only a dictionary has, one under a missing value, and one of a row too many of its unit; nested, too."""
    words = pa.array(["north", "only-in-the-dictionary", "row-too-many"])
    wards = pa.DictionaryArray.from_arrays(pa.array([0, 0, None, 2], pa.int8()), words)
    under = pa.array(["north", "south", "under-a-missing-value", "row-too-many"])
    masked = pa.Array.from_buffers(pa.string(), 4, [pa.py_buffer(b"\x0b"), *under.buffers()[1:]], null_count=1)
    columns = {"patient": ["a", "b", "c", "a"], "ward": wards, "bed": masked, "n": [1, 2, 3, 4]}
    if format == "parquet":
        columns["both"] = pa.StructArray.from_arrays([masked, pa.array([1, 2, 3, 4])], ["bed", "n"])
    policy = {
        "dataset": "clinic",
        "budget": {"epsilon": 1},
        "unit": {"column": "patient", "rows": 1, "excess": "first"},
        "columns": [{"name": name, "keep": True} for name in columns if name != "patient"],
    }
    nw.release(policy, pa.table(columns), output=tmp_path / "out", seed=1, engine="spark", format=format)
    published = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert b"north" in published
    for hidden in (b"only-in", b"under-a-missing", b"too-many"):
        assert hidden not in published
    listed = json.loads((tmp_path / "out" / "policy.lock").read_text())["outputs"][f"data.{format}"]
    assert len(listed) == 1
    types = {name: kind for name, kind in source_of(pa.table(columns)).types.items() if name != "patient"}
    released = read_written(tmp_path / "out" / f"data.{format}", types)
    assert sorted(zip(released["n"].to_pylist(), released["bed"].to_pylist(), strict=True)) == [
        (1, "north"),
        (2, "south"),
        (3, None),
    ]
