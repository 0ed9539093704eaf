"""Noise inside ranges: the law by chi-square (error rate 1e-6 each), borderline words by script, bounds by big decimals."""

import pickle
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from noise_support import LEVEL, Scripted, chi_square, expm

from noisewright.exceptions import ParameterError
from noisewright.sampling import RangedSampler
from noisewright.sampling.bounded_laplace import HalfLineSampler
from noisewright.sampling.laplace import FixedPowers, PowerBounds, geometric_plan, multiply_high

HIGH = (1 << 64) - 1


def law_of(rate, ranges, i, beyond=400):
    """The exact law from ``i``, term by term."""
    points = []
    for lo, hi in ranges:
        first = min(i, hi) - beyond if lo is None else lo
        last = max(i, lo) + beyond if hi is None else hi
        points.extend(range(first, last + 1))
    weights = np.exp(-float(rate) * np.abs(np.array(points) - i))
    weights /= weights.sum()
    return dict(zip(points, weights.tolist(), strict=True))


SETS = {
    "interval": (Fraction(1, 3), [(0, 9)]),
    "two points": (Fraction(2), [(5, 6)]),
    "half line": (Fraction(1, 4), [(0, None)]),
    "half line down": (Fraction(1, 4), [(None, -3)]),
    "one gap": (Fraction(1, 5), [(None, 0), (4, None)]),
    "two ranges": (Fraction(1, 2), [(0, 3), (7, 9)]),
    "five ranges": (Fraction(1, 5), [(None, -4), (0, 1), (3, 3), (6, 8), (12, None)]),
    "flat": (Fraction(1, 10**6), [(0, 3), (5, 6)]),
    "steep": (Fraction(4), [(0, 3), (5, 6)]),
    "many ranges": (Fraction(1, 9), [(3 * k, 3 * k + 1) for k in range(20)]),
}


