"""An earlier release of the same data under the same policy: found where it went, read, and copied to other formats.

A second draw of the same data costs the whole privacy cost again and discloses more to recipients than one draw did, so no one
makes it by mistake. The ledger has the data again (:meth:`~noisewright.releases.ledger.ledger.Ledger.made_before`) and
where the output went; a folder that was moved is also found next to the new output. Only files that the
ledger itself sealed are read.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa

from noisewright.core.errors import FileFormatError, ParameterError
from noisewright.files.inputs import read_input
from noisewright.releases.engines.engine import OutputFormat
from noisewright.releases.engines.local import rows_writer
from noisewright.releases.ledger.ledger import Earlier, Ledger
from noisewright.releases.output.certificate import ReleaseCertificate
from noisewright.releases.output.layout import ANSWERS, CERTIFICATE, REPORT, answer_files, has_its_files
from noisewright.releases.output.lock import LOCK, Given, Lock, Making, Sealing
from noisewright.releases.output.mark import Mark, fingerprint
from noisewright.releases.output.recorded import mend, sealed_at
from noisewright.releases.output.staging import Staging
from noisewright.releases.output.written_answers import read_answer
from noisewright.releases.plan import Plan
from noisewright.releases.sources.source import Source
from noisewright.releases.sources.written import written_batches

__all__ = [
    "Written",
    "broken_off",
    "converted",
    "find_written",
    "in_place",
    "mend_unfinished",
    "paid_before",
    "read_folder",
    "unknown_again",
]


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


def in_place(there: Written, format: OutputFormat, replace: bool, content: bytes, book: Ledger) -> Written:
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
