r"""One member of a family of mechanisms: its probabilities as fractions, as enclosures and as floats.

On the secrets ``0 .. n-1``, with ``a = e^(-epsilon)``:

* **geometric** (truncated): ``c_y a^|x-y|``, where ``c_y`` is ``1/(1+a)`` at the two ends and ``(1-a)/(1+a)`` between them;
* **response** (randomised response): ``1/(1+(n-1)a)`` for the truth, ``a`` times that for every other answer;
* **exponential**: ``b^|x-y| / s_x`` with ``s_x`` the sum of row ``x``. Its epsilon is the *true* one, the epsilon of
  the neighbours at an end: ``e^(-epsilon) = b s_0/s_1``. The sums ``s_x`` are concave in ``x``, so no other neighbours
  are farther apart, and ``1/b + (1 - b^(n-2))/s_0`` falls in ``b``, so each epsilon has one ``b``;
* **over-truncated**: geometric noise clamped to a range of outputs that need not hold the secrets.

The probabilities are fractions where ``a`` (for an exponential, ``b``) is one, and lie between two fractions otherwise.

>>> member = Member("geometric", Decay.of(decay="1/2"), 3, (0, 1, 2))
>>> [[str(p) for p in row] for row in member.rows()]
[['2/3', '1/6', '1/6'], ['1/3', '1/3', '1/3'], ['1/6', '1/6', '2/3']]
>>> low, high = Member("geometric", Decay.of(epsilon=1), 3, (0, 1, 2)).bounds(64)
>>> 0 < high[0][0] - low[0][0] < 2**-60, round(float(low[0][0]), 6)  # 1/(1 + 1/e)
(True, 0.731059)
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from noisewright.adversary.exact.enclosures import Enclosure, Number, ends_of
from noisewright.adversary.families._exponential import exponential_weight
from noisewright.adversary.families.decay import Decay
from noisewright.claims.readings import per_unit
from noisewright.core.arrays import Floats
from noisewright.core.channels.channel import Channel
from noisewright.core.exact import upward
from noisewright.core.metrics.metric import Discrete, Line, Metric
from noisewright.optimality.algebra.elimination import Rows

__all__ = ["EXPONENTIAL", "GEOMETRIC", "OVER_TRUNCATED", "RESPONSE", "Member", "as_exact"]


LARGEST_EXACT = 250_000
"""Entries of a member that is made into fractions as a whole."""
GEOMETRIC, RESPONSE, EXPONENTIAL, OVER_TRUNCATED = "geometric", "response", "exponential", "over-truncated"


@dataclass(frozen=True)
class Member:
    """One mechanism of a family; :meth:`Family.member` makes it.

    ``decay`` is ``e^(-epsilon)`` for its true epsilon. ``weight`` is the ``b`` of the exponential family where it was given
    as a fraction, ``within`` the outputs of the over-truncated one, ``made`` the channel of a user's family.
    """

    family: str
    decay: Decay
    size: int
    secrets: tuple[Hashable, ...]
    weight: Decay | None = None
    within: tuple[int, int] | None = None
    made: Channel | None = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """Name of the member: its family, epsilon and size."""
        return str(self)

    @property
    def epsilon(self) -> float:
        """The true epsilon for :attr:`metric`, rounded up."""
        return self.decay.epsilon_up()

    @property
    def metric(self) -> Metric | None:
        """The metric that the epsilon is counted in; a user's family does not say."""
        if self.made is not None:
            return None
        return Discrete() if self.family == RESPONSE else Line()

    @property
    def exact(self) -> bool:
        """Return whether the probabilities are fractions."""
        known = self.decay if self.family != EXPONENTIAL or self.size == 2 else self.weight
        return self.made is None and ((known is not None and known.exact is not None) or self.decay.exact == 1)

    @property
    def no_leak(self) -> bool:
        """Return whether all rows are known to be equal: epsilon is 0, or there is one output."""
        return self.made is None and (self.decay.exact == 1 or len(self.outputs) == 1)

    @property
    def inputs(self) -> tuple[Hashable, ...]:
        """The secrets."""
        return self.secrets

    @property
    def outputs(self) -> tuple[Hashable, ...]:
        """The outputs: the secrets themselves, or the range that the noise is clamped to."""
        if self.made is not None:
            return self.made.outputs
        return self.secrets if self.within is None else tuple(range(self.within[0], self.within[1] + 1))

    def channel(self) -> Channel:
        """The channel of floats."""
        return self.made if self.made is not None else Channel.from_logs(self.logs(), self.inputs, self.outputs)

    def rows(self) -> Rows | None:
        """The probabilities as fractions, where the decay (the weight of an exponential) is one; None otherwise.

        Also None beyond ``LARGEST_EXACT`` of them: a thousand secrets would make millions of long integers.
        """
        if not self.exact or self.size * len(self.outputs) > LARGEST_EXACT:
            return None
        base = self.base(64)
        assert base is not None
        columns = range(len(self.outputs))
        return tuple(tuple(as_exact(self.entry(base, x, y)) for y in columns) for x in range(self.size))

    def bounds(self, bits: int) -> tuple[Rows, Rows] | None:
        """Fractions below and above every probability, to the given number of significant bits; None for a user's
        family.
        """
        base = self.base(bits)
        if base is None:
            return None
        columns = range(len(self.outputs))
        ends = [[ends_of(self.entry(base, x, y)) for y in columns] for x in range(self.size)]
        low, high = (tuple(tuple(pair[k] for pair in row) for row in ends) for k in (0, 1))
        return low, high

    def base(self, bits: int) -> Number | None:
        """The number that the entries are made of: ``b`` for the exponential family, ``a`` for the others."""
        if self.made is not None:
            return None
        if self.family != EXPONENTIAL or self.size == 2:  # on two secrets the three families are one
            return self.decay.number(bits)
        return self.weight.number(bits) if self.weight is not None else exponential_weight(self.decay, self.size, bits)

    def entry(self, base: Number, x: int, y: int) -> Number:
        """The probability of output number ``y`` for secret number ``x``, in the arithmetic of ``base``."""
        if self.family == RESPONSE:
            return (1 if x == y else base) / (1 + (self.size - 1) * base)
        if self.family == EXPONENTIAL:
            return base ** abs(x - y) / self.row_sum(base, x)
        if self.family == GEOMETRIC:
            ends = y in (0, self.size - 1)
            return (1 if ends else 1 - base) * base ** abs(x - y) / (1 + base)
        low, high = self.within or (0, 0)
        if low == high:
            return Fraction(1)
        if low < low + y < high:
            return (1 - base) * base ** abs(x - low - y) / (1 + base)
        past = low - x if y == 0 else x - high  # greater than 0 for a secret beyond that end
        return 1 - base ** (past + 1) / (1 + base) if past > 0 else base ** (-past) / (1 + base)

    def row_sum(self, base: Number, x: int) -> Number:
        """``s_x`` of the exponential family: the sum of ``b^|x-y|`` over all ``y``."""
        if base == 1:
            return Fraction(self.size)
        return (1 + base - base ** (x + 1) - base ** (self.size - x)) / (1 - base)

    def log_base(self) -> float:
        """The logarithm of :meth:`base` as a float."""
        if self.family != EXPONENTIAL or self.size == 2:
            return self.decay.log
        if self.weight is not None:
            return self.weight.log
        low, high = ends_of(exponential_weight(self.decay, self.size, 160))
        middle = (low + high) / 2
        if middle > Fraction(1, 2):
            return math.log1p(-float(1 - middle))
        return math.log(middle.numerator) - math.log(middle.denominator)  # which may be too small for a float

    def log_sums(self) -> Floats:
        """The logarithms of ``s_x`` of the exponential family."""
        rate, x = self.log_base(), np.arange(self.size)
        if rate == 0:
            return np.full(self.size, math.log(self.size))
        left, right = -np.expm1((x + 1) * rate), -math.exp(rate) * np.expm1((self.size - 1 - x) * rate)
        return np.asarray(np.log((left + right) / -math.expm1(rate)))  # one logarithm: two would cancel near rate 0

    def logs(self) -> Floats:
        """The logarithms of the probabilities, as floats."""
        if self.made is not None:
            return self.made.logs
        rate, x, n = self.log_base(), np.arange(self.size), self.size
        if self.family == RESPONSE:
            lie = rate - math.log1p((n - 1) * math.exp(rate))
            return np.asarray(np.where(np.eye(n, dtype=bool), lie - rate, lie))
        if self.family == EXPONENTIAL:
            return np.asarray(rate * np.abs(x[:, None] - x[None, :]) - self.log_sums()[:, None])
        low, high = self.within or (0, n - 1)
        if low == high:
            return np.zeros((n, 1))
        logs = rate * np.abs(x[:, None] - np.arange(low, high + 1)[None, :]) - math.log1p(math.exp(rate))
        logs[:, 1:-1] += math.log(-math.expm1(rate)) if rate < 0 else -np.inf
        for column, past in ((0, low - x), (-1, x - high)):
            beyond = past > 0
            logs[beyond, column] = np.log1p(-np.exp(rate * (past[beyond] + 1)) / (1 + math.exp(rate)))
        return np.asarray(logs)

    def __str__(self) -> str:
        kind = f" {self._unit()}" if self.metric is not None else ""
        return f"{self.family}(epsilon={upward(self.epsilon)}{kind}, size={self.size})"

    def _unit(self) -> str:
        return "for discrete" if self.family == RESPONSE else per_unit("line")


def as_exact(number: Number) -> Fraction:
    """Return a number that is not an enclosure as the fraction it is."""
    assert not isinstance(number, Enclosure)
    return Fraction(number)
