"""CSV files as people have them: from spreadsheets, cut short in a copy, compressed, empty, with odd line ends."""

from __future__ import annotations

import gzip

import pytest

from noisewright.exceptions import NoisewrightError
from noisewright.tables.reading import source_of

ROWS = b"age,smoker\n31,yes\n47,no\n"
MANY = b"age,smoker\n" + b"31,yes\n" * 50_000
WHOLE = gzip.compress(MANY, 1, mtime=0)


def frame(content: bytes, window: int = 13 << 3, single: bool = False) -> bytes:
    """Zstandard by hand: one block as it is, then one that repeats a line end; ``window`` is the byte that states it (8 MiB)."""
    head = b"\xa0" + (len(content) + 1).to_bytes(4, "little") if single else bytes([0, window])
    blocks = (len(content) << 3).to_bytes(3, "little") + content + (1 << 3 | 1 << 1 | 1).to_bytes(3, "little") + b"\n"
    return b"\x28\xb5\x2f\xfd" + head + blocks


SKIPPED = b"\x5a\x2a\x4d\x18\x03\0\0\0abc"
LARGE, LARGEST = 17 << 3, 21 << 3  # 128 MiB as by --long, and 2 GiB as by --long=31


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("a.csv", ROWS, 2),
        ("a.CSV", ROWS, 2),
        ("a.csv", b"\xef\xbb\xbf" + ROWS, 2),
        ("a.csv", ROWS.replace(b"\n", b"\r\n"), 2),
        ("a.csv", ROWS.replace(b"\n", b"\r"), 2),
        ("a.csv", ROWS.replace(b",", b";"), 2),
        ("a.tsv", ROWS.replace(b",", b"\t"), 2),
        ("a.csv", ROWS.rstrip(), 2),
        ("a.csv", b"age,smoker\n", 0),
        ("a.csv", b"age,smoker", 0),
        ("a.csv.gz", WHOLE, 50_000),
        ("a.csv.gz", WHOLE + gzip.compress(b"58,no\n", mtime=0), 50_001),
        ("a.csv.zst", frame(ROWS.rstrip()), 2),
        ("a.csv.zst", frame(ROWS.rstrip(), single=True), 2),
        ("a.csv.zst", frame(ROWS.rstrip()) + SKIPPED + frame(b"58,no"), 3),
    ],
)
def test_what_is_read(tmp_path, name, content, rows):
    (tmp_path / name).write_bytes(content)
    source = source_of(tmp_path / name)
    assert (source.schema.names, source.rows) == (["age", "smoker"], rows)
    assert sum(batch.num_rows for batch in source.batches(["smoker"])) == rows


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", b"", "a.csv is empty; a table starts with a row of column names"),
        ("a.csv", b"\n\n", "a.csv is empty"),
        ("a.csv", ROWS.replace(b"47", "\xe9".encode("latin-1")), "a.csv is not in UTF-8; save it as UTF-8"),
        ("a.csv", ROWS.decode().encode("utf-16"), "a.csv is not in UTF-8"),
        ("a.csv", b"age,smoker\r\n31,yes\n47,no\r\n", "all end with the same line break"),
        ("a.csv", b"age,smoker\n31," + b"x" * 3_000_000 + b"\n", "are no longer than 2 MB"),
        ("a.csv", b"age,smoker\n31\n", "as many cells as the header has names"),
        ("a.csv", b"age,Age\n31,1\n", "two columns of the same name"),
        ("a.csv.gz", ROWS, "is not compressed as its name says"),
        ("a.csv.gz", WHOLE[:10], "was cut short or damaged"),
        ("a.csv.gz", WHOLE[: len(WHOLE) // 2], "was cut short or damaged"),
        ("a.csv.gz", WHOLE[:-4], "was cut short or damaged"),
        ("a.csv.gz", WHOLE[:-8] + bytes(8), "was cut short or damaged"),
        ("a.csv.zst", frame(ROWS)[:-7], "was cut short or damaged"),
        ("a.csv.zst", frame(ROWS, LARGE), "it asks for a window of 128 MiB, and 16 are the maximum"),
        ("a.tsv.zst", frame(ROWS, LARGEST), "it asks for a window of 2048 MiB"),
        (
            "a.csv.zst",
            SKIPPED + frame(ROWS) + frame(b"58,no", LARGE),
            "compress it with zstd -19 or less, without --long",
        ),
    ],
)
def test_what_is_refused_and_why(tmp_path, name, content, words):
    """A compressed file that was cut short would otherwise be a smaller table, and nobody would know."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(NoisewrightError, match=words) as problem:
        source_of(tmp_path / name)
    assert "31" not in str(problem.value)
