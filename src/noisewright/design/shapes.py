"""Cells of a channel that a shape compares: the home of each secret, and pairs of cells of ``vec(M)``.

Secrets and outputs are put in rising order where they are numbers. The *home* of a secret is the output that stands for it:
the
nearest one (on a tie the upper one), the one of its interval, or, without numbers, the one of its name. Each shape of
:mod:`~noisewright.design.shapes` says of some pairs of cells that the first is at most the second, or that both
are equal.

>>> homes([0, 5, 10], [0, 4, 10]).tolist()
[0, 1, 2]
>>> first, second = pairs_of("fair", [0, 1, 2], [0, 1, 2])  # the diagonal of three by three
>>> first.tolist(), second.tolist()
([4, 8], [0, 4])

For a channel ``M[x, y]`` (rows are secrets, columns are outputs) let ``h(x)`` be the *home* of secret ``x``: the
output that stands for it, the nearest one (on a tie the upper one; see :mod:`~noisewright.design.response_categories` for
outputs that stand for intervals).

===================  ================================================================================================
``row-monotone``     the row of each secret rises up to its home and falls beyond it ``column-monotone``  the column of
each output rises while secrets come nearer to it and falls as they move away ``symmetric``
``M[x, y] = M[mirror of x, mirror of y]``; secrets and outputs must be mirror images about one centre ``fair``
``M[x, h(x)]`` is the same for all secrets ``row-honest``       no output is more likely than home:
``M[x, h(x)] >= M[x, y]`` ``column-honest``    an output is likeliest for the secrets whose home it is:
``M[x, h(x)] >= M[x', h(x)]`` ``weakly-honest``    ``M[x, h(x)] >= 1/m`` for ``m`` outputs: at least as often as by
blind chance ===================
================================================================================================

``monotone`` stands for both monotone shapes and ``honest`` for both honest ones. Work that writes the secrets along
the *columns* of its matrix says "row" where this table says "column", and the other way round. Row-monotone implies
row-honest, which implies weakly honest.

The uniform channel has every shape, so no combination of them is infeasible, whatever the metric and the budget; a
shape costs accuracy only. What can conflict is a shape and the points: mirror images that are not there, or labels
without an order.

>>> from noisewright.mechanisms.categorical.exponential import explicit_fair_channel
>>> from noisewright.mechanisms.numeric.geometric import geometric
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
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from noisewright._typing import Floats, Indices, Integers
from noisewright._utils.validation import as_slack
from noisewright.channels.channel import Channel
from noisewright.channels.integer_table import CertifiedChannel, Envelope
from noisewright.claims.figures import float_up
from noisewright.design.linear_program import FurtherRows
from noisewright.design.response_categories import Categories, NoShapeError, exact_number
from noisewright.exceptions import ParameterError
from noisewright.metrics.base import as_labels

__all__ = [
    "EQUAL",
    "PAIRS",
    "SHAPES",
    "Arrangement",
    "ShapeCheck",
    "as_shapes",
    "check_shape",
    "constraints",
    "deviations",
    "evened",
    "homes",
    "mended",
    "pairs_of",
    "ranks",
    "settled",
    "shapes_of",
]


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


def _symmetric_cells(cells: Arrangement) -> Pairs:
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


def _fair_cells(cells: Arrangement) -> Pairs:
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
    "symmetric": _symmetric_cells,
    "fair": _fair_cells,
    "row-honest": _row_honest,
    "column-honest": _column_honest,
    "weakly-honest": _weakly_honest,
}
"""Cells that each shape compares."""
EQUAL = frozenset({"symmetric", "fair"})
"""Shapes that require equal cells; the others require that one is at most another."""
SHAPES = tuple(PAIRS)
"""All shapes by name."""


# Checks -------------------------------------------------------------------------------------------------------------------
#
# Shapes of a mechanism: properties that make its outputs look reasonable one by one, as checks and as linear constraints.


GROUPS = {"monotone": ("row-monotone", "column-monotone"), "honest": ("row-honest", "column-honest")}


@dataclass(frozen=True)
class ShapeCheck:
    """Whether a channel has a shape; if not, the cell that breaks it most, and by how much."""

    shape: str
    holds: bool
    excess: float
    """The largest violation, 0 if nothing is violated; at most the tolerance if the shape holds."""
    cell: tuple[Hashable, Hashable] | None = None
    """The secret and the output of the cell that is too likely (for weak honesty: too unlikely)."""
    against: tuple[Hashable, Hashable] | None = None
    """The cell that it was compared with; nothing for weak honesty, which compares with a number."""
    reason: str = ""

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return self.shape if self.holds else f"not {self.shape}: {self.reason}"


def as_shapes(names: str | Iterable[str] | None) -> tuple[str, ...]:
    """Names of shapes in their own order, each once: from a list, or from text such as ``"fair,monotone"``."""
    given = () if names is None else names.split(",") if isinstance(names, str) else names
    try:
        words = [word.strip().replace("_", "-") for word in given]
    except (TypeError, AttributeError):
        raise ParameterError(f"shapes are named by text; choose from {_choices()}.") from None
    found: set[str] = set()
    for word in words:
        if word and word not in PAIRS and word not in GROUPS:
            raise ParameterError(f"there is no shape called {word[:40]!r}; choose from {_choices()}.")
        found |= set(GROUPS.get(word, (word,)))
    return tuple(name for name in SHAPES if name in found)


def constraints(
    names: str | Iterable[str], secrets: Iterable[Hashable], outputs: Iterable[Hashable] | Categories
) -> FurtherRows:
    """The shapes as rows of a linear program over these secrets and outputs: ``1/m`` is written as the mean of a row."""
    shapes = as_shapes(names)
    cells = Arrangement.of(secrets, outputs)
    found = {name: PAIRS[name](cells) for name in shapes}
    size = len(cells.secrets) * len(cells.outputs)
    below = [pairs for name, pairs in found.items() if name not in EQUAL and name != "weakly-honest"]
    blocks = [_differences(below, size)]
    if "weakly-honest" in shapes:
        blocks.append(_above_the_mean(cells))
    equal = [pairs for name, pairs in found.items() if name in EQUAL]
    return FurtherRows(sparse.csr_array(sparse.vstack(blocks)), _differences(equal, size))


def check_shape(
    channel: Channel, name: str, *, tolerance: float = 1e-9, categories: Categories | None = None
) -> ShapeCheck:
    """Return whether a channel has one shape, up to ``tolerance``; ``categories`` says which interval each output
    stands for.
    """
    _check(channel, tolerance, categories)
    shapes = as_shapes([name])
    if len(shapes) != 1:
        raise ParameterError(f"check one shape at a time: {' or '.join(shapes) or 'a name is missing'}.")
    cells = Arrangement.of(channel.inputs, categories if categories is not None else channel.outputs)
    values = channel.matrix.ravel()
    low, high = PAIRS[shapes[0]](cells)
    over = (1 / len(cells.outputs) if shapes[0] == "weakly-honest" else values[low]) - values[high]
    if shapes[0] in EQUAL:
        low, high = np.where(over >= 0, low, high), np.where(over >= 0, high, low)
        over = np.abs(over)
    worst = int(over.argmax()) if over.size else -1
    excess = max(0.0, float(over[worst])) if over.size else 0.0
    if excess <= tolerance:
        return ShapeCheck(shapes[0], True, excess)
    cell = cells.cell(int((high if shapes[0] == "weakly-honest" else low)[worst]))
    if shapes[0] == "weakly-honest":
        reason = f"{_in_words(cell, values[high[worst]])}, less than 1/{len(cells.outputs)}"
        return ShapeCheck(shapes[0], False, excess, cell, None, reason)
    other = cells.cell(int(high[worst]))
    if shapes[0] == "fair":  # the more likely cell is second: the other one is odd
        cell, other = other, cell
        reason = f"{_in_words(cell, values[high[worst]])}, {_in_words(other, values[low[worst]])}"
        return ShapeCheck(shapes[0], False, excess, cell, other, reason)
    reason = f"{_in_words(cell, values[low[worst]])}, more than {_in_words(other, values[high[worst]], cell)}"
    return ShapeCheck(shapes[0], False, excess, cell, other, reason)


def _check(channel: object, tolerance: float, categories: object) -> None:
    if not isinstance(channel, Channel):
        raise ParameterError(f"a shape is a property of a Channel, not of {type(channel).__name__}.")
    as_slack(tolerance, "the tolerance of a shape must be a number that is 0 or more and below 1.")
    if categories is not None and (not isinstance(categories, Categories) or categories.labels != channel.outputs):
        raise ParameterError("the categories must be those of the channel's outputs: one for each, with its midpoint.")


def deviations(names: Sequence[str], certified: CertifiedChannel) -> dict[str, float]:
    """Return the error of each shape of a table of integers, as an upper bound in probability: exactly, then rounded
    up.
    """
    cells = Arrangement.of(certified.inputs, certified.outputs)
    values, one = certified.table.ravel(), 1 << certified.width
    found = {}
    for name in names:
        low, high = PAIRS[name](cells)
        share = len(cells.outputs) if name == "weakly-honest" else 1
        over = one - share * values[low] if name == "weakly-honest" else values[low] - values[high]
        worst = max((abs(v) if name in EQUAL else v for v in over.tolist()), default=0)
        found[name] = float_up(Fraction(max(worst, 0), share * one))
    return found


def shapes_of(
    channel: Channel, *, tolerance: float = 1e-9, categories: Categories | None = None
) -> dict[str, ShapeCheck]:
    """An answer for each shape that makes sense for the channel's labels."""
    _check(channel, tolerance, categories)
    found = {}
    for name in SHAPES:
        try:
            found[name] = check_shape(channel, name, tolerance=tolerance, categories=categories)
        except NoShapeError:
            continue
    return found


