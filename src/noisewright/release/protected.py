"""How far apart the values are that a planned column protects, as the ledger remembers it."""

from __future__ import annotations

from noisewright.core.metric import Line
from noisewright.mechanisms.geography import LocalMetres
from noisewright.release.codecs import kind_of
from noisewright.release.column_words import UNITS
from noisewright.release.columns import ColumnPlan
from noisewright.release.ledger_records import Protected
from noisewright.release.prices import base_metric

__all__ = ["protected_by"]


def protected_by(column: ColumnPlan) -> Protected | None:
    """The protected distance in the column's own unit; None for a column that is kept as it is.

    >>> import pyarrow as pa
    >>> from noisewright.release.plan import make_plan
    >>> from noisewright.release.policy import as_policy
    >>> policy = as_policy({"dataset": "clinic", "budget": {"epsilon": 3}, "columns": [
    ...     {"name": "visit", "mechanism": "laplace", "protect": 7, "epsilon": 1}]})
    >>> protected_by(make_plan(policy, {"visit": pa.date32()}).columns[0])
    Protected(columns=('visit',), distance=Fraction(7, 1), unit='day')
    """
    if column.mechanism is None:
        return None
    if column.protect is None:
        return Protected(column.names, None)
    metric = base_metric(column.mechanism.guarantee.metric)
    if isinstance(metric, LocalMetres):
        unit = "metre"
    elif isinstance(metric, Line):
        unit = UNITS.get(kind_of(column.types[0]) or "", "") if len(column.types) == 1 else "line"
    else:
        unit = metric.name
    return Protected(column.names, column.protect, unit)
