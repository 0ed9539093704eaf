r"""Marginals for the report: how often each released value occurs, and how often it probably occurred before.

Both come from the released table alone. The *released* counts are taken from the output after it was written. The *estimate* of
the table before is that of :mod:`noisewright.estimation`, given the channel of the mechanism: the most likely shares of
categories, and the iterative Bayesian update, stopped early, of what has neighbours. That is post-processing: it costs nothing,
and it shows no more than anybody can compute who has the released table. The true counts are never looked at.

>>> import numpy as np
>>> keep = np.array([[0.75, 0.25], [0.25, 0.75]])
>>> shares_before(keep, np.array([[0.6, 0.4]]), "categories").round(6).tolist()
[[0.7, 0.3]]

:func:`bins_of` decides where values are counted, ``Bins.count`` counts one batch (counts of batches and of workers simply add
up), and :func:`marginal_of` makes the :class:`Marginal` that a report shows.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import NoChannelError, NoisewrightError
from noisewright.mechanisms.arrow import arrow_array, arrow_scalar, numpy_array
from noisewright.mechanisms.registry import registry
from noisewright.releases.kinds.kind import Chart
from noisewright.releases.kinds.registry import kind_of

__all__ = ["Bins", "Marginal", "Perturbed", "bins_of", "marginal_of", "shares_before"]

Shown = Chart | Literal["places"]
"""How a column is shown: as its kind is, or two coordinates together as places."""

MOST_BARS = 30
MOST_CELLS = 20
MOST_OUTPUTS = 2000
DRAWS = 600_000
REDRAWN = 40
UPDATES = {"numbers": 20, "dates": 20, "places": 10}
"""Where values have neighbours few updates are made: more of them follow the noise."""
PIECES = 64
METRES_PER_DEGREE = 111_320
OTHER = "all others"
SECONDS_PER_DAY = 86_400
NICE = (1.0, 2.0, 5.0, 10.0)
DAYS = (1.0, 2.0, 7.0, 14.0, 28.0, 91.0, 182.0, 365.0)
YEAR = 365.0
MONDAY = 4
"""The first Monday after 1970-01-01, in days: weeks begin on Mondays."""


class Perturbed(Protocol):
    """What is needed of a column's plan: its names, its mechanism, and how it perturbs arrays."""

    @property
    def outputs(self) -> Sequence[str]: ...
    @property
    def mechanism(self) -> Any: ...
    @property
    def error(self) -> float | None: ...
    def perturb(self, arrays: list[pa.Array], rng: np.random.Generator | None) -> list[pa.Array]: ...


@dataclass(frozen=True)
class Marginal:
    """One column as a report shows it. Counts are of released rows; ``estimated`` is scaled to the same number of rows.

    ``labels`` name categories; ``edges`` bound the bars of numbers and dates (in days since 1970), the outermost bars including
    everything beyond. For places ``edges`` run from south to north and ``across`` from west to east, and counts go row by row.
    ``low`` and ``high`` hold the estimates for nine of ten tables that could have been drawn instead.
    """

    name: str
    kind: Shown
    counts: tuple[float, ...]
    labels: tuple[str, ...] = ()
    edges: tuple[float, ...] = ()
    across: tuple[float, ...] = ()
    estimated: tuple[float, ...] | None = None
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    missing: int = 0


