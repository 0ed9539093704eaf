"""``--plot`` without matplotlib: what else was asked for is written, or nothing is computed in vain; one sentence either way."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

MISSING = "pictures need matplotlib; install noisewright[plots]."
TABLE = "illness,visits\nflu,1\nnone,0\nflu,2\nnone,1\n"


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, where matplotlib is not installed."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "answers.csv").write_text("answer\n" + "yes\nno\nno\n" * 20)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("design optimal --metric line:0..3 --epsilon 1 -o kept.json", "kept.json"),
        ("survey --epsilon 1 --respondents 100 -o kept.json", "kept.json"),
        ("estimate answers.csv --mechanism response.json -o kept.csv", "kept.csv"),
    ],
)
def test_what_was_asked_for_beside_is_written(words, written, call, bare):
    call("design", "randomised-response", "--categories", "no,yes", "--epsilon", "1", "-o", "response.json")
    answer = call(*words.split(), "--plot", "picture.png")
    assert answer.code == 2
    assert f"{MISSING} Without a picture, {written} was written all the same." in answer.err
    assert (bare / written).stat().st_size > 0
    assert not (bare / "picture.png").exists()


@pytest.mark.parametrize(
    "words",
    [
        "compare --families geometric,response --epsilon 1 --size 3",
        "attack inference table.csv --sensitive illness --useful visits --value 2 --epsilon 1",
        "attack faces --epsilon 300",
    ],
)
def test_nothing_is_computed_in_vain(words, call, bare, monkeypatch):
    for work in ("attacks.face_risk.Trial.of", "cli.commands.attack_inference.read_columns"):
        monkeypatch.setattr(f"noisewright.{work}", lambda *_, **__: pytest.fail("computed in vain"))
    answer = call(*words.split(), "--plot", "picture.png")
    assert answer.code == 2
    assert MISSING in answer.err
