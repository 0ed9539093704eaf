"""Neighbouring datasets of a budget, as a ledger records them: a record in JSON. Ledgers of earlier versions hold a sentence.

>>> stored({"relation": "add-remove", "unit": None, "rows": 1})
'{"relation": "add-remove", "rows": 1, "unit": null}'
>>> neighbours_of("two tables that differ in one row, there or not"), neighbours_of("two tables of my own")
({'relation': 'add-remove', 'unit': None, 'rows': 1}, None)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from noisewright.claims import phrases
from noisewright.core.certificates.checker import checker_version1

__all__ = ["neighbours_of", "sentence", "stored"]


def stored(neighbours: str | Mapping[str, Any]) -> str:
    """Return the text that a ledger writes: a record as JSON, a text as it is."""
    return neighbours if isinstance(neighbours, str) else json.dumps(dict(neighbours), sort_keys=True)


def neighbours_of(text: str) -> dict[str, Any] | None:
    """Return the record that a ledger holds, or the one that an earlier version worded; None for any other text."""
    if (found := checker_version1.neighbours(text)) is not None:
        return found
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return record if _is_record(record) else None


def _is_record(found: Any) -> bool:
    return (
        isinstance(found, dict)
        and set(found) == {"relation", "unit", "rows"}
        and found["relation"] in ("same-rows", "add-remove")
        and isinstance(found["unit"], str | None)
        and type(found["rows"]) is int
    )


def sentence(text: str) -> str:
    """Describe the record of a ledger: the same words for the same neighbours, whichever version wrote them."""
    record = neighbours_of(text)
    return text if record is None else phrases.neighbours(record)
