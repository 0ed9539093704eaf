r"""Small tables of chances, such as those of coins, dice and cards, and their exact privacy.

A row for each truth, a column for each answer: under truth ``x`` answer ``y`` happens in ``rows[x][y]`` of ``total`` equally
likely cases. With ``q = e^epsilon`` the table is ``(epsilon, delta)``-private for the discrete metric if and only if

.. math:: \sum_y \max(\text{rows}[x][y] - q\,\text{rows}[x'][y],\ 0) \le \delta\,\text{total} \quad\text{for all } x, x'.

**Decided exactly.** ``e^epsilon`` is not a fraction for a rational ``epsilon`` other than 0, so the two sides are
equal only where ``q`` drops out. Everywhere else enough digits of ``q`` decide, and the digits that are needed are
computed.

>>> two_coins = Chances(((3, 1), (1, 3)), 4, ("no", "yes"), ("no", "yes"))  # the truth for heads, then a second coin
>>> two_coins.private("1.0987"), two_coins.private("1.0986")                # ln 3 = 1.09861...
(True, False)
>>> two_coins.smallest_epsilon(), two_coins.smallest_delta(1)
(1.0986122886681098, 0.0704295428852387)
>>> two_coins.certificate("two coins", epsilon="1.1").verify()
'epsilon = 1.1 per unit of discrete'

Reference: Balle and Wang (2018) for the hockey-stick form of delta.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, permutations
from typing import Any

import numpy as np

from noisewright._utils.validation import fields_alone
from noisewright.base import BaseMechanism, expected_loss
from noisewright.certificates.certificate import Certificate
from noisewright.channels.channel import Channel
from noisewright.channels.integer_table import LARGEST_EPSILON
from noisewright.claims.figures import exp_bounds, float_up
from noisewright.columns.adapters import in_kind
from noisewright.columns.label_encoder import Labels
from noisewright.exceptions import GuaranteeError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.metrics.base import Discrete, decode_label, encode_label
from noisewright.numerics.exact import Exact, as_fraction, in_words, log_bounds
from noisewright.sampling.random_bits import uniform_below

__all__ = ["Chances", "ChancesMechanism", "check_promise"]


MOST_ANSWERS = 100
"""Tables with more rows than this are not compared pair by pair."""

PRECISION = 192
"""Bits of ``e^epsilon`` in certificates: far more than tables with totals of a few thousand need."""

Row = tuple[int, ...]


def check_promise(epsilon: Exact, delta: Exact = 0) -> tuple[Fraction, Fraction]:
    """Epsilon and delta exactly; either may be 0, and a delta of 1 guarantees only is a number."""
    budget, extra = as_fraction(epsilon, "epsilon"), as_fraction(delta, "delta")
    if not 0 <= budget <= LARGEST_EPSILON:
        raise ParameterError(f"epsilon must be from 0 to {LARGEST_EPSILON}, not {in_words(budget)}.")
    if not 0 <= extra <= 1:
        raise ParameterError(f"delta must be between 0 and 1, not {in_words(extra)}.")
    return budget, extra


@dataclass(frozen=True)
class Chances:
    """Equally likely cases for each answer, one row for each truth; every row sums to ``total``."""

    rows: tuple[Row, ...]
    total: int
    inputs: tuple[Hashable, ...]
    outputs: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        if not self.rows or len(self.rows) > MOST_ANSWERS:
            raise ParameterError(f"a table of chances has from 1 to {MOST_ANSWERS} rows, not {len(self.rows)}.")
        if len(self.inputs) != len(self.rows) or any(len(row) != len(self.outputs) for row in self.rows):
            raise ParameterError("a table of chances has one name for each row and one for each column.")
        if any(min(row) < 0 or sum(row) != self.total for row in self.rows):
            raise ParameterError("the chances of a row must be 0 or more and sum to the total.")

    @classmethod
    def of(cls, rows: Iterable[Iterable[Fraction]], inputs: Iterable[Hashable], outputs: Iterable[Hashable]) -> Chances:
        """Probabilities that are fractions, over their common denominator."""
        given = [tuple(row) for row in rows]
        total = math.lcm(*(p.denominator for row in given for p in row))
        table = tuple(tuple(int(p * total) for p in row) for row in given)
        return cls(table, total, tuple(inputs), tuple(outputs))

    def private(self, epsilon: Exact, delta: Exact = 0) -> bool:
        """Return whether the table has this guarantee: yes and no are both proved."""
        budget, extra = check_promise(epsilon, delta)
        bits = 128
        while True:
            low, high = (Fraction(end, 1 << bits) for end in exp_bounds(budget, bits))
            allowed = extra * self.total
            if self._excess(low) <= allowed:
                return True
            if self._excess(high) > allowed:
                return False
            bits *= 2

    def smallest_delta(self, epsilon: Exact) -> float:
        """The delta that this epsilon needs, rounded up."""
        budget, _ = check_promise(epsilon)
        low = Fraction(exp_bounds(budget, 128)[0], 1 << 128)
        return min(1.0, float_up(self._excess(low) / self.total))

    def smallest_epsilon(self, delta: Exact = 0) -> float:
        """The epsilon that this delta leaves, rounded up; infinite if an answer gives too much away for any."""
        _, extra = check_promise(0, delta)
        factor = Fraction(1)
        for here, there in self._pairs():
            needed = _factor_for(here, there, extra * self.total)
            if needed is None:
                return math.inf
            factor = max(factor, needed)
        return float_up(Fraction(log_bounds(factor, 128)[1], 1 << 128)) if factor > 1 else 0.0

    def discloses(self) -> bool:
        """Return whether some answer rules a truth out for certain."""
        return any(max(column) > 0 == min(column) for column in zip(*self.rows, strict=True))

    def channel(self) -> Channel:
        """The table as floats, for analysis."""
        matrix = np.array([[count / self.total for count in row] for row in self.rows])
        return Channel(matrix, self.inputs, self.outputs)

    def certificate(
        self,
        mechanism: str,
        *,
        epsilon: Exact,
        delta: Exact = 0,
        simulated: bool = False,
        randomness: dict[str, str] | None = None,
    ) -> Certificate:
        """Return the integers and the claim they prove; refused where they do not. ``randomness`` is for lots drawn by hand."""
        budget, extra = check_promise(epsilon, delta)
        if not self.private(budget, extra):
            raise GuaranteeError(
                f"these chances are not private at epsilon = {in_words(budget)} and delta = {in_words(extra)} (discrete "
                f"metric): with that delta they need epsilon = {self.smallest_epsilon(extra)}."
            )
        more: dict[str, Any] = {} if randomness is None else {"randomness": randomness}
        return Certificate.build(
            mechanism=mechanism,
            epsilon=budget,
            delta=extra,
            metric="discrete",
            distances={"shape": "uniform", "distance": "1"},
            proof={
                "kind": "chances",
                "total": self.total,
                "precision": PRECISION + 2 * self.total.bit_length(),
                "table": [list(row) for row in self.rows],
            },
            simulated=simulated,
            inputs=[encode_label(label) for label in self.inputs],
            outputs=[encode_label(label) for label in self.outputs],
            **more,
        )

    def _pairs(self) -> Iterable[tuple[Row, Row]]:
        """Ordered pairs of rows, each kind of pair once: pairs of a response are all alike up to the order of columns."""
        if len(self.rows) > 2 and self._response():
            yield self.rows[0], self.rows[1]
            return
        seen: set[tuple[tuple[int, int], ...]] = set()
        for here, there in permutations(self.rows, 2):
            kind = tuple(sorted(zip(here, there, strict=True)))
            if kind not in seen:
                seen.add(kind)
                yield here, there

    def _response(self) -> bool:
        """Return whether the truth has one number of cases and everything else another."""
        keep, other = self.rows[0][0], self.rows[0][-1]
        size = len(self.rows)
        return size == len(self.outputs) and all(
            row == (other,) * x + (keep,) + (other,) * (size - x - 1) for x, row in enumerate(self.rows)
        )

    def _excess(self, factor: Fraction) -> Fraction:
        """The largest hockey-stick sum, in cases."""
        top, bottom = factor.numerator, factor.denominator
        worst = (
            sum(max(a * bottom - top * b, 0) for a, b in zip(here, there, strict=True)) for here, there in self._pairs()
        )
        return Fraction(max(worst, default=0), bottom)


@dataclass(frozen=True)
class ChancesMechanism(BaseMechanism):
    """A table of chances that a computer draws from; :meth:`of` reads it from its certificate."""

    name: str
    chances: Chances
    epsilon: Fraction
    delta: Fraction

    @classmethod
    def of(cls, certificate: Certificate) -> ChancesMechanism:
        """The mechanism behind a certificate of chances."""
        stated, proof = certificate.document, certificate.document["proof"]
        rows = tuple(tuple(int(count) for count in row) for row in proof["table"])
        names = (tuple(decode_label(label) for label in stated[side]) for side in ("inputs", "outputs"))
        delta = as_fraction(stated["claim"]["delta"], "delta")
        return cls(str(stated["mechanism"]), Chances(rows, int(proof["total"]), *names), certificate.epsilon, delta)

    @property
    def guarantee(self) -> Guarantee:
        """``(epsilon, delta)`` for the discrete metric."""
        return Guarantee.exactly(self.epsilon, Discrete(), self.delta)

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One exact draw for every truth: one of the cases, each as likely as the others."""
        codes, form = self._labels[0].encode(values)
        drawn = np.asarray(uniform_below(self.chances.total, codes.shape, rng))
        ends = np.array([list(accumulate(row)) for row in self.chances.rows], dtype=drawn.dtype)
        return self._labels[1].decode((ends[codes, :-1] <= drawn[..., None]).sum(axis=-1, dtype=np.intp), form)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """Return the integer numbers of cases, which prove the guarantee."""
        return self.chances.certificate(self.name, epsilon=self.epsilon, delta=self.delta, simulated=rng is not None)

    def error(self, loss: str = "zero-one") -> float:
        """The expected loss of an answer taken at face value, for the truth where it is largest."""
        return expected_loss(self.channel(), loss)

    def channel(self) -> Channel:
        """The channel of floats from truths to answers."""
        return self.chances.channel()

    @cached_property
    def _labels(self) -> tuple[Labels, Labels]:
        return Labels(self.chances.inputs), Labels(self.chances.outputs)

    __getstate__ = fields_alone


def _factor_for(here: Row, there: Row, allowed: Fraction) -> Fraction | None:
    """The smallest factor with ``sum max(a - factor b, 0) <= allowed``; None if no factor satisfies it.

    The sum falls piecewise linearly in the factor, with corners at the ratios ``a / b``: one of the pieces meets the limit.
    """
    surely = Fraction(sum(a for a, b in zip(here, there, strict=True) if b == 0))
    if surely > allowed:
        return None
    ratios = sorted(((Fraction(a, b), a, b) for a, b in zip(here, there, strict=True) if b), reverse=True)
    mass, base = surely, 0
    for place, (ratio, a, b) in enumerate(ratios):
        mass, base = mass + a, base + b
        following = ratios[place + 1][0] if place + 1 < len(ratios) else Fraction(0)
        factor = (mass - allowed) / base
        if following <= factor <= ratio:
            return max(factor, Fraction(1))
    return Fraction(1)
