r"""Tables and views of an SQLite database as rows of text, opened so that nothing can be written.

SQLite has no types that hold for a whole column, so the policy states the type of a column, as for CSV files. A view is
run once; what SQL it consists of can reach no other file.

A CSV file has no types, and cells do not show them: the categories ``"1"`` and ``"2"`` are text, and a column of
true/false is not text. The plan of the release knows; so nothing is guessed here, and a quoted empty cell is an empty
text, not a missing one. Text that a spreadsheet would run comes back as it was: see
:mod:`~noisewright.tables.source`.

>>> import tempfile
>>> path = Path(tempfile.mkdtemp()) / "data.csv"
>>> _ = path.write_text('"smoker","ward"\ntrue,"1"\n,"2"\n')
>>> read_written(path, {"smoker": pa.bool_(), "ward": pa.string()}).to_pylist()
[{'smoker': True, 'ward': '1'}, {'smoker': None, 'ward': '2'}]
"""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import stat
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.ipc

from noisewright._utils.inputs import FREE, PER_BYTE, check_input, max_memory, open_input
from noisewright._utils.validation import nearest_name
from noisewright.columns.arrow import arrow_scalar, check_arrow_sizes, pc
from noisewright.columns.nested import is_text
from noisewright.columns.registry import fits_json, kind_of
from noisewright.exceptions import DataError, FileFormatError
from noisewright.tables.duckdb import (
    FILES,
    MOST_COLUMNS,
    check_names,
    check_spelled,
    connected,
    header_of,
    identifier,
    in_sql,
    literal,
    misfit,
    quiet,
    read_delimited,
    readable,
    relation_of,
    valid,
    wide_rows,
)
from noisewright.tables.source import (
    BATCH,
    SUFFIXES,
    Cells,
    Format,
    Source,
    arrow_file,
    from_cells,
    harmless_name,
    original,
    original_name,
    spelled_number,
    spooled,
    stamps_of,
    used_part,
)

__all__ = [
    "check_pages",
    "files_of",
    "format_of",
    "from_arrow",
    "from_path",
    "is_sqlite",
    "names_without_types",
    "read_sqlite",
    "read_written",
    "written_batches",
]


MAGIC = b"SQLite format 3\0"
ROWS = 10_000
"""Rows that are held at once."""


def is_sqlite(path: str) -> bool:
    """Return whether a file begins as an SQLite database does; one without a single byte is an empty one."""
    with open_input(path) as file:
        found = file.read(len(MAGIC))
    return found == MAGIC or (not found and path.lower().endswith((".sqlite", ".sqlite3")))


def read_sqlite(path: str, table: str, used: Collection[str] | None = None) -> tuple[list[str], Iterator[Cells]]:
    """The names of the columns of a table or a view, and its rows; those of columns that are not used are None."""
    with _opened(path) as db:
        known = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
        if table not in known:
            near = nearest_name(table, known)
            hint = f"did you mean {near!r}?" if near else f"its tables: {', '.join(sorted(known)) or 'none'}."
            raise FileFormatError(f"{Path(path).name} has no table {table!r}; {hint}")
        names = [str(one[0]) for one in db.execute(f"SELECT * FROM {identifier(table)} LIMIT 0").description]
    return names, _rows(path, table, names, used)


def _rows(path: str, table: str, names: list[str], used: Collection[str] | None) -> Iterator[Cells]:
    listed = ", ".join(identifier(name) if used is None or name in used else "NULL" for name in names)
    with _opened(path) as db:
        cursor = db.execute(f"SELECT {listed} FROM {identifier(table)}")
        while block := cursor.fetchmany(ROWS):
            for row in block:
                yield [_spelled(value, name) for value, name in zip(row, names, strict=True)]


def _spelled(value: object, name: str) -> str | None:
    if isinstance(value, bytes):
        raise DataError(f"the column {name!r} holds bytes, which are read from Parquet and Arrow files alone.")
    if isinstance(value, float):
        return spelled_number(value)
    return None if value is None else str(value)


