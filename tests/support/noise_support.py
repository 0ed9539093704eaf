"""What the noise tests share: scripted bits, chi-square tests, and laws computed without the library's own helpers.

Error rates: seeds are fixed, so a run never changes its mind. Had the seeds been drawn at random, each chi-square or
z test below would fail a correct sampler with probability 1e-6, and the whole directory with probability below 1e-3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import stats

LEVEL = 1e-6
Z_LIMIT = 4.9  # two-sided 1e-6


class Scripted:
    """Bits that were chosen beforehand; asking for more than was written is an error, unless a filler is given."""

    for_release = False
    label = "scripted"

    def __init__(self, words: Iterable[int], filler: int | None = None) -> None:
        self.left = list(words)
        self.filler = filler
        self.used = 0

    def words(self, count: int) -> NDArray[np.uint64]:
        given, self.left = self.left[:count], self.left[count:]
        if len(given) < count:
            assert self.filler is not None, "the sampler asked for more bits than the script holds"
            given += [self.filler] * (count - len(given))
        self.used += count
        return np.array(given, dtype=np.uint64)


def chi_square(draws: NDArray[np.int64], law: Callable[[int], float], values: range, least: float = 20.0) -> float:
    """The p-value of draws against ``law`` on ``values``, everything else and all rare values pooled in one cell."""
    expected = np.array([law(v) for v in values]) * draws.size
    inside = draws[(draws >= values.start) & (draws < values.stop)] - values.start
    observed = np.bincount(inside, minlength=len(values)).astype(float)
    keep = expected >= least
    observed, expected = observed[keep], expected[keep]
    rest_observed, rest_expected = draws.size - observed.sum(), draws.size - expected.sum()
    if rest_expected > 5:
        observed, expected = np.append(observed, rest_observed), np.append(expected, rest_expected)
    else:
        assert rest_observed <= 60, "far too many draws in cells that should be almost empty"
        expected *= observed.sum() / expected.sum()
    statistic = ((observed - expected) ** 2 / expected).sum()
    return float(stats.chi2.sf(statistic, observed.size - 1))


def to_decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def expm(x: Fraction, digits: int = 400) -> Decimal:
    """e**-x to ``digits`` digits, by the decimal module."""
    with localcontext() as context:
        context.prec = digits
        return (-to_decimal(x)).exp()


def logistic(x: Fraction, digits: int = 400) -> Decimal:
    with localcontext() as context:
        context.prec = digits
        return 1 / (1 + to_decimal(x).exp())


def leading_bits(p: Decimal, bits: int) -> int:
    """floor(p * 2**bits)."""
    with localcontext() as context:
        context.prec = 1000
        return int(p * (1 << bits))


def words_of(number: int, first: int, count: int) -> list[int]:
    """A number of ``first + 64 * (count - 1)`` bits cut into a first word of ``first`` bits and 64-bit words."""
    words = []
    for _ in range(count - 1):
        words.append(number & ((1 << 64) - 1))
        number >>= 64
    assert number < 1 << first
    return [number, *reversed(words)]


def some_words(_: object = None) -> list[int]:
    """Top-level, so that spawned workers can import it."""
    from noisewright.sampling import bits_from

    return [int(w) for w in bits_from(None).words(500)]


def some_noise(sampler: object) -> list[int]:
    return [int(v) for v in sampler.draw(np.zeros(400, dtype=np.int64))]
