"""``noisewright ledger check``: whether a ledger is whole, and knows the releases that it recorded."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from noisewright.cli.commands.plan import WitnessFile
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, emit, facts, heading, label, plural, printable, working

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.releases.ledger.records import Checked
    from noisewright.releases.output.recorded import FolderRecord

__all__ = ["COMMAND", "check", "checked_facts"]


def check(
    file: Annotated[str, typer.Argument(metavar="LEDGER", help="The ledger.")],
    folders: Annotated[
        list[str] | None, typer.Argument(metavar="FOLDER", help="Folders of releases that it recorded.")
    ] = None,
    witness: WitnessFile = None,
    as_json: AsJson = False,
) -> None:
    """Check that a ledger is whole: every page, every record in its chain, every account.

    The lock of each release keeps the head that the chain had, and so do witnesses. A ledger that was replaced by an older copy
    does not know it, so name the folders of releases to find that out. A release whose process was killed in its last step is
    completed.
    Ends with code 0 only when everything agrees.
    """
    from noisewright.core.errors import LedgerError
    from noisewright.releases.ledger.ledger import Ledger
    from noisewright.releases.output.recorded import check_record

    with working("checking"):
        ledger = Ledger(file, create_missing=False, witness=witness)
        try:
            seen, doubt = ledger.check_witnesses(), None
        except LedgerError as problem:
            seen, doubt = 0, str(problem)
        results = [check_record(folder, ledger) for folder in folders or []]
        found = ledger.check()
    agrees = doubt is None and all(result.problem is None for result in results)
    emit(
        {
            "ledger": str(ledger.path),
            "agrees": agrees,
            **asdict(found),
            "witnessed": seen,
            "problem": doubt,
            "folders": [asdict(result) for result in results],
        },
        lambda: [
            heading(str(ledger.path), "whole" if agrees else _otherwise(doubt), _colour(agrees)),
            facts([*checked_facts(found), ("Witnesses", printable(doubt or f"know {plural(seen, 'head')} of it"))]),
            *(part for result in results for part in _folder(result)),
        ],
        as_json,
    )
    if not agrees:
        raise typer.Exit(1)


def _otherwise(doubt: str | None) -> str:
    return "NOT the ledger of every folder" if doubt is None else "NOT the latest copy"


def checked_facts(found: Checked) -> list[tuple[str, str]]:
    """Return the findings of a check, for people."""
    if found.records is None:
        chain = "none yet: an earlier version wrote this ledger, and the next release adds it"
    else:
        chain = f"{plural(found.records, 'record')}, ending in {found.head}"
    return [
        ("Chain", chain),
        ("Releases", str(found.releases)),
        *([("Accounts", str(found.accounts))] if found.accounts else []),
    ]


def _folder(result: FolderRecord) -> list[RenderableType]:
    said = [("Wrong", result.problem)] if result.problem else []
    if result.release is not None:
        said.append(("Release", label(result.release)))
    if not result.problem:
        older = "not known: its lock is of an earlier version"
        said.append(("Lock ends at", older if result.record is None else f"record {result.record}"))
    if result.completed:
        said.append(
            ("Completed", "its process ended before this ledger could note that it was finished; that was done now")
        )
    agrees = result.problem is None
    title = heading(result.folder, "recorded" if agrees else "NOT as recorded", _colour(agrees))
    return [title, facts((what, printable(value)) for what, value in said)]


def _colour(good: bool) -> str:
    return "bold green" if good else "bold red"


COMMAND = Command(check)
