"""The Spark engine: the same blocks, statistics and bounds, on as many machines as Spark has.

**Noise is drawn exactly once.** A Spark frame is a recipe: every action runs it again, and a second run of a noisy recipe would
draw again, so that whoever sees two results could average the noise away. A released table is therefore either *written* in one
action, where Spark's committer publishes one attempt of every task and drops the others, and is then read from what was written;
or, for a frame in and a frame out, *checkpointed* at once: the drawn rows are stored and the recipe is forgotten. If a machine
with stored rows is lost, later actions fail; they never draw again.

**Randomness is made where it is used.** Plans travel to the workers, keys do not: each worker asks its own operating system.

**Nothing that grows with the table comes to the driver**: only the answers of statistics, and one number per partition in
simulations.

Without a seed rows stay where they are: no shuffle. Under a test seed they are numbered as the local engine numbers them,
regrouped into the same blocks and drawn from the same generators, so the result is the same table in the same order.
"""

from __future__ import annotations

import os
import re
import threading
import uuid
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from noisewright.core import errors
from noisewright.core.errors import DataError, NoisewrightError, ParameterError
from noisewright.release.columns import ColumnPlan
from noisewright.release.dialects import SPARK
from noisewright.release.engines import OutputFormat, Progress
from noisewright.release.engines.blocks import check_block, in_blocks
from noisewright.release.engines.local import drops, named_unit, needed, refuse_excess, units_sql, who_sql
from noisewright.release.engines.session import start_spark
from noisewright.release.perturb import BLOCK, output_schema, perturb_block
from noisewright.release.policy import UnitPolicy
from noisewright.release.sources import SUFFIXES, Source
from noisewright.release.statistics import Statistic

__all__ = ["SparkEngine", "arrow_schema"]

ROW, NUMBER, GROUP = "nw_row", "nw_number", "nw_block"
WITHIN_PARTITION = 33
"""``monotonically_increasing_id`` keeps the number of the row within its partition in this many low bits."""


