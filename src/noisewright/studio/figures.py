"""Figures as plain data for the plotting library in the browser: no objects, few digits, axes with names and units.

Colours are left to the page where they depend on the theme; a figure is drawn on a clear ground and takes the ink of the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from nicegui import ui
from numpy.typing import ArrayLike

from noisewright._typing import Floats
from noisewright.channels.channel import Channel
from noisewright.studio.components import is_dark, on_theme

__all__ = [
    "COLOURS",
    "INK",
    "Map",
    "Plot",
    "band",
    "bars",
    "figure",
    "heat_map",
    "in_factors",
    "in_theme",
    "labels",
    "level",
    "lines",
    "place_map",
    "rounded",
    "upright",
]


@dataclass(frozen=True)
class Map:
    """Numbers on a grid of places, and the place in question."""

    east: Floats
    north: Floats
    values: list[list[float | None]]
    """A row for each step north; None where there is no place."""
    place: tuple[float, float]
    what: str
    """Meaning of the numbers."""
    axes: tuple[str, str]
    words: str


COLOURS = ("#2a7f62", "#c8553d", "#4d8fbf", "#d1921c", "#8a6bbd", "#7d8791")
INK = {"light": ("#1c2733", "#d5dce2"), "dark": ("#e6ebf0", "#36424d")}
"""Ink and grid lines of the two themes."""
DOTTED = {"width": 1.5, "dash": "dot", "color": "#7d8791"}


def rounded(values: ArrayLike, digits: int = 5) -> list[float]:
    """Round numbers to this number of digits: what the eye can see, and a quarter of the bytes."""
    array = np.asarray(values, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        power = np.floor(np.log10(np.abs(array), out=np.zeros_like(array), where=array != 0))
    scale = 10.0 ** (digits - 1 - power)
    return [float(v) for v in np.where(array == 0, 0.0, np.round(array * scale) / scale)]


def labels(values: Iterable[Any]) -> list[Any]:
    """Labels of axes: numbers as they are, all else as text, in which the plotting library finds no markup."""
    return [value if isinstance(value, (int, float)) else escape(str(value)) for value in values]


def figure(data: list[dict[str, Any]], x: str, y: str, dark: bool, **layout: Any) -> dict[str, Any]:
    """A figure with named axes in the ink of the theme."""
    ink, grid = INK["dark" if dark else "light"]
    axis = {"gridcolor": grid, "zerolinecolor": grid, "linecolor": grid, "automargin": True, "fixedrange": True}
    made: dict[str, Any] = {
        "margin": {"l": 56, "r": 12, "t": 12, "b": 48},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": ink, "size": 13, "family": "system-ui, sans-serif"},
        "xaxis": {**axis, "title": {"text": x}},
        "yaxis": {**axis, "title": {"text": y}},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "hovermode": "closest",
    }
    for name, value in layout.items():
        made[name] = {**made[name], **value} if isinstance(value, dict) and isinstance(made.get(name), dict) else value
    return {"data": data, "layout": made, "config": {"displayModeBar": False, "responsive": True}}


def in_theme(figure: Any, dark: bool) -> Any:
    """The same figure with the ink and the grid lines of a theme, whichever it was drawn for."""
    known = dict(zip(INK["light" if dark else "dark"], INK["dark" if dark else "light"], strict=True))

    def shown(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: known.get(one, one) if isinstance(one, str) else shown(one) for name, one in part.items()}
        return (
            [shown(one) if isinstance(one, dict) else one for one in part] if isinstance(part, (list, tuple)) else part
        )

    return shown(figure)


def in_factors(least: float, most: float) -> dict[str, Any]:
    """An axis in equal factors, with the numbers themselves at its ticks."""
    known = [digit * 10.0**power for power in range(-6, 7) for digit in (1, 2, 5)]
    ticks = [tick for tick in known if least * 0.999 <= tick <= most * 1.001]
    return {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}


def band(low: float, high: float) -> dict[str, Any]:
    """A part of the axis where nothing can be."""
    ends = {"x0": low, "x1": high, "y0": 0, "y1": 1}
    return {"type": "rect", "yref": "paper", **ends, "fillcolor": "rgba(128,128,128,.22)", "line": {"width": 0}}


def level(height: float) -> dict[str, Any]:
    """A dotted line across the figure."""
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": height, "y1": height, "line": DOTTED}


def upright(place: float) -> dict[str, Any]:
    """A dotted line from bottom to top, where something was chosen."""
    return {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": place, "x1": place, "line": DOTTED}


def lines(
    series: Sequence[tuple[str, ArrayLike, ArrayLike]],
    x: str,
    y: str,
    dark: bool,
    steps: bool = False,
    marks: bool = False,
    **layout: Any,
) -> dict[str, Any]:
    """Curves with names, as steps or with a mark at every point."""
    data = [
        {
            "type": "scatter",
            "mode": "lines+markers" if marks else "lines",
            "name": name,
            "x": rounded(at),
            "y": rounded(values),
            "line": {"color": COLOURS[i % len(COLOURS)], "width": 2, "shape": "hvh" if steps else "linear"},
        }
        for i, (name, at, values) in enumerate(series)
    ]
    return figure(data, x, y, dark, showlegend=len(series) > 1, **layout)


def banded(
    at: Sequence[Any], middle: ArrayLike, low: ArrayLike, high: ArrayLike, x: str, y: str, dark: bool, **layout: Any
) -> dict[str, Any]:
    """Estimates with intervals: a line in its band over numbers, columns with whiskers over anything else."""
    values, ends = np.asarray(middle, dtype=np.float64), [np.asarray(e, dtype=np.float64) for e in (low, high)]
    if all(isinstance(place, (int, float)) and not isinstance(place, bool) for place in at):
        edge = {"width": 0}
        data: list[dict[str, Any]] = [
            {
                "type": "scatter",
                "mode": "lines",
                "x": list(at),
                "y": rounded(ends[0]),
                "line": edge,
                "hoverinfo": "skip",
            },
            {
                "type": "scatter",
                "mode": "lines",
                "x": list(at),
                "y": rounded(ends[1]),
                "line": edge,
                "fill": "tonexty",
                "fillcolor": "rgba(77,143,191,0.35)",
                "hoverinfo": "skip",
            },
            {
                "type": "scatter",
                "mode": "lines+markers",
                "x": list(at),
                "y": rounded(values),
                "line": {"color": COLOURS[0], "width": 2},
            },
        ]
        return figure(data, x, y, dark, showlegend=False, **layout)
    whiskers = {
        "type": "data",
        "symmetric": False,
        "array": rounded(np.maximum(ends[1] - values, 0)),
        "arrayminus": rounded(np.maximum(values - ends[0], 0)),
        "color": INK["dark" if dark else "light"][0],
    }
    shown = {
        "type": "bar",
        "x": labels(str(place) for place in at),
        "y": rounded(values),
        "error_y": whiskers,
        "marker": {"color": COLOURS[2]},
    }
    return figure([shown], x, y, dark, showlegend=False, **{"xaxis": {"type": "category"}, **layout})


def bars(
    series: Sequence[tuple[str, Sequence[Any], ArrayLike]], x: str, y: str, dark: bool, **layout: Any
) -> dict[str, Any]:
    """Columns next to each other."""
    data = [
        {
            "type": "bar",
            "name": name,
            "x": labels(at),
            "y": rounded(values),
            "marker": {"color": COLOURS[i % len(COLOURS)]},
        }
        for i, (name, at, values) in enumerate(series)
    ]
    return figure(data, x, y, dark, showlegend=len(series) > 1, barmode="group", **layout)


def _from_zero(values: ArrayLike) -> dict[str, float]:
    """The ends of a scale of colours: both, for the plotting library leaves out one alone."""
    return {"zmin": 0.0, "zmax": float(np.max(values, initial=0.0)) or 1.0}


def heat_map(channel: Channel, dark: bool) -> dict[str, Any]:
    """All probabilities of a channel."""
    data = [
        {
            "type": "heatmap",
            "x": labels(map(str, channel.outputs)),
            "y": labels(map(str, channel.inputs)),
            "z": [rounded(row, 4) for row in channel.matrix],
            "colorscale": "Cividis",
            **_from_zero(channel.matrix),
            "colorbar": {"title": {"text": "probability"}, "thickness": 12},
            "hovertemplate": "true value %{y}<br>comes out as %{x}<br>probability %{z}<extra></extra>",
        }
    ]
    axes = {"xaxis": {"type": "category"}, "yaxis": {"type": "category", "autorange": "reversed"}}
    return figure(data, "what comes out", "the true value", dark, **axes)


def place_map(shown: Map, dark: bool) -> dict[str, Any]:
    """Numbers on a grid of places, with a cross at the place in question."""
    cells = {
        "type": "heatmap",
        "x": rounded(shown.east),
        "y": rounded(shown.north),
        "z": [[None if value is None else float(f"{value:.4g}") for value in row] for row in shown.values],
        "colorscale": "Cividis",
        **_from_zero([value for row in shown.values for value in row if value is not None]),
        "colorbar": {"title": {"text": shown.what}, "thickness": 12, "exponentformat": "power"},
        "hovertemplate": "%{x}, %{y}<br>" + shown.what + " %{z}<extra></extra>",
    }
    cross = {"symbol": "x-thin", "size": 12, "line": {"width": 3, "color": "#ffffff"}}
    place = {"type": "scatter", "mode": "markers", "x": [shown.place[0]], "y": [shown.place[1]], "marker": cross}
    square: dict[str, Any] = {"yaxis": {"scaleanchor": "x", "constrain": "domain"}, "xaxis": {"constrain": "domain"}}
    data: list[dict[str, Any]] = [cells, {**place, "hoverinfo": "skip"}]
    return figure(data, shown.axes[0], shown.axes[1], dark, showlegend=False, **square)


# Plot ---------------------------------------------------------------------------------------------------------------------
#
# A figure that is there only while there is something to draw.


class Plot:
    """A place for a figure; :meth:`show` draws one, or with None takes it away."""

    def __init__(self, classes: str = "nw-plot") -> None:
        self._place, self._classes = ui.element("div"), classes
        self._drawn: ui.plotly | None = None
        self._figure: dict[str, Any] | None = None
        on_theme(lambda dark: self.show(self._figure))

    def show(self, figure: dict[str, Any] | None) -> None:
        """Draw this now, in the theme of the page; a figure that is there is changed, not replaced."""
        self._figure = figure = None if figure is None else in_theme(figure, is_dark())
        if figure is None:
            self._place.clear()
            self._drawn = None
        elif self._drawn is None:
            with self._place:
                self._drawn = ui.plotly(figure).classes(self._classes)
        else:
            self._drawn.update_figure(figure)
