"""Ledger records about the folder of a release, and the last step of a release whose process died before it could take it.

The last step of a release is a note in the ledger that its output is complete. A process that is killed after the
output appeared and before that note leaves a release that is whole in every way but this. The ledger itself can
confirm it: it sealed the lock, the lock lists every file, and no one without the ledger's key can make such a lock. Therefore
anyone who next looks at the folder with the ledger takes the step.
"""

from __future__ import annotations

import csv
import os
import secrets
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa

from noisewright._utils.inputs import read_input
from noisewright._utils.validation import OutputFormat
from noisewright.certificates.checker import checker
from noisewright.columns.nested import is_text
from noisewright.engines.local import rows_writer
from noisewright.exceptions import FileFormatError, LedgerError, NoisewrightError, ParameterError, ResourceError
from noisewright.ledger.ledger import Ledger
from noisewright.ledger.records import Earlier
from noisewright.policy.policy import Policy
from noisewright.queries.answers import QueryPlan
from noisewright.releases.certificate import (
    ANSWERS,
    CERTIFICATE,
    REPORT,
    ReleaseCertificate,
    answer_files,
    has_its_files,
)
from noisewright.releases.checks import charges_of
from noisewright.releases.lock import LOCK, Given, Lock, Making, Mark, Sealing, fingerprint
from noisewright.releases.plan import Plan, make_plan
from noisewright.releases.staging import Staging, clean
from noisewright.resources import in_place
from noisewright.tables.files import format_of, written_batches
from noisewright.tables.reading import source_of
from noisewright.tables.source import Source, harmless, harmless_name, original, original_name

__all__ = [
    "FolderCheck",
    "FolderRecord",
    "Written",
    "broken_off",
    "check_locks",
    "check_record",
    "complete",
    "converted",
    "find_written",
    "mend",
    "mend_unfinished",
    "paid_before",
    "read_answer",
    "read_folder",
    "replace_earlier",
    "sealed_at",
    "sealed_lock",
    "unknown_again",
    "verify_folder",
    "write_answer",
    "write_cells",
]


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

    The files themselves are the business of :func:`~noisewright.releases.folder.verify_folder`.
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


# Written answers ----------------------------------------------------------------------------------------------------------
#
# Answers as files of cells: text that a spreadsheet would run is harmless there, and comes back as it was.


def write_answer(table: pa.Table, path: Path) -> None:
    """An answer as a CSV file."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        write_cells(table, file)


def write_cells(table: pa.Table, file: TextIO) -> None:
    """A small table as the cells of a CSV file."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(harmless_name, table.column_names))
    writer.writerows(zip(*(harmless(column).to_pylist() for column in table.columns), strict=True))


def read_answer(path: Path, query: QueryPlan) -> pa.Table:
    """An answer as it was written: its groups are of the types that the policy gives them, and the rest are numbers and
    dates.
    """
    texts = {harmless_name(key.column): pa.string() for key in query.statistics[0].keys if is_text(key.array().type)}
    source = source_of(path, texts)
    table = pa.Table.from_batches(source.batches(source.schema.names), source.schema)
    return pa.table([original(c) for c in table.columns], names=[original_name(name) for name in table.column_names])


# Folder check -------------------------------------------------------------------------------------------------------------
#
# The folder of a release, checked as a whole: that its certificate is about the files that lie next to it.
#
# ``certificate.json`` alone proves arithmetic about the parts that it lists. Someone who rewrites the whole file can
# leave a part
# out and state a smaller total, and the rest is still proved. Therefore the folder is checked against its ``policy.lock``:
#
# * the folder holds the files that the lock lists and no others, each has the SHA-256 that is stated there, and so has
# the lock;
# * the policy in the lock, planned again, gives the parts, privacy costs and total of the certificate, the same kept
#   columns, and the columns of the released table.
#
# Someone who rewrites all files can still make them agree with each other. Only the ledger ends that: it sealed the
# lock, and it
# recorded the release with its policy, the privacy cost of every part and the digest of the certificate.


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


