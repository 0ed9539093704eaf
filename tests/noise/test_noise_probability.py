from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from noise_support import Z_LIMIT, Scripted, expm, leading_bits, logistic, to_decimal, words_of
from scipy import stats

from noisewright.exceptions import ParameterError
from noisewright.sampling import Probability, bernoulli, bernoulli_exp
from noisewright.sampling.bernoulli_bits import coins

CASES = {
    "1/3": (Probability.fraction("1/3"), None),
    "0.1 as a float": (Probability.fraction(0.1), None),
    "exp(-1/3)": (Probability.exp("1/3"), expm(Fraction(1, 3))),
    "exp(-20)": (Probability.exp(20), expm(Fraction(20))),
    "exp(-2**-50)": (Probability.exp(Fraction(1, 2**50)), expm(Fraction(1, 2**50))),
    "logistic(7/5)": (Probability.logistic("7/5"), logistic(Fraction(7, 5))),
    "logistic(-3)": (Probability.logistic(-3), logistic(Fraction(-3))),
    "logistic(2**-120)": (Probability.logistic(Fraction(1, 2**120)), logistic(Fraction(1, 2**120))),
}


def value(name: str) -> Decimal:
    probability, number = CASES[name]
    if number is not None:
        return number
    with localcontext() as context:
        context.prec = 400
        return to_decimal(probability.argument)


@given(st.fractions(0, 200), st.integers(1, 300), st.sampled_from(["exp", "logistic", "negative", "fraction"]))
@settings(max_examples=200, deadline=None)
def test_bounds_enclose_the_number_tightly(x: Fraction, bits: int, law: str) -> None:
    probability, number = {
        "exp": lambda: (Probability.exp(x), expm(x)),
        "logistic": lambda: (Probability.logistic(x), logistic(x)),
        "negative": lambda: (Probability.logistic(-x), logistic(-x)),
        "fraction": lambda: (Probability.fraction(x / 200), to_decimal(x / 200)),
    }[law]()
    low, high = probability.bounds(bits)
    assert 0 <= low <= high <= 1 << bits
    assert high - low <= 3
    if law == "fraction":
        assert low <= probability.argument * 2**bits <= high
    else:
        with localcontext() as context:
            context.prec = 400
            assert low <= number * (1 << bits) <= high


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("words", [1, 2, 3, 4])
@pytest.mark.parametrize("step", [-1, 0, 1])
def test_ties_are_settled_as_an_infinite_comparison_would(name: str, words: int, step: int) -> None:
    """U agrees with p on ``words`` words and then goes one unit below, level with, or one unit above it."""
    probability = CASES[name][0]
    width = 32 + 64 * (words - 1)
    prefix = leading_bits(value(name), width) + step
    prefix = min(prefix, (1 << width) - 1)  # next to 1 there is no word above
    script = words_of(prefix, 32, words)
    for further in (0, 2**64 - 1):
        bits = Scripted(script, filler=further)
        got = bool(coins(probability, 1, bits)[0])
        # What U is in the end: the script, then the filler for as long as anyone likes (here 640 more bits).
        tail = 0 if further == 0 else (1 << 640) - 1
        u = (prefix << 640) | tail
        with localcontext() as context:
            context.prec = 1000
            expected = u < value(name) * (Decimal(2) ** (width + 640))
        assert got is bool(expected)
        # No more words than needed: just enough that p does not lie inside the interval left for U. (The last case is
        # 1/2 - 2**-122 + 2**-366: on such a long way to the next digit, the bounds take a few words more to be sure.)
        stream = words_of(prefix, 32, words) + [further] * 8
        known, needed = stream[0], 1
        with localcontext() as context:
            context.prec = 1000
            while known < value(name) * (1 << (64 * needed - 32)) < known + 1:
                known, needed = known << 64 | stream[needed], needed + 1
        assert needed <= bits.used <= needed + 4 * (name == "logistic(2**-120)")


def test_certain_coins_draw_no_bits_and_dyadic_ones_never_tie() -> None:
    silent = Scripted([])
    assert bernoulli(1, size=3, rng=silent).tolist() == [True] * 3
    assert bernoulli(0, size=3, rng=silent).tolist() == [False] * 3
    assert bernoulli_exp(0, size=2, rng=silent).tolist() == [True] * 2
    assert Probability.fraction("3/8").first_word == (3 << 29, 3 << 29)
    border = (3 << 29) | ((3 << 29) - 1) << 32  # halves: exactly 3/8, and one unit below
    assert bernoulli("3/8", size=2, rng=Scripted([border])).tolist() == [False, True]


def test_ties_inside_a_block_touch_only_themselves() -> None:
    p = Probability.exp("1/3")
    first, second = words_of(leading_bits(expm(Fraction(1, 3)), 96), 32, 2)
    halves = [0, first, 2**32 - 1, first]
    packed = [halves[0] | halves[1] << 32, halves[2] | halves[3] << 32]
    assert bernoulli(p, size=4, rng=Scripted([*packed, second - 1, second + 1])).tolist() == [True, True, False, False]


@pytest.mark.parametrize("name", CASES)
def test_frequencies(name: str) -> None:
    n, p = 2_000_000, float(value(name))
    heads = int(bernoulli(CASES[name][0], size=n, rng=np.random.default_rng(21)).sum())
    assert abs(heads - n * p) <= Z_LIMIT * (n * p * (1 - p)) ** 0.5 + 3


@pytest.mark.parametrize(
    ("probability", "mean"),
    [(Probability.fraction(Fraction(1, 2**20)), 2.0**-20), (Probability.exp(14), float(expm(Fraction(14))))],
)
def test_rare_heads_are_as_rare_as_they_should_be(probability: Probability, mean: float) -> None:
    rng, n = np.random.default_rng(22), 10_000_000
    heads = sum(int(bernoulli(probability, size=n, rng=rng).sum()) for _ in range(6))
    expected = 6 * n * mean
    assert stats.poisson.cdf(heads, expected) > 5e-7
    assert stats.poisson.sf(heads - 1, expected) > 5e-7


def test_scalars_shapes_and_numbers() -> None:
    assert type(bernoulli("1/2")) is bool
    assert bernoulli(0.5, size=(2, 0)).shape == (2, 0)
    draws = bernoulli_exp("1/2", size=(3, 4), rng=np.random.default_rng(1))
    assert draws.dtype == np.bool_
    assert draws.shape == (3, 4)
    assert Probability.fraction(0.1).argument == Fraction(0.1) != Fraction("0.1")
    assert not bernoulli_exp(10**30, size=1000).any()


@pytest.mark.parametrize("bad", [-0.1, 1.5, "3/2", float("nan"), float("inf"), "half", None, True])
def test_bad_probabilities(bad: object) -> None:
    with pytest.raises(ParameterError, match=r"probability .*(give a number from 0 to 1|finite|not a number|must be)"):
        bernoulli(bad)


@pytest.mark.parametrize("bad", [-1, "-1/3", float("nan"), "x"])
def test_bad_exponents(bad: object) -> None:
    with pytest.raises(ParameterError, match="exponent"):
        bernoulli_exp(bad)
