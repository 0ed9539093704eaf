r"""A client: turns a profile into a noisy code where the profile is, so that no one else ever sees it.

It needs Python, NumPy and the public scheme of the service. Random bits come from the operating system, directly; large
batches of codes take them through AES, as releases do, where a cipher is installed.

>>> from noisewright.resources import Seed
>>> from noisewright.matching.scheme import Scheme
>>> client = Client(Scheme(dimension=3, bits=64, epsilon=1, seed=Seed.from_hex("00" * 32)))
>>> code = client.encode([5.0, 0.0, 3.0])
>>> code.shape, code.dtype.name
((8,), 'uint8')
>>> print(client.promise)  # doctest: +NORMALIZE_WHITESPACE
Whatever is sent, profiles whose hashes differ in k bits are told apart by a factor of at most e^(1 k), and
any two profiles by at most e^64.

**Every code costs.** Who sends n codes of one profile under one scheme can be distinguished n times as well. Send one,
and keep it.

>>> import numpy as np
>>> from noisewright.resources import Seed
>>> from noisewright.matching.service import Client
>>> from noisewright.matching.scheme import Scheme
>>> scheme = Scheme(dimension=3, bits=256, epsilon=3, seed=Seed.from_hex("00" * 32))
>>> client, server = Client(scheme), Server(scheme)
>>> server.add(["ann", "bob", "eve"], client.encode([[5, 0, 3], [4, 0, 3], [0, 5, 0]]))
>>> found = server.neighbours(["ann"], 1)
>>> found.names.tolist()
[['bob']]
>>> bool(found.low[0, 0] <= 0.034 <= found.high[0, 0])  # the angle between ann and bob, over pi
True

========================  ==================================================================================================
``.npy``                  an array with a row for each profile; names are the numbers of the rows, from 0 on
``.npz``                  a sparse matrix of SciPy (``scipy.sparse.save_npz`` of a CSR, CSC or COO matrix), named in the same
way
``.parquet``, ``.csv``    one column with names (the first if it holds texts, or the one that is named), and the numbers: a
                          column of lists, or all others
========================  ==================================================================================================

>>> import tempfile
>>> from pathlib import Path
>>> path = Path(tempfile.mkdtemp(), "films.csv")
>>> _ = path.write_text("user,alien,brazil,casablanca\nann,5,0,3\nbob,4,0,3\n")
>>> found = read_profiles(path)
>>> found.names, found.rows.tolist()
(['ann', 'bob'], [[5.0, 0.0, 3.0], [4.0, 0.0, 3.0]])
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright._utils.inputs import check_input, max_memory, open_archive
from noisewright.claims.readings import hashes
from noisewright.exceptions import FileFormatError, ParameterError
from noisewright.io.atomic import file_path, scratch_folder
from noisewright.io.serialization import map_array, read_array
from noisewright.matching.hash_functions import Codes, hamming
from noisewright.matching.nearest_neighbours import Debiased, Index, IndexKind, Neighbours, check_scheme, debiased
from noisewright.matching.scheme import DeviceBits, Scheme, flipped, read_codes
from noisewright.sampling.random_bits import Rng

__all__ = ["SUFFIXES", "Client", "Matches", "Profiles", "Server", "read_profiles"]


MANY = 1 << 16
"""Bytes of codes from which on it pays to load a cipher."""


@dataclass(frozen=True)
class Client:
    """Client for a person's device: ``encode(profile)`` under a public scheme."""

    scheme: Scheme

    def __post_init__(self) -> None:
        if not isinstance(self.scheme, Scheme):
            raise ParameterError(
                f"a client needs a public Scheme, not {type(self.scheme).__name__}; Client.at(path) reads one."
            )

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Client:
        """The client of the service whose public scheme is in this file."""
        return cls(Scheme.at(path))

    def encode(self, profiles: Any, rng: Rng = None) -> Codes:
        """The noisy code of a profile, or of each of many: bytes, a row for each.

        Every bit is a bit of the public hash, flipped with probability ``scheme.flip`` exactly, by a coin of its own.
        ``rng`` is for simulations alone.
        """
        single = self._single(profiles)
        hashed = self.scheme.hash([profiles] if single else profiles)
        noisy = flipped(hashed, self.scheme.bits, self.scheme.flip, _source(hashed.size) if rng is None else rng)
        return noisy[0] if single else noisy

    def _single(self, profiles: Any) -> bool:
        """Return whether this is one profile: numbers in one dimension, or items."""
        if self.scheme.dimension is not None:
            return not hasattr(profiles, "tocsr") and not isinstance(profiles, str) and _depth(profiles) == 1
        if isinstance(profiles, (set, frozenset)):
            return True
        return isinstance(profiles, (list, tuple)) and any(
            isinstance(item, (str, int, np.integer)) for item in profiles
        )

    @property
    def promise(self) -> str:
        """Guarantee for everything that is sent, now that the seed is known, in words."""
        return hashes(self.scheme.epsilon, self.scheme.bits)


