"""``noisewright attack inference``: what a noisy count over a table discloses about the sensitive value of one new row."""

from __future__ import annotations

import csv
from collections.abc import Hashable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.commands.attack._tables import read_columns
from noisewright.cli.shared.arguments import TABLES
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.metrics import check_number
from noisewright.cli.shared.output import (
    AsJson,
    emit,
    facts,
    heading,
    label,
    plural,
    printable,
    round_up,
    wants_json,
    working,
)
from noisewright.cli.shared.targets import picture_file

if TYPE_CHECKING:
    from fractions import Fraction

    import pyarrow as pa
    from rich.console import RenderableType

    from noisewright.adversary.inference.new_row import NewRow, Outcome

__all__ = ["COMMAND"]

SUMMARY = "what a noisy count tells about a sensitive value that goes with what is counted"

NOT_PRIVATE = (
    "these numbers are computed from the table as it is, without noise, on this machine; they are not private themselves, so "
    "keep them as you keep the table."
)
NOMINAL = (
    "the useful values have no order of their own and were put in alphabetical order; geometric noise on their places depends on "
    "it. Give the order with --order, or use --noise response, which treats all values alike."
)
CODES = (
    "numbers count as neighbours in their order; if they are codes of things without an order, use --noise response."
)


def command(
    context: typer.Context,
    table: Annotated[
        str,
        typer.Argument(metavar="TABLE", help=f"The table: {TABLES}."),
    ],
    sensitive: Annotated[str, typer.Option(metavar="COLUMN", help="The column that should not be inferred.")],
    useful: Annotated[str, typer.Option(metavar="COLUMN", help="The column that the count is about.")],
    value: Annotated[str, typer.Option(metavar="VALUE", help="Rows with this value of the useful column are counted.")],
    epsilon: Annotated[str, typer.Option(metavar="E,E,...", help="The epsilons to try, such as 1,2,5.")],
    noise: Annotated[
        str,
        typer.Option(
            metavar="geometric|response",
            help="What each row's value goes through, for noise on each row. Default: geometric.",
            show_default=False,
        ),
    ] = "geometric",
    order: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="The useful values in the order in which they are neighbours."),
    ] = None,
    missing: Annotated[
        str,
        typer.Option(
            metavar="refuse|drop", help="What to do with rows without a value. Default: refuse.", show_default=False
        ),
    ] = "refuse",
    plot: Annotated[str | None, typer.Option(metavar="FILE.png", help="Draw privacy loss and utility there.")] = None,
    as_json: AsJson = False,
) -> None:
    """Find what a noisy count over a table would tell about the sensitive value of one new row.

    The table is known to the adversary, and so is how the two columns go together; one row is added. Noise goes on the count,
    or on the useful value of each row before counting. Privacy loss says how many times as likely the new row's sensitive value
    is guessed after the count; utility, how likely it is guessed whether the row was counted. Nothing is sampled, and nothing is
    released: the output is about your own data, and is not private itself.
    """
    from noisewright.adversary.inference.new_row import NOISES, NewRow
    from noisewright.core.choices import one_of

    one_of(noise, "--noise", NOISES)
    one_of(missing, "--missing", ("refuse", "drop"))
    budgets = _epsilons(epsilon)
    picture = picture_file(plot, alone=True)
    with working("counting"):
        read = read_columns(table, (sensitive, useful))
        wanted = None if order is None else _order(read, useful, order)
        counts = _count(read, sensitive, useful, wanted, missing)
        attack = NewRow.from_counts(counts, _label(value, counts.columns, "--value"))
        found = list(attack.sweep(budgets, noise))
        if picture is not None:
            from noisewright.plots.attack import draw_new_row
            from noisewright.plots.figure import save_figure

            save_figure(draw_new_row(attack, budgets, noise), picture)
    data = _document(table, sensitive, useful, value, noise, attack, counts.left_out, found)
    data["picture"] = None if picture is None else str(picture)
    emit(data, lambda: _page(data), wants_json(context, as_json))


# Reading -----------------------------------------------------------------------------------------------------------------


def _epsilons(text: str) -> list[Fraction]:
    from noisewright.core.exact import positive_fraction

    return [positive_fraction(check_number(part.strip(), "epsilon"), "epsilon") for part in text.split(",")]


def _count(read: pa.Table, sensitive: str, useful: str, order: Sequence[Hashable] | None, missing: str) -> Any:
    from noisewright.adversary.inference.cross_table import cross_table
    from noisewright.core.errors import DataError

    try:
        return cross_table(read, sensitive, useful, second_order=order, missing=missing)
    except DataError as problem:
        raise DataError(str(problem).replace("missing='drop'", "--missing drop")) from None


def _order(read: pa.Table, useful: str, text: str) -> list[Hashable]:
    """The values that ``--order`` names, as they are in the column; values that do not occur stay text."""
    from noisewright.core.errors import ParameterError

    present = read.column(useful).unique().drop_null().to_pylist()
    items = [item.strip() for item in next(csv.reader([text], skipinitialspace=True), [])]
    if not items or not all(items):
        raise ParameterError(f"--order = {text!r} must be a list of values such as low,middle,high.")
    return [_label(item, present, None) for item in items]


