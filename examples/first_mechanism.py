"""Design a mechanism, certify it, draw from it, verify it, and see an edited certificate refused.

Run:  python examples/first_mechanism.py [FOLDER]
"""

import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console

import noisewright as nw

say = Console(width=110, highlight=False).print


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)

    say("\n[bold]1. Design.[/] A clinic publishes how many visits each of its patients made, 0 to 100 each.")
    line = nw.Line()
    design = nw.geometric(epsilon="1", within=(0, 100))
    say(f"   {design.guarantee}; expected error {design.error():.3f} visits")
    say(f"   {design.guarantee.reading()}")

    say(
        "\n[bold]2. Certify.[/] The channel becomes integers that prove the promise, even where entries are near e^-100."
    )
    visits = nw.mechanism(design.channel(), epsilon="1", metric=line, name="visits")
    table = visits.certified
    smallest = int(min(table.table.ravel()))
    say(f"   {table.table.shape[0]} x {table.table.shape[1]} integers, every row sums to 2^{table.width}")
    say(
        f"   the smallest entry, about {smallest / 2**table.width:.2g}, still has {smallest.bit_length()} significant bits"
    )
    say(f"   total variation between design and table: {table.change:.1g}")

    say("\n[bold]3. Release.[/] A column of 1,000,000 synthetic counts, with cryptographic randomness.")
    counts = np.random.default_rng(7).poisson(12, 1_000_000).clip(0, 100)
    start = time.perf_counter()
    released = visits.release(counts)
    seconds = time.perf_counter() - start
    say(f"   {len(released) / seconds / 1e6:.0f} million exact draws a second")
    say(
        f"   mean {counts.mean():.3f} before, {released.mean():.3f} after; mean error {np.abs(released - counts).mean():.3f}"
    )

    say("\n[bold]4. Verify.[/] Anyone can prove the promise again from the file, with integers alone.")
    path = nw.save(visits, folder / "visits.json")
    say(f"   proved: {nw.load(path).verify()}")

    say("\n[bold]5. Tamper.[/] One hexadecimal digit of the table is changed.")
    text = path.read_text()
    spot = text.index('"table"') + 200
    spot = next(i for i in range(spot, len(text)) if text[i] in "0123456789")
    edited = text[:spot] + ("1" if text[spot] != "1" else "2") + text[spot + 1 :]
    try:
        nw.Certificate.from_json(edited).verify()
    except nw.NoisewrightError as problem:
        say(f"   refused: {problem}")
    say(f"\nThe certificate is in {path}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/demo"))
