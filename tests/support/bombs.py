"""Small files that unpack to much, or say that they hold much: one function for each, by name."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from noisewright.tables.excel import SheetWriter

MEGA = 1 << 20
POLICY = 'dataset = "d"\n[budget]\nepsilon = 1\n[[columns]]\nname = "a"\nkeep = true\n'
BOMBS: dict[str, tuple[str, Callable[[], bytes]]] = {}
"""Each bomb by its name: the name of its file, and its content."""


def bomb(file: str) -> Callable[[Callable[[], bytes]], Callable[[], bytes]]:
    def register(make: Callable[[], bytes]) -> Callable[[], bytes]:
        BOMBS[make.__name__] = file, make
        return make

    return register


# Workbooks ----------------------------------------------------------------------------------------------------------------


def _book(
    path: str, old: bytes, new: bytes, kind: int = zipfile.ZIP_DEFLATED, more: dict[str, bytes] | None = None
) -> bytes:
    """A workbook with one column, in which something in one part is something else."""
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        writer = SheetWriter(Path(place, "b.xlsx"), pa.schema([("a", pa.string())]))
        writer.write_batch(pa.record_batch({"a": ["x"]}))
        writer.close()
        out = io.BytesIO()
        with zipfile.ZipFile(Path(place, "b.xlsx")) as given, zipfile.ZipFile(out, "w", kind) as made:
            for name in given.namelist():
                content = given.read(name)
                if name == path:
                    assert old in content
                    content = content.replace(old, new, 1)
                made.writestr(name, content)
            for name, content in (more or {}).items():
                made.writestr(name, content)
    return out.getvalue()


SHEET = "xl/worksheets/sheet1.xml"


def _shared(texts: bytes) -> bytes:
    relation = (
        b'<Relationship Id="rId9" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" '
        b'Target="sharedStrings.xml"/></Relationships>'
    )
    parts = {"xl/sharedStrings.xml": b"<sst>" + texts + b"</sst>"}
    return _book("xl/_rels/workbook.xml.rels", b"</Relationships>", relation, more=parts)


@bomb("b.xlsx")
def shared_strings() -> bytes:
    return _shared(b"<si><t>x</t></si>" * (8 * MEGA))


@bomb("b.xlsx")
def one_shared_string() -> bytes:
    return _shared(b"<si><t>" + b"x" * (100 * MEGA) + b"</t></si>")


@bomb("b.xlsx")
def many_cells() -> bytes:
    return _book(SHEET, b"</row>", b"<c><v>1</v></c>" * (4 * MEGA) + b"</row>")


@bomb("b.xlsx")
def empty_cells() -> bytes:
    return _book(SHEET, b"</row>", b"<c/>" * (10 * MEGA) + b'<c t="str"><v>1</v></c></row>')


@bomb("b.xlsx")
def nesting() -> bytes:
    return _book(SHEET, b"</row>", b"<a>" * (20 * MEGA) + b"</row>")


@bomb("b.xlsx")
def names() -> bytes:
    return _book(SHEET, b"</row>", b"".join(b"<a%d/>" % number for number in range(MEGA)) + b"</row>")


@bomb("b.xlsx")
def attribute() -> bytes:
    return _book(SHEET, b"</row>", b'<a b="' + b"x" * (100 * MEGA) + b'"/></row>')


@bomb("b.xlsx")
def entities() -> bytes:
    kinds = b"".join(
        b'<!ENTITY a%d "%s">' % (level, b"&a%d;" % (level - 1) * 20 if level else b"x" * 99) for level in range(9)
    )
    return _book(SHEET, b"<worksheet", b"<!DOCTYPE worksheet [" + kinds + b"]><worksheet")


@bomb("b.xlsx")
def lying_sizes() -> bytes:
    content = bytearray(_book(SHEET, b"</row>", b"<c/>" * (10 * MEGA) + b"</row>"))
    place = content.rfind(SHEET.encode()) - 46
    content[place + 24 : place + 28] = struct.pack("<I", 1000)
    return bytes(content)


@bomb("b.xlsx")
def lzma_part() -> bytes:
    return _book(SHEET, b"</row>", b"<c/>" * (10 * MEGA) + b"</row>", zipfile.ZIP_LZMA)


@bomb("b.xlsx")
def many_files() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for number in range(60_000):
            made.writestr(f"{number}" + "x" * 200, b"")
    return out.getvalue()


# Text ---------------------------------------------------------------------------------------------------------------------


def _gz(*parts: tuple[bytes, int]) -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    return b"".join(packer.compress(part) for part, times in parts for _ in range(times)) + packer.flush()


@bomb("b.csv.gz")
def header_without_end() -> bytes:
    return _gz((b"a" * MEGA, 300))


@bomb("b.csv.gz")
def field_without_end() -> bytes:
    return _gz((b"a\n", 1), (b"x" * MEGA, 300))


@bomb("b.csv.gz")
def quoted_field() -> bytes:
    return _gz((b'a\n"', 1), (b"x\n" * (MEGA // 2), 300))


@bomb("b.csv.zst")
def packed_by_zstd() -> bytes:
    return bytes(pa.compress(b"a\n" + b"x" * (300 * MEGA), "zstd", asbytes=True))


@bomb("b.csv")
def giant_field() -> bytes:
    return b'a\n"' + b"x" * (30 * MEGA)


@bomb("b.csv")
def many_columns() -> bytes:
    return b",".join(b"c%d" % number for number in range(100_000)) + b"\n"


@bomb("b.jsonl")
def nested_lines() -> bytes:
    return b'{"a": ' + b"[" * (8 * MEGA)


@bomb("b.vec")
def line_without_end() -> bytes:
    return _gz((b"tea 1 2\ncoffee 1", 1), (b" 1" * (MEGA // 2), 300))


@bomb("b.vec")
def first_line_without_end() -> bytes:
    return _gz((b"1 3\n" + b"x" * 1000, 1), (b"x" * MEGA, 300))


@bomb("b.vec")
def head_of_wink() -> bytes:
    return _gz((b'{"size":3,"dimensions":3,"words":[', 1), (b'"a",' * (MEGA // 4), 300))


@bomb("b.vec")
def lying_wink() -> bytes:
    return b'{"size":999999,"dimensions":130,"words":["a"],"vectors":{"a":[1,2,3]}}'


# Columns ------------------------------------------------------------------------------------------------------------------


def _parquet(table: pa.Table, **options: object) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd", **options)
    return out.getvalue()


@bomb("b.parquet")
def one_value_often() -> bytes:
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 60_000, pa.int32()), pa.array(["x" * 60_000]))
    return _parquet(pa.table({"a": text.cast(pa.dictionary(pa.int32(), pa.string()))}))


@bomb("b.parquet")
def one_large_page() -> bytes:
    return _parquet(pa.table({"a": ["x" * (100 * MEGA)]}), use_dictionary=False)


@bomb("r.parquet")
def kept_value_often() -> bytes:
    return one_value_often()


@bomb("r.parquet")
def shared_beginnings() -> bytes:
    table = pa.table({"a": ["x" * 60_000] * 15_000})
    return _parquet(table, use_dictionary=False, column_encoding={"a": "DELTA_BYTE_ARRAY"}, data_page_size=1 << 30)


@bomb("b.parquet")
def one_long_list() -> bytes:
    return _parquet(pa.table({"a": [np.zeros(80 * MEGA, np.int8)]}))


@bomb("p.parquet")
def profiles_of_one_value() -> bytes:
    ones = pa.array(np.ones(10_000_000))
    return _parquet(
        pa.table({"n": pa.array(range(10_000_000)), **{f"c{i}": ones for i in range(1)}}), row_group_size=10_000_000
    )


def _ipc(table: pa.Table, compression: str | None = None) -> bytes:
    out = io.BytesIO()
    with pa.ipc.new_file(out, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
    return out.getvalue()


@bomb("b.arrow")
def compressed_buffer() -> bytes:
    return _ipc(pa.table({"a": ["x" * (300 * MEGA)]}), "zstd")


@bomb("r.arrow")
def dictionary_of_one() -> bytes:
    codes = pa.array([0] * 60_000, pa.int32())
    return _ipc(pa.table({"a": pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 60_000]))}))


@bomb("r.arrow")
def one_run() -> bytes:
    return _ipc(pa.table({"a": pa.RunEndEncodedArray.from_arrays(pa.array([60_000], pa.int32()), ["x" * 60_000])}))


@bomb("r.arrow")
def views_of_one() -> bytes:
    _, views, text = pa.array(["x" * 60_000], pa.string_view()).buffers()
    views = pa.py_buffer(views.to_pybytes()[:16] * 60_000)
    return _ipc(pa.table({"a": pa.Array.from_buffers(pa.string_view(), 60_000, [None, views, text])}))


@bomb("r.arrow")
def lists_of_one() -> bytes:
    first, lengths = pa.array([0] * 60_000, pa.int32()), pa.array([60_000] * 60_000, pa.int32())
    return _ipc(pa.table({"a": pa.ListViewArray.from_arrays(first, lengths, pa.array(np.zeros(60_000)))}))


@bomb("r.arrow")
def dictionary_in_a_struct() -> bytes:
    codes = pa.array([0] * 60_000, pa.int32())
    inner = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 60_000]))
    return _ipc(pa.table({"a": pa.StructArray.from_arrays([inner], ["s"])}))


@bomb("b.arrow")
def lying_lengths() -> bytes:
    content = _ipc(pa.table({"a": pa.array([1, 2, 3])}))
    return content.replace(struct.pack("<q", 3), struct.pack("<q", 1 << 40))


# Arrays -------------------------------------------------------------------------------------------------------------------


def _npy(shape: str, kind: str = "<f8", content: bytes = bytes(64)) -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\0" + len(text).to_bytes(2, "little") + text + content


@bomb("b.npy")
def lying_shape() -> bytes:
    return _npy("(1000000000, 8)")


@bomb("b.npy")
def overflowing_shape() -> bytes:
    return _npy("(4611686018427387904, 4)")


@bomb("b.npy")
def rows_of_nothing() -> bytes:
    return _npy("(100000000, 0)", content=b"")


def _npz(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(f"{name}.npy", content)
    return out.getvalue()


@bomb("c.npz")
def packed_channel() -> bytes:
    labels = json.dumps([["a"], ["b"]]).encode()
    return _npz(
        labels=_npy(f"({len(labels)},)", "|u1", labels), matrix=_npy("(5000, 8000)", content=bytes(310_000_000))
    )


@bomb("p.npz")
def sparse_shape() -> bytes:
    four = np.zeros(1, "<i4").tobytes()
    return _npz(
        format=_npy("()", "|S3", b"csr"), shape=_npy("(2,)", "<i8", struct.pack("<qq", 1 << 40, 1 << 40)),
        data=_npy("(1,)", content=bytes(8)), indices=_npy("(1,)", "<i4", four), indptr=_npy("(1,)", "<i4", four),
    )  # fmt: skip


# Pictures -----------------------------------------------------------------------------------------------------------------


def _png(width: int, height: int, pixels: bytes) -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


@bomb("b.png")
def png() -> bytes:
    return _png(60_000, 60_000, zlib.compress(bytes(1000)))


@bomb("b.png")
def png_text() -> bytes:
    text = b"zTXtComment\0\0" + zlib.compress(bytes(300 * MEGA), 9)
    content = _png(1, 1, zlib.compress(bytes(4)))
    place = content.index(b"IDAT") - 4
    chunk = struct.pack(">I", len(text) - 4) + text + struct.pack(">I", zlib.crc32(text))
    return content[:place] + chunk + content[place:]


def _pillow(kind: str, size: tuple[int, int]) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.new("L", size).save(out, kind)
    return out.getvalue()


@bomb("b.jpg")
def jpeg() -> bytes:
    content = _pillow("JPEG", (16, 16))
    return content.replace(struct.pack(">HH", 16, 16), struct.pack(">HH", 65_000, 65_000))


@bomb("b.tif")
def tiff() -> bytes:
    content = _pillow("TIFF", (16, 16))
    return content.replace(struct.pack("<HHII", 256, 4, 1, 16), struct.pack("<HHII", 256, 4, 1, 1 << 20)).replace(
        struct.pack("<HHII", 257, 4, 1, 16), struct.pack("<HHII", 257, 4, 1, 1 << 20)
    )


@bomb("b.webp")
def webp() -> bytes:
    content = _pillow("WEBP", (16, 16))
    place = content.find(b"\x9d\x01\x2a")
    return content[: place + 3] + struct.pack("<HH", 16_383, 16_383) + content[place + 7 :]


@bomb("b.avi")
def video() -> bytes:
    import tempfile

    import cv2

    with tempfile.TemporaryDirectory() as place:
        writer = cv2.VideoWriter(f"{place}/a.avi", cv2.VideoWriter_fourcc(*"MJPG"), 25, (64, 48))
        for _ in range(3):
            writer.write(np.zeros((48, 64, 3), np.uint8))
        writer.release()
        content = Path(place, "a.avi").read_bytes()
    content = content.replace(struct.pack("<II", 64, 48), struct.pack("<II", 30_000, 30_000))
    return content.replace(struct.pack(">HH", 48, 64), struct.pack(">HH", 30_000, 30_000))


# Documents ----------------------------------------------------------------------------------------------------------------


@bomb("b.json")
def deep_json() -> bytes:
    return b"[" * (30 * MEGA)


@bomb("b.json")
def wide_json() -> bytes:
    return b"[" + b"{}," * (10 * MEGA) + b"0]"


@bomb("b.json")
def long_json() -> bytes:
    return b'{"format": "noisewright-channel", "x": "' + b"x" * (260 * MEGA) + b'"}'


@bomb("b.toml")
def long_toml() -> bytes:
    return b"a = 1\n" * (40 * MEGA)


@bomb("b.toml")
def tables_of_toml() -> bytes:
    return b"[[a]]\n" * (16 * MEGA // 6)


@bomb("c.csv")
def cells_of_a_channel() -> bytes:
    return b"11," * (20 * MEGA) + b"\n"


def _lying(magic: bytes, header: dict[str, object]) -> bytes:
    document = json.dumps(header, ensure_ascii=False, sort_keys=True).encode()
    start = magic + len(document).to_bytes(8, "little") + document
    return start + bytes(-len(start) % 64 + 4096)


@bomb("b.nwe")
def lying_embedding() -> bytes:
    header = {
        "name": "e",
        "licence": "",
        "source": "",
        "words": 1 << 26,
        "dimension": 1 << 14,
        "exponent": 0,
        "text": 1 << 31,
        "format": 1,
    }
    return _lying(b"\x89NWE\r\n\x1a\n", header)


@bomb("b.nwm")
def lying_model() -> bytes:
    arrays = [{"name": "mean", "shape": [1 << 35], "type": "<f8"}]
    return _lying(b"\x89NWM\r\n\x1a\n", {"about": {}, "arrays": arrays, "format": 2, "kind": "eigenfaces"})


def command(file: str) -> list[str]:
    """The words that read a file of this name in the working folder, where ``policy.toml`` and ``scheme.json`` are."""
    stem, _, ending = file.partition(".")
    match stem, ending:
        case "p", _:
            return ["match", "encode", file, "--public", "scheme.json", "-o", "o.nwc"]
        case "c", _:
            return ["audit", file]
        case "r", _:
            return ["release", "policy.toml", file, "-o", "released", "--ledger", "ledger"]
        case _, "npy":
            return ["match", "encode", file, "--public", "scheme.json", "-o", "o.nwc"]
        case _, "vec":
            return ["embeddings", "import", file, "-o", "o.nwe"]
        case _, "nwe":
            return ["embeddings", "info", file]
        case _, "nwm":
            return ["images", "obfuscate", "a.png", "-o", "o", "--method", "faces", "--model", file, "--epsilon", "1"]
        case _, "png" | "jpg" | "tif" | "webp" | "avi":
            return ["images", "obfuscate", file, "-o", "o", "--epsilon", "1"]
        case _, "json":
            return ["verify", file]
        case _, "toml":
            return ["plan", file, "t.csv", "--ledger", "ledger"]
        case _:
            return ["plan", "policy.toml", file, "--inspect", "--ledger", "ledger"]
