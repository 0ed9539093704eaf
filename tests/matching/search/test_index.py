"""Indexes of codes: exact against a plain reckoning, ties at random, adding and removing, and files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from noisewright.exceptions import DataError, FileFormatError, MissingPartError, ParameterError
from noisewright.matching import nearest_neighbours as kernels
from noisewright.matching import scheme as code_file
from noisewright.matching.nearest_neighbours import Index
from noisewright.matching.scheme import CodeFile, read_codes, write_codes

SCHEME, OTHER = "ab" * 32, "cd" * 32


def made(number: int, bits: int, seed: int = 0) -> np.ndarray:
    bits_of = np.random.default_rng(seed).random((number, bits)) < 0.5
    return np.packbits(bits_of, axis=1, bitorder="little")


def names(number: int, first: int = 0) -> list[str]:
    return [f"user {i}" for i in range(first, first + number)]


def apart(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Hamming distances bit by bit."""
    bits = [np.unpackbits(part, axis=1).astype(int) for part in (one, two)]
    return (bits[0][:, None] != bits[1][None]).sum(axis=2)


@pytest.mark.parametrize("with_faiss", [True, False])
@pytest.mark.parametrize("bits", [5, 8, 64, 100, 128, 300])
def test_the_nearest_are_found(bits: int, with_faiss: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "faiss_is_here", lambda: with_faiss)
    codes, queries = made(200, bits), made(30, bits, 1)
    index = Index(SCHEME, bits)
    index.add(names(200), codes)
    found = index.search(queries, 7)
    true = apart(queries, codes)
    assert np.array_equal(found.differ, np.sort(true, axis=1)[:, :7])
    rows = np.array([[int(name.split()[1]) for name in row] for row in found.names])
    assert np.array_equal(np.take_along_axis(true, rows, axis=1), found.differ)
    assert all(len(set(row)) == 7 for row in rows.tolist())


@pytest.mark.parametrize("queries", [1, kernels.FEW + 1])
def test_ties_are_broken_evenly(queries: int) -> None:
    """One code is nearest and 40 are next, of which 4 come along: each equally often in 600 searches, by a test at 1e-6."""
    codes = np.vstack([np.zeros((1, 2)), np.tile([1, 0], (40, 1)), np.tile([255, 255], (5, 1))]).astype(np.uint8)
    index = Index(SCHEME, 16)
    index.add(names(46), codes)
    rng = np.random.default_rng(7)
    counts = np.zeros(46)
    for _ in range(600):
        found = index.search(np.zeros((queries, 2), dtype=np.uint8), 5, rng=rng)
        assert found.differ[0].tolist() == [0, 1, 1, 1, 1]
        np.add.at(counts, [int(name.split()[1]) for name in found.names[0]], 1)
    assert counts[0] == 600
    assert counts[41:].sum() == 0
    # Four of forty without repetition vary a little less than the law of the test says, so it is on the safe side.
    assert stats.chisquare(counts[1:41]).pvalue > 1e-6


def test_a_fresh_draw_for_every_search() -> None:
    index = Index(SCHEME, 8)
    index.add(names(50), np.zeros((50, 1), dtype=np.uint8))
    first = {index.search(np.zeros((1, 1), dtype=np.uint8), 1).names[0, 0] for _ in range(200)}
    assert len(first) > 25  # 49 on average; the chance of 25 or fewer is below 1e-20


def test_nobody_is_an_own_neighbour() -> None:
    codes = made(100, 32)
    codes[50:] = codes[:50]  # everybody has a twin
    index = Index(SCHEME, 32)
    index.add(names(100), codes)
    found = index.neighbours(names(100), 1)
    assert found.names[:, 0].tolist() == [f"user {(i + 50) % 100}" for i in range(100)]
    equal = Index(SCHEME, 8)
    equal.add(names(10), np.zeros((10, 1), dtype=np.uint8))
    rng = np.random.default_rng(1)
    seen = [equal.neighbours(["user 3"], 2, rng=rng).names[0].tolist() for _ in range(900)]
    assert all("user 3" not in row and len(set(row)) == 2 for row in seen)
    counts = [sum(name in row for row in seen) for name in names(10) if name != "user 3"]
    assert stats.chisquare(counts).pvalue > 1e-6


