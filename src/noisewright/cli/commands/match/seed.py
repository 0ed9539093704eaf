"""``noisewright match seed``: the public scheme of a service, with a fresh seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.metrics import check_number
from noisewright.cli.shared.output import AsJson, emit, facts, heading
from noisewright.cli.shared.targets import target_file

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["COMMAND", "seed"]


def seed(
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE.json", help="Where the public scheme goes.")],
    dimension: Annotated[
        int | None, typer.Option(metavar="N", help="How many numbers a profile has; not for sets of items (minhash).")
    ] = None,
    family: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="How profiles are hashed: projection, fast-projection, sampling, or minhash for sets."
        ),
    ] = "projection",
    bits: Annotated[int, typer.Option(metavar="N", help="How many bits a code has.")] = 128,
    epsilon: Annotated[
        str | None, typer.Option(metavar="E", help="What every bit costs. Or give --loss, and it is computed.")
    ] = None,
    loss: Annotated[
        str | None, typer.Option(metavar="L", help="The loss that is allowed between two profiles within the radius.")
    ] = None,
    radius: Annotated[
        str, typer.Option(metavar="D", help="The distance between two profiles that the promise is about.")
    ] = "0.05",
    delta: Annotated[str, typer.Option(metavar="D", help="How likely that promise may fail.")] = "0.01",
    zero: Annotated[
        str,
        typer.Option(
            metavar="refuse|fixed", help="What a client does with a profile of zeros, which has no direction."
        ),
    ] = "refuse",
    as_json: AsJson = False,
) -> None:
    """Make the public scheme of a service: its hash, a fresh seed, and the price of a bit; for clients and server alike.

    Draw it when the profiles are there already: the promise about a radius is for pairs that were fixed before.
    """
    from noisewright.claims.readings import NOT_BY_DISTANCE, hashes_in_short
    from noisewright.core.errors import ParameterError
    from noisewright.core.exact import as_fraction, downward
    from noisewright.matching.client import Client
    from noisewright.matching.hashing.scheme import Scheme
    from noisewright.matching.promises.about_seeds import scheme_promise
    from noisewright.matching.promises.calibration import price_of_a_bit

    target = target_file(output, "a public scheme", (".json",), new=True)
    if (epsilon is None) == (loss is None):
        raise ParameterError("give --epsilon, the price of a bit, or --loss, from which it is computed; one of them.")
    at, share = (
        float(as_fraction(check_number(text, name), name)) for text, name in ((radius, "--radius"), (delta, "--delta"))
    )
    if loss is not None:
        price = downward(
            price_of_a_bit(check_number(loss, "--loss"), radius=_of_hash(at, family), bits=bits, delta=share)
        )
    else:
        price = check_number(epsilon or "", "--epsilon")
    scheme = Scheme(dimension=dimension, bits=bits, epsilon=price, family=family, zero=zero)
    # A family whose law is not a theorem guarantees nothing by distance; a loss to be kept is refused for it.
    promise = scheme_promise(scheme, radius=at, delta=share) if scheme.words.exact or loss is not None else None
    scheme.save(target)
    data = {
        "file": output,
        "fingerprint": scheme.fingerprint,
        "family": scheme.family,
        "distance": scheme.words.distance,
        "dimension": scheme.dimension,
        "bits": scheme.bits,
        "epsilon_for_each_bit": str(scheme.epsilon),
        "flip": float(scheme.flip),
        "seed": scheme.seed.hex,
        "whatever_is_known": {"promise": Client(scheme).promise, "largest_loss": float(scheme.epsilon * scheme.bits)},
        "before_the_seed": promise
        and {
            "promise": promise.in_words(),
            "loss": promise.loss,
            "radius": promise.distance,
            "delta": promise.delta,
            "accountant": promise.accountant,
            "seed_scope": promise.seed_scope,
        },
    }
    rows = [
        ("scheme", str(scheme)),
        ("distance", scheme.words.distance),
        ("flips", f"every bit with probability {downward(scheme.flip, 4)}, exactly and independently"),
        ("a known seed", Client(scheme).promise),
        ("before the seed", promise.in_words() if promise else NOT_BY_DISTANCE),
        ("fingerprint", scheme.fingerprint),
    ]
    near = None if promise is None else promise.loss
    rows.insert(0, ("in short", hashes_in_short(scheme.epsilon, scheme.bits, str(radius), near)))

    def page() -> list[RenderableType]:
        return [heading(output, "written; it is public, for every client and the server"), facts(rows)]

    emit(data, page, as_json)


def _of_hash(radius: float, family: str) -> float:
    """The chance that a hash of two profiles within the radius differs; a family that is unknown is refused later."""
    from noisewright.matching.hashing.scheme import FAMILIES

    return radius * float(FAMILIES[family].share) if family in FAMILIES and 0 <= radius <= 1 else radius


COMMAND = Command(seed)
