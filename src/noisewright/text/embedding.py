"""Layout of the file of an embedding: order and positions of its parts.

``MAGIC``, the length of the header as a little-endian 64-bit integer, the header (JSON), and then, each from the next
multiple of
64 bytes on: the keys of the words in order (``<u8``), the rows that they belong to (``<u4``), where each word begins in the
text
(``<u4``, one more than words), the words themselves (UTF-8, one after another, in the order of the rows), and the codes
(``<i2``, one row of the dimension's length for each word). Nothing else is in the file, and nothing follows.

A row has a word and a code vector of 16-bit integers; its vector is ``codes * step``, and the ``step`` is a power of
two. The distance of two words is the Euclidean distance of these vectors, and every mechanism of this package uses it.
Squared norms of code vectors are at most 2^22, so that dot products, all their partial sums (Cauchy and Schwarz) and
squared distances ``|x|^2 + |y|^2 - 2 x.y <= 2^24`` are integers that matrix products in single precision compute
*exactly*, on every machine, with any library, number of threads and order of summing.

Rows are in the order of the file that the embedding was made from, the most frequent word first where that file states
so: :meth:`Embedding.first` keeps a useful vocabulary. Words are found by binary search in the file, for any number of
words at once; no dictionary of them is ever made.

>>> import numpy as np, pathlib, pickle, tempfile
>>> from noisewright.text import write_embedding
>>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.nwe")
>>> tiny = write_embedding(path, ["tea", "coffee", "ship"], np.array([[1, 0], [1, 0.5], [-3, 4]]), licence="CC0-1.0")
>>> tiny
Embedding('tiny', 3 words, 2 dimensions, step 2^-8)
>>> tiny.rows(["ship", "train", "tea"]).tolist(), tiny.word(1)
([2, -1, 0], 'coffee')
>>> tiny.distances([0], [1, 2]).round(3).tolist()
[[0.5, 5.657]]
>>> pickle.loads(pickle.dumps(tiny)) == Embedding.at(path) == tiny
True

It has 5,500 English words in 50 dimensions, trained on the State of the Union addresses and the definitions of WordNet, and is
there for a first try, for tests and for demonstrations: a release deserves a larger one (``noisewright embeddings get``).

>>> small = shipped()
>>> fever = small.rows(["fever"])
>>> near = small.distances(fever, small.rows(["infection", "cough", "treasury"]))[0]
>>> bool(near[:2].max() < near[2])
True
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright.base import Parameter
from noisewright.exceptions import FileFormatError, ParameterError, ResourceError
from noisewright.io.model_files import user_data
from noisewright.resources import Resource, look_in

__all__ = [
    "ALIGN",
    "COMES_ALONG",
    "MAGIC",
    "MOST_DIMENSIONS",
    "MOST_WORDS",
    "NORM_LIMIT",
    "QUANTILES",
    "SUFFIX",
    "Embedding",
    "Header",
    "Summary",
    "data_folder",
    "embedding_folders",
    "find_embedding",
    "key_of",
    "shipped",
    "summary",
]


SUFFIX = ".nwe"
MAGIC = b"\x89NWE\r\n\x1a\n"
"""Like that of PNG: a copy that changed the ends of lines is noticed."""
ALIGN = 64
NORM_LIMIT = 2**22
"""The largest squared norm in code units. Sums of products of codes, whole or in part, are then at most 2^22 by the inequality of
Cauchy and Schwarz, and squared distances at most 2^24: integers that single precision holds exactly, in any order of summing."""
MOST_WORDS = 2**26
MOST_DIMENSIONS = 2**14
LONGEST_HEADER = 2**16
EXPONENTS = range(-100, 101)


@dataclass(frozen=True)
class Header:
    """Header of an embedding, before its words."""

    name: str
    licence: str
    source: str
    words: int
    dimension: int
    exponent: int
    """The step is 2 to this power."""
    text: int
    """Total number of bytes of the words."""
    format: int = 1

    def encode(self) -> bytes:
        """The beginning of a file, filled up to where the keys begin."""
        document = json.dumps(asdict(self), ensure_ascii=False, sort_keys=True).encode()
        start = MAGIC + len(document).to_bytes(8, "little") + document
        return start + bytes(-len(start) % ALIGN)

    def places(self) -> dict[str, int]:
        """The first byte of each part, and the ``end``, by name."""
        sizes = {
            "keys": 8 * self.words,
            "rows": 4 * self.words,
            "starts": 4 * (self.words + 1),
            "text": self.text,
            "codes": 2 * self.words * self.dimension,
        }
        place, found = len(self.encode()), {}
        for part, size in sizes.items():
            found[part] = place
            place += size if part == "codes" else size + -size % ALIGN
        return {**found, "end": place}

    @classmethod
    def decode(cls, content: Any, called: str) -> Header:
        """The header of a file, whose bytes are given; all its sizes are checked."""
        problem = FileFormatError(
            f"{called} is not an embedding of Noisewright, or is cut short; make one with noisewright embeddings import."
        )
        if bytes(content[: len(MAGIC)]) != MAGIC:
            raise problem
        length = int.from_bytes(bytes(content[len(MAGIC) : len(MAGIC) + 8]), "little")
        if length > LONGEST_HEADER:
            raise problem
        try:
            document = json.loads(bytes(content[len(MAGIC) + 8 : len(MAGIC) + 8 + length]))
            found = cls(**document)
            kinds = all(type(getattr(found, field.name)).__name__ == field.type for field in fields(cls))
            if kinds and found.format != 1:
                raise FileFormatError(
                    f"{called} is an embedding of format {found.format}, and this version of Noisewright reads format 1; "
                    "install a newer one."
                )
            sane = kinds and 0 < found.words <= MOST_WORDS and 0 < found.dimension <= MOST_DIMENSIONS
            sane = sane and found.exponent in EXPONENTS and 0 < found.text < 2**32
        except (ValueError, TypeError) as wrong:
            if isinstance(wrong, FileFormatError):
                raise
            raise problem from None
        if not sane or bytes(content[: len(found.encode())]) != found.encode() or found.places()["end"] != len(content):
            raise problem
        return found


def key_of(word: bytes) -> bytes:
    """Eight bytes by which a word is looked up."""
    return hashlib.blake2b(word, digest_size=8).digest()


# Places -------------------------------------------------------------------------------------------------------------------
#
# Locations of embeddings: fetched by a user, or shipped.


COMES_ALONG = Path(__file__).parent / "data"
"""The folder of the small embedding that comes with Noisewright."""


def data_folder() -> Path:
    """``$XDG_DATA_HOME/noisewright/embeddings``, which is usually ``~/.local/share/noisewright/embeddings``."""
    return user_data("embeddings")


def embedding_folders() -> tuple[Path, Path]:
    """Return where an embedding is looked for that is named by its SHA-256 alone."""
    return data_folder(), COMES_ALONG


# Parameters ---------------------------------------------------------------------------------------------------------------
#
# Parameters that several mechanisms for words share.


EMBEDDING = Parameter("Public file of word vectors.", 'embedding = "glove.nwe"')
LIMIT = Parameter("Number of words in the vocabulary, the most frequent first.", "limit = 50000")


# Embedding ----------------------------------------------------------------------------------------------------------------
#
# A public word embedding: one file, mapped into memory, with integers inside.


BLOCK = 1 << 20
"""Maximum number of codes that are evaluated together."""


_READ = frozenset(
    {"name", "licence", "source", "size", "dimension", "step", "codes", "_keys", "_order", "_starts", "_text"}
)
"""Content of an embedding's file, known once it is open."""


