"""Other programs' files: what they hold arrives unchanged up to rounding, in little memory, and bad ones are refused whole."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from noisewright.exceptions import NoisewrightError
from noisewright.text import import_embedding

Vectors = NDArray[np.float32]
WORDS = st.text(
    st.characters(codec="utf-8", exclude_characters="\n\r", exclude_categories=["Zs", "Cc", "Zl", "Zp"]), min_size=1
)


def as_text(words: list[str], vectors: Vectors) -> bytes:
    lines = (f"{w} {' '.join(map(str, v.tolist()))}\n" for w, v in zip(words, vectors, strict=True))
    return "".join(lines).encode()


def as_word2vec(words: list[str], vectors: Vectors) -> bytes:
    return b"%d %d\n" % vectors.shape + as_text(words, vectors)


def as_fasttext(words: list[str], vectors: Vectors) -> bytes:
    return as_word2vec(words, vectors).replace(b"\n", b" \n").replace(b" \n", b"\n", 1)  # it ends lines with a space


def as_binary(words: list[str], vectors: Vectors, end: bytes = b"\n") -> bytes:
    rows = (w.encode() + b" " + v.astype("<f4").tobytes() + end for w, v in zip(words, vectors, strict=True))
    return b"%d %d\n" % vectors.shape + b"".join(rows)


def as_gensims_binary(words: list[str], vectors: Vectors) -> bytes:
    return as_binary(words, vectors, b"")


def as_wink(words: list[str], vectors: Vectors) -> bytes:
    """As JavaScript writes it: words that are numbers come first among the vectors."""
    order = sorted(range(len(words)), key=lambda row: (not words[row].isascii() or not words[row].isdigit(), row))
    rows = {words[row]: [*vectors[row].tolist(), 1.5, row] for row in order}
    head = {"precision": 8, "l2NormIndex": vectors.shape[1], "size": len(words), "dimensions": vectors.shape[1]}
    return json.dumps({**head, "words": words, "vectors": rows, "unkVector": [0, 0]}, separators=(",", ":")).encode()


FORMATS: dict[str, Callable[[list[str], Vectors], bytes]] = {
    "glove": as_text,
    "word2vec-text": as_word2vec,
    "fasttext": as_fasttext,
    "word2vec-binary": as_binary,
    "gensims-binary": as_gensims_binary,
    "wink": as_wink,
}


@pytest.mark.parametrize("kind", FORMATS)
@settings(max_examples=25, deadline=None)
@given(
    words=st.lists(WORDS, min_size=1, max_size=12, unique=True),
    dimension=st.integers(2, 6),
    seed=st.integers(0, 99),
    zipped=st.booleans(),
)
def test_every_format_arrives_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, kind: str, words: list[str], dimension: int, seed: int, zipped: bool
) -> None:
    vectors = np.random.default_rng(seed).integers(-60, 60, (len(words), dimension)).astype(np.float32) / 8
    content = FORMATS[kind](words, vectors)
    folder = tmp_path_factory.mktemp("f")
    (folder / "given").write_bytes(gzip.compress(content) if zipped else content)
    done = import_embedding(folder / "given", folder / "e.nwe", licence="CC0-1.0", source="here")
    assert done.embedding.words() == words
    np.testing.assert_array_equal(done.embedding.vectors(), vectors)  # eighths below 8 need no rounding
    assert done.rounding.largest == 0
    assert (done.embedding.licence, done.embedding.source) == ("CC0-1.0", "here")
    few = import_embedding(folder / "given", folder / "few.nwe", limit=2).embedding
    assert few.words() == words[:2]


def test_words_with_spaces_are_words(tmp_path: Path) -> None:
    (tmp_path / "g").write_bytes(b"tea 1 2 3\n. . . 4 5 6\nat me@example.org 7 8 9\n")
    done = import_embedding(tmp_path / "g", tmp_path / "e.nwe")
    assert done.embedding.words() == ["tea", ". . .", "at me@example.org"]
    (tmp_path / "w").write_bytes(b"1 3\n. . . 4 5 6\n")
    assert import_embedding(tmp_path / "w", tmp_path / "e.nwe").embedding.words() == [". . ."]


@pytest.mark.parametrize("kind", ["<f2", "<f4", ">f8", "<i4"])
def test_numpy_matrices_of_any_kind_of_numbers(tmp_path: Path, kind: str) -> None:
    vectors = np.arange(12).reshape(4, 3)
    np.save(tmp_path / "m.npy", vectors.astype(kind))
    (tmp_path / "words.txt").write_text("tea\r\ncoffee\nship\ncafé au lait\n", encoding="utf-8")
    done = import_embedding(tmp_path / "m.npy", tmp_path / "e.nwe", words=tmp_path / "words.txt", limit=3)
    assert done.embedding.words() == ["tea", "coffee", "ship"]
    np.testing.assert_array_equal(done.embedding.vectors(), vectors[:3])


class Evil:
    def __reduce__(self) -> tuple[object, ...]:
        return print, ("run",)


class Address:
    """Pickles a dtype of NumPy whose state (BUILD) names fields at an offset of the file's choice: NumPy reads there."""

    def __reduce__(self) -> tuple[object, ...]:
        names = ("f",)
        state = (3, "|", None, names, {"f": (np.dtype("O"), 1 << 46)}, 8, 1, 16)
        return np.dtype, ("V8", False, True), state


