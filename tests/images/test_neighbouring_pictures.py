"""Pictures and videos that are alike outside of the same hidden places are told apart by nothing but the draws.

The draws are replaced by a constant picture. Whatever else is published of two neighbours (pixels, certificates, names, sizes,
times of files), and whatever the command prints, must then be the same to the last byte. Models draw whatever they are given
here: that a picture is refused, because a model cannot draw it, is for its owner to see.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from picture_support import drawing

from noisewright.cli import run
from noisewright.images import (
    FaceMethod,
    OwnFrames,
    OwnPlaces,
    PixelMethod,
    Place,
    Video,
    hide_video,
    in_frames,
    obfuscate_pictures,
    png_of,
    private_faces,
)
from noisewright.images.base import PictureMechanism
from noisewright.images.blocks import BlockMechanism
from noisewright.images.faces.mechanism import PrivateFaces
from noisewright.images.pictures import Picture
from noisewright.images.pipeline.video import new_video

BOXES = [[4, 5, 16, 12], [30, 20, 20, 18], [70, 40, 12, 12]]
PLACES = [Place.around(*box) for box in BOXES]
METHODS = {
    "blocks": lambda: PixelMethod("laplace", Fraction(50), {"block": 32}),
    "levels": lambda: PixelMethod("exponential", Fraction(50), {"block": 32}),
    "faces": lambda: FaceMethod(private_faces(epsilon=50, unlike="draw")),
}


@pytest.fixture
def _constant_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(self: PictureMechanism, picture: Picture, bits: Any) -> Picture:
        assert picture.shape == self.shape
        return np.full(self.shape, 90, np.uint8)

    monkeypatch.setattr(BlockMechanism, "drawn", drawn)
    monkeypatch.setattr(PrivateFaces, "drawn", drawn)


def neighbours(seed: int, width: int = 96, height: int = 64) -> tuple[Picture, Picture]:
    """Two pictures that differ in every pixel of the places, and in no other."""
    rng = np.random.default_rng(seed)
    first = drawing(width, height)
    second = first.copy()
    for x, y, wide, high in BOXES:
        first[y : y + high, x : x + wide] = rng.integers(0, 256, 3)
        second[y : y + high, x : x + wide] = rng.integers(0, 256, (high, wide, 3))
    return first, second


def published(folder: Path) -> dict[str, tuple[bytes, float]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime) for path in sorted(folder.iterdir())}


@pytest.mark.usefixtures("_constant_draws")
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("seed", range(3))
def test_photographs(name: str, seed: int, tmp_path: Path) -> None:
    found = []
    for which, picture in enumerate(neighbours(seed)):
        source = tmp_path / f"in{which}"
        source.mkdir()
        (source / "a.png").write_bytes(png_of(picture))
        method = in_frames(METHODS[name](), OwnPlaces({"a.png": PLACES}))
        obfuscate_pictures(method, [source / "a.png"], tmp_path / f"out{which}", keep_names=True)
        found.append(published(tmp_path / f"out{which}"))
    assert found[0] == found[1]
    assert len(found[0]) == 2  # the picture and its certificate


@pytest.mark.usefixtures("_constant_draws")
@pytest.mark.parametrize("draw", ["once", "every"])
@pytest.mark.parametrize("name", ["blocks", "faces"])
def test_videos(name: str, draw: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbours are videos as they are decoded: compression mixes the pixels of places with others, and is not covered."""
    boxes = OwnFrames.of({"1-4": BOXES[:2], "5": [], "6-8": BOXES[1:]}, "boxes.json")
    both = [[hidden_frame(number, which, boxes) for number in range(8)] for which in (0, 1)]
    released = []
    for which, frames in enumerate(both):
        source, folder = tmp_path / f"film{which}" / "film.avi", tmp_path / f"out{which}"
        source.parent.mkdir()
        folder.mkdir()
        with new_video(source, Video(source, 96, 64, 10)) as write:
            for frame in frames:
                write(frame)
        monkeypatch.setattr(Video, "frames", lambda self, frames=frames: iter(frames))
        monkeypatch.setattr("noisewright.images.pipeline.video._check_written", lambda *_: None)
        hide_video(in_frames(METHODS[name](), boxes), source, folder / "film.avi", draw=draw)
        released.append({name: content for name, (content, _) in published(folder).items()})
    assert not all((one == other).all() for one, other in zip(*both, strict=True))
    assert released[0] == released[1]
    assert len(released[0]) == 2  # the video and its certificate


