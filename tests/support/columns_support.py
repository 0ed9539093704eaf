"""Policies of one column, for every registered mechanism, with a column to perturb."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from noisewright.planning.column_plan import ColumnPlan, compile_column
from noisewright.policy.policy import Policy, as_policy

DAY = datetime.date
HALF_LINE = [0, float("inf")]


def policy_of(*columns: dict[str, Any], rows: int = 1) -> Policy:
    unit = {"column": "person", "rows": rows} if rows > 1 else {}
    whole = {"dataset": "test", "budget": {"epsilon": 10**6, "delta": "0.9"}, "floating": True, "unit": unit}
    return as_policy({**whole, "columns": list(columns)})


def plan_of(column: dict[str, Any], *types: pa.DataType, rows: int = 1) -> ColumnPlan:
    policy = policy_of(column, rows=rows)
    names = policy.columns[0].names
    return compile_column(policy.columns[0], 0, dict(zip(names, types, strict=True)), policy)


def column(mechanism: str, **more: Any) -> dict[str, Any]:
    return {"name": "x", "mechanism": mechanism, **more}


def pair(mechanism: str, **more: Any) -> dict[str, Any]:
    return {"name": ["x", "y"], "mechanism": mechanism, **more}


SPOTS = [[i, j] for i in range(4) for j in range(3)]

# The column of the policy, what a mechanism is given by hand, and the columns of Arrow that hold the same.
CASES: dict[str, tuple[dict[str, Any], Any, list[pa.Array]]] = {
    "geometric": (
        column("geometric", within=[0, 90], protect=5, epsilon=1),
        np.arange(91),
        [pa.array(range(91), pa.int8())],
    ),
    "geometric, any": (
        column("geometric", within=[0, 9], epsilon=2),
        np.arange(10),
        [pa.array(range(10), pa.uint16())],
    ),
    "laplace": (
        column("laplace", within=[0, 10], protect=0.3, epsilon=1),
        np.linspace(0, 10, 50),
        [pa.array(np.linspace(0, 10, 50))],
    ),
    "laplace, whole": (
        column("laplace", within=[0, 100], protect=3, epsilon="1/2"),
        np.arange(101),
        [pa.array(range(101), pa.int32())],
    ),
    "laplace, metric": (
        column("laplace", within=[0, 10], protect=0.3, epsilon=1, scope="metric"),
        np.linspace(0, 10, 50),
        [pa.array(np.linspace(0, 10, 50))],
    ),
    "laplace, half line": (
        column("laplace", within=HALF_LINE, protect=8, epsilon=2, scope="metric"),
        np.arange(50.0),
        [pa.array(range(50))],
    ),
    "randomised-response": (
        column("randomised-response", categories=["a", "b", "ß"], epsilon=1),
        ["a", "ß", "b", "a"],
        [pa.array(["a", "ß", "b", "a"]).dictionary_encode()],
    ),
    "randomised-response, flags": (
        column("randomised-response", categories=[True, False], epsilon=1),
        [True, False, False],
        [pa.array([True, False, False])],
    ),
    "randomised-response, pairs": (
        pair("randomised-response", categories=[["a", 1], ["a", 2], ["b", 1]], epsilon=1),
        [("a", 1), ("b", 1), ("a", 2)],
        [pa.array(["a", "b", "a"], pa.large_string()), pa.array([1, 1, 2], pa.int8())],
    ),
    "exponential": (
        column("exponential", points=[0, 1, 3, 7.5], epsilon=1),
        [0, 7.5, 3, 1],
        [pa.array([0, 7.5, 3, 1])],
    ),
    "exponential, plane": (
        pair("exponential", points=SPOTS, metric="euclidean", epsilon=3),
        [tuple(spot) for spot in SPOTS],
        [pa.array([s[0] for s in SPOTS], pa.int8()), pa.array([s[1] for s in SPOTS], pa.float32())],
    ),
    "metric-realising": (
        column("metric-realising", points=["n", "s"], metric="discrete", epsilon=2),
        ["n", "s", "s"],
        [pa.array(["n", "s", "s"])],
    ),
    "planar-laplace": (
        pair("planar-laplace", protect=200, epsilon="1.4"),
        np.array([[0.5, 1], [-3, 4]]),
        [pa.array([0.5, -3]), pa.array([1.0, 4])],
    ),
    "planar-geometric": (
        pair("planar-geometric", points=SPOTS, protect=2, epsilon=1),
        np.array(SPOTS),
        [pa.array([s[0] for s in SPOTS]), pa.array([s[1] for s in SPOTS])],
    ),
    "geo-laplace": (
        pair("geo-laplace", protect=200, epsilon="1.4", reference=[48.85, 2.35]),
        np.array([[48.85, 2.3], [48.9, 2.4]]),
        [pa.array([48.85, 48.9]), pa.array([2.3, 2.4])],
    ),
    "spherical-laplace": (
        pair("spherical-laplace", protect=2, epsilon=1),
        np.array([[0.5, 1], [-3, 4]]),
        [pa.array([0.5, -3]), pa.array([1.0, 4])],
    ),
    "product-laplace": (
        pair("product-laplace", protect=2, epsilon=1),
        np.array([[0.5, 1], [-3, 4]]),
        [pa.array([0.5, -3]), pa.array([1.0, 4])],
    ),
    "curve": (
        pair("curve", grid=[0, 1], within=[-5, 5], protect=2, epsilon=1),
        np.array([[0.5, 1], [-3, 4]]),
        [pa.array([0.5, -3]), pa.array([1.0, 4])],
    ),
    "snapped-laplace": (
        column("snapped-laplace", within=[[0, 4], [9, 20]], epsilon=2),
        np.array([0, 4, 9, 20]),
        [pa.array([0, 4, 9, 20], pa.int64())],
    ),
    "staircase": (column("staircase", within=[0, 40], protect=3, epsilon=1), np.arange(41.0), [pa.array(range(41))]),
    "gaussian": (
        column("gaussian", within=[0, 40], protect=3, epsilon=1, delta="1e-5"),
        np.arange(41.0),
        [pa.array(range(41), pa.float32())],
    ),
    "approximate-laplace": (
        column("approximate-laplace", within=[0, 40], protect=3, epsilon=1, delta="0.01"),
        np.arange(41.0),
        [pa.array(range(41))],
    ),
    "truncated-laplace": (
        column("truncated-laplace", within=[0, 9], protect=0.3, epsilon=1),
        np.linspace(0, 9, 40),
        [pa.array(np.linspace(0, 9, 40))],
    ),
    "explicit-fair": (
        column("explicit-fair", within=[0, 9], epsilon=2),
        np.arange(10),
        [pa.array(range(10), pa.int8())],
    ),
    "uniform": (column("uniform", points=["a", "b"]), ["a", "b"], [pa.array(["a", "b"], pa.string_view())]),
}


def plan_of_case(name: str, rows: int = 1) -> ColumnPlan:
    stated, _, arrays = CASES[name]
    return plan_of(stated, *(array.type for array in arrays), rows=rows)
