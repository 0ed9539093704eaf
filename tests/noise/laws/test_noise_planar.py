"""The discrete planar Laplace law, its error band and its far tail. Error rates as in ``noise_support``."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from noise_support import LEVEL, Z_LIMIT, Scripted, leading_bits, to_decimal
from scipy import stats

from noisewright.exceptions import ParameterError
from noisewright.sampling import bits_from, discrete_planar_laplace
from noisewright.sampling import planar_laplace as planar_cells
from noisewright.sampling.planar_laplace import (
    BELOW_ROOT_HALF,
    CODES,
    NOTHING,
    SIDE,
    TAIL,
    CellTables,
    _accepted,
    _beyond,
    _compare,
    _plan,
    cells,
    cells_block,
    digit_tables,
)
from noisewright.sampling.planar_laplace import _settle_point as _settle


def law(rate: float, size: int) -> np.ndarray:
    """Probabilities on the square -size..size, by brute force; all the weight that counts must be inside."""
    axis = np.arange(-size, size + 1)
    weights = np.exp(-rate * np.hypot(axis[:, None], axis[None, :]))
    return weights / weights.sum()


def keep(rate: Fraction, x: int, y: int, digits: int = 120, slope: Fraction | None = None) -> Decimal:
    """The probability of keeping a proposal, e**-(rate |k| - slope |k|_1), by the decimal module alone."""
    slope = rate * BELOW_ROOT_HALF if slope is None else slope
    with localcontext() as context:
        context.prec = digits
        length = Decimal(x * x + y * y).sqrt()
        return (to_decimal(slope) * (abs(x) + abs(y)) - to_decimal(rate) * length).exp()


@pytest.mark.parametrize("rate", ["5", "3/2", "7/10", "1/5", "1/7", "1/20"])
def test_law(rate: str) -> None:
    theta = float(Fraction(rate))
    draws = discrete_planar_laplace(rate, size=400_000, rng=np.random.default_rng(71))
    size = math.ceil(45 / theta)
    assert np.abs(draws).max() <= size
    expected = law(theta, size) * len(draws)
    observed = np.zeros(expected.shape)
    np.add.at(observed, (draws[:, 0] + size, draws[:, 1] + size), 1)
    common = expected >= 20
    seen, wanted = observed[common], expected[common]
    rest = len(draws) - wanted.sum()
    if rest > 5:
        seen, wanted = np.append(seen, len(draws) - seen.sum()), np.append(wanted, rest)
    assert stats.chi2.sf(((seen - wanted) ** 2 / wanted).sum(), len(wanted) - 1) > LEVEL


@pytest.mark.parametrize(("rate", "cut"), [("1", 16), ("1/8", 120)])
def test_tails_have_the_right_weight(rate: str, cut: int) -> None:
    n, theta = 2_000_000, float(Fraction(rate))
    draws = discrete_planar_laplace(rate, size=n, rng=np.random.default_rng(72))
    hits = int((np.hypot(draws[:, 0], draws[:, 1]) >= cut).sum())
    size = math.ceil(45 / theta)
    axis = np.arange(-size, size + 1)
    expected = n * law(theta, size)[np.hypot(axis[:, None], axis[None, :]) >= cut].sum()
    assert 2 < expected < 60
    assert stats.poisson.cdf(hits, expected) > LEVEL / 4
    assert stats.poisson.sf(hits - 1, expected) > LEVEL / 4


@pytest.mark.parametrize("rate", [Fraction(1, 1000), Fraction(1, 2**17), Fraction(1, 2**33), Fraction(3, 2**45)])
def test_fine_lattices_reach_the_continuous_limit(rate: Fraction) -> None:
    """The length over the scale is Gamma(2), the angle uniform, and the low bits are fair."""
    n = 200_000
    draws = discrete_planar_laplace(rate, size=n, rng=np.random.default_rng(73))
    lengths = np.hypot(draws[:, 0].astype(float), draws[:, 1].astype(float)) * float(rate)
    assert stats.kstest(lengths, stats.gamma(2).cdf).pvalue > LEVEL
    angles = np.arctan2(draws[:, 1].astype(float), draws[:, 0].astype(float))
    assert stats.kstest(angles, stats.uniform(-math.pi, 2 * math.pi).cdf).pvalue > LEVEL
    low = np.bincount((draws % 8) @ np.array([8, 1]), minlength=64)
    assert stats.chisquare(low).pvalue > LEVEL


def test_the_eight_symmetries() -> None:
    """Swapping coordinates and flipping signs leaves the law as it is: all eight images of each point are equally likely."""
    draws = discrete_planar_laplace("1/3", size=800_000, rng=np.random.default_rng(74))
    for x, y in ((1, 2), (3, 1), (5, 4), (9, 2)):
        counts = [
            int((draws == image).all(axis=1).sum())
            for a, b in ((x, y), (y, x))
            for image in ((a, b), (a, -b), (-a, b), (-a, -b))
        ]
        assert min(counts) > 20
        assert stats.chisquare(counts).pvalue > LEVEL
    assert abs(draws.mean(axis=0)).max() < Z_LIMIT * draws.std() / math.sqrt(len(draws))
    assert abs(np.corrcoef(draws.T)[0, 1]) < Z_LIMIT / math.sqrt(len(draws))


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(1, 1000), Fraction(1, 2**21), Fraction(7, 2**48)])
def test_the_coin_has_its_probability(rate: Fraction) -> None:
    n, rng = 100_000, np.random.default_rng(75)
    scale = float(1 / rate)
    for ratio, angle in ((0.3, 0.0), (2.0, 0.1), (3.0, math.pi / 4), (8.0, 1.4), (0.0, 0.0)):
        x, y = round(ratio * scale * math.cos(angle)), round(ratio * scale * math.sin(angle))
        heads = int(_accepted(_plan(rate), np.full(n, x), np.full(n, -y), bits_from(rng)).sum())
        p = float(keep(rate, x, y))
        assert abs(heads - n * p) <= Z_LIMIT * math.sqrt(n * p * (1 - p)) + 1e-9


@pytest.mark.parametrize("rate", [Fraction(2), Fraction(1, 1000), Fraction(22, 7 * 2**11), Fraction(1, 2**40)])
def test_every_word_near_the_threshold_is_decided_exactly(rate: Fraction) -> None:
    """Words on both sides of the true threshold, inside the error band and at both of its ends."""
    plan, rng = _plan(rate), np.random.default_rng(76)
    top = int(12 / rate) + 2
    for x, y in rng.integers(-top, top, (40, 2)).tolist():
        threshold = leading_bits(keep(rate, x, y), 32)
        for step in (-3 * plan.slack, -plan.slack, -10, -1, 1, 10, plan.slack, 3 * plan.slack):
            word = threshold + step
            if 0 <= word < 1 << 32:
                bits = Scripted([word])
                kept = _accepted(plan, np.array([x]), np.array([y]), bits)
                assert bool(kept[0]) is (step < 0)
                assert bits.used == 1


@pytest.mark.parametrize("rate", [Fraction(2), Fraction(1, 1000), Fraction(1, 2**40)])
def test_ties_are_settled_with_more_bits(rate: Fraction) -> None:
    plan = _plan(rate)
    scale = max(1, int(1 / rate))
    for x, y in ((scale, 0), (2 * scale, -scale), (-scale, scale), (3 * scale + 1, 2)):
        number = leading_bits(keep(rate, x, y), 32 + 64)
        word, more = number >> 64, number & ((1 << 64) - 1)
        for step in (-1, 1):
            bits = Scripted([word, more + step])
            assert bool(_accepted(plan, np.array([x]), np.array([y]), bits)[0]) is (step < 0)
            assert bits.used == 2
        third = leading_bits(keep(rate, x, y), 32 + 128) & ((1 << 64) - 1)
        bits = Scripted([word, more, third - 1])
        assert _settle(plan, x, y, word, Scripted([more, third - 1])) is True
        assert bool(_accepted(plan, np.array([x]), np.array([y]), bits)[0]) is True
        assert bits.used == 3


def test_the_origin_is_always_kept() -> None:
    for rate in (Fraction(1, 10), Fraction(100), Fraction(10**6), Fraction(1, 2**40)):
        for word in (0, (1 << 32) - 1):
            bits = Scripted([word])
            assert (
                bool(_accepted(_plan(rate), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), bits)[0]) is True
            )
            assert bits.used == 1


def test_points_beyond_the_fixed_point_still_have_their_chance() -> None:
    for rate in (Fraction(1, 1000), Fraction(1, 2**40), Fraction(200)):
        plan = _plan(rate)
        x = (1 << plan.radial.reach) + 77
        p = keep(rate, x, x // 2, 400)
        width = 32 + 64 * (-p.adjusted() * 4 // 64 + 2)
        number = leading_bits(p, width)
        words = [(number >> shift) & ((1 << 64) - 1) for shift in range(width - 96, -1, -64)]
        for step in (-1, 1):
            script = [number >> (width - 32), *words[:-1], words[-1] + step]
            kept = _accepted(plan, np.array([x]), np.array([-(x // 2)]), Scripted(script))
            assert bool(kept[0]) is (step < 0)


def test_a_wrong_guess_of_the_root_is_caught_by_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if floats were off by far more than they are, no outcome changes: it is only settled the long way."""
    plan, rng = _plan(Fraction(1, 1000)), np.random.default_rng(77)
    x, y = rng.integers(-4000, 4000, (2, 200))
    words = rng.integers(0, 1 << 64, 100, dtype=np.uint64).tolist()
    honest = _accepted(plan, x, y, Scripted(words))
    sqrt = np.sqrt
    for error in (-1.0, 1.0, 1e6):
        monkeypatch.setattr(np, "sqrt", lambda values, error=error: np.maximum(sqrt(values) + error, 0))
        assert (_accepted(plan, x, y, Scripted(words, filler=1 << 63)) == honest).all()


