"""Cautions that need a look at the data: for the curator's eyes, before signing; never part of what is published.

* A declared range whose two ends are the smallest and the largest value of the table was probably read off the table.
  A range must be public knowledge, or it tells two people's values.
* A column that follows from another one (a town from a postcode) is protected by no more than that one is.
* Released rows keep their order. In a table that is sorted by a protected column, the place of a row tells its value, and a
  changed value would move other rows, too: the promise is about tables whose order does not follow from what is protected.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from fractions import Fraction
from itertools import permutations
from typing import Any

import duckdb
import pyarrow as pa

from noisewright.releases.columns.plan import ColumnPlan
from noisewright.releases.plan import Plan
from noisewright.releases.sources.duck import identifier, quiet
from noisewright.releases.sources.source import Source

__all__ = ["data_cautions"]

SAMPLE = 20_000
MOST_COLUMNS = 12
FEWEST_SORTED = 20
"""So many values are hardly ever in order by chance."""


def data_cautions(plan: Plan, source: Source) -> list[str]:
    """What a curator should think about, having seen the data."""
    with source.database() as duck, quiet(f"{source.name} cannot be read to its end; it is damaged"):
        return [*_ranges(plan, source, duck), *_order(plan, duck), *_dependence(plan, source, duck)]


def _ranges(plan: Plan, source: Source, duck: duckdb.DuckDBPyConnection) -> Iterator[str]:
    declared = {c.names[0]: c.parameters.get("within") for c in plan.policy.columns if len(c.names) == 1}
    declared.update({q.column: q.within for q in plan.policy.queries if q.column is not None and q.within is not None})
    for name, within in declared.items():
        kind = source.types.get(name)
        ends = _ends(within)
        if ends is None or kind is None or not (_numeric(kind) or pa.types.is_date(kind)):
            continue
        column = identifier(name)
        found = duck.execute(f"SELECT min({column}), max({column}) FROM data").fetchone()
        if found is not None and None not in found and [_number(v) for v in found] == list(ends) and ends[0] < ends[1]:
            yield (
                f"{name}: its declared range is just that of the data, from the smallest to the largest value; a range must "
                "be known without looking at the data, or it tells two people's values."
            )


def _order(plan: Plan, duck: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """Protected columns in whose order the first rows of the table stand, upwards or downwards."""
    for name in (name for column in plan.columns if not column.keep and _listed(column) for name in column.names):
        rows = f"SELECT {identifier(name)} AS nw_x, row_number() OVER () AS nw_row FROM data LIMIT {SAMPLE}"
        pairs = f"SELECT nw_x, lag(nw_x) OVER (ORDER BY nw_row) AS nw_before FROM ({rows})"
        found = duck.execute(
            f"SELECT count(nw_x), count(*) FILTER (nw_x > nw_before), count(*) FILTER (nw_x < nw_before) FROM ({pairs})"
        ).fetchone()
        assert found is not None
        known, up, down = found
        if known >= FEWEST_SORTED and (up == 0) != (down == 0):
            yield (
                f"{name}: the table is sorted by it, and released rows keep their order, which tells its values whatever the "
                "noise; shuffle the table before it is released."
            )


def _dependence(plan: Plan, source: Source, duck: duckdb.DuckDBPyConnection) -> Iterator[str]:
    names = [name for column in plan.columns if _listed(column) for name in column.names][:MOST_COLUMNS]
    kept = set(plan.kept)
    if len(names) < 2:
        return
    listed = ", ".join(identifier(name) for name in names)
    duck.execute(f"CREATE TEMP TABLE nw_sample AS SELECT {listed} FROM data LIMIT {SAMPLE}")
    rows = _count(duck, "count(*)")
    distinct = {name: _count(duck, f"count(DISTINCT {identifier(name)})") for name in names}
    for first, second in permutations(names, 2):
        if not 1 < distinct[second] <= distinct[first] <= rows // 4 or {first, second} <= kept:
            continue
        together = _count(duck, f"count(DISTINCT ({identifier(first)}, {identifier(second)}))")
        if together == distinct[first]:
            weak = " It is kept as it is, so the other is hardly protected." if first in kept else ""
            yield f"{second} follows from {first} in this table: whoever learns {first} knows {second}.{weak}"


def _listed(column: ColumnPlan) -> bool:
    """Whether values can be told apart one by one: vectors, documents and pictures hardly ever occur twice."""
    return all(kind is None or kind.labels for kind in column.kinds)


def _count(duck: duckdb.DuckDBPyConnection, what: str) -> int:
    found = duck.execute(f"SELECT {what} FROM nw_sample").fetchone()
    return int(found[0]) if found else 0


def _ends(within: Any) -> tuple[Fraction, Fraction] | None:
    """The ends of one bounded interval, as numbers; dates as days."""
    if not isinstance(within, (list, tuple)) or len(within) != 2:
        return None
    try:
        low, high = (_number(end) for end in within)
    except (TypeError, ValueError):
        return None
    return low, high


def _number(value: Any) -> Fraction:
    if isinstance(value, datetime):
        value = value.date()
    return Fraction(value.toordinal()) if isinstance(value, date) else Fraction(value)


def _numeric(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
