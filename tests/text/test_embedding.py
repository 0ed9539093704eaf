"""The file of an embedding: words are found, vectors are what was rounded, integers are exact, and bad files are refused."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from noisewright.exceptions import FileFormatError, NoisewrightError, ParameterError, ResourceError
from noisewright.text import Embedding, EmbeddingWriter, write_embedding

WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)


def random_vectors(size: int, dimension: int, scale: float = 1.0) -> NDArray[np.float32]:
    return (np.random.default_rng(size).standard_normal((size, dimension)) * scale).astype(np.float32)


@pytest.fixture
def many(tmp_path: Path) -> Embedding:
    return write_embedding(tmp_path / "many.nwe", [f"w{i}" for i in range(5000)], random_vectors(5000, 20))


@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=30, unique=True), st.lists(WORDS, max_size=30), st.integers(1, 5))
def test_words_are_found_where_they_are_and_nowhere_else(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], others: list[str], dimension: int
) -> None:
    path = tmp_path_factory.mktemp("e") / "e.nwe"
    made = write_embedding(path, words, random_vectors(len(words), dimension))
    index = {word: row for row, word in enumerate(words)}
    asked = words + others + words[::-1]
    assert made.rows(asked).tolist() == [index.get(word, -1) for word in asked]
    assert made.words() == words
    assert all((word in made) == (word in index) for word in others)


@pytest.mark.parametrize("scale", [1e-20, 1e-3, 0.7, 3.0, 1e6, 1e20])
def test_the_step_is_the_smallest_power_of_two_that_keeps_norms_within_the_limit(tmp_path: Path, scale: float) -> None:
    vectors = random_vectors(300, 7, scale)
    made = write_embedding(tmp_path / "e.nwe", [str(i) for i in range(300)], vectors)
    mantissa, _ = math.frexp(made.step)
    assert mantissa == 0.5
    assert made.norms.max() <= 2**22
    finer = np.rint(vectors.astype(np.float64) / (made.step / 2))
    assert np.square(finer).sum(axis=1).max() > 2**22
    np.testing.assert_array_equal(made.codes, np.rint(vectors.astype(np.float64) / made.step))
    np.testing.assert_array_equal(made.vectors([5, 1]), (made.codes[[5, 1]] * made.step).astype(np.float32))


def test_squared_distances_are_exact_integers_whatever_the_order_of_summing(many: Embedding) -> None:
    rows, others = np.arange(0, 5000, 7), np.arange(5000)
    codes = many.codes.astype(np.int64)
    exact = many.norms[rows].astype(np.int64)[:, None] + many.norms - 2 * codes[rows] @ codes.T
    np.testing.assert_array_equal(many.squares(rows, others), exact)
    assert exact.max() > 2**22  # the facts are tried where single precision is nearly used up
    np.testing.assert_array_equal(many.distances(rows, others), np.sqrt(exact.astype(float)) * many.step)


def test_the_worst_codes_are_still_exact(tmp_path: Path) -> None:
    """Opposite vectors of the largest norm: the squared distance is 2^24, the last integer before single precision skips one."""
    vectors = np.array([[2048.0, 0], [-2048.0, 0], [0, 2047], [-2047, 0]])
    made = write_embedding(tmp_path / "e.nwe", ["a", "b", "c", "d"], vectors)
    assert made.step == 1
    assert made.squares([0], [1, 2, 3]).tolist() == [[2**24, 2048**2 + 2047**2, 4095**2]]


def test_one_file_holds_smaller_vocabularies(many: Embedding) -> None:
    few = many.first(10)
    assert (len(few), few.rows(["w9", "w10"]).tolist(), few.words()) == (10, [9, -1], [f"w{i}" for i in range(10)])
    assert few.codes.shape == (10, 20)
    assert few.norms.shape == (10,)
    assert few.first(99) == few != many
    again = pickle.loads(pickle.dumps(few))
    assert again == few
    assert again.size == 10
    assert len(pickle.dumps(many)) < 300  # no content travels
    with pytest.raises(ParameterError, match="rows 0 to 9"):
        few.word(10)


def test_what_rounding_did_is_reported(tmp_path: Path) -> None:
    vectors = random_vectors(100, 30)
    vectors[7] = vectors[3]
    with EmbeddingWriter(tmp_path / "e.nwe", 30) as writer:
        for part in np.array_split(np.arange(100), 7):
            writer.add([f"w{i}" for i in part], vectors[part])
    moved = np.linalg.norm(vectors - writer.embedding.vectors(), axis=1)
    assert writer.rounding.largest == pytest.approx(moved.max(), rel=1e-4)
    assert writer.rounding.median == pytest.approx(np.median(moved), rel=1e-4)
    assert 0 < writer.rounding.largest <= writer.embedding.step * math.sqrt(30) / 2
    assert writer.rounding.repeated == 1


@pytest.mark.parametrize(
    ("words", "vectors", "problem"),
    [
        ([], np.zeros((0, 3)), "no words"),
        (["a", "b"], np.array([[1, np.nan], [0, 0]]), "word 1 has a number that is not finite"),
        (["a", "b"], np.array([[1, 0], [0, 1e300]]), "word 2 has a number that is not finite"),
        (["a", "b", "a"], np.eye(3), "word 3 is there a second time"),
        (["a", ""], np.eye(2), "word 2 is empty"),
        (["\ud800", "b"], np.eye(2), "word 1 is empty, no text"),
        (["a"], np.eye(2), "1 words and 2 vectors"),
        (["a"], np.array([["x"]]), "matrix of numbers"),
        (["a"], np.zeros((1, 0)), "dimension"),
        (["a"], np.full((1, 2), 3e38), "too long"),
    ],
)
def test_bad_vectors_are_refused_in_a_sentence_and_nothing_is_written(
    tmp_path: Path, words: list[str], vectors: NDArray[np.float64], problem: str
) -> None:
    with pytest.raises(NoisewrightError, match=problem):
        write_embedding(tmp_path / "e.nwe", words, vectors)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_stays_when_a_new_one_fails(tmp_path: Path) -> None:
    path = tmp_path / "e.nwe"
    made = write_embedding(path, ["a"], np.ones((1, 2)))
    with pytest.raises(FileFormatError):
        write_embedding(path, ["a", "a"], np.ones((2, 2)))
    assert Embedding.at(path) == made


def test_files_that_are_no_embedding_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "e.nwe"
    write_embedding(path, ["tea", "ship"], np.eye(2))
    good = path.read_bytes()
    for cut in (0, 5, 12, 100, len(good) // 2, len(good) - 1):
        path.write_bytes(good[:cut])
        with pytest.raises(FileFormatError, match="not an embedding"):
            Embedding.at(path)
    for bad in (good + b"x", good.replace(b'"words": 2', b'"words": 3'), good.replace(b"\r\n", b"\n", 1)):
        path.write_bytes(bad)
        with pytest.raises(FileFormatError, match="not an embedding"):
            Embedding.at(path)
    path.write_bytes(good.replace(b'"format": 1', b'"format": 2'))
    with pytest.raises(FileFormatError, match="format 2"):
        Embedding.at(path)
    path.write_bytes(good[:-2] + b"\xff\x7f")
    with pytest.raises(FileFormatError, match="too large"):
        _ = Embedding.at(path).norms


def test_a_missing_or_changed_file_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match=r"there is no file .*noisewright embeddings get"):
        Embedding.at(tmp_path / "none.nwe")
    path = tmp_path / "e.nwe"
    made = write_embedding(path, ["changed"], np.ones((1, 2)))
    path.write_bytes(b"other")
    with pytest.raises(ResourceError, match=r"was changed.*noisewright embeddings get"):
        assert pickle.loads(pickle.dumps(made)).size


def test_a_file_in_the_users_data_folder_is_found_by_its_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    path = tmp_path / "e.nwe"
    made = write_embedding(path, ["a", "b"], np.eye(2))
    sent = pickle.dumps(made)
    kept = tmp_path / "noisewright" / "embeddings" / "kept.nwe"
    kept.parent.mkdir(parents=True)
    path.rename(kept)
    assert pickle.loads(sent).words() == ["a", "b"]