@pytest.mark.parametrize("kind", ["flat", "hnsw", "ivf"])
def test_adding_and_removing_is_as_if_made_at_once(kind: str) -> None:
    """With 400 codes of 64 bits a graph and cells are asked for so much that they find what there is to find."""
    codes = made(600, 64)
    index = Index(SCHEME, 64, kind=kind)  # type: ignore[arg-type]
    index.add(names(300), codes[:300])
    index.search(codes[:1], 1)  # what is built by now must learn of the rest
    index.add(names(300, 300), codes[300:])
    index.remove(names(100, 50))
    index.remove(names(100, 400))
    kept = [i for i in range(600) if not 50 <= i < 150 and not 400 <= i < 500]
    assert len(index) == 400
    assert index.names == [f"user {i}" for i in kept]
    assert "user 60" not in index
    found = index.search(codes[kept], 1)
    assert found.differ[:, 0].max() == 0 or kind == "ivf"
    own = found.names[:, 0] == np.array([f"user {i}" for i in kept], dtype=object)
    assert own.mean() > 0.98  # exact for flat
    assert own.all() or kind != "flat"
    assert not {f"user {i}" for i in range(600) if i not in kept} & set(found.names.ravel())
    index.remove([f"user {i}" for i in kept[10:]])  # most are gone: what is left is packed again
    assert sorted(index.search(codes[:1], 10).names[0]) == sorted(f"user {i}" for i in kept[:10])
    index.add(["user 60"], codes[60:61])
    assert index.search(codes[60:61], 1).names[0, 0] == "user 60"


@settings(max_examples=40)
@given(st.lists(st.tuples(st.booleans(), st.sets(st.integers(0, 11), min_size=1, max_size=4)), max_size=12))
def test_any_history_leaves_what_was_not_removed(history: list[tuple[bool, set[int]]]) -> None:
    """An index against a dictionary, through everything that is allowed and everything that is refused."""
    codes = made(12, 20)
    index, model = Index(SCHEME, 20), dict[str, int]()
    for adding, chosen in history:
        named = [f"user {i}" for i in chosen]
        allowed = not set(named) & set(model) if adding else set(named) <= set(model)
        try:
            index.add(named, codes[list(chosen)]) if adding else index.remove(named)
            assert allowed
        except DataError:
            assert not allowed
            continue
        for name, row in zip(named, chosen, strict=True):
            model[name] = row
            if not adding:
                del model[name]
    assert index.names == list(model)
    assert len(index) == len(model)
    for name, row in model.items():
        found = index.search(codes[row : row + 1], len(model))
        assert sorted(found.names[0]) == sorted(model)
        assert found.differ[0].tolist() == sorted(apart(codes[row : row + 1], codes[list(model.values())])[0].tolist())
        assert np.array_equal(index.codes([name])[0], codes[row])


def test_nobody_else_and_nobody_asked() -> None:
    index = Index(SCHEME, 8)
    index.add(["ann"], np.zeros((1, 1), dtype=np.uint8))
    assert index.neighbours(["ann"], 3).names.shape == (1, 0)
    assert index.neighbours([], 3).names.shape == (0, 0)
    assert index.search(np.zeros((0, 1), dtype=np.uint8), 1).names.shape == (0, 1)


def test_few_are_left_in_a_graph_and_in_cells() -> None:
    """After most were removed, a search is content with what a structure finds, and never returns who is gone."""
    codes = made(2000, 64)
    for kind in ("hnsw", "ivf"):
        index = Index(SCHEME, 64, kind=kind)  # type: ignore[arg-type]
        index.add(names(2000), codes)
        index.search(codes[:1], 1)
        index.remove(names(990))
        found = index.search(codes[1500:1520], 900)
        assert {name for name in found.names.ravel() if name is not None} <= set(names(1010, 990))
        assert (found.differ >= 0).mean() > 0.1
        assert [row[0] for row in found.names] == names(20, 1500)


