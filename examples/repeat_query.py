"""The averaging attack: independent noise on every answer averages out, one noisy copy of the records does not.

Run:  python examples/repeat_query.py [PICTURE.png]
"""

import sys

import numpy as np
from rich.console import Console
from rich.table import Table

import noisewright as nw

PEOPLE, TRUTH, EPSILON = 10_000, 2_345, "1/2"
REPEATS = (1, 10, 100, 1_000, 10_000)
TRIALS = 20

say = Console(width=100, highlight=False).print


def main(picture: str | None) -> None:
    records = np.array(["yes"] * TRUTH + ["no"] * (PEOPLE - TRUTH))
    say(f"\n{TRUTH} of {PEOPLE} people said yes. An adversary repeats the count and averages the answers.\n")

    attacks = np.array([averages_of_repeats(records) for _ in range(TRIALS)])
    copies = np.array([answer_of_a_copy(records) for _ in range(TRIALS)])
    fresh_errors = np.abs(attacks - TRUTH).mean(axis=0)
    copy_error = float(np.abs(copies - TRUTH).mean())

    desk = nw.mechanisms.OutputPerturbation(records, nw.geometric(epsilon=EPSILON))
    table = Table()
    for column in ("answers asked", "error, fresh noise", "epsilon spent", "error, sanitised copy", "epsilon spent "):
        table.add_column(column, justify="right")
    for repeats, error in zip(REPEATS, fresh_errors, strict=True):
        while desk.releases < repeats:
            desk.ask(count)
        spent = f"{desk.guarantee.epsilon:,.6g}"
        table.add_row(f"{repeats:,}", f"{error:.3f}", spent, f"{copy_error:.1f}", f"{coin().guarantee.epsilon:g}")
    say(table)
    found = np.round(attacks[:, -1]) == TRUTH
    say(f"\nAfter {REPEATS[-1]:,} answers the rounded average is the exact count in {found.sum()} of {TRIALS} attacks.")
    say("The copy was randomised once, record by record. It is noisier, but any number of queries is allowed.\n")
    if picture:
        draw(fresh_errors, copy_error, picture)


def count(records: np.ndarray) -> int:
    return int((records == "yes").sum())


def averages_of_repeats(records: np.ndarray) -> list[float]:
    """Return running averages of independent answers, sampled as one column with the same distribution."""
    answers = nw.geometric(epsilon=EPSILON).release(np.full(REPEATS[-1], count(records)))
    return [float(answers[:repeats].mean()) for repeats in REPEATS]


def coin() -> nw.base.Mechanism:
    return nw.randomised_response(["yes", "no"], epsilon=EPSILON)


def answer_of_a_copy(records: np.ndarray) -> float:
    """Return the unbiased estimate of the count from one sanitised copy; a repeated query gives the same result."""
    copy = nw.mechanisms.sanitise(records, coin())
    truthful, lying = (coin().channel().row(secret)[0] for secret in ("yes", "no"))
    return float((copy.ask(count) - PEOPLE * lying) / (truthful - lying))


def draw(fresh: np.ndarray, copy: float, picture: str) -> None:
    """Plot the two errors against the number of answers."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
    axes.plot(REPEATS, fresh, "o-", color="#c8553d", label="fresh noise on every answer")
    axes.axhline(copy, color="#2a7f62", label="one sanitised copy")
    axes.set(xscale="log", yscale="log", xlabel="times the question is asked", ylabel="mean error of the average")
    axes.legend(frameon=False)
    figure.savefig(picture, dpi=130)
    plt.close(figure)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
