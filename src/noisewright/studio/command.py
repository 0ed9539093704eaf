"""``noisewright studio``: the workbench in a browser."""

from __future__ import annotations

from typing import Annotated

import typer

from noisewright.cli.shared.commands import Command

__all__ = ["COMMAND", "studio"]


def studio(
    host: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Listen there too, for other machines; needs --token. Default: this machine alone."
        ),
    ] = None,
    port: Annotated[int, typer.Option(metavar="PORT", help="The port of the address.")] = 8080,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN",
            help="Answer only who knows it: 16 characters or more, or new to have one made and printed.",
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--show/--no-show", help="Open a browser.")] = True,
) -> None:
    """Open the workbench in a browser: design, compare and check mechanisms, and protect tables, on this machine."""
    from noisewright.studio.server import serve

    serve(host, port, token, show)


COMMAND = Command(studio)