def _label(text: str, labels: Sequence[Hashable], option: str | None) -> Hashable:
    """The value that an option writes: numbers and moments by what they are, everything else by how it is written."""
    from noisewright.core.errors import ParameterError

    for known in labels:
        spelled = str(known).lower() if isinstance(known, bool) else str(known)
        if text == spelled or (isinstance(known, bool) and text.lower() == spelled):
            return known
    for known in labels:
        if isinstance(known, (int, float)) and not isinstance(known, bool) and _same_number(text, known):
            return known
        if isinstance(known, datetime) and _same_moment(text, known):
            return known
    if option is None:
        return text
    raise ParameterError(f"{option} names no value of the useful column; spell it as it is in the table.")


def _same_moment(text: str, known: datetime) -> bool:
    try:
        return datetime.fromisoformat(text) == known
    except ValueError:
        return False


def _same_number(text: str, known: float) -> bool:
    try:
        return float(check_number(text, "a value")) == known
    except ValueError:
        return False


# Showing -----------------------------------------------------------------------------------------------------------------


def _document(
    table: str,
    sensitive: str,
    useful: str,
    value: str,
    noise: str,
    attack: NewRow,
    left_out: int,
    found: list[tuple[Outcome, Outcome]],
) -> dict[str, Any]:
    from noisewright.claims.readings import ROWS

    limits, before = attack.limits, float(attack.correlation.prior.max())
    warnings = []
    if noise == "geometric" and len(attack.correlation.inputs) > 2:
        if attack.nominal:
            warnings.append(NOMINAL)
        elif any(isinstance(v, (int, float)) for v in attack.correlation.inputs):
            warnings.append(CODES)
    return {
        "table": table,
        "rows": sum(attack.rows),
        "left_out": left_out,
        "sensitive": sensitive,
        "useful": useful,
        "value": value,
        "noise": noise,
        "nominal": attack.nominal,
        "epsilon_per": {"count": ROWS["count"], "rows": ROWS[noise]},
        "guessed_before": before,
        "share_counted": attack.share,
        "minimum": {"privacy_loss": 1.0, "utility": limits.blind},
        "maximum": {"privacy_loss": limits.privacy_loss, "utility": 1.0},
        "full_leak": limits.full_leak,
        "results": [
            {**outcome.to_json(), "words": _words(outcome, sensitive, before)} for pair in found for outcome in pair
        ],
        "warnings": warnings,
        "private": False,
        "note": NOT_PRIVATE,
    }


def _words(outcome: Outcome, sensitive: str, before: float) -> str:
    """Describe the meaning of an outcome in one line."""
    counted = f"whether the row was counted: {_percent(outcome.utility)}"
    now, then = _percent(min(1.0, before * outcome.privacy_loss)), _percent(before)
    if now == then:
        return f"{label(sensitive)} is guessed no better than before; {counted}"
    return f"{label(sensitive)} is guessed {now} of the time instead of {then}; {counted}"


def _percent(chance: float) -> str:
    from noisewright.core.exact import figure

    return f"{figure(100 * chance, 3, 'nearest')} %"


def _page(data: dict[str, Any]) -> list[RenderableType]:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from noisewright.adversary.inference.new_row import PLACES

    least, most = data["minimum"], data["maximum"]
    names = label(data["sensitive"]), label(data["useful"]), label(data["value"])
    dropped = f"; {plural(data['left_out'], 'row')} without a value left out" if data["left_out"] else ""
    rows = [
        ("Table", f"{plural(data['rows'], 'row')}, known to the adversary; one more is added{dropped}"),
        ("Sensitive", f"{names[0]}: guessed {_percent(data['guessed_before'])} of the time before the count"),
        (
            "Counted",
            f"rows with {names[1]} = {names[2]}; the new row is one of them with probability {_percent(data['share_counted'])}",
        ),
    ]
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for title in ("Epsilon", "Noise", "Privacy loss", f"{names[0]} guessed", "Utility"):
        table.add_column(title, justify="left" if title == "Noise" else "right", no_wrap=title == "Noise")
    for i, found in enumerate(data["results"]):
        cells = (
            "" if i % 2 else round_up(found["epsilon"]),
            PLACES[found["place"]].removeprefix("noise "),
            f"{found['privacy_loss']:.3f}",
            _percent(min(1.0, data["guessed_before"] * found["privacy_loss"])),
            _percent(found["utility"]),
        )
        table.add_row(*(Text(printable(cell)) for cell in cells), end_section=bool(i % 2))
    ends = [
        (
            "Reading",
            f"privacy loss: how many times as often {names[0]} is guessed right as before the count; utility: how often it is "
            "guessed right whether the row was counted",
        ),
        (
            "Minimum",
            f"privacy loss 1 (nothing learned), utility {_percent(least['utility'])} (a blind guess): endless noise",
        ),
        ("Maximum", f"privacy loss {most['privacy_loss']:.3f}, utility 100 %: the count without noise"),
        ("Full leak", f"privacy loss {data['full_leak']:.3f}: telling {names[0]} outright"),
        ("Epsilon", f"on the count: {data['epsilon_per']['count']}; on each row: {data['epsilon_per']['rows']}"),
        *(("Note", text) for text in data["warnings"]),
        ("NOT private", data["note"]),
    ]
    if data["picture"]:
        ends.append(("Picture", f"drawn to {data['picture']}"))

    def shown(pairs: list[tuple[str, str]]) -> RenderableType:
        return facts((what, printable(text)) for what, text in pairs)

    first = heading(data["table"], "what a noisy count would tell about one new row")
    return [first, shown(rows), Text(""), table, Text(""), shown(ends)]


COMMAND = Command(command, summary=SUMMARY)
