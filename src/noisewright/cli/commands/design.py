"""``noisewright design``: build a mechanism from the registry, show its guarantee, write its certificate.

Every mechanism of the registry is a sub-command, made from the signature of its constructor when it is called. The ``EXTRAS``
do more than call a constructor.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import typer

from noisewright._utils.lazy import Addresses
from noisewright._utils.validation import printable
from noisewright.cli.app import Command, offered
from noisewright.cli.arguments import draw_to, json_file, picture_file
from noisewright.render.claims import promised, short
from noisewright.render.text import AsJson, chance, emit, facts, labels, wants_json, working

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import RenderableType

    from noisewright.base import Entry, Mechanism
    from noisewright.cli.parameters import Option
    from noisewright.design.mechanism import OptimalMechanism
    from noisewright.metrics.base import Metric

__all__ = [
    "DESIGN_COMMAND",
    "EXTRAS",
    "NUMERICS",
    "OPTIMAL_COMMAND",
    "Budget",
    "Epsilon",
    "Factor",
    "budget",
    "dashed",
    "mechanism_command",
    "read_loss",
    "read_prior",
    "secrets_and_metric",
]


EXTRAS = Addresses(
    "noisewright.commands.design",
    "sub-command of design",
    {
        "optimal": "noisewright.cli.commands.design:OPTIMAL_COMMAND",
        "kernels": "noisewright.cli.commands.design_theory:KERNELS_COMMAND",
        "universal": "noisewright.cli.commands.design_theory:UNIVERSAL_COMMAND",
        "extreme": "noisewright.cli.commands.design_theory:EXTREME_COMMAND",
    },
)
"""Sub-commands that are not mechanisms of the registry."""

Options = list["Option"] | str
"""The options of a mechanism, or the parameter that only Python can give."""


class _Designs:
    """The sub-commands: the mechanisms of the registry in alphabetical order, and the extras."""

    def load(self, name: str) -> Command:
        from noisewright.mechanisms.registry import registry

        return offered(EXTRAS, name) if name in EXTRAS else mechanism_command(registry[name])

    def __contains__(self, name: object) -> bool:
        from noisewright.mechanisms.registry import registry

        return name in EXTRAS.own or name in registry or name in EXTRAS

    def __iter__(self) -> Iterator[str]:
        from noisewright.mechanisms.registry import names

        yield from (*names(), *EXTRAS)


DESIGNS = _Designs()


def design(context: typer.Context, as_json: AsJson = False) -> None:
    """Build a mechanism, show what it promises, and write its certificate."""
    context.obj = as_json
    if context.invoked_subcommand is None:
        _list(as_json)


def _unknown(word: str) -> str:
    from noisewright._utils.validation import did_you_mean

    told = did_you_mean(word, list(DESIGNS))
    return f"there is no mechanism called {word!r}; {told if told.endswith('?') else f'{told}.'}"


def _list(as_json: bool) -> None:
    from noisewright.cli.parameters import options_of
    from noisewright.mechanisms.registry import entries as all_entries

    entries = all_entries()
    options = {e.name: options_of(e.make) for e in entries}
    extras = {name: offered(EXTRAS, name).summary for name in EXTRAS}
    data = {
        "mechanisms": [
            {"name": e.name, "secrets": e.words, "summary": e.summary, "options": _options_json(options[e.name])}
            for e in entries
        ],
        "extras": [{"name": name, "summary": summary} for name, summary in extras.items()],
    }
    emit(data, lambda: _list_page(entries, options, extras), as_json)


def _options_json(found: Options) -> list[dict[str, Any]] | None:
    if isinstance(found, str):
        return None
    return [{"name": p.name, "required": p.required, "shape": p.shape} for p in found]


def _list_page(entries: list[Entry], options: dict[str, Options], extras: dict[str, str]) -> list[RenderableType]:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for title in ("Mechanism", "For", "What it does", "Needs"):
        table.add_column(title, no_wrap=title == "Mechanism")
    for entry in entries:
        table.add_row(entry.name, entry.words, entry.summary, _needs(options[entry.name]))
    for name, summary in extras.items():
        table.add_row(name, "any secrets", summary, "--metric --epsilon")
    return [
        table,
        Text("\nnoisewright design NAME --help explains the options of one; -o FILE.json writes a certificate."),
    ]


def _needs(found: Options) -> str:
    return "from Python only" if isinstance(found, str) else " ".join(dashed(p.name) for p in found if p.required)


DESIGN_COMMAND = Command(
    design,
    line="Build a mechanism, show what it promises, and write its certificate; alone: list the mechanisms.",
    table=DESIGNS,
    unknown=_unknown,
)


# Mechanism ----------------------------------------------------------------------------------------------------------------
#
# ``noisewright design NAME``: the command of one mechanism, made from the signature of its constructor.


NUMERICS = {
    "exact": "exact: the promise is proved about the very integers that are drawn",
    "floating": "floating: a theorem about real numbers; the float draw itself is not proved",
}


def mechanism_command(entry: Entry) -> Command:
    """The command that designs one mechanism."""
    from noisewright.cli.parameters import options_of
    from noisewright.exceptions import ParameterError

    parameters = options_of(entry.make)

    def command(context: typer.Context, **values: Any) -> None:
        if isinstance(parameters, str):
            raise ParameterError(f"{entry.name} needs {parameters}, which only Python can give; see its docstring.")
        as_json = wants_json(context, bool(values.pop("as_json")))
        output, plot = values.pop("output_file"), values.pop("plot_file")
        target = json_file(output)
        picture = picture_file(plot)
        given = {p.name: values[p.name] for p in parameters if values[p.name] is not None}
        readers = {p.name: p.read for p in parameters}
        with working("designing"):
            mechanism = entry.make(**{name: readers[name](text) for name, text in given.items()})
            _finish_mechanism(entry, mechanism, given, target, picture, as_json)

    _sign(command, parameters if isinstance(parameters, list) else [])
    return Command(command, help=f"{entry.summary[:1].upper()}{entry.summary[1:]}. For {entry.words}.")


def _sign(command: Callable[..., None], parameters: list[Option]) -> None:
    """Give a function the signature that Typer reads as its options: a mechanism's own, and the common ones."""
    options: dict[str, Any] = {}
    for p in parameters:
        kind: Any = bool if p.flag else str
        metavar = "" if p.flag else p.shape
        option = typer.Option(dashed(p.name), help=p.help, metavar=metavar, show_default=False)
        options[p.name] = Annotated[kind, option] if p.required else (Annotated[kind | None, option], None)
    where = typer.Option("--output", "-o", metavar="FILE.json", help="Write the certificate there.")
    options["output_file"] = (Annotated[str | None, where], None)
    draw = typer.Option("--plot", metavar="FILE.png", help="Draw the law of the outputs there.")
    options["plot_file"] = (Annotated[str | None, draw], None)
    options["as_json"] = (AsJson, False)

    signature = [inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)]
    for name, form in options.items():
        annotation, default = form if isinstance(form, tuple) else (form, inspect.Parameter.empty)
        signature.append(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        )
    command.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in signature}


