"""Designs of randomised response: when an asymmetric one is best, and Warner's design against Mangat's.

Run:  noisewright reproduce survey_designs [--quick] [--json] [--plot FILE.png]

Published as three figures and three worked examples in a doctoral thesis on differential privacy in metric spaces:

* contour lines of the threshold g(epsilon, delta): a prevalence below it calls for the asymmetric design;
* Warner's largest variance over Mangat's at equal degree of privacy violation. The published curve takes 1/(4 D^2) for the
  largest variance where no prevalence attains it: below 2 pi/(1 + pi), where the ratio really is larger still;
* Mangat's largest variance for a sample and for a whole population. For the same reason the published message, a large gap
  where the truth is told rarely, is reversed: there is none up to 1/2, and it is largest, 1/4, where it is always told;
* the best design for three budgets. They come out again to all printed digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.report import Result, Row, Table, command
from noisewright.surveys.designs import (
    Design,
    Region,
    asymmetric_threshold,
    compare_at_violation,
    disclosing_threshold,
    four_answer_variance,
    mangat,
    optimal_design,
    violation,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Case = tuple[str, str, str]
SECONDS = (1, 1)
SOURCE = "a recomputation of the published figures, whose curves carry no numbers"
EPSILONS = ("0.1", "0.5", "1", "1.5", "2", "3")
THRESHOLDS = {
    ("g", "0"): "-9.5083 -1.5415 -0.5820 -0.2872 -0.1565 -0.0524",
    ("g", "0.1"): "-0.4684 -0.5888 -0.3187 -0.1776 -0.1023 -0.0358",
    ("g", "0.2"): "0.3054 -0.1268 -0.1264 -0.0845 -0.0528 -0.0198",
    ("g", "0.3"): "0.5218 0.1316 0.0183 -0.0047 -0.0076 -0.0042",
    ("g", "0.4"): "0.6115 0.2905 0.1299 0.0642 0.0340 0.0109",
    ("g", "0.5"): "0.6571 0.3952 0.2178 0.1240 0.0722 0.0255",
    ("h", "0"): "0 0 0 0 0 0",
    ("h", "0.1"): "1.2941 0.2428 0.0766 0.0338 0.0172 0.0054",
    ("h", "0.2"): "1.0229 0.3362 0.1301 0.0621 0.0329 0.0107",
    ("h", "0.3"): "0.8477 0.3749 0.1685 0.0861 0.0472 0.0158",
    ("h", "0.4"): "0.7348 0.3905 0.1967 0.1065 0.0603 0.0207",
    ("h", "0.5"): "0.6571 0.3952 0.2178 0.1240 0.0722 0.0255",
}
ZEROS = {"0.1": "0.14189", "0.5": "0.24261", "1": "0.28580", "2": "0.31755", "3": "0.32771"}
"""The delta where g is 0, by epsilon."""
RATIOS = {
    ("0.01", "0.011"): "3.6411 10.9153",
    ("0.01", "0.02"): "2.2349 2.2349",
    ("0.01", "0.05"): "1.4207 1.4207",
    ("0.01", "0.11"): "1.1701 1.1701",
    ("0.01", "0.2"): "1.0824 1.0824",
    ("0.01", "0.5"): "1.0203 1.0203",
    ("0.01", "0.9"): "1.0022 1.0022",
    ("0.01", "1"): "1 1",
    ("0.1", "0.11"): "3.6062 9.9281",
    ("0.1", "0.2"): "2.0864 2.0864",
    ("0.1", "0.5"): "1.2346 1.2346",
    ("0.1", "0.9"): "1.0248 1.0248",
    ("0.1", "1"): "1 1",
}
"""Ratios of largest variances by prevalence and degree of privacy violation: as published, and true."""
MANGAT = {
    "0.1": "25 9 9",
    "0.25": "4 3 3",
    "0.5": "1 1 1",
    "0.6": "0.6944 0.6944 0.6667",
    "0.75": "0.4444 0.4444 0.3333",
    "0.9": "0.3086 0.3086 0.1111",
    "1": "0.25 0.25 0",
}
"""Mangat's largest variances: of a sample as published, of a sample, of a whole population."""
FIRST, SECOND, THIRD = ("0.1", "0", "0.25"), ("1", "0.4", "0.1"), ("0.5", "0.3", "0.9")
"""The worked examples: epsilon, delta and prevalence."""
PUBLISHED: dict[Case, dict[str, str]] = {
    FIRST: {"threshold g": "-9.508", "variance, symmetric": "100.104", "variance, asymmetric": "109.863"},
    SECOND: {
        "threshold g": "0.130",
        "p00, asymmetric": "0.963212",
        "variance, symmetric": "0.385",
        "variance, asymmetric": "0.355",
        "violation, symmetric": "0.366",
        "violation, asymmetric": "0.602",
    },
    THIRD: {
        "threshold g": "0.132",
        "p11, asymmetric": "0.878694",
        "variance, symmetric": "0.965",
        "variance, asymmetric": "0.933",
        "variance, the other asymmetric": "1.733",
    },
}
"""Designs with probabilities of 1/2 or more; the variance is that of one respondent."""
BEYOND: dict[Case, dict[str, str]] = {
    SECOND: {
        "threshold h": "0.1967",
        "variance, disclosing": "0.2400",
        "violation, disclosing": "1.0000",
        "variance, four answers": "0.1985",
    },
    THIRD: {"variance, disclosing": "0.3233"},
}
"""The best of all private designs, and of those with four answers."""
BRANCHES = ("symmetric", "asymmetric", "asymmetric")
"""The best design in each example, both probabilities being at least 1/2."""


