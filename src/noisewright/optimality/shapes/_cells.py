r"""Cells of a channel that a shape compares: the home of each secret, and pairs of cells of ``vec(M)``.

Secrets and outputs are put in rising order where they are numbers. The *home* of a secret is the output that stands for it: the
nearest one (on a tie the upper one), the one of its interval, or, without numbers, the one of its name. Each shape of
:mod:`~noisewright.optimality.shapes.checks` says of some pairs of cells that the first is at most the second, or that both
are equal.

>>> homes([0, 5, 10], [0, 4, 10]).tolist()
[0, 1, 2]
>>> first, second = pairs_of("fair", [0, 1, 2], [0, 1, 2])  # the diagonal of three by three
>>> first.tolist(), second.tolist()
([4, 8], [0, 4])
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Indices
from noisewright.core.errors import ParameterError
from noisewright.core.labels import as_labels
from noisewright.optimality.shapes.categories import Categories, NoShapeError, exact_number

__all__ = ["EQUAL", "PAIRS", "SHAPES", "Arrangement", "homes", "pairs_of", "ranks"]


Pairs = tuple[Indices, Indices]


def pairs_of(name: str, secrets: Iterable[Hashable], outputs: Iterable[Hashable]) -> Pairs:
    """The cells of ``vec(M)`` that a shape compares: the first is at most the second, or equal for ``symmetric`` and ``fair``."""
    return PAIRS[name](Arrangement.of(secrets, outputs))


def homes(secrets: Iterable[Hashable], outputs: Iterable[Hashable]) -> Indices:
    """The column of the home of each secret, in the order in which the secrets were given."""
    cells = Arrangement.of(secrets, outputs)
    flat = cells.at_home("fair")
    found = np.empty(len(cells.rows), dtype=np.intp)
    found[flat // len(cells.outputs)] = flat % len(cells.outputs)
    return found


def ranks(labels: Sequence[Hashable]) -> Indices | None:
    """The place of each label in rising order; None for labels that are not all numbers."""
    if not _numbers(labels):
        return None
    return np.argsort(np.argsort(np.array([exact_number(v) for v in labels], dtype=object), kind="stable"))


@dataclass(frozen=True)
class Arrangement:
    """Secrets and outputs in rising order, where they have one, and the home of each secret."""

    secrets: tuple[Hashable, ...]
    outputs: tuple[Hashable, ...]
    rows: Indices
    """Row numbers of the secrets, in rising order."""
    columns: Indices
    home: Indices
    """Rank of the home of each secret, in that order, among the outputs."""
    lowest: Indices
    """Rank, for each secret, of the first output whose upper end is not below it: one less than home on a tie."""
    places: tuple[NDArray[Any], NDArray[Any]] | None
    """Secrets and outputs as exact numbers in rising order; nothing for labels that are not numbers."""

    @classmethod
    def of(cls, secrets: Iterable[Hashable], outputs: Iterable[Hashable] | Categories) -> Arrangement:
        """The arrangement of these labels, in whatever order they are."""
        names = as_labels(secrets, "secrets")
        labels = outputs.labels if isinstance(outputs, Categories) else as_labels(outputs, "outputs")
        if not names or not labels:
            raise ParameterError("a shape is about one secret and one output or more.")
        if not (_numbers(names) and _numbers(labels)):
            return cls._by_name(names, labels)
        x, y = (np.array([exact_number(v) for v in given], dtype=object) for given in (names, labels))
        rows, columns = np.argsort(x, kind="stable"), np.argsort(y, kind="stable")
        x, y = x[rows], y[columns]
        if isinstance(outputs, Categories):
            ends = [np.array(e, dtype=object)[columns] for e in (outputs.highs, outputs.lows)]
            uppers, lowers = ends[0][:-1], ends[1][1:]
        else:
            uppers = lowers = (y[:-1] + y[1:]) / 2
        home = np.searchsorted(lowers, x, side="right")
        return cls(names, labels, rows, columns, home, np.searchsorted(uppers, x, side="left"), (x, y))

    @classmethod
    def _by_name(cls, names: tuple[Hashable, ...], labels: tuple[Hashable, ...]) -> Arrangement:
        place = {label: i for i, label in enumerate(labels)}
        home = np.array([place.get(x, -1) for x in names], dtype=np.intp)
        return cls(names, labels, np.arange(len(names)), np.arange(len(labels)), home, home, None)

    @cached_property
    def flat(self) -> Indices:
        """Positions in ``vec(M)`` by rank of the secret and rank of the output."""
        return np.asarray(self.rows[:, None] * len(self.columns) + self.columns[None, :])

    def at_home(self, shape: str) -> Indices:
        """Positions in ``vec(M)`` of ``M[x, h(x)]``."""
        if (self.home < 0).any():
            lost = self.secrets[int(np.argmax(self.home < 0))]
            raise NoShapeError(f"the shape {shape} needs an output for every secret; there is none for {lost!r}.")
        return np.asarray(self.flat[np.arange(len(self.rows)), self.home])

    def ordered(self, shape: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the places of secrets and outputs; raise an error in the name of ``shape`` where they have none."""
        if self.places is None:
            raise NoShapeError(
                f"the shape {shape} needs an order: secrets and outputs that are numbers; fair and honest need none."
            )
        return self.places

    def cell(self, flat: int) -> tuple[Hashable, Hashable]:
        """The secret and the output of a position in ``vec(M)``."""
        return self.secrets[flat // len(self.outputs)], self.outputs[flat % len(self.outputs)]


def _numbers(labels: Sequence[Hashable]) -> bool:
    return all(isinstance(v, numbers.Real) and not isinstance(v, bool) and math.isfinite(v) for v in labels)


# The shapes as pairs of cells: M[first] <= M[second], or = for the equal ones ----------------------------------------


def _row_monotone(cells: Arrangement) -> Pairs:
    cells.ordered("row-monotone")
    flat, home = cells.flat, cells.home[:, None]
    rises = np.arange(flat.shape[1] - 1)[None, :] < home
    left, right = flat[:, :-1], flat[:, 1:]
    return np.where(rises, left, right).ravel(), np.where(rises, right, left).ravel()


def _column_monotone(cells: Arrangement) -> Pairs:
    cells.ordered("column-monotone")
    flat, y = cells.flat, np.arange(len(cells.columns))[None, :]
    nearer, farther = cells.lowest[1:, None] <= y, y <= cells.home[:-1, None]
    upper, lower = flat[:-1], flat[1:]
    return np.r_[upper[nearer], lower[farther]], np.r_[lower[nearer], upper[farther]]


def _symmetric(cells: Arrangement) -> Pairs:
    x, y = cells.ordered("symmetric")
    centres = {*(x + x[::-1]).tolist(), *(y + y[::-1]).tolist()}
    if len(centres) > 1:
        raise NoShapeError(
            "the shape symmetric conflicts with these points: secrets and outputs must be mirror images about one centre; "
            "leave the shape out, or choose outputs that are."
        )
    flat = cells.flat.ravel()
    half = (flat.size + 1) // 2
    return flat[:half], flat[::-1][:half]


def _fair(cells: Arrangement) -> Pairs:
    home = cells.at_home("fair")
    return home[1:], home[:-1]


def _row_honest(cells: Arrangement) -> Pairs:
    home = np.broadcast_to(cells.at_home("row-honest")[:, None], cells.flat.shape)
    other = cells.flat != home
    return cells.flat[other], home[other]


def _column_honest(cells: Arrangement) -> Pairs:
    home = cells.at_home("column-honest")
    others = cells.flat[:, cells.home].T  # for each secret, all secrets at its home
    mine = np.broadcast_to(home[:, None], others.shape)
    other = others != mine
    return others[other], mine[other]


def _weakly_honest(cells: Arrangement) -> Pairs:
    home = cells.at_home("weakly-honest")
    return home, home


PAIRS: dict[str, Callable[[Arrangement], Pairs]] = {
    "row-monotone": _row_monotone,
    "column-monotone": _column_monotone,
    "symmetric": _symmetric,
    "fair": _fair,
    "row-honest": _row_honest,
    "column-honest": _column_honest,
    "weakly-honest": _weakly_honest,
}
"""Cells that each shape compares."""
EQUAL = frozenset({"symmetric", "fair"})
"""Shapes that require equal cells; the others require that one is at most another."""
SHAPES = tuple(PAIRS)
"""All shapes by name."""
