"""Releases that a ledger has lost, from their locks: each with the privacy costs that follow from its policy."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from noisewright.core.errors import FileFormatError, LedgerError, NoisewrightError, ParameterError
from noisewright.files.inputs import read_input
from noisewright.releases.ledger.budget_check import charges_of, terms_of
from noisewright.releases.ledger.ledger import Ledger, Lost
from noisewright.releases.output.lock import LOCK, Lock
from noisewright.releases.plan import make_plan
from noisewright.releases.policy.policy import Policy

__all__ = ["adopt"]


def adopt(ledger: Ledger, folders: Sequence[str | os.PathLike[str]], reason: str) -> tuple[int, int]:
    """Charge spends that witnesses and the locks in these folders record and the ledger does not.

    Return how many heads it had lost, and how many releases were charged.
    """
    lost = ledger.forgotten()
    lost += [one for folder in folders if (one := _lost(Path(folder), ledger)) is not None]
    if not lost:
        return 0, 0
    return len({one.head for one in lost}), ledger.adopt(lost, reason)


def _lost(folder: Path, ledger: Ledger) -> Lost | None:
    try:
        lock = Lock.from_json(read_input(folder / LOCK).decode())
    except (OSError, UnicodeError, FileFormatError):
        raise ParameterError(f"{folder} holds no {LOCK} that can be read; name the folders of releases.") from None
    if lock.simulated or not lock.sealed_by(ledger.seal):
        raise ParameterError(f"{ledger.path} did not seal the lock in {folder}; name folders that it made.")
    if lock.head is None:
        return None
    try:
        ledger.check_holds(lock.head)
        return None
    except LedgerError:
        pass
    try:
        policy = Policy.from_dict(lock.document["policy"], LOCK)
        plan = make_plan(policy, lock.types, lock.table_rows)
    except NoisewrightError as problem:
        raise LedgerError(f"the prices of the release in {folder} cannot be computed again: {problem}") from None
    release, digest = lock.document["release"], lock.document["policy_digest"]
    return Lost(lock.head, release, policy.dataset, digest, terms_of(plan), tuple(charges_of(plan)))
