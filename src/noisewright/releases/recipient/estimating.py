r"""Estimates of the original distribution from the released rows and the public distribution of their noise.

*Categories* get the shares of a most likely population, with an interval for each. *Numbers, dates and times* get shares of
bars that blend into each other over about the size of the noise, a mean, and quartiles, by the linear estimates of
:mod:`noisewright.estimation.population.sums`: their intervals include the remaining bias, whatever the table was like.
A quartile is where the shares below cross it; its interval is where they may. Every interval holds at 95 %: those of shares of
numbers together, each other one alone.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from noisewright.claims import totals
from noisewright.core.arrays import Floats
from noisewright.core.errors import NoisewrightError
from noisewright.core.mechanism import described
from noisewright.core.verdict import card
from noisewright.estimation.population.sums import Sums
from noisewright.releases.columns.plan import ColumnPlan
from noisewright.releases.report.before import NO_LAW, PLACES, mean_before, shares_below, whole_range
from noisewright.releases.report.bins import Bins, numbers_of
from noisewright.releases.report.marginals import Marginal, counted, marginal_of

__all__ = ["ColumnEstimate", "Interval", "Share", "estimate_column"]

CONFIDENCE = 0.95
QUARTILES = (0.25, 0.5, 0.75)
_TEXTS = {"value": "label", "from": "start", "to": "end"}
Batches = Callable[[], Iterator[pa.RecordBatch]]


@dataclass(frozen=True)
class Interval:
    """A value and both ends of its 95 % interval; an end is None where nothing bounds it."""

    value: Any
    low: Any
    high: Any


@dataclass(frozen=True)
class Share:
    """Share of the table of a category (``label``), or with ``start`` <= value < ``end``, and its 95 % interval.

    The first and the last bar hold everything beyond; where a range is declared they end with it, and hold its ends.
    """

    share: float
    low: float
    high: float
    label: Hashable = None
    start: Any = None
    end: Any = None


@dataclass(frozen=True)
class ColumnEstimate:
    """One column, or several that form one secret, as it was before; or the ``reason`` why there is no estimate."""

    names: tuple[str, ...]
    mechanism: str
    promise: str
    rows: int
    """Released rows with a value."""
    missing: int
    shares: tuple[Share, ...] = ()
    mean: Interval | None = None
    quartiles: tuple[Interval, ...] = ()
    blend: float = 0.0
    """Bars of numbers pass into each other over this width; of dates and times, in days."""
    reason: str = ""
    simulated: bool = False
    clamped: bool = False
    """True if values out of the declared range were moved to its ends, and are estimated as these."""

    @property
    def name(self) -> str:
        """The columns, in one word."""
        return ", ".join(self.names)

    def table(self) -> pa.Table:
        """The shares as a table; of categories the largest first."""
        texts = {name: [_cell(getattr(s, key)) for s in self.shares] for name, key in _TEXTS.items()}
        numbers = {key: [getattr(s, key) for s in self.shares] for key in ("share", "low", "high")}
        own = {"column": [self.name] * len(self.shares), **texts}
        return pa.table(
            {k: pa.array(v, pa.string()) for k, v in own.items()}
            | {k: pa.array(v, pa.float64()) for k, v in numbers.items()}
        )

    def to_json(self) -> dict[str, Any]:
        """The estimate as plain data."""

        def ends(found: Interval) -> dict[str, Any]:
            return {"value": _plain(found.value), "low": _plain(found.low), "high": _plain(found.high)}

        return {
            "columns": list(self.names),
            "mechanism": self.mechanism,
            "promise": self.promise,
            "rows": self.rows,
            "missing": self.missing,
            "confidence": CONFIDENCE,
            "mean": None if self.mean is None else ends(self.mean),
            "quartiles": [ends(one) for one in self.quartiles],
            "shares": [
                {
                    k: _plain(getattr(s, k))
                    for k in ("label", "start", "end", "share", "low", "high")
                    if getattr(s, k) is not None
                }
                for s in self.shares
            ],
            "blend": self.blend,
            "reason": self.reason or None,
            "simulated": self.simulated,
            "clamped": self.clamped,
        }

    def __str__(self) -> str:
        from noisewright.releases.recipient.words import in_lines

        return "\n".join(in_lines(self))

    def __repr__(self) -> str:
        from noisewright.releases.recipient.words import in_brief

        return f"<Estimate of {self.name!r}: {in_brief(self)}>"

    def _repr_html_(self) -> str:
        from noisewright.releases.recipient.words import facts_of, share_rows

        head = ("", "share", "95 % interval") if self.shares else ()
        return card(f"Estimate of {self.name}", facts_of(self), head, share_rows(self, len(self.shares)))


def estimate_column(
    column: ColumnPlan, batches: Batches, simulated: bool = False, clamped: bool = False
) -> ColumnEstimate:
    """The estimate of a planned column from its released rows, which ``batches`` reads from their beginning."""
    assert column.mechanism is not None
    promise = totals.promise(column.price, column.delta, column.protects)
    rows = sum(batch.num_rows for batch in batches())
    empty = ColumnEstimate(
        column.outputs, column.mechanism.name, promise, rows, 0, simulated=simulated, clamped=clamped
    )
    if not rows:
        return replace(empty, reason="there are no rows")
    if not column.charted:
        return replace(empty, reason="nothing is estimated from columns of this kind")
    (found,) = counted([column], batches())
    if found is None or found[0].kind == "categories":
        return _categories(column, empty, batches)
    bins, counts = found
    missing = int(counts[-1])
    known = replace(empty, rows=rows - missing, missing=missing)
    if bins.kind == "places":
        return replace(known, reason=f"{PLACES}; take the released places as they are, each with its noise")
    return _numbers(column, known, bins, counts, batches)


# Categories -----------------------------------------------------------------------------------------------------------------


def _categories(column: ColumnPlan, empty: ColumnEstimate, batches: Batches) -> ColumnEstimate:
    """A most likely population, from how often each value was released."""
    from noisewright.estimation.population.estimate import estimate

    seen: dict[Hashable, int] = {}
    for batch in batches():
        table = pa.table(list(batch.columns), names=list(map(str, range(batch.num_columns))))
        for row in table.group_by(table.column_names).aggregate([([], "count_all")]).to_pylist():
            times = row.pop("count_all")
            value = tuple(row.values())
            seen[value if len(value) > 1 else value[0]] = seen.get(value if len(value) > 1 else value[0], 0) + times
    missing = sum(
        times for value, times in seen.items() if value is None or (isinstance(value, tuple) and None in value)
    )
    seen = {v: times for v, times in seen.items() if v is not None and not (isinstance(v, tuple) and None in v)}
    known = replace(empty, rows=sum(seen.values()), missing=missing)
    if not seen:
        return replace(known, reason="there are no rows with a value")
    try:
        found = estimate(seen, column.mechanism, intervals="asymptotic", confidence=CONFIDENCE)
    except NoisewrightError:
        return replace(known, reason=NO_LAW)
    assert found.low is not None
    assert found.high is not None
    order = np.argsort(-found.probabilities, kind="stable").tolist()
    shares = [
        Share(float(found.probabilities[i]), float(found.low[i]), float(found.high[i]), label=found.secrets[i])
        for i in order
    ]
    return replace(known, shares=tuple(shares))


# Numbers, dates and times ---------------------------------------------------------------------------------------------------


def _numbers(column: ColumnPlan, known: ColumnEstimate, bins: Bins, counts: Any, batches: Batches) -> ColumnEstimate:
    marginal = marginal_of(column, bins, counts)
    if known.rows == 0:
        return replace(known, reason="there are no rows with a value")
    type_, wide = bins.types[0], whole_range(column, bins)
    ends = None if wide is None else (wide.edges[0], wide.edges[-1] - (1 if wide.whole else 0))
    below = None if marginal.reason else shares_below(column, bins, counts[:-1])
    quartiles = () if below is None else tuple(_quartile(q, bins, *below, type_, ends) for q in QUARTILES)
    mean = _mean(column, bins, wide, batches)
    return replace(
        known,
        shares=_shares(marginal, type_, ends),
        mean=mean,
        quartiles=quartiles,
        blend=marginal.blend,
        reason=marginal.reason,
    )


def _shares(marginal: Marginal, type_: pa.DataType, ends: tuple[float, float] | None) -> tuple[Share, ...]:
    """The shares of bars; the first and the last hold everything beyond, and end with the declared range, if there is one."""
    if marginal.estimated is None or marginal.low is None or marginal.high is None:
        return ()
    edges = list(marginal.edges) if ends is None else [ends[0], *marginal.edges[1:-1], ends[1]]
    total, places = sum(marginal.counts), [_at(float(edge), type_, True) for edge in edges]
    parts = zip(marginal.estimated, marginal.low, marginal.high, places[:-1], places[1:], strict=True)
    return tuple(Share(e / total, lo / total, hi / total, start=a, end=b) for e, lo, hi, a, b in parts)


def _quartile(
    q: float,
    bins: Bins,
    places: Floats,
    shares: Sums,
    blend: float,
    type_: pa.DataType,
    ends: tuple[float, float] | None,
) -> Interval:
    """Where the share below crosses ``q``, and the places between which it surely does: within the range, if there is one."""
    half = blend / 2
    rising = np.concatenate([[0.0], np.maximum.accumulate(np.clip(shares.estimate, 0, 1)), [1.0]])
    value = float(np.interp(q, rising, [bins.edges[0], *places, bins.edges[-1]]))
    surely_below, surely_above = places[shares.high < q], places[shares.low > q]
    low = min(float(surely_below.max()) - half, value) if len(surely_below) else None
    high = max(float(surely_above.min()) + half, value) if len(surely_above) else None
    if ends is not None:
        value, low, high = (
            float(np.clip(at, *ends))
            for at in (value, ends[0] if low is None else low, ends[1] if high is None else high)
        )
    return Interval(*(None if at is None else _at(at, type_, False) for at in (value, low, high)))


def _mean(column: ColumnPlan, bins: Bins, wide: Bins | None, batches: Batches) -> Interval | None:
    """The mean before: by the law of the noise where values have a range, as it is where noise leaves it alone, or None."""
    if wide is None:
        return _plain_mean(batches, bins.types[0]) if _is_centred(column, bins) else None
    counts = sum((wide.count(list(batch.columns)) for batch in batches()), np.zeros(wide.size + 1, dtype=np.int64))
    found = mean_before(column, wide, counts[:-1])
    if found is None:
        return None
    return Interval(*(_at(float(end[0]), bins.types[0], False) for end in (found.estimate, found.low, found.high)))


def _is_centred(column: ColumnPlan, bins: Bins) -> bool:
    """Return whether the noise is the same at every value and as likely upwards as downwards, so that it leaves the
    mean as it is.
    """
    below = described(column.mechanism).below if column.mechanism is not None else None
    if below is None:
        return False
    unit = 86_400.0 if pa.types.is_timestamp(bins.types[0]) else 1.0
    middle, width = np.round(np.mean(bins.edges)) * unit, (bins.edges[-1] - bins.edges[0]) * unit
    away = np.round(np.linspace(1, 50, 25) * max(width / 25, 1.0))
    try:
        laws = [
            below(np.array([at]), at + np.concatenate([-away, away + 1e-9]))
            for at in (middle, middle + np.round(width))
        ]
    except NoisewrightError:
        return False
    down, up = np.split(laws[0][0], 2)
    return bool(np.allclose(laws[0], laws[1], atol=1e-9) and np.allclose(down, 1 - up, atol=1e-3) and up[-1] > 0.99)


def _plain_mean(batches: Batches, type_: pa.DataType) -> Interval:
    """The mean of the released values, which noise that is centred leaves unbiased, with the interval of the normal law."""
    count, total, squares, shift = 0, 0.0, 0.0, None
    for batch in batches():
        values = numbers_of(batch.column(0))
        values = values[np.isfinite(values)]
        if len(values):
            shift = float(values[0]) if shift is None else shift
            count, total, squares = (
                count + len(values),
                total + (values - shift).sum(),
                squares + ((values - shift) ** 2).sum(),
            )
    mean = total / count
    wide = 1.959964 * np.sqrt(max(squares / count - mean**2, 0.0) / max(count - 1, 1))
    ends = (mean + (shift or 0.0), mean - wide + (shift or 0.0), mean + wide + (shift or 0.0))
    return Interval(*(_at(float(end), type_, False) for end in ends))


def _at(number: float, type_: pa.DataType, edge: bool) -> Any:
    """A number of a chart as a person says it: days since 1970 as a date or a time."""
    try:
        if pa.types.is_date(type_):
            return datetime.date(1970, 1, 1) + datetime.timedelta(days=round(number))
        if pa.types.is_timestamp(type_):
            return datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=round(number * 86_400))
    except OverflowError:
        return None
    return round(number) if edge and number == round(number) else number


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, (datetime.date, datetime.datetime)) else value


def _cell(value: Any) -> Any:
    """A label or an edge as text of a file."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(_plain(value))
