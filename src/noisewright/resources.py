"""Public seeds: 32 public bytes, from which everyone draws the same public choices.

The directions of a projection and the functions of a hash come from one. It is never a source of noise.

>>> Seed.from_hex("00" * 32).generator("projection", 7).integers(10, 5).tolist()
[1, 6, 4, 5, 9]

A :class:`Resource` is one public file, such as an embedding or a model. It has a name, a SHA-256 and a size, and these three
are
all that is pickled, locked or certified: no content, and no path. A process that is handed one looks for a file with that
SHA-256
(:func:`locate`), checks it once, and maps it into memory once, read-only, however many mechanisms use it.

>>> import tempfile, pathlib, pickle
>>> path = pathlib.Path(tempfile.mkdtemp(), "weights.bin")
>>> _ = path.write_bytes(np.arange(6, dtype="<f4").tobytes())
>>> weights = Resource.at(path)
>>> weights
Resource('weights.bin', sha256 e2c0a71510b5..., 24 bytes)
>>> pickle.loads(pickle.dumps(weights)).array("<f4", (2, 3))[1].tolist()
[3.0, 4.0, 5.0]

Where a file is looked for, in this order: the place it was named by in this process, the folders that an engine registered
(:func:`look_in`), and the folders in the environment variable ``NOISEWRIGHT_RESOURCES``, with a colon between
them (a semicolon on Windows).
"""

from __future__ import annotations

import builtins
import errno
import hashlib
import mmap
import os
import re
import secrets
import stat
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from noisewright.exceptions import ParameterError, ResourceError

__all__ = ["FOLDERS", "Resource", "Seed", "Stream", "in_place", "locate", "look_in", "public_keys"]


SHOWN = 12
"""Number of digits that a message shows to distinguish seeds."""


class Seed:
    r"""32 public bytes, from which everyone draws the same public choices.

    ``seed.generator(*words)`` is the stream of bytes that is made of blocks of 4096 bytes; block i (the first is 0) is
    the beginning of SHAKE-256 of these bytes, one after the other, all integers being 8 bytes with the lowest first::

        "noisewright-seed-1" (18 bytes of ASCII), the seed (32 bytes), the number of words, for each word its length in
        bytes and its text in UTF-8 (an integer in decimal digits), and i

    Therefore, streams with other words have nothing to do with each other, and a program in any language can repeat
    them.
    """

    __slots__ = ("bytes",)

    bytes: builtins.bytes
    """The seed itself."""

    def __init__(self, content: builtins.bytes) -> None:
        if not isinstance(content, builtins.bytes) or len(content) != 32:
            raise ParameterError("a public seed has 32 bytes; Seed.fresh() makes one.")
        object.__setattr__(self, "bytes", content)

    @classmethod
    def fresh(cls) -> Self:
        """A new seed from the random bits of the system."""
        return cls(secrets.token_bytes(32))

    @classmethod
    def from_hex(cls, text: str, name: str = "a public seed") -> Self:
        """Return the seed that 64 hexadecimal digits write; ``name`` is the parameter's, for the message."""
        if not isinstance(text, str) or not re.fullmatch("[0-9a-fA-F]{64}", text):
            raise ParameterError(f"{name} must be 64 hexadecimal digits; Seed.fresh().hex makes some.")
        return cls(builtins.bytes.fromhex(text))

    @property
    def hex(self) -> str:
        """The seed in 64 hexadecimal digits."""
        return self.bytes.hex()

    def generator(self, *words: str | int) -> Stream:
        """The stream of public choices that goes by these words, from its beginning."""
        spelled = [str(word).encode() for word in words]
        named = b"".join(_eight(len(word)) + word for word in spelled)
        return Stream(b"noisewright-seed-1" + self.bytes + _eight(len(spelled)) + named)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Seed does not change; {name} cannot be set")

    def __eq__(self, other: object) -> bool:
        return self.bytes == other.bytes if isinstance(other, Seed) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.bytes)

    def __reduce__(self) -> tuple[type[Seed], tuple[builtins.bytes]]:
        return Seed, (self.bytes,)

    def __repr__(self) -> str:
        return f"Seed({self.hex[:SHOWN]}...)"