def _finish_mechanism(
    entry: Entry,
    mechanism: Mechanism,
    given: dict[str, Any],
    target: Path | None,
    picture: Path | None,
    as_json: bool,
) -> None:
    from noisewright.base import described, named_errors
    from noisewright.io.serialization import save

    certificate, more = mechanism.certificate(), described(mechanism)
    proved = certificate.verify() if certificate.numerics == "exact" else None
    data: dict[str, Any] = {
        "mechanism": entry.name,
        "parameters": given,
        "guarantee": mechanism.guarantee.to_json(),
        "reading": (more.in_words or mechanism.guarantee.in_words)(),
        "scale": None if more.scale is None else float(more.scale),
        "reason": more.reason,
        "error": named_errors(mechanism),
        "numerics": certificate.numerics,
        "randomness": certificate.randomness,
        "proved": proved,
        "file": None if target is None else str(target),
        "picture": None if picture is None else str(picture),
    }
    if target is not None:
        save(certificate, target)
    draw_to(picture, lambda: _drawn_mechanism(mechanism), target)
    emit(data, lambda: _mechanism_page(entry, mechanism, data), as_json)


def _drawn_mechanism(mechanism: Mechanism) -> Figure:
    from noisewright.plotting.mechanisms import draw

    return draw(mechanism)


def _mechanism_page(entry: Entry, mechanism: Mechanism, data: dict[str, Any]) -> list[RenderableType]:
    from rich.text import Text

    from noisewright.base import errors_in_words

    rows = [
        ("Guarantee", promised(mechanism.guarantee, data["proved"])),
        ("In words", data["reading"]),
        *([("Scale of the noise", _scale_words(data))] if data["scale"] is not None else []),
        ("Expected error", errors_in_words(mechanism, data["error"])),
        ("Numbers", NUMERICS.get(data["numerics"], data["numerics"])),
        ("Random bits", data["randomness"]),
    ]
    if data["proved"]:
        rows.append(("Proof", f"checked again just now: {short(data['proved'])}"))
    rows.append(
        ("Certificate", f"written to {data['file']}" if data["file"] else "not written; -o FILE.json writes it")
    )
    if data["picture"]:
        rows.append(("Picture", f"drawn to {data['picture']}"))
    title = Text.assemble((entry.name, "bold"), f": {entry.summary}")
    return [title, facts((what, printable(value)) for what, value in rows)]


