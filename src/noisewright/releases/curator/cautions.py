"""Cautions that need a look at the data: for the curator's eyes, before signing; never part of what is published.

* A declared range whose two ends are the smallest and the largest value of the table was probably read off the table.
  A range must be public knowledge, or it discloses two people's values.
* A column that follows from another one (a town from a postcode) is protected by no more than that one is.
* Where the policy keeps the order of rows: in a table that is sorted by a protected column, the place of a row
  discloses its value, and a changed value would move other rows, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime
from fractions import Fraction
from itertools import permutations
from math import isfinite
from typing import Any

import pyarrow as pa

from noisewright.core.errors import DataError
from noisewright.releases.columns.plan import ColumnPlan
from noisewright.releases.engines.engine import Engine
from noisewright.releases.plan import Plan
from noisewright.releases.sources.connection import Connection
from noisewright.releases.sources.duck import identifier, quiet
from noisewright.releases.sources.source import Source

__all__ = ["data_cautions"]

SAMPLE = 20_000
MOST_COLUMNS = 12
FEWEST_SORTED = 20
"""Minimum number of values that are hardly ever in order by chance."""


def data_cautions(plan: Plan, source: Source, engine: Engine) -> list[str]:
    """Return points for a curator to consider after a look at the data. Data that this machine cannot query are skipped."""
    if engine.name == "local":
        with suppress(DataError), source.database() as duck, quiet(f"{source.name} cannot be read"):
            found = list(_ranges(plan, source, duck))
            sample = _Sample(plan, duck)
            return [*found, *_order(plan, sample), *_dependence(plan, sample)]
    return []


class _Sample:
    """The first rows of the table, in memory: columns of listed values under short names, and the number of each row."""

    def __init__(self, plan: Plan, duck: Connection) -> None:
        self.duck = duck
        self.places = {
            name: f"c{place}"
            for place, name in enumerate(n for column in plan.columns if _listed(column) for n in column.names)
        }
        if self.places:
            listed = ", ".join(f"{identifier(name)} AS {place}" for name, place in self.places.items())
            first = f"SELECT {listed}, row_number() OVER () AS nw_row FROM data LIMIT {SAMPLE}"
            duck.execute(f"CREATE TEMP TABLE nw_sample AS {first}")

    def counts(self, wanted: Sequence[str], relation: str = "nw_sample") -> list[int]:
        return [int(count) for count in _row(self.duck, wanted, relation)]


def _ranges(plan: Plan, source: Source, duck: Connection) -> Iterator[str]:
    declared = {c.names[0]: c.parameters.get("within") for c in plan.policy.columns if len(c.names) == 1}
    declared.update({q.column: q.within for q in plan.policy.queries if q.column is not None and q.within is not None})
    ends = {name: _ends(within) for name, within in declared.items() if _is_number(source.types.get(name))}
    known = {name: pair for name, pair in ends.items() if pair is not None}
    found = iter(_row(duck, [f"{end}({identifier(name)})" for name in known for end in ("min", "max")], "data"))
    for name, (low, high) in known.items():
        pair = (next(found), next(found))
        if all(map(_is_finite, pair)) and [_number(v) for v in pair] == [low, high] and low < high:
            yield (
                f"{name}: its declared range is just that of the data, from the smallest to the largest value; a range must "
                "be known without looking at the data, or it tells two people's values."
            )


def _order(plan: Plan, sample: _Sample) -> Iterator[str]:
    """Protected columns in whose order the first rows of the table stand, upwards or downwards, if they are to stay in it."""
    if plan.order != "kept":
        return
    names = [name for column in plan.columns if not column.keep for name in column.names if name in sample.places]
    places = [sample.places[name] for name in names]
    before = ", ".join(f"lag({c}) OVER (ORDER BY nw_row) AS {c}_before" for c in places)
    wanted = [
        count
        for c in places
        for count in (f"count({c})", f"count(*) FILTER ({c} > {c}_before)", f"count(*) FILTER ({c} < {c}_before)")
    ]
    found = iter(sample.counts(wanted, f"(SELECT *, {before} FROM nw_sample)"))
    for name in names:
        known, up, down = next(found), next(found), next(found)
        if known >= FEWEST_SORTED and (up == 0) != (down == 0):
            yield (
                f"{name}: the table is sorted by it, and released rows keep their order, which tells its values whatever the "
                'noise; remove order = "kept" from the policy.'
            )


def _dependence(plan: Plan, sample: _Sample) -> Iterator[str]:
    names, kept = list(sample.places)[:MOST_COLUMNS], set(plan.kept)
    if len(names) < 2:
        return
    rows, *counts = sample.counts(["count(*)", *(f"count(DISTINCT {sample.places[name]})" for name in names)])
    distinct = dict(zip(names, counts, strict=True))
    pairs = [
        (first, second)
        for first, second in permutations(names, 2)
        if 1 < distinct[second] <= distinct[first] <= rows // 4 and not {first, second} <= kept
    ]
    together = sample.counts([f"count(DISTINCT ({sample.places[a]}, {sample.places[b]}))" for a, b in pairs])
    for (first, second), both in zip(pairs, together, strict=True):
        if both == distinct[first]:
            weak = " It is kept as it is, so the other is hardly protected." if first in kept else ""
            yield f"{second} follows from {first} in this table: whoever learns {first} knows {second}.{weak}"


def _row(duck: Connection, wanted: Sequence[str], relation: str) -> tuple[Any, ...]:
    """Several numbers about a relation, in one go."""
    if not wanted:
        return ()
    found = duck.execute(f"SELECT {', '.join(wanted)} FROM {relation}").fetchone()
    assert found is not None
    return tuple(found)


def _listed(column: ColumnPlan) -> bool:
    """Return whether values can be distinguished one by one: vectors, documents and pictures hardly ever occur twice."""
    return all(kind is None or kind.labels for kind in column.kinds)


def _ends(within: Any) -> tuple[Fraction, Fraction] | None:
    """The ends of one bounded interval, as numbers; dates as days."""
    if not isinstance(within, (list, tuple)) or len(within) != 2:
        return None
    try:
        low, high = (_number(end) for end in within)
    except (TypeError, ValueError):
        return None
    return low, high


def _is_finite(value: Any) -> bool:
    """Return whether there is a value, and it is a number: not missing, not infinite."""
    return value is not None and (not isinstance(value, float) or isfinite(value))


def _number(value: Any) -> Fraction:
    if isinstance(value, datetime):
        value = value.date()
    return Fraction(value.toordinal()) if isinstance(value, date) else Fraction(value)


def _is_number(kind: pa.DataType | None) -> bool:
    types = (pa.types.is_integer, pa.types.is_floating, pa.types.is_date)
    return kind is not None and any(is_one(kind) for is_one in types)
