"""``noisewright match search``: whose codes are nearest; runs where codes are, and nothing else."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, emit, heading, plural, printable, working
from noisewright.cli.shared.targets import target_file

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.matching.server import Matches

__all__ = ["COMMAND", "search"]

MOST_SHOWN = 20
"""Maximum number of people shown on a page; a file holds all of them."""
HEADS = ("name", "rank", "neighbour", "bits_that_differ", "distance", "low", "high")


def search(
    codes: Annotated[
        list[str], typer.Argument(metavar="CODES...", help="Files of codes: those of clients, or an index.")
    ],
    public: Annotated[str, typer.Option(metavar="FILE.json", help="The public scheme of the service.")],
    of: Annotated[
        list[str] | None,
        typer.Option("--for", metavar="NAME", help="Whose neighbours; may be repeated. \\[default: everybody's]"),
    ] = None,
    query: Annotated[
        str | None, typer.Option(metavar="FILE.nwc", help="Search with the codes of this file, which stay outside.")
    ] = None,
    neighbours: Annotated[int, typer.Option("--neighbours", "-k", metavar="K", help="How many for each.")] = 10,
    without: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Forget this person first; may be repeated.")
    ] = None,
    kind: Annotated[
        str,
        typer.Option(metavar="flat|hnsw|ivf", help="flat is exact; the others are for many millions, and miss some."),
    ] = "flat",
    confidence: Annotated[float, typer.Option(metavar="C", help="Of the intervals of distances.")] = 0.95,
    save: Annotated[
        str | None, typer.Option(metavar="FILE.nwc", help="Keep the index, with what was added and forgotten.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE.csv", help="Write all neighbours there.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find whose noisy codes are nearest, and how far away the profiles behind them are; no profile is ever seen.

    Ties are broken at random, afresh in every search. Codes of two schemes are never mixed.
    """
    from noisewright.core.errors import ParameterError
    from noisewright.files.atomic import write_atomically
    from noisewright.matching.search.code_file import SUFFIX, read_codes
    from noisewright.matching.search.index import check_scheme
    from noisewright.matching.server import Server

    if of and query is not None:
        raise ParameterError("--for and --query were both given; give one of them.")
    table = None if output is None else target_file(output, "neighbours", (".csv",))
    kept = None if save is None else target_file(save, "an index", (SUFFIX,))
    server = Server.at(public, kind=kind)  # type: ignore[arg-type]
    for file in codes:
        server.add_file(file)
    server.remove(without or [])
    with working("searching"):
        if query is not None:
            asked = read_codes(query)
            check_scheme(asked, server.scheme.fingerprint, query, server.scheme.bits)
            names = list(asked.names)
            found = server.search(asked.codes, neighbours, confidence=confidence)
        else:
            names = of or server.index.names
            found = server.neighbours(names, neighbours, confidence=confidence)
    digest = None if kept is None else server.save(kept)
    if table is not None:
        write_atomically(table, _csv(names, found))
    data = {
        "codes": len(server),
        "scheme": server.scheme.fingerprint,
        "neighbours": neighbours,
        "kind": kind,
        "confidence": confidence,
        "index": None if save is None else {"file": save, "sha256": digest},
        "file": output,
        "matches": None if output is not None else [_one(name, found, i) for i, name in enumerate(names)],
    }
    emit(data, lambda: _page(names, found, len(server), output, save), as_json)


def _one(name: str, found: Matches, i: int) -> dict[str, Any]:
    """Return the findings for one person, as plain data."""
    parts = (found.names[i], found.differ[i], found.distance[i], found.low[i], found.high[i])
    columns = ("name", "bits_that_differ", "distance", "low", "high")
    rows = zip(*(part.tolist() for part in parts), strict=True)
    return {"name": name, "neighbours": [dict(zip(columns, row, strict=True)) for row in rows if row[0] is not None]}


def _csv(names: list[str], found: Matches) -> bytes:
    from noisewright.mechanisms.arrow import arrow_array
    from noisewright.releases.sources.formulas import harmless

    everybody = list(dict.fromkeys([*names, *(name for name in found.names.ravel().tolist() if name is not None)]))
    spelled = dict(zip(everybody, harmless(arrow_array(everybody)).to_pylist(), strict=True))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(HEADS)
    for i, name in enumerate(names):
        for rank, one in enumerate(_one(name, found, i)["neighbours"], 1):
            numbers = (f"{one[part]:.6g}" for part in ("distance", "low", "high"))
            writer.writerow((spelled[name], rank, spelled[one["name"]], one["bits_that_differ"], *numbers))
    return text.getvalue().encode()


def _page(names: list[str], found: Matches, codes: int, output: str | None, save: str | None) -> list[RenderableType]:
    from rich.box import SIMPLE_HEAD
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for title, right in (
        ("name", False),
        ("neighbour", False),
        ("bits that differ", True),
        ("distance", True),
        ("from", True),
        ("to", True),
    ):
        table.add_column(title, justify="right" if right else "left", overflow="fold")
    for i, name in enumerate(names[:MOST_SHOWN]):
        table.add_section()
        for rank, one in enumerate(_one(name, found, i)["neighbours"]):
            numbers = (f"{one[part]:.3f}" for part in ("distance", "low", "high"))
            table.add_row(
                printable(name) if rank == 0 else "", printable(one["name"]), str(one["bits_that_differ"]), *numbers
            )
    from noisewright.core.exact import percent

    told = [f"The first {MOST_SHOWN} of {len(names)} are shown."] if len(names) > MOST_SHOWN else []
    told += [f"All of them are in {output}."] if output else []
    told += [f"The index is in {save}."] if save else []
    told.append(
        f"Distances are those of profiles, from 0 to 1, without the bias of the noise; the intervals of all {codes} codes "
        f"hold together with a confidence of {percent(found.confidence)}, for profiles that were fixed before the seed was drawn."
    )
    title = f"neighbours of {plural(len(names), 'code')}"
    prose = (Padding(Text(line), 0) for line in told)
    return [heading(title, f"among {plural(codes, 'code')}"), table, Text(), *prose]


COMMAND = Command(search)