@pytest.mark.parametrize("thing", [Evil(), Address(), {"index_to_key": ["tea"], "vectors": np.eye(1)}])
@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_no_pickle_is_read(tmp_path: Path, capfd: pytest.CaptureFixture[str], thing: object, protocol: int) -> None:
    (tmp_path / "evil.kv").write_bytes(pickle.dumps(thing, protocol))
    with pytest.raises(NoisewrightError, match="pickles are not read; write it in gensim with"):
        import_embedding(tmp_path / "evil.kv", tmp_path / "e.nwe")
    assert capfd.readouterr().out == ""


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    np.save(tmp_path / "m.npy", np.eye(2))
    with pytest.raises(NoisewrightError, match="a pipe, a device or a socket"):
        import_embedding(tmp_path / "pipe", tmp_path / "e.nwe")
    with pytest.raises(NoisewrightError, match="a pipe, a device or a socket"):
        import_embedding(tmp_path / "m.npy", tmp_path / "e.nwe", words=tmp_path / "pipe")


WINK = as_wink(["tea", "7"], np.eye(2, dtype=np.float32))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "empty"),
        (b"\x00\x01\x02" * 1000, "none of"),
        (b"just some prose, and no numbers\n", "none of"),
        (b"%PDF-1.4\n", "none of"),
        (b"tea 1 2\ncoffee 1\n", "line 2 has a vector of another length"),
        (b"tea 1 2\n\ncoffee 1 2\n", "line 2 is empty"),
        (b"tea 1 2\ncoffee 1 x2\n", "line 2 has 2 fields after its word that are not all numbers"),
        (b"2 2\ntea 1 2\ncoffee 1 2,5\n", "line 3 has 2 fields"),
        (b"tea 1 nan\n", "not finite"),
        (b"tea 1 1e999\n", "not finite"),
        (b"tea 1 2\ntea 1 3\n", "word 2 is there a second time"),
        (b"\xff\xfe 1 2\n", "not UTF-8"),
        (b"3 2\ntea 1 2\ncoffee 1 2\n", "says 3 words, and there are only 2"),
        (b"1 2\ntea 1 2\ncoffee 1 2\n", "says 1 words, and there are more"),
        (b"0 2\n", "no words"),
        (b"1 0\ntea \x00\x01", "between 1 and"),
        (as_binary(["tea"], np.ones((1, 3), np.float32))[:-5], "cut short within a vector"),
        (b"1 3\n" + b"\xc3\xa4" * 5000, "longer than any word"),
        (gzip.compress(as_text(["tea"] * 9, np.ones((9, 3), np.float32)), mtime=0)[:-9], "compressed, and damaged"),
        (b"\x1f\x8bnot really", "compressed, and damaged"),
        (WINK[:120], "break off"),
        (WINK[:40], "none of"),
        (WINK.replace(b'"size":2', b'"size":3'), "says 3 words, and has 2"),
        (WINK.replace(b'"size":2', b'"size":-2'), "does not say its size"),
        (WINK.replace(b"1.5,1]", b"1.5,0]"), "two vectors of the JSON have the row 0"),
        (WINK.replace(b"1.5,1]", b"1.5,9]"), "row outside"),
        (WINK.replace(b"1.5,1]", b"1]"), "has not 2 numbers"),
        (WINK.replace(b'"vectors"', b'"victors"'), "has no vectors"),
        (b"\x80\x04rubbish", "pickles are not read"),
        (b"tea 1 2\ncoffee 1" + b" 1" * (1 << 20), "a line of more than 1 MiB"),
    ],
)
def test_bad_files_are_refused_in_a_sentence_and_nothing_is_written(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    given = tmp_path / "given"
    given.write_bytes(content)
    with pytest.raises(NoisewrightError, match=problem) as refused:
        import_embedding(given, tmp_path / "e.nwe")
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == [given]


def test_bad_matrices_are_refused(tmp_path: Path) -> None:
    words, matrix, target = tmp_path / "words.txt", tmp_path / "m.npy", tmp_path / "e.nwe"
    words.write_text("tea\nship\n", encoding="utf-8")

    def refused(problem: str) -> None:
        with pytest.raises(NoisewrightError, match=problem):
            import_embedding(matrix, target, words=words)
        assert not target.exists()

    for bad in (np.ones(3), np.asfortranarray(np.ones((2, 3)))):
        np.save(matrix, bad)
        refused("one row of numbers for each word")
    np.save(matrix, np.array([["a"], ["b"]]))
    refused("not one of numbers in the format")
    np.save(matrix, np.ones((3, 3)))
    refused("3 rows and the list 2 words")
    np.save(matrix, np.ones((2, 3)))
    matrix.write_bytes(matrix.read_bytes()[:-4])
    refused("cut short")
    with pytest.raises(NoisewrightError, match="needs a file with its words"):
        import_embedding(matrix, target)
    words.unlink()
    refused("cannot be read")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NoisewrightError, match="cannot be read: No such file"):
        import_embedding(tmp_path / "none", tmp_path / "e.nwe")


