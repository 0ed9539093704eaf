"""What is done to pictures without a guarantee: a box that is filled in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from picture_support import drawing

from noisewright.core.errors import ParameterError
from noisewright.images.baselines import inpainted
from noisewright.images.faces import cartoon_faces, train_eigenfaces
from noisewright.images.pictures.regions import Region


def test_a_shade_is_filled_in_as_it_was_and_nothing_inside_matters() -> None:
    y, x = np.mgrid[:20, :30]
    shade = np.stack([3 * x + 4 * y, 5 * x, 200 - 2 * y], -1).astype(np.uint8)  # linear, so harmonic
    box = Region(4, 3, 18, 12)
    assert (inpainted(shade, box) == shade).all()
    other = shade.copy()
    box.of_picture(other)[...] = 9
    assert (inpainted(other, box) == shade).all()


def test_every_pixel_inside_is_the_mean_of_its_neighbours_also_at_an_edge() -> None:
    picture, box = drawing(40, 30), Region(0, 5, 25, 25)  # in a corner of the picture
    found = inpainted(picture, box).astype(float)
    padded = np.pad(found, ((1, 1), (1, 1), (0, 0)), constant_values=np.nan)
    beside = np.stack([padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]])
    inside = box.of_picture(found - np.nanmean(beside, 0))
    assert np.abs(inside).max() <= 1  # rounded to whole values
    outside = np.ones(picture.shape[:2], bool)
    outside[5:30, :25] = False
    assert (found[outside] == picture[outside]).all()


def test_the_mean_face_of_a_model_fills_a_box_and_a_whole_picture_is_refused(tmp_path: Path) -> None:
    faces, _ = cartoon_faces(10)
    model = train_eigenfaces(tmp_path / "some.nwm", faces)
    box = Region(6, 8, 12, 12)
    shown = inpainted(faces[3], box, model)
    mean = np.rint(faces.astype(float).mean(0))
    assert np.abs(box.of_picture(shown - mean)).max() <= 1
    assert (shown[:8] == faces[3][:8]).all()
    with pytest.raises(ParameterError, match="smaller than the picture"):
        inpainted(faces[0], Region(0, 0, 24, 24))
    with pytest.raises(ParameterError, match="ends beyond"):
        inpainted(faces[0], Region(20, 0, 24, 24))
