"""One answer of one refinement order, in one direction: may this mechanism replace that one?

``A <= B`` reads "B is at least as safe as A", that is "B may replace A". An answer is a
:class:`~noisewright.core.verdict.Verdict` with the order and the two names, a residual, and a witness that shows it: the
post-processing where it holds, an adversary where it does not.

>>> from noisewright.core.verdict import EXACT
>>> print(Refinement("average", "B may replace A", EXACT, "B is A followed by a coin"))
average: B may replace A: holds (exact): B is A followed by a coin
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from noisewright.core.verdict import EXACT, WITHIN

__all__ = ["Refinement"]


@dataclass(frozen=True)
class Refinement:
    """Whether one mechanism may replace another under one order; true where it may.

    ``order`` is ``average``, ``max``, ``privacy`` or ``metric``; ``direction`` says who replaces whom. ``status`` is one of the
    words of :mod:`noisewright.core.verdict`. ``residual`` is how far the second channel is from a refinement of the first
    (0 where it is one, exactly), and None where that was not measured.
    """

    order: str
    direction: str
    status: str
    reason: str
    residual: float | None = None
    witness: Any = None

    def __bool__(self) -> bool:
        return self.status in (EXACT, WITHIN)

    def __str__(self) -> str:
        return f"{self.order}: {self.direction}: {self.status}: {self.reason}"
