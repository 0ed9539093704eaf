r"""The released table as a sheet of an ``.xlsx`` workbook, written row by row and without anything about who wrote it or when.

Text is written as text, in the cell itself: whatever it begins with, no spreadsheet takes it for a formula. Numbers, true/false
and dates are of these kinds; times are text, because a spreadsheet would round them, and so are numbers with more digits than a
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
import re
import zipfile
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from xml.sax.saxutils import escape

import pyarrow as pa

from noisewright.releases.kinds.binary import BYTES

__all__ = ["LONGEST_TEXT", "MOST_ROWS", "SheetWriter"]

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
