"""``noisewright design optimal``: the best mechanism for a loss, why it is the best, its certificate and its picture."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.commands.design._mechanism import NUMERICS
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, emit, facts, labels, printable, wants_json, working
from noisewright.cli.shared.targets import draw_to, json_file, picture_file
from noisewright.render import short

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import RenderableType

    from noisewright.core.metrics.metric import Metric
    from noisewright.optimality.design.mechanism import OptimalMechanism

__all__ = ["COMMAND", "read_loss", "read_prior", "secrets_and_metric"]

SUMMARY = "the best mechanism there is for a metric, a budget and a loss, with the reason why nothing is better"

MOST_SHOWN = 12
"""Mechanisms with at most this many outputs have their remap shown."""


def command(
    context: typer.Context,
    metric: Annotated[
        str,
        typer.Option(
            metavar="METRIC:SECRETS",
            help="The secrets and how far apart they are: line:0..100, discrete:red,green,blue, euclidean:0:0,0:1,1:0, "
            "or table:FILE.csv with distances between named secrets.",
            show_default=False,
        ),
    ],
    epsilon: Annotated[
        str,
        typer.Option(
            metavar="NUMBER",
            help="The allowed loss of privacy for each unit of the metric. Exact: 0.1 or 1/3.",
            show_default=False,
        ),
    ],
    loss: Annotated[
        str | None,
        typer.Option(
            metavar="LOSS",
            help="What a wrong output costs: absolute, squared, zero-one, pinball:A,B, last-train:C, parity, step:N, or "
            "table:FILE.csv with a row for each output and a column for each secret. Default: absolute for numbers and "
            "places, zero-one for words.",
        ),
    ] = None,
    delta: Annotated[
        str,
        typer.Option(
            metavar="NUMBER",
            help="An extra probability beside the factor; for discrete secrets and zero-one, all alike.",
        ),
    ] = "0",
    prior: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.csv",
            help="How likely each secret is: a file with a first row label,probability; it must be public. Default: all alike.",
        ),
    ] = None,
    outputs: Annotated[
        str | None,
        typer.Option(metavar="A,B,...|LOW..HIGH", help="What may be released, if not the secrets."),
    ] = None,
    shape: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="What else it must be: fair, symmetric, monotone, honest, weakly-honest, or one of row-monotone, "
            "column-monotone, row-honest, column-honest.",
        ),
    ] = None,
    objective: Annotated[
        str, typer.Option(metavar="bayes|minimax", help="The expected loss, or the loss of the worst secret.")
    ] = "bayes",
    output_file: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE.json", help="Write the certificate there.")
    ] = None,
    plot_file: Annotated[
        str | None, typer.Option("--plot", metavar="FILE.png", help="Draw all probabilities there, as a heat map.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find the best mechanism, certify it, and say why it is the best."""
    from noisewright.cli.shared.metrics import check_number
    from noisewright.cli.shared.parameters import read_labels
    from noisewright.optimality.design.optimal import optimal
    from noisewright.optimality.shapes.checks import as_shapes

    as_json = wants_json(context, as_json)
    target = json_file(output_file)
    picture = picture_file(plot_file)
    secrets, measure = secrets_and_metric(metric)
    if loss is None:
        loss = "zero-one" if any(isinstance(secret, str) for secret in secrets) else "absolute"
    with working("designing"):
        made = optimal(
            secrets,
            epsilon=check_number(epsilon, "epsilon"),
            delta=check_number(delta, "delta"),
            loss=read_loss(loss),
            metric=measure,
            prior=None if prior is None else read_prior(prior),
            outputs=None if outputs is None else read_labels(outputs, "outputs"),
            shape=as_shapes(shape),
            objective=objective,  # type: ignore[arg-type]
        )
        data = _finish(made, target, picture)
    given: dict[str, str | None] = {
        "metric": metric,
        "epsilon": epsilon,
        "loss": loss,
        "prior": prior,
        "outputs": outputs,
    }
    given["delta"] = None if delta == "0" else delta
    data["parameters"] = {name: value for name, value in given.items() if value is not None}
    emit(data, lambda: _page(made, data), as_json)


