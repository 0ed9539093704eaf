r"""Subset selection: report a set of ``d`` categories, which holds the truth more often than chance would have it.

With probability ``p`` the set holds the truth and ``d - 1`` others drawn uniformly; otherwise it is ``d`` others drawn
uniformly. Therefore a set with the truth in it is ``e^epsilon`` times as likely as one without, for ``p = d e^epsilon
/ (d e^epsilon + k - d)``. With ``d`` about ``k / (e^epsilon + 1)``, the default, no mechanism estimates all
frequencies with less squared error, up to lower terms. ``d = 1`` is randomised response.

**Guarantee.** ``epsilon`` for the discrete metric, exactly. *Proof.* Given which of two secrets are in the set, the
rest of it is uniform under both. Therefore all depends on four cases, whose chances over ``2**width (k - 1)`` the
certificate lists and compares in integers.

A report is ``ceil(k / 8)`` bytes; see :mod:`noisewright.mechanisms.categorical.frequency_oracle`.

>>> page = subset_selection(1000, epsilon=1)
>>> page.size, page.release([17, 17, 503]).shape
(269, (3, 125))
>>> page.certificate().verify()
'epsilon = 1 per unit of discrete'

Reference: Ye and Barg, *Optimal schemes for discrete distribution estimation under locally differential privacy* (2018); Wang,
Huang, Wang, Nie, Xiao, Yang, Li and Qiao, *Mutual information optimally local private discrete distribution estimation*
(2016).

The outputs ``0 .. K-1`` are ``B`` blocks of ``b`` numbers each. A category has a block and in it a row ``i = 1 ..
b-1`` of the Hadamard matrix with entries :math:`H_{iy} = (-1)^{|i \wedge y|}`. Its own half are the ``b/2`` numbers
``y`` of its block with ``H = +1``; each of them is ``e^epsilon`` times as likely as any other output. Reports are
``log2 K`` bits, and all frequencies come from one fast Walsh-Hadamard transform of the counts, so a million categories
are cheap.

``B = 2^(ceil(log2 min(e^epsilon, 2k)) - 1)`` as in the reference: one block up to ``e^epsilon = 2``, more beyond.

**Guarantee.** ``epsilon`` for the discrete metric, exactly. *Proof.* The outputs are ``2 B`` parts of ``b/2`` numbers, of
which
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
import operator
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from noisewright.base import CATEGORIES, EPSILON, Entry, MechanismAudit, Parameter, Takes
from noisewright.certificates.certificate import Certificate
from noisewright.certificates.checker.checker import exp_below
from noisewright.channels.channel import Channel
from noisewright.channels.integer_table import check_budget
from noisewright.claims.figures import ceil_div
from noisewright.columns.adapters import in_kind
from noisewright.columns.arrow import arrow_array
from noisewright.columns.label_encoder import COLUMNS, LARGEST_CHANNEL
from noisewright.exceptions import NoChannelError, ParameterError
from noisewright.mechanisms.categorical.base import OverCategories, distinct_categories
from noisewright.mechanisms.categorical.frequency_oracle import (
    SMALLEST_LOG,
    Support,
    check_room,
    coin_rows,
    discrete_audit,
    give_packed,
    log_of,
    no_error,
    numbered_response,
    oracle_certificate,
    rare_variance,
    read_domain,
    read_packed,
    set_matrix,
    set_sizes,
    support_of,
)
from noisewright.mechanisms.categorical.randomised_response import ResponseMechanism, randomised_response
from noisewright.numerics.exact import Exact
from noisewright.sampling.bernoulli_bits import bernoulli
from noisewright.sampling.random_bits import uniform_below

__all__ = ["HadamardMechanism", "SubsetMechanism", "hadamard_response", "subset_selection"]


SIZE = Parameter("Number of categories in a subset. Default: the best number for this epsilon.")

WHOLE_BITS = 127
"""The checker reads chances below ``2**128``."""

PRECISION = 384
SHARE_BITS = 24
"""Number of bits of the probability of the coins with which sets begin."""

SMALLEST = Fraction(1, 1 << 64)
"""Below this the chances over ``2**width`` could not distinguish the truth from the others."""


def subset_selection(
    categories: Annotated[Iterable[Hashable] | int, CATEGORIES],
    *,
    epsilon: Annotated[Exact, EPSILON],
    size: Annotated[int | None, SIZE] = None,
) -> SubsetMechanism:
    """Subset selection over the given categories, or ``0`` to ``k - 1`` for a number ``k``, with sets of ``size`` of them."""
    names = distinct_categories(categories, "subset selection")
    budget = check_budget(epsilon)
    if budget < SMALLEST:
        raise ParameterError("epsilon of subset selection must be at least 2^-64; a smaller one tells nothing.")
    if size is None:
        # Only how good the estimate is depends on these floats, not the guarantee.
        ideal = len(names) / (math.exp(min(float(budget), 700.0)) + 1)
        near = {min(max(d, 1), len(names) - 1) for d in (math.floor(ideal), math.ceil(ideal))}
        return min((_of_size(names, budget, d) for d in near), key=SubsetMechanism.worth)
    try:
        count = operator.index(size)
    except TypeError:
        raise ParameterError(f"size must be a whole number, not {type(size).__name__}.") from None
    if isinstance(size, bool) or not 1 <= count < len(names):
        raise ParameterError(
            f"the sets of subset selection over {len(names)} categories have 1 to {len(names) - 1} of them; about "
            "k/(e^epsilon + 1) is best."
        )
    return _of_size(names, budget, count)


def _of_size(names: tuple[Hashable, ...], budget: Fraction, size: int) -> SubsetMechanism:
    """The largest ``p`` over ``2**width`` that the checker proves: ``p (k - d) <= e^epsilon (1 - p) d``."""
    width = WHOLE_BITS - (len(names) - 1).bit_length()
    limit = exp_below(budget, PRECISION) * size
    inside = (limit << width) // (limit + ((len(names) - size) << PRECISION))
    return SubsetMechanism(names, budget, size, width, inside)


@dataclass(frozen=True)
class SubsetMechanism(OverCategories):
    """Subset selection with integer chances; build it with :func:`subset_selection`."""

    name = "subset-selection"

    epsilon: Fraction
    size: int
    """``d``: how many categories a report holds."""
    width: int
    inside: int
    """``p 2**width``: the truth is in the set."""

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """The probability that a report holds the truth, and that it holds another given category; exactly."""
        p = Fraction(self.inside, 1 << self.width)
        return p, (self.size - p) / (len(self.categories) - 1)

    def worth(self) -> float:
        """The variance of an estimate for a rare category, for one report."""
        return float(rare_variance(*self.support_probabilities))

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One report for every value: rows of bytes, each with ``size`` bits set."""
        codes, form = self._labels.encode(values)
        flat = codes.reshape(-1)
        check_room(flat.size, len(self.categories))
        held = np.asarray(bernoulli(self.support_probabilities[0], flat.shape, rng))
        rows = self._others(flat, self.size - held, rng)
        rows[np.arange(flat.size), flat >> 3] |= np.where(held, _bit(flat), np.uint8(0))
        return give_packed(rows, codes.shape, form)

    def support(self, reports: Any) -> Support:
        """Return how many reports hold each category; a set of another size is not a report."""
        rows, there = read_packed(reports, len(self.categories))
        there = there & (set_sizes(rows) == self.size)
        return support_of(rows, there, len(self.categories))

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The chances that two secrets are in the set, in integers, and the claim they prove."""
        k, d = len(self.categories), self.size
        held, left = self.inside, (1 << self.width) - self.inside
        both, one, other, none = held * (d - 1), held * (k - d), left * d, left * (k - 1 - d)
        return oracle_certificate(
            self,
            {
                "kind": "chances",
                "total": (k - 1) << self.width,
                "precision": PRECISION,
                "table": [[both, one, other, none], [both, other, one, none]],
            },
            rng,
            inputs=["one category", "another category"],
            outputs=["both in the set", "only the first", "only the second", "neither"],
        )

    def audit(self) -> MechanismAudit:
        """The loss of a set that holds one category and not another, from the integers themselves."""
        k, d, p = len(self.categories), self.size, self.support_probabilities[0]
        words = "a set that holds one category and not another, whatever else is in it"
        return discrete_audit(p * (k - d) / ((1 - p) * d), words)

    def error(self, loss: str = "absolute") -> float:
        """Raise `NoLossError`: a report is a set of categories."""
        return no_error("subset selection", loss)

    def channel(self) -> Channel:
        """The channel to all sets of this size, for a few categories."""
        held, names = set_matrix(len(self.categories))
        kept = held.sum(axis=1) == self.size
        k, d, p = len(self.categories), self.size, self.support_probabilities[0]
        matrix = np.where(held[kept].T, float(p / math.comb(k - 1, d - 1)), float((1 - p) / math.comb(k - 1, d)))
        return Channel(matrix, self.categories, [names[i] for i in np.flatnonzero(kept)], normalise=True)

    def _others(self, codes: NDArray[np.intp], wanted: NDArray[np.int64], rng: Any) -> NDArray[np.uint8]:
        """Return for every secret a uniform set of the wanted size, without the secret itself.

        Independent coins make a set that is uniform given its number of members, so one with too many may be drawn again, and a
        uniform member more leaves it uniform. The coins are a little too rare, by about a standard deviation. Sets of more than
        half of the categories are made from those left out, so that a category to add is soon found: one that is in the set
        already is drawn again.
        """
        others = len(self.categories) - 1
        swapped = 2 * self.size > others
        goal = others - wanted if swapped else wanted
        usual = others - self.size if swapped else self.size
        share = max(usual - math.sqrt(usual) - 1, 0) / (others + 1)
        coin = Fraction(math.floor(share * (1 << SHARE_BITS)), 1 << SHARE_BITS)
        rows = np.zeros((codes.size, ceil_div(others + 1, 8)), dtype=np.uint8)
        missing = np.asarray(goal, dtype=np.int64).copy()
        begun = np.arange(codes.size) if coin else np.zeros(0, dtype=np.intp)
        while begun.size:
            fresh = coin_rows(coin, begun.size, others + 1, rng)
            fresh[np.arange(begun.size), codes[begun] >> 3] &= ~_bit(codes[begun])
            lack = goal[begun] - set_sizes(fresh)
            if begun.size == codes.size:
                rows = fresh
            else:
                rows[begun] = fresh
            missing[begun] = lack
            begun = begun[lack < 0]
        active = np.flatnonzero(missing)
        while active.size:
            spot = np.asarray(uniform_below(others, active.shape, rng))
            spot += spot >= codes[active]
            place, bit = spot >> 3, _bit(spot)
            free = (rows[active, place] & bit) == 0
            rows[active, place] |= bit
            missing[active] -= free
            active = active[missing[active] > 0]
        if swapped:
            np.invert(rows, out=rows)
            rows[np.arange(codes.size), codes >> 3] &= ~_bit(codes)
            if (others + 1) % 8:
                rows[:, -1] &= np.uint8((1 << (others + 1) % 8) - 1)
        return rows

    def __repr__(self) -> str:
        return f"subset_selection({len(self.categories)} categories, sets of {self.size}, {self.guarantee})"


def _bit(codes: NDArray[np.intp]) -> NDArray[np.uint8]:
    """The bit of each category in its byte."""
    return np.uint8(1) << (codes & 7).astype(np.uint8)


def _rebuilt_subset(certificate: Certificate) -> SubsetMechanism:
    """The mechanism behind its certificate, from the cases in which the truth and another category are in the set."""
    proof, names = certificate.document["proof"], read_domain(certificate.document["oracle"]["domain"])
    both, first, _, _ = proof["table"][0]
    inside, whole = (both + first) // (len(names) - 1), proof["total"] // (len(names) - 1)
    size = both // inside + 1
    if not 1 <= size < len(names) or inside * len(names) <= size * whole:
        raise ValueError("no sets that hold the truth more often than others")
    return SubsetMechanism(names, certificate.epsilon, size, whole.bit_length() - 1, inside)


SUBSET_SELECTION = Entry(
    "subset-selection",
    subset_selection,
    Takes("category", form="arrow", purpose="report", secrets="categories"),
    summary="a set that holds the truth rather often",
    words="categories",
    rebuild=_rebuilt_subset,
)


# Hadamard -----------------------------------------------------------------------------------------------------------------
#
# Hadamard response: report one number, which lies on the plus side of the secret's row of a Hadamard matrix more often.


def hadamard_response(
    categories: Annotated[Iterable[Hashable] | int, CATEGORIES], *, epsilon: Annotated[Exact, EPSILON]
) -> HadamardMechanism:
    """Hadamard response over the given categories (or over ``0`` to ``k - 1`` for a number ``k``)."""
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


def _rebuilt_hadamard(certificate: Certificate) -> HadamardMechanism:
    """The mechanism behind its certificate."""
    names = read_domain(certificate.document["oracle"]["domain"])
    if certificate.document["proof"]["size"] % 2:
        raise ValueError("no halves")
    return HadamardMechanism(names, numbered_response(certificate, 4 * len(names)))


HADAMARD_RESPONSE = Entry(
    "hadamard-response",
    hadamard_response,
    Takes("category", form="arrow", purpose="report", secrets="categories"),
    summary="one short number from a Hadamard matrix",
    words="categories",
    rebuild=_rebuilt_hadamard,
)
