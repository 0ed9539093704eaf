"""``noisewright match encode``: profiles in, noisy codes out; runs where the profiles are."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright._utils.validation import printable
from noisewright.cli.app import Command
from noisewright.cli.arguments import check_number, target_file
from noisewright.render.text import AsJson, counting, emit, facts, heading, plural, working

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.matching.evaluation import Evaluation
    from noisewright.matching.scheme import Scheme
    from noisewright.matching.service import Matches

__all__ = [
    "ENCODE_COMMAND",
    "EVALUATE_COMMAND",
    "SEARCH_COMMAND",
    "SEED_COMMAND",
    "encode",
    "evaluate",
    "search",
    "seed",
]


BLOCK = 1 << 14


def encode(
    profiles: Annotated[
        str, typer.Argument(metavar="PROFILES", help="Rows of numbers: a .npy, .npz (sparse), .parquet or .csv file.")
    ],
    public: Annotated[str, typer.Option(metavar="FILE.json", help="The public scheme of the service.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE.nwc", help="Where the codes go.")],
    names: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column with names. \\[default: the first, if it holds texts]"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Turn profiles into noisy codes, which are all that a server is sent; this runs where the profiles are.

    Every code that is sent costs: encode a profile once, and send the same code again if need be.
    """
    import numpy as np

    from noisewright.matching.scheme import SUFFIX, CodeFile, write_codes
    from noisewright.matching.service import Client, read_profiles

    target = target_file(output, "a file of codes", (SUFFIX,), new=True)
    client = Client.at(public)
    given = read_profiles(profiles, names=names)
    parts = [np.empty((0, client.scheme.code_bytes), dtype=np.uint8)]
    with counting("profiles encoded", "profiles") as progress:
        for start in range(0, len(given), BLOCK):
            parts.append(client.encode(given.rows[start : start + BLOCK]))
            if progress is not None:
                progress(min(start + BLOCK, len(given)), len(given))
    digest = write_codes(
        target, CodeFile(client.scheme.fingerprint, client.scheme.bits, given.names, np.concatenate(parts))
    )
    data = {
        "profiles": len(given),
        "file": output,
        "sha256": digest,
        "scheme": client.scheme.fingerprint,
        "bits": client.scheme.bits,
        "epsilon_for_each_bit": str(client.scheme.epsilon),
        "flip": float(client.scheme.flip),
        "promise": client.promise,
        "in_the_clear": ["names", "the order of the profiles", "how many there are"],
    }
    rows = [
        ("promise", client.promise),
        ("scheme", f"{client.scheme} ({client.scheme.fingerprint[:12]}...)"),
        ("in the clear", "the names, their order, and how many there are"),
        ("sha256", digest),
    ]

    def page() -> list[RenderableType]:
        return [heading(output, f"the codes of {plural(len(given), 'profile')}"), facts(rows)]

    emit(data, page, as_json)


ENCODE_COMMAND = Command(encode)


# Evaluate -----------------------------------------------------------------------------------------------------------------
#
# ``noisewright match evaluate``: test the findings of schemes among given profiles before a service ships.


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

    from noisewright.matching.accountants import worst_case
    from noisewright.matching.evaluation import evaluate as tried
    from noisewright.matching.evaluation import taken, with_direction
    from noisewright.matching.guarantees import SEED_SCOPE, scheme_promise
    from noisewright.matching.service import read_profiles

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
    emit(data, lambda: _evaluate_page(profiles, schemes, found, losses, data), as_json)


def _number(text: str, name: str) -> Any:
    from noisewright.numerics.exact import as_fraction

    return as_fraction(check_number(text, name), name)


def _schemes(public: str | None, rows: Any, bits: str | None, epsilon: str | None) -> list[Scheme]:
    """Those to try: the one in a file, or all numbers of bits with all epsilons, each with a seed of its own."""
    from noisewright.exceptions import ParameterError
    from noisewright.matching.scheme import Scheme

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


