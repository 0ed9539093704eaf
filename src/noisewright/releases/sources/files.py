"""Sources from paths: files of a format, folders of them, sheets of a workbook, and tables of a database.

A path is a path: no sign in it makes it a pattern or a statement, and no folder on its way adds a column.
"""

from __future__ import annotations

import logging
import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc

from noisewright.core.errors import DataError, FileFormatError
from noisewright.files.arrow_sizes import check_arrow_sizes
from noisewright.files.inputs import check_input, open_input
from noisewright.releases.kinds.casts import fits_json
from noisewright.releases.sources._cells import Cells, from_cells, spooled, used_part
from noisewright.releases.sources._parquet_pages import check_pages
from noisewright.releases.sources.delimited import check_spelled, header_of, in_sql, misfit, read_delimited, wide_rows
from noisewright.releases.sources.duck import (
    FILES,
    MOST_COLUMNS,
    check_names,
    connected,
    identifier,
    literal,
    quiet,
    readable,
    valid,
)
from noisewright.releases.sources.source import BATCH, SUFFIXES, Format, Source, arrow_file, stamps_of

__all__ = ["files_of", "format_of", "from_arrow", "from_path", "names_without_types"]

_log = logging.getLogger(__name__)

DATABASES = (".duckdb", ".ddb", ".db", ".sqlite", ".sqlite3")
WITH_TABLES = (*DATABASES, ".xlsx")
"""Files that may hold several tables: which is meant is said before an @."""


def from_path(text: str, types: Mapping[str, pa.DataType], used: Collection[str] | None = None) -> Source:
    """The source of a path; ``used``: the columns to look at, where a policy states it."""
    if "\0" in text:
        raise FileFormatError(f"{text!r} cannot be the name of a file.")
    if re.match(r"[a-z0-9]+://", text):
        return Source("file", text, "remote", pa.schema([]), paths=(text,))
    table, path = _table_in(text)
    if (cells := _cells_of(table, path, used)) is not None:
        name = Path(path).name
        return from_cells(name if table is None else f"{table}@{name}", path, *cells, types, used)
    if table is not None:
        return _from_duckdb(table, path, used)
    paths = files_of(text)
    name = Path(text).name
    formats = {format_of(path) for path in paths}
    if len(formats) > 1:
        raise FileFormatError(
            f"{name} holds files of more than one format; put the files of one table into a folder of their own."
        )
    stamps = stamps_of(paths)
    (form,) = formats
    _log.debug("reading %s as %s", name, form)
    if form == "sheet":
        raise FileFormatError(f"{name} is a folder of workbooks; name one of them.")
    if form == "csv" and used is not None and len((wide := header_of(paths[0]))[1]) > MOST_COLUMNS:
        separator, names = wide
        kept = [one for one in names if one in used] or names[:1]
        return _copied(
            from_cells(name, text, kept, wide_rows(paths, separator, names, kept), types, used), paths, stamps
        )
    if form == "csv":
        found = read_delimited(paths, types, used)
        guessed = frozenset(found.schema.names) - set(types)
        return Source(
            "file", name, "csv", found.schema, found.rows, paths, found.relation, found.separator, None, stamps, guessed
        )
    if form == "json":
        schema, relation = _from_json(paths, types) if used is None else _used_json(paths, types, used)
        if used is None:
            check_names(name, schema.names)
        guessed = frozenset(schema.names) - set(types)
        return Source("file", name, form, schema, None, paths, relation, stamps=stamps, guessed=guessed)
    schema, rows, relation = _from_parquet(paths) if form == "parquet" else from_arrow(paths)
    delta = check_pages(paths, [Path(path).name for path in paths], used) if form == "parquet" else {}
    check_names(name, schema.names, used)
    if form == "parquet" and len(schema) > MOST_COLUMNS:
        whole = Source("file", name, form, schema, rows, paths, stamps=stamps, delta=delta)
        kept = used_part(schema, used)
        reader = pa.RecordBatchReader.from_batches(kept, whole.batches(kept.names))
        return _copied(spooled("file", name, reader, used), paths, stamps)
    return Source("file", name, form, schema, rows, paths, relation, stamps=stamps, delta=delta)


def _copied(copy: Source, paths: tuple[str, ...], stamps: tuple[tuple[int, ...], ...]) -> Source:
    """A copy of the used columns of files with very many, which no one changed meanwhile."""
    replace(copy, paths=paths, stamps=stamps).check_unchanged()
    return replace(copy, origin=paths)


