"""Text that a spreadsheet would run is harmless in CSV files, and is read back as it was."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noisewright as nw
from noisewright.cli import run
from noisewright.releases.folder import verify_folder
from noisewright.tables.source import harmless, harmless_name, original, original_name

SIGNS = "=+-@＝＋－＠"
TEXTS = st.lists(st.one_of(st.none(), st.text(st.sampled_from("'=+-@＝ \t\r\n0123.eEa,\"")), st.text()))


@given(TEXTS, st.sampled_from([pa.string(), pa.large_string()]))
def test_what_is_written_does_not_run_and_comes_back(texts: list[str | None], kind: pa.DataType) -> None:
    column = pa.array(texts, kind)
    written = harmless(column)
    assert original(written).equals(column)
    for text in written.drop_null().to_pylist():
        first = text.lstrip(" \t\r\n")[:1]
        number = text[1:].replace(".", "").replace("e", "").replace("E", "").replace("+", "").replace("-", "")
        assert first not in SIGNS or not first or (text[0] in "+-" and (number.isdigit() or not text[1:])), text


@given(st.text(st.sampled_from("'=+-@ a1"), min_size=1))
def test_names_come_back(name: str) -> None:
    assert original_name(harmless_name(name)) == name


def test_numbers_stay_numbers() -> None:
    for column in (pa.array([-3, 4]), pa.array([-0.5]), pa.array(["-3", "+4.5e-7", "-", "+", "1-1"])):
        assert harmless(column).equals(column)
    assert harmless(pa.array(["-1+1", "+49 30 1234"])).to_pylist() == ["'-1+1", "'+49 30 1234"]


CATEGORIES = ["=A1", "'=A1", "-7", "@x", "+"]
POLICY = {
    "dataset": "notes",
    "budget": {"epsilon": 100},
    "columns": [
        {"name": "=note", "keep": True},
        {"name": "mark", "mechanism": "randomised-response", "categories": CATEGORIES, "epsilon": 30},
    ],
    "queries": [{"name": "@marks", "aggregate": "count", "epsilon": 30, "by": {"mark": CATEGORIES}}],
}
NOTES = ["=1+1", "'=x", "plain", " \t-y", ""]
TABLE = pa.table({"=note": NOTES, "mark": CATEGORIES})


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
def test_a_release_has_no_formulas_and_reads_back(tmp_path: Path, form: str) -> None:
    given = {"output": tmp_path / "out", "ledger": tmp_path / "ledger", "format": form}
    done = nw.release(POLICY, TABLE, **given)
    again = nw.release(POLICY, TABLE, **given)
    assert again.reread
    assert again.answers["@marks"].equals(done.answers["@marks"])
    assert done.answers["@marks"]["mark"].to_pylist() == CATEGORIES
    assert sorted(done.data["=note"].to_pylist()) == sorted(NOTES)
    assert set(done.data["mark"].to_pylist()) <= set(CATEGORIES)
    found = verify_folder(tmp_path / "out")
    assert not found.problems
    for path in (tmp_path / "out").rglob("*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert not [cell for cell in cells if cell.strip()[:1] in set(SIGNS) and cell not in ("-7", "+")]
        assert "'=A1" in cells  # of the category =A1; that of '=A1 has two apostrophes


def test_an_estimate_counts_the_reports_behind_the_apostrophes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With epsilon 30 every report is the truth but once in 2e12."""
    table = pa.table({"mark": ["=A1"] * 60 + ["-7"] * 40})
    column = {**POLICY["columns"][1], "categories": ["=A1", "-7"]}  # type: ignore[dict-item]
    policy = {**POLICY, "columns": [column], "queries": []}
    nw.release(policy, table, output=tmp_path / "out", ledger=tmp_path / "ledger", format="csv")
    nw.save(nw.randomised_response(["=A1", "-7"], epsilon=30), tmp_path / "mechanism.json")
    data, mechanism = tmp_path / "out" / "data.csv", tmp_path / "mechanism.json"
    assert data.read_text().count("'=A1") == 60
    arguments = ["estimate", str(data), "--mechanism", str(mechanism), "--json"]
    assert run(arguments) == 0
    assert '"dropped": 0' in capsys.readouterr().out