@contextmanager
def _opened(path: str) -> Iterator[sqlite3.Connection]:
    """A connection that writes nothing and reaches nothing else; errors become a sentence, since SQLite's quote what
    they met.
    """
    sentence = (
        f"{Path(path).name} is no SQLite database that can be read, it is damaged, or another program is writing to it"
    )
    try:
        address = f"file:{quote(os.path.abspath(path))}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as db:
            db.execute("PRAGMA trusted_schema = OFF")
            db.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
            yield db
    except (sqlite3.Error, UnicodeError):
        raise FileFormatError(f"{sentence}.") from None


# Parquet pages ------------------------------------------------------------------------------------------------------------
#
# Read what the pages of a Parquet file say that they unpack to, from their headers alone.
#
# A reader holds one page of each column at a time, so memory is bounded by the largest pages, not by the ratio of a whole file:
# a column of 100 million equal numbers is accepted. Pages are headed by a struct of Thrift's compact protocol, which states the
# sizes of the page before and after packing; both readers (DuckDB and Arrow) refuse a page that unpacks to another size.
#
# A text in delta encoding repeats the beginning of the text before it, so a page of some kilobytes can hold gigabytes of texts;
# :func:`check_pages` returns the columns with such texts, which are then read few rows at a time.


ASKED = (
    "SELECT file_name, row_group_id, path_in_schema, dictionary_page_offset, data_page_offset, total_compressed_size "
    f"FROM parquet_metadata({FILES})"
)
CHUNKS = 65_536
FIRST_READ, LONGEST_HEADER = 1 << 10, 1 << 24
UNPACKED, PACKED, OF_VERSION_1, OF_DICTIONARY, OF_VERSION_2 = 2, 3, 5, 7, 8
"""Fields of a page's header."""
COUNT, ENCODINGS = 1, {OF_VERSION_1: 2, OF_VERSION_2: 4}
"""Fields of the headers of data pages: the number of values, and the encoding."""
DELTA_LENGTHS, DELTA_TEXTS = 6, 7
"""Encodings of texts by lengths, and by lengths of shared beginnings; Arrow cannot read them with dictionaries."""
NO_CONTENT, FIXED, BINARY, STRUCT = (1, 2), {3: 1, 7: 8}, 8, 12
INTEGERS = (4, 5, 6)
DEEPEST = 8


@dataclass
class _Pages:
    """Pages of a column in a group of rows: the largest, the dictionary, and how many values there are."""

    largest: int = 0
    dictionary: int = 0
    values: int = 0
    by_lengths: bool = False
    by_beginnings: bool = False


def check_pages(paths: Sequence[str], names: Sequence[str], used: Collection[str] | None = None) -> dict[str, int]:
    """Refuse Parquet files whose pages unpack to far more than their size.

    ``names``: the name of the files in messages; ``used``: the columns to look at, if not all. Returns the columns with
    texts in delta encodings, each with the size of the largest page whose texts share beginnings, or 0 if none exists.
    """
    found: dict[str, int] = {}
    damaged = f"{names[0]} is not a Parquet file, or it was cut short or damaged"
    sizes: dict[tuple[int, int], int] = defaultdict(int)
    values: dict[tuple[int, str], int] = defaultdict(int)
    file: IO[bytes] | None = None
    opened = -1
    try:
        for number, group, column, first, length in _chunks(paths, damaged):
            top, nested, _ = column.partition(", ")
            if used is not None and top not in used and not any(column.startswith(f"{name}, ") for name in used):
                continue
            if number != opened:
                if file is not None:
                    file.close()
                file, opened = open_input(paths[number]), number
            assert file is not None
            pages = _pages(file, first, length)
            size = os.fstat(file.fileno()).st_size
            sizes[number, group] += pages.largest + pages.dictionary
            if nested:
                values[number, column] += pages.values
            if sizes[number, group] > max_memory(size) // 2 or (
                nested and values[number, column] > FREE + PER_BYTE * size
            ):
                raise FileFormatError(
                    f"{names[number]} has pages that unpack to far more than its size; write it with smaller pages."
                )
            if pages.by_lengths or pages.by_beginnings:
                found[column] = max(found.get(column, 0), pages.largest if pages.by_beginnings else 0)
    except FileFormatError:
        raise
    except (IndexError, ValueError, OverflowError, OSError):
        raise FileFormatError(f"{damaged}.") from None
    finally:
        if file is not None:
            file.close()
    return found


