"""``noisewright ledger adopt``: charge what an older copy of a ledger has forgotten."""

from __future__ import annotations

from typing import Annotated

import typer

from noisewright.cli.commands.plan import WitnessFile
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, emit, facts, heading, plural, working

__all__ = ["COMMAND", "adopt"]


def adopt(
    file: Annotated[
        str, typer.Argument(metavar="LEDGER", help="The ledger, an older copy of which no newer one is left.")
    ],
    folders: Annotated[
        list[str] | None, typer.Argument(metavar="FOLDER", help="Folders of releases that it made and has forgotten.")
    ] = None,
    reason: Annotated[
        str, typer.Option(metavar="REASON", help="Required. What happened to the ledger; it is recorded.")
    ] = "",
    witness: WitnessFile = None,
    as_json: AsJson = False,
) -> None:
    """Charge what an older copy of a ledger has forgotten, as its witnesses and the locks of its releases tell it.

    Restore the latest copy instead, if there is one. What is charged may go beyond the budget, and is not given back.
    """
    from noisewright.core.errors import ParameterError
    from noisewright.releases.ledger.ledger import Ledger
    from noisewright.releases.output.adopting import adopt as adopted

    if not reason:
        raise ParameterError('say what happened to the ledger: --reason "the disk failed".')
    with working("adopting"):
        ledger = Ledger(file, create_missing=False, witness=witness)
        lost, charged = adopted(ledger, folders or [], reason)
    found = {"ledger": str(ledger.path), "lost": lost, "charged": charged}
    done = "has lost nothing that is known of" if not lost else "goes on, and what it had forgotten is charged"
    emit(
        found,
        lambda: [
            heading(str(ledger.path), done, "bold green"),
            facts([("Lost", plural(lost, "head")), ("Charged", plural(charged, "release"))]),
        ],
        as_json,
    )


COMMAND = Command(adopt)
