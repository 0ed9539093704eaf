"""Pairs of pictures for which a claim holds: any two of one size, those that differ in some pixels, or in some steps
of colour.

>>> import numpy as np
>>> black, dot = np.zeros((2, 2, 3), int), np.zeros((2, 2, 3), int)
>>> dot[0, 1] = 255, 10, 0
>>> ChangedPixels("hamming", 3).distance(black, dot), ColourSteps().distance(black, dot)
(1.0, 265.0)
>>> AnyPicture(Inside("place", 6)).secret
{'kind': 'picture', 'inside': 'place', 'count': 6}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from noisewright.claims.phrases import metric_name
from noisewright.core.arrays import Floats
from noisewright.core.errors import MetricError
from noisewright.core.metrics.metric import Discrete, Metric
from noisewright.images.pictures.regions import Inside

__all__ = ["AnyPicture", "ChangedPixels", "ColourSteps"]

TOP = 255


@dataclass(frozen=True)
class AnyPicture(Discrete):
    """1 between any two different pictures of one size, or any two that are alike outside of some parts."""

    inside: Inside | None = None

    @property
    def secret(self) -> dict[str, Any]:
        """Description of the pictures, and of the part in which they are alike."""
        return {"kind": "picture", **({} if self.inside is None else self.inside.record())}


@dataclass(frozen=True)
class ChangedPixels(Metric):
    """The number of pixels in which two pictures of one size differ, however much, in whichever channels.

    ``base`` is the metric of the certificate on the values that are drawn, such as blocks, which is never larger.
    """

    base: Literal["hamming", "manhattan"]
    channels: int
    inside: Inside | None = None
    finite = True

    @property
    def name(self) -> str:  # type: ignore[override]
        return metric_name(self.record())

    def record(self) -> dict[str, Any]:
        values = self.channels * (TOP if self.base == "manhattan" else 1)
        return {"base": self.base, **({"factor": str(Fraction(1, values))} if values != 1 else {})}

    @property
    def secret(self) -> dict[str, Any]:
        """Pictures, whose pixels are counted."""
        inside = {} if self.inside is None else self.inside.record()
        return {"kind": "picture", "unit": "pixel", "channels": self.channels, **inside}

    @property
    def unit(self) -> str:
        return "pixel"

    def matrix(self, points: Sequence[Any]) -> Floats:
        """All distances between pictures."""
        given = _pictures(points)
        return np.array([[float((a != b).any(-1).sum()) for b in given] for a in given])


@dataclass(frozen=True)
class ColourSteps(Metric):
    """The sum of the differences of all values of two pictures of one size."""

    name = "manhattan"
    finite = True

    def record(self) -> dict[str, Any]:
        return {"base": "manhattan"}

    @property
    def secret(self) -> dict[str, Any]:
        """Pictures, whose steps of colour are counted."""
        return {"kind": "picture", "unit": "step"}

    @property
    def unit(self) -> str:
        return "step"

    def matrix(self, points: Sequence[Any]) -> Floats:
        """All distances between pictures."""
        given = _pictures(points)
        return np.array([[float(np.abs(a - b).sum()) for b in given] for a in given])


def _pictures(points: Sequence[Any]) -> list[NDArray[np.int64]]:
    given = [np.asarray(point, np.int64) for point in points]
    if len({picture.shape for picture in given}) > 1 or any(picture.ndim != 3 for picture in given):
        raise MetricError("a distance is between pictures of one size: rows, columns and channels.")
    return given
