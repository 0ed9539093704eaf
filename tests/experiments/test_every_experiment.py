"""What holds for all experiments: one shape, one command, and numbers that come out as reported."""

from __future__ import annotations

import ast
import json
import math
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from experiment_support import quick_result, shares
from experiments.report import Result, Row, Table, Tally, allowance
from scipy import stats

import experiments
from experiments import report
from noisewright.cli import run

ROOT = Path(__file__).parents[2]
FOLDER = Path(experiments.__file__).parent
ALL = [experiments.load(name) for name in experiments.NAMES]
PICTURES = [e.name for e in ALL if e.figure is not None]


def test_every_module_that_has_a_result_is_listed():
    found = []
    for file in FOLDER.glob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert ("result" in names) == ("main" in names), file.name
        found += [file.stem] if "main" in names else []
    assert sorted(found) == sorted(experiments.NAMES)
    assert len(set(experiments.NAMES)) == len(experiments.NAMES)


@pytest.mark.parametrize("experiment", ALL, ids=lambda e: e.name)
def test_the_head_of_a_module_says_what_it_does_and_how_to_run_it(experiment):
    head = import_module(f"experiments.{experiment.name}").__doc__
    options = "[--quick]" + (" [--runs N]" if experiment.runs else "") + " [--json]"
    options += " [--plot FILE.png]" if experiment.figure else ""
    assert f"\nRun:  noisewright reproduce {experiment.name} {options}\n" in head
    assert head.startswith(f"{experiment.summary}.\n\n")
    assert 0 < experiment.seconds[0] <= experiment.seconds[1]


@pytest.mark.parametrize("name", [pytest.param(name, marks=shares(name)) for name in experiments.NAMES])
def test_a_quick_run_agrees_and_every_compared_number_counts(name):
    result = quick_result(name)
    assert result.agrees is not False
    assert result.tally.compared or result.findings or result.verdict.startswith("nothing to compare")
    for table in result.tables:
        assert table.rows
        assert table.source
        for row in table.rows:
            assert len(row.label) == len(table.columns)
            assert len(row.found) == len(table.names) == len(row.told)
            assert all(math.isfinite(number) for number in row.found)
        for row in table.rows:
            check_each_number_counts(table, row)


@pytest.mark.parametrize("name", [pytest.param(name, marks=shares(name)) for name in experiments.NAMES])
def test_pages_are_no_wider_than_a_page(name, monkeypatch, capsys):
    """Every table is laid out by the command with its real numbers."""
    found = quick_result(name)
    monkeypatch.setattr(import_module(f"experiments.{name}"), "result", lambda *_, **__: found)
    assert run(("reproduce", name, "--quick")) == 0
    page = capsys.readouterr()
    assert page.err == ""
    assert max(map(len, page.out.splitlines())) <= 100
    assert "…" not in page.out
    assert " ".join(page.out.split()).endswith(f"{name}: {found.verdict}")


def check_each_number_counts(table, row):
    """A determined number that is moved beyond what is allowed makes its row, and so the whole, disagree."""
    for i, told in enumerate(row.told):
        if told is None or i in row.loose:
            continue
        close = row.close[i] if isinstance(row.close, tuple) else row.close
        moved = (*row.found[:i], told + 1.01 * close + 1e-6, *row.found[i + 1 :])
        wrong = Row(row.label, moved, row.reported, row.loose, row.close)
        assert wrong.verdicts[i] is False
        assert Result([Table("", table.columns, table.names, [wrong], "")]).agrees is False


def told(good=True):
    """A result in place of one that takes its time."""
    return Result([Table("t", ("a",), ("b",), [Row(("x",), (1.0,), (1.0,))], "s")], {"it holds": good})