def _source(size: int) -> Rng:
    """Return where the random bits of codes of a number of bytes come from."""
    try:
        fast = size >= MANY and find_spec("cryptography") is not None
    except ImportError:
        fast = False
    return None if fast else DeviceBits()


def _depth(profiles: Any) -> int:
    """1 for a row of numbers; rows of different lengths, and no rows at all, are more."""
    try:
        found = np.asarray(profiles)
    except ValueError:
        return 2
    return found.ndim if found.size else 2


# Server -------------------------------------------------------------------------------------------------------------------
#
# A server: holds the codes that people sent, and finds whose are nearest. It never sees a profile.


@dataclass(frozen=True)
class Matches:
    """Neighbours by name, nearest first, a row for each query; with estimates of their true distances."""

    names: NDArray[Any]
    """None where an approximate index found fewer."""
    differ: NDArray[np.int64]
    """Number of bits in which the noisy codes differ; -1 without a neighbour."""
    distance: Floats
    """The distance of the profiles, without the bias of the noise; NaN without a neighbour."""
    low: Floats
    high: Floats
    """The ends of an interval; the intervals of all searched codes hold simultaneously, so selection does not
    invalidate them.

    They are 0 and 1 under a family of hashes whose law only approximately follows the distance
    (``fast-projection``)."""
    confidence: float


class Server:
    """Codes by name under one public scheme."""

    def __init__(self, scheme: Scheme, *, kind: IndexKind = "flat") -> None:
        if not isinstance(scheme, Scheme):
            raise ParameterError(
                f"a server needs a public Scheme, not {type(scheme).__name__}; Server.at(path) reads one."
            )
        self.scheme = scheme
        self.index = Index(scheme.fingerprint, scheme.bits, kind=kind)

    @classmethod
    def at(
        cls, path: str | os.PathLike[str], index: str | os.PathLike[str] | None = None, *, kind: IndexKind = "flat"
    ) -> Server:
        """The server of the service whose public scheme is in this file, with the codes of an index file if there is one."""
        server = cls(Scheme.at(path), kind=kind)
        if index is not None:
            server.add_file(index)
        return server

    def __len__(self) -> int:
        return len(self.index)

    def add(self, names: Sequence[str], codes: object) -> None:
        """Take the codes of new people."""
        self.index.add(names, codes)

    def add_file(self, path: str | os.PathLike[str]) -> int:
        """Take the codes of a file that a client or a server wrote; how many there were."""
        found = read_codes(path)
        check_scheme(found, self.scheme.fingerprint, Path(path).name, self.scheme.bits)
        self.index.add(found.names, found.codes)
        return len(found.names)

    def remove(self, names: Sequence[str]) -> None:
        """Forget people."""
        self.index.remove(names)

    def save(self, path: str | os.PathLike[str]) -> str:
        """Write the index to a file, whole or not at all; its SHA-256."""
        return self.index.save(path)

    def search(
        self, codes: object, neighbours: int, *, confidence: float = 0.95, rng: np.random.Generator | None = None
    ) -> Matches:
        """Whose codes are nearest to each of these."""
        return self._matches(self.index.search(codes, neighbours, rng=rng), confidence, len(self))

    def neighbours(
        self, names: Sequence[str], neighbours: int, *, confidence: float = 0.95, rng: np.random.Generator | None = None
    ) -> Matches:
        """Whose codes are nearest to those of these people, they themselves left out."""
        return self._matches(self.index.neighbours(names, neighbours, rng=rng), confidence, max(1, len(self) - 1))

    def distance(self, one: str, other: str, *, confidence: float = 0.95) -> Debiased:
        """Return how far apart the profiles of two people are, who were named without a look at the codes."""
        return self._known(hamming(*self.index.codes([one, other])), confidence, 1)

    def _matches(self, found: Neighbours, confidence: float, among: int) -> Matches:
        there = found.differ >= 0
        known = self._known(np.where(there, found.differ, 0), confidence, among)
        distance, low, high = (np.where(there, part, np.nan) for part in (known.distance, known.low, known.high))
        return Matches(found.names, found.differ, distance, low, high, known.confidence)

    def _known(self, differ: NDArray[np.int64], confidence: float, among: int) -> Debiased:
        """Return the estimate for profiles whose codes differ in the given numbers of bits, in the distance of the family."""
        given = {"bits": self.scheme.bits, "flip": float(self.scheme.flip), "share": float(self.scheme.words.share)}
        found = debiased(differ, **given, confidence=confidence, among=among)  # type: ignore[arg-type]
        if self.scheme.words.exact:
            return found
        return replace(found, low=np.zeros_like(found.low), high=np.ones_like(found.high))  # no theorem, no interval


