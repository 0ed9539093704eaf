"""The Spark engine: the same blocks, statistics and bounds, on as many machines as Spark has.

**Noise is drawn exactly once.** A Spark frame is a recipe: every action runs it again, and a second run of a noisy recipe would
draw again, so that whoever sees two results could average the noise away. A released table is therefore either *written* in one
action, where Spark's committer publishes one attempt of every task and drops the others, and is then read from what was written;
or, for a frame in and a frame out, *checkpointed* at once: the drawn rows are stored and the recipe is forgotten. If a machine
with stored rows is lost, later actions fail; they never draw again.

**Randomness is made where it is used.** Plans travel to the workers, keys do not: each worker asks its own operating system.

**Nothing that grows with the table comes to the driver**: only the answers of statistics, and one number per partition in
simulations.

**Rows leave in a random order**: drawn rows are stored with random keys of 128 bits, made where the rows are drawn, and sorted by
them. How many parts there are follows from the number of rows and the plans, and which part a row goes to from its key, so
that neither the order nor the parts tell where a row came from; Spark alone would choose both by looking at the partitions of
the input. What is sorted has been drawn and stored before: a lost piece of a sort is made again from the same rows. All orders
are equally likely unless two keys are equal, which among n rows happens with a probability below n^2 / 2^129. Where the policy
keeps the order, rows stay where they are, and the parts are those of the input; where units are bounded, Spark brings the rows
of each unit together, and they are put back into the order of the table before they are drawn.

Under a test seed rows are numbered as the local engine numbers them, regrouped into the same blocks and drawn from the same
generators, so the result is the same table in the same order.

**Nothing that Spark says is shown**, since its logs quote cells: see :mod:`~noisewright.releases.sources.spark`. Inside Spark
columns have names of our own, by their places, so a name in the data can hold anything and meets no other.
"""

from __future__ import annotations

import os
import re
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from noisewright.core.errors import DataError, ParameterError
from noisewright.releases.columns.blocks import block_rows, output_schema, perturb_block
from noisewright.releases.columns.plan import ColumnPlan
from noisewright.releases.engines._cutting import check_block, in_blocks
from noisewright.releases.engines._shuffling import order_words
from noisewright.releases.engines.engine import OutputFormat, Progress
from noisewright.releases.engines.local import check_writable, needed
from noisewright.releases.engines.spark.session import start_spark
from noisewright.releases.engines.spark.shipping import carrying
from noisewright.releases.engines.units import named_unit, refuse_excess, units_sql, who_sql
from noisewright.releases.policy.policy import Order, UnitPolicy
from noisewright.releases.queries.dialects import SPARK
from noisewright.releases.queries.statistics import Statistic
from noisewright.releases.sources.formulas import FORMULA, PLAIN, harmless_name
from noisewright.releases.sources.source import SUFFIXES, Source
from noisewright.releases.sources.spark import arrow_schema, sentences, spark_schema, through_spark, zoned

__all__ = ["SparkEngine"]

ROW, NUMBER, GROUP = "nw_row", "nw_number", "nw_block"
KEYS = ("nw_key", "nw_key_too")
PART_BLOCKS = 4
"""Blocks of drawn rows that make a part of a released table, on average."""
CSV = {"header": True, "quote": '"', "escape": '"', "ignoreLeadingWhiteSpace": False, "ignoreTrailingWhiteSpace": False}
BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
WITHIN_PARTITION = 33
"""``monotonically_increasing_id`` keeps the number of the row within its partition in this many low bits."""