def secrets_and_metric(text: str) -> tuple[Sequence[Hashable], Metric]:
    """``line:0..100`` or ``table:FILE.csv``: the secrets, and the metric between them."""
    from noisewright.cli.shared.metrics import parse_metric
    from noisewright.cli.shared.parameters import read_labels
    from noisewright.core.errors import ParameterError
    from noisewright.core.metrics.metric import Table

    name, _, points = text.partition(":")
    if name.strip() == "table":
        table = parse_metric(text)
        assert isinstance(table, Table)
        return table.points, table
    measure = parse_metric(name)
    if not points.strip():
        raise ParameterError(
            f"metric = {text!r} says nothing about the secrets; add them behind a colon, such as line:0..100 or "
            "discrete:red,green,blue."
        )
    return read_labels(points, "the secrets of --metric"), measure


def read_loss(text: str) -> Any:
    """The name of a loss, or the loss in a file: a row for each action, a column for each secret."""
    kind, colon, path = text.partition(":")
    if not colon or kind.strip() != "table":
        return text
    from noisewright.core.errors import ParameterError
    from noisewright.files.channels import load_labelled_csv
    from noisewright.optimality.losses.gallery import Loss

    if not path.strip():
        raise ParameterError("loss = 'table:' names no file; write table:FILE.csv.")
    actions, secrets, values = load_labelled_csv(path.strip())
    return Loss(values, actions, secrets)


def read_prior(path: str) -> dict[Hashable, float]:
    """A prior from a CSV file with a first row ``label,probability`` and a row for each secret."""
    from noisewright.core.errors import FileFormatError
    from noisewright.files.channels import load_labelled_csv

    names, columns, values = load_labelled_csv(path)
    name = Path(path).name
    if len(columns) != 1 or not isinstance(columns[0], str):
        raise FileFormatError(f"{name}: a prior has two columns and a first row that says so: label,probability.")
    if len(set(names)) < len(names):
        raise FileFormatError(f"{name}: a label occurs twice; give each secret one probability.")
    return dict(zip(names, (row[0] for row in values), strict=True))


def _finish(made: OptimalMechanism, target: Path | None, picture: Path | None) -> dict[str, Any]:
    """Prove it once more, write and draw, and gather the report."""
    from noisewright.files.channels import save

    certificate = made.certificate()
    proved = certificate.verify()
    few = len(made.remap) <= MOST_SHOWN and made.remap != made.actions
    data: dict[str, Any] = {
        "mechanism": made.name,
        "guarantee": made.guarantee.to_json(),
        "reading": made.in_words(),
        "objective": made.objective,
        "loss": made.loss_value,
        "bound": made.bound,
        "gap": made.gap,
        "path": made.path,
        "status": made.status,
        "why": made.why,
        "shape": list(made.shape),
        "shapes": dict(made.shapes),
        "secrets": len(made.secrets),
        "outputs": len(made.actions),
        "remap": [str(action) for action in made.remap] if few else None,
        "numerics": certificate.numerics,
        "randomness": certificate.randomness,
        "proved": proved,
        "file": None if target is None else str(target),
        "picture": None if picture is None else str(picture),
    }
    if target is not None:
        save(certificate, target)
    draw_to(picture, lambda: _drawn(made), target)
    return data


def _drawn(made: OptimalMechanism) -> Figure:
    from noisewright.plots.mechanism import draw_matrix

    return draw_matrix(made)


def _page(made: OptimalMechanism, data: dict[str, Any]) -> list[RenderableType]:
    from rich.text import Text

    rows = [
        ("Guarantee", made.guarantee.reading()),
        ("In words", made.guarantee.in_words()),
        made.loss_in_words,
        ("How good", made.goodness),
        ("Why", f"{made.path}: {made.why}"),
        *([("Shape", made.shapes_in_words)] if made.shape else []),
        *([("Answers", labels(data["remap"], MOST_SHOWN))] if data["remap"] else []),
        ("Numbers", NUMERICS.get(data["numerics"], data["numerics"])),
        ("Random bits", data["randomness"]),
        ("Proof", f"checked again just now: {short(data['proved'])}"),
        ("Certificate", f"written to {data['file']}" if data["file"] else "not written; -o FILE.json writes it"),
        *([("Picture", f"drawn to {data['picture']}")] if data["picture"] else []),
    ]
    title = Text.assemble(("optimal", "bold"), f": {len(made.secrets)} secrets to {len(made.actions)} outputs")
    return [title, facts((what, printable(value)) for what, value in rows)]


COMMAND = Command(command, help=f"{SUMMARY[:1].upper()}{SUMMARY[1:]}.", summary=SUMMARY)
