"""Bars over dates and times that begin where calendars do: at full hours, at midnight, on Mondays, with months and with years.

Days are counted from 1970-01-01. An edge in minutes is a quotient of integers, and so the very float that a time at it is.

>>> [str(day_of(edge)) for edge in calendar_bars(20090, 20445, 31)]
['2025-01-01', '2025-04-01', '2025-07-01', '2025-10-01', '2026-01-01']
>>> [24 * edge % 24 for edge in calendar_bars(20000.1, 20000.9, 0.15)]
[0.0, 6.0, 12.0, 18.0, 0.0]

Blue bars and cells are released counts; orange dots with whiskers are estimates of the table before. The two differ in shape
as
well as in colour, so they can be distinguished in print and by everyone. Colours are CSS classes (``released``,
``estimated`` and so on) that the page defines for light and dark. Each picture has a title and a description for screen
readers.

>>> picture = chart(Marginal("smoker", "categories", (36.0, 64.0), labels=("yes", "no")))
>>> picture.startswith("<svg") and "<title" in picture and "yes" in picture
True
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from html import escape
from itertools import pairwise
from typing import Literal

from noisewright.claims.figures import figure, numeral
from noisewright.columns.column_type import Chart

__all__ = ["Marginal", "Shown", "calendar_bars", "chart", "day_of", "short", "spelled", "ticks"]


Shown = Chart | Literal["places"]
"""Form in which a column is shown: as its kind is, or two coordinates together as places."""


@dataclass(frozen=True)
class Marginal:
    """One column as a report shows it. Counts are of released rows; ``estimated`` is scaled to the same number of rows.

    ``labels`` name categories; ``edges`` bound the bars of numbers and dates (in days since 1970), the outermost bars including
    everything beyond. For places ``edges`` run from south to north and ``across`` from west to east, and counts go row by row.
    ``low`` and ``high`` are the ends of whiskers that all hold the table before, at a confidence of 95 %; ``blend`` says over
    which width a bar passes into the next one in the estimate, and ``reason`` why none exists. For places on a ``plane`` the
    first coordinate, along ``edges``, goes across.
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
    blend: float = 0.0
    reason: str = ""
    plane: bool = False


MINUTES = (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080, 20_160)
"""Widths of bars up to two weeks."""
MINUTES_PER_DAY = 1440
MONDAY = 4
"""The first Monday after 1970-01-01, in days."""
MONTHS = (1, 3, 6, 12)
DAYS_PER_MONTH = 30.436875
YEARS = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)


def calendar_bars(low: float, high: float, width: float) -> tuple[float, ...]:
    """The edges of bars from ``low`` to ``high``, in days, each about as wide as ``width`` or wider."""
    short = next((minutes for minutes in MINUTES if minutes / MINUTES_PER_DAY >= width * (1 - 1e-12)), None)
    if short is not None:
        start = MONDAY * MINUTES_PER_DAY if short % MINUTES[-2] == 0 else 0
        first = math.floor((low * MINUTES_PER_DAY - start) / short)
        last = max(math.ceil((high * MINUTES_PER_DAY - start) / short), first + 1)
        return tuple((start + k * short) / MINUTES_PER_DAY for k in range(first, last + 1))
    months = next((k for k in (*MONTHS, *(12 * y for y in YEARS)) if k * DAYS_PER_MONTH >= width), 12 * YEARS[-1])
    month = _month_of(day_of(math.floor(low)))
    edges = [month - month % months]
    while _first_of(edges[-1]) < high and edges[-1] // 12 < date.max.year:
        edges.append(edges[-1] + months)
    return tuple(float(_first_of(k)) for k in edges)


def day_of(number: float) -> date:
    """A day by its number from 1970; days beyond all years are at the first or the last day of them."""
    return date.fromordinal(min(max(date(1970, 1, 1).toordinal() + math.floor(number), 1), date.max.toordinal()))


def _month_of(day: date) -> int:
    return 12 * day.year + day.month - 1


def _first_of(month: int) -> int:
    """The number of the first day of a month; before the first year and after the last one, by the length of mean months."""
    year, place = divmod(month, 12)
    if date.min.year <= year <= date.max.year:
        return (date(year, place + 1, 1) - date(1970, 1, 1)).days
    return round((month - 12 * 1970) * DAYS_PER_MONTH)


# Charts -------------------------------------------------------------------------------------------------------------------
#
# Charts of a report: small SVG pictures inside the page, drawn here, with nothing to load or run.


WIDTH = 480
"""Width of every picture, in its own units: narrow enough that letters stay readable on a telephone."""
CHARACTER = 7.2
"""The width of a character of a label at 13 px, on average; labels are cut so that they fit."""


