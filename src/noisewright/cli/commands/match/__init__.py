"""``noisewright match``: find similar people without seeing them."""

from __future__ import annotations

import typer

from noisewright.cli.shared.commands import Command
from noisewright.core.loading.addresses import Addresses

__all__ = ["COMMAND", "ROLES"]

ROLES = Addresses(
    "noisewright.commands.match",
    "sub-command of match",
    {
        "seed": "noisewright.cli.commands.match.seed:COMMAND",
        "encode": "noisewright.cli.commands.match.encode:COMMAND",
        "search": "noisewright.cli.commands.match.search:COMMAND",
        "evaluate": "noisewright.cli.commands.match.evaluate:COMMAND",
    },
)
"""Roles: service operators, the people, and trials before a service."""


def match(context: typer.Context) -> None:
    """Match people by short noisy codes: seed makes a public scheme, encode runs where profiles are, search where codes are."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


COMMAND = Command(match, table=ROLES)
