"""Answers to questions that have a proof or a witness: the answer, how it is known, and its evidence.

>>> print(Verdict(EXACT, "the columns are proportional"))
holds (exact): the columns are proportional
>>> bool(Verdict(UNDECIDED, "the gap is within the solver's accuracy"))
False

:func:`card` shows an answer in a notebook:

>>> "epsilon &lt; 1" in card("Guarantee", [("promise", "epsilon < 1")])
True
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

__all__ = ["CELL", "EXACT", "FAILS", "SAID", "UNDECIDED", "WITHIN", "Verdict", "card"]

EXACT, WITHIN, FAILS, UNDECIDED = "holds (exact)", "holds within tol", "fails (witness)", "undecided"
SAID = {
    EXACT: "yes, proved",
    WITHIN: "yes, within tol",
    FAILS: "no, and shown",
    UNDECIDED: "undecided",
}
"""The status of an answer to a yes-or-no question, for a person."""
CELL = "text-align:left;vertical-align:top;padding:1px 10px 1px 0"
"""Notebooks set tables to the right, and browsers their heads in the middle; a page may style nothing."""


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


def card(
    title: str, facts: Iterable[tuple[str, str]], head: Sequence[str] = (), rows: Iterable[Sequence[str]] = ()
) -> str:
    """A small piece of HTML for notebooks: a title, named facts, and a table below them. All of it is text, and escaped."""

    def cells(row: Sequence[str], tag: str) -> str:
        return "".join(f'<{tag} style="{CELL}">{escape(str(cell))}</{tag}>' for cell in row)

    named = "".join(
        f'<tr><th style="{CELL};white-space:nowrap">{escape(name)}</th><td style="{CELL}">{escape(value)}</td></tr>'
        for name, value in facts
    )
    listed = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    below = f"<table><thead><tr>{cells(head, 'th')}</tr></thead><tbody>{listed}</tbody></table>" if head else ""
    return f"<div><b>{escape(title)}</b><table>{named}</table>{below}</div>"
