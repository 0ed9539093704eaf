"""Design a mechanism, certify it, sample from it, verify it, and see an edited certificate rejected.

Run:  python examples/first_mechanism.py [FOLDER]
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.padding import Padding

import noisewright as nw
from noisewright.certificates.checker import checker

say = Console(width=110, highlight=False).print


def tell(text: str) -> None:
    say(Padding(text, (0, 0, 0, 3)))


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)

    say("\n[bold]1. Design.[/] A clinic publishes how many visits each of its patients made, 0 to 100 each.")
    line = nw.metrics.Line()
    design = nw.geometric(epsilon="1", within=(0, 100))
    tell(f"{design.guarantee}; expected error {design.error():.3f} visits")
    tell(f"{design.guarantee.in_words()}")

    say("\n[bold]2. Certify.[/] Integers prove the guarantee, even for entries near e^-100.")
    visits = nw.mechanism(design.channel(), epsilon="1", metric=line, name="visits")
    table = visits.certified
    smallest = int(min(table.table.ravel()))
    tell(f"{table.table.shape[0]} x {table.table.shape[1]} integers, every row sums to 2^{table.width}")
    say(
        f"   the smallest entry, about {smallest / 2**table.width:.2g}, still has {smallest.bit_length()} significant bits"
    )
    tell(f"total variation between design and table: {table.change:.1g}")

    say("\n[bold]3. Release.[/] A column of 1,000,000 synthetic counts, with cryptographic randomness.")
    counts = np.random.default_rng(7).poisson(12, 1_000_000).clip(0, 100)
    start = time.perf_counter()
    released = visits.release(counts)
    seconds = time.perf_counter() - start
    tell(f"{len(released) / seconds / 1e6:.0f} million exact samples per second")
    say(
        f"   mean {counts.mean():.3f} before, {released.mean():.3f} after; mean error {np.abs(released - counts).mean():.3f}"
    )

    say("\n[bold]4. Verify.[/] Anyone can prove the guarantee again from the file, with integers only.")
    path = nw.save(visits, folder / "visits.json")
    tell(f"proved: {nw.verify(path).claim}")

    say("\n[bold]5. Tamper.[/] One hexadecimal digit of the table is changed; then the digest is recomputed.")
    edited = json.loads(path.read_text())
    row = edited["proof"]["table"][0]
    row[0] = row[0][:-1] + ("0" if row[0][-1] != "0" else "1")
    for forged in (edited, {**edited, "digest": checker.digest(edited)}):
        try:
            nw.Certificate.from_json(json.dumps(forged)).verify()
        except nw.NoisewrightError as problem:
            tell(f"refused: {problem}")
    say(f"\nThe certificate is in {path}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/demo"))
