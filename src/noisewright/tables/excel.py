"""Read XML as a stream of events, without a tree, in memory that does not grow with the document.

There is no reason for a document type, deep nesting, thousands of different names or endless tags in a table, so such
documents
are rejected: entities, names and open tags are what a parser keeps.

>>> import io
>>> [(sign, name) for sign, name, _ in events(io.BytesIO(b"<row><c>1</c></row>"), "a.xlsx")]
[('<', 'row'), ('<', 'c'), ('', '1'), ('>', 'c'), ('>', 'row')]

Text is written as text, in the cell itself: whatever it begins with, no spreadsheet takes it for a formula. Numbers,
true/false
and dates are of these kinds; times are text, because a spreadsheet would round them, and so are numbers with more digits
than a
float has, and dates before March 1900, which it does not have. The same rows give the same bytes.

>>> import io
>>> file = io.BytesIO()
>>> writer = SheetWriter(file, pa.schema({"age": pa.int64(), "note": pa.string()}))
>>> writer.write_batch(pa.record_batch({"age": [31], "note": ["=1+1"]}))
>>> writer.close()
>>> zipfile.ZipFile(file).read("xl/worksheets/sheet1.xml").decode().partition("</row>")[2]
'<row><c><v>31</v></c><c t="inlineStr"><is><t xml:space="preserve">=1+1</t></is></c></row></sheetData></worksheet>'
"""

from __future__ import annotations

import datetime
import math
import os
import posixpath
import re
import zipfile
import zlib
from array import array
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, NamedTuple
from xml.parsers import expat
from xml.parsers.expat import ExpatError
from xml.sax.saxutils import escape

import pyarrow as pa

from noisewright._utils.inputs import max_memory, open_archive
from noisewright._utils.validation import nearest_name
from noisewright.columns.nested import BYTES
from noisewright.exceptions import DataError, FileFormatError, NoisewrightError
from noisewright.tables.source import Cells, spelled_number

__all__ = [
    "END",
    "LONGEST_TEXT",
    "MOST_ROWS",
    "START",
    "XML_TEXT",
    "Event",
    "Sheet",
    "SheetWriter",
    "events",
    "open_sheet",
    "text_of",
]


START, END, XML_TEXT = "<", ">", ""
Event = tuple[str, str, dict[str, str]]
"""A sign, the local name of an element or a piece of text, and attributes at a start."""
CHUNK = 1 << 16
LONGEST_TAG = 1 << 20
LONGEST_XML_TEXT = 1 << 22
MOST_DEEP = 100
MOST_NAMES = 1000
NOTHING: dict[str, str] = {}


def events(stream: IO[bytes], called: str) -> Iterator[Event]:
    """Yield what is in a document; ``called`` is the name of its file in messages."""
    found: list[Event] = []
    locally: dict[str, str] = {}
    others: set[str] = set()

    def start(name: str, attributes: dict[str, str]) -> None:
        local = locally.get(name)
        if local is None:
            local = locally[name] = name.rpartition("}")[2]
        others.update(attributes)
        found.append((START, local, attributes))

    def refuse(*_: object) -> None:
        raise ValueError("a table has no document type")

    parser: Any = expat.ParserCreate(None, "}", None)  # the last: names are not kept
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: found.append((END, locally[name], NOTHING))
    parser.CharacterDataHandler = lambda text: found.append((XML_TEXT, text, NOTHING))
    parser.StartDoctypeDeclHandler = refuse
    deep = since = 0
    while chunk := stream.read(CHUNK):
        parser.Parse(chunk, False)
        since = 0 if found else since + len(chunk)
        for event in found:
            deep += (event[0] == START) - (event[0] == END)
        if since > LONGEST_TAG or deep > MOST_DEEP or len(locally) + len(others) > MOST_NAMES:
            raise DataError(f"{called} has XML that no spreadsheet writes; save it as CSV.")
        yield from found
        found.clear()
    parser.Parse(b"", True)
    yield from found