MEASURE = """
import re, sys
from pathlib import Path
from noisewright.text.embedding_import import import_embedding
peak = lambda: int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
before = peak()
import_embedding(sys.argv[1], sys.argv[2])
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize("kind", ["word2vec-binary", "wink"])
def test_an_import_takes_a_bounded_amount_of_memory(tmp_path: Path, kind: str) -> None:
    """160 MB in binary go through in less than their size; JSON, which is out of order, takes its numbers and no more."""
    size, dimension = (400_000, 100) if kind == "word2vec-binary" else (30_000, 100)
    given = tmp_path / "given"
    block = np.random.default_rng(1).integers(-999, 999, (10_000, dimension)).astype(np.float32) / 1000
    with given.open("wb") as file:
        if kind == "wink":
            file.write(as_wink([f"w{i}" for i in range(size)], np.tile(block, (3, 1))))
        else:
            file.write(b"%d %d\n" % (size, dimension))
            for start in range(0, size, 10_000):
                file.write(as_binary([f"w{start + i}" for i in range(10_000)], block).partition(b"\n")[2])
    command = [sys.executable, "-c", MEASURE, str(given), str(tmp_path / "e.nwe")]
    taken = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) * 1024
    assert 1e6 < taken < (160e6 if kind == "word2vec-binary" else 100e6)
