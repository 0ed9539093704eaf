"""Paths that a release reads and writes: no two of its files and folders may be one, or lie inside each other.

All of it is refused before anything is spent. A ledger that an output replaces is a ledger that forgets.
"""

from __future__ import annotations

import os
from pathlib import Path

from noisewright.core.errors import ParameterError
from noisewright.releases.ledger.ledger import default_witness
from noisewright.releases.sources.source import Source

__all__ = ["check_apart", "check_places"]

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
    for place, (what, path) in enumerate(there):
        for other, named in there[place + 1 :]:
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
