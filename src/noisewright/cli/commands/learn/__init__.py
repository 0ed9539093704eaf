"""``noisewright learn``: privatisers that hide a private value under a distortion budget, and what they can reach at best."""

from __future__ import annotations

import typer

from noisewright.cli.shared.commands import Command
from noisewright.core.loading.addresses import Addresses

__all__ = ["COMMAND", "LESSONS"]

LESSONS = Addresses(
    "noisewright.commands.learn",
    "sub-command of learn",
    {"optimum": "noisewright.cli.commands.learn.optimum:COMMAND"},
)
"""What is known without training."""


def learn(context: typer.Context) -> None:
    """Hide a private value under a distortion budget: optimum finds the best mechanism for a known joint law."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


COMMAND = Command(learn, table=LESSONS)
