from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from noise_support import LEVEL, Z_LIMIT, Scripted, chi_square, expm, leading_bits, words_of
from scipy import stats

from noisewright.exceptions import ParameterError
from noisewright.sampling import discrete_laplace, geometric
from noisewright.sampling.laplace import MAX_SCALE, geometric_plan

HEAD, TAIL = 0, 2**32 - 1  # a half word that is below every threshold, and one that is above


@pytest.mark.parametrize(
    "rate", [Fraction(1, 1000), Fraction(1, 10), Fraction(2, 7), Fraction(1), Fraction(5), Fraction(12)]
)
def test_geometric_law(rate: Fraction) -> None:
    draws = geometric(rate, size=1_000_000, rng=np.random.default_rng(31))
    a = float(expm(rate, 40))
    top = math.ceil(20 / rate) + 2
    assert chi_square(draws, lambda k: (1 - a) * a**k, range(top)) > LEVEL


@pytest.mark.parametrize("scale", ["1/5", "1/2", 1, 10, "1000/3", 1000])
def test_discrete_laplace_law(scale: object) -> None:
    draws = discrete_laplace(scale, size=1_000_000, rng=np.random.default_rng(32))
    rate = 1 / Fraction(scale)
    a, top = float(expm(rate, 40)), math.ceil(20 / rate) + 2
    assert chi_square(draws, lambda k: (1 - a) / (1 + a) * a ** abs(k), range(-top, top + 1)) > LEVEL


@pytest.mark.parametrize("scale", [2**20, 2**40, MAX_SCALE])
def test_discrete_laplace_at_large_scales(scale: int) -> None:
    """Quantile cells of the continuous law, which differs by less than 1/scale here, and the parity of the draws."""
    draws = discrete_laplace(scale, size=200_000, rng=np.random.default_rng(33))
    cells = np.floor(stats.laplace.cdf(draws / scale) * 200).astype(np.int64)
    assert chi_square(cells, lambda _: 1 / 200, range(200)) > LEVEL
    assert chi_square(draws % 64, lambda _: 1 / 64, range(64)) > LEVEL


