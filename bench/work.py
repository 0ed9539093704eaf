"""What a measured function hands over: the work to time, how much it is, and a number that shows that it was done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Work"]


@dataclass(frozen=True)
class Work:
    """Prepared work. Only ``run`` is timed.

    ``items`` is how many values one run makes; ``answer`` turns what a run returned into one number, which must agree
    between the two sides of a row. ``seconds`` says what a run took where the clock of this process does not tell: the
    processor time of another one.
    """

    run: Callable[[], Any]
    items: int
    answer: Callable[[Any], float]
    seconds: Callable[[Any], float] | None = None
