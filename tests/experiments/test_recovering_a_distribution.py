"""The comparison of the geometric and randomised response comes out again, with a few runs and a fixed seed."""

from __future__ import annotations

import json
import math

import pytest

from experiments import recovering_a_distribution as experiment


@pytest.fixture(scope="module")
def cells():
    """All eight cells with ten runs each."""
    return [experiment.run(p, size, runs=10, seed=2) for p in experiment.POPULATIONS for size in experiment.SIZES]


def test_06_exp1_the_geometric_is_closer_in_every_cell(cells):
    assert len(cells) == 8
    for cell in cells:
        assert cell.means[0] < cell.means[2], cell
    for cell in cells:
        if cell.size == 100_000:
            assert cell.means[0] < {"binomial": 0.6, "4-point": 1.3}[cell.population]


def test_06_exp1_the_exact_maximum_is_no_less_likely_than_an_iteration(cells):
    assert all(cell.likelihood_gain >= -1e-12 for cell in cells)
    assert max(cell.likelihood_gain for cell in cells) > 1e-6  # 5000 steps are not enough for randomised response


def test_06_exp1_all_numbers_are_near_those_reported(cells):
    """Each of 96 means as near as Student's t allows, with one false alarm in 100,000 for each; some are far steadier."""
    for cell in cells:
        for found, told, close in zip(cell.means, cell.reported, cell.close, strict=True):
            assert found == pytest.approx(told, abs=close), cell
        if cell.population == "binomial" and cell.size >= 10_000:
            assert cell.means[0] == pytest.approx(cell.reported[0], rel=0.35)
            assert cell.means[10] == pytest.approx(cell.reported[10], rel=0.02)


def test_06_exp1_findings(cells):
    assert all(experiment.findings(cells).values())
    worse = [
        experiment.Cell(c.population, c.size, c.runs, c.means[2::-1] + c.means[3:], c.deviations, -1.0) for c in cells
    ]
    assert not any(list(experiment.findings(worse).values())[:3])


def test_it_prints_what_it_found_beside_what_was_reported(capsys):
    assert experiment.main(["--quick"]) == 0
    said = capsys.readouterr().out
    assert said.count("yes: ") == 4
    assert "NO:" not in said
    assert experiment.main(["--quick", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["agrees"]
    assert [table["names"] for table in data["tables"]] == [["100,000 users"]] * 2
    assert all(math.isfinite(row["found"][0]) for table in data["tables"] for row in table["rows"])
    assert [row["label"][0] for row in data["tables"][1]["rows"]] == list(experiment.MEASURES)


def test_a_finding_that_does_not_come_out_is_a_failure(monkeypatch, capsys):
    monkeypatch.setattr(experiment, "findings", lambda cells: {"the sky is green": False})
    assert experiment.main(["--quick"]) == 1
    assert "NO: the sky is green" in capsys.readouterr().out
