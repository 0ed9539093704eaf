"""Sheets of workbooks as tables: what is read and refused, and what is written; openpyxl, which we do not use, is the oracle."""

from __future__ import annotations

import datetime
import re
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisewright.exceptions import NoisewrightError
from noisewright.tables import excel as sheets
from noisewright.tables import excel as workbooks
from noisewright.tables.excel import SheetWriter, open_sheet
from noisewright.tables.files import read_written
from noisewright.tables.reading import source_of

DAY, NOON = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12, 30)
ROWS = [
    ["age", "seen", "day", "smoker", "note", "share"],
    [31, NOON, DAY, True, "=1+1", 0.1],
    [None] * 6,
    [47, None, datetime.date(1900, 1, 1), False, ' a\n"b"', 1e-7],
]


def book(path: Path, rows: list[list[Any]] = ROWS, *more: str, epoch: Any = None) -> Path:
    made = openpyxl.Workbook()
    sheet: Any = made.active
    sheet.title = "Visits"
    if epoch is not None:
        made.epoch = epoch
    for row in rows:
        sheet.append(row)
    for cell in (cell for row in sheet.iter_rows() for cell in row):
        cell.data_type = "s" if isinstance(cell.value, str) and not cell.value.startswith("=A") else cell.data_type
    for name in more:
        made.create_sheet(name)
    made.save(path)
    return path


def rows_of(data: Any, **how: Any) -> list[dict[str, Any]]:
    source = source_of(data, **how)
    return [row for batch in source.batches(source.schema.names) for row in batch.to_pylist()]


@pytest.mark.parametrize("epoch", [None, datetime.datetime(1904, 1, 1)])
def test_cells_are_read_as_their_values(tmp_path: Path, epoch: Any) -> None:
    rows = [row if place != 3 else [*row[:2], DAY, *row[3:]] for place, row in enumerate(ROWS)] if epoch else ROWS
    types = {"smoker": pa.bool_()}
    first, second = rows_of(book(tmp_path / "b.xlsx", rows, epoch=epoch), types=types)
    assert first == {"age": 31, "seen": NOON, "day": DAY, "smoker": True, "note": "=1+1", "share": 0.1}
    assert second == {
        "age": 47,
        "seen": None,
        "day": DAY if epoch else datetime.date(1900, 1, 1),
        "smoker": False,
        "note": ' a\n"b"',
        "share": 1e-7,
    }


@pytest.mark.parametrize(
    ("code", "shown"), [("[h]:mm", "0.5"), ('0.0 "d"', "0.5"), ("[Red]0", "0.5"), ("hh:mm", "12:00:00")]
)
def test_formats_tell_dates_from_numbers(tmp_path: Path, code: str, shown: str) -> None:
    made = openpyxl.Workbook()
    sheet: Any = made.active
    sheet.append(["x"])
    sheet.append([0.5])
    sheet["A2"].number_format = code
    made.save(tmp_path / "b.xlsx")
    wanted = "12:00:00" if code == "[h]:mm" else shown
    assert rows_of(tmp_path / "b.xlsx", types={"x": pa.string()}) == [{"x": wanted}]


def test_types_are_those_of_the_policy(tmp_path: Path) -> None:
    file = book(tmp_path / "b.xlsx", [["ward", "age"], [7, 31], [8, 47.5]])
    assert rows_of(file, types={"ward": pa.string()}, used={"ward"}) == [
        {"ward": "7", "age": None},
        {"ward": "8", "age": None},
    ]
    with pytest.raises(
        NoisewrightError, match="the column 'age' holds something that is not a whole number"
    ) as problem:
        source_of(file, {"age": pa.int64()}, used={"age"})
    assert "47" not in str(problem.value)


def test_a_sheet_is_chosen_as_a_table_of_a_database_is(tmp_path: Path) -> None:
    file = book(tmp_path / "b.xlsx", ROWS, "Wards")
    assert len(rows_of(f"Visits@{file}")) == 2
    for data, words in (
        (file, "b.xlsx has 2 sheets; say which, as in Visits@b.xlsx: Visits, Wards."),
        (f"Visit@{file}", "b.xlsx has no sheet 'Visit'; did you mean 'Visits'?"),
        (f"Nothing@{file}", "b.xlsx has no sheet 'Nothing'; its sheets: Visits, Wards."),
        (f"Wards@{file}", "b.xlsx has an empty sheet"),
        (f"a@{tmp_path}/none.xlsx", "there is no file"),
    ):
        with pytest.raises(NoisewrightError, match=re.escape(words)):
            source_of(data)
    (tmp_path / "many").mkdir()
    for name in "ab":
        book(tmp_path / "many" / f"{name}.xlsx")
    with pytest.raises(NoisewrightError, match="many is a folder of workbooks; name one of them"):
        source_of(tmp_path / "many")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([["a", None, "b"], [1, 2, 3]], "a column without a name"),
        ([["a", "A"], [1, 2]], "two columns of the same name"),
        ([["a"], [1, 2]], "cells to the right of its first row"),
        ([["a"], ["=A3"]], "a formula without its result; open it in a spreadsheet and save it"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, rows: list[list[Any]], words: str) -> None:
    with pytest.raises(NoisewrightError, match=words):
        source_of(book(tmp_path / "b.xlsx", rows))


def test_the_result_of_a_formula_is_read_and_the_formula_is_not(tmp_path: Path) -> None:
    changed(book(tmp_path / "b.xlsx", [["a"], ["=A3"]]), tmp_path / "c.xlsx", b"<v />", b"<v>7</v>")
    assert rows_of(tmp_path / "c.xlsx") == [{"a": 7}]