def files_of(text: str) -> tuple[str, ...]:
    """The files that a path means: itself, or the files of a folder in the order of their names."""
    try:
        paths: tuple[str, ...] = (text,)
        if stat.S_ISDIR(check_input(text).st_mode):
            paths = tuple(os.path.join(text, name) for name in _inside(text))
        for path in paths:
            open_input(path).close()
    except FileNotFoundError:
        raise FileFormatError(f"there is no file {text}.") from None
    except OSError as problem:
        raise FileFormatError(f"{text} cannot be read: {problem.strerror}.") from None
    except UnicodeError:
        raise FileFormatError(f"{text!r} cannot be the name of a file.") from None
    return paths


def _inside(folder: str) -> list[str]:
    """The files of a folder. Notes that programs leave next to tables are passed over; whatever else might hold rows is not."""
    found = []
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            noted = entry.name.startswith((".", "_"))
            if noted and (entry.is_dir() or not entry.name.lower().endswith(tuple(SUFFIXES))):
                continue
            if noted or entry.is_dir():
                what = "a name that says it is no data" if noted else "a folder in it"
                raise FileFormatError(
                    f"the folder {folder} holds {entry.name}, {what}; leave only the files of one table in it."
                )
            found.append(entry.name)
    if not found:
        raise FileFormatError(f"the folder {folder} holds no files.")
    return found


def format_of(path: str) -> Format:
    """The format that the name of a file states."""
    name = Path(path).name.lower()
    for suffix, form in SUFFIXES.items():
        if name.endswith(suffix):
            return form
    if name.endswith(DATABASES):
        raise FileFormatError(f"{Path(path).name} holds many tables; say which, as in visits@{Path(path).name}.")
    raise FileFormatError(
        f"{Path(path).name}: tables are read from files ending in {', '.join(SUFFIXES)}, or from a table of a database, as in "
        "visits@clinic.sqlite."
    )


def names_without_types(data: Any) -> set[str] | None:
    """The columns of a path whose cells have no types (CSV, sheets, SQLite); None for all other data."""
    if not isinstance(data, (str, os.PathLike)):
        return None
    table, path = _table_in(os.fsdecode(data))
    if (cells := _cells_of(table, path)) is not None:
        return set(cells[0])
    files = files_of(path) if table is None and os.path.exists(path) else ()
    return set(header_of(files[0])[1]) if files and format_of(files[0]) == "csv" else None


def _from_parquet(paths: tuple[str, ...]) -> tuple[pa.Schema, int, str]:
    import pyarrow.parquet

    schema, rows = None, 0
    for path in paths:
        sentence = f"{Path(path).name} is not a Parquet file, or it was cut short"
        with quiet(sentence, FileFormatError), pyarrow.parquet.ParquetFile(os.path.abspath(path)) as file:
            found, stated = readable(file.schema_arrow), file.metadata.num_rows
            held = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        if stated != sum(held) or min(held, default=0) < 0:
            raise FileFormatError(f"{sentence}.")
        schema, rows = _same(schema, found, path, paths[0]), rows + stated
    return schema, rows, f"read_parquet({FILES}, hive_partitioning=false)"


def from_arrow(paths: tuple[str, ...]) -> tuple[pa.Schema, int, str]:
    """Schema and number of rows of Arrow files, each of which is examined whole: nothing else checks their content."""
    schema, rows = None, 0
    for path in paths:
        check_arrow_sizes(path)
        with (
            quiet(f"{Path(path).name} is not an Arrow (Feather) file, or it was cut short or damaged", FileFormatError),
            arrow_file(path) as file,
        ):
            found = readable(file.schema)
            for number in range(file.num_record_batches):
                rows += valid(file.get_batch(number)).num_rows
        schema = _same(schema, found, path, paths[0])
    return schema, rows, ""


def _from_json(paths: tuple[str, ...], types: Mapping[str, pa.DataType]) -> tuple[pa.Schema, str]:
    """The columns of all rows; those that a policy has are of its types, and every value of them is examined."""
    listed = f"{FILES}, format='newline_delimited', hive_partitioning=false"
    relation = f"read_json({listed}, sample_size=-1)"
    sentence = f"{Path(paths[0]).name} does not hold one JSON object a line"
    with quiet(sentence, FileFormatError), connected(paths) as duck:
        schema = duck.sql(f"SELECT * FROM {relation} LIMIT 0").to_arrow_table().schema
        fixed = {name: types[name] for name in schema.names if name in types}
        check_spelled(fixed, Path(paths[0]).name)
        if not fixed:
            return schema, relation
        _look_through(duck, listed, fixed)
        found = duck.sql(f"DESCRIBE SELECT * FROM {relation}").fetchall()
        spelled = {str(row[0]): in_sql(fixed[row[0]]) if row[0] in fixed else str(row[1]) for row in found}
        struct = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in spelled.items())
        relation = f"read_json({listed}, columns={{{struct}}})"
        schema = duck.sql(f"SELECT * FROM {relation} LIMIT 0").to_arrow_table().schema
    return schema, relation


