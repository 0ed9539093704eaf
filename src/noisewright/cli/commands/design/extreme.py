"""``noisewright design extreme``: the corners of local privacy on a few secrets, and whether a channel is one of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.commands.design._budget import Budget, Epsilon, Factor, budget
from noisewright.cli.commands.design.optimal import secrets_and_metric
from noisewright.cli.shared.channels import load_given
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import (
    AsJson,
    emit,
    facts,
    heading,
    label,
    labels,
    plain,
    plural,
    printable,
    wants_json,
    working,
)
from noisewright.cli.shared.targets import json_file
from noisewright.core.verdict import SAID

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.core.verdict import Verdict
    from noisewright.optimality.extreme.point import ExtremePoint
    from noisewright.optimality.extreme.polytope import LocalPolytope

    Page = Callable[[str], list[RenderableType]]
    """Renderer of the page, once it is known which files were written."""

__all__ = ["COMMAND"]

SUMMARY = "the extreme points of local privacy, one of which is best for any question; or is a channel one of them"
FORMAT = "noisewright-extreme-points"
MOST_SHOWN = 5
"""Maximum number shown on a page, one for each number of outputs in use; a file or --json has all of them."""


def command(
    context: typer.Context,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="discrete:SECRETS",
            help="The secrets, any two of which are protected alike: discrete:a,b,c or discrete:0..3.",
            show_default=False,
        ),
    ] = None,
    epsilon: Epsilon = None,
    factor: Factor = None,
    outputs: Annotated[
        int | None,
        typer.Option(metavar="COUNT", help="How many outputs. Default: as many as secrets.", show_default=False),
    ] = None,
    channel: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="In place of --metric: is this channel (.csv, .json, .npz, certificate) extreme?"
        ),
    ] = None,
    most: Annotated[
        int, typer.Option(metavar="COUNT", help="Write no list of more than this many; they are still counted.")
    ] = 20_000,
    output_file: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE.json", help="Write all of them there, or the answer.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List and count the extreme points of local privacy, or say whether a channel is one.

    Whatever is linear in a mechanism, such as an expected loss, is best at one of them. With --channel: what is not extreme is
    the middle of two other private channels, which --json has.
    """
    from noisewright.core.errors import ParameterError

    as_json = wants_json(context, as_json)
    given = budget(epsilon, factor)
    if (metric is None) == (channel is None):
        raise ParameterError("give either --metric discrete:SECRETS or --channel FILE, not both and not neither.")
    target = json_file(output_file, "a list of extreme points")
    if channel is not None and outputs is not None:
        raise ParameterError("--outputs goes with --metric; a channel has outputs of its own.")
    if channel is None:
        data, page = _listed(str(metric), outputs, given, most, target is not None or as_json)
    else:
        data, page = _decided(channel, given)
    data = {"format": FORMAT, "version": 1, **data}
    if target is not None:
        from noisewright.files.atomic import write_atomically

        write_atomically(target, json.dumps(plain(data), allow_nan=False).encode())
    data["file"] = None if target is None else str(target)
    emit(data, lambda: page(f"written to {target}" if target else "not written; -o FILE.json writes it"), as_json)


def _listed(metric: str, outputs: int | None, given: Budget, most: int, whole: bool) -> tuple[dict[str, Any], Page]:
    """All extreme points, counted and, where there are not too many, listed."""
    from noisewright.core.errors import ParameterError
    from noisewright.core.metrics.metric import Discrete
    from noisewright.optimality.extreme.polytope import LocalPolytope

    secrets, measure = secrets_and_metric(metric)
    if not isinstance(measure, Discrete):
        raise ParameterError(
            "extreme points are listed where any two secrets are protected alike (discrete:...); for other metrics "
            "noisewright design kernels lists what all mechanisms are made of."
        )
    space = LocalPolytope(secrets, outputs, **given)
    with working("counting"):
        count = space.count()
        if whole and count.total > most:
            raise ParameterError(
                f"there are {count.total:,} extreme points, more than --most {most}; raise it, or leave -o and --json out to "
                "count them alone."
            )
        found = list(space.points()) if whole else []
    data = {
        "secrets": [str(secret) for secret in space.inputs],
        "outputs": len(space.outputs),
        "budget": str(space.factor),
        "count": count.total,
        "with_loose_entries": count.loose,
        "by_outputs_in_use": {str(c): number for c, number in count.by_columns.items()},
        "points": [_point(space, point) for point in found],
    }
    return data, lambda written: _list_page(space, data, written)


