"""Work that is a whole process: how much processor time it takes to start, do its job and end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.work import Work

__all__ = ["process"]


def process(words: Sequence[str], folder: Path | None = None) -> Work:
    """``python WORDS...`` in a process of its own, compiled files allowed; what counts is its processor time."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run() -> float:
        started = subprocess.Popen(
            [sys.executable, *words], cwd=folder, env=kept, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        with started:
            assert started.stderr is not None
            said = started.stderr.read()
            _, status, used = os.wait4(started.pid, 0)
            started.returncode = os.waitstatus_to_exitcode(status)
        if started.returncode:
            raise RuntimeError(f"it ended with code {started.returncode}: {said.decode(errors='replace')[-300:]}")
        return used.ru_utime + used.ru_stime

    run()  # compiles what is not compiled yet
    return Work(run, 1, lambda seconds: 1.0, lambda seconds: seconds)
