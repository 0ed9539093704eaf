"""Places on disk for rows that do not fit into memory: readable by this user alone, and gone with the process, however it ends.

A :class:`Spool` is a file without a name: the system frees it when the process ends, even by ``kill -9``. A
:func:`scratch_folder` is for programs that need names, as DuckDB does for what it moves to disk; its own name says
which process made it, and the next process that needs one removes the folders of processes that are provably gone.

>>> from pathlib import Path
>>> spool = Spool()
>>> _ = Path(spool.path).write_bytes(b"rows")
>>> Path(spool.path).read_bytes()
b'rows'
"""

from __future__ import annotations

import atexit
import os
import re
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial

from noisewright.files.processes import dead, place, started

__all__ = ["Spool", "scratch_folder"]

OURS = re.compile(r"noisewright-(\d+)-(\d+)-([0-9a-f]+)-[a-z0-9_]+")


class Spool:
    """A private file that can be written and read under ``path`` by this process, as long as the spool is referred to."""

    def __init__(self) -> None:
        file = tempfile.TemporaryFile(prefix="noisewright-")  # noqa: SIM115  (it is closed when nobody needs it any more)
        self.path = f"/proc/self/fd/{file.fileno()}"
        if os.path.exists(self.path):
            weakref.finalize(self, file.close)
            return
        file.close()  # a system that cannot open a nameless file again: a name in a private folder
        folder = _new_name()
        os.mkdir(folder, 0o700)
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.path = os.path.join(folder, "rows")
        os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


@contextmanager
def scratch_folder() -> Iterator[str]:
    """A private folder for as long as it is used; if Ctrl-C comes while it is made or removed, it goes with the process."""
    folder = _new_name()
    remove = partial(_remove, folder, os.getpid())
    atexit.register(remove)
    try:
        os.mkdir(folder, 0o700)
        yield folder
    finally:
        remove()
        atexit.unregister(remove)


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # a forked child ends, too
        shutil.rmtree(folder, ignore_errors=True)


def _new_name() -> str:
    _clean()
    name = f"noisewright-{os.getpid()}-{started(os.getpid())}-{place()}-{secrets.token_hex(4)}"
    return os.path.join(tempfile.gettempdir(), name)


@cache
def _clean() -> None:
    """Remove what dead processes of this user left behind, once in a process."""
    with suppress(OSError):
        for entry in os.scandir(tempfile.gettempdir()):
            found = OURS.fullmatch(entry.name)
            if found is not None and dead(int(found[1]), found[2], found[3]):
                shutil.rmtree(entry.path, ignore_errors=True)
