"""Releases that are kept: a folder that stays, with a folder for each dataset, and in it one for each release by its id.

A release is paid for once and cannot be made again for nothing, so its table does not go with the page that made it. The folder
of a release is what ``noisewright release`` writes, and its name is the id that the ledger has. The policy lies next to it.
"""

from __future__ import annotations

import os
import re
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from noisewright.core.errors import FileFormatError
from noisewright.files.inputs import read_input
from noisewright.files.places import user_data
from noisewright.releases.ledger.ledger import Ledger
from noisewright.releases.output.lock import LOCK
from noisewright.releases.output.staging import clean
from noisewright.studio.answers.releases.policies import EMBEDDING
from noisewright.text.embeddings.places import COMES_ALONG

__all__ = ["ID", "Kept", "find_kept", "home_of", "keep_in", "kept_of", "releases_folder", "zipped"]

ID = re.compile(r"[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}")
"""Ids of releases as the library makes them up."""
NAME = re.compile(rf"({ID.pattern})(?:-[a-z0-9-]{{1,10}})?")
"""The name of a folder: an id, and for a copy in another format that format."""
LONGEST = 60
_folder: Path | None = None


@dataclass(frozen=True)
class Kept:
    """A release in the folder that stays."""

    folder: Path
    dataset: str

    @property
    def name(self) -> str:
        """The name of its folder: its id, and the format of a copy."""
        return self.folder.name

    @property
    def release_id(self) -> str:
        """The id that its ledger has."""
        found = NAME.fullmatch(self.name)
        return found[1] if found else self.name

    @property
    def time(self) -> str:
        """Time at which it was made, in UTC."""
        at = self.release_id
        return f"{at[:4]}-{at[4:6]}-{at[6:8]} {at[9:11]}:{at[11:13]}"

    @property
    def format(self) -> str:
        """The format of its table; nothing if there are only answers."""
        return next((path.name.partition(".")[2] for path in sorted(self.folder.glob("data.*"))), "")


def keep_in(folder: Path | None) -> None:
    """Keep releases in this folder from now on; None: in the data folder of this user."""
    global _folder  # noqa: PLW0603 - one folder a server
    _folder = None if folder is None else Path(os.path.abspath(folder.expanduser()))


def releases_folder() -> Path:
    """Return the folder of releases: the option's, or ``$XDG_DATA_HOME/noisewright/releases``."""
    return _folder or user_data("releases")


def home_of(root: str | os.PathLike[str], dataset: str) -> Path:
    """Make the folder for the releases of a dataset, which only this account can read.

    What jobs that are gone left half written in it is deleted; what was complete is left to the next release of the same data.
    """
    home = Path(root) / (re.sub(r"[^A-Za-z0-9_-]+", "-", dataset).strip("-")[:LONGEST] or "dataset")
    try:
        missing = [folder for folder in (home, *home.parents) if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
        home.chmod(0o700)
        for path in home.glob(".*.staging"):
            if not (path / LOCK).exists():
                clean(home / path.name[1:].partition(".")[0])
    except OSError as problem:
        raise FileFormatError(
            f"{home} cannot be made ({problem.strerror or 'the disk refused'}); name another folder with --releases."
        ) from None
    return home


def kept_of(ledger: str) -> list[Kept]:
    """The kept releases that a ledger has by their ids, the latest first."""
    if not os.path.exists(ledger):
        return []
    book = Ledger(ledger, create_missing=False)
    known = {entry.release_id: entry.dataset for name in book.datasets() for entry in book.entries(name)}
    found = []
    for lock in releases_folder().glob(f"*/*/{LOCK}"):
        match = NAME.fullmatch(lock.parent.name)
        if match is not None and match[1] in known:
            found.append(Kept(lock.parent, known[match[1]]))
    return sorted(found, key=lambda one: one.name, reverse=True)


def find_kept(name: str) -> Kept | None:
    """The release that has this name in the folder that stays, which a link or a ledger states."""
    if NAME.fullmatch(name) is None:
        return None
    return next(
        (Kept(lock.parent, lock.parent.parent.name) for lock in releases_folder().glob(f"*/{name}/{LOCK}")), None
    )


def zipped(folder: Path, target: Path) -> Path:
    """Everything of a release in one file: its folder as it is, the policy next to it, and the public vectors that it needs."""
    if not (folder / LOCK).is_file():
        raise FileFormatError(f"{folder} does not hold a release any more; put it back from a copy.")
    policy = ""
    with suppress(OSError):
        policy = read_input(folder.with_suffix(".toml")).decode()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        if policy:
            archive.writestr("policy.toml", policy)
        if EMBEDDING in policy:
            archive.write(COMES_ALONG / EMBEDDING, EMBEDDING)
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            archive.write(file, Path("release") / file.relative_to(folder))
    return target
