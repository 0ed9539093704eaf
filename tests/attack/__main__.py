"""Attacks at length, each so often for every way it has: ``python -m tests.attack kills --count 200``, ``... race --count 100``.

``kills``: a release is killed at each of its phases; ``race``: many processes release at once. What is left is then looked at.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from tests.attack.kills import PHASES, kill_at
from tests.attack.races import RACES

Attack = Callable[[Path, int], list[str]]
SUITES: Mapping[str, Mapping[str, Attack]] = {
    "kills": {phase: partial(kill_at, phase) for phase in PHASES},
    "race": RACES,
}
"""For each suite its attacks by name: each is given an empty folder and a number, and gives what was not right."""


def main() -> int:
    """0 if nothing was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("name", choices=list(SUITES))
    parser.add_argument("--count", type=int, default=200, help="how often each attack is made (default: 200)")
    given = parser.parse_args()
    failed = 0
    for name, attack in SUITES[given.name].items():
        problems = []
        for number in range(given.count):
            with tempfile.TemporaryDirectory() as folder:
                problems += [f"{number}: {problem}" for problem in attack(Path(folder), number)]
        print(f"{name}: {given.count} times, {len(problems)} problems", *problems[:5], sep="\n  ", flush=True)
        failed += len(problems)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