def chart(marginal: Marginal, number: int = 0) -> str:
    """The picture of a marginal; ``number`` makes the ids of one page differ."""
    if marginal.kind == "categories":
        body, height = _bars(marginal)
    elif marginal.kind == "places":
        body, height = _cells(marginal)
    else:
        body, height = _histogram(marginal)
    title, words = spelled(f"Released values of {marginal.name}"), spelled(_description(marginal))
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-labelledby="chart{number}-title chart{number}-words" '
        f'xmlns="http://www.w3.org/2000/svg"><title id="chart{number}-title">{title}</title>'
        f'<desc id="chart{number}-words">{words}</desc>{body}</svg>'
    )


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers from ``low`` to ``high``, at most ``most`` of them.

    >>> ticks(0, 4700, 5)
    [0.0, 1000.0, 2000.0, 3000.0, 4000.0]
    """
    if not high > low:
        return [low]
    rough = (high - low) / max(1, most - 1)
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(k * unit for k in (1, 2, 2.5, 5, 10, 20) if (high - low) / (k * unit) < most)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def short(value: float) -> str:
    """A number on an axis or at a bar: ``950``, ``12,300``, ``1.2 million``.

    >>> short(12300.4), short(1_230_000), short(0.25)
    ('12,300', '1.23 million', '0.25')
    """
    whole = round(value) if abs(value) >= 100 else value
    return figure(whole, rounding="nearest")


# Categories ---------------------------------------------------------------------------------------------------------------


def _bars(marginal: Marginal) -> tuple[str, float]:
    """Each category on two lines: its name and counts, and its bar below them."""
    row, top, right = 42, 24, 96
    columns = [("released", marginal.counts)] + (
        [] if marginal.estimated is None else [("estimated", marginal.estimated)]
    )
    largest = max((*marginal.counts, *(marginal.high or ()), *(marginal.estimated or ()), 1.0))
    height = top + row * len(marginal.labels) + 40
    scale = (WIDTH - 16) / largest
    parts = list(_ticks_across(largest, 4, scale, height - 36))
    parts.append(_text(4, height - 4, "rows", "start", "tick"))
    for n, (title, values) in enumerate(columns):
        x = WIDTH - right * (len(columns) - 1 - n)
        parts.append(_text(x, top - 10, title, "end", "tick"))
        for k, value in enumerate(values):
            shown = short(value) if title == "released" else _estimate(marginal, k)
            parts.append(_text(x, top + k * row + 16, shown, "end", "value"))
    most = int((WIDTH - right * len(columns)) / CHARACTER)
    for k, (label, count) in enumerate(zip(marginal.labels, marginal.counts, strict=True)):
        y = top + k * row + 29
        parts.append(_text(4, top + k * row + 16, _cut(label, most), "start", whole=label))
        parts.append(_rect("released", 4, y - 7, count * scale, 14))
        if marginal.low is not None and marginal.high is not None:
            parts.append(_line("estimated", 4 + marginal.low[k] * scale, y, 4 + marginal.high[k] * scale))
        if marginal.estimated is not None:
            at = 4 + marginal.estimated[k] * scale
            parts.append(f'<circle class="estimated" cx="{at:.1f}" cy="{y:g}" r="4"/>')
    return "".join(parts), height


def _estimate(marginal: Marginal, k: int) -> str:
    """An estimate in as many digits as its whisker leaves."""
    assert marginal.estimated is not None
    if marginal.low is None or marginal.high is None or marginal.high[k] <= marginal.low[k]:
        return short(round(marginal.estimated[k]))
    unit = 10.0 ** max(0, math.floor(math.log10(marginal.high[k] - marginal.low[k])) - 1)
    return short(round(marginal.estimated[k] / unit) * unit)


def _ticks_across(largest: float, left: float, scale: float, bottom: float) -> Iterator[str]:
    for tick in ticks(0, largest):
        x = left + tick * scale
        yield f'<line class="axis" x1="{x:.1f}" y1="{bottom - 4:g}" x2="{x:.1f}" y2="{bottom + 2:g}"/>'
        yield _text(x, bottom + 16, short(tick), "middle", "tick")


# Numbers and dates --------------------------------------------------------------------------------------------------------


def _histogram(marginal: Marginal) -> tuple[str, float]:
    left, right, top, bottom = 62, 12, 28, 228
    first, last = marginal.edges[0], marginal.edges[-1]
    across = (WIDTH - left - right) / (last - first)
    largest = max((*marginal.counts, *(marginal.high or ()), *(marginal.estimated or ()), 1.0))
    up = (bottom - top) / largest

    def x(value: float) -> float:
        return left + (value - first) * across

    parts = []
    for tick in ticks(0, largest, 5):
        y = bottom - tick * up
        parts.append(f'<line class="grid" x1="{left}" y1="{y:.1f}" x2="{WIDTH - right}" y2="{y:.1f}"/>')
        parts.append(_text(left - 8, y + 4, short(tick), "end", "tick"))
    for (low, high), count in zip(pairwise(marginal.edges), marginal.counts, strict=True):
        parts.append(_rect("released", x(low) + 0.6, bottom - count * up, max(0.5, x(high) - x(low) - 1.2), count * up))
    if marginal.estimated is not None:
        parts.append(_dots(marginal, marginal.estimated, x, bottom, up))
    parts.append(f'<line class="axis" x1="{left}" y1="{bottom}" x2="{WIDTH - right}" y2="{bottom}"/>')
    marks = _dates(first, last) if marginal.kind == "dates" else [(t, short(t)) for t in _at_edges(marginal.edges)]
    for value, label in marks:
        parts.append(f'<line class="axis" x1="{x(value):.1f}" y1="{bottom}" x2="{x(value):.1f}" y2="{bottom + 5}"/>')
        place = min(x(value), WIDTH - len(label) * CHARACTER / 2)  # the last label stays within the picture
        parts.append(_text(place, bottom + 19, label, "middle", "tick"))
    parts.append(_text(left - 8, top - 14, "rows", "end", "tick"))
    parts.append(_text((left + WIDTH - right) / 2, bottom + 40, _cut(marginal.name, 50), "middle", whole=marginal.name))
    return "".join(parts), bottom + 48


def _dots(
    marginal: Marginal, estimated: tuple[float, ...], x: Callable[[float], float], bottom: float, up: float
) -> str:
    """The estimate as a dot in the middle of each bar, with its whisker."""
    parts = []
    for k, ((low, high), estimate) in enumerate(zip(pairwise(marginal.edges), estimated, strict=True)):
        middle = (x(low) + x(high)) / 2
        if marginal.low is not None and marginal.high is not None:
            ends = (bottom - marginal.low[k] * up, bottom - marginal.high[k] * up)
            parts.append(f'<path class="estimated" d="M{middle:.1f} {ends[0]:.1f}V{ends[1]:.1f}"/>')
        parts.append(f'<circle class="estimated" cx="{middle:.1f}" cy="{bottom - estimate * up:.1f}" r="4"/>')
    return "".join(parts)


def _at_edges(edges: tuple[float, ...], most: int = 7) -> list[float]:
    """Return round numbers where bars begin; where none of them is, edges at equal intervals.

    >>> _at_edges((0.0, 20.0, 40.0, 60.0)), _at_edges(tuple(map(float, range(35, 110, 5))))
    ([0.0, 20.0, 40.0, 60.0], [40.0, 60.0, 80.0, 100.0])
    """
    found = ticks(edges[0], edges[-1], most)
    width = edges[1] - edges[0]
    if all(min(abs(tick - edge) for edge in edges) < 1e-6 * width for tick in found):
        return found
    return list(edges[:: math.ceil(len(edges) / most)])


def _dates(first: float, last: float) -> list[tuple[float, str]]:
    """Days on an axis: days, beginnings of months, or beginnings of years, whichever gives a readable few."""
    start, end = (day_of(math.ceil(day)) for day in (first, last))
    if (end - start).days <= 60:
        marks = [start + timedelta(days=int(k)) for k in ticks(0, (end - start).days, 7) if k == int(k)]
        return [((day - date(1970, 1, 1)).days, f"{day.day} {day:%b}") for day in marks]
    months = [date(y, m, 1) for y in range(start.year, end.year + 1) for m in range(1, 13)]
    months = [day for day in months if start <= day <= end]
    every = next((k for k in (1, 2, 3, 6) if len(months) / k <= 6), 12)
    if every == 12:
        years = [day for day in months if day.month == 1]
        stride = next((k for k in (1, 2, 5, 10, 20, 50) if len(years) / k <= 6), 100)
        return [((day - date(1970, 1, 1)).days, f"{day.year}") for day in years if day.year % stride == 0]
    return [((day - date(1970, 1, 1)).days, f"{day:%b %Y}") for day in months if (day.month - 1) % every == 0]


# Places -------------------------------------------------------------------------------------------------------------------


def _cells(marginal: Marginal) -> tuple[str, float]:
    """A map of the released places; stronger colour means more."""
    north, _, east = marginal.name.partition(", ")
    if marginal.plane:
        first, second = len(marginal.edges) - 1, len(marginal.across) - 1
        counts = tuple(marginal.counts[k * second + j] for j in range(second) for k in range(first))
        marginal = replace(marginal, counts=counts, edges=marginal.across, across=marginal.edges)
        north, east = east, north
    side, top, left = 380.0, 26.0, 78.0
    rows, columns = len(marginal.edges) - 1, len(marginal.across) - 1
    width, height = side / columns, side / rows
    largest = max((*marginal.counts, 1.0))
    parts = [
        _text(left, top - 10, f"Released: at most {short(largest)} in a cell", "start", "value"),
        f'<rect class="frame" x="{left:g}" y="{top:g}" width="{side:g}" height="{side:g}"/>',
    ]
    for k, count in enumerate(marginal.counts):
        row, column = divmod(k, columns)
        if count / largest >= 0.002:
            parts.append(
                f'<rect class="released cell" x="{left + column * width:.1f}" y="{top + side - (row + 1) * height:.1f}" '
                f'width="{width:.1f}" height="{height:.1f}" opacity="{math.sqrt(count / largest):.2f}"/>'
            )
    parts += _frame_ticks(marginal, left, top, side)
    parts.append(_text(left + side / 2, top + side + 40, _cut(east, 40), "middle", whole=east))
    middle = top + side / 2
    parts.append(
        f'<text class="label" x="14" y="{middle:g}" text-anchor="middle" transform="rotate(-90 14 {middle:g})">'
        f"{spelled(_cut(north, 40))}</text>"
    )
    return "".join(parts), top + side + 48


def _frame_ticks(marginal: Marginal, left: float, top: float, side: float) -> Iterator[str]:
    south, north = marginal.edges[0], marginal.edges[-1]
    west, east = marginal.across[0], marginal.across[-1]
    for tick in ticks(west, east, 5):
        x = left + (tick - west) / (east - west) * side
        yield f'<line class="axis" x1="{x:.1f}" y1="{top + side:g}" x2="{x:.1f}" y2="{top + side + 5:g}"/>'
        yield _text(x, top + side + 19, numeral(tick), "middle", "tick")
    for tick in ticks(south, north, 6):
        y = top + side - (tick - south) / (north - south) * side
        yield f'<line class="axis" x1="{left - 5:g}" y1="{y:.1f}" x2="{left:g}" y2="{y:.1f}"/>'
        yield _text(left - 9, y + 4, numeral(tick), "end", "tick")


# Words and shapes ---------------------------------------------------------------------------------------------------------


def spelled(text: str) -> str:
    """Text for HTML and SVG: marked up by nothing in it, and without characters that are not for display.

    >>> spelled('<b> "a" & b\\x00')
    '&lt;b&gt; &quot;a&quot; &amp; b\\\\x00'
    """
    shown = escape("".join(c if c.isprintable() else " " if c.isspace() else repr(c)[1:-1] for c in text))
    return shown.replace(" %", "&#160;%")  # no line break before the sign


def _description(marginal: Marginal) -> str:
    total = short(sum(marginal.counts))
    if marginal.kind == "categories":
        order = sorted(zip(marginal.counts, marginal.labels, strict=True), reverse=True)[:5]
        words = "; ".join(f"{label}: {short(count)}" for count, label in order)
        return f"Bars of {len(marginal.labels)} categories, {total} values. The largest: {words}."
    if marginal.kind == "places":
        return f"A map in {len(marginal.counts)} cells, {total} places; stronger colours hold more."
    low, high = marginal.edges[0], marginal.edges[-1]
    ends = [f"{day_of(int(e))}" if marginal.kind == "dates" else short(e) for e in (low, high)]
    peak = max(range(len(marginal.counts)), key=marginal.counts.__getitem__)
    at = marginal.edges[peak]
    where = f"{day_of(int(at))}" if marginal.kind == "dates" else short(at)
    return f"A histogram of {total} values from {ends[0]} to {ends[1]}; the highest bar begins at {where}."


def _cut(label: str, most: int) -> str:
    return label if len(label) <= most else label[: most - 1] + "…"


def _rect(style: str, x: float, y: float, width: float, height: float) -> str:
    return (
        f'<rect class="{style}" x="{x:.1f}" y="{y:.1f}" width="{max(0.0, width):.1f}" height="{max(0.0, height):.1f}"/>'
    )


def _line(style: str, x1: float, y: float, x2: float) -> str:
    return f'<line class="{style}" x1="{x1:.1f}" y1="{y:g}" x2="{x2:.1f}" y2="{y:g}"/>'


def _text(x: float, y: float, text: str, anchor: str, style: str = "label", whole: str | None = None) -> str:
    more = f"<title>{spelled(whole)}</title>" if whole is not None and whole != text else ""
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{more}{spelled(text)}</text>'
