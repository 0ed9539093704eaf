"""Rows about proving: audits of dense channels, certificates, and the stand-alone checker."""

from __future__ import annotations

from bench.rows import MB, Row, Task

__all__ = ["ROWS"]


def _audit(metric: str) -> Row:
    return Row(
        name=f"smallest epsilon, {metric}",
        compares="a dense random channel, from the bare matrix, against qif measure.d_privacy.smallest_epsilon",
        size="500 x 500",
        ours=Task("bench.ours.core:smallest_epsilon", {"n": 500, "metric": metric}, {"n": 200}),
        peer=Task("bench.peers.qif:smallest_epsilon", {"n": 500, "metric": metric}, {"n": 200}),
        target=1.0,
        agree=1e-9,
        unit="audits",
    )


def _proof(name: str, n: int, size: str) -> list[Row]:
    arguments = {"channel": name, "n": n}
    return [
        Row(
            name=f"certify {name}, {size}",
            compares="floats to an integer table with a proved guarantee; new process each round",
            size=size,
            ours=Task("bench.ours.core:certify", arguments),
            unit="certificates",
            fresh=True,
            rounds=3,
        ),
        Row(
            name=f"check {name}, {size}",
            compares="the stand-alone checker on the certificate's JSON text; new process each round",
            size=size,
            ours=Task("bench.ours.core:check", arguments),
            unit="certificates",
            fresh=True,
            rounds=3,
        ),
    ]


ROWS = [
    _audit("euclidean"),
    _audit("discrete"),
    Row(
        name="smallest epsilon, line, large",
        compares="a dense random channel on a line, in memory far below n^3",
        size="2000 x 2000",
        ours=Task("bench.ours.core:smallest_epsilon", {"n": 2000, "metric": "line"}),
        memory_limit=2048 * MB,
        unit="audits",
    ),
    Row(
        name="smallest epsilon, euclidean, large",
        compares="the same with every pair compared",
        size="2000 x 2000",
        ours=Task("bench.ours.core:smallest_epsilon", {"n": 2000, "metric": "euclidean"}, {"n": 1000}),
        memory_limit=2048 * MB,
        unit="audits",
        rounds=2,
        seconds_limit=300.0,
    ),
    *_proof("truncated geometric", 101, "101 x 101"),
    *_proof("truncated geometric", 301, "301 x 301"),
    *_proof("exponential on a grid", 15, "225 x 225"),
    Row(
        name="design exponential mechanism on a grid",
        compares="nw.exponential on a 15 x 15 Euclidean grid: calibration and certificate; new process each round",
        size="225 x 225",
        ours=Task("bench.ours.core:design_exponential", {"n": 15}, {"n": 7}),
        unit="mechanisms",
        fresh=True,
        rounds=2,
    ),
]
