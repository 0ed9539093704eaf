"""The naive Bayes experiment runs, and its robust findings come out with a few runs and a fixed seed."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from experiments import naive_bayes as experiment  # noqa: E402


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "experiments.naive_bayes", *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def test_it_prints_every_mechanism_beside_the_reported_numbers():
    done = run("--runs", "2", "--data", "iris")
    assert done.returncode == 0, done.stderr
    for name in ("none", *experiment.MECHANISMS):
        assert done.stdout.count(f" {name} ") >= 3
    assert "UNSAFE variable scale" in done.stdout
    assert "0.793 / 0.806" in done.stdout
    assert "recomputation" in done.stdout
    assert "Yeast are skipped" in done.stdout


def test_json_is_plain_data():
    done = run("--runs", "1", "--data", "two Gaussians", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {row["mechanism"] for row in found["rows"]} == {"none", *experiment.MECHANISMS}
    assert all(0 <= value <= 1 for row in found["rows"] for value in row["accuracy"])
    assert found["runs"] == 1


def test_missing_scikit_learn_is_said_in_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    tables, missing = experiment.datasets()
    assert [data.name for data in tables] == ["two Gaussians"]
    assert "scikit-learn, which is not installed" in missing[0]


@pytest.fixture(scope="module")
def iris():
    """Iris at epsilon 100 and 10 without the slow asymmetric noise: 30 runs, standard errors about 0.03."""
    data = next(table for table in experiment.datasets()[0] if table.name == "iris")
    kept = {name: made for name, made in experiment.MECHANISMS.items() if name != "asymmetric"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiment, "MECHANISMS", kept)
        return {epsilon: {row.mechanism: row for row in experiment.run(data, epsilon, 30, 7)} for epsilon in (10, 100)}


def test_01_ex1_the_baseline(iris):
    assert iris[100]["none"].accuracy[0] == pytest.approx(0.953, abs=0.025)


def test_01_ex1_noise_costs_and_budget_buys(iris):
    for name in ("adjacent", "metric", "snapped", "UNSAFE variable scale"):
        few, many = iris[10][name].accuracy[1], iris[100][name].accuracy[1]
        assert few + 0.05 < many < iris[100]["none"].accuracy[1]


def test_01_ex1_snapping_depends_on_the_floor(iris):
    """With a tiny floor snapping is far worse; with a sensible one it is competitive."""
    tiny, sensible = iris[100]["snapped"].accuracy
    assert sensible > tiny + 0.08
    assert iris[100]["adjacent"].accuracy[0] > tiny + 0.08
    assert abs(sensible - iris[100]["adjacent"].accuracy[1]) < 0.12
    gain = np.subtract(*iris[100]["adjacent"].accuracy[::-1])
    assert gain < sensible - tiny  # the floor hardly matters for range-adherent noise


def test_01_ex1_close_to_the_recomputed_numbers(iris):
    """Within 0.09 (three standard errors of 30 runs) of the recomputed accuracies, with the sensible floor."""
    for epsilon, rows in iris.items():
        for row in rows.values():
            assert row.accuracy[1] == pytest.approx(experiment.REPORTED["iris", epsilon][row.mechanism][1], abs=0.09)
