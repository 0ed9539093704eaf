"""Distance of two words: the Euclidean distance of their vectors in a public embedding.

>>> import numpy as np, pathlib, tempfile
>>> from noisewright.text import write_embedding
>>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.nwe")
>>> tiny = write_embedding(path, ["tea", "coffee"], np.array([[1, 0], [1, 0.5]]), licence="CC0-1.0")
>>> WordDistance(tiny).distance("tea", "coffee")
0.5
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright._utils.inputs import read_json
from noisewright.claims.phrases import base_name
from noisewright.exceptions import DataError, MetricError, MissingPartError, ParameterError
from noisewright.io.atomic import whole_file
from noisewright.io.serialization import map_array
from noisewright.metrics.base import Metric
from noisewright.resources import Resource
from noisewright.text.embedding import Embedding

__all__ = [
    "Tiles",
    "WordDistance",
    "WordIndex",
    "as_embedding",
    "cache_folder",
    "cores",
    "keep",
    "keep_sums",
    "kept",
    "kept_sums",
    "nearest",
    "on_all_cores",
    "rows_of",
    "single_products",
    "spelled",
    "strips",
    "two_nearest",
]


@dataclass(frozen=True)
class WordDistance(Metric):
    """The distance of two words of an embedding; its name has the first digits of the file's SHA-256."""

    embedding: Embedding

    @property
    def name(self) -> str:  # type: ignore[override]
        return base_name(self.record())

    def record(self) -> dict[str, Any]:
        return {"base": "words", "file": self.embedding.resource.sha256[:12]}

    def matrix(self, points: Sequence[Any]) -> Floats:
        """All distances between words."""
        if not all(isinstance(point, str) for point in points):
            raise MetricError("the distance of words is between words of an embedding.")
        rows = self.embedding.rows(points)
        if (rows < 0).any():
            raise MetricError(f"some words are not in the vocabulary of {self.embedding.name!r}.")
        return np.asarray(self.embedding.distances(rows, rows))


# Vocabulary ---------------------------------------------------------------------------------------------------------------
#
# Words in and out of a word mechanism: one word or many, as text or as rows of the embedding.


def as_embedding(given: Resource | Embedding, limit: int | None) -> Embedding:
    """The embedding that was given, as a file or as itself; with a ``limit``, its first words."""
    if not isinstance(given, (Embedding, Resource)):
        raise ParameterError(
            f"an embedding is given as Embedding.at(path), or as its Resource, not as {type(given).__name__}."
        )
    found = given if isinstance(given, Embedding) else Embedding(given)
    kept = found if limit is None else found.first(limit)
    if kept.size < 2:
        raise ParameterError("a vocabulary of one word hides nothing; keep at least 2 words.")
    return kept


def rows_of(embedding: Embedding, values: Any) -> tuple[NDArray[np.int64], tuple[int, ...] | None]:
    """The rows of words, in one dimension, and the shape that was given; None for a single word."""
    single = isinstance(values, (str, int, np.integer))
    given = np.asarray([values] if single else values, dtype=None if isinstance(values, np.ndarray) else object)
    flat = given.reshape(-1)
    if all(isinstance(value, str) for value in flat):
        rows = embedding.rows(flat.tolist())
    elif all(isinstance(value, (int, np.integer)) and not isinstance(value, bool) for value in flat):
        rows = flat.astype(np.int64)
    else:
        raise DataError(f"words of {embedding.name!r} are given as text, or as whole numbers of its rows.")
    if len(rows) and not (rows.min() >= 0 and rows.max() < embedding.size):
        raise DataError(f"a word is not in the vocabulary of {embedding.name!r}; drop or replace such words first.")
    return rows, None if single else given.shape


def spelled(embedding: Embedding, rows: NDArray[np.int64], shape: tuple[int, ...] | None) -> Any:
    """The words of rows, in the shape that was given."""
    words = embedding.words(rows)
    if shape is None:
        return words[0]
    result = np.empty(len(words), object)
    result[:] = words
    return result.reshape(shape)


# Threads ------------------------------------------------------------------------------------------------------------------
#
# Matrix products on one core each: side by side in threads of our own, or where waiting for a second core costs more.


def single_products() -> Any:
    """Products on one core each, while this lasts."""
    found = _libraries()
    return nullcontext() if found is None else found.limit(limits=1, user_api="blas")


@cache
def _libraries() -> Any:
    """The libraries of products that are loaded; looking for them takes longer than a small product."""
    import numpy as np  # noqa: F401  (its library is looked for)

    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:  # products then share cores among themselves; only slower
        return None
    return ThreadpoolController()


# Kept ---------------------------------------------------------------------------------------------------------------------
#
# Cached results about an embedding, in the user's cache folder by fingerprint: slopes, and sums of blocks.
#
# Everything here can be deleted; it is computed again. Files appear whole or not at all, and what cannot be read is not there.


