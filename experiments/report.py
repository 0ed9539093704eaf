"""What every experiment is made of: numbers found here beside those reported, tables of them, and claims that come out or not.

An experiment is a module of this folder that is named in ``experiments.NAMES``. It has

* a docstring whose first line says what is run again,
* ``SECONDS``, how long a quick and a whole run take on two ordinary cores,
* ``result(quick)``, which returns a :class:`Result`; one that draws at random also takes ``runs``, and says in ``RUNS`` how
  many a quick and a whole run make,
* ``figure(quick)`` if there is a picture, and ``main``, which is ``noisewright reproduce`` for this one.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Experiment", "Result", "Row", "Table", "allowance", "command", "load"]

CLOSE = 1e-4
"""Numbers that differ by no more than this agree, unless a row says otherwise: most of those reported have four decimals."""
FALSE_ALARMS = 1e-5


@dataclass(frozen=True)
class Row:
    """One line of a table: what it is about, the numbers found here, and those reported.

    ``loose`` marks numbers that are shown and need not agree: what a program leaves open (it fixes its objective, and of
    several best matrices each solver finds its own), or a slip in print. A number that was not reported is None. ``close``
    is the largest difference that still agrees, for all numbers or for each.
    """

    label: tuple[str, ...]
    found: tuple[float, ...]
    reported: tuple[float | None, ...] | None = None
    loose: tuple[int, ...] = ()
    close: float | tuple[float, ...] = CLOSE

    @property
    def told(self) -> tuple[float | None, ...]:
        """The reported number for each that was found."""
        return self.reported or (None,) * len(self.found)

    @property
    def verdicts(self) -> tuple[bool, ...]:
        """For each number, whether it agrees with what was reported; one that need not agree does."""
        close = self.close if isinstance(self.close, tuple) else (self.close,) * len(self.found)
        compared = zip(self.found, self.told, close, strict=True)
        return tuple(b is None or i in self.loose or abs(a - b) <= c for i, (a, b, c) in enumerate(compared))

    @property
    def agrees(self) -> bool:
        """Whether all numbers that are determined agree with those reported."""
        return all(self.verdicts)


@dataclass(frozen=True)
class Table:
    """Rows with one title.

    ``columns`` names the parts of their labels, ``names`` their numbers; ``source`` says where those reported are from.
    """

    title: str
    columns: tuple[str, ...]
    names: tuple[str, ...]
    rows: Sequence[Row]
    source: str
    decimals: int = 4

    @property
    def compared(self) -> list[Row]:
        """The rows that have reported numbers."""
        return [row for row in self.rows if row.reported is not None]


@dataclass(frozen=True)
class Result:
    """What came out: tables, claims with whether they hold here, and sentences to read with them."""

    tables: Sequence[Table]
    findings: Mapping[str, bool] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @property
    def compared(self) -> list[Row]:
        """The rows of all tables that have reported numbers."""
        return [row for table in self.tables for row in table.compared]

    @property
    def agrees(self) -> bool:
        """Whether every determined number agrees and every claim holds."""
        return all(row.agrees for row in self.compared) and all(self.findings.values())


@dataclass(frozen=True)
class Experiment:
    """An experiment as its module describes it; ``seconds`` and ``runs`` are for a quick run and for a whole one."""

    name: str
    summary: str
    seconds: tuple[float, float]
    result: Callable[..., Result]
    figure: Callable[[bool], Figure] | None
    runs: tuple[int, int] | None


def load(name: str) -> Experiment:
    """The experiment of this name; its module is imported."""
    module = import_module(f"experiments.{name}")
    summary = (module.__doc__ or "").partition("\n")[0].rstrip(".")
    figure, runs = (getattr(module, part, None) for part in ("figure", "RUNS"))
    return Experiment(name, summary, module.SECONDS, module.result, figure, runs)


def command(name: str, given: list[str] | None) -> int:
    """``noisewright reproduce`` for one experiment, with these arguments or those of this process; its exit code."""
    from noisewright.cli import run

    return run(["reproduce", name, *(sys.argv[1:] if given is None else given)])


def allowance(deviation: float, runs: int, reported_runs: int) -> float:
    """How far apart two means of random numbers may be, by Student's t, with one false alarm in 100,000.

    The spread is that of the runs here, and taken to be the same for those of the report.
    """
    from scipy.special import stdtrit

    return float(stdtrit(runs - 1, 1 - FALSE_ALARMS / 2)) * deviation * math.sqrt(1 / runs + 1 / reported_runs)