def sharing(path: Path, texts: str) -> Path:
    """A workbook as spreadsheets write it, in which cells share texts; the first row has the first text."""
    related = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings"
    link = f'<Relationship Id="rId3" Type="{related}" Target="/xl/sharedStrings.xml"/></Relationships>'
    main = 'xmlns="http://purl.oclc.org/ooxml/spreadsheetml/main"'  # the namespace of the strict variant
    cells = '<row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="7"><c t="s"><v>1</v></c></row>'
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in sheets.PARTS.items():
            archive.writestr(name, text.replace("</Relationships>", link) if "xl/_rels" in name else text)
        archive.writestr("xl/sharedStrings.xml", f"<sst {main}>{texts}</sst>")
        archive.writestr("xl/worksheets/sheet1.xml", f"<worksheet {main}><sheetData>{cells}</sheetData></worksheet>")
    return path


def test_texts_that_cells_share_are_read_in_one_piece(tmp_path: Path) -> None:
    rich = "<si><r><t>no</t></r><r><rPr><b/></rPr><t>te</t></r><rPh sb='0' eb='1'><t>reading</t></rPh></si>"
    assert rows_of(sharing(tmp_path / "b.xlsx", f"{rich}<si><t>a_x000A_b</t></si>")) == [{"note": "a\nb"}]
    with pytest.raises(NoisewrightError, match=r"c\.xlsx is not an \.xlsx workbook, or it was cut short, damaged"):
        source_of(sharing(tmp_path / "c.xlsx", rich))


def changed(file: Path, to: Path, old: bytes, new: bytes) -> None:
    with zipfile.ZipFile(file) as one, zipfile.ZipFile(to, "w") as two:
        parts = {name: one.read(name) for name in one.namelist()}
        assert sum(old in part for part in parts.values()) == 1
        for name, part in parts.items():
            two.writestr(name, part.replace(old, new))


def test_a_damaged_workbook_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """Cut at any place, or with any byte of its first part changed, it is refused or the very same; a value is never told."""
    whole = book(tmp_path / "b.xlsx").read_bytes()
    rows = rows_of(tmp_path / "b.xlsx")
    broken = [whole[:size] for size in range(0, len(whole), 797)]
    broken += [whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :] for place in range(0, len(whole), 499)]
    said = []
    for content in broken:
        (tmp_path / "c.xlsx").write_bytes(content)
        try:
            assert rows_of(tmp_path / "c.xlsx") == rows
        except NoisewrightError as problem:
            said.append(str(problem))
    assert len(said) > len(broken) / 2
    assert all("c.xlsx" in sentence and "1+1" not in sentence for sentence in said)


def test_what_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbooks, "max_memory", lambda size: 100_000)
    with pytest.raises(NoisewrightError, match=r"b\.xlsx holds more text than is read from a workbook"):
        source_of(sharing(tmp_path / "b.xlsx", f"<si><t>{'x' * 60_000}</t></si>"))
    monkeypatch.setattr(workbooks, "LONGEST_ROW", 1 << 16)
    table = pa.table({"a": ["".join(map(str, range(60_000)))]})
    written(tmp_path / "c.xlsx", table)
    with pytest.raises(NoisewrightError, match=r"c\.xlsx has a row that is too long; save it as CSV"):
        source_of(tmp_path / "c.xlsx")


# Writing ------------------------------------------------------------------------------------------------------------------

TABLE = pa.table(
    {
        "whole": pa.array([1, None, 2**60]),
        "text": ["=1", "", "_x0041_\x01\r\n<&\ufffe"],
        "number": [0.1, float("inf"), -1e300],
        "truth": [True, None, False],
        "day": pa.array([DAY, datetime.date(1850, 1, 1), None]),
        "time": pa.array([NOON.replace(microsecond=123_456)] * 3, pa.timestamp("us")),
        "@name": pa.array(["a", "b", "a"]).dictionary_encode(),
    }
)


def written(path: Path, table: pa.Table = TABLE) -> Path:
    writer = SheetWriter(path, table.schema)
    for batch in table.to_batches(max_chunksize=2):
        writer.write_batch(batch)
    writer.close()
    return path


def test_another_program_reads_what_is_written(tmp_path: Path) -> None:
    sheet: Any = openpyxl.load_workbook(written(tmp_path / "b.xlsx")).active
    cells = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert cells[0] == TABLE.schema.names
    noon = "2024-02-29 12:30:00.123456"
    assert cells[1] == [1, "=1", 0.1, True, datetime.datetime(2024, 2, 29), noon, "a"]
    assert cells[2] == [None, "", "inf", None, "1850-01-01", noon, "b"]
    assert [cell.data_type for cell in sheet[2]] == ["n", "s", "n", "b", "d", "s", "s"]  # no formula


def test_it_is_read_back_as_it_was(tmp_path: Path) -> None:
    table = TABLE.set_column(6, "@name", TABLE["@name"].cast(pa.string()))
    types = dict(zip(table.schema.names, table.schema.types, strict=True))
    assert read_written(written(tmp_path / "b.xlsx"), types).equals(table)


@given(st.lists(st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]), max_size=9)), min_size=1))
def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, texts: list[str | None]) -> None:
    path = tmp_path_factory.mktemp("text") / "b.xlsx"
    texts = [text and text.replace("\0", "") for text in texts]
    written(path, pa.table({"a": pa.array(texts, pa.string())}))
    assert [text for (text,) in open_sheet(str(path)).rows(blank=True)] == texts


def test_the_same_rows_give_the_same_bytes_which_tell_no_time(tmp_path: Path) -> None:
    assert written(tmp_path / "one.xlsx").read_bytes() == written(tmp_path / "two.xlsx").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.xlsx") as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert not [name for name in archive.namelist() if "docProps" in name]
    assert sheets.MOST_ROWS == 2**20 - 1
