"""Boxes and masks of the owner's own: what they hide, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from picture_support import drawing

from noisewright.exceptions import DataError, FileFormatError, ParameterError
from noisewright.images import OwnPlaces, PixelMethod, Place, Region, in_frames, png_of
from noisewright.images.pipeline.finding import places_of

PICTURE = drawing(60, 40)


def test_boxes_are_hidden_one_by_one_and_a_file_without_an_entry_is_refused() -> None:
    own = OwnPlaces({"a.png": [Place.around(2, 3, 10, 8), Place.around(30, 20, 40, 40)], "none.png": []})
    hidden = own.cover(PICTURE, Path("folder/a.png")).hidden
    expected = np.zeros((40, 60), bool)
    expected[3:11, 2:12] = expected[20:, 30:] = True
    assert (hidden == expected).all()
    assert not own.cover(PICTURE, Path("none.png")).hidden.any()
    assert "pictures for which no box was given, as they are" in own.clear
    with pytest.raises(DataError, match="no box or mask for it"):
        own.cover(PICTURE, Path("b.png"))
    with pytest.raises(DataError, match="no box or mask for it"):
        own.cover(PICTURE)
    with pytest.raises(DataError, match="lies outside of its picture of 60 x 40"):
        OwnPlaces({"a.png": [Place.around(70, 3, 10, 8)]}).cover(PICTURE, Path("a.png"))


def test_nothing_is_shown_because_somebody_slipped(tmp_path: Path) -> None:
    """A picture that nobody looked at, a box without a pixel, a black mask, two masks: none of them means that all is public."""
    own = OwnPlaces({"unseen.png": None, "dust.png": [Place.around(0, 0, 20, 20), Place.around(30.6, 20.6, 0.2, 0.2)]})
    with pytest.raises(DataError, match="nobody has written boxes"):
        own.cover(PICTURE, Path("unseen.png"))
    with pytest.raises(DataError, match="covers no pixel"):
        own.cover(PICTURE, Path("dust.png"))
    assert places_of({"a.png": None, "b.png": []}, "boxes.json") == {"a.png": None, "b.png": []}
    mask = np.zeros((40, 60, 1), np.uint8)
    (tmp_path / "black.png").write_bytes(png_of(mask))
    (tmp_path / "two.png").write_bytes(png_of(mask))
    (tmp_path / "two.bmp").write_bytes(png_of(mask + 1))
    with pytest.raises(DataError, match="its mask is black"):
        OwnPlaces(masks=tmp_path).cover(PICTURE, Path("black.jpg"))
    with pytest.raises(DataError, match="several masks"):
        OwnPlaces(masks=tmp_path).cover(PICTURE, Path("two.jpg"))


def test_each_part_of_a_mask_is_a_place_of_its_own(tmp_path: Path) -> None:
    mask = np.zeros((40, 60, 1), np.uint8)
    mask[4:12, 5:20] = 255
    mask[8, 8] = 0
    mask[20:30, 40:50] = 1
    (tmp_path / "a.png").write_bytes(png_of(mask))
    (tmp_path / "small.png").write_bytes(png_of(mask[:20]))
    own = OwnPlaces(masks=tmp_path)
    cover = own.cover(PICTURE, Path("a.jpg"))
    assert len(cover.places) == 2
    assert (cover.hidden == (mask[..., 0] > 0)).all()
    with pytest.raises(DataError, match="no box or mask for it"):
        own.cover(PICTURE, Path("c.jpg"))
    with pytest.raises(DataError, match="its mask is not of its size"):
        own.cover(PICTURE, Path("small.jpg"))
    dots = np.zeros((80, 100, 1), np.uint8)
    dots[::2, ::2] = 255
    (tmp_path / "dots.png").write_bytes(png_of(dots))
    with pytest.raises(DataError, match="more than 1,000 parts"):
        own.cover(drawing(100, 80), Path("dots.png"))


def test_the_same_epsilon_is_for_each_place_whatever_its_size_and_grey_stays_grey() -> None:
    own = OwnPlaces({"a.png": [Place.around(0, 0, 10, 10), Place.around(20, 0, 40, 40)]})
    method = in_frames(PixelMethod("exponential", Fraction(30), {"block": 32}), own)
    (colour,), (grey,) = method.mechanisms(40, 60, 3), method.mechanisms(400, 10, 1)
    for made, parts in ((colour, 48), (grey, 16)):
        claim = made.certificate().verify()
        assert claim.startswith("epsilon = 30 per unit of discrete between two pictures of one size, ")
        assert f"over {parts} independent parts" in claim
    shown = method.obfuscated(PICTURE, np.random.default_rng(1), Path("a.png"))
    cells = shown[:40, 20:60].reshape(4, 10, 4, 10, 3)
    assert (cells == cells[:, :1, :, :1]).all()  # 4 x 4 blocks of a frame of 128 pixels
    again = method.obfuscated(PICTURE[..., :1].copy(), np.random.default_rng(1), Path("a.png"))
    assert again.shape == (40, 60, 1)


def test_hardly_any_noise_shows_the_places_as_blocks_of_their_frames() -> None:
    own = OwnPlaces({"a.png": [Place.around(8, 4, 32, 32)]})
    method = in_frames(PixelMethod("laplace", Fraction(10**12), {"block": 32}), own)
    shown = method.obfuscated(PICTURE, np.random.default_rng(1), Path("a.png"))
    means = PICTURE[4:36, 8:40].reshape(4, 8, 4, 8, 3).mean(axis=(1, 3), keepdims=True)
    assert np.abs(shown[4:36, 8:40].reshape(4, 8, 4, 8, 3) - means).max() <= 1


def test_methods_that_are_about_pixels_of_whole_pictures_are_not_for_places() -> None:
    own = OwnPlaces({})
    for method in (
        PixelMethod("laplace", Fraction(3), {"between": "pixels"}),
        PixelMethod("laplace", Fraction(3), {}, (Region(0, 0, 4, 4),)),
    ):
        with pytest.raises(ParameterError, match="leave out regions, masks and pixels"):
            in_frames(method, own)


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"a": [1, 2, 3, 4]},
        {"a": [[1, 2, 3]]},
        {"a": [[1, 2, 0, 4]]},
        {"a": [[1, 2, "3", 4]]},
        {"a": [[1, 2, True, 4]]},
        {"a": [[1, 2, 1e300, 4]]},
        {"a": [[1, 2, float("nan"), 4]]},
        {"a": {}},
    ],
)
def test_boxes_that_are_none_are_refused(document: Any) -> None:
    with pytest.raises(FileFormatError, match=r"boxes\.json is not a list of boxes"):
        places_of(document, "boxes.json")


def test_boxes_are_read_as_they_are_written() -> None:
    place = Place(50.5, 40, 21, 30, -15)
    assert places_of({"a.png": [place.box], "b.png": []}, "boxes.json") == {"a.png": [place], "b.png": []}
