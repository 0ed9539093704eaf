"""Read what the pages of a Parquet file say that they unpack to, from their headers alone.

A reader holds one page of each column at a time, so memory is bounded by the largest pages, not by the ratio of a whole file:
a column of 100 million equal numbers is accepted. Pages are headed by a struct of Thrift's compact protocol, which states the
sizes of the page before and after packing; both readers (DuckDB and Arrow) refuse a page that unpacks to another size.

A text in delta encoding repeats the beginning of the text before it, so a page of some kilobytes can hold gigabytes of texts;
:func:`check_pages` returns the columns with such texts, which are then read few rows at a time.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from noisewright.core.errors import FileFormatError
from noisewright.files.inputs import FREE, PER_BYTE, max_memory, open_input
from noisewright.releases.sources.duck import FILES, connected, quiet

__all__ = ["check_pages"]

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
                first = dictionary if dictionary is not None and 0 < dictionary < data else data
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
