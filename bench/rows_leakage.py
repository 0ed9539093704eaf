"""Rows about leakage: vulnerability, refinement, and the largest safe epsilon."""

from __future__ import annotations

from bench.rows import Row, Task

__all__ = ["ROWS"]


def _refinement(which: str, compares: str, target: float | None) -> Row:
    arguments = {"n": 40, "pairs": 10, "which": which}
    return Row(
        name=f"average-case refinement, {which}",
        compares=f"random channels, from bare matrices, against qif refinement.refined_by; {compares}",
        size="40 x 40",
        ours=Task("bench.ours.leakage:refinement", arguments, {"n": 20}),
        peer=Task("bench.peers.qif:refinement", arguments, {"n": 20}),
        target=target,
        agree=1e-9,
        unit="pairs",
    )


def _exact(which: str) -> Row:
    return Row(
        name=f"exact comparison, {which}",
        compares="all three orders both ways between certified exponential mechanisms, in the integers they draw from",
        size="20 secrets" if which == "20" else "40 secrets",
        ours=Task("bench.ours.leakage:exact_comparison", {"n": int(which)}, {"n": 10}),
        unit="comparisons",
        rounds=3,
    )


def _closed(first: str, second: str) -> Row:
    return Row(
        name=f"closed-form refinement, {first} to {second}",
        compares="members of families at n = 1000; the aim is a second",
        size="1000 x 1000",
        ours=Task("bench.ours.leakage:closed", {"first": first, "second": second, "n": 1000}, {"n": 200}),
        unit="answers",
        rounds=3,
    )


ROWS = [
    _refinement("both outcomes", "half of the pairs refine", 3.0),
    _refinement("refining", "all refine: a solve and its check on both sides, in C++ there", None),
    _refinement("not refining", "none refines; ours returns a gain whose gap is exact", None),
    _exact("20"),
    _exact("40"),
    _closed("geometric", "response"),
    _closed("response", "geometric"),
    _closed("exponential", "geometric"),
    Row(
        name="posterior vulnerability, 1000 actions",
        compares="nw.leakage against one matrix product of the same size in numpy; within twice its time",
        size="1000 x 1000",
        ours=Task("bench.ours.leakage:posterior_vulnerability", {"n": 1000}, {"n": 300}),
        peer=Task("bench.ours.leakage:matrix_product", {"n": 1000}, {"n": 300}),
        target=0.5,
        agree=1e-9,
        unit="vulnerabilities",
        own_peer=True,
    ),
    Row(
        name="safe replacement, exponential for response",
        compares="the largest safe epsilon at 50 secrets, all three orders",
        size="50 secrets",
        ours=Task("bench.ours.leakage:safe_replacement", {"n": 50}, {"n": 10}),
        unit="epsilons",
        rounds=3,
    ),
]
