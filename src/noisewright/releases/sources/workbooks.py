r"""Sheets of ``.xlsx`` workbooks as rows of text, read as a stream; nothing in them is run.

A sheet is a table without types, like a CSV file: the first row names the columns, a cell without a value is missing, a row
without any value is no row, and the policy says what the columns hold. A cell reads as its value, not as it is shown: ``0.5`` for
50 %, ``2024-02-29`` for whatever a spreadsheet shows for that day, ``true`` and ``false``. Of a formula the file holds the result
that was saved with it; that is read, and a formula without one is refused.

A workbook is an archive of XML files (ECMA-376). Rows are read one by one. The texts that cells share are held in memory and are
bounded, and so is the size of a single row, so that an archive which unpacks to far more than it is cannot fill the memory.
"""

from __future__ import annotations

import datetime
import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from noisewright.core.choices import nearest_name
from noisewright.core.errors import DataError, FileFormatError, NoisewrightError
from noisewright.releases.sources._cells import Cells, spelled_number

__all__ = ["Sheet", "open_sheet"]

CHUNK = 1 << 16
MOST_SHARED = 1 << 28
"""Bytes that the parts of a workbook besides its sheets may unpack to."""
LONGEST_ROW = 1 << 26
"""Bytes of XML that one row may take."""
FORMATTED_DATES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
"""The numbers of formats for dates and times that need no definition."""
SHOWN_ONLY = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^]]*\]', re.IGNORECASE)
"""What a number format shows beside the number: texts, colours, conditions."""
ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
PLACED = re.compile("([A-Z]{1,3})[0-9]*")
NEGATIVE_ZERO = "-0.0"
PLAIN_WHOLE = re.compile("-?(0|[1-9][0-9]*)")
LEAP_1900 = 60
"""The 29th of February 1900, which spreadsheets count and which there was not."""


