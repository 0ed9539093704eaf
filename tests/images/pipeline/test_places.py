"""Places of faces: frames and back, which pixel belongs to whom, and that nothing of a place gets past what was drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from picture_support import drawing

from noisewright.exceptions import DataError, ParameterError
from noisewright.images.pictures import filled
from noisewright.images.pipeline.finding import hidden
from noisewright.images.pipeline.geometry import GREY, MOST_PLACES, Cover, Place

HEIGHT, WIDTH = 40, 56
numbers = st.floats(-20, 70)
sides = st.floats(1, 60)
places = st.builds(Place, numbers, numbers, sides, sides, st.floats(-180, 180))


@given(places, st.floats(0, 1), st.floats(0, 1))
def test_the_way_into_a_frame_is_the_way_back(place: Place, across: float, down: float) -> None:
    there = place.to_frame(*place.to_picture(across, down))
    np.testing.assert_allclose(there, (across, down), atol=1e-9)


def test_an_upright_place_holds_the_pixels_of_its_rectangle_and_a_tilted_one_turns() -> None:
    marked = np.zeros((HEIGHT, WIDTH), bool)
    marked[5:15, 8:28] = True
    assert (Cover.of([Place.around(8, 5, 20, 10)], HEIGHT, WIDTH).hidden == marked).all()
    turned = Cover.of([Place(18, 10, 20, 10, 90)], HEIGHT, WIDTH).hidden
    assert (turned[0:20, 13:23]).all()
    assert turned.sum() == 200
    right = Place(0, 0, 2, 2, 90).to_picture(1.0, 0.5)  # to the right in the frame is down in the picture
    np.testing.assert_allclose(right, (0, 1), atol=1e-12)


@given(st.lists(places, min_size=1, max_size=4), st.integers(0, 2**32 - 1))
def test_what_comes_out_is_a_function_of_what_is_outside_and_of_what_was_drawn(given: list[Place], seed: int) -> None:
    """Any two pictures that differ in the places alone come out the same if the same is drawn, painted and blended."""
    rng = np.random.default_rng(seed)
    cover = Cover.of(given, HEIGHT, WIDTH)
    one, other = drawing(WIDTH, HEIGHT), drawing(WIDTH, HEIGHT)
    other[cover.hidden] = rng.integers(0, 256, (int(cover.hidden.sum()), 3))
    drawn = [rng.integers(0, 256, (6, 5, 3), dtype=np.uint8) for _ in cover.places]
    for blended in (None, "oval", "white"):
        shown = hidden(one, cover, drawn, blended)
        assert (shown == hidden(other, cover, drawn, blended)).all()
        assert (shown[~cover.hidden] == one[~cover.hidden]).all()


@given(st.lists(places, min_size=2, max_size=4), st.integers(0, 2**32 - 1))
def test_a_pixel_that_is_hidden_gets_into_one_frame_alone(given: list[Place], seed: int) -> None:
    rng = np.random.default_rng(seed)
    cover = Cover.of(given, HEIGHT, WIDTH)
    picture = drawing(WIDTH, HEIGHT)
    for number in range(len(cover.places)):
        changed = picture.copy()
        mine = cover.owner == number
        changed[mine] = rng.integers(0, 256, (int(mine.sum()), 3))
        for frame in set(range(len(cover.places))) - {number}:
            assert (cover.frame(picture, frame, (8, 8)) == cover.frame(changed, frame, (8, 8))).all()


@given(st.lists(places, min_size=1, max_size=6))
def test_rectangles_that_share_a_pixel_are_one_place(given: list[Place]) -> None:
    """The places are the connected groups of rectangles, and hide exactly what the rectangles hide together."""
    alone = [Cover.of([place], HEIGHT, WIDTH).hidden for place in given]
    cover = Cover.of(given, HEIGHT, WIDTH)
    assert (cover.hidden == np.any(alone, axis=0)).all()
    assert sorted(one for own in cover.members for one in own) == list(range(len(given)))
    for number, own in enumerate(cover.members):
        assert (np.any([alone[one] for one in own], axis=0) == (cover.owner == number)).all()
        reached = {own[0]}
        for _ in own:
            reached |= {two for two in own if any((alone[one] & alone[two]).any() for one in reached)}
        assert reached == set(own)
        assert not ((cover.owner == number) & ~Cover.of([cover.places[number]], HEIGHT, WIDTH).hidden).any()


def test_overlapping_rectangles_are_one_place_with_one_draw() -> None:
    cover = Cover.of([Place.around(0, 0, 20, 20), Place.around(10, 5, 20, 20)], 30, 40)
    assert cover.places == (Place.around(0, 0, 30, 25),)
    assert cover.members == ((0, 1),)
    assert cover.hidden.sum() == 2 * 400 - 10 * 15  # not the corners of the rectangle around them
    nested = [Place.around(4, 4, 8, 8), Place(10, 10, 20, 20, 5), Place.around(6, 6, 4, 4), Place.around(30, 20, 5, 5)]
    three = Cover.of(nested, 30, 40, views=nested)
    assert three.places == (nested[1], nested[3])  # the largest stays as it is
    assert three.views == (nested[1], nested[3])
    beside = Cover.of([Place.around(0, 0, 10, 10), Place.around(10, 0, 10, 10)], 10, 20)
    assert len(beside.places) == 2  # they touch and share no pixel


def test_what_a_place_is_does_not_depend_on_the_picture() -> None:
    """The cover of a picture is made of rectangles and a size; a frame shows grey where another place is."""
    mask = np.zeros((20, 40), bool)
    mask[:, 5:15] = True
    cover = Cover.of([Place.around(0, 0, 30, 20), Place.around(20, 0, 20, 20)], 20, 40, [mask, None])
    assert len(cover.places) == 2  # the mask leaves the second alone
    white = np.full((20, 40, 3), 255, np.uint8)
    frame = cover.frame(white, 0, (20, 30))
    assert (frame[:, 20:] == GREY).all()
    assert (frame[:, :20] == 255).all()


def test_a_frame_is_the_mean_of_what_it_shows_whatever_the_size_of_a_place() -> None:
    picture = drawing(64, 64)
    cover = Cover.of([Place.around(16, 8, 32, 32)], 64, 64)
    means = picture[8:40, 16:48].reshape(8, 4, 8, 4, 3).mean(axis=(1, 3))
    assert np.abs(cover.frame(picture, 0, (8, 8)) - means).max() <= 0.5
    larger = Cover.of([Place.around(0, 0, 10, 10)], 64, 64).frame(picture, 0, (40, 40))
    assert (larger == picture[:10, :10].repeat(4, 0).repeat(4, 1)).all()
    beyond = Cover.of([Place.around(-8, 0, 16, 16)], 64, 64).frame(picture, 0, (16, 16))
    assert (beyond[:, :8] == GREY).all()
    assert (beyond[:, 8:] == picture[:16, :8]).all()


def test_a_mask_says_which_pixels_of_a_place_are_hidden() -> None:
    mask = np.zeros((20, 20), bool)
    mask[2:6, 3:9] = True
    cover = Cover.of([Place.around(0, 0, 20, 20)], 20, 20, [mask])
    assert (cover.hidden == mask).all()


def test_a_place_with_a_view_is_hidden_all_over_and_its_frame_shows_the_view() -> None:
    picture = drawing(60, 60)
    cover = Cover.of([Place.around(10, 10, 40, 40)], 60, 60, views=[Place.around(20, 20, 20, 20)])
    assert (cover.frame(picture, 0, (20, 20)) == picture[20:40, 20:40]).all()
    face = np.full((20, 20, 3), 250, np.uint8)
    shown = hidden(picture, cover, [face], blended="oval")
    assert (shown[28:32, 28:32] == 250).all()
    assert (shown[10:20, 10:50] == cover.emptied(picture)[10:20, 10:50]).all()
    assert np.abs(shown[10:20, 10:50].astype(int) - picture[4:10].mean(axis=(0, 1))).mean() < 40  # like what is around


@pytest.mark.parametrize("given", [(0, 0, 0, 4), (0, 0, 4, -1), (float("nan"), 0, 4, 4), (0, 0, 4, 4, float("inf"))])
def test_places_that_are_none_are_refused(given: tuple[Any, ...]) -> None:
    with pytest.raises(ParameterError, match="a place has"):
        Place(*given)


def test_too_many_places_are_refused() -> None:
    with pytest.raises(DataError, match="at most 1,000 places"):
        Cover.of([Place(1, 1, 1, 1)] * (MOST_PLACES + 1), 4, 4)


@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_a_hole_is_filled_from_what_is_around_it_alone(height: int, width: int, seed: int, much: float) -> None:
    rng = np.random.default_rng(seed)
    hole = rng.random((height, width)) < much
    picture = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    other = np.where(hole[..., None], rng.integers(0, 256, picture.shape, dtype=np.uint8), picture)
    found = filled(picture, hole)
    assert (found == filled(other, hole)).all()
    assert (found[~hole] == picture[~hole]).all()
    if hole.any() and not hole.all():
        known = picture[~hole]
        assert (found[hole] >= known.min(axis=0)).all()
        assert (found[hole] <= known.max(axis=0)).all()


def test_a_slope_goes_on_through_a_hole() -> None:
    slope = np.repeat(np.arange(0, 240, 4, dtype=np.uint8)[None, :, None], 60, axis=0)
    hole = np.zeros((60, 60), bool)
    hole[20:40, 20:40] = True
    assert np.abs(filled(slope, hole).astype(int) - slope).max() <= 24