FORMAT = 1
"""Version, raised when the meaning of cached results changes."""
LARGEST_NOTE = 1 << 20


def cache_folder() -> Path:
    """``$NOISEWRIGHT_CACHE``, or else ``$XDG_CACHE_HOME/noisewright/words``, which is usually ``~/.cache/noisewright/words``."""
    named = os.environ.get("NOISEWRIGHT_CACHE")
    if named:
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME")
    base = Path(cache) if cache and os.path.isabs(cache) else Path.home() / ".cache"
    return base / "noisewright" / "words"


def kept(embedding: Embedding, *about: object) -> dict[str, Any] | None:
    """Return the cached results about an embedding under these parameters, or None."""
    try:
        found = read_json(_place(embedding, about, ".json"), LARGEST_NOTE)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def keep(found: dict[str, Any], embedding: Embedding, *about: object) -> None:
    """Cache it; ignore a folder that cannot be written to."""
    _write(_place(embedding, about, ".json"), json.dumps(found).encode())


def kept_sums(embedding: Embedding, shape: tuple[int, int], *about: object) -> NDArray[np.uint64] | None:
    """Sums of blocks, mapped into memory, or None."""
    try:
        found = map_array(_place(embedding, about, ".npy"))
    except (OSError, ValueError):
        return None
    return found if found.shape == shape and found.dtype == np.uint64 else None


def keep_sums(sums: NDArray[np.uint64], embedding: Embedding, *about: object) -> None:
    """Remember the sums of blocks."""
    _write(_place(embedding, about, ".npy"), sums)


def _place(embedding: Embedding, about: tuple[object, ...], suffix: str) -> Path:
    told = "|".join(map(str, (FORMAT, embedding.resource.sha256, embedding.size, *about)))
    return cache_folder() / (hashlib.sha256(told.encode()).hexdigest()[:32] + suffix)


