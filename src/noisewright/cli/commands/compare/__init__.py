"""``noisewright compare``: decide whether one mechanism may replace another, under every order, with a witness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.shared.channels import load_thing
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.metrics import METRIC_HELP, check_number, parse_metric
from noisewright.cli.shared.output import AsJson, Details, block, emit, facts, heading, printable, working

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.adversary.orders.compare import Comparison

__all__ = ["COMMAND", "compare"]

STYLES = {"holds (exact)": "green", "holds within tol": "green", "fails (witness)": "red", "undecided": "yellow"}

MORE = ("More", "with --details: what shows each answer, a post-processing or an adversary who gains")


def compare(
    first: Annotated[
        str | None,
        typer.Argument(metavar="A", help="A channel (.json, .csv, .npz) or a certificate.", show_default=False),
    ] = None,
    second: Annotated[
        str | None, typer.Argument(metavar="B", help="What may replace it, over the same secrets.", show_default=False)
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(metavar="METRIC", help="Also compare the smallest epsilons for this metric. " + METRIC_HELP),
    ] = None,
    tol: Annotated[
        str,
        typer.Option(metavar="T", help="How far off an entry may be where the numbers are floats.", show_default=False),
    ] = "1e-8",
    families: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME,...",
            help="In place of A and B: the safe epsilons between families, such as geometric,response,exponential.",
        ),
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(metavar="E,E,...", help="With --families: the epsilons of the mechanism to be replaced."),
    ] = None,
    size: Annotated[int | None, typer.Option(metavar="N", help="With --families: the number of secrets.")] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE", help="With --families: draw the safe epsilons to .png, .svg or .pdf.")
    ] = None,
    join: Annotated[
        str | None,
        typer.Option(
            metavar="max|privacy", help="In place of the comparison: the least safe mechanism that may replace both."
        ),
    ] = None,
    meet: Annotated[
        str | None,
        typer.Option(metavar="max|privacy", help="In place of the comparison: the safest one that both may replace."),
    ] = None,
    output_file: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="With --join or --meet: write its channel to .csv, .json or .npz."
        ),
    ] = None,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Say whether B may replace A, and A may replace B, against all adversaries of a kind, with a witness either way.

    Files with exact numbers (certificates; a .csv whose decimals or fractions sum to exactly one) get exact answers. With
    --details: where a replacement is safe, the post-processing that turns one into the other; where not, an adversary who gains.
    """
    from noisewright.core.errors import ParameterError

    if families is not None:
        if any(given is not None for given in (first, metric, join, meet, output_file)):
            raise ParameterError(
                "--families takes the place of two files, --metric, --join, --meet and -o; give one or the other."
            )
        from noisewright.cli.commands.compare._families import families_page

        families_page(families=families, epsilon=epsilon, size=size, plot=plot, as_json=as_json)
        return
    if epsilon is not None or size is not None or plot is not None:
        raise ParameterError("--epsilon, --size and --plot go with --families; two files need none of them.")
    if first is None or second is None:
        raise ParameterError("give two channels or certificates to compare, or --families.")
    if join is not None or meet is not None:
        if (join is not None and meet is not None) or metric is not None:
            raise ParameterError("give --join or --meet, one of them, and no --metric.")
        from noisewright.cli.commands.compare._bounds import bound_page

        bound_page(first, second, join=join, meet=meet, output=output_file, as_json=as_json)
        return
    if output_file is not None:
        raise ParameterError("-o goes with --join or --meet; a comparison alone makes no channel.")
    _two_files(first, second, metric, tol, details, as_json)


def _two_files(first: str, second: str, metric: str | None, tol: str, details: bool, as_json: bool) -> None:
    from noisewright.adversary.orders.compare import compare as compared
    from noisewright.core.errors import NoChannelError, ParameterError
    from noisewright.core.exact import as_fraction
    from noisewright.core.verdict import UNDECIDED

    off = float(as_fraction(check_number(tol, "tol"), "tol"))
    measure = None if metric is None else parse_metric(metric)
    with working("comparing"):
        things = [load_thing(file) for file in (first, second)]
        try:
            found = compared(*things, metric=measure, tol=off)
        except NoChannelError as problem:
            raise ParameterError(_without_channel((first, second), things, problem)) from None
    data = {"first": first, "second": second, "tol": off, **found.to_json()}
    emit(data, lambda: _page(first, second, found, details), as_json)
    if any(one.status == UNDECIDED for both in found.orders().values() for one in both):
        raise typer.Exit(1)


def _without_channel(files: Sequence[str], things: Sequence[Any], problem: Exception) -> str:
    """Return the name of the file whose mechanism has infinitely many outputs, and the option that helps."""
    from noisewright.core.errors import NoChannelError

    words = (
        str(problem)
        .replace("with within=(low, high).", "with within=.")
        .replace("with within=.", "with noisewright design ... --within LOW:HIGH.")
    )
    for file, thing in zip(files, things, strict=True):
        try:
            thing.channel() if hasattr(thing, "channel") else None
        except NoChannelError:
            return f"{file}: {words}"
    return words


def _page(first: str, second: str, found: Comparison, details: bool) -> list[RenderableType]:
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from noisewright.core.verdict import SAID

    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for name in ("order", "against", "B may replace A", "A may replace B"):
        table.add_column(name, no_wrap=name != "against")
    codes = {words: code for code, words in SAID.items()}
    for name, against, *both in found.answers():
        table.add_row(name, against, *(Text(said, STYLES[codes[said]]) for said in both))
    page: list[RenderableType] = [
        heading("A", printable(first)),
        heading("B", printable(second)),
        Padding(table, (1, 0, 1, 2)),
        facts([*(("In words", text) for text in found.in_words()), *([] if details else [MORE])]),
    ]
    if not details:
        return page
    for title, status, text in found.evidence():
        shown = Text(f"{title}: ", style="bold").append(status, STYLES[status])
        page.append(Padding(Group(shown, block(text)), (1, 0, 0, 2)))
    return page


COMMAND = Command(compare)
