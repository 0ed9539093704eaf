"""``noisewright learn``: privatisers that hide a private value under a distortion budget, and their optimum."""

from __future__ import annotations

import typer

from noisewright.cli.shared.commands import Command
from noisewright.core.loading.addresses import Addresses

__all__ = ["COMMAND", "LESSONS"]

LESSONS = Addresses(
    "noisewright.commands.learn",
    "sub-command of learn",
    {name: f"noisewright.cli.commands.learn.{name}:COMMAND" for name in ("train", "optimum")},
)
"""Sub-commands: training, and optima that are known without it."""


def learn(context: typer.Context) -> None:
    """Hide a private value under a distortion budget: learned from a table, or the best there is for a known joint law.

    noisewright learn TABLE --private COLUMN --distortion D -o FILE.nwm is short for learn train.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


COMMAND = Command(learn, table=LESSONS, files="train")
