"""Ledger records about the folder of a release, and the last step of a release whose process died before it could take it.

The last step of a release is a note in the ledger that its output is complete. A process that is killed after the
output appeared and before that note leaves a release that is whole in every way but this. The ledger itself can
confirm it: it sealed the lock, the lock lists every file, and no one without the ledger's key can make such a lock. Therefore
anyone who next looks at the folder with the ledger takes the step.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from noisewright.core.errors import LedgerError, NoisewrightError
from noisewright.releases.ledger.ledger import Ledger
from noisewright.releases.output.certificate import ReleaseCertificate
from noisewright.releases.output.lock import LOCK, Lock
from noisewright.releases.output.staging import clean

__all__ = ["FolderRecord", "check_locks", "check_record", "complete", "mend", "sealed_at", "sealed_lock"]


@dataclass(frozen=True)
class FolderRecord:
    """Statement of a ledger about a folder: the record at which its lock ends (None: the lock is older than chains), or
    a problem.
    """

    folder: str
    release: str | None = None
    record: int | None = None
    completed: bool = False
    """True if its last step was missing, and was taken now."""
    problem: str | None = None


def sealed_lock(folder: Path, ledger: Ledger) -> Lock | None:
    """The lock in a folder, if this ledger sealed it; :class:`LedgerError` if the ledger has lost records that it knows of."""
    try:
        lock = Lock.of_folder(folder)
    except (OSError, UnicodeError, NoisewrightError):
        return None
    if lock.simulated or not lock.sealed_by(ledger.seal):
        return None
    if lock.head is not None:
        ledger.check_holds(lock.head, f"the lock in {folder} keeps a later head")
    return lock


def check_locks(ledger: Ledger, output: str | os.PathLike[str] | None) -> None:
    """Refuse a ledger of which a lock next to the output, or at a recorded place or next to it, keeps a later head."""
    places = [Path(place) for place in ledger.places()] + ([] if output is None else [Path(os.path.realpath(output))])
    found = dict.fromkeys(places)
    for parent in dict.fromkeys(place.parent for place in places):
        with suppress(OSError):
            found.update(dict.fromkeys(lock.parent for lock in sorted(parent.glob(f"*/{LOCK}"))))
    for folder in found:
        sealed_lock(folder, ledger)


def sealed_at(ledger: Ledger | None, folder: Path) -> int:
    """Return the record at which the release in a folder was sealed; 0 unless the ledger sealed all of its files, and no other.

    A later number is a later release; of a lock without a head, only that it is sealed is known.
    """
    if ledger is None:
        return 0
    try:
        lock = sealed_lock(folder, ledger)
        if lock is None or lock.changed(folder) or lock.foreign(folder):
            return 0
        return 1 if lock.head is None else max(1, ledger.check_holds(lock.head))
    except (OSError, NoisewrightError):
        return 0


def mend(output: str | os.PathLike[str], ledger: Ledger | None) -> None:
    """Put right what a process that was killed left of an earlier release at this place."""
    with suppress(OSError, ValueError):  # a place that cannot be written is spoken of later
        clean(Path(os.path.realpath(output)), partial(sealed_at, ledger))
    if ledger is not None:
        complete(output, ledger)


def complete(folder: str | os.PathLike[str], ledger: Ledger) -> bool:
    """Note that the release in a folder is finished, if it is and its process died before it could; whether it did so now."""
    path = Path(folder)
    lock = sealed_lock(path, ledger)
    if lock is None or ledger.is_finished(lock.document["release"]) is not False:
        return False
    try:
        if lock.changed(path):
            return False
        certificate = ReleaseCertificate.of_folder(path)
    except (OSError, UnicodeError, NoisewrightError):
        return False
    ledger.finish(lock.document["release"], certificate.digest)
    return True


def check_record(folder: str | os.PathLike[str], ledger: Ledger) -> FolderRecord:
    """Check that a ledger sealed the lock in a folder, knows the head that it keeps, and has the release as finished.

    The files themselves are the business of :func:`~noisewright.releases.output.folder_check.verify_folder`.
    """
    path, name = Path(folder), str(folder)
    try:
        lock = sealed_lock(path, ledger)
        if lock is None:
            return FolderRecord(name, problem=f"it has no {LOCK} that {ledger.path} sealed.")
        release = lock.document["release"]
        record = None if lock.head is None else ledger.check_holds(lock.head)
        completed = complete(path, ledger)
        if not ledger.is_finished(release):
            return FolderRecord(name, release, record, problem=f"{ledger.path} has no record that it was finished.")
        return FolderRecord(name, release, record, completed)
    except LedgerError as problem:
        return FolderRecord(name, problem=str(problem))
