"""Counts of the ranges that were tried against a table.

A plan is free, and says whether a value of the table lies outside of the typed range. Anyone who tries ranges until
none does finds the largest value, which the policy then publishes. Therefore the studio counts the ranges that were
tried, and says it.
"""

from __future__ import annotations

from noisewright.studio.answers.releases.policies import Column, Form

__all__ = ["MOST_TRIES", "note_tries", "too_many", "tries"]

MOST_TRIES = 2
"""A range is typed, and corrected once; more is a search."""
_tried: dict[tuple[str, tuple[str, ...]], set[tuple[str, str]]] = {}


def note_tries(table: str, form: Form) -> None:
    """Remember that the ranges of a form were tried against a table, which is named by its digest or its path."""
    for column in form.columns:
        ends = (column.value("low").strip(), column.value("high").strip())
        if column.protected and all(ends) and column.value("outside") != "clamp":
            _tried.setdefault((table, column.names), set()).add(ends)


def tries(table: str, column: Column) -> int:
    """Count the ranges of a column that were tried against a table."""
    return len(_tried.get((table, column.names), ()))


def too_many(table: str, column: Column) -> str:
    """Word the warning for the range of a column; return an empty text while few were tried."""
    count = tries(table, column)
    if count <= MOST_TRIES:
        return ""
    return (
        f"{count} ranges of {column.title} were tried against the data. Each answer says whether a value lies outside, so a "
        "range that was found by trying tells values of people, and the policy publishes it. Type the range that is public."
    )
