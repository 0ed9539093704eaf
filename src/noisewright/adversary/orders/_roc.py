r"""Average-case refinement for two secrets: compare the curves of the best tests.

For two secrets an adversary tests one against the other, and ``f_C(s) = sum_y max(s C[0, y], C[1, y])`` says how well a
test does when being right about the first secret counts ``s`` times. A is refined by B exactly when ``f_A >= f_B``
everywhere, that is when A's concave curve of detection against false alarms lies on or above B's. ``f_A`` is linear between
the likelihood ratios of A, and ``f_B`` is convex, so the ratios of A decide: ``O(m log m)``, in fractions or in floats.

Where it holds, the post-processing is built directly: outputs of B, in the order of their beliefs, each take the
stretch of A's remaining outputs that has their mass and their mean. (The left-curtain coupling of two measures in
convex order.)

>>> from noisewright.adversary.orders._columns import reduce_columns
>>> from noisewright.adversary.exact.channels import read
>>> a = reduce_columns(read([["3/4", "1/4"], ["1/4", "3/4"]]))
>>> b = reduce_columns(read([["5/8", "3/8"], ["3/8", "5/8"]]))
>>> [[str(v) for v in row] for row in curtain(a, b)]
[['3/4', '1/4'], ['1/4', '3/4']]
>>> better_test(a, b) is None, [str(v) for v in better_test(b, a)]
(True, ['3/5', '-1'])

Reference: Blackwell (1953); Beiglboeck and Juillet, *On a problem of optimal transport under marginal martingale
constraints* (2016).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from noisewright.adversary.orders._columns import Columns
from noisewright.core.arrays import Floats
from noisewright.optimality.algebra.elimination import Rows, Vector

__all__ = ["better_test", "curtain", "curtain_in_floats", "curves"]


def curves(a: Columns, b: Columns) -> tuple[Floats, Floats, Floats]:
    """The likelihood ratios of A, and both curves there, in floats; for pictures and for quick answers."""
    first, second = a.floats
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = second / first
    ratios = np.unique(ratios[np.isfinite(ratios)])
    values = [np.maximum(ratios[:, None] * c.floats[0], c.floats[1]).sum(axis=1) for c in (a, b)]
    return ratios, values[0], values[1]


def better_test(a: Columns, b: Columns) -> Vector | None:
    """Return the direction ``(s, -1)`` for the ratio of A at which B's curve is furthest above A's, scaled; None if no
    ratio has one.

    Exact where both channels are; for floats it is exact about the binary fractions that they are.
    """
    left, right = a.given.whole, b.given.whole
    ratios = sorted({Fraction(int(v), int(u)) for u, v in left[0].T if u})
    above, best = Fraction(0), None
    curve_a, curve_b = (_Curve(whole.T.tolist(), total) for whole, total in (left, right))
    for s in ratios:
        gap = (curve_b.at(s) - curve_a.at(s)) / max(s, Fraction(1))
        if gap > above:
            above, best = gap, s
    return None if best is None else (min(best, Fraction(1)), -min(1 / best, Fraction(1)) if best else Fraction(-1))


class _Curve:
    """``f(s)`` of integer columns, by sums over the columns sorted by their ratio."""

    def __init__(self, columns: list[list[int]], total: int) -> None:
        finite = sorted((Fraction(v, u), u, v) for u, v in columns if u)
        self._ratios = [r for r, _, _ in finite]
        self._below = [0, *accumulate(u for _, u, _ in finite)]  # first row, of columns whose ratio is below s
        upper = sum(v for _, v in columns)
        self._above = [upper - v for v in [0, *accumulate(v for _, _, v in finite)]]
        self._total = total

    def at(self, s: Fraction) -> Fraction:
        i = bisect_left(self._ratios, s)
        return (s * self._below[i] + self._above[i]) / self._total


def curtain(a: Columns, b: Columns) -> Rows:
    """The post-processing between reduced exact channels on two secrets, where :func:`better_test` found nothing."""
    assert a.whole is not None
    assert b.whole is not None
    first = [(Fraction(int(u), int(u + v)), Fraction(int(u + v), a.total)) for u, v in a.whole.T]
    second = [(Fraction(int(u), int(u + v)), Fraction(int(u + v), b.total)) for u, v in b.whole.T]
    return tuple(tuple(Fraction(v) for v in row) for row in _couple(first, second))


def curtain_in_floats(a: Columns, b: Columns) -> Floats:
    """The same for channels in floats; it misses by a few roundings where the order holds, and by more where it does not."""
    masses = [c.floats.sum(axis=0) for c in (a, b)]
    places = [c.posteriors[0] for c in (a, b)]
    masses = [m / m.sum() for m in masses]
    first, second = (list(zip(p.tolist(), m.tolist(), strict=True)) for p, m in zip(places, masses, strict=True))
    return np.array(_couple(first, second), dtype=np.float64)


Number = Fraction | float
Atoms = list[tuple[Any, Any, int]]


def _couple(first: Sequence[tuple[Number, Number]], second: Sequence[tuple[Number, Number]]) -> list[list[Any]]:
    """Return the part of each of the first atoms that goes to each of the second; an atom is (place, mass)."""
    rest: Atoms = sorted((place, mass, j) for j, (place, mass) in enumerate(first))
    result: list[list[Any]] = [[0] * len(second) for _ in first]
    for w, (place, mass) in sorted(enumerate(second), key=lambda pair: pair[1][0]):
        taken, rest = _stretch(rest, mass, place)
        for j, amount in taken:
            result[j][w] += amount / first[j][1]
    return result


def _stretch(atoms: Atoms, mass: Any, mean: Any) -> tuple[list[tuple[int, Any]], Atoms]:
    """Return the stretch of sorted atoms (place, mass, name) with this mass and this mean, and the remaining atoms."""
    ends: list[Any] = [0]
    for _, amount, _ in atoms:
        ends.append(ends[-1] + amount)
    last = max(ends[-1] - mass, 0)
    starts = sorted({min(max(v, 0), last) for e in ends for v in (e, e - mass)})
    low, high = 0, len(starts) - 1  # the mean grows with the start, linearly between these
    while high - low > 1:
        middle = (low + high) // 2
        if _sum(atoms, ends, starts[middle], mass) <= mass * mean:
            low = middle
        else:
            high = middle
    start = starts[low]
    first, second = (_sum(atoms, ends, starts[i], mass) for i in (low, high))
    if second != first:
        start += (starts[high] - starts[low]) * min(max((mass * mean - first) / (second - first), 0), 1)
    stop = start + mass
    taken: list[tuple[int, Any]] = []
    left: Atoms = []
    for (place, amount, j), begin, end in zip(atoms, ends, ends[1:], strict=False):
        inside = max(0, min(end, stop) - max(begin, start))
        if inside:
            taken.append((j, inside))
        if inside < amount:
            left.append((place, amount - inside, j))
    return taken, left


def _sum(atoms: Atoms, ends: list[Any], start: Any, mass: Any) -> Any:
    """The sum of places over the stretch of this mass that begins at ``start``."""
    stop = start + mass
    return sum(
        place * (min(end, stop) - max(begin, start))
        for (place, _, _), begin, end in zip(atoms, ends, ends[1:], strict=False)
        if end > start and begin < stop
    )
