r"""Two channels to be compared: each is read, reduced and separated once.

>>> found = prepare([["2/3", "1/3"], ["1/3", "2/3"]], [["1/2", "1/2"], ["1/2", "1/2"]], 1e-8)
>>> found.exact, len(found.a.groups), len(found.b.groups)
(True, 2, 1)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from noisewright.adversary.exact.channels import Read, common_secrets, read
from noisewright.adversary.orders._columns import Columns, quick_post_processing, reduce_columns
from noisewright.adversary.orders._separation import Separation, separate
from noisewright.adversary.witness import PostProcessing
from noisewright.core.choices import as_slack

__all__ = ["Pair", "check_tolerance", "prepare"]


@dataclass(frozen=True, eq=False)
class Pair:
    """Two channels over the same secrets, ready to be compared: the orders share the findings about them."""

    first: Read
    second: Read
    tol: float

    @property
    def exact(self) -> bool:
        """Return whether both are known exactly."""
        return self.first.exact is not None and self.second.exact is not None

    @cached_property
    def a(self) -> Columns:
        """The reduced columns of the first."""
        return reduce_columns(self.first)

    @cached_property
    def b(self) -> Columns:
        """The reduced columns of the second."""
        return reduce_columns(self.second)

    @cached_property
    def guess(self) -> PostProcessing | None:
        """A post-processing that misses by at most ``tol``, if plain linear algebra finds one; for floats."""
        return quick_post_processing(self.first, self.second, self.tol)

    @cached_property
    def separation(self) -> Separation:
        """Separation of B's columns from the cone of A's, if any."""
        return separate(self.a, self.b, self.tol)


def prepare(a: Any, b: Any, tol: float) -> Pair:
    """Two channels to compare; different secrets and a tolerance that is none are refused."""
    check_tolerance(tol)
    first, second = read(a), read(b)
    common_secrets(first, second)
    return Pair(first, second, float(tol))


def check_tolerance(tol: object) -> None:
    """Refuse a tolerance that is none."""
    as_slack(tol, "tol is the largest entry that may be off in a refinement: a number from 0 to below 1.")
