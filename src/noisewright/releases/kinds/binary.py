"""Bytes: as they are (``bytes``), and pictures (``image``), whose cells are the bytes of a file or the path of one.

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

import pyarrow as pa

from noisewright.core.errors import DataError, ParameterError
from noisewright.files.inputs import check_input, read_input
from noisewright.mechanisms.arrow import arrow_array, numpy_array
from noisewright.releases.kinds.kind import BLOCK_BYTES, Form, Kind, rows_of
from noisewright.releases.kinds.texts import is_text, plain_text

__all__ = ["BYTES", "IMAGE", "Bytes", "Image"]

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