def _differences(pairs: Sequence[Pairs], size: int) -> sparse.csr_array:
    """One row ``M[first] - M[second]`` for each pair of different cells."""
    low, high = (np.concatenate([p[side] for p in pairs]) if pairs else np.zeros(0, np.intp) for side in (0, 1))
    keep = low != high
    low, high = low[keep], high[keep]
    row = np.arange(low.size)
    values = np.r_[np.ones(low.size), -np.ones(low.size)]
    return sparse.csr_array((values, (np.r_[row, row], np.r_[low, high])), shape=(low.size, size))


def _above_the_mean(cells: Arrangement) -> sparse.csr_array:
    """``mean of the row - M[x, h(x)] <= 0``, which is weak honesty because a row sums to one."""
    home, count = cells.at_home("weakly-honest"), len(cells.outputs)
    row = np.arange(home.size)
    values = np.r_[np.full(cells.flat.size, 1 / count), -np.ones(home.size)]
    where = (np.r_[np.repeat(row, count), row], np.r_[cells.flat.ravel(), home])
    return sparse.csr_array((values, where), shape=(home.size, cells.flat.size))


def _in_words(cell: tuple[Hashable, Hashable], value: float, beside: tuple[Hashable, Hashable] | None = None) -> str:
    if beside is not None and beside[0] == cell[0]:
        return f"{value:.6g} at output {_label(cell[1])}"
    return f"secret {_label(cell[0])} has {value:.6g} at output {_label(cell[1])}"


