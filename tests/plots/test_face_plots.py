"""Pictures of attacks on faces show the numbers of the attacks."""

from __future__ import annotations

import numpy as np
import pytest

from noisewright.plotting.leakage import CURVES, LINE, draw_face_risks


def test_lines_and_points_are_the_numbers() -> None:
    noisy = [
        {"epsilon": epsilon, **{name: place / 10 + epsilon / 1000 for place, name in enumerate(CURVES)}, "ssim": share}
        for epsilon, share in ((300, 0.6), (30, 0.4))
    ]
    others = [
        {"method": "k = 2", "best": 0.5, "best of two": 0.8, "ssim": 0.7},
        {"method": "box", "best": 1.0, "ssim": 0.702},
        {"method": "unknown", "ssim": 0.9},
    ]
    left, right = draw_face_risks(noisy, others, 0.02, 0.99).axes
    drawn = {line.get_label(): line for line in left.get_lines()}
    for place, (name, *_) in enumerate(CURVES.values()):
        assert list(drawn[name].get_xdata()) == [30, 300]  # in order
        assert np.asarray(drawn[name].get_ydata()) == pytest.approx([place / 10 + 0.03, place / 10 + 0.3])
    ends = [line.get_ydata()[0] for line in left.get_lines() if line.get_label().startswith("_")]
    assert ends == [0.02, 0.99]
    points = {line.get_label(): line for line in right.get_lines()}
    assert list(points["noise on codes, best on the code"].get_ydata()) == [0.4, 0.6]
    assert list(points["NO guarantee, best, one release"].get_xdata()) == [0.5, 1.0]
    assert list(points["NO guarantee, best, two releases"].get_xdata()) == [0.8]
    words = {text.get_text(): text.xy for text in right.texts}
    assert words == {"k = 2": (0.5, 0.7), "box": (1.0, pytest.approx(0.7 + LINE))}  # one above the other
