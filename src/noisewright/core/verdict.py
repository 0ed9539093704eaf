"""Answers to questions that have a proof or a witness: does it hold, how do we know, and what shows it.

>>> print(Verdict(EXACT, "the columns are proportional"))
holds (exact): the columns are proportional
>>> bool(Verdict(UNDECIDED, "the gap is within the solver's accuracy"))
False
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["EXACT", "FAILS", "UNDECIDED", "WITHIN", "Verdict"]

EXACT, WITHIN, FAILS, UNDECIDED = "holds (exact)", "holds within tol", "fails (witness)", "undecided"


@dataclass(frozen=True)
class Verdict:
    """An answer with its reason and its evidence; true where it holds.

    ``status`` is ``holds (exact)``, ``holds within tol``, ``fails (witness)`` or ``undecided``.
    """

    status: str
    reason: str
    evidence: Any = None

    def __bool__(self) -> bool:
        return self.status in (EXACT, WITHIN)

    def __str__(self) -> str:
        return f"{self.status}: {self.reason}"
