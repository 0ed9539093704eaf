"""What a ledger takes and gives back: charges in; spends, balances and entries out. All numbers are exact fractions."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Literal

__all__ = ["Balance", "BudgetEvent", "Charge", "Entry", "Scope", "Spend", "State", "downward"]

Scope = Literal["dataset", "unit"]
State = Literal["started", "finished"]


@dataclass(frozen=True)
class Charge:
    """One part of a release: what it costs one unit, and between which values that is promised (``guarantee``, in words)."""

    name: str
    kind: str
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    guarantee: str = ""


@dataclass(frozen=True)
class Spend:
    """A spend that is on the disk. With scope ``unit``, what is left is that of a unit that took part in every release."""

    release_id: str
    dataset: str
    time: str
    epsilon: Fraction
    delta: Fraction
    left_epsilon: Fraction
    left_delta: Fraction


@dataclass(frozen=True)
class Balance:
    """Budget, spent and left of one unit, between ``between``.

    With scope ``unit``, ``spent`` is that of a unit that took part in every release, and every unit has at least ``left``.
    """

    dataset: str
    scope: Scope
    between: str
    releases: int
    epsilon: Fraction
    delta: Fraction
    spent_epsilon: Fraction
    spent_delta: Fraction

    @property
    def left_epsilon(self) -> Fraction:
        return max(self.epsilon - self.spent_epsilon, Fraction(0))

    @property
    def left_delta(self) -> Fraction:
        return max(self.delta - self.spent_delta, Fraction(0))


@dataclass(frozen=True)
class BudgetEvent:
    """When a budget was set or changed, and to what."""

    time: str
    event: Literal["set", "raised", "lowered"]
    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True)
class Entry:
    """One part of one recorded release. ``started``: something may have been drawn; ``finished``: the output is complete."""

    time: str
    dataset: str
    release_id: str
    state: State
    finished: str | None
    name: str
    kind: str
    epsilon: Fraction
    delta: Fraction
    guarantee: str
    policy: str
    output: str | None


def downward(value: Fraction, digits: int = 6) -> str:
    """A number in at most ``digits`` digits, rounded down: what may be said of a budget that is left.

    >>> downward(Fraction(2, 3)), downward(Fraction(1, 4))
    ('0.666666', '0.25')
    """
    context = Context(prec=digits, rounding=ROUND_FLOOR)
    shown = context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context)
    return f"{shown:f}" if not shown or -5 <= shown.adjusted() < digits + 2 else f"{shown:e}".replace("e+", "e")
