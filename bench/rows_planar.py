"""Rows about places: planar Laplace noise on points, on the globe, and on a finite grid."""

from __future__ import annotations

from bench.rows import Row, Task

__all__ = ["ROWS"]

MILLION = 1_000_000
EPSILON = "1/50"

ROWS = [
    Row(
        name="planar Laplace vs a loop over qif",
        compares="nw.planar_laplace(...).release, exact, against qif planar_laplace_sample added to each point in Python",
        size="1e6 points",
        ours=Task("bench.ours.planar:planar_release", {"epsilon": EPSILON, "size": MILLION}),
        peer=Task("bench.peers.qif:planar_laplace", {"epsilon": EPSILON, "size": 50_000}),
        target=20.0,
    ),
    Row(
        name="planar Laplace vs numpy",
        compares="nw.planar_laplace(...).release, exact, against a Gamma radius and a uniform angle in numpy floats",
        size="1e6 points",
        ours=Task("bench.ours.planar:planar_release", {"epsilon": EPSILON, "size": MILLION}),
        peer=Task("bench.peers.plain_numpy:planar_laplace", {"epsilon": EPSILON, "size": MILLION}),
        target=1 / 5,
    ),
    Row(
        name="planar Laplace into a polygon",
        compares="the same with outputs moved into a polygon of eight corners",
        size="1e6 points",
        ours=Task("bench.ours.planar:polygon_release", {"epsilon": EPSILON, "size": MILLION}),
    ),
    Row(
        name="geo Laplace, latitude and longitude",
        compares="nw.mechanisms.geo_laplace(...).release: projection, exact noise, projection back",
        size="1e6 places",
        ours=Task("bench.ours.planar:geo_release", {"size": MILLION}),
    ),
    Row(
        name="planar geometric, 50 x 50 grid",
        compares="nw.mechanisms.planar_geometric(...).release: places looked up both ways",
        size="1e6 places",
        ours=Task("bench.ours.planar:planar_geometric_release", {"size": MILLION}),
    ),
]
