'''Commands by address: the target of an address, and how it becomes a command of Typer when it is called.

A command is a :class:`Command` in a module; a table of addresses (:class:`~noisewright._utils.lazy.Addresses`)
says where.
The module is loaded when its command is called, or when help lists it; so it stays thin, and
imports its needs inside its function. A third party's package adds a command with an entry point in its ``pyproject.toml``::

    [project.entry-points."noisewright.commands"]
    count = "counting.command:COMMAND"

and, in ``counting/command.py``::

    from noisewright.cli import Command

    def count(file: str) -> None:
        """Count the rows of a file."""

    COMMAND = Command(count)

Sub-commands are a table again, with a group of entry points of its own, such as ``noisewright.commands.attack``.
'''

from __future__ import annotations

import atexit
import contextlib
import gc
import inspect
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, Protocol

import typer
from typer.core import TyperCommand

from noisewright._utils.lazy import Addresses
from noisewright._utils.validation import printable
from noisewright.cli.arguments import Leaf, Stem
from noisewright.exceptions import ParameterError
from noisewright.io.atomic import was_interrupted
from noisewright.render.text import AsJson, emit, write_json

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = [
    "ATTACKS",
    "ATTACK_COMMAND",
    "COMMANDS",
    "EMBEDDINGS_COMMAND",
    "EMBEDDINGS_WORK",
    "IMAGES_COMMAND",
    "LEARN_COMMAND",
    "LEDGER_COMMAND",
    "LESSONS",
    "MATCH_COMMAND",
    "PHOTOGRAPHS",
    "ROLES",
    "TEXT_COMMAND",
    "TEXT_WORK",
    "VIEWS",
    "Command",
    "Table",
    "built",
    "main",
    "offered",
    "run",
]


class Table(Protocol):
    """Commands by name, loaded one by one: an :class:`~noisewright._utils.lazy.Addresses`, or a
    similar object.
    """

    def load(self, name: str) -> Any: ...

    def __contains__(self, name: object) -> bool: ...

    def __iter__(self) -> Iterator[str]: ...


@dataclass(frozen=True)
class Command:
    """Target of the address of a command."""

    run: Callable[..., Any] | typer.Typer
    """A function with options of Typer, or a whole Typer application. With sub-commands it is called before them, or alone."""
    help: str | None = None
    """Its own page of help; the docstring of the function if it is not given."""
    line: str | None = None
    """Entry in the list of commands; the first paragraph of its help if it is not given."""
    summary: str = ""
    """Purpose in half a line, where its parent shows a list of its own."""
    table: Table | None = None
    """Its sub-commands."""
    unknown: Callable[[str], str] | None = None
    """Message about a word that is not one of its sub-commands, if it differs from the general one."""
    files: str | None = None
    """The sub-command that is meant where the first word is the name of a file, and no sub-command."""

    def in_one_line(self) -> str:
        """Return the entry in the list of commands."""
        page = self.line or self.help or inspect.getdoc(self.run) or ""
        return " ".join(page.split("\n\n")[0].split())


def built(name: str, command: Command) -> Any:
    """The command as Typer runs it."""
    if isinstance(command.run, typer.Typer):
        return typer.main.get_command(command.run)
    if command.table is None:
        leaf = _application()
        leaf.command(name, cls=Leaf, help=command.help)(command.run)
        return typer.main.get_command(leaf)
    branch = _application(name=name, cls=Branch, help=command.help or inspect.getdoc(command.run))
    branch.callback(invoke_without_command=True)(command.run)
    made: Any = typer.main.get_command(branch)
    made.table, made.unknown, made.files = command.table, command.unknown, command.files
    return made


def offered(table: Table, name: str) -> Command:
    """The command that a table has under a name; an error for anything else."""
    found = table.load(name)
    if not isinstance(found, Command):
        whose = f" of {table.provider(name)}" if isinstance(table, Addresses) else ""
        raise ParameterError(
            f"the command {name!r}{whose} is no Command of noisewright.cli; repair or remove its package."
        )
    return found


