"""Which families may replace which: the tables of the chapter on comparing mechanisms, decided pair by pair.

Run:  noisewright reproduce family_tables [--quick] [--json]

Published in a doctoral thesis on metric privacy and information flow. (i) A smaller epsilon of the same family may replace a
larger one under all three orders, except for the over-truncated geometric, where only the privacy order holds. (ii) At equal
epsilon no family may replace another on average or in the worst case; in the privacy order randomised response and
exponential may replace the geometric, and nothing else. (iii) The same with a slightly smaller epsilon; far below the
thresholds of ``replacement_thresholds`` everything becomes safe.

Two exceptions come out: on two secrets the three families are one, and on three the privacy order also lets randomised
response replace the exponential. For the exponential family (i) is a conjecture: it is decided here for the sizes that are shown.
The geometric on all whole numbers is equivalent to the truncated one, so one row stands for both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from experiments.report import Result, Row, Table, command
from noisewright.qif.refinement.families import FAMILIES, Family, over_truncated_family
from noisewright.qif.refinement.replacement import ORDERS, may_replace

SIZES = (3, 4, 5, 10)
EPSILONS: tuple[dict[str, str], ...] = (
    *({"epsilon": e} for e in ("0.1", "0.5", "1", "2", "4")),
    {"decay": "1/2"},  # epsilon = ln 2, which the published examples use
)
SOURCE = "1 for yes and 0 for no, as in the published tables"
SECONDS = (1, 3)


def answers(a: object, b: object) -> tuple[float, ...]:
    """1 for each order under which ``b`` may replace ``a``, 0 for the others."""
    return tuple(float(bool(may_replace(a, b, order))) for order in ORDERS)


def within(size: int) -> Iterator[Row]:
    """Table (i): decay 1/4 replaced by decay 1/2 of the same family."""
    families: dict[str, Family] = {**FAMILIES, "over-truncated": over_truncated_family(0, size - 2)}
    for name, family in families.items():
        told = (0.0, 0.0, 1.0) if name == "over-truncated" else (1.0, 1.0, 1.0)
        found = answers(family.member(decay="1/4", size=size), family.member(decay="1/2", size=size))
        yield Row(("i", str(size), name, name), found, told)


def across(size: int, table: str, pairs: Sequence[tuple[dict[str, str], dict[str, str]]]) -> Iterator[Row]:
    """Tables (ii) and (iii): every ordered pair of families; the share of epsilons at which each order holds."""
    for a, family in FAMILIES.items():
        for b, other in FAMILIES.items():
            if a == b:
                continue
            private = a == "geometric" or (size == 3 and (a, b) == ("exponential", "response"))
            told = (1.0, 1.0, 1.0) if size == 2 else (0.0, 0.0, float(private))
            found = [answers(family.member(**x, size=size), other.member(**y, size=size)) for x, y in pairs]
            yield Row(
                (table, str(size), a, b), tuple(sum(column) / len(found) for column in zip(*found, strict=True)), told
            )


def run(size: int, quick: bool = False) -> list[Row]:
    """All rows for one number of secrets."""
    equal = [(e, e) for e in (EPSILONS[-1:] if quick else EPSILONS)]
    rows = list(across(size, "ii", equal))
    if size == 2:  # smaller epsilons are what table (i) is about, since the families are one
        return rows
    return [*within(size), *rows, *across(size, "iii", [({"epsilon": "1"}, {"epsilon": "0.99"})])]


def result(quick: bool = False) -> Result:
    """All tables for all sizes; a quick run has three sizes and one epsilon."""
    sizes = (2, 3, 4) if quick else (2, *SIZES)
    rows = [row for size in sizes for row in run(size, quick)]
    shares = f"share of {len(EPSILONS)} epsilons from 0.1 to 4" if not quick else "ln 2"
    notes = [
        f"i: a smaller epsilon of the same family (ln 4, then ln 2); ii: equal epsilon ({shares}); iii: epsilon 1, then 0.99.",
    ]
    columns = ("table", "secrets", "first", "second")
    return Result([Table("May the second replace the first?", columns, ORDERS, rows, SOURCE, 0)], notes=notes)


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("family_tables", given)


if __name__ == "__main__":
    raise SystemExit(main())
