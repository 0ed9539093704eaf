"""Text that a spreadsheet would run, made harmless in CSV files and read back as it was.

A cell that starts with ``=``, ``+``, ``-`` or ``@`` is a formula to a spreadsheet: it can fetch addresses and start
programs. Therefore such text is written with an apostrophe before it, which spreadsheets take for "this is text". A text that
has apostrophes before such a sign gets one more, so that nothing is lost: anyone who reads takes one away. Plain
numbers, and a sign alone, are nothing that runs; they stay as they are.

>>> cells = pa.array(["=1+1", "'=1+1", " @sum", "-3", "+", "a-b", None])
>>> harmless(cells).to_pylist()
["'=1+1", "''=1+1", "' @sum", '-3', '+', 'a-b', None]
>>> original(harmless(cells)).equals(cells), original_name(harmless_name("=x"))
(True, '=x')

>>> source = from_cells("visits", "", ["age", "note"], iter([["31", "a"], [None, ""]]), {})
>>> source.types, [batch.to_pylist() for batch in source.batches(["age", "note"])]
({'age': DataType(int64), 'note': DataType(string)}, [[{'age': 31, 'note': 'a'}, {'age': None, 'note': ''}]])
"""

from __future__ import annotations

import itertools
import os
import tempfile
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import duckdb
import pyarrow as pa
import pyarrow.ipc

from noisewright._utils.inputs import FREE, PER_BYTE
from noisewright.columns.adapters import as_dtype
from noisewright.columns.arrow import arrow_array, arrow_scalar, pc, written_size
from noisewright.columns.nested import is_text
from noisewright.columns.scalars import INTEGER
from noisewright.exceptions import DataError, FileFormatError
from noisewright.io.atomic import Spool
from noisewright.tables.duckdb import (
    Batches,
    Connection,
    check_names,
    connected,
    identifier,
    misfit,
    quiet,
    read_delimited,
    valid,
)

__all__ = [
    "BATCH",
    "FORMULA",
    "PLAIN",
    "SUFFIXES",
    "Cells",
    "Format",
    "Source",
    "SourceKind",
    "arrow_file",
    "dataset_of",
    "from_cells",
    "harmless",
    "harmless_name",
    "harmless_rows",
    "original",
    "original_name",
    "spelled_number",
    "spooled",
    "spooled_cells",
    "stamps_of",
    "used_part",
]


FORMULA = r"^'*[ \t\r\n]*[-=+@\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]"
"""Pattern of text that a spreadsheet might run, after any number of apostrophes; also in the wide signs of East Asian
keyboards.
"""
PLAIN = r"^'*[-+]([0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?)?\z"
"""Pattern of text that only looks like it: a number, or a sign alone."""


def harmless(column: Any) -> Any:
    """A column as CSV files have it: text that might be run with an apostrophe before it."""
    if not is_text(column.type):
        return column
    mark, nothing = arrow_scalar("'", column.type), arrow_scalar("", column.type)
    return pc.if_else(_runs(column), pc.binary_join_element_wise(mark, column, nothing), column)


def original(column: Any) -> Any:
    """A column of a CSV file as it was before :func:`harmless`."""
    if not is_text(column.type):
        return column
    marked = pc.and_(_runs(column), pc.starts_with(column, "'"))
    return pc.if_else(marked, pc.utf8_slice_codeunits(column, 1), column)


def harmless_name(name: str) -> str:
    """The name of a column in the first row of a CSV file."""
    return str(harmless(arrow_array([name]))[0])


def original_name(name: str) -> str:
    """The name that :func:`harmless_name` was given."""
    return str(original(arrow_array([name]))[0])


