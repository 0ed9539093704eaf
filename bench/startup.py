"""Work that is a whole process, ours or a peer's: how much processor time it takes to start, do its job and end."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.work import Work

__all__ = ["command", "imported", "process"]

POLICY = """
dataset = "startup"
budget = { epsilon = 10 }
columns = [
    { name = "age", mechanism = "geometric", within = [0, 110], protect = 5, epsilon = 0.5 },
    { name = "smoker", mechanism = "randomised-response", categories = [true, false], epsilon = 1 },
    { name = "visit", mechanism = "laplace", within = [2025-01-02, 2025-12-23], protect = 7, epsilon = 0.5 },
    { name = "ward", keep = true },
]
queries = [
    { name = "visits", aggregate = "count", where = "age >= 18", epsilon = 0.5 },
    { name = "mean age", aggregate = "mean", column = "age", within = [0, 110], epsilon = 0.5 },
]
"""
ROWS = 20


def command(words: str) -> Work:
    """``noisewright WORDS`` beside a policy, a small table as CSV and as Parquet, and a certificate."""
    folder = Path(tempfile.mkdtemp(prefix="startup-"))
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    _tables(folder)
    process(
        ["-m", "noisewright", "design", "geometric", "--epsilon", "1", "--within", "0:9", "-o", "proof.json"], folder
    )
    return process(["-m", "noisewright", *words.split()], folder)


def imported(modules: str) -> Work:
    """``import MODULES`` with the interpreter of this side."""
    return process(["-c", f"import {modules}"])


def process(words: Sequence[str], folder: Path | None = None) -> Work:
    """``python WORDS...`` in a process of its own, compiled files allowed; what counts is its processor time."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run() -> float:
        started = subprocess.Popen(
            [sys.executable, *words],
            cwd=folder,
            env=kept,
            stdin=subprocess.DEVNULL,  # that of this process brings the requests
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
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


def _tables(folder: Path) -> None:
    import duckdb

    rows = (
        "SELECT 20 + (i * 37) % 61 AS age, i % 3 = 0 AS smoker, DATE '2025-02-01' + CAST((i * 89) % 300 AS INTEGER) AS visit, "
        f"'w' || (i * 7) % 4 AS ward FROM range({ROWS}) AS t(i)"
    )
    with duckdb.connect() as duck:
        for name in ("small.csv", "small.parquet"):
            duck.execute(f"COPY ({rows}) TO '{folder / name}'")
