"""Our noise for places, with cryptographic bits throughout."""

from __future__ import annotations

import numpy as np

import noisewright as nw
from bench.work import Work

__all__ = ["geo_release", "planar_geometric_release", "planar_release", "polygon_release"]


def planar_release(epsilon: str, size: int) -> Work:
    """The exact planar Laplace mechanism on an array of points; the answer is the mean distance from the truth."""
    mechanism, points = nw.planar_laplace(epsilon=epsilon), _points(size)
    mechanism.release(points[:1])  # tables are made once
    return Work(lambda: mechanism.release(points), size, lambda out: float(np.linalg.norm(out - points, axis=1).mean()))


def polygon_release(epsilon: str, size: int) -> Work:
    """The same, with outputs moved into a polygon of eight corners."""
    star = nw.mechanisms.Polygon(
        [(0, 0), (500, 100), (1000, 0), (900, 500), (1000, 1000), (500, 900), (0, 1000), (100, 500)]
    )
    mechanism, points = nw.planar_laplace(epsilon=epsilon, remap=star), _points(size)
    mechanism.release(points[:1])
    return Work(lambda: mechanism.release(points), size, lambda out: float(np.linalg.norm(out - points, axis=1).mean()))


def geo_release(size: int) -> Work:
    """Latitude and longitude in, latitude and longitude out; the answer is the mean latitude."""
    mechanism = nw.mechanisms.geo_laplace(epsilon="1.4", radius=200, reference=(48.8566, 2.3522))
    places = np.array([48.85, 2.35]) + _points(size) * 1e-5
    mechanism.release(places[:1])
    return Work(lambda: mechanism.release(places), size, lambda out: float(out[:, 0].mean()))


def planar_geometric_release(size: int) -> Work:
    """A 50 x 50 grid of public places; the answer is the mean distance from the truth."""
    mechanism = nw.mechanisms.planar_geometric(nw.mechanisms.Grid(50, 50), epsilon=1)
    places = np.random.default_rng(1).integers(0, 50, (size, 2))
    mechanism.release(places[:1])
    return Work(lambda: mechanism.release(places), size, lambda out: float(np.linalg.norm(out - places, axis=1).mean()))


def _points(size: int) -> np.ndarray:
    return np.random.default_rng(1).uniform(0, 1000, (size, 2))
