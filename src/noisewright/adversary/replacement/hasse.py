r"""The order of a set of mechanisms: who may replace whom, and the diagram of it.

Mechanisms that may replace each other are one node. Node ``j`` is above node ``i`` where it may replace it; an edge of the
*Hasse diagram* is such a pair with nothing between. Answers within rounding count as holding, and undecided ones as failing.

>>> from noisewright.adversary.families.families import geometric_family, response_family
>>> things = {f"{f.name} {e}": f.member(epsilon=e, size=3) for f in (geometric_family, response_family) for e in (1, 2)}
>>> found = hasse(things, order="privacy")
>>> found.edges
(('geometric 1', 'response 1'), ('geometric 2', 'response 2'), ('response 2', 'geometric 1'))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.adversary.exact.channels import read
from noisewright.adversary.families.families import as_member
from noisewright.adversary.replacement.replacement import ORDERS, may_replace
from noisewright.core.choices import one_of
from noisewright.core.errors import ParameterError

__all__ = ["Hasse", "hasse"]

MOST = 40
"""Mechanisms in one diagram; every ordered pair of them is decided."""


@dataclass(frozen=True)
class Hasse:
    """``nodes`` are groups of names that may replace each other, ``levels`` says how high each is.

    ``edges`` go upwards, to the safer one; each is a pair of first names of two groups.
    """

    order: str
    nodes: tuple[tuple[str, ...], ...]
    levels: tuple[int, ...]
    edges: tuple[tuple[str, str], ...]

    def above(self, safer: str, than: str) -> bool:
        """Return whether the mechanism called ``safer`` may replace the one called ``than``."""
        group = {name: node[0] for node in self.nodes for name in node}
        reached = {group[than]}
        while grown := {b for a, b in self.edges if a in reached} - reached:
            reached |= grown
        return group[safer] in reached


def hasse(things: Mapping[str, Any], *, order: str = "average") -> Hasse:
    """The diagram of named members, mechanisms or channels over the same secrets, under one order."""
    one_of(order, "order", ORDERS)
    if not isinstance(things, Mapping):
        raise ParameterError("a diagram takes mechanisms by name, such as {'old': .., 'new': ..}.")
    names = [str(name) for name in things]
    if not 1 <= len(names) <= MOST:
        raise ParameterError(f"a diagram takes from 1 to {MOST} mechanisms, not {len(names)}.")
    given = [thing if as_member(thing) is not None else read(thing) for thing in things.values()]
    below = np.array(
        [[i == j or bool(may_replace(a, b, order)) for j, b in enumerate(given)] for i, a in enumerate(given)]
    )
    same = below & below.T
    heads = [i for i in range(len(names)) if not same[i, :i].any()]
    nodes = tuple(tuple(names[j] for j in range(len(names)) if same[i, j]) for i in heads)
    strict = (below & ~same)[np.ix_(heads, heads)]
    cover = strict & ~((strict.astype(int) @ strict.astype(int)) > 0)
    edges = tuple((names[heads[i]], names[heads[j]]) for i, j in np.argwhere(cover))
    return Hasse(order, nodes, _levels(strict), edges)


def _levels(strict: NDArray[np.bool_]) -> tuple[int, ...]:
    """Return for each node the length of the longest chain below it."""
    level = np.zeros(len(strict), dtype=int)
    for _ in range(len(strict)):
        longer = np.where(strict, level[:, None] + 1, 0).max(axis=0, initial=0)
        if (longer <= level).all():
            break
        level = np.maximum(level, longer)
    return tuple(int(k) for k in level)
