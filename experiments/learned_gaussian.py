"""Learned privatisers of two Gaussian classes against theory: four published tables of nine budgets, trained in one run.

Run:  noisewright reproduce learned_gaussian [--quick] [--json] [--plot FILE.png]

Published are four learned numbers for each budget (two shifts, two noises), how often the class is guessed from such
releases at best, and the least of the family. 20,000 records, batches of 200, Adam with a rate of 0.01, an augmented
Lagrangian, and an adversary with two hidden layers; epochs, layers and steps of the adversary are not told in the source. It
was trained with the log loss, so what is learned is compared with the optimum for *that*; against guesses another mechanism
is better, by up to 1.6 points.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from experiments.report import Result, Row, Table, command
from noisewright.context_aware import Mixture
from noisewright.context_aware import gaussian as shifts
from noisewright.learning import Course, Settings, train_curve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Points = tuple[tuple[int, int], ...]
LAWS = (Mixture(0.5, -3, 3), Mixture(0.75, -3, 3), Mixture(0.5, -3, 3, 2, 1), Mixture(0.75, -3, 3, 2, 1))
"""Of tables 2, 3, 4 and 5."""
ROWS = 20_000
BUDGETS = (1, 2, 3, 4, 5, 6, 7, 8, 9)
SETTINGS = Settings(
    epochs=20, batch=200, adversary_steps=2, rate=0.01, adversary_rate=0.01, momentum=0.9, penalty=0.2,
    adversary_hidden=10, warm_up=0, cap=False,
)  # fmt: skip
PUBLISHED = """
0.5214 0.5214 0.7797 0.7797 0.9747 0.9693|0.9861 0.9861 1.0028 1.0029 0.9225 0.9213|1.3819 1.3819 1.0405 1.0403 0.8689 0.8682
1.5713 1.5713 1.2249 1.2249 0.8169 0.8144|1.8199 1.8199 1.3026 1.3024 0.7638 0.7602|1.9743 1.9745 1.436 1.4359 0.7211 0.7035
2.5332 2.5332 0.7499 0.7500 0.6456 0.6384|2.8284 2.8284 0.0044 0.0028 0.5681 0.5681|2.9999 3.0000 0.0003 0.0004 0.5000 0.5000
0.8094 0.2698 0.844 0.8963 0.9731 0.9630|1.4998 0.5000 0.9676 1.1612 0.9271 0.9176|0.9808 0.3269 1.3630 1.5762 0.9205 0.8647
2.2611 0.7536 1.1327 1.6225 0.8355 0.8023|2.5102 0.8368 1.0724 1.8666 0.7963 0.7503|2.8238 0.9412 1.2894 1.9752 0.7643 0.7500
3.2148 1.0718 0.6938 2.1403 0.7500 0.7500|3.3955 1.1320 1.0256 2.2789 0.7500 0.7500|4.1639 1.3878 0.0367 2.0714 0.7500 0.7500
0.8660 0.8660 0.0079 0.7074 0.9107 0.9105|1.2781 1.2781 0.0171 0.8560 0.8550 0.8539|1.5146 1.5146 0.0278 1.1352 0.8042 0.8011
1.7587 1.7587 0.0330 1.2857 0.7554 0.7513|2.0923 2.0923 0.0142 1.0028 0.7113 0.7043|2.3079 2.2572 0.0211 1.1185 0.6676 0.6600
2.5351 2.5351 0.0567 1.0715 0.6225 0.6185|2.7056 2.7056 0.0358 1.1665 0.5868 0.5803|2.8682 2.8682 0.0564 1.2435 0.5601 0.5457
0.8214 0.2739 0.0401 1.0167 0.9448 0.9328|1.4164 0.4722 0.0583 1.2959 0.9033 0.8891|2.2354 0.7450 0.0246 1.3335 0.8514 0.8481
2.6076 0.8693 0.0346 1.5199 0.8148 0.8120|2.9919 0.9977 0.0143 1.6399 0.7833 0.7824|3.3079 1.1027 0.0094 1.7707 0.7606 0.7500
3.1458 1.0488 0.0565 2.1606 0.7500 0.7500|3.9707 1.3237 0.0142 1.9129 0.7500 0.7500|4.0835 1.3613 0.0625 2.1364 0.7500 0.7500
"""
"""By table and budget: the shifts of both classes, their noises, how often the class is guessed then, and the least."""
SLIPS = {(3, 6): (1,), (3, 7): (0,)}
"""Table 5: the least at a budget of 6 is 0.7606, and what is listed for 7 gives 0.7505."""
SECONDS = (15, 240)


def published() -> dict[tuple[int, int], tuple[float, ...]]:
    """The published numbers by table and budget."""
    cells = [tuple(map(float, cell.split())) for cell in PUBLISHED.replace("\n", "|").split("|") if cell]
    return {(place // 9, place % 9 + 1): cell for place, cell in enumerate(cells)}


def records(seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Records of all four laws: numbers and classes (laws, rows)."""
    rng = np.random.default_rng(seed)
    y = (rng.random((4, ROWS)) < np.array([law.py1 for law in LAWS])[:, None]).astype(np.int64)
    normal = rng.normal(size=(4, ROWS))
    ends = [[(law.mean0, law.sd0), (law.mean1, law.sd1)] for law in LAWS]
    picked = np.array(ends)[np.arange(4)[:, None], y]
    return picked[..., 0] + picked[..., 1] * normal, y


