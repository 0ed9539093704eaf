"""Outputs that appear whole: a folder is filled under a hidden name next to its target, then takes the target's name in
one step.

>>> import tempfile
>>> target = Path(tempfile.mkdtemp()) / "released"
>>> with Staging(target) as staging:
...     _ = (staging.folder / "certificate.json").write_text("{}")
...     staging.publish()
>>> [path.name for path in target.iterdir()], [path.name for path in target.parent.iterdir()]
(['certificate.json'], ['released'])

Until :meth:`Staging.publish`, and after anything that goes wrong (an error, Ctrl-C, SIGTERM), there is the old output and
nothing
else. A process that is killed outright leaves its hidden folder behind; the next :class:`Staging` for the same target
removes it
if its process is provably gone: the name holds the process's number, its start time and the boot and container it ran in. A
folder that was complete (``sealed_at``: a ledger sealed it) takes the target's name instead, and replaces an earlier output.

Where a file system cannot exchange two folders in one step, the old output is first renamed to a hidden backup. A crash in the
moment between the two renames leaves no output under the target's name; the next use puts the backup back, if it is known to
be what it says (``sealed_at``). Anybody who may write beside the target can make a folder of that name, so what
nobody can vouch for is left where it is, and said.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType

from noisewright.exceptions import DataError, FileFormatError, ParameterError
from noisewright.io.atomic import alive, dead, endings_as_exceptions, exchange, place, rename_new, started, sync_folder
from noisewright.ledger.witness import default_witness
from noisewright.releases.lock import foreign_file
from noisewright.tables.source import Source

__all__ = ["Staging", "check_apart", "check_places", "clean"]


CANNOT_WRITE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO}
"""Errors of a disk that is full, limited, read-only or failing; they become a sentence about the target."""


class Staging:
    """A folder in the making; ``with Staging(target) as staging``: write into ``staging.folder``, then ``staging.publish()``.

    ``replace``: an output that is there may be replaced, if it is one and nothing else: an empty folder, or one in which
    ``foreign`` finds no file that is not of an earlier release. Nobody loses a file of their own to a mistyped name.
    ``sealed_at``: at which record of a ledger a folder was sealed, so that the later of two is known; 0 if it is not ours.
    """

    def __init__(
        self,
        target: str | os.PathLike[str],
        replace: bool = False,
        *,
        foreign: Callable[[Path], str | None] = foreign_file,
        sealed_at: Callable[[Path], int] | None = None,
    ) -> None:
        self.replace = replace
        self.sealed_at = sealed_at
        self.foreign = foreign
        self.published = False
        self._listening = ExitStack()
        try:
            self.target = Path(os.path.realpath(target))
        except ValueError:
            raise FileFormatError(f"{str(target)!r} cannot be the name of an output.") from None
        self._pid = os.getpid()
        self._tag = f"{self._pid}-{started(self._pid)}-{place()}-{secrets.token_hex(4)}"
        self.folder = self._hidden("staging")

    def __enter__(self) -> Staging:
        try:
            clean(self.target, self.sealed_at, self.foreign)
            self._check()
            self._listening.enter_context(endings_as_exceptions())
            self.folder.mkdir()
            self._check_alone()
        except OSError as problem:
            self._leave()
            raise self._unwritable(problem) from None
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if os.getpid() != self._pid:  # a forked child that leaves the block: the folder is its parent's
            return
        self._leave()
        if isinstance(problem, OSError) and problem.errno in CANNOT_WRITE:
            raise self._unwritable(problem) from None
        if isinstance(problem, (FileFormatError, DataError)) and str(self.folder) in str(problem):
            raise type(problem)(str(problem).replace(str(self.folder), str(self.target))) from None

    def publish(self) -> None:
        """Make everything durable, and let it take the target's name in one step."""
        try:
            _sync_all(self.folder)
            self._check()
            if not self.target.exists():
                rename_new(self.folder, self.target)
            elif not exchange(self.folder, self.target):
                _replace_in_two_steps(self.folder, self.target, self._hidden("backup"))
            sync_folder(self.target.parent)
        except FileExistsError:
            raise self._taken() from None
        except OSError as problem:
            raise self._unwritable(problem) from None
        self.published = True
        shutil.rmtree(self.folder, ignore_errors=True)  # after an exchange, this is the old output

    def _leave(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self._listening.close()

    def _check(self) -> None:
        """Refuse a target that is taken, or that is not an output."""
        if self.target.name == "":
            raise ParameterError(f"{self.target} cannot be replaced by an output; name a folder in it.")
        if not os.path.lexists(self.target):
            if not self.target.parent.is_dir():
                raise FileFormatError(f"{self.target} cannot be written: there is no folder {self.target.parent}.")
            return
        if not self.replace:
            raise self._taken()
        if not self.target.is_dir():
            raise ParameterError(f"{self.target} is a file, and the output is a folder; choose another name.")
        if (other := self.foreign(self.target)) is not None:
            raise ParameterError(
                f"{self.target} is not replaced, because it holds {other!r}, which is no part of an earlier output; move that "
                "away, or choose another name."
            )

    def _check_alone(self) -> None:
        """Refuse a target that another process is about to publish to: only one of the two could, and both would have spent.

        Each makes its folder before it looks, so of two that begin in the same moment at least one sees the other.
        """
        for path, tag in _hidden_folders(self.target):
            if path != self.folder and tag[3] == "staging" and alive(int(tag[0]), tag[1], tag[2]):
                raise ParameterError(
                    f"{self.target} is being written by another process; wait for its end, or choose another name."
                )

    def _taken(self) -> ParameterError:
        return ParameterError(
            f"{self.target} is there already; choose another name, or replace it: replace=True, --replace."
        )

    def _unwritable(self, problem: OSError) -> FileFormatError:
        return FileFormatError(f"{self.target} cannot be written: {problem.strerror or 'the disk refused'}.")

    def _hidden(self, what: str) -> Path:
        return self.target.parent / f".{self.target.name}.{self._tag}.{what}"


def _inside_out(folder: Path) -> Iterator[Path]:
    """Every file, then the folder that holds it, down to ``folder`` itself."""
    for inner, _, names in os.walk(folder, topdown=False):
        for name in names:
            yield Path(inner) / name
        yield Path(inner)


def _replace_in_two_steps(folder: Path, target: Path, backup: Path) -> None:
    os.rename(target, backup)
    try:
        rename_new(folder, target)
    except BaseException:
        rename_new(backup, target)
        raise
    shutil.rmtree(backup, ignore_errors=True)


def _sync_all(folder: Path) -> None:
    for path in _inside_out(folder):
        _sync(path)


def _sync(path: Path) -> None:
    if path.is_dir():
        sync_folder(path)
    else:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# What dead processes left behind -----------------------------------------------------------------------------------------


def clean(
    target: Path,
    sealed_at: Callable[[Path], int] | None = None,
    foreign: Callable[[Path], str | None] = foreign_file,
) -> None:
    """Remove what dead processes left next to ``target``, and put back an output that one of them had just moved aside.

    A backup that no one vouches for is refused where an output is missing, and is removed only where it is only an output.
    """
    unknown = None
    with suppress(OSError):
        for path, (pid, started, place, what) in _hidden_folders(target):
            if not dead(int(pid), started, place):
                continue
            if what == "staging":
                record = 0 if sealed_at is None else sealed_at(path)
                if record and not os.path.lexists(target):  # it was whole, and is paid for
                    _sync_all(path)
                    rename_new(path, target)
                elif sealed_at is None or record <= sealed_at(target):  # half written, or what was replaced
                    shutil.rmtree(path, ignore_errors=True)
                elif target.is_dir() and foreign(target) is None:  # it was to replace this one
                    _sync_all(path)
                    if exchange(path, target):
                        shutil.rmtree(path, ignore_errors=True)
                    else:
                        _replace_in_two_steps(path, target, path.with_name(f"{path.name.removesuffix(what)}backup"))
            elif os.path.lexists(target):
                if foreign(path) is None:
                    shutil.rmtree(path, ignore_errors=True)
            elif sealed_at is not None and sealed_at(path):
                rename_new(path, target)
            else:
                unknown = path
    if unknown is not None and not os.path.lexists(target):
        raise ParameterError(
            f"{unknown} may be the earlier output {target.name!r}, moved aside by a process that was killed, but nothing proves "
            f"it; look at it, then rename it to {target.name!r} or remove it."
        )


def _hidden_folders(target: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The folders of processes that write or wrote to ``target``: process number, start, place, and what it is."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.(\d+)-(\d+)-([0-9a-f]+)-[0-9a-f]+\.(staging|backup)")
    for path in sorted(target.parent.iterdir()):
        if found := pattern.fullmatch(path.name):
            yield path, found.groups()


# Places -------------------------------------------------------------------------------------------------------------------
#
# Paths that a release reads and writes: no two of its files and folders may be one, or lie inside each other.
#
# All of it is refused before anything is spent. A ledger that an output replaces is a ledger that forgets.


JOURNALS = ("", "-wal", "-shm", "-journal")
"""The endings of what SQLite keeps next to a file."""


def check_apart(source: Source, output: str | os.PathLike[str]) -> None:
    """Refuse data that lie where the output is to be: replacing the folder would delete them."""
    folder = Path(os.path.realpath(output))
    for path in (*source.paths, *source.origin):
        if Path(os.path.realpath(path)).is_relative_to(folder):
            raise ParameterError(
                f"the data, {path}, lie inside the output folder {folder}; write to another folder, so that they are not lost."
            )


def check_places(
    ledger: Path | None,
    witness: str | os.PathLike[str] | None,
    output: str | os.PathLike[str] | None,
    source: Source,
) -> None:
    """Refuse a ledger and a witness that are one file, or the data, or that lie where the output is to be."""
    own = default_witness()
    files = [("the ledger", ledger), ("the witness", None if witness is None else Path(witness))]
    files += [("the witness of this user", own)] if own is not None and not _same(own, files[1][1]) else []
    there = [(what, path) for what, path in files if path is not None]
    kept = [(what, Path(os.path.realpath(f"{path}{end}"))) for what, path in there for end in JOURNALS]
    for at, (what, path) in enumerate(there):
        for other, named in there[at + 1 :]:
            if _same(path, named) or any(_same(Path(f"{path}{end}"), named) for end in JOURNALS):
                raise ParameterError(f"{what} and {other} are one file, {named}; name another file for one of them.")
        for data in (*source.paths, *source.origin):
            if _same(path, Path(data)):
                raise ParameterError(f"{what} and the data are one file, {path}; name another file for {what}.")
    if output is None:
        return
    folder = Path(os.path.realpath(output))
    for what, path in kept:
        if path.is_relative_to(folder):
            where = "are at one place" if path == folder else "cannot lie inside each other"
            raise ParameterError(
                f"{what}, {path}, and the output {folder} {where}: the output would replace what was spent; name another place "
                "for one of them."
            )
        if folder.is_relative_to(path):
            raise ParameterError(
                f"the output {folder} would lie inside {what}, {path}, which is a file; name another folder."
            )


def _same(one: Path, other: Path | None) -> bool:
    return other is not None and os.path.realpath(one) == os.path.realpath(other)
