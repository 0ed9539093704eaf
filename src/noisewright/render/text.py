"""Output code that all commands share: one page for a person, or one JSON object for a program."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright._utils.validation import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

__all__ = [
    "AsJson",
    "Details",
    "at_most",
    "block",
    "caution",
    "chance",
    "counting",
    "emit",
    "facts",
    "heading",
    "label",
    "labels",
    "plain",
    "plural",
    "round_up",
    "say",
    "wants_json",
    "working",
    "write_json",
]


AsJson = Annotated[bool, typer.Option("--json", metavar="", help="Print one JSON object and nothing else.")]

Details = Annotated[bool, typer.Option("--details", metavar="", help="Show everything, not only what matters most.")]

PAGE_WIDTH = 100
LABEL_LENGTH = 40
SPINNER_AFTER = 1.0
BROKEN_PIPE = 141


def wants_json(context: typer.Context, as_json: bool) -> bool:
    """Return whether ``--json`` was given: to the command itself, or to the one that it belongs to."""
    return as_json or bool(context.parent and context.parent.obj)


def emit(data: Mapping[str, Any], page: Callable[[], Iterable[RenderableType]], as_json: bool) -> None:
    """Print the answer, in one piece: ``data`` as JSON, or the ``page`` for a person."""
    if as_json:
        write_json(data)
        return
    from rich.console import Group
    from rich.text import Text

    console = _console(sys.stdout)
    with console.capture() as captured:
        for part in page():
            _in_one_line(part)
            console.print(part, soft_wrap=isinstance(part, (Text, Group)))  # a path in a heading stays in one piece
    _write("\n".join(line.rstrip() for line in captured.get().splitlines()))


def block(text: str) -> RenderableType:
    """Show text of several lines; everywhere else in a page, a line break within a text is written out."""
    from rich.console import Group
    from rich.text import Text

    return Group(*map(Text, text.split("\n")))


def say(text: str) -> None:
    """Write a line to stderr at once."""
    with contextlib.suppress(OSError):
        sys.stderr.write(printable(text) + "\n")
        sys.stderr.flush()


def write_json(data: Mapping[str, Any]) -> None:
    """One JSON object on one line."""
    _write(json.dumps(plain(data), allow_nan=False))


def _write(text: str) -> None:
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except OSError as problem:
        # Python flushes once more at its end, which must not fail again and speak up.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(problem, BrokenPipeError):  # the reader has gone, so no one would see a message
            raise typer.Exit(BROKEN_PIPE) from None
        raise


def caution(text: str) -> None:
    """Say on stderr, at once, what someone should think about before it is too late; one line each, folded on a terminal."""
    from rich.text import Text

    with contextlib.suppress(OSError):
        console = _console(sys.stderr)
        said = Text("Warning: ", style="yellow").append(printable(text), style="default")
        console.print(said, soft_wrap=not console.is_terminal)


def plain(value: Any) -> Any:
    """Anything that a command reports as a JSON value; infinities become the string ``"inf"``."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return str(value)


def facts(rows: Iterable[tuple[str, str]], indent: int = 2) -> RenderableType:
    """Two aligned columns: what, and its value."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        shown = printable(value).replace(" %", "%")  # no line break before the sign
        table.add_row(Text(printable(name), style="bold"), Text(shown))
    return Padding(table, (0, 0, 0, indent))


def heading(name: str, verdict: str = "", style: str = "") -> RenderableType:
    """A name, and the findings about it."""
    from rich.text import Text

    text = Text(printable(name), style="bold")
    return text.append(f": {printable(verdict)}", style) if verdict else text


def label(value: Hashable) -> str:
    """A secret's or an output's name, safe to show and not too long."""
    parts = [label(part) for part in value] if isinstance(value, tuple) else []
    text = f"({', '.join(parts)})" if parts else printable(str(value))
    return text if len(text) <= LABEL_LENGTH else text[: LABEL_LENGTH - 3] + "..."


def labels(values: Iterable[Hashable], most: int = 6) -> str:
    """The first few names, and how many more there are."""
    names = list(values)
    text = ", ".join(label(value) for value in names[:most])
    return text if len(names) <= most else f"{text} and {len(names) - most} more"


def plural(count: int, noun: str) -> str:
    """``1 secret``, ``2,000 secrets``."""
    return f"{count:,} {noun}" + "s" * (count != 1)


def chance(value: float) -> str:
    """Format a probability, or another number that is not a bound, in four digits."""
    from noisewright.claims.figures import figure

    return figure(value, 4, "nearest")


def at_most(gap: float) -> str:
    """A bound on the remaining gain, rounded up; anything below a millionth is not distinguished from a millionth.

    >>> at_most(2.55e-12), at_most(0.01234)
    ('0.000001', '0.0124')
    """
    from fractions import Fraction

    from noisewright.claims.figures import figure

    return figure(gap) if gap > 1e-6 else figure(Fraction(1, 10**6))


def round_up(value: float, digits: int = 6) -> str:
    """A reported loss, rounded up."""
    from noisewright.claims.figures import upward

    return "infinite" if math.isinf(value) else upward(value, digits)


@contextlib.contextmanager
def working(what: str) -> Iterator[None]:
    """Show a spinner on a terminal's stderr once something has taken more than a second."""
    if not sys.stderr.isatty():
        yield
        return
    status = _console(sys.stderr).status(what)
    timer = threading.Timer(SPINNER_AFTER, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()


@contextlib.contextmanager
def counting(what: str, unit: str = "rows") -> Iterator[Callable[..., None] | None]:
    """A progress bar on a terminal's stderr, given the progress, the total and an optional message; nothing
    elsewhere.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=_console(sys.stderr), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def told(done: int, total: int | None, say: str | None = None) -> None:
            bar.update(task, completed=done, total=total, description=say)

        yield told


def _in_one_line(part: Any) -> None:
    """Write out line breaks within the texts of a page, so that no name can look like a line of its own."""
    if hasattr(part, "plain"):
        bare = part.plain.lstrip("\n")
        if "\n" in bare:
            part.plain = "\n" * (len(part.plain) - len(bare)) + printable(bare)
    for inner in (getattr(part, "renderable", None), *getattr(part, "renderables", ())):
        if inner is not None:
            _in_one_line(inner)
    for column in getattr(part, "columns", ()):
        column._cells[:] = [printable(cell) if isinstance(cell, str) else cell for cell in column._cells]
        for cell in column._cells:
            _in_one_line(cell)


@cache
def _door() -> type[Console]:
    """The console of every page: whatever a command shows, control characters are written out on the way to the terminal."""
    from rich.console import Console
    from rich.segment import Segment

    class Door(Console):
        def render(self, *arguments: Any, **options: Any) -> Iterator[Segment]:
            for text, style, control in super().render(*arguments, **options):
                yield Segment(text if control else printable(text, "\n"), style, control)

    return Door


def _console(stream: Any) -> Console:
    terminal = bool(stream.isatty())
    console = _door()(file=stream, force_terminal=terminal, markup=False, highlight=False, emoji=False)
    if terminal:
        console.width = min(console.width, PAGE_WIDTH)
    elif "COLUMNS" not in os.environ:
        console.width = PAGE_WIDTH
    return console