# Profiles -----------------------------------------------------------------------------------------------------------------
#
# Profiles in files: rows of numbers, or sets of items, with a name each, as arrays, sparse matrices and tables have them.


SUFFIXES = (".npy", ".npz", ".parquet", ".csv")
PARTS = ("format.npy", "shape.npy", "data.npy", "indices.npy", "indptr.npy", "row.npy", "col.npy")
VALUE = 24
"""Approximate bytes of memory for a number of a table, which is read and then copied."""
NAME = 64
"""Approximate bytes of memory for the name of a row."""


@dataclass(frozen=True)
class Profiles:
    """Rows of numbers, an array or a sparse matrix, or lists of items; and a name for each."""

    names: Sequence[str]
    rows: Any

    def __len__(self) -> int:
        return len(self.names)


def read_profiles(path: str | os.PathLike[str], *, names: str | None = None) -> Profiles:
    """The profiles in a file; ``names`` is the column of a table that holds names."""
    place = file_path(path)
    suffix = place.suffix.lower()
    if suffix not in SUFFIXES:
        raise FileFormatError(f"{place}: profiles are read from {', '.join(SUFFIXES)} files.")
    if names is not None and suffix in (".npy", ".npz"):
        raise FileFormatError(
            f"{place.name} has no columns with names; its rows are named by their numbers, from 0 on."
        )
    try:
        check_input(place)
        if suffix in (".npy", ".npz"):
            return _array(place)
        return _table(place, names)
    except OSError as problem:
        raise FileFormatError(f"{place} cannot be read: {problem.strerror or 'it is no such file'}.") from None


def _array(place: Path) -> Profiles:
    problem = FileFormatError(
        f"{place.name} holds no rows of numbers; save an array of two dimensions, or a sparse matrix."
    )
    try:
        rows: Any = _sparse(place) if place.suffix.lower() == ".npz" else map_array(place)
    except (
        ValueError,
        TypeError,
        LookupError,
        EOFError,
        RuntimeError,
        NotImplementedError,
        zipfile.BadZipFile,
        zlib.error,
    ):
        raise problem from None
    if rows.ndim != 2 or rows.dtype.kind not in "fiub" or not all(rows.shape):
        raise problem
    if NAME * rows.shape[0] > max_memory(place.stat().st_size):
        raise FileFormatError(f"{place.name} has more rows than can have a name each; save longer rows, or a table.")
    return Profiles([str(number) for number in range(rows.shape[0])], rows)


def _sparse(place: Path) -> Any:
    """Read what ``scipy.sparse.save_npz`` writes of a matrix by rows, by columns or by entries."""
    from scipy import sparse

    most = max_memory(place.stat().st_size)
    with open_archive(place, most) as archive:
        arrays = {}
        for name in archive.namelist():
            if name in PARTS:
                with archive.open(name) as member:
                    arrays[name.removesuffix(".npy")] = read_array(member, most)
    kind, shape = arrays["format"].item(), tuple(arrays["shape"].tolist())
    if len(shape) != 2 or not all(type(side) is int and 0 < 8 * side < most for side in shape):
        raise ValueError("the matrix says that it is larger than its file can be")
    if kind == b"coo":
        found: Any = sparse.coo_array((arrays["data"], (arrays["row"], arrays["col"])), shape)
    else:
        make = {b"csr": sparse.csr_array, b"csc": sparse.csc_array}[kind]
        found = make((arrays["data"], arrays["indices"], arrays["indptr"]), shape)
        found.check_format(full_check=True)  # a file may name columns that are not there
    found = found.tocsr()
    found.sum_duplicates()
    return found