def _point(space: LocalPolytope, point: ExtremePoint) -> dict[str, Any]:
    exact = point.matrix(space.factor.near) if space.factor.exact else None
    return {
        "outputs_in_use": list(point.support),
        "weights": [str(w) for w in point.weights],
        "pattern": [[str(y) for y in row] for row in point.pattern],
        "exact": None if exact is None else [[str(v) for v in row] for row in exact],
        "matrix": [[float(v) for v in row] for row in point.matrix(space.factor.near)],
    }


def _list_page(space: LocalPolytope, data: dict[str, Any], written: str) -> list[RenderableType]:
    from rich.padding import Padding

    sizes = ", ".join(f"{n:,} with {plural(int(c), 'output')} in use" for c, n in data["by_outputs_in_use"].items())
    rows = [
        ("Secrets", labels(space.inputs)),
        ("Budget", f"{_allowed(space)}; their number is the same for every budget"),
        ("Extreme points", f"{data['count']:,}: {sizes}"),
    ]
    if data["with_loose_entries"]:
        rows.append(
            ("Loose", f"{data['with_loose_entries']:,} of them have an entry between the two levels of its column")
        )
    rows.append(("File", written))
    shown = [next(space.points(int(c))) for c, n in data["by_outputs_in_use"].items() if n][:MOST_SHOWN]
    page: list[RenderableType] = [
        heading("extreme", "corners of local privacy, and one for each number of outputs in use"),
        facts((a, printable(b)) for a, b in rows),
    ]
    return [*page, *(Padding(_table(space, point), (1, 0, 0, 2)) for point in shown)]


def _table(space: LocalPolytope, point: ExtremePoint) -> RenderableType:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from noisewright.cli.shared.output import chance

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for title in ("secret", *(f"output {j}" for j in point.support)):
        table.add_column(title, justify="right")
    for secret, row in zip(space.inputs, point.matrix(space.factor.near), strict=True):
        cells = [row[j] for j in point.support]
        table.add_row(
            label(secret), *(str(v) if space.factor.exact and len(str(v)) <= 12 else chance(float(v)) for v in cells)
        )
    return table


def _allowed(space: LocalPolytope) -> str:
    from noisewright.claims.phrases import likelier
    from noisewright.core.guarantee import Guarantee
    from noisewright.core.metrics.metric import Discrete

    if space.factor.epsilon is not None:
        return Guarantee.exactly(space.factor.epsilon, Discrete()).reading()
    return likelier(space.factor.exact)


# One channel --------------------------------------------------------------------------------------------------------------


def _decided(file: str, given: Budget) -> tuple[dict[str, Any], Page]:
    """Return whether a channel is an extreme point, and its witness."""
    from noisewright.optimality.extreme.criterion import Middle
    from noisewright.optimality.extreme.polytope import LocalPolytope

    inputs, outputs, rows = load_given(file)
    space = LocalPolytope(inputs, outputs, **given)
    with working("deciding"):
        private, verdict = space.contains(rows), space.extreme(rows)
    between = verdict.evidence if isinstance(verdict.evidence, Middle) else None
    ends = None if between is None else [[[str(v) for v in row] for row in m] for m in (between.first, between.second)]
    data = {
        "channel": file,
        "budget": str(space.factor),
        "private": bool(private),
        "extreme": bool(verdict),
        "status": verdict.status,
        "reason": verdict.reason,
        "middle_of": ends,
    }
    return data, lambda written: _answer_page(file, space, private, verdict, written)


def _answer_page(
    file: str, space: LocalPolytope, private: Verdict, verdict: Verdict, written: str
) -> list[RenderableType]:
    if verdict:
        said, style = "an extreme point", "green"
    elif private:
        said, style = "no extreme point: it is the middle of two other private channels", "bold"
    else:
        said, style = "not private at this budget", "bold red"
    rows = [
        ("Budget", _allowed(space)),
        ("Answer", f"{SAID[verdict.status]}: {verdict.reason}"),
        ("File", written),
    ]
    return [heading(Path(file).name, said, style), facts((a, printable(b)) for a, b in rows)]


COMMAND = Command(command, help=f"{SUMMARY[:1].upper()}{SUMMARY[1:]}.", summary=SUMMARY)
