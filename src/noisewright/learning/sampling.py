"""Drawing from a trained privatiser: NumPy alone, with cryptographic random bits.

A privatiser of one point is a few arrays: shifts and noises of two classes, a table of probabilities, or the layers of
a network. :func:`drawer_of` makes a sampler of them; the arrays are checked first, as files may say anything. Numbers
are drawn in floats: nothing is proved about them. Tables are rounded to integers over 2^40 and drawn exactly.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright.certificates.certificate import Certificate
from noisewright.claims.readings import Condition
from noisewright.exceptions import DataError, ParameterError
from noisewright.guarantees import ContextAware, Guarantee, split
from noisewright.learning.columns import Codes, Number, as_columns, like
from noisewright.mechanisms.categorical.randomised_response import randomised_response
from noisewright.mechanisms.composite import ProductMechanism, product
from noisewright.mechanisms.numeric.geometric import geometric
from noisewright.numerics.exact import Exact, positive_fraction
from noisewright.sampling.categorical import TableSampler
from noisewright.sampling.random_bits import Bits, half_words

__all__ = [
    "CertifiedPrivatiser",
    "Drawer",
    "NetworkDrawer",
    "ShiftDrawer",
    "TableDrawer",
    "certified",
    "drawer_of",
    "normals",
]


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


# Certified noise ----------------------------------------------------------------------------------------------------------
#
# Metric privacy behind a learned privatiser: certified mechanisms on its releases, which then have both guarantees.
#
# What a privatiser releases lies in public ranges and lists of labels. Exact noise on every column then guarantees
# ``epsilon`` **between any two records**, whatever the privatiser did before: for outputs ``o`` and noiseless releases
# ``v``,
#
# .. math:: P(o \mid x) = \sum_v P(v \mid x) \prod_j M_j(o_j \mid v_j) \le e^{\sum_j \epsilon_j} P(o \mid x'),
#
# because every ``M_j`` loses at most :math:`\epsilon_j` between any two values of its range. And noise never makes a
# private value easier to guess, so the measurement of the privatiser still holds; the distortion is larger, and is
# measured again.
#
# **The privatiser must be fixed**: the sum is over one and the same privatiser's changes to ``x`` and to ``x'``. Where
# it was trained on the records that it releases, another record would have made another privatiser, which changes all
# the other records otherwise; no epsilon covers their leakage then. Guarantee and certificate state this.


UNTRAINED = Condition("not-a-training-record")


@dataclass(frozen=True)
class CertifiedPrivatiser:
    """A learned privatiser with certified noise behind it; :meth:`GAPPrivatiser.with_epsilon` makes one."""

    privatiser: Any
    noise: ProductMechanism
    """A mechanism for every column, in their order; numbers are drawn in steps."""
    distortion: float
    """Of both together, measured."""

    def release(self, X: Any, y: Any = None, rng: np.random.Generator | None = None) -> Any:
        """Changed records with noise on top, in the form of the given ones; numbers come out as numbers of their ranges."""
        changed = as_columns(self.privatiser.release(X, y, rng))
        columns, out = self.privatiser.columns_.columns, {}
        for column, (mechanism, _) in zip(columns, self.noise.parts, strict=True):
            values = changed[column.name]
            if not isinstance(column, Number):
                out[column.name] = np.asarray(mechanism.release(values, rng))
                continue
            steps = np.rint(values / column.step).astype(np.int64)
            noisy = np.asarray(mechanism.release(steps, rng))
            out[column.name] = noisy if column.whole else noisy * column.step
        return like(X, out)

    @property
    def guarantee(self) -> Guarantee:
        """Proved guarantee: epsilon between any two records that the privatiser was not trained on."""
        return replace(self.noise.guarantee, conditions=(UNTRAINED,))

    @property
    def guarantees(self) -> tuple[ContextAware, Guarantee]:
        """Both guarantees: the measured one of the privatiser, and the proved one of the noise."""
        stated = replace(self.privatiser.guarantee, distortion=self.distortion, most_distortion=None)
        return stated, self.guarantee

    def certificate(self) -> Certificate:
        """Return the proof, column by column and in all, for records that the privatiser was not trained on."""
        return self.noise.certificate().under([UNTRAINED])

    def in_words(self) -> str:
        """Both, in words."""
        first, second = self.guarantees
        return f"{first.in_words()} In addition, proved: {second.in_words()}"


def certified(privatiser: Any, epsilon: Exact, X: Any, y: Any = None) -> CertifiedPrivatiser:
    """Noise of ``epsilon`` in all behind a fitted privatiser, shared evenly by its columns; distortion is measured on ``X``."""
    whole = positive_fraction(epsilon, "epsilon")
    columns = privatiser.columns_.columns
    open_ended = [one.name for one in columns if isinstance(one, Number) and one.low is None]
    if open_ended:
        raise ParameterError(
            f"noise behind a privatiser needs the public range of every column of numbers, and {open_ended[0]!r} has none; "
            "fit it with bounds."
        )
    if not len(next(iter(as_columns(X).values()), ())):
        raise DataError("the distortion of noise is measured on records; give some.")
    shares = split(whole, len(columns))
    noise = product(
        [(_mechanism(one, share), 1) for one, share in zip(columns, shares, strict=True)], metric="discrete"
    )
    found = CertifiedPrivatiser(privatiser, noise, 0.0)
    spent = privatiser.distortion_of(X, found.release(X, y, np.random.default_rng(0)))  # a simulation, thrown away
    return replace(found, distortion=float(sum(spent.values())))


def _mechanism(column: Any, share: Fraction) -> Any:
    """Exact noise that loses at most ``share`` between any two values of a column."""
    if isinstance(column, Number):
        assert column.low is not None
        assert column.high is not None
        step = Fraction(column.step)
        low, high = math.ceil(Fraction(column.low) / step), math.floor(Fraction(column.high) / step)
        return geometric(epsilon=share / (high - low), within=(low, high), outside="clamp")
    return randomised_response(column.labels, epsilon=share)
