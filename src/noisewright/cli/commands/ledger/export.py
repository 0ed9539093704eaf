"""``noisewright ledger export``: a ledger as a file for other programs."""

from __future__ import annotations

from typing import Annotated

import typer

from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, emit, heading, plural

__all__ = ["COMMAND", "export"]


def export(
    file: Annotated[str, typer.Argument(metavar="LEDGER", help="The ledger.")],
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="A .csv (one row for each part of each release) or .json."),
    ],
    as_json: AsJson = False,
) -> None:
    """Write a ledger to a .csv or a .json file, without its secret key and without anything about single units."""
    from noisewright.releases.ledger.export import export as write
    from noisewright.releases.ledger.ledger import Ledger

    ledger = Ledger(file, create_missing=False)
    written = write(ledger, output)
    entries = sum(len(ledger.entries(name)) for name in ledger.datasets())
    emit(
        {"ledger": str(ledger.path), "output": str(written), "datasets": len(ledger.datasets()), "entries": entries},
        lambda: [heading(str(written), f"written, with {plural(entries, 'recorded part')}")],
        as_json,
    )


COMMAND = Command(export)
