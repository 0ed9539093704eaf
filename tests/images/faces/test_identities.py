"""Mixtures of known identities by least absolute deviations: against the primal program, and against the one that was printed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from noisewright.exceptions import DataError
from noisewright.images import identity_weights


def primal(X: Any, Y: Any, sign: int = 1, simplex: bool = False) -> tuple[Any, float]:
    """The program with one bound for each feature; ``sign=-1`` has the constraints as they were printed."""
    m, n = X.shape
    costs = np.concatenate([np.zeros(m), np.ones(n)])
    above = np.block([[-sign * X.T, -np.eye(n)], [sign * X.T, -np.eye(n)]])
    equal = {"A_eq": np.concatenate([np.ones(m), np.zeros(n)])[None], "b_eq": [1.0]} if simplex else {}
    free = (0, None) if simplex else (None, None)
    found = linprog(
        costs, A_ub=above, b_ub=np.concatenate([-Y, Y]), bounds=[free] * m + [(0, None)] * n, method="highs", **equal
    )
    return found.x[:m], found.fun


def test_im_fact_15_weights_of_two_identities_and_the_sign_of_the_printed_program() -> None:
    X, Y = np.array([[1.0, 0, 2], [0, 1, 1]]), np.array([0.5, 0.25, 1.25])
    found = identity_weights(X, Y)
    assert found.weights.tolist() == pytest.approx([0.5, 0.25])
    assert found.deviation == pytest.approx(0, abs=1e-12)
    assert primal(X, Y)[0].tolist() == pytest.approx([0.5, 0.25])
    assert primal(X, Y, sign=-1)[0].tolist() == pytest.approx([-0.5, -0.25])


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 6), st.integers(6, 25), st.integers(0, 2**32), st.booleans())
def test_im_fact_16_both_programs_have_one_value(known: int, features: int, seed: int, simplex: bool) -> None:
    random = np.random.default_rng(seed)
    X, Y = random.normal(size=(known, features)), random.normal(size=features)
    found = identity_weights(X, Y, simplex=simplex)
    assert found.deviation == pytest.approx(primal(X, Y, simplex=simplex)[1], rel=1e-8)
    if simplex:
        assert (found.weights >= 0).all()
        assert found.weights.sum() == pytest.approx(1)


def test_features_that_are_none_are_refused() -> None:
    for known, face in (([], []), ([[1, 2]], [1]), ([1, 2], [1, 2]), ([[]], [])):
        with pytest.raises(DataError, match="one row for each identity"):
            identity_weights(known, face)
    with pytest.raises(DataError, match="finite"):
        identity_weights([[np.nan, 1]], [1, 2])
