"""``noisewright design NAME``: the command of one mechanism, made from the signature of its constructor."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, chance, emit, facts, printable, wants_json, working
from noisewright.cli.shared.targets import draw_to, json_file, picture_file
from noisewright.render import promised, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import RenderableType

    from noisewright.cli.shared.parameters import Option
    from noisewright.core.mechanism import Mechanism
    from noisewright.mechanisms.registry import Entry

__all__ = ["NUMERICS", "dashed", "mechanism_command"]

NUMERICS = {
    "exact": "exact: the promise is proved about the very integers that are drawn",
    "floating": "floating: a theorem about real numbers; the float draw itself is not proved",
}


def mechanism_command(entry: Entry) -> Command:
    """The command that designs one mechanism."""
    from noisewright.cli.shared.parameters import options_of
    from noisewright.core.errors import ParameterError

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
            _finish(entry, mechanism, given, target, picture, as_json)

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
    from noisewright.mechanisms.losses import named_errors

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
    draw_to(picture, lambda: _drawn(mechanism), target)
    emit(data, lambda: _page(entry, mechanism, data), as_json)


def _drawn(mechanism: Mechanism) -> Figure:
    from noisewright.plots.mechanism import draw

    return draw(mechanism)


def _page(entry: Entry, mechanism: Mechanism, data: dict[str, Any]) -> list[RenderableType]:
    from rich.text import Text

    from noisewright.mechanisms.losses import errors_in_words

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