class SparkEngine:
    """Runs on Spark; see :class:`noisewright.releases.engines.engine.Engine`.

    ``session`` is used as it is; without one, a session with ``master`` is started, and stopped on leaving. A frame is run more
    than once (to check units and values, then to draw), so it must give the same rows each time; cache or checkpoint one
    that does not. With ``excess = "first"`` the bound holds in any case: rows are bounded and drawn in one run.
    """

    name = "spark"

    def __init__(self, master: str | None = None, session: Any = None) -> None:
        self.session, self._own = (session, False) if session is not None else start_spark(master or "local[*]")

    def types(self, source: Source) -> dict[str, pa.DataType]:
        if source.format == "memory":
            found = {name: through_spark(pa.field(name, kind)) or kind for name, kind in source.types.items()}
        else:
            schema = arrow_schema(self._frame(source), source.used)
            found = dict(zip(schema.names, schema.types, strict=True))
        found |= dict.fromkeys(source.widened & found.keys(), pa.float64())
        return found | {name: zoned(found[name], kind) for name, kind in source.types.items() if name in found}

    def rows(self, source: Source) -> int | None:
        return source.rows

    def check_units(self, source: Source, unit: UnitPolicy) -> None:
        if unit.column is None:
            return
        with self._reading(source), self._view(source, UnitPolicy(), [unit.column]) as view:
            ((most, missing),) = self.session.sql(units_sql(unit.column, view, SPARK)).collect()
        refuse_excess(unit, most, missing)

    def check_values(self, source: Source, plans: Sequence[ColumnPlan], unit: UnitPolicy) -> None:
        if not plans:
            return
        plans, columns, size = tuple(plans), needed(plans), block_rows(plans)

        def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for block in in_blocks(batches, size):
                check_block(plans, block.rename_columns(columns))
            yield pa.record_batch({"nw_fine": [True]})

        with self._reading(source), self._in_utc(), self._in_batches(size):
            frame = self._counted(source, unit, columns).select(_places(columns))
            frame.mapInArrow(carrying(self.session, plans, look), "nw_fine boolean").count()

    def check_output(self, source: Source, plans: Sequence[ColumnPlan], format: OutputFormat) -> None:
        _check_known(format, plans)
        check_writable(format, output_schema(plans, pa.schema(list(self.types(source).items()))))

    def units(self, source: Source, unit: UnitPolicy) -> Iterator[bytes]:
        column = named_unit(unit, self.types(source))
        with self._reading(source), self._view(source, UnitPolicy(), [column]) as view:
            for (name,) in self.session.sql(who_sql(column, view, SPARK)).toLocalIterator():
                yield name.encode()

    def aggregate(self, source: Source, statistic: Statistic, unit: UnitPolicy) -> pa.Table:
        problem = (
            f"query {statistic.query!r} cannot be computed from this table; check its columns and its filter, or the table is "
            "damaged"
        )
        with sentences(problem, self.session), self._in_utc(), self._view(source, unit, statistic.columns) as view:
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
        order: Order = "random",
    ) -> int:
        _check_known(format, plans)
        place = _url(str(target))
        with (
            sentences(f"Spark could not read {source.name}, or not write {target}", self.session),
            self._in_utc(),
            self._in_batches(block_rows(plans)),
        ):
            with self._watched(source.rows, progress):
                released = self._released(source, plans, unit, seed, order)
                if format == "csv":
                    released = _harmless(released)
                writer = released.write.mode("errorifexists")
                if format == "parquet":
                    writer.option("compression", "snappy").parquet(place)
                else:
                    writer.options(**CSV).csv(place)
            _tidy(target)
            written = self.session.read.schema(released.schema)
            cells = written.options(multiLine=True, **CSV)  # a cell may have several lines
            rows = int((written.parquet(place) if format == "parquet" else cells.csv(place)).count())
        source.check_unchanged()
        if progress is not None:
            progress(rows, rows)
        return rows

    def frame(
        self,
        source: Source,
        plans: Sequence[ColumnPlan],
        unit: UnitPolicy,
        seed: int | None = None,
        order: Order = "random",
    ) -> Any:
        """The released rows as a Spark frame, drawn and stored now: later actions read them and never draw again."""
        with (
            sentences(f"Spark could not read {source.name} to its end", self.session),
            self._in_utc(),
            self._in_batches(block_rows(plans)),
        ):
            return self._released(source, plans, unit, seed, order).localCheckpoint(eager=True)

    def length(self, frame: Any) -> int:
        with sentences("Spark lost the released rows before they could be counted", self.session):
            return int(frame.count())

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
        with sentences(f"Spark cannot read {source.name}", self.session):
            if source.format == "remote":
                return self._remote(source.paths[0])
            if source.format not in ("parquet", "csv", "json"):
                raise DataError(
                    f"Spark cannot read {source.name}; use the engine local, or store the table as Parquet."
                )
            if any(os.path.basename(path).startswith((".", "_")) for path in source.paths):
                raise DataError(
                    f"Spark passes over files whose names begin with . or _, as {source.name} does; rename it."
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
        reader = self.session.read.option("recursiveFileLookup", True)  # folders on the way are no columns
        if source.format == "parquet":
            return reader.parquet(*paths)
        reader = reader.schema(spark_schema(source.schema)).option("mode", "FAILFAST")
        if source.format == "json":
            return reader.json(paths)
        options = {"header": True, "sep": source.separator, "quote": '"', "escape": '"', "multiLine": True}
        return reader.options(**options).csv(paths)

    def _remote(self, url: str) -> Any:
        reader, place = self.session.read.option("recursiveFileLookup", True), _literal(url)
        for suffix, form in SUFFIXES.items():
            if url.rstrip("/").lower().endswith(suffix) and form in ("parquet", "json"):
                return getattr(reader, form)(place)
        if os.path.splitext(url)[1]:
            raise DataError(f"{url}: Spark reads addresses of Parquet and JSON lines; store the table as one of these.")
        return reader.parquet(place)

    def _picked(self, source: Source, columns: Sequence[str], ordered: bool) -> Any:
        """Some columns of the source, called by their places; only they are read, whatever the others hold."""
        from pyspark.sql import functions

        frame = None if source.format == "memory" else self._frame(source, ordered)
        known = source.schema.names if frame is None else frame.columns
        for name in columns:
            if name not in known:
                raise DataError(
                    f"{source.name} has no column {name!r}; the names in a policy must be those of the table."
                )
        if frame is None and not columns:
            return self.session.range(source.rows)
        if frame is None:
            table = source.held.select(list(columns))
            for field in table.schema:
                if through_spark(field) is None:
                    raise DataError(
                        f"Spark has no type for the column {field.name!r} ({field.type}); cast it, or use the engine local."
                    )
            table = table.cast(pa.schema([source.schema.field(name) for name in columns]))
            table = table.rename_columns(_places(columns))
            return self.session.createDataFrame(table, spark_schema(table.schema))
        placed = frame.toDF(*(f"nw_a{place}" for place in range(len(known))))
        found = [functions.col(f"nw_a{known.index(name)}") for name in columns]
        wide = [one.cast("double") if name in source.widened else one for name, one in zip(columns, found, strict=True)]
        return placed.select([one.alias(f"nw_c{place}") for place, one in enumerate(wide or [functions.lit(1)])])

    def _counted(self, source: Source, unit: UnitPolicy, columns: Sequence[str], ordered: bool = False) -> Any:
        """The rows that count; if some are left out, with their place in the table in the column ``nw_row``."""
        if not unit.drops:
            return self._picked(source, columns, ordered)
        whose = str(unit.column)
        listed = list(dict.fromkeys([*columns, whose]))
        return _first(self._picked(source, listed, True), f"nw_c{listed.index(whose)}", unit.rows)

    # Drawing --------------------------------------------------------------------------------------------------------------

    def _released(
        self, source: Source, plans: Sequence[ColumnPlan], unit: UnitPolicy, seed: int | None, order: Order
    ) -> Any:
        """The recipe of the released rows; run it once. In random order they are drawn and stored by now."""
        columns, size = needed(plans), block_rows(plans)
        frame = self._counted(source, unit, columns, ordered=seed is not None)
        if unit.drops and (order == "kept" or seed is not None):
            frame = frame.orderBy(ROW)  # bounding has brought the rows of each unit together
        frame = frame.select(_places(columns))
        schema = output_schema(plans, arrow_schema(frame.toDF(*columns)))
        plans = tuple(plans)

        def draw(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for block in in_blocks(batches, size):
                number = 0 if seed is None else block.column(GROUP)[0].as_py()
                rows = block.select(_places(columns)).rename_columns(columns)
                drawn = perturb_block(plans, rows, number, seed)
                yield drawn if order == "kept" else _keyed(drawn, number, seed)

        if seed is not None:
            frame = _numbered(frame, size)
        if order == "kept":
            return frame.mapInArrow(carrying(self.session, plans, draw), spark_schema(schema))
        placed = [pa.field(name, field.type) for name, field in zip(_places(schema.names), schema, strict=True)]
        keyed = spark_schema(pa.schema([*placed, *(pa.field(key, pa.int64()) for key in KEYS)]))
        drawn = frame.mapInArrow(carrying(self.session, plans, draw), keyed).localCheckpoint(eager=True)
        parts = max(1, -(-int(drawn.count()) // (PART_BLOCKS * size)))
        ordered = _in_parts(drawn, parts).sortWithinPartitions(*KEYS)
        return ordered.select(_places(schema.names)).toDF(*schema.names)

    def _reading(self, source: Source) -> AbstractContextManager[None]:
        return sentences(f"{source.name} cannot be read to its end by Spark", self.session)

    @contextmanager
    def _view(self, source: Source, unit: UnitPolicy, columns: Sequence[str]) -> Iterator[str]:
        """The rows that count, with these columns under their own names, as something that SQL can name."""
        frame = self._counted(source, unit, columns)
        if columns:
            frame = frame.select(_places(columns)).toDF(*columns)
        name = f"nw_{uuid.uuid4().hex}"
        frame.createOrReplaceTempView(name)
        try:
            yield name
        finally:
            self.session.catalog.dropTempView(name)

    def _in_utc(self) -> AbstractContextManager[None]:
        """The session's time zone must not move dates and times while we work."""
        return self._set("spark.sql.session.timeZone", "UTC")

    def _in_batches(self, rows: int) -> AbstractContextManager[None]:
        """Workers are given no more rows at once than make a block."""
        usual = int(self.session.conf.get(BATCH_ROWS))
        return self._set(BATCH_ROWS, str(rows if usual <= 0 else min(rows, usual)))

    @contextmanager
    def _set(self, key: str, value: str) -> Iterator[None]:
        """A setting of the session for a while."""
        before = self.session.conf.get(key)
        self.session.conf.set(key, value)
        try:
            yield
        finally:
            self.session.conf.set(key, before)

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


def _check_known(format: OutputFormat, plans: Sequence[ColumnPlan]) -> None:
    if format not in ("parquet", "csv"):
        raise ParameterError(f"Spark writes parquet or csv, not {format!r}; choose one of these, or the engine local.")
    if (
        format == "csv"
        and sum(len(plan.outputs) for plan in plans) == 1
        and (plans[0].keep or plans[0].missing == "keep")
    ):
        raise DataError(
            f"{plans[0].title} is released alone and may have missing values, of which Spark leaves no line in a CSV file; "
            "choose parquet, or the engine local."
        )


def _harmless(frame: Any) -> Any:
    """The rows as CSV files have them: what a spreadsheet would run is text."""
    from pyspark.sql import functions

    placed = frame.toDF(*_places(frame.columns))
    found = []
    for name, own in zip(placed.columns, frame.columns, strict=True):
        cell = functions.col(name)
        if dict(placed.dtypes)[name] == "string":
            runs = cell.rlike(FORMULA) & ~cell.rlike(PLAIN)
            cell = functions.when(runs, functions.concat(functions.lit("'"), cell)).otherwise(cell)
        found.append(cell.alias(harmless_name(own)))
    return placed.select(found)


def _places(columns: Sequence[str]) -> list[str]:
    """The names of so many columns inside Spark."""
    return [f"nw_c{place}" for place in range(len(columns))]


def _keyed(drawn: pa.RecordBatch, number: int, seed: int | None) -> pa.RecordBatch:
    """A drawn block under names of our own, with the random keys that it is to be sorted by."""
    words = order_words(drawn.num_rows, number, seed)
    keys = [pa.array(next(words)) for _ in KEYS]
    return pa.RecordBatch.from_arrays([*drawn.columns, *keys], [*_places(drawn.schema.names), *KEYS])


def _in_parts(drawn: Any, parts: int) -> Any:
    """Keyed rows in so many partitions: each has an equal share of the possible keys, and all keys below those of the next."""
    from pyspark.sql import functions

    upper = functions.shiftright(functions.col(KEYS[0]), 32) + functions.lit(1 << 31)
    return drawn.repartitionById(parts, functions.shiftright(upper * functions.lit(parts), 32).cast("int"))


def _first(frame: Any, whose: str, most: int) -> Any:
    """The first rows of every unit, with their place in the whole table in the column ``nw_row``."""
    from pyspark.sql import Window, functions

    placed = frame.withColumn(ROW, functions.monotonically_increasing_id())
    own = Window.partitionBy(whose).orderBy(ROW)
    counted = placed.withColumn(NUMBER, functions.row_number().over(own))
    return counted.where(functions.col(NUMBER) <= most).drop(NUMBER)


def _numbered(frame: Any, size: int) -> Any:
    """Whole blocks of ``size`` rows in each partition, in order, with their number in ``nw_block``; for simulations.

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
        stored.withColumn(NUMBER, number).withColumn(GROUP, functions.floor(functions.col(NUMBER) / size)).drop(ROW)
    )
    partitions = max(1, min(stored.rdd.getNumPartitions(), -(-start // size)))
    return numbered.repartitionByRange(partitions, GROUP).sortWithinPartitions(NUMBER).drop(NUMBER)


def _url(path: str) -> str:
    """A local path, taken literally: Hadoop would read brackets and stars as patterns."""
    return "file://" + _literal(path)


def _literal(path: str) -> str:
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", path)


def _tidy(folder: Path) -> None:
    """Leave only the part files of a local output."""
    if folder.is_dir():
        for name in os.listdir(folder):
            if name.startswith((".", "_")):
                (folder / name).unlink()