def _chunks(paths: Sequence[str], damaged: str) -> Iterator[tuple[int, int, str, int, int]]:
    """Yield file, group of rows, column, place and length of each column chunk, as DuckDB reads them from the footers.

    pyarrow ends the process where this part of a file is damaged.
    """
    with quiet(damaged, FileFormatError), connected(paths, packed=paths) as duck:
        for batch in duck.sql(ASKED).to_arrow_reader(CHUNKS):
            for file, group, column, dictionary, data, length in zip(*(one.to_pylist() for one in batch), strict=True):
                if data is None or length is None:
                    raise ValueError("no place is stated")
                # without rows, pyarrow writes an empty dictionary alone, and 0 as the place of the data
                before = dictionary is not None and dictionary > 0 and (data == 0 or dictionary < data)
                first = dictionary if before else data
                yield int(os.path.basename(file).partition(".")[0]), int(group), str(column), int(first), int(length)


def _pages(file: IO[bytes], first: int, length: int) -> _Pages:
    """Follow the headers of the pages of a column chunk."""
    found, place = _Pages(), first
    while place < first + length:
        header, taken = _header(file, place)
        unpacked, packed = header.get(UNPACKED), header.get(PACKED)
        if type(unpacked) is not int or type(packed) is not int or unpacked < 0 or packed < 0:
            raise ValueError("a page without sizes")
        if OF_DICTIONARY in header:
            found.dictionary = max(found.dictionary, unpacked)
        else:
            found.largest = max(found.largest, unpacked)
        for kind, encoding in ENCODINGS.items():
            if isinstance(data := header.get(kind), dict):
                found.values += max(int(data.get(COUNT, 0)), 0)
                found.by_lengths |= data.get(encoding) == DELTA_LENGTHS
                found.by_beginnings |= data.get(encoding) == DELTA_TEXTS
        place += taken + packed
    return found


def _header(file: IO[bytes], place: int) -> tuple[Mapping[int, Any], int]:
    """Return the header of a page by the numbers of its fields, and its length."""
    most = FIRST_READ
    while True:
        file.seek(place)
        content = file.read(most)
        try:
            return _struct(content, 0)
        except IndexError:
            if len(content) < most or most >= LONGEST_HEADER:
                raise
            most = min(most << 4, LONGEST_HEADER)


def _struct(content: bytes, place: int, depth: int = 0) -> tuple[dict[int, Any], int]:
    """Return integers and structs of a struct by the numbers of their fields, and the place after it."""
    if depth > DEEPEST:
        raise ValueError("a struct is nested too deeply")
    fields: dict[int, Any] = {}
    number = 0
    while kind := content[place]:
        place += 1
        if kind >> 4:
            number += kind >> 4
        else:
            number, place = _integer(content, place)
        fields[number], place = _value(content, place, kind & 15, depth)
    return fields, place + 1