class SparkEngine:
    """Runs on Spark; see :class:`noisewright.release.engines.Engine`.

    ``session`` is used as it is; without one, a session with ``master`` is started, and stopped on leaving. A frame is run more
    than once (to check units and values, then to draw), so it must give the same rows each time; cache or checkpoint one
    that does not. With ``excess = "first"`` the bound holds in any case: rows are bounded and drawn in one run.
    """

    name = "spark"

    def __init__(self, master: str | None = None, session: Any = None) -> None:
        self.session, self._own = (session, False) if session is not None else start_spark(master or "local[*]")

    def types(self, source: Source) -> dict[str, pa.DataType]:
        schema = arrow_schema(self._frame(source))
        return dict(zip(schema.names, schema.types, strict=True))

    def rows(self, source: Source) -> int | None:
        return source.rows

    def check_units(self, source: Source, unit: UnitPolicy) -> None:
        if unit.column is None:
            return
        with (
            self._view(self._counted(source, UnitPolicy(), [unit.column])) as view,
            _sentences(f"{source.name} cannot be read to its end by Spark"),
        ):
            ((most, missing),) = self.session.sql(units_sql(unit.column, view, SPARK)).collect()
        refuse_excess(unit, most, missing)

    def check_values(self, source: Source, plans: Sequence[ColumnPlan], unit: UnitPolicy) -> None:
        if not plans:
            return
        plans, columns = tuple(plans), needed(plans)
        frame = self._counted(source, unit, columns).select([_quoted(name) for name in columns])

        def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for block in in_blocks(batches, BLOCK):
                check_block(plans, block)
            yield pa.record_batch({"nw_fine": [True]})

        with self._in_utc(), _sentences(f"{source.name} cannot be read to its end by Spark"):
            frame.mapInArrow(look, "nw_fine boolean").count()

    def units(self, source: Source, unit: UnitPolicy) -> Iterator[bytes]:
        column = named_unit(unit, self.types(source))
        with self._view(self._frame(source)) as view, _sentences(f"{source.name} cannot be read to its end by Spark"):
            for (name,) in self.session.sql(who_sql(column, view, SPARK)).toLocalIterator():
                yield name.encode()

    def aggregate(self, source: Source, statistic: Statistic, unit: UnitPolicy) -> pa.Table:
        frame = self._counted(source, unit, [])
        problem = f"{statistic.name} cannot be computed from this table; check its columns and its filter"
        with self._view(frame) as view, self._in_utc(), _sentences(problem):
            return self.session.sql(statistic.select(view, SPARK)).toArrow()

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
        if format not in ("parquet", "csv"):
            raise ParameterError(
                f"Spark writes parquet or csv, not {format!r}; choose one of these, or the engine local."
            )
        place = _url(str(target))
        with self._in_utc(), _sentences(f"Spark could not read {source.name}, or not write {target}"):
            released = self._released(source, plans, unit, seed)
            writer = released.write.mode("errorifexists")
            with self._watched(source.rows, progress):
                if format == "parquet":
                    writer.option("compression", "snappy").parquet(place)
                else:
                    writer.option("header", True).option("escape", '"').csv(place)
            _tidy(target)
            written = self.session.read.schema(released.schema)
            found = written.parquet(place) if format == "parquet" else written.option("header", True).csv(place)
            rows = int(found.count())
        source.check_unchanged()
        if progress is not None:
            progress(rows, rows)
        return rows

    def frame(self, source: Source, plans: Sequence[ColumnPlan], unit: UnitPolicy, seed: int | None = None) -> Any:
        """The released rows as a Spark frame, drawn and stored now: later actions read them and never draw again."""
        with self._in_utc(), _sentences(f"Spark could not read {source.name} to its end"):
            return self._released(source, plans, unit, seed).localCheckpoint(eager=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._own:
            self.session.stop()

    # Reading --------------------------------------------------------------------------------------------------------------

    def _frame(self, source: Source, ordered: bool = False) -> Any:
        """A source as a Spark frame; ``ordered``: its rows in the order in which the local engine reads them."""
        if source.format == "spark":
            return source.held
        with _sentences(f"Spark cannot read {source.name}"):
            if source.format == "memory":
                return self.session.createDataFrame(source.held, _spark_schema(source.schema))
            if source.format == "remote":
                return self._remote(source.paths[0])
            if source.format not in ("parquet", "csv", "json"):
                raise DataError(
                    f"Spark cannot read {source.name}; use the engine local, or store the table as Parquet."
                )
            paths = [_url(os.path.abspath(path)) for path in source.paths]
            if not ordered or len(paths) == 1:
                return self._read(source, paths)
            # Spark sorts the pieces of several files by size; one file keeps its order, and so does a union.
            frame = self._read(source, paths[:1])
            for path in paths[1:]:
                frame = frame.unionAll(self._read(source, [path]))
            return frame

    def _read(self, source: Source, paths: list[str]) -> Any:
        reader = self.session.read
        if source.format == "parquet":
            return reader.parquet(*paths)
        reader = reader.schema(_spark_schema(source.schema)).option("mode", "FAILFAST")
        if source.format == "json":
            return reader.json(paths)
        options = {"header": True, "sep": source.separator, "quote": '"', "escape": '"', "multiLine": True}
        return reader.options(**options).csv(paths)

    def _remote(self, url: str) -> Any:
        for suffix, form in SUFFIXES.items():
            if url.rstrip("/").lower().endswith(suffix) and form in ("parquet", "json"):
                return getattr(self.session.read, form)(url)
        if os.path.splitext(url)[1]:
            raise DataError(f"{url}: Spark reads addresses of Parquet and JSON lines; store the table as one of these.")
        return self.session.read.parquet(url)

    def _counted(self, source: Source, unit: UnitPolicy, columns: Sequence[str], ordered: bool = False) -> Any:
        """The rows that count; if some are left out, with their place in the column ``nw_row``."""
        frame = self._frame(source, ordered or drops(unit))
        own = [str(unit.column)] if drops(unit) else []
        for name in (*columns, *own):
            if name not in frame.columns:
                raise DataError(
                    f"{source.name} has no column {name!r}; the names in a policy must be those of the table."
                )
        return _first(frame, unit) if own else frame

    # Drawing --------------------------------------------------------------------------------------------------------------

    def _released(self, source: Source, plans: Sequence[ColumnPlan], unit: UnitPolicy, seed: int | None) -> Any:
        """The recipe of the released rows; run it once."""
        columns = needed(plans)
        frame = self._counted(source, unit, columns, ordered=seed is not None)
        if seed is not None and drops(unit):
            frame = frame.orderBy(ROW)
        frame = frame.select([_quoted(name) for name in columns])
        released = _spark_schema(output_schema(plans, arrow_schema(frame)))
        plans = tuple(plans)
        if seed is None:

            def draw(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
                for block in in_blocks(batches, BLOCK):
                    yield perturb_block(plans, block, 0, None)

            return frame.mapInArrow(draw, released)

        def replay(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for block in in_blocks(batches, BLOCK):
                number = block.column(GROUP)[0].as_py()
                yield perturb_block(plans, block.select(columns), number, seed)

        return _numbered(frame).mapInArrow(replay, released)

    @contextmanager
    def _view(self, frame: Any) -> Iterator[str]:
        """A frame under a name that SQL can use."""
        name = f"nw_{uuid.uuid4().hex}"
        frame.createOrReplaceTempView(name)
        try:
            yield name
        finally:
            self.session.catalog.dropTempView(name)

    @contextmanager
    def _in_utc(self) -> Iterator[None]:
        """The session's time zone must not move dates and times while we work."""
        before = self.session.conf.get("spark.sql.session.timeZone")
        self.session.conf.set("spark.sql.session.timeZone", "UTC")
        try:
            yield
        finally:
            self.session.conf.set("spark.sql.session.timeZone", before)

    @contextmanager
    def _watched(self, rows: int | None, progress: Progress | None) -> Iterator[None]:
        """Tell of progress while an action runs: the share of finished tasks, in rows."""
        if progress is None or rows is None:
            yield
            return
        tracker, over = self.session.sparkContext.statusTracker(), threading.Event()

        def tell() -> None:
            while not over.wait(0.5):
                found = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                tasks = sum(info.numTasks for info in found if info)
                if tasks:
                    progress(rows * sum(info.numCompletedTasks for info in found if info) // tasks, rows)

        teller = threading.Thread(target=tell, daemon=True)
        teller.start()
        try:
            yield
        finally:
            over.set()
            teller.join()


def arrow_schema(frame: Any) -> pa.Schema:
    """The names and Arrow types of a Spark frame."""
    from pyspark.sql.pandas.types import to_arrow_schema

    with _sentences("a column of the Spark frame has a type that Arrow does not know"):
        found = to_arrow_schema(frame.schema, timezone="UTC")
    return pa.schema([pa.field(field.name, field.type) for field in found])


def _spark_schema(schema: pa.Schema) -> Any:
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema, prefer_timestamp_ntz=True)


def _first(frame: Any, unit: UnitPolicy) -> Any:
    """The first rows of every unit, with their place in the whole table in the column ``nw_row``."""
    from pyspark.sql import Window, functions

    placed = frame.withColumn(ROW, functions.monotonically_increasing_id())
    own = Window.partitionBy(functions.col(_quoted(str(unit.column)))).orderBy(ROW)
    counted = placed.withColumn(NUMBER, functions.row_number().over(own))
    return counted.where(functions.col(NUMBER) <= unit.rows).drop(NUMBER)


def _numbered(frame: Any) -> Any:
    """Whole blocks in each partition, in order, with their number in ``nw_block``; for simulations.

    Rows are stored first, because counting partitions and numbering rows must see the same partitions.
    """
    from pyspark.sql import functions

    stored = frame.localCheckpoint(eager=True).withColumn(ROW, functions.monotonically_increasing_id())
    partition = functions.shiftright(ROW, WITHIN_PARTITION)
    counts = dict(stored.groupBy(partition.alias(GROUP)).count().collect())
    starts, start = [], 0
    for place in range(max(counts, default=0) + 1):
        starts.append(functions.lit(start).cast("bigint"))
        start += counts.get(place, 0)
    within = functions.col(ROW).bitwiseAND((1 << WITHIN_PARTITION) - 1)
    number = functions.element_at(functions.array(*starts), partition.cast("int") + 1) + within
    numbered = (
        stored.withColumn(NUMBER, number).withColumn(GROUP, functions.floor(functions.col(NUMBER) / BLOCK)).drop(ROW)
    )
    partitions = max(1, min(stored.rdd.getNumPartitions(), -(-start // BLOCK)))
    return numbered.repartitionByRange(partitions, GROUP).sortWithinPartitions(NUMBER).drop(NUMBER)


def _quoted(name: str) -> str:
    """A column in Spark's own notation, in which a dot would mean a field of a struct."""
    return SPARK.quote(name)


def _url(path: str) -> str:
    """A local path, taken literally: Hadoop would read brackets and stars as patterns."""
    return "file://" + re.sub(r"([\[\]{}*?\\])", r"\\\1", path)


def _tidy(folder: Path) -> None:
    """Leave only the part files of a local output."""
    if folder.is_dir():
        for name in os.listdir(folder):
            if name.startswith((".", "_")):
                (folder / name).unlink()


@contextmanager
def _sentences(otherwise: str) -> Iterator[None]:
    """Turn what Spark raises into one sentence; a sentence of ours that a worker raised is carried over."""
    try:
        with warnings.catch_warnings():
            # Spark asks for pandas even where it is not used, and then warns about new ones.
            warnings.filterwarnings(
                "ignore", message="PySpark does not yet fully support pandas", category=FutureWarning
            )
            yield
    except NoisewrightError:
        raise
    except Exception as problem:  # py4j, Spark and Python in workers: many kinds, and their texts may quote cells
        found = re.search(r"noisewright\.core\.errors\.(\w+): ([^\n]+)", str(problem))
        kind = getattr(errors, found[1], None) if found else None
        if found and isinstance(kind, type) and issubclass(kind, NoisewrightError):
            raise kind(found[2]) from None
        raise DataError(f"{otherwise}.") from None
