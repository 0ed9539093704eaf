"""Text: values of a set (``text``), and free text (``document``); since both have one type, a policy or a mechanism says which.

>>> TEXT.read(pa.array(["yes", "no"])).tolist(), TEXT.output_type(pa.dictionary(pa.int8(), pa.large_string()))
(['yes', 'no'], DataType(string))
>>> DOCUMENT.holds(pa.string()), DOCUMENT.labels
(True, False)

How many numbers a vector has is declared: by the type (a fixed-size list), or by the mechanism (its ``dimension``). It is
never
read off the rows; one that is longer or shorter refuses the whole column, without saying which it was. A vector in
which a number is missing is missing.

>>> pairs = pa.array([[1.0, 2.0], [3.0, 4.5]], pa.list_(pa.float32()))
>>> VECTOR.read(pairs, size=2).tolist()
[[1.0, 2.0], [3.0, 4.5]]
>>> VECTOR.write(np.array([[0.5, 1e60]]), pairs.type).type == pairs.type
True
>>> VECTOR.read(pairs, size=3)
Traceback (most recent call last):
noisewright.exceptions.DataError: a vector does not have the declared 3 numbers; correct the data, or the dimension.

A path is one below the folder that the policy names: it is refused if it is absolute, climbs with ``..``, or leads out of the
folder by a link. What is in the bytes (which format, how large a picture) is for the mechanism to say.

>>> BYTES.read(pa.array([b"ab", b""], pa.large_binary())).tolist()
[b'ab', b'']
>>> IMAGE.holds(pa.binary()), IMAGE.holds(pa.string()), IMAGE.output_type(pa.string())
(True, True, DataType(binary))
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np
import pyarrow as pa

from noisewright._typing import Floats
from noisewright._utils.inputs import check_input, read_input
from noisewright.columns.arrow import Mask, all_true, arrow_array, arrow_scalar, numpy_array, pc
from noisewright.columns.column_type import BLOCK_BYTES, Form, Kind, rows_of
from noisewright.columns.scalars import INTEGER, NUMBER
from noisewright.exceptions import DataError, ParameterError

__all__ = [
    "BYTES",
    "DOCUMENT",
    "IMAGE",
    "TEXT",
    "VECTOR",
    "Bytes",
    "Document",
    "Image",
    "Text",
    "Vector",
    "is_text",
    "plain_text",
]


DOCUMENT_BYTES = 2048
"""Assumed size of a document when rows are cut into blocks."""


@dataclass(frozen=True)
class Text(Kind):
    """Text, also with a dictionary; the output is plain utf8."""

    def holds(self, type_: pa.DataType) -> bool:
        """Text of any width; also in a dictionary."""
        return is_text(type_.value_type if pa.types.is_dictionary(type_) else type_)

    def output_type(self, type_: pa.DataType) -> pa.DataType:
        """Plain utf8."""
        return pa.string()

    def read(self, array: pa.Array, form: Form = "numpy", size: int | None = None) -> Any:
        """The text itself; in Arrow also with its dictionary."""
        return array if form == "arrow" else numpy_array(plain_text(array))

    def write(self, values: Any, type_: pa.DataType) -> pa.Array:
        """The text itself, also with its dictionary."""
        if isinstance(values, pa.DictionaryArray) and values.type.value_type == type_:
            return values
        return self.as_written(plain_text(values) if isinstance(values, pa.Array) else values, type_)

    def scalar(self, value: Any, type_: pa.DataType) -> pa.Scalar:
        """A text."""
        if isinstance(value, str):
            return arrow_scalar(value, pa.string())
        raise self.unfit(type_)

    def fits(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Every cell is text."""
        return True

    def fits_json(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Return whether every value is in quotes."""
        return all_true(pc.starts_with(cells, '"'))

    def sql_type(self, type_: pa.DataType, dialect: str = "duckdb") -> str | None:
        """Text of any length."""
        return "VARCHAR" if dialect == "duckdb" else "STRING"


@dataclass(frozen=True)
class Document(Kind):
    """Free text: pages, messages, answers to open questions."""

    def holds(self, type_: pa.DataType) -> bool:
        """Text of any width; also in a dictionary."""
        return TEXT.holds(type_)

    def output_type(self, type_: pa.DataType) -> pa.DataType:
        """Plain utf8."""
        return pa.string()

    def block_rows(self, type_: pa.DataType, size: int | None = None) -> int:
        """Few: a document is long."""
        return rows_of(DOCUMENT_BYTES)

    def read(self, array: pa.Array, form: Form = "numpy", size: int | None = None) -> Any:
        """Plain utf8."""
        plain = plain_text(array)
        return plain if form == "arrow" else numpy_array(plain)

    def write(self, values: Any, type_: pa.DataType) -> pa.Array:
        """The text itself."""
        return self.as_written(plain_text(values) if isinstance(values, pa.Array) else values, type_)

    def distinct(self, array: pa.Array) -> pa.Array:
        """All of them: hardly one occurs twice."""
        return array

    def scalar(self, value: Any, type_: pa.DataType) -> pa.Scalar:
        """A text."""
        return TEXT.scalar(value, type_)

    def fits(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Every cell is text."""
        return True

    def fits_json(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Return whether every value is in quotes."""
        return TEXT.fits_json(cells, type_)

    def sql_type(self, type_: pa.DataType, dialect: str = "duckdb") -> str | None:
        """Text of any length."""
        return TEXT.sql_type(type_, dialect)


def is_text(type_: pa.DataType) -> bool:
    """Return whether an Arrow type is one of text."""
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_))


def plain_text(array: pa.Array) -> pa.Array:
    """A column of text as plain utf8; any other column as it is, written out."""
    if isinstance(array, pa.DictionaryArray):
        array = array.dictionary_decode()
    return array.cast(pa.string()) if is_text(array.type) and array.type != pa.string() else array


TEXT = Text(
    "text",
    "text",
    "text",
    pa.string(),
    wider="integer",
    castable=frozenset({"integer", "number", "date"}),
    chart="categories",
)
DOCUMENT = Document("document", "documents", "text", pa.string(), castable=TEXT.castable, labels=False)


# Vectors ------------------------------------------------------------------------------------------------------------------
#
# Vectors: lists of numbers, all of one length.


FLOAT_BYTES = 8
UNDECLARED = BLOCK_BYTES // 1024
"""Assumed length of a vector whose length is not declared, because it is kept as it is."""


@dataclass(frozen=True)
class Vector(Kind):
    """Rows of numbers."""

    def holds(self, type_: pa.DataType) -> bool:
        """Lists of integers or floats, with or without a fixed size."""
        listed = pa.types.is_list(type_) or pa.types.is_large_list(type_) or pa.types.is_fixed_size_list(type_)
        if not listed or pa.types.is_dictionary(type_.value_type):
            return False
        return bool(pa.types.is_integer(type_.value_type) or pa.types.is_floating(type_.value_type))

    def size(self, type_: pa.DataType) -> int | None:
        """The fixed size of a list; None where its type has none."""
        return int(type_.list_size) if pa.types.is_fixed_size_list(type_) else None

    def in_words(self, type_: pa.DataType) -> str:
        """Describe the number of numbers in each, where the type states it."""
        size = self.size(type_)
        return self.words if size is None else f"vectors of {size} numbers"

    def block_rows(self, type_: pa.DataType, size: int | None = None) -> int:
        """Return the number of rows by the declared length; engines do not agree on a size in the type, so that alone
        does not count.
        """
        return rows_of(UNDECLARED if size is None else FLOAT_BYTES * size)

    def present(self, array: pa.Array) -> Mask | None:
        """Return a mask of the vectors with all numbers."""
        numbers = _numbers(array)
        holed = NUMBER.present(numbers) if pa.types.is_floating(numbers.type) else INTEGER.present(numbers)
        whole = super().present(array)
        if holed is None:
            return whole
        rows = np.repeat(np.arange(len(array)), _lengths(array))
        mask: Mask = np.bincount(rows[~holed], minlength=len(array)) == 0
        return mask if whole is None else mask & whole

    def read(self, array: pa.Array, form: Form = "numpy", size: int | None = None) -> Any:
        """A row of 64-bit floats for each vector, exactly; in Arrow, fixed-size lists of them."""
        wanted = self.size(array.type) if size is None else size
        if wanted is None:
            raise DataError("how many numbers a vector has is not declared; say dimension = ....")
        if (_lengths(array) != wanted).any():
            raise DataError(
                f"a vector does not have the declared {wanted} numbers; correct the data, or the dimension."
            )
        numbers = _numbers(array)
        try:
            flat = numbers if pa.types.is_floating(numbers.type) else numbers.cast(pa.float64())
        except pa.ArrowException:
            raise DataError("a number of a vector is beyond 2^53; rescale the column.") from None
        rows: Floats = NUMBER.read(flat).reshape(len(array), wanted)
        return rows if form == "numpy" else self.write(rows, pa.list_(pa.float64(), wanted))

    def write(self, values: Any, type_: pa.DataType) -> pa.Array:
        """Round each number to a value that the type can hold, and move it to its range."""
        mask = None
        if isinstance(values, pa.Array):
            if not self.holds(values.type):
                return self.as_written(values, type_)
            mask = None if not values.null_count else values.is_null()
            lengths, flat = _lengths(values), _numbers(values)
            drawn = numpy_array(flat)
        else:
            table = np.asarray(values)
            if table.ndim != 2:
                raise DataError("the mechanism does not give one vector for each; use it on its own, not for a column.")
            lengths, drawn = np.full(len(table), table.shape[1]), table.ravel()
        inner = type_.value_type
        numbers = (NUMBER if pa.types.is_floating(inner) else INTEGER).write(drawn, inner)
        fixed = self.size(type_)
        if fixed is not None:
            if (lengths != fixed).any():
                raise DataError(
                    "the mechanism gives vectors of another length than the column has; convert the column."
                )
            return pa.FixedSizeListArray.from_arrays(numbers, type=type_, mask=mask)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        large = pa.types.is_large_list(type_)
        made = pa.LargeListArray if large else pa.ListArray
        return made.from_arrays(
            arrow_array(offsets, pa.int64() if large else pa.int32()), numbers, type=type_, mask=mask
        )

    def distinct(self, array: pa.Array) -> pa.Array:
        """All of them: vectors hardly ever occur twice."""
        return array


def _numbers(array: pa.Array) -> pa.Array:
    """All numbers of all vectors that are there, one after the other."""
    return array.flatten()


def _lengths(array: pa.Array) -> np.ndarray[Any, Any]:
    """Return the number of numbers in each vector; none where it is missing."""
    found = pc.fill_null(pc.list_value_length(array), 0)
    return np.asarray(numpy_array(found), dtype=np.int64)


VECTOR = Vector("vector", "vectors", "a vector", pa.list_(pa.float64()), typeless=False, labels=False)


# Binary -------------------------------------------------------------------------------------------------------------------
#
# Bytes: as they are (``bytes``), and pictures (``image``), whose cells are the bytes of a file or the path of one.


CELL_BYTES = BLOCK_BYTES // 4096
PICTURE_BYTES = BLOCK_BYTES // 32
"""Assumed size of a cell whose type does not state it: no size is read off the data."""

LARGEST_FILE = 256 << 20
"""Maximum size of a file in bytes; a larger one is not read, because it is not a picture."""


@dataclass(frozen=True)
class Bytes(Kind):
    """Bytes of any length, or of a fixed one."""

    def holds(self, type_: pa.DataType) -> bool:
        """Binary of any width; also in a dictionary."""
        return _is_binary(self.output_type(type_))

    def block_rows(self, type_: pa.DataType, size: int | None = None) -> int:
        """Return the number of rows by the fixed length, where one exists."""
        plain = self.output_type(type_)
        return rows_of(plain.byte_width if pa.types.is_fixed_size_binary(plain) else CELL_BYTES)

    def read(self, array: pa.Array, form: Form = "numpy", size: int | None = None) -> Any:
        """The same bytes."""
        return array if form == "arrow" else numpy_array(array)

    def write(self, values: Any, type_: pa.DataType) -> pa.Array:
        """The same bytes."""
        if isinstance(values, pa.Array) and _is_binary(values.type):
            return values.cast(type_)
        return self.as_written(values if isinstance(values, pa.Array) else list(values), type_)

    def distinct(self, array: pa.Array) -> pa.Array:
        """All of them."""
        return array


@dataclass(frozen=True)
class Image(Kind):
    """Pictures: the bytes of files, or paths of files below ``folder``. What comes out are bytes."""

    folder: str | None = None
    """Folder that paths are relative to; the policy names it. None: cells are bytes."""

    def holds(self, type_: pa.DataType) -> bool:
        """Binary of any width, or text; also in a dictionary."""
        plain = type_.value_type if pa.types.is_dictionary(type_) else type_
        return _is_binary(plain) or is_text(plain)

    def output_type(self, type_: pa.DataType) -> pa.DataType:
        """Bytes, wherever the pictures came from."""
        plain = type_.value_type if pa.types.is_dictionary(type_) else type_
        return plain if pa.types.is_large_binary(plain) else pa.binary()

    def size(self, type_: pa.DataType) -> int | None:
        """None: how many values the pixels of a picture have is for the mechanism to say."""
        return None

    def block_rows(self, type_: pa.DataType, size: int | None = None) -> int:
        """As many as there is space for pixels; few where a mechanism does not say how many pixels a picture has."""
        return rows_of(PICTURE_BYTES if size is None else max(size, CELL_BYTES))

    def under(self, folder: str) -> Image:
        """The same kind with paths below a folder, which must be there."""
        if not os.path.isdir(folder):
            raise ParameterError("the folder of the pictures is not there; correct its name in the policy.")
        return replace(self, folder=folder)

    def read(self, array: pa.Array, form: Form = "numpy", size: int | None = None) -> Any:
        """The bytes of every picture."""
        cells = plain_text(array)
        if is_text(cells.type):
            cells = arrow_array([self._file(path) for path in cells.to_pylist()], pa.large_binary())
        return cells if form == "arrow" else numpy_array(cells)

    def write(self, values: Any, type_: pa.DataType) -> pa.Array:
        """The bytes of every picture."""
        return BYTES.write(values, type_)

    def distinct(self, array: pa.Array) -> pa.Array:
        """All of them."""
        return array

    def fits(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Every cell can be a path."""
        return True

    def sql_type(self, type_: pa.DataType, dialect: str = "duckdb") -> str | None:
        """None: nothing is computed from pictures."""
        return None

    def named(self, array: pa.Array) -> list[Path | None] | None:
        """The files below the folder, where cells are paths; None for one that :meth:`read` refuses."""
        cells = plain_text(array)
        return [self._named(path) for path in cells.to_pylist()] if is_text(cells.type) else None

    def _named(self, path: str | None) -> Path | None:
        try:
            return None if path is None else self._place(path)
        except DataError:
            return None

    def _file(self, path: str) -> bytes:
        """The bytes of one file below the folder; no message shows its name."""
        try:
            return read_input(self._place(path), LARGEST_FILE)
        except OSError:
            raise DataError("a file of a picture cannot be read; correct the data, or the folder.") from None

    def _place(self, path: str) -> Path:
        """Return the place of one file below the folder."""
        if self.folder is None:
            raise DataError(
                "the pictures are paths of files, and the policy names no folder for them; say folder = ...."
            )
        windows = PureWindowsPath(path)
        if windows.is_absolute() or windows.drive or PurePosixPath(path).is_absolute() or ".." in windows.parts:
            raise DataError("a path of a picture leaves its folder; write paths below the folder, without '..'.")
        root = Path(self.folder).resolve()
        try:
            found = (root / path).resolve(strict=True)
            if not found.is_relative_to(root):
                raise DataError("a path of a picture leaves its folder by a link; put the file itself there.")
            if not found.is_file():
                raise DataError("a path of a picture is no file; correct the data, or the folder.")
            check_input(found, LARGEST_FILE)
            return found
        except DataError:
            raise
        except OSError as problem:
            if problem.errno == errno.EFBIG:
                raise DataError(
                    f"a file is larger than {LARGEST_FILE >> 20} MB, which no picture is; leave it out."
                ) from None
            raise DataError("a file of a picture cannot be read; correct the data, or the folder.") from None
        except (ValueError, RuntimeError):
            raise DataError("a file of a picture cannot be read; correct the data, or the folder.") from None


def _is_binary(type_: pa.DataType) -> bool:
    return bool(
        pa.types.is_binary(type_)
        or pa.types.is_large_binary(type_)
        or pa.types.is_fixed_size_binary(type_)
        or pa.types.is_binary_view(type_)
    )


BYTES = Bytes("bytes", "bytes", "bytes", pa.binary(), typeless=False, labels=False)
IMAGE = Image("image", "pictures", "the path of a picture", pa.string(), labels=False, files=True)
