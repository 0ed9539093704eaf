"""Open files that a user names: regular files only, without waiting, and within bounds that are checked before memory is spent.

Every reader in Noisewright opens its input here; ``tests/files/test_one_door.py`` fails on any other way. A pipe or a device
is
rejected before and after opening, so that no exchange in between can block. Problems are :class:`OSError`, which readers word.

>>> try:
...     open_input("/dev/null")
... except OSError as problem:
...     print(problem.strerror)
it is a pipe, a device or a socket, and no file

>>> is_url("postgresql://ann@db.example/team"), is_url("clinic.sqlite")
(True, False)
>>> has_password("postgresql://ann:secret@db.example/team"), has_password("postgresql://ann@db.example/team")
(True, False)
"""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import re
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any
from urllib.parse import parse_qsl, urlsplit

__all__ = [
    "LARGEST_FILE",
    "MAX_WHOLE",
    "bounded_lines",
    "check_input",
    "check_nesting",
    "check_windows",
    "has_password",
    "is_url",
    "max_memory",
    "max_unpacked",
    "open_archive",
    "open_input",
    "read_input",
    "read_json",
    "unpacked",
]


LARGEST_FILE = 200 * 2**20
"""Maximum number of bytes of a file that is given to a page."""


MAX_WHOLE = 1 << 28
"""Maximum number of bytes of a file that is read as a whole, unless the reader has a smaller bound."""
MAX_LINE = 1 << 20
MAX_DIRECTORY = 1 << 22
"""Maximum number of bytes of the directory of a zip archive; Python holds about ten times that."""
MAX_DEPTH = 200
"""Maximum nesting of JSON."""
JSON_COSTS = {b",": 33, b"[": 64, b"{": 200}
"""Approximate bytes of memory for a value, a list and an object of JSON, however short they are."""
FREE, PER_BYTE, MAX_MEMORY = 64 << 20, 20, 1 << 30
"""Maximum memory of a reader: a fixed part, a multiple of the size of its file, and a bound for both together."""
MAX_WINDOW = 1 << 27
FRAME, SKIPPED_FRAME, RUN = 0xFD2FB528, 0x184D2A50, 1
"""Beginnings of frames of Zstandard, and its kind of block that repeats one byte."""
BUFFER = 1 << 16
FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def check_input(path: str | os.PathLike[str], most: int | None = None) -> os.stat_result:
    """Return the status of a file or a folder, links followed; :class:`OSError` for anything else. Nothing is opened.

    ``most`` is the maximum size of a file in bytes. For libraries that open a path themselves; all others use
    :func:`open_input`.
    """
    found = os.stat(path)
    _check(found, most)
    return found


def open_input(path: str | os.PathLike[str], most: int | None = None) -> io.BufferedReader:
    """Open a regular file for reading bytes; ``most`` is its maximum size."""
    check_input(path, most)
    descriptor = os.open(path, FLAGS)
    try:
        found = os.fstat(descriptor)
        _check(found, most)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        return io.BufferedReader(io.FileIO(descriptor), BUFFER)
    except BaseException:
        os.close(descriptor)
        raise


def read_input(path: str | os.PathLike[str], most: int = MAX_WHOLE) -> bytes:
    """Read a whole file of at most ``most`` bytes."""
    with open_input(path, most) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise _too_large(most)
    return content


def read_json(path: str | os.PathLike[str], most: int = MAX_WHOLE, parse: Callable[[str], Any] = json.loads) -> Any:
    """Parse a JSON file in UTF-8. :class:`ValueError` if it is not JSON, is nested too deeply or has too many values."""
    content = read_input(path, most)
    check_nesting(content)
    return parse(content.decode())


def check_nesting(content: bytes) -> None:
    """Raise :class:`ValueError` for JSON that is nested too deeply, or whose values take more memory than its size allows."""
    bare = re.sub(rb'(?s)"[^"\\]*(?:\\.[^"\\]*)*"?', b"", content) if b'"' in content else content
    if sum(cost * bare.count(sign) for sign, cost in JSON_COSTS.items()) > max_memory(len(content)):
        raise ValueError("the JSON has too many values")
    depth = 0
    for found in re.finditer(rb"[\[{]+|[\]}]+", bare):
        depth += len(found[0]) if found[0][:1] in b"[{" else -len(found[0])
        if depth > MAX_DEPTH:
            raise ValueError("the JSON is nested too deeply")


def max_memory(size: int) -> int:
    """Return the maximum memory in bytes that reading a file of this size may take."""
    return min(FREE + PER_BYTE * size, MAX_MEMORY)


def max_unpacked(size: int) -> int:
    """Return the maximum number of bytes that a compressed file of this size may unpack to, where it is read as a stream."""
    return (1 << 28) + 200 * size


@contextmanager
def unpacked(file: io.BufferedReader) -> Iterator[IO[bytes]]:
    """Give a file, or the content of a file that gzip compressed, as a stream that ends with an error at its bound."""
    if file.peek(2)[:2] != b"\x1f\x8b":
        yield file
        return
    size = os.fstat(file.fileno()).st_size
    with (
        gzip.GzipFile(fileobj=file) as plain,
        io.BufferedReader(_Bounded(plain, max_unpacked(size)), BUFFER) as bounded,
    ):
        yield bounded


