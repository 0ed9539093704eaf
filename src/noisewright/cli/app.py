"""The command itself: its sub-commands, and how everything that can go wrong ends.

Exit codes: 0 when everything asked for was done; 1 when a certificate is not proved, a number that was reported does not come
out, or the installation is not healthy; 2 for an error (one sentence on stderr, or ``{"error": ...}`` on stdout with
``--json``); 130 after Ctrl-C.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn

import typer

from noisewright.cli.shared.commands import Command, built
from noisewright.cli.shared.output import printable, write_json
from noisewright.core.loading.addresses import Addresses
from noisewright.files.endings import was_interrupted

__all__ = ["COMMANDS", "main", "run"]

ERROR, INTERRUPTED = 2, 130

USAGE_ERROR: Any = typer.BadParameter.__mro__[2]
"""The base of all errors about options and arguments, wherever this version of Typer keeps it."""

_WORDS = (
    "init",
    "plan",
    "release",
    "design",
    "audit",
    "survey",
    "estimate",
    "compare",
    "verify",
    "reproduce",
    "bench",
    "doctor",
    "completion",
    "ledger",
    "attack",
    "text",
    "embeddings",
    "images",
    "match",
    "learn",
)

NO_MATRICES = ("init", "plan", "verify", "ledger")
"""Commands that multiply none, and need no threads for it."""

COMMANDS = Addresses(
    "noisewright.commands",
    "command",
    {w: f"noisewright.cli.commands.{w}:COMMAND" for w in _WORDS} | {"studio": "noisewright.studio.command:COMMAND"},
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
    from noisewright.core.errors import NoisewrightError, PolicyError

    if isinstance(problem, PolicyError) and len(problem.problems) > 1:
        text = " Also: ".join(problem.problems)
    elif isinstance(problem, NoisewrightError):
        text = str(problem)
    elif isinstance(problem, USAGE_ERROR) and hasattr(problem, "possibilities") and hasattr(problem, "option_name"):
        from noisewright.cli.shared.guesses import meant_by

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

    from noisewright.core.choices import one_of

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
