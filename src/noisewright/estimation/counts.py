"""Counting reports: all that an estimator ever sees of them.

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
noisewright.exceptions.DataError: 1 of 3 reports are not outputs of this mechanism; check that it is the one ...
>>> count_reports([0, 2, 9], ages, outside="drop").dropped
1

:func:`model_of` takes a mechanism, a channel, a certificate (which a file holds), or a model. Structure is kept where
there is some: randomised response, the geometric and the planar geometric on a grid need no matrix, however many
secrets they have.

>>> from noisewright.mechanisms.numeric.geometric import geometric
>>> model_of(geometric(epsilon=1, within=(0, 999_999))).operator.shape
(1000000, 1000000)

:func:`independent` is for reports with several parts, each from a mechanism of its own:

>>> both = independent(geometric(epsilon=1, within=(0, 9)), geometric(epsilon=1, within=(0, 4)))
>>> both.operator.shape, both.secrets[7]
((50, 50), (1, 2))

An unbounded geometric has infinitely many outputs, but whatever lies beyond the range of the secrets says no more than
the nearer end does: with ``within`` reports are clamped to it, and nothing is lost.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from noisewright._utils.validation import is_whole, one_of
from noisewright.certificates.certificate import Certificate
from noisewright.channels.channel import Channel
from noisewright.columns.adapters import arrow_column, length_of, numeric, parts_of
from noisewright.columns.label_encoder import EXTRA, Labels
from noisewright.estimation.inverses import PlanarOperator
from noisewright.estimation.operators import (
    DenseOperator,
    GeometricOperator,
    HadamardOperator,
    Operator,
    ProductOperator,
    ResponseOperator,
)
from noisewright.exceptions import DataError, NoChannelError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.mechanisms.categorical.frequency_oracle import Oracle
from noisewright.mechanisms.categorical.randomised_response import ResponseMechanism
from noisewright.mechanisms.categorical.subset_selection import HadamardMechanism
from noisewright.mechanisms.from_certificate import mechanism_of
from noisewright.mechanisms.numeric.geometric import GeometricMechanism, check_range
from noisewright.mechanisms.spatial.planar_geometric import PlanarGeometric
from noisewright.mechanisms.spatial.planar_laplace import Grid
from noisewright.metrics.base import Euclidean
from noisewright.numerics.exact import Exact, positive_fraction

__all__ = [
    "Counts",
    "LabelOutputs",
    "Model",
    "Outputs",
    "PartOutputs",
    "Tally",
    "WholeNumbers",
    "count_reports",
    "independent",
    "model_of",
    "models_of",
    "planar_grid",
    "same_secrets",
]


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


# Models -------------------------------------------------------------------------------------------------------------------
#
# Models for an estimator made from a mechanism: its operator, its secrets, and its outputs to be counted.


SMALL = 256
"""Up to this many secrets a dense product is faster than anything structured."""

Within = tuple[int, int] | tuple[tuple[int, int], tuple[int, int]] | None


@dataclass(frozen=True, eq=False)
class Model:
    """Model of the origin of reports: ``operator`` from secrets to outputs, and the names of both."""

    name: str
    operator: Operator
    secrets: Sequence[Hashable]
    outputs: Outputs
    promise: str | None = None
    """The guarantee of a report, in words."""


def model_of(thing: Any, within: Any = None) -> Model:
    """Return the model of a mechanism, a channel or a certificate; ``within`` is the range of the secrets where it does
    not state them.
    """
    if isinstance(thing, Model):
        return _no_range(thing, within)
    if isinstance(thing, Certificate):
        return _certified(thing, within)
    if isinstance(thing, GeometricMechanism):
        return _geometric(1 / thing.scale, thing.within, within, str(thing.guarantee))
    if isinstance(thing, ResponseMechanism):
        return _no_range(_response(thing), within)
    if isinstance(thing, PlanarGeometric):
        return _no_range(_planar(thing), within)
    if isinstance(thing, HadamardMechanism):
        return _no_range(_hadamard(thing), within)
    if isinstance(thing, Channel):
        return _no_range(_channel(thing, "channel", None), within)
    if isinstance(thing, type) or not callable(getattr(thing, "channel", None)):
        raise ParameterError(
            "estimation needs the mechanism that made the reports, its channel or its certificate, not a thing of type "
            f"{type(thing).__name__}."
        )
    promise = getattr(thing, "guarantee", None)
    name = str(getattr(thing, "name", type(thing).__name__.lower()))
    return _no_range(_channel(thing.channel(), name, None if promise is None else str(promise)), within)


def models_of(things: Sequence[Any], within: Any = None) -> list[Model]:
    """Return models of mechanisms in one data set; ``within`` is for mechanisms among them that do not state their
    secrets.
    """
    if within is None or len(things) == 1:
        found = [model_of(thing, within) for thing in things]
    else:
        known = [_known(thing) for thing in things]
        if all(known):
            model_of(known[0], within)  # says that this range is for noise without bounds
        found = [model or model_of(thing, within) for model, thing in zip(known, things, strict=True)]
    same_secrets([model.secrets for model in found])
    return found


def same_secrets(secrets: Sequence[Sequence[Hashable]]) -> None:
    """Refuse mechanisms for one data set that are about different secrets."""
    first = secrets[0]
    for other in secrets[1:]:
        if len(other) != len(first) or (other != first and list(other) != list(first)):
            raise ParameterError("mechanisms in one data set must be about the same secrets, in the same order.")


def planar_grid(grid: Grid, *, epsilon: Exact) -> Model:
    """The model of the planar geometric on a whole grid, without listing its places: a million of them take a second.

    >>> planar_grid(Grid(1000, 800, step=10), epsilon="1/50").operator.shape
    (800000, 800000)
    """
    if not isinstance(grid, Grid) or not isinstance(grid.step, float):
        raise ParameterError("planar_grid needs a grid with the same step along both axes.")
    budget = positive_fraction(epsilon, "epsilon")
    counts = (grid.columns, grid.rows)
    x, y = (grid.origin[a] + grid.step * np.arange(counts[a], dtype=np.float64) for a in (0, 1))
    promise = str(Guarantee.exactly(budget, Euclidean()))
    return _grid(*counts, budget * Fraction(grid.step), (_plain_numbers(x), _plain_numbers(y)), promise)


def independent(*mechanisms: Any) -> Model:
    """The model of reports with several parts, each from its own mechanism."""
    models = [model_of(mechanism) for mechanism in mechanisms]
    return Model(
        name=" and ".join(model.name for model in models),
        operator=ProductOperator([model.operator for model in models]),
        secrets=_Combined([model.secrets for model in models]),
        outputs=PartOutputs([model.outputs for model in models]),
        promise="; ".join(model.promise or "no promise known" for model in models),
    )


class _Combined(Sequence[Hashable]):
    """All combinations of labels, row by row, made on access."""

    def __init__(self, parts: Sequence[Sequence[Hashable]]) -> None:
        self.parts = [tuple(part) if not isinstance(part, range) else part for part in parts]

    def __len__(self) -> int:
        return math.prod(len(part) for part in self.parts)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError("there is no such secret")
        places = np.unravel_index(place % len(self), [len(part) for part in self.parts])
        return tuple(part[int(i)] for part, i in zip(self.parts, places, strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Combined) and self.parts == other.parts

    __hash__ = None  # type: ignore[assignment]


def _known(thing: Any) -> Model | None:
    """Return the model of a mechanism that states its secrets; None for one that needs their range."""
    try:
        return model_of(thing)
    except NoChannelError:
        return None


def _no_range(model: Model, within: Any) -> Model:
    if within is not None:
        raise ParameterError(f"the secrets of {model.name} are known; within is for noise without bounds.")
    return model


def _channel(channel: Channel, name: str, promise: str | None) -> Model:
    outputs: Outputs
    if all(isinstance(label, tuple) and label for label in channel.outputs):
        outputs = PartOutputs.of(channel.outputs)  # type: ignore[arg-type]
    else:
        outputs = LabelOutputs(channel.outputs)
    return Model(name, DenseOperator(channel.matrix), channel.inputs, outputs, promise)


def _geometric(rate: Fraction, own: tuple[int, int] | None, given: Any, promise: str) -> Model:
    if own is None and given is None:
        raise NoChannelError(
            "an unbounded geometric does not tell its secrets; say their range (within, from low to high)."
        )
    if own is not None and given is not None:
        raise ParameterError("the secrets of this geometric are known; within is for noise without bounds.")
    if isinstance(given, tuple) and any(isinstance(part, tuple) for part in given):
        raise ParameterError(
            "the secrets of a geometric have one range (within, from low to high); two are for places."
        )
    low, high = own if own is not None else check_range(given)
    if low == high:
        raise ParameterError("there is nothing to estimate with a single secret.")
    size, loss = high - low + 1, float(min(rate, Fraction(700)))
    operator: Operator = GeometricOperator(size, loss)
    if size <= SMALL:
        operator = DenseOperator(operator.rows(np.arange(size)))
    outputs = WholeNumbers(low, high, clamp=own is None)
    return Model("geometric", operator, range(low, high + 1), outputs, promise)


def _response(mechanism: ResponseMechanism) -> Model:
    scale = 1 << mechanism.width
    size = len(mechanism.categories)
    operator = ResponseOperator(size, mechanism.other / scale, (mechanism.keep - mechanism.other) / scale)
    outputs: Outputs
    names: Sequence[Hashable] = mechanism.categories
    if names == tuple(range(size)) and all(type(name) is int for name in names):  # True is 1 to Python
        names, outputs = range(size), WholeNumbers(0, size - 1)
    elif all(isinstance(label, tuple) and label for label in names):
        outputs = PartOutputs.of(names)  # type: ignore[arg-type]
    else:
        outputs = LabelOutputs(names)
    return Model(mechanism.name, operator, names, outputs, str(mechanism.guarantee))


def _hadamard(mechanism: HadamardMechanism) -> Model:
    outputs = WholeNumbers(0, mechanism.outputs - 1)
    return Model(mechanism.name, HadamardOperator(mechanism), mechanism.categories, outputs, str(mechanism.guarantee))


def _planar(mechanism: PlanarGeometric) -> Model:
    """A whole grid by transforms; other places, and few of them, as a matrix."""
    promise = str(mechanism.guarantee)
    spots = mechanism.offsets - mechanism.offsets.min(axis=0)
    columns, height = (int(n) + 1 for n in spots.max(axis=0))
    if len(spots) <= SMALL or columns * height != len(spots) or min(columns, height) < 2:
        return _channel(mechanism.channel(), mechanism.name, promise)
    xs, ys = (tuple(dict.fromkeys(sorted(axis))) for axis in zip(*mechanism.points, strict=True))
    return _grid(columns, height, mechanism.rate, (xs, ys), promise)


def _grid(
    columns: int, height: int, rate: Fraction, axes: tuple[Sequence[Hashable], Sequence[Hashable]], promise: str
) -> Model:
    return Model(
        name="planar-geometric",
        operator=PlanarOperator(columns, height, float(rate)),
        secrets=_Combined(axes),
        outputs=PartOutputs([LabelOutputs(axis) for axis in axes]),
        promise=promise,
    )


def _plain_numbers(places: NDArray[Any]) -> tuple[int | float, ...]:
    return tuple(int(x) if x.is_integer() else x for x in places.tolist())


def _certified(certificate: Certificate, within: Any) -> Model:
    """The model behind a certificate, which is proved first: a file that was tampered with estimates nothing."""
    promise = certificate.verify()  # the file's words: it may have a delta
    document = certificate.document
    if document["mechanism"] == "planar-geometric":
        return _certified_planar(document, within, promise)
    behind = mechanism_of(certificate)
    if isinstance(behind, (GeometricMechanism, ResponseMechanism, HadamardMechanism)):
        return replace(model_of(behind, within), promise=promise)
    if isinstance(behind, Oracle):
        raise ParameterError(
            f"reports of {behind.name} are not counted by outputs; give the certificate or the mechanism to estimate() alone."
        )
    try:
        channel = behind.channel()
    except NoChannelError:
        raise ParameterError(
            f"nothing is estimated from a certificate of {document['mechanism']}: it does not fix finitely many outputs; give "
            "the channel instead, in a .json, .csv or .npz file."
        ) from None
    return _no_range(_channel(channel, str(document["mechanism"]), promise), within)


def _certified_planar(document: Any, within: Any, promise: str) -> Model:
    if within is None:
        raise ParameterError(
            "a certificate of planar noise does not tell the places; say the grid (within, two ranges)."
        )
    try:
        (left, right), (bottom, top) = within
    except (TypeError, ValueError):
        raise ParameterError("the grid of planar noise needs two ranges of whole numbers (within).") from None
    step = Fraction(document["claim"]["distances"]["distance"])
    axes = []
    for low, high in (check_range((left, right)), check_range((bottom, top))):
        if (Fraction(high - low) / step).denominator != 1:
            raise ParameterError(f"the ranges of the grid must be whole multiples of its step, which is {step}.")
        count = int(Fraction(high - low) / step) + 1
        places = [low + step * i for i in range(count)]
        axes.append(tuple(int(x) if x.denominator == 1 else float(x) for x in places))
    columns, height = len(axes[0]), len(axes[1])
    return _grid(columns, height, Fraction(document["proof"]["rate"]), (axes[0], axes[1]), promise)
