"""Renames that either happen whole or not at all, and never overwrite by accident.

POSIX ``rename`` quietly replaces a file or an empty folder, and cannot replace a folder that holds something. Linux has both
missing halves in one call, ``renameat2``; where a file system or a system lacks it, the caller is told or a plain way is taken.
"""

from __future__ import annotations

import ctypes
import errno
import os
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["exchange", "rename_new", "sync_folder"]

AT_FDCWD = -100
RENAME_NOREPLACE, RENAME_EXCHANGE = 1, 2
NOT_OFFERED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}
"""What a system call says that is missing here, or that a file system or a sandbox does not let through."""


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
