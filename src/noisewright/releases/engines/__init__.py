"""Engines: who reads the rows, bounds units, adds up and perturbs. One protocol, two engines, one meaning.

``local`` streams through DuckDB and Arrow on the cores of this machine; ``spark`` hands the same work to Apache Spark.
Both bound the rows of units in the same way, run the SQL of the same statistics on integers, and call the same
``perturb_block`` on blocks of rows, so the law of what is released does not depend on the engine. Under a test seed
they give equal tables.

>>> import pyarrow as pa
>>> from noisewright.releases.policy.policy import UnitPolicy
>>> from noisewright.releases.sources.open import source_of
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

from typing import TYPE_CHECKING, Any, Literal

from noisewright.core.errors import DataError, ParameterError
from noisewright.releases.engines.engine import Engine

if TYPE_CHECKING:
    from noisewright.releases.sources.source import Source

__all__ = ["Engine", "engine_for"]


def engine_for(
    name: Literal["auto", "local", "spark"], source: Source, *, master: str | None = None, session: Any = None
) -> Engine:
    """An engine by name; ``auto`` is Spark for Spark frames and local for everything else.

    ``master`` says where Spark runs (``local[2]``, ``spark://...``) unless a session is there already.
    """
    if name == "auto":
        name = "spark" if source.format == "spark" else "local"
    if name == "spark":
        from noisewright.releases.engines.spark.engine import SparkEngine

        return SparkEngine(master, source.held.sparkSession if source.format == "spark" else session)
    if name != "local":
        raise ParameterError(f"there is no engine {name!r}; choose local or spark.")
    if source.format in ("spark", "remote"):
        raise DataError(f"{source.name} can only be read by Spark; choose the engine spark.")
    from noisewright.releases.engines.local import LocalEngine

    return LocalEngine()
