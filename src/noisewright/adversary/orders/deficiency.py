r"""Distance of a channel from a refinement of another, by linear programs.

* The **deficiency** of A with respect to B is the largest ``V_g[u > B] - V_g[u > A]`` over gains with values in ``[0, 1]``
  at the uniform prior. By duality it is ``min_R sum |A R - B| / 2n`` over channels R: half the total variation distance,
  averaged over secrets, that no post-processing of A can do without. It is 0 exactly when B refines A, and the best gain
  shows why where it does not.
* The **shortfall** is ``min_R max |A R - B|``, the same in the worst entry.

The output of a solver is raw material. The deficiency is reported between the value of the gain that was found (exact
arithmetic) and the error of the post-processing that was found.

>>> a = [["3/4", 0, "1/4", 0], ["3/4", "1/4", 0, 0], [0, "1/4", "1/4", "1/2"]]
>>> b = [["1/2", 0, "1/2"], ["1/2", "1/2", 0], [0, "1/2", "1/2"]]
>>> found = deficiency(a, b)
>>> round(found.value, 9), found.upper - found.value < 1e-9
(0.083333333, True)
>>> round(shortfall(a, b), 9)
0.125

Reference: Le Cam, *Sufficiency and approximate sufficiency* (1964); Torgersen, *Comparison of statistical experiments* (1991).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from noisewright.adversary.exact.channels import common_secrets, read
from noisewright.adversary.orders._columns import Columns, post_processing, reduce_columns
from noisewright.adversary.witness import GainWitness, PostProcessing, gain_witness
from noisewright.core.arrays import Floats
from noisewright.core.exact import float_down
from noisewright.optimality.program.solvers import solved

__all__ = ["Deficiency", "best_gain", "deficiency", "least_total", "least_worst", "shortfall"]

ACCURACY = 1e-10
"""The finest that the simplex solver takes."""

SMALL = 4_000
"""Programs with fewer unknowns than this are solved by the simplex method, whose answer is a vertex."""

BITS = 40
"""Number of binary digits to which gains from a solver are rounded: digits below it are its noise."""


@dataclass(frozen=True, eq=False)
class Deficiency:
    """``value <= deficiency <= upper``: what ``witness`` gains by B (None at 0), and what ``processing`` misses."""

    value: float
    upper: float
    witness: GainWitness | None
    processing: PostProcessing


def deficiency(a: Any, b: Any) -> Deficiency:
    """The deficiency of ``a`` with respect to ``b``, with the gain and the post-processing that show it."""
    first, second = read(a), read(b)
    common_secrets(first, second)
    left, right = reduce_columns(first), reduce_columns(second)
    between, gain = least_total(left.floats, right.floats)
    witness = best_gain(gain, left, right, keep=1 - Fraction(1, 10**9))
    processing = post_processing(left, right, between)
    missed = np.abs(first.floats @ processing.channel.matrix - second.floats).sum() / (2 * len(first.inputs))
    value = 0.0 if witness is None else float_down(witness.gap)
    return Deficiency(value, max(float(missed) + 1e-15, value), witness, processing)


def shortfall(a: Any, b: Any) -> float:
    """``min_R max |A R - B|``: by how much, in the worst entry, B misses being a post-processing of A.

    Columns are as in the given channels, because splitting one changes its worst entry.
    """
    first, second = read(a), read(b)
    common_secrets(first, second)
    return float(least_worst(first.floats, second.floats)[1])


def best_gain(gain: Floats, a: Columns, b: Columns, keep: Fraction = Fraction(7, 8)) -> GainWitness | None:
    """A gain ``g[x, w]`` of a solver as a witness; None if it does not prefer B in exact arithmetic.

    It is rounded to plain fractions where these keep that part of the gap.
    """
    if not np.isfinite(gain).all() or np.ptp(gain, axis=1).max(initial=0.0) == 0:
        return None
    actions = [b.given.outputs[group[0]] for group in b.groups]
    spread = gain - gain.min(axis=1, keepdims=True)
    spread = spread / spread.max()
    whole = None
    for plain in (False, True):
        rows = [[_short(v, plain) for v in row] for row in spread.T.tolist()]
        if all(len(set(column)) == 1 for column in zip(*rows, strict=True)):
            continue
        found = gain_witness(rows, actions, a.given, b.given)
        if found.gap > 0 and (whole is None or found.gap >= keep * whole.gap):
            whole = found
    return whole


def _short(value: float, plain: bool) -> Fraction:
    return Fraction(value).limit_denominator(12) if plain else Fraction(round(value * 2**BITS), 2**BITS)


@dataclass
class _Program:
    """``minimise goal z`` with ``rows z <= 0``, ``sums z = totals``, ``z >= 0``."""

    goal: Floats
    rows: Any
    sums: Any
    totals: Floats
    signed: int = field(init=False)

    def __post_init__(self) -> None:
        self.signed = len(self.goal)


def least_total(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The channel R that makes ``sum |A R - B|`` least, and the gain ``g[x, w]`` in ``[0, 1]`` that proves it; in floats."""
    (n, m), k = a.shape, b.shape[1]
    apart = sparse.identity(n * k, format="csr")
    product = sparse.kron(sparse.csr_matrix(a), sparse.identity(k), format="csr")  # row x k + w, column y k + w
    sums = sparse.kron(sparse.identity(m), np.ones((1, k)), format="csr")
    equations = sparse.vstack(
        [sparse.hstack([product, apart, -apart]), sparse.hstack([sums, sparse.csr_matrix((m, 2 * n * k))])],
        format="csr",
    )
    goal = np.r_[np.zeros(m * k), np.ones(2 * n * k)]
    totals = np.r_[b.ravel(), np.ones(m)]
    program = _Program(goal, sparse.csr_matrix((0, len(goal))), equations, totals)
    answer = solved(program, "HiGHS" if len(goal) <= SMALL else "clarabel", ACCURACY)
    assert answer is not None, "the distance to a set that is not empty has a least value"
    gain = np.clip(0.5 - answer.sums[: n * k].reshape(n, k) / 2, 0.0, 1.0)
    return answer.point[: m * k].reshape(m, k), gain


