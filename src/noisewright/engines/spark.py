"""Rows of Spark frames under names of our own, in the order of random keys, or in numbered blocks."""

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

from noisewright._utils.validation import OutputFormat
from noisewright.engines.base import Progress, named_unit, refuse_excess, units_sql, who_sql
from noisewright.engines.blocks import check_block, in_blocks
from noisewright.engines.local import check_writable, needed
from noisewright.engines.shuffling import order_words
from noisewright.engines.spark_session import carrying, start_spark
from noisewright.exceptions import DataError, ParameterError
from noisewright.planning.column_plan import ColumnPlan, block_rows, output_schema, perturb_block
from noisewright.policy.policy import Order, UnitPolicy
from noisewright.queries.sql import SPARK
from noisewright.queries.statistics import Statistic
from noisewright.tables.reading import arrow_schema, sentences, spark_schema, through_spark, zoned
from noisewright.tables.source import FORMULA, PLAIN, SUFFIXES, Source, harmless_name

__all__ = [
    "GROUP",
    "KEYS",
    "NUMBER",
    "ROW",
    "SparkEngine",
    "counted",
    "frame_of",
    "in_parts",
    "keyed",
    "local_url",
    "numbered",
    "places",
]


ROW, NUMBER, GROUP = "nw_row", "nw_number", "nw_block"
KEYS = ("nw_key", "nw_key_too")
WITHIN_PARTITION = 33
"""``monotonically_increasing_id`` keeps the number of the row within its partition in this many low bits."""


def places(columns: Sequence[str]) -> list[str]:
    """Return the names of the columns inside Spark."""
    return [f"nw_c{place}" for place in range(len(columns))]


def keyed(drawn: pa.RecordBatch, number: int, seed: int | None) -> pa.RecordBatch:
    """A drawn block under names of our own, with the random keys that it must be sorted by."""
    words = order_words(drawn.num_rows, number, seed)
    keys = [pa.array(next(words)) for _ in KEYS]
    return pa.RecordBatch.from_arrays([*drawn.columns, *keys], [*places(drawn.schema.names), *KEYS])


def in_parts(drawn: Any, parts: int) -> Any:
    """Split keyed rows into partitions: each has an equal share of the possible keys, and all keys below those of the next."""
    from pyspark.sql import functions

    upper = functions.shiftright(functions.col(KEYS[0]), 32) + functions.lit(1 << 31)
    return drawn.repartitionById(parts, functions.shiftright(upper * functions.lit(parts), 32).cast("int"))


