"""Attacks at length, each so often for every way: ``python -m tests.attack kills --count 200``, ``... race``, ``... fuzz``.

``kills``: a release is killed at each of its phases (on Spark: ``kills spark --count 2``); ``race``: many processes release at
once; what is left is then looked at.
``forge``: certificates are forged (``forge --count 100000 --seed 7``), and what ``verify`` proves and says is held against the
truth.
``neighbours``: pairs of neighbouring tables from every kind of source are published, and the folders compared
(``neighbours spark csv`` to choose).
``interrupts``: Ctrl-C at many moments of long commands (``interrupts release plan --count 30`` to choose).
``fuzz``: inputs that nobody would write are given to everything that reads (``fuzz data paths --seed 7`` to choose; at length:
``fuzz embeddings profiles models folders --count 5000``).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tests.attack.fuzz import KINDS, fuzz


def main() -> int:
    """0 if nothing was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("name", choices=["kills", "race", "fuzz", "forge", "neighbours", "interrupts"])
    parser.add_argument(
        "kinds",
        nargs="*",
        help=f"for fuzz: {', '.join(KINDS)}; for neighbours: kinds of sources (default: all); for kills: local or spark; "
        "for interrupts: commands (default: all)",
    )
    parser.add_argument("--count", type=int, default=200, help="how often each attack is made (default: 200)")
    parser.add_argument(
        "--seed", type=int, default=0, help="for fuzz and forge: other cases for each seed (default: 0)"
    )
    parser.add_argument("--first", type=int, default=0, help="for fuzz: the number of the first case (default: 0)")
    given = parser.parse_args()
    if unknown := set(given.kinds) - set(_known(given.name)):
        parser.error(f"there is no {', '.join(sorted(unknown))} for {given.name}")
    failed = 0
    attacks = {"fuzz": _fuzzed, "forge": _forged, "interrupts": _interrupted}.get(given.name, _attacked)
    for name, problems in attacks(given):
        print(f"{name}: {given.count} times, {len(problems)} problems", *problems[:5], sep="\n  ", flush=True)
        failed += len(problems)
    return int(failed > 0)


def _known(name: str) -> Sequence[str]:
    """What can be chosen; the sources bring libraries with threads, which are not loaded where processes are forked."""
    if name == "neighbours":
        from tests.attack.neighbours import SOURCES

        return SOURCES
    if name == "interrupts":
        return tuple(_commands())
    if name == "kills":
        return ("local", "spark")
    return KINDS if name == "fuzz" else ()


def _fuzzed(given: argparse.Namespace) -> Iterator[tuple[str, list[str]]]:
    for kind in given.kinds or KINDS:
        yield kind, list(fuzz(kind, given.count, given.seed, given.first))


def _commands() -> Mapping[str, Any]:
    sys.path.append(str(Path(__file__).parents[1] / "support"))
    from tests.attack.interrupts import COMMANDS

    return COMMANDS


def _interrupted(given: argparse.Namespace) -> Iterator[tuple[str, list[str]]]:
    names = given.kinds or list(_commands())
    from tests.attack.interrupts import interrupt

    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            yield name, list(interrupt(name, Path(folder), given.count))


def _forged(given: argparse.Namespace) -> Iterator[tuple[str, list[str]]]:
    from tests.attack.forge import forge

    found = forge(given.count, given.seed, progress=2000)
    print(*found.table(), f"the slowest took {found.slowest:.1f} seconds", sep="\n", flush=True)
    outcomes = ", ".join(f"{found.total(name)} {name}" for name in ("refused", "true", "too large to tell"))
    yield f"forge: {outcomes}, {len(found.false)} proved and false", found.false


def _attacked(given: argparse.Namespace) -> Iterator[tuple[str, list[str]]]:
    """Every attack of a suite: each is given an empty folder and a number, and gives what was not right."""
    from tests.attack.kills import PHASES, kill_at
    from tests.attack.races import RACES

    suite = RACES
    if given.name == "kills":
        engines = given.kinds or ["local"]
        suite = {f"{engine}, {phase}": partial(kill_at, phase, engine=engine) for engine in engines for phase in PHASES}
    if given.name == "neighbours":
        suite = _neighbours(given.kinds or _known(given.name))
    for name, attack in suite.items():
        problems = []
        for number in range(given.count):
            with tempfile.TemporaryDirectory() as folder:
                problems += [f"{number}: {problem}" for problem in attack(Path(folder), number)]
        yield name, problems


def _neighbours(kinds: Sequence[str]) -> dict[str, Any]:
    from noisewright.engines.spark_session import start_spark
    from tests.attack.neighbours import WAYS, compare

    session = start_spark("local[2]")[0] if "spark" in kinds else None

    def attack(kind: str, way: str) -> Any:
        own = session if kind == "spark" else None
        return lambda folder, number: compare(kind, way, number, folder, own)

    return {f"{kind}, {way}": attack(kind, way) for kind in kinds for way in WAYS}


if __name__ == "__main__":
    sys.exit(main())
