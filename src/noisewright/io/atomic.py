"""Signals that end a process, as exceptions: what is half made is then removed on the way out, as after any error.

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
import ctypes
import errno
import hashlib
import os
import re
import secrets
import shutil
import signal
import tempfile
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO, NoReturn

from noisewright.exceptions import FileFormatError, ParameterError

__all__ = [
    "Found",
    "Problem",
    "Spool",
    "alive",
    "check_free",
    "dead",
    "endings_as_exceptions",
    "exchange",
    "file_path",
    "files_in",
    "hidden_folder",
    "hidden_name",
    "interrupt_outside_imports",
    "look_in",
    "numbered_name",
    "own_names",
    "place",
    "rename_new",
    "scratch_folder",
    "started",
    "sync_folder",
    "turn",
    "was_interrupted",
    "whole_file",
    "whole_folder",
    "write_atomically",
]


ENDINGS = ("SIGTERM", "SIGHUP")
IMPORTING = "<frozen importlib._bootstrap>"
_interrupts: list[int] = []
LATER = 0.02
"""Seconds until it is asked again whether an import is over."""


@contextmanager
def endings_as_exceptions() -> Iterator[None]:
    """Let signals to end the process come as exceptions, unless the program has its own way with them.

    Only the main thread hears of signals; in another one nothing changes.
    """
    handlers: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for name in ENDINGS:
            ending = getattr(signal, name, None)
            if ending is not None and signal.getsignal(ending) is signal.SIG_DFL:
                handlers[ending] = signal.signal(ending, _end)
    try:
        yield
    finally:
        for ending, handler in handlers.items():
            signal.signal(ending, handler)


def interrupt_outside_imports() -> None:
    """Have Ctrl-C wait for the end of an import: compiled modules turn it into another error, or end the process at once.

    For a command, whose process is its own. Where Ctrl-C is ignored, it stays so.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGALRM, _interrupt)
        signal.signal(signal.SIGINT, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code.co_filename == IMPORTING:
            signal.setitimer(signal.ITIMER_REAL, LATER)
            return
        frame = frame.f_back
    _interrupts.append(number)
    raise KeyboardInterrupt


def was_interrupted() -> bool:
    """Return whether Ctrl-C was raised: compiled code that calls Python may have made another error of it.

    It is known after :func:`interrupt_outside_imports` alone.
    """
    return bool(_interrupts)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


# Processes ----------------------------------------------------------------------------------------------------------------
#
# Processes of one machine: which of them made a file, and how they take turns.


LOCK_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


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
            descriptor = os.open(path, LOCK_FLAGS, 0o600)
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


# Atomic -------------------------------------------------------------------------------------------------------------------
#
# Files and folders that appear whole or not at all: renames in one step that never overwrite by accident, and single files.
#
# POSIX ``rename`` quietly replaces a file or an empty folder, and cannot replace a folder that holds something. Linux has both
# missing halves in one call, ``renameat2``; where a file system or a system lacks it, the caller is given or a plain way
# is taken.


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
            finally:
                temporary.unlink(missing_ok=True)  # fails where the name is too long, and says the same as opening it
        except OSError as problem:
            raise FileFormatError(f"{target} cannot be written: {problem.strerror}.") from None


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
        os.lstat(name)
    except OSError:
        return name
    except ValueError:  # it has a null byte, or half of a character
        pass
    raise FileFormatError(f"{str(target)!r} cannot be the name of a file.")


def file_path(path: object) -> Path:
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise ParameterError(f"the name of a file is a string or a Path, not {type(path).__name__}.")
    return Path(path)


# Scratch ------------------------------------------------------------------------------------------------------------------
#
# Places on disk for rows that do not fit into memory: readable by this user alone, and gone with the process, however it ends.


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


# Folders ------------------------------------------------------------------------------------------------------------------
#
# Folders of files: those that are read one by one, and those that appear whole or not at all.


DIGITS = 6
"""Number of digits in names, always the same: the number of files that were given, done or not, stays private."""


Problem = tuple[Path, str]
"""Path that could not be read, and the reason in one sentence."""


@dataclass(frozen=True)
class Found:
    """Files found in the places that were named."""

    files: list[Path]
    problems: list[Problem]
    """Places that could not be examined."""
    others: dict[str, int]
    """Number of files of folders with other endings, by ending."""


def files_in(given: Iterable[str | os.PathLike[str]], suffixes: Sequence[str], what: str) -> list[Path]:
    """The files that :func:`look_in` finds."""
    return look_in(given, suffixes, what).files


def look_in(given: Iterable[str | os.PathLike[str]], suffixes: Sequence[str], what: str) -> Found:
    """The files that are named, and files in the named folders that end with one of the suffixes, sorted by path.

    A file that is found twice, by its folder and by its name or by a link, is one: drawn from twice, it would be hidden less.
    ``what`` is the plural of what is looked for, for messages.
    """
    found: list[Path] = []
    problems: dict[Path, str] = {}
    others: dict[Path, str] = {}
    for place in map(Path, given):
        if os.path.isdir(place):
            found += _in_folder(place, suffixes, problems, others)
        elif os.path.isfile(place):
            found.append(place)
        else:
            raise FileFormatError(f"there is no file or folder {place}; name {what} that are there.")
    if not found and problems:
        path, why = next(iter(problems.items()))
        raise FileFormatError(f"there are no {what} that can be read; {path}: {why}")
    if not found:
        raise FileFormatError(f"there are no {what}: a folder needs files that end with {', '.join(suffixes)}.")
    once: dict[tuple[int, int], Path] = {}
    for path in found:
        about = path.stat()
        once.setdefault((about.st_dev, about.st_ino), path)
    return Found(list(once.values()), list(problems.items()), dict(sorted(Counter(others.values()).items())))


def _in_folder(folder: Path, suffixes: Sequence[str], problems: dict[Path, str], others: dict[Path, str]) -> list[Path]:
    """The files of a folder and of those in it; links to folders are not followed."""
    found = []

    def unread(problem: OSError) -> None:
        if Path(problem.filename) == folder:
            raise FileFormatError(f"the folder {folder} cannot be read: {problem.strerror}.")
        problems[Path(problem.filename)] = f"a folder cannot be read: {problem.strerror}; nothing in it was looked at."

    for top, folders, names in os.walk(folder, onerror=unread):
        others |= {Path(top, name): "links to folders" for name in folders if os.path.islink(os.path.join(top, name))}
        for path in (Path(top, name) for name in names):
            if path.suffix.lower() not in suffixes:
                others[path] = path.suffix.lower() or "no ending"
            elif os.path.isfile(path):
                found.append(path)
            else:
                problems[path] = "there is no file that can be read; a link may lead nowhere."
    return sorted(found)


def own_names(files: Sequence[Path], suffix: str) -> list[str]:
    """The names of files with another suffix, which must differ."""
    names = [file.with_suffix(suffix).name for file in files]
    if len(set(names)) < len(names):
        raise FileFormatError("two files have the same name; leave out --keep-names, or rename one.")
    return names


def numbered_name(stem: str, number: int, suffix: str) -> str:
    """Return a name that contains only its number.

    >>> numbered_name("picture", 7, ".png")
    'picture-000007.png'
    """
    return f"{stem}-{number:0{DIGITS}}{suffix}"


@contextmanager
def whole_folder(target: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder to write into, which becomes the new folder ``target`` at the end, and is gone after any error or ending."""
    folder = Path(target).absolute()
    if os.path.lexists(folder):
        raise FileFormatError(f"{folder} is there already; name a new folder, so that nothing is mixed or overwritten.")
    with endings_as_exceptions():
        try:
            with hidden_folder(folder) as staged:
                yield staged
                staged.chmod(0o755)
                rename_new(staged, folder)
                sync_folder(folder.parent)
        except OSError as problem:
            raise FileFormatError(f"{folder} cannot be written: {problem.strerror}.") from None
