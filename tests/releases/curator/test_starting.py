"""A starting policy: from the schema alone, refused until it is filled in, and then good for a verified release."""

from __future__ import annotations

import datetime
import decimal
import json
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.cli import run
from noisewright.exceptions import PolicyError
from noisewright.releases.policy_template import starting_policy

ROWS = 200
DAY, MOMENT = datetime.date(2024, 3, 1), datetime.datetime(2024, 3, 1, 12)
PLAIN = pa.table(
    {
        "patient_id": [f"p{row}" for row in range(ROWS)],
        "age": [18 + row % 70 for row in range(ROWS)],
        "weight": [50.5 + row % 40 for row in range(ROWS)],
        "sex": [("f", "m")[row % 2] for row in range(ROWS)],
        "visit": pa.array([DAY + datetime.timedelta(row) for row in range(ROWS)], pa.date32()),
        "seen": pa.array([MOMENT + datetime.timedelta(hours=row) for row in range(ROWS)], pa.timestamp("us")),
        "lat": [48.85 + row / 10_000 for row in range(ROWS)],
        "lon": [2.35 + row / 10_000 for row in range(ROWS)],
    }
)
"""What every kind of file can hold."""
RICH = (
    PLAIN.append_column("smoker", pa.array([row % 3 == 0 for row in range(ROWS)]))
    .append_column("steps", pa.array([[row, 2 * row] for row in range(ROWS)], pa.list_(pa.int32(), 2)))
    .append_column("loads", pa.array([[1.0 * row, 2.0] for row in range(ROWS)], pa.list_(pa.float64())))
    .append_column("fee", pa.array([decimal.Decimal("1.20")] * ROWS))
    .append_column("photo", pa.array([b"x"] * ROWS))
)
FILLED = {
    ("age", "within"): "[0, 120]",
    ("age", "protect"): "5",
    ("weight", "within"): "[0, 300]",
    ("weight", "protect"): "10",
    ("sex", "categories"): '["f", "m"]',
    ("visit", "within"): "[2024-01-01, 2024-12-31]",
    ("seen", "within"): "[2024-01-01T00:00:00, 2024-12-31T00:00:00]",
    ("lat", "reference"): "[48.85, 2.35]",
    ("steps", "protect"): "100",
    ("loads", "protect"): "100",
    ("loads", "dimension"): "2",
}


def filled(text: str) -> str:
    """The text with every place filled in, as its owner would."""
    name, lines = "", []
    for line in text.splitlines():
        if line.startswith("name"):
            name = line.split('"')[1]
        key = line.partition(" ")[0]
        lines.append(f"{key} = {FILLED[name, key]}" if '"FILL IN"' in line and not line.startswith("#") else line)
    return "\n".join(lines) + "\n"


def written(folder: Path, form: str) -> str | Path:
    path = folder / f"visits.{form}"
    match form:
        case "parquet":
            pq.write_table(RICH, path)
        case "arrow":
            pyarrow.feather.write_feather(RICH, path)
        case "csv":
            pyarrow.csv.write_csv(PLAIN, path)
        case "jsonl":
            rows = PLAIN.to_pylist()
            path.write_text("".join(json.dumps(row, default=str) + "\n" for row in rows))
        case "duckdb":
            with duckdb.connect(str(path)) as base:
                base.register("rows", PLAIN)
                base.execute("CREATE TABLE visits AS SELECT * FROM rows")
            return f"visits@{path}"
    return path


