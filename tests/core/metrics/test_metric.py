"""Metrics: axioms, exact lower bounds, and refusals that name the axiom and the points."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from core_support import euclidean_below, random_metric, seeds
from hypothesis import given, settings
from hypothesis import strategies as st

from noisewright.exceptions import MetricError, ParameterError
from noisewright.metrics.base import Angular, Discrete, Euclidean, Hamming, Line, Manhattan, Metric, Table, named_metric
from noisewright.metrics.composite import EarthMovers, Maximum, Product, Scaled, Sum
from noisewright.metrics.distances import LineDistances, TableDistances, UniformDistances

INF = math.inf
finite = st.floats(-1e6, 1e6, allow_subnormal=False)
vectors = st.lists(st.tuples(finite, finite, finite), min_size=2, max_size=5, unique=True)
METRICS: list[Metric] = [
    Discrete(),
    Euclidean(),
    Manhattan(),
    Hamming(),
    Angular(),
    EarthMovers(Line()),
    Euclidean() + Discrete(),
    Euclidean() | Manhattan(),
    Fraction(2, 7) * Manhattan(),
    Product((Line(), Line(), Discrete())),
    Product((Line(), Line(), Line()), "max"),
]


@given(vectors)
@settings(max_examples=40)
@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_axioms(metric: Metric, points: list[tuple[float, ...]]) -> None:
    if isinstance(metric, Angular):
        points = [p for p in points if any(p)] or [(1.0, 0.0, 0.0)]
    distances = metric.matrix(points)
    assert (distances == distances.T).all()
    assert (np.diag(distances) == 0).all()
    assert (distances >= 0).all()
    detours = (distances[:, :, None] + distances[None, :, :]).min(axis=1)
    assert (distances <= detours * (1 + 1e-9) + 1e-15).all()


@given(vectors)
@settings(max_examples=40)
@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_exact_distances_are_close_and_never_far_above(metric: Metric, points: list[tuple[float, ...]]) -> None:
    if isinstance(metric, Angular):
        points = [p for p in points if any(p)] or [(1.0, 0.0, 0.0)]
    floats, exact = metric.matrix(points), metric.exact(points)
    for i, j in itertools.combinations(range(len(points)), 2):
        between = exact.between(i, j)
        assert between is not None
        assert float(between) == pytest.approx(floats[i, j], rel=1e-12, abs=1e-14)
        assert between == exact.between(j, i)


@given(vectors)
@settings(max_examples=60)
def test_euclidean_lower_bounds_are_below_the_root_and_tight(points: list[tuple[float, ...]]) -> None:
    exact = Euclidean().exact(points)
    for i, j in itertools.combinations(range(len(points)), 2):
        between, square = (
            exact.between(i, j),
            sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(points[i], points[j], strict=True)),
        )
        assert between is not None
        assert between * between <= square
        assert between * (1 + Fraction(1, 2**60)) >= euclidean_below(points[i], points[j])


def test_rational_roots_are_exact() -> None:
    assert Euclidean().exact([(0, 0), (3, 4)]).between(0, 1) == 5
    assert Euclidean().exact([(Fraction(3, 7), Fraction(4, 7)), (0, 0)]).between(0, 1) == Fraction(5, 7)


@given(st.lists(st.one_of(st.integers(-(10**30), 10**30), st.fractions(), finite), min_size=2, max_size=5))
@settings(max_examples=150)
def test_line_distances_of_exact_numbers_are_correctly_rounded(points: list[Fraction]) -> None:
    distances = Line().matrix(points)
    for i, j in itertools.product(range(len(points)), repeat=2):
        assert distances[i, j] == float(abs(Fraction(points[i]) - Fraction(points[j])))
    assert Line().exact(points) == LineDistances(tuple(Fraction(p) for p in points))


def test_integers_beyond_the_precision_of_floats_keep_their_distance() -> None:
    assert Line().distance(2**53 + 1, 2**53 + 3) == 2.0


def test_distances_too_large_for_a_float_are_never_infinite() -> None:
    largest = np.finfo(np.float64).max
    assert Line().distance(-1.5e308, 1.5e308) == largest
    assert Manhattan().distance((1e308, 1e308), (0, 0)) == largest
    assert Euclidean().distance((0, 0), (3e200, 4e200)) == pytest.approx(5e200)
    assert Euclidean().distance((0, 0), (3e-200, 4e-200)) == pytest.approx(5e-200)
    assert (Line() + Line()).distance(0, 1.5e308) == largest
    assert (10**9 * Line()).distance(0, 1e305) == largest
    assert (Table([[0, INF], [INF, 0]]) + Line()).distance(0, 1) == INF
    assert (2 * Table([[0, INF], [INF, 0]])).distance(0, 1) == INF


def test_angles_do_not_depend_on_the_length_of_vectors() -> None:
    assert Angular().distance((1e200, 0), (1, 0)) == 0
    assert Angular().distance((1e-200, 1e-200), (1, 0)) == pytest.approx(0.25)
    assert Angular().distance((1, 0), (-1, 0)) == pytest.approx(1.0)
    assert Angular().distance((1, 0), (0, 3)) == pytest.approx(0.5)


def test_values_by_hand() -> None:
    assert Line().distance(3, 5) == 2
    assert Discrete().distance("a", "b") == 1
    assert Hamming().distance("karolin", "kathrin") == 3
    assert Manhattan().distance((1, 2), (4, 6)) == 7
    assert EarthMovers(Line()).distance((0, 1), (5, 1)) == 2.5
    assert EarthMovers(Line()).distance((0, 1), (1, 0)) == 0
    assert Product((Line(), Discrete())).distance((1, "a"), (3, "b")) == 3
    assert Product((Line(), Discrete()), "max").distance((1, "a"), (3, "b")) == 2
    assert (Fraction(1, 2) * Line() + Discrete()).distance(3, 5) == 2
    assert (Line() | Discrete()).distance(0, Fraction(1, 2)) == 1
    assert Table([[0, 0, 1], [0, 0, 1], [1, 1, 0]], ("a", "b", "c")).distance("b", "c") == 1


def test_exact_shapes() -> None:
    assert Discrete().exact("abc") == UniformDistances(3, Fraction(1))
    assert Discrete().exact(["a", "b", "a"]).between(0, 2) == 0
    assert (3 * Line()).exact([0, 2]) == LineDistances((Fraction(0), Fraction(6)))
    assert Hamming().exact(["ab", "cd"]) == TableDistances(2, (Fraction(2),))
    table = Table([[0, INF], [INF, 0]])
    assert table.exact([0, 1]).between(0, 1) is None
    assert (table + Discrete()).exact([0, 1]).between(0, 1) is None
    assert Sum((Line(), Line())).exact([0, 3]).between(0, 1) == 6
    assert Maximum((Line(), Discrete())).exact([0, 3]).between(0, 1) == 3


def test_twins_components_and_groups() -> None:
    table = TableDistances.given(np.array([[0, 0, 2, INF], [0, 0, 1.5, INF], [2, 1.5, 0, INF], [INF, INF, INF, 0]]))
    assert table.twins() == [0, 0, 2, 3]
    assert table.components() == [0, 0, 0, 3]
    merged = table.merge([[0, 1], [2], [3]])
    assert merged.between(0, 1) == Fraction(3, 2)
    assert merged.between(0, 2) is None
    assert LineDistances((Fraction(1), Fraction(0), Fraction(1))).twins() == [0, 1, 0]


@given(seeds)
@settings(max_examples=50)
def test_table_accepts_every_metric_and_gives_it_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    distances = random_metric(rng, int(rng.integers(1, 6)))
    table = Table(distances)
    assert (table.matrix(range(len(distances))) == distances).all()
    order = list(rng.permutation(len(distances)))
    assert (table.matrix(order) == distances[np.ix_(order, order)]).all()


@pytest.mark.parametrize(
    ("distances", "message"),
    [
        ([[0, 1], [2, 0]], r"not symmetric: 'a' to 'b' is 1, but back it is 2"),
        ([[0, -1], [-1, 0]], r"from 'a' to 'b' is negative"),
        ([[0, math.nan], [1, 0]], r"from 'a' to 'b' is not a number"),
        ([[0, 1], [1, 3]], r"from 'b' to itself is 3; it must be 0"),
        ([[0, 1, 2]], r"square matrix of distances, not one of shape \(1, 3\)"),
        ([[0, 1, 1], [1, 0, 1], [1, 1, 0]], r"2 points were named for a table metric of 3"),
        ([], r"square matrix of distances"),
    ],
)
def test_tables_that_are_no_metrics(distances: list[list[float]], message: str) -> None:
    with pytest.raises(MetricError, match=message):
        Table(np.array(distances, dtype=float), ("a", "b"))


def test_triangle_inequality_names_three_points() -> None:
    with pytest.raises(MetricError, match=r"triangle inequality fails: 'x' to 'z' is 5, but by way of 'y' it is 2"):
        Table([[0, 1, 5], [1, 0, 1], [5, 1, 0]], ("x", "y", "z"))
    with pytest.raises(MetricError, match="triangle inequality fails"):
        Table([[0, 1, INF], [1, 0, 1], [INF, 1, 0]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Line().matrix([0, "a"]),
            "line metric needs finite numbers; point 2 of 2, a thing of type str, is not one",
        ),
        (lambda: Line().matrix([True, False]), "line metric needs finite numbers"),
        (lambda: Line().matrix([0, INF]), "line metric needs finite numbers"),
        (lambda: Line().matrix([0, math.nan]), "line metric needs finite numbers"),
        (lambda: Line().matrix([0, 10**400]), "line metric needs finite numbers"),
        (
            lambda: Euclidean().matrix([(0, 1), (1,)]),
            "euclidean metric needs points that are number vectors of one length",
        ),
        (lambda: Euclidean().matrix([(0, 1), (1, INF)]), "finite number vectors"),
        (lambda: Manhattan().matrix([("a",), ("b",)]), "manhattan metric needs points that are number vectors"),
        (lambda: Hamming().matrix(["ab", "c"]), "sequences of one length; these have several lengths"),
        (
            lambda: Hamming().matrix([1, 2]),
            "hamming metric needs sequences of one length; point 1 of 2, a thing of",
        ),
        (lambda: Angular().matrix([(1, 0), (0, 0)]), "needs vectors that are not zero"),
        (lambda: EarthMovers().matrix([[(0, 0)], []]), "bags of one size above zero"),
        (
            lambda: EarthMovers().matrix([3, 4]),
            "bags, each a sequence of members; point 1 of 2, a thing of type int, is not",
        ),
        (lambda: Table([[0]], ("a",)).matrix(["b"]), "knows 'a'; point 1 of 1, a thing of type str, is none of them"),
        (lambda: Table([[0, 1], [1, 0]], ("a", "a")), "must be different from each other"),
        (lambda: 0 * Line(), "scaled by a number above 0 only, not by 0.0"),
        (lambda: -1 * Line(), "scaled by a number above 0 only"),
        (lambda: Product((Line(),), "mean"), "combines by 'sum' or 'max', not by 'mean'"),
        (lambda: Product((Line(), Line())).matrix([(1,), (2,)]), "tuples of 2 values"),
        (lambda: named_metric("chess"), "no metric called 'chess'; choose one of discrete, line"),
    ],
)
def test_bad_input(make: object, message: str) -> None:
    with pytest.raises(MetricError, match=message):
        make()  # type: ignore[operator]


SECRETS = ["tea", "gin-42", 17.25, (3.5, "gin-42"), None]


@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: type(secret).__name__)
@pytest.mark.parametrize(
    "metric",
    [
        Line(),
        Euclidean(),
        Manhattan(),
        Hamming(),
        Angular(),
        EarthMovers(),
        Table([[0]], ("a",)),
        2 * Line(),
        Product((Line(), Line())),
    ],
    ids=str,
)
def test_points_may_be_data_and_are_never_shown(metric: Metric, secret: object) -> None:
    try:
        metric.matrix([secret, (1, 2, 3)])
    except MetricError as problem:
        words = str(problem)
        assert not any(shown in words for shown in ("tea", "gin", "17.25", "3.5")), words
    else:
        assert (str(metric), secret) == ("hamming", "tea")  # three letters and three numbers do have a distance


@pytest.mark.parametrize("factor", ["two", math.nan, INF, None, True])
def test_factors_that_are_not_numbers(factor: object) -> None:
    with pytest.raises(ParameterError, match="a metric's factor"):
        factor * Line()  # type: ignore[operator]


def test_names_go_there_and_back() -> None:
    for name in ("discrete", "line", "euclidean", "manhattan", "hamming", "angular"):
        assert str(named_metric(name)) == name
    assert named_metric("1/2 * line") == Scaled(Line(), Fraction(1, 2)) == named_metric(str(Fraction(1, 2) * Line()))


def test_a_metric_without_a_matrix_says_so() -> None:
    with pytest.raises(TypeError, match=r"must define matrix\(points\)"):
        Metric().distance(0, 1)
