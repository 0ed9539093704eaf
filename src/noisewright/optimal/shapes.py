r"""Shapes of a mechanism: properties that make its outputs look reasonable one by one, as checks and as linear constraints.

For a channel ``M[x, y]`` (rows are secrets, columns are outputs) let ``h(x)`` be the *home* of secret ``x``: the
output that stands for it, the nearest one (on a tie the upper one; see :mod:`~noisewright.optimal.categories` for
outputs that stand for intervals).

===================  ================================================================================================
``row-monotone``     the row of each secret rises up to its home and falls beyond it
``column-monotone``  the column of each output rises while secrets come nearer to it and falls as they move away
``symmetric``        ``M[x, y] = M[mirror of x, mirror of y]``; secrets and outputs must be mirror images about one centre
``fair``             ``M[x, h(x)]`` is the same for all secrets
``row-honest``       no output is likelier than home: ``M[x, h(x)] >= M[x, y]``
``column-honest``    an output is likeliest for the secrets whose home it is: ``M[x, h(x)] >= M[x', h(x)]``
``weakly-honest``    ``M[x, h(x)] >= 1/m`` for ``m`` outputs: at least as often as by blind chance
===================  ================================================================================================

``monotone`` stands for both monotone shapes and ``honest`` for both honest ones. Work that writes the secrets along
the *columns* of its matrix says "row" where this table says "column", and the other way round. Row-monotone implies
row-honest, which implies weakly honest.

The uniform channel has every shape, so no combination of them is infeasible, whatever the metric and the budget; a
shape costs accuracy only. What can conflict is a shape and the points: mirror images that are not there, or labels
without an order.

>>> from noisewright.mechanisms.fair import explicit_fair_channel
>>> from noisewright.mechanisms.geometric import geometric
>>> print(check_shape(geometric(epsilon="0.5", within=(0, 5)).channel(), "fair"))
not fair: secret 1 has 0.244919 at output 1, secret 0 has 0.622459 at output 0
>>> [name for name, found in shapes_of(explicit_fair_channel(0.5, 5)).items() if not found]
[]

Reference: Cormode, Kulkarni and Srivastava, *Constrained differential privacy for count data* (2018).
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from noisewright.core.certify import CertifiedChannel
from noisewright.core.channel import Channel
from noisewright.core.errors import ParameterError
from noisewright.core.exact import float_up
from noisewright.core.labels import as_labels
from noisewright.optimal.categories import Categories, exact_number

__all__ = [
    "EQUAL",
    "SHAPES",
    "ShapeConstraints",
    "Verdict",
    "as_shapes",
    "check_shape",
    "constraints",
    "deviations",
    "homes",
    "pairs_of",
    "ranks",
    "shapes_of",
]

Indices = NDArray[np.intp]
Pairs = tuple[Indices, Indices]

GROUPS = {"monotone": ("row-monotone", "column-monotone"), "honest": ("row-honest", "column-honest")}


@dataclass(frozen=True)
class Verdict:
    """Whether a channel has a shape; if not, the cell that breaks it most, and by how much."""

    shape: str
    holds: bool
    excess: float
    """The largest violation, 0 where there is none; at most the tolerance if the shape holds."""
    cell: tuple[Hashable, Hashable] | None = None
    """The secret and the output of the cell that is too likely (for weak honesty: too unlikely)."""
    against: tuple[Hashable, Hashable] | None = None
    """The cell that it was compared with; nothing for weak honesty, which compares with a number."""
    words: str = ""

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return self.shape if self.holds else f"not {self.shape}: {self.words}"


@dataclass(frozen=True)
class ShapeConstraints:
    """Linear constraints on ``vec(M)``, the rows of the channel one after the other.

    ``inequalities @ vec(M) <= 0`` and ``equalities @ vec(M) = 0`` for a channel, whose rows sum to one.
    """

    names: tuple[str, ...]
    inequalities: sparse.csr_array
    equalities: sparse.csr_array

    @property
    def inequality_bounds(self) -> NDArray[np.float64]:
        """The right sides of the inequalities: zeros, because ``1/m`` is written as the mean of a row."""
        return np.zeros(self.inequalities.shape[0])


def as_shapes(names: str | Iterable[str] | None) -> tuple[str, ...]:
    """Names of shapes in their own order, each once: from a list, or from text such as ``"fair,monotone"``."""
    given = () if names is None else names.split(",") if isinstance(names, str) else names
    try:
        words = [word.strip().replace("_", "-") for word in given]
    except (TypeError, AttributeError):
        raise ParameterError(f"shapes are named by text; choose from {_choices()}.") from None
    found: set[str] = set()
    for word in words:
        if word and word not in _PAIRS and word not in GROUPS:
            raise ParameterError(f"there is no shape called {word[:40]!r}; choose from {_choices()}.")
        found |= set(GROUPS.get(word, (word,)))
    return tuple(name for name in SHAPES if name in found)


def constraints(
    names: str | Iterable[str], secrets: Iterable[Hashable], outputs: Iterable[Hashable] | Categories
) -> ShapeConstraints:
    """The shapes as rows of a linear program over these secrets and outputs."""
    shapes = as_shapes(names)
    grid = _Grid.of(secrets, outputs)
    found = {name: _PAIRS[name](grid) for name in shapes}
    size = len(grid.secrets) * len(grid.outputs)
    below = [pairs for name, pairs in found.items() if name not in EQUAL and name != "weakly-honest"]
    blocks = [_differences(below, size)]
    if "weakly-honest" in shapes:
        blocks.append(_above_the_mean(grid))
    equal = [pairs for name, pairs in found.items() if name in EQUAL]
    return ShapeConstraints(shapes, sparse.csr_array(sparse.vstack(blocks)), _differences(equal, size))


def check_shape(
    channel: Channel, name: str, *, tolerance: float = 1e-9, categories: Categories | None = None
) -> Verdict:
    """Whether a channel has one shape, up to ``tolerance``; ``categories`` says which interval each output stands for."""
    _check(channel, tolerance, categories)
    shapes = as_shapes([name])
    if len(shapes) != 1:
        raise ParameterError(f"check one shape at a time: {' or '.join(shapes) or 'a name is missing'}.")
    grid = _Grid.of(channel.inputs, categories if categories is not None else channel.outputs)
    values = channel.matrix.ravel()
    low, high = _PAIRS[shapes[0]](grid)
    over = (1 / len(grid.outputs) if shapes[0] == "weakly-honest" else values[low]) - values[high]
    if shapes[0] in EQUAL:
        low, high = np.where(over >= 0, low, high), np.where(over >= 0, high, low)
        over = np.abs(over)
    worst = int(over.argmax()) if over.size else -1
    excess = max(0.0, float(over[worst])) if over.size else 0.0
    if excess <= tolerance:
        return Verdict(shapes[0], True, excess)
    cell = grid.cell(int((high if shapes[0] == "weakly-honest" else low)[worst]))
    if shapes[0] == "weakly-honest":
        words = f"{_shown(cell, values[high[worst]])}, less than 1/{len(grid.outputs)}"
        return Verdict(shapes[0], False, excess, cell, None, words)
    other = grid.cell(int(high[worst]))
    if shapes[0] == "fair":  # the likelier cell is second: what is odd is the other one
        cell, other = other, cell
        words = f"{_shown(cell, values[high[worst]])}, {_shown(other, values[low[worst]])}"
        return Verdict(shapes[0], False, excess, cell, other, words)
    words = f"{_shown(cell, values[low[worst]])}, more than {_shown(other, values[high[worst]], cell)}"
    return Verdict(shapes[0], False, excess, cell, other, words)


def _check(channel: object, tolerance: float, categories: object) -> None:
    if not isinstance(channel, Channel):
        raise ParameterError(f"a shape is a property of a Channel, not of {type(channel).__name__}.")
    if isinstance(tolerance, bool) or not isinstance(tolerance, numbers.Real) or not 0 <= tolerance < 1:
        raise ParameterError("the tolerance of a shape must be a number that is 0 or more and below 1.")
    if categories is not None and (not isinstance(categories, Categories) or categories.labels != channel.outputs):
        raise ParameterError("the categories must be those of the channel's outputs: one for each, with its midpoint.")


def deviations(names: Sequence[str], certified: CertifiedChannel) -> dict[str, float]:
    """By how much a table of integers misses each shape at most, in probability: exactly, then rounded up."""
    grid = _Grid.of(certified.inputs, certified.outputs)
    values, one = certified.table.ravel(), 1 << certified.width
    found = {}
    for name in names:
        low, high = _PAIRS[name](grid)
        share = len(grid.outputs) if name == "weakly-honest" else 1
        over = one - share * values[low] if name == "weakly-honest" else values[low] - values[high]
        worst = max((abs(v) if name in EQUAL else v for v in over.tolist()), default=0)
        found[name] = float_up(Fraction(max(worst, 0), share * one))
    return found


def pairs_of(name: str, secrets: Iterable[Hashable], outputs: Iterable[Hashable]) -> Pairs:
    """The cells of ``vec(M)`` that a shape compares: the first is at most the second, or equal for ``symmetric`` and ``fair``."""
    return _PAIRS[name](_Grid.of(secrets, outputs))


def homes(secrets: Iterable[Hashable], outputs: Iterable[Hashable]) -> Indices:
    """The column of the home of each secret, in the order in which the secrets were given."""
    grid = _Grid.of(secrets, outputs)
    flat = grid.at_home("fair")
    found = np.empty(len(grid.rows), dtype=np.intp)
    found[flat // len(grid.outputs)] = flat % len(grid.outputs)
    return found


def ranks(labels: Sequence[Hashable]) -> Indices | None:
    """The place of each label in rising order; None for labels that are not all numbers."""
    if not _numbers(labels):
        return None
    return np.argsort(np.argsort(np.array([exact_number(v) for v in labels], dtype=object), kind="stable"))


def shapes_of(channel: Channel, *, tolerance: float = 1e-9, categories: Categories | None = None) -> dict[str, Verdict]:
    """A verdict for each shape that makes sense for the channel's labels."""
    _check(channel, tolerance, categories)
    found = {}
    for name in SHAPES:
        try:
            found[name] = check_shape(channel, name, tolerance=tolerance, categories=categories)
        except ParameterError:  # it makes no sense for these labels
            continue
    return found


