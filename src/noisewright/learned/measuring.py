"""What a trained privatiser does to records that nobody learned from: what it really spends, and what can be guessed then.

Everything is measured on releases as they come out, rounded and clipped. Fresh attackers (:mod:`.evaluation`) learn from
releases of the records that the privatiser learned from; the best is chosen on a third of the others, and judged on the rest.
What is stated is the better of that one and of the adversary that watched the training. For one column of labels the latter
knows the mechanism and counted the records: of so few outputs nobody makes more, and no attackers are trained.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.learned.columns import Codes, Columns
from noisewright.learned.drawing import Drawer
from noisewright.learned.theory.estimates import Estimate, accuracy_interval
from noisewright.noise.bits import Bits

__all__ = ["WATCHING", "Point", "costs_of", "draws_of", "guessed", "measured_rows", "released", "spent_of"]

WATCHING = "the adversary of the training"
MOST_LEARNED = 10_000
"""Attackers learn from about so many rows: of few records from several draws of each, at most :data:`MOST_DRAWS`."""
MOST_DRAWS = 5
MOST_MEASURED = 12_000
"""So many records that were learned from, and as many held-out ones, are released to measure."""
NORMAL = 1.959964
MUCH = 0.9
"""Who surely spends less than this share of a budget leaves much of it."""


@dataclass(frozen=True)
class Point:
    """One budget of a curve: what is spent of it, and what is guessed from releases of held-out records.

    ``spent``: the mean distortion of what is released, with an interval of 95 %; ``accuracy``: for each private variable how
    often the best adversary was right (``best``, of those that were ``tried``), with such an interval, on ``judged`` records;
    ``prior``: how often a blind guess is; ``loss``: what the adversary of the training lost, all variables together,
    ``prior_loss`` blindly; ``rested``: whether the training came to rest.
    """

    distortion: float
    spent: float
    spent_between: tuple[float, float]
    accuracy: tuple[float, ...]
    accuracy_between: tuple[tuple[float, float], ...]
    best: tuple[str, ...]
    judged: tuple[int, ...]
    tried: tuple[str, ...]
    prior: tuple[float, ...]
    loss: float
    prior_loss: float
    held_out: int
    rested: bool
    epochs: int

    @property
    def over_budget(self) -> bool:
        """Whether more is spent than allowed, by more than the interval."""
        return self.spent_between[0] > self.distortion

    @property
    def missed(self) -> bool:
        """Whether much of the budget is left although attackers surely find something: the training did not see what they do."""
        found = any(low > blind for (low, _), blind in zip(self.accuracy_between, self.prior, strict=True))
        return found and self.spent_between[1] < MUCH * self.distortion

    @property
    def converged(self) -> bool:
        """Whether the training came to rest, within the budget, and had an adversary who saw what there is to see."""
        return self.rested and not self.over_budget and not self.missed

    def in_words(self) -> str:
        """One line; numbers of several private variables in their order."""
        right = " and ".join(
            f"{100 * one:.1f} % ({100 * low:.1f} to {100 * high:.1f} %)"
            for one, (low, high) in zip(self.accuracy, self.accuracy_between, strict=True)
        )
        blind = " and ".join(f"{100 * one:.1f} %" for one in self.prior)
        rest = "; MORE than allowed is spent" if self.over_budget else ""
        rest = "; perhaps more than allowed" if self.spent > self.distortion and not rest else rest
        rest += "; the adversary of the training missed what this attacker finds" if self.missed else ""
        rest += "" if self.converged else "; it did NOT converge"
        low, high = self.spent_between
        return (
            f"distortion {self.spent:.4g} ({low:.4g} to {high:.4g}) of {self.distortion:.4g} allowed; {right} are guessed "
            f"right by {' and '.join(dict.fromkeys(self.best))}, {blind} blindly{rest}"
        )


def released(
    columns: Columns, drawer: Drawer, table: Mapping[str, NDArray[Any]], truth: Codes | None, bits: Bits
) -> dict[str, NDArray[Any]]:
    """One release of these columns, as it comes out."""
    numeric, codes = columns.encode(table)
    return dict(columns.decode(table, *drawer.draw(numeric, codes, truth, bits)))


def costs_of(columns: Columns, costs: Sequence[float], before: Any, after: Any) -> Floats:
    """The distortion of every record and column (numbers first)."""
    (numeric, codes), (other, new) = columns.encode(before), columns.encode(after)
    return np.asarray(np.concatenate([(other - numeric) ** 2, codes != new], axis=1) * np.asarray(costs))


def spent_of(each: Floats) -> Estimate:
    """The mean of the distortions of records, with an interval by the normal law."""
    mean, side = float(each.mean()), NORMAL * float(each.std(ddof=1)) / len(each) ** 0.5
    return Estimate(mean, max(0.0, mean - side), mean + side, 0.95)


def measured_rows(apart: NDArray[np.bool_], seed: int) -> Codes:
    """The rows that are released to measure: all, or some of each part where there are very many."""
    rng = np.random.default_rng((seed, 2))
    parts = [rng.permutation(np.flatnonzero(which))[:MOST_MEASURED] for which in (~apart, apart)]
    return np.sort(np.concatenate(parts))


def draws_of(rows: int) -> int:
    """How often every record is released for attackers to learn from."""
    return int(np.clip(MOST_LEARNED // max(rows, 1), 1, MOST_DRAWS))


def guessed(
    tables: Sequence[Mapping[str, NDArray[Any]]],
    truth: Codes,
    apart: NDArray[np.bool_],
    watched: Sequence[float],
    attackers: Sequence[str],
    seed: int,
) -> list[tuple[str, Estimate, int]]:
    """For each private variable: who guesses best, how often he is right, and of how many held-out records.

    ``watched`` is what the adversary of the training reached on all of them.
    """
    from noisewright.learned.evaluation.attack import attack_release

    many, found = int(apart.sum()), []
    for place, right in enumerate(watched):
        best = (WATCHING, accuracy_interval(round(right * many), many), many)
        if attackers:
            attack = attack_release(
                [dict(one) for one in tables], truth[:, place], fresh=apart, attackers=attackers, seed=seed
            )
            best = max(best, (attack.best, attack.accuracy, attack.records[2]), key=lambda one: one[1].high)
        found.append(best)
    return found
