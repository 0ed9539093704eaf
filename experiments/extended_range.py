"""Outputs beyond the range: what five mechanisms cost when the output range is three times as wide as that of the query.

Run:  noisewright reproduce extended_range [--quick] [--json]

Published as figures 5.11 and 5.12 of a doctoral thesis on range-adherent mechanisms: snapped mechanisms get much
worse at face value and stay the same after remapping; normalised Laplace noise gets a little better after remapping;
the linear program does not use the new outputs and stays as it was. Numbers are expected absolute errors over ten
records, in the range of the query and in the wide one.
"""

from __future__ import annotations

from experiments.comparison import SOURCE, measures, mechanisms
from experiments.report import Result, Row, Table, command

SECONDS = (2, 14)
EPSILON = "0.2"
REPORTED: dict[tuple[str, str], tuple[float, float, float, float]] = {
    ("mean", "snapped staircase"): (1.1267, 1.8789, 0.8660, 0.8660),
    ("mean", "normalised Laplace"): (1.1633, 2.2943, 0.9893, 0.9750),
    ("mean", "variant 1"): (0.8655, 0.8655, 0.8655, 0.8655),
    ("count", "truncated geometric"): (2.7519, 4.6671, 2.2668, 2.2668),
    ("count", "normalised Laplace"): (3.0545, 5.8247, 2.6287, 2.5922),
    ("count", "variant 1"): (2.2668, 2.2668, 2.2668, 2.2668),
}
NAMES = ("face value", "in the wide range", "best guess", "in the wide range")


def run(query: str, size: int = 10, *, shaped: bool = True) -> list[Row]:
    """One row for each mechanism that has a wide version; ``shaped`` includes variant 2, the slowest."""
    narrow, wide = (mechanisms(query, size, EPSILON, widened=w) for w in (False, True))
    rows = []
    for name in wide:
        if name == "variant 2" and not shaped:
            continue
        inside, beyond = measures(narrow[name]()), measures(wide[name]())
        found = (inside[0], beyond[0], inside[2], beyond[2])
        known = REPORTED.get((query, name)) if size == 10 else None
        rows.append(Row((query, name), found, known, (2, 3) if name == "variant 2" else ()))
    return rows


def result(quick: bool = False) -> Result:
    """Both queries; a quick run has counts only, without variant 2."""
    queries = ("count",) if quick else ("mean", "count")
    rows = [row for query in queries for row in run(query, shaped=not quick)]
    title = f"Expected absolute errors at epsilon {EPSILON}, in the range of the query and in one three times as wide"
    notes = ["The explicit fair mechanism has no version with more outputs than secrets."]
    return Result([Table(title, ("query", "mechanism"), NAMES, rows, SOURCE)], notes=notes)


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("extended_range", given)


if __name__ == "__main__":
    raise SystemExit(main())
