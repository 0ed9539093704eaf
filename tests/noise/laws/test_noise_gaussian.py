from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import count

import numpy as np
import pytest
from noise_support import LEVEL, Z_LIMIT, Scripted, chi_square, expm, leading_bits, to_decimal, words_of
from scipy import stats

from noisewright.exceptions import ParameterError
from noisewright.sampling import discrete_gaussian
from noisewright.sampling.gaussian import _accepted, _rejection_plan, _thresholds


def law(sigma: Fraction) -> dict[int, float]:
    """All probabilities above 1e-40, in plain floats: good to 1e-13, enough for a million draws."""
    top = math.ceil(14 * sigma) + 1
    weights = {k: math.exp(-float(k * k / (2 * sigma**2))) for k in range(-top, top + 1)}
    total = math.fsum(weights.values())
    return {k: w / total for k, w in weights.items()}


@pytest.mark.parametrize("sigma", ["1/3", "1/2", 1, "7/3", 10, 100, 128, "1030/8", 200, 1000])
def test_law(sigma: object) -> None:
    number = Fraction(sigma)
    draws = discrete_gaussian(sigma, size=1_000_000, rng=np.random.default_rng(41))
    expected = law(number)
    assert chi_square(draws, expected.__getitem__, range(min(expected), max(expected) + 1)) > LEVEL


@pytest.mark.parametrize("sigma", [5000, 2**20, 2**40, 2**55])
def test_law_at_large_sigma(sigma: int) -> None:
    """Quantile cells of the normal law (which differs by far less than a draw can tell), and the last six bits."""
    draws = discrete_gaussian(sigma, size=200_000, rng=np.random.default_rng(42))
    cells = np.floor(stats.norm.cdf((draws + 0.5) / sigma) * 200).astype(np.int64)
    assert chi_square(cells, lambda _: 1 / 200, range(200)) > LEVEL
    assert chi_square(draws % 64, lambda _: 1 / 64, range(64)) > LEVEL
    n = draws.size
    assert abs((draws / sigma).mean()) < Z_LIMIT / n**0.5
    assert abs(((draws / sigma) ** 2).mean() - 1) < Z_LIMIT * (2 / n) ** 0.5


