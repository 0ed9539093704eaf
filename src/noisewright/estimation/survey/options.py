r"""Comparison of the ways to ask a sensitive question: what each costs, and the table that shows it.

>>> shortened("an answer that is long"), shortened("no")
('an answer that…', 'no')
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from noisewright.core.exact import numeral, upward
from noisewright.estimation.survey.designs import Design

if TYPE_CHECKING:
    from rich.table import Table

    from noisewright.estimation.survey.plan import Survey

__all__ = ["Option", "options_table", "shortened"]


@dataclass(frozen=True)
class Option:
    """One way to ask, compared with the others."""

    name: str
    design: Design
    epsilon: float
    """Tight epsilon with the requested delta; infinite for a direct question."""
    variance: float
    """Variance for one respondent."""
    margin: float
    needed: int | None
    """Respondents for the target margin; None without one, and where the number is not feasible."""
    violation: float | None
    """The belief in the sensitive truth after the answer that indicates it, at the guessed prevalence."""


def options_table(plan: Survey) -> Table:
    """The ways to ask of a plan as a table, the chosen one in bold."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    binary = len(plan.device.answers) == 2
    no, yes = (shortened(answer) for answer in (plan.device.answers[0], plan.device.answers[-1]))
    shown = [
        "Way to ask",
        "epsilon",
        *((f"{no} told truly", f"{yes} told truly") if binary else ("said if untrue", "said if true")),
    ]
    shown.append(f"± for {plan.respondents:,}")
    if plan.target_margin is not None:
        shown.append(f"needed for ± {numeral(plan.target_margin)}")
    if plan.prevalence is not None:
        shown.append(f"belief after {yes if binary else 'it'}")
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place, title in enumerate(shown):
        table.add_column(Text(title), justify="right" if place else "left", no_wrap=not place, overflow="fold")
    for row in plan.options():
        cells = [
            row.name,
            "none" if math.isinf(row.epsilon) else upward(row.epsilon, 4),
            _chance(row.design.p00 if binary else 1 - row.design.p00),
            _chance(row.design.p11),
            f"{row.margin:.4f}",
        ]
        if plan.target_margin is not None:
            cells.append("too many" if row.needed is None else f"{row.needed:,}")
        cells += [] if row.violation is None else [f"{row.violation:.3f}"]
        chosen = row.name == plan.device.instrument.name
        table.add_row(*cells, style="bold" if chosen else None)
    return table


def shortened(answer: Hashable, length: int = 16) -> str:
    """An answer shortened to the width of a heading."""
    text = str(answer)
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


def _chance(value: Fraction) -> str:
    """A small fraction as it is, any other number in digits."""
    return str(value) if value.denominator <= 100 else f"{float(value):.4f}"
