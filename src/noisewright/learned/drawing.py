r"""Drawing from a trained privatiser: NumPy alone, with cryptographic random bits.

A privatiser of one point is a few arrays: shifts and noises of two classes, a table of probabilities, or the layers of
a network. :func:`drawer_of` makes a sampler of them; the arrays are checked first, as files may say anything. Numbers
are drawn in floats: nothing is proved about them. Tables are rounded to integers over 2^40 and drawn exactly.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.learned.columns import Codes
from noisewright.noise.bits import Bits, half_words
from noisewright.noise.table import TableSampler

__all__ = ["Drawer", "NetworkDrawer", "ShiftDrawer", "TableDrawer", "drawer_of", "normals"]

SLOPE = np.float32(0.2)
ROWS = 4096
"""Maximum number of rows that go through a network together: intermediate arrays stay in the processor's cache."""
TABLE_BITS = 40


class Drawer(ABC):
    """Changes records."""

    @abstractmethod
    def draw(self, numeric: Floats, codes: Codes, truth: Codes | None, bits: Bits) -> tuple[Floats, Codes]:
        """Return how much each standardised number changes, and the new places of labels."""


class ShiftDrawer(Drawer):
    """A shift and a noise for each class, in standard deviations of the column."""

    def __init__(self, shifts: Floats, noises: Floats) -> None:
        if (
            shifts.shape != (2,)
            or noises.shape != (2,)
            or not np.isfinite([shifts, noises]).all()
            or (noises < 0).any()
        ):
            raise ValueError("shifts")
        self.shifts, self.noises = shifts, noises

    def draw(self, numeric: Floats, codes: Codes, truth: Codes | None, bits: Bits) -> tuple[Floats, Codes]:
        which = np.zeros(len(numeric), np.int64) if truth is None else truth[:, 0]
        drawn = normals(bits, len(numeric))
        return (self.shifts[which] + self.noises[which] * drawn)[:, None], codes


class TableDrawer(Drawer):
    """A row of probabilities for every label and combination of private classes (one, where these are not given)."""

    def __init__(self, table: Floats, classes: tuple[int, ...]) -> None:
        if table.ndim != 3 or table.shape[0] != table.shape[2] or not (table >= 0).all():
            raise ValueError("table")
        if not np.allclose(table.sum(axis=2), 1, atol=1e-6):
            raise ValueError("table")
        self.table, self.classes = table, classes
        flat = table.reshape(-1, table.shape[2])
        whole = np.floor(flat * 2.0**TABLE_BITS).astype(np.int64)
        kept = np.repeat(np.arange(len(table)), table.shape[1])
        whole[np.arange(len(whole)), kept] += (1 << TABLE_BITS) - whole.sum(axis=1)
        self.sampler = TableSampler(whole, TABLE_BITS)

    def draw(self, numeric: Floats, codes: Codes, truth: Codes | None, bits: Bits) -> tuple[Floats, Codes]:
        return np.zeros_like(numeric), np.asarray(self.sampler.draw(self._rows(codes, truth), bits)).reshape(-1, 1)

    def moved(self, codes: Codes, truth: Codes | None) -> Floats:
        """The probability that the label of each record changes."""
        flat = self.table.reshape(-1, self.table.shape[2])
        return np.asarray(1 - flat[self._rows(codes, truth), codes[:, 0]])

    def _rows(self, codes: Codes, truth: Codes | None) -> Codes:
        """The row of the table that each record is drawn from."""
        rows = codes[:, 0]
        if truth is not None:
            for place, many in enumerate(self.classes):
                rows = rows * many + truth[:, place]
        return rows


