"""The folder of a release, checked as a whole: that its certificate is about the files that lie next to it.

``certificate.json`` alone proves arithmetic about the parts that it lists. Someone who rewrites the whole file can leave a part
out and state a smaller total, and the rest is still proved. Therefore the folder is checked against its ``policy.lock``:

* the folder holds the files that the lock lists and no others, each has the SHA-256 that is stated there, and so has the lock;
* the policy in the lock, planned again, gives the parts, privacy costs and total of the certificate, the same kept
  columns, and the columns of the released table.

Someone who rewrites all files can still make them agree with each other. Only the ledger ends that: it sealed the lock, and it
recorded the release with its policy, the privacy cost of every part and the digest of the certificate.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noisewright.core.certificates.checker import checker
from noisewright.core.errors import LedgerError, NoisewrightError, ResourceError
from noisewright.core.resource import in_place
from noisewright.releases.ledger.budget_check import charges_of
from noisewright.releases.ledger.ledger import Ledger
from noisewright.releases.output.certificate import ReleaseCertificate
from noisewright.releases.output.layout import CERTIFICATE, has_its_files
from noisewright.releases.output.lock import LOCK, Lock
from noisewright.releases.output.recorded import complete
from noisewright.releases.plan import Plan, make_plan
from noisewright.releases.policy.policy import Policy
from noisewright.releases.sources.files import format_of
from noisewright.releases.sources.formulas import original_name
from noisewright.releases.sources.open import source_of

__all__ = ["FolderCheck", "verify_folder"]

ABOUT = ("dataset", "neighbours", "floating", "kept", "context_aware", "order", "exact", "total", "randomness")
CERTIFIED = ("claim", "mechanism", "resources", "seed")
PART = ("name", "kind", "statistic", "columns", "protects", "times", "distance", "price", "delta")


@dataclass(frozen=True)
class FolderCheck:
    """Findings of a check: ``agreed`` lists true statements, ``problems`` false ones. The proof of the certificate is apart."""

    agreed: tuple[str, ...]
    problems: tuple[str, ...]
    unchecked: tuple[str, ...] = ()
    """Files that could not be examined, because a public file is not here."""


def verify_folder(folder: Path, ledger: Ledger | None = None) -> FolderCheck:
    """Check that the files of a release belong together, and with a ledger that they are what it recorded."""
    try:
        lock = Lock.of_folder(folder)
        certificate = ReleaseCertificate.of_folder(folder)
    except (OSError, UnicodeError):
        return FolderCheck((), (f"there is no {LOCK} or no {CERTIFICATE} that can be read in the folder.",))
    except NoisewrightError as problem:
        return FolderCheck((), (str(problem),))
    agreed: list[str] = []
    problems: list[str] = []

    def say(found: list[str], otherwise: str) -> None:
        problems.extend(found)
        if not found:
            agreed.append(otherwise)

    say(_files(folder, lock), "every file is as it was written, and there is no other")
    try:
        here, missing = in_place(lock.resources)
        plan, found = _planned(lock, complete=not missing, counts_are_public=certificate.document.get("version") != 1)
    except NoisewrightError as problem:
        return FolderCheck(tuple(agreed), (*problems, str(problem)))
    agreed.extend(here)
    if plan is None:
        problems.extend(found)
        if not found and ledger is not None and not lock.sealed_by(ledger.seal):
            problems.append(_not_sealed(ledger))
    else:
        say(
            _about(plan, certificate, lock),
            "the certificate has the parts and prices that follow from the policy in the lock",
        )
        say(_outputs(folder, plan, lock), "the released columns and answers are those of the policy")
        if ledger is not None:
            say(
                _recorded(folder, plan, certificate, lock, ledger),
                f"{ledger.path} sealed the lock and recorded this release",
            )
    return FolderCheck(tuple(agreed), tuple(problems), tuple(missing))


def _files(folder: Path, lock: Lock) -> list[str]:
    try:
        found = [] if lock.intact else [f"{LOCK} was changed after the release: its digest does not match."]
        found += [f"{name} is missing or was changed after the release." for name in lock.changed(folder)]
        return found + [f"{name} is no part of the release." for name in lock.foreign(folder)]
    except OSError as problem:
        return [f"the folder cannot be read: {problem.strerror}."]


def _planned(lock: Lock, complete: bool, counts_are_public: bool) -> tuple[Plan | None, list[str]]:
    """The plan that the locked policy gives for a table with the locked columns.

    ``complete``: all public files are here. Where they are not, a plan that needs them is None without a word.
    """
    try:
        policy = Policy.from_dict(lock.document["policy"], LOCK)
        if policy.digest() != lock.document["policy_digest"]:
            return None, ["the policy in the lock was changed: its digest does not match."]
        return make_plan(policy, lock.types, lock.table_rows, counts_are_public=counts_are_public), []
    except NoisewrightError as problem:
        if isinstance(problem, ResourceError) and not complete:
            return None, []
        return None, [f"the policy in the lock cannot be planned again: {problem}"]


def _about(plan: Plan, certificate: ReleaseCertificate, lock: Lock) -> list[str]:
    """Describe the differences of the certificate from the plan's certificate."""
    try:
        stated: Any = checker.current(dict(certificate.document))
    except (checker.NotProved, LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as problem:
        return [f"the certificate cannot be read: {problem}"]
    wanted: Any = ReleaseCertificate.build(plan, simulated=lock.simulated).document
    found = [
        f"the certificate says another {name} than the policy in the lock gives."
        for name in ABOUT
        if stated.get(name) != wanted.get(name) and (name, stated.get(name)) != ("order", "unsaid")
    ]
    if plan.resources != lock.resources:
        found.append("the lock names other public files than its policy gives.")
    listed = [document.get("parts") for document in (stated, wanted)]
    parts = [[_part(part) for part in parts] if isinstance(parts, list) else [] for parts in listed]
    if parts[0] != parts[1]:
        missing = [part["name"] for part in parts[1] if part not in parts[0]]
        which = f" (look at {missing[0]!r})" if missing else ""
        found.append(f"the parts of the certificate are not those that the policy in the lock gives{which}.")
    return found


def _part(part: Any) -> dict[str, Any]:
    """Return the fields that must agree: proofs may differ between versions of the program, but claims may not."""
    if not isinstance(part, dict) or not isinstance(part.get("certificate"), dict):
        return {"name": None}
    try:
        own = checker.current(part["certificate"])
    except (checker.NotProved, LookupError, TypeError, ValueError, ArithmeticError):
        return {"name": None}
    return {**{name: part.get(name) for name in PART}, **{name: own.get(name) for name in CERTIFIED}}


def _outputs(folder: Path, plan: Plan, lock: Lock) -> list[str]:
    if not has_its_files(plan, lock.document["outputs"]):
        return ["the lock does not list the files that a release under its policy has."]
    if not plan.columns:
        return []
    (table,) = (name for name in lock.document["outputs"] if name.startswith("data."))
    try:
        names = source_of(folder / table).schema.names
        names = [original_name(name) for name in names] if format_of(table) == "csv" else names
    except NoisewrightError as problem:
        return [f"the released table cannot be read: {problem}"]
    if names != [name for column in plan.columns for name in column.outputs]:
        return ["the released table has other columns than the policy in the lock gives."]
    return []


def _recorded(folder: Path, plan: Plan, certificate: ReleaseCertificate, lock: Lock, ledger: Ledger) -> list[str]:
    if not lock.sealed_by(ledger.seal):
        return [_not_sealed(ledger)]
    try:
        complete(folder, ledger)  # its process may have died before its last step
    except LedgerError as problem:
        return [str(problem)]
    try:
        entries = [e for e in ledger.entries(plan.policy.dataset) if e.release_id == lock.document["release"]]
    except LedgerError:
        entries = []
    if not entries:
        return [f"{ledger.path} has no record of this release."]
    first = entries[0]
    if first.state != "finished" or first.output != certificate.document.get("digest"):
        return [f"{ledger.path} has no record that this release was finished with this certificate."]
    charged = [(c.name, c.kind, c.epsilon, c.delta) for c in charges_of(plan)]
    if first.policy != plan.policy.digest() or charged != [(e.name, e.kind, e.epsilon, e.delta) for e in entries]:
        return [f"{ledger.path} recorded another policy, or other prices, for this release."]
    return []


def _not_sealed(ledger: Ledger) -> str:
    return f"{ledger.path} did not seal this lock: it is of another ledger, or it was changed."
