"""``noisewright ledger``: the spends of every budget, for people and for programs."""

from __future__ import annotations

import typer

from noisewright.cli.shared.commands import Command
from noisewright.core.loading.addresses import Addresses

__all__ = ["COMMAND", "VIEWS"]

VIEWS = Addresses(
    "noisewright.commands.ledger",
    "sub-command of ledger",
    {
        word: f"noisewright.cli.commands.ledger.{word}:COMMAND"
        for word in ("show", "export", "backup", "check", "adopt")
    },
)
"""Sub-commands for a ledger."""


def ledger(context: typer.Context) -> None:
    """Show, export, copy, check or repair a ledger: the budget of every dataset, and what its releases have spent of it."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


COMMAND = Command(ledger, table=VIEWS, files="show")
