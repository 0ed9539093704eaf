r"""Fewer constraints in two dimensions: a greedy spanner, whose paths are at most ``dilation`` times as long as the
straight way.

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
"""

from __future__ import annotations

import numpy as np

from noisewright.core.arrays import Floats, Indices
from noisewright.core.errors import ParameterError

__all__ = ["spanner"]


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
