"""Answers as people read them: groups, value, 95 % interval and the noisy count, with as many digits as the noise leaves.

>>> import pyarrow as pa
>>> answer = pa.table({"ward": ["n"], "age": [44.19387], "age_low": [43.1], "age_high": [45.4], "age_count": [812]})
>>> shown(answer, "age", most=5)
(['ward', 'age', '95 % interval', 'noisy count'], [['n', '44.2', '43.1 to 45.4', '812']])
>>> shown(pa.table({"age_from": [0, 18], "age_to": [18, 65], "ages": [309, 16591]}), "ages", most=1)
(['age', 'ages'], [['0 to 18', '309']])
"""

from __future__ import annotations

import math
from datetime import datetime, time
from typing import Any

import pyarrow as pa

__all__ = ["error_beside", "shown"]

OPENINGS = ("expected absolute error ", "expected error ", "expected ")


def shown(table: pa.Table, name: str, most: int) -> tuple[list[str], list[list[str]]]:
    """The head and the first ``most`` rows of an answer called ``name``."""
    low, high, count, off = (f"{name}_{end}" for end in ("low", "high", "count", "rank_off"))
    known, counted, ranked = (column in table.column_names for column in (low, count, off))
    others = [column for column in table.column_names if column not in (name, low, high, count, off)]
    groups = _groups(others)
    head = [*groups, name, *(["95 % interval"] if known else []), *(["noisy count"] if counted else [])]
    head += ["its rank is off by"] if ranked else []
    rows = []
    for row in table.slice(0, most).to_pylist():
        digits = _decimals(row[low], row[high]) if known else None
        cells = [" to ".join(_cell(row[end], None) for end in ends) for ends in groups.values()]
        cells.append(_cell(row[name], digits))
        cells += [f"{_cell(row[low], digits)} to {_cell(row[high], digits)}"] if known else []
        cells += [_cell(row[count], None)] if counted else []
        rows.append([*cells, *([f"at most {row[off]:,} rows, 95 % of the time"] if ranked else [])])
    return head, rows


def _groups(columns: list[str]) -> dict[str, tuple[str, ...]]:
    """The columns that distinguish groups, by what heads them: the two ends of a bin stand in one."""
    found: dict[str, tuple[str, ...]] = {}
    for column in columns:
        whole = column.removesuffix("_from")
        if whole != column and f"{whole}_to" in columns and whole not in columns:
            found[whole] = (column, f"{whole}_to")
        elif not any(column in ends for ends in found.values()):
            found[column] = (column,)
    return found


def error_beside(words: str | None) -> str:
    """The expected error of a part in words that stand next to a heading which states that it is one.

    >>> error_beside("expected error at most 2.5"), error_beside("wrong at most 5 % of the time"), error_beside(None)
    ('at most 2.5', 'wrong at most 5 % of the time', 'depends on the data')
    """
    said = words or "depends on the data"
    return next((said.removeprefix(opening) for opening in OPENINGS if said.startswith(opening)), said)


def _decimals(low: Any, high: Any) -> int | None:
    """Return the number of decimals that gives the width of an interval two digits; None if it is not a number, or certain."""
    if not isinstance(low, float) or not isinstance(high, float) or high <= low:
        return None
    return max(0, 1 - math.floor(math.log10(high - low)))


def _cell(value: Any, decimals: int | None) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:,.6g}" if decimals is None else f"{value:,.{decimals}f}"
    if isinstance(value, datetime) and value.time() == time():
        return str(value.date())
    return "missing" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
