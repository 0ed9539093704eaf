"""``noisewright ledger``: what was spent of every budget, for people and for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.shared.commands import Command, Group
from noisewright.cli.shared.output import AsJson, emit, facts, heading, label, plural, printable, working

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.releases.ledger.ledger import Balance, Entry, Ledger
    from noisewright.releases.ledger.records import Checked
    from noisewright.releases.output.recorded import FolderRecord

__all__ = ["app"]

WORDS = [
    ("Epsilon", "what is released changes the odds between the two by a factor of at most e^epsilon; all parts add up"),
    ("Delta", "an extra probability that any event may have beyond that"),
    (
        "State",
        "finished: the output is complete; started: it broke off or still runs, and counts, as it may have been drawn",
    ),
]
"""The columns of the table that are not plain words."""

app = typer.Typer(
    name="ledger",
    cls=Group,
    help="Show, export, copy or check a ledger: the budget of every dataset, and what its releases have spent of it.",
    add_completion=False,
)


@app.callback(invoke_without_command=True)
def _alone(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


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

    ledger = _open(file)
    names = ledger.datasets() if dataset is None else [dataset]
    found = {"ledger": str(ledger.path), **document(ledger, names)}
    emit(found, lambda: _page(ledger, names), as_json)


def export(
    file: Annotated[str, typer.Argument(metavar="LEDGER", help="The ledger.")],
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="A .csv (one row for each part of each release) or .json."),
    ],
    as_json: AsJson = False,
) -> None:
    """Write a ledger to a .csv or a .json file, without its secret key and without anything about single units."""
    from noisewright.releases.ledger.export import export as write

    ledger = _open(file)
    written = write(ledger, output)
    entries = sum(len(ledger.entries(name)) for name in ledger.datasets())
    emit(
        {"ledger": str(ledger.path), "output": str(written), "datasets": len(ledger.datasets()), "entries": entries},
        lambda: [heading(str(written), f"written, with {plural(entries, 'recorded part')}")],
        as_json,
    )


def backup(
    file: Annotated[str, typer.Argument(metavar="LEDGER", help="The ledger.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The copy; nothing is overwritten.")],
    as_json: AsJson = False,
) -> None:
    """Copy a ledger to a new file, also while others use it, and check the copy before it gets its name.

    The copy holds the secret key too. Keep it where only you can read it.
    """
    from noisewright.releases.ledger.backup import back_up

    ledger = _open(file)
    copy = back_up(ledger, target)
    found = copy.check()
    emit(
        {"ledger": str(ledger.path), "copy": str(copy.path), **asdict(found)},
        lambda: [heading(str(copy.path), "a whole copy, checked", "bold green"), facts(_checked(found))],
        as_json,
    )


def check(
    file: Annotated[str, typer.Argument(metavar="LEDGER", help="The ledger.")],
    folders: Annotated[
        list[str] | None, typer.Argument(metavar="FOLDER", help="Folders of releases that it recorded.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check that a ledger is whole: every page, every record in its chain, every account.

    The lock of each release keeps the head that the chain had. A ledger that was replaced by an older copy does not know it, so
    name the folders of releases to find that out. A release whose process was killed in its very last step is completed.
    Ends with code 0 only when everything agrees.
    """
    from noisewright.releases.output.recorded import check_record

    with working("checking"):
        ledger = _open(file)
        results = [check_record(folder, ledger) for folder in folders or []]
        found = ledger.check()
    agrees = all(result.problem is None for result in results)
    emit(
        {
            "ledger": str(ledger.path),
            "agrees": agrees,
            **asdict(found),
            "folders": [asdict(result) for result in results],
        },
        lambda: [
            heading(str(ledger.path), "whole" if agrees else "NOT the ledger of every folder", _colour(agrees)),
            facts(_checked(found)),
            *(part for result in results for part in _folder(result)),
        ],
        as_json,
    )
    if not agrees:
        raise typer.Exit(1)


def _checked(found: Checked) -> list[tuple[str, str]]:
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


def _open(file: str | None) -> Ledger:
    from noisewright.releases.ledger.ledger import Ledger

    return Ledger(file, create_missing=False)


def _page(ledger: Ledger, names: list[str]) -> list[RenderableType]:
    from rich.text import Text

    parts: list[RenderableType] = [heading(str(ledger.path), f"ledger of {plural(len(names), 'dataset')}")]
    for name in names:
        balance, entries = ledger.remaining(name), ledger.entries(name)
        parts += [Text(""), heading(name), facts(_budget(ledger, balance))]
        if entries:
            parts += [Text(""), _table(entries)]
    if any(ledger.entries(name) for name in names):
        parts += [Text(""), facts(WORDS)]
    return parts


def _budget(ledger: Ledger, balance: Balance) -> list[tuple[str, str]]:
    from noisewright.core.exact import upward
    from noisewright.releases.ledger.export import kept
    from noisewright.releases.ledger.ledger import downward

    def amount(epsilon: Any, delta: Any, spell: Any) -> str:
        return f"epsilon {spell(epsilon)}, delta {spell(delta)}"

    protected = [f"{' with '.join(map(label, p.columns))}: {p.words}" for p in ledger.protections(balance.dataset)]
    given_away = kept(ledger.entries(balance.dataset))
    single = balance.scope == "unit"
    of_one = ", for each unit on its own" if single else ""
    rows = [
        ("Budget", amount(balance.epsilon, balance.delta, downward) + of_one),
        ("Between", printable(balance.between)),
        *([("Protected", printable("; ".join(protected)))] if protected else []),
        *(
            [("NOT protected", printable(f"{', '.join(map(label, given_away))}: released as it is"))]
            if given_away
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
        changed = amount(event.epsilon, event.delta, downward)
        rows.append((f"Budget {event.event}", f"{_time(event.time)} UTC, to {changed}"))
    return rows


def _table(entries: list[Entry]) -> RenderableType:
    """One row for each part of each release; the epsilon never without the values that it is between."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from noisewright.core.exact import upward

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for title in ("Time (UTC)", "Release", "Part", "Epsilon", "Between", "Delta", "State"):
        right = title in ("Epsilon", "Delta")
        table.add_column(title, justify="right" if right else "left", overflow="fold", no_wrap=title == "State")
    before = None
    for entry in entries:
        again = entry.release_id == before
        cells = (
            "" if again else _time(entry.time),
            "" if again else label(entry.release_id),
            f"{label(entry.name)} ({entry.kind})",
            "no bound" if entry.kind == "kept" else upward(entry.epsilon),
            entry.guarantee or "not stated",
            "" if entry.kind == "kept" else upward(entry.delta),
            "" if again else entry.state,
        )
        table.add_row(*(Text(printable(cell)) for cell in cells))
        before = entry.release_id
    return table


def _time(stamp: str) -> str:
    return stamp[:16].replace("T", " ")


app.command("show", cls=Command)(show)
app.command("export", cls=Command)(export)
app.command("backup", cls=Command)(backup)
app.command("check", cls=Command)(check)
