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
between two readings (readers, lazy frames, relations, a SELECT) is written once to a private file that has no name.

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
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import duckdb
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from noisewright.core.errors import DataError, FileFormatError, NoisewrightError, ParameterError
from noisewright.release.casts import fits_json, name_of, recast
from noisewright.release.delimited import TYPES, misfit, read_delimited
from noisewright.release.duck import check_names, connected, identifier, literal, quiet
from noisewright.release.scratch import Spool

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
    """A table, a Spark frame, or what keeps a temporary file."""
    stamps: tuple[tuple[int, int], ...] = ()
    guessed: frozenset[str] = frozenset()
    """Columns whose types were read off their values, because neither the table nor the policy tells them."""
    widened: frozenset[str] = frozenset()
    """Columns of whole numbers that are read as numbers, because the policy says so."""

    left_out: tuple[tuple[str, pa.DataType], ...] = ()
    """Columns that nobody asked for, and that were therefore not copied to a temporary file."""

    @property
    def types(self) -> dict[str, pa.DataType]:
        """The Arrow type of every column."""
        return dict(zip(self.schema.names, self.schema.types, strict=True)) | dict(self.left_out)

    def batches(self, columns: Sequence[str], every: int = 1) -> Iterator[pa.RecordBatch]:
        """All rows in order, some columns of them; with ``every`` about one in so many of the rows, spread over the table."""
        self.require(columns)
        with quiet(f"{self.name} cannot be read to its end; it is damaged", FileFormatError):
            for batch in self._batches(list(columns), every):
                yield self._wide(batch)
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
                relation = self.relation or "rows_of_source"
                if self.format == "memory":
                    duck.register("rows_of_source" if self.widened else "data", self.held)
                elif self.format == "arrow":
                    duck.register("rows_of_source" if self.widened else "data", _dataset(self.paths))
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

    def _wide(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch with whole numbers as numbers, where that is asked for; none may lose a digit."""
        for name in self.widened.intersection(batch.schema.names):
            place = batch.schema.get_field_index(name)
            if pa.types.is_integer(batch.column(place).type):
                try:
                    batch = batch.set_column(place, name, batch.column(place).cast(pa.float64()))
                except pa.ArrowException:
                    raise misfit(name, pa.float64()) from None
        return batch

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
                        for groups in _together(wanted, file.metadata):
                            for batch in file.iter_batches(batch_size=BATCH, columns=columns, row_groups=groups):
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


def _together(groups: Sequence[int], metadata: Any) -> Iterator[list[int]]:
    """Row groups to read in one go: pyarrow keeps what it read of all of them until the last one is through."""
    waiting: list[int] = []
    rows = 0
    for group in groups:
        waiting.append(group)
        rows += metadata.row_group(group).num_rows
        if rows >= BATCH:
            yield waiting
            waiting, rows = [], 0
    if waiting:
        yield waiting


def source_of(
    data: Any,
    types: Mapping[str, pa.DataType] | None = None,
    stated: Collection[str] = frozenset(),
    used: Collection[str] | None = None,
) -> Source:
    """The source of anything in the table above.

    ``types``: of which type columns are where the data have no types of their own, by what a policy says (CSV, JSON lines,
    pandas); a value that is not of that type is refused. Data with types keep them, but for columns of whole numbers of which a
    policy has ``stated`` that they are numbers. ``used``: what must be copied has only these columns in its copy.
    """
    found = _source_of(data, dict(types or {}), used)
    whole = {name for name in stated if name in found.types and name_of(found.types[name]) == "integer"}
    widened = frozenset(name for name in whole if types is not None and name_of(types[name]) == "number")
    if not widened or found.format in ("spark", "remote"):
        return found
    fields = [field.with_type(pa.float64()) if field.name in widened else field for field in found.schema]
    return replace(found, schema=pa.schema(fields), widened=widened)


def _source_of(data: Any, types: dict[str, pa.DataType], used: Collection[str] | None) -> Source:
    if isinstance(data, (str, os.PathLike)):
        return _from_path(os.fspath(data), types, used)
    module = type(data).__module__.partition(".")[0]
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if isinstance(data, pa.Table):
        return _in_memory("arrow", "the Arrow table", data)
    if isinstance(data, pa.RecordBatchReader):
        return _spooled("reader", "the record batch reader", data, used)
    if isinstance(data, duckdb.DuckDBPyRelation):
        with quiet("the DuckDB relation cannot be run"):
            return _spooled("duckdb", "the DuckDB relation", data.to_arrow_reader(BATCH), used)
    if module == "pandas" and hasattr(data, "columns"):
        return _from_pandas(data, types)
    if module == "polars" and hasattr(data, "lazy"):
        return _from_polars(data, used)
    if module == "pyspark" and hasattr(data, "mapInArrow"):
        from noisewright.release.engines.spark import arrow_schema

        schema = arrow_schema(data)
        check_names("the Spark frame", schema.names)
        return Source("spark", "the Spark frame", "spark", schema, held=data)
    raise ParameterError(
        "data are a path, or a table of pyarrow, pandas, Polars, DuckDB or Spark, not " + type(data).__name__ + "."
    )


# Files --------------------------------------------------------------------------------------------------------------------


def _from_path(text: str, types: Mapping[str, pa.DataType], used: Collection[str] | None) -> Source:
    if "\0" in text:
        raise FileFormatError(f"{text!r} cannot be the name of a file.")
    if re.match(r"(?is)\s*(select|with|from)\s", text) and not os.path.exists(text):
        with quiet("the SELECT cannot be run by DuckDB; check its text and the files it names"), connected() as duck:
            reader = duck.sql(text).to_arrow_reader(BATCH)
            untyped = re.search(r"(?i)csv|json|tsv", text) is not None
            return _spooled("file", "the SELECT", reader, used, types if untyped else None)
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
    stamps = _stamps(paths)
    (form,) = formats
    if form == "csv":
        found = read_delimited(paths, types)
        guessed = frozenset(found.schema.names) - set(types)
        return Source(
            "file", name, "csv", found.schema, found.rows, paths, found.relation, found.separator, None, stamps, guessed
        )
    if form == "json":
        schema, relation = _from_json(paths, types)
        check_names(name, schema.names)
        guessed = frozenset(schema.names) - set(types)
        return Source("file", name, form, schema, None, paths, relation, stamps=stamps, guessed=guessed)
    schema, rows, relation = _from_parquet(paths) if form == "parquet" else _from_arrow(paths)
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


def _from_json(paths: tuple[str, ...], types: Mapping[str, pa.DataType]) -> tuple[pa.Schema, str]:
    """The columns of all rows; those that a policy knows are of its types, and every value of them is looked at."""
    listed = f"[{', '.join(literal(path) for path in paths)}], format='newline_delimited'"
    relation = f"read_json({listed}, sample_size=-1)"
    sentence = f"{Path(paths[0]).name} does not hold one JSON object a line"
    with quiet(sentence, FileFormatError), connected() as duck:
        schema = duck.sql(f"SELECT * FROM {relation} LIMIT 0").to_arrow_table().schema
        fixed = {name: types[name] for name in schema.names if name in types}
        if not fixed:
            return schema, relation
        raw = ", ".join(f"{literal(name)}: 'JSON'" for name in fixed)
        texts = ", ".join(f"CAST({identifier(name)} AS VARCHAR) AS {identifier(name)}" for name in fixed)
        cells = duck.sql(f"SELECT {texts} FROM read_json({listed}, columns={{{raw}}})")
        for batch in cells.to_arrow_reader(BATCH):
            for name, kind in fixed.items():
                if not fits_json(batch.column(name), kind):
                    raise misfit(name, kind)
        found = duck.sql(f"DESCRIBE SELECT * FROM {relation}").fetchall()
        spelled = {str(row[0]): TYPES[fixed[row[0]]] if row[0] in fixed else str(row[1]) for row in found}
        struct = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in spelled.items())
        relation = f"read_json({listed}, columns={{{struct}}})"
        schema = duck.sql(f"SELECT * FROM {relation} LIMIT 0").to_arrow_table().schema
    return schema, relation


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


def _spooled(
    kind: Kind,
    name: str,
    reader: pa.RecordBatchReader,
    used: Collection[str] | None,
    types: Mapping[str, pa.DataType] | None = None,
) -> Source:
    """Write what can be read once to a temporary file, which goes when the source goes; in the given types, if any."""
    check_names(name, reader.schema.names)
    kept, left_out = _used(reader.schema, used)
    spool, rows = Spool(), 0
    options = pa.ipc.IpcWriteOptions(compression="lz4", unify_dictionaries=True)
    schema = pa.schema([one.with_type((types or {}).get(one.name, one.type)) for one in kept])
    with (
        quiet(f"{name} cannot be read to its end, or there is no room for a copy in {tempfile.gettempdir()}"),
        pa.OSFile(spool.path, "wb") as file,
        pa.ipc.new_file(file, schema, options=options) as writer,
    ):
        for batch in reader:
            rows += batch.num_rows
            chosen = batch.select(kept.names)
            writer.write_batch(chosen if schema == kept else _recast(chosen, schema))
    guessed = frozenset() if types is None else frozenset(schema.names) - set(types)
    return Source(
        kind,
        name,
        "arrow",
        schema.remove_metadata(),
        rows,
        (spool.path,),
        held=spool,
        stamps=_stamps((spool.path,)),
        guessed=guessed,
        left_out=left_out,
    )


def _used(schema: pa.Schema, used: Collection[str] | None) -> tuple[pa.Schema, tuple[tuple[str, pa.DataType], ...]]:
    """The columns to copy (one at least, to count rows by), and the others."""
    kept = [one for one in schema if used is None or one.name in used] or [schema.field(0)]
    names = {one.name for one in kept}
    return pa.schema(kept), tuple((one.name, one.type) for one in schema if one.name not in names)


def _recast(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = []
    for one in schema:
        try:
            columns.append(recast(batch.column(one.name), one.type).cast(one.type))
        except (ValueError, pa.ArrowException):
            raise misfit(one.name, one.type) from None
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _from_pandas(frame: Any, types: Mapping[str, pa.DataType]) -> Source:
    """A frame in the types of the policy: pandas chooses its own by the values (a missing one makes whole numbers floats)."""
    names = [str(name) for name in frame.columns]
    check_names("the pandas frame", names)
    columns = []
    for place, name in enumerate(names):
        series = frame.iloc[:, place]
        try:
            column = pa.array(series, from_pandas=True)
            if name in types:
                if series.dtype == object and getattr(column.type, "tz", None) is not None:
                    raise ValueError
                column = recast(column, types[name])
        except (ValueError, TypeError, OverflowError, pa.ArrowException):
            if name in types:
                raise misfit(name, types[name]) from None
            raise DataError(
                f"the column {name!r} of the pandas frame holds values of more than one type; give every column one type."
            ) from None
        columns.append(column)
    found = _in_memory("pandas", "the pandas frame", pa.table(columns, names=names))
    return replace(found, guessed=frozenset(names) - set(types))


def _from_polars(frame: Any, used: Collection[str] | None) -> Source:
    if hasattr(frame, "collect"):
        import polars

        spool, oldest = Spool(), polars.CompatLevel.oldest()
        try:
            whole = frame.head(0).collect().to_arrow(compat_level=oldest).schema
            check_names("the Polars frame", whole.names)
            kept, left_out = _used(whole, used)
            chosen = frame.select(kept.names)
            chosen.sink_ipc(spool.path, maintain_order=True, compression="lz4", compat_level=oldest)
        except NoisewrightError:
            raise
        except Exception:  # the texts of Polars' own errors quote cells, and its classes need Polars
            raise DataError("the lazy Polars frame cannot be run to its end.") from None
        schema, rows, _ = _from_arrow((spool.path,))
        stamps = _stamps((spool.path,))
        found = Source(
            "polars-lazy", "the Polars frame", "arrow", schema, rows, (spool.path,), held=spool, stamps=stamps
        )
        return replace(found, left_out=left_out)
    return _in_memory("polars", "the Polars frame", frame.to_arrow())
