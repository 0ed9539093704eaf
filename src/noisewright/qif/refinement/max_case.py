"""The max-case order: may B replace A against every adversary who waits for the worst output?

``A <=max B`` holds exactly when every posterior of B lies in the convex hull of A's posteriors, for one and then for
every prior that leaves no secret out; and exactly when ``max_y Q(posterior)`` is at most as large after B as after A,
for every quasi-convex Q. How often an output happens does not count. It follows from the average-case order, and the
two agree where A's columns are independent.

Where it fails, the witness is a posterior of B outside the hull, its distance from it (that distance is a convex Q that is
0 on A) and a direction that separates it; the direction's gap is exact.

>>> a = [["3/4", 0, "1/4", 0], ["3/4", "1/4", 0, 0], [0, "1/4", "1/4", "1/2"]]
>>> b = [["1/2", 0, "1/2"], ["1/2", "1/2", 0], [0, "1/2", "1/2"]]
>>> print(max_refined(a, b))
max: B may replace A: holds (exact): every posterior of the new one is a mixture of those of the old one, solved in fractions
>>> back = max_refined(b, a)
>>> print(back.status, round(back.witness.distance, 6))
fails (witness) 0.612372

Reference: Chatzikokolakis, Fernandes and Palamidessi, *Comparing systems: max-case refinement orders and application to
differential privacy* (2019).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright._typing import Floats
from noisewright.guarantees import EXACT, FAILS, UNDECIDED, WITHIN
from noisewright.numerics.linear_algebra import Rows, Vector
from noisewright.qif.refinement.decisions import FORWARD, Decision, Pair, answered, prepare, trivial
from noisewright.qif.refinement.exact_channel import common_secrets, read
from noisewright.qif.refinement.reduced_channel import (
    Columns,
    Refinement,
    beyond,
    gap_of_posterior,
    least_worst,
    posterior_slack,
)
from noisewright.qif.refinement.witness import PosteriorWitness

__all__ = ["MixtureWitness", "hull_shortfall", "max_refined"]


@dataclass(frozen=True, eq=False)
class MixtureWitness:
    """``weights[w, y]``: how the posterior of output ``w`` of B is a mixture of those after the outputs ``y`` of A.

    Outputs that never happen have no weights (zeros). ``residual`` is the largest entry by which a mixture misses.
    """

    weights: Floats
    residual: float
    exact: Rows | None = None

    def __str__(self) -> str:
        off = "" if self.exact is not None else f", up to {self.residual:.2g} in any entry"
        return (
            f"Each of the {len(self.weights)} posteriors of the new one is a mixture of posteriors of the old one{off}."
        )

    def to_json(self) -> dict[str, Any]:
        """The mixtures as plain data."""
        exact = None if self.exact is None else [[str(v) for v in row] for row in self.exact]
        return {"kind": "mixture", "weights": self.weights.tolist(), "exact": exact, "residual": self.residual}


def max_refined(
    a: Any, b: Any, tol: float = 1e-8, *, direction: str = FORWARD, pair: Callable[[], Pair] | None = None
) -> Refinement:
    """Return whether ``b`` may replace ``a`` against every quasi-convex vulnerability at the worst output.

    The witness is a :class:`MixtureWitness` (or a post-processing) where it holds and a :class:`PosteriorWitness` where it fails.
    """
    return answered("max", _decide, a, b, tol, direction, pair)


def hull_shortfall(a: Any, b: Any) -> float:
    """The largest, over posteriors of B, of the least sup-norm distance to the hull of A's posteriors."""
    first, second = read(a), read(b)
    common_secrets(first, second)
    pair = prepare(first, second, 0.0)
    return float(least_worst(pair.a.posteriors, pair.b.posteriors, channel=False)[1])


