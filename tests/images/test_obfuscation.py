"""Folders of photographs: a few at a time, whatever their number; methods for regions; nothing left behind."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from picture_support import drawing, full_disk, small_picture

from noisewright.exceptions import FileFormatError, ParameterError
from noisewright.images import (
    FaceMethod,
    OwnPlaces,
    PixelMethod,
    Region,
    in_frames,
    obfuscate_picture,
    obfuscate_pictures,
    private_faces,
)
from noisewright.images.pictures import png_of, read_picture
from noisewright.images.pipeline import methods as obfuscation

METHOD = PixelMethod("laplace", Fraction(50), {"block": 2})


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    found = [tmp_path / f"{n}.png" for n in range(30)]
    for n, path in enumerate(found):
        path.write_bytes(small_picture(n))
    return found


def test_no_more_pictures_are_taken_than_keep_the_workers_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = 0
    monkeypatch.setattr(obfuscation, "_one", lambda job: job)

    def jobs() -> Iterator[Any]:
        nonlocal taken
        while taken < 1000:
            taken += 1
            yield taken

    ahead = [taken - done for done in obfuscation._ahead(jobs(), workers=3)]
    assert len(ahead) == 1000
    assert max(ahead) <= 2 * 3


def test_an_interrupt_leaves_nothing_behind(files: list[Path], tmp_path: Path) -> None:
    target = tmp_path / "out"

    def stop(done: int, total: int | None) -> None:
        if done == 5:
            raise KeyboardInterrupt

    before = sorted(tmp_path.iterdir())
    with pytest.raises(KeyboardInterrupt):
        obfuscate_pictures(METHOD, files, target, progress=stop)
    assert sorted(tmp_path.iterdir()) == before


def test_options_that_no_picture_could_have_are_refused_at_once() -> None:
    for kind, options, said in (
        ("exponential", {"quality": "best"}, "quality must be 'absolute' or 'squared', not 'best'"),
        ("windows", {"quality": "absolute"}, "quality must be 'clipped' or 'shifted', not 'absolute'"),
        ("laplace", {"blur": -1}, "blur is the sigma of a Gaussian"),
    ):
        with pytest.raises(ParameterError, match=said):
            PixelMethod(kind, Fraction(50), options)
    PixelMethod("windows", Fraction(50), {"window": 32, "levels": 256, "block": 40})  # whatever a small picture is


def test_results_are_in_the_order_of_the_files_and_nothing_is_overwritten(files: list[Path], tmp_path: Path) -> None:
    done = obfuscate_pictures(METHOD, files, tmp_path / "out", workers=4)
    assert [one.source for one in done] == files
    assert {one.target for one in done} == {tmp_path / "out" / f"picture-{n:06}.png" for n in range(1, 31)}
    with pytest.raises(FileFormatError, match="is there already"):
        obfuscate_pictures(METHOD, files, tmp_path / "out")
    with pytest.raises(FileFormatError, match="cannot be written"):
        obfuscate_pictures(METHOD, files, tmp_path / "none" / "out")
    with pytest.raises(ParameterError, match="workers"):
        obfuscate_pictures(METHOD, files, tmp_path / "more", workers=0)


def test_regions_share_epsilon_by_their_sizes_and_each_is_drawn_from_the_original() -> None:
    regions = (Region(0, 0, 4, 4), Region(8, 4, 4, 12))
    method = PixelMethod("laplace", Fraction(8), {"block": 2}, regions)
    made = method.mechanisms(32, 24, 3)
    assert [one.epsilon for one in made] == [2, 6]
    proved = method.certificate(32, 24, 3).verify()
    inside = "two pictures that are alike outside of the 2 regions"
    assert proved.startswith(f"epsilon = 8 per unit of discrete between {inside}, over 48 independent parts")
    assert "everything outside of the regions" in proved
    told = method.promise(32, 24, 3)
    assert (told.guarantee.epsilon, told.each) == (8, None)
    assert f"any {inside}" in told.words
    weak = PixelMethod("laplace", Fraction(10**9), {"block": 1}, regions)
    photo = drawing(24, 32)
    assert (weak.obfuscated(photo, np.random.default_rng(1)) == photo).all()
    with pytest.raises(ParameterError, match="ends beyond"):
        method.obfuscated(drawing(10, 10))
    with pytest.raises(ParameterError, match="not both"):
        PixelMethod("laplace", Fraction(8), {}, regions, np.ones((2, 2), bool))


@pytest.mark.parametrize("kind", ["laplace", "exponential", "windows"])
def test_pixels_are_counted_over_all_regions(kind: str) -> None:
    """Two regions of 16 and 48 pixels: epsilon is for 10 of the 64, in whichever region."""
    regions = (Region(0, 0, 4, 4), Region(8, 4, 4, 12))
    method = PixelMethod(kind, Fraction(8), {"block": 2}, regions, pixels=10)
    assert [one.epsilon for one in method.mechanisms(32, 24, 3)] == [Fraction(8, 10)] * 2
    told = method.promise(32, 24, 3)
    assert told.guarantee.bound(10) == pytest.approx(8)
    assert "alike outside of the 2 regions that differ in at most 10 pixels" in told.words
    assert method.certificate(32, 24, 3).verify().startswith("epsilon = 0.8 per unit of ")
    assert PixelMethod(kind, Fraction(8), {"block": 2}, regions, pixels=64).mechanisms(32, 24, 3)
    with pytest.raises(ParameterError, match="cannot be for 65 pixels where 64 are drawn"):
        PixelMethod(kind, Fraction(8), {"block": 2}, regions, pixels=65).mechanisms(32, 24, 3)
    with pytest.raises(ParameterError, match="cannot be for 769 pixels where 768 are drawn"):
        PixelMethod(kind, Fraction(8), {"block": 2}, pixels=769).mechanisms(32, 24, 3)
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(ParameterError, match="whole number from 1"):
            PixelMethod(kind, Fraction(8), pixels=wrong)  # type: ignore[arg-type]


def test_faces_in_regions_cost_epsilon_each_and_the_whole_their_sum() -> None:
    regions = (Region(0, 0, 20, 20), Region(20, 0, 20, 20), Region(0, 20, 9, 9))
    method = FaceMethod(private_faces(epsilon=60, unlike="draw"), regions)
    shown, places = method.drawn(drawing(40, 40), np.random.default_rng(1))
    assert (shown.shape, places) == ((40, 40, 3), 3)
    told = method.promise(40, 40, 3, places)
    assert told.each is not None
    assert (told.each.bound(1), told.guarantee.bound(3)) == (60, 180)
    assert "alike outside of the 3 regions change by a factor of at most e^180" in told.words
    one, three = FaceMethod(private_faces(epsilon=60), method.regions[:1]), method.certificate(40, 40, 3)
    (drawn,), (alone,) = (made.document["proof"]["parts"] for made in (three, one.certificate(40, 40, 3)))
    assert drawn["count"] == 3 * alone["count"]
    assert f"over {drawn['count']} independent parts" in three.verify()
    assert "epsilon = 60 for a person who is in at most 1 of the 3 draws, and epsilon = 180 for all" in three.verify()
    assert "a person who" not in one.certificate(40, 40, 3).verify()


def test_one_region_and_a_mask_are_not_called_the_picture() -> None:
    """The picture has 24 x 32 pixels; what is drawn of it has 4 x 4."""
    mask = np.zeros((32, 24), bool)
    mask[4:8, 4:8] = True
    for more, said in (
        ({"regions": (Region(4, 4, 4, 4),)}, "any two pictures that are alike outside of the region change"),
        ({"mask": mask}, "any two pictures that are alike outside of the mask change"),
        (
            {"regions": (Region(4, 4, 4, 4),), "pixels": 3},
            "alike outside of the region that differ in at most 3 pixels change",
        ),
    ):
        told = PixelMethod("laplace", Fraction(8), {"block": 2}, **more).promise(32, 24, 3).words  # type: ignore[arg-type]
        assert said in told
        assert "4 x 4" not in told


LARGE = PixelMethod("laplace", Fraction(50), {"block": 1})
"""Its certificates are smaller than what it makes of 150 x 120 pixels."""


@pytest.fixture
def shown(tmp_path: Path) -> Path:
    """A picture with its certificate, made for epsilon = 7, and files to replace it by."""
    for name, size in (("small", (30, 20)), ("large", (150, 120))):
        (tmp_path / f"{name}.jpg").write_bytes(png_of(drawing(*size)))
    (tmp_path / "out").mkdir()
    before = PixelMethod("laplace", Fraction(7), {"block": 1})
    obfuscate_picture(before, tmp_path / "large.jpg", tmp_path / "out" / "shown.png")
    return tmp_path / "out" / "shown.png"


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_full_disk_leaves_what_was_there_and_nothing_else(shown: Path, tmp_path: Path) -> None:
    before = content(shown.parent)
    picture, proof = before["shown.png"], before["shown.certificate-150x120.json"]
    for name, replace in (("shown.png", True), ("new.png", False)):
        with full_disk((len(picture) + len(proof)) // 2), pytest.raises(FileFormatError, match="cannot be written"):
            obfuscate_picture(LARGE, tmp_path / "large.jpg", shown.with_name(name), replace=replace)
        assert content(shown.parent) == before
    assert len(proof) < len(picture)  # so that it was the picture that did not fit


@pytest.mark.parametrize("step", [1, 2])
def test_no_certificate_stands_beside_a_picture_it_is_not_about(
    shown: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Whichever of the two files cannot be moved to its place, as by a signal in between."""
    old, moved, move = shown.read_bytes(), [], os.replace

    def stop(source: str, target: Path) -> None:
        moved.append(target)
        if len(moved) == step:
            raise KeyboardInterrupt
        move(source, target)

    monkeypatch.setattr(os, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        obfuscate_picture(LARGE, tmp_path / "large.jpg", shown, replace=True)
    assert (shown.read_bytes() == old) is (step == 1)
    assert list(content(shown.parent)) == ["shown.png"]


def test_a_picture_in_which_nothing_is_hidden_takes_the_old_certificate_along(shown: Path, tmp_path: Path) -> None:
    done = obfuscate_picture(
        in_frames(LARGE, OwnPlaces({"large.jpg": []})), tmp_path / "large.jpg", shown, replace=True
    )
    assert done.places == 0
    assert list(content(shown.parent)) == ["shown.png"]
    assert (read_picture(shown) == read_picture(tmp_path / "large.jpg")).all()


def test_a_picture_of_another_size_takes_the_old_certificate_along(shown: Path, tmp_path: Path) -> None:
    other = shown.with_name("shown.certificate-of-birth.json")
    other.write_text("of somebody")
    shown.unlink()
    with pytest.raises(FileFormatError, match=r"shown\.certificate-150x120\.json is there already"):
        obfuscate_picture(LARGE, tmp_path / "not there.jpg", shown)  # names are checked before anything is read
    obfuscate_picture(LARGE, tmp_path / "small.jpg", shown, replace=True)
    assert sorted(content(shown.parent)) == ["shown.certificate-30x20.json", other.name, "shown.png"]
    stated = json.loads(shown.with_name("shown.certificate-30x20.json").read_text())
    assert Fraction(stated["claim"]["epsilon"]) == 50
