"""``noisewright reproduce`` and ``noisewright bench``: what they list, run and refuse, and where they look for the source."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import Answer, environment, hold_to_the_rules

import noisewright as nw

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))

import experiments  # noqa: E402
from experiments import extended_range, noise_shapes, survey_tallies  # noqa: E402


@pytest.fixture(autouse=True)
def usual_width(monkeypatch):
    """Pages of the width that they have in a file, whoever runs this."""
    monkeypatch.delenv("COLUMNS", raising=False)


# Listing and running ------------------------------------------------------------------------------------------------------


def test_alone_it_lists_the_experiments(call):
    found = call("reproduce", "--json").json["experiments"]
    assert [e["name"] for e in found] == list(experiments.NAMES)
    by_name = {e["name"]: e for e in found}
    assert by_name["noise_shapes"]["picture"] is True
    assert by_name["family_tables"]["picture"] is False
    assert by_name["recovering_a_distribution"]["runs"] == {"quick": 3, "whole": 20}
    assert by_name["family_tables"]["runs"] is None
    assert by_name["family_tables"]["summary"].startswith("Which families may replace which: ")
    assert all(e["seconds"]["quick"] <= e["seconds"]["whole"] for e in found)
    page = call("reproduce")
    assert all(f"\n{name} " in page.out for name in experiments.NAMES)
    assert max(map(len, page.out.splitlines())) <= 100


def test_one_shows_both_numbers(call):
    answer = call("reproduce", "survey_tallies", "--quick")
    assert "0.5938 (0.5938)" in answer.out
    assert "Reported: two people as published" in answer.out
    assert "8 of 8 compared numbers agree." in answer.words
    data = call("reproduce", "survey_tallies", "--json").json
    assert (data["agrees"], data["compared"], data["compared_that_agree"], data["quick"]) == (True, 20, 20, False)
    row = data["tables"][0]["rows"][0]
    assert row["label"] == ["2", "randomised tally"]
    assert (row["found"], row["reported"]) == ([0.625, 0.59375], [0.625, 0.59375])


def test_a_narrow_terminal_loses_no_digit(call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    narrow = call("reproduce", "survey_designs", "--quick")
    assert narrow.code == 0
    assert "thresho" in narrow.out  # the first column is narrower than its title
    assert "…" not in narrow.out


def test_a_wide_table_stacks_its_numbers(call):
    lines = call("reproduce", "survey_designs", "--quick").out.splitlines()
    above = next(i for i, line in enumerate(lines) if line.startswith("g ") and "-9.5083" in line)
    numbers = lines[above].split()[2:]
    assert len(numbers) == 6
    assert lines[above + 1].split() == [f"({number})" for number in numbers]


def test_a_number_that_does_not_agree(call, monkeypatch):
    wrong = {**survey_tallies.REPORTED, (3, "noisy tally"): (0.666667, 0.57)}
    monkeypatch.setattr(survey_tallies, "REPORTED", wrong)
    answer = call("reproduce", "survey_tallies", "--quick")
    assert answer.code == 1
    assert "0.5625 (0.5700) !" in answer.out
    assert "7 of 8 compared numbers agree" in answer.out
    assert "! marks a number that does not agree" in answer.out
    assert answer.words.endswith("survey_tallies: NOT everything agrees: 7 of 8 compared numbers agree")
    data = call("reproduce", "survey_tallies", "--quick", "--json")
    assert (data.code, data.json["compared_that_agree"]) == (1, 7)


def test_a_claim_that_does_not_hold(call, monkeypatch):
    monkeypatch.setattr(
        noise_shapes, "result", lambda quick: experiments.report.Result([], {"the sky is green": False})
    )
    answer = call("reproduce", "noise_shapes")
    assert answer.code == 1
    assert "NO: the sky is green." in answer.out


def test_numbers_left_open_are_marked(call):
    page = call("reproduce", "epsilon_sweep", "--quick").out
    assert "(~" in page
    assert "~ marks a number that is only shown, not compared" in page


def test_all_of_them(call, monkeypatch):
    monkeypatch.setattr(experiments, "NAMES", ("survey_tallies", "extended_range", "noise_shapes"))
    data = call("reproduce", "--all", "--quick", "--json").json
    assert [(e["name"], e["compared"], e["compared_that_agree"]) for e in data["experiments"]] == [
        ("survey_tallies", 8, 8),
        ("extended_range", 12, 12),
        ("noise_shapes", 2, 2),
    ]
    page = call("reproduce", "--all", "--quick")
    assert page.code == 0
    assert "3 of 3 experiments come out as reported, in what is compared." in page.words
    monkeypatch.setitem(extended_range.REPORTED, ("count", "variant 1"), (2.2668, 2.3, 2.2668, 2.2668))
    page = call("reproduce", "--all", "--quick")
    assert page.code == 1
    assert "2 of 3 experiments come out as reported" in page.words
    assert page.out.count("DIFFERS") == 1


def test_what_was_only_shown_does_not_count_as_agreeing(call, monkeypatch):
    row = experiments.report.Row(("x",), (1.0, 1.0), (2.0, 3.0), loose=(0, 1))
    bare = experiments.report.Row(("x",), (1.0,))
    monkeypatch.setattr(experiments, "NAMES", ("survey_tallies", "noise_shapes", "extended_range"))
    for module, one in ((noise_shapes, row), (extended_range, bare)):
        table = experiments.report.Table("t", ("a",), ("b", "c")[: len(one.found)], [one], "s")
        monkeypatch.setattr(module, "result", lambda quick, table=table: experiments.report.Result([table]))
    shown, empty = call("reproduce", "noise_shapes"), call("reproduce", "extended_range")
    assert (shown.code, empty.code) == (0, 0)
    off = "nothing to compare; 2 numbers are only shown (~), and 2 of them differ by more than the tolerance"
    assert shown.words.endswith(f"noise_shapes: {off}")
    assert empty.words.endswith("extended_range: nothing to compare")
    assert not re.search("everything agrees|rows", shown.words + empty.words)
    data = call("reproduce", "noise_shapes", "--json").json
    assert (data["agrees"], data["verdict"]) == (None, off)
    assert [data[key] for key in ("compared", "only_shown", "only_shown_that_differ")] == [0, 2, 2]
    assert data["tables"][0]["rows"][0]["agrees"] == [None, None]
    page = call("reproduce", "--all", "--quick")
    assert page.code == 0
    assert "1 of 1 experiment come out as reported" in page.words
    assert "2 experiments with nothing to compare" in page.words
    assert "2 (2 differ)" in page.words
    claimed = experiments.report.Result([], {"the sky is blue": True})
    monkeypatch.setattr(noise_shapes, "result", lambda quick: claimed)
    page = call("reproduce", "--all", "--quick")
    assert "claims alone" in page.words
    assert "1 of 1 in claims alone; 1 experiment with nothing to compare" in page.words


# What is refused ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["naive-bayes"], "there is no experiment called 'naive-bayes'; did you mean naive_bayes"),
        (["tallies"], "did you mean survey_tallies?"),
        (["shapes"], "did you mean noise_shapes"),
        (["zzz"], "choose one of naive_bayes, database_size"),
        (["../bench"], "there is no experiment called '../bench'"),
        (["report"], "there is no experiment called 'report'"),
        (["survey_tallies", "--all"], "a name and --all were both given"),
        (["--quick"], "name an experiment, or give --all"),
        (["--plot", "a.png"], "name an experiment, or give --all"),
        (["--all", "--plot", "a.png"], "--runs and --plot are for one experiment"),
        (["--all", "--runs", "3"], "--runs and --plot are for one experiment"),
        (["survey_tallies", "--runs", "3"], "survey_tallies draws nothing at random"),
        (["naive_bayes", "--runs", "1"], "--runs is 1; a spread needs 2 runs or more."),
        (["naive_bayes", "--runs", "many"], "invalid value for '--runs'"),
        (["survey_tallies", "--plot", "a.png"], "survey_tallies has no picture"),
        (["noise_shapes", "--plot", "a.txt"], "a picture is written to a .png or .svg or .pdf file"),
        (["noise_shapes", "--plot", "nowhere/a.png"], "cannot be written"),
    ],
)
def test_refusals(call, words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = call("reproduce", *words)
    assert answer.code == 2
    assert sentence in answer.err
    assert list(tmp_path.iterdir()) == []


# Where the source is ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A copy of the package alone, as an installation has it."""
    site = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "src" / "noisewright", site / "noisewright", ignore=shutil.ignore_patterns("__pycache__"))
    return site


