"""The nearest mixture of points to the origin, against an independent solver and its own conditions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from noisewright.estimation.fitting import LARGEST_HULL as LARGEST_SUPPORT
from noisewright.estimation.fitting import most_likely, nearest_mixture, peaks
from noisewright.estimation.operators import DenseOperator


def by_least_squares(points):
    """Non-negative least squares with one more equation has the same solution but for its scale (Dax 1990)."""
    n, width = points.shape
    found, _ = nnls(np.vstack([points.T, np.ones(n)]), np.append(np.zeros(width), 1.0), maxiter=100 * n)
    return found / found.sum()


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 40), st.floats(-2, 2), st.floats(0, 1))
def test_it_is_that_of_an_independent_solver(seed, n, width, away, first):
    rng = np.random.default_rng(seed)
    points = rng.normal(away, 1, (n, width))
    found = nearest_mixture(points, rng.random(n) < first)
    if found is None:  # nothing to start from, or the origin lies inside, where many mixtures are as near
        return
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1, abs=1e-12)
    near = found @ points
    other = by_least_squares(points) @ points
    assert near @ near <= other @ other + 1e-9
    # No point lies on the near side of the plane through the nearest mixture.
    assert (points @ near >= near @ near - 1e-8).all()


@pytest.mark.parametrize("first", ["the answer", "one point", "all points"])
def test_any_first_support_leads_to_the_same(first):
    rng = np.random.default_rng(5)
    points = np.exp(-np.abs(np.arange(60)[:, None] - np.linspace(-5, 65, 80)) / 6) - rng.uniform(0.3, 0.9, 80)
    answer = by_least_squares(points)
    support = {"the answer": answer > 0, "one point": np.arange(60) == 20, "all points": np.ones(60, bool)}[first]
    kept = support.copy()
    assert nearest_mixture(points, support) == pytest.approx(answer, abs=1e-9)
    assert (support == kept).all()
    assert 1 < (answer > 0).sum() < 30


def test_it_leaves_undecided_what_it_cannot_solve():
    """Points that depend on each other, none at all, and more than it takes on."""
    twice = np.array([[1.0, 2.0, 0.5], [1.0, 2.0, 0.5], [3.0, 1.0, 4.0]])
    assert nearest_mixture(twice, np.array([True, True, False])) is None
    assert nearest_mixture(twice, np.zeros(3, bool)) is None
    many = np.eye(LARGEST_SUPPORT + 1)
    assert nearest_mixture(many, np.ones(len(many), bool)) is None
    fewer = many[1:]
    assert nearest_mixture(fewer, np.ones(len(fewer), bool)) == pytest.approx(np.full(len(fewer), 1 / len(fewer)))


def test_peaks_are_at_least_as_high_as_their_neighbours():
    assert peaks(np.array([2.0])).tolist() == [True]
    assert peaks(np.array([2.0, 2.0, 1.0, 0.0, 3.0, -np.inf])).tolist() == [True, True, False, False, True, False]


@given(st.integers(0, 2**32 - 1), st.integers(3, 12), st.integers(2, 5))
def test_points_that_depend_on_each_other_do_not_lead_it_astray(seed, n, width):
    """All points lie in one plane, as the rows of a mechanism with few outputs do; then too many solutions fit the equations."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(width))
    points = (rng.dirichlet(np.ones(width), n) / rng.dirichlet(np.full(width, 50.0)) - 2) * np.sqrt(shares)
    found = nearest_mixture(points, np.arange(n) < width + 1)
    if found is None:
        return
    near = found @ points
    assert (points @ near >= near @ near - 1e-8).all()


def test_a_most_likely_population_of_many_secrets_behind_two_outputs():
    """Many populations are most likely, and the equations of three points on a line are singular but for rounding."""
    first = [0.48328756294991765, 0.8440769873481656, 0.5804231362125586, 0.34675126580825605, 0.31291212903543036]
    matrix = np.column_stack([first, 1 - np.array(first)])
    shares = np.array([0.5611465960429973, 1 - 0.5611465960429973])
    found = most_likely(shares, DenseOperator(matrix))
    assert found.converged
    assert found.likelihood.gap < 1e-9
    assert found.probabilities @ matrix == pytest.approx(shares, abs=1e-6)
