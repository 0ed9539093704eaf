"""Fixtures: a call in this process, a call in a process of its own, and files to work on.

Every call, whatever it is about, is held to the rules of the house: no traceback, an error is one sentence, JSON is alone.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_support import Answer, environment, hold_to_the_rules

from noisewright.cli import run

CHANNELS = {
    "response.csv": ",no,yes\nno,0.75,0.25\nyes,0.25,0.75\n",
    "line.csv": ",0,1,2\n0,0.5,0.25,0.25\n1,0.25,0.5,0.25\n2,0.25,0.25,0.5\n",
    "leaky.csv": ",a,b\na,1,0\nb,0.5,0.5\n",
    "constant.csv": ",same\n0,1\n1,1\n",
    "distances.csv": ",yes,no\nno,2,0\nyes,0,2\n",
}


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Run the command in this process."""

    def call(*arguments: str | Path) -> Answer:
        words = tuple(str(a) for a in arguments)
        capsys.readouterr()
        code = run(words)
        printed = capsys.readouterr()
        return hold_to_the_rules(Answer(code, printed.out, printed.err), words)

    return call


@pytest.fixture
def shell() -> Callable[..., Answer]:
    """Run the real command in a process of its own."""

    def shell(*arguments: str | Path, command: tuple[str, ...] = (), **more: str) -> Answer:
        words = tuple(str(a) for a in arguments)
        start = command or (sys.executable, "-m", "noisewright")
        done = subprocess.run(
            [*start, *words], capture_output=True, text=True, env=environment(**more), timeout=900, check=False
        )
        return hold_to_the_rules(Answer(done.returncode, done.stdout, done.stderr), words)

    return shell


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A directory with channels; everything a test writes goes there too."""
    for name, content in CHANNELS.items():
        (tmp_path / name).write_text(content)
    return tmp_path


@pytest.fixture
def certificate(files: Path, call: Callable[..., Answer]) -> Path:
    """A certificate of a table, made by the command."""
    path = files / "table.json"
    assert call("design", "exponential", "--points", "0..4", "--epsilon", "1/3", "-o", path).code == 0
    return path
