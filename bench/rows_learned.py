"""Rows about learned privatisers: finite games of 50 public and 50 private values, each with a dual certificate."""

from __future__ import annotations

from bench.rows import Row, Task

__all__ = ["ROWS"]

SIZE, FEW = {"public": 50, "private": 50}, {"public": 20, "private": 20}


def _row(loss: str, given: str, distortion: str, budget: str) -> Row:
    what = "the public value alone" if given == "x" else "both values"
    return Row(
        name=f"finite game, {loss} loss, {distortion} distortion, given {what}",
        compares="FiniteGame.optimum with its table of whole numbers and a bound within 1e-6 of it; aimed at: seconds",
        size="50 x 50 values, 50 outputs",
        ours=Task(
            "bench.ours.learned:game",
            {**SIZE, "loss": loss, "given": given, "distortion": distortion, "budget": budget},
            FEW,
        ),
        unit="games",
        rounds=2,
        seconds_limit=300.0,
    )


ROWS = [
    _row("zero-one", "x", "squared", "20"),
    _row("log", "x", "squared", "20"),
    _row("alpha:2", "x", "squared", "20"),
    _row("zero-one", "xy", "squared", "1"),
    _row("log", "xy", "squared", "1"),  # the largest program of these: 125,000 probabilities in a convex one
    _row("zero-one", "xy", "hamming", "0.2"),
    _row("log", "xy", "hamming", "0.2"),
    _row("alpha:2", "xy", "hamming", "0.2"),
]
