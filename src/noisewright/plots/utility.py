"""Pictures of the cost of mechanisms, side by side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from noisewright.core.exact import upward
from noisewright.plots.figure import COLOURS, blank_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from noisewright.optimality.utility import UtilityTable

__all__ = ["draw_utility"]


def draw_utility(table: UtilityTable) -> Figure:
    """Plot the cost of mechanisms: a hollow mark for outputs taken at face value, a full one for the best guess from them.

    One panel for each loss and prior; mechanisms are in the order of the table, and each has its epsilon next to its name.
    """
    count = len(table.rows) // len(table.priors)
    width = 3.4 + 3.4 * len(table.losses)
    figure = blank_figure(min(width, 14), (1.3 + 0.34 * count) * len(table.priors))
    panels = figure.subplots(len(table.priors), len(table.losses), sharey=True, squeeze=False)
    for line, prior in zip(panels, table.priors, strict=True):
        rows = [row for row in table.rows if row.prior == prior]
        for axes, loss in zip(line, table.losses, strict=True):
            for y, row in enumerate(rows):
                face, bayes = row.face[loss], row.bayes[loss]
                if face is not None:
                    axes.plot([bayes, face], [y, y], color="#b8c0c8", linewidth=2, zorder=1)
                    axes.plot(face, y, "o", color=COLOURS[1], markerfacecolor="white", markersize=10, zorder=2)
                axes.plot(bayes, y, "o", color=COLOURS[0], markersize=6, zorder=3)
            axes.set(xlabel=f"expected {loss} loss" + (f", prior {prior}" if len(table.priors) > 1 else ""))
            axes.set_xlim(0, 1.08 * max(max(row.bayes[loss], row.face[loss] or 0.0) for row in rows) or 1.0)
            axes.grid(axis="x", color="#e6e9ec", linewidth=0.8)
            axes.set_axisbelow(True)
        names = [f"{row.name}\nepsilon {_short(row.epsilon.value)} {row.counted}" for row in rows]
        line[0].set_yticks(range(count), names, fontsize=8)
        line[0].set_ylim(count - 0.4, -0.6)
    marks = [
        _mark(COLOURS[1], "white", "output taken at face value"),
        _mark(COLOURS[0], COLOURS[0], "best guess from the output"),
    ]
    figure.legend(handles=marks, loc="outside upper center", ncols=2, frameon=False, fontsize=9)
    return figure


def _mark(edge: str, fill: str, label: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], marker="o", linestyle="", color=edge, markerfacecolor=fill, markersize=7, label=label)


def _short(value: float) -> str:
    return "infinite" if math.isinf(value) else upward(value, 3)