def plant(folder: Path, name: str = "noisewright", version: str = nw.__version__) -> Path:
    """A folder that looks like a copy of the source."""
    folder.mkdir()
    (folder / "pyproject.toml").write_text(f'[project]\nname = "{name}"\nversion = "{version}"\n')
    shutil.copytree(ROOT / "experiments", folder / "experiments", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def run_in(folder: Path, site: Path, *words: str) -> Answer:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "noisewright", *words], cwd=folder, capture_output=True, text=True, timeout=900,
        check=False, env=environment() | {"PYTHONPATH": str(site)},
    )  # fmt: skip
    return hold_to_the_rules(Answer(done.returncode, done.stdout, done.stderr), words)


@pytest.mark.parametrize("words", [("reproduce",), ("reproduce", "survey_tallies"), ("bench",)])
def test_without_the_source_it_says_so(installed, tmp_path, words):
    answer = run_in(tmp_path, installed, *words)
    assert answer.code == 2
    part = "bench" if words == ("bench",) else "experiments"
    assert answer.err.startswith(
        f"noisewright: {part} comes with the source of Noisewright, not with the installed package;"
    )
    assert os.sep not in answer.err


def test_a_copy_of_the_source_is_found_from_inside(installed, tmp_path):
    root = plant(tmp_path / "source")
    (root / "docs" / "deep").mkdir(parents=True)
    for folder in (root, root / "docs" / "deep"):
        data = run_in(folder, installed, "reproduce", "survey_tallies", "--quick", "--json")
        assert (data.code, data.json["agrees"]) == (0, True)


