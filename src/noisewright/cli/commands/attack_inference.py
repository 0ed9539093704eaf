"""``noisewright attack inference``: what a noisy count over a table discloses about the sensitive value of one new row."""

from __future__ import annotations

import csv
from collections.abc import Hashable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright._utils.validation import printable
from noisewright.cli.app import Command
from noisewright.cli.arguments import TABLES, check_number, picture_file
from noisewright.cli.commands.attack_disclosure import read_columns
from noisewright.render.text import AsJson, emit, facts, heading, label, plural, round_up, wants_json, working

if TYPE_CHECKING:
    from fractions import Fraction

    import pyarrow as pa
    from rich.console import RenderableType

    from noisewright.attacks.attribute_inference import Attack
    from noisewright.attacks.classifiers import Columns
    from noisewright.attacks.new_row import NewRow, Outcome
    from noisewright.learning.privatiser import GAPPrivatiser

__all__ = ["INFERENCE_COMMAND", "PRIVATE_ATTRIBUTE_COMMAND"]


INFERENCE_SUMMARY = "what a noisy count tells about a sensitive value that goes with what is counted"

COUNT_NOT_PRIVATE = (
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


def attack_inference(
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
    from noisewright._utils.validation import one_of
    from noisewright.attacks.new_row import NOISES, NewRow

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
            from noisewright.plotting.leakage import draw_new_row
            from noisewright.plotting.mechanisms import save_figure

            save_figure(draw_new_row(attack, budgets, noise), picture)
    data = _document(table, sensitive, useful, value, noise, attack, counts.left_out, found)
    data["picture"] = None if picture is None else str(picture)
    emit(data, lambda: _inference_page(data), wants_json(context, as_json))


# Reading -----------------------------------------------------------------------------------------------------------------


def _epsilons(text: str) -> list[Fraction]:
    from noisewright.numerics.exact import positive_fraction

    return [positive_fraction(check_number(part.strip(), "epsilon"), "epsilon") for part in text.split(",")]


def _count(read: pa.Table, sensitive: str, useful: str, order: Sequence[Hashable] | None, missing: str) -> Any:
    from noisewright.attacks.correlation import cross_table
    from noisewright.exceptions import DataError

    try:
        return cross_table(read, sensitive, useful, second_order=order, missing=missing)
    except DataError as problem:
        raise DataError(str(problem).replace("missing='drop'", "--missing drop")) from None


def _order(read: pa.Table, useful: str, text: str) -> list[Hashable]:
    """The values that ``--order`` names, as they are in the column; values that do not occur stay text."""
    from noisewright.exceptions import ParameterError

    present = read.column(useful).unique().drop_null().to_pylist()
    items = [item.strip() for item in next(csv.reader([text], skipinitialspace=True), [])]
    if not items or not all(items):
        raise ParameterError(f"--order = {text!r} must be a list of values such as low,middle,high.")
    return [_label(item, present, None) for item in items]


def _label(text: str, labels: Sequence[Hashable], option: str | None) -> Hashable:
    """The value that an option writes: numbers and moments by what they are, everything else by how it is written."""
    from noisewright.exceptions import ParameterError

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
        "note": COUNT_NOT_PRIVATE,
    }


def _words(outcome: Outcome, sensitive: str, before: float) -> str:
    """Describe the meaning of an outcome in one line."""
    counted = f"whether the row was counted: {_chance(outcome.utility)}"
    now, then = _chance(min(1.0, before * outcome.privacy_loss)), _chance(before)
    if now == then:
        return f"{label(sensitive)} is guessed no better than before; {counted}"
    return f"{label(sensitive)} is guessed {now} of the time instead of {then}; {counted}"


def _chance(chance: float) -> str:
    from noisewright.claims.figures import figure

    return f"{figure(100 * chance, 3, 'nearest')} %"


def _inference_page(data: dict[str, Any]) -> list[RenderableType]:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from noisewright.attacks.new_row import PLACES

    least, most = data["minimum"], data["maximum"]
    names = label(data["sensitive"]), label(data["useful"]), label(data["value"])
    dropped = f"; {plural(data['left_out'], 'row')} without a value left out" if data["left_out"] else ""
    rows = [
        ("Table", f"{plural(data['rows'], 'row')}, known to the adversary; one more is added{dropped}"),
        ("Sensitive", f"{names[0]}: guessed {_chance(data['guessed_before'])} of the time before the count"),
        (
            "Counted",
            f"rows with {names[1]} = {names[2]}; the new row is one of them with probability {_chance(data['share_counted'])}",
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
            _chance(min(1.0, data["guessed_before"] * found["privacy_loss"])),
            _chance(found["utility"]),
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
            f"privacy loss 1 (nothing learned), utility {_chance(least['utility'])} (a blind guess): endless noise",
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


INFERENCE_COMMAND = Command(attack_inference, summary=INFERENCE_SUMMARY)


# Private attribute --------------------------------------------------------------------------------------------------------
#
# ``noisewright attack private-attribute``: what fresh attackers guess of a private column from a released table.


PRIVATE_ATTRIBUTE_SUMMARY = (
    "what a released table tells about a private column, by attackers that learn from such releases"
)
NOT_PRIVATE = "These numbers are computed from the records themselves; keep them as you keep the records."
ORDER = "name with --key a column that both have, or put both in one order"
MODEL = ".nwm"
LEARNED = "if the privatiser learned from these rows, it may hide them better than others; attack it with rows that it never saw"
NO_BOUND = "No attacker here proves that nobody can do better: somebody cleverer, or who knows more, may find more."


def attack_private_attribute(
    context: typer.Context,
    original: Annotated[
        str, typer.Argument(metavar="ORIGINAL", help="The table before its release, with the private column.")
    ],
    released: Annotated[
        list[str],
        typer.Argument(
            metavar="RELEASED...",
            help="The released table, with the same rows in the same order; several, if it was released more than once. Or a "
            "saved privatiser (.nwm), which then releases ORIGINAL.",
        ),
    ],
    private: Annotated[str, typer.Option(metavar="COLUMN", help="The column of ORIGINAL that should not be guessed.")],
    columns: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="The columns of RELEASED that are seen. Default: all of them."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="A column that names each row in both, where the rows are in other orders."
        ),
    ] = None,
    bins: Annotated[
        int | None,
        typer.Option(metavar="N", help="Cut a private number into so many ranges of equal size.", min=2, max=50),
    ] = None,
    distortion: Annotated[
        str | None,
        typer.Option(metavar="D", help="Which budget of a saved privatiser that was trained for several."),
    ] = None,
    draws: Annotated[
        int, typer.Option(metavar="N", help="How often a saved privatiser releases every row.", min=1, max=100)
    ] = 5,
    seed: Annotated[int, typer.Option(metavar="N", help="The seed of attackers and draws.", min=0)] = 0,
    as_json: AsJson = False,
) -> None:
    """Attack a private column: attackers learn from some released rows whose private values they know, and guess the rest.

    Five of them, trained from scratch; the best is chosen on some rows and judged on others, beside a blind guess and the same
    attack on the original. Works on any release, whatever made it.
    """
    from noisewright.attacks.attribute_inference import attack_release, optimum_beside
    from noisewright.exceptions import DataError

    with working("reading"):
        before = _read(original)
        if private not in before.names:
            raise DataError(f"{Path(original).name} has no column {private!r}; name one that is in its header.")
        if released[0].lower().endswith(MODEL):
            if len(released) > 1 or key is not None:
                raise DataError(
                    "a saved privatiser is attacked alone, and needs no --key: it releases ORIGINAL itself."
                )
            made = _privatiser(released[0], distortion)
            seen = _drawn(made, before, private, released[0], columns, draws, seed)
            before = before.only([*(name for name in before.names if name in made.columns_.names), private])
        else:
            if distortion is not None:
                raise DataError("--distortion picks a budget of a saved privatiser (.nwm); a released table has none.")
            after = [_read(name) for name in released]
            if key is not None:
                before, *after = _in_order(key, (original, *released), [before, *after])
            seen = [_seen(t, name, before, private, key, columns) for t, name in zip(after, released, strict=True)]
    public = before.only([name for name in before.names if name not in (private, key)] or [private])
    with working("attacking"):
        try:
            found = attack_release(seen, before.values[private], original=public, bins=bins, seed=seed)
        except DataError as problem:
            raise DataError(str(problem).replace("(bins=4)", "with --bins 4")) from None
        assert found.distortion is not None
        shared = [name for name in public.names if name in seen[0].names]
        best = None
        if shared == list(public.names):
            best = optimum_beside(public, before.values[private], found.distortion.total, bins=bins)
    data = {
        "original": original,
        "released": list(released),
        "private_column": private,
        "columns": list(seen[0].names),
        **found.to_json(),
        "optimum": None if best is None else best.to_json(),
        "reading": found.in_words(label(private)),
        "private": False,
        "note": NOT_PRIVATE,
    }
    emit(
        data,
        lambda: _private_attribute_page(found, data, private, str(best) if best else None),
        wants_json(context, as_json),
    )


def _read(path: str) -> Columns:
    """All columns of a file."""
    from noisewright.attacks.classifiers import Columns
    from noisewright.tables.reading import table_of

    return Columns.of(table_of(path), Path(path).name)


def _privatiser(path: str, distortion: str | None) -> GAPPrivatiser:
    """The privatiser of one budget that a file holds."""
    from noisewright.claims.figures import numeral
    from noisewright.cli.arguments import check_number
    from noisewright.exceptions import ParameterError
    from noisewright.learning.privatiser import GAPPrivatiser
    from noisewright.numerics.exact import as_fraction

    made = GAPPrivatiser.load(path)
    if distortion is not None:
        return made.at(float(as_fraction(check_number(distortion, "--distortion"), "--distortion")))
    if len(made.points_) > 1:
        known = ", ".join(numeral(point.distortion) for point in made.points_)
        raise ParameterError(f"{Path(path).name} has several budgets ({known}); say which with --distortion.")
    return made


def _drawn(
    made: GAPPrivatiser, original: Columns, private: str, path: str, columns: str | None, draws: int, seed: int
) -> list[Columns]:
    """Several releases of the original by a saved privatiser."""
    import numpy as np

    from noisewright.attacks.classifiers import Columns
    from noisewright.exceptions import DataError

    names, hidden = list(made.columns_.names), [one.name for one in made.private_] if made.given == "xy" else []
    if len(hidden) == 1 and hidden[0] not in original.names:
        hidden = [private]  # it was fitted to an array, which has no name
    lacking = [name for name in (*names, *hidden) if name not in original.names or (name == private and name in names)]
    if lacking:
        shown = ", ".join(map(repr, lacking[:3])) + (", ..." if len(lacking) > 3 else "")
        raise DataError(
            f"the privatiser takes columns that the original has not ({shown}); give a table that has them."
        )
    rng, records = np.random.default_rng(seed), {name: original.values[name] for name in names}
    truth = {name: original.values[name] for name in hidden} or None
    tables = [Columns.of(made.release(records, truth, rng=rng), Path(path).name) for _ in range(draws)]
    return [_seen(table, path, original, private, None, columns) for table in tables]


def _seen(table: Columns, path: str, original: Columns, private: str, key: str | None, columns: str | None) -> Columns:
    """The columns of a release that attackers see."""
    from noisewright.exceptions import DataError

    name = Path(path).name
    if len(table) != len(original):
        raise DataError(
            f"{name} has {len(table)} rows and the original {len(original)}; give the table that was released, or say with "
            "--key which column names the rows."
        )
    if columns is not None:
        wanted = list(dict.fromkeys(part.strip() for part in columns.split(",") if part.strip()))
        if private in wanted:
            raise DataError(f"--columns names {private!r}, which is to be guessed and not to be seen; leave it out.")
        lacking = [part for part in wanted if part not in table.names]
        if lacking or not wanted:
            raise DataError(
                f"{name} has no column {', '.join(map(repr, lacking)) or 'of --columns'}; name some of its header."
            )
        return table.only(wanted)
    others = [part for part in table.names if part not in original.names]
    if others:
        shown = ", ".join(map(repr, others[:3])) + (", ..." if len(others) > 3 else "")
        raise DataError(
            f"{name} has columns that the original has not ({shown}); give the table it was made from, or name with --columns "
            "what is seen."
        )
    return table.only([part for part in table.names if part != key] or [private])


def _in_order(key: str, paths: tuple[str, ...], tables: list[Columns]) -> list[Columns]:
    """The tables sorted by the column that names their rows: those rows that all of them have."""
    import numpy as np

    from noisewright.exceptions import DataError

    for path, table in zip(paths, tables, strict=True):
        if key not in table.names:
            raise DataError(f"{Path(path).name} has no column {key!r}; name one that both tables have.")
        if len(np.unique(table.values[key])) != len(table):
            raise DataError(f"{Path(path).name}: the column {key!r} has a value twice, so it does not name the rows.")
    common = tables[0].values[key]
    for table in tables[1:]:
        common = np.intersect1d(common, table.values[key])
    if not len(common):
        raise DataError(f"no row of the release has the same {key!r} as one of the original; name another column.")
    found = []
    for table in tables:
        mine = np.flatnonzero(np.isin(table.values[key], common))
        found.append(table.rows(mine[np.argsort(table.values[key][mine], kind="stable")]))
    return found


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _private_attribute_page(
    found: Attack, data: dict[str, Any], private: str, optimum: str | None
) -> list[RenderableType]:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    assert found.raw is not None
    learned, chosen, held = found.records
    best, raw = found.accuracy, found.raw.accuracy
    surely = "better than a blind guess" if found.finds_something else "not surely better than a blind guess"
    rows = [
        *(("Caution", text.replace("put both in one order first", ORDER)) for text in found.cautions),
        (
            "Best attacker",
            f"{found.best}: right {_percent(best.value)} of the time ({_percent(best.low)} to {_percent(best.high)}), {surely}",
        ),
        (
            "Blind guess",
            f"right {_percent(found.prior)} of the time: always the most frequent of {found.classes} values",
        ),
        (
            "Original",
            f"right {_percent(raw.value)} of the time ({_percent(raw.low)} to {_percent(raw.high)}) by {found.raw.best}",
        ),
    ]
    if found.kept is not None:
        rows.append(("What is left", f"{100 * found.kept:.0f} % of what the original gives beyond a blind guess"))
    least, likely = max(found.information.low, 0.0), max(found.information.value, 0.0)
    rows.append(("Told", f"at least {least:.3f} of {found.entropy:.3f} nats (about {likely:.3f}, by {found.surest})"))
    assert found.distortion is not None
    rows.append(("Distortion", f"{found.distortion}; numbers in variances, words in shares that changed"))
    if optimum is not None:
        rows.append(("Best possible", f"a guess right {optimum}"))
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("Attacker")
    for title in ("right", "cross-entropy", "right on the original"):
        table.add_column(title, justify="right", no_wrap=True)
    for one, other in zip(found.tried, found.raw.tried, strict=True):
        chosen_mark = " *" if one.name == found.best else ""
        table.add_row(
            one.name + chosen_mark, _percent(one.accuracy), f"{one.cross_entropy:.3f}", _percent(other.accuracy)
        )
    draws = f", {plural(found.draws, 'draw')} of each" if found.draws > 1 else ""
    how = (
        f"learned from {plural(learned, 'row')}{draws}; the table is of {chosen} others, by which * was chosen; what is said "
        f"above it is of {held} more, by which nothing was chosen"
    )
    ends = [
        ("How", how),
        *([("Caution", LEARNED)] if data["released"][0].lower().endswith(MODEL) else []),
        ("No bound", NO_BOUND),
        ("NOT private", NOT_PRIVATE),
    ]
    names = ", ".join(Path(name).name for name in data["released"])
    first = heading(names, f"{label(private)} is guessed right {_percent(best.value).replace(' %', '%')} of the time")
    return [
        first,
        facts((name, printable(text)) for name, text in rows),
        Text(""),
        table,
        Text(""),
        facts((name, printable(text)) for name, text in ends),
    ]


PRIVATE_ATTRIBUTE_COMMAND = Command(attack_private_attribute, summary=PRIVATE_ATTRIBUTE_SUMMARY)
