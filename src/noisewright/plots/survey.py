"""Pictures of survey plans. Needs the extra ``plots`` (matplotlib).

:func:`draw_survey` shows the device as a wheel of its equally likely cases, where it lies among the private designs, and
how the margin of error falls with the number of respondents. It shows public parameters only, never answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from noisewright.estimate.designs import direct
from noisewright.estimate.margins import margin_of_error
from noisewright.estimate.region import Region
from noisewright.plots.figure import COLOURS, blank_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from noisewright.estimate.survey import Survey

__all__ = ["draw_survey"]

INK, FAINT = "#22303a", "#b8c0c8"
TRUTH, BEST, DIRECT = COLOURS[0], COLOURS[2], "#8a949c"
SAID = (COLOURS[1], COLOURS[3], COLOURS[4], COLOURS[2], "#7a8b99")
MOST_NAMED = 8
"""More answers than this are not named on the wheel."""


def draw_survey(plan: Survey) -> Figure:
    """The device, its place among the private designs, and the margin of error by the number of respondents."""
    figure = blank_figure(13, 4.3)
    wheel, place, margins = figure.subplots(1, 3, width_ratios=[1, 1.15, 1.3])
    _wheel(wheel, plan)
    if len(plan.device.answers) == 2:
        _region(place, plan)
    else:
        _bars(place, plan)
    _margins(margins, plan)
    figure.suptitle(f"{plan.device.instrument.name}: {plan.guarantee}", fontsize=11)
    return figure


def _wheel(axes: Any, plan: Survey) -> None:
    total, truth, forced = plan.device.cases()
    names = [f"the truth\n{_share(truth, total)}"]
    if len(forced) <= MOST_NAMED:
        parts = [truth, *forced]
        names += [f'say "{a}"\n{_share(f, total)}' for a, f in zip(plan.device.answers, forced, strict=True)]
    else:
        parts = [truth, total - truth]
        names += [f"one of the {len(forced)}\nanswers by lot\n{_share(total - truth, total)}"]
    colours = [TRUTH, *(SAID[i % len(SAID)] for i in range(len(parts) - 1))]
    shown = [i for i, part in enumerate(parts) if part]
    axes.pie(
        [parts[i] for i in shown],
        labels=[names[i] for i in shown],
        colors=[colours[i] for i in shown],
        startangle=90,
        counterclock=False,
        labeldistance=1.12,
        wedgeprops={"width": 0.42, "edgecolor": "white", "linewidth": 1.5},
        textprops={"fontsize": 9, "color": INK},
    )
    axes.set_title("What the respondent does", fontsize=10)
    axes.set(xlim=(-1.6, 1.6), ylim=(-1.3, 1.3))


def _region(axes: Any, plan: Survey) -> None:
    region = Region(plan.device.epsilon, plan.device.delta)
    corners = np.array([(x, y) for x, y in region.corners() if x + y >= 1 - 1e-12])  # below: the same, answers renamed
    axes.fill(*corners.T, color=TRUTH, alpha=0.14, linewidth=0)
    axes.plot(*np.vstack([corners, corners[:1]]).T, color=TRUTH, linewidth=1)
    axes.plot([0, 1], [1, 0], color=FAINT, linewidth=1, linestyle="--")
    axes.text(0.47, 0.47, "tells nothing", rotation=-45, fontsize=8, color="#7c868e", ha="center", va="center")
    others = [one.design for one in plan.devices if one != plan.device]
    if others:
        points = [(float(d.p00), float(d.p11)) for d in others]
        axes.plot(*np.array(points).T, ".", color=INK, markersize=5, label="other devices", clip_on=False, zorder=3)
    for design, marker, colour, name in (
        (plan.ideal, "D", BEST, "best design"),
        (plan.device.design, "o", COLOURS[1], "recommended device"),
        (direct(), "s", DIRECT, "direct question"),
    ):
        spot = float(design.p00), float(design.p11)
        axes.plot(*spot, marker, color=colour, markersize=7, label=name, clip_on=False, zorder=4)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.set(xlabel="p00: probability that a no is told truly", ylabel="p11: probability that a yes is told truly")
    axes.set_title("Private designs", fontsize=10)
    axes.legend(fontsize=8, frameon=False, loc="lower left")


def _bars(axes: Any, plan: Survey) -> None:
    """More than two answers: how likely an answer is for those it is true of, and for anybody else."""
    chosen = {"best design": plan.ideal, "recommended\ndevice": plan.device.design}
    places = np.arange(len(chosen))
    keep = [float(d.p11) for d in chosen.values()]
    lie = [float(1 - d.p00) for d in chosen.values()]
    for shift, heights, colour, label in (
        (-0.2, keep, TRUTH, "if it is true"),
        (0.2, lie, COLOURS[1], "if another one is"),
    ):
        bars = axes.bar(places + shift, heights, 0.38, color=colour, label=label)
        axes.bar_label(bars, fmt="%.3f", fontsize=8, padding=2)
    axes.set_xticks(places, list(chosen))
    axes.set(ylim=(0, 1.25 * max(keep)), ylabel="probability of an answer")
    axes.set_title(f"Each of {len(plan.device.answers)} answers", fontsize=10)
    axes.legend(fontsize=8, frameon=False, loc="upper right", ncols=2)


def _margins(axes: Any, plan: Survey) -> None:
    counts = np.geomspace(max(10, plan.respondents / 30), plan.respondents * 30, 80)
    for name, design, colour, style in (
        ("direct question", direct(), DIRECT, "--"),
        ("best design", plan.ideal, BEST, "-"),
        ("recommended device", plan.device.design, COLOURS[1], "-"),
    ):
        one = margin_of_error(
            design.planned_variance(plan.prevalence, whole_population=plan.whole_population), plan.confidence
        )
        if one > 0:  # asking everybody directly leaves no error
            axes.loglog(counts, one / np.sqrt(counts), color=colour, linestyle=style, linewidth=1.6, label=name)
    axes.axvline(plan.respondents, color=INK, linewidth=0.8, linestyle=":")
    axes.plot(plan.respondents, plan.margin, "o", color=COLOURS[1], markersize=6)
    axes.yaxis.set_major_formatter("{x:g}")  # margins are read as shares, not as powers of ten
    axes.yaxis.set_minor_formatter(lambda x, _: f"{x:g}" if f"{x:e}"[0] in "235" else "")
    axes.annotate(
        f"{plan.respondents} respondents:\n± {plan.margin:.4f}",
        (plan.respondents, plan.margin),
        xytext=(8, 8),
        textcoords="offset points",
        fontsize=9,
        color=INK,
    )
    if plan.target_margin is not None:
        axes.axhline(float(plan.target_margin), color=INK, linewidth=0.8, linestyle=":")
    at = "at the worst prevalence" if plan.prevalence is None else f"at prevalence {float(plan.prevalence):g}"
    axes.set(xlabel="respondents", ylabel=f"margin of error ({100 * plan.confidence:g} %)")
    axes.set_title(f"Margin of error, {at}", fontsize=10)
    axes.grid(color="#e6e9ec", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.legend(fontsize=8, frameon=False, loc="lower left")


def _share(cases: int, total: int) -> str:
    return f"{cases} of {total}" if total <= 1000 else f"{100 * cases / total:.1f} %"
