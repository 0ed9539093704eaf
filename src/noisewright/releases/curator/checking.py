"""Requirements of a release for its table: the same checks for the plan, which reports them, and for the release.

>>> import pyarrow as pa
>>> from noisewright.releases.engines import engine_for
>>> from noisewright.releases.plan import make_plan
>>> from noisewright.releases.policy.policy import as_policy
>>> from noisewright.releases.sources.open import source_of
>>> policy = as_policy({"dataset": "clinic", "budget": {"epsilon": 1}, "columns": [
...     {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1}]})
>>> source = source_of(pa.table({"age": [44, None]}))
>>> with engine_for("local", source) as engine:
...     check_data(make_plan(policy, source.types), engine, source)
Traceback (most recent call last):
noisewright.core.errors.DataError: column 'age' has missing values; say missing = "keep" to leave them missing for all to see, ...
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from noisewright.core.errors import DataError, PolicyError
from noisewright.core.exact import upward
from noisewright.mechanisms.label_columns import NOT_DECLARED
from noisewright.releases.columns.plan import ColumnPlan
from noisewright.releases.engines.engine import Engine
from noisewright.releases.plan import BEYOND_SENSE, Plan, has_public_rows, title
from noisewright.releases.sources.source import Source

__all__ = ["Results", "check_data", "without_rows"]

Results = Sequence[Sequence[pa.Table]]
"""The exact results of the statistics of every query: not for release."""


def check_data(plan: Plan, engine: Engine, source: Source, spends: bool = True) -> Results:
    """Refuse data from which the release cannot be made; what the queries are answered from.

    A release that spends nothing, a simulation, may be of a table without rows.
    """
    policy = plan.policy
    for part in plan.parts if spends else ():
        if part.price > BEYOND_SENSE:
            kind = "columns" if isinstance(part, ColumnPlan) else "queries"
            raise PolicyError(
                f"{policy.line(kind, part.position, 'epsilon')}: {title(part)} would cost epsilon {upward(part.price)}, beyond "
                f"the {BEYOND_SENSE} up to which odds can be computed; it would protect nobody, so lower it, or say keep = true."
            )
    if spends and has_public_rows(policy) and engine.is_empty(source):
        raise DataError(
            "the table has no rows: a release would spend its price and tell nothing; give the table that is meant."
        )
    engine.check_units(source, policy.unit)
    try:
        engine.check_values(source, [column for column in plan.columns if not column.keep], policy.unit)
    except DataError as problem:
        raise DataError(_with_what_helps(str(problem), plan)) from None
    found = [[engine.aggregate(source, s, policy.unit) for s in query.statistics] for query in plan.queries]
    for query, tables in zip(plan.queries, found, strict=True):
        query.check(tables)
    return found


def _with_what_helps(refusal: str, plan: Plan) -> str:
    """The same refusal; of a column with categories with the key of a policy that helps."""
    named = any(column.choices and refusal == f"{column.title}: {NOT_DECLARED}" for column in plan.columns)
    help = 'add it to categories, or say other = "..." to count all such values as one public category.'
    return f"{refusal.removesuffix(NOT_DECLARED.partition('; ')[2])}{help}" if named else refusal


def without_rows(plan: Plan, results: Results) -> Iterator[str]:
    """Cautions about groups that no row belongs to, and filters that no row passes: for the curator's eyes."""
    for query, tables in zip(plan.queries, results, strict=True):
        statistic, table = query.statistics[0], tables[0]
        if not statistic.keys:
            counts = [table["nw_value"] for s, table in zip(query.statistics, tables, strict=True) if s.name == "count"]
            if query.query.where is not None and counts and not sum(counts[0].to_pylist()):
                yield (
                    f"{query.name}: no row of this table passes its filter, so the answer is noise alone; see that the values in "
                    "where are spelled as in the table."
                )
            continue
        count, keys = statistic.groups, [f"nw_k{place}" for place in range(len(statistic.keys))]
        seen = table.group_by(keys).aggregate([]).num_rows
        if seen < count:
            which = "none of its groups has" if not seen else f"{count - seen:,} of its {count:,} groups have"
            rows = "any rows" if not seen else "no rows"
            yield (
                f"{query.name}: {which} {rows} in this table, so the answer there is noise alone; see that the values of "
                f"{' and '.join(key.column for key in statistic.keys)} are spelled as in the table."
            )
