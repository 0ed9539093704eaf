"""Laws and beliefs about places, as cells of a map: of a list of places, or about a true one on the open plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_number
from noisewright.core.errors import ParameterError
from noisewright.core.mechanism import Mechanism
from noisewright.mechanisms.places.geography import GeoLaplace
from noisewright.mechanisms.places.planar import PlanarLaplace

__all__ = ["Map", "listed_map", "open_map"]

CELLS = 61
SHOWN = 0.95
"""A map of the open plane goes as far as noise does with this probability."""


@dataclass(frozen=True)
class Map:
    """Numbers on a grid of places, and the place in question."""

    east: Floats
    north: Floats
    values: list[list[float | None]]
    """A row for each step north; None where there is no place."""
    place: tuple[float, float]
    what: str
    """Meaning of the numbers."""
    axes: tuple[str, str]
    words: str


def listed_map(labels: Sequence[Any], numbers: Floats, place: Any, what: str, words: str) -> Map | None:
    """Return numbers of listed places; None where the labels are not pairs of numbers."""
    if not all(_is_place(label) for label in (*labels, place)):
        return None
    east, north = (np.unique([float(label[i]) for label in labels]) for i in (0, 1))
    values: list[list[float | None]] = [[None] * len(east) for _ in north]
    for label, number in zip(labels, numbers, strict=True):
        values[int(np.searchsorted(north, float(label[1])))][int(np.searchsorted(east, float(label[0])))] = float(
            number
        )
    return Map(
        east, north, values, (float(place[0]), float(place[1])), what, ("first coordinate", "second coordinate"), words
    )


def open_map(mechanism: Mechanism, place: Any) -> Map | None:
    """The density about a true place; None for mechanisms that are not about places of the plane."""
    on_earth = isinstance(mechanism, GeoLaplace)
    plane = mechanism.plane if isinstance(mechanism, GeoLaplace) else mechanism
    if not isinstance(plane, PlanarLaplace):
        return None
    if place is not None and not _is_place(place):
        raise ParameterError("the true place is two numbers joined by a colon, such as 120:35.")
    true = (0.0, 0.0) if place is None or on_earth else (float(place[0]), float(place[1]))
    half, most = plane.quantile(0.5), plane.quantile(SHOWN)
    steps = np.linspace(-most, most, CELLS)
    away = np.stack(np.meshgrid(steps, steps), axis=-1)
    unit = "metres" if on_earth else "units"
    return Map(
        true[0] + steps,
        true[1] + steps,
        [[float(value) for value in row] for row in plane.density(away)],
        true,
        f"per square {unit.removesuffix('s')}",
        ("metres east of the true place", "metres north of it")
        if on_earth
        else ("first coordinate", "second coordinate"),
        f"Half of what comes out is within {half:.4g} {unit} of the true place, 95 % within {most:.4g}.",
    )


def _is_place(label: Any) -> bool:
    return isinstance(label, tuple) and len(label) == 2 and all(is_number(part) for part in label)
