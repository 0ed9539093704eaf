"""Inputs that nobody would write, to everything that reads: what comes back is an answer or one sentence, whatever it was given.

A process of its own tries one case after the other and says which one it is at. If it dies (a crash, or the alarm after
``SECONDS``), the case that it was at has failed, and the next process goes on after it. A case depends on its kind, the seed and
its number alone: ``python -m tests.attack fuzz data --seed 7 --first 41 --count 1`` tries one again.
"""

from __future__ import annotations

import importlib
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from noisewright.exceptions import NoisewrightError

__all__ = ["KINDS", "SECRET", "Case", "fuzz", "spoken"]

KINDS = {
    "data": "tests.attack.fuzz_data:damaged",
    "policies": "tests.attack.fuzz_words:policy",
    "filters": "tests.attack.fuzz_words:condition",
    "channels": "tests.attack.fuzz_words:channel",
    "arguments": "tests.attack.fuzz_words:arguments",
    "paths": "tests.attack.fuzz_data:odd_path",
    "embeddings": "tests.attack.fuzz_files:embedding",
    "profiles": "tests.attack.fuzz_files:profile",
    "models": "tests.attack.fuzz_files:model",
    "folders": "tests.attack.fuzz_files:folder",
}
SELF_TEST = "self-test"
Case = Callable[[random.Random, Path], None]
"""Try one input, in a folder of its own; refusals of ours may be raised, and whatever else is raised is a failure."""
SECRET = "s3cr3t-cell"
"""Stands in tables; no message may hold it."""
SECONDS = 300
BYTES = 12 << 30
"""Of address space: mapped files and the stacks of threads count, too."""
LONGEST = 2000
ROOT = Path(__file__).parents[2]


def fuzz(kind: str, count: int, seed: int, first: int = 0) -> Iterator[str]:
    """Try so many cases of a kind; one line for each that failed."""
    number, end = first, first + count
    while number < end:
        with subprocess.Popen(
            [sys.executable, "-m", "tests.attack.fuzz", kind, str(seed), str(number), str(end)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
        ) as worker:
            assert worker.stdout is not None
            for line in worker.stdout:
                word, _, rest = line.rstrip("\n").partition(" ")
                if word == "at":
                    number = int(rest)
                elif word == "failed":
                    yield f"{kind} {number} of seed {seed}: {rest}"
        if worker.returncode:
            died = (
                "took too long" if worker.returncode == -signal.SIGALRM else f"ended the process ({worker.returncode})"
            )
            yield f"{kind} {number} of seed {seed}: {died}"
        number += 1


def spoken(text: str) -> None:
    """What every message must be: one sentence or two, without a cell, a trace or the words of another library."""
    for word in ("Traceback", "went wrong inside", SECRET, "0x7f", "duckdb.", "Arrow error", "pydantic"):
        assert word not in text, f"a message holds {word!r}: {text[:300]!r}"
    assert 0 < len(text.strip()) <= LONGEST, f"a message of {len(text)} characters"
    assert "\n" not in text.strip(), f"a message of several lines: {text[:300]!r}"


def _try(case: Case, kind: str, seed: int, number: int) -> str | None:
    """What was wrong, in one line."""
    signal.alarm(SECONDS)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        try:
            case(random.Random(f"{kind} {seed} {number}"), Path(folder))
        except NoisewrightError as refusal:
            try:
                spoken(str(refusal))
            except AssertionError as problem:
                return str(problem)
        except BaseException as problem:  # the point of it all
            where = [
                f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(problem.__traceback__)
            ]
            return f"{type(problem).__name__}: {' '.join(str(problem).split())[:300]} ({' '.join(where[-4:])})"
    return None


def _faulty(chance: random.Random, folder: Path) -> None:
    """One fault after the other: what the fuzzer must find."""
    _faulty.number = getattr(_faulty, "number", int(sys.argv[3]) - 1) + 1  # type: ignore[attr-defined]
    match _faulty.number:  # type: ignore[attr-defined]
        case 0:
            os.kill(os.getpid(), signal.SIGSEGV)
        case 1:
            signal.alarm(1)
            signal.pause()
        case 2:
            _ = 1 / 0
        case 3:
            raise NoisewrightError(f"a {SECRET}")
        case 4:
            raise NoisewrightError("this is refused; write something else.")


def _work(kind: str, seed: int, first: int, end: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    if kind == SELF_TEST:
        case: Case = _faulty
    else:
        module, name = KINDS[kind].split(":")
        case = getattr(importlib.import_module(module), name)
    for number in range(first, end):
        out.write(f"at {number}\n")
        if problem := _try(case, kind, seed, number):
            out.write(f"failed {problem.encode('ascii', 'backslashreplace').decode()}\n")
    signal.alarm(0)
    out.flush()
    os._exit(0)


if __name__ == "__main__":
    _work(sys.argv[1], *map(int, sys.argv[2:5]))
