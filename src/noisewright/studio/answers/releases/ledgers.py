"""A ledger for reading: of every dataset its budget, the spends by release and policy, and the rest of the budget."""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction

from noisewright.claims.phrases import OPEN
from noisewright.core.errors import LedgerError
from noisewright.core.exact import upward
from noisewright.files.urls import is_url
from noisewright.releases.ledger.export import changed, kept
from noisewright.releases.ledger.ledger import Ledger, LedgerRecord, default_path
from noisewright.releases.ledger.records import Balance, downward

__all__ = ["HEAD", "LEDGERS", "Account", "accounts", "ledger_path"]

LEDGERS = (".sqlite", ".db", ".ledger", ".bak", ".backup")
"""Allowed endings of a ledger that is given."""
HEAD = ("time (UTC)", "part", "epsilon", "delta", "between", "state", "release", "asked by policy")


@dataclass(frozen=True)
class Account:
    """One dataset in a ledger."""

    dataset: str
    share: float
    """Share of the budget that is spent."""
    words: str
    facts: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, ...], ...]
    """One for each part of each release, as :data:`HEAD` says."""


def ledger_path(text: str) -> str:
    """Return the ledger that is meant: a file by its path, or this user's."""
    meant = text.strip() or str(default_path())
    if is_url(meant):
        raise LedgerError("the studio opens ledgers in files; look at one in a database with: noisewright ledger show.")
    return os.path.abspath(os.path.expanduser(text)) if text.strip() else meant


def accounts(path: str) -> list[Account]:
    """All datasets of a ledger, which is checked as a whole when it is opened, and never made."""
    ledger = Ledger(path, create_missing=False)
    return [_account(ledger, name) for name in ledger.datasets()]


def _account(ledger: Ledger, name: str) -> Account:
    balance, entries = ledger.remaining(name), ledger.entries(name)
    share = min(Fraction(1), balance.spent_epsilon / balance.epsilon)
    times = f"{balance.releases} release{'' if balance.releases == 1 else 's'}"
    spent = _amount(upward(balance.spent_epsilon), balance, upward(balance.spent_delta))
    left = _amount(downward(balance.left_epsilon), balance, downward(balance.left_delta))
    whole = _amount(downward(balance.epsilon), balance, downward(balance.delta))
    least = "at least " if balance.scope == "unit" else ""
    return Account(
        name,
        float(share),
        f"Of {whole}: {spent} spent in {times}, {least}{left} left.",
        tuple(_facts(ledger, balance, entries)),
        tuple(_row(entry) for entry in entries),
    )


def _amount(epsilon: str, balance: Balance, delta: str) -> str:
    return f"epsilon {epsilon}" + (f" and delta {delta}" if balance.delta else "")


def _facts(ledger: Ledger, balance: Balance, entries: list[LedgerRecord]) -> list[tuple[str, str]]:
    rows = [("Between", balance.between)]
    if balance.scope == "unit":
        rows.append(
            ("Counted", "for each unit on its own; what is spent is that of one that took part in every release")
        )
    gone = kept(entries)
    rows += [(OPEN, f"{', '.join(gone)}: released as it is")] if gone else []
    without = changed(entries)
    rows += [("No epsilon", f"{', '.join(without)}: changed by a learned privatiser")] if without else []
    for event in ledger.history(balance.dataset):
        amount = _amount(downward(event.epsilon), balance, downward(event.delta))
        rows.append((f"Budget {event.event}", f"{_time(event.time)} UTC, to {amount}"))
    return rows


def _row(entry: LedgerRecord) -> tuple[str, ...]:
    free = not entry.bounded
    return (
        _time(entry.time),
        f"{entry.name} ({entry.kind})",
        "no bound" if free else upward(entry.epsilon),
        "" if free else upward(entry.delta),
        entry.guarantee or "not stated",
        entry.state,
        entry.release_id,
        entry.policy[:12] or "not stated",
    )


def _time(stamp: str) -> str:
    return stamp[:16].replace("T", " ")
