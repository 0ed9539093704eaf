"""``noisewright release``: protect a table under a policy; table, answers, certificate, report and lock in one folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, get_args

import typer

from noisewright.cli.commands.plan import (
    Dataset,
    LedgerFile,
    PolicyFile,
    SeparatePeople,
    WitnessFile,
    changed_rows,
    check_order,
    data_of,
    default_ledger,
    dropped_row,
    order_row,
    parts_table,
    total_row,
    warnings_of,
)
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, Details, caution, counting, emit, facts, heading, plural, printable
from noisewright.releases.engines.engine import OutputFormat

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.releases.run import Release

__all__ = ["COMMAND", "release"]

FORMATS = get_args(OutputFormat)
MOST_ROWS, FEW_ROWS = 8, 3
"""Maximum number of rows of an answer shown with --details, and without; all of them are in its file."""


def release(
    policy: PolicyFile,
    data: Dataset = None,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Required. Where everything is written; it appears whole."
        ),
    ] = "",
    engine: Annotated[str, typer.Option(metavar="local|spark", help="Who does the work.")] = "local",
    master: Annotated[
        str | None, typer.Option(metavar="URL", help="Where Spark runs, such as local[2] or spark://host:7077.")
    ] = None,
    file_format: Annotated[
        str,
        typer.Option("--format", metavar="|".join(FORMATS), help="The format of the released table."),
    ] = "parquet",
    ledger: LedgerFile = None,
    witness: WitnessFile = None,
    separate_people: SeparatePeople = None,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", metavar="", help="Replace an earlier output in that folder, if nothing else lies in it."
        ),
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", metavar="", help="Draw anew although the output is there; costs the price again.")
    ] = False,
    raise_budget: Annotated[
        bool,
        typer.Option("--raise-budget", metavar="", help="Accept a larger budget than the ledger has; it is recorded."),
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="A simulation with this seed: repeatable, unrecorded, NOT for release."),
    ] = None,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Protect a table under a policy, and write the table, answers, certificate, report and lock.

    What to think about is said first, on stderr. Then the price is recorded in the ledger, and only then is anything drawn.
    If the folder already holds the release of these data under this policy, nothing is drawn and nothing is spent.
    """
    from noisewright.core.errors import ParameterError
    from noisewright.releases.policy.policy import Policy
    from noisewright.releases.run import release as run

    if not output:
        raise ParameterError("say where to write: -o FOLDER.")
    for name, value, allowed in (
        ("--engine", engine, ("local", "spark")),
        ("--format", file_format, FORMATS),
    ):
        if value not in allowed:
            raise ParameterError(f"{name} must be one of {', '.join(allowed)}, not {value!r}.")
    if master is not None and engine != "spark":
        raise ParameterError("--master is for Spark; add --engine spark.")
    _check_folder(output, file_format)
    check_order(policy, data)
    read = Policy.load(policy)
    with counting("releasing") as progress:
        done = run(
            read,
            data_of(read, data),
            output=output,
            ledger=ledger,
            engine=cast(Literal["local", "spark"], engine),
            master=master,
            format=cast(OutputFormat, file_format),
            seed=seed,
            replace=replace,
            again=again,
            raise_budget=raise_budget,
            witness=witness,
            separate_people=separate_people,
            progress=progress,
            warn=None if as_json or seed is not None else caution,
        )
    book = None if ledger is not None or read.ledger_path() is not None or done.simulated else default_ledger()
    emit(_document(done, output), lambda: _page(done, output, details, book), as_json)


def _document(done: Release, output: str) -> dict[str, Any]:
    from noisewright.releases.plan import left_over

    balance = done.balance
    return {
        **done.plan.to_json(),
        "warnings": list(done.warnings),
        "output": output,
        "rows": done.rows,
        "drawn": not done.reread,
        **({} if done.converted is None else {"copy_of": str(done.converted)}),
        "simulated": done.simulated,
        "left_epsilon": None if balance is None else left_over(balance.left_epsilon),
        "left_delta": None if balance is None else left_over(balance.left_delta),
        "certificate": done.certificate.digest,
        "answers": {name: table.to_pylist() for name, table in done.answers.items()},
    }


