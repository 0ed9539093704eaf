r"""Text into tokens, by one regular expression over Unicode.

A **word** is a run of letters and their marks, with apostrophes and hyphens inside. An **address** is an e-mail address or a
place on the web, as one token: it is never taken apart into words that a vocabulary might have. A **number** is whatever has a
digit: amounts, dates, telephone numbers, codes such as ``B12``. Everything else (space, punctuation) lies between tokens.

>>> [(token.text, token.kind) for token in tokens("Mr O'Neil (o.neil@example.org) had well-known side effects on 2026-03-01.")]
... # doctest: +NORMALIZE_WHITESPACE
[('Mr', 'word'), ("O'Neil", 'word'), ('o.neil@example.org', 'address'), ('had', 'word'), ('well-known', 'word'),
 ('side', 'word'), ('effects', 'word'), ('on', 'word'), ('2026-03-01', 'number')]

Scripts that put no space between words (Chinese, Japanese, Thai) come out in long runs; cut them into words before.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from noisewright.core.errors import DataError

__all__ = ["Token", "folded", "tokens"]

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