class Branch(Stem):
    """A command with sub-commands, each loaded when it is called, or when help lists it."""

    table: Table
    unknown: Callable[[str], str] | None
    files: str | None

    def list_commands(self, ctx: Any) -> list[str]:
        names, self.epilog = _names(self.table)
        return names

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return _Doorway(cmd_name, self.table) if cmd_name in self.table else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        word = args[0]
        if self.files is not None and word not in self.table and _is_file(word):
            args = [self.files, *args]
        elif word not in self.table:
            if self.unknown is not None and not word.startswith("-"):
                raise ParameterError(self.unknown(word))
            self.commands = {name: _Doorway(name, self.table) for name in self.table}  # what may have been meant
        return super().resolve_command(ctx, args)


def _is_file(word: str) -> bool:
    """Return whether a word is the name of a file, there or not: it has an ending or a folder."""
    return not word.startswith("-") and (Path(word).suffix != "" or Path(word).name != word or Path(word).exists())


class _Doorway(TyperCommand):
    """A command in the list of its parent: it has a line of help, and the real one behind it once it is called."""

    def __init__(self, name: str, table: Table) -> None:
        super().__init__(name)
        self.table = table

    @property
    def short_help(self) -> str:
        """A command that cannot be loaded says so in the list, and the others are listed all the same."""
        try:
            return offered(self.table, str(self.name)).in_one_line()
        except ParameterError as problem:
            return f"Broken: {problem}"

    @short_help.setter
    def short_help(self, text: str | None) -> None:
        """Return nothing: only the real command has a short help."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        real = built(str(self.name), offered(self.table, str(self.name)))
        return real.make_context(info_name, args, parent=parent, **extra)


def _names(table: Table) -> tuple[list[str], str | None]:
    """The names in a table, and the problems of names from other packages."""
    return list(table), " ".join(getattr(table, "problems", ())) or None


def _application(**settings: Any) -> typer.Typer:
    return typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
        **settings,
    )


# App ----------------------------------------------------------------------------------------------------------------------
#
# The command itself: its sub-commands, and how everything that can go wrong ends.
#
# Exit codes: 0 when everything asked for was done; 1 when a certificate is not proved, a number that was reported does not come
# out, or the installation is not healthy; 2 for an error (one sentence on stderr, or ``{"error": ...}`` on stdout with
# ``--json``); 130 after Ctrl-C.


ERROR, INTERRUPTED = 2, 130

USAGE_ERROR: Any = typer.BadParameter.__mro__[2]
"""The base of all errors about options and arguments, wherever this version of Typer keeps it."""

NO_MATRICES = ("init", "plan", "verify", "ledger")
"""Commands that multiply none, and need no threads for it."""

COMMANDS = Addresses(
    "noisewright.commands",
    "command",
    {
        "init": "noisewright.cli.commands.release:INIT_COMMAND",
        "plan": "noisewright.cli.commands.release:PLAN_COMMAND",
        "release": "noisewright.cli.commands.release:RELEASE_COMMAND",
        "design": "noisewright.cli.commands.design:DESIGN_COMMAND",
        "audit": "noisewright.cli.commands.audit:COMMAND",
        "survey": "noisewright.cli.commands.survey:COMMAND",
        "estimate": "noisewright.cli.commands.estimate:COMMAND",
        "compare": "noisewright.cli.commands.compare:COMMAND",
        "verify": "noisewright.cli.commands.verify:COMMAND",
        "reproduce": "noisewright.cli.commands.reproduce:REPRODUCE_COMMAND",
        "bench": "noisewright.cli.commands.reproduce:BENCH_COMMAND",
        "doctor": "noisewright.cli.commands.doctor:DOCTOR_COMMAND",
        "completion": "noisewright.cli.commands.doctor:COMPLETION_COMMAND",
        "ledger": "noisewright.cli.app:LEDGER_COMMAND",
        "attack": "noisewright.cli.app:ATTACK_COMMAND",
        "text": "noisewright.cli.app:TEXT_COMMAND",
        "embeddings": "noisewright.cli.app:EMBEDDINGS_COMMAND",
        "images": "noisewright.cli.app:IMAGES_COMMAND",
        "match": "noisewright.cli.app:MATCH_COMMAND",
        "learn": "noisewright.cli.app:LEARN_COMMAND",
        "studio": "noisewright.studio.server:COMMAND",
    },
)
"""All commands, in the order in which help lists them."""


def main() -> NoReturn:
    """Run the command with the arguments of this process, and end the process."""
    gc.set_threshold(500_000)  # what a command imports stays, so looking through it again and again finds nothing
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")  # else every installed package is requested some
    if sys.argv[1:2] and sys.argv[1] in NO_MATRICES:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy starts them when it is loaded, used or not
    _leave(run(sys.argv[1:]))


def _leave(code: int) -> NoReturn:
    """End the process without taking every module apart first, which takes longer than many a command."""
    if threading.active_count() > 1:  # Python waits for threads that still work
        sys.exit(code)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done: nothing is left that takes long
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code. No exception leaves this function."""
    _streams()
    try:
        code = built("noisewright", ROOT).main(list(arguments), prog_name="noisewright", standalone_mode=False)
        if code == INTERRUPTED:
            return _interrupted(arguments)
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else ERROR
    except Exception as problem:
        if was_interrupted():
            return _interrupted(arguments)
        if "NOISEWRIGHT_TRACEBACK" in os.environ:
            raise
        with contextlib.suppress(typer.Exit, OSError):
            _report(sentence(problem), "--json" in arguments)
        return ERROR