def _page(done: Release, output: str, details: bool, book: str | None = None) -> Iterable[RenderableType]:
    from noisewright.claims import phrases
    from noisewright.core.exact import upward
    from noisewright.releases.ledger.ledger import downward

    plan, counted = done.plan, plural(len(done.answers), "answer") if done.answers else ""
    what = " and ".join(filter(None, ["" if done.rows is None else f"{done.rows:,} rows", counted]))
    if done.converted is not None:
        yield heading(output, f"a copy of {done.converted} in another format; nothing is drawn, nothing is spent")
    elif done.reread:
        yield heading(output, "this release was made already; nothing is drawn, nothing is spent (--again draws anew)")
    elif done.simulated:
        yield heading(output, f"{what} SIMULATED, not for release", "yellow")
    else:
        yield heading(output, f"{what} released", "green")
    if details:
        yield parts_table(plan)
    yield from _answers(done, output, MOST_ROWS if details else FEW_ROWS)
    rows = [total_row(plan)]
    rows += [("Between", plan.between), ("In words", plan.in_words())]
    if (left := done.balance) is not None:
        delta = f", delta {downward(left.left_delta)} of {upward(left.delta)}" if left.delta else ""
        rows.append(("Budget", f"epsilon {downward(left.left_epsilon)} of {upward(left.epsilon)}{delta} left"))
    if book is not None:
        rows.append(("Ledger", f"{book}, that of this user; --ledger names another"))
    if plan.kept:
        rows.append(("Kept", f"{', '.join(plan.kept)}: {phrases.OPEN}"))
    rows += changed_rows(plan)
    rows += [dropped_row(plan)] if details else []
    rows += order_row(plan) if details or plan.order == "kept" else []
    rows.append(("Read", f"{output}/report.html"))
    rows.append(("Check", f"noisewright verify {output}"))
    said = " and, once more, what to think about" if done.reread and done.warnings else ""
    rows += [] if details else [("More", f"with --details: every part, its price and its error{said}")]
    yield facts(rows)
    if done.simulated or (done.reread and details):  # otherwise said already, before the privacy cost was paid
        yield from warnings_of(done.warnings)


def _answers(done: Release, output: str, most: int) -> Iterable[RenderableType]:
    """The answers with their intervals, as far as they fit on a screen."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from noisewright.releases.output.layout import answer_files
    from noisewright.releases.queries.readable import shown

    for (name, answer), file in zip(done.answers.items(), answer_files(done.plan), strict=True):
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
        head, rows = shown(answer, name, most)
        for title in head:
            table.add_column(Text(printable(title)), overflow="fold")
        for row in rows:
            table.add_row(*(Text(printable(cell)) for cell in row))
        yield Padding(table, (0, 0, 0, 2))
        if answer.num_rows > most:
            more = f"{most} of {answer.num_rows:,} rows; all are in {output}/{file}"
            yield Padding(Text(more, style="dim"), (0, 0, 0, 2))


def _check_folder(output: str, file_format: str) -> None:
    """Refuse the name of a table for a folder: anyone who gives one expects a file."""
    from noisewright.core.errors import ParameterError

    ending = next(
        (form for form in sorted(FORMATS, key=len, reverse=True) if output.lower().endswith(f".{form}")), None
    )
    if ending is not None and not os.path.isdir(output):
        folder = output[: -len(ending) - 1]
        raise ParameterError(
            f"{output} is the name of a file, and a release is a folder with a table, certificate and report; write -o {folder}"
            f"{'' if ending == file_format else f' --format {ending}'}."
        )


COMMAND = Command(release)