def _label(label: Hashable) -> str:
    return f"{float(label):g}" if isinstance(label, Fraction) else str(label)


def _choices() -> str:
    return ", ".join([*SHAPES, *GROUPS])


# Tables -------------------------------------------------------------------------------------------------------------------
#
# Shapes made exact in a certified table, where that costs no privacy and next to no accuracy.
#
# Certification moves a solver's probabilities by a little, and each cell by another little. The shapes can be had back:
#
# *fair*: if every output is the home of one secret, the amounts ``f(y) = c - T[x_y, y]`` added to every row alike make
# all the ``T[x, h(x)]`` equal to ``c``. Adding the same amounts to all rows keeps every guarantee. Rows must sum to a
# power of two, so ``T`` is counted ``k`` times first; where no integers do that, one unit of the last place is left over.
#
# *symmetric*: the sum of the table and its mirror image is symmetric. The image is private if the mirror keeps all distances.
#
# *the rest*: if the outputs are the secrets, some private tables satisfy all the inequalities strictly. With
# ``s_x = sum_y |x - y|`` over ranks, ``G[x, y] = -|x - y| + (s_x - s_y) / n + sum s / n^2`` has rows that sum to 0, a
# constant diagonal, and falls from it along rows and columns (without an order: ``n`` times the identity, minus 1).
# Therefore ``1/n + t G`` is one for a small ``t``, and the least share of it that mends every inequality is mixed in; no
# equality is lost.
#
# At a small epsilon the table itself is made in another way first, see :func:`evened`.
#
# Every table that comes out was checked again, integer against integer; if the check fails the old table is kept.


FLOAT_BITS = 128
"""Probabilities in floats are counted in units of 2 to the power of minus this."""

MORE_BITS = 64
"""Number of bits by which the integers of a table that is made fair, or mixed with another, are longer."""


