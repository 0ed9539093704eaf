"""``noisewright attack``: what an adversary really learns, one sub-command for each kind of attack.

A new attack is a thin module with ``command`` (a function with Typer options) and ``SUMMARY`` (what it finds out), and one line
in ``ATTACKS``; the list that ``noisewright attack`` shows, and its help, come from there.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import typer

from noisewright.cli.commands.attack import inference as attack_inference
from noisewright.cli.shared.commands import Command, Group
from noisewright.cli.shared.output import AsJson, emit

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["ATTACKS", "app"]

ATTACKS: dict[str, ModuleType] = {
    "inference": attack_inference,
}
"""The attacks by name."""

app = typer.Typer(
    name="attack",
    cls=Group,
    help="Measure what an adversary really learns; alone: list the attacks.",
    add_completion=False,
)


@app.callback(invoke_without_command=True)
def _listing(context: typer.Context, as_json: AsJson = False) -> None:
    context.obj = as_json
    if context.invoked_subcommand is None:
        data = {"attacks": [{"name": name, "summary": module.SUMMARY} for name, module in ATTACKS.items()]}
        emit(data, _page, as_json)


def _page() -> list[RenderableType]:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for title in ("Attack", "What it finds out"):
        table.add_column(title, no_wrap=title == "Attack")
    for name, module in ATTACKS.items():
        table.add_row(name, module.SUMMARY)
    return [table, Text("\nnoisewright attack NAME --help explains the options of one.")]


for _name, _module in ATTACKS.items():
    app.command(_name, cls=Command)(_module.command)