@dataclass(frozen=True)
class Bins:
    """Where the released values of a column are counted; chosen from public parameters and released values only."""

    name: str
    kind: Shown
    types: tuple[pa.DataType, ...]
    labels: tuple[Hashable, ...] = ()
    others: bool = False
    edges: tuple[float, ...] = ()
    across: tuple[float, ...] = ()

    @property
    def size(self) -> int:
        """The number of cells."""
        if self.kind == "categories":
            return len(self.labels) + self.others
        return (len(self.edges) - 1) * max(1, len(self.across) - 1)

    def cells(self, arrays: Sequence[pa.Array]) -> NDArray[np.int64]:
        """The cell of every value; missing values are in cell ``size``."""
        if self.kind == "categories":
            values = _plain(arrays[0])
            places = pc.index_in(values, value_set=arrow_array(self.labels, values.type))
            found = numpy_array(pc.fill_null(places, arrow_scalar(-1, places.type))).astype(np.int64)
            missing = numpy_array(values.is_null())
            rest = len(self.labels) if self.others else self.size
            return np.where(missing, self.size, np.where(found < 0, rest, found))
        numbers = [_numbers(array) for array in arrays]
        inside = ~np.isnan(numbers).any(axis=0)
        cell = np.zeros(len(numbers[0]), dtype=np.int64)
        for values, edges in zip(numbers, (self.edges, self.across), strict=False):
            steps = np.searchsorted(np.asarray(edges[1:-1]), values, side="right")
            cell = cell * (len(edges) - 1) + steps
        return np.where(inside, cell, self.size)

    def count(self, arrays: Sequence[pa.Array]) -> NDArray[np.int64]:
        """How many values of a batch are in each cell, and, last, how many are missing."""
        times = None
        if len(arrays) == 1 and not pa.types.is_floating(self.types[0]):  # few different values: each is placed once
            values, counts = pc.value_counts(_plain(arrays[0])).flatten()
            arrays, times = [values], numpy_array(counts)
        return np.bincount(self.cells(arrays), times, minlength=self.size + 1).astype(np.int64)


def bins_of(plan: Perturbed, released: Sequence[pa.Array]) -> Bins | None:
    """The bins of a column, given some of its released values; None for what no chart shows, such as vectors.

    Bars are no narrower than half the expected error: nothing finer can be seen through the noise.
    """
    name, types = ", ".join(plan.outputs), tuple(_plain(array).type for array in released)
    kinds = [kind_of(t) for t in types]
    if len(released) == 2 and all(kind is not None and kind.coordinate for kind in kinds):
        finest = (plan.error or 0.0) / 2 / (METRES_PER_DEGREE if _on_the_globe(plan) else 1)
        cuts = [_edges(_numbers(array), finest, MOST_CELLS, NICE, whole=False) for array in released]
        return Bins(name, "places", types, edges=cuts[0], across=cuts[1])
    if len(released) != 1:
        return None
    kind = kinds[0]
    if kind is None or kind.chart is None:
        return None
    dates = kind.calendar
    if dates or (kind.numeric and not _without_distances(plan)):
        whole = kind.nearest is not None
        finest = (plan.error or 0.0) / 2 / (SECONDS_PER_DAY if pa.types.is_timestamp(types[0]) else 1)
        edges = _edges(_numbers(released[0]), finest, MOST_BARS, DAYS if dates else NICE, whole)
        return Bins(name, "dates" if dates else "numbers", types, edges=edges)
    values = _plain(released[0]).drop_null()
    counted = sorted(pc.value_counts(values).to_pylist(), key=lambda pair: -pair["counts"])
    names = [pair["values"] for pair in counted]
    known = _known_labels(plan)
    if known is not None and len(known) <= MOST_BARS:
        return Bins(name, "categories", types, labels=tuple(known))
    return Bins(name, "categories", types, labels=tuple(names[: MOST_BARS - 1]), others=True)


def marginal_of(plan: Perturbed, bins: Bins, counts: NDArray[np.int64]) -> Marginal:
    """The marginal of counted released values, with the estimate of the table before where the channel is known."""
    released, missing = counts[:-1].astype(np.float64), int(counts[-1])
    labels = tuple(_name(label) for label in bins.labels) + ((OTHER,) if bins.others else ())
    estimated = low = high = None
    total = float(released.sum())
    channel = _channel(plan, bins) if total else None
    if channel is not None and bins.kind == "categories" and not (channel.sum(axis=0)[released > 0] > 0).all():
        channel = None  # something was released that no value explains
    if channel is not None:
        rows = np.flatnonzero(channel.sum(axis=1))
        rng = np.random.default_rng(0)  # of the picture's whiskers, not of the release
        times = 0 if bins.kind == "places" else REDRAWN
        again = rng.multinomial(int(total), released / total, size=times) / total
        found = shares_before(channel[rows], np.vstack([released / total, again]), bins.kind) * total
        estimated = _spread(rows, found[0], bins.size)
        if times:
            low, high = (_spread(rows, end, bins.size) for end in np.quantile(found[1:], [0.05, 0.95], axis=0))
    return Marginal(
        bins.name, bins.kind, tuple(released.tolist()), labels, bins.edges, bins.across, estimated, low, high, missing
    )