def test_what_was_removed_is_not_in_the_file(tmp_path: Path) -> None:
    codes = made(20, 64)
    index = Index(SCHEME, 64)
    index.add(names(20), codes)
    index.remove(["user 7"])
    index.save(tmp_path / "index.nwc")
    content = (tmp_path / "index.nwc").read_bytes()
    assert codes[7].tobytes() not in content
    assert codes[8].tobytes() in content
    assert b"user 7" not in content


@pytest.mark.parametrize("bits", [5, 64])
def test_a_file_comes_back_and_goes_on(bits: int, tmp_path: Path) -> None:
    codes = made(30, bits)
    index = Index(SCHEME, bits)
    index.add(["Zoë", *names(29)], codes)
    digest = index.save(tmp_path / "index.nwc")
    again = Index.load(tmp_path / "index.nwc", SCHEME)
    assert again.names == index.names
    assert np.array_equal(again.codes(again.names), codes)
    assert again.save(tmp_path / "again.nwc") == digest
    assert (tmp_path / "again.nwc").read_bytes() == (tmp_path / "index.nwc").read_bytes()
    again.remove(["Zoë"])
    assert again.save(tmp_path / "again.nwc") != digest


def test_every_changed_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "codes.nwc"
    write_codes(path, CodeFile(SCHEME, 12, ["ann", "bob"], made(2, 12)))
    content = bytearray(path.read_bytes())
    for place in range(len(content)):
        content[place] ^= 1
        path.write_bytes(content)
        with pytest.raises(FileFormatError, match=r"changed or cut short|holds no codes"):
            read_codes(path)
        content[place] ^= 1
    for end in (0, 8, 40, len(content) - 1):
        path.write_bytes(content[:end])
        with pytest.raises(FileFormatError, match=r"changed or cut short|holds no codes"):
            read_codes(path)


def test_a_file_that_lies_with_the_right_digest(tmp_path: Path) -> None:
    """Whoever writes a digest of its own: sizes that do not fit, bits beyond the last, names that are no text."""
    path = tmp_path / "codes.nwc"
    write_codes(path, CodeFile(SCHEME, 12, ["ann", "bob"], made(2, 12)))
    whole = path.read_bytes()[:-32]
    length = int.from_bytes(whole[8:16], "little")
    header, rest = json.loads(whole[16 : 16 + length]), whole[16 + length :]

    def written(header: object, rest: bytes) -> None:
        document = json.dumps(header).encode()
        content = whole[:8] + len(document).to_bytes(8, "little") + document + rest
        path.write_bytes(content + hashlib.sha256(content).digest())

    written(header, rest)
    assert read_codes(path).names == ["ann", "bob"]
    for name, value in (
        ("codes", 3),
        ("bits", 0),
        ("bits", 1 << 40),
        ("text", 7),
        ("scheme", "x"),
        ("codes", -1),
        ("bits", True),
    ):
        written({**header, name: value}, rest)
        with pytest.raises(FileFormatError, match="holds no codes"):
            read_codes(path)
    written({**header, "format": 2}, rest)
    with pytest.raises(FileFormatError, match="another format"):
        read_codes(path)
    written([1], rest)
    with pytest.raises(FileFormatError, match="holds no codes"):
        read_codes(path)
    written(header, rest.replace(b"ann", b"a\xff\xfe"))
    with pytest.raises(FileFormatError, match="holds no codes"):
        read_codes(path)
    written(header, rest[:-1] + b"\xff")
    with pytest.raises(DataError, match="after its last one"):
        read_codes(path)


def test_codes_of_two_schemes_are_never_mixed(tmp_path: Path) -> None:
    write_codes(tmp_path / "codes.nwc", CodeFile(SCHEME, 12, ["ann"], made(1, 12)))
    with pytest.raises(
        FileFormatError, match=r"codes.nwc were made with the scheme abab.*not with cdcd.*cannot be compared"
    ):
        Index.load(tmp_path / "codes.nwc", OTHER)


