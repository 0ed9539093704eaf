r"""An embedding of one's own, from texts: positive pointwise mutual information and a singular value decomposition.

Count how often word ``j`` stands within ``window`` places of word ``i``, a pair that is ``k`` places apart as ``1/k``.
With ``p(i, j)`` the share of a pair, ``p(i)`` the share of a word and ``q(j)`` the share of a context, raised to the
power 3/4 and normalised, the matrix ``max(0, ln p(i, j) / (p(i) q(j)))`` says which words keep company. Its best
approximation of rank ``dimension`` is ``U S V'``; the vectors are the rows of ``U sqrt(S)``, scaled to a median norm
of 4, which is about that of GloVe, so that an epsilon per unit of distance means about the same. O. Levy, Y. Goldberg
and I. Dagan, "Improving distributional similarity with lessons learned from word embeddings", Transactions of the ACL
3 (2015).

The same texts give the same counts and the same matrix; the decomposition starts from a fixed vector, and its last bits depend
on the machine's libraries.

**The vectors say which words the texts use, and in which company.** Train on public texts; a file that is trained on secret ones
is as secret as they are.

>>> import pathlib, tempfile
>>> drinks = [f"she drank a cup of hot {drink} with milk" for drink in ("tea", "coffee", "cocoa")]
>>> ships = [f"the old {ship} sailed across the sea" for ship in ("ship", "boat", "schooner")]
>>> trained = train_embedding(drinks + ships, pathlib.Path(tempfile.mkdtemp(), "few.nwe"), dimension=2, least=1)
>>> few = trained.embedding
>>> near, far = few.distances(few.rows(["tea"]), few.rows(["coffee", "boat"]))[0]
>>> bool(near < far)
True
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import DataError, ParameterError
from noisewright.files.scratch import Spool
from noisewright.text.documents.tokenising import folded, tokens
from noisewright.text.embeddings.importing import Imported, Progress
from noisewright.text.embeddings.writing import EmbeddingWriter

__all__ = ["train_embedding"]

NORM = 4.0
SMOOTHING = 0.75
TOKENS = 1 << 19
"""Maximum number of tokens counted together."""


GAP = 50
"""No window reaches from one text into the next."""


def train_embedding(
    texts: Iterable[str],
    target: str | os.PathLike[str],
    *,
    words: int = 6000,
    dimension: int = 50,
    window: int = 5,
    least: int = 2,
    keep: Iterable[str] = (),
    name: str = "",
    licence: str = "",
    source: str = "",
    progress: Progress | None = None,
) -> Imported:
    """Train an embedding of the most frequent ``words`` of texts, and write it to ``target``.

    Words are folded as :func:`~noisewright.text.documents.folded` does; numbers and addresses are not words. A word
    stands in the texts at ``least`` times, or it is listed in ``keep`` and stands in them at all. ``progress`` is
    called with the number of are read.
    """
    _whole("words", words, 2, 1 << 20)
    _whole("dimension", dimension, 1, 1000)
    _whole("window", window, 1, GAP)
    _whole("least", least, 1, 1 << 30)
    spool = Spool()
    counts = _read_all(texts, spool.path, progress)
    kept = {folded(word) for word in keep} & counts.keys()
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    free = (word for word in ranked if counts[word] >= least and word not in kept)
    chosen = kept | {word for word, _ in zip(free, range(max(0, words - len(kept))), strict=False)}
    vocabulary = [word for word in ranked if word in chosen]
    if len(vocabulary) <= dimension:
        raise DataError(
            f"the texts have {len(vocabulary)} words that are frequent enough; {dimension} dimensions need more: give more text, "
            "or fewer dimensions."
        )
    vectors = _decomposed(_information(_company(vocabulary, list(counts), spool.path, window)), dimension)
    with EmbeddingWriter(target, dimension, name=name, licence=licence, source=source) as writer:
        writer.add(vocabulary, vectors)
    return Imported(writer.embedding, writer.rounding, "texts")


def _whole(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ParameterError(f"{name} is a whole number between {low} and {high}.")


def _read_all(texts: Iterable[str], path: str, progress: Progress | None) -> Counter[str]:
    """Return how often each word occurs, in the order of first appearance; the texts, as numbers of words, go to a file."""
    counts: Counter[str] = Counter()
    numbers: dict[str, int] = {}
    with open(path, "wb") as file:
        for done, text in enumerate(texts, 1):
            found = [folded(token.text) if token.kind == "word" else "" for token in tokens(text)]
            for word in found:
                if word:
                    numbers.setdefault(word, len(numbers))
            counts.update(word for word in found if word)
            ids = np.fromiter((numbers[word] if word else -1 for word in found), np.int32, len(found))
            file.write(np.append(ids, [-1] * GAP).astype("<i4").tobytes())
            if progress:
                progress(done, None)
    return Counter({word: counts[word] for word in numbers})


def _company(vocabulary: list[str], numbered: list[str], path: str, window: int) -> Any:
    """The matrix of weighted pairs."""
    from scipy.sparse import coo_array, csr_array

    size = len(vocabulary)
    row = {word: place for place, word in enumerate(vocabulary)}
    rows = np.array([row.get(word, -1) for word in numbered] + [-1], np.int64)  # the last: not a word
    total: Any = csr_array((size, size))
    before = np.full(window, -1, np.int64)
    with open(path, "rb") as file:
        while content := file.read(4 * TOKENS):
            block = np.concatenate([before, rows[np.frombuffer(content, "<i4")]])
            for apart in range(1, window + 1):
                left, right = block[window - apart : -apart], block[window:]
                good = (left >= 0) & (right >= 0)
                weights = np.full(int(good.sum()), 1 / apart)
                total = total + coo_array((weights, (left[good], right[good])), (size, size)).tocsr()
            before = block[-window:]
    return total + total.T


def _information(company: Any) -> Any:
    """Positive pointwise mutual information, in the places of the matrix."""
    from scipy.sparse import coo_array

    pairs = company.tocoo()
    share = company.sum(axis=1)
    context = share**SMOOTHING
    expected = share[pairs.row] * (context / context.sum())[pairs.col]
    values = np.maximum(np.log(pairs.data / expected), 0)
    return coo_array((values, (pairs.row, pairs.col)), pairs.shape).tocsr()


def _decomposed(matrix: Any, dimension: int) -> NDArray[np.float64]:
    from scipy.sparse.linalg import svds

    start = np.random.default_rng(0).standard_normal(matrix.shape[0])
    left, values, _ = svds(matrix, k=dimension, v0=start)
    left, values = left[:, ::-1], values[::-1]
    heaviest = left[np.abs(left).argmax(axis=0), np.arange(dimension)]
    vectors: NDArray[np.float64] = left * np.sign(heaviest) * np.sqrt(values)
    return vectors * (NORM / float(np.median(np.linalg.norm(vectors, axis=1))))
