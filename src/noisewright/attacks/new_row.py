"""The binomial law on the part of its range that carries its mass, and sums of independent ones.

Attacks on counts need the law of how many of ``n`` noisy rows are reported as something: a sum of binomials. For a million
rows
its range has a million places and its mass lies within some thousands of them; the rest is left out, with a bound. By
Bernstein's inequality a binomial is farther than ``w`` from its mean with probability at most
``2 exp(-w^2 / (2 (n t (1-t) + w/3)))``; ``w`` is chosen for at most ``2^-64``.

>>> law = binomial(4, 0.5)
>>> law.start, [round(float(p), 4) for p in law.chances]
(0, [0.0625, 0.25, 0.375, 0.25, 0.0625])
>>> total = sum_of([(1_000_000, 0.25), (1000, 0.5)])
>>> len(total.chances) < 10_000, abs(total.mean - 250_500) < 1e-6, total.left_out < 1e-18
(True, True, True)

The adversary knows the table ``D`` of ``N`` rows; one new row is added. The table gives the expectation about it: the
joint frequencies ``P(s, v)`` of a *sensitive* and a *useful* value. Published is, with noise, how many rows have
``v = v0``. Two ways:

- *noise on the count* (oblivious): the true count goes through the truncated geometric on ``0 ... N+1``;
- *noise on each row* (local): every row's value goes through noise on its own, and the rows that then say ``v0`` are counted.
  The noise is the truncated geometric on the places ``0 ... k-1`` of the ``k`` values, or randomised response.

What is computed is about the best guesser there can be:

- *privacy loss* ``sum_y max_s P(s, y) / max_s P(s)``: how many times as likely the new row's sensitive value is guessed;
- *utility* ``sum_y max_u P(u, y)``: how likely it is guessed whether the new row has ``v0``.

Nothing is sampled. For a noisy count only "at most the old count" and "more" matter, because outputs on one side are
proportional. Therefore noise on the count is randomised response on ``u`` with the same epsilon, at the ends of the
range too. Noise on rows gives the sum of ``k`` binomials; see :mod:`noisewright.attacks.new_row` for its
tails.

>>> attack = NewRow.from_table({"illness": ["no"] * 6 + ["yes"] * 4, "visits": [0] * 5 + [1] + [1, 2, 2, 2]},
...                            sensitive="illness", useful="visits", value=2)
>>> for found in (attack.oblivious(epsilon=3), attack.local(epsilon=3)):
...     print(found)
noise on the count: privacy loss 1.4368, utility 0.9526
noise on each row: privacy loss 1.3439, utility 0.8809
>>> attack.limits.privacy_loss, round(attack.limits.full_leak, 4), attack.limits.blind
(1.5, 1.6667, 0.7)

The epsilons of the two are not comparable by themselves: noise on the count hides whether a row is there at all;
geometric noise on rows hides a value among its neighbours only, epsilon for each place between them. Where values have
no order (``attack.nominal``) their places are arbitrary, and so is the protection of the geometric: use
``noise="response"``.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from noisewright._typing import Floats
from noisewright._utils.validation import one_of
from noisewright.attacks.correlation import Correlation, CrossTable, cross_table
from noisewright.claims.readings import ROWS
from noisewright.exceptions import ParameterError
from noisewright.numerics.exact import Exact, positive_fraction

__all__ = ["NOISES", "CountLaw", "Limits", "NewRow", "Outcome", "binomial", "sum_of"]


TAIL_BITS = 64
TAIL = 2.0**-TAIL_BITS
"""Largest mass of one binomial that is left out."""


@dataclass(frozen=True, eq=False)
class CountLaw:
    """``chances[i]`` is the probability of the integer ``start + i``; ``left_out`` bounds the mass elsewhere."""

    start: int
    chances: Floats
    left_out: float

    @property
    def mean(self) -> float:
        """The expected number."""
        return self.start + float(np.arange(len(self.chances)) @ self.chances)


def binomial(size: int, chance: float) -> CountLaw:
    """The number of successes in ``size`` trials with this chance each."""
    if size == 0 or chance <= 0:
        return CountLaw(0, np.ones(1), 0.0)
    if chance >= 1:
        return CountLaw(size, np.ones(1), 0.0)
    mean = size * chance
    log = (TAIL_BITS + 1) * math.log(2)
    width = log / 3 + math.sqrt(log * log / 9 + 2 * log * mean * (1 - chance))
    low, high = max(0, math.floor(mean - width)), min(size, math.ceil(mean + width))
    # Ratios of neighbours, from the likeliest place outwards: no factorial, no large logarithm, and so no cancellation.
    k = np.arange(low, high)
    steps = np.log((size - k) / (k + 1)) + (math.log(chance) - math.log1p(-chance))
    logs = np.concatenate(([0.0], np.cumsum(steps)))
    weights = np.exp(logs - logs.max())
    return CountLaw(low, np.asarray(weights / weights.sum()), 0.0 if (low, high) == (0, size) else TAIL)


def sum_of(parts: Iterable[tuple[int, float]]) -> CountLaw:
    """The sum of independent binomials, each given by its size and its chance; those of equal chance are one.

    Direct convolution: a transform would be faster for wide laws and lose the relative accuracy of their tails. After each step
    the ends that carry at most as much as a binomial may leave out are left out too, so that the width grows as the
    standard deviation does, not as the sum of the widths.
    """
    sizes: dict[float, int] = {}
    for size, chance in parts:
        sizes[chance] = sizes.get(chance, 0) + size
    laws = sorted((binomial(size, chance) for chance, size in sizes.items()), key=lambda law: len(law.chances))
    return reduce(_add, laws, CountLaw(0, np.ones(1), 0.0))


def _add(one: CountLaw, other: CountLaw) -> CountLaw:
    chances = np.convolve(one.chances, other.chances)
    low = int(np.searchsorted(np.cumsum(chances), TAIL))
    high = len(chances) - int(np.searchsorted(np.cumsum(chances[::-1]), TAIL))
    cut = float(chances[:low].sum() + chances[high:].sum())
    return CountLaw(one.start + other.start + low, chances[low:high], one.left_out + other.left_out + cut)


# New row ------------------------------------------------------------------------------------------------------------------
#
# A new row in a known table: the information that a noisy count gives about its sensitive value, exactly.


BLOCK = 2_000_000
"""Maximum number of probabilities held at once."""

NOISES = ("geometric", "response")
PLACES = {"count": "noise on the count", "rows": "noise on each row"}


@dataclass(frozen=True)
class Outcome:
    """Information in one noisy count: ``privacy_loss`` about the sensitive value, ``utility`` about the counted value.

    ``place`` is ``count`` or ``rows``; ``epsilon`` is ``per`` what the words say. ``error`` bounds the mass left out of
    the tails; it is far below the rounding of a float.
    """

    place: str
    epsilon: float
    per: str
    privacy_loss: float
    utility: float
    error: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """The numbers as plain data."""
        return {**vars(self)}

    def __str__(self) -> str:
        return f"{PLACES[self.place]}: privacy loss {self.privacy_loss:.4f}, utility {self.utility:.4f}"


@dataclass(frozen=True)
class Limits:
    """The ends of the scale: endless noise has privacy loss 1 and utility ``blind``; no noise has ``privacy_loss`` and utility 1.

    ``full_leak`` is the privacy loss of telling the sensitive value outright, the most that any release can have. Noise
    on the count stays between the first two. Noise on each row need not stay below ``privacy_loss``: neighbours of the
    counted value are taken for it now and then, so the noisy count reveals something about values that the exact one
    says nothing about.
    """

    blind: float
    privacy_loss: float
    full_leak: float


@dataclass(frozen=True, eq=False)
class NewRow:
    """Expected values of the new row, number of old rows with each useful value, and the value that is counted.

    ``correlation`` has the sensitive values as its secrets and the useful ones as its inputs; ``rows`` are counts of the old
    table, one for each useful value. ``ordered`` says whether the order of the useful values means something.

    >>> attack = NewRow(Correlation([[0.30, 0.10], [0.05, 0.55]], "ab", ["out", "in"]), (350, 650), value="in")
    >>> round(attack.oblivious(epsilon=1.5).privacy_loss, 4)
    1.2038
    """

    correlation: Correlation
    rows: tuple[int, ...]
    value: Hashable
    ordered: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.correlation, Correlation):
            raise ParameterError(
                f"what is expected of a new row is a Correlation, not {type(self.correlation).__name__}; see NewRow.from_table."
            )
        size = len(self.correlation.inputs)
        counts = np.asarray(self.rows)
        if counts.shape != (size,) or counts.dtype.kind not in "iu" or (counts < 0).any():
            raise ParameterError(f"rows must be {size} whole numbers that are 0 or more, one for each useful value.")
        object.__setattr__(self, "rows", tuple(counts.tolist()))
        if self.value not in self.correlation.inputs:
            raise ParameterError(
                f"the value to count is none of the {size} values of the useful column; name one as it is spelled there."
            )

    @classmethod
    def from_table(
        cls,
        table: Any,
        sensitive: str,
        useful: str,
        value: Hashable,
        *,
        order: Iterable[Hashable] | None = None,
        missing: str = "refuse",
    ) -> NewRow:
        """Expect of the new row what two columns of a table show: of pyarrow, pandas or Polars, or a mapping of columns.

        ``order`` lists the values of the useful column in the order in which they are neighbours, where it is not their own.
        """
        return cls.from_counts(cross_table(table, sensitive, useful, second_order=order, missing=missing), value)

    @classmethod
    def from_counts(cls, table: CrossTable, value: Hashable) -> NewRow:
        """Build the attack from a table of counts of sensitive values by useful values."""
        if not isinstance(table, CrossTable):
            raise ParameterError(
                f"counts are a CrossTable, not {type(table).__name__}; for a table use NewRow.from_table."
            )
        correlation = Correlation(table.counts / table.total, table.rows, table.columns)
        return cls(correlation, tuple(table.counts.sum(axis=0).tolist()), value, table.columns_ordered)

    @property
    def share(self) -> float:
        """Probability that the new row is counted."""
        return float(self.correlation.joint[:, self._place].sum())

    @property
    def nominal(self) -> bool:
        """Return whether the useful values have no order of their own, so that geometric noise on their places is
        arbitrary.
        """
        return not self.ordered and len(self.correlation.inputs) > 2

    @property
    def limits(self) -> Limits:
        """The ends of the scale that privacy loss and utility are on."""
        counted = self._counted
        most = float(counted.sum(axis=1).max())
        known = float(counted.max(axis=0).sum())
        return Limits(max(self.share, 1 - self.share), max(1.0, known / most), 1 / most)

    def oblivious(self, *, epsilon: Exact) -> Outcome:
        """Truncated geometric noise on the count: epsilon for each row that is added or taken away."""
        budget, a = _decay(epsilon)
        response = np.array([[1.0, a], [a, 1.0]]) / (1 + a)
        useful = np.diag([1 - self.share, self.share])
        return self._outcome("count", budget, ROWS["count"], self._counted, useful, response, 0.0)

    def local(self, *, epsilon: Exact, noise: str = "geometric") -> Outcome:
        """Noise on the useful value of every row, the new one included, before the rows with ``value`` are counted.

        ``noise="geometric"`` is the truncated geometric on the places of the values, epsilon for each place;
        ``noise="response"`` is randomised response, epsilon between any two values.
        """
        one_of(noise, "noise", NOISES)
        budget, a = _decay(epsilon)
        chances = self._chances(a, noise)
        law = sum_of(zip(self.rows, chances.tolist(), strict=True))
        # The others' count, and the new row's own vote on top of it or not.
        votes = np.vstack((np.append(law.chances, 0.0), np.append(0.0, law.chances)))
        own = np.column_stack((1 - chances, chances))
        joint = self.correlation.joint
        rest = np.delete(joint.sum(axis=0), self._place) @ np.delete(own, self._place, axis=0)
        useful = np.vstack((rest, self.share * own[self._place]))
        return self._outcome("rows", budget, ROWS[noise], joint @ own, useful, votes, law.left_out)

    def sweep(self, epsilons: Iterable[Exact], noise: str = "geometric") -> Iterator[tuple[Outcome, Outcome]]:
        """Noise on the count and noise on each row, for several epsilons."""
        for epsilon in epsilons:
            yield self.oblivious(epsilon=epsilon), self.local(epsilon=epsilon, noise=noise)

    @property
    def _place(self) -> int:
        return self.correlation.inputs.index(self.value)

    @property
    def _counted(self) -> Floats:
        """The joint probabilities of the sensitive value and of not being counted, being counted."""
        inside = self.correlation.joint[:, self._place]
        return np.column_stack((np.delete(self.correlation.joint, self._place, axis=1).sum(axis=1), inside))

    def _chances(self, a: float, noise: str) -> Floats:
        """Return the probability that a row of each value is reported as the value that is counted."""
        size, place = len(self.correlation.inputs), self._place
        if size == 1:
            return np.ones(1)
        if noise == "response":
            return np.where(np.arange(size) == place, 1.0, a) / (1 + (size - 1) * a)
        weight = 1 / (1 + a) if place in (0, size - 1) else (1 - a) / (1 + a)
        return np.asarray(weight * a ** np.abs(np.arange(size) - place).astype(np.float64))

    def _outcome(
        self, place: str, epsilon: float, per: str, secret: Floats, useful: Floats, votes: Floats, left_out: float
    ) -> Outcome:
        """The two measures, from the joint laws of the sensitive value, and of being counted, with the new row's vote."""
        most = float(self.correlation.prior.max())
        # Sums round: no one knows less after the release than before it, and no one more than everything.
        loss = min(1 / most, max(1.0, _guessed(secret, votes) / most))
        utility = min(1.0, max(self.limits.blind, _guessed(useful, votes)))
        return Outcome(place, epsilon, per, loss, utility, left_out / most)


def _guessed(joint: Floats, votes: Floats) -> float:
    """``sum_y max_s sum_b joint[s, b] votes[b, y]``, a block of outputs at a time."""
    step = max(1, BLOCK // len(joint))
    blocks = (votes[:, start : start + step] for start in range(0, votes.shape[1], step))
    return sum(float((joint @ block).max(axis=0).sum()) for block in blocks)


def _decay(epsilon: Exact) -> tuple[float, float]:
    """The epsilon and ``e^-epsilon`` as floats."""
    exact = positive_fraction(epsilon, "epsilon")
    try:
        number = float(exact)
    except OverflowError:
        raise ParameterError("epsilon must be below 1e308; a larger one hides nothing.") from None
    return number, math.exp(-number)