class Embedding:
    """Public words and their vectors, in a file; make one with :meth:`at`. Two of the same file and size are equal."""

    resource: Resource
    """The file, by name, SHA-256 and size."""
    name: str
    licence: str
    """Under which it may be used and passed on, in words or as an SPDX expression; empty if no one said."""
    source: str
    """Where its vectors are from; empty if no one said."""
    size: int
    """Number of words."""
    dimension: int
    step: float
    """One unit of a code: exactly a power of two."""
    codes: NDArray[np.int16]
    """The vectors in units of ``step``, one row for each word; mapped and read-only."""

    def __init__(self, resource: Resource, size: int | None = None) -> None:
        if not isinstance(resource, Resource):
            raise ParameterError("an Embedding is made from a path with Embedding.at, or from a Resource.")
        look_in(*embedding_folders())
        try:
            content = resource.open()
        except ResourceError as problem:
            raise ResourceError(_fetch(problem)) from None
        header = Header.decode(content, resource.name)
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
            raise ParameterError("the number of words to keep is a whole number from 1 on.")
        self.resource = resource
        self.name, self.licence, self.source = header.name, header.licence, header.source
        self.size = min(header.words, size or header.words)
        self.dimension, self.step = header.dimension, 2.0**header.exponent
        places = header.places()
        self._keys: NDArray[np.uint64] = resource.array("<u8", header.words, places["keys"])
        self._order: NDArray[np.uint32] = resource.array("<u4", header.words, places["rows"])
        self._starts: NDArray[np.uint32] = resource.array("<u4", header.words + 1, places["starts"])
        self._text: NDArray[np.uint8] = resource.array("u1", header.text, places["text"])
        if self._starts[0] or self._starts[-1] != header.text or not (self._starts[1:] > self._starts[:-1]).all():
            raise FileFormatError(f"{resource.name} has words that do not fit its text; import it again.")
        self.codes = resource.array("<i2", (header.words, header.dimension), places["codes"])[: self.size]

    @classmethod
    def at(cls, path: str | os.PathLike[str], size: int | None = None) -> Embedding:
        """The embedding in a file, or its first ``size`` words."""
        try:
            return cls(Resource.at(path), size)
        except ResourceError as problem:
            raise ResourceError(_fetch(problem)) from None

    def first(self, size: int) -> Embedding:
        """The same file with its first ``size`` words as the vocabulary; all of them if it has fewer."""
        return type(self)(self.resource, min(size, self.size) if isinstance(size, int) else size)

    # Words ----------------------------------------------------------------------------------------------------------------

    def rows(self, words: Iterable[str]) -> NDArray[np.int64]:
        """The row of each word, and -1 where a word is not in the vocabulary."""
        given = list(words)
        distinct: dict[str, int] = {}
        for word in given:
            distinct.setdefault(word, len(distinct))
        found = self._look_up([_encoded(word) for word in distinct])
        return found[np.fromiter((distinct[word] for word in given), np.int64, len(given))]

    def _look_up(self, words: list[bytes]) -> NDArray[np.int64]:
        if not words:
            return np.empty(0, np.int64)
        keys = np.frombuffer(b"".join(map(key_of, words)), "<u8")
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        rows = self._order[place].astype(np.int64)
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        good = (self._keys[place] == keys) & (rows < self.size)
        rows[~good] = 0
        begin = self._starts[rows].astype(np.int64)
        good &= self._starts[rows + 1] - begin == lengths
        # A key is a hash: the words themselves are compared, byte by byte, all at once.
        ends = np.cumsum(lengths * good)
        given = np.frombuffer(b"".join(word for word, kept in zip(words, good, strict=True) if kept), np.uint8)
        shift = np.repeat((begin - (ends - lengths))[good], lengths[good])
        wrong = np.flatnonzero(self._text[shift + np.arange(len(given))] != given)
        good[np.searchsorted(ends, wrong, side="right")] = False
        return np.where(good, rows, -1)

    def word(self, row: int) -> str:
        """The word of a row."""
        return self.words([row])[0]

    def words(self, rows: ArrayLike | None = None) -> list[str]:
        """The words of rows, in their order; of all rows if none are given."""
        chosen = np.arange(self.size) if rows is None else self._checked(rows)
        starts, ends, text = self._starts[chosen].tolist(), self._starts[chosen + 1].tolist(), self._text
        try:
            return [text[a:b].tobytes().decode() for a, b in zip(starts, ends, strict=True)]
        except UnicodeDecodeError:
            raise FileFormatError(f"{self.resource.name} has words that are no UTF-8 text; import it again.") from None

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and bool(self.rows([word])[0] >= 0)

    def __len__(self) -> int:
        return self.size

    # Vectors --------------------------------------------------------------------------------------------------------------

    @cached_property
    def norms(self) -> NDArray[np.int32]:
        """The squared norm of every row in code units; computed once, and checked to be at most 2^22."""
        found = np.empty(self.size, np.int32)
        for part in self.blocks():
            codes = self.codes[part].astype(np.int64)
            squares = np.einsum("ij,ij->i", codes, codes)
            if squares.max() > NORM_LIMIT:
                raise FileFormatError(f"{self.resource.name} has codes that are too large; import it again.")
            found[part] = squares
        found.flags.writeable = False
        return found

    def blocks(self, codes: int = BLOCK) -> Iterator[slice]:
        """The rows in slices of about ``codes`` codes."""
        height = max(1, codes // self.dimension)
        return (slice(start, min(start + height, self.size)) for start in range(0, self.size, height))

    def vectors(self, rows: ArrayLike | None = None) -> NDArray[np.float32]:
        """The vectors of rows, or of all rows; exact, because the step is a power of two."""
        chosen = self.codes if rows is None else self.codes[self._checked(rows)]
        return chosen.astype(np.float32) * np.float32(self.step)

    def squares(self, rows: ArrayLike, others: ArrayLike) -> NDArray[np.float32]:
        """Squared distances between ``rows`` and ``others`` in code units: a matrix of exact integers up to 2^24."""
        mine, theirs = self._checked(rows), self._checked(others)
        found = self.codes[mine].astype(np.float32) @ self.codes[theirs].astype(np.float32).T
        found *= -2
        found += self.norms[mine].astype(np.float32)[:, None]
        found += self.norms[theirs].astype(np.float32)
        return found

    def distances(self, rows: ArrayLike, others: ArrayLike) -> NDArray[np.float64]:
        """Distances between ``rows`` and ``others``: roots of exact integers, times the step."""
        found = np.sqrt(self.squares(rows, others).astype(np.float64))
        found *= self.step
        return found

    def _checked(self, rows: ArrayLike) -> NDArray[np.int64]:
        chosen = np.asarray(rows)
        if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
            raise ParameterError("rows of an embedding are a list of whole numbers.")
        if chosen.size and (chosen.min() < 0 or chosen.max() >= self.size):
            raise ParameterError(
                f"the embedding {self.name!r} has rows 0 to {self.size - 1}; a word outside its vocabulary has none."
            )
        return chosen.astype(np.int64)

    # What it is -----------------------------------------------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        return _unopened, (self.resource, self.size)

    def __getattr__(self, name: str) -> Any:
        """Open the file on first use in another process: only then is its path known."""
        if name not in _READ or "resource" not in vars(self):
            raise AttributeError(f"an Embedding has no {name!r}")
        Embedding.__init__(self, self.resource, vars(self)["_wanted"])
        return vars(self)[name]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Embedding):
            return NotImplemented
        return self.resource == other.resource and self.size == other.size

    def __hash__(self) -> int:
        return hash((self.resource, self.size))

    def __repr__(self) -> str:
        exponent = int(np.frexp(self.step)[1]) - 1
        return f"Embedding({self.name!r}, {self.size} words, {self.dimension} dimensions, step 2^{exponent})"


