"""``noisewright images``: photographs that may be shown, with a guarantee."""

from __future__ import annotations

import typer

from noisewright.cli.shared.commands import Command
from noisewright.core.loading.addresses import Addresses

__all__ = ["COMMAND", "PHOTOGRAPHS"]

PHOTOGRAPHS = Addresses(
    "noisewright.commands.images",
    "sub-command of images",
    {
        "find": "noisewright.cli.commands.images.find:COMMAND",
        "get": "noisewright.cli.commands.images.get:COMMAND",
        "obfuscate": "noisewright.cli.commands.images.obfuscate:COMMAND",
        "preview": "noisewright.cli.commands.images.preview:COMMAND",
        "train": "noisewright.cli.commands.images.train:COMMAND",
        "video": "noisewright.cli.commands.images.video:COMMAND",
    },
)
"""Sub-commands for photographs."""


def images(context: typer.Context) -> None:
    """Obfuscate photographs with a proved promise, look at what an epsilon does to one, or train a model."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


COMMAND = Command(images, table=PHOTOGRAPHS)
