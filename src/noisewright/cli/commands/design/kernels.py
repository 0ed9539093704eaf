"""``noisewright design kernels``: all kernel mechanisms of a small space, which every other mechanism is made of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.commands.design._budget import Epsilon, Factor, budget
from noisewright.cli.commands.design.optimal import secrets_and_metric
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

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.optimality.kernels.kernel_list import Kernel, Kernels

__all__ = ["COMMAND", "kernel_table"]

SUMMARY = "the kernel mechanisms of a few secrets: the finitely many that every private mechanism is made of"

FORMAT = "noisewright-kernels"
MOST_SHOWN = 12
"""Maximum number of kernels shown on a page; a file or --json has all of them."""


def command(
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
    from noisewright.files.atomic import write_atomically
    from noisewright.optimality.kernels.kernel_list import kernels

    as_json = wants_json(context, as_json)
    given = budget(epsilon, factor)
    target = json_file(output_file, "a list of kernels")
    secrets, measure = secrets_and_metric(metric)
    with working("listing kernels"):
        found = kernels(measure, secrets, most=most, **given)
        data: dict[str, Any] = {"format": FORMAT, "version": 1, **found.to_json()}
    if target is not None:
        write_atomically(target, json.dumps(plain(data), allow_nan=False).encode())
    data["file"] = None if target is None else str(target)
    emit(data, lambda: _page(found, data), as_json)


def _page(found: Kernels, data: dict[str, Any]) -> list[RenderableType]:
    from rich.padding import Padding

    from noisewright.core.guarantee import Guarantee

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
        heading("kernels", SUMMARY),
        facts((what, printable(value)) for what, value in rows),
    ]
    parts += [Padding(kernel_table(kernel), (1, 0, 0, 2)) for kernel in found[:MOST_SHOWN]]
    if len(found) > MOST_SHOWN:
        parts.append(heading(f"and {len(found) - MOST_SHOWN} more"))
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


COMMAND = Command(command, help=f"{SUMMARY[:1].upper()}{SUMMARY[1:]}.", summary=SUMMARY)
