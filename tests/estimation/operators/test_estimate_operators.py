"""Operators without a matrix give the products of their matrix, forwards, backwards and undone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noisewright as nw
from noisewright.estimation.counts import independent, model_of, planar_grid
from noisewright.estimation.inverses import PlanarOperator
from noisewright.estimation.operators import (
    DenseOperator,
    GeometricOperator,
    ProductOperator,
    ResponseOperator,
    StackedOperator,
    dense_matrix,
)
from noisewright.exceptions import ParameterError


def operators():
    line, response = GeometricOperator(7, 0.3), ResponseOperator(4, 0.1, 0.6)
    rng = np.random.default_rng(5)
    wide = DenseOperator(rng.dirichlet(np.ones(9), size=7))
    return {
        "geometric": line,
        "two secrets": GeometricOperator(2, 2.0),
        "response": response,
        "wide": wide,
        "product": ProductOperator([line, response]),
        "three parts": ProductOperator([response, GeometricOperator(3, 1.0), ResponseOperator(2, 0.25, 0.5)]),
        "stacked": StackedOperator([line, GeometricOperator(7, 1.0), wide], [0.5, 0.2, 0.3]),
        "planar": PlanarOperator(5, 4, 0.5),
        "small plane": PlanarOperator(2, 3, 1.5),
    }


@pytest.mark.parametrize("name", list(operators()))
def test_products_are_those_of_the_matrix(name):
    operator = operators()[name]
    n, m = operator.shape
    rng = np.random.default_rng(1)
    matrix = dense_matrix(operator)
    assert matrix.shape == (n, m)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(n), abs=1e-14)
    p, r = rng.dirichlet(np.ones(n), size=(2, 3)), rng.random((2, 3, m))
    assert operator.forward(p) == pytest.approx(p @ matrix, abs=1e-15)
    assert operator.backward(r) == pytest.approx(r @ matrix.T, abs=1e-14)
    assert operator.forward(p[0, 0]) == pytest.approx(p[0, 0] @ matrix, abs=1e-15)


@pytest.mark.parametrize("name", list(operators()))
def test_inverses_undo_and_know_their_squares(name):
    operator = operators()[name]
    n, m = operator.shape
    matrix = dense_matrix(operator)
    inverse = operator.inverse()
    whole = inverse.left(np.eye(m))
    assert inverse.shape == (m, n)
    assert matrix @ whole == pytest.approx(np.eye(n), abs=1e-11)
    rng = np.random.default_rng(2)
    q, w = rng.dirichlet(np.ones(m)), rng.random((3, n))
    assert inverse.left(q) == pytest.approx(q @ whole, abs=1e-11)
    assert inverse.right(w) == pytest.approx(w @ whole.T, abs=1e-11)
    moved = np.column_stack([inverse.centred(column, q) for column in whole.T])
    assert q @ moved == pytest.approx(q @ whole, abs=1e-11)
    assert inverse.squares(q) == pytest.approx(q @ moved**2, rel=1e-9)
    assert inverse.squares(np.array([q, q]))[1] == pytest.approx(inverse.squares(q), rel=1e-12)
    assert np.array(inverse.extremes(q)) == pytest.approx(np.array([moved.min(axis=0), moved.max(axis=0)]), abs=1e-9)
    assert np.array(inverse.extremes()) == pytest.approx(np.array([whole.min(axis=0), whole.max(axis=0)]), abs=1e-9)
    assert inverse.amplification == pytest.approx(np.abs(whole).sum(axis=1).max(), rel=1e-10)


@given(st.integers(2, 40), st.floats(1e-3, 30), st.integers(0, 2**32 - 1))
def test_geometric_recursions_are_right_in_every_entry(size, rate, seed):
    """Relative, not only absolute: probabilities of 1e-200 matter to a likelihood."""
    operator = GeometricOperator(size, rate)
    matrix = nw.geometric(epsilon=rate, within=(0, size - 1)).channel().matrix
    p = np.random.default_rng(seed).dirichlet(np.ones(size))
    with np.errstate(divide="ignore", invalid="ignore"):
        assert operator.forward(p) == pytest.approx(p @ matrix, rel=1e-12)
    assert operator.rows(np.arange(size)) == pytest.approx(matrix, rel=1e-12)


@pytest.mark.parametrize(("columns", "rows", "epsilon"), [(9, 6, "0.3"), (3, 11, "0.05"), (20, 20, "1")])
def test_the_plane_is_that_of_the_mechanism(columns, rows, epsilon):
    mechanism = nw.mechanisms.planar_geometric(
        nw.mechanisms.Grid(columns, rows, step=50), epsilon=f"{float(epsilon) / 50}"
    )
    matrix = mechanism.channel().matrix
    operator = PlanarOperator(columns, rows, float(epsilon))
    n = columns * rows
    assert operator.rows(np.arange(n)) == pytest.approx(matrix, abs=2e-13)
    assert operator.forward(np.eye(n)) == pytest.approx(matrix, abs=2e-13)
    assert operator.backward(np.eye(n)) == pytest.approx(matrix.T, abs=2e-13)
    listed, whole = (
        model_of(mechanism),
        planar_grid(nw.mechanisms.Grid(columns, rows, step=50), epsilon=f"{float(epsilon) / 50}"),
    )
    assert list(whole.secrets) == list(listed.secrets) == list(mechanism.points)


@pytest.mark.parametrize("seed", range(5))
def test_what_transforms_are_off_by_stays_within_its_bound(seed):
    rng = np.random.default_rng(seed)
    operator = PlanarOperator(31, 17, [0.05, 0.2, 1.0, 3.0, 8.0][seed])
    matrix = dense_matrix(operator)
    for p in (rng.dirichlet(np.full(527, 0.02)), np.eye(527)[5], np.full(527, 1 / 527)):
        assert np.abs(operator.forward(p) - p @ matrix).max() <= operator.forward_error(p) + 1e-18
    r = rng.exponential(size=527) * (rng.random(527) < 0.3)
    assert np.abs(operator.backward(r) - matrix @ r).max() <= operator.backward_error(r) + 1e-15 * np.abs(r).sum()


def test_a_million_secrets_keep_their_mass():
    operator = GeometricOperator(1_000_000, 1e-3)
    p = np.zeros(1_000_000)
    p[[0, 400_000, 999_999]] = [0.2, 0.5, 0.3]
    law = operator.forward(p)
    assert law.sum() == pytest.approx(1, abs=1e-12)
    assert operator.inverse().left(law)[[0, 400_000, 999_999, 7]] == pytest.approx([0.2, 0.5, 0.3, 0], abs=1e-9)
    assert operator.backward(np.ones(1_000_000)) == pytest.approx(np.ones(1_000_000), abs=1e-11)


def test_parts_of_a_report_are_independent():
    model = independent(nw.geometric(epsilon=1, within=(0, 3)), nw.randomised_response(["a", "b"], epsilon=1))
    first = nw.geometric(epsilon=1, within=(0, 3)).channel().matrix
    second = nw.randomised_response(["a", "b"], epsilon=1).channel().matrix
    assert dense_matrix(model.operator) == pytest.approx(np.kron(first, second), abs=1e-15)
    assert model.secrets[3] == (1, "b")
    assert model.secrets[-1] == (3, "b")
    assert len(list(model.secrets)) == 8


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: DenseOperator([[0.5, 0.6], [0.5, 0.5]]), "sum to 1"),
        (lambda: DenseOperator([0.5, 0.5]), "a row for each secret"),
        (lambda: ResponseOperator(3, 0.5, 0.5), "size \\* other"),
        (lambda: GeometricOperator(5, 0.0), "rate above 0"),
        (lambda: PlanarOperator(1, 5, 1.0), "2 by 2"),
        (lambda: PlanarOperator(5, 5, 1e-6), "coarser grid"),
        (lambda: ProductOperator([PlanarOperator(2, 2, 1.0), ResponseOperator(2, 0.25, 0.5)]), "planar"),
        (lambda: ProductOperator([ResponseOperator(2, 0.25, 0.5)]), "2 or more"),
        (lambda: StackedOperator([GeometricOperator(3, 1.0), GeometricOperator(4, 1.0)], [0.5, 0.5]), "same secrets"),
        (lambda: StackedOperator([GeometricOperator(3, 1.0)], [0.5]), "shares must sum to 1"),
        (lambda: ResponseOperator(3, 1 / 3, 0.0).inverse(), "cannot be inverted"),
        (lambda: DenseOperator([[0.5, 0.5], [0.5, 0.5]]).inverse(), "cannot be inverted"),
        (lambda: DenseOperator([[0.5, 0.5], [0.2, 0.8], [0.3, 0.7]]).inverse(), "cannot be inverted"),
        (lambda: GeometricOperator(3, 1e-14).inverse(), "cannot be inverted"),
        (lambda: PlanarOperator(80, 80, 1.0).inverse(), "at most 3000 places"),
        (lambda: dense_matrix(GeometricOperator(100_000, 1.0)), "too large"),
    ],
)
def test_what_makes_no_operator_is_refused(build, words):
    with pytest.raises(ParameterError, match=words):
        build()
