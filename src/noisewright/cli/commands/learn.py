"""``noisewright learn optimum``: the mechanism that hides a private value best within a distortion budget, with its bound."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright._utils.validation import printable
from noisewright.claims.readings import NO_EPSILON
from noisewright.cli.app import Command
from noisewright.cli.arguments import check_number, target_file
from noisewright.render.text import (
    AsJson,
    at_most,
    chance,
    counting,
    emit,
    facts,
    heading,
    labels,
    plural,
    say,
    working,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.context_aware.games import ContextMechanism
    from noisewright.learning.privatiser import GAPPrivatiser

__all__ = ["OPTIMUM_COMMAND", "TRAIN_COMMAND", "optimum", "train"]


MOST_ROWS_SHOWN = 8
"""Mechanisms with at most this many rows and outputs are shown."""


def optimum(
    joint: Annotated[
        str,
        typer.Argument(
            metavar="JOINT.csv",
            help="How likely each pair is: a row for each public value, a column for each private one, names first. "
            "Probabilities, or counts. It must be public.",
        ),
    ],
    distortion: Annotated[
        str, typer.Option(metavar="D", help="The expected distortion that is allowed. Exact: 0.1 or 1/3.")
    ],
    loss: Annotated[
        str,
        typer.Option(
            metavar="LOSS",
            help="What the adversary is after: zero-one (guess right), log (know most, in nats), alpha:ORDER between them, or "
            "squared (guess a number).",
        ),
    ] = "zero-one",
    given: Annotated[
        str, typer.Option(metavar="x|xy", help="What the mechanism is given: the public value alone, or both.")
    ] = "x",
    distance: Annotated[
        str,
        typer.Option(
            metavar="hamming|squared|table:FILE.csv",
            help="The distortion of an output: 1 where it differs, the squared difference of numbers, or a table with a row for "
            "each public value and a column for each output.",
        ),
    ] = "hamming",
    ties: Annotated[
        str,
        typer.Option(
            metavar="distortion|information", help="Of several mechanisms that are best against guesses: which."
        ),
    ] = "distortion",
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the mechanism as a channel: .json, .csv or .npz."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find the mechanism that hides a private value best within a distortion budget, and show how much better any could be.

    It promises something about the stated population on average, and is no differential privacy.
    """
    from noisewright.context_aware.closed_forms import independence_budget, saturation_budget
    from noisewright.context_aware.games import FiniteGame
    from noisewright.io.serialization import save

    target = None if output is None else target_file(output, "a channel", (".json", ".csv", ".npz"))
    law = _law(joint)
    outputs, costs = _distance(distance, law)
    with working("solving"):
        game = FiniteGame(law, costs, outputs=outputs, given=given)
        made = game.optimum(check_number(distortion, "--distortion"), loss, ties=ties)
        blind, silent = saturation_budget(game), independence_budget(game)
        told = made.information_bounds()
    data: dict[str, Any] = {
        "guarantee": made.guarantee.to_json(),
        "reading": made.in_words(),
        "loss": str(made.loss),
        "given": given,
        "accuracy": float(made.accuracy),
        "prior_accuracy": float(made.prior_accuracy),
        "information": [float(bound) for bound in told],
        "distortion": float(made.spent),
        "budget": float(made.budget),
        "adversary_loss": made.loss_value,
        "bound": made.bound,
        "gap": made.gap,
        "blind_from": blind.value,
        "independent_from": silent.value,
        "matrix": made.channel().matrix.tolist(),
        "inputs": [str(name) for name in made.channel().inputs],
        "outputs": [str(name) for name in made.channel().outputs],
        "file": None if target is None else str(target),
    }
    if target is not None:
        save(made.channel(), target)
    emit(data, lambda: _optimum_page(made, data), as_json)


def _law(path: str) -> Any:
    """The joint law in a file of probabilities or of counts."""
    from pathlib import Path

    import numpy as np

    from noisewright.context_aware.distributions import Joint
    from noisewright.exceptions import FileFormatError, ParameterError
    from noisewright.io.serialization import load_labelled_csv

    public, private, values = load_labelled_csv(path)
    table = np.array(values, dtype=np.float64)
    counts = bool((table == np.floor(table)).all())  # a law of integers is sure of one pair, as a count would be
    try:
        return (Joint.from_counts if counts else Joint)(table, public, private)
    except ParameterError as problem:
        raise FileFormatError(f"{Path(path).name}: {problem}") from None


def _distance(text: str, law: Any) -> tuple[Any, Any]:
    """The outputs (none: the public values) and the distortion that a word or a table gives."""
    kind, colon, path = text.partition(":")
    if not colon or kind.strip() != "table":
        return None, text.strip()
    from noisewright.exceptions import FileFormatError
    from noisewright.io.serialization import load_labelled_csv

    names, outputs, values = load_labelled_csv(path.strip())
    if tuple(names) != law.public:
        raise FileFormatError(f"{path}: the rows must be the public values of the joint law, in the same order.")
    return outputs, values


