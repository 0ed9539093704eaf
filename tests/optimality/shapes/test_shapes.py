"""Shapes of mechanisms: the checks, the rows for linear programs, and that the two say the same."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisewright.channels.channel import Channel
from noisewright.design.optimal import optimal
from noisewright.design.response_categories import Answers, Categories, StaircaseNoise, discretise, laplace_law
from noisewright.design.shapes import SHAPES, as_shapes, check_shape, constraints, shapes_of
from noisewright.exceptions import ParameterError
from noisewright.mechanisms.categorical.exponential import explicit_fair_channel
from noisewright.mechanisms.numeric.geometric import geometric

VARIANT_2 = ("monotone", "symmetric", "fair")


def held(channel: Channel, tolerance: float = 1e-9) -> set[str]:
    return {name for name, verdict in shapes_of(channel, tolerance=tolerance).items() if verdict}


def by_definition(matrix: np.ndarray, home: list[int]) -> dict[str, bool]:
    """The definitions spelled out cell by cell, for evenly spaced secrets whose homes are given."""
    n, m = matrix.shape
    cells = [(x, y) for x in range(n) for y in range(m)]
    return {
        "row-monotone": all(
            matrix[x, y] <= matrix[x, y + 1] if y < home[x] else matrix[x, y] >= matrix[x, y + 1]
            for x, y in cells
            if y + 1 < m
        ),
        "symmetric": all(matrix[x, y] == matrix[n - 1 - x, m - 1 - y] for x, y in cells),
        "fair": len({matrix[x, home[x]] for x in range(n)}) == 1,
        "row-honest": all(matrix[x, home[x]] >= matrix[x, y] for x, y in cells),
        "column-honest": all(matrix[x, home[x]] >= matrix[z, home[x]] for x in range(n) for z in range(n)),
        "weakly-honest": all(matrix[x, home[x]] >= 1 / m - 1e-11 for x in range(n)),
    }


@given(st.integers(2, 5), st.data())
def test_checks_agree_with_the_definitions(n, data):
    numbers = data.draw(st.lists(st.lists(st.integers(0, 3), min_size=n, max_size=n), min_size=n, max_size=n))
    weights = np.array(numbers) + np.eye(n, dtype=int)
    if data.draw(st.booleans()):  # often symmetric and fair ones too
        weights = weights + weights[::-1, ::-1]
    channel = Channel(weights, normalise=True)
    expected = by_definition(channel.matrix.round(12), list(range(n)))
    found = shapes_of(channel, tolerance=1e-11)
    assert {name: bool(found[name]) for name in expected} == expected


@given(
    st.sets(st.integers(-20, 20), min_size=2, max_size=7),
    st.sets(st.integers(-20, 20), min_size=1, max_size=7),
    st.randoms(),
)
def test_the_uniform_channel_satisfies_every_row(secrets, outputs, random):
    """No combination of shapes is infeasible: the uniform channel has them all, in whatever order the labels are."""
    x, y = sorted(secrets), sorted(outputs)
    random.shuffle(x)
    random.shuffle(y)
    names = [name for name in SHAPES if name != "symmetric"]
    rows = constraints(names, x, y)
    uniform = np.full(len(x) * len(y), 1 / len(y))
    assert (rows.inequalities @ uniform <= 1e-12).all()
    assert np.abs(rows.equalities @ uniform).max(initial=0) < 1e-12


@given(st.integers(2, 6), st.integers(2, 6), st.data())
def test_rows_and_checks_say_the_same(n, m, data):
    """A channel satisfies the rows of a shape exactly if the check says so; also for uneven, shuffled labels."""
    x = data.draw(st.permutations(range(0, 3 * n, 3)))
    y = data.draw(st.permutations(range(0, 3 * n, 3 * n // m or 1)))
    values = data.draw(st.lists(st.integers(0, 2), min_size=n * len(y), max_size=n * len(y)))
    weights = np.array(values).reshape(n, len(y)) + 1
    channel = Channel(weights, x, y, normalise=True)
    for name in SHAPES:
        if name == "symmetric":
            continue
        rows = constraints([name], x, y)
        below = (rows.inequalities @ channel.matrix.ravel()).max(initial=0)
        equal = np.abs(rows.equalities @ channel.matrix.ravel()).max(initial=0)
        verdict = check_shape(channel, name, tolerance=1e-12)
        assert bool(verdict) == (max(below, equal) <= 1e-12)
        assert verdict.excess == pytest.approx(max(below, equal), abs=1e-12)


@given(st.integers(2, 8), st.integers(2, 8), st.integers(0, 10**6))
def test_row_monotone_implies_row_honest_implies_weakly_honest(n, m, seed):
    rng = np.random.default_rng(seed)
    home = np.clip(np.round(np.linspace(0, m - 1, n)).astype(int), 0, m - 1)
    apart = np.abs(np.arange(m)[None, :] - home[:, None])
    channel = Channel(
        rng.uniform(0.2, 0.9, (n, 1)) ** apart, home.astype(float) if n == m else range(n), normalise=True
    )
    found = held(channel)
    if "row-monotone" in found:
        assert "row-honest" in found
    if "row-honest" in found:
        assert "weakly-honest" in found


@pytest.mark.parametrize("n", [4, 5, 10])
def test_01_mm3_the_explicit_fair_mechanism_has_every_shape(n):
    assert held(explicit_fair_channel(0.5, n)) == set(SHAPES)


@pytest.mark.parametrize("n", [4, 5, 10])
def test_01_mm3_variant_2_has_every_shape(n):
    made = optimal(n + 1, epsilon="0.5", loss="absolute", shape=VARIANT_2)
    assert held(made.channel()) == set(SHAPES)


def test_01_mm3_variant_1_is_only_symmetric_and_not_even_weakly_honest():
    made = optimal(6, epsilon="0.5", loss="absolute")
    found = shapes_of(made.channel())
    assert {name for name in ("row-monotone", "column-monotone", "symmetric", "fair") if found[name]} == {"symmetric"}
    verdict = found["weakly-honest"]
    assert not verdict
    assert verdict.cell in ((0, 0), (5, 5))  # the truth is never reported
    assert verdict.excess == pytest.approx(1 / 6)
    assert "less than 1/6" in str(verdict)


@pytest.mark.parametrize("noise", ["laplace", "staircase"])
def test_01_fact36_snapped_noise_is_column_monotone_and_symmetric_only(noise):
    """Theorem 6: in matrices with the secrets along the columns this is row monotone; the other two fail."""
    mean = Answers.of_mean(10, 4)
    law = laplace_law(0.4 / 0.5) if noise == "laplace" else StaircaseNoise(0.5, 0.4)
    channel = discretise(law, mean.points, mean.categories(), snap=True)
    found = shapes_of(channel)
    assert found["column-monotone"]
    assert found["symmetric"]
    assert not found["row-monotone"]
    assert not found["fair"]
    assert channel.epsilon(mean.metric).value == pytest.approx(0.5, abs=1e-9)


def test_the_verdict_names_the_cell():
    channel = Channel([[0.5, 0.2, 0.3], [0.25, 0.5, 0.25], [0.3, 0.2, 0.5]])
    verdict = check_shape(channel, "row-monotone")
    assert (verdict.cell, verdict.against) == ((0, 2), (0, 1))
    assert verdict.excess == pytest.approx(0.1)
    assert str(verdict) == "not row-monotone: secret 0 has 0.3 at output 2, more than 0.2 at output 1"
    assert str(check_shape(channel, "fair")) == "fair"
    crooked = Channel([[0.5, 0.5], [0.4, 0.6]])
    assert str(check_shape(crooked, "symmetric")).startswith("not symmetric: secret 1 has 0.6 at output 1")
    assert check_shape(crooked, "column-honest")
    assert check_shape(Channel([[0.4, 0.6], [0.5, 0.5]]), "column-honest").cell == (1, 0)


def test_two_secrets_in_one_category_are_treated_alike():
    """Both directions of column monotony apply to them, which is equality."""
    rows = constraints(["column-monotone"], [0, 1], [0.5, 9])
    assert rows.inequalities.toarray().tolist() == [[1, 0, -1, 0], [0, 1, 0, -1], [-1, 0, 1, 0]]


def test_a_secret_between_two_outputs_belongs_to_the_upper_one():
    channel = Channel([[0.9, 0.1], [0.1, 0.9], [0.1, 0.9]], [0, 0.5, 1], [0, 1])
    assert check_shape(channel, "row-honest")
    assert check_shape(channel, "fair")
    wide = Categories((Fraction(-1), Fraction(3, 4)), (Fraction(3, 4), Fraction(5, 4)))
    moved = Channel(channel.matrix, channel.inputs, wide.labels)
    assert not check_shape(moved, "row-honest", categories=wide)  # 0.5 lies in the first of these


def test_floats_that_stand_for_thirds_and_tenths_are_mirror_images():
    for points in ([j / 3 for j in range(7)], [j / 10 for j in range(8)], [0.1 + 0.2 * j for j in range(5)]):
        n = len(points)
        assert constraints(["symmetric"], points, points).equalities.shape[0] == n * n // 2


def test_fair_and_honest_need_no_order():
    channel = Channel([[0.7, 0.3], [0.3, 0.7]], ["yes", "no"], ["yes", "no"])
    assert set(shapes_of(channel)) == {"fair", "row-honest", "column-honest", "weakly-honest"}
    made = optimal(
        ["a", "b", "c"], epsilon=1, loss=[[0, 1, 5], [2, 0, 1], [3, 3, 0]], metric=discrete(), shape=["fair", "honest"]
    )
    assert {"fair", "row-honest", "column-honest"} <= held(made.channel(), 1e-7)


def discrete():
    from noisewright.metrics.base import Discrete

    return Discrete()


def test_names_of_shapes():
    assert as_shapes("fair, monotone") == ("row-monotone", "column-monotone", "fair")
    assert as_shapes(["row_monotone", "honest"]) == ("row-monotone", "row-honest", "column-honest")
    assert as_shapes(()) == as_shapes(None) == as_shapes("") == ()


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda: as_shapes(["round"]), "there is no shape called 'round'; choose from row-monotone"),
        (lambda: as_shapes([3]), "shapes are named by text"),
        (lambda: as_shapes(7), "shapes are named by text"),
        (lambda: constraints(["symmetric"], [0, 1, 3], [0, 1, 3]), "symmetric conflicts with these points"),
        (lambda: constraints(["symmetric"], [0, 1, 2], [0, 1]), "symmetric conflicts with these points"),
        (lambda: constraints(["monotone"], ["a", "b"], ["a", "b"]), "row-monotone needs an order"),
        (
            lambda: constraints(["fair"], ["a", "b"], ["a", "c"]),
            "needs an output for every secret; there is none for 'b'",
        ),
        (lambda: constraints(["fair"], [], [1]), "one secret and one output or more"),
        (lambda: check_shape([[1.0]], "fair"), "a property of a Channel, not of list"),
        (lambda: check_shape(geometric(epsilon=1, within=(0, 2)).channel(), "monotone"), "one shape at a time"),
        (
            lambda: check_shape(Channel([[1.0]]), "fair", categories=Categories.tiling(0, 1, 3)),
            "must be those of the channel's outputs",
        ),
        (
            lambda: optimal([0, 1, 5], epsilon=1, loss="absolute", shape=["symmetric"]),
            "symmetric conflicts with these points",
        ),
    ],
)
def test_bad_input_is_refused_in_one_sentence(attempt, words):
    with pytest.raises(ParameterError, match=words):
        attempt()


def test_rows_are_built_sparse_for_hundreds_of_points():
    rows = constraints(SHAPES, range(300), range(300))
    assert rows.inequalities.shape[1] == 90_000
    assert rows.inequalities.nnz < 12 * 90_000
