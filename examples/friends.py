"""Match similar profiles of ten thousand people with noisy codes: the service never sees a profile.

Run:  python examples/friends.py [FOLDER]

Two processes exchange files through a folder. The side of the people has the profiles; it sends noisy codes in batches. The
service has the public scheme and the codes, and answers with names.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.console import Console

import noisewright as nw
from noisewright.io.atomic import write_atomically
from noisewright.matching import CodeFile, write_codes
from noisewright.matching.evaluation import all_distances

PEOPLE, ALIKE, NUMBERS, BATCHES, FRIENDS = 10_000, 10, 100, 5, 9
BITS, EPSILON = 256, 2

say = Console(width=110, highlight=False, soft_wrap=True).print


def profiles() -> np.ndarray:
    """Groups of ten with similar tastes."""
    rng = np.random.default_rng(5)
    groups = np.repeat(rng.standard_normal((PEOPLE // ALIKE, NUMBERS)), ALIKE, axis=0)
    return groups + 0.5 * rng.standard_normal(groups.shape)


def people(folder: Path) -> None:
    """Run the side of the people: each sends one code, and then queries the service."""
    client = nw.matching.Client.at(folder / "public.json")
    mine = profiles()
    say(f"[bold]people[/]   {client.promise}")
    for number, rows in enumerate(np.array_split(np.arange(PEOPLE), BATCHES)):
        names = [f"person {row}" for row in rows]
        codes = CodeFile(client.scheme.fingerprint, client.scheme.bits, names, client.encode(mine[rows]))
        write_codes(folder / f"batch-{number}.nwc", codes)
    say(f"[bold]people[/]   sent {PEOPLE:,} codes of {client.scheme.code_bytes} bytes")
    answer = json.loads(next(arrivals(folder, ["answer.json"])).read_text())
    found = np.array([[int(name.split()[1]) for name in answer[f"person {row}"]] for row in range(PEOPLE)])
    quality = nw.matching.search_quality(mine, found)
    say(f"[bold]people[/]   recall of {FRIENDS} neighbours: {quality.recall:.3f} (random: {quality.random_recall:.4f})")
    flip = float(client.scheme.flip)
    odds = [
        nw.matching.true_odds(away[1:ALIKE], away[ALIKE:], neighbours=FRIENDS, bits=BITS, flip=flip, step=0.005)
        for away in np.sort(next(all_distances(mine, np.arange(50))), axis=1)  # the nearest is the person itself
    ]
    say(f"[bold]people[/]   expected, from the distances of 50 of them alone: {np.mean(odds):.3f}")


def service(folder: Path) -> None:
    """Run the service: collect codes as they arrive, and answer when all are there."""
    server = nw.matching.Server.at(folder / "public.json")
    for path in arrivals(folder, [f"batch-{number}.nwc" for number in range(BATCHES)]):
        server.add_file(path)
        say(f"[bold]service[/]  {len(server):,} codes")
    start = time.perf_counter()
    names = server.index.names
    found = server.neighbours(names, FRIENDS)
    say(
        f"[bold]service[/]  searched for all people in {time.perf_counter() - start:.1f} s; nearest neighbours are about"
    )
    say(f"         {np.median(found.distance[:, 0]):.2f} away (0.5 is unrelated), estimated from the noisy codes")
    server.save(folder / "index.nwc")
    write_atomically(folder / "answer.json", json.dumps(dict(zip(names, found.names.tolist(), strict=True))).encode())


def arrivals(folder: Path, names: list[str], seconds: float = 120) -> Iterator[Path]:
    """Yield files in turn, each as soon as it exists; files appear complete."""
    end = time.monotonic() + seconds
    for name in names:
        while not (folder / name).exists():
            if time.monotonic() > end:
                raise SystemExit(f"{name} did not come")
            time.sleep(0.02)
        yield folder / name


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for old in [*folder.glob("*.nwc"), folder / "answer.json"]:
        old.unlink(missing_ok=True)
    scheme = nw.matching.Scheme(dimension=NUMBERS, bits=BITS, epsilon=EPSILON)
    scheme.save(folder / "public.json")
    say(f"\n[bold]public[/]   {scheme}")
    sides = [subprocess.Popen([sys.executable, __file__, str(folder), side]) for side in ("people", "service")]
    ended = [side.wait() for side in sides]
    if any(ended):
        raise SystemExit("one side failed")
    say(f"\nFrom a shell: noisewright match search {folder}/index.nwc --public {folder}/public.json --for 'person 7'\n")


if __name__ == "__main__":
    place = Path(sys.argv[1] if len(sys.argv) > 1 else "out/friends")
    {"people": people, "service": service}[sys.argv[2]](place) if len(sys.argv) > 2 else main(place)
