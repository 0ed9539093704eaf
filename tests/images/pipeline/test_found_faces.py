"""Faces that are found: where they are, whatever their size and turn; and what becomes of pictures in which none is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from photo_support import EYES, astronaut, photo
from PIL import Image

from noisewright.exceptions import DataError, ParameterError, ResourceError
from noisewright.images import (
    FaceMethod,
    FoundFaces,
    KeptFaces,
    PixelMethod,
    Place,
    aligned_face,
    face_to_keep,
    find_faces,
    in_frames,
    landmarks_of,
    private_faces,
    read_picture,
    train_eigenfaces,
)
from noisewright.images.pictures import Picture
from noisewright.images.pipeline import detection as networks
from noisewright.images.pipeline import finding as hiding
from noisewright.images.pipeline.detection import EYES_AT

HEAD = (slice(17, 180), slice(160, 300))
"""Hair, ears and chin of the astronaut."""


def turned(degrees: float, side: int = 512) -> Picture:
    image = Image.fromarray(astronaut()).resize((side, side)).rotate(degrees, resample=Image.Resampling.BICUBIC)
    return np.asarray(image)


def test_the_face_of_a_photograph_is_found_and_the_head_is_covered() -> None:
    look = FoundFaces()
    ((face, place),) = look.found(astronaut())
    assert face.score > 0.9
    assert np.abs(face.points[:2] - EYES).max() < 5
    cover = look.cover(astronaut())
    assert cover.places == (place,)
    assert cover.hidden[HEAD].all()
    assert cover.hidden.mean() < 0.25


def test_landmarks_lie_on_the_face() -> None:
    face = find_faces(astronaut())[0]
    points = landmarks_of(astronaut(), face)
    assert points.shape == (468, 2)
    nose, chin, brow = points[1], points[152], points[10]
    assert np.abs(nose - (222, 127)).max() < 6
    assert brow[1] < EYES[0, 1] < nose[1] < chin[1]
    assert 165 < chin[1] < 185
    left, right = points[234], points[454]  # before the ears
    assert 160 < left[0] < 185
    assert 255 < right[0] < 285


@pytest.mark.parametrize("degrees", [0, 45, 90, 180, 270])
def test_a_face_is_found_whichever_way_it_is_turned(degrees: int) -> None:
    cover = FoundFaces(no_face="keep").cover(turned(degrees))
    head = np.zeros((512, 512, 3), np.uint8)
    head[40:175, 175:290] = 255
    inner = np.asarray(Image.fromarray(head).rotate(degrees))[..., 0] > 0
    assert cover.hidden[inner].mean() > 0.97


@pytest.mark.parametrize(("side", "x", "y"), [(256, 700, 500), (180, 900, 20), (180, 10, 700)])
def test_a_small_face_in_a_large_picture_is_found(side: int, x: int, y: int) -> None:
    scene = np.full((900, 1200, 3), 100, np.uint8)
    scene[y : y + side, x : x + side] = turned(0, side)
    best = FoundFaces().found(scene)[0][0]
    eyes = EYES * side / 512 + (x, y)
    assert best.score > 0.8
    assert np.abs(best.points[:2] - eyes).max() < 0.02 * side


def test_faces_that_touch_are_all_hidden() -> None:
    pair = np.concatenate([astronaut()[:220, 150:310], astronaut()[:220, 150:310]], axis=1)
    cover = FoundFaces().cover(pair)
    assert len(FoundFaces().found(pair)) >= 2
    assert len(cover.places) == 1  # their places overlap, so one draw reads both
    assert cover.hidden[30:170, 20:140].all()
    assert cover.hidden[30:170, 180:300].all()


def test_an_aligned_face_has_its_eyes_where_a_model_expects_them() -> None:
    for degrees in (0, 20, -35):
        picture = turned(degrees)
        cut = aligned_face(picture, find_faces(picture)[0], 96)
        again = find_faces(cut)[0].points[:2] / 96
        assert np.abs(again - EYES_AT).max() < 0.06


def test_a_picture_without_a_face_is_refused_unless_something_else_is_asked_for() -> None:
    grass = read_picture(photo("grass.png"))
    with pytest.raises(DataError, match="no face was found, so it is not shown"):
        FoundFaces().cover(grass)
    assert FoundFaces(no_face="whole").cover(grass).hidden.all()
    kept = FoundFaces(no_face="keep")
    assert not kept.cover(grass).hidden.any()
    assert "pictures in which no face was found, as they are" in kept.clear
    assert "pictures in which no face was found, as they are" not in FoundFaces().clear


def test_a_false_alarm_does_not_stand_for_a_face() -> None:
    rocket = read_picture(photo("rocket.jpg"))
    assert FoundFaces().found(rocket)
    with pytest.raises(DataError, match="no face was found for sure"):
        FoundFaces().cover(rocket)
    assert FoundFaces(no_face="whole").cover(rocket).hidden.all()
    assert 0 < FoundFaces(no_face="keep").cover(rocket).hidden.mean() < 0.1


def test_half_a_face_is_hidden_or_refused_and_never_shown() -> None:
    for start in (200, 225, 250):
        half = astronaut()[:300, start:]
        try:
            cover = FoundFaces().cover(half)
        except DataError:
            continue
        assert cover.hidden[60:160, : 290 - start].all()


def test_another_number_of_faces_than_was_said_is_refused() -> None:
    assert len(FoundFaces(expect=1).cover(astronaut()).places) == 1
    with pytest.raises(DataError, match="one face was found where 2 were expected"):
        FoundFaces(expect=2).cover(astronaut())


def test_a_face_to_keep_is_left_and_the_others_are_hidden() -> None:
    pair = np.concatenate([astronaut(), astronaut()], axis=1)
    look = FoundFaces(keep=KeptFaces({"a.png": [Place.around(155, 15, 150, 170)]}))
    cover = look.cover(pair, Path("a.png"))
    assert not cover.hidden[:, :512].any()
    assert cover.hidden[:, 512:][HEAD].all()
    assert look.cover(pair, Path("b.png")).hidden[HEAD].all()
    assert "faces that were kept as they are, on purpose" in look.clear


def test_a_face_is_kept_by_a_picture_of_it_and_no_other_is() -> None:
    cut = Image.fromarray(astronaut()[10:190, 150:310]).resize((200, 225))
    look = FoundFaces(keep=KeptFaces(faces=(face_to_keep(np.asarray(cut)),)))
    assert not look.cover(astronaut()).hidden.any()
    man = read_picture(photo("camera.png"))
    assert look.cover(man).hidden[127:192, 195:250].all()
    mirrored = np.ascontiguousarray(astronaut()[:, ::-1])
    assert look.cover(mirrored).hidden[HEAD[0], 212:352].all()  # in doubt, so hidden
    for bad, said in (
        (read_picture(photo("grass.png")), "no face was"),
        (np.hstack([astronaut()] * 2), "2 faces were"),
    ):
        with pytest.raises(DataError, match=f"shows one face, but {said} found"):
            face_to_keep(bad)


def test_somebody_close_to_a_face_to_keep_is_hidden() -> None:
    """A smaller face within the place of a face to keep: it is not kept along with it."""
    picture = astronaut().copy()
    child = np.asarray(Image.fromarray(astronaut()[20:190, 150:310]).resize((64, 68)))
    picture[128:196, 128:192] = child
    alone = FoundFaces().found(astronaut())[0][1]
    across, down = alone.to_frame([140, 180], [140, 184])
    assert ((across > 0) & (across < 1) & (down > 0) & (down < 1)).all()  # the child's face is within that place
    look = FoundFaces(keep=KeptFaces({"a.png": [Place.around(195, 60, 70, 66)]}))
    cover = look.cover(picture, Path("a.png"))
    assert cover.hidden[140:184, 140:180].all()
    assert not cover.hidden[60:110, 200:270].any()


def test_the_certificate_says_what_is_in_the_clear_and_how_much_one_face_costs() -> None:
    method = in_frames(PixelMethod("laplace", 40, {"block": 16}), FoundFaces(smallest=40))  # type: ignore[arg-type]
    (made,) = method.mechanisms(512, 512, 3)
    assert made.certificate().verify().startswith("epsilon = 40 per unit of discrete between two pictures")
    claim = method.certificate(512, 512, 3).verify()
    one = "two pictures that are alike outside of the hidden place"
    assert claim.startswith(f"epsilon = 40 per unit of discrete between {one}, over 192 independent parts")
    for told in (
        "everything outside of the hidden places, including parts of a head that reach out of its place",
        "how many places are hidden, where they are",
        "every face that was not found: those of less than 40 pixels were not looked for",
    ):
        assert told in claim
    shown = method.obfuscated(astronaut(), np.random.default_rng(1))
    hidden = FoundFaces(smallest=40).cover(astronaut()).hidden
    assert (shown[~hidden] == astronaut()[~hidden]).all()
    assert (shown[hidden] != astronaut()[hidden]).mean() > 0.98


def test_networks_that_are_not_here_are_told_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from resource_support import forget_places

    forget_places()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(ResourceError, match="noisewright images get"):
        FoundFaces()
    (tmp_path / "noisewright" / "networks").mkdir(parents=True)
    damaged = tmp_path / "noisewright" / "networks" / networks.NETWORKS["detector"].file
    damaged.write_bytes(b"another")
    with pytest.raises(ResourceError, match="noisewright images get"):
        FoundFaces()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"smallest": 2}, "the smallest face"),
        ({"sure": 1.5}, "between 0 and 1"),
        ({"no_face": "shrug"}, "no_face must be"),
        ({"expect": -1}, "expect is"),
        ({"margin": 0.1}, "margin is"),
    ],
)
def test_bad_searches_are_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        FoundFaces(**given)  # type: ignore[arg-type]


def test_an_outline_hides_the_head_and_leaves_what_is_beside_it() -> None:
    look = FoundFaces(outline=True)
    hidden, loose = look.cover(astronaut()).hidden, FoundFaces().cover(astronaut()).hidden
    assert hidden[60:175, 175:280].all()
    assert hidden[HEAD].mean() > 0.93  # the corners of that rectangle are background
    assert not (hidden & ~loose).any()
    assert hidden.sum() < 0.8 * loose.sum()
    assert not hidden[20:40, 130:150].any()
    assert "outlines" in look.clear
    assert "outlines" not in FoundFaces().clear


def test_a_face_is_hidden_where_the_outline_misses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from noisewright.images.pipeline import detection as outlines

    monkeypatch.setattr(outlines, "person_in", lambda frame: np.zeros(frame.shape[:2]))
    hidden = FoundFaces(outline=True).cover(astronaut()).hidden
    assert hidden[70:175, 175:275].all()


@pytest.mark.parametrize("outline", [False, True])
def test_a_model_draws_another_face_into_the_place(outline: bool) -> None:
    look = FoundFaces(aligned=True, outline=outline)
    method = in_frames(FaceMethod(private_faces(epsilon=100, unlike="draw")), look)
    one, other = (method.obfuscated(astronaut(), np.random.default_rng(seed)) for seed in (1, 2))
    hidden = look.cover(astronaut()).hidden
    for shown in (one, other):
        assert (shown[~hidden] == astronaut()[~hidden]).all()
        assert np.abs(shown[60:170, 170:280].astype(int) - astronaut()[60:170, 170:280]).mean() > 20
    assert np.abs(one[60:170, 170:280].astype(int) - other[60:170, 170:280]).mean() > 5
    (made,) = method.mechanisms(512, 512, 3)
    claim = made.certificate().verify()
    assert claim.startswith("epsilon = 100 per unit of")
    assert "every face that was not found" in claim


def test_no_pixel_of_a_face_gets_past_its_code() -> None:
    """Another face in the same place, and the same code drawn: the same picture comes out."""
    look = FoundFaces(aligned=True)
    cover = look.cover(astronaut())
    changed = astronaut().copy()
    changed[cover.hidden] = np.random.default_rng(1).integers(0, 256, (int(cover.hidden.sum()), 3))
    drawn = [np.random.default_rng(2).integers(0, 256, (48, 48, 3), dtype=np.uint8)]
    for blended in ("oval", "white"):
        assert (
            hiding.hidden(astronaut(), cover, drawn, blended) == hiding.hidden(changed, cover, drawn, blended)
        ).all()  # type: ignore[arg-type]


def test_a_model_of_faces_in_grey_or_on_grey_is_blended_in_an_oval(tmp_path: Path) -> None:
    faces = np.random.default_rng(1).integers(0, 200, (20, 16, 16, 1), dtype=np.uint8)
    model = train_eigenfaces(tmp_path / "grey.nwm", faces)
    method = in_frames(FaceMethod(private_faces(model, epsilon=100)), FoundFaces(aligned=True))
    assert method.blended == "oval"
    assert in_frames(FaceMethod(private_faces(epsilon=100)), FoundFaces()).blended == "white"
    assert method.obfuscated(astronaut()).shape == (512, 512, 3)
