"""The local engine: a stream of blocks through the cores of this machine, in constant memory.

Rows are read in order, cut into blocks of as many rows as the plans say and perturbed by a pool of threads (the samplers spend
their time in numpy and AES, outside Python's lock, and threads share blocks where processes would copy them). They are written
in random order (:mod:`noisewright.engines.shuffling`), or in the table's order where the policy keeps it. A bounded
number of blocks is in flight, so memory does not grow with the table. Grouping and bounding of units are DuckDB's, which moves
to disk what does not fit.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self, get_args

import duckdb
import pyarrow as pa
import pyarrow.ipc

from noisewright._utils.validation import OutputFormat
from noisewright.columns.nested import BYTES, is_text
from noisewright.columns.registry import visible_type
from noisewright.engines.base import Progress, named_unit, refuse_excess, units_sql, who_sql
from noisewright.engines.blocks import check_block, in_blocks, in_pieces, through
from noisewright.engines.shuffling import in_random_order, keyed
from noisewright.exceptions import DataError, FileFormatError, NoisewrightError, ParameterError, PolicyError
from noisewright.planning.column_plan import ColumnPlan, block_rows, output_schema, perturb_block
from noisewright.policy.policy import Order, UnitPolicy
from noisewright.queries.sql import DUCKDB
from noisewright.queries.statistics import Statistic
from noisewright.tables.duckdb import PACKED, packed_ending, quiet
from noisewright.tables.source import BATCH, Source, harmless_name, harmless_rows

__all__ = ["LocalEngine", "check_writable", "needed", "rows_writer"]


GROUPED = 8
"""Blocks in a row group of the Parquet output."""
LONGEST_LINE = 1_900_000
"""Bytes of the texts in a row of a CSV file, which leaves space for its other cells."""


class LocalEngine:
    """Runs on this machine alone; see :class:`noisewright.engines.base.Engine`."""

    name = "local"

    def types(self, source: Source) -> dict[str, pa.DataType]:
        return source.types

    def rows(self, source: Source) -> int | None:
        return source.rows

    def is_empty(self, source: Source) -> bool:
        if source.rows is not None:
            return source.rows == 0
        with source.database() as duck, quiet(f"{source.name} cannot be read; it is damaged"):
            return not duck.sql("SELECT 1 FROM data LIMIT 1").fetchall()

    def check_units(self, source: Source, unit: UnitPolicy) -> None:
        if unit.column is None:
            return
        source.require([unit.column])
        with source.database() as duck, quiet(f"{source.name} cannot be read to its end; it is damaged"):
            ((most, missing),) = duck.sql(units_sql(unit.column, "data", DUCKDB)).fetchall()
        refuse_excess(unit, most, missing)

    def check_values(self, source: Source, plans: Sequence[ColumnPlan], unit: UnitPolicy) -> None:
        if plans:
            size = block_rows(plans)

            def look(piece: tuple[int, pa.RecordBatch], number: int) -> None:
                before, rows = piece
                check_block(plans, rows, None if unit.drops else before)

            with closing(through(look, in_pieces(_rows(source, unit, plans, size), size))) as checked:
                for _ in checked:
                    pass

    def check_output(self, source: Source, plans: Sequence[ColumnPlan], format: OutputFormat) -> None:
        check_writable(format, output_schema(plans, source.schema))
        _check_room(source, plans, format)

    def units(self, source: Source, unit: UnitPolicy) -> Iterator[bytes]:
        column = named_unit(unit, self.types(source))
        with source.database() as duck, quiet(f"{source.name} cannot be read to its end; it is damaged"):
            for batch in duck.sql(who_sql(column, "data", DUCKDB)).to_arrow_reader(BATCH):
                yield from (name.encode() for name in batch.column(0).to_pylist())

    def aggregate(self, source: Source, statistic: Statistic, unit: UnitPolicy) -> pa.Table:
        with source.database() as duck:
            relation = _bounded(source, unit, statistic.columns)
            try:
                return duck.sql(statistic.select(relation, DUCKDB)).to_arrow_table()
            except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException):
                raise PolicyError(
                    f"query {statistic.query!r} cannot be computed from this table; check the types of its columns and its "
                    "filter."
                ) from None
            except (duckdb.Error, pa.ArrowException):
                raise DataError(
                    f"query {statistic.query!r} stopped at a value that its filter or its column cannot take, or {source.name} "
                    "is damaged."
                ) from None

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
        total = source.rows if not unit.drops else None
        done = drawn = 0

        def tell(rows: int) -> None:
            nonlocal drawn
            drawn += rows
            if progress is not None:
                progress((done + drawn) // 2, total)  # every row is drawn, and later written

        schema, size, coded = output_schema(plans, source.schema), GROUPED * block_rows(plans), format == "parquet"
        with (
            rows_writer(target, format, schema) as write,
            closing(self._released(source, plans, unit, seed, order, tell, coded)) as released,
        ):
            for group in in_blocks(released, size):
                write(group)
                done += group.num_rows
                tell(0)
        return done

    def frame(
        self,
        source: Source,
        plans: Sequence[ColumnPlan],
        unit: UnitPolicy,
        seed: int | None = None,
        order: Order = "random",
    ) -> pa.Table:
        schema = output_schema(plans, source.schema)
        return pa.Table.from_batches(self._released(source, plans, unit, seed, order, lambda rows: None), schema)

    def length(self, frame: pa.Table) -> int:
        return int(frame.num_rows)

    @staticmethod
    def _released(
        source: Source,
        plans: Sequence[ColumnPlan],
        unit: UnitPolicy,
        seed: int | None,
        order: Order,
        told: Callable[[int], None],
        coded: bool = False,
    ) -> Generator[pa.RecordBatch]:
        """The rows as they must be written, labels perhaps ``coded``; ``told`` hears of those that were drawn."""
        size = block_rows(plans)

        def work(block: pa.RecordBatch, number: int) -> pa.RecordBatch:
            drawn = perturb_block(plans, block, number, seed, coded)
            return drawn if order == "kept" else keyed(drawn, number, seed)

        with closing(through(work, in_blocks(_rows(source, unit, plans, size), size))) as drawn:
            if order == "random":
                yield from in_random_order(drawn, seed, told, None if unit.drops else source.rows)
                return
            for block in drawn:
                told(block.num_rows)
                yield block

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


def needed(plans: Sequence[ColumnPlan]) -> list[str]:
    """The columns that some plan reads, each once."""
    return list(dict.fromkeys(name for plan in plans for name in plan.names))


def _bounded(source: Source, unit: UnitPolicy, columns: Sequence[str], ordered: bool = False) -> str:
    """Return the relation to read after FROM: all rows, or the first ones of every unit."""
    if not unit.drops:
        return "data"
    source.require([str(unit.column)])
    listed = ", ".join(DUCKDB.quote(name) for name in dict.fromkeys([*columns, str(unit.column)]))
    row = _unused("nw_row", source.schema.names)
    order = f"ORDER BY {row}" if ordered else ""
    return (
        f"(SELECT * EXCLUDE ({row}) FROM (SELECT {listed}, row_number() OVER () AS {row} FROM data) "
        f"QUALIFY row_number() OVER (PARTITION BY {DUCKDB.quote(str(unit.column))} ORDER BY {row}) <= {unit.rows} {order})"
    )


def _unused(name: str, names: Sequence[str]) -> str:
    """The name, made longer until no column has it in upper or lower case."""
    taken = {other.casefold() for other in names}
    while name in taken:
        name += "_"
    return name


def _coded(plans: Sequence[ColumnPlan]) -> list[str]:
    """The columns of labels: anyone who reads one looks each label up once, and may have them with a dictionary."""
    plain = {name for plan in plans if plan.secret is None or not plan.secret.coded for name in plan.names}
    return [name for name in needed(plans) if name not in plain]


def _rows(source: Source, unit: UnitPolicy, plans: Sequence[ColumnPlan], size: int) -> Iterator[pa.RecordBatch]:
    """The rows that count, in order, at most ``size`` of them at once."""
    columns = needed(plans)
    relation = _bounded(source, unit, columns, ordered=True)
    if relation == "data":
        yield from source.batches(columns, rows=size, coded=_coded(plans))
        return
    listed = ", ".join(DUCKDB.quote(name) for name in columns)
    types = [source.schema.field(name) for name in columns]
    with source.database() as duck, quiet(f"{source.name} cannot be read to its end; it is damaged", FileFormatError):
        for batch in duck.sql(f"SELECT {listed} FROM {relation}").to_arrow_reader(min(BATCH, size)):
            yield batch.cast(pa.schema(types))


def check_writable(format: OutputFormat, schema: pa.Schema) -> None:
    """Refuse a format that there is not, or that cannot hold a column: a row without values is written to memory."""
    _check_known(format)
    for field in schema:
        alone = pa.schema([pa.field(field.name, field.type)])
        try:
            with _begun(io.BytesIO(), format, alone) as writer:
                writer.write_batch(pa.RecordBatch.from_arrays([pa.nulls(1, field.type)], schema=alone))
        except pa.ArrowException:
            raise DataError(
                f"the column {field.name!r} is of type {field.type}, which {format} cannot hold; choose another format, or "
                "leave the column out."
            ) from None


def _check_room(source: Source, plans: Sequence[ColumnPlan], format: OutputFormat) -> None:
    """Refuse what cells have no space for, before anything is spent: rows, and texts that are released as they are."""
    if format == "xlsx" or format.startswith("csv"):
        kept = [name for plan in plans if plan.mechanism is None for name in plan.names]
        texts = [name for name in kept if is_text(visible_type(source.schema.field(name).type))]
        if format == "xlsx":
            _check_sheet(source, texts)
        elif texts and source.format != "csv":  # whose rows had space in such a file
            _check_lines(source, texts)


def _check_sheet(source: Source, texts: Sequence[str]) -> None:
    from noisewright.tables.excel import LONGEST_TEXT, MOST_ROWS

    longest = "".join(f", max({_units(DUCKDB.quote(name))})" for name in texts)
    rows, lengths = source.rows, [0] * len(texts)
    if rows is None or texts:
        with source.database() as duck, quiet(f"{source.name} cannot be read to its end; it is damaged"):
            ((rows, *lengths),) = duck.sql(f"SELECT count(*){longest} FROM data").fetchall()
    if rows > MOST_ROWS:
        raise DataError(f"a sheet has room for {MOST_ROWS:,} rows, and this table has more; choose another format.")
    for name, length in zip(texts, lengths, strict=True):
        if (length or 0) > LONGEST_TEXT:
            raise DataError(
                f"the column {name!r} has a text of more than {LONGEST_TEXT:,} characters, for which a cell of a sheet has no "
                "room; choose another format."
            )


def _units(text: str) -> str:
    """The length of a text as spreadsheets count it: a sign beyond the first 65,536 of Unicode counts twice."""
    beyond = f"length(regexp_replace({text}, '[^\\x{{10000}}-\\x{{10FFFF}}]', '', 'g'))"
    return f"CASE WHEN 2 * length({text}) > 32767 THEN length({text}) + {beyond} ELSE length({text}) END"


def _check_lines(source: Source, texts: Sequence[str]) -> None:
    quoted = [DUCKDB.quote(name) for name in texts]
    sizes = [f"coalesce(2 * strlen({one}) - strlen(replace({one}, '\"', '')), 0)" for one in quoted]
    with source.database() as duck, quiet(f"{source.name} cannot be read to its end; it is damaged"):
        ((longest,),) = duck.sql(f"SELECT max({' + '.join(sizes)}) FROM data").fetchall()
    if (longest or 0) > LONGEST_LINE:
        raise DataError(
            f"the kept texts of a row ({', '.join(texts)}) have more than {LONGEST_LINE:,} bytes together, for which a row of a "
            "CSV file has no room; choose another format."
        )


# Writing ------------------------------------------------------------------------------------------------------------------


@contextmanager
def rows_writer(target: Path, format: OutputFormat, schema: pa.Schema) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """A function that appends rows to a new file; on an error that file, and no other, is removed.

    For Parquet the texts of all rows may be coded; what is written is the same.
    """
    _check_known(format)
    with _on_disk(target):
        target.open("xb").close()  # what is there already is not ours, neither to overwrite nor to remove
    try:
        cells = format.startswith("csv")
        if cells:
            schema = pa.schema([pa.field(harmless_name(one.name), one.type) for one in schema])
        with _open(target, format, schema) as writer:

            def write(rows: pa.RecordBatch) -> None:
                with _on_disk(target):
                    writer.write_batch(harmless_rows(rows) if cells else rows)

            yield write
    except BaseException:
        target.unlink(missing_ok=True)
        raise


@contextmanager
def _open(target: Path, format: OutputFormat, schema: pa.Schema) -> Iterator[Any]:
    stack = ExitStack()
    with _on_disk(target):
        writer = stack.enter_context(_begun(target, format, schema))
    try:
        yield writer
    finally:
        with _on_disk(target):
            stack.close()


def _check_known(format: OutputFormat) -> None:
    if format not in get_args(OutputFormat):
        raise ParameterError(
            f"there is no output format {format!r}; choose one of {', '.join(get_args(OutputFormat))}."
        )


@contextmanager
def _begun(target: Any, format: OutputFormat, schema: pa.Schema) -> Iterator[Any]:
    """A writer of batches to a path, or to a stream."""
    match format:
        case "parquet":
            from noisewright.engines.blocks import ParquetRows

            with closing(ParquetRows(target, schema)) as rows:
                yield rows
        case "arrow":
            with pa.ipc.new_file(target, schema) as writer:
                yield writer
        case "xlsx":
            from noisewright.tables.excel import SheetWriter

            with closing(SheetWriter(target, schema)) as sheet:
                yield sheet
        case _:
            from pyarrow.csv import CSVWriter

            if any(BYTES.holds(type_) for type_ in schema.types):
                raise pa.ArrowInvalid("a cell cannot hold this type")
            packed = PACKED.get(packed_ending(format))  # Arrow states no name and no time in the compressed file
            with pa.output_stream(target, compression=packed) as file, CSVWriter(file, schema) as writer:
                yield writer


@contextmanager
def _on_disk(target: Path) -> Iterator[None]:
    """Describe a failure of writing in a sentence."""
    try:
        yield
    except NoisewrightError:
        raise
    except (OSError, pa.ArrowException) as problem:
        number = getattr(problem, "errno", None)  # Arrow has words of its own for it
        reason = os.strerror(number) if number else "the disk is full, not writable or gone"
        raise FileFormatError(f"{target} cannot be written: {reason}.") from None