# The points -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Grid:
    """Secrets and outputs in rising order, where they have one, and the home of each secret."""

    secrets: tuple[Hashable, ...]
    outputs: tuple[Hashable, ...]
    rows: Indices
    """Row numbers of the secrets, in rising order."""
    columns: Indices
    home: Indices
    """For each secret in that order, the rank of its home among the outputs."""
    lowest: Indices
    """For each secret, the rank of the first output whose upper end is not below it: one less than home on a tie."""
    places: tuple[NDArray[Any], NDArray[Any]] | None
    """Secrets and outputs as exact numbers in rising order; nothing for labels that are not numbers."""

    @classmethod
    def of(cls, secrets: Iterable[Hashable], outputs: Iterable[Hashable] | Categories) -> _Grid:
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
    def _by_name(cls, names: tuple[Hashable, ...], labels: tuple[Hashable, ...]) -> _Grid:
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
            raise ParameterError(f"the shape {shape} needs an output for every secret; there is none for {lost!r}.")
        return np.asarray(self.flat[np.arange(len(self.rows)), self.home])

    def ordered(self, shape: str) -> tuple[NDArray[Any], NDArray[Any]]:
        if self.places is None:
            raise ParameterError(
                f"the shape {shape} needs an order: secrets and outputs that are numbers; fair and honest need none."
            )
        return self.places

    def cell(self, flat: int) -> tuple[Hashable, Hashable]:
        return self.secrets[flat // len(self.outputs)], self.outputs[flat % len(self.outputs)]


def _numbers(labels: Sequence[Hashable]) -> bool:
    return all(isinstance(v, numbers.Real) and not isinstance(v, bool) and math.isfinite(v) for v in labels)


# The shapes as pairs of cells: M[first] <= M[second], or = for the equal ones ----------------------------------------


def _row_monotone(grid: _Grid) -> Pairs:
    grid.ordered("row-monotone")
    flat, home = grid.flat, grid.home[:, None]
    rises = np.arange(flat.shape[1] - 1)[None, :] < home
    left, right = flat[:, :-1], flat[:, 1:]
    return np.where(rises, left, right).ravel(), np.where(rises, right, left).ravel()


def _column_monotone(grid: _Grid) -> Pairs:
    grid.ordered("column-monotone")
    flat, y = grid.flat, np.arange(len(grid.columns))[None, :]
    nearer, farther = grid.lowest[1:, None] <= y, y <= grid.home[:-1, None]
    upper, lower = flat[:-1], flat[1:]
    return np.r_[upper[nearer], lower[farther]], np.r_[lower[nearer], upper[farther]]


def _symmetric(grid: _Grid) -> Pairs:
    x, y = grid.ordered("symmetric")
    centres = {*(x + x[::-1]).tolist(), *(y + y[::-1]).tolist()}
    if len(centres) > 1:
        raise ParameterError(
            "the shape symmetric conflicts with these points: secrets and outputs must be mirror images about one centre; "
            "leave the shape out, or choose outputs that are."
        )
    flat = grid.flat.ravel()
    half = (flat.size + 1) // 2
    return flat[:half], flat[::-1][:half]


def _fair(grid: _Grid) -> Pairs:
    home = grid.at_home("fair")
    return home[1:], home[:-1]


def _row_honest(grid: _Grid) -> Pairs:
    home = np.broadcast_to(grid.at_home("row-honest")[:, None], grid.flat.shape)
    other = grid.flat != home
    return grid.flat[other], home[other]


def _column_honest(grid: _Grid) -> Pairs:
    home = grid.at_home("column-honest")
    others = grid.flat[:, grid.home].T  # for each secret, all secrets at its home
    mine = np.broadcast_to(home[:, None], others.shape)
    other = others != mine
    return others[other], mine[other]


def _weakly_honest(grid: _Grid) -> Pairs:
    home = grid.at_home("weakly-honest")
    return home, home


_PAIRS: dict[str, Callable[[_Grid], Pairs]] = {
    "row-monotone": _row_monotone,
    "column-monotone": _column_monotone,
    "symmetric": _symmetric,
    "fair": _fair,
    "row-honest": _row_honest,
    "column-honest": _column_honest,
    "weakly-honest": _weakly_honest,
}
EQUAL = frozenset({"symmetric", "fair"})
"""Shapes that say that cells are equal; the others say that one is at most another."""
SHAPES = tuple(_PAIRS)
"""All shapes by name."""


def _differences(pairs: Sequence[Pairs], size: int) -> sparse.csr_array:
    """One row ``M[first] - M[second]`` for each pair of different cells."""
    low, high = (np.concatenate([p[side] for p in pairs]) if pairs else np.zeros(0, np.intp) for side in (0, 1))
    keep = low != high
    low, high = low[keep], high[keep]
    row = np.arange(low.size)
    values = np.r_[np.ones(low.size), -np.ones(low.size)]
    return sparse.csr_array((values, (np.r_[row, row], np.r_[low, high])), shape=(low.size, size))


def _above_the_mean(grid: _Grid) -> sparse.csr_array:
    """``mean of the row - M[x, h(x)] <= 0``, which is weak honesty because a row sums to one."""
    home, count = grid.at_home("weakly-honest"), len(grid.outputs)
    row = np.arange(home.size)
    values = np.r_[np.full(grid.flat.size, 1 / count), -np.ones(home.size)]
    where = (np.r_[np.repeat(row, count), row], np.r_[grid.flat.ravel(), home])
    return sparse.csr_array((values, where), shape=(home.size, grid.flat.size))


def _shown(cell: tuple[Hashable, Hashable], value: float, beside: tuple[Hashable, Hashable] | None = None) -> str:
    if beside is not None and beside[0] == cell[0]:
        return f"{value:.6g} at output {_label(cell[1])}"
    return f"secret {_label(cell[0])} has {value:.6g} at output {_label(cell[1])}"


def _label(label: Hashable) -> str:
    return f"{float(label):g}" if isinstance(label, Fraction) else str(label)


def _choices() -> str:
    return ", ".join([*SHAPES, *GROUPS])
