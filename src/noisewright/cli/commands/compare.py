"""``noisewright compare``: decide whether one mechanism may replace another, under every order, with a witness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright._utils.validation import printable
from noisewright.claims.readings import FAMILY_UNITS, told_apart
from noisewright.cli.app import Command
from noisewright.cli.arguments import METRIC_HELP, check_number, load_thing, parse_metric, picture_file, target_file
from noisewright.render.text import AsJson, Details, block, chance, emit, facts, heading, label, plural, working

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.channels.channel import Channel
    from noisewright.qif.refinement.compare import Comparison
    from noisewright.qif.refinement.replacement import ReplacementTable

__all__ = ["COMMAND", "bound_page", "compare", "families_page"]


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
    from noisewright.exceptions import ParameterError

    if families is not None:
        if any(given is not None for given in (first, metric, join, meet, output_file)):
            raise ParameterError(
                "--families takes the place of two files, --metric, --join, --meet and -o; give one or the other."
            )
        families_page(families=families, epsilon=epsilon, size=size, plot=plot, as_json=as_json)
        return
    if epsilon is not None or size is not None or plot is not None:
        raise ParameterError("--epsilon, --size and --plot go with --families; two files need none of them.")
    if first is None or second is None:
        raise ParameterError("give two channels or certificates to compare, or --families.")
    if join is not None or meet is not None:
        if (join is not None and meet is not None) or metric is not None:
            raise ParameterError("give --join or --meet, one of them, and no --metric.")
        bound_page(first, second, join=join, meet=meet, output=output_file, as_json=as_json)
        return
    if output_file is not None:
        raise ParameterError("-o goes with --join or --meet; a comparison alone makes no channel.")
    _two_files(first, second, metric, tol, details, as_json)


def _two_files(first: str, second: str, metric: str | None, tol: str, details: bool, as_json: bool) -> None:
    from noisewright.exceptions import NoChannelError, ParameterError
    from noisewright.guarantees import UNDECIDED
    from noisewright.numerics.exact import as_fraction
    from noisewright.qif.refinement.compare import compare as compared

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
    from noisewright.exceptions import NoChannelError

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

    from noisewright.guarantees import SAID

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


# Bounds -------------------------------------------------------------------------------------------------------------------
#
# ``noisewright compare A B --join ORDER`` and ``--meet ORDER``: one mechanism above both, or below both.


MOST_SHOWN = 8
"""Secrets and outputs of a channel that is shown whole."""
WHAT = {
    "join": "may replace both, and whatever else may do so may replace it",
    "meet": "both may replace it, and whatever else they both may replace, it may replace too",
}
AGAINST = {"max": "against every adversary, at worst", "privacy": "for every pair of secrets"}


def bound_page(
    first: str, second: str, *, join: str | None, meet: str | None, output: str | None, as_json: bool
) -> None:
    """Find the join or the meet of two channels in an order that has them, show it, and write it."""
    from noisewright._utils.validation import one_of
    from noisewright.exceptions import ParameterError
    from noisewright.io.serialization import save
    from noisewright.qif.refinement.lattice import max_join, max_meet, privacy_join, privacy_meet

    kind, order = ("meet", str(meet)) if join is None else ("join", join)
    if order == "average":
        raise ParameterError(
            f"the average order has no {kind}s: two channels may have several bounds and no best one. Ask for max or privacy."
        )
    one_of(order, f"--{kind}", tuple(AGAINST))
    target = None if output is None else target_file(output, "a channel", (".csv", ".json", ".npz"))
    with working("looking for it"):
        things = load_thing(first), load_thing(second)
        if order == "max":
            channel = (max_join if kind == "join" else max_meet)(*things).channel
        else:
            channel = (privacy_join if kind == "join" else privacy_meet)(*things).channel()
    if target is not None:
        save(channel, target)
    losses = channel.distinguishability()
    data: dict[str, Any] = {
        "first": first,
        "second": second,
        "bound": kind,
        "order": order,
        "secrets": [str(secret) for secret in channel.inputs],
        "outputs": len(channel.outputs),
        "matrix": channel.matrix.tolist(),
        "losses": losses.tolist(),
        "file": None if target is None else str(target),
    }
    emit(data, lambda: _bounds_page(data, channel), as_json)


def _bounds_page(data: dict[str, Any], channel: Channel) -> list[RenderableType]:
    from rich.padding import Padding

    rows = [
        ("A, B", f"{data['first']}, {data['second']}"),
        ("It", WHAT[data["bound"]]),
        ("Order", f"{data['order']}: {AGAINST[data['order']]}"),
        ("Size", f"{plural(len(channel.inputs), 'secret')}, {plural(len(channel.outputs), 'output')}"),
        ("Largest loss", _largest(data["losses"])),
        ("Channel", f"written to {data['file']}" if data["file"] else "not written; -o FILE.csv writes it"),
    ]
    page: list[RenderableType] = [
        heading(data["bound"], f"of two mechanisms in the {data['order']} order"),
        facts((what, printable(text)) for what, text in rows),
    ]
    if max(channel.matrix.shape) <= MOST_SHOWN:
        page.append(Padding(_matrix(channel), (1, 0, 0, 2)))
    return page


def _largest(losses: list[list[float]]) -> str:
    from noisewright.render.text import round_up

    return told_apart(round_up(max(map(max, losses))))


def _matrix(channel: Channel) -> RenderableType:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for title in ("secret", *(f"output {k}" for k in range(len(channel.outputs)))):
        table.add_column(title, justify="left" if title == "secret" else "right")
    for secret, row in zip(channel.inputs, channel.matrix, strict=True):
        table.add_row(label(secret), *(chance(float(v)) for v in row))
    return table


# Families -----------------------------------------------------------------------------------------------------------------
#
# ``noisewright compare --families``: the largest safe epsilon of each family in place of each other one.


POINTS = 16
"""Epsilons in a picture, from none to the largest that was requested."""
MOST_EPSILONS = 50
READING = (
    "Any epsilon up to the one shown is safe: against every average-case adversary (average), every worst-case one (max), or for "
    "every metric (privacy)."
)


def families_page(*, families: str, epsilon: str | None, size: int | None, plot: str | None, as_json: bool) -> None:
    """Print the safe replacements under all three orders, and draw the replacements of the average order to ``plot``.

    ``families`` and ``epsilon`` are lists with commas; nothing is printed or written unless all of it can be.
    """
    from noisewright.exceptions import ParameterError
    from noisewright.numerics.exact import positive_fraction
    from noisewright.qif.refinement.families import as_family
    from noisewright.qif.refinement.replacement import ORDERS, replacement_table

    if epsilon is None or size is None:
        raise ParameterError("families are compared at an epsilon on a number of secrets: give --epsilon and --size.")
    chosen = [as_family(name) for name in families.split(",")]
    wanted = [word.strip() for word in epsilon.split(",")]
    if len(wanted) > MOST_EPSILONS:
        raise ParameterError(f"families are compared at {MOST_EPSILONS} epsilons at most, not at {len(wanted)}.")
    largest = max(positive_fraction(word, "epsilon") for word in wanted)
    picture = picture_file(plot, alone=True)
    with working("comparing families"):
        tables = [replacement_table(chosen, epsilons=wanted, size=size, order=order) for order in ORDERS]
        if picture is not None:
            from noisewright.plotting.leakage import draw_replacements
            from noisewright.plotting.mechanisms import save_figure

            grid = [largest * k / POINTS for k in range(1, POINTS + 1)]
            curves = replacement_table(chosen, epsilons=grid, size=size, accuracy=1e-4)
            save_figure(draw_replacements(curves), picture)
    rows = [row for table in tables for row in table.to_json()["replacements"]]
    data = {"size": size, "epsilons": wanted, "families": [f.name for f in chosen], "replacements": rows}
    emit({**data, "picture": plot}, lambda: _families_page(tables, plot), as_json)


def _families_page(tables: list[ReplacementTable], plot: str | None) -> list[RenderableType]:
    from rich.table import Table

    from noisewright.claims.figures import downward

    first = tables[0]
    shown = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for name in ("in place of", "epsilon", "may be used", *(f"up to ({table.order})" for table in tables)):
        shown.add_column(name, justify="left" if name in ("in place of", "may be used") else "right")
    for k, epsilon in enumerate(first.epsilons):
        for a, b in first.pairs:
            shown.add_row(a, str(epsilon), b, *(downward(table.cells[k][a, b].epsilon, 4) for table in tables))
    rows: list[tuple[str, str]] = [("Reading", READING), ("Units", FAMILY_UNITS)]
    rows += [] if plot is None else [("Picture", plot)]
    notes: Any = facts(rows, indent=0)
    return [heading("Safe replacement", plural(first.size, "secret")), shown, notes]
