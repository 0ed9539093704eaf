"""Forge certificates and releases, with digests that fit, and hold what ``verify`` then proves and says against the truth.

Each forgery is an honest document of :mod:`tests.attack.forge_honest` with one to three changes of
:mod:`tests.attack.forge_changes` and :mod:`tests.attack.forge_releases`. What is proved is judged twice: the record, by
arithmetic that shares nothing with the checker (:mod:`tests.attack.truth_claims`, :mod:`tests.attack.truth_release`), and the
sentences about it, by readers with wordings of their own (:mod:`tests.attack.reading`). Nothing that is proved may be untrue, and
nothing may fail but by a refusal.
"""

from __future__ import annotations

import copy
import json
import random
import shutil
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from noisewright.certificates.certificate import claimed
from noisewright.certificates.checker import checker
from noisewright.claims.readings import level_meaning, level_reading, reading
from noisewright.exceptions import CertificateError, NoisewrightError
from noisewright.ledger.ledger import Ledger
from noisewright.releases.folder import verify_folder
from tests.attack.forge_changes import one_change, paths
from tests.attack.forge_honest import Document, honest, sealed
from tests.attack.forge_releases import changed
from tests.attack.reading import read_line, read_release
from tests.attack.reading_meaning import read_meaning
from tests.attack.reading_prices import prices_of, read_level, read_prices, read_short
from tests.attack.truth import TooLargeError, UntrueError
from tests.attack.truth_claims import judge_claim
from tests.attack.truth_release import judge_release

__all__ = ["Outcomes", "forge", "judged", "proved"]

KEPT = Path(__file__).parents[1] / "fixtures" / "kept"
SLOW = 30.0
"""Seconds; a document that takes longer is a defect, since a stranger's file must not block the recipient."""
LOCKS = 100
"""One forgery of this many is that of the lock of a release."""


@dataclass
class Outcomes:
    """Count the outcomes of forgeries by the kind of the honest document, and list every defect."""

    count: Counter[tuple[str, str]] = field(default_factory=Counter)
    false: list[str] = field(default_factory=list)
    slowest: float = 0.0

    def total(self, outcome: str) -> int:
        """Return how many had this outcome: "refused", "true", "too large to tell" or "FALSE"."""
        return sum(many for (_, what), many in self.count.items() if what == outcome)

    def table(self) -> list[str]:
        """Return one line for each kind."""
        kinds = sorted({kind for kind, _ in self.count})
        names = ("refused", "true", "too large to tell", "FALSE")
        width = max(map(len, kinds), default=0)
        return [
            f"{kind:{width}} " + ", ".join(f"{self.count[kind, name]:6} {name}" for name in names) for kind in kinds
        ]


def judged(document: Document, tool: Any = checker) -> tuple[str, str]:
    """Prove a document, judge the record and the sentence about it, and return the outcome with the sentence.

    The outcome is "refused", "true", "too large to tell" or "FALSE". ``tool`` is the checker, or a copy of it with a
    defect, for which only the lines are read.
    """
    try:
        stated = tool.read(json.dumps(document))
    except (ValueError, RecursionError) as why:
        return "refused", str(why)
    try:
        record = proved(stated, tool)
    except tool.NotProved as why:
        short = 10 < len(str(why)) < 3000 and str(why).isprintable()
        return ("refused" if short else "FALSE"), f"refused by {str(why)!r}"
    except Exception as why:
        return "FALSE", f"it fails: {type(why).__name__}: {why}"
    said = ""
    try:
        said = _said(record, tool)
        _judge(record, said, document, tool)
    except TooLargeError as why:
        return "too large to tell", str(why)
    except UntrueError as why:
        return "FALSE", f"{why}: {said}"
    except Exception as why:
        return "FALSE", f"{type(why).__name__}: {why}: {said}"
    return "true", said