@pytest.mark.parametrize("rate", [Fraction(3), Fraction(1, 1000), Fraction(1, 2**44)])
def test_bounds_enclose(rate: Fraction) -> None:
    scale = max(1, int(1 / rate))
    for x, y in ((0, 0), (1, 0), (scale, 2 * scale), (5 * scale, 5 * scale), (-7, scale)):
        for width in (32, 160, 300):
            low, high = _plan(rate).radial.bounds(x, y, width)
            with localcontext() as context:
                context.prec = 150
                assert low <= keep(rate, x, y, 150) * (1 << width) <= high
            assert high - low <= 4


def test_tables_are_below_and_close() -> None:
    for b, table in zip((4, 14, 24), digit_tables(), strict=True):
        exact = np.exp(-np.arange(1024) / 2.0**b) * 2.0**31
        assert (table <= exact + 1e-5).all()
        assert (table >= exact - 1 - 1e-5).all()


def test_shapes_scalars_and_seeds() -> None:
    one = discrete_planar_laplace("1/5")
    assert isinstance(one, tuple)
    assert [type(c) for c in one] == [int, int]
    assert discrete_planar_laplace(1, size=(3, 4)).shape == (3, 4, 2)
    assert discrete_planar_laplace(1, size=0).shape == (0, 2)
    first, second = (discrete_planar_laplace("1/9", size=40_000, rng=np.random.default_rng(5)) for _ in range(2))
    assert (first == second).all()
    assert first.dtype == np.int64
    assert discrete_planar_laplace("1/9", rng=np.random.default_rng(6)) == tuple(
        discrete_planar_laplace("1/9", size=1, rng=np.random.default_rng(6))[0].tolist()
    )
    assert not discrete_planar_laplace(1000, size=1000).any()


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "steep", None])
def test_bad_rates(bad: object) -> None:
    with pytest.raises(ParameterError, match="rate"):
        discrete_planar_laplace(bad)