def _unopened(resource: Resource, size: int) -> Embedding:
    """The embedding of a pickle."""
    made = object.__new__(Embedding)
    vars(made).update(resource=resource, _wanted=size)
    return made


def _encoded(word: str) -> bytes:
    try:
        return word.encode()
    except UnicodeEncodeError:  # half of a surrogate pair: no file can hold it
        return b""
    except AttributeError:
        raise ParameterError("words are text.") from None


def _fetch(problem: ResourceError) -> str:
    hint = "noisewright embeddings get fetches one"
    text = str(problem)
    return text if hint in text else f"{text.rstrip('.')}; {hint}."


# Finding ------------------------------------------------------------------------------------------------------------------
#
# The small embedding that comes with Noisewright, and embeddings by name.


SMALL = "small"


def shipped() -> Embedding:
    """The small embedding that comes with Noisewright."""
    return Embedding.at(COMES_ALONG / f"{SMALL}{SUFFIX}")


def find_embedding(name: str | os.PathLike[str]) -> Embedding:
    """An embedding by its path, or by its name: ``small`` is the one that comes along, others lie in the user's data folder."""
    if os.path.lexists(name) or not isinstance(name, str):
        return Embedding.at(name)
    if name == SMALL:
        return shipped()
    fetched = data_folder() / f"{name}{SUFFIX}"
    return Embedding.at(fetched if fetched.name == f"{name}{SUFFIX}" and fetched.exists() else name)


