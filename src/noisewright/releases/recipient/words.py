"""An estimated column in lines for a person."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from noisewright.core.exact import figure
from noisewright.releases.kinds.spans import UNITS

if TYPE_CHECKING:
    from noisewright.releases.recipient.estimating import ColumnEstimate, Interval

__all__ = ["facts_of", "in_brief", "in_lines", "said", "share_rows"]

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
