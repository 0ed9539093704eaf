"""What the comparisons of range-adherent mechanisms share: the queries, the mechanisms as channels, and a table of numbers.

Two queries on small databases: the **mean** of whole numbers from 0 to 4, and the **count** of a yes-or-no attribute,
both over a public number of records, one of which may be replaced. Five mechanisms for each: noise that is snapped to
the valid range (Laplace and staircase; for counts the truncated geometric), the explicit fair mechanism (counts
only), Laplace noise cut to the range and normalised, and two linear programs: variant 1 under privacy alone, variant
2 with the shapes monotone, symmetric and fair besides.

Everything is computed from matrices, nothing is drawn. The published figures carry no numbers; ``reported`` are those
of a recomputation.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

import noisewright as nw
from noisewright.core.channel import Channel
from noisewright.core.exact import as_fraction
from noisewright.optimal.categories import (
    Answers,
    Categories,
    StaircaseNoise,
    discretise,
    exact_number,
    laplace_law,
    truncated_laplace_law,
)
from noisewright.optimal.design import optimal

HIGHEST = 4
VARIANT_2 = ("monotone", "symmetric", "fair")
MEASURES = ("absolute", "squared", "Bayes absolute", "Bayes squared")
SOURCE = "a recomputation of the published comparison, whose figures carry no numbers"
CLOSE = 1e-4
"""Numbers that differ by no more than this agree: those reported have four decimals."""


@dataclass(frozen=True)
class Row:
    """One line of a result: what it is about, the numbers found here, and those reported.

    ``loose`` marks numbers that the program leaves open: it fixes its objective, and of several best matrices each
    solver finds its own. A number that was not reported is None.
    """

    label: tuple[str, ...]
    found: tuple[float, ...]
    reported: tuple[float | None, ...] | None = None
    loose: tuple[int, ...] = ()
    close: float = CLOSE

    @property
    def agrees(self) -> bool:
        """Whether all numbers that are determined agree with those reported."""
        pairs = [] if self.reported is None else list(zip(self.found, self.reported, strict=True))
        return all(b is None or abs(a - b) <= self.close for i, (a, b) in enumerate(pairs) if i not in self.loose)


def answers(query: str, size: int) -> Answers:
    """The possible true answers of a query."""
    return Answers.of_mean(size, HIGHEST) if query == "mean" else Answers.of_count(size)


def mechanisms(query: str, size: int, epsilon: str, *, widened: bool = False) -> dict[str, Callable[[], Channel]]:
    """The mechanisms of the comparison, each built when it is called; ``widened`` makes the output range three times as wide."""
    asked = answers(query, size)
    outputs = categories(asked, widened)
    budget, reach = float(as_fraction(epsilon)), float(asked.reach)

    def snapped(law: object) -> Callable[[], Channel]:
        return lambda: discretise(law, asked.points, outputs, snap=True)  # type: ignore[arg-type]

    def program(shape: tuple[str, ...]) -> Callable[[], Channel]:
        return lambda: optimal(
            asked.points, epsilon=epsilon, loss="absolute", metric=asked.metric, shape=shape, outputs=outputs.labels
        ).channel()

    found: dict[str, Callable[[], Channel]] = {}
    if query == "mean":
        found["snapped Laplace"] = snapped(laplace_law(reach / budget))
        found["snapped staircase"] = snapped(StaircaseNoise(budget, reach))
    else:
        found["truncated geometric"] = lambda: geometric(size, epsilon, outputs)
        if not widened:  # there is no explicit fair mechanism with more outputs than secrets
            found["explicit fair"] = lambda: nw.explicit_fair(epsilon=epsilon, within=(0, size)).channel()
    law = truncated_laplace_law(2 * reach / budget, outputs.span)
    found["normalised Laplace"] = lambda: discretise(law, asked.points, outputs)
    found["variant 1"] = program(())
    found["variant 2"] = program(VARIANT_2)
    return found


def categories(asked: Answers, widened: bool) -> Categories:
    """One category about each answer; a widened range has as much again on either side."""
    if not widened:
        return asked.categories()
    places = [exact_number(p) for p in asked.points]
    step, more = places[1] - places[0], len(places) - 1
    return Categories.centred([places[0] + step * j for j in range(-more, 2 * more + 1)])


def geometric(size: int, epsilon: str, outputs: Categories) -> Channel:
    """The geometric clamped to the range of the outputs, for counts from 0 to ``size``."""
    low, high = int(outputs.labels[0]), int(outputs.labels[-1])
    whole = nw.geometric(epsilon=epsilon, within=(low, high)).channel()
    rows = slice(-low, size + 1 - low)
    return Channel.from_logs(whole.logs[rows], range(size + 1), whole.outputs)


def measures(channel: Channel) -> tuple[float, ...]:
    """Expected absolute and squared error at face value, then after the best guess of somebody with the uniform prior."""
    row = nw.compare_utility({"it": channel}).rows[0]
    return (
        *(float(row.face[loss] or 0.0) for loss in ("absolute", "squared")),
        row.bayes["absolute"],
        row.bayes["squared"],
    )


# Showing it ---------------------------------------------------------------------------------------------------------------


def arguments(
    name: str, description: str | None, given: list[str] | None, *, figure: bool = False
) -> argparse.Namespace:
    """The options that every comparison has; ``figure`` adds ``--plot``."""
    parser = argparse.ArgumentParser(
        prog=f"python -m experiments.{name}", description=(description or "").split("\n\n")[0]
    )
    parser.add_argument("--quick", action="store_true", help="a few small cases only")
    parser.add_argument("--json", action="store_true", help="print plain data instead of a table")
    if figure:
        parser.add_argument("--plot", metavar="FILE.png", help="draw the figure there as well")
    return parser.parse_args(given)


def finish(
    title: str,
    columns: Iterable[str],
    names: Iterable[str],
    rows: list[Row],
    as_json: bool,
    notes: Iterable[str] = (),
    source: str = SOURCE,
    decimals: int = 4,
) -> int:
    """Print the rows beside the reported numbers; 1 if a number that is determined does not agree."""
    wrong = [row for row in rows if not row.agrees]
    if as_json:
        print(json.dumps({"title": title, "source": source, "rows": [{**vars(r), "agrees": r.agrees} for r in rows]}))
        return 1 if wrong else 0
    console = Console(width=128, highlight=False)
    table = Table(title=title)
    for column in columns:
        table.add_column(column)
    for name in names:
        table.add_column(f"{name}\nhere (reported)", justify="right")
    before = None
    for row in rows:
        if before not in (None, row.label[:-1]):
            table.add_section()
        before = row.label[:-1]
        told = row.reported or (None,) * len(row.found)
        cells = [_cell(a, b, i in row.loose, decimals) for i, (a, b) in enumerate(zip(row.found, told, strict=True))]
        table.add_row(*row.label, *cells, style=None if row.agrees else "red")
    console.print(table)
    for note in (f"Reported: {source}.", *notes):
        console.print(note)
    known = [row for row in rows if row.reported is not None]
    console.print(
        f"{len(known) - len(wrong)} of {len(known)} rows with reported numbers agree{_how_closely(decimals)}."
    )
    return 1 if wrong else 0


LOOSE_NOTE = "~ marks numbers that the program leaves open: it fixes its objective, which several matrices may attain."


def _cell(found: float, reported: float | None, loose: bool, decimals: int) -> str:
    if reported is None:
        return f"{found:.{decimals}f}"
    return f"{found:.{decimals}f} ({'~' if loose else ''}{reported:.{decimals}f})"


def _how_closely(decimals: int) -> str:
    words = {4: "four", 5: "five", 6: "six"}
    return f" to {words[decimals]} decimals" if decimals in words else ""
