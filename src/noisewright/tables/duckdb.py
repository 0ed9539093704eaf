"""A DuckDB connection whose queries a signal can end: :class:`Connection`.

DuckDB asks for signals while a query runs in the main thread, and replaces what their handlers raise (``KeyboardInterrupt``
after Ctrl-C) by an error of its own. Therefore the main thread hands every query to another thread and waits for it. An
exception that arrives meanwhile ends the query and is raised as it is.

>>> connection = Connection(duckdb.connect())
>>> connection.sql("SELECT 1 + 1").fetchall()
[(2,)]
>>> connection.close()

An error text of DuckDB or Arrow often shows the cell that it stumbled over. :func:`quiet` replaces such an error by a
sentence of our own; the original is not chained, so that it cannot reach a log either.

>>> with quiet("the numbers cannot be read"), connected() as duck:
...     duck.sql("SELECT CAST('secret' AS INTEGER)").fetchall()
Traceback (most recent call last):
noisewright.exceptions.DataError: the numbers cannot be read.
"""

from __future__ import annotations

import _thread
import csv
import io
import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import duckdb
import pyarrow as pa

from noisewright._utils.inputs import check_windows, max_memory, max_unpacked
from noisewright._utils.validation import toml_key
from noisewright.columns.nested import TEXT
from noisewright.columns.registry import fits, kind_of
from noisewright.columns.scalars import TIME, ZONED
from noisewright.exceptions import DataError, FileFormatError, NoisewrightError
from noisewright.io.atomic import scratch_folder

__all__ = [
    "FILES",
    "MEMORY",
    "MOST_COLUMNS",
    "PACKED",
    "Batches",
    "Connection",
    "Delimited",
    "Result",
    "check_names",
    "check_spelled",
    "connected",
    "header_of",
    "identifier",
    "in_sql",
    "literal",
    "misfit",
    "one_database",
    "packed_ending",
    "quiet",
    "read_delimited",
    "readable",
    "relation_of",
    "valid",
    "wide_rows",
]


PATIENCE = 0.05
"""Seconds until a query that has not ended is interrupted again: one that was about to begin does not hear of it."""

T = TypeVar("T")


class Waiting:
    """Work that another thread does while the main thread waits for it and hears of signals."""

    def __init__(self, interrupt: Callable[[], None] | None = None) -> None:
        """``interrupt`` makes the work end; without it, work that a signal ends for the main thread is left to itself."""
        self._interrupt = interrupt
        self._task: _Task | None = None

    def wait_for(self, work: Callable[[], T]) -> T:
        """Return what ``work`` returns; an exception that a signal raises meanwhile ends it first."""
        if threading.current_thread() is not threading.main_thread():
            return work()
        task = self._task = _Task(work)
        try:
            _thread.start_new_thread(
                task.run, ()
            )  # a signal can come between any two steps; no Thread is left half begun
            task.ended.wait()
        except BaseException:
            self.end()
            raise
        self._task = None  # which holds the result
        if task.problem is not None:
            raise task.problem
        return cast(T, task.result)

    def end(self) -> None:
        """Have the last work end, or not begin at all."""
        task = self._task
        if task is not None:
            task.cancelled = True
            while self._interrupt is not None and task.begun and not task.ended.wait(PATIENCE):
                self._interrupt()


