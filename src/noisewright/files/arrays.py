"""Read arrays in the ``.npy`` format without NumPy's reader: a header of plain numbers, and as many bytes as it states.

NumPy's own reader evaluates the header as Python, believes its shape before it has seen the numbers, and can unpickle. Here the
type is one of integers, floats, booleans or a few letters, and an array longer or shorter than its file is rejected
before memory is spent. Problems are :class:`ValueError`, which readers word.

>>> import io
>>> file = io.BytesIO()
>>> np.save(file, np.eye(2))
>>> _ = file.seek(0)
>>> read_header(file)
Header(shape=(2, 2), dtype=dtype('float64'), by_columns=False)
"""

from __future__ import annotations

import math
import os
import re
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisewright.files.inputs import open_input

__all__ = ["Header", "map_array", "read_array", "read_header"]

MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 1 << 14
MAX_SIDES = 8
MAX_SIDE = 1 << 40
KEYS = {
    "descr": r"'([<>|=]?[fiub][1-8]|[|]S[1-9])'",
    "fortran_order": "(True|False)",
    "shape": r"\(((?:\d{1,15}L?, ?)*(?:\d{1,15}L?)?)\)",
}


class Header(NamedTuple):
    """The header of an array: shape, type and order of its numbers."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    by_columns: bool

    @property
    def size(self) -> int:
        """Number of bytes of the array."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(stream: IO[bytes]) -> Header:
    """Read the header of an array, so that its numbers come next in the stream."""
    begin = stream.read(len(MAGIC) + 2)
    if begin[:-2] != MAGIC or begin[-2] not in (1, 2, 3):
        raise ValueError("this is not an array of NumPy")
    width = 2 if begin[-2] == 1 else 4
    length = int.from_bytes(stream.read(width), "little")
    if length > LONGEST_HEADER:
        raise ValueError("the header of the array is too long")
    text = stream.read(length).decode("latin-1")
    fields = (rf"['\"]{key}['\"]: ?{value}" for key, value in KEYS.items())
    found = re.fullmatch(r"\{{{}, ?{}, ?{},? ?\}}\s*".format(*fields), text)
    if found is None:
        raise ValueError("the header of the array is not that of numbers")
    kind, by_columns, sides = found.groups()
    shape = tuple(int(side.rstrip("L")) for side in re.findall(r"\d+L?", sides))
    try:
        dtype = np.dtype(kind)
    except TypeError:
        raise ValueError("the array is of an unknown type") from None
    if len(shape) > MAX_SIDES or any(side > MAX_SIDE for side in shape):
        raise ValueError("the array has too many dimensions, or too long ones")
    return Header(shape, dtype, by_columns == "True")


def read_array(stream: IO[bytes], most: int) -> NDArray[Any]:
    """Read an array of at most ``most`` bytes, after which the stream must end."""
    header = read_header(stream)
    if header.size > most:
        raise ValueError("the array says that it is longer than its file can be")
    content = stream.read(header.size + 1)
    if len(content) != header.size:
        raise ValueError("the array is not as long as it says")
    array = np.frombuffer(content, header.dtype)
    return array.reshape(header.shape, order="F" if header.by_columns else "C")


def map_array(path: str | os.PathLike[str]) -> NDArray[Any]:
    """Map the array of a file into memory, read-only; a file of another length than the array says is rejected."""
    with open_input(path) as file:
        header = read_header(file)
        place = file.tell()
        if place + header.size != os.fstat(file.fileno()).st_size:
            raise ValueError("the array is not as long as it says")
        if not header.size:
            return np.empty(header.shape, header.dtype)
        order: Any = "F" if header.by_columns else "C"
        return np.memmap(file, header.dtype, "r", place, header.shape, order)
