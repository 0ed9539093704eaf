"""Digests by which a link names a file without telling anything of it.

A plain hash of a table in a link would confirm guesses of its content to anyone who gets the link. These digests are
keyed (HMAC) with a key that only this user has, so they distinguish files on this machine alone.

A page of the studio holds no state of its own next to a :class:`Task`: the words and options of the command that does the
same.

>>> task = Task("/design/number", ("design", "geometric"), {"epsilon": "1/2", "within": "0:100"})
>>> task.command
'noisewright design geometric --epsilon 1/2 --within 0:100'
>>> task.link
'/design/number?epsilon=1%2F2&within=0%3A100'
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import multiprocessing
import os
import secrets
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from noisewright._utils.inputs import open_input, read_input
from noisewright.exceptions import DataError, NoisewrightError
from noisewright.io.model_files import user_data

__all__ = [
    "LONGEST_LINK",
    "LONGEST_VALUE",
    "MOST_OPTIONS",
    "Job",
    "State",
    "Task",
    "Visit",
    "begin",
    "clear_all",
    "digest_of",
    "from_this_machine",
    "held_open",
    "keep_in",
    "own_key",
    "read_query",
    "releases_folder",
    "still_here",
    "visit_here",
    "with_option",
]


_folder: Path | None = None


def keep_in(folder: Path | None) -> None:
    """Keep releases in this folder from now on; None: in the data folder of this user."""
    global _folder  # noqa: PLW0603 - one folder a server
    _folder = None if folder is None else Path(os.path.abspath(folder.expanduser()))


def releases_folder() -> Path:
    """Return the folder of releases: the option's, or ``$XDG_DATA_HOME/noisewright/releases``."""
    return _folder or user_data("releases")


DIGITS = 32
CHUNK = 1 << 20
OWN = "_NOISEWRIGHT_STUDIO_KEY"
"""Variable with the key of a server that cannot keep one, which its jobs need, too."""


def digest_of(path: str | os.PathLike[str]) -> str:
    """Return the keyed digest of a file; an empty text for a folder or a database."""
    if not os.path.isfile(path):
        return ""
    found = hmac.new(own_key(), digestmod=hashlib.sha256)
    with open_input(path) as file:
        while chunk := file.read(CHUNK):
            found.update(chunk)
    return found.hexdigest()[:DIGITS]


