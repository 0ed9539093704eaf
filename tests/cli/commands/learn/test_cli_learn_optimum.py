"""``noisewright learn optimum``: the page, the file, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from cli_support import Answer

import noisewright as nw
from noisewright.context_aware import FiniteGame, Joint
from noisewright.io.serialization import load_channel

Cli = Callable[..., Answer]
COUNTS = ",well,ill\nlow,30,10\nhigh,5,55\n"
SHARES = ",0,1\n0,0.1875,0.0625\n1,0.1875,0.5625\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "counts.csv").write_text(COUNTS)
    (tmp_path / "shares.csv").write_text(SHARES)
    return tmp_path


def test_the_page_says_what_is_reached_and_how_good_it_is(call: Cli, here: Path) -> None:
    answer = call("learn", "optimum", "shares.csv", "--distortion", "0.1")
    assert answer.code == 0
    assert "Guessed right 70% of the time; 62.5% without a release" in answer.words
    assert "Distortion 0.1 of 0.1 allowed" in answer.words
    assert "from a distortion of 0.25 on" in answer.words
    assert "it is not differential privacy" in answer.words
    told = answer.words.partition("Told at most ")[2].partition(" nats")[0]
    assert f"A release tells at most {told} nats about it" in answer.words  # the same digits twice
    assert "no other makes the adversary lose 0.000001 more" in answer.words


def test_json_and_the_file_hold_the_same_mechanism(call: Cli, here: Path) -> None:
    for file in ("best.json", "best.csv", "best.npz"):
        answer = call(
            "learn",
            "optimum",
            "counts.csv",
            "--distortion",
            "1/10",
            "--given",
            "xy",
            "--loss",
            "log",
            "-o",
            file,
            "--json",
        )
        found = answer.json
        channel = load_channel(here / file)
        assert channel.matrix.tolist() == found["matrix"]
        assert channel.inputs == (("low", "well"), ("low", "ill"), ("high", "well"), ("high", "ill"))
    law = Joint([[0.3, 0.1], [0.05, 0.55]])
    best = FiniteGame(law, given="xy").optimum("1/10", "log")
    assert found["accuracy"] == pytest.approx(float(best.accuracy), abs=1e-6) == pytest.approx(0.75, abs=1e-6)
    assert found["information"][0] == pytest.approx(best.information, abs=1e-6)
    assert found["gap"] < 1e-7
    assert found["guarantee"]["kind"] == "context-aware"
    assert found["distortion"] <= 0.1
    assert nw.audit(channel).value == float("inf")


def test_a_table_of_distortions_names_the_outputs(call: Cli, here: Path) -> None:
    (here / "costs.csv").write_text(",a,b,hidden\nlow,0,1,0.2\nhigh,1,0,0.2\n")
    found = call(
        "learn", "optimum", "counts.csv", "--distortion", "0.2", "--distance", "table:costs.csv", "--json"
    ).json
    assert found["outputs"] == ["a", "b", "hidden"]
    assert found["accuracy"] == pytest.approx(0.65)
    (here / "numbers.csv").write_text(",0,1\n0,0.4,0.1\n10,0.1,0.4\n")
    found = call(
        "learn",
        "optimum",
        "numbers.csv",
        "--distortion",
        "30",
        "--distance",
        "squared",
        "--ties",
        "information",
        "--json",
    ).json
    assert found["distortion"] <= 30
    assert 0.5 < found["accuracy"] < 0.8


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["none.csv", "--distortion", "1"], "there is no file none.csv"),
        (["shares.csv", "--distortion", "-1"], "0 or more"),
        (["shares.csv", "--distortion", "much"], "not a number"),
        (["shares.csv", "--distortion", "0.1", "--loss", "cubic"], "'zero-one', 'log', 'squared' or 'alpha:'"),
        (["shares.csv", "--distortion", "0.1", "--given", "y"], "given must be 'x' or 'xy'"),
        (["counts.csv", "--distortion", "0.1", "--distance", "squared"], "numbers"),
        (["counts.csv", "--distortion", "0.1", "--distance", "table:shares.csv"], "rows must be the public values"),
        (["bad.csv", "--distortion", "0.1"], "bad.csv: the probabilities of a joint law must sum to 1"),
        (["negative.csv", "--distortion", "0.1"], "negative.csv: a joint law needs finite numbers"),
        (["shares.csv", "--distortion", "0.1", "-o", "best.txt"], ".json"),
        (["shares.csv"], "distortion"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(call: Cli, here: Path, words: list[str], sentence: str) -> None:
    (here / "bad.csv").write_text(",0,1\n0,0.5,0.6\n")
    (here / "negative.csv").write_text(",0,1\n0,-0.5,1.5\n")
    answer = call("learn", "optimum", *words)
    assert answer.code == 2
    assert sentence in " ".join(answer.err.split())
    assert not (here / "best.txt").exists()
