"""Where the rows come from, and how they go back: files, tables and frames behind one :class:`Source`.

=================================  =====================================================================================
a path (or a glob, or a folder)    ``.parquet``, ``.csv``, ``.tsv`` (also ``.gz``), ``.arrow``/``.feather``, ``.jsonl``;
                                   the files of a folder are read in the order of their names
``table@file.duckdb``              a table or view of a DuckDB database
``SELECT ...``                     whatever DuckDB can read
pyarrow, pandas, Polars, DuckDB    tables, record batch readers, frames (lazy ones too) and relations
Spark                              data frames, with the engine ``spark``
=================================  =====================================================================================

Rows have an order, and every pass over a source sees the same rows in that order: what can be read only once or may change
between two readings (readers, lazy frames, relations, a SELECT) is written once to a private temporary file.

>>> source = source_of(pa.table({"age": [31, 47]}))
>>> source.types, source.rows
({'age': DataType(int64)}, 2)
>>> [batch.num_rows for batch in source.batches(["age"])]
[2]
"""

from __future__ import annotations

import glob
import itertools
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import duckdb
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from noisewright.core.errors import DataError, FileFormatError, ParameterError
from noisewright.release.delimited import read_delimited
from noisewright.release.duck import check_names, connected, identifier, literal, quiet

__all__ = ["Format", "Kind", "Source", "source_of"]

Kind = Literal["file", "arrow", "reader", "pandas", "polars", "polars-lazy", "duckdb", "spark"]
"""What was handed over, and so what is handed back."""
Format = Literal["parquet", "csv", "json", "arrow", "duckdb", "memory", "spark", "remote"]
"""How the rows are stored while they are read."""
SUFFIXES: dict[str, Format] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".csv.gz": "csv",
    ".tsv.gz": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
BATCH = 65_536
PARQUET_BUFFER = 1 << 20
"""Column chunks are read through a window of this size, so that a file of one huge row group needs no more memory."""


