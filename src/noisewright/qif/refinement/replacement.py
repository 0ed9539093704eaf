"""Safe replacement: the largest epsilon of another family that may stand in for a mechanism.

Epsilons of different families are not comparable. ``safe_replacement(a, family, order=...)`` finds the largest ``epsilon`` for
which the member of ``family`` may replace ``a``: against every average-case adversary (``average``), every worst-case one
(``max``), or for every metric (``privacy``). A smaller epsilon of a family is at least as safe, so all below it may, too.

Closed forms, on ``n >= 3`` secrets and with ``a = e^(-epsilon)`` of the mechanism that is replaced:

* geometric by response, average and max: ``-ln(a/(1-a+a^2))``, whatever ``n`` is;
* response by geometric, average and max: the root of ``sum_k (e^(k e) - 1) = e^epsilon - 1``, ``k = 1 .. n-1``;
* a geometric by any of the three, for the privacy order: its own epsilon; a response by a geometric: ``epsilon/(n-1)``;
  an exponential by a geometric: ``-ln b``, half of its nominal epsilon.

Everything else is bisected on exact answers. **Guarantee.** The epsilon is rounded down: the member that has it was itself
checked, and :attr:`Replacement.refinement` is that check.

>>> from noisewright.qif.refinement.families import geometric_family
>>> found = safe_replacement(geometric_family.member(epsilon=4, size=5), "response")
>>> print(found)
response up to epsilon 3.98185 for discrete may replace geometric(epsilon=4 per unit of line, size=5) (average order, closed form)
>>> found.refinement.status
'holds (exact)'

Reference: Chatzikokolakis, Fernandes and Palamidessi, *Comparing systems: max-case refinement orders and application to
differential privacy* (2019); the closed forms follow from the inverses in
:mod:`noisewright.qif.refinement.closed_forms`.

>>> table = replacement_table(["geometric", "response"], epsilons=[1, 4], size=5)
>>> print(table)
average order, 5 secrets: the largest epsilon of the second family that may replace the first at that epsilon
epsilon  geometric -> response  response -> geometric
      1               0.735325               0.138188
      4                3.98185               0.888127

Epsilons of the response family are for the discrete metric, epsilons of the geometric and the exponential one per unit
of the line.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright._utils.validation import one_of
from noisewright.claims.figures import downward, float_down
from noisewright.claims.readings import per_unit
from noisewright.exceptions import ParameterError
from noisewright.numerics.exact import Enclosure, Exact, Number, as_fraction, log_bounds
from noisewright.qif.refinement.closed_forms import closed_private, closed_refined, member_distances
from noisewright.qif.refinement.exact_channel import read
from noisewright.qif.refinement.families import (
    EXPONENTIAL,
    FAMILIES,
    GEOMETRIC,
    RESPONSE,
    Family,
    Member,
    as_family,
    as_member,
)
from noisewright.qif.refinement.reduced_channel import Refinement

__all__ = ["ORDERS", "Replacement", "ReplacementTable", "may_replace", "replacement_table", "safe_replacement"]


ORDERS = ("average", "max", "privacy")
CLOSED, BISECTION = "closed form", "bisection"
TOLERANCE = 1e-12
"""Largest error of an entry where a channel of floats is replaced: far less than moves an epsilon by the accuracy."""
MOST, LEAST = 512.0, 1e-90
"""A family that is still safe at the first epsilon, or still not at the second, is not searched further."""


@dataclass(frozen=True)
class Replacement:
    """The largest epsilon that is safe: ``member`` has it, and ``refinement`` is the check of that member.

    ``method`` is ``closed form`` or ``bisection``. ``unsafe`` is the smallest epsilon that was found not to be safe, None where
    none was looked for.
    """

    epsilon: float
    order: str
    family: str
    replaced: str
    method: str
    member: Member
    refinement: Refinement
    unsafe: float | None = None

    def __str__(self) -> str:
        unit = {None: "", "discrete": " for discrete"}.get(_unit(self.member), f" {per_unit('line')}")
        return (
            f"{self.family} up to epsilon {downward(self.epsilon)}{unit} may replace {self.replaced} "
            f"({self.order} order, {self.method})"
        )

    def to_json(self) -> dict[str, Any]:
        """The answer as plain data."""
        return {
            "epsilon": self.epsilon,
            "metric": _unit(self.member),
            "order": self.order,
            "family": self.family,
            "replaced": self.replaced,
            "method": self.method,
            "status": self.refinement.status,
            "unsafe": self.unsafe,
        }


def safe_replacement(a: Any, family: Family | str, *, order: str = "average", accuracy: float = 1e-9) -> Replacement:
    """The largest epsilon at which a member of ``family`` may replace ``a`` under ``order``, rounded down.

    ``a`` is a member of a family, a mechanism or a channel; ``family`` a family or its name. Bisection stops when the safe
    and the unsafe end are within ``accuracy``; an answer that stays undecided counts as unsafe.

    >>> from noisewright.channels.channel import Channel
    >>> from noisewright.qif.refinement.families import from_callable, geometric_family
    >>> def coin(epsilon):
    ...     lie = math.exp(-epsilon) / 2
    ...     return Channel([[1 - lie, lie], [lie, 1 - lie]])
    >>> found = safe_replacement(geometric_family.member(epsilon=1, size=2), from_callable("coin", coin))
    >>> round(found.epsilon, 6), found.refinement.status
    (0.620115, 'holds within tol')
    """
    one_of(order, "order", ORDERS)
    wanted = as_family(family)
    if isinstance(accuracy, bool) or not isinstance(accuracy, numbers.Real) or not 1e-14 <= accuracy <= 1:
        raise ParameterError("accuracy must be a number from 1e-14 to 1: how far below the limit the answer may be.")
    member = as_member(a)
    replaced: Any = read(a) if member is None else member
    secrets, name = replaced.inputs, str(member) if member is not None else replaced.name or "the channel"
    checks: dict[float, Refinement] = {}

    def safe(epsilon: float) -> bool:
        checks[epsilon] = may_replace(replaced, wanted.member(epsilon=epsilon, secrets=secrets), order, TOLERANCE)
        return bool(checks[epsilon])

    known = None if member is None else _closed(member, wanted, order)
    method, unsafe = CLOSED, None
    found = None if known is None else _settled(known, safe)
    if found is None:
        method = BISECTION
        ours = member is not None and member.made is None and wanted in FAMILIES.values() and member.family in FAMILIES
        top = member.decay.epsilon_up() if ours and member is not None else None
        found, unsafe = _bisected(safe, top, accuracy)
    return Replacement(
        found,
        order,
        wanted.name,
        name,
        method,
        wanted.member(epsilon=found, secrets=secrets),
        checks[found],
        unsafe,
    )


def may_replace(a: Any, b: Any, order: str = "average", tol: float = 1e-8) -> Refinement:
    """Return whether ``b`` may replace ``a`` under one order, by the cheapest decision that there is for the two;
    ``tol`` is for floats.

    >>> from noisewright.qif.refinement.families import response_family
    >>> print(may_replace(response_family.member(epsilon=2, size=9), response_family.member(epsilon=1, size=9), "max").status)
    holds (exact)
    """
    one_of(order, "order", ORDERS)
    first, second = as_member(a), as_member(b)
    if first is not None:
        closed = None if order == "privacy" else closed_refined(first, b, order)
        if order == "privacy" and second is not None:
            closed = closed_private(first, second)
        if closed is not None:
            return closed
    # Imported here: these build on the closed forms.
    if order == "average":
        from noisewright.qif.refinement.average_case import average_refined

        return average_refined(a, b, tol)
    if order == "max":
        from noisewright.qif.refinement.max_case import max_refined

        return max_refined(a, b, tol)
    from noisewright.qif.refinement.privacy import privacy_refined

    return privacy_refined(a, b, tol)


def _closed(a: Member, family: Family, order: str) -> float | None:
    """The limit by a closed form, rounded down, or a little off where it is a float; None without one."""
    if a.made is not None or family not in FAMILIES.values() or a.family not in FAMILIES:
        return None
    to, epsilon = family.name, a.decay.epsilon_down()
    if to == a.family or a.size == 2 or a.no_leak or (order == "privacy" and a.family == GEOMETRIC):
        return epsilon
    if order == "privacy":
        if (a.family, to) == (RESPONSE, GEOMETRIC):
            rate = a.decay.rate
            return float_down(rate / (a.size - 1)) if rate else _log_down(a.decay.number(256), a.size - 1)
        if (a.family, to) == (EXPONENTIAL, GEOMETRIC):
            base = a.base(256)
            assert base is not None
            return _log_down(base, 1)
        if (a.family, to) == (EXPONENTIAL, RESPONSE):
            return float(member_distances(a)[~np.eye(a.size, dtype=bool)].min())
        return None
    if (a.family, to) == (GEOMETRIC, RESPONSE):
        decay = a.decay.number(256)
        return _log_down(decay / (1 - decay + decay * decay), 1)
    if (a.family, to) == (RESPONSE, GEOMETRIC) and epsilon < 600:
        steps, limit = np.arange(1, a.size), math.expm1(epsilon)
        low, high = 0.0, epsilon
        while low < (middle := (low + high) / 2) < high:
            with np.errstate(over="ignore"):
                low, high = (middle, high) if np.expm1(steps * middle).sum() <= limit else (low, middle)
        return low
    return None


def _log_down(number: Number, share: int) -> float:
    """``-ln(number) / share`` rounded down."""
    largest = number.ends()[1] if isinstance(number, Enclosure) else number
    if largest >= 1:
        return 0.0
    bits = 320
    return float_down(Fraction(log_bounds(1 / largest, bits)[0], share << bits))


def _settled(limit: float, safe: Callable[[float], bool]) -> float | None:
    """The limit, or the next smaller float that is safe; floats are off by a few units in the last place."""
    step = math.ulp(limit)
    for _ in range(24):
        if safe(max(limit, 0.0)):
            return max(limit, 0.0)
        limit, step = limit - step, 2 * step
    return None


def _bisected(safe: Callable[[float], bool], top: float | None, accuracy: float) -> tuple[float, float | None]:
    """A safe epsilon and an unsafe one within ``accuracy`` above it, or a share of ``accuracy`` where they are below 1.

    ``top`` is an epsilon that no safe one is above; without it, it may be that only 0 is safe, and the search stops near it.
    """
    low, high = 0.0, top if top is not None else 1.0
    if top is not None and safe(top):
        return top, None
    while top is None and safe(high):
        low, high = high, 2 * high
        if low >= MOST:
            return low, None
    while high - low > accuracy * (min(1.0, high) if top is not None else 1.0):
        middle = (low + high) / 2
        if not low < middle < high or high < LEAST:
            break
        low, high = (middle, high) if safe(middle) else (low, middle)
    if low == 0.0 and not safe(0.0):
        raise ParameterError("no member of that family may replace this mechanism, not even the one with epsilon 0.")
    return low, high


def _unit(member: Member) -> str | None:
    return None if member.metric is None else str(member.metric)


# Table --------------------------------------------------------------------------------------------------------------------
#
# Tables of safe replacements: every family in place of every other, over a range of epsilons.


@dataclass(frozen=True)
class ReplacementTable:
    """``cells[epsilon][first, second]``: the safe replacement of family ``first`` at that epsilon by family ``second``."""

    order: str
    size: int
    pairs: tuple[tuple[str, str], ...]
    epsilons: tuple[Exact, ...]
    cells: tuple[dict[tuple[str, str], Replacement], ...]

    def values(self, first: str, second: str) -> list[float]:
        """The safe epsilons of one pair, in the order of :attr:`epsilons`."""
        return [row[first, second].epsilon for row in self.cells]

    def __str__(self) -> str:
        head = ["epsilon", *(f"{a} -> {b}" for a, b in self.pairs)]
        rows = [
            [str(epsilon), *(downward(row[pair].epsilon) for pair in self.pairs)]
            for epsilon, row in zip(self.epsilons, self.cells, strict=True)
        ]
        widths = [max(len(line[k]) for line in (head, *rows)) for k in range(len(head))]
        title = (
            f"{self.order} order, {self.size} secrets: the largest epsilon of the second family that may replace the first "
            "at that epsilon"
        )
        return "\n".join(
            [title, *("  ".join(c.rjust(w) for c, w in zip(r, widths, strict=True)) for r in (head, *rows))]
        )

    def to_json(self) -> dict[str, Any]:
        """The table as plain data."""
        return {
            "order": self.order,
            "size": self.size,
            "replacements": [
                {"first": a, "at": str(epsilon), "second": b, **row[a, b].to_json()}
                for epsilon, row in zip(self.epsilons, self.cells, strict=True)
                for a, b in self.pairs
            ],
        }


def replacement_table(
    families: Iterable[Family | str] = tuple(FAMILIES),
    *,
    epsilons: Sequence[Exact] = (1,),
    size: int = 5,
    order: str = "average",
    accuracy: float = 1e-9,
) -> ReplacementTable:
    """The safe replacement of each family by each other one, at each epsilon, on the secrets ``0 .. size-1``."""
    one_of(order, "order", ORDERS)
    if not isinstance(families, Iterable) or isinstance(families, str):
        raise ParameterError("families are a list, such as ['geometric', 'response'].")
    if not isinstance(epsilons, Iterable) or isinstance(epsilons, str):
        raise ParameterError("epsilons are a list of numbers, such as [1, 2].")
    epsilons = tuple(epsilons)
    chosen = [as_family(family) for family in families]
    names = [family.name for family in chosen]
    if len(chosen) < 2 or len(set(names)) < len(names):
        raise ParameterError("name two or more different families to compare, such as geometric,response.")
    if not epsilons:
        raise ParameterError("name one epsilon or more to compare families at.")
    for epsilon in epsilons:
        as_fraction(epsilon, "epsilon")
    found = []
    for epsilon in epsilons:
        row = {}
        for first in chosen:
            member = first.member(epsilon=epsilon, size=size)
            for second in chosen:
                if second is not first:
                    row[first.name, second.name] = safe_replacement(member, second, order=order, accuracy=accuracy)
        found.append(row)
    return ReplacementTable(order, size, tuple(found[0]), tuple(epsilons), tuple(found))