def _interrupted(arguments: Sequence[str]) -> int:
    """Report an interruption, which no JSON object is printed for, and return its exit code."""
    with contextlib.suppress(OSError, ValueError):
        if "--json" not in arguments:
            sys.stderr.write("noisewright: interrupted.\n")
    return INTERRUPTED


def _streams() -> None:
    """A closed stream, or a label that this terminal cannot show, must not end the command."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  (open until the process ends)
        elif hasattr(getattr(sys, name), "reconfigure"):
            getattr(sys, name).reconfigure(errors="replace")


def sentence(problem: Exception) -> str:
    """An error as one line for a person."""
    from noisewright.exceptions import NoisewrightError, PolicyError

    if isinstance(problem, PolicyError) and len(problem.problems) > 1:
        text = " Also: ".join(problem.problems)
    elif isinstance(problem, NoisewrightError):
        text = str(problem)
    elif isinstance(problem, USAGE_ERROR) and hasattr(problem, "possibilities") and hasattr(problem, "option_name"):
        from noisewright.cli.arguments import meant_by

        word, where = str(problem.option_name), problem.ctx
        meant = None if where is None else meant_by(word, where.command)
        text = f"no such option: {word}{'.' if meant is None else f'; {meant}'}"
    elif isinstance(problem, USAGE_ERROR):
        text = problem.format_message()
        text = text[:1].lower() + text[1:] + ("" if text.endswith((".", ")", "?")) else ".")
        if text.startswith("missing ") and problem.ctx is not None:
            text = f"{text.rstrip('.')}; {problem.ctx.command_path} --help says what to give."
    elif isinstance(problem, OSError) and problem.strerror:
        text = f"{problem.filename}: {problem.strerror}." if problem.filename else f"{problem.strerror}."
    elif isinstance(problem, MemoryError):
        text = "this needs more memory than there is; ask for fewer secrets."
    elif isinstance(problem, ArithmeticError):
        text = "a number is too large or too small to compute with; choose one nearer to 1."
    else:
        text = (
            f"this went wrong inside Noisewright ({type(problem).__name__}: {problem}); please report it, with what "
            "NOISEWRIGHT_TRACEBACK=1 in the environment shows."
        )
    return printable(" ".join(text.split()))


def _report(text: str, as_json: bool) -> None:
    if as_json:
        write_json({"error": text})
    else:
        sys.stderr.write(f"noisewright: {text}\n")
        sys.stderr.flush()


def _version(wanted: bool) -> None:
    if wanted:
        from noisewright import __version__

        typer.echo(f"noisewright {__version__}")
        raise typer.Exit


LEVELS = ("debug", "info", "warning", "error")


def _log_to_stderr(level: str | None) -> None:
    """Records of our own loggers go to stderr; those of other packages stay where they are, since they may quote data."""
    if level is None:
        return
    import logging

    from noisewright._utils.validation import one_of

    one_of(level, "--log-level", LEVELS)
    ours, handler = logging.getLogger("noisewright"), logging.StreamHandler()
    formatter = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.format = lambda record: printable(formatter.format(record))  # type: ignore[method-assign]
    ours.handlers, ours.propagate = [handler], False
    ours.setLevel(level.upper())


def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", metavar="", help="Show the version and end.", callback=_version, is_eager=True)
    ] = False,
    log_level: Annotated[
        str | None,
        typer.Option(metavar="|".join(LEVELS), help="Say on stderr what is done, step by step; nothing of the data."),
    ] = None,
) -> None:
    del version
    _log_to_stderr(log_level)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


ROOT = Command(
    _root,
    help="Design, prove and check privacy mechanisms. The promises are proved about the very numbers that are drawn.",
    table=COMMANDS,
)


# Attack -------------------------------------------------------------------------------------------------------------------
#
# ``noisewright attack``: what an adversary really learns, one sub-command for each kind of attack.
#
# A new attack is a thin module with a ``COMMAND``, and one line in ``ATTACKS``, or an entry point of another package in
# the group
# ``noisewright.commands.attack``; the list that ``noisewright attack`` shows, and its help, come from there.


ATTACKS = Addresses(
    "noisewright.commands.attack",
    "attack",
    {
        "inference": "noisewright.cli.commands.attack_inference:INFERENCE_COMMAND",
        "linkage": "noisewright.cli.commands.attack_disclosure:LINKAGE_COMMAND",
        "suppression": "noisewright.cli.commands.attack_disclosure:SUPPRESSION_COMMAND",
        "author": "noisewright.cli.commands.attack_identity:AUTHOR_COMMAND",
        "faces": "noisewright.cli.commands.attack_identity:FACES_COMMAND",
        "private-attribute": "noisewright.cli.commands.attack_inference:PRIVATE_ATTRIBUTE_COMMAND",
    },
)
"""The attacks by name."""


def attack(context: typer.Context, as_json: AsJson = False) -> None:
    """Measure what an adversary really learns; alone: list the attacks."""
    context.obj = as_json
    if context.invoked_subcommand is None:
        found = {name: offered(ATTACKS, name).summary for name in ATTACKS}
        data = {"attacks": [{"name": name, "summary": summary} for name, summary in found.items()]}
        emit(data, lambda: _page(found), as_json)


def _page(found: dict[str, str]) -> list[RenderableType]:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for title in ("Attack", "What it finds out"):
        table.add_column(title, no_wrap=title == "Attack")
    for name, summary in found.items():
        table.add_row(name, summary)
    return [table, Text("\nnoisewright attack NAME --help explains the options of one.")]


ATTACK_COMMAND = Command(attack, table=ATTACKS)


# Embeddings ---------------------------------------------------------------------------------------------------------------
#
# ``noisewright embeddings``: public word vectors, fetched, imported, trained and looked at.


EMBEDDINGS_WORK = Addresses(
    "noisewright.commands.embeddings",
    "sub-command of embeddings",
    {
        "get": "noisewright.cli.commands.text:EMBEDDINGS_GET_COMMAND",
        "import": "noisewright.cli.commands.text:EMBEDDINGS_IMPORT_COMMAND",
        "train": "noisewright.cli.commands.text:EMBEDDINGS_TRAIN_COMMAND",
        "info": "noisewright.cli.commands.text:EMBEDDINGS_INFO_COMMAND",
    },
)
"""Sub-commands for embeddings."""


def embeddings(context: typer.Context) -> None:
    """Get, import, train or look at word embeddings: the public vectors that say which words are near to each other."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