def _optimum_page(made: ContextMechanism, data: dict[str, Any]) -> list[RenderableType]:
    from noisewright.claims.figures import upward

    shown = "exact" if made.dual is not None and made.dual.exact else "in floats"
    told = upward(data["information"][1], 4)
    rows = [
        (
            "Guessed right",
            f"{chance(100 * data['accuracy'])} % of the time; {chance(100 * data['prior_accuracy'])} % without a release",
        ),
        ("Told", f"at most {told} nats"),
        ("Distortion", f"{chance(data['distortion'])} of {chance(data['budget'])} allowed"),
        (
            "How good",
            f"no other makes the adversary lose {at_most(made.gap)} more ({made.loss} loss; a bound from the dual, {shown})",
        ),
        ("Guesses are blind", f"from a distortion of {chance(data['blind_from'])} on"),
        ("Nothing is told", f"from a distortion of {chance(data['independent_from'])} on"),
    ]
    channel = made.channel()
    if max(channel.shape) <= MOST_ROWS_SHOWN:
        for name, row in zip(channel.inputs, channel.matrix.tolist(), strict=True):
            shown = ", ".join(f"{p:.4f} {labels([k])}" for k, p in zip(channel.outputs, row, strict=True) if p >= 5e-5)
            rows.append((f"  {labels([name])}", shown))
    rows.append(("In words", made.guarantee.in_words()))
    rows.append(("Channel", f"written to {data['file']}" if data["file"] else "not written; -o FILE.json writes it"))
    what = "the public value alone" if made.game.given == "x" else "both values"
    return [heading("optimum", f"given {what}"), facts((name, printable(text)) for name, text in rows)]


OPTIMUM_COMMAND = Command(optimum)


# Train --------------------------------------------------------------------------------------------------------------------
#
# ``noisewright learn TABLE --private COLUMN``: train a privatiser that hides a private column, and write it to a file.


MOST_EPOCHS_SHOWN = 6


def train(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="Records to learn from: a file of any kind.")],
    private: Annotated[
        list[str], typer.Option(metavar="COLUMN", help="The column that is to be hidden; again for more of them.")
    ],
    distortion: Annotated[
        str,
        typer.Option(metavar="D,...", help="The expected distortion that is allowed; several are trained together."),
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE.nwm", help="Where the privatiser is written.")],
    columns: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="The columns that are changed. Default: all but the private ones."),
    ] = None,
    categorical: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Columns of labels that look like numbers.")
    ] = None,
    given: Annotated[
        str, typer.Option(metavar="x|xy", help="What it is given later: the record alone, or the private column too.")
    ] = "x",
    loss: Annotated[
        str, typer.Option(metavar="LOSS", help="Of the adversary: log, or alpha:ORDER (alpha:20 is nearly guesses).")
    ] = "log",
    units: Annotated[
        str, typer.Option(metavar="sd|raw", help="Changes of numbers count in standard deviations, or as they are.")
    ] = "sd",
    bounds: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=LOW:HIGH", help="The public range of a column, which releases keep to; again for more."
        ),
    ] = None,
    attackers: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Fresh attackers that are tried on what it releases: quadratic logistic, gradient boosting, random forest, "
            "nearest neighbours, network. Default: all of them.",
        ),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(metavar="N", help="How often all records are learned from.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="The seed of the training.", min=0)] = 0,
    as_json: AsJson = False,
) -> None:
    """Train a privatiser against an adversary who guesses the private column from what it releases.

    A training that is stopped goes on where it was when it is started again with the same words. After it fresh attackers learn
    from releases, and what the best of them guesses on rows held out is stated. Use the file in a policy (mechanism = "learned")
    or in Python, and try attackers on rows that it never saw: noisewright attack private-attribute.
    """
    from noisewright.io.atomic import endings_as_exceptions
    from noisewright.learning.privatiser import KEEP, GAPPrivatiser
    from noisewright.tables.reading import table_of

    target = target_file(output, "a privatiser", (".nwm",), new=True)
    checkpoint = Path(f"{target}.part")
    budgets = [_number(part, "--distortion") for part in distortion.split(",")]
    started = time.perf_counter()
    with working("reading"):
        records = table_of(table)
    names = _listed(columns) if columns is not None else [n for n in records.column_names if n not in private]
    _check_names(Path(table).name, records.column_names, private, names)
    made = GAPPrivatiser(
        budgets[0] if len(budgets) == 1 else budgets,
        given=given,
        loss=loss,
        units=units,
        categorical=_listed(categorical) or None,
        bounds=dict(map(_bound, bounds or ())) or None,
        attackers=None if attackers is None else _listed(attackers),
        seed=seed,
        settings=None if epochs is None else {"epochs": epochs},
    )
    try:
        with endings_as_exceptions(), counting("epochs", "epochs") as progress:
            made.fit(
                records.select(names),
                records.select(private),
                progress=progress,
                live=None if progress is None else _live(progress, budgets),
                checkpoint=checkpoint,
            )
    except (KeyboardInterrupt, SystemExit):
        if checkpoint.exists():
            say(f"Stopped. {checkpoint} has what was learned: start again with the same words to go on.")
        raise
    made.save(target)
    checkpoint.unlink(missing_ok=True)
    data = {
        "output": output,
        "family": made.family_,
        "columns": list(made.columns_.names),
        "labels": [one.name for one in made.columns_.labels],
        "private": [one.name for one in made.private_],
        "given": given,
        "rows": made.rows_,
        "points": [
            asdict(point) | {"converged": point.converged, "guarantee": made.at(point.distortion).guarantee.to_json()}
            for point in made.points_
        ],
        "converged": all(point.converged for point in made.points_),
        "seconds": round(time.perf_counter() - started, 1),
        "note": KEEP,
    }
    emit(data, lambda: _train_page(made, data), as_json)


