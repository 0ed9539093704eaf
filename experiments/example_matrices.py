"""Two example matrices: the linear programs for a count from 0 to 5 at epsilon 0.5, beside the printed tables.

Run:  noisewright reproduce example_matrices [--quick] [--json]

Published as tables 5.3 and 5.4 of a doctoral thesis on range-adherent mechanisms. Variant 1 (privacy alone) never
answers 0 or 5 and equals the truncated geometric with those answers moved inwards; variant 2 is monotone, symmetric
and fair besides. One printed number is a slip: 0.091 in the row of output 2 should be 0.090, as the sum of its column
shows. Rows are outputs here, as printed.
"""

from __future__ import annotations

import numpy as np

from experiments.comparison import VARIANT_2
from experiments.report import Result, Row, Table, command
from noisewright.design.optimal import optimal

PRINTED = {
    "variant 1": """0 0 0 0 0 0
0.771 0.622 0.378 0.229 0.139 0.084
0.090 0.149 0.245 0.149 0.091 0.055
0.055 0.090 0.149 0.245 0.149 0.090
0.084 0.139 0.229 0.378 0.622 0.771
0 0 0 0 0 0""",
    "variant 2": """0.315 0.191 0.116 0.070 0.043 0.026
0.315 0.315 0.191 0.116 0.070 0.043
0.231 0.265 0.315 0.191 0.116 0.070
0.070 0.116 0.191 0.315 0.265 0.231
0.043 0.070 0.116 0.191 0.315 0.315
0.026 0.043 0.070 0.116 0.191 0.315""",
}
OBJECTIVES = {"variant 1": 6.363223, "variant 2": 6.828620}
"""Sums of the expected absolute errors over the six counts."""

SECONDS = (2, 2)
ROUNDED = 5.01e-4
"""Half a unit of the three decimals that were printed."""

SLIP = ("variant 1", 2, 4)
"""Where the printed table is wrong: output 2, true count 4."""


def printed(name: str) -> np.ndarray:
    return np.array([[float(v) for v in line.split()] for line in PRINTED[name].splitlines()])


def run(name: str) -> tuple[np.ndarray, float]:
    """The matrix, rows = outputs as printed, and the sum of the expected errors."""
    made = optimal(6, epsilon="0.5", loss="absolute", shape=VARIANT_2 if name == "variant 2" else ())
    return made.channel().matrix.T, 6 * made.loss_value


def differences(name: str, matrix: np.ndarray) -> list[tuple[int, int]]:
    """Cells that differ from the printed ones by more than rounding to three decimals."""
    return [(int(y), int(x)) for y, x in np.argwhere(np.abs(matrix - printed(name)) > ROUNDED)]


def table(name: str, matrix: np.ndarray) -> Table:
    """A matrix beside the printed one, a row for each output."""
    rows = []
    for y, told in enumerate(printed(name)):
        slips = (SLIP[2],) if (name, y) == SLIP[:2] else ()
        rows.append(Row((str(y),), tuple(matrix[y].tolist()), tuple(told.tolist()), slips, ROUNDED))
    counts = tuple(f"count {x}" for x in range(6))
    return Table(f"{name}: probability of each output", ("output",), counts, rows, "the printed table", 3)


def result(quick: bool = False) -> Result:
    """Both matrices and the sums of their expected errors; all of it is quick."""
    del quick
    found = {name: run(name) for name in PRINTED}
    sums = [Row((name,), (value,), (OBJECTIVES[name],), close=1e-6) for name, (_, value) in found.items()]
    odd = [(name, *cell) for name, (matrix, _) in found.items() for cell in differences(name, matrix)]
    tables = [table(name, matrix) for name, (matrix, _) in found.items()]
    tables.append(Table("Sum of the expected errors", ("program",), ("sum",), sums, "a recomputation", 6))
    return Result(tables, {"One printed number is a slip: output 2, count 4 of variant 1": odd == [SLIP]})


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("example_matrices", given)


if __name__ == "__main__":
    raise SystemExit(main())
