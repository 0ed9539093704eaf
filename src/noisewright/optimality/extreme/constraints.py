r"""The inequalities of local privacy as sparse matrices, for a linear program of one's own.

Three forms of one polytope. ``ratio``: ``e^-epsilon A[i,j] <= A[k,j]``, ``m (m-1) k`` rows. ``lifted``: with a number
``w_j`` for each output, ``w_j <= A[i,j]`` and ``e^-epsilon A[i,j] <= w_j``, only ``2 m k`` rows. ``slack``, for
``delta > 0``: with a number ``s`` for each ordered pair and output, ``e^-epsilon (A[i,j] - s) <= A[k,j]`` and ``sum_j
s <= delta``. No coefficient is above 1 in size, whatever epsilon.

>>> local_constraints(4, 4, 0.5, form="ratio").upper.shape, local_constraints(4, 4, 0.5).upper.shape
((48, 16), (32, 20))
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from noisewright.core.choices import one_of
from noisewright.core.errors import ParameterError

__all__ = ["Constraints", "local_constraints"]

LARGEST = 20_000_000


@dataclass(frozen=True, eq=False)
class Constraints:
    """``upper x <= limits``, ``equal x = totals`` and ``x >= 0``; the first ``entries`` variables are the channel, row by row."""

    entries: int
    upper: Any
    limits: NDArray[np.float64]
    equal: Any
    totals: NDArray[np.float64]


def local_constraints(
    inputs: int, outputs: int, epsilon: float, delta: float = 0.0, form: str = "lifted"
) -> Constraints:
    """The constraints in one of the forms at the head of this module; only ``slack`` takes a delta greater than 0."""
    one_of(form, "form", ("lifted", "ratio", "slack"))
    if delta and form != "slack":
        raise ParameterError(f"form {form!r} is for delta = 0; with a delta above 0 take form='slack'.")
    m, k, t = inputs, outputs, math.exp(-epsilon)
    entries = m * k
    if m * entries > LARGEST:
        raise ParameterError(f"{m} secrets and {k} outputs give too many inequalities; take fewer of either.")
    cell = np.arange(entries).reshape(m, k)
    pairs = np.array(list(permutations(range(m), 2)), dtype=int).reshape(-1, 2)
    if form == "lifted":
        column = entries + np.broadcast_to(np.arange(k), (m, k)).ravel()
        low = [(column, 1.0), (cell.ravel(), -1.0)]
        high = [(cell.ravel(), t), (column, -1.0)]
        width, blocks = entries + k, [low, high]
    else:
        here, there = cell[pairs[:, 0]].ravel(), cell[pairs[:, 1]].ravel()
        width, blocks = entries, [[(here, t), (there, -1.0)]]
        if form == "slack":
            spare = entries + np.arange(len(here))
            width, blocks = entries + len(here), [[(here, t), (there, -1.0), (spare, -t)]]
    upper = _stack(blocks, width)
    limits = np.zeros(upper.shape[0])
    if form == "slack":
        sums = csr_array((np.ones(len(here)), (np.repeat(np.arange(len(pairs)), k), spare)), shape=(len(pairs), width))
        upper = vstack([upper, sums], format="csr")
        limits = np.concatenate([limits, np.full(len(pairs), delta)])
    equal = csr_array((np.ones(entries), (np.repeat(np.arange(m), k), np.arange(entries))), shape=(m, width))
    return Constraints(entries, upper, limits, equal, np.ones(m))


def _stack(blocks: list[list[tuple[NDArray[np.intp], float]]], width: int) -> Any:
    values, rows, columns, start = [], [], [], 0
    for block in blocks:
        count = len(block[0][0])
        for places, value in block:
            values.append(np.full(count, value))
            rows.append(start + np.arange(count))
            columns.append(places)
        start += count
    return csr_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(start, width))
