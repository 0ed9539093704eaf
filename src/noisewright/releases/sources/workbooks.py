r"""Sheets of ``.xlsx`` workbooks as rows of text, read as a stream; nothing in them is run.

A sheet is a table without types, like a CSV file: the first row names the columns, a cell without a value is missing, a row
without any value is skipped, and the policy states the types of the columns. A cell reads as its value, not as it is
shown: ``0.5`` for 50 %, ``2024-02-29`` for whatever a spreadsheet shows for that day, ``true`` and ``false``. For a
formula the file holds the result that was saved with it; that is read, and a formula without one is refused.

A workbook is an archive of XML files (ECMA-376), which :mod:`~noisewright.files.xml` reads without building a tree.
Rows are read one by one. The texts that cells share are held in memory, up to a bound that follows from the size of the file.
"""

from __future__ import annotations

import datetime
import os
import posixpath
import re
import zipfile
import zlib
from array import array
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from xml.parsers.expat import ExpatError

from noisewright.core.choices import nearest_name
from noisewright.core.errors import DataError, FileFormatError, NoisewrightError
from noisewright.files.inputs import max_memory, open_archive
from noisewright.files.xml import END, START, Event, events, text_of
from noisewright.releases.sources._cells import Cells, spelled_number

__all__ = ["Sheet", "open_sheet"]

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