def _value(content: bytes, place: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in NO_CONTENT:
        return None, place
    if kind in INTEGERS:
        return _integer(content, place)
    if kind in FIXED:
        return None, place + FIXED[kind]
    if kind == BINARY:
        length, place = _varint(content, place)
        if place + length > len(content):
            raise IndexError
        return None, place + length
    if kind == STRUCT:
        return _struct(content, place, depth + 1)
    raise ValueError("a field that no header of a page has")


def _varint(content: bytes, place: int) -> tuple[int, int]:
    found = shift = 0
    while True:
        byte = content[place]
        place += 1
        found |= (byte & 127) << shift
        if byte < 128:
            return found, place
        shift += 7
        if shift > 63:
            raise ValueError("an integer of more than 64 bits")


def _integer(content: bytes, place: int) -> tuple[int, int]:
    found, place = _varint(content, place)
    return (found >> 1) ^ -(found & 1), place


# Files --------------------------------------------------------------------------------------------------------------------
#
# Sources from paths: files of a format, folders of them, sheets of a workbook, and tables of a database.
#
# A path is a path: no sign in it makes it a pattern or a statement, and no folder on its way adds a column.


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
        from noisewright.tables.excel import open_sheet

        sheet = open_sheet(path, table)
        return sheet.names, sheet.rows(used)
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


# Written ------------------------------------------------------------------------------------------------------------------
#
# The released table as it was written, read back in the types in which it was released.


def read_written(path: Path, types: Mapping[str, pa.DataType]) -> pa.Table:
    """The whole table; ``types`` are those in which its columns were released."""
    batches = list(written_batches(path, types))
    return pa.Table.from_batches(batches, batches[0].schema if batches else pa.schema(list(types.items())))


def written_batches(
    path: Path, types: Mapping[str, pa.DataType], columns: Sequence[str] | None = None, every: int = 1
) -> Iterator[pa.RecordBatch]:
    """Yield its rows in order, some columns of them; with ``every`` about one in ``every`` rows, spread over the table."""
    form = format_of(path.name)
    cells = form == "csv"
    if cells:
        paths = files_of(str(path))
        source = _of_cells(path.name, paths, *header_of(paths[0]), types)
    else:
        source = _of_sheet(path, types) if form == "sheet" else from_path(str(path), {})
    wanted = list(columns) if columns is not None else [_name(name, cells) for name in source.schema.names]
    for batch in source.batches([harmless_name(name) if cells else name for name in wanted], every):
        found = [original(column) if cells else column for column in batch.columns]
        found = [_as_released(column, types.get(name)) for name, column in zip(wanted, found, strict=True)]
        yield pa.RecordBatch.from_arrays(found, wanted)


def _of_sheet(path: Path, types: Mapping[str, pa.DataType]) -> Source:
    from noisewright.tables.excel import open_sheet
    from noisewright.tables.source import spooled_cells

    sheet = open_sheet(str(path))
    spool = spooled_cells(path.name, sheet.names, sheet.rows(blank=True))
    return replace(_of_cells(path.name, (spool.path,), ",", sheet.names, types), held=spool)


def _of_cells(
    name: str, paths: tuple[str, ...], separator: str, names: Sequence[str], types: Mapping[str, pa.DataType]
) -> Source:
    columns = {name: _spelled_type(types.get(original_name(name), pa.string())) for name in names}
    relation = relation_of(separator, columns, quoted_missing=False)
    with quiet(f"{name} is not as it was written", FileFormatError), connected(paths) as duck:
        schema = duck.sql(f"SELECT * FROM {relation} LIMIT 0").to_arrow_table().schema
    return Source("file", name, "csv", schema, None, paths, relation, separator, stamps=stamps_of(paths))


def _spelled_type(kind: pa.DataType) -> str:
    """Return the type in which DuckDB reads a column: text, where no type of it holds all digits."""
    return "VARCHAR" if pa.types.is_timestamp(kind) and kind.unit == "ns" else in_sql(kind)


def _name(name: str, cells: bool) -> str:
    return original_name(name) if cells else name


def _as_released(column: pa.Array, kind: pa.DataType | None) -> pa.Array:
    """A column in its own width, unit and zone, which not all files keep; as it was read where that does not fit."""
    if kind is None or column.type == kind:
        return column
    try:
        if is_text(column.type) and pa.types.is_duration(kind):
            return column.cast(pa.int64()).cast(kind)
        if is_text(column.type) and pa.types.is_time(kind):
            day = arrow_scalar("1970-01-01", column.type)
            moments = pc.binary_join_element_wise(day, column, arrow_scalar(" ", column.type))
            return moments.cast(pa.timestamp(kind.unit)).cast(kind)
        return column.cast(kind) if is_text(column.type) or kind_of(column.type) is kind_of(kind) else column
    except pa.ArrowException:
        return column
