"""``noisewright images``: from photographs with all their metadata to pictures that may be shown."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from face_support import face_files
from picture_support import drawing, small_picture
from PIL import Image

from noisewright.images import chunks_of, read_picture


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    (folder / "more").mkdir(parents=True)
    exif = Image.Exif()
    exif[0x010E] = "Zylberstein at home"
    for name, size in (("smith.jpg", (48, 32)), ("more/jones.png", (48, 32)), ("more/brown.png", (40, 40))):
        Image.fromarray(drawing(*size)).save(folder / name, exif=exif)
    Image.fromarray(drawing(48, 32)[..., 0]).save(folder / "grey.png")
    return folder


def test_a_folder_is_obfuscated_and_its_certificates_proved(call: Any, photos: Path, tmp_path: Path) -> None:
    out, sheet = tmp_path / "out", tmp_path / "sheet.html"
    said = call(
        "images", "obfuscate", photos, "-o", out, "--epsilon", "100", "--block", "8", "--sheet", sheet, "--json"
    ).json
    assert (said["pictures"], said["problems"], said["numerics"]) == (4, [], "exact")
    assert said["promise"].count("any two pictures of one size") == 1  # for all sizes
    assert said["in_the_clear"] == ["how many pictures there are", "the size of pictures, and whether they are grey"]
    names = sorted(path.name for path in out.iterdir())
    assert names == [
        "certificate-40x40.json",
        "certificate-48x32-grey.json",
        "certificate-48x32.json",
        *(f"picture-{n:06}.png" for n in range(1, 5)),
    ]
    for path in out.glob("*.png"):
        content = path.read_bytes()
        assert chunks_of(content) == ["IHDR", "IDAT", "IEND"]
        assert b"Zylberstein" not in content
    assert len({path.stat().st_mtime_ns for path in out.iterdir()}) == 1
    for path in out.glob("*.json"):
        assert call("verify", path).code == 0
    shown = sheet.read_text(encoding="utf-8")
    assert "This page shows originals" in shown
    assert "smith.jpg" in shown
    assert shown.count("data:image/png") == 8


def test_bad_files_are_told_and_the_rest_is_done(call: Any, photos: Path, tmp_path: Path) -> None:
    (photos / "cut.png").write_bytes(small_picture(1, 40, 30)[:-40])
    (photos / "text.png").write_text("no picture")
    out = tmp_path / "out"
    done = call("images", "obfuscate", photos, "-o", out, "--epsilon", "100", "--method", "laplace", "--json")
    assert done.code == 1
    assert {Path(one["file"]).name: one["problem"].split(";")[0] for one in done.json["problems"]} == {
        "cut.png": "a picture is damaged or cut short",
        "text.png": "a file is no picture of a known format",
    }
    assert sorted(path.name for path in out.glob("*.png")) == [f"picture-{n:06}.png" for n in range(1, 5)]
    page = call("images", "obfuscate", photos, "-o", tmp_path / "again", "--epsilon", "100", "--method", "laplace")
    assert page.code == 1
    assert "2 files could not be done" in page.out
    nothing = call("images", "obfuscate", photos / "cut.png", "-o", tmp_path / "none", "--epsilon", "1")
    assert nothing.code == 2
    assert "not one picture could be done" in nothing.err
    assert not (tmp_path / "none").exists()


def test_names_follow_a_random_order(call: Any, tmp_path: Path) -> None:
    """Twenty pictures of different sizes: that their order stays has a chance below 1e-18."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for n in range(20):
        (folder / f"{n:02}.png").write_bytes(small_picture(n, 8 + n, 6))
    for words, kept in (((), False), (("--keep-names",), True)):
        out = tmp_path / f"out-{kept}"
        call("images", "obfuscate", folder, "-o", out, "--epsilon", "9", "--block", "4", "--method", "laplace", *words)
        widths = [read_picture(path).shape[1] for path in sorted(out.glob("*.png"))]
        assert sorted(widths) == list(range(8, 28))
        assert (widths == sorted(widths)) is kept
        assert min(path.name for path in out.glob("*.png")) == ("00.png" if kept else "picture-000001.png")
        named = call("verify", out)
        assert (named.code, f"one by one, such as {out / 'certificate-10x6.json'}" in named.err) == (2, True)
        proved = call("verify", out / "certificate-8x6.json")
        assert (proved.code, "the names of the files" in proved.words) == (0, kept)


