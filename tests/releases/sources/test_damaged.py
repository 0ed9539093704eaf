"""Tables that are not what they say: refused in a sentence, before anything reads a value where there is none."""

from __future__ import annotations

import gzip
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from noisewright.exceptions import DataError, FileFormatError, NoisewrightError
from noisewright.tables import source
from noisewright.tables.reading import source_of

FAR = (1 << 30).to_bytes(4, "little")


def false_text() -> pa.Array:
    """Text with an offset far beyond its bytes."""
    return pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(bytes(4) + FAR + b"\2\0\0\0"), pa.py_buffer(b"ab")]
    )


def false_codes() -> pa.Array:
    codes = pa.array([0, 1_000_000], pa.int32())
    return pa.DictionaryArray.from_arrays(codes, pa.array(["a", "b"]), safe=False)


def false_view() -> pa.Array:
    """A view of 20 bytes into a buffer that is not there."""
    view = (20).to_bytes(4, "little") + b"abcd" + (7).to_bytes(4, "little") + bytes(4)
    return pa.Array.from_buffers(pa.string_view(), 1, [None, pa.py_buffer(view)])


def false_list() -> pa.Array:
    return pa.Array.from_buffers(
        pa.list_(pa.int8()), 2, [None, pa.py_buffer(bytes(4) + FAR + b"\1\0\0\0")], children=[pa.array([1], pa.int8())]
    )


def false_utf8() -> pa.Array:
    return pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(bytes(4) + b"\2\0\0\0"), pa.py_buffer(b"\xff\xfe")]
    )


@pytest.mark.parametrize("make", [false_text, false_codes, false_view, false_list, false_utf8])
def test_a_table_over_false_buffers_is_refused(make: type) -> None:
    table = pa.table({"a": make()})
    with pytest.raises(DataError, match="the Arrow table is not valid"):
        source_of(table)
    with pytest.raises(DataError, match="cannot be read to its end"):
        source_of(table.to_reader())


def test_an_arrow_file_with_a_false_offset_is_refused_when_it_is_opened(tmp_path: Path) -> None:
    table = pa.table({"a": ["first cell", "second cell"]})
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    content = (tmp_path / "a.arrow").read_bytes()
    offsets = (0).to_bytes(4, "little") + (10).to_bytes(4, "little") + (21).to_bytes(4, "little")
    assert content.count(offsets) == 1
    (tmp_path / "a.arrow").write_bytes(content.replace(offsets, offsets[:8] + FAR))
    with pytest.raises(
        FileFormatError, match=r"a\.arrow is not an Arrow \(Feather\) file, or it was cut short or damaged"
    ):
        source_of(tmp_path / "a.arrow")


CUT = """
import os, sys
import pyarrow as pa
from noisewright.exceptions import FileFormatError
from noisewright.tables import source
from noisewright.tables.reading import source_of

path, source.MAPPED = sys.argv[1], int(sys.argv[2])
rows = source_of(path).batches(["n"])
next(rows)
os.truncate(path, 5_000)
try:
    print(sum(batch.column(0).sum().as_py() for batch in rows))
except FileFormatError as problem:
    print(problem)
"""


@pytest.mark.parametrize(("mapped", "code"), [(1 << 28, 0), (0, -signal.SIGBUS)])
def test_an_arrow_file_that_is_cut_short_while_it_is_read_is_refused(tmp_path: Path, mapped: int, code: int) -> None:
    """In a process of its own, since that of a mapped file is ended by the system, as the second case shows."""
    table = pa.table({"n": np.arange(400_000)})
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=100_000)
    call = [sys.executable, "-c", CUT, str(tmp_path / "a.arrow"), str(mapped)]
    done = subprocess.run(call, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == code, done.stderr
    assert done.stdout == ("" if code else "a.arrow cannot be read to its end; it is damaged.\n")


def test_an_arrow_file_is_read_alike_by_batches_and_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"n": np.arange(1000), "text": [f"row {n}" for n in range(1000)], "unused": [None] * 1000})
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=300)
    for most in (source.MAPPED, 0):
        monkeypatch.setattr(source, "MAPPED", most)
        found = list(source_of(tmp_path / "a.arrow").batches(["text", "n"]))
        assert [batch.num_rows for batch in found] == [300, 300, 300, 100]
        assert pa.Table.from_batches(found).equals(table.select(["text", "n"]))


def test_text_of_a_parquet_file_that_is_none_is_refused_as_it_is_read(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"a": ["plain", "cell"]}),
        tmp_path / "b.parquet",
        store_schema=False,
        compression="none",
        use_dictionary=False,
    )
    content = (tmp_path / "b.parquet").read_bytes()
    (tmp_path / "b.parquet").write_bytes(content.replace(b"plain", b"pl\xffin"))
    source = source_of(tmp_path / "b.parquet")
    with pytest.raises(FileFormatError, match="cannot be read to its end"):
        list(source.batches(["a"]))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", b"a\0b,c\n1,2\n", "a column whose name is no text"),
        ("a.csv", b"a,a\n1,2\n", "two columns of the same name"),
        ("a.csv", b"a," * 3_000_000 + b"b\n1", "the first row of a.csv has more than 4,194,304 characters"),
        ("a.csv", b'"' + b"x" * 5_000_000, "the first row of a.csv has more than 4,194,304 characters"),
        ("a.csv", b",".join(b"c%d" % n for n in range(20_001)) + b"\n", "20,001 columns, and 20,000 are the most"),
        ("a.csv.gz", gzip.compress(b"x" * 30_000_000, 1, mtime=0), "the first row of a.csv.gz has more than"),
        (
            "a.csv.gz",
            gzip.compress(b"a", mtime=0)[:10] + b"\x07" * 9,
            "was cut short or damaged",
        ),
        ("a.jsonl", b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n", "does not hold one JSON object a line"),
        ("a.jsonl", b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"\n", "does not hold one JSON object a line"),
    ],
)
def test_odd_text_files_are_refused_with_what_is_wrong(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(NoisewrightError, match=words):
        source_of(tmp_path / name)
