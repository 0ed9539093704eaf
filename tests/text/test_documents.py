"""Documents: what is a word, what never passes, and bags of a public size (TXT-1)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisewright.exceptions import DataError, FileFormatError, NoisewrightError, ParameterError
from noisewright.text import (
    LANGUAGES,
    Embedding,
    Reader,
    folded,
    shipped,
    sized,
    stopwords,
    text_files,
    text_of,
    tokens,
    write_embedding,
)


def kinds(text: str) -> list[tuple[str, str]]:
    return [(token.text, token.kind) for token in tokens(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("don’t re-enter; O'Neil's", ["don’t", "re-enter", "O'Neil's"]),
        ("naïve cafe\u0301 straße ŁÓDŹ", ["naïve", "cafe\u0301", "straße", "ŁÓDŹ"]),
        ("हिन्दी में लिखा", ["हिन्दी", "में", "लिखा"]),
        ("שָׁלוֹם עולם", ["שָׁלוֹם", "עולם"]),
        ("«quoted»—dash…(bracket)", ["quoted", "dash", "bracket"]),
        ("snake_case 'quoted' -hyphen- rock'n'roll", ["snake", "case", "quoted", "hyphen", "rock'n'roll"]),
        ("", []),
        ("!? \n\t ...", []),
    ],
)
def test_words_are_runs_of_letters_and_marks(text: str, found: list[str]) -> None:
    assert kinds(text) == [(word, "word") for word in found]


@pytest.mark.parametrize(
    "text",
    [
        "jane.doe+notes@mail.example.org",
        "jane@localhost",
        "https://example.org/patients/jane-doe?id=7#top",
        "www.example.org/jane",
        "example.org/jane",
        "ftp://host/file",
    ],
)
def test_addresses_are_one_token(text: str) -> None:
    assert kinds(f"see {text}, please") == [("see", "word"), (text, "address"), ("please", "word")]


@pytest.mark.parametrize(
    "text",
    ["7", "2026-03-01", "1,234.50", "+44", "12:30", "B12", "3rd", "covid-19", "٣٤", "AB-123-x", "½", "12mg", "50%"],
)
def test_whatever_has_a_digit_is_a_number(text: str) -> None:
    assert kinds(f"on {text} at") == [("on", "word"), (text, "number"), ("at", "word")]


@given(st.text())
def test_tokens_are_where_they_say_and_do_not_overlap(text: str) -> None:
    end = 0
    for token in tokens(text):
        assert token.start >= end
        assert text[token.start : token.end] == token.text != ""
        end = token.end
    assert not any(letter.isalnum() for letter in _rest(text))


def _rest(text: str) -> str:
    covered = {place for token in tokens(text) for place in range(token.start, token.end)}
    return "".join(letter for place, letter in enumerate(text) if place not in covered)


def test_a_long_text_without_spaces_is_read_in_time() -> None:
    """Patterns with unbounded repeats take quadratic time here: minutes, not a second."""
    assert sum(1 for _ in tokens("a." * 200_000)) > 1000
    assert sum(1 for _ in tokens("a-" * 200_000)) == 1


def test_folding() -> None:
    assert [folded(word) for word in ("Patient’s", "CAFE\u0301", "well‐known", "'s")] == [
        "patient",
        "café",
        "well-known",
        "'s",
    ]


def test_stop_words() -> None:
    assert {"the", "and", "not"} <= stopwords("en")
    assert not {"pain", "doctor", "headache"} & stopwords("en")
    assert len(LANGUAGES) > 50
    assert all(len(stopwords(language)) >= 20 for language in LANGUAGES)
    with pytest.raises(ParameterError, match="no stop words for 'xx'"):
        stopwords("xx")


@pytest.fixture
def vocabulary(tmp_path: Path) -> Embedding:
    words = ["cough", "fever", "the", "7", "jane@example.org", "example"]
    return write_embedding(tmp_path / "v.nwe", words, np.eye(6))


TEXT = "The cough of Jane Zylberstein (jane@example.org, born 7.1.1980, www.example.org) and fever since 7"


def test_what_is_unknown_is_dropped_by_default_and_so_are_numbers_and_addresses(vocabulary: Embedding) -> None:
    """Even though the vocabulary has 7 and an address."""
    read = Reader(vocabulary).read(TEXT)
    assert read.words == ("cough", "fever")
    assert read.rows.tolist() == [0, 1]
    assert [TEXT[a:b] for a, b in read.places] == ["cough", "fever"]
    assert read.protected
    assert Reader(vocabulary, language=None).read(TEXT).words == ("the", "cough", "fever")


def test_replacements_do_not_depend_on_what_they_replace(vocabulary: Embedding) -> None:
    reader = Reader(vocabulary, unknown="replace")
    one, two = (
        reader.read(text, np.random.default_rng(5)) for text in ("cough Jane 1980 fever", "cough of Zed me@x.y fever")
    )
    assert one.words == two.words
    assert one.rows[[0, 3]].tolist() == [0, 1]
    drawn = Counter(
        int(row) for seed in range(300) for row in reader.read("Zed Jane", np.random.default_rng(seed)).rows
    )
    statistic = sum((drawn[row] - 100) ** 2 / 100 for row in range(6))
    assert statistic < 20.5  # chi-squared with 5 degrees of freedom: exceeded once in 1000 seeds


def test_refusing_names_nothing_and_keeping_is_labelled(vocabulary: Embedding) -> None:
    with pytest.raises(DataError) as refused:
        Reader(vocabulary, unknown="refuse").read(TEXT)
    assert not any(word in str(refused.value) for word in ("Jane", "Zylberstein", "1980"))
    assert Reader(vocabulary, unknown="refuse").read("cough and fever").protected
    kept = Reader(vocabulary, unknown="keep").read("cough Jane 1980")
    assert (kept.words, kept.rows.tolist(), kept.protected) == (("cough", "Jane", "1980"), [0, -1, -1], False)
    with pytest.raises(ParameterError, match="unknown must be"):
        Reader(vocabulary, unknown="pass")


@pytest.mark.parametrize("text", ["", "  ", "Zylberstein 1980", "the and of"])
def test_documents_without_a_word_have_none(vocabulary: Embedding, text: str) -> None:
    found = Reader(vocabulary).read(text)
    assert (found.words, len(found.rows), found.protected) == ((), 0, True)


def test_bags_have_the_public_size_whatever_the_document() -> None:
    for count in (0, 1, 5, 20, 21, 500):
        assert len(sized(np.arange(count), 20, vocabulary=1000)) == 20
    for size in (0, -1, True, 2.5):
        with pytest.raises(ParameterError, match="public size"):
            sized(np.arange(3), size, vocabulary=9)  # type: ignore[arg-type]


def test_a_long_document_becomes_a_uniform_subset_in_order() -> None:
    rng = np.random.default_rng(8)
    drawn = Counter(tuple(sized(np.arange(5), 2, vocabulary=9, rng=rng).tolist()) for _ in range(5000))
    assert len(drawn) == 10
    assert all(a < b for a, b in drawn)
    statistic = sum((count - 500) ** 2 / 500 for count in drawn.values())
    assert statistic < 27.9  # chi-squared with 9 degrees of freedom: exceeded once in 1000 seeds


def test_padding_is_uniform_and_the_same_whatever_the_document_says() -> None:
    one, two = (sized(np.array(rows), 6, vocabulary=50, rng=np.random.default_rng(3)) for rows in ([1, 2], [7, 7]))
    assert one[2:].tolist() == two[2:].tolist()
    assert one[:2].tolist() == [1, 2]
    many = sized(np.array([0]), 10_001, vocabulary=4, rng=np.random.default_rng(4))[1:]
    statistic = sum((count - 2500) ** 2 / 2500 for count in np.bincount(many, minlength=4))
    assert statistic < 16.3  # chi-squared with 3 degrees of freedom: exceeded once in 1000 seeds


def test_the_shipped_vocabulary_has_words_of_a_clinic_and_of_every_day() -> None:
    note = """Patient reports headache, fever and a dry cough for three days, with nausea in the morning. Denies chest pain.
    Blood pressure normal, throat red, knee swollen after a fall. Prescribed antibiotics and rest; advised to drink water and to
    return to the clinic next week if symptoms become worse. Mother worried about asthma and allergies at school."""
    read = Reader(shipped(), unknown="keep").read(note)
    assert (read.rows >= 0).mean() > 0.95
    assert shipped().resource.size < 700_000


def test_text_files(tmp_path: Path) -> None:
    for name, content in {"b.txt": b"two", "a.txt": b"\xef\xbb\xbfone", "sub/c.txt": b"three", "d.csv": b"x"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    assert [text_of(path) for path in text_files([tmp_path])] == ["one", "two", "three"]
    (tmp_path / "sub" / "LAST.TXT").write_bytes(b"four")
    (tmp_path / "sub" / "link.txt").symlink_to(tmp_path / "a.txt")
    found = text_files([tmp_path, tmp_path / "b.txt", tmp_path / "sub"])  # each once, however often it is named
    assert sorted(map(text_of, found)) == ["four", "one", "three", "two"]
    for content, problem in ((b"a\0b", "binary"), (b"\xff\xfe", "not UTF-8"), (b" \n", "is empty")):
        (tmp_path / "bad").write_bytes(content)
        with pytest.raises(DataError, match=problem):
            text_of(tmp_path / "bad")
    with pytest.raises(FileFormatError, match="no file or folder"):
        text_files([tmp_path / "none"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(NoisewrightError, match="no texts"):
        text_files([tmp_path / "empty"])
