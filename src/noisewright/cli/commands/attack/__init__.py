"""``noisewright attack``: what an adversary really learns, one sub-command for each kind of attack.

A new attack is a thin module with a ``COMMAND``, and one line in ``ATTACKS``, or an entry point of another package in the group
``noisewright.commands.attack``; the list that ``noisewright attack`` shows, and its help, come from there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from noisewright.cli.shared.commands import Command, offered
from noisewright.cli.shared.output import AsJson, emit
from noisewright.core.loading.addresses import Addresses

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["ATTACKS", "COMMAND"]

ATTACKS = Addresses(
    "noisewright.commands.attack",
    "attack",
    {
        "inference": "noisewright.cli.commands.attack.inference:COMMAND",
        "linkage": "noisewright.cli.commands.attack.linkage:COMMAND",
        "suppression": "noisewright.cli.commands.attack.suppression:COMMAND",
        "author": "noisewright.cli.commands.attack.author:COMMAND",
        "faces": "noisewright.cli.commands.attack.faces:COMMAND",
        "private-attribute": "noisewright.cli.commands.attack.private_attribute:COMMAND",
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


COMMAND = Command(attack, table=ATTACKS)
