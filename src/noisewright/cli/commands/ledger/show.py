"""``noisewright ledger show``: the spends of every budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.claims.totals import ADD_UP, GLOSSARY
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, emit, facts, heading, label, plural, printable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.releases.ledger.ledger import Balance, Ledger, LedgerRecord

__all__ = ["COMMAND", "show"]

WORDS = [
    ("Epsilon", f"{GLOSSARY['Epsilon']} {ADD_UP}"),
    ("Delta", GLOSSARY["Delta"]),
    ("finished", "the output is complete"),
    ("started", "it broke off or still runs, and counts, as it may have been drawn"),
]
"""Words for values in the tables that are not plain words."""


def show(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="LEDGER", help="The ledger. Default: that of this user, which NOISEWRIGHT_LEDGER may name."
        ),
    ] = None,
    dataset: Annotated[str | None, typer.Option(metavar="NAME", help="Show this dataset alone.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show budgets, what was spent of them, and what is left.

    A release is recorded before anything is drawn, and nothing is ever given back: one that broke off stays "started" and
    counts, because some of it may have been drawn.
    """
    from noisewright.releases.ledger.export import document
    from noisewright.releases.ledger.ledger import Ledger

    ledger = Ledger(file, create_missing=False)
    names = ledger.datasets() if dataset is None else [dataset]
    found = {"ledger": str(ledger.path), **document(ledger, names)}
    emit(found, lambda: _page(ledger, names), as_json)


def _page(ledger: Ledger, names: list[str]) -> list[RenderableType]:
    from rich.text import Text

    parts: list[RenderableType] = [heading(str(ledger.path), f"ledger of {plural(len(names), 'dataset')}")]
    for name in names:
        balance, entries = ledger.remaining(name), ledger.entries(name)
        parts += [Text(""), heading(name), facts(_budget(ledger, balance))]
        if entries:
            parts += _releases(entries)
    if any(ledger.entries(name) for name in names):
        parts += [Text(""), facts(WORDS)]
    return parts


def _budget(ledger: Ledger, balance: Balance) -> list[tuple[str, str]]:
    from noisewright.claims.phrases import OPEN
    from noisewright.core.exact import upward
    from noisewright.releases.ledger.export import changed, kept
    from noisewright.releases.ledger.ledger import downward

    def amount(epsilon: Any, delta: Any, spell: Any) -> str:
        return f"epsilon {spell(epsilon)}, delta {spell(delta)}"

    entries = ledger.entries(balance.dataset)
    given_away, without = kept(entries), changed(entries)
    single = balance.scope == "unit"
    of_one = ", for each unit on its own" if single else ""
    rows = [
        ("Budget", amount(balance.epsilon, balance.delta, downward) + of_one),
        ("Between", printable(balance.between)),
        *([(OPEN, printable(f"{', '.join(map(label, given_away))}: released as it is"))] if given_away else []),
        *(
            [("No epsilon", printable(f"{', '.join(map(label, without))}: changed by a learned privatiser"))]
            if without
            else []
        ),
        (
            "Spent",
            amount(balance.spent_epsilon, balance.spent_delta, upward)
            + (
                f", by a unit that took part in every release ({balance.releases})"
                if single
                else f", in {plural(balance.releases, 'release')}"
            ),
        ),
        (
            "Left",
            ("at least " if single else "")
            + amount(balance.left_epsilon, balance.left_delta, downward)
            + (", and all of it for a unit that took part in none" if single else ""),
        ),
    ]
    for event in ledger.history(balance.dataset)[1:]:
        other = amount(event.epsilon, event.delta, downward)
        rows.append((f"Budget {event.event}", f"{_time(event.time)} UTC, to {other}"))
    for one in ledger.apart(balance.dataset):
        names = f"{one.dataset!r} and {one.other!r}"
        rows.append(
            ("Same data", f"{names}: other people, as was said at {_time(one.time)} UTC: {printable(one.reason)}")
        )
    return rows


def _releases(entries: list[LedgerRecord]) -> list[RenderableType]:
    """Every release with its parts below it; the epsilon never without the values that it is between."""
    from itertools import groupby

    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from noisewright.core.exact import upward

    delta = any(entry.delta for entry in entries)
    titles = ["Part", "Epsilon", *(["Delta"] if delta else []), "Between"]
    page: list[RenderableType] = []
    for name, parts in groupby(entries, key=lambda entry: entry.release_id):
        rows = list(parts)
        table = Table(box=None, show_edge=False, pad_edge=False, padding=(0, 3, 0, 0), header_style="")
        for title in titles:
            right = title in ("Epsilon", "Delta")
            table.add_column(title, justify="right" if right else "left", overflow="fold", no_wrap=right)
        for entry in rows:
            cells = [f"{label(entry.name)} ({entry.kind})", upward(entry.epsilon) if entry.bounded else "no bound"]
            cells += [upward(entry.delta) if entry.bounded else ""] if delta else []
            table.add_row(*(Text(printable(cell)) for cell in (*cells, entry.guarantee or "not stated")))
        page += [
            Text(""),
            heading(f"{_time(rows[0].time)} UTC", f"{printable(label(name))}, {rows[0].state}"),
            Padding(table, (0, 0, 0, 2)),
        ]
    return page


def _time(stamp: str) -> str:
    return stamp[:16].replace("T", " ")


COMMAND = Command(show)