def test_what_is_refused() -> None:
    index = Index(SCHEME, 16)
    zeros = np.zeros((2, 2), dtype=np.uint8)
    with pytest.raises(DataError, match="index is empty"):
        index.search(zeros, 1)
    for wrong, sentence in (
        ((["a"], zeros), "every code has one name"),
        ((["a", "a"], zeros), "given twice"),
        ((["a", ""], zeros), "texts of 1 to 1000"),
        ((["a", 3], zeros), "texts of 1 to 1000"),
        ((["a", "b"], np.zeros((2, 3), dtype=np.uint8)), "has 2 bytes, not 3"),
        ((["a", "b"], np.zeros((2, 2))), "uint8"),
    ):
        with pytest.raises(DataError, match=sentence):
            index.add(*wrong)  # type: ignore[arg-type]
    assert len(index) == 0
    index.add(["a", "b"], zeros)
    with pytest.raises(DataError, match="in the index already"):
        index.add(["c", "a"], zeros)
    with pytest.raises(DataError, match="not in the index"):
        index.remove(["a", "c"])
    assert index.names == ["a", "b"]  # all or none
    for number in (0, -1, 1.5, True):
        with pytest.raises(ParameterError, match="1 neighbour or more"):
            index.search(zeros, number)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="flat, hnsw or ivf, not 'tree'"):
        Index(SCHEME, 16, kind="tree")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="bit"):
        Index(SCHEME, 12).add(["a"], np.full((1, 2), 255, dtype=np.uint8))
    assert index.search(zeros, 10).names.shape == (2, 2)


def test_a_sentence_where_faiss_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "faiss_is_here", lambda: False)
    with pytest.raises(MissingPartError, match=r"noisewright\[matching\]"):
        Index(SCHEME, 16, kind="hnsw")


def sealed(header: object, starts: list[int], text: bytes, codes: bytes) -> bytes:
    """A file of codes with any content, and the digest that belongs to it."""
    spelled = header if isinstance(header, bytes) else json.dumps(header).encode()
    content = code_file.MAGIC + len(spelled).to_bytes(8, "little") + spelled
    content += np.array(starts, dtype="<u8").tobytes() + text + codes
    return content + hashlib.sha256(content).digest()


HEADER = {"bits": 12, "codes": 3, "format": 1, "scheme": "ab" * 32, "text": 9}
CODES = bytes(6)


@pytest.mark.parametrize(
    "content",
    [
        sealed(b"[" * 4000, [0], b"", b""),
        sealed(json.dumps(HEADER).encode()[:-1] + b', "bits": 12}', [0, 3, 6, 9], b"annbobeve", CODES),
        sealed(json.dumps(HEADER).encode("utf-16"), [0, 3, 6, 9], b"annbobeve", CODES),
        sealed({**HEADER, "bits": 10**3000}, [0, 3, 6, 9], b"annbobeve", CODES),
        sealed({**HEADER, "codes": 2**62}, [0, 3, 6, 9], b"annbobeve", CODES),
        sealed({**HEADER, "bits": 0, "codes": 0, "text": 0}, [0], b"", b""),
        sealed(HEADER, [0, 3, 6, 2**64 - 1], b"annbobeve", CODES),  # a name that ends far beyond the text
        sealed(HEADER, [3, 4, 5, 9], b"annbobeve", CODES),  # text that is nobody's
        sealed(HEADER, [0, 1, 2, 8], b"annbobeve", CODES),
        sealed(HEADER, [0, 6, 3, 9], b"annbobeve", CODES),  # names that overlap
        sealed(HEADER, [0, 0, 6, 9], b"annbobeve", CODES),
    ],
)
def test_a_file_that_lies_about_itself_is_refused_although_its_digest_is_right(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "lies.nwc"
    place.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"^lies\.nwc holds no codes; make them with noisewright match encode\.$"):
        read_codes(place)


def test_names_are_told_apart_and_can_be_written(tmp_path: Path) -> None:
    place = tmp_path / "twice.nwc"
    place.write_bytes(sealed(HEADER, [0, 3, 6, 9], b"annannbob", CODES))
    with pytest.raises(DataError, match="a name was given twice"):
        read_codes(place)  # a query is read from here too, and an answer for each of two of one name would say nothing
    index = Index("ab" * 32, bits=12)
    with pytest.raises(DataError, match="names are texts"):
        index.add(["half a pair \ud800"], np.zeros((1, 2), np.uint8))
    assert len(index) == 0
