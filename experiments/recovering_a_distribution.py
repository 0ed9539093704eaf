"""Getting a distribution back from private reports: the geometric against randomised response with equal protection nearby.

Run:  noisewright reproduce recovering_a_distribution [--quick] [--runs N] [--json]

Users hold a number from 0 to 100. Each reports it through the truncated geometric with epsilon = ln 2 / 10 for each unit,
or through randomised response with epsilon = ln 2: within a radius of 10 both allow a factor of at most 2. The population is
estimated by 5000 steps of the iterative Bayesian update from the uniform distribution, and compared with the drawn sample in
Kantorovich distance (W1).

The published study has figures without numbers and names no parameters for its binomial; ``REPORTED`` are those of a
recomputation with Bin(100, 1/2), and with four random points under Dirichlet(1, 1, 1, 1) weights. They are random too:
a mean agrees when it differs by no more than Student's t allows, at a rate of one false alarm in 100,000 for each number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import noisewright as nw
from experiments.report import Result, Row, Table, allowance, command
from noisewright.estimation.bayesian_update import bayesian_updates, response_mle
from noisewright.estimation.comparison import kantorovich, total_variation
from noisewright.estimation.counts import model_of
from noisewright.estimation.likelihood import certify, project

Floats = NDArray[np.float64]

SECONDS, RUNS = (4, 10), (3, 20)
HIGHEST, RADIUS, STEPS, FEW_STEPS = 100, 10, 5000, 100
SIZES = (1_000, 10_000, 50_000, 100_000)
POPULATIONS = ("binomial", "4-point")
MEASURES = (
    "geometric W1", "geometric W1 at 100 steps", "response W1", "response exact MLE", "geometric TV", "response TV",
    "geometric inverted", "geometric projected", "response inverted", "response projected", "geometric as is", "response as is",
)  # fmt: skip

REPORTED = {
    ("binomial", 1_000): (2.37, 1.07, 17.4, 17.5, 0.65, 0.88, 66, 6.8, 117, 17.1, 10.7, 20.9),
    ("binomial", 10_000): (1.08, 0.47, 17.6, 17.6, 0.33, 0.76, 20.7, 6.9, 37, 17.6, 10.7, 21.0),
    ("binomial", 50_000): (0.56, 0.41, 13.5, 12.1, 0.18, 0.57, 9.2, 5.5, 16.4, 12.0, 10.7, 21.1),
    ("binomial", 100_000): (0.40, 0.40, 12.6, 10.2, 0.12, 0.50, 6.7, 5.2, 9.4, 10.1, 10.7, 21.1),
    ("4-point", 1_000): (3.05, 3.28, 21.6, 21.6, 0.80, 0.84, 61, 14.9, 71, 22.4, 8.6, 24.5),
    ("4-point", 10_000): (1.33, 2.72, 11.2, 11.2, 0.58, 0.44, 19.2, 12.6, 34, 10.2, 8.6, 23.6),
    ("4-point", 50_000): (0.96, 2.87, 5.8, 5.9, 0.57, 0.27, 9.0, 9.0, 14.7, 5.6, 9.2, 20.4),
    ("4-point", 100_000): (0.92, 2.74, 3.9, 3.5, 0.58, 0.19, 6.0, 9.6, 10.1, 3.2, 8.4, 21.6),
}
REPORTED_RUNS = 20
SOURCE = "a recomputation of the published study, whose figures carry no numbers"
ROUNDED = 0.02
"""Reported numbers have two or three digits."""


@dataclass(frozen=True)
class Cell:
    """One population of one size: means and standard deviations over the runs, in the order of ``MEASURES``."""

    population: str
    size: int
    runs: int
    means: tuple[float, ...]
    deviations: tuple[float, ...]
    likelihood_gain: float
    """The least, over the runs, by which the exact maximum exceeds the likelihood of the iterated response."""

    @property
    def reported(self) -> tuple[float, ...]:
        return REPORTED[self.population, self.size]

    @property
    def close(self) -> tuple[float, ...]:
        """How near to what was reported each mean must be, given the spread of these runs."""
        return tuple(
            allowance(spread, self.runs, REPORTED_RUNS) + ROUNDED * said
            for said, spread in zip(self.reported, self.deviations, strict=True)
        )


def run(population: str, size: int, runs: int = 20, seed: int = 1, steps: int = STEPS) -> Cell:
    """All runs of one cell; each draws its own users, and for the four points its own population."""
    rng = np.random.default_rng([seed, POPULATIONS.index(population), size])
    line = nw.geometric(epsilon=math.log(2) / RADIUS, within=(0, HIGHEST))
    response = nw.randomised_response(HIGHEST + 1, epsilon=math.log(2))
    users = [_users(population, size, rng) for _ in range(runs)]
    truths = np.array([np.bincount(u, minlength=HIGHEST + 1) / size for u in users])
    shares = {m.name: np.array([_shares(m, u, rng) for u in users]) for m in (line, response)}
    operators = {m.name: model_of(m).operator for m in (line, response)}
    rates = operators[response.name]
    geo, rr = shares[line.name], shares[response.name]
    geo_long = bayesian_updates(geo, operators[line.name], iterations=steps)
    geo_short = bayesian_updates(geo, operators[line.name], iterations=min(FEW_STEPS, steps))
    rr_long = bayesian_updates(rr, rates, iterations=steps)
    rr_best = response_mle(rr, other=rates.other, lift=rates.lift)  # type: ignore[attr-defined]
    geo_raw, rr_raw = operators[line.name].inverse().left(geo), rates.inverse().left(rr)
    columns = [
        _distances(geo_long, truths), _distances(geo_short, truths), _distances(rr_long, truths),
        _distances(rr_best, truths), _variations(geo_long, truths), _variations(rr_long, truths),
        _distances(geo_raw, truths), _distances(project(geo_raw), truths),
        _distances(rr_raw, truths), _distances(project(rr_raw), truths), _distances(geo, truths), _distances(rr, truths),
    ]  # fmt: skip
    gains = [
        certify(best, q, rates).value - certify(last, q, rates).value
        for best, last, q in zip(rr_best, rr_long, rr, strict=True)
    ]
    spreads = tuple(float(np.std(c, ddof=1)) for c in columns)
    return Cell(population, size, runs, tuple(float(np.mean(c)) for c in columns), spreads, min(gains))


def findings(cells: list[Cell]) -> dict[str, bool]:
    """What the study says, and whether it comes out here."""
    limits = {"binomial": 0.6, "4-point": 1.3}
    large = [cell for cell in cells if cell.size == max(SIZES)]
    points = [cell for cell in cells if cell.population == "4-point" and cell.size >= 10_000]
    return {
        "The geometric is closer than randomised response in W1 in every cell": all(
            cell.means[0] < cell.means[2] for cell in cells
        ),
        "With 100,000 users the geometric is within 0.6 (binomial) and 1.3 (4-point)": all(
            cell.means[0] < limits[cell.population] for cell in large
        ),
        "No iterated response is likelier than the exact maximum": all(
            cell.likelihood_gain >= -1e-12 for cell in cells
        ),
        "On four points randomised response wins in total variation from 10,000 users on": all(
            cell.means[5] < cell.means[4] for cell in points
        ),
    }


def _users(population: str, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    if population == "binomial":
        return rng.binomial(HIGHEST, 0.5, size)
    points = rng.choice(HIGHEST + 1, 4, replace=False)
    return points[rng.choice(4, size, p=rng.dirichlet(np.ones(4)))]


def _shares(mechanism: nw.base.Mechanism, users: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    return np.bincount(mechanism.release(users, rng), minlength=HIGHEST + 1) / len(users)


def _distances(found: Floats, truths: Floats) -> list[float]:
    return [kantorovich(p, q) for p, q in zip(found, truths, strict=True)]


def _variations(found: Floats, truths: Floats) -> list[float]:
    return [total_variation(p, q) for p, q in zip(found, truths, strict=True)]


def table(population: str, cells: list[Cell]) -> Table:
    """The cells of one population beside each other, a row for each measure."""
    of = [cell for cell in cells if cell.population == population]
    columns = (
        zip(*numbers, strict=True) for numbers in zip(*((c.means, c.reported, c.close) for c in of), strict=True)
    )
    rows = [Row((measure,), f, r, close=c) for measure, f, r, c in zip(MEASURES, *columns, strict=True)]
    names = tuple(f"{cell.size:,} users" for cell in of)
    title = f"Distance of the estimate from the drawn sample, {population} population, {of[0].runs} runs"
    return Table(title, ("measure",), names, rows, SOURCE, 2)


def result(quick: bool = False, runs: int = RUNS[1]) -> Result:
    """Both populations in all sizes; a quick run has the largest only."""
    sizes = SIZES[-1:] if quick else SIZES
    cells = [run(population, size, runs) for population in POPULATIONS for size in sizes]
    return Result([table(population, cells) for population in POPULATIONS], findings(cells))


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("recovering_a_distribution", given)


if __name__ == "__main__":
    raise SystemExit(main())