def numbered(frame: Any, size: int) -> Any:
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
    found = stored.withColumn(NUMBER, number).withColumn(GROUP, functions.floor(functions.col(NUMBER) / size)).drop(ROW)
    partitions = max(1, min(stored.rdd.getNumPartitions(), -(-start // size)))
    return found.repartitionByRange(partitions, GROUP).sortWithinPartitions(NUMBER).drop(NUMBER)


# Reading ------------------------------------------------------------------------------------------------------------------
#
# A source as a Spark frame: the columns that are requested, under names by their places, and the rows that count.


def frame_of(session: Any, source: Source, ordered: bool = False) -> Any:
    """A source as a Spark frame; ``ordered``: its rows in the order in which the local engine reads them."""
    if source.format == "spark":
        return source.held
    with sentences(f"Spark cannot read {source.name}", session):
        if source.format == "remote":
            return _remote(session, source.paths[0])
        if source.format not in ("parquet", "csv", "json") or source.held is not None:
            raise DataError(f"Spark cannot read {source.name}; use the engine local, or store the table as Parquet.")
        if any(os.path.basename(path).startswith((".", "_")) for path in source.paths):
            raise DataError(f"Spark passes over files whose names begin with . or _, as {source.name} does; rename it.")
        paths = [local_url(os.path.abspath(path)) for path in source.paths]
        if not ordered or len(paths) == 1:
            return _read(session, source, paths)
        # Spark sorts the pieces of several files by size; one file keeps its order, and so does a union.
        frame = _read(session, source, paths[:1])
        for path in paths[1:]:
            frame = frame.unionAll(_read(session, source, [path]))
        return frame


def _read(session: Any, source: Source, paths: list[str]) -> Any:
    reader = session.read.option("recursiveFileLookup", True)  # folders on the way are not columns
    if source.format == "parquet":
        return reader.parquet(*paths)
    reader = reader.schema(spark_schema(source.schema)).option("mode", "FAILFAST")
    if source.format == "json":
        return reader.json(paths)
    options = {"header": True, "sep": source.separator, "quote": '"', "escape": '"', "multiLine": True}
    return reader.options(**options).csv(paths)


def _remote(session: Any, url: str) -> Any:
    reader, place = session.read.option("recursiveFileLookup", True), _literal(url)
    for suffix, form in SUFFIXES.items():
        if url.rstrip("/").lower().endswith(suffix) and form in ("parquet", "json"):
            return getattr(reader, form)(place)
    if os.path.splitext(url)[1]:
        raise DataError(f"{url}: Spark reads addresses of Parquet and JSON lines; store the table as one of these.")
    return reader.parquet(place)


def _picked(session: Any, source: Source, columns: Sequence[str], ordered: bool) -> Any:
    """Some columns of the source, called by their places; only they are read, whatever the others hold."""
    from pyspark.sql import functions

    frame = None if source.format == "memory" else frame_of(session, source, ordered)
    known = source.schema.names if frame is None else frame.columns
    for name in columns:
        if name not in known:
            raise DataError(f"{source.name} has no column {name!r}; the names in a policy must be those of the table.")
    if frame is None and not columns:
        return session.range(source.rows)
    if frame is None:
        table = source.held.select(list(columns))
        for field in table.schema:
            if through_spark(field) is None:
                raise DataError(
                    f"Spark has no type for the column {field.name!r} ({field.type}); cast it, or use the engine local."
                )
        table = table.cast(pa.schema([source.schema.field(name) for name in columns]))
        table = table.rename_columns(places(columns))
        return session.createDataFrame(table, spark_schema(table.schema))
    placed = frame.toDF(*(f"nw_a{place}" for place in range(len(known))))
    found = [functions.col(f"nw_a{known.index(name)}") for name in columns]
    wide = [one.cast("double") if name in source.widened else one for name, one in zip(columns, found, strict=True)]
    return placed.select([one.alias(f"nw_c{place}") for place, one in enumerate(wide or [functions.lit(1)])])


def counted(session: Any, source: Source, unit: UnitPolicy, columns: Sequence[str], ordered: bool = False) -> Any:
    """The rows that count; if some are left out, with their place in the table in the column ``nw_row``."""
    if not unit.drops:
        return _picked(session, source, columns, ordered)
    whose = str(unit.column)
    listed = list(dict.fromkeys([*columns, whose]))
    return _first(_picked(session, source, listed, True), f"nw_c{listed.index(whose)}", unit.rows)


def _first(frame: Any, whose: str, most: int) -> Any:
    """The first rows of every unit, with their place in the whole table in the column ``nw_row``."""
    from pyspark.sql import Window, functions

    placed = frame.withColumn(ROW, functions.monotonically_increasing_id())
    own = Window.partitionBy(whose).orderBy(ROW)
    counted = placed.withColumn(NUMBER, functions.row_number().over(own))
    return counted.where(functions.col(NUMBER) <= most).drop(NUMBER)


def local_url(path: str) -> str:
    """A local path, taken literally: Hadoop would read brackets and stars as patterns."""
    return "file://" + _literal(path)


def _literal(path: str) -> str:
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", path)


# Engine -------------------------------------------------------------------------------------------------------------------
#
# The Spark engine: the same blocks, statistics and bounds, on as many machines as Spark has.
#
# **Noise is drawn exactly once.** A Spark frame is a recipe: every action runs it again, and a second run of a noisy
# recipe would
# draw again, so that anyone who sees two results could average the noise away. A released table is therefore either
# *written* in one action, where Spark's committer publishes one attempt of every task and drops the others, and is then
# read from what was written; or, for a frame in and a frame out, *checkpointed* at once: the drawn rows are stored and
# the recipe is forgotten. If a machine with stored rows is lost, later actions fail; they never draw again.
#
# **Randomness is made where it is used.** Plans travel to the workers, keys do not: each worker asks its own operating system.
#
# **Nothing that grows with the table comes to the driver**: only the answers of statistics, and one number per partition in
# simulations.
#
# **Rows leave in a random order**: drawn rows are stored with random keys of 128 bits, made where the rows are drawn, and
# sorted by them. How many parts there are follows from the number of rows and the plans, and which part a row goes to
# from its key, so that neither the order nor the parts disclose where a row came from; Spark alone would choose both by
# looking at the partitions of the input. What is sorted has been drawn and stored before: a lost piece of a sort is made
# again from the same rows. All orders are equally likely unless two keys are equal, which among n rows happens with a
# probability below n^2 / 2^129. Where the policy keeps the order, rows stay where they are, and the parts
# are the input's; where units are bounded, Spark brings the rows of each unit together, and they are put back into the order of
# the table before they are drawn.
#
# Under a test seed rows are numbered as the local engine numbers them, regrouped into the same blocks and drawn from the same
# generators, so the result is the same table in the same order.
#
# **Nothing that Spark says is shown**, since its logs quote cells: see :mod:`~noisewright.tables.reading`. Inside Spark
# columns have names of our own, by their places, so a name in the data can hold anything and meets no other.


PART_BLOCKS = 4
"""Blocks of drawn rows that make a part of a released table, on average."""
CSV = {"header": True, "quote": '"', "escape": '"', "ignoreLeadingWhiteSpace": False, "ignoreTrailingWhiteSpace": False}
BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"


class SparkEngine:
    """Runs on Spark; see :class:`noisewright.engines.base.Engine`.

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
            schema = arrow_schema(frame_of(self.session, source), source.used)
            found = dict(zip(schema.names, schema.types, strict=True))
        found |= dict.fromkeys(source.widened & found.keys(), pa.float64())
        return found | {name: zoned(found[name], kind) for name, kind in source.types.items() if name in found}

    def rows(self, source: Source) -> int | None:
        return source.rows

    def is_empty(self, source: Source) -> bool:
        if source.rows is not None:
            return source.rows == 0
        with self._reading(source):
            return bool(frame_of(self.session, source).isEmpty())

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
            frame = counted(self.session, source, unit, columns).select(places(columns))
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
        place = local_url(str(target))
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

    # Drawing --------------------------------------------------------------------------------------------------------------

    def _released(
        self, source: Source, plans: Sequence[ColumnPlan], unit: UnitPolicy, seed: int | None, order: Order
    ) -> Any:
        """The recipe of the released rows; run it once. In random order they are drawn and stored by now."""
        columns, size = needed(plans), block_rows(plans)
        frame = counted(self.session, source, unit, columns, ordered=seed is not None)
        if unit.drops and (order == "kept" or seed is not None):
            frame = frame.orderBy(ROW)  # bounding has brought the rows of each unit together
        frame = frame.select(places(columns))
        schema = output_schema(plans, arrow_schema(frame.toDF(*columns)))
        plans = tuple(plans)

        def draw(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for block in in_blocks(batches, size):
                number = 0 if seed is None else block.column(GROUP)[0].as_py()
                rows = block.select(places(columns)).rename_columns(columns)
                drawn = perturb_block(plans, rows, number, seed)
                yield drawn if order == "kept" else keyed(drawn, number, seed)

        if seed is not None:
            frame = numbered(frame, size)
        if order == "kept":
            return frame.mapInArrow(carrying(self.session, plans, draw), spark_schema(schema))
        placed = [pa.field(name, field.type) for name, field in zip(places(schema.names), schema, strict=True)]
        with_keys = spark_schema(pa.schema([*placed, *(pa.field(key, pa.int64()) for key in KEYS)]))
        drawn = frame.mapInArrow(carrying(self.session, plans, draw), with_keys).localCheckpoint(eager=True)
        parts = max(1, -(-int(drawn.count()) // (PART_BLOCKS * size)))
        ordered = in_parts(drawn, parts).sortWithinPartitions(*KEYS)
        return ordered.select(places(schema.names)).toDF(*schema.names)

    def _reading(self, source: Source) -> AbstractContextManager[None]:
        return sentences(f"{source.name} cannot be read to its end by Spark", self.session)

    @contextmanager
    def _view(self, source: Source, unit: UnitPolicy, columns: Sequence[str]) -> Iterator[str]:
        """The rows that count, with these columns under their own names, as something that SQL can name."""
        frame = counted(self.session, source, unit, columns)
        if columns:
            frame = frame.select(places(columns)).toDF(*columns)
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
        """Report progress while an action runs: the share of finished tasks, in rows."""
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
    """Return the rows for CSV files: anything that a spreadsheet would run becomes text."""
    from pyspark.sql import functions

    placed = frame.toDF(*places(frame.columns))
    found = []
    for name, own in zip(placed.columns, frame.columns, strict=True):
        cell = functions.col(name)
        if dict(placed.dtypes)[name] == "string":
            runs = cell.rlike(FORMULA) & ~cell.rlike(PLAIN)
            cell = functions.when(runs, functions.concat(functions.lit("'"), cell)).otherwise(cell)
        found.append(cell.alias(harmless_name(own)))
    return placed.select(found)


def _tidy(folder: Path) -> None:
    """Leave only the part files of a local output."""
    if folder.is_dir():
        for name in os.listdir(folder):
            if name.startswith((".", "_")):
                (folder / name).unlink()
