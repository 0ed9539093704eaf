"""A file is a file: a pipe would be waited for, and a device never ends.

>>> try:
...     check_regular("/dev/null")
... except OSError as problem:
...     print(problem.strerror)
it is a pipe, a device or a socket, and no file
"""

from __future__ import annotations

import errno
import os
import stat

__all__ = ["check_regular"]


def check_regular(path: str | os.PathLike[str], most: int | None = None) -> os.stat_result:
    """What the system knows of a file or a folder, links followed; :class:`OSError` for everything else, which is not opened.

    ``most``: how many bytes it may have.
    """
    found = os.stat(path)
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        raise OSError(errno.EINVAL, "it is a pipe, a device or a socket, and no file")
    if most is not None and found.st_size > most:
        raise OSError(errno.EFBIG, f"it has more than {most >> 20} MiB, which nothing has that is read here")
    return found