# Measuring ----------------------------------------------------------------------------------------------------------------
#
# Summary of an embedding: lengths of vectors, and distances of words to the nearest other one.
#
# Compare an epsilon per unit of distance with the second. It is measured for a fixed, evenly spread sample of the words,
# each against all others, exactly.


QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SAMPLE = 1000


@dataclass(frozen=True)
class Summary:
    """Quantiles (``QUANTILES``) of norms and of distances to the nearest other word."""

    norms: tuple[float, ...]
    nearest: tuple[float, ...]
    sample: int
    """Number of words for which nearest distances were measured."""


def summary(embedding: Embedding, sample: int = SAMPLE) -> Summary:
    """Measure an embedding; a second or two for the largest."""
    norms = np.sqrt(embedding.norms.astype(float)) * embedding.step
    rows = np.unique(np.linspace(0, embedding.size - 1, min(sample, embedding.size)).astype(np.int64))
    best = np.full(len(rows), np.inf, np.float32)
    for part in embedding.blocks():
        others = np.arange(part.start, part.stop)
        squares = embedding.squares(rows, others)
        inside = np.flatnonzero((rows >= part.start) & (rows < part.stop))
        squares[inside, rows[inside] - part.start] = np.inf  # not the word itself
        np.minimum(best, squares.min(axis=1), out=best)
    nearest = np.sqrt(best.astype(float)) * embedding.step
    return Summary(_quantiles(norms), _quantiles(nearest[np.isfinite(nearest)]), len(rows))


def _quantiles(values: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(float(value) for value in np.quantile(values, QUANTILES)) if values.size else ()
