"""Attacks on a release, briefly (``python -m tests.attack``: at length): killed at any phase, and many at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from cli_support import environment

ROOT = Path(__file__).parents[2]


def attack(suite: str, count: int) -> list[str]:
    """What the command prints, in a process of its own, which has no threads and so can be forked."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.attack", suite, "--count", str(count)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == int("\n  " in done.stdout)
    return done.stdout.splitlines()


def test_a_release_that_is_killed_at_any_phase_mends_itself() -> None:
    assert [line.split(": ")[1] for line in attack("kills", 2)] == ["2 times, 0 problems"] * 9


def test_of_many_releases_at_once_as_many_succeed_as_the_budget_allows() -> None:
    assert attack("race", 1) == [f"{name}: 1 times, 0 problems" for name in ("budget", "folder", "reading")]
