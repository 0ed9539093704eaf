"""``noisewright design extreme``: the corners of local privacy on a few secrets, and whether a channel is one of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright._utils.validation import printable
from noisewright.cli.app import Command
from noisewright.cli.arguments import json_file, load_given
from noisewright.cli.commands.design import Budget, Epsilon, Factor, budget, read_loss, secrets_and_metric
from noisewright.guarantees import SAID
from noisewright.render.text import (
    AsJson,
    chance,
    emit,
    facts,
    heading,
    label,
    labels,
    plain,
    plural,
    wants_json,
    working,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.design.polytopes.enumeration import LocalPolytope
    from noisewright.design.polytopes.extreme_point import ExtremePoint
    from noisewright.design.polytopes.kernel_mechanisms import Kernel, Kernels
    from noisewright.design.polytopes.universal import Existence, Witness
    from noisewright.guarantees import Verdict

if TYPE_CHECKING:
    Page = Callable[[str], list[RenderableType]]
    """Renderer of the page, once it is known which files were written."""

__all__ = ["EXTREME_COMMAND", "KERNELS_COMMAND", "UNIVERSAL_COMMAND", "kernel_table"]


EXTREME_SUMMARY = (
    "the extreme points of local privacy, one of which is best for any question; or is a channel one of them"
)
EXTREME_FORMAT = "noisewright-extreme-points"
MOST_POINTS_SHOWN = 5
"""Maximum number shown on a page, one for each number of outputs in use; a file or --json has all of them."""


def design_extreme(
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
    from noisewright.exceptions import ParameterError

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
    data = {"format": EXTREME_FORMAT, "version": 1, **data}
    if target is not None:
        from noisewright.io.atomic import write_atomically

        write_atomically(target, json.dumps(plain(data), allow_nan=False).encode())
    data["file"] = None if target is None else str(target)
    emit(data, lambda: page(f"written to {target}" if target else "not written; -o FILE.json writes it"), as_json)


def _listed(metric: str, outputs: int | None, given: Budget, most: int, whole: bool) -> tuple[dict[str, Any], Page]:
    """All extreme points, counted and, where there are not too many, listed."""
    from noisewright.design.polytopes.enumeration import LocalPolytope
    from noisewright.exceptions import ParameterError
    from noisewright.metrics.base import Discrete

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
    shown = [next(space.points(int(c))) for c, n in data["by_outputs_in_use"].items() if n][:MOST_POINTS_SHOWN]
    page: list[RenderableType] = [
        heading("extreme", "corners of local privacy, and one for each number of outputs in use"),
        facts((a, printable(b)) for a, b in rows),
    ]
    return [*page, *(Padding(_table(space, point), (1, 0, 0, 2)) for point in shown)]


def _table(space: LocalPolytope, point: ExtremePoint) -> RenderableType:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from noisewright.render.text import chance

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
    from noisewright.guarantees import Guarantee
    from noisewright.metrics.base import Discrete

    if space.factor.epsilon is not None:
        return Guarantee.exactly(space.factor.epsilon, Discrete()).reading()
    return likelier(space.factor.exact)


# One channel --------------------------------------------------------------------------------------------------------------


def _decided(file: str, given: Budget) -> tuple[dict[str, Any], Page]:
    """Return whether a channel is an extreme point, and its witness."""
    from noisewright.design.polytopes.criterion import Middle
    from noisewright.design.polytopes.enumeration import LocalPolytope

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


EXTREME_COMMAND = Command(
    design_extreme, help=f"{EXTREME_SUMMARY[:1].upper()}{EXTREME_SUMMARY[1:]}.", summary=EXTREME_SUMMARY
)


# Kernels ------------------------------------------------------------------------------------------------------------------
#
# ``noisewright design kernels``: all kernel mechanisms of a small space, which every other mechanism is made of.


KERNELS_SUMMARY = "the kernel mechanisms of a few secrets: the finitely many that every private mechanism is made of"

KERNELS_FORMAT = "noisewright-kernels"
MOST_KERNELS_SHOWN = 12
"""Maximum number of kernels shown on a page; a file or --json has all of them."""


def design_kernels(
    context: typer.Context,
    metric: Annotated[
        str,
        typer.Option(
            metavar="METRIC:SECRETS",
            help="The secrets and how far apart they are: line:0..4, discrete:a,b,c, hamming:00,01,10,11, or table:FILE.csv.",
            show_default=False,
        ),
    ],
    epsilon: Epsilon = None,
    factor: Factor = None,
    most: Annotated[
        int, typer.Option(metavar="COUNT", help="Give up beyond this many kernels, or parts of some on the way.")
    ] = 20_000,
    output_file: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE.json", help="Write all kernels there.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the kernel mechanisms and count them."""
    from noisewright.design.polytopes.kernel_mechanisms import kernels
    from noisewright.io.atomic import write_atomically

    as_json = wants_json(context, as_json)
    given = budget(epsilon, factor)
    target = json_file(output_file, "a list of kernels")
    secrets, measure = secrets_and_metric(metric)
    with working("listing kernels"):
        found = kernels(measure, secrets, most=most, **given)
        data: dict[str, Any] = {"format": KERNELS_FORMAT, "version": 1, **found.to_json()}
    if target is not None:
        write_atomically(target, json.dumps(plain(data), allow_nan=False).encode())
    data["file"] = None if target is None else str(target)
    emit(data, lambda: _kernels_page(found, data), as_json)


