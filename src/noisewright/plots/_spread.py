"""Noise on more than one number: how far released places and curves lie from the true ones.

Places are a cloud of simulated draws with a fixed seed, inside the exact circles that hold half and 95 % of them;
curves are the exact bands at every point of their grid. For :mod:`noisewright.plots.mechanism`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.claims.readings import level_reading
from noisewright.core.exact import figure
from noisewright.core.mechanism import Mechanism, described
from noisewright.mechanisms.registry import registry
from noisewright.plots.figure import COLOURS

__all__ = ["draw_curve", "draw_places", "promise_of"]

DRAWS, CURVES = 4000, 3
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
    drawn = np.asarray(made.release(np.zeros((DRAWS, size)), np.random.default_rng(0)), dtype=np.float64)
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
    title = f"{DRAWS:,} simulated draws" + (f" of {size} coordinates" if size > 2 else "")
    axes.legend(frameon=False, fontsize=9, title=title, title_fontsize=9, loc="center left", bbox_to_anchor=(1, 0.5))
    return True


def draw_curve(axes: Any, mechanism: Any) -> None:
    """Exact bands about a level curve, and a few simulated ones: the noise is alike at every point, and independent."""
    grid = np.array(mechanism.grid)
    ends = mechanism.within or (-math.inf, math.inf)
    level = 0.0 if mechanism.within is None else float(ends[0] + ends[1]) / 2
    for colour, alpha, (share, words) in zip((COLOURS[2], COLOURS[2]), (0.35, 0.15), SHARES, strict=True):
        reach = _reach(mechanism, share)
        low, high = np.clip([level - reach, level + reach], float(ends[0]), float(ends[1]))
        label = f"{words} of the points, within {figure(reach, rounding='nearest')}"
        axes.fill_between(grid, low, high, color=colour, alpha=alpha, linewidth=0, label=label)
    drawn = np.asarray(mechanism.release(np.full((CURVES, len(grid)), level), np.random.default_rng(0)))
    for k, row in enumerate(drawn):
        axes.plot(grid, row, color=COLOURS[0], linewidth=1, marker=".", label=None if k else "simulated curves")
    axes.plot(grid, np.full(len(grid), level), color=COLOURS[1], linewidth=1.6, label="true curve")
    axes.set(xlabel="position", ylabel="value")
    axes.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1, 0.5))


def _reach(mechanism: Any, share: float) -> float:
    """Return the reach of two-sided geometric noise with this probability: ``P(|k| > m) = 2 a^(m + 1) / (1 + a)``."""
    a = math.exp(-1 / float(mechanism.scale_in_steps))
    steps = math.ceil(math.log((1 - share) * (1 + a) / 2) / math.log(a) - 1)
    return max(0, steps) * float(mechanism.lattice.step)
