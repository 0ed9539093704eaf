"""Between which pictures a promise holds: any two of one size, those that differ in some pixels, or in some steps of colour.

>>> import numpy as np
>>> black, dot = np.zeros((2, 2, 3), int), np.zeros((2, 2, 3), int)
>>> dot[0, 1] = 255, 10, 0
>>> ChangedPixels("1/3 * hamming").distance(black, dot), ColourSteps().distance(black, dot)
(1.0, 265.0)
>>> AnyPicture(64, 48).pairs(Fraction(1))
'any two pictures of 64 x 48 pixels'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.errors import MetricError
from noisewright.core.exact import downward
from noisewright.core.metrics.metric import Discrete, Metric, named_metric

__all__ = ["AnyPicture", "ChangedPixels", "ColourSteps", "DifferentParts"]


@dataclass(frozen=True)
class AnyPicture(Discrete):
    """1 between any two different pictures of a size, or of a region of that size, the rest being equal."""

    width: int
    height: int
    secrets = "pictures"

    def pairs(self, distance: Fraction) -> str:
        """Which two pictures are at most so far apart."""
        return f"any two pictures of {self.width} x {self.height} pixels" if distance >= 1 else super().pairs(distance)


@dataclass(frozen=True)
class DifferentParts(Discrete):
    """1 between any two pictures that differ in ``parts`` alone, which are named in words."""

    parts: str
    secrets = "pictures"

    def pairs(self, distance: Fraction) -> str:
        """Which two pictures are at most so far apart."""
        return f"any two pictures that differ in {self.parts}" if distance >= 1 else super().pairs(distance)


@dataclass(frozen=True)
class ChangedPixels(Metric):
    """The number of pixels in which two pictures of one size differ, however much, in whichever channels.

    ``name`` is the metric of the certificate, which is never larger: it counts values that are drawn, such as blocks.
    """

    name: str
    inside: str = ""
    """What alone they may differ in, in words; without it, wherever they like."""
    finite = True
    secrets = "pictures"

    def record(self) -> dict[str, Any]:
        return named_metric(self.name).record()

    @property
    def unit(self) -> str:
        return "pixel"

    def in_words(self) -> str:
        """What a distance is called."""
        return "pixels that differ"

    def pairs(self, distance: Fraction) -> str:
        """Which two pictures are at most so far apart."""
        inside = f" of {self.inside}, and nowhere else," if self.inside else ""
        return f"any two pictures of one size that differ in at most {_many(distance, 'pixel')}{inside}"

    def matrix(self, points: Sequence[Any]) -> Floats:
        """All distances between pictures."""
        given = _pictures(points)
        return np.array([[float((a != b).any(-1).sum()) for b in given] for a in given])


@dataclass(frozen=True)
class ColourSteps(Metric):
    """The sum of the differences of all values of two pictures of one size."""

    name = "manhattan"
    finite = True
    secrets = "pictures"

    def record(self) -> dict[str, Any]:
        return {"base": "manhattan"}

    @property
    def unit(self) -> str:
        return "step"

    def in_words(self) -> str:
        """What a distance is called."""
        return "steps of colour, added up over pixels and channels"

    def pairs(self, distance: Fraction) -> str:
        """Which two pictures are at most so far apart."""
        return f"any two pictures of one size that differ by at most {_many(distance, 'step')} of colour in total"

    def matrix(self, points: Sequence[Any]) -> Floats:
        """All distances between pictures."""
        given = _pictures(points)
        return np.array([[float(np.abs(a - b).sum()) for b in given] for a in given])


def _many(number: Fraction, unit: str) -> str:
    return f"{downward(number)} {unit}{'' if number == 1 else 's'}"


def _pictures(points: Sequence[Any]) -> list[NDArray[np.int64]]:
    given = [np.asarray(point, np.int64) for point in points]
    if len({picture.shape for picture in given}) > 1 or any(picture.ndim != 3 for picture in given):
        raise MetricError("a distance is between pictures of one size: rows, columns and channels.")
    return given
