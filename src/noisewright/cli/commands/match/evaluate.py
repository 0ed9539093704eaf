"""``noisewright match evaluate``: test the findings of schemes among given profiles before a service ships."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.metrics import check_number
from noisewright.cli.shared.output import AsJson, counting, emit, heading, plural

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.matching.evaluation import Evaluation
    from noisewright.matching.hashing.scheme import Scheme

__all__ = ["COMMAND", "evaluate"]

RADIUS, DELTA = "0.05", "0.01"
BITS, EPSILONS = "64,128,256", "0.5,1,2,4"


def evaluate(
    profiles: Annotated[
        str,
        typer.Argument(metavar="PROFILES", help="Profiles of a test: a .npy, .npz (sparse), .parquet or .csv file."),
    ],
    public: Annotated[
        str | None,
        typer.Option(metavar="FILE.json", help="The public scheme of a service; or else bits and epsilons to try."),
    ] = None,
    bits: Annotated[
        str | None, typer.Option(metavar="N,N,...", help=f"Numbers of bits to try. \\[default: {BITS}]")
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option(metavar="E,E,...", help=f"Epsilons of a bit to try. \\[default: {EPSILONS}]")
    ] = None,
    neighbours: Annotated[int, typer.Option("--neighbours", "-k", metavar="K", help="How many are returned.")] = 10,
    radius: Annotated[str, typer.Option(metavar="D", help="The distance at which the loss is told.")] = RADIUS,
    delta: Annotated[str, typer.Option(metavar="D", help="How likely that loss may be exceeded.")] = DELTA,
    people: Annotated[int, typer.Option(metavar="N", help="Take so many of the profiles, at random.", min=2)] = 2000,
    runs: Annotated[int, typer.Option(metavar="N", help="Draw the noise so often.", min=1)] = 1,
    names: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column with names. \\[default: the first, if it holds texts]"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Try schemes on known profiles: how many true neighbours they find, beside what is expected, and what they promise.

    The numbers are computed from the profiles as they are, and are for their owner.
    """
    import numpy as np

    from noisewright.matching.evaluation import evaluate as tried
    from noisewright.matching.evaluation import taken, with_direction
    from noisewright.matching.profiles import read_profiles
    from noisewright.matching.promises.about_seeds import SEED_SCOPE, scheme_promise
    from noisewright.matching.promises.accountants import worst_case

    rng = np.random.default_rng()
    given = read_profiles(profiles, names=names)
    rows, there = with_direction(given.rows)
    if len(there) > people:
        rows = taken(rows, np.sort(rng.choice(len(there), people, replace=False)))
    at, share = (float(_number(text, name)) for text, name in ((radius, "--radius"), (delta, "--delta")))
    schemes = _schemes(public, rows, bits, epsilon)
    losses = [
        (
            scheme_promise(scheme, radius=at, delta=share).loss if scheme.words.exact else None,
            worst_case(bits=scheme.bits, epsilon=scheme.epsilon),
        )
        for scheme in schemes
    ]
    found = []
    with counting("schemes tried", "schemes") as progress:
        for number, scheme in enumerate(schemes, 1):
            found.append(tried(scheme, rows, neighbours=neighbours, rng=rng, runs=runs))
            if progress is not None:
                progress(number, len(schemes))
    data = {
        "people": found[0].people,
        "left_out": len(given) - len(there),
        "neighbours": neighbours,
        "radius": at,
        "delta": share,
        "seed_scope": SEED_SCOPE,
        "schemes": [
            {
                "bits": scheme.bits,
                "epsilon_for_each_bit": str(scheme.epsilon),
                "loss_at_radius": near,
                "largest_loss": most,
                **asdict(one),
            }
            for scheme, one, (near, most) in zip(schemes, found, losses, strict=True)
        ],
    }
    emit(data, lambda: _page(profiles, schemes, found, losses, data), as_json)


def _number(text: str, name: str) -> Any:
    from noisewright.core.exact import as_fraction

    return as_fraction(check_number(text, name), name)


def _schemes(public: str | None, rows: Any, bits: str | None, epsilon: str | None) -> list[Scheme]:
    """Those to try: the one in a file, or all numbers of bits with all epsilons, each with a seed of its own."""
    from noisewright.core.errors import ParameterError
    from noisewright.matching.hashing.scheme import Scheme

    if public is not None:
        if bits is not None or epsilon is not None:
            raise ParameterError(
                "a public scheme has its bits and its epsilon; give --public, or --bits and --epsilon."
            )
        return [Scheme.at(public)]
    bits, epsilon = BITS if bits is None else bits, EPSILONS if epsilon is None else epsilon
    if not all(part.strip().isdecimal() for part in bits.split(",")):
        raise ParameterError(f"--bits is a list of whole numbers between commas, such as 64,128, not {bits!r}.")
    sets = not hasattr(rows, "shape")
    family, dimension = ("minhash", None) if sets else ("projection", rows.shape[1])
    return [
        Scheme(dimension=dimension, bits=int(count), epsilon=check_number(price, "--epsilon"), family=family)
        for count in bits.split(",")
        for price in epsilon.split(",")
    ]


def _page(
    called: str,
    schemes: list[Scheme],
    found: list[Evaluation],
    losses: list[tuple[float | None, float]],
    data: dict[str, Any],
) -> list[RenderableType]:
    from rich.box import SIMPLE_HEAD
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from noisewright.claims.readings import seed_note
    from noisewright.core.exact import numeral, upward

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    titles = (
        "bits",
        "epsilon\na bit",
        f"loss at\n{numeral(data['radius'])}",
        "largest\nloss",
        "recall",
        "expected",
        "hashes\nalone",
    )
    for title in (*titles, "further\naway", "named"):
        table.add_column(title, justify="right", no_wrap=True)
    for scheme, one, (near, most) in zip(schemes, found, losses, strict=True):
        shares = (f"{share:.1%}" for share in (one.recall, one.expected, one.hashed_recall))
        table.add_row(
            str(scheme.bits),
            upward(scheme.epsilon, 4),
            "-" if near is None else upward(near, 3),
            upward(most, 3),
            *shares,
            f"{one.loss:.3f}",
            f"{one.named:.1%}",
        )
    first = found[0]
    told = [
        f"Recall is the share of true neighbours among {plural(first.neighbours, 'neighbour')} returned; a random choice has "
        f"{first.random_recall:.1%}, and is {first.random_loss:.3f} further away than the true ones, which are "
        f"{first.nearest:.3f} away.",
        f"Named is how often somebody who knows all these profiles tells whose a code is; blindly {1 / first.people:.1%}.",
        seed_note(numeral(data["radius"]), data["delta"]),
    ]
    if data["left_out"]:
        told.append(f"{plural(data['left_out'], 'profile')} of zeros left out.")
    return [heading(called, plural(first.people, "profile")), table, Text(), *(Padding(Text(line), 0) for line in told)]


COMMAND = Command(evaluate)
