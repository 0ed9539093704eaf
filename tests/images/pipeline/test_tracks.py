"""Faces followed over frames: one track for a face that moves, none for a jump; held where it is lost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisewright.exceptions import ParameterError
from noisewright.images import Place, tracks_of


def at(x: float, y: float = 50, side: float = 20, tilt: float = 0) -> Place:
    return Place(x, y, side, side, tilt)


def test_a_face_that_moves_is_one_track_and_two_faces_are_two() -> None:
    frames = [[at(30 + 4 * n), at(200 - 4 * n, 150)] for n in range(10)]
    tracks = tracks_of(frames, hold=0)
    assert [sorted(track.places) for track in tracks] == [list(range(10))] * 2
    assert [track.places[9].x for track in tracks] == [66, 164]


def test_the_order_in_a_frame_does_not_matter() -> None:
    frames = [[at(30), at(200)], [at(200), at(31)], [at(32), at(199)]]
    assert [track.found for track in tracks_of(frames, hold=0)] == [{0: 0, 1: 1, 2: 0}, {0: 1, 1: 0, 2: 1}]


def test_a_jump_or_another_size_is_another_face() -> None:
    assert len(tracks_of([[at(30)], [at(90)]], hold=0)) == 2
    assert len(tracks_of([[at(30)], [at(30, side=60)]], hold=0)) == 2


def test_places_are_held_before_after_and_in_between() -> None:
    frames: list[list[Place]] = [[] for _ in range(30)]
    frames[10], frames[14] = [at(100, tilt=170)], [at(108, tilt=-170)]
    (track,) = tracks_of(frames, hold=3)
    assert sorted(track.places) == list(range(7, 18))
    assert track.places[12] == Place(104, 50, 25, 25, 180)
    assert track.places[7] == Place(100, 50, 25, 25, 170)
    assert track.places[17].x == 108
    assert track.places[10] == at(100, tilt=170)
    again = tracks_of(frames, hold=1)
    assert [sorted(track.places) for track in again] == [[9, 10, 11], [13, 14, 15]]


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 200), st.sampled_from([10, 20, 40])), max_size=3), max_size=15),
    st.integers(0, 4),
)
def test_every_place_that_was_found_is_in_one_track_and_held(given: list[list[tuple[int, int]]], hold: int) -> None:
    frames = [[at(x, side=side) for x, side in frame] for frame in given]
    tracks = tracks_of(frames, hold=hold)
    pairs = [(number, j) for track in tracks for number, j in track.found.items()]
    assert sorted(pairs) == [(number, j) for number, frame in enumerate(frames) for j in range(len(frame))]
    for track in tracks:
        wanted = {n for seen in track.found for n in range(seen - hold, seen + hold + 1)} & set(range(len(frames)))
        assert wanted <= set(track.places) <= set(range(len(frames)))
        assert all(track.places[number] == frames[number][j] for number, j in track.found.items())
        numbers = np.array(sorted(track.places))
        assert (np.diff(numbers) == 1).all()  # no frame is left out in between


def test_bad_numbers_of_frames_are_refused() -> None:
    for hold in (-1, 1.5, True, 10_001):
        with pytest.raises(ParameterError, match="hold is"):
            tracks_of([], hold=hold)  # type: ignore[arg-type]