def shares_before(channel: Floats, released: Floats, kind: Shown) -> Floats:
    """The shares of true values behind each row of shares of released ones, by the estimator for this kind of column."""
    from noisewright.estimation.fitting.fit import Fitting, refitted
    from noisewright.estimation.operators.operator import DenseOperator, Operator, ResponseOperator

    method, updates = ("mle", 1) if kind == "categories" else ("ibu", UPDATES[kind])
    operator: Operator = DenseOperator(channel)
    size, other, lift = len(channel), float(channel[0, -1]), float(channel[0, 0] - channel[0, -1])
    if channel.shape == (size, size) and lift > 0 and np.allclose(channel, other + lift * np.eye(size), 0, 1e-12):
        operator = ResponseOperator(size, other, lift)  # which has a closed form
    return refitted(Fitting(method, operator, gap=0.0, steps=updates), updates)(released)


# The channel between bins -------------------------------------------------------------------------------------------------


def _channel(plan: Perturbed, bins: Bins) -> Floats | None:
    """Probabilities of the cells of outputs for a value of each cell; a row of zeros where no value may be."""
    exact = _finite_channel(plan, bins)
    if exact is not None or bins.kind == "categories":
        return exact
    points = _points(bins)
    if points is None:
        return None
    cells, arrays = points
    rng = np.random.default_rng(0)  # a simulation of the public channel; no data take part
    channel = np.zeros((bins.size, bins.size))
    for cell in np.unique(cells):
        chosen = np.flatnonzero(cells == cell)
        counted = _drawn(plan, bins, arrays, chosen, rng)
        if counted is None:  # some value there is outside the range that the policy declares: which?
            pieces = [_drawn(plan, bins, arrays, piece, rng) for piece in np.array_split(chosen, PIECES) if len(piece)]
            counted = sum((piece for piece in pieces if piece is not None), np.zeros(bins.size))
        channel[cell] = counted / max(1.0, counted.sum())
    return channel if channel.any() else None


def _drawn(
    plan: Perturbed, bins: Bins, arrays: list[pa.Array], chosen: NDArray[np.int64], rng: np.random.Generator
) -> Floats | None:
    """How many simulated outputs for the chosen values are in each cell; None if the mechanism refuses one of them."""
    try:
        drawn = plan.perturb([array.take(arrow_array(chosen)) for array in arrays], rng)
    except NoisewrightError:
        return None
    return bins.count(drawn)[: bins.size].astype(np.float64)


def _finite_channel(plan: Perturbed, bins: Bins) -> Floats | None:
    channel = _channel_of(plan)
    if channel is None or max(len(channel.inputs), len(channel.outputs)) > MOST_OUTPUTS:
        return None
    try:
        groups = [bins.cells(_as_arrays(labels, bins.types)) for labels in (channel.inputs, channel.outputs)]
    except (
        pa.ArrowException,
        TypeError,
        ValueError,
    ):  # labels that are no values of the column, such as an extra symbol
        return None
    if any((group >= bins.size).any() for group in groups):
        return None
    inputs, outputs = (np.eye(bins.size)[group] for group in groups)
    sums: Floats = inputs.T @ np.asarray(channel.matrix) @ outputs
    means: Floats = sums / np.maximum(inputs.sum(axis=0), 1)[:, None]
    return means


def _as_arrays(labels: Sequence[Any], types: tuple[pa.DataType, ...]) -> list[pa.Array]:
    columns = [labels] if len(types) == 1 else list(zip(*labels, strict=True))
    return [arrow_array(list(column), t) for column, t in zip(columns, types, strict=True)]


