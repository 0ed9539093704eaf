"""Pictures of attacks on faces: risk by epsilon, and what is kept at which risk. Needs the extra ``plots`` (matplotlib).

They are about the faces they were computed from, and are no more private than those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from noisewright.plots.figure import COLOURS, blank_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_face_risks"]

Row = Mapping[str, Any]
CURVES = {
    "best": ("best on the code", "-", COLOURS[1], "o"),
    "parrot": ("parrot", "-", COLOURS[2], "s"),
    "naive": ("naive", "-", COLOURS[0], "^"),
    "best of two": ("best, two releases", "--", COLOURS[1], "o"),
    "composed": ("naive, two releases", "--", COLOURS[0], "^"),
    "bound": ("allowed by epsilon", ":", "#6b7680", ""),
}
"""Style of each attack: its name, line, colour and mark."""
LINE = 0.025
"""Height that a line of words needs, in SSIM."""
LETTERING: Any = {"textcoords": "offset points", "fontsize": 8, "color": "#6b7680"}

MARKERS = {"laplace": "P", "exponential": "d", "windows": "X"}
"""Markers of noise on pixels, by its kind."""


def draw_face_risks(
    noisy: Sequence[Row], others: Sequence[Row], chance: float, clean: float, *, pixels: Sequence[Row] = ()
) -> Figure:
    """Left, how often attackers are right by epsilon; right, SSIM at each risk, with methods that guarantee nothing as points.

    A row has ``epsilon`` or ``method``, and numbers by name: of each attack, ``bound`` and ``ssim``. Rows of ``pixels`` have a
    ``kind``, and are drawn at the risk of the best attacker, or of the parrot where that is not known.
    """
    figure = blank_figure(10, 5)
    left, right = figure.subplots(1, 2)
    rows = sorted(noisy, key=lambda row: float(row["epsilon"]))
    epsilons = [float(row["epsilon"]) for row in rows]
    for key, (name, *look) in CURVES.items():
        left.plot(epsilons, [row[key] for row in rows], label=name, **_style(*look))
    for level, word, up in ((chance, "a blind guess", -10), (clean, "clean faces", 3)):
        left.axhline(level, color="#9aa4ad", linestyle="--", linewidth=0.9)
        left.annotate(word, (0.99, level), (0, up), xycoords=("axes fraction", "data"), ha="right", **LETTERING)
    left.set(xscale="log", xlabel="epsilon", ylabel="right guesses", ylim=(-0.07, 1.07), title="Risk by epsilon")
    left.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    left.minorticks_off()
    for key in ("best", "parrot"):
        name, *look = CURVES[key]
        kept = [row["ssim"] for row in rows]
        right.plot([row[key] for row in rows], kept, label=f"noise on codes, {name}", **_style(*look))
    for kind in dict.fromkeys(row["kind"] for row in pixels):
        own = [row for row in pixels if row["kind"] == kind]
        style: Any = {"linestyle": "-.", "marker": MARKERS.get(kind, "x"), "markersize": 5, "linewidth": 1.2}
        name = f"noise on pixels, {kind}, {'best' if 'best' in own[0] else 'parrot'}"
        risks = [row.get("best", row["parrot"]) for row in own]
        right.plot(risks, [row["ssim"] for row in own], label=name, color="#6b7680", **style)
    known = [{**row, "best": row.get("best", row.get("parrot"))} for row in others]
    known = [row for row in known if row["best"] is not None]
    for place, (key, name) in enumerate((("best", "one release"), ("best of two", "two releases"))):
        shown = [row for row in known if row.get(key) is not None]
        points: Any = {"color": COLOURS[3 + place], "marker": "Dv"[place], "linestyle": "none", "markersize": 5}
        right.plot([r[key] for r in shown], [r["ssim"] for r in shown], label=f"NO guarantee, best, {name}", **points)
    for row in known:
        end = row.get("best of two", row["best"])
        right.plot([row["best"], end], [row["ssim"]] * 2, ":", color="#9aa4ad", linewidth=0.9, zorder=0)
    for row, height in zip(known, _apart([row["ssim"] for row in known]), strict=True):
        right.annotate(row["method"], (row["best"], height), (0, 6) if "best of two" in row else (7, -3), **LETTERING)
    right.set(xlabel="right guesses", ylabel="SSIM", xlim=(-0.03, 1.38), title="What is kept, by risk")
    right.margins(y=0.08)
    right.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    for axes, columns in ((left, 3), (right, 2)):
        axes.grid(color="#e6e9ec", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=columns)
    return figure


def _style(line: str, colour: str, mark: str) -> Any:
    return {"linestyle": line, "color": colour, "marker": mark, "markersize": 4.5, "linewidth": 1.6}


def _apart(heights: Sequence[float]) -> list[float]:
    """Heights for words next to points, so that none is written over another."""
    found, last = [0.0] * len(heights), -1.0
    for place in sorted(range(len(heights)), key=lambda one: heights[one]):
        last = found[place] = max(heights[place], last + LINE)
    return found
