"""Rows about learned privatisers: finite games of 50 public and 50 private values, each with a dual certificate; curves that
are trained together, each point within a percentage point of its optimum; and releases beside a bare forward pass."""

from __future__ import annotations

from bench.rows import Row, Task

__all__ = ["ROWS"]

LAYERS = {"rows": 1_000_000, "columns": 5, "hidden": 64}
SIZE, FEW = {"public": 50, "private": 50}, {"public": 20, "private": 20}


def _row(loss: str, given: str, distortion: str, budget: str) -> Row:
    what = "the public value alone" if given == "x" else "both values"
    return Row(
        name=f"finite game, {loss} loss, {distortion} distortion of {budget}, given {what}",
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
    *[
        _row("log", "xy", "squared", budget) for budget in ("1", "14", "27")
    ],  # 125,000 probabilities; it is free from 28 on
    _row("alpha:2", "xy", "squared", "14"),
    _row("zero-one", "xy", "hamming", "0.2"),
    _row("log", "xy", "hamming", "0.2"),
    _row("alpha:2", "xy", "hamming", "0.2"),
    Row(
        name="training: 36 Gaussian points in one run vs a point alone",
        compares="four published tables of nine budgets, each within 0.01 of the theoretical accuracy; aimed at: 2 minutes",
        size="36 budgets, 20,000 records each",
        ours=Task("bench.ours.learned:gaussian_points", {}, {"budgets": 2}),
        peer=Task("bench.ours.learned:one_gaussian_point"),
        agree=1e9,
        unit="points",
        rounds=1,
        seconds_limit=600.0,
        own_peer=True,
    ),
    Row(
        name="training: the binary model, adversary in turns",
        compares="two published curves of the penalty method, given X alone and given both, within 0.01; aimed at: 2 minutes",
        size="17 budgets, 10,000 records each",
        ours=Task("bench.ours.learned:binary_points", {"how": "in turns"}, {"budgets": 2}),
        unit="points",
        rounds=1,
        seconds_limit=600.0,
    ),
    Row(
        name="releasing by a learned privatiser vs a bare forward pass",
        compares="GAPPrivatiser.release with the system's random bits against its layers in PyTorch; aimed at: half as fast",
        size="1,000,000 records of 5 numbers, two layers of 64",
        ours=Task("bench.ours.learned:release", LAYERS, {"rows": 20_000}),
        peer=Task("bench.ours.learned:forward", LAYERS, {"rows": 20_000}),
        target=0.5,
        unit="records",
        own_peer=True,
    ),
]