@dataclass(frozen=True, eq=False)
class Source:
    """A table that can be read more than once, in order; build it with :func:`source_of`."""

    kind: Kind
    name: str
    """What messages call it: the name of a file, or what kind of table it is."""
    format: Format
    schema: pa.Schema
    """Names and types; empty for what only Spark can reach."""
    rows: int | None = None
    paths: tuple[str, ...] = ()
    relation: str = ""
    """What DuckDB reads, as SQL after FROM, where the format is csv, json, parquet or duckdb."""
    separator: str = ","
    held: Any = field(default=None, repr=False)
    """A table, a Spark frame, or the temporary folder of the file."""
    stamps: tuple[tuple[int, int], ...] = ()

    @property
    def types(self) -> dict[str, pa.DataType]:
        """The Arrow type of every column."""
        return dict(zip(self.schema.names, self.schema.types, strict=True))

    def batches(self, columns: Sequence[str], every: int = 1) -> Iterator[pa.RecordBatch]:
        """All rows in order, some columns of them; with ``every`` about one in so many of the rows, spread over the table."""
        self.require(columns)
        with quiet(f"{self.name} cannot be read to its end; it is damaged", FileFormatError):
            yield from self._batches(list(columns), every)
        self.check_unchanged()

    @contextmanager
    def database(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A DuckDB connection in which this source is the view ``data``."""
        if self.format in ("spark", "remote"):
            raise DataError(f"{self.name} can only be read by Spark; choose the engine spark.")
        with connected() as duck:
            with quiet(f"{self.name} cannot be read"):
                if self.format == "duckdb":
                    duck.execute(f"ATTACH {literal(self.paths[0])} AS source (READ_ONLY)")
                if self.format == "memory":
                    duck.register("data", self.held)
                elif self.format == "arrow":
                    duck.register("data", _dataset(self.paths))
                else:
                    duck.execute(f"CREATE TEMP VIEW data AS SELECT * FROM {self.relation}")
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
        if self.stamps and self.stamps != _stamps(self.paths):
            raise DataError(f"{self.name} was changed while it was read; start again when nothing writes to it.")

    def wrap(self, table: pa.Table) -> Any:
        """A table as the kind of thing that came in."""
        match self.kind:
            case "reader":
                return table.to_reader()
            case "pandas":
                return table.to_pandas()
            case "polars" | "polars-lazy":
                import polars

                frame = polars.from_arrow(table)
                return frame.lazy() if self.kind == "polars-lazy" else frame  # type: ignore[union-attr]
            case "duckdb":
                return duckdb.from_arrow(table)
            case "spark":
                return self.held.sparkSession.createDataFrame(table)
            case _:
                return table

    def _batches(self, columns: list[str], every: int = 1) -> Iterator[pa.RecordBatch]:
        if every > 1 and self.format != "parquet":
            yield from itertools.islice(self._batches(columns), 0, None, every)
            return
        match self.format:
            case "parquet":
                seen = 0
                for path in self.paths:
                    with pyarrow.parquet.ParquetFile(path, buffer_size=PARQUET_BUFFER) as file:
                        wanted = [n for n in range(file.num_row_groups) if (seen + n) % every == 0]
                        seen += file.num_row_groups
                        for batch in file.iter_batches(batch_size=BATCH, columns=columns, row_groups=wanted):
                            yield batch.select(columns)  # a name with a dot brings its namesakes along
            case "arrow":
                for path in self.paths:
                    places = [self.schema.get_field_index(name) for name in columns]
                    options = pa.ipc.IpcReadOptions(included_fields=places)
                    with pa.memory_map(path) as mapped, pa.ipc.open_file(mapped, options=options) as file:
                        for number in range(file.num_record_batches):
                            yield file.get_batch(number).select(columns)
            case "memory":
                yield from self.held.select(columns).to_batches(max_chunksize=BATCH)
            case _:
                listed = ", ".join(identifier(name) for name in columns)
                with self.database() as duck:
                    yield from duck.sql(f"SELECT {listed} FROM data").to_arrow_reader(BATCH)


def source_of(data: Any, types: Mapping[str, pa.DataType] | None = None) -> Source:
    """The source of anything in the table above.

    ``types`` says of which type some columns of a CSV file are: what a policy knows (text categories, true/false) and a file of
    characters cannot. It is ignored where the data bring their own types.
    """
    if isinstance(data, (str, os.PathLike)):
        return _from_path(os.fspath(data), dict(types or {}))
    module = type(data).__module__.partition(".")[0]
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if isinstance(data, pa.Table):
        return _in_memory("arrow", "the Arrow table", data)
    if isinstance(data, pa.RecordBatchReader):
        return _spooled("reader", "the record batch reader", data)
    if isinstance(data, duckdb.DuckDBPyRelation):
        with quiet("the DuckDB relation cannot be run"):
            return _spooled("duckdb", "the DuckDB relation", data.to_arrow_reader(BATCH))
    if module == "pandas" and hasattr(data, "columns"):
        return _from_pandas(data)
    if module == "polars" and hasattr(data, "lazy"):
        return _from_polars(data)
    if module == "pyspark" and hasattr(data, "mapInArrow"):
        from noisewright.release.engines.spark import arrow_schema

        schema = arrow_schema(data)
        check_names("the Spark frame", schema.names)
        return Source("spark", "the Spark frame", "spark", schema, held=data)
    raise ParameterError(
        "data are a path, or a table of pyarrow, pandas, Polars, DuckDB or Spark, not " + type(data).__name__ + "."
    )


# Files --------------------------------------------------------------------------------------------------------------------


def _from_path(text: str, types: Mapping[str, pa.DataType]) -> Source:
    if "\0" in text:
        raise FileFormatError(f"{text!r} cannot be the name of a file.")
    if re.match(r"(?is)\s*(select|with|from)\s", text) and not os.path.exists(text):
        with quiet("the SELECT cannot be run by DuckDB; check its text and the files it names"), connected() as duck:
            return _spooled("file", "the SELECT", duck.sql(text).to_arrow_reader(BATCH))
    if re.match(r"[a-z0-9]+://", text):
        return Source("file", text, "remote", pa.schema([]), paths=(text,))
    table, at, file = text.rpartition("@")
    if at and file.endswith((".duckdb", ".db", ".ddb")) and not os.path.exists(text):
        return _from_database(table, file)
    paths = _files(text)
    name = Path(text).name
    formats = {_format(path) for path in paths}
    if len(formats) > 1:
        raise FileFormatError(
            f"{name} holds files of more than one format; name the wanted ones, for example {name}/*.parquet."
        )
    readers = {"parquet": _from_parquet, "arrow": _from_arrow, "json": _from_json}
    stamps = _stamps(paths)
    (form,) = formats
    if form == "csv":
        found = read_delimited(paths, types)
        return Source(
            "file", name, "csv", found.schema, found.rows, paths, found.relation, found.separator, None, stamps
        )
    schema, rows, relation = readers[form](paths)
    check_names(name, schema.names)
    return Source("file", name, form, schema, rows, paths, relation, stamps=stamps)


def _files(text: str) -> tuple[str, ...]:
    """The files that a path means, in the order of their names."""
    try:
        if os.path.isdir(text):
            inside = sorted(entry.name for entry in os.scandir(text) if entry.is_file())
            paths = [os.path.join(text, name) for name in inside if not name.startswith((".", "_"))]
            if not paths:
                raise FileFormatError(f"the folder {text} holds no files.")
        elif os.path.exists(text):
            paths = [text]
        else:
            paths = sorted(path for path in glob.glob(text, recursive=True) if os.path.isfile(path))
        for path in paths:
            with open(path, "rb"):
                pass
    except OSError as problem:
        raise FileFormatError(f"{text} cannot be read: {problem.strerror}.") from None
    if not paths:
        raise FileFormatError(f"there is no file {text}.")
    return tuple(paths)


def _format(path: str) -> Format:
    name = Path(path).name.lower()
    for suffix, form in SUFFIXES.items():
        if name.endswith(suffix):
            return form
    if name.endswith((".duckdb", ".db", ".ddb")):
        raise FileFormatError(f"{Path(path).name} holds many tables; say which, as in visits@{Path(path).name}.")
    raise FileFormatError(f"{Path(path).name}: tables are read from files ending in {', '.join(SUFFIXES)}.")


def _from_parquet(paths: tuple[str, ...]) -> tuple[pa.Schema, int, str]:
    schema, rows = None, 0
    for path in paths:
        sentence = f"{Path(path).name} is not a Parquet file, or it was cut short"
        with quiet(sentence, FileFormatError), pyarrow.parquet.ParquetFile(path) as file:
            found, rows = file.schema_arrow.remove_metadata(), rows + file.metadata.num_rows
        schema = _same(schema, found, path, paths[0])
    return schema, rows, f"read_parquet([{', '.join(literal(path) for path in paths)}])"


def _from_arrow(paths: tuple[str, ...]) -> tuple[pa.Schema, int, str]:
    schema, rows = None, 0
    for path in paths:
        with quiet(f"{Path(path).name} is not an Arrow (Feather) file, or it was cut short", FileFormatError):
            with pa.memory_map(path) as mapped, pa.ipc.open_file(mapped) as file:
                found = file.schema.remove_metadata()
            rows += _dataset((path,)).count_rows()
        schema = _same(schema, found, path, paths[0])
    return schema, rows, ""


def _dataset(paths: tuple[str, ...]) -> Any:
    """Arrow files as something that can be scanned."""
    import pyarrow.dataset  # brings pandas along, where it is installed

    return pyarrow.dataset.dataset(list(paths), format="ipc")


def _from_json(paths: tuple[str, ...]) -> tuple[pa.Schema, None, str]:
    listed = ", ".join(literal(path) for path in paths)
    relation = f"read_json([{listed}], format='newline_delimited', sample_size=-1)"
    with quiet(f"{Path(paths[0]).name} does not hold one JSON object a line", FileFormatError), connected() as duck:
        schema = duck.sql(f"SELECT * FROM {relation} LIMIT 0").to_arrow_table().schema
    return schema, None, relation


def _from_database(table: str, path: str) -> Source:
    _files(path)
    relation = "source." + ".".join(identifier(part) for part in table.split("."))
    file = Path(path).name
    with connected() as duck:
        with quiet(f"{file} is not a DuckDB database, or another program has it open", FileFormatError):
            duck.execute(f"ATTACH {literal(path)} AS source (READ_ONLY)")
        with quiet(f"{file} has no table {table!r} that can be read"):
            schema = duck.sql(f"SELECT * FROM {relation} LIMIT 0").to_arrow_table().schema
            ((rows,),) = duck.sql(f"SELECT count(*) FROM {relation}").fetchall()
    return Source("file", f"{table}@{file}", "duckdb", schema, rows, (path,), relation, stamps=_stamps((path,)))


def _same(schema: pa.Schema | None, found: pa.Schema, path: str, first: str) -> pa.Schema:
    if schema is not None and not schema.equals(found):
        raise DataError(
            f"{Path(path).name} has other columns or types than {Path(first).name}; all files need the same ones."
        )
    return found


def _stamps(paths: Sequence[str]) -> tuple[tuple[int, int], ...]:
    try:
        found = [os.stat(path) for path in paths]
    except OSError:
        return ((-1, -1),)
    return tuple((one.st_size, one.st_mtime_ns) for one in found)


# Tables and frames --------------------------------------------------------------------------------------------------------


def _in_memory(kind: Kind, name: str, table: pa.Table) -> Source:
    check_names(name, table.schema.names)
    return Source(kind, name, "memory", table.schema.remove_metadata(), table.num_rows, held=table)


def _spooled(kind: Kind, name: str, reader: pa.RecordBatchReader) -> Source:
    """Write what can be read once to a temporary file, which goes when the source goes."""
    check_names(name, reader.schema.names)
    folder = _Folder()
    path = os.path.join(folder.name, "rows.arrow")
    rows = 0
    options = pa.ipc.IpcWriteOptions(compression="lz4", unify_dictionaries=True)
    with (
        quiet(f"{name} cannot be read to its end, or there is no room for a copy in {tempfile.gettempdir()}"),
        pa.OSFile(path, "wb") as file,
        pa.ipc.new_file(file, reader.schema, options=options) as writer,
    ):
        for batch in reader:
            rows += batch.num_rows
            writer.write_batch(batch)
    return Source(
        kind, name, "arrow", reader.schema.remove_metadata(), rows, (path,), held=folder, stamps=_stamps((path,))
    )


class _Folder:
    """A private folder that is removed when nothing refers to it any more, at the latest when the program ends."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="noisewright-")
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


def _from_pandas(frame: Any) -> Source:
    check_names("the pandas frame", [str(name) for name in frame.columns])
    with quiet("a column of the pandas frame holds values of more than one type; give every column one type"):
        table = pa.Table.from_pandas(frame, preserve_index=False)
    return _in_memory("pandas", "the pandas frame", table.replace_schema_metadata())


def _from_polars(frame: Any) -> Source:
    if hasattr(frame, "collect"):
        import polars

        folder = _Folder()
        path = os.path.join(folder.name, "rows.arrow")
        try:
            frame.sink_ipc(path, maintain_order=True, compression="lz4", compat_level=polars.CompatLevel.oldest())
        except Exception:  # the texts of Polars' own errors quote cells, and its classes need Polars
            raise DataError("the lazy Polars frame cannot be run to its end.") from None
        schema, rows, _ = _from_arrow((path,))
        return Source(
            "polars-lazy", "the Polars frame", "arrow", schema, rows, (path,), held=folder, stamps=_stamps((path,))
        )
    return _in_memory("polars", "the Polars frame", frame.to_arrow())
