"""``noisewright attack suppression``: infer cells that were left out of a table from its totals."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, emit, facts, heading, label, plural, printable, wants_json, working
from noisewright.cli.shared.targets import target_file

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.adversary.disclosure.suppression import CellBounds

__all__ = ["COMMAND"]

SUMMARY = "between which numbers the cells must lie that were left out of a published table with totals"
MOST_SHOWN = 12


def command(
    context: typer.Context,
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE.csv",
            help="Names in the first row and column, totals in the last; a suppressed cell is empty, *, x or -.",
        ),
    ],
    output_file: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE.csv", help="Write the bounds of all suppressed cells there."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Bound every cell that was left out of a table of counts or amounts whose rows and columns add up to published totals.

    A cell whose least and greatest possible value are one number is disclosed. Bounds are exact, and proved in whole numbers.
    """
    from noisewright.adversary.disclosure.suppression import SuppressedTable
    from noisewright.core.errors import ParameterError
    from noisewright.files.channels import load_gaps_csv

    target = None if output_file is None else target_file(output_file, "a list of bounds", (".csv",))
    names, columns, cells = load_gaps_csv(table)
    with working("bounding"):
        made = SuppressedTable(cells)
        if not made.suppressed:
            raise ParameterError(f"{Path(table).name} has no suppressed cell; leave one empty, or write * there.")
        found = made.bounds()
    bounds = [_cell(names[cell.row], columns[cell.column], cell) for cell in found]
    if target is not None:
        _write(bounds, target)
    data: dict[str, Any] = {
        "table": table,
        "suppressed": len(bounds),
        "disclosed": sum(cell["disclosed"] for cell in bounds),
        "cells": bounds,
        "file": None if target is None else str(target),
    }
    emit(data, lambda: _page(data), wants_json(context, as_json))


def _cell(row: str, column: str, cell: CellBounds) -> dict[str, Any]:
    high = None if cell.high is None else str(cell.high)
    return {"row": row, "column": column, "low": str(cell.low), "high": high, "disclosed": cell.disclosed}


def _write(bounds: list[dict[str, Any]], target: Path) -> None:
    from noisewright.files.atomic import write_atomically

    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, ["row", "column", "low", "high"], extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(bounds)
    write_atomically(target, text.getvalue().encode())


def _page(data: dict[str, Any]) -> list[RenderableType]:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for title in ("row", "column", "least", "greatest", ""):
        shown.add_column(title, justify="right" if title in ("least", "greatest") else "left")
    first = sorted(data["cells"], key=lambda cell: not cell["disclosed"])[:MOST_SHOWN]
    for cell in first:
        told = "disclosed" if cell["disclosed"] else ""
        ends = cell["low"], "no end" if cell["high"] is None else cell["high"]
        shown.add_row(label(cell["row"]), label(cell["column"]), *ends, Text(told, "bold red"))
    rest = data["suppressed"] - len(first)
    verdict = f"{data['disclosed']} of {plural(data['suppressed'], 'suppressed cell')} can be worked out"
    rows = [] if not rest else [("And", f"{plural(rest, 'more cell')}; -o FILE.csv writes all of them")]
    if data["file"]:
        rows.append(("File", f"written to {data['file']}"))
    return [
        heading(data["table"], verdict, "bold red" if data["disclosed"] else ""),
        Padding(shown, (1, 0, 1, 2)),
        facts((what, printable(text)) for what, text in rows),
    ]


COMMAND = Command(command, summary=SUMMARY)
