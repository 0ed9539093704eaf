"""Files of a release: their names, and the check that a folder has just those."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, get_args

from noisewright.releases.engines.engine import OutputFormat

if TYPE_CHECKING:
    from noisewright.releases.plan import Plan

__all__ = ["ANSWERS", "CERTIFICATE", "REPORT", "answer_files", "has_its_files"]

CERTIFICATE, REPORT, ANSWERS = "certificate.json", "report.html", "answers"


def has_its_files(plan: Plan, outputs: Collection[str]) -> bool:
    """Return whether these are the names of the files that a release under this plan has: no more and no fewer."""
    tables = [name for name in outputs if name in {f"data.{ending}" for ending in get_args(OutputFormat)}]
    wanted = {CERTIFICATE, REPORT, *answer_files(plan), *tables}
    return len(tables) == bool(plan.columns) and set(outputs) == wanted


def answer_files(plan: Plan) -> list[str]:
    """Return the paths of the answers, in their order."""
    return [f"{ANSWERS}/{_slug(query.name, place)}.csv" for place, query in enumerate(plan.queries)]


def _slug(name: str, place: int) -> str:
    """A file name for an answer: its name in plain letters, after its number."""
    return f"{place + 1:02d}-" + (re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "answer")
