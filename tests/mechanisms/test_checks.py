"""``check`` of a mechanism refuses what ``release`` refuses, takes what it takes, and draws nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.exceptions import DataError
from noisewright.sampling import random_bits as bits

CASES: dict[str, tuple[Any, list[Any], list[Any]]] = {
    "interval": (lambda: nw.laplace(epsilon=1, within=(0, 9)), [[0.0, 9.0], 4], [9.01, [1.0, -0.1], np.nan, "four"]),
    "gaps": (lambda: nw.laplace(epsilon=1, within=((0, 2), (3, 9))), [[0.0, 2.0, 3.0]], [2.5, 9.5, np.inf]),
    "clamped": (lambda: nw.laplace(epsilon=1, within=(0, 9), outside="clamp"), [[-5.0, 50.0]], [np.nan]),
    "half line": (lambda: nw.laplace(epsilon=1, within=(0, None), scope="metric"), [[0.0, 1e6]], [-1e-9, 1e300]),
    "staircase": (lambda: nw.mechanisms.staircase(epsilon=1), [[0.0, -3.5]], [1e300, np.nan]),
    "gaussian, gaps": (
        lambda: nw.mechanisms.gaussian(epsilon=1, delta=1e-6, within=((0, 2), (3, 9))),
        [[0.0, 3.0]],
        [2.5, np.nan],
    ),
    "planar": (lambda: nw.planar_laplace(epsilon=1), [[(0.0, 1.0), (5.0, 5.0)]], [[(1e300, 0.0)], [(1.0, 2.0, 3.0)]]),
    "geo": (
        lambda: nw.mechanisms.geo_laplace(epsilon=1, radius=200, reference=(48.85, 2.35)),
        [[(48.86, 2.29)], [(48.8, 2.3)]],
        [[(95.0, 0.0)], [(48.0, 200.0)], [(-48.0, 2.0)]],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_check_agrees_with_a_release(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    build, fine, bad = CASES[name]
    mechanism = build()
    for values in fine:
        mechanism.release(values, np.random.default_rng(1))
    for values in bad:
        with pytest.raises(DataError) as drawn:
            mechanism.release(values, np.random.default_rng(1))
        with pytest.raises(DataError) as looked:
            mechanism.check(values)
        assert str(looked.value) == str(drawn.value)

    def no_bits(self: object, count: int) -> None:
        raise AssertionError("a check must not draw")

    monkeypatch.setattr(bits.SystemBits, "words", no_bits)
    for values in fine:
        assert mechanism.check(values) is None
    with pytest.raises(AssertionError, match="must not draw"):  # the test can tell
        mechanism.release(fine[0])
