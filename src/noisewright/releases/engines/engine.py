"""Needs of a release from an engine: the protocol that the local engine and Spark both keep."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

if TYPE_CHECKING:
    import pyarrow as pa

    from noisewright.releases.columns.plan import ColumnPlan
    from noisewright.releases.policy.policy import Order, UnitPolicy
    from noisewright.releases.queries.statistics import Statistic
    from noisewright.releases.sources.source import Source

__all__ = ["Engine", "OutputFormat", "Progress"]

OutputFormat = Literal["parquet", "csv", "csv.gz", "csv.zst", "arrow", "xlsx"]
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
