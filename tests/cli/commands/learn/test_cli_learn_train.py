"""``noisewright learn TABLE --private COLUMN``: the page, the file, going on after Ctrl-C, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from cli_support import Answer, own_signals
from tests.claims.test_every_claim import remains

from noisewright.claims.readings import NO_EPSILON
from noisewright.learning import GAPPrivatiser

Cli = Callable[..., Answer]
FEW = ("--attackers", "nearest neighbours")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    ill = rng.integers(0, 2, 600)
    towns = np.where(rng.random(600) < 0.3, rng.integers(0, 2, 600), ill)
    rows = [
        f"{h:.3f},{'Ulm' if t else 'Bonn'},{'yes' if y else 'no'},{a}"
        for h, t, y, a in zip(
            1.7 + 0.1 * rng.normal(size=600) + 0.1 * ill, towns, ill, rng.integers(18, 80, 600), strict=True
        )
    ]
    (tmp_path / "people.csv").write_text("\n".join(["height,town,ill,age", *rows]) + "\n")
    for name, cell in (("odd", "unknown"), ("vast", "1e160")):
        (tmp_path / f"{name}.csv").write_text("\n".join(["height,town,ill,age", *rows, f"1.8,Ulm,no,{cell}"]) + "\n")
    return tmp_path


def test_a_curve_is_trained_and_written(call: Cli, here: Path) -> None:
    words = ("--private", "ill", "--distortion", "0.3,1/2", "--columns", "height,town", "--epochs", "3", "-o", "p.nwm")
    words += FEW
    answer = call("learn", "people.csv", *words, "--bounds", "height=1:2.5", "--json")
    found = answer.json
    assert [point["distortion"] for point in found["points"]] == [0.3, 0.5]
    assert (found["columns"], found["private"], found["rows"]) == (["height", "town"], ["ill"], 600)
    promise = found["points"][0]["guarantee"]
    assert (promise["kind"], promise["private"]) == ("context-aware", ["ill"])
    assert promise["rows"] in (80, 120)  # judged by attackers, or by the adversary of the training
    assert promise["adversaries"] == ["nearest neighbours", "the adversary of the training"]
    assert promise["accuracy"] >= found["points"][0]["accuracy_between"][0][1]
    assert found["labels"] == ["town"]
    assert [name for name, _ in found["points"][0]["by_column"]] == ["height", "town"]
    assert found["points"][0]["optimum"] == [None]
    made = GAPPrivatiser.load(here / "p.nwm").at(0.5)
    released = made.release({"height": np.full(50, 2.4), "town": np.array(["Ulm"] * 50)})
    assert released["height"].max() <= 2.5
    assert not list(here.glob("*.part"))
    again = call("learn", "people.csv", *words)
    assert again.code == 2
    assert "is there already" in again.err


def test_the_page_says_what_is_promised_and_what_the_file_tells(call: Cli, here: Path) -> None:
    del here
    words = ("--private", "ill", "--distortion", "0.2", "--columns", "town", "-o", "t.nwm")
    answer = call("learn", "train", "people.csv", *words)
    assert answer.code == 0
    assert "privatiser: table" in answer.words
    promise = GAPPrivatiser.load("t.nwm").at(0.2).guarantee
    assert remains(answer.words, {NO_EPSILON, str(promise), promise.in_words()}) == []
    assert "no epsilon and no differential privacy" in answer.words
    assert "Keep the file: it tells about the records that it was trained on" in answer.words
    assert "As labels town" in answer.words
    assert "perhaps more is guessed by others" in answer.words
    assert "with the best mechanism of this distortion on the counted joint law" in answer.words
    assert "nats found 0." in answer.words
    short = call("learn", "people.csv", "--private", "ill", "--distortion", "0.2", "-o", "n.nwm", "--epochs", "1", *FEW)
    assert "privatiser: NOT converged" in short.words


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("people.csv", "--private", "sick"), "no column 'sick'"),
        (("people.csv", "--private", "ill", "--columns", "weight"), "no column 'weight'"),
        (("people.csv", "--private", "ill", "--bounds", "height"), "COLUMN=LOW:HIGH"),
        (("people.csv", "--private", "ill", "--distortion", "-1"), "above 0"),
        (("people.csv", "--private", "ill", "--distortion", "9"), "tells nothing at all"),
        (("people.csv", "--private", "age"), "more than 50 classes"),
        (("people.csv", "--private", "ill", "--private", "ill"), "'ill' is named twice"),
        (("people.csv", "--private", "ill", "--columns", "ill,age"), "'ill' is to be hidden and changed at once"),
        (("people.csv", "--private", "ill", "--columns", "age,age"), "'age' is named twice"),
        (("people.csv", "--private", "ill", "--distortion", "0.1,,0.2"), "--distortion"),
        (("people.csv", "--private", "ill", "--attackers", "an oracle"), "no attacker 'an oracle'"),
        (("odd.csv", "--private", "ill"), "'age' holds numbers, and cells that are none"),
        (("vast.csv", "--private", "ill"), "'age' has numbers beyond 1e+100"),
        (("nobody.csv", "--private", "ill"), "nobody.csv"),
        (("people.csv", "--private", "ill", "-o", "p.bin"), ".nwm"),
        (("optimun", "x"), "Did you mean 'optimum'"),
    ],
)
def test_bad_words_are_answered_in_a_sentence(call: Cli, here: Path, words: tuple[str, ...], said: str) -> None:
    usual = [] if "--distortion" in words or words[0] == "optimun" else ["--distortion", "0.5"]
    usual += [] if "-o" in words or words[0] == "optimun" else ["-o", "out.nwm"]
    answer = call("learn", *words, *usual)
    assert answer.code == 2
    assert said in answer.err
    assert "Traceback" not in answer.err
    assert not list(here.glob("*.nwm*"))


STOPPED = """
import os, signal
from noisewright.learning import trainer
write = trainer.write_checkpoint
def written(*given):
    write(*given)
    os.kill(os.getpid(), signal.SIGINT)
trainer.write_checkpoint = written
from noisewright.__main__ import main
main()
"""


def test_a_training_that_was_stopped_goes_on_and_ends_alike(call: Cli, here: Path) -> None:
    words = ["learn", "people.csv", "--private", "ill", "--distortion", "0.5"]
    words += ["--columns", "height,town", "--epochs", "40", "--seed", "3", *FEW]
    part = here / "a.nwm.part"
    stopped = subprocess.run(
        [sys.executable, "-c", STOPPED, *words, "-o", "a.nwm"],
        cwd=here,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        preexec_fn=own_signals,
        timeout=900,
        check=False,
    )
    assert stopped.returncode == 130
    assert "a.nwm.part has what was learned: start again with the same words to go on." in stopped.stderr
    assert part.exists()
    assert not (here / "a.nwm").exists()
    assert [call(*words, "-o", out).code for out in ("a.nwm", "b.nwm")] == [0, 0]
    assert (here / "a.nwm").read_bytes() == (here / "b.nwm").read_bytes()
    assert not part.exists()
