"""``noisewright attack suppression``: infer cells that were left out of a table from its totals."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright._utils.validation import printable
from noisewright.cli.app import Command
from noisewright.cli.arguments import TABLES, target_file
from noisewright.render.text import AsJson, emit, facts, heading, label, plural, wants_json, working

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import RenderableType

    from noisewright.attacks.disclosure import CellBounds, Linked

__all__ = ["LINKAGE_COMMAND", "SUPPRESSION_COMMAND", "read_columns"]


SUPPRESSION_SUMMARY = "between which numbers the cells must lie that were left out of a published table with totals"
MOST_SHOWN = 12


def attack_suppression(
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
    from noisewright.attacks.disclosure import SuppressedTable
    from noisewright.exceptions import ParameterError
    from noisewright.io.serialization import load_gaps_csv

    target = None if output_file is None else target_file(output_file, "a list of bounds", (".csv",))
    names, columns, cells = load_gaps_csv(table)
    with working("bounding"):
        made = SuppressedTable(cells)
        if not made.suppressed:
            raise ParameterError(f"{Path(table).name} has no suppressed cell; leave one empty, or write * there.")
        found = made.bounds()
    bounds = [_cell(names[cell.row], columns[cell.column], cell) for cell in found]
    if target is not None:
        _write_bounds(bounds, target)
    data: dict[str, Any] = {
        "table": table,
        "suppressed": len(bounds),
        "disclosed": sum(cell["disclosed"] for cell in bounds),
        "cells": bounds,
        "file": None if target is None else str(target),
    }
    emit(data, lambda: _suppression_page(data), wants_json(context, as_json))


def _cell(row: str, column: str, cell: CellBounds) -> dict[str, Any]:
    high = None if cell.high is None else str(cell.high)
    return {"row": row, "column": column, "low": str(cell.low), "high": high, "disclosed": cell.disclosed}


def _write_bounds(bounds: list[dict[str, Any]], target: Path) -> None:
    from noisewright.io.atomic import write_atomically

    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, ["row", "column", "low", "high"], extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(bounds)
    write_atomically(target, text.getvalue().encode())


def _suppression_page(data: dict[str, Any]) -> list[RenderableType]:
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


SUPPRESSION_COMMAND = Command(attack_suppression, summary=SUPPRESSION_SUMMARY)


# Tables -------------------------------------------------------------------------------------------------------------------
#
# Tables that attacks are run on.


def read_columns(path: str, columns: Sequence[str]) -> pa.Table:
    """Some columns of a file; its types are its own, or those that all its cells have."""
    import pyarrow as pa

    from noisewright._utils.validation import nearest_name
    from noisewright.exceptions import DataError
    from noisewright.tables.reading import source_of

    source = source_of(path)
    names = list(dict.fromkeys(columns))
    for name in names:
        if name not in source.schema.names:
            near = nearest_name(name, source.schema.names)
            hint = "name one that is in its header." if near is None else f"did you mean {near}?"
            raise DataError(f"{Path(path).name} has no column {name!r}; {hint}")
    schema = pa.schema([source.schema.field(name) for name in names])
    return pa.Table.from_batches(source.batches(names), schema)


# Linkage ------------------------------------------------------------------------------------------------------------------
#
# ``noisewright attack linkage``: rows that stand out in a table, and whom a table of known people finds in it.


LINKAGE_SUMMARY = "which rows of a table stand out in columns that others know, and whom a second table finds there"
NO_PROMISE = (
    "rows that hide among others are no promise: those others may share the secret, and a second release may part them."
)


def attack_linkage(
    context: typer.Context,
    table: Annotated[
        str,
        typer.Argument(metavar="TABLE", help=f"The table: {TABLES}."),
    ],
    known: Annotated[
        str | None,
        typer.Argument(metavar="KNOWN", help="A table of known people that is joined with it.", show_default=False),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option("--on", metavar="A,B,...", help="The columns that somebody may know, such as postcode,born,sex."),
    ] = None,
    output_file: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE.csv", help="With KNOWN: write the numbers of linked rows there, from 1."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say how many rows share what others know (k-anonymity), and join with a table of known people (a linkage attack).

    A row is linked where its values in these columns occur once in either table. Both are read as they are: what this prints is
    about your own data, and is not private itself.
    """
    from noisewright.attacks.disclosure import anonymity, link
    from noisewright.exceptions import ParameterError

    columns = [name.strip() for name in next(csv.reader([on or ""], skipinitialspace=True), [])]
    if not columns or not all(columns):
        raise ParameterError("name the columns that somebody may know with --on, such as --on postcode,born,sex.")
    if output_file is not None and known is None:
        raise ParameterError("-o writes linked rows, which needs a second table; give one, or leave -o out.")
    target = None if output_file is None else target_file(output_file, "a list of linked rows", (".csv",))
    with working("joining"):
        read = read_columns(table, columns)
        alike = anonymity(read, columns)
        linked = None if known is None else link(read, read_columns(known, columns), columns)
    if target is not None and linked is not None:
        _write_linkage(linked, target)
    data: dict[str, Any] = {
        "table": table,
        "known": known,
        **alike.to_json(),
        "linkage": None if linked is None else linked.to_json(),
        "private": False,
        "file": None if target is None else str(target),
    }
    emit(data, lambda: _linkage_page(data), wants_json(context, as_json))


def _write_linkage(linked: Linked, target: Path) -> None:
    from noisewright.io.atomic import write_atomically

    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["row", "known_row"])
    writer.writerows((linked.pairs + 1).tolist())
    write_atomically(target, text.getvalue().encode())


def _linkage_page(data: dict[str, Any]) -> list[RenderableType]:
    total, alone, k = data["rows"], data["rows_alone"], data["k"]
    others = (
        "some rows share their combination with nobody"
        if k == 1
        else f"every row is one of {k:,} or more that are alike"
    )
    rows = [
        ("Known", f"{', '.join(data['columns'])}: {plural(data['combinations'], 'combination')} among {total:,} rows"),
        ("k", f"{k:,}: {others}"),
        ("Alone", f"{_rows(alone, total)}, with a combination of their own"),
    ]
    linkage = data["linkage"]
    if linkage is not None:
        count = linkage["linked"]
        more = linkage["possible"] - count
        rows += [
            ("Linked", f"{_rows(count, total)}, to one row of {data['known']} and to no other"),
            (
                "Possible",
                f"{plural(more, 'more row')} with a combination that occurs there, on either side more than once",
            ),
        ]
        if linkage["left_out"]:
            rows.append(("Left out", f"{plural(linkage['left_out'], 'row')} without a value in one of the columns"))
    rows.append(("NOT private", "these counts are of the table as it is; keep them as you keep the table"))
    rows.append(("Beware", NO_PROMISE))
    if data["file"]:
        rows.append(("File", f"written to {data['file']}: numbers of rows, from 1, without the header"))
    return [heading(data["table"], "who stands out"), facts((what, printable(text)) for what, text in rows)]


def _rows(count: int, total: int) -> str:
    from noisewright.claims.figures import figure

    return f"{plural(count, 'row')} ({figure(100 * count / total, 3, 'nearest')} %)"


LINKAGE_COMMAND = Command(attack_linkage, summary=LINKAGE_SUMMARY)