def test_a_rate_whose_noise_does_not_fit_is_refused() -> None:
    with pytest.raises(ParameterError, match="coarser lattice"):
        discrete_planar_laplace(Fraction(1, 2**62))


# Cells


FINE = [Fraction(1, 7), Fraction(1, 1000), Fraction(1, 2**21), Fraction(5, 2**33)]


def made(rate: Fraction) -> CellTables:
    plan = cells(rate, rate * BELOW_ROOT_HALF)
    assert plan is not None
    return plan


def test_cells_are_for_fine_lattices() -> None:
    for rate, fits in (
        (Fraction(1, 5), False),
        (Fraction(1, 6), True),
        (Fraction(1, 2**33), True),
        (Fraction(1, 2**34), False),
    ):
        assert (cells(rate, rate * BELOW_ROOT_HALF) is not None) is fits


@pytest.mark.parametrize("rate", FINE)
def test_weights_are_upper_bounds_and_sure_words_lower_ones(rate: Fraction) -> None:
    plan = made(rate)
    assert plan.radial.relative_error < Fraction(1, 1 << 21)
    assert int(plan.weights.sum()) == 1 << 32
    assert plan.weights[TAIL] >= 1
    assert plan.weights[TAIL] < 1 << 13
    assert 0 <= plan.weights[NOTHING] < 1 << 16
    assert plan.surely[TAIL] == plan.surely[NOTHING] == 0
    side, g = 1 << plan.low_bits, float(rate * (1 << plan.low_bits))
    assert 1 / 6 < g <= 1 / 3
    i, j = np.divmod(np.arange(CODES), 128)
    inner = (i < SIDE) & (j < SIDE)
    exact = plan.constant * np.exp(-g * np.hypot(i, j))
    assert (plan.weights[inner] >= exact[inner] * (1 - 1e-12)).all()
    assert plan.weights[inner].sum() <= exact[inner].sum() * (1 + 1e-5)
    assert not plan.weights[~inner & (np.arange(CODES) < NOTHING)].any()
    with localcontext() as context:
        context.prec = 60
        for a, b in ((0, 0), (0, 1), (3, 4), (20, 7), (60, 60), (126, 0), (126, 126)):
            code = a * 128 + b
            weight = Decimal(plan.constant) * keep(rate, a * side, b * side, 60, slope=Fraction(0))
            least = Decimal(plan.constant) * keep(rate, (a + 1) * side, (b + 1) * side, 60, slope=Fraction(0))
            assert weight <= int(plan.weights[code])
            assert int(plan.surely[code]) * int(plan.weights[code]) <= least * (1 << 32)
            if max(a, b) < 30:
                assert int(plan.surely[code]) >= least * (1 << 32) / int(plan.weights[code]) * Decimal("0.99999")


