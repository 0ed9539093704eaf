"""Files that rows point to, such as pictures: they belong to the data, so their contents belong to the digest of the data.

A table of paths is the same table after all pictures were replaced. Therefore the contents follow the table in its digest, in
the order of the rows. Anyone who changes a file between that and the end of the drawing is noticed by the file's inode,
size and times, as for the files of a table.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from noisewright.core.errors import DataError
from noisewright.files.inputs import open_input
from noisewright.releases.columns.plan import ColumnPlan
from noisewright.releases.kinds.kind import Kind
from noisewright.releases.sources.source import Source

__all__ = ["CHUNK", "References"]

CHUNK = 1 << 20
NOTHING = b"\0"
"""Stands for a cell that names no file which can be read; a release is refused for it later, with the row."""


class References:
    """The files that the rows of a source point to, as the columns of a plan read them."""

    def __init__(self, source: Source, plans: Sequence[ColumnPlan]) -> None:
        self._source = source
        self._kinds: dict[str, Kind] = {
            name: kind
            for plan in plans
            if plan.secret is not None
            for name, kind in zip(plan.names, plan.secret.kinds, strict=True)
            if kind.files
        }
        self._stamps: bytes | None = None

    def contents(self) -> Iterator[bytes]:
        """Yield the SHA-256 of every file in the order of the rows, and note marks of a change."""
        stamps = hashlib.sha256()
        for path in self._paths():
            stamp, content = _read(path)
            stamps.update(stamp)
            yield content
        self._stamps = stamps.digest()

    def check_unchanged(self) -> None:
        """Refuse files that were changed since their contents were read, if they were."""
        if self._stamps is None:
            return
        stamps = hashlib.sha256()
        for path in self._paths():
            stamps.update(_stamp(path))
        if stamps.digest() != self._stamps:
            raise DataError(
                "a file that the table points to was changed while it was read; start again when nothing writes to it."
            )

    def _paths(self) -> Iterator[Path | None]:
        if self._kinds:
            for batch in self._source.batches(list(self._kinds)):
                named = [kind.named(batch.column(name)) for name, kind in self._kinds.items()]
                for row in zip(*(paths for paths in named if paths is not None), strict=True):
                    yield from row


def _read(path: Path | None) -> tuple[bytes, bytes]:
    """The stamp of a file before it is read, and the SHA-256 of its contents."""
    stamp, found = _stamp(path), hashlib.sha256()
    if path is not None:
        try:
            with open_input(path) as file:
                while chunk := file.read(CHUNK):
                    found.update(chunk)
            return stamp, found.digest()
        except OSError:
            pass
    return stamp, NOTHING


def _stamp(path: Path | None) -> bytes:
    try:
        found = None if path is None else os.stat(path)
    except OSError:
        found = None
    if found is None:
        return NOTHING
    return f"{found.st_dev},{found.st_ino},{found.st_size},{found.st_mtime_ns},{found.st_ctime_ns};".encode()