class NetworkDrawer(Drawer):
    """The layers of a network next to the record itself."""

    def __init__(
        self, arrays: Mapping[str, NDArray[Any]], numbers: int, categories: tuple[int, ...], beside: tuple[int, ...]
    ) -> None:
        self.numbers, self.categories, self.beside = numbers, categories, beside
        self.noise, shown = max(1, numbers), numbers + sum(categories)
        inputs = shown + self.noise + sum(beside)
        hidden = arrays["w1"].shape[0]
        shapes = {
            "skip": (inputs, shown),
            "w0": (inputs, hidden),
            "b0": (1, hidden),
            "w1": (hidden, hidden),
            "b1": (1, hidden),
            "w2": (hidden, shown),
            "b2": (1, shown),
        }
        self.layers = {name: np.array(arrays[name], np.float32) for name in shapes}
        self.leaning = np.array(arrays["leaning"], np.float64)
        if {name: array.shape for name, array in self.layers.items()} != shapes:
            raise ValueError("layers")
        finite = [np.isfinite(array).all() for array in self.layers.values()]
        if self.leaning.shape != (len(categories),) or not all(finite) or not np.isfinite(self.leaning).all():
            raise ValueError("layers")
        # each row ends in a 1, so that the offset of a sum is one more row of its matrix
        own = self.layers
        self.first = np.concatenate([own["w0"], own["b0"]])
        self.past = np.concatenate([own["skip"], own["b2"]])

    def draw(self, numeric: Floats, codes: Codes, truth: Codes | None, bits: Bits) -> tuple[Floats, Codes]:
        changes, new = np.empty(numeric.shape, order="F"), np.empty_like(codes)
        (inputs, hidden), shown = self.first.shape, self.past.shape[1]
        room = _Room(min(ROWS, len(numeric)), inputs, hidden, shown)
        for start in range(0, len(numeric), ROWS):
            some = slice(start, start + ROWS)
            out = self._out(numeric[some], codes[some], None if truth is None else truth[some], bits, room)
            changes[some] = out[:, : self.numbers]
            place = self.numbers
            for column, many in enumerate(self.categories):
                logits = out[:, place : place + many].astype(np.float64)
                logits[np.arange(len(logits)), codes[some, column]] += self.leaning[column]
                new[some, column] = _drawn(logits, bits)
                place += many
        return changes, new

    def _out(self, numeric: Floats, codes: Codes, truth: Codes | None, bits: Bits, room: _Room) -> NDArray[np.float32]:
        many = len(numeric)
        rows, within, other, slope, out, past = (array[:many] for array in room.arrays)
        rows[:, : self.numbers] = numeric
        place = _marked(rows, self.numbers, codes, self.categories)
        rows[:, place : place + self.noise] = normals(bits, many * self.noise).reshape(many, -1)
        if truth is not None:
            _marked(rows, place + self.noise, truth, self.beside)
        rows[:, -1] = 1
        np.matmul(rows, self.first, out=within)
        np.maximum(within, np.multiply(within, SLOPE, out=slope), out=within)
        np.matmul(within, self.layers["w1"], out=other)
        other += self.layers["b1"]
        np.maximum(other, np.multiply(other, SLOPE, out=slope), out=other)
        np.matmul(other, self.layers["w2"], out=out)
        out += np.matmul(rows, self.past, out=past)
        return out


class _Room:
    """Buffers of the layers, reused for each block: new memory for each would cost as much as the layers."""

    def __init__(self, rows: int, inputs: int, hidden: int, shown: int) -> None:
        widths = (inputs, hidden, hidden, hidden, shown, shown)
        self.arrays = tuple(np.empty((rows, width), np.float32) for width in widths)


def _marked(rows: NDArray[np.float32], place: int, codes: Codes, sizes: tuple[int, ...]) -> int:
    """A 1 in the column of each code, behind ``place``; the place behind them all."""
    for column, size in enumerate(sizes):
        rows[:, place : place + size] = 0
        rows[np.arange(len(rows)), place + codes[:, column]] = 1
        place += size
    return place


def drawer_of(
    family: str,
    arrays: Mapping[str, NDArray[Any]],
    numbers: int,
    categories: tuple[int, ...],
    classes: tuple[int, ...],
    given: str,
) -> Drawer:
    """The drawer of a file; raise ``ValueError`` or ``LookupError`` if invalid."""
    if family == "shifts":
        if (numbers, categories, classes) != (1, (), (2,)):
            raise ValueError("shifts")
        return ShiftDrawer(np.array(arrays["shifts"], np.float64), np.array(arrays["noises"], np.float64))
    if family == "table":
        table = np.array(arrays["table"], np.float64)
        combinations = int(np.prod(classes)) if given == "xy" else 1
        if numbers or table.shape != (*categories, combinations, *categories):
            raise ValueError("table")
        return TableDrawer(table, classes)
    if family == "network":
        return NetworkDrawer(arrays, numbers, categories, classes if given == "xy" else ())
    raise ValueError("family")


def normals(bits: Bits, count: int) -> NDArray[np.float32]:
    """Standard normal numbers in single precision, from pairs of 32-bit words (the method of Box and Muller)."""
    half = (count + 1) // 2
    words = half_words(bits, 2 * half)
    radius = (words[:half].astype(np.float32) + np.float32(0.5)) * np.float32(2.0**-32)
    np.log(np.minimum(radius, np.float32(1 - 2.0**-24)), out=radius)
    np.sqrt(np.float32(-2) * radius, out=radius)
    angle = words[half:].astype(np.float32) * np.float32(2 * np.pi * 2.0**-32)
    found = np.empty(2 * half, np.float32)
    np.multiply(radius, np.cos(angle), out=found[:half])
    np.multiply(radius, np.sin(angle), out=found[half:])
    return found[:count]


def _drawn(logits: Floats, bits: Bits) -> Codes:
    """One place in each row, with probabilities of the softmax of the row."""
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    ends = np.cumsum(weights, axis=1)
    uniform = (bits.words(len(logits)) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.asarray((ends <= (uniform * ends[:, -1])[:, None]).sum(axis=1).clip(max=logits.shape[1] - 1), np.int64)
