"""From a survey's certificate to the shares, and what certificates say of their promise."""

from __future__ import annotations

import json

import pytest

import noisewright as nw
from noisewright.certificates.checker import checker
from noisewright.cli import run as command
from noisewright.design.closed_forms import optimal_response
from noisewright.estimation.likelihood import project
from noisewright.exceptions import ParameterError
from noisewright.io.serialization import save


def run(capsys, words):
    """The exit code of a command, and what it printed as JSON."""
    code = command(words.split())
    return code, json.loads(capsys.readouterr().out)


def test_the_certificate_of_a_device_is_enough_to_estimate():
    plan = nw.survey(epsilon=1, delta="0.1", respondents=1000)
    found = nw.estimate({"no": 600, "yes": 400}, plan.certificate(), method="inversion")
    assert found.unbiased == pytest.approx(list(plan.estimate({"no": 600, "yes": 400}).shares.values()), abs=1e-12)
    assert found.promise == "epsilon = 1 per unit of discrete, delta = 0.1"


def test_answers_in_a_file_are_estimated_with_the_devices_certificate(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = "survey --epsilon 1 --categories never,once,often --respondents 900 -o device.json --json"
    assert run(capsys, words)[0] == 0
    (tmp_path / "answers.csv").write_text("answer\n" + "never\n" * 500 + "once\n" * 250 + "often\n" * 150)
    code, document = run(capsys, "estimate answers.csv --mechanism device.json --method inversion --json")
    assert code == 0
    plan = nw.survey(epsilon=1, categories=["never", "once", "often"], respondents=900)
    assert document["secrets"] == ["never", "once", "often"]
    assert document["promise"] == "epsilon = 1 per unit of discrete"
    assert document["probabilities"] == pytest.approx(project(plan.device.estimate([500, 250, 150])).tolist(), abs=1e-9)


def test_a_delta_is_not_lost_between_a_certificate_and_the_estimate():
    mechanism = optimal_response(["a", "b", "c"], epsilon=1, delta="0.1")
    counts = {"a": 60, "b": 30, "c": 10}
    for thing in (mechanism, mechanism.certificate()):
        assert nw.estimate(counts, thing).promise == "epsilon = 1 per unit of discrete, delta = 0.1"


def test_truth_values_in_a_text_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    save(nw.randomised_response([True, False], epsilon=1).certificate(), tmp_path / "coin.json")
    (tmp_path / "answers.csv").write_text("v\ntrue\nFALSE\n true\nTrue\n")
    code, document = run(capsys, "estimate answers.csv --mechanism coin.json --json")
    assert (code, document["reports"]) == (0, 4)
    assert document["probabilities"][0] > 0.9
    (tmp_path / "answers.csv").write_text("v\ntrue\nmaybe\n")
    code, document = run(capsys, "estimate answers.csv --mechanism coin.json --json")
    assert code == 2
    assert document["error"].startswith("1 of 2 reports are not outputs")


def test_a_device_that_gives_truths_away_is_the_last_resort():
    """At this prevalence the best design gives no truth away, and two dice come near enough to it."""
    plan = nw.survey(epsilon=2, delta="0.3", prevalence="0.05", respondents=1000, allow_certain_disclosure=True)
    assert any(one.chances().discloses() for one in plan.devices)
    assert plan.device.instrument.name == "two dice"
    assert not plan.device.chances().discloses()
    rare = nw.survey(epsilon=2, delta="0.3", prevalence="0.01", respondents=1000, allow_certain_disclosure=True)
    assert rare.device.chances().discloses()


@pytest.mark.parametrize(
    "categories",
    [
        [1, "1"],
        ["yes", "yes "],
        ["", "x"],
        ["no", "yes\nAce: say"],
        ["no", "No"],
        ["once or  more", "once or more"],
        ["caf\u00e9", "cafe\u0301"],
        ["no", 'yes", whatever the truth is.'],
    ],
    ids=repr,
)
def test_answers_that_cannot_be_told_apart_when_spoken_are_refused(categories):
    with pytest.raises(ParameterError, match="said aloud"):
        nw.survey(epsilon=1, respondents=100, categories=categories)


def test_chances_with_more_digits_than_anybody_needs_are_not_looked_at():
    """Sixty rows at the largest precision would take minutes to compare."""
    document = nw.survey(epsilon=1, categories=60, respondents=10).certificate().document
    forged = json.loads(json.dumps(document))
    forged["proof"]["precision"] = 1 << 17
    forged["digest"] = checker.digest(forged)
    with pytest.raises(checker.NotProved, match="few enough pairs"):
        checker.check(forged)
    assert checker.check(document) == "epsilon = 1 per unit of discrete"
