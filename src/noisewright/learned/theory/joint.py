r"""The law of a public value X and a private one Y: what an adversary knows before anything is released.

A joint law is a table of probabilities with a row for each public value and a column for each private one. It must be public:
known, assumed, or counted on other people's records.

>>> law = Joint([[0.375, 0.125], [0.125, 0.375]], public=["low", "high"], private=["well", "ill"])
>>> law.prior.tolist(), law.prior_accuracy
([0.5, 0.5], 0.5)
>>> Joint.xor(px1=0.75, flip=0.25).probabilities.tolist()
[[0.1875, 0.0625], [0.1875, 0.5625]]
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from noisewright.core.arrays import Floats, Integers
from noisewright.core.choices import is_number
from noisewright.core.errors import DataError, ParameterError
from noisewright.core.labels import as_labels

__all__ = ["Joint", "as_joint", "chance", "whole_floats"]

TOLERANCE = 1e-9
"""The probabilities may miss a sum of one by this much, and are then divided by their sum."""


@dataclass(frozen=True, eq=False)
class Joint:
    """``probabilities[x, y]``, with a label for every public value (a row) and every private one (a column)."""

    probabilities: Floats
    public: tuple[Hashable, ...]
    private: tuple[Hashable, ...]

    def __init__(
        self, probabilities: Any, public: Iterable[Hashable] | None = None, private: Iterable[Hashable] | None = None
    ) -> None:
        values = _table(probabilities)
        total = float(values.sum())
        if abs(total - 1) > TOLERANCE:
            raise ParameterError(
                f"the probabilities of a joint law must sum to 1, not to {total:.12g}; counts are taken by Joint.from_counts."
            )
        _set(self, values / total, public, private)

    @classmethod
    def from_counts(
        cls, counts: Any, public: Iterable[Hashable] | None = None, private: Iterable[Hashable] | None = None
    ) -> Joint:
        """The law in which every pair is as likely as it was counted."""
        values = _table(counts)
        return cls(values / values.sum(), public, private)

    @classmethod
    def of(cls, public: Iterable[Hashable], private: Iterable[Hashable]) -> Joint:
        """The law of two columns of records, counted. It is as private as the records are."""
        first, second = as_labels(public, "public", DataError), as_labels(private, "private", DataError)
        if len(first) != len(second) or not first:
            raise DataError("public and private must be two columns of one length, with one record or more.")
        rows, columns = (sorted(set(column), key=_order) for column in (first, second))
        places = [{label: place for place, label in enumerate(labels)} for labels in (rows, columns)]
        counts = np.zeros((len(rows), len(columns)))
        np.add.at(counts, ([places[0][x] for x in first], [places[1][y] for y in second]), 1.0)
        return cls.from_counts(counts, rows, columns)

    @classmethod
    def xor(cls, *, px1: float, flip: float) -> Joint:
        """The binary data model: ``X`` is 1 with probability ``px1``, and ``Y`` differs from it with probability ``flip``."""
        p, q = chance(px1, "px1"), chance(flip, "flip")
        return cls([[(1 - p) * (1 - q), (1 - p) * q], [p * q, p * (1 - q)]])

    @property
    def shape(self) -> tuple[int, int]:
        """Number of public values, number of private ones."""
        rows, columns = self.probabilities.shape
        return rows, columns

    @cached_property
    def prior(self) -> Floats:
        """Return how likely each private value is."""
        return np.asarray(self.probabilities.sum(axis=0))

    @cached_property
    def marginal(self) -> Floats:
        """Return how likely each public value is."""
        return np.asarray(self.probabilities.sum(axis=1))

    @property
    def prior_accuracy(self) -> float:
        """Return how often the private value is guessed without seeing anything; no mechanism makes it less."""
        return float(self.prior.max())

    @cached_property
    def whole(self) -> Integers:
        """Integers in exactly the proportions of the probabilities, which are floats and so fractions."""
        return whole_floats(self.probabilities)[0]

    def __repr__(self) -> str:
        return f"Joint({self.shape[0]} public values, {self.shape[1]} private ones)"


def as_joint(law: object) -> Joint:
    """The law itself, or the law of a table of probabilities."""
    return law if isinstance(law, Joint) else Joint(law)


def whole_floats(values: Floats) -> tuple[Integers, int]:
    """Floats of 0 or more as integers over a power of two, without rounding, and that power."""
    mantissas, exponents = np.frexp(values)
    present = mantissas != 0
    lowest = int(exponents[present].min()) if present.any() else 0
    whole = np.ldexp(mantissas, 53).astype(np.int64).astype(object)
    scale = 53 - lowest
    shifted: Integers = whole << np.where(present, exponents - lowest, 0).astype(object)
    if scale < 0:
        return shifted << -scale, 0
    return shifted, scale


def chance(value: object, name: str, *, inside: bool = False) -> float:
    """A probability, checked; ``inside``: neither 0 nor 1."""
    if not is_number(value) or not (0 < value < 1 if inside else 0 <= value <= 1):
        given = value if is_number(value) else f"a thing of type {type(value).__name__}"
        where = "between 0 and 1, and neither of them" if inside else "between 0 and 1"
        raise ParameterError(f"{name} must be a probability {where}, not {given}.")
    return float(value)


def _table(values: Any) -> Floats:
    try:
        table = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError("a joint law is a table of numbers with rows of one length.") from None
    if table.ndim != 2 or 0 in table.shape:
        raise ParameterError(
            f"a joint law has a row for each public value and a column for each private one; this has shape {table.shape}."
        )
    if not np.isfinite(table).all() or (table < 0).any():
        raise ParameterError("a joint law needs finite numbers that are 0 or more.")
    if not table.any() or not math.isfinite(float(table.sum())):
        raise ParameterError("a joint law needs numbers whose sum is above 0 and finite.")
    return table


def _set(law: Joint, values: Floats, public: Iterable[Hashable] | None, private: Iterable[Hashable] | None) -> None:
    for name, given, count, which in (
        ("public", public, values.shape[0], "rows"),
        ("private", private, values.shape[1], "columns"),
    ):
        labels = tuple(range(count)) if given is None else as_labels(given, f"the {name} values")
        if len(labels) != count or len(set(labels)) != count:
            raise ParameterError(f"name each {name} value once: there are {count} {which} and {len(labels)} names.")
        object.__setattr__(law, name, labels)
    values.flags.writeable = False
    object.__setattr__(law, "probabilities", values)


def _order(label: Hashable) -> tuple[str, Any]:
    """Labels of one type in their own order, types by name."""
    return ("number", label) if is_number(label) else (type(label).__name__, label)