@pytest.mark.parametrize("name", SETS)
def test_draws_follow_the_law(name):
    rate, ranges = SETS[name]
    sampler = RangedSampler(rate, ranges)
    rng = np.random.default_rng(20)
    ends = {e for pair in ranges for e in pair if e is not None}
    for i in sorted(ends)[:: max(1, len(ends) // 6)]:
        draws = sampler.draw(np.full(60_000, i), rng=rng)
        law = law_of(rate, ranges, i)
        assert set(np.unique(draws).tolist()) <= set(law)
        span = range(min(law), max(law) + 1)
        assert chi_square(draws, lambda j, law=law: law.get(j, 0.0), span) > LEVEL


def test_a_rate_without_any_digit_stays_where_it_is():
    draws = RangedSampler(Fraction(60), [(0, 3), (5, 6)]).draw(np.full(2000, 5), rng=np.random.default_rng(2))
    assert (draws == 5).all()


def test_the_whole_line_is_discrete_laplace():
    draws = RangedSampler(Fraction(1, 3), [(None, None)]).draw(np.full(100_000, 7), rng=np.random.default_rng(1))
    a = float(expm(Fraction(1, 3)))
    assert chi_square(draws - 7, lambda k: (1 - a) / (1 + a) * a ** abs(k), range(-60, 61)) > LEVEL


def test_a_mixed_column_has_the_law_of_each_value():
    rate, ranges = SETS["five ranges"]
    values = np.array([-4, 0, 3, 7, 12, 30])
    column = np.tile(values, 30_000)
    draws = RangedSampler(rate, ranges).draw(column, rng=np.random.default_rng(3))
    for i in values.tolist():
        law = law_of(rate, ranges, i)
        span = range(min(law), max(law) + 1)
        assert chi_square(draws[column == i], lambda j, law=law: law.get(j, 0.0), span) > LEVEL


def test_many_and_few_ranges_use_one_law():
    """Twenty ranges are crossed only by those that leave; the law far beyond a neighbour is still right."""
    rate, ranges = Fraction(1, 40), [(3 * k, 3 * k + 1) for k in range(20)]
    draws = RangedSampler(rate, ranges).draw(np.full(80_000, 27), rng=np.random.default_rng(4))
    law = law_of(rate, ranges, 27)
    assert chi_square(draws, lambda j: law.get(j, 0.0), range(60)) > LEVEL


def test_shapes_scalars_and_blocks():
    sampler = RangedSampler(Fraction(1, 100), [(0, 10**6)])
    column = np.full((3, 50_000), 17)
    assert sampler.draw(column).shape == (3, 50_000)
    assert sampler.draw(np.array(17)).shape == ()
    assert sampler.draw(np.array([], dtype=np.int64)).shape == (0,)
    one, alone = (sampler.draw(v, rng=np.random.default_rng(5)) for v in (np.array([17]), np.array(17)))
    assert int(one[0]) == int(alone)


@pytest.mark.parametrize(
    "ranges",
    [[], [(3, 1)], [(0, 5), (5, 9)], [(0, None), (3, 4)], [(0, 4), (None, 9)], [(5, 6), (0, 1)], [(0, 1 << 61)]],
)
def test_ranges_out_of_order_are_refused(ranges):
    with pytest.raises(ParameterError):
        RangedSampler(Fraction(1), ranges)


# Borderline words ---------------------------------------------------------------------------------------------------


def thresholds(rate, ranges, i):
    """The probabilities of the first one, two and three events, to 150 digits."""
    with localcontext() as context:
        context.prec = 150
        a = expm(rate, 150)
        k = next(n for n, (lo, hi) in enumerate(ranges) if lo <= i <= hi)
        lo, hi = ranges[k]
        parts = [
            sum((a ** (i - j) for j in range(lo, i + 1)), Decimal(0)),
            sum((a ** (i - j) for low, high in ranges[:k] for j in range(low, high + 1)), Decimal(0)),
            sum((a ** (j - i) for j in range(i + 1, hi + 1)), Decimal(0)),
            sum((a ** (j - i) for low, high in ranges[k + 1 :] for j in range(low, high + 1)), Decimal(0)),
        ]
        total = sum(parts)
        return [sum(parts[:n]) / total for n in (1, 2, 3)]


def first_words(p, count):
    with localcontext() as context:
        context.prec = 400
        number = int(p * (1 << (64 * count)))
    return [(number >> (64 * (count - 1 - n))) & HIGH for n in range(count)]


def script(rate, first, *settling):
    """The event's word, then words that make the geometric number 0, then what settles the event."""
    return Scripted([first, *[0] * len(geometric_plan(rate).parts), *settling], filler=HIGH)


@pytest.mark.parametrize("i", [0, 4, 8])
def test_a_word_on_the_threshold_is_settled_by_further_bits_inside_one_range(i):
    rate, ranges = Fraction(1, 3), [(0, 9)]
    word, following = first_words(thresholds(rate, ranges, i)[0], 2)
    sampler = RangedSampler(rate, ranges)
    for more, wanted in ((following - 1, i), (following + 1, i + 1)):
        assert sampler.draw(np.array([i]), rng=script(rate, word, more)).tolist() == [wanted]
    for near, wanted in ((word - 2, i), (word + 2, i + 1)):  # inside the error band, but settled without more bits
        bits = script(rate, near)
        assert sampler.draw(np.array([i]), rng=bits).tolist() == [wanted]
        assert bits.used == 1 + len(geometric_plan(rate).parts)


def test_a_point_at_the_end_of_its_range_never_goes_beyond_it():
    sampler = RangedSampler(Fraction(1, 3), [(0, 9)])
    for word in (HIGH, HIGH - 1, HIGH - 40):
        assert sampler.draw(np.array([9]), rng=script(Fraction(1, 3), word)).tolist() == [9]


@pytest.mark.parametrize(("event", "outputs"), [(0, (6, 3)), (1, (3, 7)), (2, (7, 12))])
def test_a_word_on_the_threshold_is_settled_by_further_bits_among_several(event, outputs):
    rate, ranges = Fraction(1, 7), [(0, 3), (5, 8), (12, 15)]
    word, following = first_words(thresholds(rate, ranges, 6)[event], 2)
    sampler = RangedSampler(rate, ranges)
    for more, wanted in zip((following - 1, following + 1), outputs, strict=True):
        assert sampler.draw(np.array([6]), rng=script(rate, word, more)).tolist() == [wanted]


def test_crossing_a_range_is_settled_by_further_bits():
    """From the third range leftwards: stop in the second or go on to the first, on the very threshold."""
    rate, ranges = Fraction(1, 7), [(0, 3), (5, 8), (12, 15)]
    with localcontext() as context:
        context.prec = 150
        a = expm(rate, 150)
        near = sum((a ** (8 - j) for j in range(5, 9)), Decimal(0))
        far = sum((a ** (8 - j) for j in range(4)), Decimal(0))
        word, following = first_words(near / (near + far), 2)
    leave = first_words(thresholds(rate, ranges, 12)[0], 1)[0] + 1000  # just beyond staying: leaves leftwards
    sampler = RangedSampler(rate, ranges)
    for more, wanted in ((following - 1, 8), (following + 1, 3)):
        assert sampler.draw(np.array([12]), rng=script(rate, leave, word, more)).tolist() == [wanted]


@given(st.integers(0, 9), st.integers(0, HIGH))
def test_every_word_agrees_with_exact_arithmetic(i, word):
    """Fixed point or not, the side is the one that the first 64 bits decide (ties are 2**-50 away from these words)."""
    rate, ranges = Fraction(1, 3), [(0, 9)]
    threshold = first_words(thresholds(rate, ranges, i)[0], 1)[0]
    if i == 9 or word == threshold:
        return
    found = RangedSampler(rate, ranges).draw(np.array([i]), rng=script(rate, word))
    assert found.tolist() == [i if word < threshold else i + 1]


# Fixed point and bounds ---------------------------------------------------------------------------------------------


@given(st.integers(0, (1 << 63) - 1), st.integers(0, HIGH))
def test_multiply_high_is_at_most_two_units_low(x, y):
    found = int(multiply_high(np.array([x], dtype=np.uint64), np.array([y], dtype=np.uint64))[0])
    assert 0 <= (x * y >> 64) - found <= 2


@settings(max_examples=40)
@given(
    st.fractions(Fraction(1, 10**9), 3, max_denominator=10**9).filter(lambda r: r > 0),
    st.lists(st.integers(0, 1 << 62), min_size=1, max_size=5),
    st.data(),
)
def test_fixed_powers_keep_their_error(rate, extra, data):
    powers, exact = FixedPowers(rate), PowerBounds(rate, 62)
    near = [data.draw(st.integers(0, int(50 / rate) + 2)) for _ in range(5)]
    numbers = near + extra
    found = powers(np.array(numbers, dtype=np.uint64))
    for n, value in zip(numbers, found.tolist(), strict=True):
        low, high = exact(n)
        assert value <= high
        assert low - value <= powers.error


@given(st.fractions(0, 5, max_denominator=1000).filter(lambda r: r > 0), st.integers(0, 3000), st.integers(8, 200))
def test_power_bounds_enclose(rate, n, bits):
    low, high = PowerBounds(rate, bits)(n)
    with localcontext() as context:
        context.prec = 400
        truth = expm(rate * n) * (1 << bits)
        assert low <= truth <= high
    assert high - low <= 2


# The half line with rates that depend on the place -------------------------------------------------------------------

NEAR = [Fraction(1, 500), Fraction(1, 200), Fraction(1, 90), Fraction(1, 30)]
TAIL = Fraction(1, 6)


def half_line_law(i, beyond=250):
    rate = NEAR[min(i, len(NEAR)) - 1]
    weights = np.array(
        [np.exp(-float(rate) * (i - j)) if j < i else np.exp(-float(TAIL) * (j - i)) for j in range(i + beyond)]
    )
    return weights / weights.sum()


@pytest.mark.parametrize("i", [0, 1, 2, 4, 5, 60, 3000])
def test_half_line_draws_follow_the_law(i):
    draws = HalfLineSampler(TAIL, NEAR).draw(np.full(60_000, i), rng=np.random.default_rng(6))
    law = half_line_law(i)
    assert draws.min() >= 0
    assert chi_square(draws, lambda j: float(law[j]), range(law.size)) > LEVEL


def test_half_line_side_is_settled_by_further_bits():
    sampler = HalfLineSampler(TAIL, NEAR)
    with localcontext() as context:
        context.prec = 150
        a, b = expm(TAIL, 150), expm(NEAR[2], 150)
        near = b + b**2 + b**3
        word, following = first_words(near / (near + 1 / (1 - a)), 2)
    for more, wanted in ((following - 1, 2), (following + 1, 3)):
        assert sampler.draw(np.array([3]), rng=script(TAIL, word, more)).tolist() == [wanted]


def test_half_line_needs_rates():
    for tail, near in ((Fraction(0), NEAR), (TAIL, []), (TAIL, [Fraction(0)])):
        with pytest.raises(ParameterError):
            HalfLineSampler(tail, near)


TABLED = {"one range": (Fraction(1, 17), [(0, 300)]), "two ranges": (Fraction(1, 17), [(-5, 40), (44, 90)])}


@pytest.mark.parametrize("name", TABLED)
def test_a_column_longer_than_the_set_is_looked_up_and_follows_the_law(name):
    rate, ranges = TABLED[name]
    sampler = RangedSampler(rate, ranges)
    for i in {end for pair in ranges for end in pair} | {20}:
        draws = sampler.draw(np.full(60_000, i), rng=np.random.default_rng(21))
        law = law_of(rate, ranges, i)
        assert sampler._tables_for(60_000) is not None
        assert set(np.unique(draws).tolist()) <= set(law)
        assert chi_square(draws, lambda j, law=law: law.get(j, 0.0), range(min(law), max(law) + 1)) > LEVEL


@pytest.mark.parametrize("name", TABLED)
@pytest.mark.parametrize("event", [0, 1, 2])
def test_a_word_on_a_threshold_of_a_table_is_settled_by_further_bits(name, event):
    """All points at once, each with 32 bits just below, on and just above its own threshold; the geometric number is 0."""
    rate, ranges = TABLED[name]
    event = event if len(ranges) > 1 else 0
    points = [j for lo, hi in ranges for j in range(lo, hi + 1)]
    column = np.array(points * 2)
    sampler = RangedSampler(rate, ranges)
    exact = [thresholds(rate, ranges, i) for i in points]
    firsts = [first_words(ends[event], 2)[0] >> 32 if ends[event] < 1 else (1 << 32) - 1 for ends in exact]
    for off in (-2, -1, 0, 1, 2):
        for more in (0, HIGH):
            words = [min(max(first + off, 0), (1 << 32) - 1) for first in firsts * 2]
            pairs = [low | high << 32 for low, high in zip(words[::2], words[1::2], strict=True)]
            zeros = [0] * len(column)
            bits = Scripted([*pairs, *zeros], filler=more)
            found = sampler.draw(column, rng=bits).tolist()
            wanted = [
                end_of(ranges, i, ends, word << 64 | more) for i, ends, word in zip(points, exact, words, strict=False)
            ]
            assert found == wanted * 2
            assert off != -2 or bits.used == len(pairs) + len(zeros)  # nothing is in doubt


def end_of(ranges, i, ends, number):
    """Where a draw ends that goes to the nearest point, for the first 96 bits of a uniform number and exact thresholds."""
    with localcontext() as context:
        context.prec = 150
        place = sum(Decimal(number) / (1 << 96) >= end for end in ends)
    below = [hi for _, hi in ranges if hi < i]
    above = [lo for lo, _ in ranges if lo > i]
    return [i, below[-1] if below else i, i + 1, above[0] if above else i][place]


def test_endless_sets_long_ones_and_those_of_many_ranges_have_no_tables():
    column = np.full(100_000, 1)
    for rate, ranges in (
        (Fraction(1, 17), [(None, 3), (5, None)]),
        (Fraction(1, 17), [(0, 3), (5, 8), (12, 60)]),
        (Fraction(1, 17), [(0, 90_000)]),
        (Fraction(1, 10**12), [(0, 5)]),  # so flat that fixed point has too few digits
    ):
        sampler = RangedSampler(rate, ranges)
        assert sampler._tables_for(len(column)) is None
        draws = sampler.draw(column, rng=np.random.default_rng(8))
        assert sampler.draw(column, rng=np.random.default_rng(8)).tolist() == draws.tolist()


def test_the_length_of_a_column_alone_decides_whether_it_is_looked_up():
    """A simulation gives the same whether a longer column was drawn before or not."""
    short, long = np.full(100, 20), np.full(1000, 20)
    for rate, ranges in TABLED.values():
        fresh, used = RangedSampler(rate, ranges), RangedSampler(rate, ranges)
        used.draw(long, rng=np.random.default_rng(1))
        draws = [sampler.draw(short[:50], rng=np.random.default_rng(2)).tolist() for sampler in (fresh, used)]
        assert draws[0] == draws[1]


@pytest.mark.parametrize(
    "sampler", [RangedSampler(Fraction(1, 3), [(0, 9)]), HalfLineSampler(TAIL, NEAR)], ids=["ranged", "half line"]
)
def test_a_sampler_that_has_drawn_can_be_sent_to_others(sampler):
    column = np.full(50, 2)
    sampler.draw(column)
    sent = pickle.loads(pickle.dumps(sampler))
    draws = [one.draw(column, rng=np.random.default_rng(3)).tolist() for one in (sampler, sent)]
    assert draws[0] == draws[1]
