r"""Counting reports: all that an estimator ever sees of them.

Estimators depend on reports through the number of each output alone, so reports are counted where they are (a column, a
stream of batches, a GROUP BY) and only counts travel. Counts add up: :class:`Tally` takes one batch after another.

What is not an output of the mechanism (a missing value, another word, a number outside the range) is counted too. It
means that the mechanism is not the one that made these reports, so the default is to refuse. ``outside="drop"`` leaves
such reports out, which is only harmless if the loss does not depend on the secret.

>>> ages = WholeNumbers(0, 3)
>>> count_reports([0, 2, 2, 3], ages).counts.tolist()
[1, 0, 2, 1]
>>> count_reports([0, 2, 9], ages)
Traceback (most recent call last):
noisewright.core.errors.DataError: 1 of 3 reports are not outputs of this mechanism; check that it is the one ...
>>> count_reports([0, 2, 9], ages, outside="drop").dropped
1
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from noisewright.core.choices import is_whole, one_of
from noisewright.core.errors import DataError, ParameterError
from noisewright.estimation.population._columns import arrow_column, length_of, numeric, parts_of
from noisewright.mechanisms.label_columns import EXTRA, Labels

__all__ = ["Counts", "LabelOutputs", "Outputs", "PartOutputs", "Tally", "WholeNumbers", "count_reports"]

Positions = NDArray[np.int64]

MOST_REPORTS = 10**18
"""Maximum number of reports of a few mechanisms together: they still fit in 64 bits."""

BATCH = 1 << 20
"""Reports that are taken from an iterator at a time."""


class Outputs(Protocol):
    """The outputs of a mechanism, numbered."""

    @property
    def size(self) -> int:
        """Number of outputs."""

    @property
    def numbers(self) -> bool:
        """Return whether all of them are numbers, so that a column of text is of the wrong kind."""

    def positions(self, values: Any) -> Positions:
        """Return the number of each report, -1 for a value that is not an output."""


@dataclass(frozen=True)
class Counts:
    """Number of reports of each output, and number of reports left out because the mechanism has no such output."""

    counts: NDArray[np.int64]
    dropped: int = 0

    @property
    def total(self) -> int:
        """The reports that count."""
        return int(self.counts.sum())

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.counts + other.counts, self.dropped + other.dropped)


class Tally:
    """Counts that grow batch by batch."""

    def __init__(self, outputs: Outputs) -> None:
        self.outputs = outputs
        self.counts = np.zeros(outputs.size, dtype=np.int64)
        self.outside = 0
        self._numbers = True

    def add(self, values: Any, times: NDArray[np.int64] | None = None) -> None:
        """Count a batch of reports; ``times`` says how often each of them occurred. An iterator is used up."""
        if isinstance(values, Iterator):
            while batch := list(islice(values, BATCH)):
                self.add(batch)
            return
        found = self.outputs.positions(values)
        known = found >= 0
        if found.size and not known.any() and self.outputs.numbers and not isinstance(self.outputs, PartOutputs):
            self._numbers = numeric(values) is not None
        if times is None:
            self.outside += int(found.size - known.sum())
            self.counts += np.bincount(found[known], minlength=len(self.counts))
        else:
            times = _numbers(times.tolist(), int(self.counts.sum()) + self.outside)
            self.outside += int(times[~known].sum())
            np.add.at(self.counts, found[known], times[known])

    def result(self, outside: str = "refuse", *, empty: bool = False) -> Counts:
        """Return the counts; raise an error if some reports are not outputs, unless they should be dropped, and if the
        tally has no reports, unless it may be ``empty``.
        """
        one_of(outside, "outside", ("refuse", "drop"))
        total = int(self.counts.sum())
        if not total and not self.outside and not empty:
            raise DataError("there are no reports to estimate from.")
        if self.outside and (outside == "refuse" or not total):
            advice = "; check that it is the one that made them, or drop such reports (outside: drop)."
            if not total and not self._numbers:
                advice = ", which are numbers, and these are none; convert the column, or check the mechanism."
            elif not total:
                advice = "; check that it is the one that made them, and that the column is of its type."
            raise DataError(
                f"{self.outside} of {total + self.outside} reports are not outputs of this mechanism{advice}"
            )
        return Counts(self.counts, self.outside)


def count_reports(reports: Any, outputs: Outputs, outside: str = "refuse", *, empty: bool = False) -> Counts:
    """Count a column of reports, or take counts that are there already: a :class:`Counts`, or a mapping from outputs to
    numbers. None at all are refused, unless the column may be ``empty``."""
    tally = Tally(outputs)
    if isinstance(reports, Counts):
        return _checked(reports, tally, empty)
    if isinstance(reports, Mapping):
        tally.add(list(reports), _numbers(list(reports.values())))
    elif isinstance(reports, pa.ChunkedArray):
        for chunk in reports.chunks:
            tally.add(chunk)
    else:
        tally.add(reports)
    return tally.result(outside, empty=empty)


def _checked(given: Counts, tally: Tally, empty: bool) -> Counts:
    """Counts that fit the outputs of the mechanism."""
    counts = np.asarray(given.counts)
    if counts.shape != (tally.outputs.size,):
        raise ParameterError(f"there are {counts.size} counts for {tally.outputs.size} outputs of the mechanism.")
    tally.counts = _numbers(counts.tolist())
    _numbers([given.dropped])
    return Counts(tally.result(empty=empty).counts, given.dropped)


class WholeNumbers:
    """The outputs ``low .. high``; ``clamp`` moves integers beyond to the nearer end first."""

    numbers = True

    def __init__(self, low: int, high: int, clamp: bool = False) -> None:
        self.low, self.high, self.clamp = low, high, clamp

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    def positions(self, values: Any) -> Positions:
        given = numeric(values)
        if given is None:
            return np.full(length_of(values), -1)
        if self.clamp:
            whole = np.isfinite(given) & (given == np.floor(given)) if given.dtype.kind == "f" else True
            return np.where(
                whole, np.clip(np.where(whole, given, self.low), self.low, self.high) - self.low, -1
            ).astype(np.int64)
        if given.dtype.kind in "iu" and given.size and self.low <= int(given.min()) and int(given.max()) <= self.high:
            return np.asarray(given - self.low, dtype=np.int64)  # the common case, in one pass
        inside = (given >= self.low) & (given <= self.high)
        if given.dtype.kind == "f":
            inside &= given == np.floor(given)
        return np.where(inside, np.where(inside, given, self.low).astype(np.int64) - self.low, -1)


class LabelOutputs:
    """Outputs with any labels: numbers, text, truth values."""

    def __init__(self, labels: Iterable[Hashable]) -> None:
        self.labels = tuple(labels)
        self.numbers = Labels(self.labels).kind in ("integer", "number")
        if self.numbers:
            array = np.array(self.labels, dtype=np.float64 if any(isinstance(v, float) for v in self.labels) else None)
            self._order = np.argsort(array, kind="stable")
            self._sorted = array[self._order]
        else:
            self._index = {label: i for i, label in enumerate(self.labels)}
            text = all(isinstance(label, str) for label in self.labels)
            # Null is an output where it is a label; in a column that is not text it is the one that stands for no secret.
            self._null = self._index.get(None, -1 if text else self._index.get(EXTRA, -1))

    @property
    def size(self) -> int:
        return len(self.labels)

    def positions(self, values: Any) -> Positions:
        if self.numbers:
            given = numeric(values)
            if given is None:
                return np.full(length_of(values), -1)
            spot = np.minimum(np.searchsorted(self._sorted, given), len(self._sorted) - 1)
            return np.where(self._sorted[spot] == given, self._order[spot], -1)
        column = arrow_column(values)
        if column is None:  # values of several kinds
            return np.array([self._position(v) for v in values], dtype=np.int64)
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        distinct = np.array([self._position(v) for v in encoded.dictionary.to_pylist()] or [-1], dtype=np.int64)
        missing = np.asarray(pc.is_null(encoded.indices).to_numpy(zero_copy_only=False))
        codes = np.asarray(pc.fill_null(encoded.indices, 0).to_numpy(zero_copy_only=False))
        return np.where(missing, self._null, distinct[codes])

    def _position(self, value: Any) -> int:
        if value is None:
            return self._null
        try:
            return self._index.get(value.item() if isinstance(value, np.generic) else value, -1)
        except TypeError:
            return -1


class PartOutputs:
    """Outputs with several parts, such as the two coordinates of a place; numbered row by row.

    ``kept`` are the numbers of the combinations that are outputs, in the order of the outputs, where not all of them are.
    """

    def __init__(self, parts: Sequence[Outputs], kept: NDArray[np.int64] | None = None) -> None:
        self.parts = tuple(parts)
        self._order = None if kept is None else np.argsort(kept, kind="stable")
        self._kept = None if kept is None else kept[self._order]

    @classmethod
    def of(cls, labels: Sequence[tuple[Hashable, ...]]) -> PartOutputs:
        """The outputs whose labels are these tuples."""
        if len({len(label) for label in labels}) != 1:
            raise ParameterError("outputs that are tuples must have one length to be looked up in a table.")
        parts = [LabelOutputs(dict.fromkeys(place)) for place in zip(*labels, strict=True)]
        joined = np.zeros(len(labels), dtype=np.int64)
        for part, place in zip(parts, zip(*labels, strict=True), strict=True):
            numbers = {label: i for i, label in enumerate(part.labels)}
            joined = joined * part.size + np.array([numbers[label] for label in place])
        return cls(parts, joined)

    @property
    def numbers(self) -> bool:
        return all(part.numbers for part in self.parts)

    @property
    def size(self) -> int:
        return math.prod(part.size for part in self.parts) if self._kept is None else len(self._kept)

    def positions(self, values: Any) -> Positions:
        columns = parts_of(values, len(self.parts))
        joined = np.zeros(length_of(columns[0]), dtype=np.int64)
        outside = np.zeros(len(joined), dtype=bool)
        for part, column in zip(self.parts, columns, strict=True):
            found = part.positions(column)
            outside |= found < 0
            joined = joined * part.size + found
        joined[outside] = -1
        if self._kept is None or self._order is None:
            return joined
        spot = np.minimum(np.searchsorted(self._kept, joined), len(self._kept) - 1)
        return np.where(self._kept[spot] == joined, self._order[spot], -1)


def _numbers(values: list[Any], before: int = 0) -> NDArray[np.int64]:
    """Numbers of reports, which do not overflow together with those ``before``."""
    if not all(is_whole(v) and v >= 0 for v in values):
        raise DataError("counts of reports must be whole numbers, 0 or more.")
    if sum(map(int, values)) + before > MOST_REPORTS:
        raise DataError(f"counts of reports must sum to at most {MOST_REPORTS:.0e}.")
    return np.array(values, dtype=np.int64)
