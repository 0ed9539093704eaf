"""Parts that all pictures share: an empty figure, its colours, and the way to a file."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noisewright._utils.validation import is_number
from noisewright.base import Mechanism, described
from noisewright.channels.channel import Channel
from noisewright.claims.figures import figure, percent, upward
from noisewright.claims.figures import figure as shown_figure
from noisewright.claims.readings import level_reading
from noisewright.exceptions import MissingPartError, NoChannelError, NoisewrightError, ParameterError
from noisewright.io.atomic import write_atomically
from noisewright.mechanisms.categorical.frequency_oracle import ORACLES
from noisewright.mechanisms.registry import registry

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from noisewright.design.utility import UtilityTable

__all__ = [
    "COLOURS",
    "blank_figure",
    "check_suffix",
    "draw",
    "draw_curve",
    "draw_matrix",
    "draw_places",
    "draw_utility",
    "promise_of",
    "save_figure",
    "save_picture",
]


SUFFIXES = (".png", ".svg", ".pdf")
COLOURS = ("#2a7f62", "#c8553d", "#33658a", "#e3a72f", "#6a4c93")


def blank_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingPartError("pictures need matplotlib; install noisewright[plots].") from None
    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: Figure, path: str | Path) -> Path:
    """Write a figure to a ``.png``, ``.svg`` or ``.pdf`` file, whole or not at all."""
    target = Path(path)
    check_suffix(target)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=target.suffix.lower()[1:], dpi=130)
    write_atomically(target, buffer.getvalue())
    return target


def check_suffix(target: Path) -> None:
    """Refuse a file name that is not one of a picture."""
    if target.suffix.lower() not in SUFFIXES:
        raise ParameterError(f"{target.name}: a picture is written to a {', '.join(SUFFIXES)} file.")


# Spread -------------------------------------------------------------------------------------------------------------------
#
# Noise on more than one number: how far released places and curves lie from the true ones.
#
# Places are a cloud of simulated draws with a fixed seed, inside the exact circles that hold half and 95 % of them;
# curves are the exact bands at every point of their grid. For :mod:`noisewright.plotting.mechanisms`.


SPREAD_DRAWS, CURVES = 4000, 3
SHARES = ((0.5, "half"), (0.95, "95 %"))


def promise_of(mechanism: Mechanism) -> str:
    """Return the claim in half a line; that of places is for their radius rather than for each metre."""
    within = getattr(mechanism, "within_radius", None)
    return mechanism.guarantee.reading() if within is None else level_reading(within)


def draw_places(axes: Any, mechanism: Mechanism) -> bool:
    """The places released for one true place, about it; False for a mechanism of something else."""
    entry = registry.get(mechanism.name)
    if entry is None or entry.takes.kind not in ("place", "vector"):
        return False
    made: Any = getattr(mechanism, "plane", mechanism)  # on the globe: metres north and east of the reference
    size = 2 if entry.takes.kind == "place" else int(described(mechanism).dimension or 2)
    drawn = np.asarray(made.release(np.zeros((SPREAD_DRAWS, size)), np.random.default_rng(0)), dtype=np.float64)
    globe = made is not mechanism
    flat: NDArray[np.float64] = drawn[:, 1::-1] if globe else drawn[:, :2]
    axes.plot(flat[:, 0], flat[:, -1], ".", markersize=2, alpha=0.35, color=COLOURS[0])
    axes.plot(0, 0, "+", color=COLOURS[1], markersize=14, label="true place" if size == 2 else "true point")
    quantile = getattr(made, "quantile", None)
    if quantile is not None and size == 2 and getattr(made, "remap", None) is None:
        turn = np.linspace(0, 2 * math.pi, 181)
        for colour, (share, words) in zip(COLOURS[2:], SHARES, strict=False):
            radius = quantile(share)
            unit = " m" if globe else ""
            label = f"{words} within {figure(radius, rounding='nearest')}{unit}"
            axes.plot(radius * np.cos(turn), radius * np.sin(turn), color=colour, linewidth=1.6, label=label)
    names = ("metres to the east", "metres to the north") if globe else ("first coordinate", "second coordinate")
    axes.set(xlabel=names[0], ylabel=names[1], aspect="equal")
    axes.locator_params(nbins=5)
    title = f"{SPREAD_DRAWS:,} simulated draws" + (f" of {size} coordinates" if size > 2 else "")
    axes.legend(frameon=False, fontsize=9, title=title, title_fontsize=9, loc="center left", bbox_to_anchor=(1, 0.5))
    return True


def draw_curve(axes: Any, mechanism: Any) -> None:
    """Exact bands about a level curve, and a few simulated ones: the noise is alike at every point, and independent."""
    grid = np.array(mechanism.grid)
    ends = mechanism.within or (-math.inf, math.inf)
    level = 0.0 if mechanism.within is None else float(ends[0] + ends[1]) / 2
    for colour, alpha, (share, words) in zip((COLOURS[2], COLOURS[2]), (0.35, 0.15), SHARES, strict=True):
        reach = _spread_reach(mechanism, share)
        low, high = np.clip([level - reach, level + reach], float(ends[0]), float(ends[1]))
        label = f"{words} of the points, within {figure(reach, rounding='nearest')}"
        axes.fill_between(grid, low, high, color=colour, alpha=alpha, linewidth=0, label=label)
    drawn = np.asarray(mechanism.release(np.full((CURVES, len(grid)), level), np.random.default_rng(0)))
    for k, row in enumerate(drawn):
        axes.plot(grid, row, color=COLOURS[0], linewidth=1, marker=".", label=None if k else "simulated curves")
    axes.plot(grid, np.full(len(grid), level), color=COLOURS[1], linewidth=1.6, label="true curve")
    axes.set(xlabel="position", ylabel="value")
    axes.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1, 0.5))


def _spread_reach(mechanism: Any, share: float) -> float:
    """Return the reach of two-sided geometric noise with this probability: ``P(|k| > m) = 2 a^(m + 1) / (1 + a)``."""
    a = math.exp(-1 / float(mechanism.scale_in_steps))
    steps = math.ceil(math.log((1 - share) * (1 + a) / 2) / math.log(a) - 1)
    return max(0, steps) * float(mechanism.lattice.step)


# Utility ------------------------------------------------------------------------------------------------------------------
#
# Pictures of the cost of mechanisms, side by side.


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


# Mechanism ----------------------------------------------------------------------------------------------------------------
#
# Pictures of mechanisms, for the command line, reports and pages. Needs the extra ``plots`` (matplotlib).
#
# A picture shows the law of the outputs for a few secrets: from the channel where there is one, from the exact chances of a
# mechanism of numbers, and only for what has neither from simulated draws with a fixed seed (:func:`draw`); or all of a
# mechanism's probabilities at once (:func:`draw_matrix`). It shows public parameters only, never data.


DRAWS = 200_000
BARS = 600
"""Number of bars at which a step of the law within a bar is not seen."""
LEFT_OUT = 0.002
HEAPED = 4
"""Factor over the probability of the adjacent output beyond which an output at a bound holds clamped values."""
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 10**9)
"""Interval between labels that are written on an axis with too many for all."""


def save_picture(mechanism: Mechanism, path: str | Path) -> Path:
    """Draw a mechanism to a ``.png``, ``.svg`` or ``.pdf`` file, whole or not at all."""
    check_suffix(Path(path))
    return save_figure(draw(mechanism), path)


def draw(mechanism: Mechanism) -> Figure:
    """The law of the outputs for a few secrets, as a matplotlib figure."""
    figure = blank_figure(8, 4.2)
    axes = figure.add_subplot()
    channel = _channel(mechanism)
    if channel is None:
        _check_drawable(mechanism)
    if channel is not None and not _ordered(mechanism, channel):
        _heat_map(figure, axes, channel, _reports(mechanism, channel))
    elif channel is not None:
        _rows(axes, channel)
    elif described(mechanism).below is not None:
        _chances(axes, mechanism)
    elif mechanism.name == "curve":
        draw_curve(axes, mechanism)
    else:
        _simulated(axes, mechanism)
    axes.set_title(_title(mechanism), fontsize=10)
    return figure


def draw_matrix(thing: Mechanism | Channel, title: str = "") -> Figure:
    """All probabilities of a finite channel as a heat map: one row for each secret, one column for each output.

    Up to ten outputs the numbers are written into the cells. A white cell is an output that never happens.
    """
    channel = thing if isinstance(thing, Channel) else thing.channel()
    rows, columns = channel.shape
    figure = blank_figure(min(4 + 0.32 * columns, 9.5), min(2.6 + 0.28 * rows, 7.5))
    axes = figure.add_subplot()
    _heat_map(figure, axes, channel)
    if columns <= 10 and rows <= 16:
        middle = 0.6 * channel.matrix.max()
        for (x, y), value in np.ndenumerate(channel.matrix):
            colour = "black" if value > middle or value == 0 else "white"
            axes.text(y, x, f"{value:.3f}" if value else "0", ha="center", va="center", fontsize=8, color=colour)
    words = title or ("" if isinstance(thing, Channel) else _title(thing))
    axes.set_title(words, fontsize=10)
    return figure


def _title(mechanism: Mechanism) -> str:
    return fill(f"{mechanism.name}: {promise_of(mechanism)}", 90)


def _check_drawable(mechanism: Mechanism) -> None:
    """Refuse mechanisms without a law over numbers or places: reports, codes, choices, words and pictures."""
    entry = registry.get(mechanism.name)
    if mechanism.name in ORACLES:
        why = "it has too many different reports to show one by one."
    elif entry is None:
        return
    elif entry.takes.purpose == "choice":
        why = "what it picks depends on the scores of all candidates."
    elif entry.takes.gives is not None:
        why = "what comes out are codes, which are no numbers on an axis."
    elif entry.takes.kind == "image":
        why = "noisewright images preview draws a photograph at several epsilons."
    elif entry.takes.kind in ("text", "document"):
        why = "noisewright text obfuscate --preview shows texts before and after."
    else:
        return
    raise ParameterError(f"there is no picture of this {mechanism.name}: {why}")


def _ordered(mechanism: Mechanism, channel: Channel) -> bool:
    """Return whether outputs are numbers with something between them, not categories that happen to be called by numbers."""
    entry = registry.get(mechanism.name)
    if entry is not None and entry.takes.kind == "category" and not entry.takes.metric:
        return False
    return _numbers(channel.inputs) and _numbers(channel.outputs)


def _reports(mechanism: Mechanism, channel: Channel) -> list[str] | None:
    """Sets of categories as bits, one for each of them; they are reported in bytes. None for other outputs."""
    reports = [report for report in channel.outputs if isinstance(report, tuple)]
    if mechanism.name not in ORACLES or not reports:
        return None
    size = len(channel.inputs)
    return ["".join(str(report[k // 8] >> k % 8 & 1) for k in range(size)) for report in reports]


def _channel(mechanism: Mechanism) -> Channel | None:
    try:
        return mechanism.channel()
    except NoChannelError:
        return None


def _numbers(labels: tuple[Any, ...]) -> bool:
    return all(is_number(label) for label in labels)


def _rows(axes: Any, channel: Channel) -> None:
    """Probabilities of the outputs for the two ends of the range and three secrets between them."""
    outputs = np.array(channel.outputs, dtype=np.float64)
    chosen = sorted({round(i) for i in np.linspace(0, len(channel.inputs) - 1, 5)})
    for colour, x in zip(COLOURS, chosen, strict=False):
        style = {"marker": "o", "markersize": 3} if len(outputs) <= 60 else {}
        axes.plot(
            outputs, channel.matrix[x], color=colour, linewidth=1.3, label=f"secret {_name(channel.inputs[x])}", **style
        )
    axes.set(xlabel="output", ylabel="probability", ylim=(0, None))
    if (outputs == np.floor(outputs)).all():
        axes.xaxis.get_major_locator().set_params(integer=True)  # there is nothing between integers
    axes.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1, 0.5))  # peaks leave no space inside


def _heat_map(figure: Any, axes: Any, channel: Channel, reports: list[str] | None = None) -> None:
    from matplotlib.colors import PowerNorm

    shown = np.ma.masked_equal(channel.matrix, 0.0)  # never is not the same as rarely
    # In a large matrix each probability is small next to the largest: a square-root scale keeps them apart.
    norm = PowerNorm(0.5 if channel.matrix.size > 400 else 1, vmin=0, vmax=channel.matrix.max())
    image = axes.imshow(shown, cmap="cividis", norm=norm, aspect="auto")
    figure.colorbar(image, ax=axes, label="probability")
    for labels, ticks, names in (
        (reports or channel.outputs, axes.set_xticks, axes.set_xticklabels),
        (channel.inputs, axes.set_yticks, axes.set_yticklabels),
    ):
        step = next(k for k in STEPS if len(labels) <= 16 * k)
        if step == 1 or _numbers(tuple(labels)):
            ticks(range(0, len(labels), step))
            names([_name(label) for label in labels[::step]], fontsize=8)
    what = "output" if reports is None else "report: a bit for each category, in their order"
    never = " (white: never)" if (channel.matrix == 0).any() else ""
    axes.set(xlabel=what + never, ylabel="secret")


def _name(label: Any) -> str:
    return f"{float(label):.4g}" if isinstance(label, (float, Fraction)) else str(label)


def _chances(axes: Any, mechanism: Mechanism) -> None:
    """The exact chances of numbers about a few secrets, in bars that hold whole steps of the lattice that numbers lie on.

    Bars of another width would hold now more and now fewer of its points, and draw a comb that is not there. What is moved to
    a bound is heaped on a single point, of which no density can be drawn: the legend says how much it is.
    """
    below = described(mechanism).below
    assert below is not None
    secrets = np.array(_some_secrets(mechanism), dtype=np.float64).reshape(-1)
    lattice = getattr(mechanism, "lattice", None)
    step = 1.0 if lattice is None else float(lattice.step)
    low, high = _reach(below, secrets, step)
    width = step * math.ceil((high - low) / (BARS * step))
    first = (
        math.floor(low / step) - 0.5
    )  # an edge lies half way between two points, so it is of no matter where ties go
    edges = step * first + width * np.arange(math.ceil((high - low) / width) + 2)
    chance = np.diff(np.asarray(below(secrets, edges)), axis=1)
    heaps = {} if width == step else _heaps(below, secrets, _walls(mechanism), step)
    for wall, heaped in heaps.items():
        chance[:, np.searchsorted(edges, wall) - 1] -= heaped
    for k, (colour, secret) in enumerate(zip(COLOURS, secrets, strict=False)):
        heights = chance[k] if width == step else chance[k] / width
        there = [f"{percent(heap[k])} at {shown_figure(wall)}" for wall, heap in heaps.items() if heap[k] >= LEFT_OUT]
        label = "; ".join([f"true value {secret:.3g}", " and ".join(there)] if there else [f"true value {secret:.3g}"])
        axes.stairs(heights, edges, color=colour, linewidth=1.3, label=label)
    axes.set(xlabel="output", ylabel="probability" if width == step else "density", ylim=(0, None))
    axes.legend(frameon=False, fontsize=9)


def _walls(mechanism: Mechanism) -> list[float]:
    """The ends of the range that outputs are moved to; none where there is no range."""
    components = getattr(getattr(mechanism, "within", None), "components", ())
    return [float(end) for component in components for end in component if end is not None]


def _heaps(
    below: Callable[[Any, Any], Any], secrets: NDArray[np.float64], walls: list[float], step: float
) -> dict[float, NDArray[np.float64]]:
    """For each bound the chance that the output is just there, where that is far above what is next to it."""
    found = {}
    for wall in walls:
        here, left, right = (
            np.diff(np.asarray(below(secrets, np.array([at - step / 2, at + step / 2]))), axis=1)[:, 0]
            for at in (wall, wall - step, wall + step)
        )
        if (here > HEAPED * np.maximum(left, right)).any():
            found[wall] = here - np.maximum(left, right)
    return found


def _reach(below: Callable[[Any, Any], Any], secrets: NDArray[np.float64], step: float) -> tuple[float, float]:
    """Return the range of nearly all outputs: a probability of 0.002 is left out on either side."""
    ends = []
    for start, side in ((secrets.min(), -1), (secrets.max(), 1)):
        near, far = 0.0, step
        for _ in range(200):
            outside = np.asarray(below(secrets, np.array([start + side * far])))[:, 0]
            if (outside if side < 0 else 1 - outside).max() <= LEFT_OUT:
                break
            near, far = far, 1.25 * far + step
        ends.append(start + side * (far if near else step))
    return float(ends[0]), float(ends[1])


def _simulated(axes: Any, mechanism: Mechanism) -> None:
    """Simulated draws about a few secrets: a histogram of numbers, or a cloud of places."""
    if draw_places(axes, mechanism):
        return
    rng = np.random.default_rng(0)
    secrets = _some_secrets(mechanism)
    drawn = [np.asarray(mechanism.release(np.array([s] * DRAWS), rng), dtype=np.float64) for s in secrets]
    if drawn[0].ndim == 2:
        drawn = [d[:, 0] for d in drawn]
    low, high = np.percentile(np.concatenate(drawn), [0.2, 99.8])
    bins = np.linspace(low, high, 161)
    for colour, secret, values in zip(COLOURS, secrets, drawn, strict=False):
        density, edges = np.histogram(values, bins=bins, density=True)
        density *= ((values >= low) & (values <= high)).mean()
        axes.stairs(density, edges, color=colour, linewidth=1.3, label=f"true value {np.ravel(secret)[0]:g}")
    axes.set(xlabel="output", ylabel=f"density ({DRAWS:,} simulated draws each)", ylim=(0, None))
    axes.legend(frameon=False, fontsize=9)


def _some_secrets(mechanism: Mechanism) -> list[Any]:
    """Values that the mechanism takes: near the bounds of its range where it has one, else about zero."""
    stated = described(mechanism).scale
    scale = 1.0 if stated is None else float(stated)
    feasible = getattr(mechanism, "feasible", None) or getattr(mechanism, "within", None)
    candidates: list[Any] = []
    for low, high in getattr(feasible, "components", ((None, None),))[:3]:
        if low is not None and high is not None:
            candidates += [float(low), (float(low) + float(high)) / 2]
        elif high is not None:
            candidates += [float(high), float(high) - 2 * scale]
        else:
            candidates += [float(low or 0), float(low or 0) + 2 * scale]
    dimension = getattr(mechanism, "dimension", None)
    for shape in (lambda v: v, lambda v: [v] * int(dimension or 2), math.floor):
        accepted = []
        for value in candidates:
            try:
                mechanism.release(np.array([shape(value)]), np.random.default_rng(0))
            except (NoisewrightError, ValueError, IndexError):
                continue
            accepted.append(shape(value))
        if accepted:
            return accepted
    raise ParameterError(f"there is no picture of {mechanism.name}: it takes no number, pair or vector near zero.")
