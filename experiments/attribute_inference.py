"""A sensitive attribute inferred from a noisy count: noise on the count against noise on each row.

Run:  noisewright reproduce attribute_inference [--quick] [--json]

Published as a table in a doctoral thesis on metric privacy and information flow, over 11,710 assessments of people in
custody. Everybody knows the table; one row is added, and somebody is after its custody status. Scenario A counts a custody
status, scenario B a marital status, which says next to nothing about custody. Both noises have the same epsilon.

The data are not needed, and are not here: only the frequencies enter. The counts below are **substitutes** that were fitted to
the published table (three frequencies are fixed by it, the split of the rest is a fit), so agreement in all 64 numbers
checks the engine and its formulas, not how the original was prepared. What the table calls the theoretical maximum is the
bound for a full leak of the attribute; the mechanisms themselves tend to 1.2542 (A) and 1 (B).

The same engine then runs on a real table with a permissive licence: 944 respondents of the American National Election Study of
1996 (public domain), which the PyPI package ``statsmodels`` carries. There the sensitive attribute is the vote; A counts strong
Republicans, B people whose education ended with high school. No code of the package is run: its file is read.
"""

from __future__ import annotations

import math
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from experiments.report import Result, Row, Table, command
from noisewright.attacks.correlation import Correlation
from noisewright.attacks.new_row import NewRow

CUSTODY = (2361, 16, 15, 15, 9288, 15)
MARITAL = (9021, 400, 573, 572, 572, 572)
"""Substitutes: how many people have each status, in the order of the codes 0 to 5."""

MEASURES = ("loss,\non the count", "utility,\non the count", "loss,\non rows", "utility,\non rows")
"""Privacy loss and utility with noise on the count, then with noise on each row."""
COUNTED = {"A": "a count that goes with the secret", "B": "a count that says next to nothing about it"}
REPORTED = {
    3: "1.0000 0.7984 1.0000 0.7984 1.0000 0.7704 1.0000 0.7704",
    5: "1.0452 0.8333 1.0000 0.7984 1.0000 0.8333 1.0000 0.7704",
    10: "1.1402 0.9091 1.0000 0.7984 1.0000 0.9091 1.0000 0.7704",
    100: "1.2418 0.9901 1.0000 0.7984 1.0000 0.9901 1.0000 0.7704",
    200: "1.2480 0.9950 1.0001 0.7984 1.0000 0.9950 1.0000 0.7704",
    500: "1.2517 0.9980 1.0035 0.8011 1.0000 0.9980 1.0000 0.7704",
    1000: "1.2529 0.9990 1.0234 0.8169 1.0000 0.9990 1.0000 0.7704",
    100000: "1.2542 1.0000 1.2481 0.9952 1.0000 1.0000 1.0000 0.9330",
}
"""The published table: e^epsilon, then the ``MEASURES`` of A and those of B."""
MINIMUM = (1.0, 0.7984, 1.0, 0.7984, 1.0, 0.7704, 1.0, 0.7704)
SOURCE = "the published table"
SECONDS = (1, 1)
VOTES = "datasets/anes96/anes96.csv"


def scenarios() -> tuple[NewRow, NewRow]:
    """Scenarios A and B with the substitute counts; in B the two attributes are independent."""
    custody, marital = np.array(CUSTODY), np.array(MARITAL)
    total = custody.sum()
    same = NewRow(Correlation(np.diag(custody) / total), CUSTODY, 0)
    independent = NewRow(Correlation(np.outer(custody, marital) / (total * marital.sum())), MARITAL, 0)
    return same, independent


def votes() -> tuple[NewRow, NewRow] | None:
    """Scenarios A and B on the election study; None if the package that carries it is not installed."""
    found = find_spec("statsmodels")
    if found is None or found.origin is None:
        return None
    file = Path(found.origin).parent / VOTES
    with file.open(encoding="ascii") as lines:
        names = [name.strip("'") for name in next(lines).split()]
        rows = np.loadtxt(lines)
    columns = {name: rows[:, i].astype(int) for i, name in enumerate(names) if name in ("vote", "PID", "educ")}
    party = NewRow.from_table(columns, sensitive="vote", useful="PID", value=6)
    return party, NewRow.from_table(columns, sensitive="vote", useful="educ", value=3)


def run(power: int, pair: tuple[NewRow, NewRow]) -> tuple[float, ...]:
    """One line of the table: privacy loss and utility of both noises in both scenarios at ``e^epsilon = power``."""
    outcomes = [o for attack in pair for both in attack.sweep([math.log(power)]) for o in both]
    return tuple(number for o in outcomes for number in (o.privacy_loss, o.utility))


def ends(pair: tuple[NewRow, NewRow]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The lines of endless noise, and of no noise at all."""
    limits = [attack.limits for attack in pair]
    least = tuple(x for limit in limits for x in (1.0, limit.blind) * 2)
    return least, tuple(x for limit in limits for x in (limit.privacy_loss, 1.0) * 2)


def result(quick: bool = False) -> Result:
    """The published table, and the same for the votes if they are there."""
    powers = (5, 1000) if quick else tuple(REPORTED)
    pair = scenarios()
    least, most = ends(pair)
    rows = [Row(("custody", "1"), least, MINIMUM)]
    for power in powers:
        rows.append(Row(("custody", str(power)), run(power, pair), tuple(map(float, REPORTED[power].split()))))
    rows.append(Row(("custody", "no noise"), most))
    notes = ["Custody: substitute counts fitted to the published table; see the head of the module."]
    real = votes()
    if real is None:
        notes.append("Votes are skipped: pip install statsmodels brings the table.")
    else:
        least, most = ends(real)
        rows.append(Row(("votes", "1"), least))
        rows += [Row(("votes", str(power)), run(power, real)) for power in powers]
        rows.append(Row(("votes", "no noise"), most))
        notes.append(
            "Votes: the American National Election Study of 1996, computed here; nothing was published to compare."
        )
    tables = []
    for k, (scenario, counted) in enumerate(COUNTED.items()):
        title = f"What a noisy count tells about a new row, scenario {scenario}: {counted}"
        tables.append(Table(title, ("data", "e^epsilon"), MEASURES, [half(row, k) for row in rows], SOURCE))
    return Result(tables, notes=notes)


def half(row: Row, k: int) -> Row:
    """The numbers of one scenario."""
    part = slice(4 * k, 4 * k + 4)
    return Row(row.label, row.found[part], None if row.reported is None else row.reported[part])


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("attribute_inference", given)


if __name__ == "__main__":
    raise SystemExit(main())
