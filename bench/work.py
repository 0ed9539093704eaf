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
    between the two sides of a row.
    """

    run: Callable[[], Any]
    items: int
    answer: Callable[[Any], float]
