"""Public lattices: rounding, the steps between rounded numbers, and what is refused."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from noise_support import Scripted

from noisewright.exceptions import DataError, ParameterError
from noisewright.sampling import Lattice
from noisewright.sampling.lattice import LARGEST_INDEX

FLOATS = st.floats(-1e6, 1e6, allow_nan=False)


@given(FLOATS, st.integers(-12, 12))
def test_the_nearest_point_is_found_and_ties_go_up(x, exponent):
    lattice = Lattice(exponent)
    index = int(lattice.indices(x))
    below = Fraction(x) / lattice.step - index
    assert Fraction(-1, 2) <= below < Fraction(1, 2)
    assert Fraction(float(lattice.values(np.array(index)))) == index * lattice.step


@given(FLOATS, FLOATS, st.integers(-12, 12))
def test_numbers_land_at_most_so_many_steps_apart(x, y, exponent):
    lattice = Lattice(exponent)
    apart = abs(int(lattice.indices(x)) - int(lattice.indices(y)))
    assert apart <= lattice.steps(abs(Fraction(x) - Fraction(y)))


@given(st.fractions(Fraction(1, 10**12), 10**12).filter(lambda s: s > 0), st.integers(0, 20))
def test_the_step_is_a_power_of_two_below_the_scale(scale, bits):
    step = Lattice.for_scale(scale, bits).step
    assert step * (1 << bits) <= scale < 2 * step * (1 << bits)


def test_a_step_that_is_no_power_of_two_is_refused():
    assert Lattice.with_step("1/1024").exponent == -10
    for bad in ("0.3", 3, 0, -1, float("nan")):
        with pytest.raises(ParameterError):
            Lattice.with_step(bad)
    with pytest.raises(ParameterError, match="outside what floats hold"):
        Lattice(-1001)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1e300, 2.0**53])
def test_values_beyond_the_lattice_are_refused_without_being_shown(bad):
    with pytest.raises(DataError) as problem:
        Lattice(0).indices([1.0, bad])
    assert str(bad) not in str(problem.value)


def test_what_is_not_a_64_bit_number_is_refused():
    for bad in (["a"], [True], [1 + 2j], [None]):
        with pytest.raises(DataError, match="not numbers"):
            Lattice(0).indices(bad)


def test_whole_numbers_that_floats_would_round_are_refused():
    lattice = Lattice(12)
    assert int(lattice.indices(np.int64(2**53))) == 2**41
    with pytest.raises(DataError, match="2\\^53"):
        lattice.indices(np.array([2**53 + 1]))


def test_sums_that_no_longer_fit_are_refused():
    with pytest.raises(DataError, match="too large"):
        Lattice(0).values(np.array([2 * LARGEST_INDEX + 1]))
    assert Lattice(-2).values(np.array([LARGEST_INDEX])).tolist() == [2.0**50]


def test_random_rounding_keeps_the_mean_and_whole_steps():
    lattice = Lattice(-1)
    values = np.array([0.0, 0.5, -3.0, 7.0])
    assert lattice.indices_at_random(values).tolist() == [0, 1, -6, 14]
    draws = lattice.indices_at_random(np.full(40_000, -0.35), np.random.default_rng(1))
    assert set(np.unique(draws).tolist()) == {-1, 0}
    assert abs(draws.mean() + 0.7) < 6 * 0.46 / 200


def test_random_rounding_is_exact_beyond_64_bits():
    """A share of 2**-70 goes up only on a word of zeros and a second word below 2**58."""
    lattice, value = Lattice(0), np.array([2.0**-70])
    for more, wanted in (((1 << 58) - 1, 1), (1 << 58, 0)):
        assert lattice.indices_at_random(value, Scripted([0, more])).tolist() == [wanted]
    assert lattice.indices_at_random(value, Scripted([1])).tolist() == [0]
    assert lattice.indices_at_random(np.array(0.25), Scripted([1 << 62])).tolist() == 0
    assert lattice.indices_at_random(np.array(0.25), Scripted([(1 << 62) - 1])).tolist() == 1
