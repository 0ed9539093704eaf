"""``noisewright plan``: guarantee, privacy cost and accuracy of a release, without sampling anything."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, get_args

import typer

from noisewright._utils.validation import OutputFormat, printable
from noisewright.claims.phrases import OPEN
from noisewright.cli.app import Command
from noisewright.cli.arguments import TABLES, WitnessFile, target_file
from noisewright.render.text import (
    AsJson,
    Details,
    block,
    caution,
    counting,
    emit,
    facts,
    heading,
    labels,
    plural,
    working,
    write_json,
)

if TYPE_CHECKING:
    from fractions import Fraction

    from rich.console import RenderableType

    from noisewright.policy.policy import Policy
    from noisewright.releases.checks import Inspected
    from noisewright.releases.plan import Plan
    from noisewright.releases.policy_template import Start
    from noisewright.releases.release import Release

__all__ = [
    "INIT_COMMAND",
    "PLAN_COMMAND",
    "RELEASE_COMMAND",
    "Dataset",
    "LedgerFile",
    "PolicyFile",
    "SeparatePeople",
    "check_order",
    "data_of",
    "default_ledger",
    "init",
    "order_row",
    "parts_table",
    "plan",
    "release",
    "total_row",
    "warnings_of",
]


PolicyFile = Annotated[str, typer.Argument(metavar="POLICY", help="The policy, a TOML file.")]
Dataset = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA",
        help=f"The table: {TABLES}. Default: the policy's data.",
        show_default=False,
    ),
]
LedgerFile = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="LEDGER",
        help="A file, or postgresql://USER@HOST/DATABASE. Default: the policy's ledger, or that of this user.",
    ),
]
SeparatePeople = Annotated[
    str | None,
    typer.Option(
        metavar="REASON",
        help="Why data that were released under another dataset name are about other people here; it is recorded.",
    ),
]


def plan(
    policy: Annotated[str | None, typer.Argument(metavar="POLICY", help="The policy, a TOML file.")] = None,
    data: Dataset = None,
    target_error: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=ERROR",
            help="Find the smallest epsilon with which a column or answer has this expected error. Can be repeated.",
        ),
    ] = None,
    ledger: LedgerFile = None,
    witness: WitnessFile = None,
    separate_people: SeparatePeople = None,
    raise_budget: Annotated[
        bool,
        typer.Option(
            "--raise-budget", metavar="", help="Plan a release that accepts a larger budget than the ledger has."
        ),
    ] = False,
    inspect: Annotated[
        bool,
        typer.Option(
            "--inspect",
            metavar="",
            help="Also say which columns have how many missing, undeclared or out-of-range values. NOT private.",
        ),
    ] = False,
    schema: Annotated[
        bool, typer.Option("--schema", metavar="", help="Print the JSON schema of policies and end.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what a release would promise, cost and do to accuracy. Nothing is drawn, nothing is spent.

    With --target-error, solve for the epsilon that reaches a wanted accuracy, for example --target-error age=2.5.
    """
    from noisewright.claims.figures import figure
    from noisewright.exceptions import DataError, ParameterError
    from noisewright.policy.policy import Policy
    from noisewright.releases.checks import NOT_PRIVATE, inspect_table
    from noisewright.releases.release import plan as planned

    if schema:
        write_json(Policy.schema())
        return
    if policy is None:
        raise ParameterError("name a policy file: noisewright plan POLICY [DATA]; --schema prints what it may say.")
    check_order(policy, data)
    with working("planning"):
        read = Policy.load(policy)
        looked_at = inspect_table(read, data_of(read, data)) if inspect else None
        own: dict[str, Any] = (
            {} if looked_at is None else {"inspected": [one.to_json() for one in looked_at], "not_private": NOT_PRIVATE}
        )
        try:
            wanted = _targets(target_error or [])
            found = planned(
                read,
                data_of(read, data),
                ledger=ledger,
                target_error=wanted,
                raise_budget=raise_budget,
                witness=witness,
                separate_people=separate_people,
            )
        except DataError as problem:
            if looked_at is None:
                raise
            refusal = str(problem)  # the owner asks for the reason of a refusal
            emit({"fits": False, "refusal": refusal, **own}, lambda: _refused(policy, refusal, looked_at), as_json)
            return
    book = None if ledger is not None or read.ledger_path() is not None else default_ledger()
    solved = {name: figure(float(epsilon), 6, "nearest") for name, epsilon in _epsilons(found, wanted)}
    own |= {"solved": solved} if solved else {}
    page = partial(_plan_page, policy, found, solved, looked_at, book)
    emit({**found.to_json(), **own} if as_json else {}, page, as_json)


