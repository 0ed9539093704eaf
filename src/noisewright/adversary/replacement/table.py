r"""Tables of safe replacements: every family in place of every other, over a range of epsilons.

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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from noisewright.adversary.families.families import FAMILIES, Family, as_family
from noisewright.adversary.replacement.replacement import ORDERS, Replacement, safe_replacement
from noisewright.core.choices import one_of
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, as_fraction, downward

__all__ = ["ReplacementTable", "replacement_table"]


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
