"""``noisewright plan``: guarantee, privacy cost and accuracy of a release, without sampling anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.claims.phrases import OPEN
from noisewright.cli.shared.arguments import TABLES
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, emit, facts, heading, plural, printable, working, write_json

if TYPE_CHECKING:
    from fractions import Fraction

    from rich.console import RenderableType

    from noisewright.releases.curator.inspecting import Inspected
    from noisewright.releases.plan import Plan
    from noisewright.releases.policy.policy import Policy

__all__ = [
    "COMMAND",
    "Dataset",
    "LedgerFile",
    "PolicyFile",
    "SeparatePeople",
    "WitnessFile",
    "check_order",
    "data_of",
    "default_ledger",
    "order_row",
    "parts_table",
    "plan",
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
WitnessFile = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="A file that is told of every spend, besides that of this user, so that a restored old ledger is noticed.",
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
    from noisewright.core.errors import DataError, ParameterError
    from noisewright.core.exact import figure
    from noisewright.releases.curator.inspecting import NOT_PRIVATE, inspect_table
    from noisewright.releases.planning import plan as planned
    from noisewright.releases.policy.policy import Policy

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
    page = partial(_page, policy, found, solved, looked_at, book)
    emit({**found.to_json(), **own} if as_json else {}, page, as_json)


def default_ledger() -> str:
    """The ledger of this user, which is used where neither the command nor the policy names one."""
    from noisewright.releases.ledger.homes.address import default_path, shown

    return shown(default_path())


def data_of(policy: Policy, data: str | None) -> Any:
    """The data that a command is about: the argument, or the policy's choice."""
    from noisewright.core.errors import ParameterError

    found = data if data is not None else policy.data_path()
    if found is None:
        raise ParameterError('there are no data: name them after the policy, or say data = "visits.parquet" in it.')
    return found


def check_order(policy: str, data: str | None) -> None:
    """Refuse a table in the place of the policy where the policy is in its place."""
    from noisewright.core.errors import ParameterError

    if data is not None and data.lower().endswith(".toml") and not policy.lower().endswith(".toml"):
        raise ParameterError(f"the policy comes first, and then the table: {data} {policy}.")


def _targets(given: list[str]) -> dict[str, str]:
    from noisewright.core.errors import ParameterError

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

    from noisewright.releases.curator.inspecting import NOT_PRIVATE

    yield Padding(Text(NOT_PRIVATE, style="yellow"), (0, 0, 0, 2))
    for one in looked_at:
        yield Padding(Text(printable(str(one)), style="" if one.fine else "bold"), (0, 0, 0, 4))


def _refused(file: str, refusal: str, looked_at: Sequence[Inspected]) -> Iterable[RenderableType]:
    """Return the facts known about a table for which no plan exists."""
    yield heading(file, "nothing drawn")
    yield facts([("Data", f"this release would be REFUSED: {printable(refusal)}")])
    yield from _inspected(looked_at)


def _page(
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
    from noisewright.core.exact import upward
    from noisewright.releases.ledger.records import downward

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

    for caution in cautions:
        yield Padding(Text("Warning: ", style="yellow").append(printable(caution), style="default"), (0, 0, 0, 2))


COMMAND = Command(plan)