def _check_names(table: str, known: list[str], private: list[str], names: list[str]) -> None:
    from noisewright.exceptions import DataError

    for name in (*private, *names):
        if name not in known:
            raise DataError(f"{table} has no column {name!r}; name one that is in its header.")
        if [*private, *names].count(name) > 1:
            both = name in private and name in names
            why = "is to be hidden and changed at once" if both else "is named twice"
            raise DataError(f"the column {name!r} {why}; name every column once.")
    if not names:
        raise DataError(f"{table} has no column beside the private ones; nothing is left to be changed.")


def _listed(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def _number(text: str, option: str) -> float:
    from noisewright.numerics.exact import as_fraction

    return float(as_fraction(check_number(text, option), option))


def _bound(text: str) -> tuple[str, tuple[float, float]]:
    from noisewright.exceptions import ParameterError

    name, equals, ends = text.rpartition("=")
    low, colon, high = ends.partition(":")
    if not equals or not colon:
        raise ParameterError("--bounds is COLUMN=LOW:HIGH, such as age=0:120.")
    return name.strip(), (_number(low, "--bounds"), _number(high, "--bounds"))


def _live(progress: Callable[..., None], budgets: list[float]) -> Callable[[int, Any], None]:
    """Return the display during learning, for the middle budget."""
    from noisewright.claims.figures import numeral

    place = len(budgets) // 2

    def told(done: int, course: Any) -> None:
        spent, right = course.spent[-1, place], course.accuracy[-1, place]
        progress(
            done, None, f"distortion {spent:.3g} of {numeral(budgets[place])}, adversary right {100 * right:.1f} %"
        )

    return told


def _train_page(made: GAPPrivatiser, data: dict[str, Any]) -> list[RenderableType]:
    from noisewright.claims.figures import numeral

    rows = [
        ("Hides", f"{', '.join(data['private'])}, by changing {', '.join(data['columns'])}"),
        ("As labels", ", ".join(data["labels"]) or "no column"),
        ("Given", "the record alone" if data["given"] == "x" else "the record and the private columns"),
        ("Learned from", f"{plural(data['rows'], 'record')}, a fifth of which were held out to measure"),
    ]
    for point in made.points_:
        rows.append((f"Distortion {numeral(point.distortion)}", point.in_words()))
        if len(point.by_column) > 1:
            most = sorted(point.by_column, key=lambda part: -part[1])
            spent = ", ".join(f"{name} {part:.3g}" for name, part in most[:MOST_EPOCHS_SHOWN])
            more = len(most) - MOST_EPOCHS_SHOWN
            rows.append(("  by column", spent + (f", and {more} smaller" if more > 0 else "")))
        told = " and ".join(
            f"{max(one, 0.0):.3f} ({max(low, 0.0):.3f} to {max(high, 0.0):.3f})"
            for one, (low, high) in zip(point.told, point.told_between, strict=True)
        )
        rows.append(("  nats found", f"{told}; releases may tell more"))
    rows += [
        ("Tried", ", ".join(made.points_[0].tried)),
        ("Promises", f"context-aware, measured on records held out, perhaps more is guessed by others; {NO_EPSILON}"),
        ("Written to", f"{data['output']}, in {data['seconds']} seconds"),
        ("Take care", data["note"]),
    ]
    verdict = "" if data["converged"] else "NOT converged"
    return [heading("privatiser", verdict or made.family_), facts((name, printable(text)) for name, text in rows)]


TRAIN_COMMAND = Command(train)