# Earlier ------------------------------------------------------------------------------------------------------------------
#
# An earlier release of the same data under the same policy: found where it went, read, and copied to other formats.
#
# A second draw of the same data costs the whole privacy cost again and discloses more to recipients than one draw did,
# so no one
# makes it by mistake. The ledger has the data again (:meth:`~noisewright.ledger.ledger.Ledger.made_before`) and
# where the output went; a folder that was moved is also found next to the new output. Only files that the
# ledger itself sealed are read.


@dataclass(frozen=True)
class Written:
    """A release in a folder."""

    folder: Path
    plan: Plan
    lock: Lock
    certificate: ReleaseCertificate
    answers: Mapping[str, pa.Table]
    page: str

    @property
    def table(self) -> Path | None:
        """The file of the released table; None if there are only answers."""
        return next(iter(sorted(self.folder.glob("data.*"))), None)

    def is_stored_as(self, format: OutputFormat) -> bool:
        """Return whether the released table, if there is one, is in this format."""
        return self.table is None or self.table.name == f"data.{format}"


def read_folder(folder: str | os.PathLike[str], plan: Plan, content: bytes, book: Ledger) -> Written | None:
    """The release in a folder, if it is of these data under this policy and the folder holds just the files that were written.

    ``content``: the SHA-256 of the data. Only the ledger that recorded the release can confirm it: it sealed the lock, which
    lists all files.
    """
    path = Path(folder)
    try:
        lock = Lock.of_folder(path)
        if lock.simulated or not lock.sealed_by(book.seal):
            return None
        if lock.document["policy_digest"] != plan.policy.digest() or lock.foreign(path) or lock.changed(path):
            return None
        if not has_its_files(plan, lock.document["outputs"]):
            return None
        if not secrets.compare_digest(lock.document["data"], fingerprint(book, content, lock.nonce)):
            return None
        certificate = ReleaseCertificate.of_folder(path)
        if certificate.document.get("order", "kept" if plan.columns else None) != plan.order:
            return None  # made before rows left in a random order
        page = read_input(path / REPORT).decode()
    except (OSError, UnicodeError, FileFormatError):
        return None
    answers = {q.name: read_answer(path / name, q) for q, name in zip(plan.queries, answer_files(plan), strict=True)}
    return Written(path, plan, lock, certificate, answers, page)


def find_written(
    plan: Plan, content: bytes, book: Ledger, output: str | os.PathLike[str] | None, format: OutputFormat
) -> Written | None:
    """The release of these data under this policy, wherever it is; in the wanted format, if one has it.

    :class:`ParameterError` if the ledger has of one that is not where it was written: a new draw would cost its privacy
    cost again.
    """
    if not content:
        return None
    recorded = book.made_before(plan.policy.digest(), content)
    folders = [Path(one.place) for one in recorded if one.place]
    target = None if output is None else Path(os.path.realpath(output))
    if target is not None:
        with suppress(OSError):
            folders += [lock.parent for lock in sorted(target.parent.glob(f"*/{LOCK}"))]
    places = [folder for folder in dict.fromkeys(folders) if folder != target]
    found = [one for folder in places if (one := read_folder(folder, plan, content, book)) is not None]
    wanted = [one for one in found if one.table is not None and one.is_stored_as(format)]
    if not found and recorded:
        raise ParameterError(_gone(recorded[0]))
    return next(iter([*wanted, *found]), None)


def _gone(earlier: Earlier) -> str:
    moved = ", where it is no more as it was" if earlier.place else ""
    found = "put that folder beside the output, where it is found, or " if earlier.place else ""
    return (
        f"these data were released under this policy already ({earlier.in_words()}{moved}), and a new draw would cost its price "
        f"again: {found}draw anew with again=True, --again."
    )


