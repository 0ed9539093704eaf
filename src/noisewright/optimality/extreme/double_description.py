r"""Brute force: the vertices of a polytope from its inequalities, by the double description method in exact integers.

It does not use the theory of extreme points and so is the referee of
:mod:`~noisewright.optimality.extreme.enumeration`. It is also the only way to the vertices of ``(epsilon, delta)``
privacy, for which no closed form is known.

The last column is eliminated by the row sums. For ``delta = 0`` the inequalities are the ratios ``A[i,j] <= q A[k,j]``;
for ``delta > 0`` they are ``A[i,S] <= q A[k,S] + delta`` for **every** set ``S`` of outputs. Single outputs alone would
not be enough: for three secrets and three outputs 162 of the 357 vertices of that larger polytope break the guarantee
(``events="single"`` shows it).

>>> [len(local_vertices(m, factor=2)) for m in (2, 3)]
[4, 33]
>>> len(local_vertices(2, factor=2, delta="1/10")), len(local_vertices(2, factor=1, delta="1/10"))
(8, 6)

Reference: Motzkin, Raiffa, Thompson and Thrall (1953); Fukuda and Prodon, *Double description method revisited* (1996).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from noisewright.core.choices import one_of
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, as_fraction, in_words
from noisewright.optimality.algebra.echelon import Echelon, solve_many, whole_row
from noisewright.optimality.algebra.elimination import Rows

__all__ = ["local_inequalities", "local_vertices", "vertices"]

LARGEST = 60_000
"""Maximum number of rays that are held while vertices are enumerated."""


def local_vertices(
    inputs: int,
    outputs: int | None = None,
    *,
    factor: Exact,
    delta: Exact = 0,
    support: Sequence[int] | None = None,
    face: Iterable[int] = (),
    events: str = "all",
) -> set[Rows]:
    """Every vertex of the polytope of locally private channels for a rational ``factor`` (which is ``e^epsilon``).

    ``support`` allows some outputs only; the other columns are zero. ``face`` are numbers of rows of
    :func:`local_inequalities` that must hold with equality: only vertices of that face are found.
    """
    m = inputs
    k = inputs if outputs is None else outputs
    if min(m, k) < 1:
        raise ParameterError("vertices need at least one secret and one output.")
    used = list(range(k)) if support is None else sorted(set(support))
    if not used or used[0] < 0 or used[-1] >= k:
        raise ParameterError(f"support must name outputs from 0 to {k - 1}, and at least one.")
    c = len(used)
    rows = local_inequalities(m, c, factor=factor, delta=delta, events=events)
    tight = sorted(set(face))
    if tight and not 0 <= tight[0] <= tight[-1] < len(rows):
        raise ParameterError(f"face must name inequalities from 0 to {len(rows) - 1}.")
    found = set()
    for point in vertices(rows, tight) if c > 1 else [()]:
        matrix = [[Fraction(0)] * k for _ in range(m)]
        for i, row in enumerate(matrix):
            for j in range(c - 1):
                row[used[j]] = point[j * m + i]
            row[used[-1]] = 1 - sum(row, Fraction(0))
        found.add(tuple(map(tuple, matrix)))
    return found


def local_inequalities(
    inputs: int, outputs: int, *, factor: Exact, delta: Exact = 0, events: str = "all"
) -> list[list[Fraction]]:
    """Rows ``(b, a)`` with ``b + a . x >= 0``; ``x`` stacks all columns of the channel but the last, which follows from them."""
    m, c = inputs, outputs
    q, failure = as_fraction(factor, "factor"), as_fraction(delta, "delta")
    one_of(events, "events", ("all", "single"))
    if q < 1:
        raise ParameterError(f"factor is e^epsilon, so it must be 1 or more, not {in_words(q)}.")
    if not 0 <= failure <= 1:
        raise ParameterError(f"delta must be between 0 and 1, not {in_words(failure)}.")
    if events == "all" and failure and c > 8:
        raise ParameterError(f"with a delta every set of outputs is an inequality; at most 8 outputs, not {c}.")
    sets = range(1, (1 << c) - 1) if failure and events == "all" else [1 << j for j in range(c)]
    rows = []
    for event in sets:
        for i, other in permutations(range(m), 2):  # delta + q A[other, S] - A[i, S] >= 0
            row = [Fraction(0)] * (1 + m * (c - 1))
            row[0] = failure
            last = event >> (c - 1) & 1
            if last:
                row[0] += q - 1
            for j in range(c - 1):
                sign = (event >> j & 1) - last
                row[1 + j * m + other] += q * sign
                row[1 + j * m + i] -= sign
            rows.append(row)
    if failure or q == 1:  # otherwise the ratios imply that no entry is negative
        for i in range(m):
            rows.append([Fraction(1), *(Fraction(-(n % m == i)) for n in range(m * (c - 1)))])
            for j in range(c - 1):
                rows.append([Fraction(0), *(Fraction(n == j * m + i) for n in range(m * (c - 1)))])
    return rows


def vertices(inequalities: Sequence[Sequence[Fraction]], equalities: Iterable[int] = ()) -> list[tuple[Fraction, ...]]:
    """The vertices of the bounded polytope ``{x : b + a . x >= 0}``, given as rows ``(b, a)``.

    ``equalities`` are numbers of rows that must hold with equality. A polytope that is not bounded is refused.
    """
    rows = [whole_row(row) for row in inequalities]
    if not rows:
        raise ParameterError("a polytope needs at least one inequality.")
    rows.insert(0, [1] + [0] * (len(rows[0]) - 1))  # homogeneous: x_0 >= 0
    basis = _subspace([rows[e + 1] for e in equalities], len(rows[0]))
    seen = [[sum(a * b for a, b in zip(row, vector, strict=True)) for vector in basis] for row in rows]
    found = []
    for ray in _rays(seen, len(basis)):
        point = [sum(r * vector[n] for r, vector in zip(ray, basis, strict=True)) for n in range(len(rows[0]))]
        if point[0] == 0:
            raise ParameterError("the polytope is not bounded; add inequalities.")
        found.append(tuple(Fraction(v, point[0]) for v in point[1:]))
    return found


def _subspace(equalities: list[list[int]], width: int) -> list[list[int]]:
    """Return independent integer vectors that span the orthogonal complement of the rows."""
    echelon = Echelon(width)
    for row in equalities:
        echelon.add(row)
    return [whole_row(vector) for vector in echelon.orthogonal()]


def _rays(rows: list[list[int]], width: int) -> list[list[int]]:
    """The extreme rays of the pointed cone ``{x : row . x >= 0 for all rows}``."""
    echelon = Echelon(width)
    first = [n for n, row in enumerate(rows) if echelon.add(row)]
    if len(first) < width:
        raise ParameterError("the polytope is not bounded; add inequalities.")
    inverse = solve_many([rows[n] for n in first], [[int(a == b) for b in range(width)] for a in range(width)])
    assert inverse is not None
    rays = [whole_row([line[n] for line in inverse]) for n in range(width)]
    words = -(-len(rows) // 64)
    done = list(first)
    order = [n for n in range(len(rows)) if n not in set(first)]
    while order:
        # The row that cuts off the fewest rays first: the order decides how many are held in between.
        products = {n: _products(rays, rows[n]) for n in order}
        best = min(order, key=lambda n: sum(p < 0 for p in products[n]))
        order.remove(best)
        tight = _incidence(rays, [rows[n] for n in done], words)
        rays = _cut(rays, products[best], tight, width)
        done.append(best)
        if len(rays) > LARGEST:
            raise ParameterError(
                f"there are more than {LARGEST} vertices on the way; take a smaller polytope or a face."
            )
    return rays


def _products(rays: list[list[int]], row: list[int]) -> list[int]:
    used = [(n, a) for n, a in enumerate(row) if a]
    return [sum(a * ray[n] for n, a in used) for ray in rays]


def _incidence(rays: list[list[int]], rows: list[list[int]], words: int) -> NDArray[np.uint64]:
    """Return for each ray the rows that it lies on, as bits."""
    bits = np.zeros((len(rays), words), dtype=np.uint64)
    for n, row in enumerate(rows):
        on = np.array([p == 0 for p in _products(rays, row)], dtype=np.uint64)
        bits[:, n // 64] |= on << np.uint64(n % 64)
    return bits


def _cut(rays: list[list[int]], products: list[int], tight: NDArray[np.uint64], width: int) -> list[list[int]]:
    """Rays on the right side of a row, and one new ray between each two adjacent rays on different sides."""
    above = [n for n, p in enumerate(products) if p > 0]
    below = [n for n, p in enumerate(products) if p < 0]
    kept = [ray for ray, p in zip(rays, products, strict=True) if p >= 0]
    for low in below:
        common = tight[above] & tight[low]
        shared = np.bitwise_count(common).sum(axis=1)
        for place in np.flatnonzero(shared >= width - 2):
            both = common[place]
            # Adjacent exactly if no third ray lies on all rows that the two share.
            if int((((tight & both) == both).all(axis=1)).sum()) == 2:
                high = above[int(place)]
                p, n = products[high], -products[low]
                kept.append(whole_row([n * a + p * b for a, b in zip(rays[high], rays[low], strict=True)]))
    return kept
