"""The geometric on a line, without a matrix: remaps, expected losses and the proof of optimality in linear time.

For secrets at ``p_0 < p_1 < ...`` on a line let ``A[x,y] = e^(-epsilon |p_x - p_y|)``. There are positive ``c_y``
with ``sum_y c_y A[x,y] = 1``, and ``G = A diag(c)`` is the truncated geometric (evenly spaced or not): all its
adjacent constraints are tight. Products with ``A`` are two recursions, and its inverse is tridiagonal.

**Proof of optimality at a prior.** Write ``s_y = min_w sum_x pi_x A[x,y] L[w,x]``, so that the geometric with its best
remap costs ``sum_y c_y s_y``. If ``u = A^-1 s`` satisfies ``sum_x (pi_x L[w,x] - u_x) v_x >= 0`` for every action ``w``
and every private ``v`` (``v >= 0``, neighbours within the allowed factor), no private mechanism costs less than
``sum_x u_x``, which is the cost of the geometric. That is linear duality; and because every column of ``G`` is in use
no other ``u`` could do it, so the test is exact. The smallest value over private ``v`` is found by a recursion along
the line.

>>> import numpy as np
>>> line = LineKernel.of(np.arange(3.0), float(np.log(2)))
>>> line.weights * 6
array([4., 2., 4.])
>>> loss = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
>>> places, costs = line.remap(np.full(3, 1/3), loss)
>>> round(float(line.weights @ costs), 9), round(line.gap(np.full(3, 1/3), loss, costs), 9)
(0.555555556, 0.0)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from noisewright._typing import Floats, Indices
from noisewright.design.loss import Displacement
from noisewright.design.solver import floored

__all__ = ["ACCEPTED", "FEW", "LineKernel", "Moments", "monotone_remap"]


FEW = 150
"""Maximum number of places for which a matrix of costs is faster than a search from coarse to fine."""

ACCEPTED = 1e-11
"""A proof that fails by no more than this, relative to the losses, for each secret, is taken for one that rounding spoilt."""


@dataclass(frozen=True)
class LineKernel:
    """``A[x,y] = e^(-epsilon |p_x - p_y|)`` for increasing places, given by the losses of its steps."""

    steps: Floats
    """``epsilon (p_(x+1) - p_x)``, each greater than 0."""

    @classmethod
    def of(cls, places: Floats, epsilon: float) -> LineKernel:
        """The kernel of increasing places."""
        return cls(epsilon * np.diff(places))

    @property
    def decays(self) -> Floats:
        """``e^-step``."""
        return np.asarray(np.exp(-self.steps))

    @property
    def weights(self) -> Floats:
        """The ``c`` with ``A c = 1``: (1-a)/(1+a) inside and 1/(1+a) at the ends if all steps are alike."""
        a = self.decays
        inner = -np.expm1(-(self.steps[:-1] + self.steps[1:])) / ((1 + a[:-1]) * (1 + a[1:]))
        return np.concatenate([[1 / (1 + a[0])], inner, [1 / (1 + a[-1])]])

    def smooth(self, rows: Floats) -> Floats:
        """``rows @ A`` by two recursions, one from each end."""
        if np.ptp(self.steps) == 0:
            a = math.exp(-self.steps[0])
            return np.asarray(_filtered(rows, a) + _filtered(rows[:, ::-1], a)[:, ::-1] - rows)
        forward, backward = np.array(rows), np.array(rows)
        decays = self.decays
        for x in range(1, rows.shape[1]):
            forward[:, x] += decays[x - 1] * forward[:, x - 1]
            backward[:, -x - 1] += decays[-x] * backward[:, -x]
        return np.asarray(forward + backward - rows)

    def remap(self, prior: Floats, loss: Floats) -> tuple[Indices, Floats]:
        """The best action for each output, and ``s_y``."""
        sums = self.smooth(loss * prior)
        places = sums.argmin(axis=0)
        return places, sums[places, np.arange(sums.shape[1])]

    def gap(self, prior: Floats, loss: Floats, costs: Floats) -> float:
        """Return how much better than the geometric some private mechanism might be at this prior; ``inf`` if one
        surely is.

        What floats leave open is counted: the ``u`` that is tested is the one whose sum is the bound, lowered by more
        than rounding can have raised the recursion.
        """
        a, losses = self.decays, prior * loss
        spread = -np.expm1(-2 * self.steps)
        # The geometric costs A^-1 applied to s in all. For one fixed action this is its row of losses exactly.
        # Therefore only the savings of the others are sent through the inverse, which enlarges rounding by one over a
        # tiny step.
        fixed = int(losses.sum(axis=1).argmin())
        saved = costs - self.smooth(losses[[fixed]])[0]
        saved[np.abs(saved) <= 1e-15 * np.abs(costs)] = 0.0
        u = np.array(losses[fixed])
        # Each step gives (s_x - a s_x') / (1 - a^2) to both of its ends, of which one s_x is taken back inside.
        u[:-1] += (saved[:-1] - a * saved[1:]) / spread
        u[1:] += (saved[1:] - a * saved[:-1]) / spread
        u[1:-1] -= saved[1:-1]
        height = losses - u
        value, size = float(self.weights @ costs), len(u)
        scale = float(np.abs(height).max())
        for lowered in (scale * max(1e-14, 4e-16 * size), ACCEPTED * float(np.abs(losses).max())):
            if self._private_side(height + lowered):
                return max(0.0, value - float(u.sum()) + lowered * size)
        return math.inf

    def _private_side(self, rows: Floats) -> bool:
        """Return whether each row has a sum of at least 0 against every private vector: its smallest one, scaled to 1
        at each place in turn.
        """
        a = self.decays
        least = rows[:, -1]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # a negative sum grows without bound
            for x in range(rows.shape[1] - 2, -1, -1):
                least = rows[:, x] + np.where(least >= 0, a[x] * least, least / a[x])
        return bool((least >= 0).all())

    def merged(self, places: Indices, actions: int) -> Floats:
        """Logarithms of the channel after the remap: one row for each secret, one column for each action."""
        spots = np.concatenate([[0.0], np.cumsum(self.steps)])
        logs = np.full((actions, len(spots)), -np.inf)
        weights = np.log(self.weights)
        for y, w in enumerate(places.tolist()):
            np.logaddexp(logs[w], weights[y] - np.abs(spots - spots[y]), out=logs[w])
        return floored(logs.T)


class Moments:
    """Sums of ``pi_x d^j e^(-rate |x - y|)`` to the left and to the right of each ``y``, for evenly spaced secrets."""

    def __init__(self, weights: Floats, rate: float) -> None:
        self.rate, self.point = rate, weights
        self.left = _one_sided(weights, rate)
        self.right = _one_sided(weights[::-1], rate)[:, ::-1]

    def costs(self, rule: Displacement, w: Indices, y: Indices) -> Floats:
        """``sum_x pi_x L[w,x] e^(-rate |x - y|)`` for pairs of an action and an output, both counted in steps."""
        found = np.empty(len(w))
        lower = w <= y
        for mask, near, far, before, after in (
            (lower, self.left, self.right, rule.below, rule.above),
            (~lower, self.right, self.left, rule.above, rule.below),
        ):
            found[mask] = self._side(near, far, before, after, w[mask], y[mask])
        return found

    def _side(
        self, near: Floats, far: Floats, before: tuple[float, ...], after: tuple[float, ...], w: Indices, y: Indices
    ) -> Floats:
        """The same for actions on one side of the output: secrets before the action, between the two, and beyond
        the output.
        """
        k = np.abs(w - y).astype(np.float64)
        fade = np.exp(-self.rate * k)
        at_w, at_y, beyond = near[:, w], near[:, y], far[:, y]
        beyond = np.array(
            [beyond[0] - self.point[y], beyond[1], beyond[2]]
        )  # the output's own secret is on the near side
        behind = fade * (before[0] * (at_w[0] - self.point[w]) + before[1] * at_w[1] + before[2] * at_w[2])
        between = (
            after[0] * (at_y[0] - fade * at_w[0])
            + after[1] * (k * at_y[0] - at_y[1] + fade * at_w[1])
            + after[2] * (k * k * at_y[0] - 2 * k * at_y[1] + at_y[2] - fade * at_w[2])
        )
        further = (
            after[0] * beyond[0]
            + after[1] * (beyond[1] + k * beyond[0])
            + after[2] * (beyond[2] + 2 * k * beyond[1] + k * k * beyond[0])
        )
        return np.asarray(behind + np.maximum(between, 0.0) + further)

    def above(self, x: Indices, start: Indices) -> Floats:
        """``sum_(y >= start) v_y e^(-rate |x - y|)`` where the weights of this object are ``v``; ``start`` may be
        one past the end.
        """
        size = len(self.point)
        ahead = start > x
        inside = np.minimum(start, size - 1)
        tail = np.exp(-self.rate * np.abs(start - x)) * self.right[0, inside] * (start < size)
        before = np.exp(-self.rate * np.abs(x - start + 1)) * self.left[0, np.maximum(start - 1, 0)] * (start > 0)
        whole = self.right[0, x] + self.left[0, x] - self.point[x]
        return np.asarray(np.where(ahead, tail, whole - before))


def monotone_remap(moments: Moments, rule: Displacement) -> tuple[Indices, Floats]:
    """The best action for each output, and its cost, where both are the same evenly spaced points.

    For a loss that rises with the displacement on either side the best action does not go down as the output goes up
    (the kernel is totally positive, and two actions change places once). Therefore, the outputs are settled from coarse
    to fine, each between its neighbours' actions: ``n log n`` costs in all.
    """
    size = len(moments.point)
    best = np.zeros(size + 2, dtype=np.intp)  # one sentinel on either side
    best[-1] = size - 1
    costs = np.zeros(size)
    stride = 1 << (size.bit_length())
    while stride:
        y = np.arange(stride, size + 1, 2 * stride)
        stride_here, stride = stride, stride // 2
        if not len(y):
            continue
        low, high = best[y - stride_here], best[np.minimum(y + stride_here, size + 1)]
        high = np.maximum(high, low)
        counts = high - low + 1
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        w = np.arange(int(counts.sum())) - np.repeat(starts - low, counts)
        values = moments.costs(rule, w, np.repeat(y - 1, counts))
        least = np.minimum.reduceat(values, starts)
        # The first action that attains the minimum.
        first = np.minimum.reduceat(np.where(values <= np.repeat(least, counts), w, size), starts)
        best[y], costs[y - 1] = first, least
    return best[1:-1], costs


def _one_sided(weights: Floats, rate: float) -> Floats:
    """``sum_(x <= y) v_x (y - x)^j e^(-rate (y - x))`` for j = 0, 1, 2."""
    a = math.exp(-rate)

    def delayed(values: Floats) -> Floats:
        return np.concatenate([[0.0], a * values[:-1]])

    zero = _filtered(weights, a)
    one = _filtered(delayed(zero), a)
    two = _filtered(delayed(2 * one + zero), a)
    return np.array([zero, one, two])


def _filtered(rows: Floats, a: float) -> Floats:
    """``sum_(x <= y) v_x a^(y - x)`` along the last axis."""
    from scipy.signal import lfilter

    return np.asarray(lfilter([1.0], [1.0, -a], rows, axis=-1))
