"""Pictures of attacks: what an adversary learns as epsilon grows. Needs the extra ``plots`` (matplotlib).

Unlike other pictures these are about the data they were computed from, and are no more private than those.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from noisewright.adversary.inference.new_row import PLACES, NewRow
from noisewright.core.exact import Exact, as_fraction
from noisewright.plots.figure import COLOURS, blank_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_new_row"]

POINTS = 60
"""Number of further points of the curves between the smallest and the largest epsilon."""

LETTERING: Any = {"textcoords": "offset points", "fontsize": 8, "color": "#6b7680"}
"""Names of the ends of the scale, next to their lines."""

MOST_TICKS = 9
"""Maximum number of epsilons written on the axis."""


def draw_new_row(attack: NewRow, epsilons: Sequence[Exact], noise: str = "geometric") -> Figure:
    """Privacy loss and utility of a noisy count over epsilon: noise on the count and noise on each row.

    The given epsilons have marks; dashed lines are the ends of the scale, endless noise and none at all.
    """
    marked = sorted(float(as_fraction(epsilon, "epsilon")) for epsilon in epsilons)
    low, high = (marked[0], marked[-1]) if len(set(marked)) > 1 else (marked[0] / 4, marked[0] * 4)
    dense = np.geomspace(low, high, POINTS).tolist()
    limits = attack.limits
    figure = blank_figure(9, 3.9)
    left, right = figure.subplots(1, 2)
    for axes, measure, ends in (
        (left, "privacy_loss", (1.0, limits.privacy_loss)),
        (right, "utility", (limits.blind, 1.0)),
    ):
        for end, name, up in zip(ends, ("endless noise", "no noise"), (-10, 3), strict=True):
            axes.axhline(end, color="#9aa4ad", linestyle="--", linewidth=0.9)
            axes.annotate(name, (0.01, end), (0, up), xycoords=("axes fraction", "data"), **LETTERING)
        axes.margins(y=0.1)
        for place, colour in zip(PLACES, COLOURS, strict=False):
            which = list(PLACES).index(place)
            curve = [getattr(pair[which], measure) for pair in attack.sweep(dense, noise)]
            marks = [getattr(pair[which], measure) for pair in attack.sweep(marked, noise)]
            wide = 2.6 - 1.2 * which  # where the two are the same, the first shows below the second
            axes.plot(dense, curve, color=colour, linewidth=wide, label=PLACES[place])
            axes.plot(marked, marks, "o", color=colour, markersize=4.5)
        axes.set(xscale="log", xlabel="epsilon", ylabel=measure.replace("_", " "))
        if len(marked) <= MOST_TICKS:
            ticks = sorted({low, *marked, high})
            axes.set_xticks(ticks, [f"{epsilon:.4g}" for epsilon in ticks])
            axes.minorticks_off()
        axes.grid(color="#e6e9ec", linewidth=0.8)
        axes.set_axisbelow(True)
    left.set_title("how many times as likely the sensitive value is guessed", fontsize=9)
    right.set_title("how likely it is guessed whether the row was counted", fontsize=9)
    handles, names = left.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=2, frameon=False, fontsize=9)
    return figure