def test_the_source_of_another_version_is_refused(installed, tmp_path):
    answer = run_in(plant(tmp_path / "old", version="0.0.0"), installed, "reproduce")
    assert answer.code == 2
    assert f"experiments here is that of version 0.0.0, and version {nw.__version__} is installed" in answer.err


def test_experiments_of_another_project_are_not_run(installed, tmp_path):
    other = plant(tmp_path / "other", name="something-else")
    (other / "experiments" / "__init__.py").write_text("raise SystemExit('this was run')")
    for text in (None, "not [toml", 'project = "noisewright"'):
        if text is not None:
            (other / "pyproject.toml").write_text(text)
        answer = run_in(other, installed, "reproduce")
        assert answer.code == 2
        assert "comes with the source of Noisewright" in answer.err


def test_beside_an_editable_install_it_works_anywhere(shell, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = shell("reproduce", "survey_tallies", "--quick", "--json").json
    assert data["agrees"] is True
    assert str(ROOT) not in json.dumps(data)


# Side by side -------------------------------------------------------------------------------------------------------------


def test_bench_lists_its_rows(call):
    rows = call("bench", "--list", "--json").json["rows"]
    assert len(rows) > 40
    some = call("bench", "--list", "--only", "unary,Hadamard response", "--json").json["rows"]
    assert {row["name"] for row in some} == {
        row["name"] for row in rows if "unary" in row["name"] or "Hadamard" in row["name"]
    }
    whole = call("bench", "--list", "--only", "Hadamard response, a million", "--json").json["rows"]
    assert [row["name"] for row in whole] == ["Hadamard response, a million categories"]
    assert call("bench", "--list", "--only", "a million categories").out.startswith("Hadamard response, a million")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--only", "zzz"], "no row has a name with 'zzz' in it; noisewright bench --list shows their names."),
        (["--only", ""], "no row has a name with '' in it"),
        (["--only", "zzz,"], "no row has a name with 'zzz,' in it"),
        (["--rounds", "0"], "--rounds is 0; give 1 or more."),
    ],
)
def test_bench_refusals(call, words, sentence):
    answer = call("bench", *words)
    assert answer.code == 2
    assert sentence in answer.err


def test_bench_measures_a_row(call):
    data = call("bench", "--only", "check truncated geometric, 101", "--quick", "--json")
    assert data.code == 0
    [row] = data.json["rows"]
    assert row["result"] in ("met", "missed", "measured")
    assert row["ours"]["rate"] > 0
    assert data.json["quick"] is True
