"""Input and output of a ledger: charges in; spends, balances and entries out. All numbers are exact fractions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, Literal

from noisewright.claims import phrases
from noisewright.core.exact import Exact

__all__ = [
    "Apart",
    "Balance",
    "BudgetEvent",
    "BudgetScope",
    "Charge",
    "Checked",
    "Earlier",
    "Input",
    "LedgerRecord",
    "Protected",
    "Spend",
    "State",
    "Terms",
    "downward",
]

BudgetScope = Literal["dataset", "unit"]
State = Literal["started", "finished"]
UNBOUNDED = ("kept", "changed")


@dataclass(frozen=True)
class Protected:
    """Maximum distance at which two values of a column, or of several that form one secret, are still protected.

    ``distance`` None: any two values, however far apart. ``unit``: of the distance, or the name of its metric.

    >>> Protected(("visit",), Fraction(7), "day").words, Protected(("x", "y"), Fraction(1, 3), "euclidean").words
    ('values at most 7 days apart', 'values at most 1/3 (euclidean) apart')
    """

    columns: tuple[str, ...]
    distance: Fraction | None
    unit: str = ""

    @property
    def record(self) -> dict[str, Any]:
        """The same as a record of the phrase table; a unit that it does not know is the name of a metric."""
        if self.distance is None:
            return {"kind": "any"}
        if self.unit == "second":
            from noisewright.releases.kinds.spans import largest_unit

            size, unit = largest_unit(self.distance)
            return {"kind": "near", "distance": str(size), "unit": unit}
        if self.unit in phrases.UNITS:
            return {"kind": "near", "distance": str(self.distance), "unit": self.unit}
        metric = {"metric": {"base": self.unit}} if self.unit else {}
        return {"kind": "near", "distance": str(self.distance), **metric}

    @property
    def words(self) -> str:
        """Description of the protected values."""
        return phrases.apart(self.record)


@dataclass(frozen=True)
class Terms:
    """The budget of a dataset as a policy states it: what all releases may cost one unit, and between which tables.

    ``between``: a record of neighbours, as a certificate has it, or a description in free words.
    """

    epsilon: Exact
    delta: Exact = 0
    scope: BudgetScope = "dataset"
    between: str | Mapping[str, Any] = phrases.ONE_UNIT
    raise_budget: bool = False
    """A budget that is larger than the recorded one is recorded instead of refused."""
    also: tuple[str, ...] = ()
    """Further datasets about the same people; a release is charged to them, too."""


@dataclass(frozen=True)
class Charge:
    """One part of a release: its privacy cost for one unit, and between which values that is guaranteed (``guarantee``,
    in words).

    ``protected``: the same for columns, so that a dataset keeps to it. A column that is released as it is has the kind "kept",
    one that is changed without an epsilon the kind "changed"; neither is bounded by anything.
    """

    name: str
    kind: str
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    guarantee: str = ""
    protected: Protected | None = None


@dataclass(frozen=True)
class Input:
    """The data of a release: the SHA-256 of its data (empty: not known), and where its output goes (nowhere: memory).

    ``apart``: why a dataset with the same data is about other people.
    """

    content: bytes
    place: str = ""
    apart: str = ""


@dataclass(frozen=True)
class Earlier:
    """A finished release of the same data under the same policy, and where its output went."""

    release_id: str
    time: str
    place: str

    def in_words(self) -> str:
        """Describe when it was made, and where it went."""
        return f"{self.time}, {f'to {self.place}' if self.place else 'into memory'}"


@dataclass(frozen=True)
class Spend:
    """A spend that is on the disk. With scope ``unit``, the remaining budget is that of a unit that took part in every
    release.
    """

    release_id: str
    dataset: str
    time: str
    epsilon: Fraction
    delta: Fraction
    left_epsilon: Fraction
    left_delta: Fraction


@dataclass(frozen=True)
class Balance:
    """Budget, spent and left of one unit, between :attr:`between`: neighbours, and how far apart they are in each
    column so far.

    With scope ``unit``, ``spent`` is that of a unit that took part in every release, and every unit has at least ``left``.
    """

    dataset: str
    scope: BudgetScope
    neighbours: str
    releases: int
    epsilon: Fraction
    delta: Fraction
    spent_epsilon: Fraction
    spent_delta: Fraction
    protected: tuple[Protected, ...] = ()
    """Protected distances of each column that was released so far."""
    same: tuple[str, ...] = ()
    """The columns that were released without protection, in which the tables do not differ."""

    @property
    def between(self) -> str:
        """The tables that the budget is about, column by column, and that each release says more about their values."""
        return self.recorded + (phrases.NOT_RECORDED if self.protected else "")

    @property
    def recorded(self) -> str:
        """The tables that the budget is about, as far as they are recorded: column by column."""
        differ = [(one.record, one.columns) for one in self.protected if not set(one.columns) <= set(self.same)]
        told = phrases.ways(differ, self.same)
        return f"{self.neighbours}: {told}" if told else self.neighbours

    @property
    def left_epsilon(self) -> Fraction:
        return max(self.epsilon - self.spent_epsilon, Fraction(0))

    @property
    def left_delta(self) -> Fraction:
        return max(self.delta - self.spent_delta, Fraction(0))


@dataclass(frozen=True)
class Checked:
    """A ledger that was checked as a whole: the records of its chain (None: it has none yet) and the digest of the last."""

    records: int | None
    head: str
    releases: int
    accounts: int


@dataclass(frozen=True)
class BudgetEvent:
    """Date of a budget that was set or changed, and its new value."""

    time: str
    event: Literal["set", "raised", "lowered"]
    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True)
class Apart:
    """Two datasets with the same data whose people differ, as their owner said at a release of the first."""

    time: str
    release_id: str
    dataset: str
    other: str
    reason: str


@dataclass(frozen=True)
class LedgerRecord:
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

    @property
    def bounded(self) -> bool:
        """True if an epsilon was claimed: it is neither kept as it is nor changed without one."""
        return self.kind not in UNBOUNDED


def downward(value: Fraction, digits: int = 6) -> str:
    """A number in at most ``digits`` digits, rounded down: for statements about a budget that is left.

    >>> downward(Fraction(2, 3)), downward(Fraction(1, 4))
    ('0.666666', '0.25')
    """
    context = Context(prec=digits, rounding=ROUND_FLOOR)
    shown = context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context)
    return f"{shown:f}" if not shown or -5 <= shown.adjusted() < digits + 2 else f"{shown:e}".replace("e+", "e")