def bounded_lines(stream: IO[bytes], longest: int = MAX_LINE) -> Iterator[bytes]:
    """Yield the lines of a stream; :class:`OSError` for a line of more than ``longest`` bytes."""
    while line := stream.readline(longest + 1):
        if len(line) > longest:
            raise OSError(errno.EFBIG, f"it has a line of more than {longest >> 20} MiB")
        yield line


def check_windows(path: str | os.PathLike[str]) -> None:
    """Raise :class:`OSError` for a file of Zstandard whose frames need more memory than its size allows (RFC 8878).

    A frame states the window that its reader holds: 8 MiB up to ``zstd -19``, 128 MiB for ``--long`` and ``--ultra -22``, and up
    to 2 GiB. The maximum is a quarter of :func:`max_memory`, and never above 128 MiB. Other damage is left to the reader.
    """
    with open_input(path) as file:
        size = os.fstat(file.fileno()).st_size
        most = min(max_memory(size) // 4, MAX_WINDOW)
        place = 0
        while len(head := file.read(5)) == 5:
            magic = int.from_bytes(head[:4], "little")
            if magic & ~15 == SKIPPED_FRAME:
                place += 8 + int.from_bytes(head[4:] + file.read(3), "little")
            elif magic != FRAME:
                return
            else:
                if (window := _window(file, head[4])) > most:
                    raise OSError(
                        errno.EFBIG, f"it asks for a window of {window >> 20} MiB, and {most >> 20} are the maximum"
                    )
                place = file.tell()
                last = False
                while not last and len(block := file.read(3)) == 3:
                    stated = int.from_bytes(block, "little")
                    last, kind, length = bool(stated & 1), stated >> 1 & 3, stated >> 3
                    place += 3 + (1 if kind == RUN else length)
                    if place > size:
                        return
                    file.seek(place)
                place += 4 * (head[4] >> 2 & 1)
            file.seek(place)


def _window(file: IO[bytes], described: int) -> int:
    """Return the window of a frame, whose header goes on at the place of the file; ``described`` is its first byte."""
    single, window = bool(described >> 5 & 1), 0
    if not single and (stated := file.read(1)):
        window = (1 << 10 + (stated[0] >> 3)) * (8 + (stated[0] & 7)) // 8
    file.read((0, 1, 2, 4)[described & 3])  # the number of a dictionary
    width = (int(single), 2, 4, 8)[described >> 6]
    content = int.from_bytes(file.read(width), "little") + (256 if width == 2 else 0)
    return content if single else window


@contextmanager
def open_archive(path: str | os.PathLike[str], most: int | None = None) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive whose list of files is small; members end with an error at the size that is stated for them.

    ``most`` is the maximum that all members may unpack to.
    """
    with open_input(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - (1 << 16) - 22))
        tail = file.read()
        ends = [found.start() for found in re.finditer(rb"PK\x05\x06", tail)]
        stated = [int.from_bytes(tail[end + 12 : end + 16], "little") for end in ends]
        if not stated or max(stated) > MAX_DIRECTORY or b"PK\x06\x07" in tail:
            raise zipfile.BadZipFile("there is no list of files, or it is too long")
        with zipfile.ZipFile(file) as archive:
            if any(one.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for one in archive.infolist()):
                raise zipfile.BadZipFile("it is compressed in a way that takes memory")
            bound = max_unpacked(size) if most is None else most
            if sum(one.file_size for one in archive.infolist()) > bound:
                raise _too_large(bound, "it unpacks to")
            yield archive


class _Bounded(io.RawIOBase):
    """A stream of bytes that raises an error where it goes on after a bound."""

    def __init__(self, stream: gzip.GzipFile, most: int) -> None:
        self._stream, self._most, self._left = stream, most, most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._stream.read(len(buffer))
        buffer[: len(content)] = content
        self._left -= len(content)
        if self._left < 0:
            raise _too_large(self._most, "it unpacks to")
        return len(content)


def _check(found: os.stat_result, most: int | None) -> None:
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        raise OSError(errno.EINVAL, "it is a pipe, a device or a socket, and no file")
    if most is not None and stat.S_ISREG(found.st_mode) and found.st_size > most:
        raise _too_large(most)


def _too_large(most: int, what: str = "it has") -> OSError:
    bound = f"{most >> 20} MiB" if most >= 1 << 20 else f"{most:,} bytes"
    return OSError(errno.EFBIG, f"{what} more than {bound}, which is the maximum for such a file")


# Urls ---------------------------------------------------------------------------------------------------------------------
#
# URLs of PostgreSQL databases, given where a file is expected; a URL may contain a password.


def is_url(name: object) -> bool:
    """Return whether a name is the URL of a database."""
    return isinstance(name, str) and re.match(r"\s*postgres(ql)?:", name, re.IGNORECASE) is not None


def has_password(name: str) -> bool:
    """Return whether the URL of a database holds a password, or might."""
    try:
        parts = urlsplit(name.strip())
        return is_url(name) and (parts.password is not None or "password" in dict(parse_qsl(parts.query.lower())))
    except ValueError:
        return is_url(name)
