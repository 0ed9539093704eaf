r"""Where the values of a released column are counted: bars for a chart, and finer cells from which the table before is
estimated.

Everything is chosen from public parameters and released values. :func:`bins_of` decides, and ``Bins.count`` counts one batch;
counts of batches and of workers simply add up.

>>> few = Bins("age", "numbers", (pa.int64(),), edges=(0.0, 10.0, 20.0), cuts=(0.0, 5.0, 10.0, 15.0, 20.0), whole=True)
>>> counts = few.count([pa.array([1, 6, 7, None, 99])])
>>> counts.tolist(), few.bars(counts[:-1]).tolist()
([1, 2, 0, 1, 1], [3, 1])
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import NoChannelError
from noisewright.core.guarantee import Guarantee
from noisewright.mechanisms.arrow import arrow_array, arrow_scalar, numpy_array
from noisewright.mechanisms.registry import registry
from noisewright.releases.kinds.kind import Chart
from noisewright.releases.kinds.registry import kind_of
from noisewright.releases.report._calendar import calendar_bars

__all__ = ["SECONDS_PER_DAY", "Bins", "Perturbed", "Shown", "bins_of", "channel_of", "numbers_of", "typed"]

Shown = Chart | Literal["places"]
"""Form in which a column is shown: as its kind is, or two coordinates together as places."""

MOST_BARS = 30
MOST_CELLS = 20
PARTS = 8
"""Cells of a bar."""
METRES_PER_DEGREE = 111_320
SECONDS_PER_DAY = 86_400
NICE = (1.0, 2.0, 5.0, 10.0)


class Perturbed(Protocol):
    """Parts of a column's plan that are needed: its names, its mechanism, and the way of values to it and back."""

    @property
    def outputs(self) -> Sequence[str]: ...
    @property
    def mechanism(self) -> Any: ...
    @property
    def error(self) -> float | None: ...
    @property
    def secret(self) -> Any: ...
    def check(self, arrays: list[pa.Array]) -> None: ...