def _kernels_page(found: Kernels, data: dict[str, Any]) -> list[RenderableType]:
    from rich.padding import Padding

    from noisewright.guarantees import Guarantee

    space = found.space
    sizes = ", ".join(f"{count} with {size} outputs" for size, count in found.by_size.items())
    counted = (
        "exactly" if found.verified else "in floats; ties were decided within a tolerance, so the count is unverified"
    )
    rows = [
        ("Secrets", labels(space.points)),
        ("Budget", f"{Guarantee(space.rate, space.metric).reading()}; another budget may have other kernels"),
        ("Corners", plural(len(space.potentials), "extreme private posterior")),
        ("Kernels", f"{len(found)}: {sizes}"),
        ("Counted", counted),
        ("File", f"written to {data['file']}" if data["file"] else "not written; -o FILE.json writes all kernels"),
    ]
    parts: list[RenderableType] = [
        heading("kernels", KERNELS_SUMMARY),
        facts((what, printable(value)) for what, value in rows),
    ]
    parts += [Padding(kernel_table(kernel), (1, 0, 0, 2)) for kernel in found[:MOST_KERNELS_SHOWN]]
    if len(found) > MOST_KERNELS_SHOWN:
        parts.append(heading(f"and {len(found) - MOST_KERNELS_SHOWN} more"))
    return parts


def kernel_table(kernel: Kernel) -> RenderableType:
    """One kernel, in fractions where they are short."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    shown = kernel.rows or kernel.channel().matrix.tolist()
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for title in ("secret", *(f"output {k}" for k in range(len(kernel)))):
        table.add_column(title, justify="right")
    for secret, row in zip(kernel.space.points, shown, strict=True):
        cells = [str(v) if len(str(v)) <= 12 and kernel.rows else f"{float(v):.4f}" for v in row]
        table.add_row(label(secret), *cells)
    return table


KERNELS_COMMAND = Command(
    design_kernels, help=f"{KERNELS_SUMMARY[:1].upper()}{KERNELS_SUMMARY[1:]}.", summary=KERNELS_SUMMARY
)


# Universal ----------------------------------------------------------------------------------------------------------------
#
# ``noisewright design universal``: is there a mechanism that is best for a loss whatever the prior, and is this one?


UNIVERSAL_SUMMARY = "whether any mechanism, or a given one, is best for a loss at every prior at once"
UNIVERSAL_FORMAT = "noisewright-universality"
MOST_PRIORS_SHOWN = 3


def design_universal(
    context: typer.Context,
    metric: Annotated[
        str,
        typer.Option(
            metavar="METRIC:SECRETS",
            help="A few secrets and how far apart they are: line:0..3, discrete:a,b,c, hamming:00,01,10,11, or table:FILE.csv.",
            show_default=False,
        ),
    ],
    loss: Annotated[
        str,
        typer.Option(
            metavar="LOSS",
            help="What a wrong guess costs: absolute, squared, zero-one, pinball:A,B, last-train:C, parity, step:N, or "
            "table:FILE.csv.",
            show_default=False,
        ),
    ],
    epsilon: Epsilon = None,
    factor: Factor = None,
    channel: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Ask about this mechanism: a channel (.csv, .json, .npz) or a certificate."),
    ] = None,
    most: Annotated[int, typer.Option(metavar="COUNT", help="Give up beyond this many kernels.")] = 20_000,
    output_file: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE.json", help="Write the answer and what shows it there."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say whether some private mechanism is best for a loss whatever the prior, and which; with --channel whether this one is.

    A no comes with a prior, a mechanism that is better there, and both losses. Give --factor for exact answers. Ends with code
    1 where the answer stays undecided.
    """
    from noisewright.design.polytopes.kernel_mechanisms import kernels
    from noisewright.design.polytopes.universal import optimal_kernels, universally_optimal
    from noisewright.guarantees import UNDECIDED

    as_json = wants_json(context, as_json)
    given = budget(epsilon, factor)
    target = json_file(output_file, "an answer")
    secrets, measure = secrets_and_metric(metric)
    cost = read_loss(loss)
    rows = None if channel is None else _rows(channel, tuple(secrets))
    with working("going through all priors"):
        space = kernels(measure, secrets, most=most, **given)
        verdict = None if rows is None else universally_optimal(rows, cost, space)
        found = optimal_kernels(cost, space)
    asked = found if verdict is None else verdict
    data: dict[str, Any] = {
        "format": UNIVERSAL_FORMAT,
        "version": 1,
        "metric": metric,
        "loss": loss,
        "channel": channel,
        "budget": str(space.space.factor),
        "status": asked.status,
        "reason": asked.reason,
        "holds": bool(asked),
        "witness": None if verdict is None else _witness(verdict, space),
        "kernels": len(space),
        "exists": {
            "status": found.status,
            "reason": found.reason,
            "mechanisms": [k.channel().matrix.tolist() for k in found.optimal],
        },
    }
    if target is not None:
        from noisewright.io.atomic import write_atomically

        write_atomically(target, json.dumps(plain(data), allow_nan=False).encode())
    data["file"] = None if target is None else str(target)
    emit(data, lambda: _universal_page(data, space, found), as_json)
    if asked.status == UNDECIDED:
        raise typer.Exit(1)


