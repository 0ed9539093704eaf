"""``noisewright attack private-attribute``: what fresh attackers guess of a private column from a released table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, emit, facts, heading, label, plural, printable, wants_json, working

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.learned.evaluation.found import Attack
    from noisewright.learned.evaluation.tables import Columns
    from noisewright.learned.privatiser import GAPPrivatiser

__all__ = ["COMMAND"]

SUMMARY = "what a released table tells about a private column, by attackers that learn from such releases"
NOT_PRIVATE = "These numbers are computed from the records themselves; keep them as you keep the records."
ORDER = "name with --key a column that both have, or put both in one order"
MODEL = ".nwm"
LEARNED = "if the privatiser learned from these rows, it may hide them better than others; attack it with rows that it never saw"
NO_BOUND = "No attacker here proves that nobody can do better: somebody cleverer, or who knows more, may find more."


def command(
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
    from noisewright.core.errors import DataError
    from noisewright.learned.evaluation import attack_release, optimum_beside

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
    emit(data, lambda: _page(found, data, private, str(best) if best else None), wants_json(context, as_json))


def _read(path: str) -> Columns:
    """All columns of a file."""
    from noisewright.learned.evaluation.tables import Columns
    from noisewright.releases.sources.open import table_of

    return Columns.of(table_of(path), Path(path).name)


def _privatiser(path: str, distortion: str | None) -> GAPPrivatiser:
    """The privatiser of one budget that a file holds."""
    from noisewright.cli.shared.metrics import check_number
    from noisewright.core.errors import ParameterError
    from noisewright.core.exact import as_fraction, numeral
    from noisewright.learned.privatiser import GAPPrivatiser

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

    from noisewright.core.errors import DataError
    from noisewright.learned.evaluation.tables import Columns

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
    from noisewright.core.errors import DataError

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

    from noisewright.core.errors import DataError

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


def _page(found: Attack, data: dict[str, Any], private: str, optimum: str | None) -> list[RenderableType]:
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


COMMAND = Command(command, summary=SUMMARY)
