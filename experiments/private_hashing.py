"""Noise on the bits of a hash against noise on the vector before it, at the same loss for neighbours.

Run:  noisewright reproduce private_hashing [--quick] [--runs N] [--json] [--plot FILE.png]

Published in a doctoral thesis on metric privacy: a table of slacks (10.2), which comes out to its five decimals but for rounding
(it was truncated), and figures of the utility loss against the loss xi that is allowed at an angular distance, with delta = 0.01.
Figures have no numbers; those reported here are of an independent recomputation with six runs on the same ratings. LSHRR flips
every bit of the hash, at the price of a bit that its accountant allows; LapLSH adds Laplace noise to the unit vector, at the
epsilon per unit of Euclidean distance that gives the same loss at that angle, and then hashes. All of a run have the same hash.

The published accountant is Chernoff's. The exact one allows nearly twice the price of a bit for the same loss; its rows have no
reported numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from experiments import ratings
from experiments.report import Result, Row, Table, allowance, command
from experiments.vanilla_hashing import NEIGHBOURS, Contest, public_seed
from experiments.visits import visits
from noisewright.matching import Client, Scheme, alpha, euclidean_epsilon, laplace_hash, price_of_a_bit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DELTA = 0.01
SLACK_BITS = (10, 20, 30, 50)
SLACKS: Mapping[str, tuple[float, ...]] = {
    "0.05": (0.31111, 0.2028, 0.15866, 0.11713),
    "0.1": (0.3766, 0.25209, 0.19988, 0.14979),
    "0.2": (0.44181, 0.30509, 0.24546, 0.18683),
    "0.3": (0.46544, 0.32908, 0.26749, 0.20573),
    "0.4": (0.46266, 0.33474, 0.27462, 0.21313),
}
"""The published table of alpha, by angular distance; for 10, 20, 30 and 50 bits."""
LOSSES = ("0.5", "1", "2", "5", "10", "15")
SETTINGS = (
    (100, 10, "0.05"),
    (100, 20, "0.05"),
    (100, 50, "0.25"),
    (1000, 10, "0.05"),
    (1000, 20, "0.05"),
    (1000, 50, "0.25"),
)
"""Films, bits, and the angular distance at which the loss is allowed."""
WAYS = ("LSHRR", "LapLSH", "exact")
CALLED = {"LSHRR": "LSHRR, published accountant", "LapLSH": "LapLSH", "exact": "LSHRR, exact accountant"}
RECOMPUTED: Mapping[tuple[int, int, str], Mapping[str, str]] = {
    (100, 10, "0.05"): {"LSHRR": ".143 .141 .140 .127 .104 .093", "LapLSH": ".143 .143 .141 .139 .131 .120"},
    (100, 20, "0.05"): {"LSHRR": ".142 .142 .139 .128 .101 .084", "LapLSH": ".142 .142 .142 .137 .125 .112"},
    (100, 50, "0.25"): {"LSHRR": ".142 .143 .143 .141 .137 .131", "LapLSH": ".143 .143 .142 .143 .141 .139"},
    (1000, 10, "0.05"): {"LSHRR": ".099 .099 .097 .092 .083 .080", "LapLSH": ".099 .099 .099 .099 .099 .099"},
    (1000, 20, "0.05"): {"LSHRR": ".099 .098 .098 .093 .081 .073", "LapLSH": ".099 .099 .099 .099 .099 .099"},
    (1000, 50, "0.25"): {"LSHRR": ".099 .099 .099 .098 .097 .093", "LapLSH": ".099 .099 .099 .099 .099 .098"},
}
"""Ten neighbours, by the loss that is allowed."""
RECOMPUTED_RUNS, ROUNDED = 6, 0.0005
SECONDS = (5, 60)
RUNS = (6, 20)


def slacks() -> list[Row]:
    """The published table: the bits that differ beyond their mean, as a share, but with probability delta."""
    return [
        Row((d,), tuple(alpha(float(d), bits=bits, delta=DELTA) for bits in SLACK_BITS), told, close=1.01e-5)
        for d, told in SLACKS.items()
    ]


def codes(
    contest: Contest, way: str, bits: int, distance: str, loss: str, number: int, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Everybody's noisy code under the seed of a run."""
    seed, dimension = public_seed(number), contest.profiles.shape[1]
    if way == "LapLSH":
        epsilon = euclidean_epsilon(loss, float(distance))
        noisy = laplace_hash(epsilon=epsilon, dimension=dimension, bits=bits, seed=seed)
        return np.asarray(noisy.release(contest.profiles, rng))
    accountant = "chernoff" if way == "LSHRR" else "exact-xdp"
    price = price_of_a_bit(loss, radius=float(distance), bits=bits, delta=DELTA, accountant=accountant)
    return Client(Scheme(dimension=dimension, bits=bits, epsilon=price, seed=seed)).encode(contest.profiles, rng)


