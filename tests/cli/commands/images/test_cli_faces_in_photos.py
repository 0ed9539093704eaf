"""``noisewright images obfuscate --where faces``, with boxes and masks, and ``images find`` and ``images get``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from photo_support import astronaut, photo

from noisewright.images import Video, png_of, read_picture
from noisewright.images.pipeline.video import new_video

ONE = "two pictures that are alike outside of the hidden place"


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "collins.png").write_bytes(png_of(astronaut()))
    shutil.copy(photo("grass.png"), folder / "lawn.png")
    return folder


def test_faces_are_hidden_and_a_picture_without_one_is_not_shown(call: Any, photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("--where", "faces", "--epsilon", "100", "--method", "laplace", "--json")
    done = call("images", "obfuscate", photos, "-o", out, *words)
    assert done.code == 1
    assert [(Path(one["file"]).name, one["problem"].split(",")[0]) for one in done.json["problems"]] == [
        ("lawn.png", "no face was found")
    ]
    assert [path.name for path in out.glob("*.png")] == ["picture-000001.png"]
    assert "two pictures that are alike outside of the hidden place change" in done.json["promise"]
    before, after = astronaut(), read_picture(out / "picture-000001.png")
    changed = (before != after).any(axis=2)
    assert changed[17:180, 160:300].mean() > 0.95
    assert not changed[250:].any()
    proved = call("verify", out / "certificate-512x512.json")
    assert proved.code == 0
    assert "every face that was not found" in proved.words
    whole = call("images", "obfuscate", photos, "-o", tmp_path / "whole", *words, "--no-face", "whole").json
    assert (whole["pictures"], whole["problems"]) == (2, [])
    twice = call("images", "obfuscate", photos, "-o", tmp_path / "twice", *words, "--expect", "2")
    assert (twice.code, "expected" in twice.json["error"]) == (2, True)
    assert not (tmp_path / "twice").exists()


def test_nothing_is_proved_where_nothing_was_drawn(call: Any, photos: Path, tmp_path: Path) -> None:
    """A lawn is kept as it is, alone and beside a face of another size: no certificate is about it, and it is named."""
    lawn, words = photos / "lawn.png", ("--where", "faces", "--no-face", "keep", "--epsilon", "100")
    done = call("images", "obfuscate", lawn, "-o", tmp_path / "out.png", *words, "--json")
    assert (done.code, done.json["guarantee"], done.json["numerics"]) == (0, None, None)
    assert done.json["in_the_clear"] == ["everything"]
    assert (read_picture(tmp_path / "out.png") == read_picture(lawn)).all()
    assert list(tmp_path.glob("*certificate*")) == []
    page = call("images", "obfuscate", lawn, "-o", tmp_path / "folder", *words)
    assert "guarantee None: nothing was hidden" in page.words
    assert "nothing was hidden in lawn.png" in page.words
    assert "certificate" not in page.words
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["picture-000001.png"]
    (photos / "collins.png").write_bytes(png_of(np.ascontiguousarray(astronaut()[:300, 100:400])))
    (photos / "damaged.png").write_bytes(b"")
    sheet = tmp_path / "look.html"
    both = call("images", "obfuscate", photos, "-o", tmp_path / "both", *words, "--sheet", sheet, "--json")
    assert (both.code, both.json["pictures"], len(both.json["problems"])) == (1, 2, 1)
    assert [Path(one).name for one in both.json["not_protected"]] == ["lawn.png"]
    assert both.json["guarantee_of_each"] == f"epsilon = 100 per unit of discrete between {ONE}"
    assert [path.name for path in (tmp_path / "both").glob("*.json")] == ["certificate-300x300.json"]
    assert sheet.read_text(encoding="utf-8").count("nothing was hidden in it") == 1


def test_boxes_are_found_corrected_and_used(call: Any, photos: Path, tmp_path: Path) -> None:
    boxes, sheet = tmp_path / "boxes.json", tmp_path / "sheet.html"
    said = call("images", "find", photos, "-o", boxes, "--sheet", sheet, "--json").json
    assert (said["pictures"], said["faces"], said["without"]) == (2, 1, ["lawn.png"])
    assert "This page shows originals" in sheet.read_text(encoding="utf-8")
    found = json.loads(boxes.read_text(encoding="utf-8"))
    ((x, y, width, height, tilt),) = found["collins.png"]
    assert (found["lawn.png"], tilt) == (None, 0)
    words = ("--epsilon", "10", "--method", "exponential", "--keep-names")
    untouched = call("images", "obfuscate", photos, "-o", tmp_path / "open", "--boxes", boxes, *words, "--json")
    assert (untouched.code, untouched.json["pictures"]) == (1, 1)  # what nobody looked at is not shown
    assert "no face was found in it for sure" in untouched.json["problems"][0]["problem"]
    found["lawn.png"] = [[10, 10, 50, 40]]
    boxes.write_text(json.dumps({**found, "lawn.png": [[10, 10, 50, 40], [70, 10, 20, 20], [10, 70, 20, 20]]}))
    three = call("images", "obfuscate", photos, "-o", tmp_path / "three", "--boxes", boxes, *words, "--json").json
    two, person = "two pictures that are alike outside of the", "for a person who is in at most 1 of the 3 draws"
    stated = f"epsilon = 30 per unit of discrete between {two} 3 hidden places; epsilon = 10 {person}"
    assert three["guarantee"].endswith(stated)  # after that of the other size
    assert three["faces_at_most"] == 3
    assert three["guarantee_of_each"] == f"epsilon = 10 per unit of discrete between {ONE}"
    proved = call("verify", tmp_path / "three" / "certificate-512x512-grey.json").words
    assert f"epsilon 30 between any {two} 3 hidden places; epsilon = 10 {person}" in proved
    assert "of one size" not in proved
    boxes.write_text(json.dumps(found))
    assert call("images", "obfuscate", photos, "-o", tmp_path / "out", "--boxes", boxes, *words).code == 0
    for name, (left, top, right, low) in {
        "lawn.png": (10, 10, 60, 50),
        "collins.png": (round(x), 0, round(x + width), round(y + height)),
    }.items():
        changed = (read_picture(photos / name) != read_picture(tmp_path / "out" / name)).any(axis=2)
        assert changed[top:low, left:right].mean() > 0.97
        changed[top:low, left:right] = False
        assert not changed.any()
    boxes.write_text(json.dumps(found)[:-1] + ', "lawn.png": []}')
    twice = call("images", "obfuscate", photos, "-o", tmp_path / "twice", "--boxes", boxes, *words)
    assert (twice.code, "is there twice in a list" in twice.err) == (2, True)
    del found["lawn.png"]
    boxes.write_text(json.dumps(found))
    done = call("images", "obfuscate", photos, "-o", tmp_path / "less", "--boxes", boxes, *words, "--json")
    assert (done.code, done.json["pictures"], len(done.json["problems"])) == (1, 1, 1)


def test_faces_are_cut_out_to_train_models_on(call: Any, photos: Path, tmp_path: Path) -> None:
    crops = tmp_path / "crops"
    words = ("-o", tmp_path / "boxes.json", "--crops", crops, "--size", "48")
    assert call("images", "find", photos, *words, "--json").json["crops"] == 1
    assert [path.name for path in crops.iterdir()] == ["face-1.png"]
    assert read_picture(crops / "face-1.png").shape == (48, 48, 3)
    again = call("images", "find", photos, *words)
    assert (again.code, "boxes.json is there already; name another file, or say --replace" in again.err) == (2, True)
    again = call("images", "find", photos, *words, "--replace")
    assert (again.code, "crops is there already" in again.err) == (2, True)
    assert call("images", "find", photos, *words[:2], "--replace").code == 0


def test_a_face_in_a_box_to_keep_is_left(call: Any, photos: Path, tmp_path: Path) -> None:
    (tmp_path / "keep.json").write_text('{"collins.png": [[160, 15, 140, 165]]}')
    words = ("--where", "faces", "--epsilon", "100", "--keep", tmp_path / "keep.json", "--json")
    said = call("images", "obfuscate", photos / "collins.png", "-o", tmp_path / "out.png", *words).json
    assert (said["promise"][:4], said["in_the_clear"]) == ("None", ["everything"])
    assert (read_picture(tmp_path / "out.png") == read_picture(photos / "collins.png")).all()
    (tmp_path / "cut.png").write_bytes(png_of(np.ascontiguousarray(astronaut()[10:190, 150:310])))
    kept = ("--where", "faces", "--epsilon", "100", "--keep", tmp_path / "cut.png", "--keep", tmp_path / "keep.json")
    assert call("images", "obfuscate", photos / "collins.png", "-o", tmp_path / "again.png", *kept).code == 0
    assert (read_picture(tmp_path / "again.png") == astronaut()).all()
    nobody = call("images", "obfuscate", photos, "-o", tmp_path / "no", *kept[:-1], photos / "lawn.png")
    assert (nobody.code, "lawn.png: a picture of a face to keep shows one face" in nobody.err) == (2, True)


def test_masks_in_a_folder(call: Any, photos: Path, tmp_path: Path) -> None:
    masks = tmp_path / "masks"
    masks.mkdir()
    mask = np.zeros((512, 512, 1), np.uint8)
    mask[100:200, 300:350] = 255
    (masks / "lawn.png").write_bytes(png_of(mask))
    words = ("--masks", masks, "--epsilon", "5", "--method", "laplace", "--keep-names", "--json")
    done = call("images", "obfuscate", photos, "-o", tmp_path / "out", *words)
    assert (done.code, done.json["pictures"]) == (1, 1)
    changed = (read_picture(photos / "lawn.png") != read_picture(tmp_path / "out" / "lawn.png"))[..., 0]
    assert changed[mask[..., 0] > 0].mean() > 0.97
    assert not changed[mask[..., 0] == 0].any()
    (masks / "lawn.png").write_bytes(png_of(mask)[:-40])
    damaged = call("images", "obfuscate", photos / "lawn.png", "-o", tmp_path / "x.png", *words[:-1])
    assert (damaged.code, "lawn.png: its mask lawn.png: a picture is damaged" in damaged.err) == (2, True)


def test_a_strip_of_faces(call: Any, photos: Path, tmp_path: Path) -> None:
    words = ("--where", "faces", "--epsilon", "10,1e6", "--method", "laplace", "--json")
    said = call("images", "preview", photos / "collins.png", "-o", tmp_path / "strip.png", *words).json
    alike = [one["ssim"] for one in said["tried"]]
    assert 0.3 < alike[0] < alike[1]


def test_the_networks_are_here_and_named(call: Any) -> None:
    astronaut()
    found = {one["name"]: one["sha256"][:8] for one in call("images", "get", "--json").json["networks"]}
    assert found == {"detector": "bbff11ce", "landmarks": "1055cb9d", "people": "9ee168ec"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--where", "hands"), "--where must be 'whole' or 'faces'"),
        (("--keep", "keep.json"), "go with --where faces"),
        (("--no-face", "keep"), "go with --where faces"),
        (("--boxes", "b.json", "--expect", "1"), "go with --where faces"),
        (("--outline",), "go with --where faces"),
        (("--where", "faces", "--boxes", "b.json"), "so no face is looked for"),
        (("--where", "faces", "--region", "0,0,9,9"), "leave out regions, masks and pixels"),
        (("--where", "faces", "--pixels", "10"), "leave out regions, masks and pixels"),
        (("--where", "faces", "--no-face", "shrug"), "--no-face must be"),
        (("--boxes", "none.json"), "none.json cannot be read"),
        (("--masks", "nowhere"), "there is no folder nowhere"),
    ],
)
def test_bad_options_are_refused(call: Any, photos: Path, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = call("images", "obfuscate", photos, "-o", tmp_path / "out", "--epsilon", "5", *words)
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "out").exists()


def test_two_files_of_one_name_are_refused_where_boxes_go_by_names(call: Any, photos: Path, tmp_path: Path) -> None:
    (photos / "more").mkdir()
    shutil.copy(photos / "lawn.png", photos / "more" / "lawn.png")
    (tmp_path / "b.json").write_text("{}")
    done = call("images", "obfuscate", photos, "-o", tmp_path / "out", "--epsilon", "5", "--boxes", tmp_path / "b.json")
    assert (done.code, "two files have the same name" in done.err) == (2, True)
    assert call("images", "find", photos, "-o", tmp_path / "f.json").code == 2


def test_a_model_draws_other_faces(call: Any, photos: Path, tmp_path: Path) -> None:
    words = ("--where", "faces", "--method", "faces", "--outline", "--epsilon", "80", "--json")
    refused = call("images", "obfuscate", photos / "collins.png", "-o", tmp_path / "out.png", *words)
    far = "lies far from what the model drawn-faces.nwm (drawn by facesjs: nobody's) can draw"
    assert (refused.code, far in refused.json["error"], "say --draw-unlike" in refused.json["error"]) == (2, True, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["photos"]
    words = (*words, "--draw-unlike")
    said = call("images", "obfuscate", photos / "collins.png", "-o", tmp_path / "out.png", *words).json
    assert "the outlines of the hidden heads" in said["in_the_clear"]
    assert '68 people in "drawn-faces.nwm (drawn by facesjs: nobody\'s)"' in said["promise"]
    assert said["model"] == "drawn-faces.nwm (drawn by facesjs: nobody's)"
    changed = (read_picture(tmp_path / "out.png") != astronaut()).any(axis=2)
    assert changed[70:170, 175:275].mean() > 0.95
    assert not changed[250:].any()
    certificate = tmp_path / "out.certificate-512x512.json"
    assert call("verify", certificate).code == 0
    assert json.loads(certificate.read_text())["measured"]["source"] == said["model"]
    assert "far from" not in certificate.read_text()  # that is for the owner
    page = call(
        "images", "obfuscate", photos / "collins.png", "-o", tmp_path / "page.png", *words[:-2], "--draw-unlike"
    )
    assert "model drawn-faces.nwm (drawn by facesjs: nobody's); other people may be closer" in page.words


def test_a_video_is_hidden_and_what_a_face_costs_is_said(call: Any, tmp_path: Path) -> None:
    film = tmp_path / "film.avi"
    with new_video(film, Video(film, 160, 200, 10)) as write:
        for _ in range(3):
            write(np.ascontiguousarray(astronaut()[:200, 150:310]))
    words = ("--epsilon", "20", "--method", "exponential", "--block", "32", "--json")
    said = call("images", "video", film, "-o", tmp_path / "out.avi", *words, "--draw", "every").json
    assert (said["frames"], said["faces_followed"], said["draws"], said["epsilon_of_one_person"]) == (3, 1, 3, "60")
    assert said["claim"].startswith("epsilon = 60 per unit of discrete")
    proved = call("verify", tmp_path / "out.certificate.json")
    assert (proved.code, "where each face is in every frame" in proved.words) == (0, True)
    page = call("images", "video", film, "-o", tmp_path / "once.mp4", *words[:-1])
    one = "two pictures that are alike outside of the places of the face that is followed"
    assert f"faces followed 1, in 1 draw guarantee epsilon = 20 per unit of discrete between {one}" in page.words
    assert "one person epsilon = 20 (1 draw) if they are followed once" in page.words
    lawn = tmp_path / "lawn.avi"
    with new_video(lawn, Video(lawn, 96, 96, 10)) as write:
        for _ in range(3):
            write(np.full((96, 96, 3), (60, 120, 60), np.uint8))
    nobody = call("images", "video", lawn, "-o", tmp_path / "whole.avi", *words, "--no-face", "whole").json
    assert (nobody["faces_followed"], nobody["whole_frames"], nobody["draws"]) == (0, 3, 3)
    assert nobody["epsilon_of_one_person"] == "60"  # the detector may have missed somebody in all of them
    kept = call("images", "video", lawn, "-o", tmp_path / "kept.avi", *words, "--no-face", "keep").json
    assert (kept["epsilon_of_one_person"], kept["claim"], kept["in_the_clear"]) == (None, None, ["everything"])
    assert not (tmp_path / "kept.certificate.json").exists()
    page = call("images", "video", lawn, "-o", tmp_path / "page.avi", *words[:-1], "--no-face", "keep")
    assert "guarantee nothing was hidden in the video: there is no guarantee for it" in page.words
    done = call("images", "video", film, "-o", tmp_path / "out.avi", *words)
    assert (done.code, "is there already" in done.json["error"]) == (2, True)
    (tmp_path / "boxes.json").write_text('{"1-3": [[20, 10, 90, 90]]}')
    boxed = ("images", "video", film, "-o", tmp_path / "boxed.avi", "--boxes", tmp_path / "boxes.json")
    refused = call(*boxed, *words, "--no-face", "keep")
    assert (refused.code, "so no face is looked for" in refused.json["error"]) == (2, True)
    assert call(*boxed, *words).json["faces_followed"] == 1
