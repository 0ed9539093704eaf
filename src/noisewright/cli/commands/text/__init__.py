"""``noisewright text``: documents whose words are obfuscated."""

from __future__ import annotations

import typer

from noisewright.cli.shared.commands import Command
from noisewright.core.loading.addresses import Addresses

__all__ = ["COMMAND", "WORK"]

WORK = Addresses(
    "noisewright.commands.text",
    "sub-command of text",
    {
        "obfuscate": "noisewright.cli.commands.text.obfuscate:COMMAND",
        "calibrate": "noisewright.cli.commands.text.calibrate:COMMAND",
    },
)
"""Sub-commands for texts."""


def text(context: typer.Context) -> None:
    """Obfuscate documents word by word, or find the epsilon for it; noisewright attack author says who is still named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


COMMAND = Command(text, table=WORK)