# The numbers --------------------------------------------------------------------------------------------------------------


def thresholds(quick: bool = False) -> list[Row]:
    """g and h at every epsilon, one row for each delta."""
    compute = {"g": asymmetric_threshold, "h": disclosing_threshold}
    rows = []
    for (name, delta), told in THRESHOLDS.items():
        if not quick or delta in ("0", "0.4"):
            found = tuple(compute[name](epsilon, delta) for epsilon in EPSILONS)
            rows.append(Row((name, delta), found, _numbers(told), close=5.1e-5))
    return rows


def zeros() -> list[Row]:
    """The delta where g is 0, one row for each epsilon."""
    return [Row((epsilon,), (zero(epsilon),), (float(told),), close=5.1e-6) for epsilon, told in ZEROS.items()]


def zero(epsilon: str) -> float:
    """The delta where g changes its sign: below, the symmetric design is best at every prevalence."""
    low, high = 0.0, 0.5
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if asymmetric_threshold(epsilon, middle) < 0 else (low, middle)
    return high


def ratios(degree: str | float, prevalence: str) -> tuple[float, float]:
    """Warner's largest variance over Mangat's: by 1/(4 D^2) for both, as published, and true."""
    pair = compare_at_violation(degree, prevalence)
    return float((pair.mangat.separation / pair.warner.separation) ** 2), pair.worst_ratio


def largest_variances(truth: str | float) -> tuple[float, float, float]:
    """Mangat's largest variances for one respondent: by 1/(4 D^2), as published; of a sample; of a whole population."""
    design = mangat(truth)
    everybody = design.worst_variance(whole_population=True).variance
    return float(1 / (4 * design.separation**2)), design.worst_variance().variance, everybody


