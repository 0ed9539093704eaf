"""``noisewright ledger adopt``: charge what an older copy of a ledger has forgotten."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright._utils.validation import printable
from noisewright.claims.totals import ADD_UP, GLOSSARY
from noisewright.cli.app import Command
from noisewright.cli.arguments import WitnessFile
from noisewright.render.text import AsJson, emit, facts, heading, label, plural, working

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.ledger.ledger import Ledger
    from noisewright.ledger.records import Balance, Checked, LedgerRecord
    from noisewright.releases.folder import FolderRecord

__all__ = [
    "ADOPT_COMMAND",
    "BACKUP_COMMAND",
    "CHECK_COMMAND",
    "EXPORT_COMMAND",
    "SHOW_COMMAND",
    "adopt",
    "backup",
    "check",
    "checked_facts",
    "export",
    "show",
]


def adopt(
    file: Annotated[
        str, typer.Argument(metavar="LEDGER", help="The ledger, an older copy of which no newer one is left.")
    ],
    folders: Annotated[
        list[str] | None, typer.Argument(metavar="FOLDER", help="Folders of releases that it made and has forgotten.")
    ] = None,
    reason: Annotated[
        str, typer.Option(metavar="REASON", help="Required. What happened to the ledger; it is recorded.")
    ] = "",
    witness: WitnessFile = None,
    as_json: AsJson = False,
) -> None:
    """Charge what an older copy of a ledger has forgotten, as its witnesses and the locks of its releases tell it.

    Restore the latest copy instead, if there is one. What is charged may go beyond the budget, and is not given back.
    """
    from noisewright.exceptions import ParameterError
    from noisewright.ledger.ledger import Ledger
    from noisewright.releases.checks import adopt as adopted

    if not reason:
        raise ParameterError('say what happened to the ledger: --reason "the disk failed".')
    with working("adopting"):
        ledger = Ledger(file, create_missing=False, witness=witness)
        lost, charged = adopted(ledger, folders or [], reason)
    found = {"ledger": str(ledger.path), "lost": lost, "charged": charged}
    done = "has lost nothing that is known of" if not lost else "goes on, and what it had forgotten is charged"
    emit(
        found,
        lambda: [
            heading(str(ledger.path), done, "bold green"),
            facts([("Lost", plural(lost, "head")), ("Charged", plural(charged, "release"))]),
        ],
        as_json,
    )


ADOPT_COMMAND = Command(adopt)


# Check --------------------------------------------------------------------------------------------------------------------
#
# ``noisewright ledger check``: whether a ledger is whole, and knows the releases that it recorded.


def check(
    file: Annotated[str, typer.Argument(metavar="LEDGER", help="The ledger.")],
    folders: Annotated[
        list[str] | None, typer.Argument(metavar="FOLDER", help="Folders of releases that it recorded.")
    ] = None,
    witness: WitnessFile = None,
    as_json: AsJson = False,
) -> None:
    """Check that a ledger is whole: every page, every record in its chain, every account.

    The lock of each release keeps the head that the chain had, and so do witnesses. A ledger that was replaced by an older copy
    does not know it, so name the folders of releases to find that out. A release whose process was killed in its last step is
    completed.
    Ends with code 0 only when everything agrees.
    """
    from noisewright.exceptions import LedgerError
    from noisewright.ledger.ledger import Ledger
    from noisewright.releases.folder import check_record

    with working("checking"):
        ledger = Ledger(file, create_missing=False, witness=witness)
        try:
            seen, doubt = ledger.check_witnesses(), None
        except LedgerError as problem:
            seen, doubt = 0, str(problem)
        results = [check_record(folder, ledger) for folder in folders or []]
        found = ledger.check()
    agrees = doubt is None and all(result.problem is None for result in results)
    emit(
        {
            "ledger": str(ledger.path),
            "agrees": agrees,
            **asdict(found),
            "witnessed": seen,
            "problem": doubt,
            "folders": [asdict(result) for result in results],
        },
        lambda: [
            heading(str(ledger.path), "whole" if agrees else _otherwise(doubt), _colour(agrees)),
            facts([*checked_facts(found), ("Witnesses", printable(doubt or f"know {plural(seen, 'head')} of it"))]),
            *(part for result in results for part in _folder(result)),
        ],
        as_json,
    )
    if not agrees:
        raise typer.Exit(1)


def _otherwise(doubt: str | None) -> str:
    return "NOT the ledger of every folder" if doubt is None else "NOT the latest copy"


def checked_facts(found: Checked) -> list[tuple[str, str]]:
    """Return the findings of a check, for people."""
    if found.records is None:
        chain = "none yet: an earlier version wrote this ledger, and the next release adds it"
    else:
        chain = f"{plural(found.records, 'record')}, ending in {found.head}"
    return [
        ("Chain", chain),
        ("Releases", str(found.releases)),
        *([("Accounts", str(found.accounts))] if found.accounts else []),
    ]


def _folder(result: FolderRecord) -> list[RenderableType]:
    said = [("Wrong", result.problem)] if result.problem else []
    if result.release is not None:
        said.append(("Release", label(result.release)))
    if not result.problem:
        older = "not known: its lock is of an earlier version"
        said.append(("Lock ends at", older if result.record is None else f"record {result.record}"))
    if result.completed:
        said.append(
            ("Completed", "its process ended before this ledger could note that it was finished; that was done now")
        )
    agrees = result.problem is None
    title = heading(result.folder, "recorded" if agrees else "NOT as recorded", _colour(agrees))
    return [title, facts((what, printable(value)) for what, value in said)]


def _colour(good: bool) -> str:
    return "bold green" if good else "bold red"


CHECK_COMMAND = Command(check)


# Export -------------------------------------------------------------------------------------------------------------------
#
# ``noisewright ledger export``: a ledger as a file for other programs.


def export(
    file: Annotated[str, typer.Argument(metavar="LEDGER", help="The ledger.")],
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="A .csv (one row for each part of each release) or .json."),
    ],
    as_json: AsJson = False,
) -> None:
    """Write a ledger to a .csv or a .json file, without its secret key and without anything about single units."""
    from noisewright.ledger.export import export as write
    from noisewright.ledger.ledger import Ledger

    ledger = Ledger(file, create_missing=False)
    written = write(ledger, output)
    entries = sum(len(ledger.entries(name)) for name in ledger.datasets())
    emit(
        {"ledger": str(ledger.path), "output": str(written), "datasets": len(ledger.datasets()), "entries": entries},
        lambda: [heading(str(written), f"written, with {plural(entries, 'recorded part')}")],
        as_json,
    )


EXPORT_COMMAND = Command(export)


# Show ---------------------------------------------------------------------------------------------------------------------
#
# ``noisewright ledger show``: the spends of every budget.


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
    from noisewright.ledger.export import document
    from noisewright.ledger.ledger import Ledger

    ledger = Ledger(file, create_missing=False)
    names = ledger.datasets() if dataset is None else [dataset]
    found = {"ledger": str(ledger.path), **document(ledger, names, shown=True)}
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
    from noisewright.claims.figures import upward
    from noisewright.claims.phrases import OPEN
    from noisewright.ledger.export import changed, kept
    from noisewright.ledger.records import downward

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

    from noisewright.claims.figures import upward

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


SHOW_COMMAND = Command(show)


# Backup -------------------------------------------------------------------------------------------------------------------
#
# ``noisewright ledger backup``: a checked copy of a ledger.


def backup(
    file: Annotated[str, typer.Argument(metavar="LEDGER", help="The ledger.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The copy; nothing is overwritten.")],
    as_json: AsJson = False,
) -> None:
    """Copy a ledger to a new file, also while others use it, and check the copy before it gets its name.

    The copy holds the secret key too. Keep it where only you can read it.
    """
    from noisewright.ledger.export import back_up
    from noisewright.ledger.ledger import Ledger

    ledger = Ledger(file, create_missing=False)
    copy = back_up(ledger, target)
    found = copy.check()
    emit(
        {"ledger": str(ledger.path), "copy": str(copy.path), **asdict(found)},
        lambda: [heading(str(copy.path), "a whole copy, checked", "bold green"), facts(checked_facts(found))],
        as_json,
    )


BACKUP_COMMAND = Command(backup)
