from __future__ import annotations

import csv
import json
from fractions import Fraction

import pytest

from noisewright.ledger.ledger import Ledger
from noisewright.ledger.records import Charge, Protected


@pytest.fixture
def ledger(files):
    """Two datasets: one with a finished and a broken-off release and a raised budget, one with a budget for each unit."""
    found = Ledger(files / "ledger.sqlite")
    row = {"relation": "same-rows", "unit": None, "rows": 1}
    found.set_budget("clinic", 2, "1e-5", between=row)
    smoker = Charge("smoker", "column", Fraction(1), Fraction(0), "any two values")
    date = Charge("visit date", "column", Fraction(1, 3), Fraction(1, 10**7), "values at most 7 days apart")
    found.spend("clinic", [smoker, date], "first", "policy")
    found.finish("first", "output")
    found.set_budget("clinic", 3, "1e-5", between=row, raise_budget=True)
    found.spend(
        "clinic", [Charge("visits", "query", Fraction(1, 4), Fraction(0), "one row there or not")], "second", "p"
    )
    patient = {"relation": "add-remove", "unit": "patient", "rows": 3}
    found.set_budget("panel", 2, scope="unit", between=patient)
    found.spend("panel", [smoker], "third", "policy", units=[b"Ann Example"])
    return found


def test_the_page_says_what_was_spent_and_between_which_values(call, ledger, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    answer = call("ledger", "show", ledger.path)
    assert answer.code == 0
    for words in (
        f"{ledger.path}: ledger of 2 datasets",
        "Budget epsilon 3, delta 0.00001",
        "Between two tables with the same number of rows that differ in the values of one row Spent",
        "Spent epsilon 1.58334, delta 1e-7, in 2 releases",  # up
        "Left epsilon 1.41666, delta 9.9e-6",  # down
        "UTC, to epsilon 3, delta 0.00001",
        "UTC: first, finished Part Epsilon Delta Between smoker (column) 1 0 any two values",
        "visit date (column) 0.333334 1e-7 values at most 7 days apart",
        "visits (query) 0.25 0 one row there or not",
        "for each unit on its own",
        "Left at least epsilon 1, delta 0, and all of it for a unit that took part in none",
        "Epsilon How much odds may change: by a factor of at most 2.72 (e) for 1",
        "All parts and all releases add up.",
    ):
        assert words in answer.words
    assert "Ann" not in answer.out
    for width in ("100", "80"):
        monkeypatch.setenv("COLUMNS", width)
        lines = call("ledger", "show", ledger.path).out.splitlines()
        assert max(map(len, lines[1:])) <= int(width)
        assert any("0.333334" in line and "1e-7" in line for line in lines)
        assert any(line.endswith("UTC: first, finished") for line in lines)  # the name of a release is in one piece


def test_protected_distances_and_columns_given_away_are_shown(call, ledger, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    date = Charge(
        "visit",
        "column",
        Fraction(1, 8),
        Fraction(0),
        "values at most 7 days apart",
        Protected(("visit",), Fraction(7), "day"),
    )
    place = Charge("x and y", "column", Fraction(1, 8), Fraction(0), "any two values", Protected(("x", "y"), None))
    ward = Charge("ward", "kept", Fraction(0), guarantee="released as it is, not protected")
    ledger.spend("clinic", [date, place, ward], "fourth", "p")
    page = call("ledger", "show", ledger.path).words
    for words in (
        "Between two tables with the same number of rows that differ in the values of one row: by at most 7 days in visit, by "
        "any two values in x with y",
        "NOT protected ward: released as it is",
        "ward (kept) no bound released as it is, not protected",
    ):
        assert words in page
    clinic, panel = call("ledger", "show", ledger.path, "--json").json["datasets"]
    assert clinic["protected"] == [
        {"columns": ["visit"], "distance": "7", "unit": "day"},
        {"columns": ["x", "y"], "distance": "any", "unit": ""},
    ]
    assert clinic["between"].endswith(
        " one row: by at most 7 days in visit, by any two values in x with y, by nothing in ward"
        "; how missing and undeclared values count is stated with each release"
    )
    assert (clinic["kept"], panel["kept"], panel["protected"]) == (["ward"], [], [])


def test_one_dataset_alone(call, ledger):
    page = call("ledger", "show", ledger.path, "--dataset", "panel").words
    assert "ledger of 1 dataset panel" in page
    assert "clinic" not in page
    answer = call("ledger", "show", ledger.path, "--dataset", "nobody")
    assert answer.code == 2
    assert "knows no dataset 'nobody'" in answer.err


def test_the_json_object_is_exact(call, ledger):
    found = call("ledger", "show", ledger.path, "--json").json
    assert (found["format"], found["version"]) == ("noisewright-ledger", 2)
    clinic, panel = found["datasets"]
    assert clinic["spent"] == {"epsilon": "19/12", "delta": "1/10000000"}
    assert clinic["left"]["epsilon"] == "17/12"
    assert [event["event"] for event in clinic["history"]] == ["set", "raised"]
    assert [(e["release_id"], e["state"]) for e in clinic["entries"]] == [
        ("first", "finished"),
        ("first", "finished"),
        ("second", "started"),
    ]
    assert clinic["entries"][1]["guarantee"] == "values at most 7 days apart"
    assert (panel["scope"], panel["between"]) == (
        "unit",
        "two tables that are alike except for the rows of one patient (at most 3), which only one of them has",
    )


def test_without_a_name_it_is_the_ledger_of_this_user(call, ledger, monkeypatch, tmp_path):
    monkeypatch.setenv("NOISEWRIGHT_LEDGER", str(ledger.path))
    assert call("ledger", "show", "--json").json["ledger"] == str(ledger.path)
    monkeypatch.setenv("NOISEWRIGHT_LEDGER", str(tmp_path / "nothing" / "here"))
    answer = call("ledger", "show")
    assert answer.code == 2
    assert "there is no ledger" in answer.err
    assert not (tmp_path / "nothing").exists()


def test_export(call, ledger, files):
    answer = call("ledger", "export", ledger.path, "-o", files / "all.csv")
    assert answer.code == 0
    assert answer.words == f"{files / 'all.csv'}: written, with 4 recorded parts"
    with open(files / "all.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["dataset"], r["name"], r["epsilon"]) for r in rows] == [
        ("clinic", "smoker", "1"),
        ("clinic", "visit date", "1/3"),
        ("clinic", "visits", "1/4"),
        ("panel", "smoker", "1"),
    ]
    answer = call("ledger", "export", ledger.path, "-o", files / "all.json", "--json")
    assert answer.json["entries"] == 4
    shown = call("ledger", "show", ledger.path, "--json").json
    assert json.loads((files / "all.json").read_text()) == {k: v for k, v in shown.items() if k != "ledger"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["show", "missing"], "there is no ledger"),
        (["show", "."], "is a folder, not a ledger"),
        (["show", "response.csv"], "is not a Noisewright ledger"),
        (["export", "ledger.sqlite", "-o", "all.xlsx"], ".json or a .csv file"),
        (["export", "ledger.sqlite", "-o", "no/all.csv"], "cannot be written"),
        (["export", "ledger.sqlite"], "missing option"),
        (["export", "ledger.sqlite", "-o", "a.csv", "-o", "b.csv"], "more than once"),
        (["forget", "ledger.sqlite"], "no such command"),
        (["backup", "missing", "copy"], "there is no ledger"),
        (["backup", "ledger.sqlite", "no/copy"], "there is no folder"),
        (["backup", "ledger.sqlite"], "missing argument"),
        (["check", "missing"], "there is no ledger"),
        (["check", "response.csv"], "is not a Noisewright ledger"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_errors_are_one_sentence_and_nothing_is_written(call, ledger, files, monkeypatch, words, said, as_json):
    monkeypatch.chdir(files)
    before = sorted(p.name for p in files.iterdir())
    answer = call("ledger", *words, *(["--json"] if as_json else []))
    assert answer.code == 2
    assert said in answer.out + answer.err
    assert sorted(p.name for p in files.iterdir()) == before


def test_names_cannot_steer_the_terminal(call, files):
    ledger = Ledger(files / "odd")
    ledger.set_budget("a [bold]name[/bold]", 1)
    ledger.spend("a [bold]name[/bold]", [Charge("x", "co\x1b[31mlumn", Fraction(1), Fraction(0), "\x1b[2J")], "r", "")
    page = call("ledger", "show", ledger.path).out
    assert "\x1b" not in page
    assert "a [bold]name[/bold]" in page


def test_an_empty_ledger_and_the_command_alone(call, files):
    Ledger(files / "new")
    assert call("ledger", "show", files / "new").words == f"{files / 'new'}: ledger of 0 datasets"
    answer = call("ledger")
    assert answer.code == 0
    assert "show" in answer.out
    assert "export" in answer.out


# Copies and checks --------------------------------------------------------------------------------------------------------


def test_backup(call, ledger, files):
    answer = call("ledger", "backup", ledger.path, files / "copy.sqlite")
    assert answer.code == 0
    assert f"{files / 'copy.sqlite'}: a whole copy, checked" in answer.words
    assert f"ending in {ledger.head()} Releases 3 Accounts 1" in answer.words
    copy = Ledger(files / "copy.sqlite", create_missing=False)
    assert copy.remaining("clinic") == ledger.remaining("clinic")
    found = call("ledger", "backup", ledger.path, files / "second.sqlite", "--json").json
    assert (found["copy"], found["head"]) == (str(files / "second.sqlite"), ledger.head())
    answer = call("ledger", "backup", ledger.path, files / "copy.sqlite")
    assert answer.code == 2
    assert "a backup overwrites nothing" in answer.err


def test_check(call, ledger, files):
    found = call("ledger", "check", ledger.path, "--json").json
    assert found == {
        "ledger": str(ledger.path),
        "agrees": True,
        "records": 2 + 3 + 3 + 4 + 1 + 1,  # datasets, budgets, releases, charges, total, finish
        "head": ledger.head(),
        "releases": 3,
        "accounts": 1,
        "witnessed": 7,  # every call but those that changed nothing
        "problem": None,
        "folders": [],
    }
    assert f"{ledger.path}: whole Chain 14 records" in call("ledger", "check", ledger.path).words
    answer = call("ledger", "check", ledger.path, files)
    assert answer.code == 1
    assert f"NOT the ledger of every folder Chain 14 records, ending in {ledger.head()}" in answer.words
    assert "NOT as recorded Wrong it has no policy.lock that" in answer.words


def test_check_finds_a_ledger_that_was_replaced_by_an_older_copy(call, files, monkeypatch):
    monkeypatch.chdir(files)
    (files / "visits.csv").write_text("smoker\n" + "yes\nno\n" * 20)
    (files / "policy.toml").write_text(
        'dataset = "clinic"\nbudget = { epsilon = 4 }\n[[columns]]\nname = "smoker"\nmechanism = "randomised-response"\n'
        'categories = ["yes", "no"]\nepsilon = 1\n'
    )
    words = ("release", "policy.toml", "visits.csv", "--ledger", "mine.sqlite")
    assert call(*words, "-o", "first").code == 0
    assert call("ledger", "backup", "mine.sqlite", "older.sqlite").code == 0
    assert call(*words, "-o", "second", "--again").code == 0
    page = call("ledger", "check", "mine.sqlite", "first", "second").words
    assert "mine.sqlite: whole" in page
    assert page.count(": recorded Release") == 2
    answer = call("ledger", "check", "older.sqlite", "first", "second", "--json")
    assert (answer.code, answer.json["agrees"]) == (1, False)
    first, second = answer.json["folders"]
    assert (first["problem"], first["completed"]) == (None, False)
    assert "has lost records: it is an older copy" in second["problem"]
    for command in (("verify", "second"), ("ledger", "check"), words):
        assert sorted(p.name for p in files.glob("mine.sqlite*")) == ["mine.sqlite"], command  # one file is enough


def test_a_damaged_ledger_is_one_sentence(call, ledger):
    content = ledger.path.read_bytes()
    ledger.path.write_bytes(content[:-5000])
    for words in (
        ("show", ledger.path),
        ("check", ledger.path),
        ("backup", ledger.path, ledger.path.with_name("copy")),
    ):
        answer = call("ledger", *words)
        assert answer.code == 2
        assert "is damaged" in answer.err
    assert not ledger.path.with_name("copy").exists()


def test_in_a_process_of_its_own(shell, ledger):
    assert "1.58334" in shell("ledger", "show", ledger.path).out
    assert shell("ledger", "show", ledger.path, "--json").json["datasets"][0]["dataset"] == "clinic"
