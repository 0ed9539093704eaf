"""Small versions of the comparisons of range-adherent mechanisms, against their reported numbers."""

from __future__ import annotations

import numpy as np
import pytest

from experiments import (
    comparison,
    database_size,
    discretisation,
    epsilon_sweep,
    example_matrices,
    extended_range,
    survey_microdata,
)
from noisewright.design.utility import face_value_loss


@pytest.mark.parametrize("case", [("count", "0.2", 5), ("count", "0.5", 25), ("mean", "0.2", 2), ("mean", "0.5", 6)])
def test_01_ex2_database_size(case):
    rows = database_size.run(*case)
    assert len(rows) == 5
    for row in rows:
        assert row.found == pytest.approx(row.reported, abs=1e-4)


def test_01_ex2_differences_shrink_as_databases_grow():
    """What snapped Laplace noise costs more than variant 1, at face value."""
    errors = [[row.found[0] for row in database_size.run("mean", "0.5", size)] for size in (2, 6)]
    small, large = (rows[0] - rows[3] for rows in errors)
    assert small > 2 * large > 0


@pytest.mark.parametrize("case", list(discretisation.REPORTED))
def test_01_ex3_discretisation(case):
    rows = discretisation.run(*case)
    assert [row.found[0] for row in rows] == pytest.approx([row.reported[0] for row in rows], abs=1e-4)


def test_01_ex3_coarser_is_better_for_snapping_only_if_midpoints_are_inside():
    tiled = [row.found[0] for row in discretisation.run("snapped Laplace, tiled", "0.05")]
    ends = [row.found[0] for row in discretisation.run("snapped Laplace, ends on the range", "0.05")]
    blind = [row.found[0] for row in discretisation.run("uniform, tiled", "0.05")]
    assert tiled == sorted(tiled, reverse=True)
    assert ends[1:] == sorted(ends[1:])
    assert ends[-1] > ends[0]
    assert all(b < t for b, t in zip(blind, tiled, strict=True))


@pytest.mark.parametrize("case", [("mean", "1"), ("count", "0.1"), ("count", "0.2"), ("count", "0.5"), ("count", "2")])
def test_01_ex4_epsilon_sweep(case):
    rows = epsilon_sweep.run(*case)
    assert [row.label[2] for row in rows] == [name for query, name in epsilon_sweep.REPORTED if query == case[0]]
    for row in rows:
        assert row.agrees, row
        tight = [i for i in range(4) if i not in row.loose]
        assert [row.found[i] for i in tight] == pytest.approx([row.reported[i] for i in tight], abs=1e-4)
        assert row.found[2] <= row.found[0] + 1e-12  # the best guess is no worse than the output itself


def test_01_ex4_who_wins():
    """Variant 1 has the least absolute error; on counts the geometric ties with it after remapping; and the correction."""
    found = {epsilon: {r.label[2]: r.found for r in epsilon_sweep.run("count", epsilon)} for epsilon in ("0.2", "0.5")}
    for rows in found.values():
        assert min(rows, key=lambda name: rows[name][0]) == "variant 1"
        assert rows["truncated geometric"][2] == pytest.approx(rows["variant 1"][2], abs=1e-9)
    assert found["0.2"]["variant 2"][0] < found["0.2"]["truncated geometric"][0]
    assert found["0.5"]["variant 2"][0] > found["0.5"]["truncated geometric"][0]


def test_01_ex5_extended_range():
    rows = {row.label: row for query in ("mean", "count") for row in extended_range.run(query, shaped=False)}
    for label, reported in extended_range.REPORTED.items():
        assert rows[label].found == pytest.approx(reported, abs=1e-4)
    for label in (("mean", "snapped Laplace"), ("count", "truncated geometric")):
        inside, beyond, guess, wide_guess = rows[label].found
        assert beyond > 1.5 * inside
        assert wide_guess == pytest.approx(guess, abs=1e-4)


@pytest.mark.parametrize("case", [("mean", "1"), ("count", "0.2"), ("count", "1")])
def test_01_ex6_survey_microdata(case):
    query, epsilon = case
    *published, designed = survey_microdata.run(query, epsilon, shaped=query == "count")
    for row in published:
        assert row.found[:2] == pytest.approx(row.reported[:2], abs=1e-4), row.label
        assert row.found[2] <= min(*row.found[:2], survey_microdata.blind(query)) + 1e-12
        assert designed.found[0] <= row.found[2] + 1e-9


def test_01_ex6_the_substitute_has_the_averages_of_the_survey():
    means, counts = survey_microdata.law("mean"), survey_microdata.law("count")
    assert means.sum() == pytest.approx(1)
    assert 1 + means @ np.arange(61) / 10 == pytest.approx(2.02, abs=0.01)
    assert counts @ np.arange(11) == pytest.approx(2.27)
    # Groups of ten drawn one by one: the same law, within six standard errors of 20,000 groups.
    drawn = np.random.default_rng(6).choice(7, size=(20_000, 10), p=survey_microdata.SIZES).sum(axis=1)
    shares = np.bincount(drawn, minlength=61) / 20_000
    assert np.abs(shares - means).max() < 6 * np.sqrt(0.25 / 20_000)


def test_01_ex7_example_matrices():
    matrix, value = example_matrices.run("variant 1")
    assert value == pytest.approx(6.363223, abs=1e-6)
    assert example_matrices.differences("variant 1", matrix) == [(2, 4)]  # the misprint, and nothing else
    matrix, value = example_matrices.run("variant 2")
    assert value == pytest.approx(6.828620, abs=1e-6)
    assert example_matrices.differences("variant 2", matrix) == []


def test_a_number_that_does_not_agree_is_a_failure(monkeypatch, capsys):
    wrong = {**extended_range.REPORTED, ("count", "variant 1"): (2.2668, 2.3, 2.2668, 2.2668)}
    monkeypatch.setattr(extended_range, "REPORTED", wrong)
    assert extended_range.main(["--quick"]) == 1
    assert "11 of 12 compared numbers agree" in capsys.readouterr().out
    monkeypatch.setitem(example_matrices.OBJECTIVES, "variant 1", 6.3)
    assert example_matrices.main([]) == 1


def test_mechanisms_of_the_comparison_keep_their_promises():
    """Every channel of both queries has at most the epsilon it was made for, in the metric of neighbours."""
    for query in ("mean", "count"):
        asked = comparison.answers(query, 3)
        for widened in (False, True):
            for name, build in comparison.mechanisms(query, 3, "0.7", widened=widened).items():
                channel = build()
                assert channel.epsilon(asked.metric).value <= 0.7 * (1 + 1e-9), name
                assert np.isfinite(face_value_loss(None, channel, "absolute"))
