"""Engines: who reads the rows, bounds units, adds up and perturbs. One protocol, two engines, one meaning.

``local`` streams through DuckDB and Arrow on the cores of this machine; ``spark`` hands the same work to Apache Spark. Both bound
the rows of units in the same way, run the SQL of the same statistics on whole numbers, and call the same ``perturb_block`` on
blocks of rows, so the law of what is released does not depend on the engine. Under a test seed they give equal tables.

>>> import pyarrow as pa
>>> from noisewright.release.policy import UnitPolicy
>>> from noisewright.release.sources import source_of
>>> visits = source_of(pa.table({"patient": [1, 2, 2], "age": [31, 47, 48]}))
>>> engine = engine_for("auto", visits)
>>> engine.name, engine.rows(visits)
('local', 3)
>>> engine.check_units(visits, UnitPolicy(column="patient", rows=1))
Traceback (most recent call last):
noisewright.core.errors.DataError: somebody has more than 1 row in the column 'patient'; raise unit.rows, or say \
excess = "first" to leave the further rows out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Protocol, Self

import pyarrow as pa

from noisewright.core.errors import DataError, ParameterError
from noisewright.release.columns import ColumnPlan
from noisewright.release.policy import UnitPolicy
from noisewright.release.source import Source
from noisewright.release.statistics import Statistic

__all__ = ["Engine", "OutputFormat", "Progress", "engine_for"]

OutputFormat = Literal["parquet", "csv", "arrow"]
Progress = Callable[[int, int | None], None]
"""Called with the rows that are done and, where it is known, the number of all rows."""


class Engine(Protocol):
    """What a release needs of an engine. An engine is a context: leaving it frees what it started."""

    name: str

    def types(self, source: Source) -> dict[str, pa.DataType]:
        """The Arrow type of every column."""
        ...

    def rows(self, source: Source) -> int | None:
        """The number of rows, where it is known without reading them all."""
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
        """Who takes part: the name of every unit once, the same bytes with every engine."""
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
    ) -> int:
        """Write the perturbed rows to ``target`` (a file; Spark: a folder of part files), each drawn once; how many they are."""
        ...

    def frame(self, source: Source, plans: Sequence[ColumnPlan], unit: UnitPolicy, seed: int | None = None) -> Any:
        """The perturbed rows, each drawn once, as a table of the engine's own kind: Arrow, or a Spark frame."""
        ...

    def length(self, frame: Any) -> int:
        """The number of rows of such a table."""
        ...

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def engine_for(
    name: Literal["auto", "local", "spark"], source: Source, *, master: str | None = None, session: Any = None
) -> Engine:
    """An engine by name; ``auto`` is Spark for Spark frames and local for everything else.

    ``master`` says where Spark runs (``local[2]``, ``spark://...``) unless a session is there already.
    """
    if name == "auto":
        name = "spark" if source.format == "spark" else "local"
    if name == "spark":
        from noisewright.release.engines.spark import SparkEngine

        return SparkEngine(master, source.held.sparkSession if source.format == "spark" else session)
    if name != "local":
        raise ParameterError(f"there is no engine {name!r}; choose local or spark.")
    if source.format in ("spark", "remote"):
        raise DataError(f"{source.name} can only be read by Spark; choose the engine spark.")
    from noisewright.release.engines.local import LocalEngine

    return LocalEngine()