def default_ledger() -> str:
    """The ledger of this user, which is used where neither the command nor the policy names one."""
    from noisewright.ledger.database import default_path, shown

    return shown(default_path())


def data_of(policy: Policy, data: str | None) -> Any:
    """The data that a command is about: the argument, or the policy's choice."""
    from noisewright.exceptions import ParameterError

    found = data if data is not None else policy.data_path()
    if found is None:
        raise ParameterError('there are no data: name them after the policy, or say data = "visits.parquet" in it.')
    return found


def check_order(policy: str, data: str | None) -> None:
    """Refuse a table in the place of the policy where the policy is in its place."""
    from noisewright.exceptions import ParameterError

    if data is not None and data.lower().endswith(".toml") and not policy.lower().endswith(".toml"):
        raise ParameterError(f"the policy comes first, and then the table: {data} {policy}.")


def _targets(given: list[str]) -> dict[str, str]:
    from noisewright.exceptions import ParameterError

    found = {}
    for text in given:
        name, equals, wanted = text.rpartition("=")
        if not equals or not name.strip():
            raise ParameterError(f"--target-error {text!r} must be a name and an error, such as age=2.5.")
        found[name.strip()] = wanted.strip()
    return found


def _epsilons(found: Plan, wanted: Iterable[str]) -> Iterable[tuple[str, Fraction]]:
    """Return the epsilon that a policy states for each of these parts; the privacy cost is more where a unit has
    several rows.
    """
    named = {",".join(column.names): column.epsilon for column in found.policy.columns}
    named |= {query.name: query.epsilon for query in found.policy.queries if query.name not in named}
    return [(name, epsilon) for name in wanted if (epsilon := named.get(name)) is not None]


def _inspected(looked_at: Sequence[Inspected]) -> Iterable[RenderableType]:
    """The owner's view of the table."""
    from rich.padding import Padding
    from rich.text import Text

    from noisewright.releases.checks import NOT_PRIVATE

    yield Padding(Text(NOT_PRIVATE, style="yellow"), (0, 0, 0, 2))
    for one in looked_at:
        yield Padding(Text(printable(str(one)), style="" if one.fine else "bold"), (0, 0, 0, 4))


def _refused(file: str, refusal: str, looked_at: Sequence[Inspected]) -> Iterable[RenderableType]:
    """Return the facts known about a table for which no plan exists."""
    yield heading(file, "nothing drawn")
    yield facts([("Data", f"this release would be REFUSED: {printable(refusal)}")])
    yield from _inspected(looked_at)


def _plan_page(
    file: str,
    found: Plan,
    solved: Mapping[str, str],
    looked_at: Sequence[Inspected] | None = None,
    book: str | None = None,
) -> Iterable[RenderableType]:
    from rich.text import Text

    verdict = f"{plural(len(found.parts), 'part')}, nothing drawn"
    yield heading(file, verdict)
    yield parts_table(found, bool(solved))
    yield facts(
        [
            total_row(found),
            ("Between", found.between),
            ("In words", found.in_words()),
            *measured_rows(found),
            *_data_rows(found, looked_at is not None),
            _budget_row(found),
            *([] if book is None else [("Ledger", f"{book}, that of this user; --ledger names another")]),
            ("Kept", f"{', '.join(found.kept)} ({OPEN})" if found.kept else "nothing"),
            *changed_rows(found),
            dropped_row(found),
            *order_row(found),
        ]
    )
    yield from warnings_of(found.warnings)
    if looked_at is not None:
        yield from _inspected(looked_at)
    if solved:
        named = ", ".join(f"epsilon = {epsilon} for {printable(name)}" for name, epsilon in solved.items())
        yield Text(f"To reach the wanted errors, write into the policy: {named}.")


