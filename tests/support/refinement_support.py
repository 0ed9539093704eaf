"""Channels in fractions for the tests of refinement, and checks that stand on their own."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

Rows = tuple[tuple[Fraction, ...], ...]


def rows(text: str) -> Rows:
    """``"1/2 1/2; 1 0"`` as fractions."""
    return tuple(tuple(Fraction(v) for v in line.split()) for line in text.split(";"))


def product(a: Sequence[Sequence[Fraction]], b: Sequence[Sequence[Fraction]]) -> Rows:
    """The matrix product in fractions."""
    return tuple(
        tuple(sum((u * b[j][w] for j, u in enumerate(line)), Fraction(0)) for w in range(len(b[0]))) for line in a
    )


def worth(gain: Sequence[Sequence[Fraction]], channel: Sequence[Sequence[Fraction]]) -> Fraction:
    """``V_g`` at the uniform prior, written as its definition."""
    n = len(channel)
    total = Fraction(0)
    for y in range(len(channel[0])):
        total += max(sum((g[x] * channel[x][y] for x in range(n)), Fraction(0)) / n for g in gain)
    return total


def random_rows(rng: np.random.Generator, n: int, m: int, most: int = 4) -> Rows:
    """A channel of small fractions, with zeros, equal columns and impossible outputs among them."""
    found = []
    for _ in range(n):
        weights = rng.integers(0, most, m)
        if weights.sum() == 0:
            weights[int(rng.integers(m))] = 1
        found.append(tuple(Fraction(int(v), int(weights.sum())) for v in weights))
    return tuple(found)


def geometric(n: int, a: Fraction) -> Rows:
    """TG: the truncated geometric mechanism."""
    ends, middle = 1 / (1 + a), (1 - a) / (1 + a)
    return tuple(tuple((ends if y in (0, n - 1) else middle) * a ** abs(x - y) for y in range(n)) for x in range(n))


def response(n: int, a: Fraction) -> Rows:
    """RR: k-ary randomised response."""
    k = 1 + (n - 1) * a
    return tuple(tuple((1 if x == y else a) / k for y in range(n)) for x in range(n))


def exponential(n: int, b: Fraction) -> Rows:
    """E: weights ``b^|x-y|``, each row normalised."""
    found = []
    for x in range(n):
        weights = [b ** abs(x - y) for y in range(n)]
        found.append(tuple(v / sum(weights) for v in weights))
    return tuple(found)


def floats(channel: Sequence[Sequence[Fraction]]) -> np.ndarray:
    """The nearest floats."""
    return np.array([[float(v) for v in line] for line in channel])