def _used_json(
    paths: tuple[str, ...], types: Mapping[str, pa.DataType], used: Collection[str]
) -> tuple[pa.Schema, str]:
    """Some columns, if a row has them. The keys of the others are data, too: they are not looked at, whatever they are."""
    listed = f"{FILES}, format='newline_delimited', hive_partitioning=false"
    sentence = f"{Path(paths[0]).name} does not hold one JSON object a line"
    with quiet(sentence, FileFormatError), connected(paths) as duck:
        asked = sorted(used)
        there = ", ".join(f"bool_or(list_contains(json_keys(json), {literal(name)}))" for name in asked)
        (found,) = duck.sql(f"SELECT {there or 'count(*)'} FROM read_json_objects({listed})").fetchall()
        names = [name for name, known in zip(asked, found, strict=False) if known]
        chosen = {name: types.get(name, pa.string()) for name in names}
        check_spelled(chosen, Path(paths[0]).name)
        _look_through(duck, listed, {name: types[name] for name in names if name in types})
        if not chosen:
            return pa.schema([]), f"read_json_objects({listed})"
        struct = ", ".join(f"{literal(name)}: {literal(in_sql(kind))}" for name, kind in chosen.items())
        relation = f"read_json({listed}, columns={{{struct}}})"
        return duck.sql(f"SELECT * FROM {relation} LIMIT 0").to_arrow_table().schema, relation


def _look_through(duck: Any, listed: str, types: Mapping[str, pa.DataType]) -> None:
    """Refuse a value that is not of the type of its column."""
    if not types:
        return
    raw = ", ".join(f"{literal(name)}: 'JSON'" for name in types)
    texts = ", ".join(f"CAST({identifier(name)} AS VARCHAR) AS {identifier(name)}" for name in types)
    for batch in duck.sql(f"SELECT {texts} FROM read_json({listed}, columns={{{raw}}})").to_arrow_reader(BATCH):
        for name, kind in types.items():
            if not fits_json(batch.column(name), kind):
                raise misfit(name, kind)


def _table_in(text: str) -> tuple[str | None, str]:
    """The table and the file of ``table@file``; for any other path no table."""
    table, at, path = text.rpartition("@")
    inside = at and path.lower().endswith(WITH_TABLES) and not os.path.exists(text)
    return (table, path) if inside else (None, text)


def _cells_of(
    table: str | None, path: str, used: Collection[str] | None = None
) -> tuple[list[str], Iterator[Cells]] | None:
    """Columns and rows of a sheet, or of a table of SQLite; None for all others. First bytes identify the database of a
    file.
    """
    book = path.lower().endswith(".xlsx") and not os.path.isdir(path)
    if not book and table is None:
        return None
    files_of(path)
    if book:
        from noisewright.releases.sources.workbooks import open_sheet

        sheet = open_sheet(path, table)
        return sheet.names, sheet.rows(used)
    from noisewright.releases.sources.sqlite import is_sqlite, read_sqlite

    return read_sqlite(path, str(table), used) if is_sqlite(path) else None


def _from_duckdb(table: str, path: str, used: Collection[str] | None) -> Source:
    """A table of a DuckDB database; a view is a recipe, which is run once."""
    relation = "source." + ".".join(identifier(part) for part in table.split("."))
    file, stamps = Path(path).name, stamps_of((path,))
    name = f"{table}@{file}"
    with connected(database=path) as duck, quiet(f"{file} has no table {table!r} that can be read"):
        found = duck.sql(f"SELECT * FROM {relation} LIMIT 0").to_arrow_table().schema
        stored = duck.sql("SELECT table_name FROM duckdb_tables() WHERE database_name = 'source'").fetchall()
        if table.rpartition(".")[2].casefold() not in {str(one).casefold() for (one,) in stored}:
            copy = spooled("file", name, duck.sql(f"SELECT * FROM {relation}").to_arrow_reader(BATCH), used)
            return replace(copy, origin=(path,))
        ((rows,),) = duck.sql(f"SELECT count(*) FROM {relation}").fetchall()
    check_names(name, found.names)
    return Source("file", name, "duckdb", found, rows, (path,), relation, stamps=stamps)


def _same(schema: pa.Schema | None, found: pa.Schema, path: str, first: str) -> pa.Schema:
    if schema is not None and not schema.equals(found):
        raise DataError(
            f"{Path(path).name} has other columns or types than {Path(first).name}; all files need the same ones."
        )
    return found
