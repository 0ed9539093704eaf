"""A release that is killed at any of its phases leaves nothing to mend by hand (``python -m tests.attack kills``: at length)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from cli_support import environment

ROOT = Path(__file__).parents[2]


def test_a_release_that_is_killed_at_any_phase_mends_itself() -> None:
    """In a process of its own, which has no threads and so can be forked."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.attack", "kills", "--count", "2"],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert [line.split(": ")[1] for line in lines] == ["2 kills, 0 problems"] * 9
    assert done.returncode == 0