def hidden_frame(number: int, which: int, boxes: OwnFrames) -> Picture:
    """A frame of one of two neighbours, which differ in the places of that frame alone, and in every second frame."""
    first, second = neighbours(number)
    frame, changed = drawing(96, 64), second if which and number % 2 else first
    for _, place in boxes.in_each(8)[number]:
        rows, columns = place.bounds(64, 96)
        frame[rows, columns] = changed[rows, columns]
    return frame


OVERLAPPING = [[4, 5, 16, 12], [30, 20, 20, 18], [32, 22, 6, 6], [45, 30, 5, 8], [70, 40, 12, 12]]
"""The same pixels as the boxes, in more rectangles, which are three places."""


def command_words(folder: Path, kind: str, more: tuple[str, ...]) -> list[str]:
    """Options of a command that hides the boxes, and no other pixel."""
    if kind == "masks":
        mask = np.zeros((64, 96, 1), np.uint8)
        for x, y, wide, high in BOXES:
            mask[y : y + high, x : x + wide] = 255
        (folder / "masks").mkdir(exist_ok=True)
        (folder / "masks" / "a.png").write_bytes(png_of(mask))
        return ["--masks", str(folder / "masks")]
    if kind in ("boxes", "overlapping"):
        file = folder / "boxes.json"
        file.write_text(json.dumps({"a.png": BOXES if kind == "boxes" else OVERLAPPING}))
        return ["--boxes", str(file)]
    regions = [word for box in BOXES for word in ("--region", ",".join(map(str, box)))]
    return regions if "faces" in more else [*regions, "--block", "4"]


@pytest.mark.usefixtures("_constant_draws")
@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize("more", [("--method", "laplace"), ("--method", "faces", "--draw-unlike")])
@pytest.mark.parametrize("kind", ["boxes", "overlapping", "masks", "regions"])
def test_commands(kind: str, more: tuple[str, ...], as_json: bool, tmp_path: Path, capsys: Any) -> None:
    """Screen, JSON, errors, exit code and files, in the same folder for both neighbours."""
    found = []
    for which, picture in enumerate(neighbours(5)):
        (tmp_path / "a.png").write_bytes(png_of(picture))
        (tmp_path / "b.png").write_bytes(b"no picture")  # one that is refused, beside it
        out = tmp_path / "out"
        words = [
            "images",
            "obfuscate",
            str(tmp_path / "a.png"),
            str(tmp_path / "b.png"),
            "-o",
            str(out),
            "--epsilon",
            "40",
        ]
        capsys.readouterr()
        code = run([*words, *command_words(tmp_path, kind, more), *more, *(["--json"] if as_json else [])])
        printed = capsys.readouterr()
        found.append((code, printed.out, printed.err, published(out)))
        out.rename(tmp_path / f"out{which}")
    assert found[0] == found[1]
    code, _, _, files = found[0]
    assert (code, len(files)) == (1, 2)
    (stated,) = (json.loads(content) for name, (content, _) in files.items() if name.endswith(".json"))
    secret = stated["claim"]["secret"]
    assert (secret["count"], secret["inside"]) == (3, "region" if kind == "regions" else "place")
    draws = 1 if kind == "regions" and "faces" not in more else 3
    assert secret.get("draws", 1) == draws


@pytest.mark.usefixtures("_constant_draws")
@pytest.mark.parametrize("draw", ["once", "every"])
def test_the_command_for_videos(draw: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    listed = {"1-4": OVERLAPPING[:4], "5": [], "6-8": BOXES[1:]}
    (tmp_path / "boxes.json").write_text(json.dumps(listed))
    boxes, found = OwnFrames.of({"1-4": BOXES[:2], "5": [], "6-8": BOXES[1:]}, "boxes.json"), []
    source, out = tmp_path / "film.avi", tmp_path / "out"
    with new_video(source, Video(source, 96, 64, 10)) as write:
        for number in range(8):
            write(hidden_frame(number, 0, boxes))
    monkeypatch.setattr("noisewright.images.pipeline.video._check_written", lambda *_: None)
    for which in (0, 1):
        frames = [hidden_frame(number, which, boxes) for number in range(8)]
        monkeypatch.setattr(Video, "frames", lambda self, frames=frames: iter(frames))
        out.mkdir()
        words = ["images", "video", str(source), "-o", str(out / "film.avi"), "--epsilon", "40", "--method", "laplace"]
        capsys.readouterr()
        code = run([*words, "--boxes", str(tmp_path / "boxes.json"), "--draw", draw])
        printed = capsys.readouterr()
        files = {name: content for name, (content, _) in published(out).items()}
        found.append((code, printed.out, printed.err, files))
        out.rename(tmp_path / f"out{which}")
    assert found[0] == found[1]
    assert (found[0][0], len(found[0][3])) == (0, 2)
