"""Kill a release (SIGKILL) at the boundary between two of its phases, then use its output and its ledger as anybody would.

Nothing may be left to mend by hand: the ledger is whole and counts the release if something may have been drawn; the same command
gives a release that the ledger vouches for, paid for again only if there was no output yet; and nothing else lies around.
On Spark every process starts one of its own, whose Java ends with it.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.csv

from noisewright.io import atomic as renames
from noisewright.ledger import ledger as ledgers
from noisewright.ledger.ledger import Ledger
from noisewright.releases import release as run
from noisewright.releases import staging
from noisewright.releases.folder import verify_folder

__all__ = ["PHASES", "kill_at"]

for loaded_late in ("pandas", "pyarrow.pandas_compat", "noisewright.engines.local"):
    importlib.import_module(loaded_late)  # once, not in every child

PHASES = (
    "recording",
    "recorded",
    "drawn",
    "written",
    "sealed",
    "moved aside",
    "published",
    "finishing",
    "finished",
)
"""Before the spend is recorded, before the last note is, and wherever the old output is moved aside: inside of a step, too."""
PRICE = Fraction(1)
POLICY = {
    "dataset": "clinic",
    "budget": {"epsilon": 1000},
    "columns": [{"name": "smoker", "mechanism": "randomised-response", "categories": ["yes", "no"], "epsilon": 1}],
    "queries": [{"name": "patients", "aggregate": "count", "epsilon": 1}],  # free: the number of rows is public
}
NAMES = ["ledger.sqlite", "out", "visits.csv"]


def kill_at(phase: str, folder: Path, number: int, engine: Any = "local") -> list[str]:
    """Kill one release there, every other one while it replaces an earlier output, and two of four of a table in memory; what was
    not right after that."""
    data = {"memory": number % 4 > 1, "engine": engine}
    (folder / "visits.csv").write_text("smoker\n" + "yes\nno\nno\n" * 20)
    earlier = bool(number % 2) or phase == "moved aside"
    if earlier and (said := _in_a_child(lambda: _release(folder, **data))) != {"paid": str(PRICE), "reread": False}:
        return [f"the release before it: {said}"]
    ended = _in_a_child(lambda: _killed(folder, phase, again=earlier, **data))
    if ended != -signal.SIGKILL:
        return [f"it was not killed there, but ended with {ended}"]
    paid = PRICE * (earlier + (phase != "recording"))
    seen = _in_a_child(lambda: _looked(folder, **data))
    complete = phase in (
        "sealed",
        "moved aside",
        "published",
        "finishing",
        "finished",
    )  # but for its name: it is given the name
    whole = earlier or complete
    wanted = {
        "counted": str(paid),
        "reread": whole,
        "problems": [],
        "paid": str(paid if whole else paid + PRICE),
        "open": 0 if complete or phase == "recording" else 1,
        "names": NAMES,
    }
    return [] if seen == wanted else [f"found {seen}, not {wanted}"]


def _release(folder: Path, memory: bool, **options: Any) -> dict[str, Any]:
    data = pyarrow.csv.read_csv(folder / "visits.csv") if memory else folder / "visits.csv"
    done = run.release(POLICY, data, output=folder / "out", ledger=folder / "ledger.sqlite", **options)
    assert done.balance is not None
    return {"paid": str(done.balance.spent_epsilon), "reread": done.reread}


def _killed(folder: Path, phase: str, **options: Any) -> None:
    def end(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    if phase in ("recording", "finishing"):
        real, left = ledgers.extend_chain, [phase == "finishing"]

        def extend(*given: Any) -> Any:
            if not left.pop():
                end()
            left.append(False)
            return real(*given)

        ledgers.extend_chain = extend
    elif phase == "moved aside":
        renames._system_call = lambda: None
        staging.rename_new = end
    run.reached = lambda reached: end() if reached == phase else None
    _release(folder, **options)


def _looked(folder: Path, **data: Any) -> dict[str, Any]:
    """Use the ledger, the same command, and the check of the folder; say what was there."""
    path = folder / "ledger.sqlite"
    ledger = Ledger(path)
    ledger.check()
    counted = ledger.remaining("clinic").spent_epsilon if "clinic" in ledger.datasets() else Fraction(0)
    problems = list(verify_folder(folder / "out", ledger).problems) if (folder / "out").exists() else []
    said = _release(folder, **data)
    ledger.check()
    return {
        "counted": str(counted),
        **said,
        "problems": problems + list(verify_folder(folder / "out", ledger).problems),
        "open": len({e.release_id for e in ledger.entries("clinic") if e.state == "started"}),
        "names": sorted(p.name for p in folder.iterdir()),
    }


def _in_a_child(action: Callable[[], Any]) -> Any:
    """What an action gives in a process of its own (this one has no threads, so that it can be forked); of a kill, its number."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(read)
            found = json.dumps(action())
        except BaseException as problem:
            found = json.dumps(f"{type(problem).__name__}: {problem}")
        os.write(write, found.encode())
        sys.stdout.flush()
        os._exit(0)
    os.close(write)
    with open(read, "rb") as pipe:
        content = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code if code else json.loads(content)