def test_a_picture_that_is_named_twice_is_drawn_from_once(call: Any, photos: Path, tmp_path: Path) -> None:
    (photos / "again.png").symlink_to(photos / "more/jones.png")
    out = tmp_path / "out"
    given = (photos, photos / "smith.jpg", photos / "more")
    assert call("images", "obfuscate", *given, "-o", out, "--epsilon", "9", "--json").json["pictures"] == 4


TWO = "two pictures that are alike outside of the 2 regions"


def test_one_file_with_regions(call: Any, photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "shown.png"
    words = ("--region", "4,4,16,8", "--region", "24,8,8,16", "--block", "4", "--method", "exponential")
    said = call("images", "obfuscate", photos / "more/jones.png", "-o", out, "--epsilon", "30", *words, "--json").json
    assert "everything outside of the regions, and where they are" in said["in_the_clear"]
    before, after = read_picture(photos / "more/jones.png"), read_picture(out)
    marked = np.zeros((32, 48), bool)
    marked[4:12, 4:20] = marked[8:24, 24:32] = True
    assert (before[~marked] == after[~marked]).all()
    assert (before[marked] != after[marked]).mean() > 0.5
    assert (said["guarantee"], said["faces_at_most"]) == (f"epsilon = 30 per unit of discrete between {TWO}", None)
    assert f"any {TWO} change" in said["promise"]
    (certificate,) = tmp_path.glob("shown.certificate-*.json")
    proved = call("verify", certificate).words
    assert f"epsilon 30 between any {TWO}" in proved
    assert "everything outside of the regions" in proved
    again = ("images", "obfuscate", photos / "more/jones.png", "-o", out, "--epsilon", "40", "--method", "laplace")
    for taken in (out, certificate):  # the one that is left is refused as well
        refused = call(*again)
        assert (refused.code, f"{taken} is there already; name another file, or say --replace" in refused.err) == (
            2,
            True,
        )
        before = certificate.read_bytes()
        out.unlink(missing_ok=True)
    assert certificate.read_bytes() == before
    assert not out.exists()
    assert call(*again, "--replace").code == 0
    assert "Claim epsilon 40 between any two" in call("verify", certificate).words


def test_faces_in_several_regions_cost_epsilon_each(call: Any, photos: Path, tmp_path: Path) -> None:
    words = ("--region", "0,0,16,16", "--region", "16,16,16,16", "--method", "faces", "--epsilon", "60", "--json")
    words = (*words, "--draw-unlike")
    said = call("images", "obfuscate", photos / "more/jones.png", "-o", tmp_path / "shown.png", *words).json
    person = "epsilon = 60 for a person who is in at most 1 of the 2 draws, and epsilon = 120 for all draws together"
    assert said["guarantee"].endswith(f"between {TWO}; {person}")
    assert said["guarantee_of_each"].startswith("epsilon = 60 per unit of ")
    assert said["faces_at_most"] == 2
    assert f"any {TWO} change by a factor of at most e^120" in said["promise"]
    proved = call("verify", tmp_path / "shown.certificate-48x32.json")
    assert (proved.code, person in proved.words) == (0, True)


def test_a_mask_and_some_pixels(call: Any, photos: Path, tmp_path: Path) -> None:
    mask = np.zeros((32, 48), np.uint8)
    mask[10:20, 12:30] = 255
    mask[12, 14] = 0
    Image.fromarray(mask).save(tmp_path / "mask.png")
    out = tmp_path / "shown.png"
    words = ("--mask", tmp_path / "mask.png", "--pixels", "50", "--method", "laplace", "--block", "2")
    said = call("images", "obfuscate", photos / "more/jones.png", "-o", out, "--epsilon", "5", *words, "--json").json
    two = "two pictures that are alike outside of the mask"
    assert said["guarantee"] == f"epsilon = 0.1 per unit of 1/765 * manhattan between {two}"
    assert f"any {two} that differ in at most 50 pixels change by a factor of at most 149" in said["promise"]  # e^5
    many = ("--mask", tmp_path / "mask.png", "--pixels", "180", "--method", "laplace")  # 179 are marked
    beyond = call("images", "obfuscate", photos / "more/jones.png", "-o", tmp_path / "y.png", "--epsilon", "5", *many)
    assert (beyond.code, "for 180 pixels where 179 are drawn" in beyond.err) == (2, True)
    before, after = read_picture(photos / "more/jones.png"), read_picture(out)
    assert (before[mask == 0] == after[mask == 0]).all()
    assert (before[mask > 0] != after[mask > 0]).mean() > 0.5
    other = call("images", "obfuscate", photos / "more/brown.png", "-o", tmp_path / "x.png", "--epsilon", "5", *words)
    assert (other.code, "the mask is made for pictures of 48 x 32" in other.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--method", "magic"), "--method must be 'laplace', 'exponential', 'windows' or 'faces'"),
        (("--epsilon", "0"), "--epsilon must be greater than 0"),
        (("--method", "laplace", "--levels", "4"), "--levels is not for the method laplace"),
        (("--region", "1,2"), "a region is written x,y,width,height"),
        (("--region", "0,0,9,9", "--region", "5,5,9,9"), "two regions overlap"),
        (("--quality", "best"), "--quality must be 'clipped' or 'shifted'"),
        (
            ("--method", "exponential", "--quality", "clipped"),
            "--quality must be 'absolute' or 'squared', not 'clipped'",
        ),
        (("--sampler", "quick"), "--sampler must be 'auto', 'rejection' or 'enumeration'"),
        (("--sampler", "enumeration", "--window", "5"), "or say --sampler rejection."),
    ],
)
def test_bad_options_are_refused_before_anything_is_written(
    call: Any, photos: Path, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    epsilon = () if "--epsilon" in words else ("--epsilon", "5")
    done = call("images", "obfuscate", photos, "-o", tmp_path / "out", *epsilon, *words)
    assert done.code == 2
    assert said in done.err
    assert "not one picture could be done" not in done.err  # it is no matter of single files
    assert not (tmp_path / "out").exists()


def test_a_strip_over_epsilons(call: Any, photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "strip.png"
    words = ("--epsilon", "1,1000,1e7", "--method", "laplace", "--block", "2", "--json")
    said = call("images", "preview", photos / "more/brown.png", "-o", out, *words).json
    alike = [one["ssim"] for one in said["tried"]]
    assert max(alike[:2]) < 0.2  # noise alone, at 1 and at 1000 for the whole picture: 0.03, with a deviation of 0.011
    assert alike[2] > 0.5
    assert read_picture(out).shape[1] > 4 * 40
    again = ("images", "preview", photos / "more/brown.png", "-o", out, *words[:-1])
    refused = call(*again)
    assert (refused.code, "say --replace" in refused.err) == (2, True)
    assert "do not pass it on" in call(*again, "--replace").out


@pytest.fixture
def badges(tmp_path: Path) -> Path:
    folder = tmp_path / "badges"
    folder.mkdir()
    for number, content in enumerate([*face_files(3, size=48), *face_files(1, size=60)]):
        (folder / f"{number}.png").write_bytes(content)
    return folder


def test_faces_by_a_model_and_what_epsilon_means(call: Any, badges: Path, tmp_path: Path) -> None:
    words = ("images", "obfuscate", badges, "--method", "faces", "--epsilon", "50", "--draw-unlike", "--json")
    told = call(*words, "-o", tmp_path / "out")
    assert told.code == 1  # one has another size
    assert [Path(one["file"]).name for one in told.json["problems"]] == ["3.png"]
    assert "not the size of the model, of 48 x 48 pixels" in told.json["problems"][0]["problem"]
    assert told.json["problems"][0]["problem"].endswith("or say --resize.")
    said = call(*words, "-o", tmp_path / "all", "--resize", "--sheet", tmp_path / "sheet.html").json
    assert said["pictures"] == 4
    assert "Measured on public faces of the model: 68 people in " in said["promise"]
    assert said["model"] == "drawn-faces.nwm (drawn by facesjs: nobody's)"
    assert said["in_the_clear"] == ["how many pictures there are"]
    proved = call("verify", tmp_path / "all" / "certificate-48x48.json")
    assert proved.code == 0
    assert "was measured again, and is as stated" in proved.words
    assert (tmp_path / "sheet.html").read_text().count("data:image/png") == 8


def test_a_preview_of_a_face_says_what_each_epsilon_means(call: Any, badges: Path, tmp_path: Path) -> None:
    words = ("images", "preview", badges / "0.png", "-o", tmp_path / "strip.png", "--method", "faces", "--draw-unlike")
    tried = call(*words, "--epsilon", "20,100,500", "--json").json["tried"]
    rates = [float(one["measured"][-1].split("names ")[1].split(" %")[0]) for one in tried]
    assert rates == sorted(rates)
    assert rates[0] < 40
    assert rates[-1] > 90
    assert read_picture(tmp_path / "strip.png").shape[2] == 3
    page = call(
        "images",
        "preview",
        badges / "3.png",
        "-o",
        tmp_path / "again.png",
        "--method",
        "faces",
        "--draw-unlike",
        "--resize",
        "--epsilon",
        "1",
    )
    assert page.code == 2  # not even one component has little noise then
    assert "say --components 1 and" in page.err
    assert "=" not in page.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--method", "faces", "--block", "8"), "--block is not for the method faces"),
        (("--method", "faces", "--pixels", "8"), "--pixels is not for the method faces"),
        (("--method", "faces", "--mask", "m.png"), "--mask is not for the method faces"),
        (("--method", "laplace", "--model", "m.nwm"), "--model is not for the method laplace"),
        (("--method", "windows", "--resize"), "--resize is not for the method windows"),
        (("--method", "faces", "--model", "none.nwm"), "there is no file none.nwm"),
        (("--method", "faces", "--components", "999"), "--components is a whole number from 1 to the 56 elements"),
        (("--method", "portraits"), "--method"),
    ],
)
def test_options_of_other_methods_are_refused(
    call: Any, badges: Path, tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    done = call("images", "obfuscate", badges, "-o", tmp_path / "out", "--epsilon", "60", *words)
    assert done.code == 2
    assert says in done.err
    assert not (tmp_path / "out").exists()


def test_metadata_that_is_kept_on_purpose_is_said(call: Any, photos: Path, tmp_path: Path) -> None:
    words = ("--epsilon", "9", "--method", "laplace", "--keep-metadata", "--json")
    said = call("images", "obfuscate", photos / "smith.jpg", "-o", tmp_path / "one.png", *words).json
    told = "who took each picture, when, where and with what, as their files say (EXIF)"
    assert told in said["in_the_clear"]
    assert b"Zylberstein at home" in (tmp_path / "one.png").read_bytes()
    assert told in call("verify", tmp_path / "one.certificate-48x32.json").words
    assert call("images", "obfuscate", photos, "-o", tmp_path / "all", *words).code == 0
    assert sum(b"Zylberstein at home" in path.read_bytes() for path in (tmp_path / "all").glob("*.png")) == 3
    assert told in call("verify", tmp_path / "all" / "certificate-40x40.json").words


def test_a_damaged_mask_is_called_one(call: Any, photos: Path, tmp_path: Path) -> None:
    (tmp_path / "mask.png").write_bytes(small_picture(1, 48, 32)[:-40])
    words = ("-o", tmp_path / "x.png", "--epsilon", "5", "--mask", tmp_path / "mask.png")
    done = call("images", "obfuscate", photos / "more/jones.png", *words)
    assert (done.code, f"the mask {tmp_path / 'mask.png'}: a picture is damaged" in done.err) == (2, True)


def test_where_the_contact_sheet_fails_at_the_end_nothing_is_left(call: Any, photos: Path, tmp_path: Path) -> None:
    """The name is as long as a file's may be, so that no other can be beside it while it is written."""
    before = sorted(tmp_path.rglob("*"))
    for name in ("out", "out.png"):
        given = photos if name == "out" else photos / "smith.jpg"
        words = ("--epsilon", "9", "--method", "laplace", "--sheet", tmp_path / ("x" * 250 + ".html"))
        done = call("images", "obfuscate", given, "-o", tmp_path / name, *words)
        assert (done.code, "cannot be written: File name too long" in done.err) == (2, True)
        assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.skipif(not hasattr(signal, "SIGTERM"), reason="no such signal")
def test_a_signal_to_end_leaves_no_hidden_folder(tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    for n in range(40):
        (photos / f"{n}.png").write_bytes(small_picture(n, 600, 600))
    words = ["images", "obfuscate", photos, "-o", tmp_path / "out", "--epsilon", "9", "--block", "1", "--workers", "1"]
    run = subprocess.Popen([sys.executable, "-m", "noisewright", *map(str, words)], stderr=subprocess.PIPE)
    while run.poll() is None and not list(tmp_path.glob(".out.*/*.png")):
        time.sleep(0.02)
    run.send_signal(signal.SIGTERM)
    _, said = run.communicate(timeout=900)
    assert run.returncode == 128 + signal.SIGTERM
    assert b"Traceback" not in said
    assert [path.name for path in tmp_path.iterdir()] == ["photos"]


def test_what_is_not_looked_at_in_folders_is_said(
    call: Any, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.heic", "b.HEIC", "c.svg", "more/notes"):
        (photos / name).write_text("something else")
    (photos / "gone.png").symlink_to(tmp_path / "nowhere.png")
    (photos / "closed").mkdir()
    look, closed = os.scandir, {photos / "closed"}

    def scandir(path: Any = ".") -> Any:  # who runs the tests may be allowed to read everything
        if isinstance(path, (str, Path)) and Path(path) in closed:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return look(path)

    monkeypatch.setattr(os, "scandir", scandir)
    words = ("--epsilon", "9", "--method", "laplace")
    done = call("images", "obfuscate", photos, photos / "more", "-o", tmp_path / "out", *words, "--json")
    assert (done.code, done.json["pictures"]) == (1, 4)
    assert done.json["left_out"] == {".heic": 2, ".svg": 1, "no ending": 1}
    assert {Path(one["file"]).name: one["problem"] for one in done.json["problems"]} == {
        "closed": "a folder cannot be read: Permission denied; nothing in it was looked at.",
        "gone.png": "there is no file that can be read; a link may lead nowhere.",
    }
    page = call("images", "obfuscate", photos, "-o", tmp_path / "again", *words)
    assert page.code == 1
    assert "4 files of other kinds, not looked at: 2 .heic, 1 .svg, 1 no ending" in page.words
    assert "2 files could not be done" in page.words
    closed.add(photos)
    refused = call("images", "obfuscate", photos, "-o", tmp_path / "none", *words)
    assert (refused.code, f"the folder {photos} cannot be read: Permission denied." in refused.err) == (2, True)


def test_what_comes_out_is_not_put_where_it_would_be_mistaken(call: Any, photos: Path, tmp_path: Path) -> None:
    words = ("--epsilon", "9", "--method", "laplace")
    for given, output, said in (
        (photos / "smith.jpg", tmp_path / "x.jpg", "a picture comes out as .png"),
        (photos, photos / "out", "is in a folder of originals"),
        (photos, photos / "more" / "out", "is in a folder of originals"),
        (photos, tmp_path / "x.png", "several pictures are written into a new folder"),
    ):
        done = call("images", "obfuscate", given, "-o", output, *words)
        assert (done.code, said in done.err, output.exists()) == (2, True, False)
    assert call("images", "obfuscate", photos, "-o", tmp_path / "out", *words).code == 0
    sheet = tmp_path / "out" / "sheet.html"
    done = call("images", "obfuscate", photos, "-o", tmp_path / "more", *words, "--sheet", sheet)
    assert (done.code, "in a folder of pictures that may be passed on" in done.err, sheet.exists()) == (2, True, False)
    assert not (tmp_path / "more").exists()


def test_a_face_of_a_model_has_nothing_in_the_clear(call: Any, badges: Path, tmp_path: Path) -> None:
    words = ("--method", "faces", "--resize", "--draw-unlike", "--epsilon", "60")
    page = call("images", "obfuscate", badges / "3.png", "-o", tmp_path / "x.png", *words)
    assert "in the clear nothing" in page.words
