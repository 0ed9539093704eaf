"""``noisewright studio``: the workbench in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noisewright.cli.shared.commands import Command

__all__ = ["COMMAND", "studio"]


def studio(
    host: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Listen there too, for other machines. Default: this machine alone."),
    ] = None,
    port: Annotated[int, typer.Option(metavar="PORT", help="The port of the address.")] = 8080,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN",
            help="Answer only requests with this token: 16 characters or more. Default: a new one, printed with the address.",
        ),
    ] = None,
    no_token: Annotated[
        bool,
        typer.Option(
            "--no-token", help="Answer every user of this machine without a token; only for addresses of this machine."
        ),
    ] = False,
    releases: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep released tables in this folder. Default: noisewright/releases in your data folder.",
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--show/--no-show", help="Open a browser.")] = True,
) -> None:
    """Open the workbench in a browser: design, compare and check mechanisms, and protect tables, on this machine."""
    from noisewright.studio.server import serve

    serve(host, port, token, show, no_token=no_token, releases=releases)


COMMAND = Command(studio)