def text_of(inside: Iterator[Event], called: str, only: Collection[str] = (), never: Collection[str] = ()) -> str:
    """Read the text up to the end of an element: all of it, or that of elements of some names, which are in no others."""
    pieces: list[str] = []
    size, deep, taken, shut = 0, 1, not only, 0
    for sign, name, _ in inside:
        if sign == XML_TEXT:
            if taken and not shut:
                pieces.append(name)
                size += len(name)
                if size > LONGEST_XML_TEXT:
                    raise DataError(f"{called} has a text of more than {LONGEST_XML_TEXT >> 20} MB; save it as CSV.")
            continue
        if sign == START:
            deep += 1
            taken = taken or name in only
            shut += name in never
        else:
            deep -= 1
            if not deep:
                break
            taken = not only or (taken and name not in only)
            shut -= name in never
    return "".join(pieces)


# Sheets -------------------------------------------------------------------------------------------------------------------
#
# The released table as a sheet of an ``.xlsx`` workbook, written row by row and without anything about who wrote it or when.


MOST_ROWS = 1_048_575
"""Rows that a sheet has space for, below its header."""
LONGEST_TEXT = 32_767
"""Characters of a cell."""
FIRST_DAY = datetime.date(1900, 3, 1)
"""Spreadsheets count days from 1900 on, and a day that there was not among the first ones."""
EPOCH = datetime.date(1899, 12, 30)
EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The time of every file in the archive: the first that an archive can state."""
NO_XML = re.compile("_(?=x[0-9A-Fa-f]{4}_)|[\x00-\x08\x0b-\x1f\ufffe\uffff]")
"""Characters that XML has not, and the sign that escapes them."""
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{SHEET_TYPE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{SHEET_TYPE}.styles+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{SHEET_TYPE}.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{RELATED}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{RELATED}">'
    '<sheets><sheet name="data" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{RELATED}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="rId2" Type="{RELATED}/styles" Target="styles.xml"/></Relationships>',
    "xl/styles.xml": f'<styleSheet xmlns="{MAIN}">'
    '<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/></numFmts><fonts count="1"><font/></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf/>'
    '<xf numFmtId="164" applyNumberFormat="1"/></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
}


class SheetWriter:
    """Writes batches to a workbook of one sheet, as Arrow's writers do; to a path, or to a stream."""

    def __init__(self, target: Any, schema: pa.Schema) -> None:
        if any(pa.types.is_nested(type_) or BYTES.holds(type_) for type_ in schema.types):
            raise pa.ArrowInvalid("a cell cannot hold this type")
        self._archive = zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED)
        for name, text in PARTS.items():
            self._archive.writestr(_entry(name), HEAD + text)
        self._sheet = self._archive.open(_entry("xl/worksheets/sheet1.xml"), "w", force_zip64=True)
        self._sheet.write(f'{HEAD}<worksheet xmlns="{MAIN}"><sheetData>'.encode())
        self._sheet.write(_row([_text(name) for name in schema.names]))

    def write_batch(self, batch: pa.RecordBatch) -> None:
        columns = [_cells(column) for column in batch.columns]
        self._sheet.write(b"".join(_row(cells) for cells in zip(*columns, strict=True)))

    def close(self) -> None:
        if self._sheet.closed:
            return
        self._sheet.write(b"</sheetData></worksheet>")
        self._sheet.close()
        self._archive.close()


def _entry(name: str) -> zipfile.ZipInfo:
    found = zipfile.ZipInfo(name, EARLIEST)
    found.compress_type = zipfile.ZIP_DEFLATED
    return found


def _row(cells: Any) -> bytes:
    return f"<row>{''.join(cells)}</row>".encode()


def _cells(column: pa.Array) -> list[str]:
    """A column as XML; a cell without a value still takes its place."""
    type_ = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    column = column.cast(type_)
    spell: Callable[[Any], str] = _text
    if pa.types.is_boolean(type_):
        spell = _true_or_false
    elif pa.types.is_integer(type_) or pa.types.is_decimal(type_) or pa.types.is_floating(type_):
        spell = _number
    elif pa.types.is_date(type_):
        spell = _date
    else:
        column = column.cast(pa.string())
    return ["<c/>" if value is None else spell(value) for value in column.to_pylist()]


def _text(value: str) -> str:
    safe = escape(NO_XML.sub(lambda found: f"_x{ord(found[0]):04X}_", value))
    return f'<c t="inlineStr"><is><t xml:space="preserve">{safe}</t></is></c>'


