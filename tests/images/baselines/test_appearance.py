"""An active appearance model hides what is inside the face, and people are recognised by the rest: a negative baseline."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from noisewright.exceptions import DataError
from noisewright.images import (
    ActiveAppearance,
    NoisyCodes,
    Recogniser,
    cluster_means,
    k_clusters,
    sprite_faces,
    sprite_landmarks,
)

SQUARE = np.array([[6, 5], [6, 24], [24, 5], [23, 25], [14, 12]], float)


def shaded(landmarks: np.ndarray) -> np.ndarray:
    """Smooth pictures that move with their landmarks."""
    y, x = np.mgrid[:32, :32]
    middle = landmarks.mean(1)
    waves = [
        np.stack([128 + 60 * np.sin((x - a) / 9), 128 + 50 * np.cos((y - b) / 8), 3 * (x + y)], -1) for a, b in middle
    ]
    return np.array(waves).astype(np.uint8)


def test_faces_that_it_learned_from_come_back_and_nothing_outside_changes() -> None:
    landmarks = SQUARE + np.random.default_rng(1).normal(0, 1.2, (12, 5, 2))
    faces = shaded(landmarks)
    model = ActiveAppearance.fit(faces, landmarks, shapes=100, textures=100)
    codes = model.encode(faces, landmarks)
    shown = model.painted(codes, faces, landmarks)
    assert np.abs(shown.astype(int) - faces).max() <= 12  # warped there and back
    assert np.abs(shown.astype(int) - faces).mean() < 1
    far = model.painted(model.space.codes(np.array(model.space.steps) * np.ones((12, 1))), faces, landmarks)
    assert (far[:, :2] == faces[:, :2]).all()
    assert (far[:, :, -3:] == faces[:, :, -3:]).all()
    assert np.abs(far[:, 8:20, 8:20].astype(int) - faces[:, 8:20, 8:20]).mean() > 2


def test_a_shape_is_the_same_wherever_it_lies_however_large_and_turned_it_is() -> None:
    landmarks = SQUARE + np.random.default_rng(1).normal(0, 1.2, (12, 5, 2))
    model = ActiveAppearance.fit(shaded(landmarks), landmarks, shapes=4)
    turn = 0.3
    other = 0.8 * landmarks @ [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]] + [3, 5]
    shapes = [model.encode(shaded(landmarks), places)[:, :4] for places in (landmarks, other)]
    assert shapes[0] == pytest.approx(shapes[1], abs=1e-8)


def test_noise_and_clusters_inside_the_face_are_no_use_where_hair_is_seen() -> None:
    faces, where = sprite_faces(), sprite_landmarks()
    inside = np.r_[6:19, 24:32]  # from ear to ear below, and the features: the face as trackers see it
    public, hidden = faces.of(range(68)).showing("neutral"), faces.of(range(68, 135))
    model = ActiveAppearance.fit(public.pictures, where[public.people][:, inside])
    asked = hidden.showing("neutral")
    landmarks = where[asked.people][:, inside]
    codes = model.encode(asked.pictures, landmarks)
    others = hidden.expressions != "neutral"
    recogniser = Recogniser().fit(hidden.pictures[others], hidden.people[others])
    noisy = NoisyCodes(Fraction(5), model.space).release(
        codes, np.random.default_rng(1)
    )  # hardly anything of a code is left
    for changed, least in ((noisy, 0.8), (cluster_means(codes, k_clusters(codes, 10)), 0.9)):
        shown = model.painted(changed, asked.pictures, landmarks)
        assert (recogniser.predict(shown) == asked.people).mean() > least  # and one in ten at most for k-same


def test_landmarks_that_do_not_fit_are_refused() -> None:
    faces = shaded(SQUARE[None])
    for wrong in (SQUARE, SQUARE[None, :2], SQUARE[None, :, :1], np.stack([SQUARE, SQUARE])):
        with pytest.raises(DataError, match="three or more"):
            ActiveAppearance.fit(faces, wrong)
