"""Rows about drawing: exact integer noise, draws from certified tables, randomised response, streams."""

from __future__ import annotations

from bench.rows import MB, Row, Task

__all__ = ["ROWS"]

MILLION = 1_000_000


def _noise(law: str, ours: str, peer: str, parameter: str, value: int, peer_size: int) -> Row:
    return Row(
        name=f"{law}, {parameter} {value}",
        compares=f"integers + exact noise, against OpenDP {peer} on an integer vector",
        size="1e6 values",
        ours=Task(f"bench.ours.noise:{ours}", {parameter: value, "size": MILLION}),
        peer=Task(
            f"bench.peers.opendp:{peer.removeprefix('make_')}",
            {parameter: value, "size": peer_size},
            {"size": 10_000},
        ),
        target=50.0,
    )


ROWS = [
    _noise("discrete Laplace", "laplace", "make_laplace", "scale", 10, 50_000),
    _noise("discrete Laplace", "laplace", "make_laplace", "scale", 1000, 50_000),
    _noise("geometric mechanism release", "geometric_release", "make_laplace", "scale", 10, 50_000),
    _noise("discrete Gaussian", "gaussian", "make_gaussian", "sigma", 10, 30_000),
    _noise("discrete Gaussian", "gaussian", "make_gaussian", "sigma", 1000, 30_000),
    Row(
        name="certified table draws vs diffprivlib",
        compares="TableSampler on a certified 101 x 101 truncated geometric, against GeometricTruncated.randomise",
        size="1e6 secrets",
        ours=Task("bench.ours.noise:table_draws", {"n": 101, "size": MILLION}),
        peer=Task("bench.peers.diffprivlib:truncated_geometric", {"n": 101, "size": 20_000}),
        target=200.0,
    ),
    Row(
        name="certified table draws vs numpy",
        compares="TableSampler on a certified 101 x 101 truncated geometric, against float inverse-CDF in numpy",
        size="1e6 secrets",
        ours=Task("bench.ours.noise:table_draws", {"n": 101, "size": MILLION}),
        peer=Task("bench.peers.plain_numpy:truncated_geometric", {"n": 101, "size": MILLION}),
        target=1 / 3,
    ),
    Row(
        name="certified table release vs diffprivlib",
        compares="nw.mechanism(...).release, labels looked up both ways, against GeometricTruncated.randomise",
        size="1e6 secrets",
        ours=Task("bench.ours.noise:table_release", {"n": 101, "size": MILLION}),
        peer=Task("bench.peers.diffprivlib:truncated_geometric", {"n": 101, "size": 20_000}),
        target=200.0,
    ),
    Row(
        name="certified table release vs numpy",
        compares="nw.mechanism(...).release, labels looked up both ways, against float inverse-CDF in numpy",
        size="1e6 secrets",
        ours=Task("bench.ours.noise:table_release", {"n": 101, "size": MILLION}),
        peer=Task("bench.peers.plain_numpy:truncated_geometric", {"n": 101, "size": MILLION}),
        target=1 / 3,
    ),
    Row(
        name="randomised response, 100 categories, vs diffprivlib",
        compares="nw.randomised_response(...).release, against ExponentialCategorical.randomise",
        size="1e6 values",
        ours=Task("bench.ours.noise:response", {"categories": 100, "size": MILLION}),
        peer=Task("bench.peers.diffprivlib:response", {"categories": 100, "size": 20_000}),
        agree=0.3,  # few of a hundred categories keep the truth, so the share that did is a small count
    ),
    Row(
        name="randomised response, 100 categories, vs OpenDP",
        compares="nw.randomised_response(...).release, against make_randomized_response",
        size="1e6 values",
        ours=Task("bench.ours.noise:response", {"categories": 100, "size": MILLION}),
        peer=Task("bench.peers.opendp:response", {"categories": 100, "size": 5_000}),
        agree=0.5,
    ),
    Row(
        name="randomised response, 2 categories, vs diffprivlib",
        compares="nw.randomised_response(...).release, against Binary.randomise",
        size="1e6 values",
        ours=Task("bench.ours.noise:response", {"categories": 2, "size": MILLION}),
        peer=Task("bench.peers.diffprivlib:binary_response", {"categories": 2, "size": 50_000}),
    ),
    Row(
        name="stream, discrete Laplace, scale 10",
        compares="chunks of 2^20 draws, used and dropped; memory must not grow",
        size="1e8 draws",
        ours=Task("bench.ours.noise:laplace_stream", {"scale": 10, "size": 100 * MILLION}, {"size": 5 * MILLION}),
        memory_limit=300 * MB,
        rounds=2,
        seconds_limit=300.0,
    ),
    Row(
        name="stream, certified table draws",
        compares="chunks of 2^20 draws from a 101 x 101 table, used and dropped; memory must not grow",
        size="1e8 draws",
        ours=Task("bench.ours.noise:table_stream", {"n": 101, "size": 100 * MILLION}, {"size": 5 * MILLION}),
        memory_limit=300 * MB,
        rounds=2,
        seconds_limit=300.0,
    ),
]
