r"""Columns of a channel, reduced: impossible outputs dropped, proportional columns merged, and the way back.

Two outputs whose columns are proportional lead to the same belief, so no adversary loses by their being merged. A
post-processing between reduced channels is one between the channels: outputs of one group of the first are treated alike, and
a group of the second is split in the shares that its outputs have.

>>> from noisewright.adversary.exact.channels import read
>>> found = reduce_columns(read([["1/4", "1/2", 0, "1/4"], ["1/8", "1/4", 0, "5/8"]]))
>>> found.groups, found.shares
([[0, 1], [3]], [Fraction(1, 3), Fraction(2, 3), Fraction(0, 1), Fraction(1, 1)])
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from noisewright.adversary.exact.channels import Read
from noisewright.adversary.witness import PostProcessing
from noisewright.core.arrays import Floats, Integers
from noisewright.core.channels.channel import Channel
from noisewright.optimality.algebra.elimination import Rows

__all__ = ["Columns", "post_processing", "quick_post_processing", "reduce_columns"]

DIGITS = 13
"""Columns of floats are merged where their beliefs agree to this many digits."""


SMALLEST = 1e-300
"""Stands for sums that are too small for a float."""

LARGEST_INVERSE = 1e150
"""A guess is not made from an inverse with entries beyond this: products would overflow."""

TURNS = 200
"""Projections that a guess may take."""

MOST_PRODUCT = 4_000_000_000
"""Terms of products of the matrices that a guess may take."""


@dataclass(frozen=True, eq=False)
class Columns:
    """``floats[:, g]`` is the sum of the columns of group ``g``; ``whole`` the same in integers over ``total`` if exact.

    ``shares[y]`` is the part of its group that column ``y`` of the channel is, 0 for an impossible output. ``beliefs``
    are the posteriors where the floats are too small to distinguish them.
    """

    given: Read
    floats: Floats
    whole: Integers | None
    total: int
    groups: list[list[int]]
    shares: Sequence[Fraction | float]
    beliefs: Floats | None = None

    @cached_property
    def posteriors(self) -> Floats:
        """The beliefs after each group, from a uniform prior; one column each."""
        if self.whole is not None:  # also where probabilities are too small for floats
            heights = self.whole.sum(axis=0).tolist()
            return np.array([[v / s for v, s in zip(row, heights, strict=True)] for row in self.whole.tolist()])
        if self.beliefs is not None:
            return self.beliefs
        scaled = self.floats / self.floats.max(axis=0)
        return np.asarray(scaled / scaled.sum(axis=0))

    @cached_property
    def heights(self) -> Floats:
        """The sums of the columns, above zero also where floats underflow."""
        return np.asarray(np.maximum(self.floats.sum(axis=0), SMALLEST))


def reduce_columns(given: Read) -> Columns:
    """The reduced columns of a channel, exactly where it is exact."""
    groups: dict[object, list[int]] = {}  # by belief
    if given.faint:
        return _from_logs(given)
    if given.exact is None:
        matrix = given.floats
        sums = matrix.sum(axis=0)
        seen = np.flatnonzero(sums > 0)
        beliefs = np.round(matrix[:, seen] / sums[seen], DIGITS)
        for y, belief in zip(seen.tolist(), beliefs.T, strict=True):
            groups.setdefault(belief.tobytes(), []).append(y)
        found = list(groups.values())
        if len(found) == matrix.shape[1]:  # nothing to drop or to merge
            return Columns(given, matrix, None, 1, found, [1.0] * len(found))
        floats = np.stack([matrix[:, g].sum(axis=1) for g in found], axis=1)
        weights = np.zeros(len(sums))
        for group in found:
            weights[group] = sums[group] / sums[group].sum()
        return Columns(given, floats, None, 1, found, weights.tolist())
    whole, total = given.whole
    for y in range(whole.shape[1]):
        column = whole[:, y].tolist()
        divisor = math.gcd(*column)
        if divisor:
            groups.setdefault(tuple(v // divisor for v in column), []).append(y)
    found = list(groups.values())
    merged = np.stack([whole[:, g].sum(axis=1) for g in found], axis=1)
    heights = whole.sum(axis=0).tolist()
    shares: list[Fraction | float] = [Fraction(0)] * len(heights)
    for group in found:
        height = sum(heights[y] for y in group)
        for y in group:
            shares[y] = Fraction(heights[y], height)
    floats = np.array([[v / total for v in row] for row in merged.tolist()])
    return Columns(given, floats, merged, total, found, shares)


def _from_logs(given: Read) -> Columns:
    """The reduced columns where some probabilities are too small for floats: an output counts, however rare it is."""
    logs = given.channel.logs
    tops = logs.max(axis=0)
    seen = np.flatnonzero(np.isfinite(tops))
    scaled = np.exp(logs[:, seen] - tops[seen])
    sums = scaled.sum(axis=0)
    groups: dict[bytes, list[int]] = {}
    for k, belief in enumerate(np.round(scaled / sums, DIGITS).T):
        groups.setdefault(belief.tobytes(), []).append(k)
    heights = np.log(sums) + tops[seen]
    shares, found = np.zeros(logs.shape[1]), []
    for group in groups.values():
        parts = np.exp(heights[group] - heights[group].max())
        found.append(seen[group].tolist())
        shares[seen[group]] = parts / parts.sum()
    firsts = [group[0] for group in groups.values()]
    floats = np.stack([given.floats[:, g].sum(axis=1) for g in found], axis=1)
    return Columns(given, floats, None, 1, found, shares.tolist(), (scaled / sums)[:, firsts])


def post_processing(a: Columns, b: Columns, between: Floats | Rows) -> PostProcessing:
    """The post-processing of the channels themselves from one of their reduced columns, with its residual measured again.

    Floats are repaired first: clipped at zero and rows rescaled to one. An impossible output of the first is sent where the
    second goes on average; it never happens.
    """
    if isinstance(between, np.ndarray):
        clipped = np.clip(between, 0.0, None)
        sums = clipped.sum(axis=1, keepdims=True)
        clipped = np.where(sums > 0, clipped / np.where(sums > 0, sums, 1.0), 1 / clipped.shape[1])
        lifted = np.zeros((len(a.given.outputs), len(b.given.outputs)))
        lifted[:] = b.given.floats.mean(axis=0)
        shares = np.array([float(v) for v in b.shares])
        spread = np.zeros((len(b.groups), len(b.given.outputs)))
        for g, group in enumerate(b.groups):
            spread[g, group] = shares[group]
        for g, group in enumerate(a.groups):
            lifted[group] = clipped[g] @ spread
        channel = Channel(lifted, a.given.outputs, b.given.outputs, normalise=True)
        return PostProcessing(channel, float(np.abs(a.given.floats @ channel.matrix - b.given.floats).max()))
    assert b.given.exact is not None
    size = len(b.given.inputs)
    average = tuple(sum((row[y] for row in b.given.exact), Fraction(0)) / size for y in range(len(b.given.outputs)))
    place = {y: g for g, group in enumerate(b.groups) for y in group}
    exact: list[tuple[Fraction, ...]] = [average] * len(a.given.outputs)
    for g, group in enumerate(a.groups):
        row = tuple(
            between[g][place[y]] * Fraction(share) if y in place else Fraction(0) for y, share in enumerate(b.shares)
        )
        for y in group:
            exact[y] = row
    floats = [[float(v) for v in row] for row in exact]
    return PostProcessing(Channel(floats, a.given.outputs, b.given.outputs), 0.0, tuple(exact))


def quick_post_processing(a: Read, b: Read, tol: float) -> PostProcessing | None:
    """A post-processing in floats that misses by at most ``tol``, where projections find one; None says nothing.

    The least solution of ``A R = B``, then turns of clipping it at zero and going back to the solutions whose rows sum to
    one. Where there are solutions without zeros this gets to one in a few turns.
    """
    left, right = a.floats, b.floats
    turns = min(TURNS, MOST_PRODUCT // (left.size * right.shape[1])) if left.shape[1] > left.shape[0] else 1
    try:
        inverse = np.linalg.inv(left) if left.shape[0] == left.shape[1] else np.linalg.pinv(left)
    except np.linalg.LinAlgError:
        return None
    if not np.abs(inverse).max() < LARGEST_INVERSE:  # also where it is not a number
        return None
    found = inverse @ right
    least = found.min()
    for _ in range(turns):
        if least >= -1e-9:  # near enough that clipping may do
            made = _repaired(found, a, b)
            if made.residual <= tol:
                return made
        found = np.clip(found, 0.0, None)
        found += (1 - found.sum(axis=1, keepdims=True)) / found.shape[1]
        found -= inverse @ (left @ found - right)
        least = found.min()
    return None


def _repaired(found: Floats, a: Read, b: Read) -> PostProcessing:
    clipped = np.clip(found, 0.0, None)
    clipped[clipped.sum(axis=1) == 0] = b.floats.mean(axis=0)
    channel = Channel(clipped, a.outputs, b.outputs, normalise=True)
    return PostProcessing(channel, float(np.abs(a.floats @ channel.matrix - b.floats).max()))
