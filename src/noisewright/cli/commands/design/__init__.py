"""``noisewright design``: build a mechanism from the registry, show its guarantee, write its certificate.

Every mechanism of the registry is a sub-command, made from the signature of its constructor when it is called. The ``EXTRAS``
do more than call a constructor.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from noisewright.cli.shared.commands import Command, offered
from noisewright.cli.shared.output import AsJson, emit
from noisewright.core.loading.addresses import Addresses

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.cli.shared.parameters import Option
    from noisewright.mechanisms.registry import Entry

__all__ = ["COMMAND", "EXTRAS"]

EXTRAS = Addresses(
    "noisewright.commands.design",
    "sub-command of design",
    {
        word: f"noisewright.cli.commands.design.{word}:COMMAND"
        for word in ("optimal", "kernels", "universal", "extreme")
    },
)
"""Sub-commands that are not mechanisms of the registry."""

Options = list["Option"] | str
"""The options of a mechanism, or the parameter that only Python can give."""


class _Designs:
    """The sub-commands: the mechanisms of the registry in alphabetical order, and the extras."""

    def load(self, name: str) -> Command:
        from noisewright.cli.commands.design._mechanism import mechanism_command
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
    from noisewright.core.choices import did_you_mean

    told = did_you_mean(word, list(DESIGNS))
    return f"there is no mechanism called {word!r}; {told if told.endswith('?') else f'{told}.'}"


def _list(as_json: bool) -> None:
    from noisewright.cli.shared.parameters import options_of
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
    emit(data, lambda: _page(entries, options, extras), as_json)


def _options_json(found: Options) -> list[dict[str, Any]] | None:
    if isinstance(found, str):
        return None
    return [{"name": p.name, "required": p.required, "shape": p.shape} for p in found]


def _page(entries: list[Entry], options: dict[str, Options], extras: dict[str, str]) -> list[RenderableType]:
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
    from noisewright.cli.commands.design._mechanism import dashed

    return "from Python only" if isinstance(found, str) else " ".join(dashed(p.name) for p in found if p.required)


COMMAND = Command(
    design,
    line="Build a mechanism, show what it promises, and write its certificate; alone: list the mechanisms.",
    table=DESIGNS,
    unknown=_unknown,
)