EMBEDDINGS_COMMAND = Command(embeddings, table=EMBEDDINGS_WORK)


# Images -------------------------------------------------------------------------------------------------------------------
#
# ``noisewright images``: photographs that may be shown, with a guarantee.


PHOTOGRAPHS = Addresses(
    "noisewright.commands.images",
    "sub-command of images",
    {
        "find": "noisewright.cli.commands.images_models:FIND_COMMAND",
        "get": "noisewright.cli.commands.images_models:GET_COMMAND",
        "obfuscate": "noisewright.cli.commands.images_obfuscate:OBFUSCATE_COMMAND",
        "preview": "noisewright.cli.commands.images_obfuscate:PREVIEW_COMMAND",
        "train": "noisewright.cli.commands.images_models:TRAIN_COMMAND",
        "video": "noisewright.cli.commands.images_obfuscate:VIDEO_COMMAND",
    },
)
"""Sub-commands for photographs."""


def images(context: typer.Context) -> None:
    """Obfuscate photographs with a proved promise, look at what an epsilon does to one, or train a model."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


IMAGES_COMMAND = Command(images, table=PHOTOGRAPHS)


# Learn --------------------------------------------------------------------------------------------------------------------
#
# ``noisewright learn``: privatisers that hide a private value under a distortion budget, and their optimum.


LESSONS = Addresses(
    "noisewright.commands.learn",
    "sub-command of learn",
    {
        "train": "noisewright.cli.commands.learn:TRAIN_COMMAND",
        "optimum": "noisewright.cli.commands.learn:OPTIMUM_COMMAND",
    },
)
"""Sub-commands: training, and optima that are known without it."""


def learn(context: typer.Context) -> None:
    """Hide a private value under a distortion budget: learned from a table, or the best there is for a known joint law.

    noisewright learn TABLE --private COLUMN --distortion D -o FILE.nwm is short for learn train.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


