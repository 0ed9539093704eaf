"""A ledger as a document: JSON with everything but its secrets, or CSV with one row for each part of each release.

The key and the accounts of single units never leave the ledger.

>>> import tempfile
>>> from noisewright.releases.ledger.ledger import Charge, Ledger
>>> ledger = Ledger(tempfile.mkdtemp() + "/ledger.sqlite")
>>> balance = ledger.set_budget("clinic", 3)
>>> spend = ledger.spend("clinic", [Charge("age", "column", 1, guarantee="any two values")], "first", "")
>>> document(ledger)["datasets"][0]["left"]
{'epsilon': '2', 'delta': '0'}
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, fields
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

from noisewright.core.errors import ParameterError
from noisewright.core.exact import LARGEST_SPELLED
from noisewright.files.atomic import write_atomically
from noisewright.releases.ledger.ledger import Ledger, LedgerRecord

__all__ = ["changed", "document", "export", "kept"]

FORMAT, VERSION = "noisewright-ledger", 2


def export(ledger: Ledger, path: str | os.PathLike[str]) -> Path:
    """Write the ledger to a ``.json`` or a ``.csv`` file, whole or not at all."""
    target = Path(path)
    if target.suffix.lower() == ".json":
        write_atomically(target, (json.dumps(document(ledger), indent=1) + "\n").encode())
    elif target.suffix.lower() == ".csv":
        write_atomically(target, _rows(ledger).encode())
    else:
        raise ParameterError(f"{target.name}: a ledger is exported to a .json or a .csv file.")
    return target


def document(ledger: Ledger, datasets: Sequence[str] | None = None) -> dict[str, Any]:
    """The ledger as plain data; numbers are exact and written as fractions such as ``1/3``."""
    chosen = ledger.datasets() if datasets is None else datasets
    return {"format": FORMAT, "version": VERSION, "datasets": [_dataset(ledger, name) for name in chosen]}


def kept(entries: Sequence[LedgerRecord]) -> list[str]:
    """The columns that some release gave away as they are."""
    return list(dict.fromkeys(entry.name for entry in entries if entry.kind == "kept"))


def changed(entries: Sequence[LedgerRecord]) -> list[str]:
    """The columns that some release changed without an epsilon."""
    return list(dict.fromkeys(entry.name for entry in entries if entry.kind == "changed"))


def _dataset(ledger: Ledger, name: str) -> dict[str, Any]:
    balance = ledger.remaining(name)
    return {
        "dataset": name,
        "scope": balance.scope,
        "between": balance.between,
        "protected": [
            {"columns": list(p.columns), "distance": "any" if p.distance is None else str(p.distance), "unit": p.unit}
            for p in ledger.protections(name)
        ],
        "kept": kept(ledger.entries(name)),
        **({"changed": without} if (without := changed(ledger.entries(name))) else {}),
        "budget": _amount(balance.epsilon, balance.delta),
        "spent": _amount(balance.spent_epsilon, balance.spent_delta),
        "left": _amount(balance.left_epsilon, balance.left_delta, down=True),
        "history": [{"time": e.time, "event": e.event, **_amount(e.epsilon, e.delta)} for e in ledger.history(name)],
        **({"apart": [asdict(one) for one in apart]} if (apart := ledger.apart(name)) else {}),
        "entries": [_entry(entry) for entry in ledger.entries(name)],
    }


def _rows(ledger: Ledger) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(LedgerRecord)], lineterminator="\n")
    writer.writeheader()
    for name in ledger.datasets():
        writer.writerows(_entry(entry) for entry in ledger.entries(name))
    return text.getvalue()


def _entry(entry: LedgerRecord) -> dict[str, Any]:
    amount = _amount(entry.epsilon, entry.delta) if entry.bounded else {"epsilon": None, "delta": None}
    return {**asdict(entry), **amount}


def _amount(epsilon: Fraction, delta: Fraction, down: bool = False) -> dict[str, str]:
    return {"epsilon": _spelled(epsilon, down), "delta": _spelled(delta, down)}


def _spelled(value: Fraction, down: bool) -> str:
    """The exact fraction; sums of very unlike fractions, which no reader could write out, are rounded towards privacy."""
    if value.denominator.bit_length() > LARGEST_SPELLED:
        scaled = value * 10**30
        value = Fraction(floor(scaled) if down else -floor(-scaled), 10**30)
    return str(value)
