r"""Symmetry folding: mechanisms that a symmetry of the problem leaves alone are enough, and there are fewer of them.

A permutation of the secrets that keeps all distances, with a permutation of the actions that keeps all costs, maps
every mechanism to one that is as private and as good; the mean of a mechanism over all such permutations is as private
and as good too, and does not change under them. Therefore, entries that a symmetry maps to each other may be one
variable: a mirror halves a line, a square grid shrinks eight times.

Only distances and costs that are equal floats count as equal. And nothing rests on a symmetry: the result is certified
for the true distances, and its lower bound is taken on the whole problem.

>>> import numpy as np
>>> line = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
>>> fold(line, line / 4).count
8
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from noisewright.core.arrays import Floats, Indices

__all__ = ["Folding", "fold", "unfolded"]


MOST_POINTS = 1000
MOST_TRIES = 4000
MOST_MARKED = 5
"""Maximum number of points that distinguish all points of a space; a space that needs more is not searched for
symmetries.
"""


@dataclass(frozen=True)
class Folding:
    """Entries that are one variable: ``entry[x, w]`` numbers the variables, ``secret[x]`` the classes of secrets."""

    entry: Indices
    secret: Indices
    action: Indices

    @property
    def count(self) -> int:
        """Number of variables."""
        return int(self.entry.max()) + 1


def unfolded(secrets: int, actions: int) -> Folding:
    """Every entry on its own."""
    return Folding(np.arange(secrets * actions).reshape(secrets, actions), np.arange(secrets), np.arange(actions))


def fold(distances: Floats, cost: Floats) -> Folding:
    """The classes of entries ``(x, w)`` under the symmetries of distances and costs that are found quickly."""
    n, actions = cost.shape
    symmetries = list(_symmetries(distances, cost))
    if not symmetries:
        return unfolded(n, actions)
    entry, secret, action = np.arange(n * actions), np.arange(n), np.arange(actions)
    whole = np.arange(n * actions).reshape(n, actions)
    entry = _classes(entry.size, [(whole.ravel(), whole[np.ix_(x, w)].ravel()) for x, w in symmetries])
    secret = _classes(n, [(secret, x) for x, _ in symmetries])
    action = _classes(actions, [(action, w) for _, w in symmetries])
    return Folding(entry.reshape(n, actions), secret, action)


def _classes(size: int, moves: list[tuple[Indices, Indices]]) -> Indices:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    here, there = (np.concatenate(side) for side in zip(*moves, strict=True))
    graph = coo_array((np.ones(len(here), dtype=np.int8), (here, there)), shape=(size, size))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)


def _symmetries(distances: Floats, cost: Floats) -> Iterator[tuple[Indices, Indices]]:
    """Permutations of secrets and actions, other than the identity, that change no distance and no cost."""
    n = len(distances)
    if not 2 <= n <= MOST_POINTS:
        return
    apart, price = _ranks(distances), _ranks(cost)
    # Points that look alike from everywhere; a symmetry maps each to one of its own kind.
    looks = np.concatenate([np.sort(apart, axis=1), np.sort(price, axis=1)], axis=1)
    kind = np.unique(looks, axis=0, return_inverse=True)[1].ravel()
    marked = _marked(apart, kind)
    if marked is None:
        return
    tries = 0
    stack: list[list[int]] = [[]]
    while stack and tries < MOST_TRIES:
        images = stack.pop()
        tries += 1
        if len(images) < len(marked):
            here = marked[len(images)]
            fits = (kind == kind[here]) & (apart[:, images] == apart[here, marked[: len(images)]]).all(axis=1)
            stack.extend([*images, int(x)] for x in np.flatnonzero(fits))
            continue
        moved = _completed(apart, marked, images)
        if moved is None or (moved == np.arange(n)).all():
            continue
        actions = _matched(price, price[moved])
        if actions is not None:
            yield moved, actions


def _marked(apart: Indices, kind: Indices) -> list[int] | None:
    """Return a few points whose distances distinguish every two points, the first ones of the rarest kind."""
    counts = np.bincount(kind)
    order = np.argsort(counts[kind], kind="stable")
    marked: list[int] = []
    while len(marked) < MOST_MARKED:
        seen = apart[:, marked]
        best, most = -1, 0
        for x in order[: min(len(order), 60)].tolist():
            different = len(np.unique(np.concatenate([seen, apart[:, [x]]], axis=1), axis=0))
            if different > most:
                best, most = x, different
        marked.append(best)
        if most == len(apart):
            return marked
    return None


def _completed(apart: Indices, marked: list[int], images: list[int]) -> Indices | None:
    """The permutation that maps the marked points to the images and keeps all distances, if there is one."""
    before, after = apart[:, marked], apart[:, images]
    first, second = np.lexsort(before.T), np.lexsort(after.T)
    if not np.array_equal(before[first], after[second]):
        return None
    moved = np.empty(len(apart), dtype=np.intp)
    moved[first] = second
    return moved if np.array_equal(apart[np.ix_(moved, moved)], apart) else None


def _matched(price: Indices, moved: Indices) -> Indices | None:
    """The permutation ``s`` of columns with ``moved[:, s] == price``, if there is one."""
    first, second = np.lexsort(price), np.lexsort(moved)
    if not np.array_equal(price[:, first], moved[:, second]):
        return None
    actions = np.empty(price.shape[1], dtype=np.intp)
    actions[first] = second
    return actions


def _ranks(values: Floats) -> Indices:
    """Numbers for values, the same one for equal values only."""
    return np.asarray(np.unique(values, return_inverse=True)[1].reshape(values.shape), dtype=np.intp)
