# mypy: disable-error-code="import-untyped,import-not-found,no-any-return,no-untyped-call"
"""OpenDP: integer vectors through one call of a measurement, which is its fastest way."""

from __future__ import annotations

from typing import Any

import numpy as np
import opendp.prelude as dp

from bench.clinic import COLUMNS, DIAGNOSES, kept, visits
from bench.work import Work

__all__ = ["float_laplace", "gaussian", "laplace", "response", "visits_columns"]

dp.enable_features("contrib")


def laplace(scale: int, size: int) -> Work:
    """``make_laplace`` on a vector of integers."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    return _vector(dp.m.make_laplace(*space, scale=float(scale)), size)


def float_laplace(scale: int, size: int) -> Work:
    """``make_laplace`` on a vector of floats."""
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    measurement = dp.m.make_laplace(*space, scale=float(scale))
    values = np.random.default_rng(1).uniform(-1000, 1000, size)
    return Work(lambda: measurement(values), size, lambda noisy: float(np.abs(np.array(noisy) - values).mean()))


def gaussian(sigma: int, size: int) -> Work:
    """``make_gaussian`` on a vector of integers."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    return _vector(dp.m.make_gaussian(*space, scale=float(sigma)), size)


def response(categories: int, size: int) -> Work:
    """``make_randomized_response``: it takes one value a call."""
    keep = np.e / (categories - 1 + np.e)
    measurement = dp.m.make_randomized_response(categories=list(range(categories)), prob=float(keep))
    secrets = np.random.default_rng(1).integers(0, categories, size).tolist()
    return Work(
        lambda: [measurement(secret) for secret in secrets],
        size,
        lambda drawn: sum(a == b for a, b in zip(drawn, secrets, strict=True)) / size,
    )


def visits_columns(rows: int) -> Work:
    """The five columns of the clinic: numbers as whole vectors with unbounded noise, categories one by one."""
    table = visits(rows)
    whole = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    real = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    vectors = [
        (dp.m.make_laplace(*whole, scale=10.0), table["age"].astype(np.int32)),
        (dp.m.make_laplace(*whole, scale=14.0), table["visit_date"].astype(np.int64).astype(np.int32)),
        (dp.m.make_laplace(*real, scale=200.0), table["cost"]),
    ]
    labels = [
        (_keeping(DIAGNOSES), table["diagnosis"].tolist()),
        (_keeping(["no", "yes"]), np.where(table["smoker"], "yes", "no").tolist()),
    ]

    def run() -> list[list[str]]:
        for measurement, column in vectors:
            measurement(column)
        return [[draw(cell) for cell in cells] for draw, cells in labels]

    def answer(drawn: list[list[str]]) -> float:
        pairs = zip(drawn, (cells for _, cells in labels), strict=True)
        return kept(*([a == b for a, b in zip(noisy, cells, strict=True)] for noisy, cells in pairs))

    return Work(run, COLUMNS * rows, answer)


def _keeping(categories: list[str]) -> Any:
    """Randomised response with epsilon 1."""
    keep = float(np.e / (len(categories) - 1 + np.e))
    return dp.m.make_randomized_response(categories=categories, prob=keep)


def _vector(measurement: Any, size: int) -> Work:
    values = np.random.default_rng(1).integers(-1000, 1000, size).astype(np.int32)
    return Work(
        lambda: measurement(values), size, lambda noisy: float(np.abs(np.array(noisy, dtype=np.int64) - values).mean())
    )
