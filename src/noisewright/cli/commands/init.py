"""``noisewright init``: a policy to start from, from the names and types of a table's columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from noisewright.cli.shared.arguments import TABLES
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, block, emit, facts, heading, labels, plural, working
from noisewright.cli.shared.targets import target_file

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.releases.curator.starting import Start

__all__ = ["COMMAND", "init"]


def init(
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help=f"The table: {TABLES}.",
            show_default=False,
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE.toml", help="Where the policy is written. Default: the screen."),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(metavar="NAME", help="The name in the ledger. Default: that of the file.")
    ] = None,
    from_data: Annotated[
        bool,
        typer.Option(
            "--from-data",
            metavar="",
            help="Copy ranges and categories from the data. They tell values of people; the policy says so.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a starting policy for a table: a mechanism, a distance and a part of the budget for every column.

    Ranges and categories are left to fill in, because a policy is published and may hold only what is known without the data.
    Of a table with types nothing is looked at but its schema; the types of CSV columns are guessed from their first cells.
    """
    from noisewright.files.atomic import write_atomically
    from noisewright.releases.curator.starting import starting_policy

    target = None if output is None else target_file(output, "a policy", (".toml",), new=True)
    with working("looking at the columns"):
        start = starting_policy(table, dataset=dataset, from_data=from_data)
    if target is not None:
        write_atomically(target, start.text.encode())
    document = {
        "output": output,
        "columns": list(start.columns),
        "left_out": list(start.left_out),
        "to_fill_in": start.waiting,
        "types_guessed": start.guessed,
        "from_data": start.from_data,
        "policy": start.text,
    }
    emit(document, lambda: _page(table, output, start), as_json)


def _page(table: str, output: str | None, start: Start) -> Iterable[RenderableType]:
    if output is None:
        yield block(start.text.rstrip("\n"))
        return
    yield heading(output, f"a starting policy for {plural(len(start.columns), 'column')} of {table}", "green")
    rows = [("To fill in", f'{plural(start.waiting, "place")} that say{"s" if start.waiting == 1 else ""} "FILL IN"')]
    if start.from_data:
        rows.append(("WARNING", "ranges and categories were copied from the data: they tell values of people in it"))
    if start.guessed:
        rows.append(("Types", "guessed from the cells; confirm them in the policy"))
    reasons: dict[str, list[str]] = {}
    for column in start.proposals:
        if column.mechanism is None:
            reasons.setdefault(column.words, []).extend(column.names)
    rows += [("Left out", f"{labels(names)} ({reason})") for reason, names in reasons.items()]
    rows.append(("Next", f"noisewright plan {output} {table}"))
    yield facts(rows)


COMMAND = Command(init)
