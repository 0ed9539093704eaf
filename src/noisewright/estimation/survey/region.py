r"""Private binary designs: a polygon in the square of ``(p00, p11)``.

With ``q = e^epsilon`` a design is ``(epsilon, delta)``-private for the discrete metric if and only if

``p11 <= q (1 - p00) + delta``, ``p00 <= q (1 - p11) + delta``, ``1 - p00 <= q p11 + delta`` and ``1 - p11 <= q p00 + delta``.

For ``epsilon > 0`` and ``0 < delta < 1`` its corners are ``(0, 1)``, ``(delta, 1)``, ``(s, s)``, ``(1, delta)``, ``(1, 0)``
and the same with yes and no renamed, where ``s = (q + delta)/(q + 1)``; for ``delta = 0`` four of them are left, for
``epsilon = 0`` six.

>>> from noisewright.estimation.survey.designs import binary, warner
>>> region = Region.of(epsilon=1, delta="0.1")
>>> region.contains(warner("0.75")), region.contains(warner("0.76"))
(True, False)
>>> [(round(x, 3), round(y, 3)) for x, y in region.corners()[:3]]
[(0.0, 1.0), (0.1, 1.0), (0.758, 0.758)]

Reference: Holohan, Leith and Mason, *Optimal differentially private mechanisms for randomised response* (2017).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, exp_bounds
from noisewright.estimation.survey.designs import Design
from noisewright.mechanisms.categories.chances import check_promise

__all__ = ["Region"]

BITS = 64
"""Number of binary digits to which designs are rounded towards privacy; more where epsilon and delta are tiny."""


@dataclass(frozen=True)
class Region:
    """The designs with one guarantee; build it with :meth:`of`."""

    epsilon: Fraction
    delta: Fraction

    @classmethod
    def of(cls, *, epsilon: Exact, delta: Exact = 0) -> Region:
        """The region of an epsilon and a delta."""
        return cls(*check_promise(epsilon, delta))

    @property
    def factor(self) -> Fraction:
        """A fraction just below ``e^epsilon``: a design that is private with it is private."""
        precision = 3 * self._bits
        return Fraction(exp_bounds(self.epsilon, precision)[0], 1 << precision)

    def contains(self, design: Design) -> bool:
        """Return whether a design has the guarantee, decided exactly."""
        return design.chances().private(self.epsilon, self.delta)

    def symmetric(self) -> Design:
        """``(s, s)``, rounded down: among designs that treat yes and no alike the one that gives the truth most
        often.
        """
        q = self.factor
        return self._rounded((q + self.delta) / (q + 1), (q + self.delta) / (q + 1))

    def half(self) -> Design:
        """``(1 - (1/2 - delta)/q, 1/2)``, rounded down: the corner of the private designs with both probabilities 1/2 or more.

        For ``delta`` up to 1/2 only; :attr:`Design.swapped` is the other such corner.
        """
        if self.delta > Fraction(1, 2):
            raise ParameterError("this corner is there for delta up to 1/2 only.")
        return self._rounded(1 - (Fraction(1, 2) - self.delta) / self.factor, Fraction(1, 2))

    def disclosing(self) -> Design:
        """``(1, delta)``: a yes is true for certain, and a share ``delta`` of those who could say it do; its swap is Mangat's."""
        return Design(Fraction(1), self.delta)

    def corners(self) -> list[tuple[float, float]]:
        """The corners as points ``(p00, p11)``, from ``(0, 1)`` on, once around."""
        s, d = self._s(), float(self.delta)
        upper = [(0.0, 1.0), (d, 1.0), (s, s), (1.0, d), (1.0, 0.0)]
        around = upper + [(1 - x, 1 - y) for x, y in upper[1:-1]]
        if self.epsilon == 0:  # (s, s) lies on the edge from (delta, 1) to (1, delta)
            around = [around[i] for i in (0, 1, 3, 4, 5, 7)]
        return list(dict.fromkeys(around))

    def edge(self, t: float) -> tuple[float, float]:
        """A point of the edge where ``p11 = q (1 - p00) + delta``: at ``t = 1`` it is ``(s, s)``, at ``t = 0`` ``p11 = 1/2``."""
        if not 0 <= t <= 1:
            raise ParameterError("t must be between 0 and 1, the ends of the edge.")
        p11 = (1 - t) / 2 + self._s() * t
        return 1 - (p11 - float(self.delta)) * math.exp(-float(self.epsilon)), p11

    def _s(self) -> float:
        """``s`` without overflow for a large epsilon."""
        small = math.exp(-float(self.epsilon))
        return (1 + float(self.delta) * small) / (1 + small)

    @property
    def _bits(self) -> int:
        spent = self.epsilon + self.delta
        return BITS + (math.ceil(1 / spent).bit_length() if spent else 0)

    def _rounded(self, p00: Fraction, p11: Fraction) -> Design:
        """Both rounded down: that keeps a design private as long as it still gives the truth more often than not."""
        grid = 1 << self._bits
        return Design(Fraction(math.floor(p00 * grid), grid), Fraction(math.floor(p11 * grid), grid))