def least_worst(a: Floats, b: Floats, channel: bool = True) -> tuple[Floats, float]:
    """R that makes ``max |A R - B|`` least, and that value as the solver has it; ``channel`` asks for rows that sum to one.

    Without it, columns of R sum to one: column w has the weights of the hull of A's columns nearest to B's column w.
    """
    (n, m), k = a.shape, b.shape[1]
    product = sparse.kron(sparse.csr_matrix(a), sparse.identity(k), format="csr")
    if channel:
        sums = sparse.kron(sparse.identity(m), np.ones((1, k)), format="csr")
    else:
        sums = sparse.kron(np.ones((1, m)), sparse.identity(k), format="csr")
    # The worst entry t and a constant 1 are two more unknowns: rows have zeros on their right.
    worst = -sparse.csr_matrix(np.ones((n * k, 1)))
    target = sparse.csr_matrix(b.reshape(-1, 1))
    rows = sparse.vstack(
        [sparse.hstack([product, worst, -target]), sparse.hstack([-product, worst, target])], format="csr"
    )
    count = sums.shape[0]
    constant = sparse.csr_matrix(([1.0], ([0], [m * k + 1])), shape=(1, m * k + 2))
    equations = sparse.vstack([sparse.hstack([sums, sparse.csr_matrix((count, 2))]), constant], format="csr")
    goal = np.zeros(m * k + 2)
    goal[-2] = 1.0
    program = _Program(goal, rows, equations, np.ones(count + 1))
    answer = solved(program, "HiGHS" if len(goal) <= SMALL else "clarabel", ACCURACY)
    assert answer is not None, "the distance to a set that is not empty has a least value"
    return answer.point[: m * k].reshape(m, k), float(answer.point[-2])
