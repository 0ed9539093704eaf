"""``noisewright embeddings``: public word vectors, fetched, imported, trained and looked at."""

from __future__ import annotations

import typer

from noisewright.cli.shared.commands import Command
from noisewright.core.loading.addresses import Addresses

__all__ = ["COMMAND", "WORK"]

WORK = Addresses(
    "noisewright.commands.embeddings",
    "sub-command of embeddings",
    {word: f"noisewright.cli.commands.embeddings.{word}:COMMAND" for word in ("get", "import", "train", "info")},
)
"""Sub-commands for embeddings."""


def embeddings(context: typer.Context) -> None:
    """Get, import, train or look at word embeddings: the public vectors that say which words are near to each other."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


COMMAND = Command(embeddings, table=WORK)