def run(contest: Contest, films: int, bits: int, distance: str, runs: int) -> list[Row]:
    """The extra distance of ten neighbours for every way and loss."""
    rng, ten = np.random.default_rng(2), NEIGHBOURS.index(10)
    rows = []
    for way in WAYS:
        found = np.array(
            [
                [contest.loss(codes(contest, way, bits, distance, loss, n, rng), rng)[ten] for n in range(runs)]
                for loss in LOSSES
            ]
        )
        told = RECOMPUTED[films, bits, distance].get(way)
        reported = None if told is None else tuple(map(float, told.split()))
        close = tuple(ROUNDED + allowance(float(spread), runs, RECOMPUTED_RUNS) for spread in found.std(axis=1, ddof=1))
        rows.append(
            Row((str(films), str(bits), distance, way), tuple(found.mean(axis=1).tolist()), reported, close=close)
        )
    return rows


def limits(contest: Contest, bits: int, runs: int) -> tuple[float, float]:
    """The same for hashes without noise, and for a random choice."""
    rng, ten = np.random.default_rng(2), NEIGHBOURS.index(10)
    plain = [contest.loss(contest.hashed(bits, public_seed(number)), rng)[ten] for number in range(runs)]
    return float(np.mean(plain)), contest.random[10]


@cache
def contest(films: int, made_up: bool) -> Contest:
    """Users by ratings of so many films, or made-up visitors of so many places."""
    if made_up:
        return Contest(visits(400, films, np.random.default_rng(7)))
    return Contest(ratings.ratings(ratings.fetched()).profiles(films)[0])


def result(quick: bool = False, runs: int | None = None) -> Result:
    """The table of slacks, and utility losses; a quick run has one setting."""
    draws = runs or RUNS[0 if quick else 1]
    made_up = quick and not ratings.place().exists()
    rows: list[Row] = []
    ends: list[Row] = []
    for films, bits, distance in (SETTINGS[1],) if quick else SETTINGS:
        found = run(contest(films, made_up), films, bits, distance, draws)
        rows += [Row(row.label, row.found) for row in found] if made_up else found
        ends.append(Row((str(films), str(bits)), limits(contest(films, made_up), bits, draws)))
    slack = Table(
        "How many bits differ beyond their mean, as a share (alpha)",
        ("distance",),
        tuple(f"{bits} bits" for bits in SLACK_BITS),
        slacks(),
        "the published table, which was truncated",
        decimals=5,
    )
    names = tuple(f"loss\n{loss}" for loss in LOSSES)
    lost = Table(
        "How much further away ten neighbours are",
        ("films", "bits", "at", "noise"),
        names,
        rows,
        "an independent recomputation of the published figures",
        decimals=3,
    )
    between = Table(
        "The same without noise, and by a random choice",
        ("films", "bits"),
        ("no noise", "random choice"),
        ends,
        "not published",
        decimals=3,
    )
    notes = ["The row called exact is LSHRR with the exact accountant."]
    notes += ["Made-up visits in place of ratings; a whole run fetches the ratings."] if made_up else []
    return Result([slack, lost, between], _claims(rows, ends), notes)


def _claims(rows: list[Row], ends: list[Row]) -> dict[str, bool]:
    by = {row.label: np.array(row.found) for row in rows}
    settings = list(dict.fromkeys(label[:3] for label in by))
    chance = [row.found[1] for row in ends]
    flips, before, exact = ([by[(*one, way)] for one in settings] for way in WAYS)
    near = [i for i, one in enumerate(settings) if one[2] == "0.05"]
    claims = {
        "Noise on bits loses no more than noise on vectors": all(
            np.all(a <= b + 0.004) for a, b in zip(flips, before, strict=True)
        ),
        "At a loss of 5 for neighbours it clearly beats a random choice": all(
            flips[i][3] < chance[i] - 0.004 for i in near
        ),
        "The exact accountant loses less than the published one": all(
            a.sum() < b.sum() for a, b in zip(exact, flips, strict=True)
        ),
    }
    many = [i for i, one in enumerate(settings) if one[0] == "1000"]
    if many:
        claims["With 1000 films noise on vectors is no better than a random choice"] = all(
            np.all(np.abs(before[i] - chance[i]) < 0.004) for i in many
        )
    return claims


def figure(quick: bool = False) -> Figure:
    """The extra distance against the loss that is allowed, for 20 bits at a distance of 0.05."""
    from noisewright.plotting.mechanisms import COLOURS, blank_figure

    made_up = not ratings.place().exists()
    picture = blank_figure(9.5, 4)
    for axes, films in zip(picture.subplots(1, 2), (100, 1000), strict=True):
        rows = run(contest(films, made_up), films, 20, "0.05", 3)
        plain, chance = limits(contest(films, made_up), 20, 3)
        at = [float(loss) for loss in LOSSES]
        for row, colour in zip(rows, COLOURS, strict=False):
            axes.plot(at, row.found, "o-", color=colour, label=CALLED[row.label[-1]], markersize=4)
        axes.axhline(plain, color="black", linestyle=":", linewidth=1, label="hashes without noise")
        axes.axhline(chance, color="grey", linestyle="--", linewidth=1, label="a random choice")
        what = "places" if made_up else "films"
        axes.set(
            xlabel="loss that is allowed at a distance of 0.05",
            ylabel="extra distance of 10 neighbours",
            title=f"{films} {what}, 20 bits",
        )
        axes.set_ylim(bottom=0)
    lines, names = picture.axes[0].get_legend_handles_labels()
    picture.legend(lines, names, loc="outside lower center", ncols=5, frameon=False, fontsize=8)
    return picture


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("private_hashing", given)


if __name__ == "__main__":
    raise SystemExit(main())
