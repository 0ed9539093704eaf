"""An estimated column in lines for a person."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noisewright.releases.recipient.estimating import ColumnEstimate, Interval

__all__ = ["in_lines", "said"]

MOST_SHOWN = 12


def in_lines(found: ColumnEstimate, most: int = MOST_SHOWN) -> Iterator[str]:
    """The mean, the quartiles, and the largest shares or all bars."""
    yield f"{found.name}: {found.rows:,} rows of {found.mechanism}, {found.promise}"
    if found.simulated:
        yield "  a SIMULATION, not a release"
    if found.missing:
        yield f"  {found.missing:,} missing, shown as they are"
    if found.mean is not None:
        yield f"  {'mean':<14}{said(found.mean)}"
    for name, one in zip(("1 in 4 below", "median", "3 in 4 below"), found.quartiles, strict=False):
        yield f"  {name:<14}{said(one)}"
    if found.reason:
        yield f"  no shares: {found.reason}"
        return
    shown = found.shares if found.shares and found.shares[0].start is not None else found.shares[:most]
    names = [
        _name(share.label) if share.start is None else f"{_short(share.start)} to {_short(share.end)}"
        for share in shown
    ]
    wide = max([len(name) for name in names], default=0)
    for name, share in zip(names, shown, strict=True):
        yield f"  {name:<{wide}}  {100 * share.share:5.1f} %  ({100 * share.low:.1f} to {100 * share.high:.1f})"
    if len(found.shares) > len(shown):
        yield f"  and {len(found.shares) - len(shown):,} more"
    if found.blend:
        days = " days" if isinstance(found.shares[0].start, datetime.date) else ""
        yield f"  (bars pass into each other over {found.blend:.3g}{days}, about the size of the noise)"


def said(found: Interval) -> str:
    """A value with both ends of its interval, in as many digits as that leaves."""
    low, high = (("open" if end is None else _short(end, found)) for end in (found.low, found.high))
    return f"{_short(found.value, found)}  ({low} to {high})"


def _short(value: Any, about: Interval | None = None) -> str:
    if isinstance(value, datetime.datetime):
        return (
            f"{value:%Y-%m-%d %H:%M}" if about is not None or value.time() != datetime.time() else f"{value:%Y-%m-%d}"
        )
    if isinstance(value, float):
        ends = [end for end in (about.low, about.high) if end is not None] if about is not None else []
        width = abs(ends[-1] - ends[0]) if len(ends) == 2 else abs(value)
        digits = 0 if width >= 10 else 1 if width >= 1 else 2 if width >= 0.1 else 4
        return f"{value:,.{digits}f}"
    return str(value)


def _name(label: Any) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)