@pytest.mark.parametrize("rate", FINE)
def test_the_alias_table_has_exactly_the_weights(rate: Fraction) -> None:
    plan = made(rate)
    own = plan.threshold.astype(np.int64)
    assert own.max() <= 1 << 18
    total = own.copy()
    np.add.at(total, plan.alias, (1 << 18) - own)
    assert (total == plan.weights).all()


@pytest.mark.parametrize("rate", FINE)
def test_words_near_the_threshold_of_a_cell_are_decided_exactly(rate: Fraction) -> None:
    plan, rng = made(rate), np.random.default_rng(78)
    b = plan.low_bits
    for i, j in [(0, 0), (0, 3), (126, 126), *rng.integers(0, 60, (25, 2)).tolist()]:
        u, v = rng.integers(0, 1 << b, 2).tolist()
        x, y = (i << b) + u, ~((j << b) + v)
        code, weight = i * 128 + j, int(plan.weights[i * 128 + j])
        with localcontext() as context:
            context.prec = 120
            p = Decimal(plan.constant) * keep(rate, x, y, slope=Fraction(0)) / weight
        assert p <= 1
        number = leading_bits(p, 96)
        word, more = number >> 64, number & ((1 << 64) - 1)
        for step in (-4000, -50, -1, 1, 50, 4000):
            if 0 <= word + step < 1 << 32:
                assert ask(plan, x, y, code, word + step, Scripted([])) is (step < 0)
        for step in (-1, 1):
            bits = Scripted([more + step])
            assert ask(plan, x, y, code, word, bits) is (step < 0)
            assert bits.used == 1


def ask(plan: CellTables, x: int, y: int, code: int, word: int, bits: Scripted) -> bool:
    points = np.array([[x, y]])
    kept = _compare(plan, points, np.array([0]), np.array([code], np.int32), np.array([word], np.uint32), bits)
    assert points.tolist() == [[x, y]]
    return bool(kept[0])


