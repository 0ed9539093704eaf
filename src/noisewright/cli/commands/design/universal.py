"""``noisewright design universal``: is there a mechanism that is best for a loss whatever the prior, and is this one?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.commands.design._budget import Epsilon, Factor, budget
from noisewright.cli.commands.design.kernels import kernel_table
from noisewright.cli.commands.design.optimal import read_loss, secrets_and_metric
from noisewright.cli.shared.channels import load_given
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import (
    AsJson,
    chance,
    emit,
    facts,
    heading,
    label,
    labels,
    plain,
    printable,
    wants_json,
    working,
)
from noisewright.cli.shared.targets import json_file
from noisewright.core.verdict import SAID

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.core.verdict import Verdict
    from noisewright.optimality.kernels.kernel_list import Kernels
    from noisewright.optimality.kernels.universal import Existence, Witness

__all__ = ["COMMAND"]

SUMMARY = "whether any mechanism, or a given one, is best for a loss at every prior at once"
FORMAT = "noisewright-universality"
MOST_SHOWN = 3


def command(
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
    from noisewright.core.verdict import UNDECIDED
    from noisewright.optimality.kernels.kernel_list import kernels
    from noisewright.optimality.kernels.universal import optimal_kernels, universally_optimal

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
        "format": FORMAT,
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
        from noisewright.files.atomic import write_atomically

        write_atomically(target, json.dumps(plain(data), allow_nan=False).encode())
    data["file"] = None if target is None else str(target)
    emit(data, lambda: _page(data, space, found), as_json)
    if asked.status == UNDECIDED:
        raise typer.Exit(1)


def _rows(file: str, secrets: tuple[Any, ...]) -> Any:
    from noisewright.core.errors import ParameterError

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


def _page(data: dict[str, Any], space: Kernels, found: Existence) -> list[RenderableType]:
    from rich.padding import Padding

    from noisewright.core.guarantee import Guarantee
    from noisewright.core.verdict import UNDECIDED

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
    shown = found.optimal[:MOST_SHOWN] if data["channel"] is None else ()
    return [*page, *(Padding(kernel_table(kernel), (1, 0, 0, 2)) for kernel in shown)]


def _number(text: str) -> str:
    """A fraction as it is where it is short, else in digits."""
    from fractions import Fraction

    return text if len(text) <= 9 else chance(float(Fraction(text)))


COMMAND = Command(command, help=f"{SUMMARY[:1].upper()}{SUMMARY[1:]}.", summary=SUMMARY)
