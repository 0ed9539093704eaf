"""Codes in a file: who they are from, the fingerprint of the scheme that made them, and a digest of everything.

``MAGIC``, the length of the header as a little-endian 64-bit integer, the header (JSON), where each name begins (``<u8``, one
more than names), the names themselves (UTF-8, one after the other), the codes (one row of bytes each), and the SHA-256 of all
of that. It is data: nothing in it is run. A client writes such a file for the server, and a server keeps its index in one.

The digest detects a file that was truncated or changed in transit. Anyone who can replace a file can replace its
digest as well: against that, keep the digest that :func:`write_codes` returns, and compare it with the file's digest.

>>> import tempfile
>>> from pathlib import Path
>>> path = Path(tempfile.mkdtemp(), "codes.nwc")
>>> digest = write_codes(path, CodeFile("ab" * 32, 12, ["ann", "bob"], np.array([[1, 2], [3, 4]], dtype=np.uint8)))
>>> read_codes(path).names
['ann', 'bob']
>>> _ = path.write_bytes(path.read_bytes().replace(b"ann", b"ian"))
>>> read_codes(path)
Traceback (most recent call last):
noisewright.core.errors.FileFormatError: codes.nwc was changed or cut short after it was written; get it once more.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from noisewright.core.certificates.checker import checker
from noisewright.core.errors import DataError, FileFormatError
from noisewright.files.atomic import file_path, whole_file
from noisewright.files.inputs import read_input
from noisewright.matching.hashing.codes import Codes, as_codes, code_bytes

__all__ = ["SUFFIX", "CodeFile", "check_names", "read_codes", "write_codes"]

SUFFIX = ".nwc"
MAGIC = b"\x89NWC\r\n\x1a\n"
FORMAT = 1
LONGEST_HEADER = 1 << 12
MOST_BITS = 1 << 16
LONGEST_NAME = 1000
LARGEST_FILE = 1 << 30


@dataclass(frozen=True)
class CodeFile:
    """Content of a file of codes."""

    fingerprint: str
    """Digest of the public scheme, in 64 hexadecimal digits: codes of two schemes are not comparable."""
    bits: int
    names: Sequence[str]
    codes: Codes


def write_codes(path: str | os.PathLike[str], given: CodeFile) -> str:
    """Write a file of codes, whole or not at all; its SHA-256 in hexadecimal digits."""
    codes = np.ascontiguousarray(as_codes(given.codes, given.bits))
    check_names(given.names, len(codes))
    spelled = [name.encode() for name in given.names]
    text = b"".join(spelled)
    starts = np.concatenate([[0], np.cumsum([len(name) for name in spelled], dtype=np.int64)]).astype("<u8")
    header = {"bits": given.bits, "codes": len(codes), "format": FORMAT, "scheme": given.fingerprint, "text": len(text)}
    document = json.dumps(header, sort_keys=True).encode()
    digest = hashlib.sha256()
    with whole_file(path) as file:
        for part in (
            MAGIC,
            len(document).to_bytes(8, "little"),
            document,
            starts.tobytes(),
            text,
            codes.tobytes(),
        ):
            digest.update(part)
            file.write(part)
        file.write(digest.digest())
    return digest.hexdigest()


def read_codes(path: str | os.PathLike[str]) -> CodeFile:
    """The codes in a file; one that was changed is refused as a whole."""
    place = file_path(path)
    try:
        content = memoryview(read_input(place, LARGEST_FILE))
    except OSError as problem:
        raise FileFormatError(f"{place} cannot be read: {problem.strerror}.") from None
    no_codes = FileFormatError(f"{place.name} holds no codes; make them with noisewright match encode.")
    if content[: len(MAGIC)] != MAGIC or len(content) < len(MAGIC) + 40:
        raise no_codes
    if hashlib.sha256(content[:-32]).digest() != content[-32:]:
        raise FileFormatError(f"{place.name} was changed or cut short after it was written; get it once more.")
    length = int.from_bytes(content[len(MAGIC) : len(MAGIC) + 8], "little")
    start = len(MAGIC) + 8
    header = _header(bytes(content[start : start + min(length, LONGEST_HEADER)]))
    if header is None:
        raise no_codes
    if header["format"] != FORMAT:
        raise FileFormatError(f"{place.name} is in another format than this version reads; install a newer one.")
    bits, number, text = int(header["bits"]), int(header["codes"]), int(header["text"])
    width, first = code_bytes(bits), start + length
    if not 0 < bits <= MOST_BITS or first + 8 * (number + 1) + text + number * width + 32 != len(content):
        raise no_codes
    starts = np.frombuffer(content[first : first + 8 * (number + 1)], dtype="<u8").tolist()
    after = first + 8 * (number + 1)
    spelled = bytes(content[after : after + text])
    if starts[0] != 0 or starts[-1] != text or any(a >= b for a, b in pairwise(starts)):
        raise no_codes
    try:
        names = [spelled[a:b].decode() for a, b in pairwise(starts)]
    except UnicodeDecodeError:
        raise no_codes from None
    check_names(names, number)
    codes = np.frombuffer(content[after + text : -32], dtype=np.uint8).reshape(number, width).copy()
    return CodeFile(str(header["scheme"]), bits, names, as_codes(codes, bits))


def check_names(names: Sequence[str], rows: int) -> None:
    """Refuse names that cannot be distinguished, or that are none; no name is quoted."""
    if len(names) != rows:
        raise DataError(f"there are {rows} codes and {len(names)} names; every code has one name.")
    if not all(isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and _is_text(name) for name in names):
        raise DataError(f"names are texts of 1 to {LONGEST_NAME} characters.")
    if len(set(names)) < len(names):
        raise DataError("a name was given twice; every name has one code.")


def _is_text(name: str) -> bool:
    """Return whether it can be written as UTF-8: half a pair of surrogates cannot."""
    try:
        return name.isascii() or bool(name.encode())
    except UnicodeEncodeError:
        return False


def _header(document: bytes) -> dict[str, int | str] | None:
    """Return the header, if it is valid."""
    try:
        found = checker.read(document.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or set(found) != {"bits", "codes", "format", "scheme", "text"}:
        return None
    numbers = [found[name] for name in ("bits", "codes", "format", "text")]
    if not all(type(number) is int and number >= 0 for number in numbers):
        return None
    return found if re.fullmatch("[0-9a-f]{64}", str(found["scheme"])) else None
