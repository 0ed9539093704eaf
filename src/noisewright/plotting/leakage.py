"""Pictures of leakage and of the orders between mechanisms. Needs the extra ``plots`` (matplotlib).

* :func:`draw_posteriors`: beliefs about three secrets after each output, in a triangle, with their hulls;
* :func:`draw_leakage`: what adversaries gain from families of mechanisms over epsilon;
* :func:`draw_replacements`: the largest safe epsilon of one family in place of another;
* :func:`draw_hasse`: who may replace whom in a set of mechanisms, under each order.

They show public parameters only, never data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from noisewright.attacks.new_row import PLACES, NewRow
from noisewright.exceptions import ParameterError
from noisewright.numerics.exact import Exact, as_fraction
from noisewright.plotting.mechanisms import COLOURS, blank_figure
from noisewright.qif.refinement.exact_channel import common_secrets, read
from noisewright.qif.refinement.families import Family, as_family
from noisewright.qif.refinement.lattice import Hasse, hull_corners
from noisewright.qif.refinement.replacement import ReplacementTable
from noisewright.qif.vulnerability import posterior_vulnerability, prior_vulnerability

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_face_risks", "draw_hasse", "draw_leakage", "draw_new_row", "draw_posteriors", "draw_replacements"]


INK, FAINT = "#22303a", "#b8c0c8"
MARKERS = ("o", "s", "^", "D", "v")
STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
TRIANGLE = np.array([[0.0, 0.0], [0.5, np.sqrt(3) / 2], [1.0, 0.0]])
"""Positions of the three secrets in a picture of beliefs."""


def draw_posteriors(things: Mapping[str, Any], prior: Sequence[float] | None = None, title: str = "") -> Figure:
    """The beliefs that outputs of channels on three secrets lead to: one mark for each output, larger for more likely ones.

    The nearer a mark is to a corner, the surer that secret. The marks of a channel average to the prior (the cross), and a
    channel may replace another in the max-case order exactly when its hull lies inside the other's.
    """
    if not things:
        raise ParameterError("a picture of beliefs needs one channel or more.")
    given = {str(name): read(thing) for name, thing in things.items()}
    first = next(iter(given.values()))
    for other in given.values():
        common_secrets(first, other)
    if len(first.inputs) != 3:
        raise ParameterError(f"a triangle of beliefs is for three secrets, not {len(first.inputs)}.")
    figure = blank_figure(6.4, 5.6)
    axes = figure.add_subplot()
    _triangle(axes, first.inputs)
    for k, (name, thing) in enumerate(given.items()):
        colour, hyper = COLOURS[k % len(COLOURS)], thing.channel.push(prior).reduce()
        places = hyper.inners.T @ TRIANGLE
        corners = hull_corners(hyper.inners.T) @ TRIANGLE
        turn = np.argsort(np.arctan2(*(corners - corners.mean(axis=0)).T[::-1]))
        axes.fill(*corners[turn].T, color=colour, alpha=0.12, linewidth=0)
        axes.plot(*corners[np.r_[turn, turn[:1]]].T, linestyle=STYLES[k % len(STYLES)], color=colour, linewidth=1.6)
        sizes = 30 + 240 * hyper.outers
        axes.scatter(
            places[:, 0],
            places[:, 1],
            s=sizes,
            color=colour,
            marker=MARKERS[k % len(MARKERS)],
            label=name,
            zorder=3,
            alpha=0.9,
        )
    middle = first.channel.push(prior).prior @ TRIANGLE
    axes.plot(*middle, "+", color=INK, markersize=15, markeredgewidth=2, label="prior", zorder=4)
    legend = axes.legend(frameon=False, loc="upper left", fontsize=9)
    for handle in legend.legend_handles:
        getattr(handle, "set_sizes", lambda _: None)([50])
    axes.set_title(title or "Beliefs after an output", fontsize=11)
    return figure


def draw_leakage(
    families: Sequence[Family | str],
    *,
    size: int,
    epsilons: Sequence[float],
    gains: Mapping[str, Any] | None = None,
    prior: object = None,
) -> Figure:
    """Plot the gain of adversaries after the output over epsilon: one panel for each gain, one curve for each family.

    ``gains`` names the gains (the identity by default); dotted lines are the values without any output.
    """
    chosen = [as_family(family) for family in families]
    points = np.sort(np.asarray(epsilons, dtype=np.float64))
    if not chosen or not len(points):
        raise ParameterError("a picture of leakage needs one family and one epsilon, or more.")
    wanted = dict(gains) if gains else {"guess the secret": "identity"}
    members = {
        family.name: [family.member(epsilon=e, size=size).channel() for e in points.tolist()] for family in chosen
    }
    figure = blank_figure(min(1.5 + 3.6 * len(wanted), 14), 4.2)
    panels = figure.subplots(1, len(wanted), squeeze=False)[0]
    secrets = next(iter(members.values()))[0].inputs
    belief = np.full(size, 1 / size) if prior is None else prior
    for axes, (title, gain) in zip(panels, wanted.items(), strict=True):
        for k, (name, channels) in enumerate(members.items()):
            curve = [posterior_vulnerability(belief, channel, gain) for channel in channels]
            axes.plot(points, curve, color=COLOURS[k % 5], linestyle=STYLES[k % 5], linewidth=2, label=name)
        before = prior_vulnerability(belief, gain, secrets)
        axes.axhline(before, color=INK, linewidth=1, linestyle=":", label="without any output")
        axes.set(xlabel="epsilon", title=title, xlim=(points[0], points[-1]) if len(points) > 1 else None)
        axes.grid(color="#e6e9ec", linewidth=0.8)
        axes.set_axisbelow(True)
    panels[0].set_ylabel(f"expected gain after the output, {size} secrets")
    panels[0].legend(frameon=False, fontsize=9, loc="best")
    return figure


def draw_replacements(table: ReplacementTable) -> Figure:
    """The largest safe epsilon of each other family over the epsilon of the one that is replaced: one panel for each family.

    The thin line is the same epsilon: a curve near it loses little, and one far below needs much more noise.
    """
    firsts = list(dict.fromkeys(a for a, _ in table.pairs))
    seconds = [*firsts, *dict.fromkeys(b for _, b in table.pairs if b not in firsts)]
    x = np.array([float(as_fraction(e, "epsilon")) for e in table.epsilons])
    turn = np.argsort(x)
    figure = blank_figure(min(1.2 + 3.5 * len(firsts), 14), 4.2)
    panels = figure.subplots(1, len(firsts), sharey=True, squeeze=False)[0]
    top = float(x.max()) * 1.04
    for axes, first in zip(panels, firsts, strict=True):
        axes.plot([0, top], [0, top], color=FAINT, linewidth=1, label="the same epsilon")
        width = 3.8
        for k, second in enumerate(seconds):
            if (first, second) in table.pairs:
                y = np.array(table.values(first, second))
                mark = MARKERS[k % 5] if len(x) <= 10 else None
                # Two curves can be the same: the first is wide, so that it shows below the broken line of a later one.
                style = {"color": COLOURS[k % 5], "linestyle": STYLES[k % 5], "linewidth": width, "marker": mark}
                axes.plot(x[turn], y[turn], markersize=3 + width, label=f"by {second}", **style)
                width = max(1.6, width - 2)
        axes.set(xlabel=f"epsilon of the {first} mechanism", xlim=(0, top), ylim=(0, top))
        axes.set_title(f"in place of {first}", fontsize=10)
        axes.legend(frameon=False, fontsize=9, loc="upper left")
    panels[0].set_ylabel("largest epsilon of the replacement")
    figure.suptitle(
        f"Safe replacement of one mechanism by another ({table.order} order, {table.size} secrets)", fontsize=11
    )
    return figure


def draw_hasse(diagrams: Sequence[Hasse]) -> Figure:
    """Hasse diagrams side by side: a line upwards leads to a mechanism that may replace the one below."""
    if not diagrams:
        raise ParameterError("a picture of orders needs one diagram or more.")
    tallest = max(max(d.levels) for d in diagrams) + 1
    widest = max(max(d.levels.count(k) for k in d.levels) for d in diagrams)
    figure = blank_figure(min(max(3.2, 1.35 * widest) * len(diagrams), 14), min(1.2 + 0.85 * tallest, 12))
    panels = figure.subplots(1, len(diagrams), squeeze=False)[0]
    for axes, diagram in zip(panels, diagrams, strict=True):
        places = _places(diagram)
        for a, b in diagram.edges:
            (x0, y0), (x1, y1) = places[a], places[b]
            axes.plot([x0, x1], [y0, y1], color=FAINT, linewidth=1.6, zorder=1)
        for node in diagram.nodes:
            box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": COLOURS[0], "linewidth": 1.3}
            text = "\n= ".join(name.replace(" ", "\n", 1) for name in node)
            axes.text(*places[node[0]], text, ha="center", va="center", fontsize=9, color=INK, bbox=box, zorder=2)
        across = [x for x, _ in places.values()]
        axes.set(xlim=(min(across) - 0.8, max(across) + 0.8), ylim=(-0.6, max(diagram.levels) + 0.6))
        axes.set_title(f"{diagram.order} order", fontsize=10)
        axes.axis("off")
    figure.supylabel("safer upwards", fontsize=9, color=INK)
    return figure


def _places(diagram: Hasse) -> dict[str, tuple[float, float]]:
    """Place the nodes: a row for each level, and in each row near the mean of the connected nodes below."""
    places: dict[str, tuple[float, float]] = {}
    heads = [node[0] for node in diagram.nodes]
    for level in sorted(set(diagram.levels)):
        row = [h for h, k in zip(heads, diagram.levels, strict=True) if k == level]
        below = {h: [places[a][0] for a, b in diagram.edges if b == h and a in places] for h in row}
        row.sort(key=lambda h: (float(np.mean(below[h])) if below[h] else 0.0, heads.index(h)))
        for k, head in enumerate(row):
            places[head] = (k - (len(row) - 1) / 2, float(level))
    return places


def _triangle(axes: Any, secrets: Sequence[Any]) -> None:
    """An empty triangle of beliefs."""
    axes.plot(*np.vstack([TRIANGLE, TRIANGLE[:1]]).T, color="#9aa5ad", linewidth=1)
    for corner, secret, shift in zip(TRIANGLE, secrets, ((-0.04, -0.05), (0, 0.045), (0.04, -0.05)), strict=True):
        axes.text(*(corner + shift), f"surely {str(secret)[:16]}", ha="center", va="center", fontsize=9, color=INK)
    axes.set(xlim=(-0.12, 1.12), ylim=(-0.1, 0.98), aspect="equal")
    axes.axis("off")


# Attack -------------------------------------------------------------------------------------------------------------------
#
# Pictures of attacks: what an adversary learns as epsilon grows. Needs the extra ``plots`` (matplotlib).
#
# Unlike other pictures these are about the data they were computed from, and are no more private than those.


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


# Faces --------------------------------------------------------------------------------------------------------------------
#
# Pictures of attacks on faces: risk by epsilon, and what is kept at which risk. Needs the extra ``plots`` (matplotlib).
#
# They are about the faces they were computed from, and are no more private than those.


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

FACE_MARKERS = {"laplace": "P", "exponential": "d", "windows": "X"}
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
        style: Any = {"linestyle": "-.", "marker": FACE_MARKERS.get(kind, "x"), "markersize": 5, "linewidth": 1.2}
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