@cache
def trained(
    points: tuple[tuple[int, int], ...], loss: str = "log", seed: int = 0
) -> tuple[dict[tuple[int, int], shifts.AffineMechanism], Course]:
    """The learned mechanisms by law and budget, all from one run, and how it went; other seeds have other records, too."""
    x, y = records(1 + seed)
    settings = Settings(**{**SETTINGS.to_json(), "loss": loss, "seed": seed})
    curve = train_curve(
        "shifts",
        x[:, :, None],
        np.zeros((4, ROWS, 0), np.int64),
        y[:, :, None],
        [float(budget) for _, budget in points],
        settings,
        given="xy",
        source=np.array([law for law, _ in points]),
    )
    made = {}
    for point, arrays in zip(points, curve.arrays, strict=True):
        moved, noise = (tuple(map(float, arrays[name])) for name in ("shifts", "noises"))
        made[point] = shifts.AffineMechanism(LAWS[point[0]], (1.0, 1.0), moved, noise)
    return made, curve.course


@cache
def best(law: int, budget: int, loss: str) -> shifts.AffineMechanism:
    """The optimum of the family."""
    return shifts.class_noise(LAWS[law], budget, loss)


def learned(points: Points, seed: int = 0) -> list[Row]:
    """What was learned, beside the optimum for the log loss."""
    rows = []
    for (law, budget), made in trained(points, seed=seed)[0].items():
        least = best(law, budget, "log")
        found = (made.accuracy, made.information, made.spent)
        told = (least.accuracy, least.information, float(budget))
        loose = (2,) if least.spent < 0.999 * budget or least.information < 0.001 else ()
        rows.append(Row((f"{law + 2}", f"{budget}"), found, told, loose, (0.01, 0.01, 0.02 * budget)))
    return rows


def recomputed(points: Points) -> list[Row]:
    """What the published numbers give, and the least that a search finds."""
    rows = []
    for point in points:
        b0, b1, g0, g1, *told = published()[point]
        given = shifts.AffineMechanism(LAWS[point[0]], (1.0, 1.0), (b0, -b1), (g0, g1))
        found = (given.accuracy, best(*point, "zero-one").accuracy)
        rows.append(Row((f"{point[0] + 2}", f"{point[1]}"), found, tuple(told), SLIPS.get(point, ()), (1e-4, 2e-4)))
    return rows


def points_of(quick: bool) -> tuple[tuple[int, int], ...]:
    """Laws and budgets: all 36, or six of them."""
    if quick:
        return (0, 2), (0, 5), (1, 4), (2, 3), (3, 3), (3, 6)
    return tuple((law, budget) for law in range(4) for budget in BUDGETS)


def result(quick: bool = False) -> Result:
    """All 36 points in one run, and again with another seed; a quick run has six, once."""
    points = points_of(quick)
    seeds = (0,) if quick else (0, 1)
    rows = {seed: learned(points, seed) for seed in seeds}
    worst = [max(abs(row.found[0] - (row.told[0] or 0)) for row in rows[seed]) for seed in seeds]
    resting = [int(trained(points, seed=seed)[1].converged().sum()) for seed in seeds]
    columns = ("table", "budget")
    names = ("guessed right", "nats", "distortion")
    tables = [
        *(
            Table(title, columns, names, rows[seed], "the best of the family for that loss")
            for seed, title in zip(seeds, ("Learned with the log loss", "With another seed"), strict=False)
        ),
        Table("The published mechanisms", columns, ("guessed right", "the least"), recomputed(points), "the tables"),
    ]
    findings = {
        "Every point is within one percentage point of the optimum for its loss": max(worst) <= 0.01,
        "Every point converged": min(resting) == len(points),
    }
    notes = [
        f"Seed {seed}: the largest gap in accuracy is {100 * gap:.2f} percentage points; {count} of {len(points)} converged."
        for seed, gap, count in zip(seeds, worst, resting, strict=True)
    ]
    return Result(tables, findings, notes)


def figure(quick: bool = False) -> Figure:
    """Accuracy by distortion for all four laws."""
    from noisewright.plotting.mechanisms import COLOURS, blank_figure

    drawn = blank_figure(8.5, 6.5)
    made = trained(points_of(quick))[0]
    for law in range(4):
        axes = drawn.add_subplot(2, 2, law + 1)
        for colour, loss, name in zip(
            COLOURS, ("zero-one", "log"), ("against guesses", "for the log loss"), strict=False
        ):
            axes.plot(BUDGETS, [best(law, b, loss).accuracy for b in BUDGETS], color=colour, label=f"best {name}")
        learned_at = [budget for other, budget in made if other == law]
        axes.plot(learned_at, [made[law, b].accuracy for b in learned_at], "ko", markersize=4, label="learned")
        axes.plot(BUDGETS, [published()[law, b][4] for b in BUDGETS], "x", color="0.5", markersize=5, label="published")
        axes.set(xlabel="distortion", ylabel="guessed right", title=f"table {law + 2}", xlim=(0.5, 9.5))
        if not law:
            axes.legend(frameon=False)
    return drawn


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("learned_gaussian", given)


if __name__ == "__main__":
    raise SystemExit(main())
