"""Two example matrices: the linear programs for a count from 0 to 5 at epsilon 0.5, beside the printed tables.

Run:  python -m experiments.example_matrices [--json]

Published as tables 5.3 and 5.4 of a doctoral thesis on range-adherent mechanisms. Variant 1 (privacy alone) never
answers 0 or 5 and equals the truncated geometric with those answers moved inwards; variant 2 is monotone, symmetric
and fair besides. One printed number is a slip: 0.091 in the row of output 2 should be 0.090, as the sum of its column
shows. Rows are outputs here, as printed.
"""

from __future__ import annotations

import json

import numpy as np
from rich.console import Console
from rich.table import Table

from experiments.comparison import VARIANT_2, arguments
from noisewright.optimal.design import optimal

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
    return [(int(y), int(x)) for y, x in np.argwhere(np.abs(matrix - printed(name)) > 5.01e-4)]


def main(given: list[str] | None = None) -> int:
    options = arguments("example_matrices", __doc__, given)
    found = {name: run(name) for name in PRINTED}
    odd = {name: differences(name, matrix) for name, (matrix, _) in found.items()}
    expected = {"variant 1": [SLIP[1:]], "variant 2": []}
    good = odd == expected and all(abs(found[n][1] - OBJECTIVES[n]) < 1e-6 for n in PRINTED)
    if options.json:
        tables = {n: {"matrix": m.tolist(), "objective": v, "differs": odd[n]} for n, (m, v) in found.items()}
        print(json.dumps({"tables": tables, "agrees": good}))
        return 0 if good else 1
    console = Console(width=100, highlight=False)
    for name, (matrix, value) in found.items():
        table = Table(title=f"{name}: probability of each output (printed)")
        table.add_column("output")
        for x in range(6):
            table.add_column(f"count {x}", justify="right")
        for y, row in enumerate(matrix):
            cells = [f"{p:.3f} ({q:.3f})" for p, q in zip(row, printed(name)[y], strict=True)]
            table.add_row(str(y), *cells)
        console.print(table)
        console.print(f"Sum of expected errors {value:.6f} (reported {OBJECTIVES[name]:.6f}).")
        for y, x in odd[name]:
            console.print(f"Output {y}, count {x}: {matrix[y, x]:.4f} here, {printed(name)[y, x]:.3f} printed.")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
