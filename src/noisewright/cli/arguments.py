"""Reading of arguments and display of help for the commands.

An option that is given twice is refused, not quietly overruled by its last value. Help has each paragraph in one piece, so
that
it is broken at the width of the terminal and nowhere else.

>>> from types import SimpleNamespace as It
>>> release = It(params=[
...     It(param_type_name="option", opts=["--output", "-o"], name="output", hidden=False),
...     It(param_type_name="option", opts=["--replace"], name="replace", hidden=False),
...     It(param_type_name="argument", opts=["policy"], name="policy", metavar="POLICY"),
... ])
>>> [meant_by(word, release) for word in ("--ouput", "--overwrite", "--policy", "--unknown")]
['did you mean --output?', 'did you mean --replace?', 'POLICY is given without a name before it.', None]
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from noisewright.render.text import facts, plural

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import RenderableType

    from noisewright.channels.channel import Channel
    from noisewright.io.atomic import Problem
    from noisewright.metrics.base import Metric
    from noisewright.text.embedding import Embedding

__all__ = [
    "METRIC_HELP",
    "METRIC_NAMES",
    "TABLES",
    "Embedded",
    "Language",
    "Leaf",
    "Limit",
    "Replace",
    "Stem",
    "Unknown",
    "WitnessFile",
    "Words",
    "check_number",
    "default_metric",
    "draw_to",
    "exit_if_any",
    "explain",
    "from_checkout",
    "json_file",
    "listed",
    "load_given",
    "load_thing",
    "meant_by",
    "parse_metric",
    "picture_file",
    "refuse_repeats",
    "target_file",
    "unread",
    "word_options",
]


TABLES = (
    "a .parquet, .csv (also .csv.gz, .csv.zst), .xlsx, .arrow or .jsonl file, a folder of them, or table@file: a table of a "
    ".duckdb or .sqlite database, or a sheet of a workbook"
)
"""Tables that a command takes, in its help."""
WitnessFile = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="A file that is told of every spend, besides that of this user, so that a restored old ledger is noticed.",
    ),
]


class Leaf(TyperCommand):
    """A command whose options may each be given once."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.help = _unbroken(self.help)
        parameter: Any
        for parameter in self.params:
            if parameter.param_type_name == "argument":
                parameter.display_type_rich = lambda ctx: None  # the text describes the value, not a type of Python
            elif getattr(parameter, "is_flag", False):
                _without_type(parameter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        refuse_repeats(self.get_params(ctx), args)
        return super().parse_args(ctx, args)

    def get_help_option(self, ctx: Any) -> Any:
        return _without_type(super().get_help_option(ctx))


class Stem(TyperGroup):
    """A command with sub-commands; its own options, which come before them, may each be given once."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        refuse_repeats(self.get_params(ctx), args, interspersed=False)
        return super().parse_args(ctx, args)

    def get_help_option(self, ctx: Any) -> Any:
        return _without_type(super().get_help_option(ctx))


def refuse_repeats(parameters: Iterable[Any], words: Sequence[str], interspersed: bool = True) -> None:
    """Refuse words that give an option twice that takes one value; such an option takes the next word, whatever it is."""
    from noisewright.exceptions import ParameterError

    options = {name: p for p in parameters if p.param_type_name == "option" for name in (*p.opts, *p.secondary_opts)}
    seen: set[str] = set()
    rest = iter(words)
    for word in rest:
        if word == "--" or (not interspersed and not word.startswith("-")):
            return
        name, given, _ = word.partition("=")
        if name not in options and not word.startswith("--"):
            name, given = word[:2], word[2:]  # -oFILE
        option = options.get(name)
        if option is None:
            continue
        if option.name in seen and not option.multiple:
            raise ParameterError(f"{max(option.opts, key=len)} was given more than once; give it once.")
        seen.add(option.name)
        if not given and not option.is_flag and not getattr(option, "count", False):
            next(rest, None)


def _unbroken(text: str | None) -> str | None:
    """The paragraphs of a docstring, each on one line."""
    return text and "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _without_type(option: Any) -> Any:
    if option is not None:
        option.metavar = ""  # help has no column for the type of a switch
    return option


# Guesses ------------------------------------------------------------------------------------------------------------------
#
# Options that people guess: what to say about one that a command does not have.


GUESSES = {
    "--replace": ("--overwrite", "--force", "--clobber", "--yes"),
    "--again": ("--redraw", "--rerun", "--repeat"),
    "--raise-budget": ("--increase-budget", "--more-budget", "--budget"),
    "--output": ("--out", "--to", "--outdir", "--output-dir", "--save", "--destination"),
    "--epsilon": ("--eps", "--privacy", "--level"),
    "--within": ("--lower", "--upper", "--low", "--high", "--min", "--max", "--bounds", "--range", "--limits"),
    "--categories": ("--values", "--labels", "--classes", "--choices", "--domain"),
    "--sensitivity": ("--delta-f", "--distance"),
    "--details": ("--verbose", "--full", "--all"),
    "--column": ("--columns", "--field", "--name"),
    "--json": ("--as-json", "--machine"),
    "--format": ("--output-format", "--type", "--csv", "--parquet", "--xlsx"),
    "--seed": ("--random-state", "--rng"),
    "--inspect": ("--check", "--check-data", "--look"),
}
"""Each option, and what other programs call it."""


def meant_by(word: str, command: Any) -> str | None:
    """Return the likely meaning of an option that a command does not have; None if nothing is like it."""
    options = [name for p in command.params if p.param_type_name == "option" for name in p.opts if name[:2] == "--"]
    for option, guesses in GUESSES.items():
        if option in options and word in guesses:
            return f"did you mean {option}?"
    for place in command.params:
        shown = str(getattr(place, "metavar", None) or place.name).strip("[]{}.")
        if place.param_type_name == "argument" and word.removeprefix("--").lower() in (shown.lower(), place.name):
            return f"{shown} is given without a name before it."
    plain = word[:100].lower().replace("_", "-").strip("-")
    near = get_close_matches(plain, [name.strip("-") for name in options], n=1, cutoff=0.7)
    return f"did you mean --{near[0]}?" if near else None


# Problems -----------------------------------------------------------------------------------------------------------------
#
# Files that could not be done where the others are: one sentence for each of them, and an exit code.


NOT_ALL = 1
"""The exit code where some files could not be done."""


def listed(problems: Iterable[Problem]) -> list[dict[str, str]]:
    """Return the problems for a program."""
    return [{"file": str(path), "problem": why} for path, why in problems]


def unread(problems: Sequence[dict[str, str]]) -> list[RenderableType]:
    """The same for a person: nothing, or a list below the page."""
    from rich.text import Text

    if not problems:
        return []
    head = Text(f"\n{plural(len(problems), 'file')} could not be done:", style="yellow")
    return [head, facts([(Path(one["file"]).name, one["problem"]) for one in problems])]


def exit_if_any(problems: Sequence[object]) -> None:
    """End with the exit code, after everything else."""
    if problems:
        raise typer.Exit(NOT_ALL)


# Targets ------------------------------------------------------------------------------------------------------------------
#
# Places that a command is asked to write to.


Replace = Annotated[bool, typer.Option("--replace", metavar="", help="Replace files that are there already.")]


def target_file(
    output: str, what: str, suffixes: tuple[str, ...], *, new: bool = False, replace: bool | None = None
) -> Path:
    """Refuse a place that cannot take a file before any work is done; with ``new``, one where something is already.

    With ``replace``, the answer to the option of that name, such a place is refused unless it was given.
    """
    from noisewright.exceptions import ParameterError

    target = Path(output)
    if target.suffix.lower() not in suffixes:
        allowed = " or ".join(suffixes)
        raise ParameterError(f"{output}: {what} is written to a {allowed} file; choose a name that ends in {allowed}.")
    if target.is_dir() or not target.parent.is_dir() or not os.access(target.parent, os.W_OK):
        raise ParameterError(f"{output} cannot be written; name a file in a directory that exists and can be written.")
    if new and os.path.lexists(target):
        raise ParameterError(f"{output} is there already; name a new file, so that nothing is overwritten.")
    if replace is not None:
        from noisewright.io.atomic import check_free

        check_free(target, replace)
    return target


def json_file(output: str | None, what: str = "a certificate") -> Path | None:
    """Return the path at which ``--output`` wants a JSON file, if it was given."""
    return None if output is None else target_file(output, what, (".json",))


def picture_file(plot: str | None, alone: bool = False) -> Path | None:
    """Where ``--plot`` wants a picture, if it was given.

    ``alone``: no other file is written. That nothing can be drawn is said at once then, and not after all the work.
    """
    if plot is None:
        return None
    target = target_file(plot, "a picture", (".png", ".svg", ".pdf"))
    if alone:
        from noisewright.plotting.mechanisms import blank_figure

        blank_figure(1, 1)
    return target


def draw_to(picture: Path | None, draw: Callable[[], Figure], written: Path | None = None) -> None:
    """Draw to a file, if one is requested, after all else is written; what cannot be drawn never loses what was ``written``."""
    from noisewright.exceptions import NoisewrightError

    if picture is None:
        return
    try:
        from noisewright.plotting.mechanisms import save_figure

        save_figure(draw(), picture)
    except NoisewrightError as problem:
        if written is None:
            raise
        raise type(problem)(f"{problem} Without a picture, {written} was written all the same.") from None


# Word options -------------------------------------------------------------------------------------------------------------
#
# Options that commands on texts share.


Embedded = Annotated[
    str, typer.Option(metavar="FILE", help="The public embedding, by path or name; small is the one that comes along.")
]
Limit = Annotated[int | None, typer.Option(metavar="N", help="Use its N most frequent words alone.", min=2)]
Words = Annotated[str, typer.Option(metavar="exact|laplace", help="How a word is drawn.")]
Unknown = Annotated[
    str,
    typer.Option(
        metavar="drop|replace|refuse|keep",
        help="What to do with words outside of the vocabulary, numbers and addresses; keep leaves them unprotected.",
    ),
]
Language = Annotated[str, typer.Option(metavar="CODE", help="Whose stop words are left out; none for no language.")]


def word_options(embedding: str, language: str) -> tuple[Embedding, str | None]:
    """The embedding, and the language of the stop words; None for ``none``."""
    from noisewright.text.embedding import find_embedding

    return find_embedding(embedding), None if language == "none" else language


# Channels -----------------------------------------------------------------------------------------------------------------
#
# Files that hold a channel, or a certificate of one.


def load_thing(file: str) -> Any:
    """Return the content of a file, in exact numbers where it has them."""
    from noisewright.certificates.certificate import prove
    from noisewright.channels.channel import Channel
    from noisewright.exceptions import CertificateError, ParameterError
    from noisewright.io.serialization import load_either, load_exact_csv
    from noisewright.mechanisms.from_certificate import source_of
    from noisewright.qif.refinement.exact_channel import exact_channel

    found = load_either(file)
    if isinstance(found, Channel):
        rows = load_exact_csv(file) if Path(file).suffix.lower() == ".csv" else None
        return found if rows is None else exact_channel(rows, found.inputs, found.outputs)
    claim, reason = prove(dict(found.document))
    if claim is None:
        raise CertificateError(f"{file} is not proved: {reason}")
    source = source_of(found)
    if isinstance(source, str):
        raise ParameterError(f"{file} has no channel of finitely many secrets and outputs: {source}")
    return source[0]


def load_given(file: str) -> tuple[tuple[Hashable, ...], tuple[Hashable, ...], Channel | Sequence[Sequence[Any]]]:
    """Return the secrets, outputs and rows of a channel: exact where a ``.csv`` has fractions or decimals that sum to one.

    The integers of a certificate are near to probabilities that may not be fractions, so they count as floats.
    """
    from noisewright.qif.refinement.exact_channel import read

    found = read(load_thing(file))
    exact: Sequence[Sequence[Any]] | None = found.exact if Path(file).suffix.lower() == ".csv" else None
    return found.inputs, found.outputs, found.channel if exact is None else exact


# Metrics ------------------------------------------------------------------------------------------------------------------
#
# The ``--metric`` option: a metric by name, perhaps scaled, or a table of distances from a file.


METRIC_NAMES = (
    "One of line, discrete, euclidean, manhattan, hamming, angular, a multiple such as 0.5*line, or table:FILE.csv."
)
METRIC_HELP = f"Distance between secrets. {METRIC_NAMES}"

_WORDS = {
    "discrete": "any two different secrets are 1 apart",
    "line": "the difference between two numbers",
    "euclidean": "the straight-line distance between points",
    "manhattan": "the sum of the coordinate differences",
    "hamming": "the number of places that differ",
    "angular": "the angle between two vectors, from 0 to 1",
}


def parse_metric(text: str) -> Metric:
    """The metric that an option names."""
    from noisewright.metrics.base import named_metric

    kind, colon, path = text.partition(":")
    if colon and kind.strip() == "table":
        return _table(path.strip())
    check_number(text.rpartition("*")[0], "a metric's factor")
    return named_metric(text)


def default_metric(secrets: Sequence[Hashable]) -> Metric:
    """``line`` where every secret is a finite number, otherwise ``discrete``."""
    from noisewright.exceptions import MetricError
    from noisewright.metrics.base import Discrete, Line

    try:
        Line().places(secrets)
    except MetricError:
        return Discrete()
    return Line()


def explain(metric: Metric) -> str:
    """Describe the measure of the metric in words; empty for a metric that its own name explains."""
    return _WORDS.get(str(metric).rpartition("*")[2].strip(), "")


def check_number(text: str, name: str) -> str:
    """Refuse digits that would take for ever to read as an exact number, and sizes that no float has, before anything else."""
    from noisewright.exceptions import ParameterError

    absurd = len(text) > 1000 or re.search(r"[eE][+-]?[\d_]{4,}", text) is not None
    if not absurd:
        try:
            size = abs(Fraction(text))
            absurd = size >= 10**308 or 0 < size * 10**308 < 1
        except (ValueError, ZeroDivisionError):
            pass  # the reader of the number reports the problem
    if absurd:
        raise ParameterError(f"{name} is far too long, too large or too small a number; write it like 0.5 or 1/2.")
    return text


def _table(path: str) -> Metric:
    import numpy as np

    from noisewright.exceptions import FileFormatError
    from noisewright.io.serialization import load_labelled_csv
    from noisewright.metrics.base import Table

    rows, columns, distances = load_labelled_csv(path)
    name = Path(path).name
    if set(rows) != set(columns) or len(rows) != len(columns):
        raise FileFormatError(f"{name}: a table of distances has the same names down its rows as along its top.")
    order = [columns.index(row) for row in rows]
    return Table(np.array(distances)[:, order], tuple(rows), name=f"table {name}")


def exact_or_none(text: str | None, name: str) -> Fraction | None:
    """An optional number, exactly."""
    from noisewright.numerics.exact import as_fraction

    return None if text is None else as_fraction(check_number(text, name), name)


# Checkout -----------------------------------------------------------------------------------------------------------------
#
# The source around the library: ``experiments`` and ``bench`` are folders of a checkout and are not installed.


PROJECT = "noisewright"


def from_checkout(package: str) -> Any:
    """Import a package of the checkout that this library runs from, or else of the one that the current folder is in.

    The first comes first because its code is sure to fit the library; another one must at least have the same version.
    """
    from noisewright.exceptions import MissingPartError

    if package in sys.modules:
        return sys.modules[package]
    root = _root(package)
    if root is None:
        raise MissingPartError(
            f"{package} comes with the source of Noisewright, not with the installed package; run this inside a copy of "
            "the source, or install one with pip install -e and its folder."
        )
    sys.path.insert(0, str(root))
    return import_module(package)


def _root(package: str) -> Path | None:
    from noisewright import __version__
    from noisewright.exceptions import MissingPartError

    for folder in _candidates():
        if not (folder / package / "__init__.py").is_file():
            continue
        project = _project(folder)
        if project.get("name") != PROJECT:
            continue
        if project.get("version") != __version__:
            raise MissingPartError(
                f"{package} here is that of version {project.get('version')}, and version {__version__} is installed; "
                "install this copy of the source with pip install -e and its folder."
            )
        return folder
    return None


def _candidates() -> Iterator[Path]:
    import noisewright

    yield Path(noisewright.__file__).resolve().parents[2]  # next to src/noisewright
    here = Path.cwd()
    yield from (here, *here.parents)


def _project(folder: Path) -> dict[str, Any]:
    """Return the statements of a folder's project file about the project; nothing if no readable one exists."""
    try:
        return dict(tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8")).get("project", {}))
    except (OSError, ValueError, TypeError):
        return {}
