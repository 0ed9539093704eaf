"""Neighbours by hashes without noise: how much further away they are than the true ones.

Run:  noisewright reproduce vanilla_hashing [--quick] [--runs N] [--json]

Published in a doctoral thesis on metric privacy (table 10.1): the mean extra angular distance of the k users whose hashes by
random projections agree with a user's in most of kappa bits, for ratings of the n most rated films. The table does not name
its data; they are MovieLens 100k, of which films of the four largest genres are kept. "Most rated" is read as rated most often,
which gives the published numbers for n = 1000; the rows for 100 and 500 films come out lower than published under this reading
and every other that was tried, so that only their order is compared. Hashes are not private: this is what noise starts from.

Without the package of ratings, a quick run has made-up visits to places instead, with 500 visitors and no published numbers of
their own.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from experiments import ratings
from experiments.report import Result, Row, Table, command
from experiments.visits import visits
from noisewright.matching import Projection
from noisewright.matching.evaluation import all_distances
from noisewright.matching.nearest_neighbours import nearest_codes, without_own
from noisewright.resources import Seed

BITS, NEIGHBOURS, FILMS = (10, 20, 30, 50), (1, 5, 10), (100, 500, 1000)
REPORTED: Mapping[tuple[int, int], tuple[float, ...]] = {
    (100, 1): (0.139, 0.097, 0.074, 0.053),
    (100, 5): (0.119, 0.087, 0.068, 0.048),
    (100, 10): (0.109, 0.082, 0.065, 0.046),
    (500, 1): (0.117, 0.096, 0.081, 0.063),
    (500, 5): (0.101, 0.084, 0.071, 0.056),
    (500, 10): (0.092, 0.076, 0.065, 0.052),
    (1000, 1): (0.096, 0.083, 0.073, 0.060),
    (1000, 5): (0.084, 0.073, 0.065, 0.053),
    (1000, 10): (0.079, 0.068, 0.060, 0.049),
}
"""Mean of 30 runs, by films and neighbours; for 10, 20, 30 and 50 bits."""
CLOSE = 0.005
SECONDS = (8, 60)
RUNS = (4, 30)


class Contest:
    """Profiles with all their distances, and how far away neighbours by codes are."""

    def __init__(self, profiles: NDArray[np.float64]) -> None:
        self.profiles = profiles
        self.distances = np.vstack(list(all_distances(profiles, np.arange(len(profiles)))))
        away = self.distances.copy()
        np.fill_diagonal(away, np.inf)
        self.nearest = np.sort(away, axis=1)[:, : max(NEIGHBOURS)]
        others = (self.distances.sum(axis=1) - np.diag(self.distances)) / (len(profiles) - 1)
        self.random = {k: float((others - self.nearest[:, :k].mean(axis=1)).mean()) for k in NEIGHBOURS}

    def loss(self, codes: NDArray[np.uint8], rng: np.random.Generator) -> tuple[float, ...]:
        """For each number of neighbours, how much further away those by codes are on average."""
        everybody = np.arange(len(codes))
        found, _ = without_own(nearest_codes(codes, codes, max(NEIGHBOURS) + 1, rng), everybody)
        away = np.take_along_axis(self.distances, found, axis=1)
        return tuple(float((away[:, :k].mean(axis=1) - self.nearest[:, :k].mean(axis=1)).mean()) for k in NEIGHBOURS)

    def hashed(self, bits: int, seed: Seed) -> NDArray[np.uint8]:
        """Everybody's hash."""
        return Projection(self.profiles.shape[1], bits, seed).hash(self.profiles)


def public_seed(number: int) -> Seed:
    """The seed of a run."""
    return Seed.from_hex(f"{number:064x}")


def run(profiles: NDArray[np.float64], runs: int) -> dict[int, tuple[float, ...]]:
    """Mean losses, by neighbours, for each number of bits."""
    contest = Contest(profiles)
    rng = np.random.default_rng(1)
    found = np.mean(
        [[contest.loss(contest.hashed(bits, public_seed(number)), rng) for bits in BITS] for number in range(runs)],
        axis=0,
    )
    return {k: tuple(found[:, i].tolist()) for i, k in enumerate(NEIGHBOURS)}


def result(quick: bool = False, runs: int | None = None) -> Result:
    """All rows; a quick run has those of 1000 films, or visits where there are no ratings."""
    draws = runs or RUNS[0 if quick else 1]
    made_up = quick and not ratings.place().exists()
    source = None if made_up else ratings.ratings(ratings.fetched())
    rows: list[Row] = []
    for films in (1000,) if quick else FILMS:
        profiles = visits(500, films, np.random.default_rng(7)) if source is None else source.profiles(films)[0]
        determined = films == 1000 and source is not None
        loose = () if determined else tuple(range(len(BITS)))
        for k, found in run(profiles, draws).items():
            rows.append(Row((str(films), str(k)), found, REPORTED[films, k], loose, CLOSE))
    names = tuple(f"{bits} bits" for bits in BITS)
    table = Table(
        "How much further away than the true neighbours", ("films", "k"), names, rows, "the published table", decimals=3
    )
    notes = ["Made-up visits in place of ratings; a whole run fetches the ratings."] if made_up else []
    return Result([table], _claims(rows), notes)


def _claims(rows: list[Row]) -> dict[str, bool]:
    by = {row.label: row.found for row in rows}
    films = sorted({label[0] for label in by}, key=int)
    return {
        "More bits find nearer neighbours": all(list(found) == sorted(found, reverse=True) for found in by.values()),
        "The more neighbours are asked for, the less is lost": all(
            by[size, "1"][i] > by[size, "5"][i] > by[size, "10"][i] for size in films for i in range(len(BITS))
        ),
    }


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("vanilla_hashing", given)


if __name__ == "__main__":
    raise SystemExit(main())
