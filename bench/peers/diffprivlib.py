# mypy: disable-error-code="import-untyped,import-not-found,no-untyped-call"
"""diffprivlib: its mechanisms take one value a call."""

from __future__ import annotations

import numpy as np
from diffprivlib.mechanisms import Binary, ExponentialCategorical, GeometricTruncated, LaplaceBoundedDomain

from bench.clinic import COLUMNS, DIAGNOSES, kept, visits
from bench.work import Work

__all__ = ["binary_response", "bounded_laplace", "response", "truncated_geometric", "visits_columns"]


def truncated_geometric(n: int, size: int) -> Work:
    """``GeometricTruncated`` on 0 .. n - 1 with epsilon 1."""
    mechanism = GeometricTruncated(epsilon=1.0, sensitivity=1, lower=0, upper=n - 1)
    randomise = mechanism.randomise
    secrets = np.random.default_rng(1).integers(0, n, size).tolist()
    return Work(
        lambda: [randomise(secret) for secret in secrets],
        size,
        lambda drawn: float(np.abs(np.array(drawn) - np.array(secrets)).mean()),
    )


def bounded_laplace(high: int, size: int) -> Work:
    """``LaplaceBoundedDomain`` on 0 .. high with epsilon 1; its scale is found at the first call and kept."""
    mechanism = LaplaceBoundedDomain(epsilon=1.0, delta=0.0, sensitivity=1.0, lower=0.0, upper=float(high))
    randomise = mechanism.randomise
    secrets = np.random.default_rng(1).uniform(0, high, size).tolist()
    return Work(
        lambda: [randomise(secret) for secret in secrets],
        size,
        lambda drawn: float(np.abs(np.array(drawn) - np.array(secrets)).mean()),
    )


def response(categories: int, size: int) -> Work:
    """``ExponentialCategorical`` with one distance between all categories is k-ary randomised response."""
    names = [str(i) for i in range(categories)]
    utilities = [(a, b, 1.0) for i, a in enumerate(names) for b in names[i + 1 :]]
    randomise = ExponentialCategorical(epsilon=1.0, utility_list=utilities).randomise
    secrets = [names[i] for i in np.random.default_rng(1).integers(0, categories, size)]
    return Work(
        lambda: [randomise(secret) for secret in secrets],
        size,
        lambda drawn: sum(a == b for a, b in zip(drawn, secrets, strict=True)) / size,
    )


def binary_response(categories: int, size: int) -> Work:
    """``Binary``: randomised response on two categories."""
    assert categories == 2
    randomise = Binary(epsilon=1.0, value0="0", value1="1").randomise
    secrets = ["01"[i] for i in np.random.default_rng(1).integers(0, 2, size)]
    return Work(
        lambda: [randomise(secret) for secret in secrets],
        size,
        lambda drawn: sum(a == b for a, b in zip(drawn, secrets, strict=True)) / size,
    )


def visits_columns(rows: int) -> Work:
    """The five columns of the clinic, cell by cell; dates as days, without a gap, which its mechanisms do not know."""
    table = visits(rows)
    days = table["visit_date"].astype(np.int64)
    low, high = float(days.min()), float(days.max())
    utilities = [(a, b, 1.0) for i, a in enumerate(DIAGNOSES) for b in DIAGNOSES[i + 1 :]]
    columns = [
        (GeometricTruncated(epsilon=0.5, sensitivity=5, lower=0, upper=110).randomise, table["age"].tolist()),
        (ExponentialCategorical(epsilon=1.0, utility_list=utilities).randomise, table["diagnosis"].tolist()),
        (Binary(epsilon=1.0, value0="no", value1="yes").randomise, np.where(table["smoker"], "yes", "no").tolist()),
        (
            LaplaceBoundedDomain(epsilon=0.5, sensitivity=7.0, lower=low, upper=high).randomise,
            days.astype(float).tolist(),
        ),
        (
            LaplaceBoundedDomain(epsilon=0.5, sensitivity=100.0, lower=0.0, upper=2000.0).randomise,
            table["cost"].tolist(),
        ),
    ]

    def answer(drawn: list[list[object]]) -> float:
        return kept(*([a == b for a, b in zip(drawn[i], columns[i][1], strict=True)] for i in (1, 2)))

    return Work(lambda: [[draw(cell) for cell in cells] for draw, cells in columns], COLUMNS * rows, answer)
