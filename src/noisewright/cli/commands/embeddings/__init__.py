"""``noisewright embeddings``: public word vectors, fetched, imported, trained and looked at."""

from __future__ import annotations

import typer

from noisewright.cli.shared.commands import Command
from noisewright.core.loading.addresses import Addresses

__all__ = ["COMMAND", "WORK"]

WORK = Addresses(
    "noisewright.commands.embeddings",
    "sub-command of embeddings",
    {
        "get": "noisewright.cli.commands.embeddings.get:COMMAND",
        "import": "noisewright.cli.commands.embeddings.importing:COMMAND",  # a module cannot be called by that word
        "train": "noisewright.cli.commands.embeddings.train:COMMAND",
        "info": "noisewright.cli.commands.embeddings.info:COMMAND",
    },
)
"""What can be done with embeddings."""


def embeddings(context: typer.Context) -> None:
    """Get, import, train or look at word embeddings: the public vectors that say which words are near to each other."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


COMMAND = Command(embeddings, table=WORK)