def paid_before(plan: Plan, book: Ledger) -> list[str]:
    """Return a warning where other data, or the same rows in other bytes, were released under this policy before."""
    return [
        f"{plan.policy.dataset!r} was released under this policy before ({earlier.in_words()}), from other bytes, and a release "
        "costs its price again; of the same rows in another file, use that one: --format copies it for nothing."
        for earlier in book.made_under(plan.policy.digest())[:1]
    ]


def mend_unfinished(plan: Plan, content: bytes, book: Ledger) -> None:
    """Complete the releases of these data under this policy that were whole when their process was killed, wherever they are."""
    for earlier in book.unfinished(plan.policy.digest(), content):
        if earlier.place:
            mend(earlier.place, book)


def broken_off(plan: Plan, content: bytes, book: Ledger) -> list[str]:
    """Return a warning where a release of these data under this policy was paid for and has no output that is known."""
    return [
        f"a release of these data under this policy was begun ({earlier.in_words()}) and not finished: it broke off, or is still "
        "running. What it cost stays spent, because something may have been drawn, and this release costs its price again."
        for earlier in book.unfinished(plan.policy.digest(), content)[:1]
    ]


def unknown_again(source: Source, content: bytes) -> list[str]:
    """Return a warning where the ledger cannot know the data again."""
    if content:
        return []
    return [
        f"the ledger will not know {source.name} again, nor files that its rows point to, because only Spark can read it: the "
        "same release made twice costs twice, and the same data under another dataset name get a second budget without a "
        "refusal. Always release these people under one dataset name."
    ]


def replace_earlier(there: Written, format: OutputFormat, replace: bool, content: bytes, book: Ledger) -> Written:
    """The release that lies at the output itself, in another format; no one loses the one that is there by mistake."""
    assert there.table is not None
    if not replace:
        raise ParameterError(
            f"{there.folder} holds this release already, as {there.table.name}: another folder gets a copy as {format} for "
            "nothing, and replace=True, --replace puts the copy here in its place."
        )
    return converted(there, there.folder, format, replace, content, book)


def converted(
    found: Written, output: str | os.PathLike[str], format: OutputFormat, replace: bool, content: bytes, book: Ledger
) -> Written:
    """Return the same rows in another format: nothing is drawn and nothing spent. Refused where that would not be
    another format.
    """
    table = found.table
    if table is None or found.is_stored_as(format) or table.is_dir():
        raise ParameterError(
            f"{found.folder} is the release of these data under this policy already, and a new draw would cost its price again: "
            "use that folder, copy it with another format for nothing, or draw anew with again=True, --again."
        )
    plan, name, lock = found.plan, f"data.{format}", found.lock
    with Staging(output, replace, sealed_at=partial(sealed_at, book)) as staging:
        folder = staging.folder
        page = found.page.replace(table.name, name)
        (folder / REPORT).write_text(page, encoding="utf-8")
        shutil.copy(found.folder / CERTIFICATE, folder / CERTIFICATE)
        for file in answer_files(plan):
            (folder / ANSWERS).mkdir(exist_ok=True)
            shutil.copy(found.folder / file, folder / file)
        with rows_writer(folder / name, format, pa.schema(list(plan.output_types.items()))) as write:
            for batch in written_batches(table, plan.output_types):
                write(batch)
        outputs = {file: folder / file for file in (name, REPORT, CERTIFICATE, *answer_files(plan))}
        mark = Mark.new(book, content)
        own = Lock.build(
            plan.policy,
            Making(lock.document["release"], lock.document["engine"]),
            Given(mark.fingerprint, mark.nonce, plan.types, lock.table_rows, plan.resources),
            outputs,
            rows=lock.rows,
            sealing=Sealing(book.seal, book.head()),
        )
        (folder / LOCK).write_text(own.to_json(), encoding="utf-8")
        staging.publish()
    return Written(staging.target, plan, own, found.certificate, found.answers, page)
