"""Rows about estimation: frequency oracles from values to shares, and populations from counts."""

from __future__ import annotations

from bench.rows import Row, Task

__all__ = ["ROWS"]

MILLION = 1_000_000
CALLS = {
    "pure_ldp": "pure-ldp, one call a user on both sides as it offers",
    "multi_freq_ldpy": "multi-freq-ldpy, its compiled client called for each user and its own aggregator",
}


def _oracle(name: str, kind: str, peer: str, users: int, quick: int, target: float) -> Row:
    arguments = {"kind": kind, "categories": 100, "epsilon": "1"}
    return Row(
        name=f"{name} vs {peer.replace('_', '-')}",
        compares=f"release and nw.estimate against {CALLS[peer]}",
        size="1e6 users, 100 categories",
        ours=Task("bench.ours.estimate:oracle", {**arguments, "users": MILLION}),
        peer=Task(f"bench.peers.{peer}:oracle", {**arguments, "users": users}, {"users": quick}),
        target=target,
        agree=0.15,  # the share of the peer's few users varies
        unit="users",
    )


def _gap(name: str, function: str, way: str, iterations: int, gap: float, target: float | None) -> Row:
    """Ours to a certified gap, which is a little below that of qif after so many steps; both sides check that it is so."""
    problem = {"n": 101, "rate": 0.1, "gap": gap}
    return Row(
        name=f"{name} to the gap of {iterations} steps vs qif",
        compares=f"{way} to a certified gap of {gap:g}, against the {iterations} steps of qif iterative_bayesian_update to it",
        size="n = 101",
        ours=Task(f"bench.ours.estimate:{function}", problem),
        peer=Task("bench.peers.qif:bayesian_update", {**problem, "iterations": iterations}),
        target=target,
        agree=gap / 4,  # the log-likelihood is about -4, and each side is within the gap of the best
        unit="populations",
    )


def _own(name: str, kind: str, categories: int) -> Row:
    return Row(
        name=name,
        compares="release and nw.estimate, all shares",
        size=f"1e6 users, {categories} categories",
        ours=Task(
            "bench.ours.estimate:oracle",
            {"kind": kind, "categories": categories, "users": MILLION, "epsilon": "1"},
            {"users": MILLION // 10},
        ),
        unit="users",
        rounds=3,
    )


ROWS = [
    _oracle("k-ary response", "response", "pure_ldp", 200_000, 50_000, 5.0),
    _oracle("k-ary response", "response", "multi_freq_ldpy", 200_000, 50_000, 5.0),
    _oracle("optimised unary encoding", "unary", "pure_ldp", 40_000, 20_000, 20.0),
    _oracle("optimised unary encoding", "unary", "multi_freq_ldpy", 100_000, 40_000, 20.0),
    _oracle("optimised local hashing", "hashing", "pure_ldp", 20_000, 10_000, 20.0),
    _oracle("optimised local hashing", "hashing", "multi_freq_ldpy", 20_000, 10_000, 20.0),
    _own("subset selection", "subset", 100),
    _own("Hadamard response", "hadamard", 100),
    _own("Hadamard response, a million categories", "hadamard", MILLION),
    _gap("most likely population", "likely", "Newton steps", 5000, 1.135e-4, 10.0),
    _gap("most likely population", "likely", "Newton steps", 35_000, 1e-5, 10.0),
    _gap("accelerated update", "accelerated", "strides", 5000, 1.135e-4, None),
    Row(
        name="iterative Bayesian update vs qif",
        compares="5000 steps and the certificate on both sides of the same matrix, in C++ there",
        size="n = 101",
        ours=Task("bench.ours.estimate:update", {"n": 101, "rate": 0.1, "iterations": 5000}),
        peer=Task("bench.peers.qif:bayesian_update", {"n": 101, "rate": 0.1, "iterations": 5000}),
        agree=1e-6,
        unit="populations",
    ),
    Row(
        name="iterative Bayesian update, geometric",
        compares="steps without a matrix, and the certificate; the aim is 0.2 s a step",
        size="n = 1e6",
        ours=Task("bench.ours.estimate:geometric_update", {"n": MILLION, "iterations": 10}, {"n": 100_000}),
        unit="steps",
        rounds=3,
    ),
    Row(
        name="iterative Bayesian update, plane",
        compares="steps by fast Fourier transforms, and the certificate",
        size="1000 x 1000",
        ours=Task("bench.ours.estimate:planar_update", {"side": 1000, "iterations": 5}, {"side": 200}),
        unit="steps",
        rounds=2,
    ),
]
