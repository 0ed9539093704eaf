"""Surveys and attribute inference: the published numbers, and the same engine on a real table."""

from __future__ import annotations

import json

import numpy as np
import pytest

from experiments import attribute_inference, survey_tallies


@pytest.mark.parametrize("size", survey_tallies.SIZES)
def test_05_ex5_survey_tallies(size: int) -> None:
    rows = survey_tallies.run(size)
    assert [row.label[1] for row in rows] == ["randomised tally", "noisy tally"]
    for row in rows:
        assert row.found == pytest.approx(row.reported, abs=5e-5)
    randomised, noisy = (row.found for row in rows)
    assert randomised[0] < noisy[0]
    assert randomised[1] < noisy[1]


@pytest.mark.parametrize("power", list(attribute_inference.REPORTED))
def test_05_ex6_the_published_table(power: int) -> None:
    """All 64 numbers, to the four decimals that were printed."""
    found = attribute_inference.run(power, attribute_inference.scenarios())
    printed = [f"{number:.4f}" for number in found]
    assert printed == attribute_inference.REPORTED[power].split()


def test_05_ex6_the_ends_of_the_table() -> None:
    least, most = attribute_inference.ends(attribute_inference.scenarios())
    assert least == pytest.approx(attribute_inference.MINIMUM, abs=5e-5)
    assert most == pytest.approx((1.2542, 1, 1.2542, 1, 1, 1, 1, 1), abs=5e-5)
    for attack in attribute_inference.scenarios():
        assert attack.limits.full_leak == pytest.approx(1.2607, abs=1e-4)


def test_05_ex6_the_conclusions_on_both_data_sets() -> None:
    """At equal epsilon noise on rows tells less of both; B's count is useful and says nothing about the secret."""
    votes = attribute_inference.votes()
    assert votes is not None
    for pair in (attribute_inference.scenarios(), votes):
        for power in attribute_inference.REPORTED:
            a_loss, a_use, a_row_loss, a_row_use, b_loss, b_use, b_row_loss, b_row_use = attribute_inference.run(
                power, pair
            )
            assert a_row_loss <= a_loss + 1e-9
            assert a_row_use <= a_use + 1e-9
            assert b_row_use <= b_use + 1e-9
            assert (b_loss, b_row_loss) == pytest.approx((1, 1), abs=1e-9)


def test_the_election_study_is_what_it_should_be() -> None:
    votes = attribute_inference.votes()
    assert votes is not None
    party, education = votes
    assert sum(party.rows) == sum(education.rows) == 944
    assert party.rows == (200, 180, 108, 37, 94, 150, 175)
    assert party.correlation.secrets == (0, 1)
    assert party.correlation.prior == pytest.approx(np.array([551, 393]) / 944)
    found = attribute_inference.run(10, votes)
    assert found == pytest.approx((1.2100, 0.9091, 1.0000, 0.8146, 1.0, 0.9091, 1.0, 0.7373), abs=5e-5)
    assert party.limits.privacy_loss == pytest.approx((551 - 8 + 167) / 551)


def test_a_missing_package_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(attribute_inference, "find_spec", lambda name: None)
    assert attribute_inference.votes() is None
    assert attribute_inference.main(["--quick"]) == 0
    assert "Votes are skipped: pip install statsmodels" in capsys.readouterr().out


def test_a_wrong_number_would_be_seen(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = {**attribute_inference.REPORTED, 5: attribute_inference.REPORTED[5].replace("1.0452", "1.0458")}
    monkeypatch.setattr(attribute_inference, "REPORTED", wrong)
    assert attribute_inference.main(["--quick", "--json"]) == 1
    rows = json.loads(capsys.readouterr().out)["tables"][0]["rows"]
    assert [row["label"][1] for row in rows if False in row["agrees"]] == ["5"]
