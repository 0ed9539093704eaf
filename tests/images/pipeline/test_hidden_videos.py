"""Videos: faces are held where the detector loses them, drawn once or in every frame, and all that is drawn is counted."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from photo_support import astronaut
from picture_support import full_disk
from PIL import Image, ImageFilter

from noisewright.exceptions import DataError, FileFormatError, ParameterError
from noisewright.images import (
    FaceMethod,
    FoundFaces,
    HiddenPlaces,
    KeptFaces,
    OwnFrames,
    OwnPlaces,
    PixelMethod,
    Place,
    Video,
    hide_video,
    in_frames,
    open_video,
    private_faces,
)
from noisewright.images.pictures import Picture
from noisewright.images.pipeline import video as videos
from noisewright.images.pipeline.detection import vision
from noisewright.images.pipeline.video import new_video

SIDE, FRAMES = 200, 10
LOST = (4, 5)
"""The picture of the face is blurred in these frames, as by a quick turn."""


ONE = "between two pictures that are alike outside of the places of the face that is followed"


def head(number: int) -> tuple[slice, slice]:
    """Where the face is in a frame: it moves to the right."""
    return slice(60, 110), slice(48 + 4 * number, 92 + 4 * number)


def scene(number: int) -> Picture:
    picture = np.full((SIDE, SIDE, 3), (130, 140, 120), np.uint8)
    face = Image.fromarray(astronaut()[10:190, 150:310]).resize((80, 90))
    if number in LOST:
        face = face.filter(ImageFilter.BoxBlur(14))
    picture[30:120, 30 + 4 * number : 110 + 4 * number] = np.asarray(face)
    return picture


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("film") / "film.avi"
    with new_video(path, Video(path, SIDE, SIDE, 10)) as write:
        for number in range(FRAMES):
            write(scene(number))
    return path


def method(kind: str = "laplace", epsilon: int = 50, **look: Any) -> HiddenPlaces:
    return in_frames(PixelMethod(kind, Fraction(epsilon), {"block": 32}), FoundFaces(**look))


def pictures(path: Path) -> list[Picture]:
    return list(open_video(path).frames())


def changes(film: Path, path: Path) -> list[np.ndarray]:
    """What changed in each frame by more than coding does."""
    return [np.abs(a.astype(int) - b).max(axis=2) > 60 for a, b in zip(pictures(film), pictures(path), strict=True)]


def test_the_detector_does_lose_the_face() -> None:
    assert not FoundFaces(no_face="keep").cover(scene(LOST[0])).hidden[head(LOST[0])].all()


def test_a_face_is_held_where_it_is_lost_and_drawn_once(film: Path, tmp_path: Path) -> None:
    done = hide_video(method(), film, tmp_path / "out.avi", rng=np.random.default_rng(1))
    assert (done.frames, done.tracks, done.draws, done.longest) == (FRAMES, 1, 1, 1)
    assert done.certificate.verify().startswith(f"epsilon = 50 per unit of discrete {ONE}, over 48 independent parts")
    assert "where each face is in every frame" in done.certificate.verify()
    assert (tmp_path / "out.certificate.json").read_text() == done.certificate.to_json()
    for number, changed in enumerate(changes(film, tmp_path / "out.avi")):
        assert changed[head(number)].mean() > 0.7
        assert changed[150:].mean() < 0.01
    first, last = pictures(tmp_path / "out.avi")[0], pictures(tmp_path / "out.avi")[-1]
    alike = np.abs(first[30:110, 40:100].astype(int) - last[30:110, 76:136]).mean()
    assert alike < 40  # the same blocks are seen, where the face is


def test_drawn_in_every_frame_the_losses_add_up(film: Path, tmp_path: Path) -> None:
    done = hide_video(method(), film, tmp_path / "out.avi", draw="every", rng=np.random.default_rng(1))
    assert (done.tracks, done.draws, done.longest) == (1, FRAMES, FRAMES)
    every = f"{ONE}; epsilon = 500 for a person who is in all 10 draws"
    assert done.certificate.verify().startswith(
        f"epsilon = 500 per unit of discrete {every}, over 480 independent parts"
    )


def test_frames_without_a_face_are_refused_hidden_or_kept(film: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"in \d of 10 frames \(frame 5 is the first\) no face was found for sure"):
        hide_video(method(), film, tmp_path / "out.avi", hold=0)
    assert list(tmp_path.iterdir()) == []
    done = hide_video(method(no_face="whole"), film, tmp_path / "whole.avi", hold=0, rng=np.random.default_rng(1))
    assert (done.draws, done.whole) == (done.tracks + len(LOST), len(LOST))
    assert done.longest == 1 + len(LOST)  # who is followed may be in the whole frames too
    secret = done.certificate.document["claim"]["secret"]
    assert secret == {
        "kind": "picture",
        "inside": "place",
        "count": FRAMES,
        "draws": done.draws,
        "touching": done.draws,
    }
    shown = changes(film, tmp_path / "whole.avi")
    assert shown[LOST[0]].mean() > 0.5
    assert shown[0][150:].mean() < 0.01
    hide_video(method(no_face="keep"), film, tmp_path / "keep.avi", hold=0)
    assert changes(film, tmp_path / "keep.avi")[LOST[0]][head(LOST[0])].mean() < 0.5


def test_a_face_to_keep_must_be_kept_in_every_frame(film: Path, tmp_path: Path) -> None:
    everywhere, beginning = Place.around(0, 0, SIDE, SIDE), Place.around(40, 40, 50, 80)
    kept = hide_video(method(keep=KeptFaces({"film.avi": [everywhere]})), film, tmp_path / "kept.avi")
    assert (kept.tracks, kept.draws, kept.certificate) == (0, 0, None)
    assert not (tmp_path / "kept.certificate.json").exists()
    assert max(changed.mean() for changed in changes(film, tmp_path / "kept.avi")) < 0.01
    hidden = hide_video(method(keep=KeptFaces({"film.avi": [beginning]})), film, tmp_path / "hidden.avi")
    assert hidden.tracks == 1


def test_all_draws_of_a_model_are_in_the_certificate(film: Path, tmp_path: Path) -> None:
    """For each unit of distance; distances add up over draws, so who is drawn n times is up to n units from somebody else."""
    faces = in_frames(FaceMethod(private_faces(epsilon=100, unlike="draw")), FoundFaces(aligned=True))
    done = hide_video(faces, film, tmp_path / "out.mp4", draw="every", rng=np.random.default_rng(1))
    assert done.draws > 1
    one = faces.mechanisms(SIDE, SIDE, 3)[0].certificate().document
    document = done.certificate.document
    (drawn,), (alone,) = document["proof"]["parts"], one["proof"]["parts"]
    assert drawn["count"] == done.draws * alone["count"]
    secret = {"inside": "track", "count": 1, "draws": done.draws, "touching": done.draws}
    assert document["claim"] == {**one["claim"], "secret": {**one["claim"]["secret"], **secret}}
    assert document["resources"] == one["resources"]
    assert "measured" not in document  # that was about one draw
    farthest = Fraction(alone["claim"]["epsilon"]) * 4096 * drawn["count"]
    assert farthest == 100 * done.draws
    assert f"over {drawn['count']} independent parts" in done.certificate.verify()
    told = f"epsilon = {100 * done.draws} for a person who is in all {done.draws} draws"
    assert told in done.certificate.verify()


def test_a_model_draws_one_face_for_the_whole_track(film: Path, tmp_path: Path) -> None:
    faces = in_frames(FaceMethod(private_faces(epsilon=100, unlike="draw")), FoundFaces(aligned=True))
    done = hide_video(faces, film, tmp_path / "out.mp4", rng=np.random.default_rng(1))
    assert (done.tracks, done.draws) == (1, 1)
    assert done.certificate.verify().startswith("epsilon = 100 per unit of")
    for number, changed in enumerate(changes(film, tmp_path / "out.mp4")):
        assert changed[head(number)].mean() > 0.2
    content = (tmp_path / "out.mp4").read_bytes()
    assert b"film" not in content


def test_bad_videos_are_refused_in_one_sentence(film: Path, tmp_path: Path) -> None:
    (tmp_path / "list.avi").write_text("#EXTM3U\n/etc/passwd\n")
    (tmp_path / "cut.avi").write_bytes(film.read_bytes()[:200])
    for name, said in (
        ("list.avi", "no video of a known format"),
        ("cut.avi", "damaged, cut short"),
        ("none.avi", "cannot be read"),
    ):
        with pytest.raises(DataError, match=said):
            hide_video(method(), tmp_path / name, tmp_path / "out.avi")
    assert not list(tmp_path.glob("*out*"))
    for target, said in (
        ("out.gif", r"ends with \.mp4 or \.avi"),
        ("cut.avi", "is there already"),
        ("a/b.avi", "no folder"),
    ):
        with pytest.raises(FileFormatError, match=said):
            hide_video(method(), film, tmp_path / target)
    for odd in (
        in_frames(PixelMethod("laplace", Fraction(1), {}), OwnPlaces()),
        method(expect=1),
        method(outline=True),
    ):
        with pytest.raises(ParameterError, match="in videos, faces"):
            hide_video(odd, film, tmp_path / "out.avi")
    (tmp_path / "new.certificate.json").write_text("of something else")
    with pytest.raises(FileFormatError, match=r"new\.certificate\.json is there already"):
        hide_video(method(), film, tmp_path / "new.avi")
    assert not (tmp_path / "new.avi").exists()
    with pytest.raises(ParameterError, match="draw must be"):
        hide_video(method(), film, tmp_path / "out.avi", draw="twice")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("suffix", "codec", "part"), [(".avi", "MJPG", 0.95), (".avi", "MJPG", 0.4), (".mkv", "mp4v", 0.7)]
)
def test_a_video_that_was_cut_is_refused_without_a_word_of_the_library(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], suffix: str, codec: str, part: float
) -> None:
    cv2, whole = vision(), tmp_path / f"whole{suffix}"
    writer = cv2.VideoWriter(str(whole), cv2.VideoWriter_fourcc(*codec), 10, (SIDE, SIDE))
    for _ in range(30):
        writer.write(scene(0))
    writer.release()
    assert len(pictures(whole)) == 30
    cut = tmp_path / f"cut{suffix}"
    cut.write_bytes(whole.read_bytes()[: int(part * whole.stat().st_size)])
    capfd.readouterr()
    with pytest.raises(DataError, match=r"damaged or cut short: \d+ of its (30|29) frames can be read"):
        hide_video(method(smallest=80), cut, tmp_path / "out.avi")
    assert capfd.readouterr() == ("", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == [cut.name, whole.name]


def test_boxes_by_frames_are_hidden_and_nothing_is_looked_for(film: Path, tmp_path: Path) -> None:
    listed = {"1-4": [[20, 30, 90, 90]], "5-8": [[40, 30, 90, 90], [150, 150, 30, 30]], "9-10": []}
    own = in_frames(PixelMethod("laplace", Fraction(50), {"block": 32}), OwnFrames.of(listed, "boxes.json"))
    done = hide_video(own, film, tmp_path / "out.avi", rng=np.random.default_rng(1))
    assert (done.frames, done.tracks, done.draws, done.longest) == (FRAMES, 3, 3, 1)
    assert done.certificate.document["claim"]["secret"]["count"] == 3
    person = "epsilon = 150 for a person who is in all 3 draws"  # who may be in all three boxes
    assert done.certificate.verify().startswith("epsilon = 150 per unit of discrete between two pictures")
    assert person in done.certificate.verify()
    for number, changed in enumerate(changes(film, tmp_path / "out.avi")):
        inside = np.zeros_like(changed)
        if number < 8:
            left = 20 if number < 4 else 40
            inside[30:120, left : left + 90] = True
            assert changed[inside].mean() > 0.3
        if 4 <= number < 8:
            inside[150:180, 150:180] = True
        assert changed[~inside].mean() < 0.02  # blocks of the coder reach a little beyond
    every = hide_video(own, film, tmp_path / "every.avi", draw="every", rng=np.random.default_rng(1))
    assert (every.draws, every.longest) == (12, 4)


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ({"1-9": []}, r"no boxes are listed for 1 of 10 frames \(frame 10 is the first\)"),
        ({"1-11": []}, "listed for frame 11, and the video has 10"),
        ({"1-10": [[500, 500, 9, 9]]}, "covers no pixel of frames of 200 x 200"),
    ],
)
def test_boxes_that_do_not_fit_a_video_are_refused(
    film: Path, tmp_path: Path, listed: dict[str, Any], said: str
) -> None:
    own = in_frames(PixelMethod("laplace", Fraction(50), {"block": 32}), OwnFrames.of(listed, "boxes.json"))
    with pytest.raises(DataError, match=said):
        hide_video(own, film, tmp_path / "out.avi")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("key", ["0-4", "4-1", "film.avi", "1-", "-3", "1-2-3"])
def test_ranges_of_frames_are_written_in_one_way(key: str) -> None:
    with pytest.raises(FileFormatError, match="listed by frames"):
        OwnFrames.of({key: []}, "boxes.json")
    with pytest.raises(FileFormatError, match="listed by frames"):
        OwnFrames.of({"1": None}, "boxes.json")


@pytest.mark.parametrize("suffix", [".avi", ".mp4"])
def test_a_full_disk_leaves_no_video(film: Path, tmp_path: Path, suffix: str) -> None:
    own = in_frames(
        PixelMethod("laplace", Fraction(50), {"block": 32}), OwnFrames.of({"1-10": [[20, 30, 90, 90]]}, "b")
    )
    done = hide_video(own, film, tmp_path / f"whole{suffix}", rng=np.random.default_rng(1))
    size = done.target.stat().st_size
    before = sorted(tmp_path.iterdir())
    for free in (
        size * 6 // 10,
        size - 300,
    ):  # even where but the end of the last frame, or the list of them, has no room
        with full_disk(free), pytest.raises(FileFormatError, match="not all of its frames are in the file"):
            hide_video(own, film, tmp_path / f"out{suffix}", rng=np.random.default_rng(1))
    assert sorted(tmp_path.iterdir()) == before


def test_a_video_is_not_left_without_its_certificate(
    film: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> None:
        raise FileFormatError(f"{path} cannot be written: No space left on device.")

    monkeypatch.setattr(videos, "write_atomically", full)
    own = in_frames(
        PixelMethod("laplace", Fraction(50), {"block": 32}), OwnFrames.of({"1-10": [[20, 30, 90, 90]]}, "b")
    )
    with pytest.raises(FileFormatError, match="No space left"):
        hide_video(own, film, tmp_path / "out.avi")
    assert not list(tmp_path.iterdir())
