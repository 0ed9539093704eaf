"""Reading of arguments and display of help for the commands.

An option that is given twice is refused, not quietly overruled by its last value. Help has each paragraph in one piece, so that
it is broken at the width of the terminal and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from typer.core import TyperCommand, TyperGroup

__all__ = ["TABLES", "Leaf", "Stem", "refuse_repeats"]

TABLES = (
    "a .parquet, .csv (also .csv.gz, .csv.zst), .xlsx, .arrow or .jsonl file, a folder of them, or table@file: a table of a "
    ".duckdb or .sqlite database, or a sheet of a workbook"
)
"""Tables that a command takes, in its help."""


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
    from noisewright.core.errors import ParameterError

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
