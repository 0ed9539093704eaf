"""A visit: one open page, and the files that its person gave it. Both end together.

Files lie in a folder that only this account can read, under names that the server made up; the folder of a visit goes when its
page is closed, and all of them go when the server stops, also when it is killed: a shell waits for its end, and then deletes
them. What a machine that lost its power had goes when the next server starts.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from noisewright.core.errors import DataError

__all__ = ["Visit", "clear_all", "from_this_machine", "visit_here"]

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
"""What a file that somebody gives may end with: the end decides how it is read, and nothing is ever run."""

GIVEN = "given-"
"""How the names begin that the server makes up."""
MOST_KEPT = 2**30
"""So many bytes of files one page keeps."""
WAIT_AND_DELETE = 'read -r end; rm -rf -- "$1"'
"""For a shell whose input ends when the server does."""

_root: Path | None = None
_widow: subprocess.Popen[bytes] | None = None


@dataclass
class Visit:
    """The files of one open page."""

    folder: Path
    names: dict[str, Path] = field(default_factory=dict)
    """What the person called a file, and where it is."""
    kept: int = 0
    """How many files were given; two of one name are two files."""
    size: int = 0
    """How many bytes were given."""
    before_end: list[Callable[[], None]] = field(default_factory=list)
    """What is at work with the files, and is ended before they are deleted."""

    def keep(self, name: str, content: bytes, allowed: tuple[str, ...] = SUFFIXES) -> Path:
        """Write a file that was given; its name is only remembered, its ending only where it is one of those allowed."""
        suffix = Path(name.replace("\\", "/")).suffix.lower()
        if suffix not in allowed:
            raise DataError(f"a file that ends with {', '.join(allowed)} is wanted here.")
        if self.size + len(content) > MOST_KEPT:
            raise DataError("this page has been given as much as it keeps; open it anew for another file.")
        self.size += len(content)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = self.folder / f"{GIVEN}{self.kept}{suffix}"
        self.kept += 1
        target.write_bytes(content)
        self.names[Path(name.replace("\\", "/")).name] = target
        return target

    def said(self, sentence: str) -> str:
        """A sentence of the library in which files have the names that the person knows."""
        for name, path in sorted(self.names.items(), key=lambda pair: -len(str(pair[1]))):
            sentence = sentence.replace(str(path), name)
            if path.name.startswith(GIVEN):
                sentence = sentence.replace(path.name, name)
        return sentence

    def place(self, name: str) -> Path:
        """A place in the folder of this visit for something that is made here."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self.folder / name

    def end(self) -> None:
        """Delete the files, once nothing works with them."""
        for stop in self.before_end:
            stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def _home() -> Path:
    """The folder of this server, made when a file is first given."""
    global _root, _widow  # noqa: PLW0603 - one server a process
    if _root is None:
        _root = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
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


def visit_here() -> Visit:
    """The visit of the page that is being built or has sent an event."""
    from nicegui import ui

    client = ui.context.client
    visit = getattr(client, "_noisewright_visit", None)
    if visit is None:
        visit = Visit(_home() / client.id)
        client._noisewright_visit = visit  # type: ignore[attr-defined]
        client.on_delete(visit.end)
    return visit


def from_this_machine() -> bool:
    """Whether the person sits at this machine: only then may files be named by their paths on it."""
    from nicegui import ui

    asking = ui.context.client.request.client
    try:
        return asking is not None and ip_address(asking.host).is_loopback
    except ValueError:
        return False


def clear_all(dead_alone: bool = False) -> None:
    """Delete the folders of this server, and of servers that are gone."""
    global _root  # noqa: PLW0603
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        number = folder.name.removeprefix(PREFIX).partition("-")[0]
        if not number.isdecimal() or not folder.is_dir() or folder.stat().st_uid != os.getuid():
            continue
        own = int(number) == os.getpid()
        if (own and not dead_alone) or (not own and not _is_alive(int(number))):
            shutil.rmtree(folder, ignore_errors=True)
    if not dead_alone:
        _root = None


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # it is somebody else's
        return True
    return True
