"""Two shapes of noise on the numbers 0 to 100, for the true answer 50: geometric against randomised response.

Run:  python -m experiments.noise_shapes [--quick] [--json] [--plot FILE.png]

Published as a figure in a doctoral thesis on metric privacy and information flow: the geometric (a = 25/27) hides the
neighbours of the truth best, randomised response (a = 1/2; the figure prints "11/22") hides everything equally. Their
epsilons are for different metrics and cannot be compared; who may replace whom is a question for the orders, and here
neither may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.comparison import Row, arguments, finish
from noisewright.leakage.families import Member, geometric_family, response_family
from noisewright.leakage.replacement import may_replace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE, TRUTH = 101, 50
REPORTED = {
    ("geometric", 50): 0.03846,
    ("geometric", 49): 0.03846 * 25 / 27,
    ("response", 50): 0.01961,
    ("response", 49): 0.00980,
    ("response", 0): 0.00980,
}
SOURCE = "1/26 at the truth for the geometric; 1/51 at the truth and 1/102 elsewhere for randomised response"


def members() -> dict[str, Member]:
    """The two mechanisms of the figure."""
    return {
        "geometric": geometric_family.member(factor="25/27", size=SIZE),
        "response": response_family.member(factor="1/2", size=SIZE),
    }


def run(outputs: tuple[int, ...] = (50, 49, 0)) -> list[Row]:
    """The probability of each output, for the true answer 50."""
    rows = []
    for name, member in members().items():
        law = member.channel().matrix[TRUTH]
        for output in outputs:
            told = REPORTED.get((name, output))
            rows.append(Row((name, str(output)), (float(law[output]),), None if told is None else (told,), close=6e-6))
    return rows


def figure() -> Figure:
    """The probabilities of all outputs."""
    from noisewright.plots.figure import COLOURS, blank_figure

    drawn = blank_figure(8, 4.2)
    axes = drawn.add_subplot()
    for colour, style, (name, member) in zip(COLOURS, ("-", "--"), members().items(), strict=False):
        law = member.channel().matrix[TRUTH]
        title = f"{name}, a = {member.factor.exact}"
        axes.plot(range(SIZE), law, style, drawstyle="steps-mid", color=colour, linewidth=1.6, label=title)
    axes.set(xlabel="output, for the true answer 50", ylabel="probability", xlim=(0, 100), ylim=(0, None))
    axes.legend(frameon=False)
    return drawn


def main(given: list[str] | None = None) -> int:
    options = arguments("noise_shapes", __doc__, given, figure=True)
    rows = run((50,) if options.quick else (50, 49, 0))
    if options.plot:
        from noisewright.plots.figure import save_figure

        save_figure(figure(), options.plot)
    first, second = members().values()
    answers = [may_replace(a, b, o) for o in ("average", "privacy") for a, b in ((first, second), (second, first))]
    neither = "Neither may replace the other" if not any(answers) else "One may replace the other"
    notes = [f"{neither} (both ways): {', '.join(f'{r.order} {r.status}' for r in answers)}."]
    title = "Probability of an output for the true answer 50"
    return finish(title, ("mechanism", "output"), ("probability",), rows, options.json, notes, SOURCE, 5)


if __name__ == "__main__":
    raise SystemExit(main())
