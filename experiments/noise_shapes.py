"""Two shapes of noise on the numbers 0 to 100, for the true answer 50: geometric against randomised response.

Run:  noisewright reproduce noise_shapes [--quick] [--json] [--plot FILE.png]

Published as a figure in a doctoral thesis on metric privacy and information flow: the geometric (a = 25/27) hides the
neighbours of the truth best, randomised response (a = 1/2; the figure prints "11/22") hides everything equally. Their
epsilons are for different metrics and cannot be compared; who may replace whom is a question for the orders, and here
neither may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.report import Result, Row, Table, command
from noisewright.qif.refinement.families import Member, geometric_family, response_family
from noisewright.qif.refinement.replacement import may_replace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SECONDS = (1, 1)
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
        "geometric": geometric_family.member(decay="25/27", size=SIZE),
        "response": response_family.member(decay="1/2", size=SIZE),
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


def figure(quick: bool = False) -> Figure:
    """The probabilities of all outputs."""
    from noisewright.plotting.mechanisms import COLOURS, blank_figure

    drawn = blank_figure(8, 4.2)
    axes = drawn.add_subplot()
    for colour, style, (name, member) in zip(COLOURS, ("-", "--"), members().items(), strict=False):
        law = member.channel().matrix[TRUTH]
        title = f"{name}, a = {member.decay.exact}"
        axes.plot(range(SIZE), law, style, drawstyle="steps-mid", color=colour, linewidth=1.6, label=title)
    axes.set(xlabel="output, for the true answer 50", ylabel="probability", xlim=(-0.5, 100.5), ylim=(0, None))
    axes.legend(frameon=False)
    return drawn


def result(quick: bool = False) -> Result:
    """Probabilities at the truth, and in a whole run beside it and far off; and whether one may replace the other."""
    rows = run((50,) if quick else (50, 49, 0))
    first, second = members().values()
    answers = [may_replace(a, b, o) for o in ("average", "privacy") for a, b in ((first, second), (second, first))]
    notes = [f"Both ways: {', '.join(f'{r.order} {r.status}' for r in answers)}."]
    title = "Probability of an output for the true answer 50"
    findings = {"Neither may replace the other": not any(answers)}
    return Result([Table(title, ("mechanism", "output"), ("probability",), rows, SOURCE, 5)], findings, notes)


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("noise_shapes", given)


if __name__ == "__main__":
    raise SystemExit(main())
