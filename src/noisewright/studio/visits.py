"""A visit: one open page, and the files that its person gave it. Both end together.

Files lie in a folder that only this account can read, under names that the server made up; the folder of a visit goes when its
page is closed, and all of them go when the server stops, also when it is killed: a shell waits for its end, and then deletes
them. What a machine that lost its power had goes when the next server starts. Temporary files of the server and its jobs lie in
the same folder, so that an upload leaves no copy elsewhere. A release that is being made needs its table to the end: while such
a job goes on without its server, the folder stays.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import ip_address
from multiprocessing.connection import Connection
from pathlib import Path

from noisewright.core.errors import DataError
from noisewright.studio.digests import digest_of, own_key

__all__ = ["Visit", "begin", "clear_all", "from_this_machine", "held_open", "still_here", "visit_here"]

PREFIX = "noisewright-studio-"
SUFFIXES = (
    ".csv",
    ".json",
    ".jsonl",
    ".parquet",
    ".feather",
    ".arrow",
    ".toml",
    ".txt",
    ".png",
    ".jpg",
    ".jpeg",
    ".nwm",
)
"""Allowed endings of a file that someone gives: the end decides how it is read, and nothing is ever run."""

GIVEN = "given-"
"""Beginning of the names that the server makes up."""
MOST_KEPT = 2**30
"""Maximum number of bytes of files that one page keeps."""
WAIT_AND_DELETE = 'read -r end; rm -rf -- "$1"'
"""Script for a shell whose input ends when the server does."""

_root: Path | None = None
_widow: subprocess.Popen[bytes] | None = None
_lock = -1
"""An open file of the folder of this server; it stays locked until the server and all jobs that hold it are gone."""
HELD = "held"
_system: Path | None = None
"""The temporary folder of the system, once the server has one of its own in it."""
_open: dict[Path, Visit] = {}
"""The pages that are open, by the folders of their files."""


@dataclass
class Visit:
    """The files of one open page."""

    folder: Path
    names: dict[str, Path] = field(default_factory=dict)
    """Person's name of a file, and its path."""
    kept: int = 0
    """Number of files that were given; two of one name are two files."""
    size: int = 0
    """Number of bytes that were given."""
    before_end: list[Callable[[], None]] = field(default_factory=list)
    """Work with the files, which is ended before they are deleted."""
    awaited: list[Callable[[], None]] = field(default_factory=list)
    """Functions that wait for work with the files which goes on when the page is closed."""
    goes_on: list[Callable[[], bool]] = field(default_factory=list)
    """Functions that return whether such work goes on."""
    digests: dict[str, str] = field(default_factory=dict)
    """The keyed digests of the files that were given, by their paths."""
    inherited: list[Path] = field(default_factory=list)
    """Folders of pages that are gone, whose files this page uses."""

    def keep(self, name: str, content: bytes | Path, allowed: tuple[str, ...] = SUFFIXES) -> Path:
        """Keep a file that was given, as its bytes or as a temporary file, which is moved.

        Its name is only remembered, its ending only where it is one of those allowed.
        """
        suffix = Path(name.replace("\\", "/")).suffix.lower()
        if suffix not in allowed:
            raise DataError(f"a file that ends with {', '.join(allowed)} is wanted here.")
        size = content.stat().st_size if isinstance(content, Path) else len(content)
        if self.size + size > MOST_KEPT:
            raise DataError("this page has been given as much as it keeps; open it anew for another file.")
        self.size += size
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = self.folder / f"{GIVEN}{self.kept}{suffix}"
        self.kept += 1
        if isinstance(content, Path):
            shutil.move(content, target)
        else:
            target.write_bytes(content)
        self.names[Path(name.replace("\\", "/")).name] = target
        self.digests[str(target)] = digest_of(target)
        return target

    def said(self, sentence: str) -> str:
        """A sentence of the library in which files have the names that the person knows."""
        for name, path in sorted(self.names.items(), key=lambda pair: -len(str(pair[1]))):
            sentence = sentence.replace(str(path), name)
            if path.name.startswith(GIVEN):
                sentence = sentence.replace(path.name, name)
        return sentence

    def uses(self, folder: Path) -> bool:
        """Return whether this page has a file in a folder."""
        return any(path.parent == folder for path in self.names.values())

    def borrow(self, name: str, path: Path, digest: str) -> None:
        """Use a file that another page was given, where it is: a copy costs time, and a link that goes changes the file."""
        self.names[name] = path
        self.digests[str(path)] = digest

    def place(self, name: str) -> Path:
        """A place in the folder of this visit for something that is made here."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self.folder / name

    def end(self) -> None:
        """Delete the files, once nothing works with them; work that goes on without the page is waited for in a thread."""
        for stop in self.before_end:
            stop()
        threading.Thread(target=self._delete, daemon=True).start() if self.awaited else self._delete()

    def _delete(self) -> None:
        for done in self.awaited:
            done()
        _open.pop(self.folder, None)
        for folder in (self.folder, *self.inherited):
            heir = next((one for one in list(_open.values()) if one.uses(folder)), None)
            if heir is None:
                shutil.rmtree(folder, ignore_errors=True)
            else:
                heir.inherited.append(folder)


def begin() -> None:
    """Let temporary files of this server and of its jobs lie in its own folder; remains of servers that are gone are
    deleted.
    """
    global _system  # noqa: PLW0603 - as above
    own_key()  # jobs inherit the setting of a server that cannot keep it
    clear_all(dead_alone=True)
    _system = Path(tempfile.gettempdir())
    own = _home() / "tmp"
    own.mkdir(mode=0o700)
    tempfile.tempdir = os.environ["TMPDIR"] = str(own)


def _home() -> Path:
    """The folder of this server, made when it is first needed."""
    global _root, _widow, _lock  # noqa: PLW0603 - one server a process
    if _root is None:
        _root = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=_system))
        _lock = os.open(_root / HELD, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(_lock, fcntl.LOCK_EX)
        shell = shutil.which("sh")
        if shell is not None:
            _widow = subprocess.Popen(
                [shell, "-c", WAIT_AND_DELETE, "noisewright-studio", str(_root)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
    return _root


def held_open() -> list[Connection]:
    """Open files that keep the folder of this server as long as a process has them."""
    _home()
    held = [Connection(os.dup(_lock), writable=False)]
    if _widow is not None and _widow.stdin is not None:
        held.append(Connection(os.dup(_widow.stdin.fileno()), readable=False))
    return held


def visit_here() -> Visit:
    """The visit of the page that is being built or has sent an event."""
    from nicegui import ui

    client = ui.context.client
    visit = getattr(client, "_noisewright_visit", None)
    if visit is None:
        visit = Visit(_home() / client.id)
        _open[visit.folder] = visit
        client._noisewright_visit = visit  # type: ignore[attr-defined]
        client.on_delete(visit.end)
    return visit


def still_here(name: str, digest: str) -> Path | None:
    """A file that another open page was given, if it has this name and this digest: what a page has when it is loaded again."""
    for visit in list(_open.values()):
        path = visit.names.get(name)
        if path is not None and digest and visit.digests.get(str(path)) == digest:
            return path
    return None


def from_this_machine() -> bool:
    """Return whether the person sits at this machine: only then may files be named by their paths on it."""
    from nicegui import ui

    asking = ui.context.client.request.client
    try:
        return asking is not None and ip_address(asking.host).is_loopback
    except ValueError:
        return False


def clear_all(dead_alone: bool = False) -> bool:
    """Delete the folders of this server, and of servers that are gone.

    Return whether that was done: while a release is being made, the folder of this server stays.
    """
    global _root  # noqa: PLW0603
    if not dead_alone and any(is_at_work() for visit in list(_open.values()) for is_at_work in visit.goes_on):
        return False
    for folder in (_system or Path(tempfile.gettempdir())).glob(f"{PREFIX}*"):
        number = folder.name.removeprefix(PREFIX).partition("-")[0]
        if not number.isdecimal() or not folder.is_dir() or folder.stat().st_uid != os.getuid():
            continue
        own = int(number) == os.getpid()
        if (own and not dead_alone) or (not own and not _is_alive(int(number)) and not _is_held(folder)):
            shutil.rmtree(folder, ignore_errors=True)
    if not dead_alone:
        _root = None
    return True


def _is_held(folder: Path) -> bool:
    """Return whether a job that outlived its server works with a folder."""
    try:
        descriptor = os.open(folder / HELD, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # it is someone else's
        return True
    return True