def test_as_many_points_are_kept_as_the_formula_says() -> None:
    """c 2^-32 4^-(b+1) Z, with Z the sum of the law by brute force."""
    rate, n = Fraction(1, 7), 1_000_000
    plan = made(rate)
    axis = np.arange(-400, 401)
    total = np.exp(-np.hypot(axis[:, None], axis[None, :]) / 7).sum()
    p = plan.constant * 2.0**-32 * 0.25 ** (plan.low_bits + 1) * total
    assert p > 0.75
    assert plan.kept == pytest.approx(p, rel=1e-3)
    kept = sum(len(cells_block(plan, n // 50, bits_from(np.random.default_rng(100 + k)))) for k in range(50))
    assert abs(kept - n * p) < Z_LIMIT * math.sqrt(n * p * (1 - p))


def test_the_tail_is_reached_and_nothing_is_nothing() -> None:
    plan = made(Fraction(1, 7))
    for word, expected in ((0, [[plan.border, 0]]), ((1 << 32) - 1, [])):
        bits = Scripted([TAIL << 18, 0, word, 0], filler=0)  # a geometric number from zeros is 0
        assert cells_block(plan, 1, bits).tolist() == expected
    assert cells_block(plan, 1, Scripted([NOTHING << 18, 0, 0])).tolist() == []
    flipped = Scripted([TAIL << 18, 0, 0, 0b111], filler=0)
    assert cells_block(plan, 1, flipped).tolist() == [[-1, ~plan.border]]


@pytest.mark.parametrize("rate", [Fraction(1, 7), Fraction(1, 1000), Fraction(5, 2**33)])
def test_points_beyond_the_cells_come_out_like_all_others(rate: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """P(proposed) times P(kept) is c 2^-32 4^-(b+1) e^-(theta |k|) for every proposal, and proposals have their law."""
    plan, bits = made(rate), bits_from(np.random.default_rng(79))
    slope, seen = rate * BELOW_ROOT_HALF, []

    def record(plan, point, ratio, word, bits, shift=Fraction(0), tail=False):
        assert tail
        seen.append((point, ratio, shift))
        return True

    monkeypatch.setattr(planar_cells, "_settle", record)
    tries = 4000
    for _ in range(tries):
        _beyond(plan, 0, bits)
    places = np.array([[c if c >= 0 else ~c for c in point] for point, _, _ in seen])
    with localcontext() as context:
        context.prec = 60
        a = (-to_decimal(slope)).exp()
        for (point, ratio, shift), place in list(zip(seen, places.tolist(), strict=True))[:100]:
            kept = (
                to_decimal(ratio)
                * keep(rate, *point, 60, slope=Fraction(0))
                * (-to_decimal(shift)).exp()
                / (1 - a) ** 2
            )
            proposed = int(plan.weights[TAIL]) * Decimal(2) ** -35 * (1 - a) ** 2
            proposed *= (-to_decimal(slope * (sum(place) - plan.border))).exp()
            wanted = plan.constant * Decimal(2) ** -32 * Decimal(4) ** -(plan.low_bits + 1)
            wanted *= keep(rate, *point, 60, slope=Fraction(0))
            assert abs(kept * proposed / wanted - 1) < Decimal(10) ** -40
            assert kept <= 1
    assert (places.max(axis=1) >= plan.border).all()
    second = places[:, 0] < plan.border
    assert stats.binomtest(int(second.sum()), tries).pvalue > LEVEL
    signs = np.bincount([(p[0] < 0) * 2 + (p[1] < 0) for p, _, _ in seen], minlength=4)
    assert stats.chisquare(signs).pvalue > LEVEL
    for values in (places.max(axis=1) - plan.border, places.min(axis=1)):
        cells_of = np.floor((1 - np.exp(-float(slope) * (values + 0.5))) * 10).astype(int)
        ends = np.append(np.ceil(-np.log1p(-np.arange(10) / 10) / float(slope) - 0.5), np.inf)
        law_of = np.exp(-float(slope) * ends[:-1]) - np.exp(-float(slope) * ends[1:])
        assert stats.chisquare(np.bincount(cells_of, minlength=10), law_of * len(values)).pvalue > LEVEL


@pytest.mark.parametrize("rate", FINE)
def test_tail_proposals_are_kept_with_a_probability(rate: Fraction) -> None:
    """2 c 4^-b e^-(theta |k| - r |k'|_1 + r R) / (w (1 - e^-r)^2) is at most 1, and words around it are decided exactly."""
    plan = made(rate)
    slope = rate * BELOW_ROOT_HALF
    with localcontext() as context:
        context.prec = 120
        for near in (0, plan.border // 3, plan.border, 2 * plan.border):
            shift = to_decimal(slope * (-near))
            chance = Decimal(2 * plan.constant) / (int(plan.weights[TAIL]) << (2 * plan.low_bits))
            chance *= (-shift).exp() * keep(rate, plan.border, near, slope=Fraction(0))
            chance /= (1 - (-to_decimal(slope)).exp()) ** 2
            assert 0 < chance <= 1
            ratio = Fraction(2 * plan.constant, int(plan.weights[TAIL]) << (2 * plan.low_bits))
            word = leading_bits(chance, 32)
            for step in (-1, 1):
                if word + step >= 0:
                    found = planar_cells._settle(
                        plan, (plan.border, near), ratio, word + step, Scripted([]), slope * (-near), tail=True
                    )
                    assert found is (step < 0)
