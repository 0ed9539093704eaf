"""``noisewright attack linkage``: rows that stand out in a table, and whom a table of known people finds in it."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.commands.attack._tables import read_columns
from noisewright.cli.shared.arguments import TABLES
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, emit, facts, heading, plural, printable, wants_json, working
from noisewright.cli.shared.targets import target_file

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.adversary.disclosure.linkage import Linked

__all__ = ["COMMAND"]

SUMMARY = "which rows of a table stand out in columns that others know, and whom a second table finds there"
NO_PROMISE = (
    "rows that hide among others are no promise: those others may share the secret, and a second release may part them."
)


def command(
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
    from noisewright.adversary.disclosure.linkage import anonymity, link
    from noisewright.core.errors import ParameterError

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
        _write(linked, target)
    data: dict[str, Any] = {
        "table": table,
        "known": known,
        **alike.to_json(),
        "linkage": None if linked is None else linked.to_json(),
        "private": False,
        "file": None if target is None else str(target),
    }
    emit(data, lambda: _page(data), wants_json(context, as_json))


def _write(linked: Linked, target: Path) -> None:
    from noisewright.files.atomic import write_atomically

    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["row", "known_row"])
    writer.writerows((linked.pairs + 1).tolist())
    write_atomically(target, text.getvalue().encode())


def _page(data: dict[str, Any]) -> list[RenderableType]:
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
    from noisewright.core.exact import figure

    return f"{plural(count, 'row')} ({figure(100 * count / total, 3, 'nearest')} %)"


COMMAND = Command(command, summary=SUMMARY)