class _Task:
    """Work for another thread, which is not begun once it is cancelled."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.begun = self.cancelled = False
        self.ended = threading.Event()
        self.result: Any = None
        self.problem: BaseException | None = None

    def run(self) -> None:
        self.begun = True  # before the question whether it is cancelled: who cancels asks in the other order
        try:
            if not self.cancelled:
                self.result = self.work()
        except BaseException as problem:
            self.problem = problem
        self.ended.set()


class Connection:
    """A connection of DuckDB, for one thread at a time."""

    def __init__(self, duck: duckdb.DuckDBPyConnection) -> None:
        self._duck, self._waiting = duck, Waiting(duck.interrupt)

    def sql(self, query: str) -> Result:
        """Return the result of a query, which may be computed only when it is fetched."""
        return Result(self._waiting.wait_for(lambda: self._duck.sql(query)), self._waiting)

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> Result:
        """Run a statement at once."""
        return Result(self._waiting.wait_for(lambda: self._duck.execute(statement, list(parameters))), self._waiting)

    def register(self, name: str, table: Any) -> None:
        """Make an Arrow table or data set known by a name."""
        self._duck.register(name, table)

    def cursor(self) -> Connection:
        """Return another connection to the same database."""
        return Connection(self._duck.cursor())

    def close(self) -> None:
        """Close the connection, after the end of what still runs."""
        self._waiting.end()
        self._duck.close()


class Result:
    """The result of a query, or a relation of a caller, whose connection cannot be interrupted here."""

    def __init__(self, result: Any, waiting: Waiting | None = None) -> None:
        self._result, self._waiting = result, Waiting() if waiting is None else waiting

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows."""
        found: list[tuple[Any, ...]] = self._waiting.wait_for(self._result.fetchall)
        return found

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the next row, if there is one."""
        found: tuple[Any, ...] | None = self._waiting.wait_for(self._result.fetchone)
        return found

    def to_arrow_table(self) -> pa.Table:
        """Return all rows as an Arrow table."""
        return self._waiting.wait_for(self._result.to_arrow_table)

    def to_arrow_reader(self, rows: int) -> Batches:
        """Return the rows in batches of at most ``rows`` each."""
        return Batches(self._waiting, self._waiting.wait_for(lambda: self._result.to_arrow_reader(rows)))


class Batches:
    """The rows of a query in batches, each fetched when it is requested."""

    def __init__(self, waiting: Waiting, reader: Any) -> None:
        self._waiting, self._reader = waiting, reader
        self.schema: pa.Schema = reader.schema

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        while (batch := self._waiting.wait_for(self._next)) is not None:
            yield batch

    def _next(self) -> pa.RecordBatch | None:
        try:
            return self._reader.read_next_batch()
        except StopIteration:
            return None


# Duck ---------------------------------------------------------------------------------------------------------------------
#
# DuckDB as the reader and the aggregator: connections with bounds, and errors that quote no data.


MEMORY = 400 * 10**6
"""Maximum number of bytes that DuckDB may hold; the rest of a large sort or grouping goes to a private temporary folder."""
MOST_COLUMNS = 20_000
"""The maximum number of columns that DuckDB is given; it takes minutes to begin with more."""
MOST_IN_BATCH = 2**31 - 1
"""Arrow's own advice; more can only be said of columns that take no space."""
SETTINGS: dict[str, str | int | float | list[str]] = {
    "preserve_insertion_order": True,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,  # a name in SQL is never a variable of Python
}

PACKED = {".gz": "gzip", ".zst": "zstd"}
"""Endings of compressed files, which DuckDB and Arrow both read, and Arrow's names for their compression."""

FILES = "getvariable('files')"
"""The files of a connection, in SQL: a path itself is never a part of a statement."""
PATTERNS = frozenset("*?[]{}\\")
"""Characters that DuckDB may take for a pattern in a path."""

_Known = dict[tuple[tuple[str, ...], tuple[str, ...]], "_Database"]
_SHARED: ContextVar[tuple[ExitStack, _Known] | None] = ContextVar("_SHARED", default=None)


class _Database(NamedTuple):
    """A database, and the names under which it reaches the files that it may read."""

    duck: Connection
    links: list[str]


@contextmanager
def one_database() -> Iterator[None]:
    """Connections to the same files share a database: to start one takes longer than to look through a small table."""
    with ExitStack() as stack:
        before = _SHARED.set((stack, {}))
        try:
            yield
        finally:
            _SHARED.reset(before)


