r"""Hadamard response: report one number, which lies on the plus side of the secret's row of a Hadamard matrix more often.

The outputs ``0 .. K-1`` are ``B`` blocks of ``b`` numbers each. A category has a block and in it a row ``i = 1 ..
b-1`` of the Hadamard matrix with entries :math:`H_{iy} = (-1)^{|i \wedge y|}`. Its own half are the ``b/2`` numbers
``y`` of its block with ``H = +1``; each of them is ``e^epsilon`` times as likely as any other output. Reports are
``log2 K`` bits, and all frequencies come from one fast Walsh-Hadamard transform of the counts, so a million categories
are cheap.

``B = 2^(ceil(log2 min(e^epsilon, 2k)) - 1)`` as in the reference: one block up to ``e^epsilon = 2``, more beyond.

**Guarantee.** ``epsilon`` for the discrete metric, exactly. *Proof.* The outputs are ``2 B`` parts of ``b/2`` numbers, of which
the own half is one. It has the probability ``keep``, every other part ``other``, uniform inside, so that every output has one
of two probabilities. The certificate proves ``keep <= e^epsilon other`` in integers.

>>> page = hadamard_response(1_000_000, epsilon=1)
>>> page.blocks, page.outputs, page.release([17, 17, 503]).shape
(2, 1048576, (3,))
>>> page.certificate().verify()
'epsilon = 1 per unit of discrete'

Reference: Acharya, Sun and Zhang, *Hadamard response: estimating distributions privately, efficiently, and with little
communication* (2019).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.channels.certified import check_budget
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import NoChannelError
from noisewright.core.exact import Exact, ceil_div
from noisewright.core.loading.parameters import CATEGORIES, EPSILON
from noisewright.core.mechanism import Takes
from noisewright.mechanisms.arrow import arrow_array
from noisewright.mechanisms.auditing import MechanismAudit
from noisewright.mechanisms.categories.categorical import (
    OverCategories,
    distinct_categories,
)
from noisewright.mechanisms.categories.response import ResponseMechanism, randomised_response
from noisewright.mechanisms.foreign_columns import in_kind
from noisewright.mechanisms.label_columns import COLUMNS, LARGEST_CHANNEL
from noisewright.mechanisms.oracles.oracle import (
    SMALLEST_LOG,
    discrete_audit,
    log_of,
    no_error,
    numbered_response,
    oracle_certificate,
    read_domain,
)
from noisewright.mechanisms.registry import Entry
from noisewright.noise.integers import uniform_below

__all__ = ["HadamardMechanism", "hadamard_response"]


def hadamard_response(
    categories: Annotated[Iterable[Hashable] | int, CATEGORIES], *, epsilon: Annotated[Exact, EPSILON]
) -> HadamardMechanism:
    """Hadamard response over the given categories (or over ``0 .. k-1`` for a number ``k``)."""
    names = distinct_categories(categories, "Hadamard response")
    budget = check_budget(epsilon)
    # Only how good the estimate is depends on this float, not the guarantee.
    most = min(math.exp(min(float(budget), 700.0)), 2.0 * len(names))
    blocks = 1 << max(math.ceil(math.log2(most)) - 1, 0)
    return HadamardMechanism(names, randomised_response(2 * blocks, epsilon=budget))


@dataclass(frozen=True)
class HadamardMechanism(OverCategories):
    """Hadamard response with integer probabilities; build it with :func:`hadamard_response`."""

    name = "hadamard-response"

    response: ResponseMechanism
    """Randomised response over the halves: the own one and all others."""

    @property
    def epsilon(self) -> Fraction:
        """The guaranteed epsilon, exactly."""
        return self.response.epsilon

    @property
    def blocks(self) -> int:
        """``B``: how many blocks there are."""
        return len(self.response.categories) // 2

    @property
    def length(self) -> int:
        """``b``: how many outputs a block has, the least power of two above the number of its categories."""
        return 1 << ceil_div(len(self.categories), self.blocks).bit_length()

    @property
    def outputs(self) -> int:
        """``K``: reports are the numbers below this one."""
        return self.blocks * self.length

    @property
    def half_probabilities(self) -> tuple[Fraction, Fraction]:
        """The probability of the own half, and that of any other; exactly."""
        total = 1 << self.response.width
        return Fraction(self.response.keep, total), Fraction(self.response.other, total)

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One number for every value."""
        codes, form = self._labels.encode(values)
        block, row = np.divmod(codes.astype(np.int64), self.length - 1)
        row += 1
        half = np.asarray(self.response.release(np.zeros(codes.shape, dtype=np.int64), rng))  # 0 is the own one
        spot = np.asarray(uniform_below(self.length, codes.shape, rng))
        # In the own block the half is made to fit: one bit of the row, flipped in the number, swaps the two halves.
        wrong = (np.bitwise_count(row & spot) & 1) != half
        spot = np.where((half < 2) & wrong, spot ^ (row & -row), spot)
        away = (half >> 1) - 1  # the other blocks, two halves each, without the own one
        away += away >= block
        told = np.where(half < 2, block, away) * self.length + spot
        if form in COLUMNS:
            return arrow_array(told)
        return int(told) if form == "one" else told

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The two integer probabilities of the halves, and the claim they prove."""
        return oracle_certificate(self, self.response.proof(), rng, reads={"length": self.length})

    def audit(self) -> MechanismAudit:
        """The loss of a number in the own half of one category and not of another, from the integers themselves."""
        words = "a number in the own half of one category and not in that of another"
        return discrete_audit(Fraction(self.response.keep, self.response.other), words)

    def error(self, loss: str = "absolute") -> float:
        """Raise `NoLossError`: a report is a number of a block, not a category."""
        return no_error("Hadamard response", loss)

    def channel(self) -> Channel:
        """The channel of floats."""
        if self.outputs > LARGEST_CHANNEL:
            raise NoChannelError(
                f"a dense channel to {self.outputs} outputs is too large; {LARGEST_CHANNEL} is the limit."
            )
        keep, other = (2 * p / self.length for p in self.half_probabilities)
        own = self.own_halves(np.arange(len(self.categories)))
        if log_of(other) < SMALLEST_LOG:
            logs = np.where(own, log_of(keep), log_of(other))
            return Channel.from_logs(logs, self.categories, range(self.outputs))
        matrix = np.where(own, float(keep), float(other))
        return Channel(matrix, self.categories, range(self.outputs), normalise=True)

    def own_halves(self, codes: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which outputs are in the own half of each of some categories."""
        block, row = np.divmod(codes.astype(np.int64), self.length - 1)
        place, spot = np.divmod(np.arange(self.outputs), self.length)
        even = (np.bitwise_count((row[:, None] + 1) & spot) & 1) == 0
        return np.asarray(even & (place == block[:, None]))

    def __repr__(self) -> str:
        return f"hadamard_response({len(self.categories)} categories, {self.outputs} outputs, {self.guarantee})"


def _rebuilt(certificate: Certificate) -> HadamardMechanism:
    """The mechanism behind its certificate."""
    names = read_domain(certificate.document["oracle"]["domain"])
    if certificate.document["proof"]["size"] % 2:
        raise ValueError("no halves")
    return HadamardMechanism(names, numbered_response(certificate, 4 * len(names)))


ENTRY = Entry(
    "hadamard-response",
    hadamard_response,
    Takes("category", form="arrow", purpose="report", secrets="categories"),
    summary="one short number from a Hadamard matrix",
    words="categories",
    rebuild=_rebuilt,
)
