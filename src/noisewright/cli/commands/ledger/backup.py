"""``noisewright ledger backup``: a checked copy of a ledger."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from noisewright.cli.commands.ledger.check import checked_facts
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, emit, facts, heading

__all__ = ["COMMAND", "backup"]


def backup(
    file: Annotated[str, typer.Argument(metavar="LEDGER", help="The ledger.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The copy; nothing is overwritten.")],
    as_json: AsJson = False,
) -> None:
    """Copy a ledger to a new file, also while others use it, and check the copy before it gets its name.

    The copy holds the secret key too. Keep it where only you can read it.
    """
    from noisewright.releases.ledger.backup import back_up
    from noisewright.releases.ledger.ledger import Ledger

    ledger = Ledger(file, create_missing=False)
    copy = back_up(ledger, target)
    found = copy.check()
    emit(
        {"ledger": str(ledger.path), "copy": str(copy.path), **asdict(found)},
        lambda: [heading(str(copy.path), "a whole copy, checked", "bold green"), facts(checked_facts(found))],
        as_json,
    )


COMMAND = Command(backup)
