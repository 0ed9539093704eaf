"""A text that is being hidden: the words that come out, and what someone who sees one word can still guess."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from noisewright.adversary.measures.vulnerability import posterior_vulnerability
from noisewright.cli.shared.metrics import check_number
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import DataError, ParameterError
from noisewright.text.embeddings.finding import shipped
from noisewright.text.noisy_documents import PrivateDocuments, private_documents
from noisewright.text.words.choice import WordChoice

__all__ = ["EXAMPLE", "HiddenText", "hidden_text", "marked", "text_code"]

EXAMPLE = (
    "The patient came back after a long journey with a strong cough and fever. She had lost weight, slept badly and could not "
    "eat. We gave her medicine against the infection and asked her to return next week."
)
LONGEST = 20_000
SHORT = 400
"""A longer text is not written into lines of Python."""
FREQUENT = 300
"""Number of frequent words; the attacker that is measured knows that a word is one of them."""


@dataclass(frozen=True)
class HiddenText:
    """A text before and after, and the guarantee."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    kept: int
    """Number of output words that had been in the text."""
    promise: str
    proved: str
    guess: float
    """Probability that the best attacker guesses a word from its output."""
    blind: float
    word: str
    becomes: tuple[tuple[str, float], ...]
    """Outputs of one word of the text, most likely first."""


def hidden_text(text: str, given: Mapping[str, str]) -> HiddenText:
    """Draw a text once, and say what that guarantees."""
    if not text.strip():
        raise DataError("write or paste a text first.")
    if len(text) > LONGEST:
        raise DataError(
            f"a text of up to {LONGEST:,} characters is shown here; use noisewright text obfuscate for more."
        )
    made = _made(given.get("epsilon", "").strip(), given.get("size", "").strip(), "keep_order" in given)
    before = made.read(text)
    after = tuple(made.release_words([text])[0])
    word, becomes = _becomes(made, before)
    return HiddenText(
        before,
        after,
        sum((Counter(before) & Counter(after)).values()),
        made.in_words(),
        made.certificate().verify(),
        _guess(made),
        1 / FREQUENT,
        word,
        becomes,
    )


def marked(words: tuple[str, ...], others: tuple[str, ...]) -> list[tuple[str, bool]]:
    """Words, and whether the other side has them, as often as it has them."""
    left, found = Counter(others), []
    for word in words:
        found.append((word, left[word] > 0))
        left[word] -= 1
    return found


def text_code(text: str, given: Mapping[str, str]) -> str:
    """Lines of Python that do the same to a text; a long one is read from a file."""
    asked = f"epsilon={given.get('epsilon', '')!r}"
    asked += f", size={given['size']}" if given.get("size") else ""
    asked += ", keep_order=True" if "keep_order" in given else ""
    short = len(text) <= SHORT
    read, held = ("", repr(text)) if short else ("from pathlib import Path\n\n", 'Path("note.txt").read_text("utf-8")')
    return (
        f"{read}import noisewright as nw\n\n"
        f"notes = nw.text.private_documents(nw.text.shipped(), {asked})\n"
        f"print(notes.release({held}))\nprint(notes.in_words())"
    )


@lru_cache(maxsize=16)
def _made(epsilon: str, size: str, keep_order: bool) -> PrivateDocuments:
    if size and not size.isdecimal():
        raise ParameterError("the number of words that come out is a whole number, or empty for as many as there are.")
    return private_documents(
        shipped(), epsilon=check_number(epsilon, "epsilon"), size=int(size) if size else None, keep_order=keep_order
    )


def _law(
    made: PrivateDocuments, rows: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    assert isinstance(made.words, WordChoice)
    weights = made.words.integers(rows).astype(np.float64)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _becomes(made: PrivateDocuments, before: tuple[str, ...]) -> tuple[str, tuple[tuple[str, float], ...]]:
    """Return the row for the longest word of the text, which discloses most."""
    if not before:
        return "", ()
    word = max(before, key=len)
    row = np.array([made.embedding.rows([word])[0]])
    law = _law(made, row)[0]
    first = np.argsort(-law, kind="stable")[:8]
    return word, tuple(zip(made.embedding.words(first), law[first].tolist(), strict=True))


@lru_cache(maxsize=64)
def _guess(made: PrivateDocuments) -> float:
    law = _law(made, np.arange(min(FREQUENT, made.embedding.size)))
    uniform = np.full(len(law), 1 / len(law))
    return float(posterior_vulnerability(uniform, Channel(law, normalise=True), "identity"))
