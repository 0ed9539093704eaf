"""Rows about optimal mechanisms: closed forms and linear programs beside qif's, and what no peer returns."""

from __future__ import annotations

from bench.rows import MB, Row, Task

__all__ = ["ROWS"]

ROWS = [
    Row(
        name="optimal on a line, absolute loss",
        compares="nw.optimal against qif min_loss_given_d with CLP, its fastest solver that gives a private matrix here, "
        "with constraints between neighbours only",
        size="100 x 100",
        ours=Task("bench.ours.optimal:line", {"n": 100, "epsilon": "0.1"}),
        peer=Task("bench.peers.qif:optimal_line", {"n": 100, "epsilon": "0.1", "loss": "absolute"}),
        target=1000.0,
        agree=1e-6,
        unit="mechanisms",
        rounds=3,
    ),
    Row(
        name="optimal on a line, absolute loss, dense",
        compares="nw.optimal with its channel as a matrix; aimed at: two seconds",
        size="2000 x 2000",
        ours=Task("bench.ours.optimal:line", {"n": 2000, "epsilon": "0.1", "dense": True}, {"n": 1000}),
        memory_limit=1024 * MB,
        unit="mechanisms",
    ),
    Row(
        name="optimal on a line, absolute loss, without a matrix",
        compares="nw.optimal, its certificate proved, and a draw for every secret",
        size="100,000 secrets",
        ours=Task("bench.ours.optimal:huge_line", {"n": 100_000, "epsilon": "0.1"}, {"n": 20_000}),
        memory_limit=512 * MB,
        unit="mechanisms",
    ),
    Row(
        name="optimal on a line, random loss",
        compares="nw.optimal by linear program, certified, against qif min_loss_given_d with CLP, its fastest here, with "
        "constraints between neighbours only and no proof",
        size="100 x 100",
        ours=Task("bench.ours.optimal:random_line", {"n": 100, "epsilon": "0.1"}),
        peer=Task("bench.peers.qif:optimal_line", {"n": 100, "epsilon": "0.1", "loss": "random"}),
        target=3.0,
        agree=1e-5,
        unit="mechanisms",
        rounds=3,
    ),
    Row(
        name="optimal on a line, random loss, large",
        compares="the same where qif's answer has an infinite loss",
        size="200 x 200",
        ours=Task("bench.ours.optimal:random_line", {"n": 200, "epsilon": "0.1"}, {"n": 100}),
        unit="mechanisms",
        rounds=2,
        seconds_limit=300.0,
    ),
    Row(
        name="optimal on a grid, squared loss, 5 % dilation",
        compares="nw.optimal in the plane, certified in the Euclidean metric; aimed at: five seconds",
        size="100 x 100",
        ours=Task("bench.ours.optimal:plane", {"n": 10, "epsilon": "0.5", "dilation": 1.05}, {"n": 6}),
        unit="mechanisms",
        rounds=3,
    ),
    Row(
        name="optimal on a grid, squared loss, every pair",
        compares="the same without any dilation",
        size="100 x 100",
        ours=Task("bench.ours.optimal:plane", {"n": 10, "epsilon": "0.5", "dilation": 1.0}, {"n": 6}),
        unit="mechanisms",
        rounds=3,
    ),
    Row(
        name="optimal on a larger grid, squared loss, 5 % dilation",
        compares="the same with 225 places",
        size="225 x 225",
        ours=Task("bench.ours.optimal:plane", {"n": 15, "epsilon": "0.5", "dilation": 1.05}, {"n": 8}),
        unit="mechanisms",
        rounds=2,
        seconds_limit=300.0,
    ),
    Row(
        name="optimal mechanisms for random problems",
        compares="lines, planes and categories at budgets from 1e-6 to 50; every certificate is verified",
        size="1000 problems",
        ours=Task("bench.ours.optimal:many", {"problems": 1000}, {"problems": 50}),
        unit="mechanisms",
        rounds=1,
        seconds_limit=600.0,
    ),
    Row(
        name="kernels of a line",
        compares="every kernel mechanism, listed in whole numbers; there are 187",
        size="5 secrets, factor 2",
        ours=Task("bench.ours.optimal:kernel_list", {"n": 5, "factor": "2"}, {"n": 4}),
        unit="lists",
        rounds=3,
    ),
    Row(
        name="extreme mechanisms of categories",
        compares="every extreme point of the local polytope, listed exactly; there are 164,825",
        size="5 categories",
        ours=Task("bench.ours.optimal:extremes", {"m": 5}, {"m": 4}),
        unit="lists",
        rounds=2,
    ),
]