def harmless_rows(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch as a CSV file has it, names and all."""
    names = [harmless_name(name) for name in batch.schema.names]
    return pa.RecordBatch.from_arrays([harmless(column) for column in batch.columns], names=names)


def _runs(column: Any) -> Any:
    plain = pc.match_substring_regex(column, PLAIN)
    return pc.and_not(pc.match_substring_regex(column, FORMULA), plain)


# Source -------------------------------------------------------------------------------------------------------------------
#
# A table that can be read more than once, in order, whatever it came as: :class:`Source`.


SourceKind = Literal["file", "arrow", "reader", "pandas", "polars", "polars-lazy", "duckdb", "spark"]
"""Kind of input table, and therefore of the output."""
Format = Literal["parquet", "csv", "json", "arrow", "duckdb", "memory", "spark", "remote", "sheet"]
"""Storage of the rows while they are read; sheets are copied to CSV before."""
SUFFIXES: dict[str, Format] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".csv.gz": "csv",
    ".tsv.gz": "csv",
    ".csv.zst": "csv",
    ".tsv.zst": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".xlsx": "sheet",
}
BATCH = 65_536
PARQUET_BUFFER = 1 << 20
"""Column chunks are read through a window of this size, so that a file of one huge row group needs no more memory."""
TOGETHER = 32 << 20
"""Small row groups are read together up to so many bytes."""
WRITTEN_OUT = 4 << 20
"""Maximum number of bytes of a batch in which repeated texts are written out."""
DECODED = 1 << 20
"""Texts that share beginnings are read so many bytes at a time, if each is as long as its page."""
MAPPED = 256 << 20
"""Arrow files with batches of more bytes are mapped, so that one huge batch needs no more memory."""


@dataclass(frozen=True, eq=False)
class Source:
    """A table that can be read more than once, in order; build it with :func:`~noisewright.tables.reading.source_of`."""

    kind: SourceKind
    name: str
    """Name in messages: the name of a file, or the kind of table."""
    format: Format
    schema: pa.Schema
    """Names and types; empty for what only Spark can reach."""
    rows: int | None = None
    paths: tuple[str, ...] = ()
    relation: str = ""
    """Relation that DuckDB reads, as SQL after FROM, where the format is csv, json, parquet or duckdb."""
    separator: str = ","
    held: Any = field(default=None, repr=False)
    """Table, Spark frame, or holder of a temporary file."""
    stamps: tuple[tuple[int, ...], ...] = ()
    guessed: frozenset[str] = frozenset()
    """Columns whose types neither the table nor the policy states; without a policy they are read off the values."""
    widened: frozenset[str] = frozenset()
    """Columns of integers that are read as numbers, because the policy states so."""

    dtypes: Mapping[str, Any] = field(default_factory=dict)
    """Types of a pandas frame, in which its columns come back."""
    origin: tuple[str, ...] = ()
    """The files that a temporary file was copied from."""
    delta: Mapping[str, int] = field(default_factory=dict)
    """Columns of a Parquet file with texts in delta encodings: see :func:`._parquet_pages.check_pages`."""
    used: frozenset[str] | None = None
    """The columns that a policy names, there or not; None: there is no policy, and all are of interest."""

    @property
    def types(self) -> dict[str, pa.DataType]:
        """The Arrow type of every column that is used."""
        return {one.name: one.type for one in self.schema if self.used is None or one.name in self.used}

    def batches(
        self, columns: Sequence[str], every: int = 1, rows: int = BATCH, coded: Sequence[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        """Yield all rows in order, some columns of them; with ``every`` about one in ``every`` rows, spread over the table.

        At most ``rows`` of them are held at once, where the rows are not in memory anyway. Texts in columns that are ``coded``
        may come with a dictionary, as they lie in a Parquet file.
        """
        self.require(columns)
        seen = of_block = size = 0
        most = (FREE + PER_BYTE * sum(os.path.getsize(path) for path in self.origin or self.paths if path)) // 2
        with quiet(f"{self.name} cannot be read to its end; it is damaged", FileFormatError):
            for batch in self._batches(list(columns), every, min(rows, BATCH), coded):
                seen += batch.num_rows
                of_block, size = of_block + batch.num_rows, size + written_size(batch, coded)
                if self.paths and size > most:
                    raise FileFormatError(
                        f"{self.name} holds far more in {rows:,} rows than its size allows; leave out its long columns, or store "
                        "it without compression."
                    )
                if of_block >= rows:
                    of_block = size = 0
                yield self._wide(batch)
        self.check_unchanged()
        if every == 1 and self.rows not in (None, seen):
            raise FileFormatError(f"{self.name} has not as many rows as it says; it is damaged.")

    @contextmanager
    def database(self) -> Iterator[Connection]:
        """A DuckDB connection in which this source is the view ``data``."""
        if self.format in ("spark", "remote"):
            raise DataError(f"{self.name} can only be read by Spark; choose the engine spark.")
        files = self.paths if self.format in ("csv", "json", "parquet") else ()
        packed = self.paths if self.format in ("parquet", "arrow") else ()
        with connected(files, database=self.paths[0] if self.format == "duckdb" else None, packed=packed) as duck:
            with quiet(f"{self.name} cannot be read"):
                relation = self.relation or "rows_of_source"
                if self.format == "memory":
                    duck.register("rows_of_source" if self.widened else "data", self.held)
                elif self.format == "arrow":
                    seen = dataset_of(self.paths)
                    fields = [seen.schema.field(name) for name in self.types] or [seen.schema.field(0)]
                    seen = seen.replace_schema(
                        pa.schema(fields)
                    )  # what is not used may be of a type that DuckDB has not
                    duck.register("rows_of_source" if self.widened else "data", seen)
                if self.relation or self.widened:
                    wide = ", ".join(
                        f"CAST({identifier(n)} AS DOUBLE) AS {identifier(n)}" for n in sorted(self.widened)
                    )
                    replaced = f" REPLACE ({wide})" if wide else ""
                    duck.execute(f"CREATE TEMP VIEW data AS SELECT *{replaced} FROM {relation}")
            yield duck
        self.check_unchanged()

    def require(self, columns: Sequence[str]) -> None:
        """Refuse names that are not there."""
        for name in columns:
            if name not in self.schema.names:
                raise DataError(
                    f"{self.name} has no column {name!r}; the names in a policy must be those of the table."
                )

    def check_unchanged(self) -> None:
        """Refuse a file that was rewritten since it was opened: checks and draws would be about different rows."""
        if self.stamps and self.stamps != stamps_of(self.paths):
            raise DataError(f"{self.name} was changed while it was read; start again when nothing writes to it.")

    def wrap(self, table: pa.Table) -> Any:
        """A table as the kind of thing that came in."""
        match self.kind:
            case "reader":
                return table.to_reader()
            case "pandas":
                frame = table.to_pandas()
                for name in self.dtypes.keys() & set(frame.columns):
                    frame[name] = as_dtype(frame[name], self.dtypes[name])
                return frame
            case "polars" | "polars-lazy":
                import polars

                frame = polars.from_arrow(table)
                return frame.lazy() if self.kind == "polars-lazy" else frame  # type: ignore[union-attr]
            case "duckdb":
                return duckdb.from_arrow(table)
            case "spark":
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", FutureWarning)  # PySpark's own, about versions of pandas
                    return self.held.sparkSession.createDataFrame(table)
            case _:
                return table

    def _wide(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch with integers as numbers, where that is requested; none may lose a digit."""
        for name in self.widened.intersection(batch.schema.names):
            place = batch.schema.get_field_index(name)
            if INTEGER.holds(batch.column(place).type):
                try:
                    batch = batch.set_column(place, name, batch.column(place).cast(pa.float64()))
                except pa.ArrowException:
                    raise misfit(name, pa.float64()) from None
        return batch

    def _batches(
        self, columns: list[str], every: int, rows: int, coded: Sequence[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        if every > 1 and self.format != "parquet":
            yield from itertools.islice(self._batches(columns, 1, rows), 0, None, every)
            return
        match self.format:
            case "parquet":
                from pyarrow.parquet import ParquetFile

                seen = 0
                texts = [name for name in (*coded, *self._texts(columns)) if name not in self.delta]
                page = max((size for name, size in self.delta.items() if name.partition(", ")[0] in columns), default=0)
                few = max(1, min(rows, DECODED // max(page, 1)))
                for path in self.paths:
                    with ParquetFile(os.path.abspath(path), buffer_size=PARQUET_BUFFER, read_dictionary=texts) as file:
                        wanted = [n for n in range(file.num_row_groups) if (seen + n) % every == 0]
                        seen += file.num_row_groups
                        for groups in _together(wanted, file.metadata):
                            found = file.iter_batches(batch_size=few, columns=columns, row_groups=groups)
                            for batch in found if few == rows else _joined(found, rows):
                                whole = valid(batch.select(columns))  # a name with a dot brings its namesakes along
                                yield from self._written_out(whole, coded)
            case "arrow":
                for path in self.paths:
                    places = [self.schema.get_field_index(name) for name in columns]
                    options = pa.ipc.IpcReadOptions(included_fields=places)
                    with arrow_file(path, options) as file:
                        for number in range(file.num_record_batches):
                            yield valid(file.get_batch(number).select(columns))
            case "memory":
                yield from self.held.select(columns).to_batches(max_chunksize=rows)
            case _:
                listed = ", ".join(identifier(name) for name in columns)
                with self.database() as duck:
                    yield from duck.sql(f"SELECT {listed} FROM data").to_arrow_reader(rows)

    def _texts(self, columns: Sequence[str]) -> list[str]:
        """Columns of texts or bytes: in a Parquet file a long one may stand once, and be repeated very often.

        Which of them have a dictionary is not asked: pyarrow ends the process where that part of a file is damaged.
        """
        kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
        return [name for name in columns if any(is_a(self.schema.field(name).type) for is_a in kinds)]

    def _written_out(self, batch: pa.RecordBatch, coded: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The same rows in batches of a bounded size, with dictionaries only where the file states them, or in ``coded``."""
        import pyarrow.compute as pc

        places = [
            place
            for place, field in enumerate(batch.schema)
            if pa.types.is_dictionary(field.type)
            and field.name not in coded
            and not pa.types.is_dictionary(self.schema.field(field.name).type)
        ]
        size = 0
        for place in places:
            column = batch.column(place)
            size += pc.sum(pc.take(pc.binary_length(column.dictionary), column.indices)).as_py() or 0
        if size > WRITTEN_OUT and batch.num_rows > 1:
            half = batch.num_rows // 2
            yield from self._written_out(batch.slice(0, half), coded)
            yield from self._written_out(batch.slice(half), coded)
            return
        for place in places:
            field = self.schema.field(batch.schema.names[place])
            batch = batch.set_column(place, field, batch.column(place).cast(field.type))
        yield batch


def _together(groups: Sequence[int], metadata: Any) -> Iterator[list[int]]:
    """Row groups to read in one go: pyarrow keeps the data of all of them until the last one is through."""
    waiting: list[int] = []
    rows = size = 0
    for group in groups:
        waiting.append(group)
        rows += metadata.row_group(group).num_rows
        size += metadata.row_group(group).total_byte_size
        if rows >= BATCH or size >= TOGETHER:
            yield waiting
            waiting, rows, size = [], 0, 0
    if waiting:
        yield waiting


def _joined(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Join small batches to some of at most ``rows`` rows, or of a bounded size."""
    waiting: list[pa.RecordBatch] = []
    many = size = 0
    for batch in batches:
        if waiting and (many + batch.num_rows > rows or size + batch.nbytes > DECODED):
            yield pa.concat_batches(waiting)
            waiting, many, size = [], 0, 0
        waiting.append(batch)
        many, size = many + batch.num_rows, size + batch.nbytes
    if waiting:
        yield pa.concat_batches(waiting)


@contextmanager
def arrow_file(path: str, options: pa.ipc.IpcReadOptions | None = None) -> Iterator[pa.ipc.RecordBatchFileReader]:
    """An Arrow file whose batches are read, not mapped: the system ends a process that maps a file which someone cuts short."""
    with pa.OSFile(path) as plain, pa.ipc.open_file(plain, options=options) as file:
        if os.path.getsize(path) <= MAPPED * max(1, file.num_record_batches):
            yield file
            return
    with pa.memory_map(path) as mapped, pa.ipc.open_file(mapped, options=options) as file:
        yield file


def dataset_of(paths: tuple[str, ...]) -> Any:
    """Arrow files as something that can be scanned."""
    import pyarrow.dataset  # brings pandas along, where it is installed
    from pyarrow.fs import LocalFileSystem

    disk, form = LocalFileSystem(), pyarrow.dataset.IpcFileFormat()
    fragments = [form.make_fragment(os.path.abspath(path), disk) for path in paths]
    return pyarrow.dataset.FileSystemDataset(fragments, fragments[0].physical_schema, form, disk)


def stamps_of(paths: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Return marks that distinguish a file from another one in its place; they change when someone writes to it."""
    try:
        found = [os.stat(path) for path in paths]
    except OSError:
        return ((-1,),)
    return tuple((one.st_dev, one.st_ino, one.st_size, one.st_mtime_ns, one.st_ctime_ns) for one in found)


# Cells --------------------------------------------------------------------------------------------------------------------
#
# Tables of cells without types (sheets, SQLite) as a private CSV file, which is then read as any other: one way to types.


Cells = Sequence[str | None]
"""A row: each cell as text, None where it is missing."""
WHOLE = 1 << 53
"""Below this a float holds every integer."""


def from_cells(
    name: str,
    path: str,
    names: Sequence[str],
    rows: Iterator[Cells],
    types: Mapping[str, pa.DataType],
    used: Collection[str] | None = None,
) -> Source:
    """The source of cells from the file at ``path``; ``types`` and ``used`` as for CSV files, but an empty text is a text."""
    check_names(name, names)
    spool = spooled_cells(name, names, rows, used)
    found = read_delimited((spool.path,), types, used, title=name, quoted_missing=False)
    return Source(
        "file",
        name,
        "csv",
        found.schema,
        found.rows,
        (spool.path,),
        found.relation,
        held=spool,
        stamps=stamps_of((spool.path,)),
        guessed=frozenset(names) - set(types),
        origin=(path,),
    )


def spooled_cells(name: str, names: Sequence[str], rows: Iterator[Cells], used: Collection[str] | None = None) -> Spool:
    """A private CSV file with these rows; of columns that are not used it has the names alone."""
    spool = Spool()
    wanted = [used is None or one in used for one in names]
    with (
        quiet(f"{name} cannot be read to its end, or there is no room for a copy in {tempfile.gettempdir()}"),
        open(spool.path, "w", encoding="utf-8", newline="") as file,
    ):
        file.write(",".join(map(_quoted, names)) + "\n")
        for row in rows:
            cells = zip(row, wanted, strict=True)
            file.write(",".join("" if cell is None or not use else _quoted(cell) for cell, use in cells) + "\n")
    return spool


def spelled_number(value: float) -> str:
    """A float as text: without a fraction where it has none, and otherwise so that the same float is read again.

    >>> spelled_number(31.0), spelled_number(0.1), spelled_number(1e300)
    ('31', '0.1', '1e+300')
    """
    return str(int(value)) if abs(value) < WHOLE and value == int(value) else repr(value)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


# What can be read only once ------------------------------------------------------------------------------------------------


def spooled(
    kind: SourceKind,
    name: str,
    reader: pa.RecordBatchReader | Batches,
    used: Collection[str] | None,
) -> Source:
    """Write a source that can be read once to a temporary file, which goes when the source goes."""
    check_names(name, reader.schema.names, used)
    kept = used_part(reader.schema, used)
    spool, rows = Spool(), 0
    options = pa.ipc.IpcWriteOptions(compression="lz4", unify_dictionaries=True)
    with (
        quiet(f"{name} cannot be read to its end, or there is no room for a copy in {tempfile.gettempdir()}"),
        pa.OSFile(spool.path, "wb") as file,
        pa.ipc.new_file(file, kept, options=options) as writer,
    ):
        for batch in reader:
            rows += batch.num_rows
            writer.write_batch(valid(batch.select(kept.names)))
    return Source(
        kind,
        name,
        "arrow",
        kept.remove_metadata(),
        rows,
        (spool.path,),
        held=spool,
        stamps=stamps_of((spool.path,)),
    )


def used_part(schema: pa.Schema, used: Collection[str] | None) -> pa.Schema:
    """The columns that are used; one at least, to count rows by."""
    return pa.schema([one for one in schema if used is None or one.name in used] or [schema.field(0)])
