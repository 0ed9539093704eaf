"""Rows about numbers in a range: Laplace noise inside an interval, a half line and a set with gaps, and its calibration."""

from __future__ import annotations

from bench.rows import MB, Row, Task

__all__ = ["ROWS"]

MILLION = 1_000_000

ROWS = [
    Row(
        name="Laplace within 0..100 vs diffprivlib",
        compares="nw.laplace(within=(0, 100)).release on different true values, against LaplaceBoundedDomain.randomise",
        size="1e6 values",
        ours=Task("bench.ours.numeric:within", {"high": 100, "size": MILLION}),
        peer=Task("bench.peers.diffprivlib:bounded_laplace", {"high": 100, "size": 10_000}),
        target=200.0,
    ),
    Row(
        name="Laplace without a range vs OpenDP",
        compares="nw.laplace().release on floats, against OpenDP make_laplace on a vector of floats",
        size="1e6 values",
        ours=Task("bench.ours.numeric:unbounded", {"scale": 1, "size": MILLION}),
        peer=Task("bench.peers.opendp:float_laplace", {"scale": 1, "size": 20_000}),
        target=100.0,
    ),
    Row(
        name="Laplace on a half line, asymmetric",
        compares="nw.laplace(within=(0, None), scope='metric').release; no peer offers this promise",
        size="1e6 values",
        ours=Task("bench.ours.numeric:half_line", {"size": MILLION}),
    ),
    Row(
        name="Laplace on a set with five intervals",
        compares="nw.laplace(within=[...]).release with four gaps; no peer offers gaps",
        size="1e6 values",
        ours=Task("bench.ours.numeric:gaps", {"size": MILLION}),
    ),
    Row(
        name="calibration, 10,000 gaps, metric promise",
        compares="the optimal scale of one feasible set, in real numbers; under a second",
        size="10,000 gaps",
        ours=Task("bench.ours.numeric:calibration", {"count": 10_000, "scope": "metric"}),
        unit="scales",
        fresh=True,
        memory_limit=300 * MB,
    ),
    Row(
        name="calibration, 10,000 gaps, neighbours",
        compares="the optimal scale of one feasible set, in real numbers; under a second",
        size="10,000 gaps",
        ours=Task("bench.ours.numeric:calibration", {"count": 10_000, "scope": "adjacent"}),
        unit="scales",
        fresh=True,
        memory_limit=300 * MB,
    ),
]