def own_key() -> bytes:
    """Read the key of this user, which the first call makes."""
    path = user_data("studio") / "link.key"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        whole = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
        if not path.exists():
            try:
                descriptor = os.open(whole, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(descriptor, "wb") as file:
                    file.write(secrets.token_bytes(32))
                with suppress(FileExistsError):
                    os.link(whole, path)  # of two that begin at once, one key wins
            finally:
                whole.unlink(missing_ok=True)
        return read_input(path)
    except OSError:
        return bytes.fromhex(os.environ.setdefault(OWN, secrets.token_hex(32)))


# Jobs ---------------------------------------------------------------------------------------------------------------------
#
# Long work in a process of its own, so that the page goes on, sees how far it is, and can end it.
#
# A job is a function of a module, called as ``function(*arguments, told=told)``; it may call ``told(done, of)`` as it goes on.
# What it returns must be plain: it comes back through a pipe. A cancelled job is ended, and so is
# a job of a server that is gone, unless the job ``outlives`` it; its writes are atomic. A job that takes longer than
# its limit is ended, too.


_spawn = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class State:
    """Progress of a job: ``done`` of ``of`` (0: unknown); at the end its ``result``, or why none exists."""

    done: float = 0.0
    of: float = 0.0
    ended: bool = False
    result: Any = None
    refused: str | None = None


class Job:
    """One function at work in a process.

    A job that ``outlives`` its server goes on when the server is stopped or killed. ``held`` are open files that its process
    keeps open until it ends.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        limit: float | None = None,
        outlives: bool = False,
        held: Sequence[Connection] = (),
    ) -> None:
        self._begun, self._limit = time.monotonic(), limit
        self._here, there = _spawn.Pipe(duplex=False)
        self._process = _spawn.Process(
            target=_work, args=(there, function, arguments, outlives, tuple(held)), daemon=not outlives
        )
        self._process.start()
        for end in (there, *held):
            end.close()
        self._looking = threading.Lock()
        self.state = State()

    @property
    def seconds(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._begun

    def wait(self) -> State:
        """Wait for its end."""
        while not self.look().ended:
            time.sleep(0.1)
        return self.state

    def look(self) -> State:
        """Return the current progress."""
        with self._looking:  # a thread may wait for the job while a page looks at it
            return self._look()

    def _look(self) -> State:
        while not self.state.ended:
            try:
                if not self._here.poll():
                    break
                kind, *told = self._here.recv()
            except (EOFError, OSError):
                self._end(
                    State(ended=True, refused="the work ended before it was done; there may be too little memory.")
                )
                break
            if kind == "told":
                self.state = State(*told)
            elif kind == "done":
                self._end(State(1, 1, True, told[0]))
            else:
                self._end(State(ended=True, refused=told[0]))
        if self._limit is not None and self.seconds > self._limit:
            self._cancel(
                f"this takes longer than the {self._limit / 60:g} minutes that the studio gives it; use the command line for it."
            )
        return self.state

    def cancel(self, why: str = "cancelled.") -> None:
        """End it."""
        with self._looking:
            self._cancel(why)

    def _cancel(self, why: str) -> None:
        if not self.state.ended:
            self._process.terminate()
            self._end(State(ended=True, refused=why))

    def _end(self, state: State) -> None:
        self.state = state
        self._process.join(2)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._here.close()


def _work(
    there: Connection,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    outlives: bool,
    held: tuple[Connection, ...],
) -> None:
    """Call the function and send its result; ``held`` stays open as long as this process."""

    def tell(*what: Any) -> None:
        with suppress(BrokenPipeError) if outlives else nullcontext():
            there.send(what)

    if outlives:
        for ending in (signal.SIGINT, signal.SIGHUP):  # Ctrl-C, and a closed terminal, are for the server
            signal.signal(ending, signal.SIG_IGN)
    else:
        threading.Thread(target=_end_with_server, daemon=True).start()
    try:
        result = function(*arguments, told=lambda done, of=0.0: tell("told", float(done), float(of)))
        tell("done", result)
    except NoisewrightError as refused:
        tell("refused", str(refused))
    except MemoryError:
        tell("refused", "this needs more memory than there is.")
    except Exception as problem:
        tell("refused", f"this went wrong inside Noisewright ({type(problem).__name__}); the terminal says where.")
        raise
    finally:
        there.close()


def _end_with_server() -> None:
    """A server that was killed ends nothing any more."""
    server = multiprocessing.parent_process()
    if server is not None:
        wait([server.sentinel])
        os._exit(1)


# Task ---------------------------------------------------------------------------------------------------------------------
#
# Content of a page, as a line of the command line, as lines of Python and as a link that brings it back.


MOST_OPTIONS = 40
LONGEST_VALUE = 50_000
"""A link holds a person's text; more is someone trying things."""
LONGEST_LINK = 60_000
"""The server takes no longer addresses."""


@dataclass(frozen=True)
class Task:
    """A command with its options, on the page that shows it."""

    page: str
    """The path of the page."""
    words: tuple[str, ...]
    """The command and its arguments."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The options by their names in Python, as they are typed; a flag that is set is an empty text."""
    shown: Mapping[str, str] = field(default_factory=dict)
    """State that only the page has: for example, which of several views is open."""

    @property
    def command(self) -> str:
        """Command line that does the same as the page."""
        parts = ["noisewright", *self.words]
        for name, text in self.options.items():
            parts.append("--" + name.replace("_", "-"))
            if text:
                parts.append(text)
        return shlex.join(parts)

    @property
    def link(self) -> str:
        """The address that brings the page back as it is."""
        asked = urlencode({**self.options, **self.shown})
        return f"{self.page}?{asked}" if asked else self.page


def with_option(given: Mapping[str, str], name: str, text: str | None) -> dict[str, str]:
    """The same options with another text for one of them; None takes it away."""
    return {key: value for key, value in {**given, name: text}.items() if value is not None}


def read_query(query: Mapping[str, str]) -> dict[str, str]:
    """The options of a link, without what no one typed: too many, or too long."""
    return {
        name: text
        for name, text in list(query.items())[:MOST_OPTIONS]
        if name.isidentifier() and len(text) <= LONGEST_VALUE
    }


# Visits -------------------------------------------------------------------------------------------------------------------
#
# A visit: one open page, and the files that its person gave it. Both end together.
#
# Files lie in a folder that only this account can read, under names that the server made up; the folder of a visit goes
# when its
# page is closed, and all of them go when the server stops, also when it is killed: a shell waits for its end, and then deletes
# them. What a machine that lost its power had goes when the next server starts. Temporary files of the server and its
# jobs lie in
# the same folder, so that an upload leaves no copy elsewhere. A release that is being made needs its table to the end:
# while such
# a job goes on without its server, the folder stays.


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
