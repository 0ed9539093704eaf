"""Feasible sets: parsing, classes, lattice points, and where true answers go."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisewright.exceptions import DataError, ParameterError
from noisewright.mechanisms.numeric.feasible_sets import Feasible
from noisewright.sampling.lattice import Lattice

INF = float("inf")


@pytest.mark.parametrize(
    ("within", "excluding", "kind", "text"),
    [
        (None, (), "none", "(-inf, inf)"),
        ((0, None), (), "single infinite", "[0, inf)"),
        ((-INF, "1/2"), (), "single infinite", "(-inf, 0.5]"),
        (None, [(0, 1)], "finite gaps", "(-inf, 0] and [1, inf)"),
        (None, [(5, 6), (0, 1)], "finite gaps", "(-inf, 0] and [1, 5] and [6, inf)"),
        ((0, 100), (), "mixed", "[0, 100]"),
        ((0, None), [(1, 2)], "mixed", "[0, 1] and [2, inf)"),
        (None, [(2, 3), (10, None)], "mixed", "(-inf, 2] and [3, 10]"),
        ([(2, 3), (0, 1)], (), "mixed", "[0, 1] and [2, 3]"),
        ((0, 10), [(8, 12)], "mixed", "[0, 8]"),
        ([("0", "inf")], (), "single infinite", "[0, inf)"),
    ],
)
def test_classes(within, excluding, kind, text):
    found = Feasible.parse(within, excluding)
    assert (found.kind, str(found)) == (kind, text)


def test_ends_are_exact_and_a_feasible_set_is_taken_as_it_is():
    found = Feasible.parse(("0.1", Fraction(1, 3)))
    assert found.components == ((Fraction(1, 10), Fraction(1, 3)),)
    assert Feasible.parse(found) == found
    assert Feasible.parse(found, [("0.2", "0.25")]).gaps == ((Fraction(1, 5), Fraction(1, 4)),)


@pytest.mark.parametrize(
    ("within", "excluding", "message"),
    [
        ((5, 5), (), "low end must be below"),
        ((6, 5), (), "low end must be below"),
        ([], (), "nothing is feasible"),
        ([(0, 1), (1, 2)], (), "overlap or touch"),
        ([(0, 2), (1, 3)], (), "overlap or touch"),
        ([(0, None), (1, 3)], (), "overlap or touch"),
        (None, [(0, 1), (1, 2)], "give them as one gap"),
        (None, [(0, 2), (1, 3)], "give them as one gap"),
        ((float("nan"), 1), (), "must be a finite number"),
        ((INF, None), (), "whose low end is inf"),
        ((0, 5), [(0, 2)], "length zero"),
        ((0, 5), [(7, 8)], "excludes nothing"),
        ((0, 5), [(-1, 9)], "no feasible value"),
        (None, [(None, None)], "excluding everything"),
        ("0:5", (), "must be an interval"),
        (7, (), "must be an interval"),
        ((1, 2, 3), (), "must be an interval"),
        (("a", 2), (), "is not a number"),
    ],
)
def test_bad_sets_are_refused_in_one_sentence(within, excluding, message):
    with pytest.raises(ParameterError, match=message) as problem:
        Feasible.parse(within, excluding)
    assert str(problem.value).endswith(".")


def test_a_lattice_coarser_than_an_interval_or_a_gap_is_refused_with_a_step_that_would_do():
    for feasible, what in ((Feasible.parse((0, "0.3")), "interval"), (Feasible.parse(excluding=[(0, "0.3")]), "gap")):
        with pytest.raises(ParameterError, match=f"coarser than an? .*{what}|coarser than a {what}") as problem:
            feasible.on(Lattice(0))
        step = Fraction(str(problem.value).split("a step of ")[1].split(" would")[0])
        assert len(feasible.on(Lattice.with_step(step))) == len(feasible.components)
    with pytest.raises(ParameterError, match="2\\^52 lattice steps"):
        Feasible.parse((0, 1e30)).on(Lattice(0))


def test_lattice_points_are_those_inside():
    feasible = Feasible.parse([("0.3", "1.9"), ("3.1", None)])
    assert feasible.on(Lattice(-1)) == ((1, 3), (7, None))
    assert not feasible.aligned(Lattice(-1))
    assert Feasible.parse([(0, 1), (2, 3)]).aligned(Lattice(-3))


def test_margin():
    assert Feasible.parse((0, 10)).inner(Fraction(1)).components == ((1, 9),)
    assert Feasible.parse((0, None), [(4, 5)]).inner(Fraction(1)).components == ((1, 4), (5, None))
    for bad, message in ((Fraction(-1), "0 or more"), (Fraction(5), "no true answers")):
        with pytest.raises(ParameterError, match=message):
            Feasible.parse((0, 10)).inner(bad)
    with pytest.raises(ParameterError, match="no half line is excluded"):
        Feasible.parse(excluding=[(0, 1)]).inner(Fraction(1))


def test_values_stay_on_their_side_of_a_gap():
    feasible, lattice = Feasible.parse([("0.3", "1.9"), ("3.1", 9)]), Lattice(-1)
    ranges = feasible.on(lattice)
    indices, which = feasible.place([0.31, 1.89, 3.11, 8.9], lattice, ranges, "refuse")
    assert indices.tolist() == [1, 3, 7, 18]  # 1.89 is nearest to 2.0, which lies in the gap
    assert which.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("bad", [0.29, 2.5, 9.1, float("nan"), INF, -INF])
def test_a_value_outside_is_refused_and_not_shown(bad):
    feasible, lattice = Feasible.parse([("0.3", "1.9"), ("3.1", 9)]), Lattice(-1)
    with pytest.raises(DataError) as problem:
        feasible.place([1.0, bad], lattice, feasible.on(lattice), "refuse")
    assert str(bad) not in str(problem.value)


def test_ends_compare_exactly_with_floats():
    feasible, lattice = Feasible.parse(("0.1", 1)), Lattice(-6)
    ranges = feasible.on(lattice)
    assert 0.1 > Fraction(1, 10) > np.nextafter(0.1, 0)  # the float 0.1 is above one tenth, the next one is below
    feasible.place([0.1], lattice, ranges, "refuse")
    with pytest.raises(DataError):
        feasible.place([np.nextafter(0.1, 0)], lattice, ranges, "refuse")


def test_a_declared_range_means_floats_for_data_that_are_floats():
    feasible, lattice = Feasible.parse(("0.3", "0.9")), Lattice(-6)
    assert Fraction(0.3) < Fraction(3, 10)
    assert Fraction(0.9) > Fraction(9, 10)
    rounded = feasible.as_floats()
    indices, _ = rounded.place([0.3, 0.9], lattice, rounded.on(lattice), "refuse")
    assert indices.tolist() == [20, 57]
    with pytest.raises(ParameterError, match="too short"):
        Feasible.parse((1, 1 + Fraction(1, 10**30))).as_floats()


def test_clamping_moves_to_the_nearer_end_and_refuses_what_is_no_number():
    feasible, lattice = Feasible.parse((0, 4)), Lattice(0)
    indices, _ = feasible.place([-INF, -3, 2.5, 9e300], lattice, feasible.on(lattice), "clamp")
    assert indices.tolist() == [0, 0, 3, 4]
    with pytest.raises(DataError):
        feasible.place([float("nan")], lattice, feasible.on(lattice), "clamp")
    with pytest.raises(DataError, match="not numbers"):
        feasible.place(["a"], lattice, feasible.on(lattice), "clamp")


@given(
    st.lists(st.integers(1, 60), min_size=2, max_size=8).filter(lambda w: len(w) % 2 == 0),
    st.integers(-3, 3),
    st.fractions(0, 1, max_denominator=16),
    st.data(),
)
def test_rounding_moves_neighbours_at_most_reach_steps_apart(widths, power, shift, data):
    """For numbers at most D apart: ceil(D/step) steps, and one more where a gap's end is no lattice point."""
    ends = [shift + sum(widths[:k], Fraction(0)) for k in range(len(widths) + 1)][: len(widths)]
    feasible = Feasible(tuple((ends[2 * k], ends[2 * k] + widths[2 * k]) for k in range(len(widths) // 2)))
    lattice = Lattice(power)
    try:
        ranges = feasible.on(lattice)
    except ParameterError:
        return
    parts = [data.draw(st.sampled_from(feasible.components)) for _ in range(2)]
    x, y = (lo + (hi - lo) * data.draw(st.fractions(0, 1, max_denominator=64)) for lo, hi in parts)
    x, y = (Fraction(float(v)) for v in (x, y))
    if not all(any(lo <= v <= hi for lo, hi in feasible.components) for v in (x, y)):
        return
    indices, _ = feasible.place([float(x), float(y)], lattice, ranges, "refuse")
    extra = 0 if feasible.aligned(lattice) or len(ranges) == 1 else 1
    assert abs(int(indices[0]) - int(indices[1])) <= lattice.steps(abs(x - y)) + extra
