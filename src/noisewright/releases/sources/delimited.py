r"""CSV and TSV files: a header, one dialect, and types that hold for every row.

The dialect is that of RFC 4180 in UTF-8: the first row names the columns, double quotes protect, a doubled quote stands
for one; the separator is a tab in ``.tsv`` files, and otherwise the comma, semicolon, tab or bar that the header has
most of. An empty cell is missing.

The columns that a policy uses are of the types that it states, and a cell that is not of its column's type refuses the whole
file; those that it keeps without a type are text, cell by cell, and the others are not looked at. Where there is no policy, a
column gets a type by its cells: of **all** rows, not of a sample, since a type that only most cells have would make a reader
round or refuse the others later. Such a column is

- integers, if every cell is a 64-bit integer in its plain form (``007`` is a code, not a number);
- numbers, if every cell is one and none starts with a superfluous 0;
- dates (``2024-02-29``), times (``2024-02-29 12:30:00``), or moments (``2024-02-29 12:30:00+01:00``), if every cell is one;
- text otherwise, ``yes`` and ``true`` included.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from noisewright.core.choices import toml_key
from noisewright.core.errors import DataError, FileFormatError
from noisewright.files.inputs import check_windows, max_unpacked
from noisewright.releases.kinds.casts import fits
from noisewright.releases.kinds.dates import TIME, ZONED
from noisewright.releases.kinds.registry import kind_of
from noisewright.releases.kinds.texts import TEXT
from noisewright.releases.sources.duck import (
    FILES,
    PACKED,
    check_names,
    connected,
    identifier,
    literal,
    packed_ending,
    quiet,
)

__all__ = ["Delimited", "check_spelled", "header_of", "in_sql", "misfit", "read_delimited", "relation_of", "wide_rows"]

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