LEARN_COMMAND = Command(learn, table=LESSONS, files="train")


# Ledger -------------------------------------------------------------------------------------------------------------------
#
# ``noisewright ledger``: the spends of every budget, for people and for programs.


VIEWS = Addresses(
    "noisewright.commands.ledger",
    "sub-command of ledger",
    {
        "show": "noisewright.cli.commands.ledger:SHOW_COMMAND",
        "export": "noisewright.cli.commands.ledger:EXPORT_COMMAND",
        "backup": "noisewright.cli.commands.ledger:BACKUP_COMMAND",
        "check": "noisewright.cli.commands.ledger:CHECK_COMMAND",
        "adopt": "noisewright.cli.commands.ledger:ADOPT_COMMAND",
    },
)
"""Sub-commands for a ledger."""


def ledger(context: typer.Context) -> None:
    """Show, export, copy, check or repair a ledger: the budget of every dataset, and what its releases have spent of it."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


LEDGER_COMMAND = Command(ledger, table=VIEWS, files="show")


# Match --------------------------------------------------------------------------------------------------------------------
#
# ``noisewright match``: find similar people without seeing them.


ROLES = Addresses(
    "noisewright.commands.match",
    "sub-command of match",
    {
        "seed": "noisewright.cli.commands.match:SEED_COMMAND",
        "encode": "noisewright.cli.commands.match:ENCODE_COMMAND",
        "search": "noisewright.cli.commands.match:SEARCH_COMMAND",
        "evaluate": "noisewright.cli.commands.match:EVALUATE_COMMAND",
    },
)
"""Roles: service operators, the people, and trials before a service."""


def match(context: typer.Context) -> None:
    """Match people by short noisy codes: seed makes a public scheme, encode runs where profiles are, search where codes are."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


MATCH_COMMAND = Command(match, table=ROLES)


# Text ---------------------------------------------------------------------------------------------------------------------
#
# ``noisewright text``: documents whose words are obfuscated.


TEXT_WORK = Addresses(
    "noisewright.commands.text",
    "sub-command of text",
    {
        "obfuscate": "noisewright.cli.commands.text:OBFUSCATE_COMMAND",
        "calibrate": "noisewright.cli.commands.text:CALIBRATE_COMMAND",
    },
)
"""Sub-commands for texts."""


def text(context: typer.Context) -> None:
    """Obfuscate documents word by word, or find the epsilon for it; noisewright attack author says who is still named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


TEXT_COMMAND = Command(text, table=TEXT_WORK)
