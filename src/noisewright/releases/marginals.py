"""Where the values of a released column are counted: bars for a chart, and finer cells from which the table before is
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
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright.base import described
from noisewright.channels.channel import Channel
from noisewright.columns.arrow import arrow_array, arrow_scalar, numpy_array
from noisewright.columns.registry import kind_of
from noisewright.exceptions import NoChannelError, NoisewrightError
from noisewright.guarantees import Guarantee
from noisewright.mechanisms.registry import registry
from noisewright.render.charts import Marginal, Shown, calendar_bars

if TYPE_CHECKING:
    from noisewright.estimation.frequencies import Sums

__all__ = [
    "SECONDS_PER_DAY",
    "Before",
    "Bins",
    "Perturbed",
    "bins_of",
    "channel_of",
    "counted",
    "marginal_of",
    "marginals_of",
    "mean_before",
    "numbers_of",
    "shares_below",
    "table_before",
    "typed",
    "whole_range",
]


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


# Before -------------------------------------------------------------------------------------------------------------------
#
# The table before, as far as the released one shows: counts for each bar, with whiskers that hold it.
#
# Only the released counts and the public law of the mechanism take part, so it costs nothing, and shows no more than anyone can
# compute who has the released table. The estimate and its intervals are those of
# :mod:`noisewright.estimation.frequencies`: unbiased except a rest that the whiskers count in, whatever the table
# looked like. Where values have neighbours, bars blend into each other over about the size of the noise, since noise
# leaves nothing to distinguish a value just below an edge from one just above it; and they are made wider until the
# whiskers are informative. Where no honest interval is known, or none that is informative, there is no estimate, and a
# sentence says why.
#
# The probabilities are the released output's: from a value in the type of its column, through the mechanism
# (:attr:`~noisewright.base.Described.below`, or its channel), to the cells that its output is counted in once it is
# written in that type again.


CONFIDENCE = 0.95
MOST_LABELS = 2000
MOST_VALUES = 1000
"""Maximum number of integers that are gone through one by one."""
BETWEEN = 16
"""Values that are tried in each bar, where there are too many."""
REACH = np.geomspace(0.02, 1e6, 40)
"""Distance beyond the outermost edges at which values are tried, in widths of a bar."""
MOST_BEYOND = 100
"""Maximum distance beyond its bars, in their width together, that the mechanism takes of a column with a range."""
STEPS = 4
"""Places in each bar below which shares are estimated."""
CELLS = 160
"""Cells of a whole range."""
FEWEST_BARS = 4
FEWEST_ROWS = 20
HALVINGS = 60

NO_LAW = "the chances of its outputs are not known exactly"
PLACES = "no honest bounds are known for the cells of a map"


@dataclass(frozen=True)
class Before:
    """Counts before for each bar of ``bins``, scaled to the released rows, and whiskers; or the ``reason`` why none exist.

    ``blend``: a value that is less than half of this from an edge counts partly for the bar next to it.
    """

    bins: Bins
    estimated: tuple[float, ...] | None = None
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    blend: float = 0.0
    reason: str = ""


def table_before(plan: Perturbed, bins: Bins, counts: NDArray[np.int64]) -> Before:
    """The estimate for counts of released values in the cells of ``bins``, perhaps for fewer bars."""
    rows = int(counts.sum())
    if not rows:
        return Before(bins)
    if rows < FEWEST_ROWS:
        return Before(bins, reason=_few(rows))
    if bins.kind == "places":
        return Before(bins, reason=PLACES)
    if bins.kind == "categories":
        return _categories(plan, bins, counts)
    law = _numbers(plan, bins)
    if law is None:
        return Before(bins, reason=NO_LAW)
    found, wide = _bars(plan, bins, counts, law), bins
    while not _telling(found, rows, len(wide.edges) - 1) and len(wide.edges) - 1 >= 2 * FEWEST_BARS:
        wide = wide.wider()
        found = _bars(plan, wide, counts, law)
    return _shown(found, counts)


def shares_below(plan: Perturbed, bins: Bins, counts: NDArray[np.int64]) -> tuple[Floats, Sums, float] | None:
    """Numbers or dates: some places, how much of the table before lay below each, and over which width around it values count
    partly. The intervals hold together."""
    from noisewright.estimation.frequencies import soft_bars, sums_of

    law = _numbers(plan, bins)
    if law is None:
        return None
    bars, blend = len(bins.edges) - 1, _blend(plan, bins)
    places = np.linspace(bins.edges[0], bins.edges[-1], STEPS * bars + 1)[1:-1]
    ends = np.concatenate([[bins.edges[0] - 1], places, [bins.edges[-1] + 1]]) - _half(bins)
    worth = np.cumsum(soft_bars(law.values, ends, blend), axis=1)[:, :-1]
    return places, sums_of(law.chances, worth, counts, confidence=CONFIDENCE, ordered=not law.all), blend


def whole_range(plan: Perturbed, bins: Bins) -> Bins | None:
    """Finer bins over all values that the mechanism takes; None where these have no two ends."""
    law = _numbers(plan, bins)
    if law is None or described(plan.mechanism).below is None:
        return None
    low, high, width = law.values.min(), law.values.max(), bins.edges[-1] - bins.edges[0]
    if low < bins.edges[0] - MOST_BEYOND * width or high > bins.edges[-1] + MOST_BEYOND * width:
        return None
    edges = np.linspace(low, high + (1 if bins.whole else 0), MOST_BARS + 1)
    cuts = np.linspace(edges[0], edges[-1], CELLS + 1)
    if bins.whole:
        edges, cuts = np.unique(np.round(edges)), np.unique(np.round(cuts))
    return replace(bins, edges=tuple(edges.tolist()), cuts=tuple(cuts.tolist()))


def mean_before(plan: Perturbed, bins: Bins, counts: NDArray[np.int64]) -> Sums | None:
    """The mean of numbers or dates before, for counts in bins over the whole range."""
    from noisewright.estimation.frequencies import sums_of

    law = _numbers(plan, bins)
    if law is None:
        return None
    return sums_of(law.chances, law.values[:, None], counts, confidence=CONFIDENCE, ordered=not law.all)


def _telling(found: Before, rows: int, bars: int) -> bool:
    """Return whether whiskers are no longer than a bar is high, on average."""
    assert found.low is not None
    assert found.high is not None
    return bool(np.subtract(found.high, found.low).mean() <= rows / bars)


def _shown(found: Before, counts: NDArray[np.int64]) -> Before:
    """The same, unless the whiskers are longer than the highest bar, on average."""
    assert found.low is not None
    assert found.high is not None
    if np.subtract(found.high, found.low).mean() <= found.bins.bars(counts).max():
        return found
    return Before(found.bins, reason=_few(int(counts.sum())))


def _few(rows: int) -> str:
    return f"for {rows:,} rows and this much noise, its bounds would be wider than the bars are high"


def _before(bins: Bins, found: Sums, counts: NDArray[np.int64], blend: float = 0.0) -> Before:
    estimated, low, high = ((counts.sum() * end).tolist() for end in (found.estimate, found.low, found.high))
    return Before(bins, tuple(estimated), tuple(low), tuple(high), blend)


# Categories ---------------------------------------------------------------------------------------------------------------


def _categories(plan: Perturbed, bins: Bins, counts: NDArray[np.int64]) -> Before:
    from noisewright.estimation.frequencies import Sums, sums_of

    law = _finite(plan, bins)
    if (
        law is None or not (law.chances.sum(axis=0)[counts > 0] > 0).all()
    ):  # or something no value explains was released
        return Before(bins, reason=NO_LAW)
    own = np.eye(bins.size)[law.cells]
    alike = np.unique(np.hstack([own, law.chances.round(15)]), axis=0)  # of values with the same chances one is enough
    shown = len(bins.labels)
    among = law.outputs if bins.others else None
    found = sums_of(alike[:, bins.size :], alike[:, :shown], counts, confidence=CONFIDENCE, among=among)
    if bins.others:  # which these are was chosen by looking at the released values: the shown labels bound the rest
        rest = [np.maximum(1 - end.sum(), 0.0) for end in (found.estimate, found.high, found.low)]
        found = Sums(
            np.append(found.estimate, rest[0]),
            np.append(found.low, rest[1]),
            np.append(found.high, rest[2]),
            found.bias,
        )
    return _shown(_before(bins, found, counts), counts)


@dataclass(frozen=True)
class _Law:
    """Values, and for each the chances of the cells; ``all``: there are no others. ``outputs``: how many different ones are."""

    chances: Floats
    values: Floats
    all: bool
    cells: NDArray[np.int64]
    outputs: int | None = None


def _finite(plan: Perturbed, bins: Bins) -> _Law | None:
    """The law of a mechanism with a channel over values of the column."""
    channel = channel_of(plan)
    if channel is None or max(len(channel.inputs), len(channel.outputs)) > MOST_LABELS:
        return None
    try:
        inputs, outputs = (arrow_array(list(labels), bins.types[0]) for labels in (channel.inputs, channel.outputs))
    except (
        pa.ArrowException,
        TypeError,
        ValueError,
    ):  # labels that are not values of the column, such as an extra symbol
        return None
    cells, to = bins.cells([inputs]), bins.cells([outputs])
    if max(cells.max(), to.max()) >= bins.size:
        return None
    chances = np.asarray(channel.matrix) @ np.eye(bins.size)[to]
    values = np.arange(len(inputs)) if bins.kind == "categories" else numbers_of(inputs)
    return _Law(chances, np.asarray(values, dtype=np.float64), True, cells, len(channel.outputs))


# Numbers and dates --------------------------------------------------------------------------------------------------------


def _bars(plan: Perturbed, bins: Bins, counts: NDArray[np.int64], law: _Law) -> Before:
    from noisewright.estimation.frequencies import soft_bars, sums_of

    blend = _blend(plan, bins)
    worth = soft_bars(law.values, np.asarray(bins.edges) - _half(bins), blend)
    found = sums_of(law.chances, worth, counts, confidence=CONFIDENCE, ordered=not law.all)
    return _before(bins, found, counts, blend if blend > 2 * _half(bins) else 0.0)


def _blend(plan: Perturbed, bins: Bins) -> float:
    """Over which width one bar passes into the next: three times the noise, and at most a bar."""
    width = float(np.diff(bins.edges).min())
    return min(width, max(3 * (plan.error or 0.0) / _unit(bins.types[0]), 2 * _half(bins)))


def _half(bins: Bins) -> float:
    """Between integers an edge lies half-way; there no number is near enough to be blended if the noise is small."""
    return 0.5 if bins.whole else 0.0


def _numbers(plan: Perturbed, bins: Bins) -> _Law | None:
    """Return the law of a mechanism that has the probabilities of its outputs, for values that it takes."""
    below = described(plan.mechanism).below
    if below is None:
        return _finite(plan, bins)
    tried, every = _tried(bins)
    values = _taken(plan, bins, tried)
    if not len(values):
        return None
    arrays = [typed(values, bins.types[0])]
    chances = below(plan.secret.read(arrays), _thresholds(plan, bins))
    law = np.diff(chances, axis=1, prepend=0.0, append=1.0)
    return _Law(np.maximum(law, 0.0), numbers_of(arrays[0]), every, bins.cells(arrays))


def _tried(bins: Bins) -> tuple[Floats, bool]:
    """Values in every bar and beyond the outermost ones, in order, and whether they are all that make a difference."""
    low, high, width = bins.edges[0], bins.edges[-1], bins.edges[1] - bins.edges[0]
    every = bins.whole and high - low <= MOST_VALUES
    inside = np.arange(low, high + 1) if every else np.linspace(low, high, BETWEEN * (len(bins.edges) - 1) + 1)
    values = np.concatenate([low - REACH[::-1] * width, inside, high + REACH * width])
    return np.unique(np.round(values) if bins.whole else values), every


def _taken(plan: Perturbed, bins: Bins, tried: Floats) -> Floats:
    """Those values that the mechanism takes, and the last ones next to those that it does not."""
    takes = np.zeros(len(tried), dtype=bool)
    stack = [(0, len(tried))]
    while stack:
        start, end = stack.pop()
        if _takes(plan, bins, tried[start:end]):
            takes[start:end] = True
        elif end - start > 1:
            stack += [(start, (start + end) // 2), ((start + end) // 2, end)]
    ends = []
    for k in np.flatnonzero(takes[1:] != takes[:-1]):
        good, bad = (tried[k], tried[k + 1]) if takes[k] else (tried[k + 1], tried[k])
        for _ in range(HALVINGS):
            middle = np.round((good + bad) / 2) if bins.whole else (good + bad) / 2
            if middle in (good, bad):
                break
            good, bad = (middle, bad) if _takes(plan, bins, np.array([middle])) else (good, middle)
        ends.append(good)
    return np.unique(np.concatenate([tried[takes], ends]))


def _takes(plan: Perturbed, bins: Bins, values: Floats) -> bool:
    try:
        plan.check([typed(values, bins.types[0])])
    except (NoisewrightError, pa.ArrowException):
        return False
    return True


def _thresholds(plan: Perturbed, bins: Bins) -> Floats:
    """The least drawn number that is counted above each inner cut once it is written in the type of the column.

    Writing rounds to values of the type and moves into its range, and never turns back; so halving finds it.
    """
    cuts, type_ = np.asarray(bins.cuts[1:-1]), bins.types[0]
    unit = _unit(type_)
    reach = 2.0 + np.abs(cuts * unit) * 2.0**-9  # more than numbers of half precision are rounded by
    low, high = cuts * unit - reach, cuts * unit + reach

    def above(drawn: Floats) -> NDArray[np.bool_]:
        return np.asarray(numbers_of(plan.secret.write(drawn, len(drawn))[0]) >= cuts)

    always, never = above(low), ~above(high)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        up = above(middle)
        low, high = np.where(up, low, middle), np.where(up, middle, high)
    return np.where(always, -np.inf, np.where(never, np.inf, high))


def _unit(type_: pa.DataType) -> float:
    """Return the unit of the mechanism in a chart: times are drawn in seconds, and shown in days."""
    return float(SECONDS_PER_DAY) if pa.types.is_timestamp(type_) else 1.0


# Marginals ----------------------------------------------------------------------------------------------------------------
#
# Marginals for the report: how often each released value occurs, and how often it probably occurred before.
#
# Both come from the released table alone: :mod:`~noisewright.releases.marginals` counts it after it was written, and
# :mod:`~noisewright.releases.marginals` estimates the table before. The true counts are never looked at.


OTHERS = "all others"


def marginal_of(plan: Perturbed, bins: Bins, counts: NDArray[np.int64]) -> Marginal:
    """The marginal of counted released values, with an estimate of the table before where there is an honest one."""
    before = table_before(plan, bins, counts[:-1])
    return Marginal(
        bins.name,
        bins.kind,
        tuple(before.bins.bars(counts[:-1]).astype(np.float64).tolist()),
        tuple(_name(label) for label in bins.labels) + _others(bins),
        before.bins.edges,
        bins.across,
        before.estimated,
        before.low,
        before.high,
        int(counts[-1]),
        before.blend,
        before.reason,
        bins.plane,
    )


def marginals_of(columns: Sequence[Any], batches: Iterator[pa.RecordBatch]) -> list[Marginal]:
    """Charts of released rows alone, for the plans of the columns that can be charted."""
    charted = [column for column in columns if column.charted]
    return [
        marginal_of(column, *found) for column, found in zip(charted, counted(charted, batches), strict=True) if found
    ]


def counted(
    columns: Sequence[Perturbed], batches: Iterator[pa.RecordBatch]
) -> list[tuple[Bins, NDArray[np.int64]] | None]:
    """Return the bins of every column, chosen by the first rows, with the count of released values in each; None
    without a chart.
    """
    bins: dict[int, Bins | None] = {}
    counts: dict[int, NDArray[np.int64]] = {}
    for batch in batches:
        for place, column in enumerate(columns):
            arrays = [batch.column(batch.schema.get_field_index(name)) for name in column.outputs]
            if place not in bins:
                bins[place] = bins_of(column, arrays)
            if (cut := bins[place]) is not None:
                found = cut.count(arrays)
                counts[place] = found if place not in counts else counts[place] + found
    return [(cut, counts[place]) if (cut := bins.get(place)) is not None else None for place in range(len(columns))]


def _others(bins: Bins) -> tuple[str, ...]:
    if not bins.others:
        return ()
    return (OTHERS if bins.hidden is None else f"{bins.hidden:,} other{'' if bins.hidden == 1 else 's'}",)


def _name(label: Hashable) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)
