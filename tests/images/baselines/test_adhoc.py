"""What is done to pictures without a guarantee: a box that is filled in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from picture_support import drawing

from noisewright.exceptions import ParameterError
from noisewright.images import cartoon_faces, inpainted, train_eigenfaces
from noisewright.images.pictures import Region


def test_a_box_is_filled_in_from_around_it_and_nothing_inside_matters() -> None:
    picture, box = drawing(40, 30), Region(8, 5, 25, 20)
    other = picture.copy()
    box.of_picture(other)[...] = 9
    found = inpainted(picture, box)
    assert (found == inpainted(other, box)).all()
    outside = np.ones(picture.shape[:2], bool)
    outside[5:25, 8:33] = False
    assert (found[outside] == picture[outside]).all()
    assert np.abs(found.astype(int) - picture).mean() < np.abs(other.astype(int) - picture).mean() / 2


def test_the_mean_face_of_a_model_fills_a_box(tmp_path: Path) -> None:
    faces, _ = cartoon_faces(10)
    model = train_eigenfaces(tmp_path / "some.nwm", faces)
    box = Region(6, 8, 12, 12)
    shown = inpainted(faces[3], box, model)
    mean = np.rint(faces.astype(float).mean(0))
    assert np.abs(box.of_picture(shown - mean)).max() <= 1
    assert (shown[:8] == faces[3][:8]).all()
    with pytest.raises(ParameterError, match="ends beyond"):
        inpainted(faces[0], Region(20, 0, 24, 24))
