r"""Unary encoding: one bit for each category, every bit reported through a coin of its own.

The truth is a row of zeros with a 1 at its category. That bit is reported as 1 with probability ``p``, every other bit with
probability ``q < p``, all coins independent:

* ``"optimised"``: ``p = 1/2`` and ``q = 1/(e^epsilon + 1)``, the choice with the least variance for rare categories;
* ``"symmetric"``: ``p = 1 - q = e^(epsilon/2) / (e^(epsilon/2) + 1)``, the same coin for ones and zeros (basic RAPPOR).

**Guarantee.** ``epsilon`` for the discrete metric, exactly. *Proof.* Two secrets differ in the laws of two bits only, so the
probabilities of a report differ by at most ``p (1-q) / ((1-p) q)``. Both probabilities are integers over ``2**width``, and the
certificate proves ``p (1-q) <= e^epsilon (1-p) q`` on the table of those two bits: two secrets, four pairs of bits. All other
bits have the same law under both and are independent of them.

A report is ``ceil(k / 8)`` bytes whatever the category; see :mod:`noisewright.mechanisms.oracles._packed`.

>>> page = unary_encoding(1000, epsilon=1)
>>> reports = page.release([17, 17, 503])
>>> reports.shape, reports.dtype.name
((3, 125), 'uint8')
>>> page.certificate().verify()
'epsilon = 1 per unit of discrete'

Reference: Wang, Blocki, Li and Jha, *Locally differentially private protocols for frequency estimation* (2017); Erlingsson,
Pihur and Korolova, *RAPPOR* (2014).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.certificates.checker.checker import exp_below
from noisewright.core.channels.certified import check_budget
from noisewright.core.channels.channel import Channel
from noisewright.core.choices import one_of
from noisewright.core.exact import Exact, ceil_div, exp_bounds
from noisewright.core.loading.parameters import CATEGORIES, EPSILON, Parameter
from noisewright.core.mechanism import Takes
from noisewright.mechanisms.auditing import MechanismAudit
from noisewright.mechanisms.categories.categorical import (
    OverCategories,
    distinct_categories,
)
from noisewright.mechanisms.foreign_columns import in_kind
from noisewright.mechanisms.oracles._packed import (
    check_room,
    coin_rows,
    give_packed,
    read_packed,
    set_matrix,
    support_of,
)
from noisewright.mechanisms.oracles.oracle import (
    SMALLEST_LOG,
    Support,
    discrete_audit,
    log_of,
    no_error,
    oracle_certificate,
    read_domain,
)
from noisewright.mechanisms.registry import Entry
from noisewright.noise.probability import bernoulli

__all__ = ["UnaryMechanism", "unary_encoding"]

VARIANT = Parameter("Flip probabilities: optimised for the error at this epsilon, or symmetric for ones and zeros.")

Variant = Literal["optimised", "symmetric"]


def unary_encoding(
    categories: Annotated[Iterable[Hashable] | int, CATEGORIES],
    *,
    epsilon: Annotated[Exact, EPSILON],
    variant: Annotated[Variant, VARIANT] = "optimised",
) -> UnaryMechanism:
    """Unary encoding over the given categories (or over ``0 .. k-1`` for a number ``k``)."""
    names = distinct_categories(categories, "unary encoding")
    budget = check_budget(epsilon)
    one_of(variant, "variant", ("optimised", "symmetric"))
    fine = ceil_div(budget.denominator, budget.numerator).bit_length()
    width = 64 + math.ceil(budget * 3 / 2) + fine
    precision = 2 * width + 64
    part = min(budget if variant == "optimised" else budget / 2, Fraction(precision))
    factor = exp_bounds(part, precision)[0]
    other = ceil_div(1 << (width + precision), factor + (1 << precision))
    while True:
        one = 1 << (width - 1) if variant == "optimised" else (1 << width) - other
        found = UnaryMechanism(names, budget, variant, width, precision, one, other)
        if found.private():  # the next integer is, where rounding left none to spare
            return found
        other += 1


@dataclass(frozen=True)
class UnaryMechanism(OverCategories):
    """Unary encoding with integer probabilities; build it with :func:`unary_encoding`."""

    name = "unary-encoding"

    epsilon: Fraction
    variant: str
    width: int
    precision: int
    one: int
    """``p 2**width``: a 1 for the bit of the truth."""
    other: int
    """``q 2**width``: a 1 for any other bit."""

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """The probability that a report holds the truth, and that it holds another given category; exactly."""
        return Fraction(self.one, 1 << self.width), Fraction(self.other, 1 << self.width)

    def private(self) -> bool:
        """Return whether ``p (1-q) <= e^epsilon (1-p) q``, in integers."""
        total = 1 << self.width
        limit = exp_below(self.epsilon, self.precision)
        return self.one * (total - self.other) << self.precision <= limit * (total - self.one) * self.other

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One report for every value: rows of bytes, with an exact coin for every bit."""
        codes, form = self._labels.encode(values)
        flat = codes.reshape(-1)
        check_room(flat.size, len(self.categories))
        truth, lie = self.support_probabilities
        rows = coin_rows(lie, flat.size, len(self.categories), rng)
        mine = np.asarray(bernoulli(truth, flat.shape, rng))
        people, place, bit = np.arange(flat.size), flat >> 3, np.uint8(1) << (flat & 7).astype(np.uint8)
        rows[people, place] = np.where(mine, rows[people, place] | bit, rows[people, place] & ~bit)
        return give_packed(rows, codes.shape, form)

    def support(self, reports: Any) -> Support:
        """Return how many reports hold each category."""
        return support_of(*read_packed(reports, len(self.categories)), len(self.categories))

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The integer table of the two bits in which two secrets differ, and the claim it proves."""
        total, p, q = 1 << self.width, self.one, self.other
        own, foreign = (p, total - p), (q, total - q)
        rows = [[a * b for a in own for b in foreign], [a * b for a in foreign for b in own]]
        return oracle_certificate(
            self,
            {
                "kind": "table",
                "width": 2 * self.width,
                "precision": self.precision,
                "table": [[f"{entry:x}" for entry in row] for row in rows],
            },
            rng,
            inputs=["one category", "another category"],
            change=0.0,
            outputs=["both bits 1", "1 and 0", "0 and 1", "both bits 0"],
        )

    def audit(self) -> MechanismAudit:
        """The loss of a report with a 1 for one category and a 0 for another, from the integers themselves."""
        p, q = self.support_probabilities
        words = "a report with a 1 for one category and a 0 for another, whatever its other bits"
        return discrete_audit(p * (1 - q) / ((1 - p) * q), words)

    def error(self, loss: str = "absolute") -> float:
        """Raise `NoLossError`: a report is a set of categories."""
        return no_error("unary encoding", loss)

    def channel(self) -> Channel:
        """The channel to all sets, for a few categories."""
        held, names = set_matrix(len(self.categories))
        p, q = self.support_probabilities
        if len(self.categories) * log_of(q) < SMALLEST_LOG:
            others = np.where(held, log_of(q), log_of(1 - q))
            logs = others.sum(axis=1) - others.T + np.where(held.T, log_of(p), log_of(1 - p))
            return Channel.from_logs(logs, self.categories, names)
        others = np.where(held, float(q), float(1 - q))
        matrix = np.empty((len(self.categories), len(names)))
        for x in range(len(self.categories)):
            rest = np.delete(others, x, axis=1).prod(axis=1)
            matrix[x] = rest * np.where(held[:, x], float(p), float(1 - p))
        return Channel(matrix, self.categories, names, normalise=True)

    def __repr__(self) -> str:
        return f"unary_encoding({len(self.categories)} categories, {self.variant}, {self.guarantee})"


def _rebuilt(certificate: Certificate) -> UnaryMechanism:
    """The mechanism behind its certificate.

    The table of two bits has the probability of the truth's bit in its first two entries, and of the other in every second.
    """
    proof, names = certificate.document["proof"], read_domain(certificate.document["oracle"]["domain"])
    width = proof["width"] // 2
    both, first, second, _ = (int(entry, 16) for entry in proof["table"][0])
    one, other = (both + first) >> width, (both + second) >> width
    variant: Variant = "optimised" if 2 * one == 1 << width else "symmetric"
    if not 0 < other < one < 1 << width or (variant == "symmetric" and one + other != 1 << width):
        raise ValueError("no probabilities of unary encoding")
    return UnaryMechanism(names, certificate.epsilon, variant, width, proof["precision"], one, other)


ENTRY = Entry(
    "unary-encoding",
    unary_encoding,
    Takes("category", form="arrow", purpose="report", secrets="categories"),
    summary="one private bit for each category",
    words="categories",
    rebuild=_rebuilt,
)
