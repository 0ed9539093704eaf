"""Units of rows: the SQL that counts the rows of units, and refusals about them."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from noisewright.core.errors import DataError, PolicyError
from noisewright.releases.policy.policy import UnitPolicy
from noisewright.releases.queries.dialects import Dialect

__all__ = ["named_unit", "refuse_excess", "units_sql", "who_sql"]


def units_sql(column: str, relation: str, dialect: Dialect) -> str:
    """The largest number of rows of a unit, and the number of rows that do not say whose they are."""
    name = dialect.quote(column)
    return (
        "SELECT COALESCE(MAX(nw_rows), 0), COALESCE(SUM(CASE WHEN nw_unit IS NULL THEN nw_rows ELSE 0 END), 0) "
        f"FROM (SELECT {name} AS nw_unit, COUNT(*) AS nw_rows FROM {relation} GROUP BY {name}) AS nw_units"
    )


def who_sql(column: str, relation: str, dialect: Dialect) -> str:
    """Every unit once, as text."""
    name = dialect.quote(column)
    return f"SELECT DISTINCT CAST({name} AS STRING) AS nw_unit FROM {relation} WHERE {name} IS NOT NULL"


def named_unit(unit: UnitPolicy, types: Mapping[str, pa.DataType]) -> str:
    """The column that names units, if its values are written alike everywhere."""
    if unit.column is None:
        raise PolicyError("budgets for every unit need unit.column, the column that says whose a row is.")
    kind = types.get(unit.column)
    if kind is None:
        raise DataError(f"there is no column {unit.column!r} in the data; correct unit.column, or the data.")
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    if not any(test(kind) for test in (*text, pa.types.is_integer, pa.types.is_date)):
        raise DataError(
            f"the column {unit.column!r} cannot name units; they are named by text, whole numbers or dates."
        )
    return unit.column


def refuse_excess(unit: UnitPolicy, most: int, missing: int) -> None:
    """The sentences for what :func:`units_sql` found; the numbers themselves stay inside."""
    if missing:
        raise DataError(
            f"the column {unit.column!r} is missing in some rows; every row must say whose it is, so fill or drop them first."
        )
    if unit.excess == "refuse" and most > unit.rows:
        raise DataError(
            f"somebody has more than {unit.rows} row{'s' if unit.rows > 1 else ''} in the column {unit.column!r}; raise "
            'unit.rows, or say excess = "first" to leave the further rows out.'
        )


def drops(unit: UnitPolicy) -> bool:
    """Return whether rows beyond the bound are left out."""
    return unit.column is not None and unit.excess == "first"
