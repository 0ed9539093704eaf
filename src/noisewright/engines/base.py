"""Needs of a release from an engine: the protocol that the local engine and Spark both keep.

``local`` streams through DuckDB and Arrow on the cores of this machine; ``spark`` hands the same work to Apache Spark.
Both bound the rows of units in the same way, run the SQL of the same statistics on integers, and call the same
``perturb_block`` on blocks of rows, so the law of what is released does not depend on the engine. Under a test seed
they give equal tables.

>>> import pyarrow as pa
>>> from noisewright.policy.policy import UnitPolicy
>>> from noisewright.tables.reading import source_of
>>> visits = source_of(pa.table({"patient": [1, 2, 2], "age": [31, 47, 48]}))
>>> engine = engine_for("auto", visits)
>>> engine.name, engine.rows(visits)
('local', 3)
>>> engine.check_units(visits, UnitPolicy(column="patient", rows=1))
Traceback (most recent call last):
noisewright.exceptions.DataError: somebody has more than 1 row in the column 'patient'; raise unit.rows, or say excess = "first" to leave the further rows out.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

import pyarrow as pa

from noisewright._utils.validation import OutputFormat
from noisewright.exceptions import DataError, ParameterError, PolicyError
from noisewright.policy.policy import UnitPolicy
from noisewright.queries.sql import Dialect

if TYPE_CHECKING:
    from noisewright.planning.column_plan import ColumnPlan
    from noisewright.policy.policy import Order
    from noisewright.queries.statistics import Statistic
    from noisewright.tables.source import Source

__all__ = ["Engine", "Progress", "engine_for", "named_unit", "refuse_excess", "units_sql", "who_sql"]


Progress = Callable[[int, int | None], None]
"""Called with the rows that are done and, where it is known, the number of all rows."""


class Engine(Protocol):
    """Services that a release needs of an engine. An engine is a context: leaving it frees what it started."""

    name: str

    def types(self, source: Source) -> dict[str, pa.DataType]:
        """The Arrow type of every column."""
        ...

    def rows(self, source: Source) -> int | None:
        """The number of rows, where it is known without reading them all."""
        ...

    def is_empty(self, source: Source) -> bool:
        """Return whether the table has no rows at all."""
        ...

    def check_units(self, source: Source, unit: UnitPolicy) -> None:
        """Refuse missing units, and units with more rows than allowed unless the excess is left out."""
        ...

    def check_values(self, source: Source, plans: Sequence[ColumnPlan], unit: UnitPolicy) -> None:
        """Refuse values that a mechanism does not take, and missing ones, in the rows that count; it draws nothing."""
        ...

    def check_output(self, source: Source, plans: Sequence[ColumnPlan], format: OutputFormat) -> None:
        """Refuse a format that cannot hold the perturbed rows."""
        ...

    def units(self, source: Source, unit: UnitPolicy) -> Iterator[bytes]:
        """Return the name of every unit that takes part once, the same bytes with every engine."""
        ...

    def aggregate(self, source: Source, statistic: Statistic, unit: UnitPolicy) -> pa.Table:
        """The result of a statistic's SQL over the rows that count; exact, so not for release."""
        ...

    def perturb(
        self,
        source: Source,
        plans: Sequence[ColumnPlan],
        unit: UnitPolicy,
        target: Path,
        format: OutputFormat = "parquet",
        seed: int | None = None,
        progress: Progress | None = None,
        order: Order = "random",
    ) -> int:
        """Write the perturbed rows to ``target`` (a file; Spark: a folder of part files), each drawn once; how many
        they are.
        """
        ...

    def frame(
        self,
        source: Source,
        plans: Sequence[ColumnPlan],
        unit: UnitPolicy,
        seed: int | None = None,
        order: Order = "random",
    ) -> Any:
        """The perturbed rows, each drawn once, as a table of the engine's own kind: Arrow, or a Spark frame."""
        ...

    def length(self, frame: Any) -> int:
        """The number of rows of such a table."""
        ...

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None: ...


# Units --------------------------------------------------------------------------------------------------------------------
#
# Units of rows: the SQL that counts the rows of units, and refusals about them.


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


# Engines ------------------------------------------------------------------------------------------------------------------
#
# Engines: who reads the rows, bounds units, adds up and perturbs. One protocol, two engines, one meaning.


def engine_for(
    name: Literal["auto", "local", "spark"], source: Source, *, master: str | None = None, session: Any = None
) -> Engine:
    """An engine by name; ``auto`` is Spark for Spark frames and local for everything else.

    ``master`` says where Spark runs (``local[2]``, ``spark://...``) unless a session is there already.
    """
    if name == "auto":
        name = "spark" if source.format == "spark" else "local"
    if name == "spark":
        from noisewright.engines.spark import SparkEngine

        return SparkEngine(master, source.held.sparkSession if source.format == "spark" else session)
    if name != "local":
        raise ParameterError(f"there is no engine {name!r}; choose local or spark.")
    if source.format in ("spark", "remote"):
        raise DataError(f"{source.name} can only be read by Spark; choose the engine spark.")
    from noisewright.engines.local import LocalEngine

    return LocalEngine()
