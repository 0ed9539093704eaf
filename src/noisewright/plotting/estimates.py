"""Pictures of estimated populations. Needs the extra ``plots`` (matplotlib).

:func:`draw_estimate` shows the estimated shares with their intervals (a line over numbers, bars over categories, a map over
places) and, on request, how its certified gap fell where the estimator iterated. Many numbers are put together in bars. It
shows estimates from private reports, never secrets; a ``truth`` can be drawn next to it in simulations.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright._typing import Floats
from noisewright.claims.figures import numeral, percent
from noisewright.estimation.result import METHODS, short_name
from noisewright.plotting.mechanisms import COLOURS, blank_figure
from noisewright.surveys.designs import Region, direct
from noisewright.surveys.planning import margin_of_error, shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from noisewright.estimation.result import Estimate
    from noisewright.surveys.planning import Survey

__all__ = ["draw_estimate", "draw_estimates", "draw_survey"]


INK = "#22303a"
MOST_BARS = 40
"""More categories than this are not all drawn: the largest are."""
MOST_POINTS, BINS = 60, 40
"""Count of numbers beyond which they are put together, and the approximate number of bars for them."""
FEW = 12
"""Maximum count of numbers that have a bar each: there is nothing between them."""
MOST_LETTERS = 70
"""Names with more letters than this do not fit next to each other: bars then lie, and names stand before them."""
LONGEST_NAME = 36
MOST_REACH = 3
"""Maximum length of whiskers relative to the highest bar, on average; longer ones would hide the bars."""


def draw_estimate(found: Estimate, truth: ArrayLike | None = None, *, diagnostics: bool = False) -> Figure:
    """One estimate; with ``diagnostics`` also how its certified gap fell, where the estimator iterated."""
    traced = diagnostics and len([point for point in found.trace if point.iteration > 0]) > 1
    figure = blank_figure(12 if traced else 8, 4.2)
    panels = figure.subplots(1, 2 if traced else 1, squeeze=False, width_ratios=[2, 1] if traced else None)[0]
    _population(figure, panels[0], found, truth)
    if traced:
        _trace(panels[1], found)
    how = METHODS.get(found.method, found.method)
    figure.suptitle(f"{found.mechanism}: the population behind {found.reports:,} reports, {how}", fontsize=11)
    return figure


def draw_estimates(estimates: dict[str, Estimate], truth: ArrayLike | None = None) -> Figure:
    """Several estimates over the same numbers side by side, all on one scale."""
    figure = blank_figure(min(4.2 * len(estimates), 15), 3.8)
    panels = figure.subplots(1, len(estimates), sharey=True, squeeze=False)[0]
    for axes, (name, found) in zip(panels, estimates.items(), strict=True):
        _population(figure, axes, found, truth)
        axes.set_title(name, fontsize=10)
        axes.set_ylabel("share of the population" if axes is panels[0] else "")
    panels[0].autoscale(axis="y")  # to the highest of all: each was drawn without regard to the others
    panels[0].set_ylim(bottom=0)
    return figure


def _population(figure: Any, axes: Any, found: Estimate, truth: ArrayLike | None) -> None:
    first = found.secrets[0]
    if isinstance(first, tuple) and len(first) == 2 and _numbers(first):
        _map(figure, axes, found)
    elif _numbers((first, found.secrets[-1])):
        _line(axes, found, truth)
    elif len(figure.axes) == 1 and _crowded(_names(found, _largest(found), LONGEST_NAME)):
        _lying_bars(figure, axes, found, truth)
    else:
        _bars(axes, found, truth)


def _line(axes: Any, found: Estimate, truth: ArrayLike | None) -> None:
    places = np.array([float(x) for x in found.secrets])  # type: ignore[arg-type]
    order = np.argsort(places, kind="stable")
    if len(places) <= FEW and (np.diff(places) > 0).all():
        _bars(axes, found, truth)
        axes.set_xlabel("value")
        return
    if len(places) > MOST_POINTS:
        _binned(axes, found, truth, places)
        return
    if truth is not None:
        axes.fill_between(places[order], np.asarray(truth)[order], color="#d7dde2", step="mid", label="truth")
    if found.low is not None and found.high is not None:
        axes.fill_between(
            places[order], found.low[order], found.high[order], color=COLOURS[2], alpha=0.2, label=_interval(found)
        )
    axes.plot(places[order], found.probabilities[order], color=COLOURS[2], linewidth=1.4, label="estimate")
    axes.set(xlabel="value", ylabel="share of the population", ylim=(0, None))
    if (places == np.floor(places)).all():
        axes.xaxis.get_major_locator().set_params(integer=True)  # there is nothing between integers
    axes.legend(frameon=False, fontsize=9)


def _binned(axes: Any, found: Estimate, truth: ArrayLike | None, places: Floats) -> None:
    """Bars of a readable width; their intervals are added up only where those of single values hold all at once."""
    low, high = places.min(), places.max()
    rough = (high - low) / BINS
    unit = 10.0 ** np.floor(np.log10(rough))
    width = next(k * unit for k in (1, 2, 5, 10) if k * unit >= rough)
    edges = np.arange(np.floor(low / width), np.floor(high / width) + 2) * width

    def added(shares: ArrayLike) -> Floats:
        return np.histogram(places, edges, weights=np.asarray(shares, dtype=np.float64))[0]

    if truth is not None:
        axes.stairs(added(truth), edges, color="#d7dde2", fill=True, label="truth")
    share, middles = added(found.probabilities), (edges[:-1] + edges[1:]) / 2
    axes.stairs(share, edges, color=COLOURS[2], linewidth=1.4, label=f"estimate, for each {numeral(width)}")
    note = ""
    if found.low is not None and found.high is not None:
        low, high = added(found.low), added(found.high)
        low, high = np.maximum(low, 1 - (high.sum() - high)), np.minimum(high, 1 - (low.sum() - low))
        reach = np.abs([share - low, high - share])
        if not found.joint:
            note = "(intervals of single values say nothing about bars; joint ones do)"
        elif (high - low).mean() > MOST_REACH * share.max():
            note = "(intervals of bars are left out: they reach far beyond the picture)"
        else:
            axes.errorbar(middles, share, yerr=reach, fmt="none", ecolor=INK, capsize=2, label=_interval(found))
    axes.set(xlabel=fill(f"value {note}", 40 if len(axes.figure.axes) > 1 else 80).rstrip())
    axes.set(ylabel="share of the population", ylim=(0, None))
    axes.legend(frameon=False, fontsize=9)


def _bars(axes: Any, found: Estimate, truth: ArrayLike | None) -> None:
    shown = _largest(found)
    spots = np.arange(len(shown))
    share = found.probabilities[shown]
    axes.bar(spots, share, color=COLOURS[2], label="estimate")
    if found.low is not None and found.high is not None:
        reach = np.abs([share - found.low[shown], found.high[shown] - share])
        axes.errorbar(spots, share, yerr=reach, fmt="none", ecolor=INK, capsize=3, label=_interval(found))
    if truth is not None:
        axes.plot(spots, np.asarray(truth)[shown], "_", color=COLOURS[1], markersize=14, label="truth")
    axes.set(ylabel="share of the population", ylim=(0, None))
    if truth is not None or found.low is not None:
        axes.set_ylim(top=1.15 * axes.get_ylim()[1])  # space for the legend above the bars
        axes.legend(frameon=False, fontsize=9, ncols=3)
    names = _names(found, shown, 20)
    crowded = _crowded(names)
    axes.set_xticks(spots, names, rotation=45 if crowded else 0, ha="right" if crowded else "center", parse_math=False)
    if crowded:
        for name in axes.get_xticklabels():
            name.set_rotation_mode("anchor")
    axes.set_xlabel(_not_shown(found, shown))


def _lying_bars(figure: Any, axes: Any, found: Estimate, truth: ArrayLike | None) -> None:
    """Many categories, or long names: one below the other, the largest share first."""
    shown = _largest(found)[::-1]
    shown = shown[np.argsort(found.probabilities[shown], kind="stable")]
    spots, share = np.arange(len(shown)), found.probabilities[shown]
    figure.set_size_inches(8, max(4.2, 1.4 + 0.2 * len(shown)))
    axes.barh(spots, share, color=COLOURS[2], label="estimate")
    if found.low is not None and found.high is not None:
        reach = np.abs([share - found.low[shown], found.high[shown] - share])
        axes.errorbar(share, spots, xerr=reach, fmt="none", ecolor=INK, capsize=2, label=_interval(found))
    if truth is not None:
        axes.plot(np.asarray(truth)[shown], spots, "|", color=COLOURS[1], markersize=9, label="truth")
    if truth is not None or found.low is not None:
        axes.legend(frameon=False, fontsize=9, loc="lower right", bbox_to_anchor=(1, 1), ncols=3)  # above the longest
    axes.set_yticks(spots, _names(found, shown, LONGEST_NAME), fontsize=8, parse_math=False)
    hidden = _not_shown(found, shown)
    axes.set(xlim=(0, None), ylim=(-0.7, len(shown) - 0.3))
    axes.set_xlabel("share of the population" + (f"\n{hidden}" if hidden else ""))


def _largest(found: Estimate) -> NDArray[np.intp]:
    """The categories that are drawn, in their own order."""
    return np.sort(np.argsort(-found.probabilities, kind="stable")[:MOST_BARS])


def _names(found: Estimate, shown: NDArray[np.intp], most: int) -> list[str]:
    return [short_name(found.secrets[int(i)], most) for i in shown]


def _crowded(names: Sequence[str]) -> bool:
    return len(names) * max(map(len, names)) > MOST_LETTERS


def _not_shown(found: Estimate, shown: NDArray[np.intp]) -> str:
    """Describe the number of categories left out and their share together; empty where none are."""
    hidden = len(found.secrets) - len(shown)
    rest = percent(max(0.0, 1 - float(found.probabilities[shown].sum())))
    return f"the {len(shown)} largest; {hidden:,} more, with {rest} together, are not shown" if hidden else ""


def _map(figure: Any, axes: Any, found: Estimate) -> None:
    points = np.array([found.secrets[i] for i in range(len(found.secrets))], dtype=np.float64)
    xs, i = np.unique(points[:, 0], return_inverse=True)
    ys, j = np.unique(points[:, 1], return_inverse=True)
    grid = np.full((len(ys), len(xs)), np.nan)
    grid[j, i] = found.probabilities
    image = axes.pcolormesh(xs, ys, grid, cmap="cividis", shading="nearest", rasterized=True)
    figure.colorbar(image, ax=axes, label="share of the population")
    axes.set(xlabel="first coordinate", ylabel="second coordinate", aspect="equal")


def _trace(axes: Any, found: Estimate) -> None:
    points = [point for point in found.trace if point.iteration > 0]
    steps = [point.iteration for point in points]
    axes.plot(steps, [max(point.gap * found.reports, 1e-12) for point in points], color=COLOURS[1], label="certified")
    best = max(point.value for point in points)
    left = [(best - point.value) * found.reports for point in points]
    if max(left) > 0:
        axes.plot(
            steps, np.where(np.array(left) > 0, left, np.nan), color=INK, linestyle=":", label="up to the last step"
        )
    axes.set(xlabel="steps", ylabel="log-likelihood left to gain", xscale="log", yscale="log")
    axes.legend(frameon=False, fontsize=9)


def _interval(found: Estimate) -> str:
    return f"{found.confidence_in_words} interval ({found.intervals}, {found.scope})"


def _numbers(labels: Sequence[Any]) -> bool:
    return all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in labels)


# Survey -------------------------------------------------------------------------------------------------------------------
#
# Pictures of survey plans. Needs the extra ``plots`` (matplotlib).
#
# :func:`draw_survey` shows the device as a wheel of its equally likely cases, where it lies among the private designs, and
# how the margin of error falls with the number of respondents. It shows public parameters only, never answers.


SURVEY_INK, FAINT = "#22303a", "#b8c0c8"
TRUTH, BEST, DIRECT = COLOURS[0], COLOURS[2], "#8a949c"
SAID = (COLOURS[1], COLOURS[3], COLOURS[4], COLOURS[2], "#7a8b99")
MOST_NAMED = 8
"""More answers than this are not named next to the wheel."""

LONGEST_OPTION_NAME = 28
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
        _survey_bars(place, plan)
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
        wedges, names, loc="upper center", fontsize=9, frameon=False, labelcolor=SURVEY_INK, handlelength=1, borderpad=0
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
        axes.plot(
            *np.array(points).T, ".", color=SURVEY_INK, markersize=5, label="other devices", clip_on=False, zorder=3
        )
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


def _survey_bars(axes: Any, plan: Survey) -> None:
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
        axes.text(0.5, 0.5, "none: everybody is asked, and\nthe answers leave no doubt", ha="center", color=SURVEY_INK)
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
    axes.axvline(plan.respondents, color=SURVEY_INK, linewidth=0.8, linestyle=":")
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
        color=SURVEY_INK,
    )
    if plan.target_margin is not None:
        axes.axhline(float(plan.target_margin), color=SURVEY_INK, linewidth=0.8, linestyle=":")
    axes.set(xlabel="respondents", ylabel=f"margin of error ({numeral(100 * plan.confidence)} % confidence)")
    axes.grid(color="#e6e9ec", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.legend(fontsize=8, frameon=False, loc="lower left")


def _readable(answers: Sequence[Hashable]) -> list[str]:
    """The answers as they can be drawn: cut to some length, and numbered where the font has no letters for one of them."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    letters = get_font(findfont(FontProperties())).get_charmap()
    names = [shortened(answer, LONGEST_OPTION_NAME) for answer in answers]
    drawn = all(ord(letter) in letters for name in names for letter in name)
    return names if drawn and len(set(names)) == len(names) else [f"answer {i + 1}" for i in range(len(names))]


def _share(cases: int, total: int) -> str:
    return f"{cases} of {total}" if total <= 1000 else f"{100 * cases / total:.1f} %"