def _evaluate_page(
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

    from noisewright.claims.figures import numeral, upward
    from noisewright.claims.readings import seed_note

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


EVALUATE_COMMAND = Command(evaluate)


# Search -------------------------------------------------------------------------------------------------------------------
#
# ``noisewright match search``: whose codes are nearest; runs where codes are, and nothing else.


MOST_SHOWN = 20
"""Maximum number of people shown on a page; a file holds all of them."""
HEADS = ("name", "rank", "neighbour", "bits_that_differ", "distance", "low", "high")


def search(
    codes: Annotated[
        list[str], typer.Argument(metavar="CODES...", help="Files of codes: those of clients, or an index.")
    ],
    public: Annotated[str, typer.Option(metavar="FILE.json", help="The public scheme of the service.")],
    of: Annotated[
        list[str] | None,
        typer.Option("--for", metavar="NAME", help="Whose neighbours; may be repeated. \\[default: everybody's]"),
    ] = None,
    query: Annotated[
        str | None, typer.Option(metavar="FILE.nwc", help="Search with the codes of this file, which stay outside.")
    ] = None,
    neighbours: Annotated[int, typer.Option("--neighbours", "-k", metavar="K", help="How many for each.")] = 10,
    without: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Forget this person first; may be repeated.")
    ] = None,
    kind: Annotated[
        str,
        typer.Option(metavar="flat|hnsw|ivf", help="flat is exact; the others are for many millions, and miss some."),
    ] = "flat",
    confidence: Annotated[float, typer.Option(metavar="C", help="Of the intervals of distances.")] = 0.95,
    save: Annotated[
        str | None, typer.Option(metavar="FILE.nwc", help="Keep the index, with what was added and forgotten.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE.csv", help="Write all neighbours there.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find whose noisy codes are nearest, and how far away the profiles behind them are; no profile is ever seen.

    Ties are broken at random, afresh in every search. Codes of two schemes are never mixed.
    """
    from noisewright.exceptions import ParameterError
    from noisewright.io.atomic import write_atomically
    from noisewright.matching.nearest_neighbours import check_scheme
    from noisewright.matching.scheme import SUFFIX, read_codes
    from noisewright.matching.service import Server

    if of and query is not None:
        raise ParameterError("--for and --query were both given; give one of them.")
    table = None if output is None else target_file(output, "neighbours", (".csv",))
    kept = None if save is None else target_file(save, "an index", (SUFFIX,))
    server = Server.at(public, kind=kind)  # type: ignore[arg-type]
    for file in codes:
        server.add_file(file)
    server.remove(without or [])
    with working("searching"):
        if query is not None:
            asked = read_codes(query)
            check_scheme(asked, server.scheme.fingerprint, query, server.scheme.bits)
            names = list(asked.names)
            found = server.search(asked.codes, neighbours, confidence=confidence)
        else:
            names = of or server.index.names
            found = server.neighbours(names, neighbours, confidence=confidence)
    digest = None if kept is None else server.save(kept)
    if table is not None:
        write_atomically(table, _csv(names, found))
    data = {
        "codes": len(server),
        "scheme": server.scheme.fingerprint,
        "neighbours": neighbours,
        "kind": kind,
        "confidence": confidence,
        "index": None if save is None else {"file": save, "sha256": digest},
        "file": output,
        "matches": None if output is not None else [_one(name, found, i) for i, name in enumerate(names)],
    }
    emit(data, lambda: _search_page(names, found, len(server), output, save), as_json)


def _one(name: str, found: Matches, i: int) -> dict[str, Any]:
    """Return the findings for one person, as plain data."""
    parts = (found.names[i], found.differ[i], found.distance[i], found.low[i], found.high[i])
    columns = ("name", "bits_that_differ", "distance", "low", "high")
    rows = zip(*(part.tolist() for part in parts), strict=True)
    return {"name": name, "neighbours": [dict(zip(columns, row, strict=True)) for row in rows if row[0] is not None]}


def _csv(names: list[str], found: Matches) -> bytes:
    from noisewright.columns.arrow import arrow_array
    from noisewright.tables.source import harmless

    everybody = list(dict.fromkeys([*names, *(name for name in found.names.ravel().tolist() if name is not None)]))
    spelled = dict(zip(everybody, harmless(arrow_array(everybody)).to_pylist(), strict=True))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(HEADS)
    for i, name in enumerate(names):
        for rank, one in enumerate(_one(name, found, i)["neighbours"], 1):
            numbers = (f"{one[part]:.6g}" for part in ("distance", "low", "high"))
            writer.writerow((spelled[name], rank, spelled[one["name"]], one["bits_that_differ"], *numbers))
    return text.getvalue().encode()


def _search_page(
    names: list[str], found: Matches, codes: int, output: str | None, save: str | None
) -> list[RenderableType]:
    from rich.box import SIMPLE_HEAD
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for title, right in (
        ("name", False),
        ("neighbour", False),
        ("bits that differ", True),
        ("distance", True),
        ("from", True),
        ("to", True),
    ):
        table.add_column(title, justify="right" if right else "left", overflow="fold")
    for i, name in enumerate(names[:MOST_SHOWN]):
        table.add_section()
        for rank, one in enumerate(_one(name, found, i)["neighbours"]):
            numbers = (f"{one[part]:.3f}" for part in ("distance", "low", "high"))
            table.add_row(
                printable(name) if rank == 0 else "", printable(one["name"]), str(one["bits_that_differ"]), *numbers
            )
    from noisewright.claims.figures import percent

    told = [f"The first {MOST_SHOWN} of {len(names)} are shown."] if len(names) > MOST_SHOWN else []
    told += [f"All of them are in {output}."] if output else []
    told += [f"The index is in {save}."] if save else []
    told.append(
        f"Distances are those of profiles, from 0 to 1, without the bias of the noise; the intervals of all {codes} codes "
        f"hold together with a confidence of {percent(found.confidence)}, for profiles that were fixed before the seed was drawn."
    )
    title = f"neighbours of {plural(len(names), 'code')}"
    prose = (Padding(Text(line), 0) for line in told)
    return [heading(title, f"among {plural(codes, 'code')}"), table, Text(), *prose]


SEARCH_COMMAND = Command(search)


# Seed ---------------------------------------------------------------------------------------------------------------------
#
# ``noisewright match seed``: the public scheme of a service, with a fresh seed.


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
    from noisewright.claims.figures import downward
    from noisewright.claims.readings import NOT_BY_DISTANCE, hashes_in_short
    from noisewright.exceptions import ParameterError
    from noisewright.matching.guarantees import price_of_a_bit, scheme_promise
    from noisewright.matching.scheme import Scheme
    from noisewright.matching.service import Client
    from noisewright.numerics.exact import as_fraction

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
    from noisewright.matching.scheme import FAMILIES

    return radius * float(FAMILIES[family].share) if family in FAMILIES and 0 <= radius <= 1 else radius


SEED_COMMAND = Command(seed)
