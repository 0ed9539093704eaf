"""``noisewright attack faces``: the risk table of a folder and of made-up faces."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from noisewright.attacks import Trial
from noisewright.images import cartoon_faces


@pytest.fixture
def people(tmp_path: Path) -> Path:
    faces, who = cartoon_faces(10, seed=3)
    for number, (face, person) in enumerate(zip(faces, who, strict=True)):
        own = tmp_path / "people" / f"Zebulon-{person}"
        own.mkdir(parents=True, exist_ok=True)
        Image.fromarray(face).save(own / f"{number}.png")
    return tmp_path / "people"


def test_the_numbers_are_those_of_the_library_and_names_stay_at_home(
    call: Any, people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = tmp_path / "risk.png"
    words = (
        "attack",
        "faces",
        people,
        "--epsilon",
        "20,400",
        "--k",
        "2",
        "--copies",
        "3",
        "--components",
        "5",
        "--size",
        "24",
        "--pixels",
        "900",
    )
    said = call(*words, "--plot", picture, "--json").json
    trial = Trial.of(people, size=24, copies=3)
    assert (said["people"], said["chance"], said["private"]) == (5, 0.2, False)
    for row, epsilon in zip(said["noise_on_codes"], (20, 400), strict=True):
        risk = trial.noisy(epsilon, 5)  # type: ignore[arg-type]
        assert row["attacks"] == pytest.approx(dict(risk.attacks))
        assert (row["epsilon"], row["bound"], row["strongest"], row["risk"]) == (
            str(epsilon),
            pytest.approx(risk.bound),
            risk.strongest,
            risk.risk,
        )
        assert row["kept"].keys() == {"ssim", "mse"}
    for row, kind in zip(said["noise_on_pixels"], ("laplace", "exponential", "windows"), strict=True):
        risk = trial.pixels(kind, Fraction(900))
        assert (row["kind"], row["epsilon"], row["attacks"]) == (kind, "900", pytest.approx(dict(risk.attacks)))
        assert {"best", "best of two"} <= row["attacks"].keys()
    methods = [row["method"] for row in said["without_guarantee"]]
    assert methods[0] == "k-same, k = 2"
    assert {"box", "box, filled in", "blur of 2 pixels", "singular values"} <= set(methods)
    assert np.asarray(Image.open(picture)).std() > 10
    monkeypatch.setenv("COLUMNS", "80")
    page, whole = call(*words), call(*words, "--details")
    for shown in (page, whole):
        assert "Zebulon" not in shown.out
        assert max(map(len, shown.out.splitlines()[:-1])) <= 80
        assert "\u2026" not in shown.out  # no number is cut short
    assert len(page.out.splitlines()) <= 45
    assert "reverse" not in page.out
    assert "blocks of 8 pixels" in page.out
    assert "squared error" in whole.out
    risk = trial.noisy(400, 5)  # type: ignore[arg-type]
    assert f"{risk.attacks['reverse']:.3f}" in next(row for row in whole.out.splitlines() if row.startswith("400 "))
    assert "keep them as you keep the faces" in page.words


def test_a_bad_file_is_named_and_the_others_are_attacked(call: Any, people: Path) -> None:
    (people / "Zebulon-9" / "36.png").write_bytes(b"no picture")
    words = ("attack", "faces", people, "--epsilon", "50", "--pixels", "", "--k", "", "--copies", "1", "--size", "24")
    done = call(*words, "--json")
    assert (done.code, done.json["people"], len(done.json["noise_on_codes"])) == (1, 5, 1)
    assert [Path(one["file"]).name for one in done.json["problems"]] == ["36.png"]
    page = call(*words)
    assert (page.code, "36.png a file is no picture" in page.words, "Zebulon" in page.out) == (1, True, False)
    for path in sorted((people / "Zebulon-9").iterdir())[1:-1]:
        path.write_bytes(b"")
    few = call(*words)
    assert few.code == 2
    assert "two faces or more of each. 36.png: a file is no picture" in " ".join(few.err.split())


def test_what_cannot_be_attacked_is_refused_in_one_sentence(call: Any, people: Path, tmp_path: Path) -> None:
    for words in (
        (tmp_path / "gone",),
        (people, "--k", "two"),
        (people, "--k", "9"),
        (people, "--epsilon", "0"),
        (people, "--epsilon", "ten"),
        (people, "--pixels", "0"),
        (people, "--model", tmp_path / "gone.nwm"),
        (people, "--components", "500"),
        (people, "--plot", "risk.txt"),
    ):
        said = call("attack", "faces", *words)
        assert said.code == 2, words
        assert said.err.count("\n") <= 2, said.err
        assert "Traceback" not in said.err
