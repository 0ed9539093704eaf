"""``noisewright images train``: from folders and from the made-up faces; and what it refuses."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from cli_support import own_signals

from noisewright.exceptions import DataError, FileFormatError, ParameterError
from noisewright.images import PublicFaces, cartoon_faces, open_model, png_of, read_faces, train_model


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six people in folders of their own, two pictures each, 20 pixels wide and 24 high."""
    pictures, people = cartoon_faces(6, 2, size=24)
    for number, (picture, person) in enumerate(zip(pictures, people.tolist(), strict=True)):
        place = tmp_path / "faces" / f"p{person}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number:02}.png").write_bytes(png_of(np.ascontiguousarray(picture[:, 2:22])))
    return tmp_path / "faces"


def label(folder: Path, *columns: str) -> None:
    rows = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.png"))
    given = {"gender": lambda n: "fm"[n // 2 % 2], "yaw": lambda n: f"{n / 4:.2f}", "person": lambda n: f"q{n // 4}"}
    lines = [",".join([row, *(given[column](number) for column in columns)]) for number, row in enumerate(rows)]
    (folder / "labels.csv").write_text("\n".join([",".join(["file", *columns]), *lines]) + "\n")


def test_faces_are_read_from_folders_of_people_or_with_a_table(folder: Path) -> None:
    faces = read_faces(folder, size=16)
    assert faces.pictures.shape == (12, 16, 16, 3)
    assert list(faces.people or ()) == [f"p{person}" for person in range(6) for _ in range(2)]
    assert (dict(faces.attributes), faces.source) == ({}, "faces")
    label(folder, "person", "gender", "yaw")
    told = read_faces(folder, size=16, colours="grey")
    assert told.pictures.shape == (12, 16, 16, 1)
    assert list(told.people or ())[3:5] == ["q0", "q1"]
    assert told.attributes["gender"][:3] == ["f", "f", "m"]  # a category
    assert told.attributes["yaw"][:2] == [0.0, 0.25]  # a number
    assert told.digest != faces.digest
    assert PublicFaces(faces.pictures, faces.people).digest == faces.digest
    assert PublicFaces(faces.pictures[::-1], faces.people).digest != faces.digest


@pytest.mark.parametrize("model", ["eigenfaces", "autoencoder", "identities", "attgan"])
def test_every_kind_of_model_is_trained_from_a_folder(call: Any, folder: Path, tmp_path: Path, model: str) -> None:
    label(folder, "person", "gender", "yaw")
    out = tmp_path / "model.nwm"
    more = {"eigenfaces": ["--code", "5"], "attgan": ["--scale", "0.01", "--epochs", "2"]}
    words = more.get(model, ["--code", "6", "--epochs", "2"])
    said = call("images", "train", folder, "-o", out, "--model", model, "--size", "16", *words, "--json").json
    opened: Any = open_model(out)
    assert said["sha256"] == opened.resource.sha256
    assert (said["faces"], said["size"], said["elements"]) == (12, [16, 16, 3], len(opened.low))
    assert said["attributes"] == ([] if model == "eigenfaces" else ["gender", "yaw"])
    assert said["error_of_the_mean_face"] > 10
    assert not list(tmp_path.glob("*.part"))
    refused = call("images", "train", folder, "-o", out, "--model", model)
    assert refused.code != 0
    assert "is there already" in refused.err


def test_a_network_hides_faces_and_keeps_what_it_is_told_to(call: Any, folder: Path, tmp_path: Path) -> None:
    label(folder, "person", "gender")
    model, face = tmp_path / "model.nwm", tmp_path / "face.png"
    call(
        "images", "train", folder, "-o", model, "--model", "identities", "--size", "16", "--code", "6", "--epochs", "2"
    )
    face.write_bytes(png_of(read_faces(folder, size=16).pictures[3]))
    words = (
        "--method",
        "faces",
        "--model",
        model,
        "--components",
        "6",
        "--attribute",
        "gender",
        "--draw-unlike",
        "--json",
    )
    said = call("images", "obfuscate", face, "-o", tmp_path / "out.png", "--epsilon", "90", *words).json
    clear = "the gender of a face, as the model reads it or its owner states it"
    assert clear in said["in_the_clear"]
    assert clear in (tmp_path / "out.certificate-16x16.json").read_text()
    assert call("verify", tmp_path / "out.certificate-16x16.json").code == 0
    strip = call("images", "preview", face, "-o", tmp_path / "strip.png", "--epsilon", "50,500", *words)
    assert strip.code == 0
    for given, message in (
        (("--attribute", "age", "--method", "faces", "--model", model), "it knows gender"),
        (("--attribute", "gender", "--method", "laplace"), "--attribute is not for the method laplace"),
    ):
        refused = call("images", "obfuscate", face, "-o", tmp_path / "no.png", "--epsilon", "90", *given)
        assert refused.code != 0
        assert message in " ".join(refused.err.split())


def test_without_a_folder_the_made_up_faces_are_learned(call: Any, tmp_path: Path) -> None:
    page = call("images", "train", "-o", tmp_path / "sprites.nwm", "--code", "20", "--size", "24", "--grey")
    assert page.code == 0
    assert "1,080 faces of made-up faces drawn by facesjs, 24 x 24 pixels" in page.words
    assert "20 elements" in page.words
    assert open_model(tmp_path / "sprites.nwm").shape == (24, 24, 1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--model", "gan"], "eigenfaces"),
        (["--epochs", "3"], "epochs is not an option of the model eigenfaces"),
        (["--model", "autoencoder", "--scale", "1"], "scale is not an option of the model autoencoder"),
        (["--model", "identities", "--size", "17"], "such as 48, 64 or 128 pixels"),
        (["--model", "attgan", "--size", "20"], "32, 48, 64 or 128 pixels"),
        (["--model", "identities", "--size", "16", "--device", "abacus"], "there is no device 'abacus' here"),
        (["--model", "identities", "--size", "16", "--device", "meta"], "there is no device 'meta' here"),
        (["--model", "attgan", "--scale", "7", "--size", "16"], "from 1/256 to 1"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    call: Any, folder: Path, tmp_path: Path, words: list[str], message: str
) -> None:
    done = call("images", "train", folder, "-o", tmp_path / "no.nwm", *words)
    assert done.code != 0
    assert message in " ".join(done.err.split())
    assert not list(tmp_path.glob("no.nwm*"))


def test_bad_folders_are_refused_in_a_sentence(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="there is no folder"):
        read_faces(tmp_path / "none", size=16)
    with pytest.raises(ParameterError, match="from 1 to 1024"):
        read_faces(folder, size=0)
    for table, message in (
        ("name,gender\nx,f\n", "has a column 'file'"),
        ("file,gender\np0/00.png,f\n", "11 of the faces have none"),
        ("file,gender\np0/00.png\n", "a value in every column"),
        ('file,gender\n"p0/00.png,f\n', "no table in UTF-8"),
    ):
        (folder / "labels.csv").write_text(table)
        with pytest.raises(FileFormatError, match=message):
            read_faces(folder, size=16)
    (folder / "labels.csv").unlink()
    for path in folder.rglob("*.png"):
        path.write_bytes(b"no picture")
    with pytest.raises(DataError, match=r"not one face could be read; 00\.png: a file is no picture"):
        read_faces(folder, size=16)
    with pytest.raises(DataError, match="one person and one value"):
        PublicFaces(np.zeros((3, 8, 8, 3), np.uint8), [1, 2])
    with pytest.raises(DataError, match="one size"):
        PublicFaces(np.zeros((3, 8, 8, 2), np.uint8))
    with pytest.raises(ParameterError, match="model"):
        train_model("gan", tmp_path / "x.nwm", PublicFaces(np.zeros((3, 8, 8, 3), np.uint8)))


def test_files_that_cannot_be_read_are_named_and_the_others_learned_from(
    call: Any, folder: Path, tmp_path: Path
) -> None:
    """The labels of the others stay theirs."""
    label(folder, "person", "gender", "yaw")
    whole = read_faces(folder, size=16)
    (folder / "p0" / "01.png").write_bytes(b"no picture")
    (folder / "p3" / "06.png").write_bytes((folder / "p3" / "07.png").read_bytes()[:99])
    (folder / "p3" / "link.png").symlink_to(folder / "nowhere.png")
    faces, left = read_faces(folder, size=16), np.delete(np.arange(12), [1, 6])
    assert (faces.pictures == whole.pictures[left]).all()
    for name in ("gender", "yaw"):
        assert list(faces.attributes[name]) == [whole.attributes[name][n] for n in left]
    assert list(faces.people or ()) == [(whole.people or ())[n] for n in left]
    assert sorted(path.name for path, _ in faces.problems) == ["01.png", "06.png", "link.png"]
    done = call("images", "train", folder, "-o", tmp_path / "a.nwm", "--size", "16", "--code", "5", "--json")
    assert (done.code, done.json["faces"], len(done.json["problems"])) == (1, 10, 3)
    assert open_model(tmp_path / "a.nwm").shape == (16, 16, 3)
    page = call("images", "train", folder, "-o", tmp_path / "b.nwm", "--size", "16", "--code", "5")
    assert (page.code, "3 files could not be done:" in page.words) == (1, True)
    assert "06.png a picture is damaged or cut short" in page.words


def test_who_stops_a_training_is_told_how_to_go_on(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "model.nwm"
    words = ["images", "train", str(folder), "-o", str(out), "--model", "autoencoder", "--size", "16", "--code", "4"]
    words += ["--epochs", "9999"]
    run = subprocess.Popen(
        [sys.executable, "-m", "noisewright", *words],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=own_signals,  # noqa: PLW1509
    )
    part = tmp_path / "model.nwm.part"
    while run.poll() is None and not part.exists():
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=900)
    assert run.returncode == 128 + signal.SIGINT
    assert f"Stopped. {part} has what was learned: start again with the same words to go on." in said
    assert sorted(path.name for path in tmp_path.iterdir()) == [folder.name, part.name]


def test_a_checkpoint_that_was_cut_is_named_with_what_to_do(call: Any, folder: Path, tmp_path: Path) -> None:
    part = tmp_path / "model.nwm.part"
    part.write_bytes(b"\x89NWM\r\n\x1a\n and not much more")
    words = ("-o", tmp_path / "model.nwm", "--model", "autoencoder", "--size", "16", "--code", "4", "--epochs", "1")
    done = call("images", "train", folder, *words)
    assert done.code == 2
    assert "model.nwm.part is no checkpoint of a training, or is cut short; remove the file and train anew." in done.err
