"""Attackers on texts: n-grams, random subspaces, words, and how often they are right."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from noisewright.attacks import (
    LinearWords,
    NearestDocuments,
    RandomSubspaces,
    Success,
    TrainedOnNoise,
    character_ngrams,
    success,
)
from noisewright.attacks.authorship import frequent_ngrams, ngram_counts
from noisewright.exceptions import DataError, ParameterError
from noisewright.text import write_embedding

WORDS = st.lists(st.text("abc", min_size=1, max_size=6), min_size=1, max_size=12)


def style(author: int, words: int, rng: np.random.Generator) -> list[str]:
    """Words of an author who prefers some endings to others."""
    endings = ["ing", "ise", "ize", "our", "or", "ness", "ful", "less"]
    chances = np.roll([0.4, 0.2, 0.1, 0.1, 0.08, 0.06, 0.04, 0.02], author)
    stems = rng.choice(["hon", "fav", "lab", "kind", "organ", "dark"], words)
    return [s + e for s, e in zip(stems, rng.choice(endings, words, p=chances), strict=True)]


def corpus(words: int, seed: int) -> tuple[list[list[str]], list[str]]:
    rng = np.random.default_rng(seed)
    return [style(author, words, rng) for author in range(8)], [f"author {author}" for author in range(8)]


def test_07_f15_pieces_of_three_letters() -> None:
    assert character_ngrams("color", 3) == ["col", "olo", "lor"]
    assert character_ngrams("colour", 3) == ["col", "olo", "lou", "our"]


@given(st.lists(WORDS, min_size=1, max_size=5), st.integers(1, 4))
def test_07_txt11_counts_are_those_of_every_word_by_itself(documents: list[list[str]], order: int) -> None:
    pieces = frequent_ngrams(documents, order, 1000)
    found = ngram_counts(documents, pieces, order).toarray()
    for line, document in zip(found, documents, strict=True):
        counted = Counter(piece for word in document for piece in character_ngrams(word, order))
        assert {p: n for p, n in zip(pieces, line, strict=True) if n} == counted
    totals = found.sum(axis=0)
    assert all(a >= b for a, b in itertools.pairwise(totals))  # the most frequent come first


def test_07_txt14_style_is_recognised_and_a_shuffled_one_is_not() -> None:
    known, authors = corpus(400, 1)
    snippets, _ = corpus(80, 2)
    attacker = RandomSubspaces(order=3, seed=5).fit(known, authors)
    assert success(attacker, snippets, authors).right == 8
    rng = np.random.default_rng(3)
    pool = [word for snippet in snippets for word in snippet]
    mixed = [list(rng.choice(pool, 80)) for _ in authors]
    assert success(attacker, mixed, authors).right <= 4  # four of eight by chance: once in 100 seeds


def test_votes_are_shares_and_the_same_for_the_same_seed() -> None:
    known, authors = corpus(100, 1)
    votes = RandomSubspaces(seed=9).fit(known, authors).votes(known)
    assert votes.sum(axis=1) == pytest.approx(np.ones(8))
    assert (votes == RandomSubspaces(seed=9).fit(known, authors).votes(known)).all()


def test_a_text_without_any_known_piece_is_answered() -> None:
    known, authors = corpus(50, 1)
    assert RandomSubspaces().fit(known, authors).predict([["zzzz"]])[0] in authors


def test_07_txt16_topics_by_words() -> None:
    rng = np.random.default_rng(4)
    sea, farm = ["ship", "sail", "mast", "storm", "harbour"], ["field", "plough", "wheat", "cow", "barn"]
    both = ["the", "man", "went", "day", "night"]
    documents = [list(rng.choice([*own, *both], 30)) for own in (sea, farm) for _ in range(20)]
    topics = ["sea"] * 20 + ["farm"] * 20
    found = LinearWords().fit(documents, topics)
    assert success(found, [["storm", "man"], ["wheat", "day"], ["mast"]], ["sea", "farm", "sea"]).right == 3
    assert LinearWords().fit(documents[:3], ["sea"] * 3).predict([["cow"]]) == ["sea"]


@pytest.mark.parametrize("distance", ["mean", "earth-movers"])
def test_07_txt15_txt17_the_nearest_known_documents(tmp_path: Path, distance: Any) -> None:
    rng = np.random.default_rng(6)
    words = [f"{topic}{i}" for topic in "abc" for i in range(20)]
    centres = np.repeat(np.eye(3) * 3, 20, axis=0)
    embedding = write_embedding(tmp_path / "e.nwe", words, centres + rng.normal(0, 0.3, (60, 3)), licence="CC0-1.0")
    known = [list(rng.choice(words[k * 20 : k * 20 + 20], 15)) for k in range(3) for _ in range(4)]
    topics = [topic for topic in "abc" for _ in range(4)]
    snippets = [[*rng.choice(words[k * 20 : k * 20 + 20], 8), words[(k * 20 + 25) % 60], "unheard"] for k in range(3)]
    attacker = NearestDocuments(embedding, neighbours=3, distance=distance).fit(known, topics)
    assert attacker.predict(snippets) == ["a", "b", "c"]
    # One neighbour, by hand: the nearest mean vector.
    means = np.array([embedding.vectors(embedding.rows(d)).mean(axis=0) for d in known])
    mine = embedding.vectors(embedding.rows(snippets[1][:-1])).mean(axis=0)
    nearest = topics[int(np.linalg.norm(means - mine, axis=1).argmin())]
    assert NearestDocuments(embedding).fit(known, topics).predict([snippets[1]]) == [nearest]
    with pytest.raises(DataError, match="no word of the embedding"):
        attacker.predict([["unheard"]])


def test_an_attacker_that_knows_the_mechanism_learns_from_noisy_copies() -> None:
    """A mechanism that swaps every word for its twin hides style from the naive attacker, and from nobody else."""
    known, authors = corpus(300, 1)
    snippets, _ = corpus(100, 2)

    def code(documents: Any) -> list[list[str]]:
        return [["".join(chr(945 + (ord(c) * 7) % 24) for c in word) for word in document] for document in documents]

    naive = RandomSubspaces(order=3, seed=5).fit(known, authors)
    knowing = TrainedOnNoise(RandomSubspaces(order=3, seed=5), code, copies=1).fit(known, authors)
    assert success(naive, code(snippets), authors).right <= 3
    assert success(knowing, code(snippets), authors).right == 8


@given(st.integers(1, 60), st.data())
def test_the_interval_covers(asked: int, data: st.DataObject) -> None:
    """Clopper and Pearson by its definition: each end leaves 2.5 % on its side."""
    right = data.draw(st.integers(0, asked))
    low, high = Success(right, asked, 0.5).interval()
    assert low <= right / asked <= high
    if right:
        assert binom.sf(right - 1, asked, low) == pytest.approx(0.025, rel=1e-6)
    if right < asked:
        assert binom.cdf(right, asked, high) == pytest.approx(0.025, rel=1e-6)


@pytest.mark.parametrize(
    ("documents", "labels", "said"),
    [
        ([], [], "0 documents and 0 labels"),
        ([["a"]], ["x", "y"], "1 documents and 2 labels"),
        (["text"], ["x"], "list of words"),
        ([[]], ["x"], "list of words"),
        ([["a"]], [float("nan")], "label is missing"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(documents: Any, labels: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        RandomSubspaces().fit(documents, labels)


@pytest.mark.parametrize("bad", [{"order": 0}, {"rounds": 0}, {"share": 0.0}, {"share": 1.5}, {"features": 0}])
def test_parameters_that_make_no_attacker_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="from 1 on"):
        RandomSubspaces(**bad)