def test_tails_have_the_right_weight() -> None:
    for sigma, cut, draws in ((2, 10, 20_000_000), (150, 735, 6_000_000)):
        rng = np.random.default_rng(43)
        hits = sum(int((np.abs(discrete_gaussian(sigma, size=draws // 8, rng=rng)) >= cut).sum()) for _ in range(8))
        expected = draws * math.fsum(p for k, p in law(Fraction(sigma)).items() if abs(k) >= cut)
        assert stats.poisson.cdf(hits, expected) > LEVEL / 4
        assert stats.poisson.sf(hits - 1, expected) > LEVEL / 4


@lru_cache
def cumulative(sigma: Fraction, digits: int = 350) -> tuple[Decimal, ...]:
    """P{0}, P{0,1}, P{0,1,-1}, ... to some 350 digits, by the decimal module alone."""
    with localcontext() as context:
        context.prec = digits
        weights = []
        for k in count():
            weight = (-to_decimal(k * k / (2 * sigma**2))).exp()
            weights.append(weight)
            if weight < Decimal(10) ** -digits:
                break
        total = weights[0] + 2 * sum(weights[1:])
        sums = [weights[0] / total]
        for weight in weights[1:]:
            sums += [sums[-1] + weight / total, sums[-1] + 2 * weight / total]
        return tuple(sums)


def brute_force(sigma: Fraction, words: list[int]) -> int:
    """The outcome of the uniform number with these 64-bit words, followed by words of 2**63."""
    with localcontext() as context:
        context.prec = 350
        u = sum((Decimal(w) / Decimal(2) ** (64 * (i + 1)) for i, w in enumerate(words)), Decimal(0))
        u += Decimal(2) ** (-64 * len(words) - 1)
        place = sum(1 for c in cumulative(sigma) if c <= u)
    return (place + 1) // 2 if place % 2 else -(place // 2)


@pytest.mark.parametrize("sigma", [Fraction(1, 100), Fraction(1, 2), Fraction(1), Fraction(5, 3), Fraction(9)])
def test_the_tail_beyond_the_table_is_drawn_exactly(sigma: Fraction) -> None:
    full = 2**64 - 1
    seen = set()
    for script in ([full], [full, 3], [full, full, 5], [full, full, full - 77], [full, full, full, full, 1 << 40]):
        expected = brute_force(sigma, script)
        assert discrete_gaussian(sigma, rng=Scripted(script, filler=1 << 63)) == expected
        seen.add(abs(expected))
    if sigma >= 1:
        assert max(seen) > 13.5 * sigma  # this lies beyond every entry of the first table
        assert len(seen) >= 4


@pytest.mark.parametrize("sigma", [Fraction(1, 2), Fraction(1), Fraction(20)])
@pytest.mark.parametrize("words", [1, 2, 3])
def test_ties_with_a_threshold_are_settled_exactly(sigma: Fraction, words: int) -> None:
    for place in range(4):
        number = leading_bits(cumulative(sigma)[place], 64 * words)
        for step in (-1, 0, 1):
            script = words_of(number + step, 64, words)
            bits = Scripted(script, filler=1 << 63)
            assert discrete_gaussian(sigma, rng=bits) == brute_force(sigma, script)
            if step == 0:
                assert bits.used == words + 1


@pytest.mark.parametrize("sigma", [Fraction(1, 100), Fraction(3, 10), Fraction(1), Fraction(40)])
@pytest.mark.parametrize("width", [64, 128, 320])
def test_threshold_enclosures_hold_and_are_tight(sigma: Fraction, width: int) -> None:
    low, high = _thresholds(sigma**2, width)
    exact = cumulative(sigma)
    with localcontext() as context:
        context.prec = 350
        for lower, upper, c in zip(low[:-1], high[:-1], exact, strict=False):
            assert lower <= c * (1 << width) <= upper
            assert upper - lower <= 3
        # the last pair stands for all thresholds that are not listed
        assert low[-1] <= exact[min(len(low) - 1, len(exact) - 1)] * (1 << width)
        assert high[-1] == 1 << width
        assert low == sorted(low)
        assert high == sorted(high)


@pytest.mark.parametrize(
    "sigma", [Fraction(129), Fraction(1000), Fraction(2**20 + 1, 3), Fraction(2**40), Fraction(2**55)]
)
def test_the_rejection_coin_has_its_probability(sigma: Fraction) -> None:
    plan = _rejection_plan(sigma)
    rng, n = np.random.default_rng(44), 200_000
    from noisewright.sampling import bits_from

    for ratio in (Fraction(0), Fraction(1, 300), Fraction(1, 3), Fraction(1), Fraction(2), Fraction(7, 2)):
        distance = int(ratio * sigma)
        heads = int(_accepted(plan, np.full(n, distance), bits_from(rng)).sum())
        p = float(expm(Fraction(distance) ** 2 / (2 * sigma**2), 40))
        assert abs(heads - n * p) <= Z_LIMIT * (n * p * (1 - p)) ** 0.5 + 1e-9


@pytest.mark.parametrize("sigma", [Fraction(129), Fraction(2**20), Fraction(2**40)])
def test_ties_of_the_rejection_coin_are_settled_exactly(sigma: Fraction) -> None:
    """One digit at a time: all other coins are given a winning word, and the tied one is extended past its tie."""
    plan = _rejection_plan(sigma)
    assert bool(plan.low_bits) == (sigma > 1000)
    win = [0] * (5 if plan.low_bits else 4)
    for place, power in enumerate((0, 4, 7, 11)):
        distance = 1 << (
            plan.low_bits // 2 + power
        )  # its square is a single digit, 2**(2 power - 7 place), and no rest
        exponent = Fraction(distance) ** 2 / (2 * sigma**2)
        first, second, third = words_of(leading_bits(expm(exponent, 800), 160), 32, 3)
        for tail, expected in (
            ([first - 1], True),
            ([first + 1], False),
            ([first, second - 1], True),
            ([first, second + 1], False),
            ([first, second, third - 1], True),
            ([first, second, third + 1], False),
        ):
            if tail[-1] < 0:
                continue
            script = win[:place] + tail + win[place + 1 :]
            bits = Scripted(script)
            assert bool(_accepted(plan, np.array([distance]), bits)[0]) is expected
            assert not bits.left


@pytest.mark.parametrize("sigma", [Fraction(2**20), Fraction(10**9 + 7, 4), Fraction(2**40), Fraction(2**55)])
def test_what_the_digits_leave_out_is_not_lost(sigma: Fraction) -> None:
    plan = _rejection_plan(sigma)
    rng = np.random.default_rng(45)
    for distance in [int(x) for x in rng.integers(0, int(3 * sigma), 20)]:
        head = (distance >> plan.drop_bits) ** 2 >> (plan.low_bits - 2 * plan.drop_bits)
        rest = distance**2 - (head << plan.low_bits)
        assert rest >= 0
        assert Fraction(rest) / (2 * sigma**2) < Fraction(1, 2**18)
        assert head < 1 << 28
        first, second = words_of(leading_bits(expm(Fraction(rest) / (2 * sigma**2)), 96), 32, 2)
        for tail, expected in (([first, second - 1], True), ([first, second + 1], False), ([first - 1], True)):
            # Words of zero win every digit, except against a threshold of zero, where two more words settle it.
            accepted = _accepted(plan, np.array([distance]), Scripted([0, 0, 0, 0, *tail]))
            assert bool(accepted[0]) is expected


def test_distances_beyond_sixteen_sigma_still_have_their_chance() -> None:
    sigma = Fraction(2**40)
    plan = _rejection_plan(sigma)
    distance = plan.far + 12345
    exponent = Fraction(distance) ** 2 / (2 * sigma**2)
    words = words_of(leading_bits(expm(exponent), 32 + 64 * 13), 32, 14)
    assert words[0] == 0
    assert words[1] == 0
    near = [0] * 5
    # the last word is one unit off: thirteen words of agreement come before the answer
    assert bool(_accepted(plan, np.array([distance]), Scripted([*near, *words[:-1], words[-1] - 1]))[0]) is True
    assert bool(_accepted(plan, np.array([distance]), Scripted([*near, *words[:-1], words[-1] + 1]))[0]) is False
    assert bool(_accepted(plan, np.array([2**61]), Scripted([*near, 1]))[0]) is False


def test_scalars_shapes_and_seeds() -> None:
    for sigma in (3, 300):
        assert type(discrete_gaussian(sigma)) is int
        assert discrete_gaussian(sigma, size=(0, 2)).shape == (0, 2)
        one, two = (discrete_gaussian(sigma, size=(40_000, 2), rng=np.random.default_rng(5)) for _ in range(2))
        assert one.dtype == np.int64
        assert one.shape == (40_000, 2)
        assert (one == two).all()
        assert (discrete_gaussian(sigma, size=100) != discrete_gaussian(sigma, size=100)).any()
    assert not discrete_gaussian("1/100", size=100_000).any()
    assert not discrete_gaussian(Fraction(1, 10**50), size=100).any()


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "wide", None])
def test_bad_sigma(bad: object) -> None:
    with pytest.raises(ParameterError, match=r"sigma.*(greater than 0|finite|not a number|must be a number)"):
        discrete_gaussian(bad)


def test_sigma_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"above 2\*\*55.*coarser lattice"):
        discrete_gaussian(2**55 + 1)
    with pytest.raises(ParameterError, match="negative"):
        discrete_gaussian(1, size=(3, -2))
