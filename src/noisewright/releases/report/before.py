r"""The table before, as far as the released one shows: counts for each bar, with whiskers that hold it.

Only the released counts and the public law of the mechanism take part, so it costs nothing, and shows no more than anyone can
compute who has the released table. The estimate and its intervals are those of
:mod:`noisewright.estimation.population.sums`: unbiased except a rest that the whiskers count in, whatever the table
looked like. Where values have neighbours, bars blend into each other over about the size of the noise, since noise
leaves nothing to distinguish a value just below an edge from one just above it; and they are made wider until the
whiskers are informative. Where no honest interval is known, or none that is informative, there is no estimate, and a
sentence says why.

The probabilities are the released output's: from a value in the type of its column, through the mechanism
(:attr:`~noisewright.core.mechanism.Described.below`, or its channel), to the cells that its output is counted in once it is
written in that type again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.errors import NoisewrightError
from noisewright.core.mechanism import described
from noisewright.mechanisms.arrow import arrow_array
from noisewright.releases.report.bins import MOST_BARS, SECONDS_PER_DAY, Bins, Perturbed, channel_of, numbers_of, typed

if TYPE_CHECKING:
    from noisewright.estimation.population.sums import Sums

__all__ = ["Before", "mean_before", "shares_below", "table_before", "whole_range"]

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
    from noisewright.estimation.population.sums import soft_bars, sums_of

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
    from noisewright.estimation.population.sums import sums_of

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
    from noisewright.estimation.population.sums import Sums, sums_of

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
    from noisewright.estimation.population.sums import soft_bars, sums_of

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
