r"""Balanced weights: the extreme rays of ``{a >= 0 : sum_k a_k u_ik is the same for all i}``, by double description.

The columns ``u_k`` are weights over ``n`` secrets. A mix of columns that is the same at every secret is a channel; the
extreme rays are the mixes that use linearly independent columns only. Equations are taken one by one: rays on which an
equation holds stay, and each *adjacent* pair with opposite signs gives a new ray between them. Two rays are adjacent iff no
third one uses only columns that they use.

>>> [ray.support for ray in balanced_rays([[1, 0, 1], [0, 1, 1]])]
[(2,), (0, 1)]

Integers are exact. Where they stand for numbers known approximately, ``error`` says how far each entry may be off,
relatively, and a sign that could be wrong is refused rather than guessed. Floats are compared within ``tolerance``.

Reference: Motzkin, Raiffa, Thompson and Thrall, *The double description method* (1953); for 0-1 columns the rays are the
minimal balanced collections of Shapley (1967).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import ParameterError

__all__ = ["MOST_RAYS", "Ray", "balanced_rays"]

MOST_RAYS = 20_000
"""The default limit on rays, also on the way to the result."""

BLOCK = 4_000_000
"""Number of pairs that are examined together."""


@dataclass(frozen=True)
class Ray:
    """Weights of the columns in ``support``, all greater than 0, up to a common factor."""

    support: tuple[int, ...]
    weights: tuple[float, ...]
    error: float = 0.0


def balanced_rays(
    columns: Sequence[Sequence[float]], *, error: float = 0.0, tolerance: float = 0.0, most: int = MOST_RAYS
) -> list[Ray]:
    """The extreme rays, ordered by size and support; ``columns[i][k]`` is the weight of column ``k`` at secret ``i``.

    ``most`` limits the work: a space with more rays than that, at any step, is refused.
    """
    width = len(columns[0])
    rays = [Ray((k,), (1,), error) for k in range(width)]
    for i in range(1, len(columns)):
        rays = _cut(rays, columns[0], columns[i], i, width, error, tolerance, most)
    return sorted(rays, key=lambda ray: (len(ray.support), ray.support))


def _cut(
    rays: list[Ray],
    first: Sequence[float],
    row: Sequence[float],
    done: int,
    width: int,
    error: float,
    tolerance: float,
    most: int,
) -> list[Ray]:
    """The rays on which one more equation holds."""
    kept: list[Ray] = []
    sides: dict[bool, list[tuple[Ray, float, float]]] = {True: [], False: []}
    for ray in rays:
        value = sum(a * (row[k] - first[k]) for k, a in zip(ray.support, ray.weights, strict=True))
        size = sum(a * (row[k] + first[k]) for k, a in zip(ray.support, ray.weights, strict=True))
        if value == 0 or (tolerance and abs(value) <= tolerance * size):
            kept.append(ray)
            continue
        off = 0.0 if not error else _quotient(size, abs(value)) * (ray.error + error)
        if off > 0.25:
            raise ParameterError("this budget is too close to one where the kernels change; choose another epsilon.")
        sides[value > 0].append((ray, value, off))
    above, below = sides[True], sides[False]
    if not above or not below:
        return kept
    table = np.zeros((len(rays), width), dtype=np.float32)
    order = [*(r for r, _, _ in above), *(r for r, _, _ in below), *kept]
    for place, ray in enumerate(order):
        table[place, list(ray.support)] = 1
    for p, m in _adjacent(table, len(above), len(below), done + 1):
        kept.append(_between(*above[p], *below[m]))
        if len(kept) > most:
            raise ParameterError(
                f"there are more than {most} kernel mechanisms, or parts of some, in this space; take fewer secrets, allow "
                "more with most=, or let nw.optimal find the best mechanism for one loss without listing them."
            )
    return kept


def _quotient(size: float, value: float) -> float:
    try:
        return float(size / value)
    except OverflowError:
        return math.inf


def _adjacent(table: NDArray[np.float32], above: int, below: int, size: int) -> list[tuple[int, int]]:
    """Adjacent pairs of the first ``above`` rays and the next ``below``; together they use at most ``size`` columns."""
    sizes = table.sum(axis=1)
    up, down = table[:above], table[above : above + below]
    found: list[tuple[int, int]] = []
    step = max(1, BLOCK // max(below, 1))
    for start in range(0, above, step):
        part = up[start : start + step]
        together = sizes[start : start + len(part), None] + sizes[above : above + below] - part @ down.T
        pairs = np.argwhere(together <= size)
        pairs[:, 0] += start
        chunk = max(1, BLOCK // len(table))
        for begin in range(0, len(pairs), chunk):
            some = pairs[begin : begin + chunk]
            union = np.maximum(table[some[:, 0]], down[some[:, 1]])
            inside = (union @ table.T >= sizes).sum(axis=1)
            found += [(int(p), int(m)) for p, m in some[inside == 2]]
    return found


def _between(up: Ray, over: float, off: float, down: Ray, under: float, miss: float) -> Ray:
    """The mix of two rays on which the equation holds."""
    mixed: dict[int, float] = dict.fromkeys(sorted({*up.support, *down.support}), 0)
    for ray, factor in ((up, -under), (down, over)):
        for k, a in zip(ray.support, ray.weights, strict=True):
            mixed[k] += a * factor
    values = list(mixed.values())
    if all(isinstance(v, int) for v in values):
        divisor = math.gcd(*values)  # type: ignore[arg-type]
        values = [v // divisor for v in values]
    else:
        largest = max(values)
        values = [v / largest for v in values]
    error = max(up.error, down.error) + max(off, miss) * 2
    return Ray(tuple(mixed), tuple(values), error)