@dataclass(frozen=True)
class Bins:
    """Where the released values of a column are counted.

    ``labels`` name categories, and ``others`` adds one for all others. Numbers and dates are counted between neighbouring
    ``cuts``, several for each bar between ``edges``, the outermost including everything beyond; ``whole``: nothing lies between
    two whole ones. Places are counted in cells between ``edges`` from south to north and ``across`` from west to east.
    """

    name: str
    kind: Shown
    types: tuple[pa.DataType, ...]
    labels: tuple[Hashable, ...] = ()
    others: bool = False
    hidden: int | None = None
    """Number of these other categories, where that is known."""
    edges: tuple[float, ...] = ()
    across: tuple[float, ...] = ()
    cuts: tuple[float, ...] = ()
    whole: bool = False
    plane: bool = False
    """Places of a plane, whose first coordinate goes across; on the globe it is the latitude, which goes up."""

    @property
    def size(self) -> int:
        """The number of cells."""
        if self.kind == "categories":
            return len(self.labels) + self.others
        if self.kind == "places":
            return (len(self.edges) - 1) * (len(self.across) - 1)
        return len(self.cuts) - 1

    def bars(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The counts of bars for those of cells."""
        if self.kind in ("categories", "places"):
            return counts
        bar = np.searchsorted(np.asarray(self.edges[1:-1]), np.asarray(self.cuts[:-1]), side="right")
        return np.bincount(bar, counts, minlength=len(self.edges) - 1).astype(np.int64)

    def wider(self) -> Bins:
        """The same cells with half as many bars, each as wide as two."""
        beyond = () if len(self.edges) % 2 else (2 * self.edges[-1] - self.edges[-2],)
        return replace(self, edges=self.edges[::2] + beyond)

    def cells(self, arrays: Sequence[pa.Array]) -> NDArray[np.int64]:
        """The cell of every value; missing values are in cell ``size``."""
        if self.kind == "categories":
            values = _plain(arrays[0])
            places = pc.index_in(values, value_set=arrow_array(self.labels, values.type))
            found = numpy_array(pc.fill_null(places, arrow_scalar(-1, places.type))).astype(np.int64)
            missing = numpy_array(values.is_null())
            rest = len(self.labels) if self.others else self.size
            return np.where(missing, self.size, np.where(found < 0, rest, found))
        numbers = [numbers_of(array) for array in arrays]
        inside = ~np.isnan(numbers).any(axis=0)
        cell = np.zeros(len(numbers[0]), dtype=np.int64)
        for values, edges in zip(numbers, (self.cuts or self.edges, self.across), strict=False):
            steps = np.searchsorted(np.asarray(edges[1:-1]), values, side="right")
            cell = cell * (len(edges) - 1) + steps
        return np.where(inside, cell, self.size)

    def count(self, arrays: Sequence[pa.Array]) -> NDArray[np.int64]:
        """Count the values of a batch in each cell, and, last, the missing ones."""
        times = None
        if len(arrays) == 1 and not pa.types.is_floating(self.types[0]):  # few different values: each is placed once
            values, counts = pc.value_counts(_plain(arrays[0])).flatten()
            arrays, times = [values], numpy_array(counts)
        return np.bincount(self.cells(arrays), times, minlength=self.size + 1).astype(np.int64)


def bins_of(plan: Perturbed, released: Sequence[pa.Array]) -> Bins | None:
    """Return the bins of a column, given some of its released values; None for types that no chart shows, such as vectors.

    Bars are at least as wide as the expected error: nothing finer can be seen through the noise.
    """
    name, types = ", ".join(plan.outputs), tuple(_plain(array).type for array in released)
    kinds = [kind_of(t) for t in types]
    if len(released) == 2 and all(kind is not None and kind.coordinate for kind in kinds):
        globe = _on_the_globe(plan)
        finest = (plan.error or 0.0) / (METRES_PER_DEGREE if globe else 1)
        cuts = [_edges(numbers_of(array), finest, MOST_CELLS, whole=False) for array in released]
        return Bins(name, "places", types, edges=cuts[0], across=cuts[1], plane=not globe)
    if len(released) != 1:
        return None
    kind = kinds[0]
    if kind is None or kind.chart is None:
        return None
    dates = kind.calendar
    if dates or (kind.numeric and not _without_distances(plan)):
        whole = kind.nearest is not None
        finest = (plan.error or 0.0) / (SECONDS_PER_DAY if pa.types.is_timestamp(types[0]) else 1)
        edges = (_calendar_edges if dates else _edges)(numbers_of(released[0]), finest, MOST_BARS, whole)
        fine = np.concatenate([np.linspace(low, high, PARTS + 1) for low, high in pairwise(edges)])
        places = tuple(np.unique(np.round(fine) if whole else fine).tolist())
        return Bins(name, "dates" if dates else "numbers", types, edges=edges, cuts=places, whole=whole)
    values = _plain(released[0]).drop_null()
    counted = sorted(pc.value_counts(values).to_pylist(), key=lambda pair: -pair["counts"])
    names = [pair["values"] for pair in counted]
    known = _known_labels(plan)
    if known is not None and len(known) <= MOST_BARS:
        return Bins(name, "categories", types, labels=tuple(known))
    shown = tuple(names[: MOST_BARS - 1])
    return Bins(
        name, "categories", types, labels=shown, others=True, hidden=None if known is None else len(known) - len(shown)
    )


def typed(values: Floats, kind: pa.DataType) -> pa.Array:
    """Numbers of a chart as values of a column; an ArrowException where its type does not reach so far."""
    if pa.types.is_floating(kind):
        return arrow_array(values).cast(kind)
    if pa.types.is_timestamp(kind):
        seconds = arrow_array(np.floor(values * SECONDS_PER_DAY).astype(np.int64))
        return seconds.cast(pa.timestamp("s", tz=kind.tz)).cast(kind)
    whole = arrow_array(np.clip(np.floor(values), -(2.0**62), 2.0**62).astype(np.int64))
    if pa.types.is_date(kind):
        return whole.cast(pa.int32()).cast(pa.date32()).cast(kind)
    return whole.cast(pa.decimal128(19, 0)).cast(kind) if pa.types.is_decimal(kind) else whole.cast(kind)


def _known_labels(plan: Perturbed) -> list[Hashable] | None:
    channel = channel_of(plan)
    return None if channel is None else list(channel.outputs)


def channel_of(plan: Perturbed) -> Channel | None:
    """The channel of a mechanism; None for one that refuses to list it."""
    try:
        found: Channel = plan.mechanism.channel()
    except NoChannelError:
        return None
    return found


def _plain(array: pa.Array) -> pa.Array:
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def numbers_of(array: pa.Array) -> Floats:
    """Values as floats, missing ones as nan; dates and timestamps in days since 1970."""
    array = _plain(array)
    days = 1.0
    if pa.types.is_date(array.type):
        array = array.cast(pa.date32()).cast(pa.int32())
    elif pa.types.is_timestamp(array.type):
        seconds = array.cast(pa.timestamp("s", tz=array.type.tz), safe=False)
        array, days = seconds.cast(pa.int64()), SECONDS_PER_DAY
    # Beyond 2^53 floats are not exact; a picture does not show that.
    values = numpy_array(array.cast(pa.float64(), safe=False))
    return np.asarray(values, dtype=np.float64) / days


def _without_distances(plan: Perturbed) -> bool:
    """Return whether the mechanism takes values for categories, none of them nearer to another."""
    entry = registry.get(getattr(plan.mechanism, "name", ""))
    return entry is not None and entry.takes.kind == "category" and not entry.takes.metric


def _on_the_globe(plan: Perturbed) -> bool:
    guarantee = getattr(plan.mechanism, "guarantee", None)
    return isinstance(guarantee, Guarantee) and guarantee.metric.unit == "metre"


def _edges(values: Floats, finest: float, most: int, whole: bool) -> tuple[float, ...]:
    """Round edges over the middle 99 % of the released values, at most ``most`` bars, each at least ``finest`` wide."""
    low, high = _middle(values)
    width = max(finest, (high - low) / most, 1.0 if whole else 0.0)
    unit = 10.0 ** math.floor(math.log10(width))
    width = next(k * unit for k in (*NICE, 20.0) if k * unit >= width * (1 - 1e-12))
    first, last = math.floor(low / width), math.ceil((high + (1 if whole else 0)) / width)
    return tuple(float(k * width) for k in range(first, max(last, first + 1) + 1))


def _calendar_edges(values: Floats, finest: float, most: int, whole: bool) -> tuple[float, ...]:
    """The same for dates and times: bars of minutes, hours, days, weeks, months or years that begin where calendars do."""
    low, high = _middle(values)
    return calendar_bars(low, high + (1 if whole else 0), max(finest, (high - low) / most, 1.0 if whole else 0.0))


def _middle(values: Floats) -> tuple[float, float]:
    """Return the range of the middle 99 % of the values."""
    seen = values[np.isfinite(values)]
    low, high = np.quantile(seen, [0.005, 0.995]) if seen.size else (0.0, 1.0)
    return (float(low), float(high)) if high > low else (float(low) - 0.5, float(low) + 0.5)
