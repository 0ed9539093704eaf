"""Estimates of the original distribution from the released rows and the public distribution of their noise.

*Categories* get the shares of a most likely population, with an interval for each. *Numbers, dates and times* get shares of
bars that blend into each other over about the size of the noise, a mean, and quartiles, by the linear estimates of
:mod:`noisewright.estimation.frequencies`: their intervals include the remaining bias, whatever the table was like.
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

from noisewright._typing import Floats
from noisewright.base import described
from noisewright.claims import totals
from noisewright.claims.figures import figure
from noisewright.columns.column_type import UNITS
from noisewright.estimation.frequencies import Sums
from noisewright.exceptions import NoisewrightError
from noisewright.guarantees import card
from noisewright.planning.column_plan import ColumnPlan
from noisewright.releases.marginals import (
    NO_LAW,
    PLACES,
    Bins,
    counted,
    marginal_of,
    mean_before,
    numbers_of,
    shares_below,
    whole_range,
)
from noisewright.render.charts import Marginal

__all__ = [
    "ColumnEstimate",
    "Interval",
    "Share",
    "estimate_column",
    "facts_of",
    "in_brief",
    "in_lines",
    "said",
    "share_rows",
]


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
        return "\n".join(in_lines(self))

    def __repr__(self) -> str:
        return f"<Estimate of {self.name!r}: {in_brief(self)}>"

    def _repr_html_(self) -> str:
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
    from noisewright.estimation.estimate import estimate

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


# Words --------------------------------------------------------------------------------------------------------------------
#
# An estimated column in lines for a person.


MOST_SHOWN = 12
NOTICED = 2
"""Per cent by which all shares together may be off without a word."""
GROUPED_FROM = 10_000
"""Smaller numbers are written without a comma: they may be years."""


def in_lines(found: ColumnEstimate, most: int = MOST_SHOWN) -> Iterator[str]:
    """The mean, the quartiles, and the largest shares or all bars."""
    yield f"{found.name}: {found.rows:,} rows of {found.mechanism}, {found.promise}"
    for name, words in _beside(found):
        yield f"  {name}{words}" if name.endswith(" ") else f"  {name:<14}{words}"
    if found.reason:
        yield f"  no shares: {found.reason}"
        return
    rows = share_rows(found, most)
    wide = max([len(name) for name, _, _ in rows], default=0)
    for name, share, ends in rows:
        yield f"  {name:<{wide}}  {share:>7}  ({ends})"
    if len(found.shares) > len(rows):
        yield f"  and {len(found.shares) - len(rows):,} more"
    if found.blend:
        yield f"  (bars pass into each other over {_blended(found)}, about the size of the noise)"
    if off := _sum_off(found):
        yield f"  (each share is estimated on its own; all of them add up to {off})"


def in_brief(found: ColumnEstimate) -> str:
    """All of it in half a line."""
    parts = [f"{found.rows:,} rows"]
    parts += [] if found.mean is None else [f"mean {said(found.mean)}"]
    if found.shares:
        bars = found.shares[0].start is not None
        parts.append(f"{len(found.shares):,} {'bars' if bars else 'shares'}")
        name, share, ends = share_rows(found, 1)[0]
        parts += [] if bars else [f"the largest {name}, {share} ({ends})"]
    parts += [f"no shares: {found.reason}"] if found.reason else []
    return ", ".join(parts)


def facts_of(found: ColumnEstimate) -> list[tuple[str, str]]:
    """Return the known facts next to the shares, by name."""
    facts = [("rows", f"{found.rows:,}"), ("mechanism", found.mechanism), ("promise", found.promise)]
    facts += [(name.strip(), words) for name, words in _beside(found)]
    facts += [("no shares", found.reason)] if found.reason else []
    facts += [("bars pass into each other over", _blended(found))] if found.blend else []
    return facts + ([("all shares add up to", off)] if (off := _sum_off(found)) else [])


def share_rows(found: ColumnEstimate, most: int) -> list[tuple[str, str, str]]:
    """The name of each share, the share, and its interval: the largest ones of categories, and all bars."""
    shown = found.shares if found.shares and found.shares[0].start is not None else found.shares[:most]
    names = [_name(s.label) if s.start is None else _span(_short(s.start), _short(s.end)) for s in shown]
    return [
        (name, f"{100 * s.share:.1f} %", f"{100 * s.low:.1f} to {100 * s.high:.1f}")
        for name, s in zip(names, shown, strict=True)
    ]


def said(found: Interval) -> str:
    """A value with both ends of its interval, in as many digits as that leaves."""
    low, high = (("open" if end is None else _short(end, found)) for end in (found.low, found.high))
    return f"{_short(found.value, found)}  ({low} to {high})"


def _beside(found: ColumnEstimate) -> Iterator[tuple[str, str]]:
    """Everything but the shares: a name, which ends with a blank where it is the beginning of a sentence, and the words."""
    if found.simulated:
        yield "a SIMULATION, ", "not a release"
    if found.missing:
        yield f"{found.missing:,} missing, ", "shown as they are"
    if found.clamped:
        yield "values out of range, ", "if there were any, count as its ends"
    if found.mean is not None:
        yield "mean", said(found.mean)
    yield from zip(("1 in 4 below", "median", "3 in 4 below"), map(said, found.quartiles), strict=False)


def _span(start: str, end: str) -> str:
    return start if start == end else f"{start} to {end}"


def _blended(found: ColumnEstimate) -> str:
    """The width in the unit of the column: of times in the largest of which it is one at least."""
    if not isinstance(found.shares[0].start, datetime.date):
        return figure(found.blend, 3, "nearest")
    unit = next((unit for unit, size in UNITS.items() if found.blend * UNITS["day"] >= size), "second")
    many = figure(found.blend * UNITS["day"] / UNITS[unit], 3, "nearest")
    return f"{many} {unit}{'' if many == '1' else 's'}"


def _sum_off(found: ColumnEstimate) -> str:
    """Return the sum of all shares, where a reader would wonder that it is not 100 %."""
    whole = 100 * sum(one.share for one in found.shares)
    return f"{whole:.0f} %" if found.shares and abs(whole - 100) >= NOTICED else ""


def _short(value: Any, about: Interval | None = None) -> str:
    if isinstance(value, datetime.datetime):
        return (
            f"{value:%Y-%m-%d %H:%M}" if about is not None or value.time() != datetime.time() else f"{value:%Y-%m-%d}"
        )
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= GROUPED_FROM else str(value)
    if isinstance(value, float):
        ends = [end for end in (about.low, about.high) if end is not None] if about is not None else []
        width = abs(ends[-1] - ends[0]) if len(ends) == 2 else abs(value)
        digits = 0 if width >= 10 else 1 if width >= 1 else 2 if width >= 0.1 else 4
        return f"{value:,.{digits}f}" if abs(value) >= GROUPED_FROM else f"{value:.{digits}f}"
    return str(value)


def _name(label: Any) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)
