"""Files and folders that appear whole or not at all: renames in one step that never overwrite by accident, and single files.

POSIX ``rename`` quietly replaces a file or an empty folder, and cannot replace a folder that holds something. Linux has both
missing halves in one call, ``renameat2``; where a file system or a system lacks it, the caller is given or a plain way
is taken.
"""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from noisewright.core.errors import FileFormatError, ParameterError
from noisewright.files.endings import endings_as_exceptions

__all__ = [
    "check_free",
    "exchange",
    "file_path",
    "hidden_folder",
    "hidden_name",
    "rename_new",
    "sync_folder",
    "whole_file",
    "write_atomically",
]

AT_FDCWD = -100
FLAGS = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
RENAME_NOREPLACE, RENAME_EXCHANGE = 1, 2
NOT_OFFERED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}
"""Errors of a system call that is missing here, or that a file system or a sandbox does not let through."""


def rename_new(source: Path, target: Path) -> None:
    """Rename a file or a folder to a name that is free; ``FileExistsError`` if it is taken, whatever takes it."""
    if _renameat2(source, target, RENAME_NOREPLACE):
        return
    if source.is_dir():  # without the system call there is a moment between the question and the rename
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
        os.rename(source, target)
    else:
        os.link(source, target)
        os.unlink(source)


def exchange(one: Path, other: Path) -> bool:
    """Swap two names in one step; False, and nothing done, where that is not offered."""
    return _renameat2(one, other, RENAME_EXCHANGE)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable, where the system can."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as problem:
        if problem.errno not in NOT_OFFERED:
            raise
    finally:
        os.close(descriptor)


def _renameat2(source: Path, target: Path, flags: int) -> bool:
    call = _system_call()
    if call is None:
        return False
    if call(AT_FDCWD, os.fsencode(source), AT_FDCWD, os.fsencode(target), flags) == 0:
        return True
    problem = ctypes.get_errno()
    if problem in NOT_OFFERED:
        return False
    raise OSError(problem, os.strerror(problem), str(source), None, str(target))


@cache
def _system_call() -> Any:
    """``renameat2`` of the C library, or None."""
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, TypeError, AttributeError):
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    return call


def check_free(path: Path, replace: bool = False) -> None:
    """Refuse a name that is taken, unless its holder may be replaced."""
    if not replace and os.path.lexists(path):
        raise FileFormatError(f"{path} is there already; name another file, or say --replace.")


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that it appears whole or not at all."""
    with whole_file(path) as file:
        file.write(content)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, piece by piece, that appears under its name when the block ends well, and else not at all."""
    target = file_path(path)
    with endings_as_exceptions():
        temporary = hidden_name(target)
        try:
            descriptor = os.open(temporary, FLAGS, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, 0o666 & ~mask)
            os.replace(temporary, target)
        except OSError as problem:
            raise FileFormatError(f"{target} cannot be written: {problem.strerror}.") from None
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def hidden_folder(target: Path) -> Iterator[Path]:
    """Create a private folder next to a name that it will replace, as long as it is used."""
    folder = hidden_name(target)
    try:
        folder.mkdir(0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def hidden_name(target: Path) -> Path:
    """Return a free name next to another one.

    It is known before anything has it: where Ctrl-C comes while a file is made, the file can be removed.
    """
    name = target.parent / f".{target.name}.{secrets.token_hex(8)}"
    try:
        taken = os.path.lexists(name)
        os.fsencode(name)
    except ValueError:
        taken = True
    if taken:
        raise FileFormatError(f"{str(target)!r} cannot be the name of a file.") from None
    return name


def file_path(path: object) -> Path:
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise ParameterError(f"the name of a file is a string or a Path, not {type(path).__name__}.")
    return Path(path)
