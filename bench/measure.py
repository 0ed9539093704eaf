"""Measuring a row: both sides in processes of their own, in alternating rounds, the best round of each counts.

Other work on the machine only ever slows a round down, so the best of several is the one that says most about the code;
and alternating rounds give both sides the same share of quiet and busy moments.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from bench.environment import ROOT, own_environment, peers_environment
from bench.rows import Row, Task

__all__ = ["Outcome", "Round", "Settings", "Side", "WorkerError", "agreement", "measure", "ratio", "verdict"]


@dataclass(frozen=True)
class Settings:
    """How long and how often to measure."""

    rounds: int = 5
    least: float = 0.3
    quick: bool = False


@dataclass(frozen=True)
class Round:
    """One round of one side."""

    seconds: float
    cpu: float
    runs: int
    items: int
    answer: float
    peak: int

    @property
    def rate(self) -> float:
        """Items per second."""
        return self.items / self.seconds


@dataclass
class Side:
    """All rounds of one side."""

    baseline: int = 0
    setup: float = 0.0
    packages: dict[str, str] = field(default_factory=dict)
    rounds: list[Round] = field(default_factory=list)
    above: int = 0
    """The most memory beyond the baseline in any of its processes."""

    @property
    def rate(self) -> float:
        """Items per second in the best round."""
        return max(r.rate for r in self.rounds)

    @property
    def seconds(self) -> float:
        """Seconds for one run in the best round."""
        return min(r.seconds / r.runs for r in self.rounds)

    @property
    def answer(self) -> float:
        """The mean answer of all rounds."""
        return sum(r.answer for r in self.rounds) / len(self.rounds)


@dataclass
class Outcome:
    """A measured row: what each side did, or why it did not."""

    row: Row
    ours: Side | None = None
    peer: Side | None = None
    problem: str | None = None
    quick: bool = False

    @property
    def size(self) -> str:
        """The size that our side was really given."""
        changed = self.row.ours.quick if self.quick else {}
        return ", ".join(f"{name} = {value:,}" for name, value in changed.items()) or self.row.size


class WorkerError(Exception):
    """A side did not do its work."""


def ratio(outcome: Outcome) -> float | None:
    """Our best rate over the peer's, where both were measured."""
    if outcome.ours is None or outcome.peer is None or not outcome.ours.rounds or not outcome.peer.rounds:
        return None
    return outcome.ours.rate / outcome.peer.rate


def verdict(outcome: Outcome) -> str:
    """``met``, ``missed``, ``measured`` (there is no target) or ``failed``."""
    if outcome.problem is not None or outcome.ours is None:
        return "failed"
    row, times = outcome.row, ratio(outcome)
    checks = []
    if row.target is not None:
        checks.append(times is not None and times >= row.target)
    if row.least_rate is not None:
        checks.append(outcome.ours.rate >= row.least_rate)
    if row.memory_limit is not None:
        checks.append(outcome.ours.above <= row.memory_limit)
    if not checks:
        return "measured"
    return "met" if all(checks) else "missed"


def agreement(outcome: Outcome) -> str | None:
    """What is wrong when the two sides did not compute the same thing, or None."""
    if outcome.ours is None or outcome.peer is None:
        return None
    ours, peer = outcome.ours.answer, outcome.peer.answer
    if abs(ours - peer) <= outcome.row.agree * max(abs(ours), abs(peer)):
        return None
    return f"the answers differ: ours {ours:.6g}, peer {peer:.6g}"


def measure(
    row: Row, peers: Path | None, settings: Settings, say: Callable[[str], None] = lambda text: None
) -> Outcome:
    """Measure one row. ``peers`` is the interpreter of the peers' environment, None where there is none."""
    outcome = Outcome(row, Side(), Side() if row.peer else None, quick=settings.quick)
    contestants: list[tuple[str, Task, Side, Path, dict[str, str]]] = [
        ("ours", row.ours, outcome.ours or Side(), Path(sys.executable), own_environment())
    ]
    if row.peer is not None and outcome.peer is not None:
        if row.own_peer:
            contestants.append(("peer", row.peer, outcome.peer, Path(sys.executable), own_environment()))
        elif peers is None:
            outcome.problem, outcome.peer = "peer: its environment is missing", None
        else:
            contestants.append(("peer", row.peer, outcome.peer, peers, peers_environment()))
    rounds = settings.rounds if row.rounds is None else min(row.rounds, settings.rounds)
    workers: dict[str, Worker] = {}
    with contextlib.ExitStack() as stack:
        for number in range(rounds):
            for name, task, side, python, variables in list(contestants):
                say(f"round {number + 1} of {rounds}, {name}")
                try:
                    if row.fresh or name not in workers:
                        if name in workers:
                            workers[name].close()
                        workers[name] = stack.enter_context(Worker(task, python, variables, row, settings))
                        workers[name].prepare(side)
                    workers[name].round(side)
                except WorkerError as problem:
                    outcome.problem = "; ".join(filter(None, (outcome.problem, f"{name}: {problem}")))
                    contestants = [c for c in contestants if c[0] != name]
        if outcome.ours is not None and not outcome.ours.rounds:
            outcome.ours = None
        if outcome.peer is not None and not outcome.peer.rounds:
            outcome.peer = None
    outcome.problem = outcome.problem or agreement(outcome)
    return outcome


class Worker:
    """A process that runs one side; see :mod:`bench.worker`."""

    def __init__(self, task: Task, python: Path, variables: dict[str, str], row: Row, settings: Settings) -> None:
        order = {
            "function": task.function,
            "arguments": task.given(settings.quick),
            "least": 0.0 if row.fresh else settings.least,
        }
        self._limit = row.seconds_limit
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._process = subprocess.Popen(
            [str(python), "-m", "bench.worker", json.dumps(order)],
            cwd=ROOT,
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self._baseline = 0

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def prepare(self, side: Side) -> None:
        """Wait until the work is prepared."""
        reply = self._reply()
        self._baseline = side.baseline = int(reply["baseline"])
        side.setup, side.packages = float(reply["setup"]), dict(reply["packages"])

    def round(self, side: Side) -> None:
        """Run one round."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write("go\n")
            self._process.stdin.flush()
        reply = self._reply()
        side.rounds.append(Round(**reply))
        side.above = max(side.above, int(reply["peak"]) - self._baseline)

    def close(self) -> None:
        """End the process, politely first."""
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError, OSError):
                self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()

    def _reply(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        late = threading.Event()

        def stop() -> None:
            late.set()
            self._process.kill()

        timer = threading.Timer(self._limit, stop)
        timer.start()
        try:
            line = self._process.stdout.readline()
        finally:
            timer.cancel()
        if late.is_set():
            raise WorkerError(f"no answer within {self._limit:g} s")
        if not line:
            self._process.wait()
            raise WorkerError(f"ended with code {self._process.returncode}: {self._last_error()}")
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise WorkerError(str(reply["error"]))
        return reply

    def _last_error(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().strip().splitlines()
        return lines[-1][:500] if lines else "it printed nothing"