def _rows(file: str, secrets: tuple[Any, ...]) -> Any:
    from noisewright.exceptions import ParameterError

    inputs, _, rows = load_given(file)
    if inputs != secrets:
        raise ParameterError(
            f"{Path(file).name} is about the secrets {labels(inputs)}, and --metric about {labels(secrets)}; name the same "
            "ones in the same order."
        )
    return rows


def _witness(verdict: Verdict, space: Kernels) -> dict[str, Any] | None:
    seen: Witness | None = verdict.evidence
    if seen is None or verdict:
        return None
    return {
        "prior": {str(x): str(p) for x, p in zip(space.space.points, seen.prior, strict=True)},
        "loss": str(seen.loss),
        "less": str(seen.less),
        "better": None if seen.better is None else seen.better.channel().matrix.tolist(),
    }


def _universal_page(data: dict[str, Any], space: Kernels, found: Existence) -> list[RenderableType]:
    from rich.padding import Padding

    from noisewright.guarantees import UNDECIDED, Guarantee

    what = "some mechanism" if data["channel"] is None else Path(data["channel"]).name
    said = "is" if data["holds"] else "may be" if data["status"] == UNDECIDED else "is NOT"
    if data["channel"] is None and said == "is NOT":
        what, said = "no mechanism", "is"
    rows = [
        ("Secrets", labels(space.space.points)),
        ("Budget", Guarantee(space.space.rate, space.space.metric).reading()),
        ("Loss", data["loss"]),
        ("Answer", f"{SAID[data['status']]}: {data['reason']}"),
    ]
    seen = data["witness"]
    if seen is not None:
        prior = ", ".join(f"{label(x)}: {_number(p)}" for x, p in seen["prior"].items())
        rows.append(
            ("Shown by", f"the prior {prior}: it costs {_number(seen['loss'])}, another one {_number(seen['less'])}")
        )
    if data["channel"] is not None:
        rows.append(("Anybody", data["exists"]["reason"]))
    rows.append(
        ("File", f"written to {data['file']}" if data["file"] else "not written; -o FILE.json writes the answer")
    )
    page: list[RenderableType] = [
        heading(f"{what} {said} best at every prior"),
        facts((name, printable(text)) for name, text in rows),
    ]
    shown = found.optimal[:MOST_PRIORS_SHOWN] if data["channel"] is None else ()
    return [*page, *(Padding(kernel_table(kernel), (1, 0, 0, 2)) for kernel in shown)]


def _number(text: str) -> str:
    """A fraction as it is where it is short, else in digits."""
    from fractions import Fraction

    return text if len(text) <= 9 else chance(float(Fraction(text)))


UNIVERSAL_COMMAND = Command(
    design_universal, help=f"{UNIVERSAL_SUMMARY[:1].upper()}{UNIVERSAL_SUMMARY[1:]}.", summary=UNIVERSAL_SUMMARY
)
