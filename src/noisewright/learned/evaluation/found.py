"""Result of an attack: every attacker, the best one on records not used for its choice, and values to compare it with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from noisewright.learned.evaluation.changes import Distortion
from noisewright.learned.evaluation.optima import Optimum
from noisewright.learned.theory.estimates import Estimate

__all__ = ["Attack", "Tried"]


@dataclass(frozen=True)
class Tried:
    """One attacker, on the records by which the best was chosen: its accuracy, and its cross-entropy in nats."""

    name: str
    accuracy: float
    cross_entropy: float


@dataclass(frozen=True)
class Attack:
    """The outcome of an attack on a private value; accuracy and information are of held-out records.

    ``best`` guessed right most often, ``surest`` had the lowest cross-entropy, both on records apart from the held-out
    ones, so that the intervals do not favour a lucky one.
    """

    tried: tuple[Tried, ...]
    best: str
    accuracy: Estimate
    surest: str
    cross_entropy: Estimate
    information: Estimate
    prior: float
    """Accuracy of always naming the most frequent value, without seeing anything."""
    entropy: float
    """Entropy of the private value, in nats."""
    records: tuple[int, int, int]
    """Numbers of records for training, choice, and test."""
    draws: int
    classes: int
    raw: Attack | None = None
    """The same attack on the original records."""
    distortion: Distortion | None = None
    optimum: Optimum | None = None
    cautions: tuple[str, ...] = ()

    @property
    def finds_something(self) -> bool:
        """Return whether the best attacker is better than a blind guess, by more than its interval."""
        return self.accuracy.low > self.prior

    @property
    def kept(self) -> float | None:
        """Remaining share of the raw data's advantage over a blind guess: 0 nothing, 1 all; None if it was zero."""
        if self.raw is None or not self.raw.finds_something:
            return None
        return min(1.0, max(0.0, self.accuracy.value - self.prior) / (self.raw.accuracy.value - self.prior))

    def in_words(self, name: str = "the private value") -> str:
        """Return the accuracy of the best attacker and of the others, in words."""
        found = f"{name} is guessed right {_percent(self.accuracy.value)} of the time"
        between = f"({_percent(self.accuracy.low)} to {_percent(self.accuracy.high)})"
        blind = f"{_percent(self.prior)} without seeing anything"
        raw = f", {_percent(self.raw.accuracy.value)} from the original records" if self.raw is not None else ""
        verdict = (
            "" if self.finds_something else " The attackers found nothing that is surely better than a blind guess."
        )
        return f"By the best attacker {found} {between}; {blind}{raw}.{verdict}"

    def to_json(self) -> dict[str, Any]:
        """Everything, as JSON takes it."""
        return {
            "attackers": [
                {"name": one.name, "accuracy": one.accuracy, "cross_entropy": one.cross_entropy} for one in self.tried
            ],
            "best": self.best,
            "accuracy": _told(self.accuracy),
            "surest": self.surest,
            "cross_entropy": _told(self.cross_entropy),
            "information": _told(self.information),
            "prior": self.prior,
            "entropy": self.entropy,
            "better_than_blind": self.finds_something,
            "kept": self.kept,
            "records": dict(zip(("learned_from", "chosen_by", "held_out"), self.records, strict=True)),
            "draws": self.draws,
            "private_values": self.classes,
            "raw": None if self.raw is None else self.raw.to_json(),
            "distortion": None
            if self.distortion is None
            else {"total": self.distortion.total, "columns": dict(self.distortion.columns)},
            "optimum": None if self.optimum is None else self.optimum.to_json(),
            "cautions": list(self.cautions),
        }

    def __repr__(self) -> str:
        return f"Attack({self.best}: right {self.accuracy.value:.4f}, blind {self.prior:.4f})"


def _told(found: Estimate) -> dict[str, float]:
    return {"value": found.value, "low": found.low, "high": found.high, "confidence": found.confidence}


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if math.isfinite(share) else "?"