def test_tails_have_the_right_weight() -> None:
    rng, n = np.random.default_rng(34), 10_000_000
    hits = sum(int((np.abs(discrete_laplace(1, size=n // 4, rng=rng)) >= 14).sum()) for _ in range(12))
    expected = 3 * n * 2 * float(expm(Fraction(14), 40) / (1 + expm(Fraction(1), 40)))
    assert stats.poisson.cdf(hits, expected) > LEVEL / 2
    assert stats.poisson.sf(hits - 1, expected) > LEVEL / 2


@pytest.mark.parametrize("rate", [Fraction(1, 900), Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(40)])
def test_the_parts_of_the_plan_multiply_to_the_law(rate: Fraction) -> None:
    """For every k below 2**L the parts and the sign give the law to 60 decimal places."""
    plan = geometric_plan(rate)
    with localcontext() as context:
        context.prec = 100

        def middle(low: int, high: int) -> Decimal:
            assert 0 <= high - low <= 3
            return Decimal(low + high) / 2 / (1 << 250)

        a, one = expm(rate, 100), Decimal(1)
        parts = []
        for place, size in enumerate(plan.parts):
            ends = [Decimal(0), *map(middle, *plan.enclosure(place)(250))]
            last = place == len(plan.parts) - 1
            assert len(ends) == (1 << size) + last
            parts.append([after - before for before, after in pairwise(ends if last else [*ends, one])])
        negative = middle(*plan.negative.bounds(250))
        for k in range(1 << plan.digits):
            weight, rest = one, k
            for size, part in zip(plan.parts, parts, strict=True):
                weight *= part[rest % (1 << size)]
                rest >>= size
            assert abs(weight - (1 - a) * a**k) < Decimal(10) ** -60
            assert abs(weight * (one - negative) - (1 - a) / (1 + a) * a**k) < Decimal(10) ** -60
            assert abs(weight * negative - (1 - a) / (1 + a) * a ** (k + 1)) < Decimal(10) ** -60
        # and what is above all of them weighs what is left; another 2**L costs exactly the ratio of the law there
        assert abs(one - sum(parts[-1]) - a ** (1 << plan.digits)) < Decimal(10) ** -60
        assert abs(middle(*plan.more.bounds(250)) - a ** (1 << plan.digits)) < Decimal(10) ** -60


def test_the_part_above_the_digits_is_counted_exactly() -> None:
    """Rate 1 has five digits, 33 outcomes in 64 columns: 32 is said by the first 64 e**-32 of its own column."""
    column = 32 << 58
    with localcontext() as context:
        context.prec = 400
        first, second, third = words_of(leading_bits(64 * expm(Fraction(32)), 186), 58, 3)
    for script in ([first + 1], [first, second + 1], [first, second, third + 1]):
        assert geometric(1, rng=Scripted([column + script[0], *script[1:]])) < 32
    for script in ([0], [first - 1], [first, second - 1], [first, second, third - 1]):
        assert geometric(1, rng=Scripted([column + script[0], *script[1:], TAIL])) == 32
    coin, following = words_of(leading_bits(expm(Fraction(32)), 96), 32, 2)
    assert coin == 0
    assert geometric(1, rng=Scripted([column, 0, following - 1, 0, following + 1])) == 32 + 32


def test_a_rate_without_digits_counts_coins_alone() -> None:
    assert geometric_plan(Fraction(30)).parts == (0,)
    assert geometric(30, rng=Scripted([HEAD])) == 0
    assert geometric(30, rng=Scripted([1 << 63, 0, 0, TAIL])) == 2


def test_the_sign_complements_the_number() -> None:
    zero, one, above = 0, 1 << 58, 32 << 58
    assert discrete_laplace(1, rng=Scripted([TAIL, zero])) == 0
    assert discrete_laplace(1, rng=Scripted([HEAD, zero])) == -1
    assert discrete_laplace(1, rng=Scripted([HEAD, one])) == -2
    assert discrete_laplace(1, rng=Scripted([TAIL, one])) == 1
    assert discrete_laplace(1, rng=Scripted([HEAD, above, TAIL])) == -33


def test_a_draw_outside_64_bits_is_refused_rather_than_wrapped() -> None:
    plan = geometric_plan(1 / Fraction(MAX_SCALE))
    assert plan.digits == 61
    parts = [(1 << size) - 1 << 64 - size for size in plan.parts[:-1]] + [1 << 63]  # the largest of each
    assert geometric(1 / Fraction(MAX_SCALE), rng=Scripted([*parts, TAIL])) == 2**61 + 2 ** (61 - plan.parts[-1]) - 1
    with pytest.raises(ParameterError, match="64-bit"):
        geometric(1 / Fraction(MAX_SCALE), rng=Scripted([*parts, *[0, 0] * 3, TAIL]))


def test_moments_of_a_wide_laplace() -> None:
    t, n = Fraction(2**30), 1_000_000
    draws = discrete_laplace(t, size=n, rng=np.random.default_rng(35)).astype(float)
    variance = 2.0 * float(t) ** 2  # 2a/(1-a)**2, which is 2 t**2 within one part in 2**60
    assert abs(draws.mean()) < Z_LIMIT * (variance / n) ** 0.5
    assert abs((draws**2).mean() / variance - 1) < Z_LIMIT * (5 / n) ** 0.5


def test_scalars_shapes_and_seeds() -> None:
    assert type(geometric(1)) is int
    assert type(discrete_laplace(1)) is int
    assert discrete_laplace(3, size=(2, 0)).shape == (2, 0)
    one, two = (discrete_laplace("1/3", size=(70_000, 2), rng=np.random.default_rng(5)) for _ in range(2))
    assert one.dtype == np.int64
    assert (one == two).all()
    assert (discrete_laplace(10, size=100) != discrete_laplace(10, size=100)).any()
    assert not discrete_laplace(Fraction(1, 10**9), size=1000).any()
    assert geometric(0.5, size=9, rng=np.random.default_rng(1)).tolist() == (
        geometric("1/2", size=9, rng=np.random.default_rng(1)).tolist()
    )


@pytest.mark.parametrize("draw", [geometric, discrete_laplace])
@pytest.mark.parametrize("bad", [0, -1, "-1/2", float("nan"), float("inf"), "wide", None])
def test_bad_parameters(draw: object, bad: object) -> None:
    with pytest.raises(ParameterError, match=r"(rate|scale).*(greater than 0|finite|not a number|must be a number)"):
        draw(bad)


def test_scales_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"above 6.59e\+16.*coarser lattice"):
        discrete_laplace(MAX_SCALE + 1)
    with pytest.raises(ParameterError, match="beyond all floats"):
        geometric(Fraction(1, 10**400))
    with pytest.raises(ParameterError, match="negative"):
        geometric(1, size=-2)