@pytest.mark.parametrize("form", ["parquet", "arrow", "csv", "jsonl", "duckdb"])
def test_from_init_to_a_verified_release(form, tmp_path, capsys):
    table, policy = str(written(tmp_path, form)), tmp_path / "policy.toml"
    assert run(["init", table, "-o", str(policy)]) == 0
    text = policy.read_text()
    assert max(map(len, text.splitlines())) <= 82
    assert run(["plan", str(policy), table]) == 2
    told = capsys.readouterr().err
    line = text.splitlines().index('within = ["FILL IN", "FILL IN"]') + 1
    assert f"policy.toml, line {line}: still to be filled in: the range of 'age', such as within = [0, 120];" in told
    policy.write_text(filled(text))
    words = [str(policy), table, "--ledger", str(tmp_path / "ledger")]
    assert run(["plan", *words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fits"]
    assert run(["release", *words, "-o", str(tmp_path / "out")]) == 0
    assert run(["verify", str(tmp_path / "out"), *words[2:]]) == 0
    expected = ["age", "weight", "sex", "visit", "seen", "lat", "lon"]
    expected += ["smoker", "steps", "loads"] if form in ("parquet", "arrow") else []
    assert pq.read_schema(tmp_path / "out/data.parquet").names == expected


def test_only_the_schema_is_looked_at(tmp_path):
    """Two tables of one schema have one starting policy, whatever is in them."""
    other = RICH.slice(0, 1).set_column(3, "sex", pa.array(["a secret"]))
    assert starting_policy(RICH).text == starting_policy(other).text == starting_policy(RICH.slice(0, 0)).text


def test_one_odd_cell_does_not_decide_the_type_of_a_csv_column(tmp_path):
    texts = []
    for odd in ("44", "unknown"):
        path = tmp_path / "visits.csv"
        path.write_text("age,visit\n" + "31,2024-01-01\n" * 50 + f"{odd},2024-01-01\n")
        texts.append(starting_policy(path).text)
    assert texts[0] == texts[1]
    assert 'mechanism = "geometric"' in texts[0]
    assert "they were guessed from its cells. Confirm each." in texts[0]
    assert "Confirm" not in starting_policy(RICH).text


def test_every_range_and_list_is_marked_and_none_is_copied():
    text = starting_policy(RICH).text
    lines = text.splitlines()
    for place, line in enumerate(lines):
        if line.startswith(("within", 'categories = ["', "reference", "dimension")):
            assert lines[place - 1].startswith("# make this public knowledge yourself: ")
            assert "FILL IN" in line
    assert not {"88", "51.5", "2024"} & set(text.replace("[", " ").replace(",", " ").split())
    assert '"patient_id": its name says that it points to a person' in text
    assert '# column = "patient_id"' in text
    assert '"fee": decimals with 2 places' in text


def test_copies_of_the_data_are_named_as_such(tmp_path):
    start = starting_policy(RICH, from_data=True)
    lines = start.text.splitlines()
    assert "# WARNING: RANGES AND CATEGORIES BELOW WERE COPIED FROM THE DATA." in lines
    for copied in (
        "within = [18, 87]",
        "within = [50.5, 89.5]",
        'categories = ["f", "m"]',
        "within = [2024-03-01, 2024-09-16]",
    ):
        assert lines[lines.index(copied) - 1] == "# COPIED FROM THE DATA: make this public knowledge yourself"
    policy = nw.Policy.from_toml(filled(start.text))
    plan = nw.plan(policy, RICH, ledger=tmp_path / "ledger")
    assert plan.fits
    assert any("age: its declared range is just that of the data" in caution for caution in plan.warnings)
    long = pa.table({"word": [f"word {row}" for row in range(60)]})
    assert 'categories = ["FILL IN"]' in starting_policy(long, from_data=True).text


def test_frames(tmp_path):
    arrow = starting_policy(PLAIN).text
    assert starting_policy(pl.from_arrow(PLAIN)).text.split("\n", 1)[1] == arrow.split("\n", 1)[1]
    frame = pd.DataFrame({"age": [44, 31], "sex": ["f", "m"]})
    start = starting_policy(frame, dataset="survey")
    assert (start.columns, start.guessed, start.waiting) == (("age", "sex"), True, 3)
    policy = nw.Policy.from_toml(filled(start.text))
    done = nw.release(policy, frame, ledger=tmp_path / "ledger")
    assert list(done.data.columns) == ["age", "sex"]
    assert float(done.plan.epsilon) == 3


def test_names_and_values_cannot_leave_their_quotes():
    """A name of a column, or a category, with signs of TOML in it."""
    name = 'a"\n[budget]\nepsilon = 1e9 # \x7f \\ \u2028'
    table = pa.table({name: ['"] #', "b"], "id": ["1", "2"]})
    policy = nw.Policy.from_toml(starting_policy(table, from_data=True).text)
    assert policy.columns[0].names == (name,)
    assert policy.columns[0].parameters["categories"] == ('"] #', "b")
    assert policy.budget.epsilon == 3
    with pytest.raises(PolicyError, match="still to be filled in"):
        nw.Policy.from_toml(starting_policy(table).text)


def test_a_half_filled_range_is_asked_for():
    with pytest.raises(PolicyError) as told:
        nw.Policy.from_dict(
            {
                "dataset": "clinic",
                "budget": {"epsilon": 1},
                "columns": [{"name": "age", "mechanism": "geometric", "within": [0, "FILL IN"], "epsilon": 1}],
            }
        )
    assert str(told.value) == (
        "policy: still to be filled in: the range of 'age', such as within = [0, 120]; write what is known without looking at "
        'the data in the place of every "FILL IN", or remove the column.'
    )


def test_what_is_there_is_not_overwritten(tmp_path, capsys):
    path = written(tmp_path, "csv")
    (tmp_path / "policy.toml").write_text("mine")
    assert run(["init", str(path), "-o", str(tmp_path / "policy.toml")]) == 2
    assert "is there already" in capsys.readouterr().err
    assert (tmp_path / "policy.toml").read_text() == "mine"
    assert run(["init", str(path)]) == 0
    assert capsys.readouterr().out == starting_policy(path).text


def test_numbers_with_a_decimal_comma_are_said_to_be_some(tmp_path, capsys):
    rows = [f"{place};{place % 50},5;{place % 3}" for place in range(60)]
    (tmp_path / "pay.csv").write_text("\n".join(["age;income;ward", *rows]) + "\n")
    for copied in (False, True):
        start = starting_policy(str(tmp_path / "pay.csv"), from_data=copied)
        assert (start.columns, start.left_out) == (("age", "ward"), ("income",))
        assert '# - "income": numbers with a decimal comma: save the table with points' in start.text
    assert run(["init", str(tmp_path / "pay.csv"), "-o", str(tmp_path / "start.toml")]) == 0
    assert "income (numbers with a decimal comma" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("cell", ["31.12.2024", "12/31/24", "1.2.2024 08:30"])
def test_dates_in_another_order_are_said_to_be_some(cell, tmp_path):
    (tmp_path / "t.csv").write_text(f"seen;ward\n{cell};n\n{cell};s\n")
    start = starting_policy(str(tmp_path / "t.csv"))
    assert (start.columns, start.left_out) == (("ward",), ("seen",))
    assert '# - "seen": dates in another order: save the table with dates like 2024-02-29' in start.text


def test_lists_and_versions_in_text_are_neither_numbers_nor_dates(tmp_path):
    (tmp_path / "t.csv").write_text('codes;version\n"1,2,3";1.2.3\n"4,5,6";10.0.12345\n')
    assert starting_policy(str(tmp_path / "t.csv")).columns == ("codes", "version")
