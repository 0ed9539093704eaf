"""Commands by address: the target of an address, and how it becomes a command of Typer when it is called.

A command is a :class:`Command` in a module; a table of addresses (:class:`~noisewright.core.loading.addresses.Addresses`)
says where.
The module is loaded when its command is called, or when help lists it; so it stays thin, and
imports its needs inside its function. A third party's package adds a command with an entry point in its ``pyproject.toml``::

    [project.entry-points."noisewright.commands"]
    count = "counting.command:COMMAND"

and, in ``counting/command.py``::

    from noisewright.cli import Command

    def count(file: str) -> None:
        \"\"\"Count the rows of a file.\"\"\"

    COMMAND = Command(count)

Sub-commands are a table again, with a group of entry points of its own, such as ``noisewright.commands.attack``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import typer
from typer.core import TyperCommand

from noisewright.cli.shared.arguments import Leaf, Stem
from noisewright.core.errors import ParameterError
from noisewright.core.loading.addresses import Addresses

__all__ = ["Command", "Table", "built", "offered"]


class Table(Protocol):
    """Commands by name, loaded one by one: an :class:`~noisewright.core.loading.addresses.Addresses`, or a
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