def _number(value: Any) -> str:
    """A number, which a spreadsheet holds as a float; as text where that has not all of its digits."""
    exact = math.isfinite(value) and (isinstance(value, float) or Decimal(repr(float(value))) == value)
    return f"<c><v>{value}</v></c>" if exact else _text(str(value))


def _true_or_false(value: bool) -> str:
    return f'<c t="b"><v>{int(value)}</v></c>'


def _date(value: datetime.date) -> str:
    return f'<c s="1"><v>{(value - EPOCH).days}</v></c>' if value >= FIRST_DAY else _text(value.isoformat())


# Workbooks ----------------------------------------------------------------------------------------------------------------
#
# Sheets of ``.xlsx`` workbooks as rows of text, read as a stream; nothing in them is run.
#
# A sheet is a table without types, like a CSV file: the first row names the columns, a cell without a value is missing, a row
# without any value is skipped, and the policy states the types of the columns. A cell reads as its value, not as it is
# shown: ``0.5`` for 50 %, ``2024-02-29`` for whatever a spreadsheet shows for that day, ``true`` and ``false``. For a
# formula the file holds the result that was saved with it; that is read, and a formula without one is refused.
#
# A workbook is an archive of XML files (ECMA-376), which :mod:`~noisewright.tables.excel` reads without building a tree.
# Rows are read one by one. The texts that cells share are held in memory, up to a bound that follows from the size of the file.


LONGEST_PART = 1 << 23
"""Bytes of XML that each part of a workbook may have, in addition the sheet and the texts that cells share."""
LONGEST_ROW = 1 << 22
"""Characters that the cells of one row may have together."""
MOST_COLUMNS = 1 << 14
TEXT = 24
"""Bytes that a shared text counts for, in addition its letters: many short ones take time."""
FORMATTED_DATES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
"""The numbers of formats for dates and times that need no definition."""
SHOWN_ONLY = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^]]*\]', re.IGNORECASE)
"""Parts that a number format shows next to the number: texts, colours, conditions."""
ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
PLACED = re.compile("([A-Z]{1,3})[0-9]*")
NEGATIVE_ZERO = "-0.0"
PLAIN_WHOLE = re.compile("-?(0|[1-9][0-9]*)")
LEAP_1900 = 60
"""The 29th of February 1900, which spreadsheets count and which there was not."""


class Shared:
    """The texts that cells share, one after another in UTF-8."""

    def __init__(self, book: str, most: int) -> None:
        self._book, self._most = book, most
        self._text, self._ends = bytearray(), array("Q", [0])

    def append(self, text: str) -> None:
        """Add a text."""
        self._text += text.encode("utf-8", "surrogatepass")
        self._ends.append(len(self._text))
        if len(self._text) + TEXT * len(self._ends) > self._most:
            raise DataError(
                f"{self._book} holds more text than is read from a workbook of its size ({self._most >> 20} MB); save it as CSV."
            )

    def __getitem__(self, place: int) -> str:
        if not 0 <= place < len(self._ends) - 1:
            raise IndexError(place)
        return self._text[self._ends[place] : self._ends[place + 1]].decode("utf-8", "surrogatepass")


class Cell(NamedTuple):
    """A cell as it is in the file."""

    kind: str
    style: str
    value: str | None
    """None: there is no value."""
    formula: bool
    inline: str | None
    """A text of its own, not a shared one."""


