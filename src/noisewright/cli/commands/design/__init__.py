"""``noisewright design``: build a mechanism from the registry, show what it promises, write its certificate.

The registry is read only when this command runs, because it brings all of the library with it. So the command that the
others see is a doorway: it hands its arguments on to an application with one sub-command for each registered mechanism, and
one for each of the ``EXTRAS``, which do more than call a constructor.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.shared.commands import Command, Group
from noisewright.cli.shared.output import AsJson, emit, facts, printable, working

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.core.mechanism import Mechanism
    from noisewright.mechanisms.registry import Entry

__all__ = ["EXTRAS", "SETTINGS", "design", "target_file"]

EXTRAS = {
    "optimal": "noisewright.cli.commands.design.optimal",
    "kernels": "noisewright.cli.commands.design.kernels",
}
"""Further sub-commands: the module of each offers ``command``, a function with Typer options, and ``SUMMARY``."""

SETTINGS: dict[str, Any] = {
    "add_help_option": False,
    "options_metavar": "[NAME] [OPTIONS]",
    "context_settings": {
        "allow_extra_args": True,
        "ignore_unknown_options": True,
        "allow_interspersed_args": False,
        "help_option_names": [],
    },
}

NUMERICS = {
    "exact": "exact: the promise is proved about the very integers that are drawn",
    "floating": "floating: a theorem about real numbers; the float draw itself is not proved",
}


def design(context: typer.Context) -> None:
    """Build a mechanism, show what it promises, and write its certificate; alone: list the mechanisms."""
    from noisewright.core.errors import ParameterError
    from noisewright.mechanisms.registry import names, registry

    arguments = list(context.args)
    name = next((word for word in arguments if word != "--json"), "")
    if name and not name.startswith("-") and name not in registry and name not in EXTRAS:
        choices = ", ".join([*names(), *EXTRAS])
        raise ParameterError(f"there is no mechanism called {name!r}; choose one of {choices}.")
    command = typer.main.get_command(_application())
    code = command.main(arguments, prog_name="noisewright design", standalone_mode=False)
    if isinstance(code, int) and code:
        raise typer.Exit(code)


def _application() -> typer.Typer:
    from noisewright.mechanisms.registry import names, registry

    application = typer.Typer(
        cls=Group,
        help="Build a mechanism, show what it promises, and write its certificate.",
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )

    @application.callback(invoke_without_command=True)
    def listing(context: typer.Context, as_json: AsJson = False) -> None:
        context.obj = as_json
        if context.invoked_subcommand is None:
            _list(as_json)

    for name in names():
        entry = registry[name]
        words = f"{_capital(entry.summary)}. For {entry.words}."
        application.command(name, cls=Command, help=words)(_command(entry))
    for name, module in EXTRAS.items():
        extra = import_module(module)
        application.command(name, cls=Command, help=f"{_capital(extra.SUMMARY)}.")(extra.command)
    return application


def _command(entry: Entry) -> Callable[..., None]:
    """The function of one sub-command, with a signature that Typer reads as its options."""
    from noisewright.cli.shared.parameters import parameters_of
    from noisewright.core.errors import ParameterError

    parameters = parameters_of(entry.make)

    def command(context: typer.Context, **values: Any) -> None:
        if isinstance(parameters, str):
            raise ParameterError(f"{entry.name} needs {parameters}, which only Python can give; see its docstring.")
        as_json = bool(values.pop("as_json")) or bool(context.parent and context.parent.obj)
        output, plot = values.pop("output_file"), values.pop("plot_file")
        target = None if output is None else target_file(output, "a certificate", (".json",))
        picture = None if plot is None else target_file(plot, "a picture", (".png", ".svg", ".pdf"))
        given = {p.name: values[p.name] for p in parameters if values[p.name] is not None}
        readers = {p.name: p.read for p in parameters}
        with working("designing"):
            mechanism = entry.make(**{name: readers[name](text) for name, text in given.items()})
            _finish(entry, mechanism, given, target, picture, as_json)

    options: dict[str, Any] = {}
    for p in parameters if isinstance(parameters, list) else []:
        kind: Any = bool if p.flag else str
        metavar = "" if p.flag else p.shape
        option = typer.Option(_dashed(p.name), help=p.help, metavar=metavar, show_default=False)
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
    return command


def target_file(output: str, what: str, suffixes: tuple[str, ...]) -> Path:
    """Refuse a place that cannot take a file before any work is done."""
    from noisewright.core.errors import ParameterError

    target = Path(output)
    if target.suffix.lower() not in suffixes:
        allowed = " or ".join(suffixes)
        raise ParameterError(f"{output}: {what} is written to a {allowed} file; choose a name that ends in {allowed}.")
    if target.is_dir() or not target.parent.is_dir() or not os.access(target.parent, os.W_OK):
        raise ParameterError(f"{output} cannot be written; name a file in a directory that exists and can be written.")
    return target


def _finish(
    entry: Entry,
    mechanism: Mechanism,
    given: dict[str, Any],
    target: Path | None,
    picture: Path | None,
    as_json: bool,
) -> None:
    from noisewright.core.mechanism import described
    from noisewright.files.channels import save

    certificate, more = mechanism.certificate(), described(mechanism)
    proved = certificate.verify() if certificate.numerics == "exact" else None
    data: dict[str, Any] = {
        "mechanism": entry.name,
        "parameters": given,
        "guarantee": mechanism.guarantee.to_json(),
        "reading": (more.in_words or mechanism.guarantee.in_words)(),
        "scale": None if more.scale is None else float(more.scale),
        "reason": more.reason,
        "error": _errors(mechanism),
        "numerics": certificate.numerics,
        "randomness": certificate.randomness,
        "proved": proved,
        "file": None if target is None else str(target),
        "picture": None if picture is None else str(picture),
    }
    if picture is not None:
        from noisewright.plots.mechanism import save_picture

        save_picture(mechanism, picture)
    if target is not None:
        save(certificate, target)
    emit(data, lambda: _page(entry, mechanism, data), as_json)


def _errors(mechanism: Mechanism) -> dict[str, float]:
    """The expected loss at the worst secret, for every named loss that makes sense for these secrets."""
    from noisewright.core.errors import NoLossError
    from noisewright.mechanisms.losses import LOSSES

    found = {}
    for loss in LOSSES:
        try:
            found[loss] = mechanism.error(loss)
        except NoLossError:
            continue
    return found


def _page(entry: Entry, mechanism: Mechanism, data: dict[str, Any]) -> list[RenderableType]:
    from rich.text import Text

    from noisewright.cli.shared.metrics import explain

    words = explain(mechanism.guarantee.metric)
    rows = [
        ("Guarantee", f"{mechanism.guarantee}" + (f" ({words})" if words else "")),
        ("In words", data["reading"]),
        *([("Scale of the noise", _scale_words(data))] if data["scale"] is not None else []),
        ("Expected error", _error_words(data["error"])),
        ("Numbers", NUMERICS.get(data["numerics"], data["numerics"])),
        ("Random bits", data["randomness"]),
    ]
    if data["proved"]:
        rows.append(("Proof", f"checked again just now: {data['proved']}"))
    rows.append(
        ("Certificate", f"written to {data['file']}" if data["file"] else "not written; -o FILE.json writes it")
    )
    if data["picture"]:
        rows.append(("Picture", f"drawn to {data['picture']}"))
    title = Text.assemble((entry.name, "bold"), f": {entry.summary}")
    return [title, facts((what, printable(value)) for what, value in rows)]


def _scale_words(data: dict[str, Any]) -> str:
    return f"{data['scale']:.6g}" + (f": {data['reason']}" if data["reason"] else "")


def _error_words(errors: dict[str, float]) -> str:
    spelled = {
        "absolute": lambda e: f"{e:.4g} absolute",
        "squared": lambda e: f"{e:.4g} squared",
        "zero-one": lambda e: f"another value than the truth {100 * e:.4g} % of the time",
    }
    found = [spelled[loss](error) if loss in spelled else f"{error:.4g} ({loss})" for loss, error in errors.items()]
    return ", ".join(found) + " (for the secret where it is largest)" if found else "none that applies"


def _list(as_json: bool) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from noisewright.cli.shared.parameters import Parameter, parameters_of
    from noisewright.mechanisms.registry import names, registry

    entries = [registry[name] for name in names()]
    options = {e.name: parameters_of(e.make) for e in entries}
    extras = {name: str(import_module(module).SUMMARY) for name, module in EXTRAS.items()}

    def spelled(p: Parameter) -> str:
        text = _dashed(p.name) if p.flag else f"{_dashed(p.name)} {p.shape}"
        return text if p.required else f"[{text}]"

    def page() -> list[RenderableType]:
        table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for title in ("Mechanism", "For", "What it does", "Needs"):
            table.add_column(title, no_wrap=title == "Mechanism")
        for e in entries:
            found = options[e.name]
            names = (
                "from Python only" if isinstance(found, str) else " ".join(_dashed(p.name) for p in found if p.required)
            )
            table.add_row(e.name, e.words, e.summary, names)
        for name in EXTRAS:
            table.add_row(name, "any secrets", extras[name], "--metric --epsilon")
        return [
            table,
            Text("\nnoisewright design NAME --help explains the options of one; -o FILE.json writes a certificate."),
        ]

    data = {
        "mechanisms": [
            {
                "name": e.name,
                "secrets": e.words,
                "summary": e.summary,
                "options": None
                if isinstance(found := options[e.name], str)
                else [{"name": p.name, "required": p.required, "shape": p.shape} for p in found],
            }
            for e in entries
        ],
        "extras": [{"name": name, "summary": summary} for name, summary in extras.items()],
    }
    emit(data, page, as_json)


def _dashed(name: str) -> str:
    return "--" + name.replace("_", "-")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