def _decide(pair: Pair) -> Decision:
    known = trivial(pair)
    if known is not None:
        return EXACT, known[0], 0.0, known[1]
    if pair.first.lost or pair.second.lost:
        return UNDECIDED, "some outputs are too rare for the numbers that posteriors are compared in", None, None
    a, b = pair.a, pair.b
    if not pair.exact and pair.guess is not None:
        mixture = _mixture(a, b, _between(a, b, pair.guess.channel.matrix))
        if mixture.residual <= pair.tol:
            return WITHIN, f"the mixtures miss by {mixture.residual:.2g}", mixture.residual, mixture
    found = pair.separation
    if found.direction is not None:
        witness = beyond(found.direction, a, b)
        if pair.exact or _clear(witness, pair):
            return FAILS, "a posterior of the new one is outside the hull of those of the old one", None, witness
    if found.weights is not None:
        return EXACT, _SOLVED, 0.0, _exact_mixture(a, b, found.weights)
    if found.proved:
        return (
            EXACT,
            "the only mixtures there can be have weights proved to be above 0",
            0.0,
            _mixture(a, b, found.near),
        )
    mixture = _mixture(a, b, found.near)
    if mixture.residual > pair.tol:
        weights = least_worst(a.posteriors, b.posteriors, channel=False)[0]
        again = _mixture(a, b, weights * b.heights / a.heights[:, None])
        mixture = min(mixture, again, key=lambda one: one.residual)
    if mixture.residual <= pair.tol:
        return WITHIN, f"the mixtures miss by {mixture.residual:.2g}", mixture.residual, mixture
    if found.direction is not None and _beyond_rounding(found.direction, a, b):
        reason = "a posterior of the new one is outside the hull of those of the old one"
        return FAILS, reason, mixture.residual, beyond(found.direction, a, b)
    return UNDECIDED, f"the best mixtures found miss by {mixture.residual:.2g}", mixture.residual, mixture


_SOLVED = "every posterior of the new one is a mixture of those of the old one, solved in fractions"


def _clear(witness: PosteriorWitness, pair: Pair) -> bool:
    """Return whether a gap in floats is beyond rounding and shows a miss of more than ``tol`` in some entry."""
    size = sum(abs(v) for v in witness.direction)
    return witness.gap > posterior_slack(pair.first, pair.second) and witness.gap / size > Fraction(pair.tol)


def _beyond_rounding(direction: Vector, a: Columns, b: Columns) -> bool:
    return gap_of_posterior(direction, a.given, b.given)[0] > posterior_slack(a.given, b.given)


def _mixture(a: Columns, b: Columns, near: Floats | None) -> MixtureWitness:
    """Return mixtures from weights of columns, repaired: clipped at zero and summing to one; and their errors."""
    assert near is not None
    weights = np.clip(near * a.heights[:, None] / b.heights, 0.0, None)
    sums = weights.sum(axis=0)
    weights = np.where(sums > 0, weights / np.where(sums > 0, sums, 1.0), 1 / len(weights))
    residual = float(np.abs(a.posteriors @ weights - b.posteriors).max())
    lifted = np.zeros((len(b.given.outputs), len(a.given.outputs)))
    for w, group in enumerate(b.groups):
        for j, others in enumerate(a.groups):
            lifted[np.ix_(group, others)] = weights[j, w] * np.array([float(a.shares[y]) for y in others])
    return MixtureWitness(lifted, residual)


def _between(a: Columns, b: Columns, matrix: Floats) -> Floats:
    """A post-processing as weights between reduced columns."""
    shares = np.array([float(v) for v in a.shares])
    rows = np.stack([shares[g] @ matrix[g] for g in a.groups])
    return np.stack([rows[:, g].sum(axis=1) for g in b.groups], axis=1)


def _exact_mixture(a: Columns, b: Columns, weights: Rows) -> MixtureWitness:
    """The same from weights in fractions."""
    assert a.whole is not None
    assert b.whole is not None
    heights_a = [Fraction(int(v), a.total) for v in a.whole.sum(axis=0)]
    heights_b = [Fraction(int(v), b.total) for v in b.whole.sum(axis=0)]
    of_a = {y: j for j, group in enumerate(a.groups) for y in group}
    of_b = {y: w for w, group in enumerate(b.groups) for y in group}
    nothing = (Fraction(0),) * len(a.given.outputs)
    rows: list[tuple[Fraction, ...]] = []
    for y in range(len(b.given.outputs)):
        if y not in of_b:
            rows.append(nothing)
            continue
        w = of_b[y]
        rows.append(
            tuple(
                weights[of_a[z]][w] * heights_a[of_a[z]] / heights_b[w] * Fraction(a.shares[z])
                if z in of_a
                else Fraction(0)
                for z in range(len(a.given.outputs))
            )
        )
    return MixtureWitness(np.array([[float(v) for v in row] for row in rows]), 0.0, tuple(rows))