class Stream:
    """Public choices in a fixed order; the choices do not depend on the number requested at a time."""

    BLOCK = 4096

    def __init__(self, prefix: builtins.bytes) -> None:
        self._prefix, self._number, self._left = prefix, 0, b""

    def bytes(self, count: int) -> builtins.bytes:
        """The next bytes."""
        if count < 0:
            raise ParameterError("a public stream gives 0 bytes or more, not fewer.")
        parts = [self._left]
        have = len(self._left)
        while have < count:
            parts.append(hashlib.shake_256(self._prefix + _eight(self._number)).digest(self.BLOCK))
            self._number += 1
            have += self.BLOCK
        whole = b"".join(parts)
        self._left = whole[count:]
        return whole[:count]

    def bits(self, count: int) -> NDArray[np.bool_]:
        """Return the bits of the next whole bytes, the lowest of each byte first; unused bits of the last byte are
        discarded.
        """
        if count < 0:
            raise ParameterError("a public stream gives 0 bits or more, not fewer.")
        content = np.frombuffer(self.bytes(-(-count // 8)), dtype=np.uint8)
        return np.unpackbits(content, count=count, bitorder="little").astype(np.bool_)

    def integers(self, below: int, count: int) -> NDArray[np.int64]:
        """Integers from 0 to ``below - 1``, all equally likely.

        Each is made of the next 8 bytes, lowest first, modulo ``below``; a number that is not below the largest multiple of
        ``below`` up to 2^64 is thrown away, and the next 8 bytes are taken.
        """
        if not 0 < below < 1 << 63:
            raise ParameterError("below must be a whole number from 1 to 2^63 - 1.")
        if count < 0:
            raise ParameterError("a public stream gives 0 numbers or more, not fewer.")
        limit = (1 << 64) - (1 << 64) % below
        found: list[NDArray[np.uint64]] = []
        missing = count
        while missing:
            drawn = np.frombuffer(self.bytes(8 * missing), dtype="<u8")
            kept = drawn if limit == 1 << 64 else drawn[drawn < np.uint64(limit)]
            found.append(kept % np.uint64(below))
            missing -= len(kept)
        return np.concatenate(found).astype(np.int64) if found else np.empty(0, np.int64)


def _eight(number: int) -> bytes:
    return number.to_bytes(8, "little")


# Resource -----------------------------------------------------------------------------------------------------------------
#
# Public files: the resources of a mechanism in addition to its parameters, named by their *contents* and not by their
# location.


FOLDERS = "NOISEWRIGHT_RESOURCES"
"""The environment variable that names folders with public files."""
LONGEST_NAME = 255

_Signature = tuple[str, int, int, int, int]
"""A path, its inode, the times of its last writing and of its last change, which no one can set back, and its size:
while these are as they were, so is the content.
"""

_guard = threading.RLock()
_places: dict[str, list[Path]] = {}
_folders: list[Path] = []
_digests: dict[_Signature, str] = {}
_mapped: dict[str, tuple[Path, _Signature, NDArray[np.uint8]]] = {}


class Resource:
    """A public file, by name, SHA-256 and size; make one with :meth:`at`. Two of the same content are equal."""

    __slots__ = ("name", "sha256", "size")

    name: str
    """Name for people: the last part of its path."""
    sha256: str
    """The digest of its content, in 64 hexadecimal digits."""
    size: int
    """Number of bytes."""

    def __init__(self, name: str, sha256: str, size: int) -> None:
        if not _is_name(name):
            raise ParameterError("the name of a public file must be printable and without folders; rename the file.")
        if not isinstance(sha256, str) or not re.fullmatch("[0-9a-f]{64}", sha256):
            raise ParameterError("the sha256 of a public file has 64 hexadecimal digits; sha256sum FILE prints it.")
        if isinstance(size, bool) or not isinstance(size, int) or size < 0:
            raise ParameterError("the size of a public file is a whole number of bytes from 0 on.")
        for member, value in zip(self.__slots__, (name, sha256, size), strict=True):
            object.__setattr__(self, member, value)

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Resource:
        """The file at a path; this process remembers the place."""
        try:
            place = Path(os.path.expanduser(path)).absolute()
            signature, digest = _read(place)
        except TypeError:
            raise ParameterError("a public file is named by a path, which is text.") from None
        except FileNotFoundError:
            raise ResourceError(f"there is no file {os.fspath(path)}; name a public file that is there.") from None
        except _NoFileError:
            raise ResourceError(
                f"{os.fspath(path)} is not a file; name one public file, not a folder or a device."
            ) from None
        except (OSError, ValueError) as problem:
            reason = getattr(problem, "strerror", None) or "its name is not that of a file"
            raise ResourceError(f"{os.fspath(path)!r} cannot be read ({reason}); name a public file.") from None
        found = cls(place.name, digest, signature[-1])
        with _guard:
            known = _places.setdefault(digest, [])
            if place not in known:
                known.insert(0, place)
        return found

    @classmethod
    def from_json(cls, document: Any) -> Resource:
        """The file that ``{"name", "sha256", "bytes"}`` names; it need not be here."""
        if not isinstance(document, dict) or set(document) != {"name", "sha256", "bytes"}:
            raise ParameterError("a public file that is named by its digest has a name, a sha256 and bytes, no more.")
        return cls(document["name"], document["sha256"], document["bytes"])

    def to_json(self) -> dict[str, Any]:
        """Return the entry for a certificate and a lock."""
        return {"name": self.name, "sha256": self.sha256, "bytes": self.size}

    def open(self) -> NDArray[np.uint8]:
        """The whole content, mapped into memory and read-only; the first time in a process, its SHA-256 is checked.

        Later calls look only whether the file has still the size and the time of change that it had.
        """
        with _guard:
            held = _mapped.get(self.sha256)
            if held is not None and _is_still(held[0], held[1]):
                return held[2]
            _mapped.pop(self.sha256, None)
            path = self.place()
            if path is None:
                raise ResourceError(self._absence())
            with path.open("rb") as file:
                signature = _signature(path, os.fstat(file.fileno()))
                if _digests.get(signature) != self.sha256:  # another file took its place just now
                    raise ResourceError(self._absence())
                content = np.frombuffer(
                    mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if self.size else b"", dtype=np.uint8
                )
            _mapped[self.sha256] = path, signature, content
            return content

    @property
    def bytes(self) -> builtins.bytes:
        """A copy of the content; for small files."""
        return self.open().tobytes()

    def array(self, dtype: DTypeLike, shape: int | tuple[int, ...] | None = None, offset: int = 0) -> NDArray[Any]:
        """The content from byte ``offset`` on as an array, without a copy; without a shape, all of it in one row.

        Say the order of bytes in ``dtype``, as in ``"<f4"``, so that the numbers are the same on every machine.
        """
        kind = np.dtype(dtype)
        if kind.hasobject or not kind.itemsize:
            raise ParameterError("an array of a public file has numbers of a fixed size, such as '<f4'.")
        if not 0 <= offset <= self.size:
            raise ParameterError(f"the public file {self.name!r} has {self.size} bytes; it has no byte {offset}.")
        extent = (shape,) if isinstance(shape, int) else shape
        count = (self.size - offset) // kind.itemsize if extent is None else int(np.prod(extent, dtype=object))
        end = offset + count * kind.itemsize
        if count < 0 or end > self.size or (extent is None and end != self.size):
            raise ParameterError(
                f"the public file {self.name!r} has {self.size} bytes from which no such array can be made; check the shape, "
                "the type and the offset."
            )
        part = self.open()[offset:end].view(kind)
        return part if extent is None else part.reshape(extent)

    def place(self) -> Path | None:
        """Return the location of a file with this SHA-256, or None."""
        return locate(self.sha256, self.size)

    def _absence(self) -> str:
        known = f"sha256 {self.sha256[:SHOWN]}..."
        if any(place.exists() for place in _places.get(self.sha256, ())):
            return (
                f"the public file {self.name!r} was changed: it is no longer the one that was named ({known}); put that one "
                "back, or name the new one."
            )
        return (
            f"the public file {self.name!r} ({known}) is not here; put it into a folder that the environment variable "
            f"{FOLDERS} names."
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Resource does not change; {name} cannot be set")

    def __eq__(self, other: object) -> bool:
        return self.sha256 == other.sha256 if isinstance(other, Resource) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __reduce__(self) -> tuple[type[Resource], tuple[str, str, int]]:
        return Resource, (self.name, self.sha256, self.size)

    def __repr__(self) -> str:
        return f"Resource({self.name!r}, sha256 {self.sha256[:SHOWN]}..., {self.size} bytes)"


def locate(sha256: str, size: int | None = None) -> Path | None:
    """A file with this SHA-256 in the places that this process knows, or None.

    In folders a file that is called by its SHA-256 is tried first, then, if the ``size`` is known, every file of that size.
    """
    with _guard:
        for path in _candidates(sha256, size):
            try:
                if _read(path)[1] == sha256:
                    return path
            except (OSError, ValueError, _NoFileError):
                continue
    return None


def look_in(*folders: str | os.PathLike[str]) -> None:
    """Look for public files in these folders, too, for the rest of this process."""
    with _guard:
        for folder in map(Path, folders):
            if folder not in _folders:
                _folders.append(folder)


def public_keys(resources: Iterable[Resource] = (), seed: Seed | None = None) -> dict[str, Any]:
    """Return the keys of a certificate for the public files and the public seed that a mechanism uses; empty if it uses
    none.

    >>> public_keys(), public_keys(seed=Seed(bytes(32)))["seed"][:4]
    ({}, '0000')
    """
    listed = [resource.to_json() for resource in dict.fromkeys(resources)]
    return {**({"resources": listed} if listed else {}), **({"seed": seed.hex} if seed is not None else {})}


def in_place(resources: Iterable[Resource]) -> tuple[list[str], list[str]]:
    """Check public files: return which are here with the stated digest, and what cannot be checked because others are
    not, in words.
    """
    here, missing = [], []
    for resource in resources:
        what = f"the file {resource.name} (sha256 {resource.sha256[:SHOWN]}...)"
        if resource.place() is not None:
            here.append(f"{what} is here, with this digest")
        else:
            missing.append(f"{what} is not here: what depends on its content was not checked")
    return here, missing


# Finding and reading ------------------------------------------------------------------------------------------------------


class _NoFileError(Exception):
    """Error for a path that does not lead to a file."""


def _candidates(sha256: str, size: int | None) -> Iterator[Path]:
    yield from _places.get(sha256, ())
    named = filter(None, os.environ.get(FOLDERS, "").split(os.pathsep))
    folders = list(dict.fromkeys([*_folders, *(Path(os.path.expanduser(name)) for name in named)]))
    yield from (folder / sha256 for folder in folders)
    for folder in folders if size is not None else ():
        try:
            with os.scandir(folder) as entries:
                alike = sorted(entry.path for entry in entries if entry.is_file() and entry.stat().st_size == size)
        except OSError:
            continue
        yield from map(Path, alike)


def _read(path: Path) -> tuple[_Signature, str]:
    """The signature of a file and its SHA-256, which is computed once as long as the signature stays."""
    if not stat.S_ISREG(path.stat().st_mode):  # before opening: a pipe would be waited for
        raise _NoFileError
    with path.open("rb") as file:
        signature = _signature(path, os.fstat(file.fileno()))
        with _guard:
            if signature not in _digests:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                if file.tell() != signature[-1] or _signature(path, os.fstat(file.fileno())) != signature:
                    raise OSError(errno.EBUSY, "it changes while it is read")
                _digests[signature] = digest
            return signature, _digests[signature]


def _signature(path: Path, found: os.stat_result) -> _Signature:
    return str(path), found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size


def _is_still(path: Path, signature: _Signature) -> bool:
    try:
        return _signature(path, path.stat()) == signature
    except OSError:
        return False


def _is_name(name: object) -> bool:
    return (
        isinstance(name, str)
        and 0 < len(name) <= LONGEST_NAME
        and name.isprintable()
        and not re.search(r"[/\\]", name)
        and name not in (".", "..")
    )
