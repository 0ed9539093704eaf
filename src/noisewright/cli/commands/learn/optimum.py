"""``noisewright learn optimum``: the mechanism that hides a private value best within a distortion budget, with its bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.metrics import check_number
from noisewright.cli.shared.output import AsJson, at_most, chance, emit, facts, heading, labels, printable, working
from noisewright.cli.shared.targets import target_file

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.learned.theory.mechanism import ContextMechanism

__all__ = ["COMMAND", "optimum"]

MOST_SHOWN = 8
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
    from noisewright.files.channels import save
    from noisewright.learned.theory.budgets import independence_budget, saturation_budget
    from noisewright.learned.theory.games import FiniteGame

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
    emit(data, lambda: _page(made, data), as_json)


def _law(path: str) -> Any:
    """The joint law in a file of probabilities or of counts."""
    from pathlib import Path

    import numpy as np

    from noisewright.core.errors import FileFormatError, ParameterError
    from noisewright.files.channels import load_labelled_csv
    from noisewright.learned.theory.joint import Joint

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
    from noisewright.core.errors import FileFormatError
    from noisewright.files.channels import load_labelled_csv

    names, outputs, values = load_labelled_csv(path.strip())
    if tuple(names) != law.public:
        raise FileFormatError(f"{path}: the rows must be the public values of the joint law, in the same order.")
    return outputs, values


def _page(made: ContextMechanism, data: dict[str, Any]) -> list[RenderableType]:
    from noisewright.core.exact import upward

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
    if max(channel.shape) <= MOST_SHOWN:
        for name, row in zip(channel.inputs, channel.matrix.tolist(), strict=True):
            shown = ", ".join(f"{p:.4f} {labels([k])}" for k, p in zip(channel.outputs, row, strict=True) if p >= 5e-5)
            rows.append((f"  {labels([name])}", shown))
    rows.append(("In words", made.guarantee.in_words()))
    rows.append(("Channel", f"written to {data['file']}" if data["file"] else "not written; -o FILE.json writes it"))
    what = "the public value alone" if made.game.given == "x" else "both values"
    return [heading("optimum", f"given {what}"), facts((name, printable(text)) for name, text in rows)]


COMMAND = Command(optimum)
