"""Profiles in files: rows of numbers, or sets of items, with a name each, as arrays, sparse matrices and tables have them.

========================  ==================================================================================================
``.npy``                  an array with a row for each profile; names are the numbers of the rows, from 0 on
``.npz``                  a sparse matrix of SciPy (``scipy.sparse.save_npz`` of a CSR, CSC or COO matrix), named in the same way
``.parquet``, ``.csv``    one column with names (the first if it holds texts, or the one that is named), and the numbers: a
                          column of lists, or all others
========================  ==================================================================================================

>>> import tempfile
>>> from pathlib import Path
>>> path = Path(tempfile.mkdtemp(), "films.csv")
>>> _ = path.write_text("user,alien,brazil,casablanca\\nann,5,0,3\\nbob,4,0,3\\n")
>>> found = read_profiles(path)
>>> found.names, found.rows.tolist()
(['ann', 'bob'], [[5.0, 0.0, 3.0], [4.0, 0.0, 3.0]])
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from noisewright.core.errors import FileFormatError
from noisewright.files.arrays import map_array, read_array
from noisewright.files.atomic import file_path
from noisewright.files.inputs import check_input, max_memory, open_archive
from noisewright.files.scratch import scratch_folder

__all__ = ["SUFFIXES", "Profiles", "read_profiles"]

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
