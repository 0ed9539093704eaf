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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Experiment", "Result", "Row", "Table", "Tally", "allowance", "command", "load"]

CLOSE = 1e-4
"""Numbers that differ by no more than this agree, unless a row says otherwise: most of those reported have four decimals."""
FALSE_ALARMS = 1e-5
NOTHING = "nothing to compare"


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
    def near(self) -> tuple[bool | None, ...]:
        """For each number, whether it is within the tolerance of the reported one; None where none was reported."""
        close = self.close if isinstance(self.close, tuple) else (self.close,) * len(self.found)
        pairs = zip(self.found, self.told, close, strict=True)
        return tuple(None if told is None else abs(found - told) <= most for found, told, most in pairs)

    @property
    def verdicts(self) -> tuple[bool | None, ...]:
        """For each number, whether it agrees with the reported one; None for a number that is not compared."""
        return tuple(None if place in self.loose else near for place, near in enumerate(self.near))

    @property
    def agrees(self) -> bool:
        """Whether no number that was compared differs from the reported one."""
        return False not in self.verdicts

    @property
    def tally(self) -> Tally:
        """Numbers of this row that were compared, and those that are only shown."""
        shown = [near for place, near in enumerate(self.near) if place in self.loose and near is not None]
        compared = [verdict for verdict in self.verdicts if verdict is not None]
        return Tally(len(compared), sum(compared), len(shown), shown.count(False))


@dataclass(frozen=True)
class Tally:
    """Numbers that were compared with reported ones, and numbers that are only shown next to them."""

    compared: int = 0
    agree: int = 0
    shown: int = 0
    apart: int = 0
    """Among the numbers that are only shown, those that differ by more than the tolerance."""

    @staticmethod
    def of(rows: Iterable[Row]) -> Tally:
        """Return the tally of several rows."""
        counts = [astuple(row.tally) for row in rows]
        return Tally(*map(sum, zip(*counts, strict=True))) if counts else Tally()

    def __str__(self) -> str:
        """Return the tally as a sentence without its full stop.

        >>> print(Tally(2, 2)), print(Tally(2, 1, 12, 10)), print(Tally(0, 0, 3, 0))
        2 of 2 compared numbers agree
        1 of 2 compared numbers agrees; 12 numbers are only shown (~), and 10 of them differ by more than the tolerance
        nothing to compare; 3 numbers are only shown (~)
        (None, None, None)
        """
        verb = "agrees" if self.agree == 1 else "agree"
        found = f"{self.agree} of {self.compared} compared numbers {verb}" if self.compared else NOTHING
        if not self.shown:
            return found
        which = "" if self.shown == 1 else f"{self.apart} of them "
        apart = f", and {which}{'differs' if self.apart == 1 else 'differ'} by more than the tolerance"
        shown = "1 number is" if self.shown == 1 else f"{self.shown} numbers are"
        return f"{found}; {shown} only shown (~){apart if self.apart else ''}"


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
    def tally(self) -> Tally:
        """Numbers of this table that were compared, and those that are only shown."""
        return Tally.of(self.rows)


@dataclass(frozen=True)
class Result:
    """What came out: tables, claims with whether they hold here, and sentences to read with them."""

    tables: Sequence[Table]
    findings: Mapping[str, bool] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @property
    def rows(self) -> list[Row]:
        """The rows of all tables."""
        return [row for table in self.tables for row in table.rows]

    @property
    def tally(self) -> Tally:
        """Numbers of all tables that were compared, and those that are only shown."""
        return Tally.of(self.rows)

    @property
    def agrees(self) -> bool | None:
        """Whether every number that was compared agrees and every claim holds; None if there are no such numbers and claims."""
        if not self.tally.compared and not self.findings:
            return None
        return all(row.agrees for row in self.rows) and all(self.findings.values())

    @property
    def verdict(self) -> str:
        """The counts of numbers that agree and of claims that hold, in a line."""
        claims = f"{sum(self.findings.values())} of {len(self.findings)} claims hold" if self.findings else ""
        found = ", and ".join(filter(None, [str(self.tally) if self.tally != Tally() else "", claims])) or NOTHING
        return f"NOT everything agrees: {found}" if self.agrees is False else found


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