@pytest.mark.parametrize("name", experiments.NAMES)
def test_main_is_the_command_and_its_code_counts(name, monkeypatch, capsys):
    module = import_module(f"experiments.{name}")
    for good in (True, False):
        monkeypatch.setattr(module, "result", lambda quick, good=good, **_: told(good))
        assert module.main(["--quick", "--json"]) == (0 if good else 1)
        data = json.loads(capsys.readouterr().out)
        assert (data["name"], data["quick"], data["agrees"]) == (name, True, good)


@pytest.mark.parametrize("name", [pytest.param(name, marks=shares(name)) for name in PICTURES])
def test_figures_are_written(name, tmp_path, capsys, monkeypatch):
    path, module, found = tmp_path / "figure.png", import_module(f"experiments.{name}"), quick_result(name)
    monkeypatch.setattr(module, "result", lambda *_, **__: found)
    assert module.main(["--quick", "--json", "--plot", str(path)]) == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    assert json.loads(capsys.readouterr().out)["picture"] == str(path)


def test_one_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "experiments.survey_tallies", "--quick"],
        cwd=ROOT, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "0.6667 (0.6667)" in done.stdout
    assert "survey_tallies: 8 of 8 compared numbers agree" in done.stdout


def test_numbers_that_are_only_shown_are_not_counted_as_agreeing():
    """Of 12 shown numbers 10 are off; none of them was compared, so nothing may be said to agree."""
    row = Row(("x",), (1.0,) * 4, (1.0, 2.0, 3.0, 4.0), loose=(0, 1, 2, 3))
    near = Row(("y",), (1.0,) * 4, (1.0, 2.0, 3.0, 4.0), loose=(0, 1, 2, 3))
    most = Row(("z",), (1.0,) * 4, (5.0, 2.0, 3.0, 4.0), loose=(0, 1, 2, 3))
    found = Result([Table("t", ("a",), tuple("bcde"), [row, near, most], "s")])
    assert (found.agrees, found.tally) == (None, Tally(0, 0, 12, 10))
    assert found.verdict == (
        "nothing to compare; 12 numbers are only shown (~), and 10 of them differ by more than the tolerance"
    )
    claimed = Result(found.tables, {"it holds": True})
    assert claimed.agrees is True
    assert claimed.verdict.endswith("by more than the tolerance, and 1 of 1 claims hold")
    empty = Result([Table("t", ("a",), ("b",), [Row(("x",), (1.0,))], "s")])
    assert (empty.agrees, empty.verdict, str(empty.tables[0].tally)) == (
        None,
        "nothing to compare",
        "nothing to compare",
    )


def test_numbers_that_are_only_shown():
    assert Row(("x",), (1.0, 2.0), (1.0, 9.0), loose=(1,)).agrees
    assert not Row(("x",), (1.0, 2.0), (1.0, 9.0), loose=(0,)).agrees
    assert Row(("x",), (1.0, 2.0), (1.0, None)).agrees
    assert Row(("x",), (1.0,)).agrees
    assert Row(("x",), (1.0, 2.0), (1.4, 2.4), close=(0.5, 0.1)).verdicts == (True, False)
    assert not Row(("x",), (math.nan,), (1.0,)).agrees


def test_how_far_two_means_may_be_apart():
    """Student's t for a difference of two means: 20 runs on each side and a deviation of 2; and its rate of false alarms."""
    expected = stats.t.isf(report.FALSE_ALARMS / 2, 19) * 2 * math.sqrt(2 / 20)
    assert allowance(2.0, 20, 20) == pytest.approx(expected)
    rng = np.random.default_rng(11)
    # At a rate of 1/20: the deviation of the runs here is that of the report, and the other study is as large as one likes.
    # 20,000 trials; a share more than 5 standard errors off happens once in 1.7 million seeds.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "FALSE_ALARMS", 0.05)
        unit = allowance(1.0, 5, 10**12)
    drawn = rng.normal(size=(20_000, 5))
    alarms = np.mean(np.abs(drawn.mean(axis=1)) > unit * drawn.std(axis=1, ddof=1))
    assert alarms == pytest.approx(0.05, abs=5 * math.sqrt(0.05 * 0.95 / 20_000))
