"""Many processes at once: for the last of a budget, for one output folder, and reading what others write.

With a budget for ``k`` releases exactly ``k`` of them succeed, whoever comes first; the others are refused in a sentence and
leave nothing. The ledger adds up, every folder is whole, and who reads meanwhile never sees half a ledger or half a table.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from noisewright.exceptions import NoisewrightError
from noisewright.ledger.ledger import Ledger
from noisewright.releases import release as run
from noisewright.releases.folder import verify_folder

__all__ = ["RACES", "for_one_folder", "for_the_budget", "reading_while_writing"]

for loaded_late in ("pyarrow.csv", "noisewright.engines.local"):
    importlib.import_module(loaded_late)  # once, not in every child

ROWS = 60
TABLE = "smoker\n" + "yes\nno\nno\n" * (ROWS // 3)
NO_BUDGET = "this release asks for epsilon 1, but only 0 of the budget"
BUSY = "is being written by another process"
Said = dict[str, Any]


def for_the_budget(folder: Path, seed: int, processes: int = 6) -> list[str]:
    """Each has a folder and a policy of its own, and the budget is for some of them.

    Under one policy they would be one release, which is paid for once.
    """
    enough = random.Random(seed).randint(1, processes - 1)
    _prepare(folder)
    said = _at_once([lambda k=k: _release(folder, f"out{k}", enough, f"other {k}") for k in range(processes)])  # type: ignore[misc]
    done = [k for k, one in enumerate(said) if "paid" in one]
    refused = [one for one in said if NO_BUDGET in one.get("refused", "")]
    problems = [] if len(done) == enough else [f"{len(done)} of {processes} got a budget for {enough}: {said}"]
    if len(done) + len(refused) != processes:
        problems.append(f"somebody was neither served nor refused: {said}")
    return problems + _left(folder, Fraction(enough), [f"out{k}" for k in done])


def for_one_folder(folder: Path, seed: int, processes: int = 4) -> list[str]:
    """All write to the same folder: one pays, the others are refused before they spend, or find its output."""
    _prepare(folder)
    said = _at_once([lambda: _release(folder, "out", processes)] * processes)
    paid = [one for one in said if one.get("reread") is False]
    fair = [one for one in said if one.get("reread") is True or BUSY in one.get("refused", "")]
    problems = [] if len(paid) == 1 and len(fair) == processes - 1 else [f"one was to pay: {said}"]
    return problems + _left(folder, Fraction(1), ["out"])


def reading_while_writing(folder: Path, seed: int, times: int = 4) -> list[str]:
    """One replaces its output again and again; others read the table, the ledger and the lock's head meanwhile."""
    _prepare(folder)
    _release(folder, "out", times + 1)

    def write() -> Said:
        for _ in range(times):
            _release(folder, "out", times + 1, again=True)
        return {}

    def read() -> Said:
        ledger, until, spent, wrong = Ledger(folder / "ledger.sqlite"), time.monotonic() + 900, Fraction(0), []
        while spent < times + 1 and time.monotonic() < until:
            now = ledger.remaining("clinic").spent_epsilon
            rows = len(_read(folder / "out" / "data.csv").splitlines()) - 1
            head = json.loads(_read(folder / "out" / "policy.lock"))["head"]
            if now < spent or rows != ROWS or not ledger.check_holds(head):
                wrong.append(f"spent {now} after {spent}, {rows} rows")
            spent = now
        return {"wrong": wrong, "spent": str(spent)}

    _, *readers = _at_once([write, read, read])
    problems = [str(one) for one in readers if one != {"wrong": [], "spent": str(times + 1)}]
    return problems + _left(folder, Fraction(times + 1), ["out"])


RACES = {"budget": for_the_budget, "folder": for_one_folder, "reading": reading_while_writing}


def _prepare(folder: Path) -> None:
    (folder / "visits.csv").write_text(TABLE)


def _policy(enough: int, *more: str) -> dict[str, Any]:
    column = {"name": "smoker", "mechanism": "randomised-response", "categories": ["yes", "no", *more], "epsilon": 1}
    return {"dataset": "clinic", "budget": {"epsilon": enough}, "columns": [column]}


def _release(folder: Path, name: str, enough: int, *more: str, **options: Any) -> Said:
    policy, table, ledger = _policy(enough, *more), folder / "visits.csv", folder / "ledger.sqlite"
    try:
        done = run.release(policy, table, output=folder / name, ledger=ledger, format="csv", **options)
    except NoisewrightError as problem:
        return {"refused": str(problem)}
    assert done.balance is not None
    return {"paid": str(done.balance.spent_epsilon), "reread": done.reread}


def _read(path: Path) -> str:
    """What a file holds; asked for again where its folder was replaced while the system followed the path."""
    for _ in range(99):
        try:
            return path.read_text()
        except FileNotFoundError:
            continue
    return path.read_text()


def _left(folder: Path, spent: Fraction, outputs: Sequence[str]) -> list[str]:
    """What is wrong with the ledger, the folders of those who succeeded, and what else lies around."""
    ledger = Ledger(folder / "ledger.sqlite")
    ledger.check()
    problems = [f"{name}: {p}" for name in outputs for p in verify_folder(folder / name, ledger).problems]
    entries = ledger.entries("clinic")
    if ledger.remaining("clinic").spent_epsilon != spent or sum(e.epsilon for e in entries) != spent:
        problems.append(f"{ledger.remaining('clinic').spent_epsilon} was spent, not {spent}")
    if any(entry.state != "finished" for entry in entries):
        problems.append("a release was not finished")
    wanted = sorted(["ledger.sqlite", "visits.csv", *outputs])
    if (names := sorted(p.name for p in folder.iterdir())) != wanted:
        problems.append(f"{names} lie there, not {wanted}")
    return problems


def _at_once(actions: Sequence[Callable[[], Said]]) -> list[Said]:
    """What each action gives in a process of its own; all begin when the last of them is there."""
    ready, go = os.pipe(), os.pipe()
    children = []
    for action in actions:
        read, write = os.pipe()
        child = os.fork()
        if not child:
            try:
                os.close(go[1])
                os.write(ready[1], b".")
                os.read(go[0], 1)  # ends for all of them when the other side is closed
                found = action()
            except BaseException as problem:
                found = {"raised": f"{type(problem).__name__}: {problem}"}
            os.write(write, json.dumps(found).encode())
            sys.stdout.flush()
            os._exit(0)
        os.close(write)
        children.append((child, read))
    for _ in actions:
        os.read(ready[0], 1)
    for end in (*ready, *go):
        os.close(end)
    said = []
    for child, read in children:
        with open(read, "rb") as pipe:
            said.append(json.loads(pipe.read() or b'{"raised": "it ended without a word"}'))
        os.waitpid(child, 0)
    return said
