"""Symmetry folding: mechanisms that a symmetry of the problem leaves alone are enough, and there are fewer of them.

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

If a mechanism is private with ``epsilon d / t`` on the edges of a graph whose shortest paths are at most ``t`` times
the distance, it is private with ``epsilon d`` for all pairs: losses add up along a path. The cost is a little less
accuracy, at most the loss at a budget of ``epsilon / t``; the gain is that a grid of ``n`` points has of the order of
``n`` edges instead of ``n^2`` pairs.

>>> import numpy as np
>>> grid = np.array([(i, j) for i in range(4) for j in range(4)], dtype=float)
>>> distances = np.hypot(*(grid[:, None] - grid[None]).transpose(2, 0, 1))
>>> edges, dilation = spanner(distances, 1.5)
>>> len(edges) < 120 / 2, dilation <= 1.5
(True, True)

Reference: Althöfer et al., *On sparse spanners of weighted graphs* (1993); Bordenabe, Chatzikokolakis and
Palamidessi, *Optimal geo-indistinguishable mechanisms for location privacy* (2014).

Variables ``M[x,w]``: the probability of action ``w`` at secret ``x`` (one output for each action is enough). Rows sum
to 1, and for each pair of secrets that is not implied by others ``e^(-D) M[x,w] - M[x',w] <= 0``, where ``D = epsilon
d(x,x')``; no coefficient is above 1. The objective is ``sum C[x,w] M[x,w]`` (``bayes``; ``C = pi_x L[w,x]``), or its
largest row sum (``minimax``; ``C = L[w,x]``).

Two forms of the same program. *Plain* is as above. *Base* writes ``M[x,w] = m_w + delta g[x,w]`` with ``m_w`` the
minimum of the column: for one distance between all pairs it needs ``n |W|`` rows instead of ``n^2 |W|``, and for a
tiny epsilon, where all rows are nearly equal, it is well scaled when the plain form is not.

**Lower bound.** For *any* multipliers ``y >= 0`` of the privacy rows ``A M <= 0`` every private mechanism costs at
least ``sum_x min_w (C + A^T y)[x,w]``. The solver's multipliers make that nearly the optimum, and whatever they are
it is a bound; so the gap that is reported does not rest on the solver being right. Where the program was folded by a
symmetry the multipliers are spread over the rows of the whole program first, so it does not rest on that either. What it does
rest on is arithmetic in floats.

>>> losses, cost = np.array([[0.0, 1], [1, 0]]), np.array([[0.0, 0.5], [0.5, 0]])
>>> program = SparseProgram(losses, cost, np.array([[0, 1]]), "bayes", unfolded(2, 2), None)
>>> program.rows.shape, program.bound((np.zeros(4), np.zeros(0)))[0]  # no multipliers: nothing is known but that 0 is paid
((4, 4), 0.0)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from noisewright._typing import Floats, Indices
from noisewright.exceptions import ParameterError

__all__ = ["TINY_LOSS", "Folding", "FurtherRows", "Objective", "SparseProgram", "fold", "spanner", "unfolded"]


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


# Spanner ------------------------------------------------------------------------------------------------------------------
#
# Fewer constraints in two dimensions: a greedy spanner, whose paths are at most ``dilation`` times as long as the
# straight way.


def spanner(distances: Floats, dilation: float) -> tuple[Indices, float]:
    """Edges ``(i, j)`` with ``i < j``, and the dilation that they really have, which is at most the one asked for.

    The greedy spanner: pairs from near to far, each added if the graph so far has no short enough path for it.
    """
    if not dilation >= 1:
        raise ParameterError(f"dilation must be 1 or more, not {dilation}; 1 keeps every pair that matters.")
    n = len(distances)
    i, j = np.triu_indices(n, 1)
    order = np.argsort(distances[i, j], kind="stable")
    lengths = np.full((n, n), np.inf)
    np.fill_diagonal(lengths, 0.0)
    edges = []
    for x, z in zip(i[order].tolist(), j[order].tolist(), strict=True):
        apart = distances[x, z]
        if not np.isfinite(apart):
            break
        if lengths[x, z] > dilation * apart * (1 + 1e-12):
            edges.append((x, z))
            # All shortest paths at once: a new edge helps those that go through it.
            through = lengths[:, x, None] + (apart + lengths[None, z, :])
            np.minimum(lengths, through, out=lengths)
            np.minimum(lengths, through.T, out=lengths)
    finite = np.isfinite(distances) & (distances > 0)
    found = float((lengths[finite] / distances[finite]).max(initial=1.0))
    return np.array(edges, dtype=np.intp).reshape(-1, 2), max(found, 1.0)


# Sparse -------------------------------------------------------------------------------------------------------------------
#
# The linear program of the best private mechanism: its variables, its sparse rows, and the bound that multipliers give.


Objective = Literal["bayes", "minimax"]

TINY_LOSS = 0.02
"""Loss of the nearest secrets below which the base form is used."""

NO_CONSTRAINT = 36.0
"""A loss beyond this allows a factor of 2^52, which no solver in floats can distinguish from a sign constraint."""


@dataclass(frozen=True)
class FurtherRows:
    """Further constraints on ``vec(M)``, row by row over (secret, output): ``inequalities @ vec(M) <= 0`` and
    ``equalities @ vec(M) = 0``.
    """

    inequalities: Any = None
    equalities: Any = None


class SparseProgram:
    """The program over the variables of a folding: minimise ``goal z`` with ``rows z <= 0``, ``sums z = totals``."""

    row_of: _RowsOf

    def __init__(
        self,
        losses: Floats,
        cost: Floats,
        pairs: Indices | None,
        objective: Objective,
        folding: Folding,
        further: FurtherRows | None,
    ) -> None:
        self.cost, self.objective, self.folding = cost, objective, folding
        self.losses, self.pairs, self.least = losses, pairs, -np.inf
        self.entries = folding.count
        self.bases = int(folding.action.max()) + 1
        off = losses[np.isfinite(losses) & (losses > 0)]
        self.nearest = float(off.min(initial=np.inf))
        self.base = pairs is None or self.nearest < TINY_LOSS
        self.delta = -np.expm1(-self.nearest) if self.base else 1.0
        # z = entries, then (base form) column minima and the common sum of the g, then (minimax) the largest cost of a row.
        self.columns_m = self.entries
        self.column_s = self.entries + (self.bases if self.base else 0)
        self.column_t = self.column_s + (1 if self.base else 0)
        self.variables = self.column_t + (1 if objective == "minimax" else 0)
        privacy, implied = self._privacy_rows(losses, pairs)
        parts = [privacy]
        if further is not None and further.inequalities is not None and further.inequalities.shape[0]:
            parts.append(self._wide(further.inequalities))
        if objective == "minimax":
            parts.append(self._cost_rows())
        self.rows = sparse.vstack(parts, format="csr")
        self.signed = 0 if implied else self.column_t
        self.sums, self.totals, self.own = self._sum_rows(further)
        self.goal = self._goal()

    # What is minimised, and under what -----------------------------------------------------------------------------------

    def _privacy_rows(self, losses: Floats, pairs: Indices | None) -> tuple[Any, bool]:
        """The privacy constraints, and whether they imply that no entry is negative."""
        entry, action = self.folding.entry, self.folding.action
        n, actions = entry.shape
        if pairs is None:  # e^-D g <= m for every entry
            keys, which = np.unique(entry, return_index=True)
            column = action[which % actions]
            fade = np.exp(-self.nearest)
            size = len(keys)
            self.row_of = _RowsOf(keys, keys, np.zeros(size))
            data = np.concatenate([np.full(size, fade), np.full(size, -1.0)])
            spots = np.concatenate([keys, self.columns_m + column])
            return _sparse(data, np.tile(np.arange(size), 2), spots, (size, self.variables)), False
        both = np.concatenate([pairs, pairs[:, ::-1]])
        loss = losses[both[:, 0], both[:, 1]]
        used = loss <= NO_CONSTRAINT
        both, loss = both[used], loss[used]
        here, there = entry[both[:, 0]].ravel(), entry[both[:, 1]].ravel()
        steps, column = np.repeat(loss, actions), np.tile(action, len(both))
        # One row for each pair of variables, the strictest if there are several.
        order = np.lexsort((steps, there, here))
        here, there, steps, column = here[order], there[order], steps[order], column[order]
        new = np.ones(len(here), dtype=bool)
        new[1:] = (here[1:] != here[:-1]) | (there[1:] != there[:-1])
        new &= ~((here == there) & (steps >= 0))  # e^-D z <= z says nothing
        here, there, steps, column = here[new], there[new], steps[new], column[new]
        size = len(here)
        self.row_of = _RowsOf(here, there, steps)
        parts = [np.exp(-steps), np.full(size, -1.0)]
        places = [here, there]
        if self.base:
            parts.append(np.expm1(-steps) / self.delta)
            places.append(self.columns_m + column)
            largest = np.maximum(1.0, -parts[-1])
            parts = [part / largest for part in parts]
        covered = np.zeros(n, dtype=bool)
        covered[both[(loss > 0) & (loss < 12.0)].ravel()] = True
        rows = np.tile(np.arange(size), len(parts))
        matrix = _sparse(np.concatenate(parts), rows, np.concatenate(places), (size, self.variables))
        return matrix, bool(covered.all()) and not self.base

    def _wide(self, rows: Any) -> Any:
        """Constraints on ``vec(M)`` as constraints on the variables."""
        entry = self.folding.entry.ravel()
        where, spots, data = np.arange(entry.size), entry, np.full(entry.size, self.delta)
        if self.base:
            column = self.columns_m + np.tile(self.folding.action, len(self.folding.entry))
            where, spots, data = (
                np.tile(where, 2),
                np.concatenate([spots, column]),
                np.append(data, np.ones(entry.size)),
            )
        onto = _sparse(data, where, spots, (entry.size, self.variables))
        return sparse.csr_array(rows) @ onto

    def _expected(self, weights: Floats) -> Floats:
        """The coefficients of ``sum_x,w weights[x,w] M[x,w]`` on the variables."""
        found = np.zeros(self.variables)
        np.add.at(found, self.folding.entry.ravel(), weights.ravel() * self.delta)
        if self.base:
            np.add.at(found, self.columns_m + self.folding.action, weights.sum(axis=0))
        return found

    def _goal(self) -> Floats:
        if self.objective == "bayes":
            return self._expected(self.cost)
        goal = np.zeros(self.variables)
        goal[self.column_t] = 1.0
        return goal

    def _representatives(self) -> Indices:
        return np.asarray(np.unique(self.folding.secret, return_index=True)[1], dtype=np.intp)

    def _cost_rows(self) -> Any:
        """The cost of each class of secrets is at most the last variable."""
        rows = []
        for x in self._representatives():
            weights = np.zeros_like(self.cost)
            weights[x] = self.cost[x]
            row = self._expected(weights)
            row[self.column_t] = -1.0
            rows.append(row)
        return sparse.csr_array(np.array(rows))

    def _sum_rows(self, further: FurtherRows | None) -> tuple[Any, Floats, int]:
        """Rows that sum to one, further equalities after them, the right sides, and where the further ones begin."""
        chosen = self._representatives()
        actions = self.cost.shape[1]
        spots = self.folding.entry[chosen].ravel()
        rows = np.repeat(np.arange(len(chosen)), actions)
        data = np.ones(len(spots))
        totals = np.ones(len(chosen))
        if self.base:  # sum_w g = s for each secret; sum_w m + delta s = 1
            size = len(chosen)
            spots = np.concatenate(
                [spots, np.full(size, self.column_s), self.columns_m + self.folding.action, [self.column_s]]
            )
            data = np.concatenate([data, np.full(size, -1.0), np.ones(actions), [self.delta]])
            rows = np.concatenate([rows, np.arange(size), np.full(actions + 1, size)])
            totals = np.append(np.zeros(size), 1.0)
        matrix = _sparse(data, rows, spots, (len(totals), self.variables))
        own = len(totals)
        if further is not None and further.equalities is not None and further.equalities.shape[0]:
            equal = self._wide(further.equalities)
            matrix = sparse.vstack([matrix, equal], format="csr")
            totals = np.append(totals, np.zeros(equal.shape[0]))
        return matrix, totals, own

    # What comes out of it ----------------------------------------------------------------------------------------------------

    def matrix(self, point: Floats) -> Floats:
        """The mechanism that a solution stands for."""
        entries = point[: self.entries][self.folding.entry]
        if not self.base:
            return np.asarray(entries)
        least = np.maximum(point[self.columns_m : self.column_s], 0.0)
        return np.asarray(least[self.folding.action] + self.delta * np.maximum(entries, 0.0))

    def bound(self, multipliers: tuple[Floats, Floats]) -> tuple[float, Floats | None]:
        """A lower bound for every mechanism from multipliers of the rows and of the further equalities; see the
        head of this module.
        """
        y, equal = np.maximum(multipliers[0], 0.0), multipliers[1]
        chosen, prior = self._representatives(), None
        classes = len(chosen)
        size = np.bincount(self.folding.secret, minlength=classes).astype(np.float64)
        goal = self.goal
        if self.objective == "minimax":
            weights = y[-classes:]
            total = weights.sum()
            if total <= 0:
                return float(self.cost.min()), None
            y, equal = y / total, equal / total
            share = (weights / total) / size
            prior = share[self.folding.secret]
            goal = self._expected(prior[:, None] * self.cost)
            y = np.append(y[:-classes], np.zeros(classes))
        if self.folding.count < self.cost.size and not len(equal):
            return self._whole_bound(y, prior), prior
        reduced = goal + self.rows.T @ y
        if len(equal):
            reduced = reduced + self.sums[self.own :].T @ equal
        # Variables of one class of secrets: each counts as often as it occurs in a row.
        entry = self.folding.entry[chosen]
        times = np.zeros(self.entries)
        np.add.at(times, entry.ravel(), 1.0)
        least = (reduced[entry] / times[entry]).min(axis=1)
        if not self.base:
            return float(least.sum()), prior
        occurs = np.bincount(self.folding.action, minlength=self.bases)
        low = float((reduced[self.columns_m : self.column_s] / occurs).min())
        return min(low, float(least.sum()) / self.delta), prior

    def _whole_bound(self, y: Floats, prior: Floats | None) -> float:
        """The bound for the program without folding: the multiplier of a row shared by the rows that it stands for."""
        cost = self.cost if prior is None else prior[:, None] * self.cost
        whole = SparseProgram(self.losses, cost, self.pairs, "bayes", unfolded(*cost.shape), None)
        entry = self.folding.entry.ravel()
        rows = whole.row_of
        mine = self.row_of.find(entry[rows.here], entry[rows.there], rows.steps, self.entries)
        known = mine >= 0
        shared = np.bincount(mine[known], minlength=len(y)).astype(np.float64)
        spread = np.zeros(len(mine))
        spread[known] = y[mine[known]] / shared[mine[known]]
        return whole.bound((spread, np.zeros(0)))[0]


@dataclass(frozen=True)
class _RowsOf:
    """The two variables and the loss that each privacy row is about, in rising order of the variables."""

    here: Indices
    there: Indices
    steps: Floats

    def find(self, here: Indices, there: Indices, steps: Floats, count: int) -> Indices:
        """The row about each pair of variables with exactly this loss, or -1."""
        keys = self.here * count + self.there
        if not len(keys):
            return np.full(len(here), -1, dtype=np.intp)
        wanted = here * count + there
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where((keys[place] == wanted) & (self.steps[place] == steps), place, -1)


def _sparse(data: Floats, rows: Indices, columns: Indices, shape: tuple[int, int]) -> Any:
    return sparse.csr_array(sparse.coo_array((data, (rows, columns)), shape=shape))