def example(epsilon: str, delta: str, prevalence: str) -> dict[str, float]:
    """All numbers of a worked example: asymmetric and disclosing designs are those for the rarer truth."""
    region = Region.of(epsilon=epsilon, delta=delta)
    rare_yes = float(prevalence) <= 0.5

    def turned(design: Design) -> Design:
        return design if rare_yes else design.swapped

    designs = {"symmetric": region.symmetric(), "asymmetric": turned(region.half())}
    designs["the other asymmetric"] = designs["asymmetric"].swapped
    found = {
        "threshold g": asymmetric_threshold(epsilon, delta),
        "threshold h": disclosing_threshold(epsilon, delta),
        "p00, asymmetric": float(designs["asymmetric"].p00),
        "p11, asymmetric": float(designs["asymmetric"].p11),
        "variance, four answers": four_answer_variance(epsilon=epsilon, delta=delta, prevalence=prevalence),
    }
    if region.delta > 0:  # without a delta nothing may be disclosed
        designs["disclosing"] = turned(region.disclosing())
    for name, design in designs.items():
        found[f"variance, {name}"] = design.variance(prevalence)
        found[f"violation, {name}"] = violation(design, prevalence)
    return found


def examples(reported: dict[Case, dict[str, str]]) -> list[Row]:
    """One row for each number that is reported about the worked examples."""
    rows = []
    for case, told in reported.items():
        found, words = example(*case), "epsilon {}, delta {}, prevalence {}".format(*case)
        for name, number in told.items():
            close = 0.51 * 10.0 ** -len(number.partition(".")[2])
            rows.append(Row((words, name), (found[name],), (float(number),), close=close))
    return rows


def tables(quick: bool = False) -> list[Table]:
    """All tables; a quick run has fewer deltas and degrees."""
    at = tuple(f"epsilon {epsilon}" for epsilon in EPSILONS)
    compared = [
        Row((pi, degree), ratios(degree, pi), _numbers(told), close=5.1e-5)
        for (pi, degree), told in RATIOS.items()
        if not quick or degree in ("0.011", "0.11", "1")
    ]
    largest = [Row((truth,), largest_variances(truth), _numbers(told), close=5.1e-5) for truth, told in MANGAT.items()]
    title = "Warner's largest variance over Mangat's at one degree of privacy violation"
    sizes, case = ("sample, as published", "sample", "whole population"), ("case", "number")
    return [
        Table("Thresholds of the prevalence", ("threshold", "delta"), at, thresholds(quick), SOURCE),
        Table("Below this delta the symmetric design is always best", ("epsilon",), ("delta",), zeros(), SOURCE, 5),
        Table(title, ("prevalence", "degree"), ("as published", "true"), compared, SOURCE),
        Table("Mangat's largest variance for one respondent", ("a no told truly",), sizes, largest, SOURCE),
        Table(
            "Three worked examples",
            case,
            ("value",),
            examples(PUBLISHED),
            "the published examples and a recomputation",
            3,
        ),
        Table("Beyond them: designs that disclose", case, ("value",), examples(BEYOND), "a recomputation"),
    ]


def branches() -> tuple[str, ...]:
    """The best design in each worked example."""
    return tuple(optimal_design(epsilon=e, delta=d, prevalence=p).branch for e, d, p in (FIRST, SECOND, THIRD))


def _numbers(words: str) -> tuple[float, ...]:
    return tuple(float(word) for word in words.split())


# The figure ---------------------------------------------------------------------------------------------------------------

INK, FAINT = "#22303a", "#5f6a72"


def figure(quick: bool = False) -> Figure:
    """Contours of g, ratios of largest variances, and Mangat's largest variances."""
    from noisewright.plotting.mechanisms import blank_figure

    drawn = blank_figure(14.5, 4.6)
    contours, against, mangats = drawn.subplots(1, 3)
    _contours(contours)
    _ratios(against)
    _mangat(mangats)
    return drawn


