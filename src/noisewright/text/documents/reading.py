"""Reading of a document as rows of a vocabulary, with an explicit policy for tokens without a row.

Numbers and addresses never have one, whatever the vocabulary holds, and neither have names and misspellings outside of it. The
policies (``UNKNOWN``):

- ``drop`` (the default) leaves them out. How many words are left changes with that; a public size hides it (:func:`sized`);
- ``replace`` puts a word in their place that is drawn uniformly from the vocabulary, whatever they were: length and order stay;
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

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright.core.choices import one_of
from noisewright.core.errors import DataError
from noisewright.noise.bits import Rng
from noisewright.noise.integers import uniform_below
from noisewright.text.documents.languages import stopwords
from noisewright.text.documents.tokenising import Token, folded, tokens

__all__ = ["UNKNOWN", "Reader", "Reading", "Vocabulary"]

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