class Sheet:
    """One sheet of a workbook: ``names`` of its columns, and :meth:`rows` once for each call."""

    def __init__(self, path: str, file: str, shared: Shared, dates: list[bool], start: datetime.datetime) -> None:
        self.path, self.file, self.shared, self.dates, self.start = path, file, shared, dates, start
        self.book = Path(path).name
        with _damage(path):
            first = {place: self._value(cell, False) for place, cell in next(self._values(), {}).items()}
        if not first:
            raise FileFormatError(f"{self.book} has an empty sheet; a table starts with a row of column names.")
        self.names = [first.get(place) or "" for place in range(max(first) + 1)]
        if not all(self.names):
            raise FileFormatError(f"{self.book} has a column without a name; name every column in the first row.")

    def rows(self, used: Collection[str] | None = None, *, blank: bool = False) -> Iterator[Cells]:
        """The rows below the header; cells of columns that are not used are not looked at. ``blank``: blank rows, too."""
        width, looked_at = len(self.names), [used is None or name in used for name in self.names]
        values = self._values(blank=blank)
        next(values)
        for cells in values:
            if cells and max(cells) >= width:
                raise FileFormatError(f"{self.book} has cells to the right of its first row; name every column there.")
            with _damage(self.path):
                row = [self._value(cells[at], blank) if looked_at[at] and at in cells else None for at in range(width)]
            yield row

    def _values(self, blank: bool = False) -> Iterator[dict[int, Cell]]:
        """Each row as its cells by their place; a cell that is requested nothing cannot be wrong."""
        with _damage(self.path), open_archive(self.path) as archive, archive.open(self.file) as stream:
            found: dict[int, Cell] | None = None
            inside = events(stream, self.book)
            place = size = 0
            for sign, name, attributes in inside:
                if name == "row" and sign == START:
                    found, place, size = {}, -1, 0
                elif name == "row" and sign == END and found is not None:
                    if found or blank:
                        yield found
                    found = None
                elif name == "c" and sign == START and found is not None:
                    place = _place(attributes.get("r"), place + 1)
                    cell, empty = self._cell(inside, attributes)
                    if not empty:
                        found[place] = cell
                    size += len(cell.value or "") + len(cell.inline or "")
                    if size > LONGEST_ROW or place >= MOST_COLUMNS:
                        raise DataError(f"{self.book} has a row that is too long; save it as CSV.")

    def _cell(self, inside: Iterator[Event], attributes: dict[str, str]) -> tuple[Cell, bool]:
        """The cell that begins here, and whether nothing is in it."""
        value = inline = None
        formula, empty = False, True
        for sign, name, _ in inside:
            if sign == END and name == "c":
                break
            if sign != START:
                continue
            empty = False
            if name == "f":
                formula = True
            elif name == "v":
                value = text_of(inside, self.book)
            elif name == "is":
                inline = _unescaped(text_of(inside, self.book, ("t",), ("rPh",)))
        return Cell(attributes.get("t", "n"), attributes.get("s", "0"), value, formula, inline), empty

    def _value(self, cell: Cell, signed: bool) -> str | None:
        """The text of a cell; ``signed``: a zero keeps its sign, which no spreadsheet shows."""
        kind, text = cell.kind, cell.value or ""
        if kind == "inlineStr":
            return cell.inline
        if cell.value is None or (not text and kind != "str"):
            if cell.formula:
                raise DataError(
                    f"{self.book} has a formula without its result; open it in a spreadsheet and save it, or put values in its "
                    "place."
                )
            return None
        if kind == "s":
            return self.shared[int(text)]
        if kind == "b":
            return "true" if text == "1" else "false"
        if kind != "n":
            return text.replace("T", " ") if kind == "d" else _unescaped(text)
        style = int(cell.style)
        if style < len(self.dates) and self.dates[style]:
            return self._moment(float(text))
        return (
            text if PLAIN_WHOLE.fullmatch(text) or (signed and text == NEGATIVE_ZERO) else spelled_number(float(text))
        )

    def _moment(self, days: float) -> str:
        """A date, a date with a clock, or below one day a clock alone."""
        if days < LEAP_1900 and self.start.year < 1900:  # the count began with a day that there was not
            days += 1 if days >= 1 else 0
        found = self.start + datetime.timedelta(milliseconds=round(days * 86_400_000))
        spelled = found.isoformat(" ", "milliseconds" if found.microsecond else "seconds")
        if days < 1:
            return spelled[11:]
        return spelled[:10] if found.time() == datetime.time() else spelled


