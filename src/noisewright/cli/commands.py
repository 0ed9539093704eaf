"""How the commands read their arguments: an option that is given twice is refused, not quietly overruled by its last value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from typer.core import TyperCommand, TyperGroup

__all__ = ["Command", "Group"]


class Command(TyperCommand):
    """A command whose options may each be given once."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        refuse_repeats(self.get_params(ctx), args)
        return super().parse_args(ctx, args)

    def get_help_option(self, ctx: Any) -> Any:
        return _without_type(super().get_help_option(ctx))


class Group(TyperGroup):
    """A command with sub-commands; its own options, which come before them, may each be given once."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        refuse_repeats(self.get_params(ctx), args, interspersed=False)
        return super().parse_args(ctx, args)

    def get_help_option(self, ctx: Any) -> Any:
        return _without_type(super().get_help_option(ctx))


def refuse_repeats(parameters: Iterable[Any], words: Sequence[str], interspersed: bool = True) -> None:
    """Refuse words that give one option twice; an option that takes a value takes the next word, whatever it is."""
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
        if option.name in seen:
            raise ParameterError(f"{max(option.opts, key=len)} was given more than once; give it once.")
        seen.add(option.name)
        if not given and not option.is_flag and not getattr(option, "count", False):
            next(rest, None)


def _without_type(option: Any) -> Any:
    if option is not None:
        option.metavar = ""  # help has no column for the type of a switch
    return option
