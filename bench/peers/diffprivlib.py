# mypy: disable-error-code="import-untyped,import-not-found,no-untyped-call"
"""diffprivlib: its mechanisms take one value a call."""

from __future__ import annotations

import numpy as np
from diffprivlib.mechanisms import Binary, ExponentialCategorical, GeometricTruncated, LaplaceBoundedDomain

from bench.work import Work

__all__ = ["binary_response", "bounded_laplace", "response", "truncated_geometric"]


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