def evened(certified: CertifiedChannel, matrix: Floats) -> CertifiedChannel:
    """Return another table of the same mechanism, from its probabilities in floats: the missing mass of rows is made up
    for in all outputs alike.

    A certificate rescales columns instead, which moves less, but at a small epsilon by unlike amounts for outputs that are
    nearly alike, and so breaks shapes.
    """
    n = matrix.shape[1]
    if any(d == 0 for _, _, d in certified.distances.pairs()):
        return certified
    weights: Integers = np.array(
        [[int(v) << MORE_BITS for v in row] for row in np.ldexp(matrix, FLOAT_BITS).tolist()], dtype=object
    )
    envelope = Envelope(certified.distances, certified.epsilon, certified.precision)
    raised = envelope.majorant(weights)
    smallest, one = envelope.smallest_factor(), 1 << envelope.bits
    base = -(-(2 * smallest + one) // (smallest - one))  # corrects the rounding of divisions
    lacking = [int(v) for v in raised.sum(axis=1).max() - raised.sum(axis=1)]
    extra = np.array(lacking, dtype=object) + envelope.growth(lacking) + n * base
    rows = n * raised + extra[:, None]
    width = int(rows[0].sum()).bit_length() + MORE_BITS
    times, left = divmod(1 << width, int(rows[0].sum()))
    share = np.array([left // n + (y < left % n) for y in range(n)], dtype=object)
    return _proved(certified, times * rows + share, width)


def settled(certified: CertifiedChannel, wanted: tuple[str, ...]) -> CertifiedChannel:
    """The table with its equalities exact, where that can be done."""
    if "fair" in wanted:
        certified = _proved(certified, *_fair(certified))
    if "symmetric" in wanted:
        certified = _proved(certified, *_symmetric(certified))
    return certified


def mended(certified: CertifiedChannel, wanted: tuple[str, ...]) -> CertifiedChannel:
    """Return the table with its inequalities exact too, where that can be done; the caller judges the cost."""
    return _proved(certified, *_mixed(certified, wanted))


def _proved(certified: CertifiedChannel, table: Integers, width: int) -> CertifiedChannel:
    bits = certified.precision + width - certified.width
    sound = (table.sum(axis=1) == 1 << width).all() and not (table < 0).any()
    if not sound or Envelope(certified.distances, certified.epsilon, bits).violation(table) is not None:
        return certified
    table.flags.writeable = False
    return replace(certified, table=table, width=width, precision=bits)


def _fair(certified: CertifiedChannel) -> tuple[Integers, int]:
    table, home = certified.table, homes(certified.inputs, certified.outputs)
    count = table.shape[1]
    if len(home) != count or len(set(home.tolist())) < count:  # an output without a secret of its own, or with several
        return table, certified.width
    own = np.empty(count, dtype=object)
    own[home] = table[np.arange(count), home]
    missing = max(own) - own
    width = certified.width + MORE_BITS + count.bit_length()
    row = (1 << certified.width) + sum(missing)
    # k (2^width + sum f) + count u = 2^width': the largest k for which u is whole, if there is one.
    most = (1 << width) // row
    times = next((k for k in range(most, max(0, most - count), -1) if ((1 << width) - k * row) % count == 0), most)
    each, left = divmod((1 << width) - times * row, count)
    extra = times * missing + each
    extra[:left] += 1
    return times * table + extra, width


def _symmetric(certified: CertifiedChannel) -> tuple[Integers, int]:
    first, second = pairs_of("symmetric", certified.inputs, certified.outputs)
    flat = certified.table.ravel()
    mirrored = flat.copy()
    mirrored[first], mirrored[second] = flat[second], flat[first]
    return (flat + mirrored).reshape(certified.table.shape), certified.width + 1


def _mixed(certified: CertifiedChannel, wanted: tuple[str, ...]) -> tuple[Integers, int]:
    """``(2^b - n c) T + c (2^width + G)`` with the least ``c`` that leaves no inequality broken."""
    table, width = certified.table, certified.width
    room = _room(certified)
    if room is None:
        return table, width
    n, share = len(table), 0
    flat, free = table.ravel(), room.ravel()
    for name in wanted:
        if name in EQUAL:
            continue
        low, high = pairs_of(name, certified.inputs, certified.outputs)
        weak = name == "weakly-honest"
        over = (1 << width) - n * flat[high] if weak else flat[low] - flat[high]
        gain = n * free[high] if weak else free[high] - free[low]
        for missed, mended in zip(over.tolist(), gain.tolist(), strict=True):
            if missed > 0:
                share = max(share, -((-missed << MORE_BITS) // (n * missed + mended)))
    if not 0 < share * n <= 1 << MORE_BITS:
        return table, width
    return ((1 << MORE_BITS) - n * share) * table + share * ((1 << width) + room), width + MORE_BITS


def _room(certified: CertifiedChannel) -> Integers | None:
    """Return the table ``G``, as large as keeps ``2^width + G`` private with some slack; None if outputs are not the
    secrets.
    """
    inputs, n = certified.inputs, len(certified.inputs)
    home = homes(inputs, certified.outputs) if set(inputs) == set(certified.outputs) else np.zeros(0)
    if len(set(home.tolist())) < n or len(certified.outputs) != n:
        return None
    order = ranks(inputs)
    if order is None:
        whole = -np.ones((n, n), dtype=np.int64)
        whole[np.arange(n), home] += n
    else:
        apart = np.abs(np.subtract.outer(order, order))
        sums = apart.sum(axis=1)
        whole = np.empty_like(apart)
        whole[:, home] = sums.sum() - n * n * apart + n * (sums[:, None] - sums)
    nearest = min((d for _, _, d in certified.distances.pairs()), default=Fraction(0))
    times = int(min(Fraction(1), certified.epsilon * nearest) * (1 << certified.width)) // (
        3 * int(np.abs(whole).max())
    )
    return whole.astype(object) * times if times else None