def _write(path: Path, content: bytes | NDArray[np.uint64]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            if isinstance(content, bytes):
                file.write(content)
            else:
                np.save(file, content, allow_pickle=False)
    except OSError:
        return


# Tiles --------------------------------------------------------------------------------------------------------------------
#
# Exact squared distances between words, tile by tile, on all cores.
#
# With one more coordinate for each squared norm a matrix product is ``|x|^2 + |y|^2 - 2 x.y`` itself. Its partial sums
# are integers
# below 2^24, so single precision has them exactly, in any order.


BLOCKS = 64
"""Approximate number of blocks of the vocabulary."""
LEAST = 256
"""Minimum number of words of a block."""
GROUP = 512
"""Maximum number of words multiplied with a block at once."""
STRIP = 1 << 15
"""Maximum number of values that stay in a core's fast memory while they are processed."""
ALONE = 1 << 20
"""A product of fewer numbers is not worth a second thread."""

Single = NDArray[np.float32]
Rows = NDArray[np.int64]
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Tiles:
    """The words of an embedding in blocks, as factors of products that are squared distances in code units."""

    def __init__(self, embedding: Embedding) -> None:
        self.embedding = embedding
        self.length = max(LEAST, -(-embedding.size // BLOCKS))
        self.count = -(-embedding.size // self.length)

    def block(self, number: int) -> slice:
        """The rows of a block."""
        return slice(number * self.length, min((number + 1) * self.length, self.embedding.size))

    def left(self, rows: Rows | slice) -> Single:
        """One row ``(x, 1, |x|^2)`` for each word."""
        codes = self.embedding.codes[rows]
        result = np.empty((len(codes), codes.shape[1] + 2), np.float32)
        result[:, :-2], result[:, -2], result[:, -1] = codes, 1, self.embedding.norms[rows]
        return result

    def right(self, number: int) -> Single:
        """One row ``(-2 y, |y|^2, 1)`` for each word of a block."""
        result = self.left(self.block(number))
        result[:, :-2] *= -2
        result[:, -2:] = result[:, :-3:-1]
        return result


def strips(rows: int, width: int, numbers: int = STRIP) -> Iterator[slice]:
    """Slices of the rows with about that number of values each."""
    height = max(1, numbers // max(width, 1))
    return (slice(start, min(start + height, rows)) for start in range(0, rows, height))


def cores() -> int:
    """Return the number of cores that may be used."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def on_all_cores(work: Callable[[_Item], _Result], items: Sequence[_Item], numbers: int) -> Iterable[_Result]:
    """``work`` on every item, in threads where there are many ``numbers`` altogether; the results in their order.

    NumPy lets go of the interpreter inside its loops and products, so threads run side by side, each with products of its own:
    on a busy machine that is much faster than one product on several cores, whose threads wait for each other.
    """
    threads = min(len(items), cores())
    if threads < 2 or numbers < ALONE:
        return [work(item) for item in items]
    with single_products(), ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, items))


# Decoding -----------------------------------------------------------------------------------------------------------------
#
# The nearest words of vectors: a product with every word, exactly the nearest except for the last bits of floats.
#
# With ``-|y|^2 / 2`` as one more coordinate the largest product belongs to the nearest word. Of words at the same distance the
# one in the lowest row is taken. Decoding sees the noisy vector and public words only, so it costs no privacy.


def nearest(embedding: Embedding, vectors: NDArray[np.floating]) -> Rows:
    """The row of the word that is nearest to each vector."""
    return _best(embedding, vectors, 1)[0][:, 0]


def two_nearest(embedding: Embedding, vectors: NDArray[np.floating]) -> tuple[Rows, NDArray[np.float64]]:
    """The rows of the two nearest words of each vector, and their distances."""
    rows, scores = _best(embedding, vectors, 2)
    lengths = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)[:, None]
    squares = lengths - 2 * scores.astype(np.float64) * embedding.step**2
    return rows, np.sqrt(np.maximum(squares, 0))


def _best(embedding: Embedding, vectors: NDArray[np.floating], most: int) -> tuple[Rows, Single]:
    """The rows with the largest scores, and these, the largest first."""
    tiles, count = Tiles(embedding), len(vectors)
    rows, scores = np.empty((count, most), np.int64), np.empty((count, most), np.float32)
    for start in range(0, count, GROUP):
        group = slice(start, start + GROUP)
        left = np.ones((len(vectors[group]), embedding.dimension + 1), np.float32)
        left[:, :-1] = vectors[group] / embedding.step

        def work(block: int, left: Single = left) -> tuple[Rows, Single]:
            place = tiles.block(block)
            words = np.empty((place.stop - place.start, embedding.dimension + 1), np.float32)
            words[:, :-1] = embedding.codes[place]
            words[:, -1] = embedding.norms[place] * np.float32(-0.5)
            return _top(left @ words.T, place.start, most)

        found = list(on_all_cores(work, range(tiles.count), len(left) * embedding.size))
        every, values = (np.concatenate(parts, axis=1) for parts in zip(*found, strict=True))
        order = np.argsort(-values, axis=1, kind="stable")[:, :most]  # blocks are in the order of rows
        rows[group], scores[group] = np.take_along_axis(every, order, 1), np.take_along_axis(values, order, 1)
    return rows, scores


def _top(products: Single, first: int, most: int) -> tuple[Rows, Single]:
    rows = np.empty((len(products), most), np.int64)
    scores = np.empty((len(products), most), np.float32)
    everyone = np.arange(len(products))
    for place in range(most):
        rows[:, place] = products.argmax(axis=1)
        scores[:, place] = products[everyone, rows[:, place]]
        if place + 1 < most:
            products[everyone, rows[:, place]] = -np.inf
    return rows + first, scores


# Indexed ------------------------------------------------------------------------------------------------------------------
#
# Nearest words by an index, for large vocabularies: vectors in four bits for each pair of coordinates, the best again in full.
#
# Decoding sees the noisy vector and public words only, so a word that is not quite the nearest costs no privacy: the
# guarantee is the same, and the law of the output is a little different. ``make bench`` has the share of words that
# agree with the nearest one, and the time. Needs faiss (the extra ``text``).


LOOKED_AT = 128
"""Number of candidate words compared exactly for each vector."""
TRAINED_ON = 20_000
TOGETHER = 64
"""Number of words compared approximately at a time: faster than the 32 that faiss takes."""
BLOCK = 1 << 14
SEED = 1


class WordIndex:
    """The words of an embedding by product quantisation (faiss)."""

    def __init__(self, embedding: Embedding, looked_at: int = LOOKED_AT) -> None:
        try:
            import faiss
        except ImportError:
            raise MissingPartError(
                "an index of words needs faiss; install noisewright[text], or use decoding='exact'."
            ) from None
        faiss.omp_set_num_threads(cores())
        parts = embedding.dimension // 2 if embedding.dimension % 2 == 0 else embedding.dimension
        library: Any = faiss  # its types do not cover a factory's result
        self._index = library.index_factory(embedding.dimension, f"PQ{parts}x4fs_{TOGETHER},Refine(SQfp16)")
        sample = np.random.default_rng(SEED).permutation(embedding.size)[:TRAINED_ON]
        self._index.train(embedding.vectors(sample))
        for start in range(0, embedding.size, BLOCK):
            self._index.add(embedding.vectors(np.arange(start, min(start + BLOCK, embedding.size))))
        self._index.k_factor = float(min(looked_at, embedding.size))

    def nearest(self, vectors: NDArray[np.floating]) -> Rows:
        """The row of a word that is nearest to each vector, or nearly."""
        return np.asarray(self._index.search(np.ascontiguousarray(vectors, np.float32), 1)[1][:, 0], np.int64)