def changed_rows(found: Plan) -> list[tuple[str, str]]:
    """Return the rows about changes without an epsilon, and the guarantee in its place."""
    return [
        (
            "No epsilon",
            f"{', '.join(map(printable, column.names))}: learned, {column.error_words}. {column.context_aware}",
        )
        for column in found.context_aware
    ]


def measured_rows(found: Plan) -> list[tuple[str, str]]:
    """Return the rows about the meaning of epsilons on public data, where that was measured."""
    from noisewright.releases.plan import title

    return [(f"Of {title(column)}", "; ".join(column.measured)) for column in found.columns if column.measured]


def parts_table(found: Plan, solved: bool = False) -> RenderableType:
    """Return one line for every part: its column, mechanism, privacy cost, protected values, and the error of answers."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    head, rows = found.listed_parts(3 if solved else 6)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in head:
        whole = name in ("mechanism", "epsilon")  # not broken, however narrow the page: the others are
        table.add_column(name, justify="right" if name == "epsilon" else "left", overflow="fold", no_wrap=whole)
    for row in rows:
        table.add_row(*(Text(printable(text).replace(" %", "%")) for text in row))
    return Padding(table, (0, 0, 0, 2))


def total_row(found: Plan) -> tuple[str, str]:
    """Return the row with the privacy cost of all parts together, rounded up."""
    return ("Total", found.total)


def dropped_row(found: Plan) -> tuple[str, str]:
    """Return the row of columns not released row by row; no column is mentioned that the policy does not name."""
    if not found.columns:
        return "Dropped", "every column"
    named = [
        f"{printable(n)} (used only for answers)" if n in found.only_answers else printable(n) for n in found.dropped
    ]
    return "Dropped", ", ".join([*named, "every column that the policy does not name"])


def order_row(found: Plan) -> list[tuple[str, str]]:
    """Return the order in which the rows are released, if there are any."""
    words = {"random": "of the rows: random", "kept": f"of the rows: that of the table ({OPEN})", None: ""}[found.order]
    return [("Order", words)] if words else []


def _data_rows(found: Plan, inspected: bool) -> list[tuple[str, str]]:
    """Return the reason why the data could not be released as they are, if any, and the command that reports more."""
    if found.refusal is None:
        return []
    more = [] if inspected else [("", "--inspect counts such values, column by column, for the owner's eyes alone")]
    return [("Data", f"this release would be REFUSED: {printable(found.refusal)}"), *more]


def _budget_row(found: Plan) -> tuple[str, str]:
    """The budget, the rest of it, and whether the ledger would take this release; if not, why."""
    from noisewright.claims.figures import upward
    from noisewright.ledger.records import downward

    budget, left = found.policy.budget, found.budget
    assert left is not None
    if left.refusal is not None:
        return ("Budget", f"this release does NOT fit: {printable(left.refusal)}")
    spent = ", nothing spent yet"
    if left.recorded:
        left_delta = f" and delta {downward(left.delta)}" if budget.delta else ""
        spent = f", {downward(left.epsilon)}{left_delta} left"
    delta = f" and delta {upward(budget.delta)}" if budget.delta else ""
    fits = "this release fits" if found.fits else "enough for this release"
    return ("Budget", f"epsilon {upward(budget.epsilon)}{delta} for {found.policy.dataset!r}{spent}: {fits}")


def warnings_of(cautions: Iterable[str]) -> Iterable[RenderableType]:
    """Return the warnings that a person should think about."""
    from rich.padding import Padding
    from rich.text import Text

    for one in cautions:
        yield Padding(Text("Warning: ", style="yellow").append(printable(one), style="default"), (0, 0, 0, 2))


PLAN_COMMAND = Command(plan)


# Init ---------------------------------------------------------------------------------------------------------------------
#
# ``noisewright init``: a policy to start from, from the names and types of a table's columns.


def init(
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help=f"The table: {TABLES}.",
            show_default=False,
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE.toml", help="Where the policy is written. Default: the screen."),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(metavar="NAME", help="The name in the ledger. Default: that of the file.")
    ] = None,
    from_data: Annotated[
        bool,
        typer.Option(
            "--from-data",
            metavar="",
            help="Copy ranges and categories from the data. They tell values of people; the policy says so.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a starting policy for a table: a mechanism, a distance and a part of the budget for every column.

    Ranges and categories are left to fill in, because a policy is published and may hold only what is known without the data.
    Of a table with types nothing is looked at but its schema; the types of CSV columns are guessed from their first cells.
    """
    from noisewright.io.atomic import write_atomically
    from noisewright.releases.policy_template import starting_policy

    target = None if output is None else target_file(output, "a policy", (".toml",), new=True)
    with working("looking at the columns"):
        start = starting_policy(table, dataset=dataset, from_data=from_data)
    if target is not None:
        write_atomically(target, start.text.encode())
    document = {
        "output": output,
        "columns": list(start.columns),
        "left_out": list(start.left_out),
        "to_fill_in": start.waiting,
        "types_guessed": start.guessed,
        "from_data": start.from_data,
        "policy": start.text,
    }
    emit(document, lambda: _init_page(table, output, start), as_json)


