"""Instruments with which people draw lots: coins, dice, cards and spinners, their outcomes, and the words for them.

An instrument has a few *outcomes*, each with a number of equally likely cases. A rule gives every outcome an action: answer
truthfully, or say a given answer. :func:`ranges` cuts the outcomes into runs of given numbers of cases where that is
possible, and :meth:`Instrument.in_words` names such a run the way one would say it.

>>> die = next(i for i in INSTRUMENTS if i.name == "a die")
>>> [die.in_words(run) for run in ranges(die, (4, 1, 1))]
['1 to 4', '5', '6']
>>> coins = next(i for i in INSTRUMENTS if i.name == "three coins")
>>> [coins.in_words(run) for run in ranges(coins, (2, 3, 3))]
['all heads or all tails', 'two heads', 'one head']
>>> ranges(coins, (5, 2, 1)) is None
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Literal

__all__ = ["FAMILIES", "INSTRUMENTS", "WITH_SLIPS", "Family", "Instrument", "ranges"]

Family = Literal["coins", "dice", "cards", "spinner"]
FAMILIES: tuple[Family, ...] = ("coins", "dice", "cards", "spinner")


@dataclass(frozen=True)
class Instrument:
    """Something to draw lots with."""

    name: str
    family: Family
    act: str
    """Action of the respondent, as the first sentence of the instruction."""
    outcomes: tuple[str, ...]
    effort: int
    """A rank: the smaller, the less there is to bring along or to explain."""
    weights: tuple[int, ...] = ()
    """The equally likely cases of each outcome; one each if left out."""
    second: bool = False
    """Whether it only decides between the truth and a second lot, which picks one of the answers, all equally likely."""

    @property
    def cases(self) -> int:
        """Number of equally likely cases."""
        return sum(self.weights) if self.weights else len(self.outcomes)

    def in_words(self, run: Sequence[int]) -> str:
        """The name of some outcomes: ``5``, ``5 or 6``, ``1 to 4``."""
        names = [self.outcomes[i] for i in run]
        if self.weights or len(names) < 3:
            return " or ".join(names)
        return f"{names[0]} to {names[-1]}"


def ranges(instrument: Instrument, sizes: Sequence[int]) -> tuple[tuple[int, ...], ...] | None:
    """Return the outcomes that get each action, given the number of cases that actions need; None if no choice of
    outcomes gives them.

    Outcomes of one case each are taken in order, so that each action has a run of them.
    """
    if sum(sizes) != instrument.cases:
        return None
    if instrument.weights:
        return _parts(instrument.weights, tuple(sizes))
    runs, start = [], 0
    for size in sizes:
        runs.append(tuple(range(start, start + size)))
        start += size
    return tuple(runs)


@lru_cache(maxsize=4096)
def _parts(weights: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[tuple[int, ...], ...] | None:
    """Return the outcomes that make up each size, if any do; among several ways the one that leaves the first outcomes
    to the first action.
    """
    for actions in product(range(len(sizes)), repeat=len(weights)):
        parts = tuple(tuple(i for i, a in enumerate(actions) if a == action) for action in range(len(sizes)))
        if all(sum(weights[i] for i in part) == size for part, size in zip(parts, sizes, strict=True)):
            return parts
    return None


def _hidden(act: str) -> str:
    return f"{act} where nobody else can see it."


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(str(i) for i in range(1, count + 1))


_RANKS = ("ace", *(str(i) for i in range(2, 11)), "jack", "queen", "king")

INSTRUMENTS: tuple[Instrument, ...] = (
    Instrument("two flips of a coin", "coins", _hidden("Flip a coin"), ("heads", "tails"), 1, second=True),
    Instrument("a die", "dice", _hidden("Roll a die"), _numbers(6), 2),
    Instrument(
        "three coins",
        "coins",
        "Flip three coins where nobody else can see them.",
        ("all heads", "two heads", "one head", "all tails"),
        3,
        weights=(1, 3, 3, 1),
    ),
    Instrument("a die and a coin", "dice", _hidden("Roll a die"), _numbers(6), 3, second=True),
    *(
        Instrument(
            f"{count} cards",
            "cards",
            f"Take the ace to the {_RANKS[count - 1]} of one suit, shuffle them, and draw one where nobody else can see it.",
            _RANKS[:count],
            4,
        )
        for count in range(3, 14)
    ),
    *(
        Instrument(
            f"a spinner with {count} fields",
            "spinner",
            f"Spin a spinner with {count} equal fields, numbered from 1, where nobody else can see it.",
            _numbers(count),
            5,
        )
        for count in range(3, 21)
    ),
    Instrument(
        "two dice",
        "dice",
        "Roll a red and a white die where nobody else can see them, and read them as one number, red first, from 11 to 66.",
        tuple(f"{red}{white}" for red in range(1, 7) for white in range(1, 7)),
        6,
    ),
    Instrument(
        "two ten-sided dice",
        "dice",
        "Roll a red and a white ten-sided die where nobody else can see them, and read them as one number, red first, "
        "from 00 to 99.",
        tuple(f"{i:02d}" for i in range(100)),
        7,
    ),
    Instrument(
        "three ten-sided dice",
        "dice",
        "Roll a red, a white and a blue ten-sided die where nobody else can see them, and read them as one number, in that "
        "order, from 000 to 999.",
        tuple(f"{i:03d}" for i in range(1000)),
        8,
    ),
)

WITH_SLIPS: tuple[Instrument, ...] = tuple(
    replace(one, name=f"{'a coin' if one.family == 'coins' else one.name} and slips", second=True)
    for one in INSTRUMENTS
    if not one.weights and one.name != "a die and a coin"
)
"""The same for more than two answers: the second lot is a slip with one of the answers on it."""