@contextmanager
def connected(
    paths: Sequence[str] = (), *, database: str | None = None, packed: Sequence[str] = ()
) -> Iterator[Connection]:
    """A connection of our own: all cores, bounded memory, rows in their order, in UTC; it reaches named
    files and nothing else.

    The files at ``paths`` are :data:`FILES` in its SQL. They have plain names for DuckDB (links in a private folder), so that
    nothing in a path is a pattern, an address, a home or a column. A ``database`` is attached as ``source``. Then access
    is closed: whatever the SQL says, even in a view of the database, no other file can be read or written, no extension
    loaded, no setting changed. Temporary tables and views are seen by no one else. ``packed``: files that can be far
    smaller than their content; DuckDB may then hold no more than their sizes allow.

    >>> with quiet("that is out of reach"), connected() as duck:
    ...     duck.sql("SELECT * FROM read_text('/etc/hostname')").fetchall()
    Traceback (most recent call last):
    noisewright.exceptions.DataError: that is out of reach.
    """
    shared = _SHARED.get()
    if shared is None or database is not None:
        with _database(paths, database, packed) as (duck, _):
            yield duck
        return
    stack, known = shared
    key = tuple(paths), tuple(packed)
    if key not in known:
        known[key] = stack.enter_context(_database(paths, None, packed))
    whole, links = known[key]
    duck = whole.cursor()
    try:
        duck.execute("SET VARIABLE files = $1", [links])
        yield duck
    finally:
        duck.close()


@contextmanager
def _database(paths: Sequence[str], database: str | None, packed: Sequence[str]) -> Iterator[_Database]:
    with scratch_folder() as folder:
        if paths and not PATTERNS.isdisjoint(folder):
            raise DataError(
                f"the temporary folder {folder} has signs of a pattern in its name; set TMPDIR to another one."
            )
        links = [os.path.join(folder, f"{place}{packed_ending(path)}") for place, path in enumerate(paths)]
        for path, link in zip(paths, links, strict=True):
            os.symlink(os.path.abspath(path), link)
        most: dict[str, str | int | float | list[str]] = {
            "memory_limit": f"{_memory(packed)}B",
            "threads": os.cpu_count() or 1,
            "temp_directory": folder,
        }
        duck = Connection(duckdb.connect(config={**SETTINGS, **most}))
        try:
            duck.execute("SET enable_progress_bar = false")  # the terminal is the program's
            duck.execute("SET GLOBAL TimeZone = 'UTC'")  # moments do not depend on where the machine stands
            duck.execute("SET VARIABLE files = $1", [links])
            if database is not None:
                with quiet(
                    f"{Path(database).name} is not a DuckDB database, or another program has it open", FileFormatError
                ):
                    duck.execute(f"ATTACH {literal(os.path.abspath(database))} AS source (READ_ONLY)")
            duck.execute(f"SET allowed_paths = [{', '.join(map(literal, links))}]")
            duck.execute("SET enable_external_access = false")
            duck.execute("SET lock_configuration = true")
            yield _Database(duck, links)
        finally:
            duck.close()