class Sheet:
    """One sheet of a workbook: ``names`` of its columns, and :meth:`rows` once for each call."""

    def __init__(self, path: str, file: str, shared: list[str], dates: list[bool], start: datetime.datetime) -> None:
        self.path, self.file, self.shared, self.dates, self.start = path, file, shared, dates, start
        self.book = Path(path).name
        first = next(self._values(), {})
        if not first:
            raise FileFormatError(f"{self.book} has an empty sheet; a table starts with a row of column names.")
        width = max(first) + 1
        self.names = [(first[place]() or "") if place in first else "" for place in range(width)]
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
                row = [cells[place]() if looked_at[place] and place in cells else None for place in range(width)]
            yield row

    def _values(self, blank: bool = False) -> Iterator[dict[int, Callable[[], str | None]]]:
        """Each row as what reads a cell, by its place; a cell that is asked for nothing cannot be wrong."""
        with _damage(self.path), zipfile.ZipFile(self.path) as archive, archive.open(self.file) as stream:
            for row in _elements(stream, "row", self.book):
                found: dict[int, Callable[[], str | None]] = {}
                place = -1
                for cell in row:
                    place = _place(cell.get("r"), place + 1)
                    if len(cell):
                        found[place] = lambda cell=cell: self._value(cell, blank)  # type: ignore[misc]
                if found or blank:
                    yield found

    def _value(self, cell: Element, signed: bool) -> str | None:
        """The text of a cell; ``signed``: a zero keeps its sign, which no spreadsheet shows."""
        parts = {_local(part): part for part in cell}
        kind, value = cell.get("t", "n"), parts.get("v")
        if kind == "inlineStr":
            return _joined(parts["is"]) if "is" in parts else None
        text = "" if value is None else value.text or ""
        if value is None or (not text and kind != "str"):
            if "f" in parts:
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
        style = int(cell.get("s", "0"))
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
    with _damage(path), zipfile.ZipFile(path) as archive:
        (main,) = _related(archive, "", "officeDocument").values()
        workbook = _root(archive, main, book)
        places = _related(archive, main, "worksheet")
        sheets = {
            str(one.get("name")): places[place]
            for one in workbook.iter()
            if _local(one) == "sheet"
            for name, place in one.attrib.items()
            if name.rpartition("}")[2] == "id" and place in places
        }
        chosen = _chosen(book, list(sheets), wanted)
        old = any(_local(one) == "workbookPr" and one.get("date1904") in ("1", "true") for one in workbook)
        shared = [_joined(one) for part in _parts(archive, main, "sharedStrings", book) for one in part]
        dates = [one for part in _parts(archive, main, "styles", book) for one in _dates(part)]
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
    """One sentence for whatever is wrong with a file; what is wrong may quote a cell."""
    try:
        yield
    except NoisewrightError:
        raise
    except (
        zipfile.BadZipFile,
        zlib.error,
        ElementTree.ParseError,
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


def _related(archive: zipfile.ZipFile, part: str, kind: str) -> dict[str, str]:
    """The parts of a kind that a part (or, for "", the archive) names, by the name that it has for them."""
    folder, name = posixpath.split(part)
    listed = _root(archive, posixpath.join(folder, "_rels", f"{name}.rels"), "")
    found = [one for one in listed if str(one.get("Type")).endswith(f"/{kind}")]
    places = (posixpath.normpath(posixpath.join(folder, str(one.get("Target")))).lstrip("/") for one in found)
    return {str(one.get("Id")): place for one, place in zip(found, places, strict=True)}


def _parts(archive: zipfile.ZipFile, main: str, kind: str, book: str) -> Iterator[Element]:
    return (_root(archive, place, book) for place in _related(archive, main, kind).values())


def _root(archive: zipfile.ZipFile, part: str, book: str) -> Element:
    if archive.getinfo(part).file_size > MOST_SHARED:
        raise DataError(
            f"{book} holds more text than is read from a workbook ({MOST_SHARED >> 20} MB); save it as CSV."
        )
    with archive.open(part) as stream:
        return ElementTree.parse(stream).getroot()


def _elements(stream: IO[bytes], name: str, book: str) -> Iterator[Element]:
    """The elements of one name, each gone when the next one is asked for."""
    parser: Any = ElementTree.XMLPullParser(("start", "end"))
    parents: list[Element] = []
    since = 0
    while chunk := stream.read(CHUNK):
        parser.feed(chunk)
        since += len(chunk)
        for event, element in parser.read_events():
            if event == "start":
                parents.append(element)
                continue
            parents.pop()
            if _local(element) == name:
                since = 0
                yield element
                parents[-1].clear()
        if since > LONGEST_ROW:
            raise DataError(f"{book} has a row of more than {LONGEST_ROW >> 20} MB; save it as CSV.")
    parser.close()


def _dates(styles: Element) -> list[bool]:
    """Whether each style of cells shows a date or a time."""
    codes = {
        int(one.get("numFmtId", "0")): str(one.get("formatCode")) for one in styles.iter() if _local(one) == "numFmt"
    }
    used = [int(one.get("numFmtId", "0")) for group in styles if _local(group) == "cellXfs" for one in group]
    return [
        bool(re.search("[dmyhs]", SHOWN_ONLY.sub("", codes[number]).split(";")[0], re.IGNORECASE))
        if number in codes
        else number in FORMATTED_DATES
        for number in used
    ]


def _joined(text: Element) -> str:
    """A text, whatever pieces it is stored in, without the readings of East Asian signs."""
    pieces = [one for part in text if _local(part) != "rPh" for one in part.iter() if _local(one) == "t"]
    return _unescaped("".join(piece.text or "" for piece in pieces))


def _unescaped(text: str) -> str:
    return ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def _place(stated: str | None, following: int) -> int:
    """The number of a column from 0 on: that of ``AB7`` is 27. A cell that says nothing follows the one before."""
    found = None if stated is None else PLACED.match(stated)
    if found is None:
        return following
    place = 0
    for letter in found[1]:
        place = place * 26 + ord(letter) - ord("A") + 1
    return place - 1


def _local(element: Element) -> str:
    """The name of an element, whichever of the two namespaces of the standard it is in."""
    return element.tag.rpartition("}")[2]
