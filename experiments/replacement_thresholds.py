"""How large an epsilon another family may have: safe replacement among geometric, response and exponential, five secrets.

Run:  noisewright reproduce replacement_thresholds [--quick] [--json] [--plot FILE.png]

Published as a figure with three panels in a doctoral thesis on metric privacy and information flow; the numbers are those
of a recomputation in 60 digits. Randomised response is by far the hardest to replace; for a large epsilon the geometric
and the exponential need nearly equal ones. "TG(4) is refined by RR(4)", as the text reads the figure off, is approximate:
the limit is 3.98186.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from experiments.report import Result, Row, Table, command
from noisewright.qif.refinement.families import FAMILIES
from noisewright.qif.refinement.replacement import safe_replacement

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SECONDS = (2, 3)
SIZE = 5
SHORT = {"geometric": "G", "response": "R", "exponential": "E"}
PAIRS = (
    ("geometric", "response"),
    ("geometric", "exponential"),
    ("response", "geometric"),
    ("response", "exponential"),
    ("exponential", "geometric"),
    ("exponential", "response"),
)
REPORTED = {
    "0.5": "0.227336 0.432736 0.059242 0.112286 0.197439 0.189701",
    "1": "0.735326 0.972375 0.138188 0.245943 0.587366 0.565623",
    "2": "1.87555 1.99789 0.351431 0.546311 1.75734 1.74516",
    "3": "2.95154 2.99988 0.612055 0.843412 2.90334 2.90114",
    "4": "3.98186 3.99999 0.888127 1.11564 3.96373 3.96340",
    "5": "4.99328 5.00000 1.16379 1.36759 4.98657 4.98653",
    "6": "5.99752 6.00000 1.43464 1.60842 5.99505 5.99504",
    "8": "7.99966 8.00000 1.96250 2.07984 7.99933 7.99933",
}
PRIVACY_REPORTED = {
    "0.5": "0.5 0.5 0.125 - 0.348720 0.392695",
    "1": "1 1 0.25 - 0.793683 0.843315",
    "2": "2 2 0.5 - 1.878671 1.893405",
    "4": "4 4 1 - 3.981863 3.982192",
}
SOURCE = "a recomputation in 60-digit arithmetic of the published figure"


def run(epsilon: str, order: str = "average") -> Row:
    """The largest safe epsilon for each pair, at one epsilon of the mechanism that is replaced."""
    found = tuple(
        safe_replacement(FAMILIES[a].member(epsilon=epsilon, size=SIZE), b, order=order).epsilon for a, b in PAIRS
    )
    told = (PRIVACY_REPORTED if order == "privacy" else REPORTED)[epsilon].split()
    numbers = tuple(None if word == "-" else float(word) for word in told)
    return Row((order, epsilon), found, numbers, close=5e-6 + 1e-9)  # half a unit of five decimals


def printed(row: Row) -> bool:
    """Whether every number agrees in all the digits that its reported one has."""
    words = (PRIVACY_REPORTED if row.label[0] == "privacy" else REPORTED)[row.label[1]].split()
    pairs = [(v, w) for v, w in zip(row.found, words, strict=True) if w != "-"]
    return all(f"{v:.{len(w.partition('.')[2])}f}" == w for v, w in pairs)


def figure(quick: bool = False) -> Figure:
    """The largest safe epsilon by the epsilon that is replaced, one panel for each family."""
    from noisewright.plotting.leakage import draw_replacements
    from noisewright.qif.refinement.replacement import replacement_table

    epsilons = [*(Fraction(k, 4) for k in range(1, 8)), *(Fraction(k, 2) for k in range(4, 17))]
    return draw_replacements(replacement_table(epsilons=epsilons, size=SIZE, accuracy=1e-4))


def result(quick: bool = False) -> Result:
    """Both orders at all epsilons; a quick run has two."""
    chosen = ("0.5", "4") if quick else tuple(REPORTED)
    rows = [run(e) for e in chosen] + [run(e, "privacy") for e in PRIVACY_REPORTED if e in chosen]
    names = tuple(f"{SHORT[a]} by {SHORT[b]}" for a, b in PAIRS)
    notes = ["G, R and E are geometric, randomised response and exponential (by its true epsilon)."]
    title = "Largest safe epsilon in place of another family, five secrets"
    findings = {"All numbers agree in all the digits that were printed": all(printed(row) for row in rows)}
    return Result([Table(title, ("order", "epsilon"), names, rows, SOURCE, 5)], findings, notes)


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("replacement_thresholds", given)


if __name__ == "__main__":
    raise SystemExit(main())
