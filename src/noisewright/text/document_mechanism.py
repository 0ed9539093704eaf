"""Documents whose words are obfuscated: every word is drawn by itself, and the order is forgotten.

A text is read as words of a public vocabulary (:mod:`~noisewright.text`), brought to a public ``size``, and each
word goes through a mechanism on words (:mod:`~noisewright.text`). What comes out is a bag of as many words, in random
order.

**Guarantee.** ``epsilon`` for each unit of *matched* distance: the cost of the cheapest matching of the words of two
documents, which for N words is N times their Earth Mover's distance (:mod:`~noisewright.text.earth_mover`). Words that the
reading leaves out (stop words, and by default words outside of the vocabulary) do not come out at all, so documents
that differ in those alone are at distance 0. Proof: whatever the matching, a product of words loses the sum of the
losses of its pairs, and the chance of a bag is a sum over its orders; a longer document is cut to a random subset and
a shorter one filled with random words, and both can be drawn alike for both documents of a matching, one word without
a partner costing the diameter.

With ``keep_order`` words stay where they were, which reads better and guarantees less: the distance is then *aligned*,
word by word, so that a word moved within the text counts twice. Longer texts are then cut after ``size`` words.

Without a ``size`` the number of words is as it was, **in the clear**, and nothing is guaranteed between documents of
different lengths. With ``unknown="keep"`` everything outside of the vocabulary passes as it is, **in the clear**.

>>> from noisewright.text import shipped
>>> notes = private_documents(shipped().first(300), epsilon=8, size=4)
>>> len(notes.release("The congress and the country, united in war").split())
4

Reference: Fernandes, Dras and McIver, *Generalised differential privacy for text document processing*, POST 2019.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from noisewright._utils.validation import fields_alone, one_of
from noisewright.base import EPSILON, BaseMechanism, Entry, Parameter, Takes
from noisewright.certificates.certificate import Certificate
from noisewright.certificates.composition import Part, product_certificate
from noisewright.claims import phrases
from noisewright.exceptions import CertificateError, DataError, NoLossError
from noisewright.guarantees import Guarantee
from noisewright.io.atomic import numbered_name, own_names, whole_folder
from noisewright.numerics.exact import Exact
from noisewright.resources import Resource, public_keys
from noisewright.sampling.random_bits import Bits, bits_from, random_order
from noisewright.text.documents import Reader, sized, text_of
from noisewright.text.earth_mover import AlignedWords, MatchedWords
from noisewright.text.embedding import EMBEDDING, LIMIT, Embedding
from noisewright.text.exponential_words import WordChoice, exact_words
from noisewright.text.noisy_words import NoisyWords, laplace_words

__all__ = ["Obfuscated", "PrivateDocuments", "in_the_clear", "obfuscate_files", "private_documents", "sizes_in_words"]


SIZE = Parameter("Number of words released for each document, whatever its length.", "size = 100")
WORDS = Parameter("Word mechanism: exact, or laplace noise in floating point.", 'words = "exact"')
KEEP_ORDER = Parameter("Whether words keep their positions, which are then released unchanged.", "keep_order = false")
UNKNOWN = Parameter("Treatment of words outside the vocabulary: drop, replace, refuse or keep.", 'unknown = "drop"')
LANGUAGE = Parameter("Language of the stop words that are left out.", 'language = "en"')

NAME = "private-documents"
MAKERS: dict[str, Callable[..., WordChoice | NoisyWords]] = {"exact": exact_words, "laplace": laplace_words}
Unknown = Literal["drop", "replace", "refuse", "keep"]


def private_documents(
    embedding: Annotated[Resource | Embedding, EMBEDDING],
    *,
    epsilon: Annotated[Exact, EPSILON],
    size: Annotated[int | None, SIZE] = None,
    words: Annotated[Literal["exact", "laplace"], WORDS] = "exact",
    keep_order: Annotated[bool, KEEP_ORDER] = False,
    unknown: Annotated[Unknown, UNKNOWN] = "drop",
    language: Annotated[str | None, LANGUAGE] = "en",
    limit: Annotated[int | None, LIMIT] = None,
) -> PrivateDocuments:
    """A mechanism on documents, over the first ``limit`` words of an embedding.

    ``epsilon`` is for each unit of matched distance, which is the same as for each unit of distance of a single word.
    ``size``: how many words come out of every document. ``words``: the exact choice of words, or Laplace noise on their
    vectors. ``language``: whose stop words are left out.
    """
    drawn = MAKERS[one_of(words, "words", tuple(MAKERS))](embedding, epsilon=epsilon, limit=limit)
    return PrivateDocuments(drawn, size, keep_order, unknown, language)


@dataclass(frozen=True)
class PrivateDocuments(BaseMechanism):
    """A mechanism on documents; build it with :func:`private_documents`."""

    no_channel = "there are too many documents to list; audit_lifted enumerates bags of a few words."

    words: WordChoice | NoisyWords
    size: int | None = None
    keep_order: bool = False
    unknown: Unknown = "drop"
    language: str | None = "en"
    name = NAME

    def __post_init__(self) -> None:
        if self.size is not None:
            sized(np.zeros(1, np.int64), self.size, vocabulary=1)  # rejects an invalid size
        self._reader  # noqa: B018  refuses what it does not know

    @property
    def embedding(self) -> Embedding:
        """The public vocabulary."""
        return self.words.embedding

    @property
    def resources(self) -> tuple[Resource, ...]:
        """The embedding's file."""
        return self.words.resources

    @property
    def epsilon(self) -> Fraction:
        """Epsilon for each unit of distance, exactly."""
        return self.words.epsilon

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` for each unit of matched, or aligned, distance."""
        apart = AlignedWords if self.keep_order else MatchedWords
        return replace(self.words.guarantee, metric=apart(self.embedding, self.size is not None))

    @property
    def clear(self) -> tuple[dict[str, str], ...]:
        """Unprotected parts of an output, as records."""
        shown = {
            "word-count": self.size is None,
            "word-order": self.keep_order,
            "unknown-words": self.unknown == "keep",
        }
        return tuple({"code": code} for code, is_shown in shown.items() if is_shown)

    @property
    def in_the_clear(self) -> tuple[str, ...]:
        """Unprotected output, in words."""
        return tuple(map(phrases.clear, self.clear))

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One document of words, with blanks between them, for every text; a single text gives a single one."""
        if isinstance(values, str):
            return " ".join(self.release_words([values], rng)[0])
        given = _texts(values)
        drawn = np.empty(given.size, object)
        drawn[:] = [" ".join(document) for document in self.release_words(given.reshape(-1).tolist(), rng)]
        return drawn.reshape(given.shape)

    def release_words(self, texts: Sequence[str], rng: np.random.Generator | None = None) -> list[list[str]]:
        """The same as lists of words. All words of all texts are drawn together."""
        bits = bits_from(rng)
        passed: list[str] = []
        documents = [self._rows(text, passed, bits) for text in texts]
        lengths = np.array([len(document) for document in documents], np.int64)
        rows = np.concatenate([*documents, np.empty(0, np.int64)])
        drawn = rows < self.embedding.size
        rows[drawn] = self.words.release_rows(rows[drawn], bits)
        owners = np.repeat(np.arange(len(documents)), lengths)
        if not self.keep_order:
            rows = rows[_shuffled(owners, bits)]
        words = np.empty(len(rows), object)
        drawn = rows < self.embedding.size
        words[drawn] = self.embedding.words(rows[drawn])
        words[~drawn] = [passed[row - self.embedding.size] for row in rows[~drawn]]
        return [part.tolist() for part in np.split(words, np.cumsum(lengths)[:-1])] if documents else []

    def read(self, text: str) -> tuple[str, ...]:
        """The words of a text that go into the mechanism, before random ones take the place of others or fill it up: a secret."""
        reader = replace(self._reader, unknown="drop") if self.unknown == "replace" else self._reader
        return reader.read(text).words

    def check(self, values: Any) -> None:
        """Refuse what ``release`` would refuse."""
        bits = bits_from(np.random.default_rng(0))  # what is drawn is thrown away
        for text in [values] if isinstance(values, str) else _texts(values).reshape(-1).tolist():
            self._rows(text, [], bits)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The proof for one word, and that losses add up; for noise in floats a theorem that is cited."""
        order: Literal["aligned", "matched"] = "aligned" if self.keep_order else "matched"
        clear: dict[str, Any] = {"in_the_clear": list(self.clear)} if self.clear else {}
        if isinstance(self.words, WordChoice):
            return product_certificate(
                self.name,
                [Part(self.words.certificate(rng), self.size)],
                metric=order,
                simulated=rng is not None,
                **clear,
            )
        return Certificate.of_mechanism(
            self,
            rng,
            distances={"shape": "words"},
            proof={
                "kind": "theorem",
                "density": "c exp(-epsilon |v|) for every word",
                "by": "losses of independent words add up along any matching",
                "size": self.size,
            },
            numerics="floating",
            **public_keys(self.resources),
            **clear,
        )

    def in_words(self) -> str:
        """Return the guarantee and its limits, in words."""
        clear = f" In the clear: {', '.join(self.in_the_clear)}." if self.in_the_clear else ""
        many = (
            f"{self.size} words come out of every document, whatever its length"
            if self.size
            else "As many words come out"
        )
        return f"{self.guarantee.in_words()} {many}.{clear}"

    def error(self, loss: str = "absolute") -> float:
        """Raise `NoLossError`: documents are not numbers."""
        raise NoLossError("documents are no numbers; noisewright text calibrate measures how many words stay.")

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self.embedding, language=self.language, unknown=self.unknown)

    def _rows(self, text: Any, passed: list[str], bits: Bits) -> NDArray[np.int64]:
        """The rows of a document at its public size; tokens that pass as they are get numbers beyond the vocabulary."""
        if not isinstance(text, str):
            raise DataError("a document is text; leave out what is missing, or fill it in the policy.")
        found = self._reader.read(text, bits)
        rows = found.rows.copy()
        outside = np.flatnonzero(rows < 0)
        rows[outside] = self.embedding.size + len(passed) + np.arange(len(outside))
        passed.extend(found.words[place] for place in outside)
        if self.size is None:
            if not len(rows):
                raise DataError(
                    "a document has no word of the vocabulary; leave it out, or give documents a public size."
                )
            return rows
        if self.keep_order:
            rows = rows[: self.size]
        return sized(rows, self.size, vocabulary=self.embedding.size, rng=bits)

    __getstate__ = fields_alone

    def __repr__(self) -> str:
        many = f"{self.size} words each" if self.size else "as many words as there were"
        return f"{self.name}({self.words!r}, {many})"


def _texts(values: Any) -> NDArray[Any]:
    if hasattr(values, "to_pylist"):
        values = values.to_pylist()
    given = np.empty(np.shape(values), object) if isinstance(values, np.ndarray) else np.empty(len(values), object)
    given[...] = values
    return given


def _shuffled(owners: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
    """A uniformly random order within each document: that of independent keys, drawn again until all differ."""
    keys = bits.words(len(owners))
    while len(np.unique(keys)) < len(keys):
        keys = bits.words(len(owners))
    return np.lexsort((keys, owners))


def _rebuilt(certificate: Certificate) -> PrivateDocuments:
    """A certificate is about words that were read; which stop words were left out of a text is none of its business."""
    raise CertificateError(
        "a certificate of documents does not state how texts are read; make the mechanism again with private_documents."
    )


ENTRY = Entry(
    NAME,
    private_documents,
    Takes("document"),
    summary="documents as bags of noisy words: each word drawn near the true one, in random order",
    words="documents of words of a public embedding",
    rebuild=_rebuilt,
)


# Obfuscation --------------------------------------------------------------------------------------------------------------
#
# Files of text, obfuscated into a folder that appears whole or not at all.
#
# The output consists of the documents, in random order and under numbers (names of files often reveal the authors), and
# the certificate of the mechanism. The comparison with the originals is for the owner alone, and lies elsewhere.


FILE_NAMES = {"code": "file-names"}

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
