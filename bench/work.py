"""What a measured function hands over: the work to time, how much it is, and a number that shows that it was done."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Work", "by_processor"]


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


def by_processor(work: Work) -> Work:
    """The same work, timed by what all threads of this process used of the processor instead of the wall."""

    def run() -> tuple[Any, float]:
        started = time.process_time()
        done = work.run()
        return done, time.process_time() - started

    return Work(run, work.items, lambda done: work.answer(done[0]), lambda done: float(done[1]))
