"""One side of one row, in a process of its own.

``python -m bench.worker '{"function": "bench.ours.noise:laplace", "arguments": {...}, "least": 0.3}'`` prepares the work
and then runs one round for each line that it reads. Every reply is one line of JSON:

* first ``{"ready": true, "baseline": ..., "setup": ..., "packages": {...}}``;
* for each round ``{"seconds": ..., "cpu": ..., "runs": ..., "items": ..., "answer": ..., "peak": ...}``;
* or ``{"error": "..."}``, after which it ends.

A round repeats the work until ``least`` seconds have passed, so that a fast and a slow side are measured for about as
long. Memory is in bytes: ``baseline`` is resident after the libraries were imported, ``peak`` is the most that ever was,
set-up included.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from importlib import metadata
from typing import Any, TextIO

from bench.work import Work

__all__ = ["main", "memory", "run_round"]

ORACLES = ("pure-ldp", "multi-freq-ldpy", "numba", "xxhash")
PACKAGES = ("noisewright", "numpy", "scipy", "cryptography", "opendp", "diffprivlib", "scikit-learn", "qif", *ORACLES)
TABLES = ("pyarrow", "duckdb", "pyspark")
"""Named only where they are used."""


def main(order: str, requests: TextIO, replies: TextIO) -> int:
    """Prepare, then serve rounds until the requests end."""
    try:
        task = json.loads(order)
        module, _, name = task["function"].partition(":")
        prepare = getattr(importlib.import_module(module), name)
        baseline = memory("VmRSS")
        started = time.perf_counter()
        work: Work = prepare(**task["arguments"])
        setup = time.perf_counter() - started
        _say(replies, {"ready": True, "baseline": baseline, "setup": setup, "packages": _packages()})
        for _ in requests:
            _say(replies, run_round(work, float(task["least"])))
    except Exception as problem:
        _say(replies, {"error": f"{type(problem).__name__}: {problem}"[:500]})
        return 1
    return 0


def run_round(work: Work, least: float) -> dict[str, Any]:
    """Run the work again and again for ``least`` seconds, at least once."""
    runs, told, cpu, started = 0, 0.0, time.process_time(), time.perf_counter()
    while True:
        result = work.run()
        runs += 1
        told += 0.0 if work.seconds is None else work.seconds(result)
        seconds = time.perf_counter() - started
        if seconds >= least:
            break
    cpu = time.process_time() - cpu
    return {
        "seconds": seconds if work.seconds is None else told,
        "cpu": cpu if work.seconds is None else told,
        "runs": runs,
        "items": runs * work.items,
        "answer": float(work.answer(result)),
        "peak": memory("VmHWM"),
    }


def memory(which: str) -> int:
    """Resident memory of this process in bytes, now (``VmRSS``) or at its highest (``VmHWM``).

    The two fields are Linux's; elsewhere both are the highest so far. ``ru_maxrss`` is not used on Linux, because there
    it starts from the memory of the process that started this one.
    """
    try:
        with open("/proc/self/status", encoding="utf-8", errors="replace") as status:
            for line in status:
                if line.startswith(f"{which}:"):
                    return 1024 * int(line.split()[1])
    except OSError:
        pass
    import resource

    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return highest if sys.platform == "darwin" else 1024 * highest


def _packages() -> dict[str, str]:
    found = {}
    for name in (*PACKAGES, *(table for table in TABLES if table in sys.modules)):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    if "noisewright" in sys.modules:
        found["noisewright"] = str(sys.modules["noisewright"].__version__)
    return found


def _say(replies: TextIO, reply: dict[str, Any]) -> None:
    replies.write(json.dumps(reply) + "\n")
    replies.flush()


if __name__ == "__main__":
    # A library that prints must not spoil the replies: they get the real standard output, everything else the errors.
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.exit(main(sys.argv[1], sys.stdin, channel))