def _contours(axes: Any) -> None:
    epsilons, deltas = np.linspace(0.02, 3, 90), np.linspace(0, 0.5, 76)
    heights = np.array([[asymmetric_threshold(e, d) for e in epsilons] for d in deltas])
    axes.contourf(epsilons, deltas, heights, levels=[0, 10], colors=["#2a7f62"], alpha=0.12)
    levels = [-1, -0.3, -0.1, 0, 0.05, 0.1, 0.2, 0.3, 0.5]
    styles = ["--" if level < 0 else "-" for level in levels]
    widths = [2.0 if level == 0 else 1.1 for level in levels]
    lines = axes.contour(epsilons, deltas, heights, levels=levels, colors=INK, linestyles=styles, linewidths=widths)
    axes.clabel(lines, fontsize=8, fmt="%g")
    plain = {"fontsize": 9, "ha": "right", "bbox": {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 2}}
    axes.text(2.93, 0.345, "above: asymmetric design\nfor prevalences below g", va="bottom", **plain)
    axes.text(2.93, 0.26, "below: symmetric design\nfor every prevalence", va="bottom", **plain)
    axes.set(xlabel="epsilon", ylabel="delta", xlim=(0, 3), ylim=(0, 0.5))
    axes.set_title("Contour lines of the threshold g", fontsize=10)


def _ratios(axes: Any) -> None:
    from noisewright.plotting.mechanisms import COLOURS

    for colour, prevalence in zip(COLOURS, ("0.01", "0.1"), strict=False):
        pi = float(prevalence)
        degrees = np.geomspace(1.02 * pi, 1, 160)
        published, true = np.log([ratios(min(float(a), 1.0), prevalence) for a in degrees]).T
        axes.plot(degrees, true, color=colour, linewidth=1.8, label=f"pi = {prevalence}")
        axes.plot(degrees, published, "--", color=colour, linewidth=1.2, label=f"pi = {prevalence}, as published")
        axes.axvline(2 * pi / (1 + pi), 0, 0.8, color=colour, linewidth=0.8, linestyle=":")
        axes.text(2.1 * pi / (1 + pi), 3.95, "2 pi/(1 + pi)", rotation=90, fontsize=8, color=colour, va="top")
    axes.set(xlabel="degree of privacy violation", ylabel="log ratio, Warner's over Mangat's", xscale="log")
    axes.set(xlim=(0.009, 1), ylim=(0, 5))
    axes.set_xticks([0.01, 0.03, 0.1, 0.3, 1], ["0.01", "0.03", "0.1", "0.3", "1"])
    axes.set_title("Largest variances at equal violation", fontsize=10)
    axes.legend(frameon=False, fontsize=8, loc="upper center", ncols=2, title="prevalence pi", title_fontsize=8)


def _mangat(axes: Any) -> None:
    from noisewright.plotting.mechanisms import COLOURS

    truths = np.linspace(0.1, 1, 181)
    published, sample, everybody = np.array([largest_variances(min(float(p), 1.0)) for p in truths]).T
    axes.plot(truths, published, "--", color=COLOURS[0], linewidth=1.2, label="sample, as published")
    axes.plot(truths, sample, color=COLOURS[0], linewidth=2.6, label="sample")
    axes.plot(truths, everybody, color=COLOURS[1], linewidth=1.3, label="whole population")
    axes.axvline(0.5, color=FAINT, linewidth=0.8, linestyle=":")
    axes.text(0.49, 0.06, "no gap up to 1/2", fontsize=9, ha="right")
    axes.text(0.985, 0.3, "1/4", fontsize=9, ha="right", color=COLOURS[0])
    axes.text(0.93, 0.06, "to 0", fontsize=9, ha="right", color=COLOURS[1])
    axes.set(xlabel="probability that a true no is told", yscale="log")
    axes.set_ylabel("largest variance, one respondent", labelpad=8)
    axes.set(xlim=(0.1, 1), ylim=(0.05, 30))
    axes.set_yticks([0.1, 0.25, 1, 3, 10, 25], ["0.1", "0.25", "1", "3", "10", "25"])
    axes.minorticks_off()
    axes.set_title("Mangat's design", fontsize=10)
    axes.legend(frameon=False, fontsize=8, loc="upper right")


def result(quick: bool = False) -> Result:
    """All tables, and which design is best in the worked examples."""
    best = branches()
    words = f"Best with probabilities of 1/2 or more in the examples: {', '.join(best)}"
    return Result(tables(quick), {words: best == BRANCHES})


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("survey_designs", given)


if __name__ == "__main__":
    raise SystemExit(main())