def _table(place: Path, names: str | None) -> Profiles:
    import pyarrow as pa

    try:
        if place.suffix.lower() == ".csv":
            from pyarrow.csv import read_csv

            table = read_csv(place)
        else:
            table = _parquet(place)
        for name in table.column_names:
            name.encode()
    except (pa.ArrowException, UnicodeError):
        raise FileFormatError(f"{place.name} is not the table that its name says, or is cut short.") from None
    if len(set(table.column_names)) < len(table.column_names):
        raise FileFormatError(f"{place.name} has two columns of one name; give every column its own.")
    if names is not None and names not in table.column_names:
        raise FileFormatError(
            f"{place.name} has no column {names!r} for names; its columns are {', '.join(table.column_names)}."
        )
    if names is None and not (table.num_columns and _is_text(table.schema.types[0])):
        # What is a number may belong to the profile, and names are sent in the clear.
        raise FileFormatError(
            f"{place.name}: the first column holds no texts, and names are sent in the clear; say which column holds the names "
            "(--names), or add one."
        )
    chosen = table.column_names[0] if names is None else names
    others = [name for name in table.column_names if name != chosen]
    spelled = table[chosen]
    if spelled.null_count:
        raise FileFormatError(f"{place.name}: a name is missing in the column {chosen!r}; every profile has one.")
    try:
        called = spelled.cast(pa.string()).to_pylist()
    except pa.ArrowException:
        raise FileFormatError(
            f"{place.name}: the column {chosen!r} holds no names; they are texts (UTF-8) or numbers."
        ) from None
    return Profiles(called, _numbers(table, others, place.name))


def _parquet(place: Path) -> Any:
    """Read a Parquet file whose columns hold no more than its size allows, before and after repeated texts are written out."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow.parquet import ParquetFile

    most = max_memory(place.stat().st_size)
    wrong = FileFormatError(f"{place.name} unpacks to far more than its size; save the table without compression.")
    with ParquetFile(place) as file:
        texts = [one.name for one in file.schema_arrow if _is_text(one.type)]
        columns = file.metadata.num_columns
    if columns and any(found > most for found in _stated(place)):
        raise wrong
    with ParquetFile(place, read_dictionary=texts) as file:
        table = file.read()
    for name in texts:
        chunks = [chunk for chunk in table[name].chunks if pa.types.is_dictionary(chunk.type)]
        lengths = (pc.sum(pc.take(pc.binary_length(chunk.dictionary), chunk.indices)).as_py() or 0 for chunk in chunks)
        if sum(lengths) > most:
            raise wrong
    return table


def _stated(place: Path) -> tuple[int, int]:
    """Return the memory that the values of a Parquet file take, and the bytes of its pages, as the file states them.

    DuckDB reads it, since pyarrow ends the process where this part of a file is damaged.
    """
    import duckdb
    import pyarrow as pa

    with scratch_folder() as folder:
        link = os.path.join(folder, "profiles.parquet")  # a plain name: DuckDB takes some signs for a pattern
        os.symlink(place.absolute(), link)
        try:
            asked = "SELECT sum(num_values), sum(total_uncompressed_size) FROM parquet_metadata($1)"
            with duckdb.connect(config={"threads": 1, "memory_limit": "100MB"}) as duck:
                ((values, size),) = duck.execute(asked, [link]).fetchall()
        except (duckdb.Error, UnicodeError):
            raise pa.ArrowInvalid("the file is damaged") from None
    return VALUE * int(values or 0), int(size or 0)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    spelled = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(spelled) or pa.types.is_large_string(spelled))


def _numbers(table: Any, columns: list[str], called: str) -> Any:
    import pyarrow as pa

    wanted = f"{called}: beside the names there is one column of lists of numbers, of one length, or there are columns of numbers"
    kinds = [table.schema.field(name).type for name in columns]
    lists = [pa.types.is_list(k) or pa.types.is_fixed_size_list(k) or pa.types.is_large_list(k) for k in kinds]
    if not columns or (any(lists) and len(columns) > 1):
        raise FileFormatError(f"{wanted}.")
    if any(table[name].null_count for name in columns):
        raise FileFormatError(f"{called}: a number is missing; fill it in, or leave the profile out.")
    if lists[0]:
        column = table[columns[0]].combine_chunks()
        flat = column.flatten()
        length = len(flat) // len(column) if len(column) else 0
        even = len(column) == 0 or set(_lengths(column)) == {length}
        if pa.types.is_string(flat.type) and not flat.null_count:
            return column.to_pylist()  # sets of items
        if not even or flat.null_count or not (pa.types.is_floating(flat.type) or pa.types.is_integer(flat.type)):
            raise FileFormatError(f"{wanted}.")
        return flat.to_numpy(zero_copy_only=False).reshape(len(column), length)
    if not all(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind) for kind in kinds):
        raise FileFormatError(f"{wanted}.")
    return np.stack([table[name].to_numpy().astype(np.float64) for name in columns], axis=1)


def _lengths(column: Any) -> list[int]:
    import pyarrow.compute as pc

    return [int(length) for length in pc.unique(pc.list_value_length(column)).to_pylist()]