def _memory(paths: Sequence[str]) -> int:
    """Return the maximum number of bytes that DuckDB may hold for packed files."""
    return min(MEMORY, max_memory(sum(os.path.getsize(path) for path in paths)) * 3 // 8) if paths else MEMORY


def packed_ending(path: str) -> str:
    """The ending of a name that states the file is compressed, or nothing."""
    return next((ending for ending in PACKED if path.lower().endswith(ending)), "")


@contextmanager
def quiet(sentence: str, error: type[NoisewrightError] = DataError) -> Iterator[None]:
    """Replace errors of DuckDB and Arrow by one sentence (without its full stop); errors of ours pass."""
    try:
        yield
    except NoisewrightError:
        raise
    except (duckdb.OutOfMemoryException, MemoryError):
        raise error(
            f"{sentence}, or it takes more memory than a table of its size may; write it in smaller parts."
        ) from None
    except (duckdb.Error, pa.ArrowException, OSError, UnicodeError):
        raise error(f"{sentence}.") from None


def readable(schema: pa.Schema) -> pa.Schema:
    """The same schema without its notes, if all names in it, however deep, are text: Arrow does not look before they
    are used.
    """
    waiting = list(schema)
    while waiting:
        field = waiting.pop()
        field.name.encode()
        waiting += [field.type.field(place) for place in range(field.type.num_fields)]
    return schema.remove_metadata()


def valid(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the same batch if it is valid: offsets, codes and lengths inside of its buffers, text in UTF-8.

    Arrow does not check them, and anyone who reads a value at a false offset reads beyond the end.
    """
    batch.validate(full=True)
    if batch.num_rows > MOST_IN_BATCH:
        raise pa.ArrowInvalid("too many rows in a batch")
    return batch


def identifier(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def check_names(name: str, columns: Sequence[str], used: Collection[str] | None = None) -> None:
    """SQL does not distinguish upper from lower case in names, so two columns must differ in more than that.

    Of how many columns there may be: where a policy states which are ``used``, only they are read.
    """
    if not columns:
        raise DataError(f"{name} has no columns.")
    if used is None and len(columns) > MOST_COLUMNS:
        raise DataError(
            f"{name} has {len(columns):,} columns, and {MOST_COLUMNS:,} are the most where all are read; leave some out."
        )
    if any("\0" in column or not _encodes(column) for column in columns):
        raise DataError(
            f"{name} has a column whose name is no text (it holds a NUL or half of a character); rename it."
        )
    if len({column.casefold() for column in columns}) < len(columns):
        raise DataError(f"{name} has two columns of the same name (in upper or lower case); rename one of them.")


def _encodes(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


# Delimited ----------------------------------------------------------------------------------------------------------------
#
# CSV and TSV files: a header, one dialect, and types that hold for every row.
#
# The dialect is that of RFC 4180 in UTF-8: the first row names the columns, double quotes protect, a doubled quote stands
# for one; the separator is a tab in ``.tsv`` files, and otherwise the comma, semicolon, tab or bar that the header has
# most of. An empty cell is missing.
#
# The columns that a policy uses are of the types that it states, and a cell that is not of its column's type refuses the whole
# file; those that it keeps without a type are text, cell by cell, and the others are not looked at. Where there is no policy, a
# column gets a type by its cells: of **all** rows, not of a sample, since a type that only most cells have would make a reader
# round or refuse the others later. Such a column is
#
# - integers, if every cell is a 64-bit integer in its plain form (``007`` is a code, not a number);
# - numbers, if every cell is one and none starts with a superfluous 0;
# - dates (``2024-02-29``), times (``2024-02-29 12:30:00``), or moments (``2024-02-29 12:30:00+01:00``), if every cell is one;
# - text otherwise, ``yes`` and ``true`` included.


LADDER = (pa.int64(), pa.float64(), pa.date32(), pa.timestamp("us"), ZONED)
"""The types that are tried; the first that all cells have is chosen, and text if none exists."""
SEPARATORS = (",", ";", "\t", "|")
BATCH = 65_536
CHUNK = 1 << 20
LONGEST_HEADER = 4 << 20
LONGEST_LINE = 4 << 20


class Delimited:
    """Facts about delimited files: separator, schema, number of rows, and the settings for DuckDB."""

    def __init__(self, separator: str, schema: pa.Schema, rows: int, quoted_missing: bool) -> None:
        self.separator, self.schema, self.rows = separator, schema, rows
        columns = {field.name: in_sql(field.type) for field in schema}
        self.relation = relation_of(separator, columns, quoted_missing=quoted_missing)


def read_delimited(
    paths: Sequence[str],
    types: Mapping[str, pa.DataType],
    used: Collection[str] | None = None,
    *,
    title: str | None = None,
    quoted_missing: bool = True,
) -> Delimited:
    """Look through files with the same header; ``types`` fixes the types of the columns that it names.

    ``used``: the columns that a policy names. All others are text then, and no one looks at them. ``title``: what messages
    call the first file, if not by its name. ``quoted_missing``: an empty cell in quotes is missing, too.
    """
    title = title or Path(paths[0]).name
    separator, names = header_of(paths[0], title)
    check_names(title, names)
    if used is not None:
        types = {name: types.get(name, pa.string()) if name in used else pa.string() for name in names}
    check_spelled({name: types[name] for name in names if name in types}, title)
    for path in paths[1:]:
        if header_of(path) != (separator, names):
            raise DataError(f"{Path(path).name} has another header than {title}; all files need the same one.")
    possible = {name: [types[name]] if name in types else list(LADDER) for name in names}
    seen: set[str] = set()
    rows = 0
    relation = relation_of(separator, dict.fromkeys(names, "VARCHAR"), quoted_missing=quoted_missing)
    sentence = (
        f"{title} is not a table in UTF-8 whose rows all have as many cells as the header has names, all end with "
        "the same line break and are no longer than 2 MB"
    )
    for path in paths:
        _check_whole(path)
    with quiet(sentence, FileFormatError), connected(paths) as duck:
        looked_at = [name for name in names if used is None or name in used] or names[:1]
        listed = ", ".join(map(identifier, looked_at))
        for batch in duck.sql(f"SELECT {listed} FROM {relation}").to_arrow_reader(BATCH):
            rows += batch.num_rows
            for name in looked_at:
                cells = batch.column(name)
                if name in seen:  # each type that is left after the first cells takes in the one before it
                    while possible[name] and not fits(cells, possible[name][0]):
                        possible[name].pop(0)
                elif cells.null_count < len(cells):
                    possible[name] = [kind for kind in possible[name] if fits(cells, kind)]
                    seen.add(name)
    for name, kind in types.items():
        if name in possible and not possible[name]:
            raise misfit(name, kind)
    chosen = {name: possible[name][0] if possible[name] and name in {*seen, *types} else pa.string() for name in names}
    return Delimited(separator, pa.schema(list(chosen.items())), rows, quoted_missing)


def header_of(path: str, name: str | None = None) -> tuple[str, list[str]]:
    """The separator and the names in the first row; ``name``: the name of the file in messages."""
    name = name or Path(path).name
    if packed_ending(path) == ".zst":
        try:
            check_windows(path)
        except OSError as problem:
            raise FileFormatError(
                f"{name} cannot be read: {problem.strerror}; compress it with zstd -19 or less, without --long."
            ) from None
    sentence = f"{name} does not start with a row of column names in UTF-8"
    try:
        with _unpacked(path) as plain, io.TextIOWrapper(plain, encoding="utf-8-sig", newline="") as file:
            line = file.readline(LONGEST_HEADER + 1)
    except OSError:
        raise _unreadable(name) from None
    except UnicodeError:
        raise FileFormatError(
            f"{name} is not in UTF-8; save it as UTF-8 (a spreadsheet calls that CSV UTF-8)."
        ) from None
    if not line.strip():
        raise FileFormatError(f"{name} is empty; a table starts with a row of column names.")
    if len(line) > LONGEST_HEADER:
        raise FileFormatError(
            f"the first row of {name} has more than {LONGEST_HEADER:,} characters; it is to name the columns."
        )
    plain = "".join(line.split('"')[::2])
    stem = path.lower().removesuffix(packed_ending(path))
    separator = "\t" if stem.endswith(".tsv") else max(SEPARATORS, key=plain.count)
    try:
        (names,) = csv.reader(io.StringIO(line, newline=""), delimiter=separator)
    except (csv.Error, ValueError):
        raise FileFormatError(f"{sentence}.") from None
    if not all(names):
        raise FileFormatError(f"{name} has a column without a name; name every column in the first row.")
    check_names(name, names, names)
    return separator, names


def wide_rows(
    paths: Sequence[str], separator: str, names: Sequence[str], used: Sequence[str]
) -> Iterator[list[str | None]]:
    """Some cells of every row, in the order of ``used``, of files that have too many columns for DuckDB."""
    title, places = Path(paths[0]).name, [names.index(name) for name in used]
    for path in paths:
        if header_of(path) != (separator, list(names)):
            raise DataError(f"{Path(path).name} has another header than {title}; all files need the same one.")
        try:
            with _unpacked(path) as plain, io.TextIOWrapper(plain, encoding="utf-8-sig", newline="") as file:
                rows = csv.reader(file, delimiter=separator, strict=True)
                next(rows)
                for row in rows:
                    if len(row) != len(names):
                        raise FileFormatError(
                            f"{Path(path).name} has a row with another number of cells than the header has names."
                        )
                    yield [row[place] or None for place in places]
        except OSError:
            raise _unreadable(Path(path).name) from None
        except (csv.Error, UnicodeError):
            raise FileFormatError(f"{Path(path).name} is not a table in UTF-8 with cells of up to 128 kB.") from None


def _check_whole(path: str) -> None:
    """Refuse a compressed file that was cut short or damaged: DuckDB would read the rest of it as if it were all."""
    if not packed_ending(path):
        return
    name = Path(path).name
    left, line = max_unpacked(os.path.getsize(path)), 0
    try:
        with _unpacked(path) as file:
            while chunk := file.read(CHUNK):
                left -= len(chunk)
                end = chunk.rfind(b"\n")
                line = line + len(chunk) if end < 0 else len(chunk) - end
                if left < 0 or line > LONGEST_LINE:
                    raise FileFormatError(
                        f"{name} unpacks to far more than its size, or has a row of more than {LONGEST_LINE >> 20} MB; unpack it "
                        "and look at what it is."
                    )
    except OSError:
        raise _unreadable(name) from None


def _unreadable(name: str) -> FileFormatError:
    if not packed_ending(name):
        return FileFormatError(f"{name} cannot be read.")
    return FileFormatError(
        f"{name} is not compressed as its name says, or it was cut short or damaged; compress or copy it again."
    )


def _unpacked(path: str) -> Any:
    """A file as it was before it was compressed."""
    return pa.input_stream(os.path.abspath(path), compression=PACKED.get(packed_ending(path)))


def relation_of(separator: str, columns: Mapping[str, str], *, quoted_missing: bool = True) -> str:
    """Return DuckDB's relation for files with these columns; ``quoted_missing``: an empty cell in quotes is missing, too."""
    struct = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in columns.items())
    return (
        f"read_csv({FILES}, auto_detect=false, hive_partitioning=false, header=true, delim={literal(separator)}, "
        f"quote='\"', escape='\"', strict_mode=true, allow_quoted_nulls={str(quoted_missing).lower()}, columns={{{struct}}})"
    )


def check_spelled(types: Mapping[str, pa.DataType], file: str) -> None:
    """Refuse columns of a kind that no text writes."""
    for name, type_ in types.items():
        kind = kind_of(type_)
        if kind is not None and not kind.typeless:
            raise DataError(
                f"the column {name!r} holds {kind.words} by the policy, which a file without types such as {file} cannot spell; "
                "store the table as Parquet or Arrow."
            )


def in_sql(type_: pa.DataType) -> str:
    """Return DuckDB's name of an Arrow type: a type that holds all of its values."""
    if pa.types.is_decimal(type_) and type_.precision <= 38:
        return f"DECIMAL({type_.precision}, {type_.scale})"
    kind = kind_of(type_)
    return (None if kind is None else kind.sql_type(type_)) or "VARCHAR"


def misfit(name: str, type_: pa.DataType) -> DataError:
    """The error that a value is not of the type that the policy states; it shows no value."""
    kind = kind_of(type_) or TEXT
    words = kind.one + (" such as 31.5, with a point" if kind.name == "number" else "")
    if type_ == ZONED:
        words = "a time with an offset such as 2024-02-29 12:30:00+01:00"
    other = f'say another type, such as types = {{ {toml_key(name)} = "{kind.wider}" }}'
    if kind is TIME:
        ends = "without an offset" if type_ == ZONED else "with one, such as 2024-01-31T00:00:00Z"
        other = f"write the ends of its range {ends}, or {other}"
    return DataError(
        f"the column {name!r} holds something that is not {words}, its type by the policy ({kind.name}); correct the data, or "
        f"{other}."
    )