def _init_page(table: str, output: str | None, start: Start) -> Iterable[RenderableType]:
    if output is None:
        yield block(start.text.rstrip("\n"))
        return
    yield heading(output, f"a starting policy for {plural(len(start.columns), 'column')} of {table}", "green")
    rows = [("To fill in", f'{plural(start.waiting, "place")} that say{"s" if start.waiting == 1 else ""} "FILL IN"')]
    if start.from_data:
        rows.append(("WARNING", "ranges and categories were copied from the data: they tell values of people in it"))
    if start.guessed:
        rows.append(("Types", "guessed from the cells; confirm them in the policy"))
    reasons: dict[str, list[str]] = {}
    for column in start.proposals:
        if column.mechanism is None:
            reasons.setdefault(column.words, []).extend(column.names)
    rows += [("Left out", f"{labels(names)} ({reason})") for reason, names in reasons.items()]
    rows.append(("Next", f"noisewright plan {output} {table}"))
    yield facts(rows)


INIT_COMMAND = Command(init)


# Release ------------------------------------------------------------------------------------------------------------------
#
# ``noisewright release``: protect a table under a policy; table, answers, certificate, report and lock in one folder.


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
    from noisewright.exceptions import ParameterError
    from noisewright.policy.policy import Policy
    from noisewright.releases.release import release as run

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
    emit(_document(done, output), lambda: _release_page(done, output, details, book), as_json)


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


def _release_page(done: Release, output: str, details: bool, book: str | None = None) -> Iterable[RenderableType]:
    from noisewright.claims import phrases
    from noisewright.claims.figures import upward
    from noisewright.ledger.records import downward

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

    from noisewright.queries.answers import shown
    from noisewright.releases.certificate import answer_files

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
    from noisewright.exceptions import ParameterError

    ending = next(
        (form for form in sorted(FORMATS, key=len, reverse=True) if output.lower().endswith(f".{form}")), None
    )
    if ending is not None and not os.path.isdir(output):
        folder = output[: -len(ending) - 1]
        raise ParameterError(
            f"{output} is the name of a file, and a release is a folder with a table, certificate and report; write -o {folder}"
            f"{'' if ending == file_format else f' --format {ending}'}."
        )


RELEASE_COMMAND = Command(release)
