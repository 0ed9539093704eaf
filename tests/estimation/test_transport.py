"""Kantorovich distances against three independent programs, and what they refuse."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import qif
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance

import noisewright as nw
from noisewright.estimation.comparison import kantorovich, total_variation
from noisewright.exceptions import DataError, MissingPartError, ParameterError

seeds = st.integers(0, 2**32 - 1)


def by_program(a, b, distances):
    """The transport problem as a linear program."""
    n = len(a)
    rows = np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))
    exact = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}  # 1e-7 is its own choice
    sums = {"A_eq": np.vstack(rows), "b_eq": np.concatenate([a, b])}
    found = linprog(distances.ravel(), **sums, method="highs", options=exact)
    assert found.status == 0
    return found.fun


@given(seeds, st.integers(1, 12))
def test_on_a_line_it_is_scipys(seed, n):
    rng = np.random.default_rng(seed)
    places = rng.choice(50, n, replace=False)
    a, b = rng.dirichlet(np.ones(n), size=2)
    assert kantorovich(a, b, places.tolist()) == pytest.approx(wasserstein_distance(places, places, a, b), abs=1e-9)


@given(seeds)
@example(587)
def test_for_any_metric_it_is_that_of_the_linear_program(seed):
    rng = np.random.default_rng(seed)
    points = [tuple(p) for p in rng.integers(0, 9, (7, 2)).tolist()]
    points = list(dict.fromkeys(points))
    a, b = rng.dirichlet(np.full(len(points), 0.5), size=2)
    for metric in (nw.metrics.Euclidean(), nw.metrics.Manhattan(), nw.metrics.Hamming()):
        found = kantorovich(a, b, points, metric)
        assert found == pytest.approx(by_program(a, b, metric.matrix(points)), abs=1e-9)


def test_it_is_that_of_an_independent_library():
    rng = np.random.default_rng(2)
    a, b = rng.dirichlet(np.ones(9), size=2)
    theirs = qif.metric.kantorovich(qif.metric.euclidean(qif.uint))
    assert kantorovich(a, b) == pytest.approx(theirs(a, b), abs=1e-6)


@given(seeds)
def test_the_discrete_metric_gives_total_variation(seed):
    a, b = np.random.default_rng(seed).dirichlet(np.ones(5), size=2)
    assert kantorovich(a, b, list("abcde")) == total_variation(a, b)
    assert kantorovich(a, b, list("abcde"), nw.metrics.Discrete()) == pytest.approx(
        by_program(a, b, 1 - np.eye(5)), abs=1e-9
    )
    assert total_variation(a, b) == pytest.approx(max(0.0, (a - b)[a > b].sum()))


@given(seeds)
def test_it_is_a_metric(seed):
    a, b, c = np.random.default_rng(seed).dirichlet(np.ones(6), size=3)
    assert kantorovich(a, a) == 0
    assert kantorovich(a, b) == pytest.approx(kantorovich(b, a))
    assert kantorovich(a, c) <= kantorovich(a, b) + kantorovich(b, c) + 1e-12


def test_signed_estimates_have_a_distance_on_a_line():
    assert kantorovich([1.7, -0.7], [1.0, 0.0]) == pytest.approx(0.7)
    with pytest.raises(DataError, match="project"):
        kantorovich([1.7, -0.7], [1.0, 0.0], [(0, 0), (1, 1)], nw.metrics.Euclidean())


def test_points_of_numpy_are_the_numbers_they_are():
    places = np.array([10, 0, 4])
    for points in (places, list(places), places.astype(np.float64), places.astype(np.float32)):
        assert kantorovich([0.5, 0.5, 0], [0, 0.5, 0.5], points) == pytest.approx(3)
    plane = np.array([[0, 0], [3, 4]])
    assert kantorovich([1, 0], [0, 1], plane, nw.metrics.Euclidean()) == pytest.approx(5)
    assert kantorovich([1, 0], [0, 1], plane.tolist(), nw.metrics.Euclidean()) == pytest.approx(5)


def test_points_need_no_order():
    assert kantorovich([0.5, 0.5, 0], [0, 0.5, 0.5], [10, 0, 4]) == pytest.approx(0.5 * 6)


def test_equal_populations_need_no_transport():
    assert kantorovich([0.5, 0.5], [0.5, 0.5], [(0, 0), (1, 1)], nw.metrics.Euclidean()) == 0


def test_without_pot_only_a_line_and_total_variation_are_left(monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    assert kantorovich([1, 0], [0, 1]) == 1
    with pytest.raises(MissingPartError, match=r"noisewright\[transport\]"):
        kantorovich([1, 0], [0, 1], [(0, 0), (1, 1)], nw.metrics.Euclidean())


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (([0.5, 0.5], [0.5, 0.4]), DataError, "masses differ"),
        (([0.5, 0.5], [1.0]), ParameterError, "one length"),
        (([], []), ParameterError, "one length"),
        (([0.5, float("nan")], [0.5, 0.5]), DataError, "finite"),
        (([0.5, 0.5], [0.5, 0.5], [1]), ParameterError, "1 points for 2"),
        (([0.5, 0.5], [0.5, 0.5], [0, float("inf")]), nw.NoisewrightError, "finite"),
        (([0.5, 0.5], [1.0, 0.0], [0, float("nan")]), ParameterError, "NaN"),
        (([0.5, 0.5], [1.0, 0.0], [0, 10**400]), nw.NoisewrightError, "finite"),
        (([1.0, 0.0], [0.0, 1.0], ["a", "a"]), ParameterError, "more than once"),
        (([1.0, 0.0], [0.0, 1.0], 2), ParameterError, "one point for each mass"),
        ((["a", "b"], ["a", "b"]), DataError, "finite numbers"),
        (([1e308, 1e308], [1e308, 1e308]), DataError, "added up"),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        kantorovich(*arguments)


def test_infinite_distances_and_large_problems_are_refused():
    apart = nw.metrics.Table(np.array([[0, np.inf], [np.inf, 0]]), ("a", "b"))
    with pytest.raises(ParameterError, match="finite distances"):
        kantorovich([1, 0], [0, 1], ["a", "b"], apart)
    many = [(i, 0) for i in range(6000)]
    a = np.r_[np.full(3000, 1 / 3000), np.zeros(3000)]
    with pytest.raises(ParameterError, match="5000 points"):
        kantorovich(a, a[::-1], many, nw.metrics.Manhattan())
