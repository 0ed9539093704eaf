"""Pictures of survey plans. Needs the extra ``plots`` (matplotlib).

:func:`draw_survey` shows the device as a wheel of its equally likely cases, where it lies among the private designs, and
how the margin of error falls with the number of respondents. It shows public parameters only, never answers.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from noisewright.core.exact import numeral
from noisewright.estimation.survey.designs import direct
from noisewright.estimation.survey.margins import margin_of_error
from noisewright.estimation.survey.options import shortened
from noisewright.estimation.survey.region import Region
from noisewright.plots.figure import COLOURS, blank_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from noisewright.estimation.survey.plan import Survey

__all__ = ["draw_survey"]

INK, FAINT = "#22303a", "#b8c0c8"
TRUTH, BEST, DIRECT = COLOURS[0], COLOURS[2], "#8a949c"
SAID = (COLOURS[1], COLOURS[3], COLOURS[4], COLOURS[2], "#7a8b99")
MOST_NAMED = 8
"""More answers than this are not named next to the wheel."""

LONGEST_NAME = 28
"""Letters of an answer that are shown."""

LINE = 0.2
"""Inches for a line of the list below the wheel."""


def draw_survey(plan: Survey) -> Figure:
    """The device, its place among the private designs, and the margin of error by the number of respondents."""
    figure = blank_figure(13, 3.7)  # first, because it checks that drawing is possible
    parts = _parts(plan)
    list_height = LINE * len(parts) + 0.1
    figure.set_size_inches(13, 3.7 + list_height)
    grid = figure.add_gridspec(1, 3, width_ratios=[1, 1.15, 1.3])
    left = grid[0].subgridspec(2, 1, height_ratios=[3.3, list_height])
    wheel, place, margins = (figure.add_subplot(cell) for cell in (left[0], grid[1], grid[2]))
    _wheel(wheel, figure.add_subplot(left[1]), parts)
    if len(plan.device.answers) == 2:
        _region(place, plan)
    else:
        _bars(place, plan)
    _margins(margins, plan)
    figure.suptitle(f"{plan.device.instrument.name}: {plan.guarantee.reading()}", fontsize=11)
    return figure


def _parts(plan: Survey) -> list[tuple[str, str, int]]:
    """Return the actions of the respondent, each with its colour and cases; actions without any are left out."""
    total, truth, forced = plan.device.cases()
    actions = [("the truth", truth)]
    if len(forced) <= MOST_NAMED:
        actions += [(f'say "{a}"', f) for a, f in zip(_readable(plan.device.answers), forced, strict=True)]
    else:
        actions.append((f"one of the {len(forced)} answers by lot", total - truth))
    colours = [TRUTH, *(SAID[i % len(SAID)] for i in range(len(actions) - 1))]
    return [
        (f"{name}: {_share(cases, total)}", colour, cases)
        for (name, cases), colour in zip(actions, colours, strict=True)
        if cases
    ]


def _wheel(axes: Any, below: Any, parts: list[tuple[str, str, int]]) -> None:
    """The cases as a ring, and their names in a list below it, where there is space for any length and any small slice."""
    names, colours, cases = zip(*parts, strict=True)
    wedges, _ = axes.pie(
        cases,
        colors=colours,
        startangle=90,
        counterclock=False,
        wedgeprops={"width": 0.42, "edgecolor": "white", "linewidth": 1.5 if len(parts) < 6 else 0.8},
    )
    axes.set_title("What the respondent does", fontsize=10)
    below.set_axis_off()
    legend = below.legend(
        wedges, names, loc="upper center", fontsize=9, frameon=False, labelcolor=INK, handlelength=1, borderpad=0
    )
    legend.set_in_layout(False)
    for text in legend.get_texts():
        text.set_parse_math(False)  # answers are words, whatever signs of money are in them


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
    no, yes = (shortened(answer, 20) for answer in _readable(plan.device.answers))
    axes.set_xlabel(f'p00: probability that "{no}" is told truly', parse_math=False)
    axes.set_ylabel(f'p11: probability that "{yes}" is told truly', parse_math=False)
    axes.set_title("Private designs", fontsize=10)
    axes.legend(fontsize=8, frameon=False, loc="lower left")


def _bars(axes: Any, plan: Survey) -> None:
    """More than two answers: how likely an answer is for those it is true of, and for anyone else."""
    chosen = {plan.ideal_name: plan.ideal, "recommended\ndevice": plan.device.design}
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
    at = "at the worst prevalence" if plan.prevalence is None else f"at prevalence {numeral(plan.prevalence)}"
    axes.set_title(f"Margin of error, {at}", fontsize=10)
    if plan.margin == 0:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "none: everybody is asked, and\nthe answers leave no doubt", ha="center", color=INK)
        return
    counts = np.geomspace(max(1, plan.respondents / 30), plan.respondents * 30, 80)
    for name, design, colour, style in (
        ("direct question", direct(), DIRECT, "--"),
        (plan.ideal_name, plan.ideal, BEST, "-"),
        ("recommended device", plan.device.design, COLOURS[1], "-"),
    ):
        one = margin_of_error(
            design.planned_variance(plan.prevalence, whole_population=plan.whole_population), plan.confidence
        )
        if one > 0:  # asking everyone directly leaves no error
            axes.loglog(counts, one / np.sqrt(counts), color=colour, linestyle=style, linewidth=1.6, label=name)
    axes.set_ylim(top=2 * axes.get_ylim()[1])  # space for the words next to the leftmost point there can be
    axes.axvline(plan.respondents, color=INK, linewidth=0.8, linestyle=":")
    axes.plot(plan.respondents, plan.margin, "o", color=COLOURS[1], markersize=6)
    # Margins are read as shares and respondents as counts, neither as powers of ten.
    axes.yaxis.set_major_formatter(lambda x, _: f"{numeral(100 * x)} %")
    axes.yaxis.set_minor_formatter(lambda x, _: f"{numeral(100 * x)} %" if f"{x:e}"[0] in "235" else "")
    axes.xaxis.set_major_formatter(lambda x, _: numeral(x))
    axes.annotate(
        f"{plan.respondents:,} respondents:\n± {100 * plan.margin:.3g} %",
        (plan.respondents, plan.margin),
        xytext=(8, 8),
        textcoords="offset points",
        fontsize=9,
        color=INK,
    )
    if plan.target_margin is not None:
        axes.axhline(float(plan.target_margin), color=INK, linewidth=0.8, linestyle=":")
    axes.set(xlabel="respondents", ylabel=f"margin of error ({numeral(100 * plan.confidence)} % confidence)")
    axes.grid(color="#e6e9ec", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.legend(fontsize=8, frameon=False, loc="lower left")


def _readable(answers: Sequence[Hashable]) -> list[str]:
    """The answers as they can be drawn: cut to some length, and numbered where the font has no letters for one of them."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    letters = get_font(findfont(FontProperties())).get_charmap()
    names = [shortened(answer, LONGEST_NAME) for answer in answers]
    drawn = all(ord(letter) in letters for name in names for letter in name)
    return names if drawn and len(set(names)) == len(names) else [f"answer {i + 1}" for i in range(len(names))]


def _share(cases: int, total: int) -> str:
    return f"{cases} of {total}" if total <= 1000 else f"{100 * cases / total:.1f} %"
