r"""Shapes of a mechanism: properties that make its outputs look reasonable one by one, as checks and as linear constraints.

For a channel ``M[x, y]`` (rows are secrets, columns are outputs) let ``h(x)`` be the *home* of secret ``x``: the
output that stands for it, the nearest one (on a tie the upper one; see :mod:`~noisewright.optimality.shapes.categories` for
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

>>> from noisewright.mechanisms.categories.fair import explicit_fair_channel
>>> from noisewright.mechanisms.numbers.geometric import geometric
>>> print(check_shape(geometric(epsilon="0.5", within=(0, 5)).channel(), "fair"))
not fair: secret 1 has 0.244919 at output 1, secret 0 has 0.622459 at output 0
>>> [name for name, found in shapes_of(explicit_fair_channel(0.5, 5)).items() if not found]
[]

Reference: Cormode, Kulkarni and Srivastava, *Constrained differential privacy for count data* (2018).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import sparse

from noisewright.core.channels.certified import CertifiedChannel
from noisewright.core.channels.channel import Channel
from noisewright.core.choices import as_slack
from noisewright.core.errors import ParameterError
from noisewright.core.exact import float_up
from noisewright.optimality.program.sparse import FurtherRows
from noisewright.optimality.shapes._cells import EQUAL, PAIRS, SHAPES, Arrangement, Pairs
from noisewright.optimality.shapes.categories import Categories, NoShapeError

__all__ = ["ShapeCheck", "as_shapes", "check_shape", "constraints", "deviations", "shapes_of"]

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