def open_sheet(path: str, wanted: str | None = None) -> Sheet:
    """The only sheet of a workbook, or the one that is wanted."""
    book = Path(path).name
    with _damage(path), open_archive(path) as archive:
        (main,) = _related(archive, "", "officeDocument", book).values()
        places = _related(archive, main, "worksheet", book)
        sheets: dict[str, str] = {}
        old = False
        for name, attributes in _starts(archive, main, book):
            if name == "sheet":
                ids = (value for key, value in attributes.items() if key.rpartition("}")[2] == "id")
                sheets |= {str(attributes.get("name")): places[one] for one in ids if one in places}
            elif name == "workbookPr":
                old = attributes.get("date1904") in ("1", "true")
        chosen = _chosen(book, list(sheets), wanted)
        shared = Shared(book, max_memory(os.path.getsize(path)) // 2)
        for place in _related(archive, main, "sharedStrings", book).values():
            with archive.open(place) as stream:
                inside = events(stream, book)
                for sign, name, _ in inside:
                    if sign == START and name == "si":
                        shared.append(_unescaped(text_of(inside, book, ("t",), ("rPh",))))
        dates = [
            one for place in _related(archive, main, "styles", book).values() for one in _dates(archive, place, book)
        ]
        start = datetime.datetime(1904, 1, 1) if old else datetime.datetime(1899, 12, 30)
        return Sheet(path, sheets[chosen], shared, dates, start)


def _chosen(book: str, sheets: list[str], wanted: str | None) -> str:
    if not sheets:
        raise FileFormatError(f"{book} has no sheet with cells.")
    if wanted is None:
        if len(sheets) > 1:
            raise FileFormatError(
                f"{book} has {len(sheets)} sheets; say which, as in {sheets[0]}@{book}: {', '.join(sheets)}."
            )
        return sheets[0]
    if wanted not in sheets:
        near = nearest_name(wanted, sheets)
        hint = f"did you mean {near!r}?" if near else f"its sheets: {', '.join(sheets)}."
        raise FileFormatError(f"{book} has no sheet {wanted!r}; {hint}")
    return wanted


# The parts of a workbook --------------------------------------------------------------------------------------------------


@contextmanager
def _damage(path: str) -> Iterator[None]:
    """One sentence for whatever is wrong with a file; the problem may quote a cell."""
    try:
        yield
    except NoisewrightError:
        raise
    except (
        zipfile.BadZipFile,
        zlib.error,
        ExpatError,
        EOFError,
        OSError,
        NotImplementedError,
        RuntimeError,
        LookupError,
        ValueError,
        OverflowError,
    ):
        raise FileFormatError(
            f"{Path(path).name} is not an .xlsx workbook, or it was cut short, damaged or locked with a password; save it again."
        ) from None


def _related(archive: zipfile.ZipFile, part: str, kind: str, book: str) -> dict[str, str]:
    """The parts of a kind that a part (or, for "", the archive) names, by the name that it has for them."""
    folder, name = posixpath.split(part)
    listed = _starts(archive, posixpath.join(folder, "_rels", f"{name}.rels"), book)
    found = [one for tag, one in listed if tag == "Relationship" and str(one.get("Type")).endswith(f"/{kind}")]
    places = (posixpath.normpath(posixpath.join(folder, str(one.get("Target")))).lstrip("/") for one in found)
    return {str(one.get("Id")): place for one, place in zip(found, places, strict=True)}


def _starts(archive: zipfile.ZipFile, part: str, book: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The elements of a small part, in the order in which they begin."""
    if archive.getinfo(part).file_size > LONGEST_PART:
        raise DataError(f"{book} has styles or lists of more than {LONGEST_PART >> 20} MB; save it as CSV.")
    with archive.open(part) as stream:
        for sign, name, attributes in events(stream, book):
            if sign == START:
                yield name, attributes


def _dates(archive: zipfile.ZipFile, part: str, book: str) -> list[bool]:
    """Return whether each style of cells shows a date or a time."""
    codes: dict[int, str] = {}
    used: list[int] = []
    within = False
    for name, attributes in _starts(archive, part, book):
        if name == "numFmt":
            codes[int(attributes.get("numFmtId", "0"))] = attributes.get("formatCode", "")
        elif name == "xf" and within:
            used.append(int(attributes.get("numFmtId", "0")))
        elif name in ("cellXfs", "cellStyleXfs", "cellStyles", "dxfs"):
            within = name == "cellXfs"
    return [
        bool(re.search("[dmyhs]", SHOWN_ONLY.sub("", codes[number]).split(";")[0], re.IGNORECASE))
        if number in codes
        else number in FORMATTED_DATES
        for number in used
    ]


def _unescaped(text: str) -> str:
    return ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def _place(stated: str | None, following: int) -> int:
    """The number of a column at least 0: that of ``AB7`` is 27. A cell that states nothing follows the one before."""
    found = None if stated is None else PLACED.match(stated)
    if found is None:
        return following
    place = 0
    for letter in found[1]:
        place = place * 26 + ord(letter) - ord("A") + 1
    return place - 1
