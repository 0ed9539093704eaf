"""Before and after: where two Gaussian classes lie before a learned privatiser changes them, and where afterwards.

Run:  noisewright reproduce learned_histograms [--quick] [--json] [--plot FILE.png]

Published as figures. What is said of them is tried on what is learned here: with equal priors and variances both classes
move and widen alike; with unequal priors the rarer class moves further; with unequal variances the narrower class gets the
noise. What they are compared with in numbers is the best of the family for the log loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.learned_gaussian import LAWS, best, records, trained
from experiments.report import Result, Row, Table, command

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = (2, 4, 6)
SECONDS = (15, 30)


def points(quick: bool) -> tuple[tuple[int, int], ...]:
    """The laws and budgets that are looked at."""
    return tuple((law, budget) for law in range(4) for budget in (SHOWN[1:2] if quick else SHOWN))


def result(quick: bool = False) -> Result:
    """Means and deviations of both classes after the release."""
    rows, made = [], trained(points(quick))[0]
    for (law, budget), one in made.items():
        found, told = one.released, best(law, budget, "log").released
        assert found is not None
        assert told is not None
        numbers = tuple((m.mean1 - m.mean0, m.sd0, m.sd1) for m in (found, told))
        rows.append(Row((f"{law + 2}", f"{budget}"), numbers[0], numbers[1], (), (0.15, 0.2, 0.2)))
    names = ("between the means", "deviation of class 0", "of class 1")
    moved = {point: (one.offsets[0], -one.offsets[1], *one.noises) for point, one in made.items()}
    findings = {
        "With equal priors and variances both classes move and widen alike": all(
            abs(b0 - b1) < 0.1 and abs(g0 - g1) < 0.1 for (law, _), (b0, b1, g0, g1) in moved.items() if law == 0
        ),
        "With unequal priors the rarer class moves further": all(
            b0 > 2 * b1 for (law, _), (b0, b1, _, _) in moved.items() if law in (1, 3)
        ),
        "With unequal variances the narrower class gets the noise": all(
            g1 > g0 + 0.25 for (law, _), (_, _, g0, g1) in moved.items() if law in (2, 3)
        ),
    }
    return Result([Table("After the release", ("table", "budget"), names, rows, "the best of the family")], findings)


def figure(quick: bool = False) -> Figure:
    """Histograms of both classes, raw and released."""
    from noisewright.plotting.mechanisms import COLOURS, blank_figure

    x, y = records(seed=2)
    made = trained(points(quick))[0]
    shown = [0, *sorted({budget for _, budget in made})]
    drawn = blank_figure(9.5, 8)
    bins = np.linspace(-10, 10, 81)
    for law in range(4):
        for column, budget in enumerate(shown):
            axes = drawn.add_subplot(4, len(shown), len(shown) * law + column + 1)
            rng = np.random.default_rng(law)
            values = x[law] if not budget else made[law, budget].release(x[law], y[law], rng)
            for label, colour in zip((0, 1), COLOURS, strict=False):
                axes.hist(values[y[law] == label], bins, color=colour, alpha=0.55, label=f"class {label}")
            axes.set(yticks=[], xlim=(-10, 10), xticks=(-5, 0, 5), xlabel="public value" if law == 3 else "")
            if not law:
                axes.set_title("raw" if not budget else f"distortion {budget}")
            if not column:
                sd = ", ".join(f"{value:g}" for value in (LAWS[law].sd0, LAWS[law].sd1))
                axes.set_ylabel(f"P(Y=1) = {LAWS[law].py1:g}\ndeviations {sd}")
            if law == 1 and not column:  # where there is room
                axes.legend(frameon=False, fontsize=7, loc="upper left")
    return drawn


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("learned_histograms", given)


if __name__ == "__main__":
    raise SystemExit(main())
