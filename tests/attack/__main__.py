"""``python -m tests.attack kills --count 200``: kill a release so often at each of its phases, and look at what is left."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.attack.kills import PHASES, kill_at


def main() -> int:
    """0 if nothing had to be mended by hand."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("name", choices=["kills"])
    parser.add_argument("--count", type=int, default=200, help="kills at each phase (default: 200)")
    given = parser.parse_args()
    failed = 0
    for phase in PHASES:
        problems = []
        for number in range(given.count):
            with tempfile.TemporaryDirectory() as folder:
                problems += [f"kill {number}: {problem}" for problem in kill_at(phase, Path(folder), number)]
        print(f"{phase}: {given.count} kills, {len(problems)} problems", *problems[:5], sep="\n  ", flush=True)
        failed += len(problems)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
