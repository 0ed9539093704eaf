"""Files of text, obfuscated into a folder that appears whole or not at all.

The output consists of the documents, in random order and under numbers (names of files often reveal the authors), and
the certificate of the mechanism. The comparison with the originals is for the owner alone, and lies elsewhere.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from noisewright.claims import phrases
from noisewright.files.folders import numbered_name, own_names, whole_folder
from noisewright.noise.integers import random_order
from noisewright.text.documents.files import text_of
from noisewright.text.noisy_documents import PrivateDocuments

FILE_NAMES = {"code": "file-names"}
__all__ = ["Obfuscated", "in_the_clear", "obfuscate_files", "sizes_in_words"]

TOGETHER = 64
"""Maximum number of documents drawn together: their common words are looked up once."""
CERTIFICATE = "certificate.json"


@dataclass(frozen=True)
class Obfuscated:
    """Result for one file; ``source`` and ``before`` are secret."""

    source: Path
    before: tuple[str, ...]
    """The words that were read from it."""
    target: Path
    after: tuple[str, ...]

    @property
    def filled(self) -> int:
        """Return how many random words filled it up to the public size; below 0 where words were left out."""
        return len(self.after) - len(self.before)

    @property
    def kept(self) -> int:
        """Return how many of the words that came out had been there; a fact about the original."""
        return (Counter(self.before) & Counter(self.after)).total()


def obfuscate_files(
    mechanism: PrivateDocuments,
    files: Sequence[Path],
    target: str | os.PathLike[str],
    *,
    keep_names: bool = False,
    progress: Callable[[int, int | None], None] | None = None,
) -> list[Obfuscated]:
    """Every file through the mechanism, into the new folder ``target``; the results in the order of ``files``."""
    folder, names = Path(target).absolute(), _names(files, keep_names)
    done: list[Obfuscated] = []
    with whole_folder(folder) as staged:
        for some in _parts(list(zip(files, names, strict=True))):
            texts = [text_of(file) for file, _ in some]
            for (file, name), text, words in zip(some, texts, mechanism.release_words(texts), strict=True):
                done.append(Obfuscated(file, mechanism.read(text), folder / name, tuple(words)))
                if progress is not None:
                    progress(len(done), len(files))
        for one in sorted(done, key=lambda one: one.target.name):  # of their new names: times reveal no other order
            (staged / one.target.name).write_text(" ".join(one.after) + "\n", encoding="utf-8")
        stated = mechanism.certificate().with_clear([*mechanism.clear, *([FILE_NAMES] if keep_names else [])])
        (staged / CERTIFICATE).write_text(stated.to_json(), encoding="utf-8")
    return done


def in_the_clear(mechanism: PrivateDocuments, keep_names: bool) -> list[str]:
    """Return the unprotected content of the folder, in words; its certificate states the same."""
    return [*mechanism.in_the_clear, *([phrases.clear(FILE_NAMES)] if keep_names else [])]


def sizes_in_words(done: Sequence[Obfuscated]) -> str:
    """Return how many words were read, filled up with and left out; facts about the originals."""
    read = sum(len(one.before) for one in done)
    filled, left = (sum(max(0, sign * one.filled) for one in done) for sign in (1, -1))
    told = [f"{filled:,} random words fill short documents up"] * bool(filled)
    told += [f"{left:,} were left out of long ones"] * bool(left)
    return "; ".join([f"{read:,} words were read", *told])


def _parts(things: list[tuple[Path, str]]) -> Iterator[list[tuple[Path, str]]]:
    return (things[start : start + TOGETHER] for start in range(0, len(things), TOGETHER))


def _names(files: Sequence[Path], keep: bool) -> list[str]:
    """Their own names, or numbers that are dealt out at random."""
    if keep:
        return own_names(files, ".txt")
    return [numbered_name("document", number + 1, ".txt") for number in random_order(len(files))]
