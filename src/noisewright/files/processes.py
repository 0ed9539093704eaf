"""Processes of one machine: which of them made a file, and how they take turns."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["alive", "dead", "place", "started", "turn"]

FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def dead(pid: int, begun: str, where: str) -> bool:
    """Return whether a process is provably gone: it ran under this boot in this container, and no process of its number
    began then.
    """
    return where == place() != "0" and started(pid) != begun


def alive(pid: int, begun: str, where: str) -> bool:
    """Return whether a process provably runs: here, and with this beginning."""
    return where == place() != "0" and begun != "0" and started(pid) == begun


def started(pid: int) -> str:
    """Return the start of a process, in clock ticks since the start of the system; 0 if it has ended or no one knows."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        fields = text.rpartition(")")[2].split()  # the name of the process, in brackets, may hold anything
        return "0" if fields[0] in "ZX" else fields[19]  # a process that ended stays listed until someone asks how
    except (OSError, IndexError):
        return "0"


def place() -> str:
    """This boot and this container (its name space of process numbers), as a short hash; 0 where no one knows."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        return hashlib.sha256(f"{boot} {os.readlink('/proc/self/ns/pid')}".encode()).hexdigest()[:12]
    except OSError:
        return "0"


@contextmanager
def turn(path: Path, busy: Callable[[], None]) -> Iterator[None]:
    """Wait until no other process or thread has the turn of this name; ``busy`` is called once if another one has it.

    The file exists only during a turn. A process that is killed leaves it behind, but its turn has ended: the next one removes
    the file. Where no file can be made or locked, nobody waits.
    """
    descriptor = _taken(path, busy)
    try:
        yield
    finally:
        if descriptor is not None:
            with suppress(OSError):
                path.unlink()  # those who wait notice that the file that they have open is gone
            _free(descriptor)


def _taken(path: Path, busy: Callable[[], None]) -> int | None:
    """Return the descriptor of the locked file; None if this is not possible here."""
    try:
        import fcntl
    except ImportError:  # not a POSIX system
        return None
    told = False
    while True:
        try:
            descriptor = os.open(path, FLAGS, 0o600)
        except OSError:
            return None
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not told:
                    busy()
                told = True
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                    return descriptor
        except OSError:  # a file system without locks
            os.close(descriptor)
            return None
        except BaseException:
            _free(descriptor)
            raise
        _free(descriptor)


def _free(descriptor: int) -> None:
    """End a lock, also for forked processes that hold the same open file."""
    import fcntl

    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)