def _points(bins: Bins) -> tuple[NDArray[np.int64], list[pa.Array]] | None:
    """Values spread evenly over each cell, in the column's type, and the cell of each."""
    each = max(200, DRAWS // bins.size)
    if bins.kind == "places":
        side = math.isqrt(each)
        offsets = np.stack(np.meshgrid((np.arange(side) + 0.5) / side, (np.arange(side) + 0.5) / side)).reshape(2, -1)
    else:
        offsets = ((np.arange(each) + 0.5) / each)[None, :]
    axes = (bins.edges, bins.across)[: len(offsets)]
    starts = np.meshgrid(*(np.asarray(edges[:-1]) for edges in axes), indexing="ij")
    widths = np.meshgrid(*(np.diff(edges) for edges in axes), indexing="ij")
    values = [
        (start.reshape(-1, 1) + width.reshape(-1, 1) * offset).ravel()
        for start, width, offset in zip(starts, widths, offsets, strict=True)
    ]
    try:
        arrays = [_in_type(column, t) for column, t in zip(values, bins.types, strict=True)]
    except pa.ArrowException:
        return None
    cells = bins.cells(arrays)
    return (cells, arrays) if (cells < bins.size).all() else None


def _in_type(values: Floats, kind: pa.DataType) -> pa.Array:
    if pa.types.is_floating(kind):
        return arrow_array(values).cast(kind)
    if pa.types.is_timestamp(kind):
        seconds = arrow_array(np.floor(values * SECONDS_PER_DAY).astype(np.int64))
        return seconds.cast(pa.timestamp("s", tz=kind.tz)).cast(kind)
    whole = arrow_array(np.clip(np.floor(values), -(2.0**62), 2.0**62).astype(np.int64))
    return whole.cast(pa.int32()).cast(pa.date32()).cast(kind) if pa.types.is_date(kind) else whole.cast(kind)


def _spread(rows: NDArray[np.int64], values: Floats, size: int) -> tuple[float, ...]:
    whole = np.zeros(size)
    whole[rows] = values
    return tuple(whole.tolist())


# Values as numbers, and edges ---------------------------------------------------------------------------------------------


def _name(label: Hashable) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def _known_labels(plan: Perturbed) -> list[Hashable] | None:
    channel = _channel_of(plan)
    return None if channel is None else list(channel.outputs)


def _channel_of(plan: Perturbed) -> Channel | None:
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


def _numbers(array: pa.Array) -> Floats:
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
    """Whether the mechanism takes values for categories, none of them nearer to another."""
    entry = registry.get(getattr(plan.mechanism, "name", ""))
    return entry is not None and entry.takes.kind == "category" and not entry.takes.metric


def _on_the_globe(plan: Perturbed) -> bool:
    guarantee = getattr(plan.mechanism, "guarantee", None)
    return guarantee is not None and guarantee.metric.unit == "metre"


def _edges(values: Floats, finest: float, most: int, widths: tuple[float, ...], whole: bool) -> tuple[float, ...]:
    """Round edges over the middle 99 % of the released values, at most ``most`` bars, each at least ``finest`` wide."""
    seen = values[np.isfinite(values)]
    low, high = np.quantile(seen, [0.005, 0.995]) if seen.size else (0.0, 1.0)
    if not high > low:
        low, high = low - 0.5, low + 0.5
    width = max(finest, (high - low) / most, 1.0 if whole else 0.0)
    unit = 1.0 if widths is DAYS and width >= 1 else 10.0 ** math.floor(math.log10(width))
    width = next((k * unit for k in widths if k * unit >= width * (1 - 1e-12)), math.ceil(width / YEAR) * YEAR)
    start = MONDAY if widths is DAYS and width % 7 == 0 else 0
    first, last = math.floor((low - start) / width), math.ceil((high - start + (1 if whole else 0)) / width)
    return tuple(float(start + k * width) for k in range(first, max(last, first + 1) + 1))
