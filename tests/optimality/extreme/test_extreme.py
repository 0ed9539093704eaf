"""The local-privacy polytope: every numbered fact, against brute force, linear programs and direct counts."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from algebra_support import determinant
from scipy.optimize import linprog

from noisewright.design.polytopes.enumeration import (
    LocalPolytope,
    _classes,
    count_extreme_points,
    extreme_points,
    weight_vectors,
)
from noisewright.design.polytopes.extreme_point import construct
from noisewright.numerics.linear_algebra import rank
from noisewright.numerics.polyhedra import local_inequalities, local_vertices, vertices

LOOSE = [
    ["1/7", "1/7", "4/7", "1/7", 0],
    ["2/7", "1/7", "2/7", "2/7", 0],
    ["2/7", "2/7", "2/7", "1/7", 0],
    ["1/7", "2/7", "2/7", "2/7", 0],
    ["1/7", "1/7", "3/7", "2/7", 0],
]
LOOSE_PATTERN = [[0, 0, 1, 0], [1, 0, 0, 1], [1, 1, 0, 0], [0, 1, 0, 1], [0, 0, None, 1]]
LOOSE_COST = [[4, 4, -3, 6, 1], [-3, 4, 2, -2, 1], [-3, -3, 2, 6, 1], [4, -3, 2, -2, 1], [4, 4, 0, -2, 1]]


def test_03_f17_a_loose_entry_too_many():
    polytope = LocalPolytope(3, factor=2)
    matrix = [["4/7", "1/7", "2/7"], ["3/7", "2/7", "2/7"], ["2/7", "1/7", "4/7"]]
    assert polytope.contains(matrix).status == "holds (exact)"
    assert polytope.normal_form(matrix).loose == ((1, 0),)
    found = {condition.name: condition for condition in polytope.necessary(matrix)}
    assert (found["rank"].holds, found["rank"].found) == (True, 3)
    assert (found["loose entries"].holds, found["loose entries"].found) == (False, 1)
    assert polytope.tight_rank(matrix) == 8
    assert polytope.extreme(matrix).status == "fails (witness)"


def test_03_f17_one_output_is_extreme_with_all_its_entries_loose():
    polytope = LocalPolytope(3, factor=2)
    matrix = [[1, 0, 0]] * 3
    assert polytope.normal_form(matrix).loose == ((0, 0), (1, 0), (2, 0))
    verdict = polytope.extreme(matrix)
    assert verdict.status == "holds (exact)"
    assert verdict.evidence.loose == ((0, 0), (1, 0), (2, 0))
    assert polytope.tight_rank(matrix) == 9


@pytest.mark.parametrize("q", ["1.001", "3/2", 2, 40])
def test_03_f18_a_binary_channel_is_extreme_for_every_epsilon(q):
    point = construct([[0, 1], [0, 1], [1, 0], [0, 1]], outputs=4, support=[0, 2])
    f = Fraction(q)
    expected = [[1, 0, f, 0], [1, 0, f, 0], [f, 0, 1, 0], [1, 0, f, 0]]
    matrix = [[v / (1 + f) for v in row] for row in expected]
    assert [list(row) for row in point.matrix(f)] == matrix
    polytope = LocalPolytope(4, factor=q)
    assert polytope.extreme(matrix).evidence == point
    assert polytope.tight_rank(matrix) == 16


@pytest.mark.parametrize(
    ("m", "by_columns", "loose"),
    [
        (2, {1: 2, 2: 2}, 0),
        (3, {1: 3, 2: 18, 3: 12}, 0),
        (4, {1: 4, 2: 84, 3: 288, 4: 528}, 0),
        (5, {1: 5, 2: 300, 3: 3000, 4: 44400, 5: 117120}, 14400),
    ],
)
def test_03_f19_counts(m, by_columns, loose):
    counts = count_extreme_points(m)
    assert counts.by_columns == by_columns
    assert counts.loose == loose
    assert {2: 4, 3: 33, 4: 904, 5: 164825}[m] == counts.total


def test_03_f19_listing_five_gives_each_point_once():
    seen = set()
    loose = 0
    for point in extreme_points(5):
        seen.add((point.support, point.weights, point.ones, point.free))
        loose += len(point.support) > 1 and max(point.free) >= 0
    assert len(seen) == 164825
    assert loose == 14400


def test_03_f19_six():
    counts = count_extreme_points(6)
    assert counts.by_columns == {1: 6, 2: 930, 3: 21600, 4: 1594800, 5: 34084800, 6: 129104640}
    assert counts.by_columns[2] == math.comb(6, 2) * (2**6 - 2)
    assert counts.by_columns[3] == 2 * math.comb(6, 3) * (3**6 - 3 * 2**6 + 3)
    assert counts.with_loose[6] == 0
    assert (counts.total, counts.loose) == (164806776, 21470400)
    assert count_extreme_points(6, 4).total == 111016


@pytest.mark.parametrize(("m", "q"), [(2, "1.1"), (2, 7), (3, "1.1"), (3, "3/2"), (3, 2), (3, 7), (4, "1.3")])
def test_03_f19_brute_force_finds_the_same_set(m, q):
    assert local_vertices(m, factor=q) == {point.matrix(q) for point in extreme_points(m)}


@pytest.mark.parametrize(("m", "k", "total"), [(5, 3, 393), (4, 2, 16), (2, 4, 16), (3, 4, 4 + 6 * 6 + 4 * 12)])
def test_03_f19_brute_force_finds_the_same_set_for_oblong_channels(m, k, total):
    found = local_vertices(m, k, factor=2)
    assert found == {point.matrix(2) for point in extreme_points(m, k)}
    assert len(found) == count_extreme_points(m, k).total == total


def test_03_f19_oblong_counts():
    assert count_extreme_points(5, 4).total == 10264
    assert count_extreme_points(5, 4).loose == 2880
    assert count_extreme_points(6, 3).total == 1269


@pytest.mark.parametrize("m", [2, 3, 4, 5])
def test_03_f19_full_support_by_direct_scan_of_matrices(m):
    sets = [[s >> j & 1 for j in range(m)] for s in range(1, 1 << m)]
    families = np.array(list(combinations(range(len(sets)), m)))
    matrices = np.array(sets, dtype=float)[families]
    dets = np.rint(np.linalg.det(matrices))
    whole = matrices[dets != 0]
    weights = np.linalg.solve(whole, np.ones((len(whole), m, 1)))[:, :, 0]
    positive = int((weights > 1e-9).all(axis=1).sum())
    assert positive * math.factorial(m) == count_extreme_points(m).by_columns[m]


@pytest.mark.parametrize(("c", "classes", "labelled"), [(2, 1, 1), (3, 2, 2), (4, 5, 11), (5, 17, 169), (6, 92, 7334)])
def test_03_ext5_weight_vectors(c, classes, labelled):
    found = weight_vectors(c)
    assert len(found) == len(set(found)) == labelled
    assert len(_classes(c)) == classes
    if c == 4:
        third, half = Fraction(1, 3), Fraction(1, 2)
        expected = {(Fraction(1),) * 4, (half,) * 4, (third,) * 4, (half, half, half, Fraction(1))}
        assert {tuple(sorted(v)) for v in found} == expected | {(third, third, third, 2 * third)}


def test_03_f20_loose_points_of_four_columns():
    counts = count_extreme_points(5, 4)
    assert counts.with_loose[4] == 2 * 4 * (5 * math.factorial(4) * 3) == 2880


def test_03_f21_an_extreme_point_with_a_loose_entry():
    polytope = LocalPolytope(5, factor=2)
    verdict = polytope.extreme(LOOSE)
    assert str(verdict) == "holds (exact): 4 outputs in use, 1 loose entry, full rank."
    assert verdict.evidence.weights == tuple(map(Fraction, ("1/2", "1/2", "1", "1/2")))
    assert verdict.evidence.loose == ((4, 2),)
    assert polytope.tight_rank(LOOSE) == 25
    assert rank([[Fraction(v) for v in row] for row in LOOSE]) == 4
    assert polytope.construct(LOOSE_PATTERN, support=[0, 1, 2, 3]).matrix(2) == tuple(
        tuple(Fraction(v) for v in row) for row in LOOSE
    )


def test_03_f21_it_is_the_only_optimum_of_a_cost():
    best = LocalPolytope(5, factor=2).best(LOOSE_COST)
    assert (best.status, best.value, best.gap) == ("holds (exact)", 0, 0)
    assert best.matrix[4][2] == Fraction(3, 7)
    assert best.point.loose == ((4, 2),)
    # Any other optimum would show as another answer under a small change of the cost.
    rng = np.random.default_rng(3)
    for _ in range(5):
        nudged = [
            [Fraction(v) + Fraction(int(n), 10**6) for v, n in zip(row, noise, strict=True)]
            for row, noise in zip(LOOSE_COST, rng.integers(-9, 10, size=(5, 5)), strict=True)
        ]
        assert LocalPolytope(5, factor=2).best(nudged).point == best.point


def test_03_f22_single_outputs_are_not_enough_for_a_delta():
    polytope = LocalPolytope(2, 4, epsilon=0, delta="1/4")
    rows = [["1/2", "1/2", 0, 0], ["1/4", "1/4", "1/4", "1/4"]]
    verdict = polytope.contains(rows)
    assert verdict.status == "fails (witness)"
    assert (verdict.evidence.first, verdict.evidence.second, verdict.evidence.outputs) == (0, 1, (0, 1))
    assert LocalPolytope(2, 4, epsilon=0, delta="1/2").contains(rows)


@pytest.mark.parametrize(("q", "delta"), [(2, "1/10"), (2, "1/4"), (3, "1/10")])
def test_03_f22_vertices_with_a_delta(q, delta):
    right = local_vertices(3, factor=q, delta=delta)
    single = local_vertices(3, factor=q, delta=delta, events="single")
    polytope = LocalPolytope(3, factor=q, delta=delta)
    assert (len(right), len(single)) == (393, 357)
    assert all(polytope.contains(matrix) for matrix in right)
    broken = [matrix for matrix in single if not polytope.contains(matrix)]
    assert len(broken) == 162
    if (q, delta) == (2, "1/10"):
        excess = [
            sum(max(a - 2 * b, Fraction(0)) for a, b in zip(x, y, strict=True))
            for matrix in broken
            for x, y in permutations(matrix, 2)
        ]
        assert max(excess) == Fraction(1, 5)
        assert all(polytope.extreme(matrix) for matrix in sorted(right)[::20])


def test_03_f22_two_by_two():
    assert len(local_vertices(2, factor=3, delta="1/5")) == 8
    assert len(local_vertices(2, factor=1, delta="1/5")) == 6
    assert len(local_vertices(2, factor=3)) == 4
    assert len(local_vertices(2, factor=1)) == 2


@pytest.mark.parametrize("m", [2, 3, 4])
def test_03_f23_the_optimum_is_the_smallest_over_the_list(m):
    every = np.array([[[float(v) for v in row] for row in point.matrix("5/2")] for point in extreme_points(m)])
    rng = np.random.default_rng(m)
    polytope = LocalPolytope(m, factor="5/2")
    for _ in range(60):
        cost = rng.normal(size=(m, m))
        best = polytope.best(cost)
        assert best.status == "holds (exact)"
        assert abs(float(best.value) - (every * cost).sum(axis=(1, 2)).min()) < 1e-13
        assert polytope.extreme(best.matrix).status == "holds (exact)"


@pytest.mark.parametrize(("m", "value"), [(10, "34/15"), (20, "137/30"), (40, "55/6")])
def test_03_f24_absolute_cost_needs_two_outputs(m, value):
    best = LocalPolytope(m, factor=2).best([[Fraction(abs(i - j), m) for j in range(m)] for i in range(m)])
    assert (best.status, best.value) == ("holds (exact)", Fraction(value))
    assert len(best.point.support) == 2


@pytest.mark.parametrize(("m", "size"), [(2, 3), (3, 7), (4, 15), (5, 31)])
def test_03_f25_a_column_of_zeros_has_independent_ratios(m, size):
    rows = local_inequalities(m, 2, factor=2)
    of_first = [row[1:] for row in rows[: m * (m - 1)]]  # the ratios of the first column, pair by pair
    pairs = list(permutations(range(m), 2))
    cycle = [of_first[pairs.index((i, (i + 1) % m))] for i in range(m)]
    assert abs(determinant(cycle)) == size


def test_03_e4_a_random_face_shows_a_loose_entry():
    """Vertices of a face through the known point, by brute force: m = 5, four outputs, q = 2."""
    rows = local_inequalities(5, 4, factor=2)
    point = [Fraction(LOOSE[i][j]) for j in range(3) for i in range(5)]
    tight = [n for n, row in enumerate(rows) if row[0] + sum(a * x for a, x in zip(row[1:], point, strict=True)) == 0]
    chosen = np.random.default_rng(0).choice(tight, size=9, replace=False).tolist()
    found = local_vertices(5, 4, factor=2, face=chosen)
    assert tuple(tuple(Fraction(v) for v in row[:4]) for row in LOOSE) in found
    polytope = LocalPolytope(5, 4, factor=2)
    verdicts = [polytope.extreme(matrix) for matrix in found]
    assert all(verdicts)
    assert any(verdict.evidence.loose and len(verdict.evidence.support) > 1 for verdict in verdicts)


def test_03_ext1_support_restriction():
    """Extreme points supported on some outputs are those of the smaller polytope."""
    found = local_vertices(4, factor=2, support=[0, 2])
    assert found == {p.matrix(2) for p in extreme_points(4) if set(p.support) <= {0, 2}}
    assert len(found) == 2 + 14


def test_03_ext1_the_forms_of_the_constraints_agree():
    rng = np.random.default_rng(5)
    for m in (2, 3, 5):
        cost = rng.normal(size=(m, m))
        polytope = LocalPolytope(m, epsilon="0.7")
        values = []
        for form in ("lifted", "ratio", "slack"):
            c = polytope.constraints(form)
            weights = np.zeros(c.upper.shape[1])
            weights[: c.entries] = cost.ravel()
            values.append(linprog(weights, c.upper, c.limits, c.equal, c.totals, method="highs").fun)
        assert np.ptp(values) < 1e-9
        assert abs(float(polytope.best(cost).value) - values[0]) < 1e-9
        assert polytope.constraints("ratio").upper.shape == (m * m * (m - 1), m * m)
        assert polytope.constraints("lifted").upper.shape == (2 * m * m, m * m + m)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_03_ext2_every_extreme_point_meets_the_necessary_conditions(m):
    polytope = LocalPolytope(m, factor="3/2")
    for point in extreme_points(m):
        matrix = point.matrix("3/2")
        assert all(condition.holds for condition in polytope.necessary(matrix))


@pytest.mark.parametrize("m", [3, 4])
def test_03_ext3_the_criterion_agrees_with_the_rank_of_tight_constraints(m):
    """On extreme points and on mixtures of two or three of them, some of which share a face."""
    every = list(extreme_points(m))
    polytope = LocalPolytope(m, factor=2)
    rng = np.random.default_rng(m)
    extreme = 0
    for n in range(150):
        chosen = [every[i].matrix(2) for i in rng.integers(len(every), size=n % 3 + 1)]
        shares = [Fraction(int(v)) for v in rng.integers(1, 5, size=len(chosen))]
        matrix = [
            [sum(s * a[i][j] for s, a in zip(shares, chosen, strict=True)) / sum(shares) for j in range(m)]
            for i in range(m)
        ]
        verdict = polytope.extreme(matrix)
        assert verdict.status == ("holds (exact)" if polytope.tight_rank(matrix) == m * m else "fails (witness)")
        extreme += bool(verdict)
        if not verdict:
            first, second = verdict.evidence.first, verdict.evidence.second
            assert first != second
            assert polytope.contains(first)
            assert polytope.contains(second)
            for i in range(m):
                assert [(a + b) / 2 for a, b in zip(first[i], second[i], strict=True)] == matrix[i]
    assert 50 <= extreme < 100


def test_03_ext3_epsilon_zero_has_one_output_only():
    polytope = LocalPolytope(3, epsilon=0)
    assert polytope.extreme([[0, 1, 0]] * 3)
    verdict = polytope.extreme([["1/2", "1/2", 0]] * 3)
    assert verdict.status == "fails (witness)"
    assert "one output" in verdict.reason


def test_03_ext4_families():
    one = Fraction(1)
    assert construct(np.eye(4).tolist()).weights == (one,) * 4
    pairs = [[int(j in s) for j in range(4)] for s in combinations(range(4), 2)]
    assert construct(pairs).weights == (one / 2,) * 4
    assert construct([[1, 0], [0, 1], [0, 1]]).matrix(3)[1] == (one / 4, 3 * one / 4)


def test_brute_force_on_bodies_that_everyone_knows():
    cube = [[1, *(-int(i == j) for j in range(3))] for i in range(3)]
    cube += [[0, *(int(i == j) for j in range(3))] for i in range(3)]
    assert len(vertices([[Fraction(v) for v in row] for row in cube])) == 8
    cross = [
        [Fraction(1), *map(Fraction, signs)] for signs in np.ndindex(2, 2, 2) for signs in [[2 * s - 1 for s in signs]]
    ]
    assert sorted(vertices(cross)) == sorted(
        tuple(Fraction(s * (i == j)) for j in range(3)) for i in range(3) for s in (-1, 1)
    )