def proved(document: Document, tool: Any) -> Document:
    """Return the record that is proved; for a release with floating parts, the one without their proofs."""
    try:
        return dict(tool.prove_record(document))
    except tool.NotProved as why:
        if not str(why).startswith("floating: everything"):
            raise
        return dict(tool.file_beside(tool.RELEASE_FILE).examine(tool.current(document)))


def _said(record: Document, tool: Any) -> str:
    return str(tool.said(record))


def _judge(record: Document, said: str, document: Document, tool: Any) -> None:
    if "parts" in record:
        judge_release(record, document)
        read_release(said, record)
        if tool is checker and record["parts"]:
            for price, delta in prices_of(record):
                read_prices(price, delta)
        return
    judge_claim(record, document)
    read_line(said, record, document)
    if tool is checker:
        read_short(reading(record), record, document)
        for level in (one for one in record["conditions"] if one["code"] == "level"):
            read_level(level_reading(level), level_meaning(level), level)
        try:
            meaning = claimed(document).in_words()
        except CertificateError:
            return
        read_meaning(meaning, record)


def forge(
    count: int, seed: int, *, tool: Any = checker, first: bool = False, kinds: str = "", progress: int = 0
) -> Outcomes:
    """Make ``count`` forgeries and judge them.

    ``first``: stop at the first defect; ``kinds``: the beginning of the names of documents; ``progress``: print a line each time
    that many are done.
    """
    rng, found = random.Random(seed), Outcomes()
    documents = [(name, one) for name, one in honest().items() if name.startswith(kinds)]
    began = time.monotonic()
    for turn in range(count):
        name, document = documents[turn % len(documents)]
        kind = name.partition(",")[0]
        start = time.process_time()  # on a busy machine a clock would count what others do
        if tool is checker and not kinds and turn % LOCKS == LOCKS - 1:
            kind, made = "lock", {}
            outcome, said = _lock(rng)
        else:
            made = changed(document, rng)
            outcome, said = judged(made, tool)
        took = time.process_time() - start
        found.slowest = max(found.slowest, took)
        if took > SLOW:
            outcome, said = "FALSE", f"it takes {took:.0f} seconds: {said}"
        found.count[kind, outcome] += 1
        if outcome == "FALSE":
            found.false.append(f"{turn} ({name}): {said} {json.dumps(made)[:4000]}")
            if progress and len(found.false) <= 20:
                print(f"  {outcome}: {found.false[-1][:1500]}", flush=True)
            if first:
                break
        if progress and turn % progress == progress - 1:
            rate = (turn + 1) / (time.monotonic() - began)
            print(f"  {turn + 1} of {count}, {rate:.0f} a second, {len(found.false)} defects", flush=True)
    return found


def _lock(rng: random.Random) -> tuple[str, str]:
    """Forge a lock with a digest that fits, in a folder that a ledger recorded: the seal of the ledger does not fit."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "recorded"
        shutil.copytree(KEPT / "release" / "recorded", folder)
        shutil.copy(KEPT / "release" / "ledger.sqlite", place)
        before = json.loads((folder / "policy.lock").read_text())
        made = copy.deepcopy(before)
        *way, last = rng.choice([path for path in paths(made) if path[-1] not in ("digest", "seal")])
        inside = made
        for key in way:
            inside = inside[key]
        try:
            one_change(inside, last, rng)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
            return "refused", "no change"
        if json.dumps(made, sort_keys=True) == json.dumps(before, sort_keys=True):
            return "true", "nothing changed"
        made["digest"] = sealed({key: value for key, value in made.items() if key not in ("digest", "seal")})["digest"]
        (folder / "policy.lock").write_text(json.dumps(made))
        try:
            problems = verify_folder(folder, Ledger(Path(place) / "ledger.sqlite")).problems
        except NoisewrightError as why:
            problems = (str(why),)
        return ("refused" if problems else "FALSE"), " ".join(problems) or f"a lock: {way} {last}"