def _scale_words(data: dict[str, Any]) -> str:
    return chance(data["scale"]) + (f": {data['reason']}" if data["reason"] else "")


def dashed(name: str) -> str:
    """A parameter as an option."""
    return "--" + name.replace("_", "-")


# Budget -------------------------------------------------------------------------------------------------------------------
#
# The budget of theory: ``--epsilon``, or ``--factor``, which is e^epsilon as a rational number and makes answers exact.


Epsilon = Annotated[
    str | None, typer.Option(metavar="NUMBER", help="The allowed loss for each unit of the metric. Exact: 0.1 or 1/3.")
]
Factor = Annotated[
    str | None,
    typer.Option(metavar="NUMBER", help="In place of --epsilon: e^epsilon as a rational number, such as 2 or 3/2."),
]


class Budget(TypedDict):
    """One of the two, as the library takes it; the other is None."""

    epsilon: str | None
    factor: str | None


def budget(epsilon: str | None, factor: str | None) -> Budget:
    """The one of the two that was given, read and checked."""
    from noisewright.cli.arguments import check_number
    from noisewright.exceptions import ParameterError

    if (epsilon is None) == (factor is None):
        raise ParameterError("give either --epsilon or --factor (which is e^epsilon), not both and not neither.")
    return Budget(
        epsilon=None if epsilon is None else check_number(epsilon, "epsilon"),
        factor=None if factor is None else check_number(factor, "factor"),
    )


# Optimal ------------------------------------------------------------------------------------------------------------------
#
# ``noisewright design optimal``: the best mechanism for a loss, why it is the best, its certificate and its picture.


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
    from noisewright.cli.arguments import check_number
    from noisewright.cli.parameters import read_labels
    from noisewright.design.optimal import optimal
    from noisewright.design.shapes import as_shapes

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
        data = _finish_optimal(made, target, picture)
    given: dict[str, str | None] = {
        "metric": metric,
        "epsilon": epsilon,
        "loss": loss,
        "prior": prior,
        "outputs": outputs,
    }
    given["delta"] = None if delta == "0" else delta
    data["parameters"] = {name: value for name, value in given.items() if value is not None}
    emit(data, lambda: _optimal_page(made, data), as_json)


def secrets_and_metric(text: str) -> tuple[Sequence[Hashable], Metric]:
    """``line:0..100`` or ``table:FILE.csv``: the secrets, and the metric between them."""
    from noisewright.cli.arguments import parse_metric
    from noisewright.cli.parameters import read_labels
    from noisewright.exceptions import ParameterError
    from noisewright.metrics.base import Table

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
    from noisewright.design.loss import Loss
    from noisewright.exceptions import ParameterError
    from noisewright.io.serialization import load_labelled_csv

    if not path.strip():
        raise ParameterError("loss = 'table:' names no file; write table:FILE.csv.")
    actions, secrets, values = load_labelled_csv(path.strip())
    return Loss(values, actions, secrets)


def read_prior(path: str) -> dict[Hashable, float]:
    """A prior from a CSV file with a first row ``label,probability`` and a row for each secret."""
    from noisewright.exceptions import FileFormatError
    from noisewright.io.serialization import load_labelled_csv

    names, columns, values = load_labelled_csv(path)
    name = Path(path).name
    if len(columns) != 1 or not isinstance(columns[0], str):
        raise FileFormatError(f"{name}: a prior has two columns and a first row that says so: label,probability.")
    if len(set(names)) < len(names):
        raise FileFormatError(f"{name}: a label occurs twice; give each secret one probability.")
    return dict(zip(names, (row[0] for row in values), strict=True))


def _finish_optimal(made: OptimalMechanism, target: Path | None, picture: Path | None) -> dict[str, Any]:
    """Prove it once more, write and draw, and gather the report."""
    from noisewright.io.serialization import save

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
    draw_to(picture, lambda: _drawn_optimal(made), target)
    return data


def _drawn_optimal(made: OptimalMechanism) -> Figure:
    from noisewright.plotting.mechanisms import draw_matrix

    return draw_matrix(made)


def _optimal_page(made: OptimalMechanism, data: dict[str, Any]) -> list[RenderableType]:
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


OPTIMAL_COMMAND = Command(command, help=f"{SUMMARY[:1].upper()}{SUMMARY[1:]}.", summary=SUMMARY)
