"""Files that could not be done where the others are: one sentence for each of them, and an exit code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noisewright.cli.shared.output import facts, plural

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.files.folders import Problem

__all__ = ["exit_if_any", "listed", "unread"]

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
