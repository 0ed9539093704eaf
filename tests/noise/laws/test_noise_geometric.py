from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from noise_support import LEVEL, Z_LIMIT, Scripted, chi_square, expm, leading_bits, words_of
from scipy import stats

from noisewright.core.errors import ParameterError
from noisewright.noise import discrete_laplace, geometric
from noisewright.noise.laws.geometric import MAX_SCALE, geometric_plan

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


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(40)])
def test_the_coins_of_the_plan_multiply_to_the_law(rate: Fraction) -> None:
    """For every k below 2**L the digits, the sign and the last coin give the law to 60 decimal places."""
    plan = geometric_plan(rate)
    with localcontext() as context:
        context.prec = 100

        def number(p: object) -> Decimal:
            low, high = p.bounds(250)
            return Decimal(low + high) / 2 / (1 << 250)

        a, one = expm(rate, 100), Decimal(1)
        for k in range(1 << len(plan.digits)):
            weight = one - number(plan.more)
            for i, digit in enumerate(plan.digits):
                p = number(digit)
                weight *= p if k >> i & 1 else one - p
            assert abs(weight - (1 - a) * a**k) < Decimal(10) ** -60
            positive, negative = weight * (one - number(plan.negative)), weight * number(plan.negative)
            assert abs(positive - (1 - a) / (1 + a) * a**k) < Decimal(10) ** -60
            assert abs(negative - (1 - a) / (1 + a) * a ** (k + 1)) < Decimal(10) ** -60
        # and one more 2**L costs exactly the ratio of the law there
        assert abs(number(plan.more) - a ** (1 << len(plan.digits))) < Decimal(10) ** -60


def test_the_part_above_the_digits_is_counted_exactly() -> None:
    """Rate 1 has five digits, and 32 is added for each success of a coin with probability e**-32."""
    digits = [HEAD, TAIL, HEAD, TAIL, TAIL]  # 1 + 4
    first, second, third = words_of(leading_bits(expm(Fraction(32)), 160), 32, 3)
    assert first == 0
    assert geometric(1, rng=Scripted([*digits, 1])) == 5
    assert geometric(1, rng=Scripted([*digits, 0, second + 1])) == 5
    assert geometric(1, rng=Scripted([*digits, 0, second, third + 1])) == 5
    assert geometric(1, rng=Scripted([*digits, 0, second, third - 1, 1])) == 5 + 32
    assert geometric(1, rng=Scripted([*digits, 0, second - 1, 1])) == 5 + 32
    assert geometric(1, rng=Scripted([*digits, 0, 0, 0, 0, 0, second - 1, TAIL])) == 5 + 3 * 32


def test_a_rate_without_digits_counts_coins_alone() -> None:
    assert geometric_plan(Fraction(30)).digits == ()
    assert geometric(30, rng=Scripted([0, 0, 0, 0, TAIL])) == 2


def test_the_sign_complements_the_number() -> None:
    zeros = [TAIL] * 5
    assert discrete_laplace(1, rng=Scripted([TAIL, *zeros, TAIL])) == 0
    assert discrete_laplace(1, rng=Scripted([HEAD, *zeros, TAIL])) == -1
    assert discrete_laplace(1, rng=Scripted([HEAD, HEAD, *zeros[1:], TAIL])) == -2
    assert discrete_laplace(1, rng=Scripted([TAIL, HEAD, *zeros[1:], TAIL])) == 1
    assert discrete_laplace(1, rng=Scripted([HEAD, *zeros, 0, 0, TAIL])) == -33


def test_a_draw_outside_64_bits_is_refused_rather_than_wrapped() -> None:
    plan = geometric_plan(1 / Fraction(MAX_SCALE))
    assert len(plan.digits) == 61
    top = [HEAD] * 61
    assert geometric(1 / Fraction(MAX_SCALE), rng=Scripted([*top, 0, 0, TAIL])) == 2**62 - 1
    with pytest.raises(ParameterError, match="64-bit"):
        geometric(1 / Fraction(MAX_SCALE), rng=Scripted([*top, *[0, 0] * 4, TAIL]))


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
