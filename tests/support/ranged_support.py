"""Brute force in 60-digit arithmetic for noise on ranges of whole numbers, and random sets of ranges."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

DIGITS = 60


def normalisers(rate: Fraction, ranges, points) -> dict[int, Decimal]:
    """Z(i) of each point, term by term; an open end is a geometric series from there."""
    with localcontext() as context:
        context.prec = DIGITS
        a = (-Decimal(rate.numerator) / Decimal(rate.denominator)).exp()
        found = {}
        for i in points:
            total = Decimal(0)
            for lo, hi in ranges:
                first = min(i, hi) - 9 if lo is None else lo
                last = max(i, lo) + 9 if hi is None else hi
                total += sum((a ** abs(i - j) for j in range(first, last + 1)), Decimal(0))
                if lo is None:
                    total += a ** (i - first + 1) / (1 - a)
                if hi is None:
                    total += a ** (last - i + 1) / (1 - a)
            found[i] = total
        return found


def points_of(ranges, beyond: int) -> list[int]:
    """All points, an open end followed for ``beyond`` steps."""
    found: list[int] = []
    for lo, hi in ranges:
        first = hi - beyond if lo is None else lo
        last = lo + beyond if hi is None else hi
        found.extend(range(first, last + 1))
    return found


def worst_share(rate: Fraction, ranges, inputs, *, epsilon: Fraction, step: Fraction, reach: int | None) -> Decimal:
    """The largest loss of any pair as a share of what it is allowed, every pair and every output that can matter."""
    points = points_of(inputs, (reach or 0) + 25)
    z = normalisers(rate, ranges, points)
    with localcontext() as context:
        context.prec = DIGITS
        logs = {i: v.ln() for i, v in z.items()}
        r, e, s = (Decimal(v.numerator) / Decimal(v.denominator) for v in (rate, epsilon, step))
        worst = Decimal(0)
        for x, i in enumerate(points):
            for j in points[x + 1 :]:
                if reach is not None and j - i > reach:
                    break
                allowed = e if reach is not None else e * s * (j - i)
                worst = max(worst, (r * (j - i) + abs(logs[i] - logs[j])) / allowed)
        return worst


@st.composite
def range_sets(draw, most: int = 4, open_ends: bool = True):
    """Ranges with gaps of one missing number or more, at least two points each, never the whole line."""
    count = draw(st.integers(1, most))
    place, found = draw(st.integers(-9, 9)), []
    for _ in range(count):
        length = draw(st.integers(1, 9))
        found.append([place, place + length])
        place += length + draw(st.integers(2, 8))
    if open_ends:
        ends = draw(st.sampled_from(["none", "low", "high", "both"] if count > 1 else ["none", "low", "high"]))
        if ends in ("low", "both"):
            found[0][0] = None
        if ends in ("high", "both"):
            found[-1][1] = None
    return tuple(tuple(pair) for pair in found)


def check_error(mechanism, answers, loss, clipped=True):
    """``error(loss)`` is the loss of the worst real answer, neither less nor more: a search over the ends of all cells.

    Every answer is moved to the nearest lattice point, ties upwards; ``clipped``: to the nearest one in its own interval.
    """
    if loss == "zero-one":
        assert mechanism.error(loss) == 1.0  # an answer between lattice points never comes out
        return
    step, power = mechanism.lattice.step, 1 if loss == "absolute" else 2
    close = Fraction(1, 10**9)
    spots = {}
    for low, high in answers.components:
        first, last = -((-low) // step), high // step
        inside = {
            (k + t) * step for k in range(first - 1, last + 2) for t in (Fraction(-1, 2), 0, Fraction(1, 2) - close)
        }
        for answer in {low, high} | {a for a in inside if low <= a <= high}:
            index = (answer / step + Fraction(1, 2)) // 1
            spots.setdefault(min(max(index, first), last) if clipped else index, []).append(float(answer))
    points = sorted(spots)
    centres = [float(p * step) for p in points]
    channel = mechanism.channel() if clipped else mechanism.channel(inputs=centres)
    rows, outputs = dict(zip(channel.inputs, channel.matrix, strict=True)), np.array(channel.outputs)
    worst = max(
        float(rows[centre] @ np.abs(outputs - answer) ** power)
        for point, centre in zip(points, centres, strict=True)
        for answer in spots[point]
    )
    assert worst * (1 - 1e-9) <= mechanism.error(loss) <= worst * (1 + 1e-7)
