"""A row of the comparison, and where all rows come from.

A subject is a module ``bench/rows_<subject>.py`` with a list ``ROWS``; a new one is found by its name, nothing else
changes.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import bench

__all__ = ["MB", "Row", "Task", "all_rows"]

MB = 1 << 20


@dataclass(frozen=True)
class Task:
    """A function that returns a :class:`bench.work.Work`, as ``module:name``, and its arguments.

    ``quick`` are arguments that replace others in a short run.
    """

    function: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)

    def given(self, quick: bool) -> dict[str, Any]:
        """The arguments of a full or a short run."""
        return {**self.arguments, **self.quick} if quick else dict(self.arguments)


@dataclass(frozen=True)
class Row:
    """One line of the table.

    ``target`` is the least ratio of our rate to the peer's, and ``least_rate`` the least rate of ours, in units a second;
    None where the row only informs. ``memory_limit`` is in bytes and bounds what our side holds beyond its imported
    libraries. ``agree`` is the largest relative difference between the two sides' answers. ``fresh`` makes every round one
    run in a new process, for work that a cache would make look faster than it is the first time. ``rounds`` and
    ``seconds_limit`` (for one reply) replace the usual ones. ``own_peer`` says that the peer is ours too: another engine or
    size, measured in our own environment.
    """

    name: str
    compares: str
    size: str
    ours: Task
    peer: Task | None = None
    target: float | None = None
    memory_limit: int | None = None
    agree: float = 0.05
    unit: str = "values"
    fresh: bool = False
    rounds: int | None = None
    seconds_limit: float = 120.0
    own_peer: bool = False
    least_rate: float | None = None


def all_rows() -> list[Row]:
    """The rows of all subjects, by the name of their module."""
    names = sorted(m.name for m in pkgutil.iter_modules(bench.__path__) if m.name.startswith("rows_"))
    rows = [row for name in names for row in importlib.import_module(f"bench.{name}").ROWS]
    if len({row.name for row in rows}) < len(rows):
        raise ValueError("two rows have the same name")
    return rows
