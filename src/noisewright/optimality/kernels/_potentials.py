r"""Potentials: one number for each point, no two of which are farther apart than their points.

Those for which the pairs of *equal* distance connect all points are the corners of the set of all potentials (up to adding a
number). They are grown point by point, each new one at the full distance from one that is there.

>>> sorted(grow_potentials([[0, 1, 2], [1, 0, 1], [2, 1, 0]], [(0, 1), (1, 2)], most=10))
[(0, 1, 0), (0, 1, 2), (1, 0, 1), (2, 1, 0)]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from noisewright.core.errors import ParameterError

__all__ = ["Potential", "components", "grow_potentials"]

Potential = tuple[float, ...]
"""Logarithms of a posterior, the smallest at 0: integers of steps in an exact space, otherwise losses."""


def grow_potentials(
    apart: Sequence[Sequence[float]], pairs: Sequence[tuple[int, int]], slack: float = 0.0, *, most: int
) -> set[Potential]:
    """All potentials whose tight pairs connect everything, the smallest value at 0."""
    n = len(apart)
    near: list[list[int]] = [[] for _ in range(n)]
    for i, j in pairs:
        near[i].append(j)
        near[j].append(i)
    layer: dict[tuple[float | None, ...], tuple[float | None, ...]] = {}
    start: tuple[float | None, ...] = (0, *([None] * (n - 1)))
    layer[start] = start
    for _ in range(n - 1):
        grown: dict[tuple[float | None, ...], tuple[float | None, ...]] = {}
        for state in layer.values():
            known = [i for i, v in enumerate(state) if v is not None]
            for i in known:
                for j in near[i]:
                    if state[j] is not None:
                        continue
                    for value in (state[i] + apart[i][j], state[i] - apart[i][j]):  # type: ignore[operator]
                        if all(abs(value - state[k]) <= apart[k][j] + slack for k in known):  # type: ignore[operator]
                            new = (*state[:j], value, *state[j + 1 :])
                            # Sums of floats in another order differ in their last bits: those are one potential.
                            key = tuple(None if v is None else round(v / slack / 16) for v in new) if slack else new
                            grown.setdefault(key, new)
        if len(grown) > 4 * most:
            raise ParameterError(
                f"this space of {n} secrets has too many corners to list ({most} is the limit); nw.optimal finds the "
                "best mechanism without them."
            )
        layer = grown
    found = set()
    for state in layer.values():
        least = min(v for v in state if v is not None)
        found.add(tuple(v - least for v in state if v is not None))
    return found


def components(pairs: Iterable[tuple[int, int]], n: int) -> list[int]:
    """Points numbered by component, in order of first appearance."""
    leader = list(range(n))

    def find(i: int) -> int:
        while leader[i] != i:
            leader[i] = leader[leader[i]]
            i = leader[i]
        return i

    for i, j in pairs:
        leader[find(i)] = find(j)
    names: dict[int, int] = {}
    return [names.setdefault(find(i), len(names)) for i in range(n)]
