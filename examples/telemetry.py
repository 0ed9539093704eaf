"""Estimate which of 10,000 pages a million people read: local differential privacy randomises each report on its machine.

Run:  python examples/telemetry.py [FOLDER]
"""

import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

import noisewright as nw

PEOPLE, PAGES, EPSILON, SHOWN = 1_000_000, 10_000, 2, 10

say = Console(width=110, highlight=False).print


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(5)
    weights = 1 / np.arange(1, PAGES + 1)  # few pages have many readers, most have hardly any
    read = rng.choice(PAGES, PEOPLE, p=weights / weights.sum())
    truth = np.bincount(read, minlength=PAGES) / PEOPLE

    say(f"\n[bold]1. Report.[/] {PEOPLE:,} people, {PAGES:,} pages, epsilon {EPSILON} for each person.")
    page = nw.mechanisms.hadamard_response(PAGES, epsilon=EPSILON)
    start = time.perf_counter()
    reports = page.release(read)
    seconds = time.perf_counter() - start
    pq.write_table(pa.table({"report": reports}), folder / "reports.parquet")
    nw.save(page, folder / "page.json")
    say(f"   {PEOPLE / seconds / 1e6:.0f} million reports per second; {page.guarantee}")

    say("\n[bold]2. Estimate.[/] The collector has only the reports and the certificate.")
    made_by = nw.load(folder / "page.json")
    found = nw.estimate(pq.read_table(folder / "reports.parquet")["report"], made_by, intervals="asymptotic")
    table = Table()
    for column in ("page", "share", "95 % interval", "truth"):
        table.add_column(column, justify="right")
    shares = found.unbiased  # for single shares; found.probabilities is the nearest distribution, which sums to 1
    for i in np.argsort(-shares)[:SHOWN]:
        interval = f"{found.low[i]:.4f} to {found.high[i]:.4f}"
        table.add_row(f"{i}", f"{shares[i]:.4f}", interval, f"{truth[i]:.4f}")
    say(table)
    covered = int(((found.low <= truth) & (truth <= found.high)).sum())
    say(f"   {covered:,} of {PAGES:,} intervals contain the truth\n")
    say(f"From a shell: noisewright estimate {folder}/reports.parquet --mechanism {folder}/page.json\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/telemetry"))
