r"""The best mechanism for categories under ``(epsilon, delta)``: randomised response that lies as rarely as any may.

With ``m`` categories and ``q = e^epsilon`` every other category is reported with probability ``p = (1 - delta)/(q + m
- 1)`` and the truth with ``(q + (m-1) delta)/(q + m - 1)``, which is ``q p + delta``. It is the same as revealing the
truth with probability ``delta`` and running plain randomised response otherwise.

**Guarantee.** ``(epsilon, delta)`` for the discrete metric, exactly: both probabilities are integers over a power of
two, and ``keep <= q other + delta`` is proved in integers when it is built. Only the truth itself is too likely, so
that one comparison covers every set of outputs.

**Optimality.** No ``(epsilon, delta)`` mechanism with outputs among the categories lies less often, neither for the
worst category nor on average over all; nor does any mechanism for a whole table change fewer of its entries: ``A[i,i]
<= q A[k,i] + delta`` summed over all ``i != k`` gives ``mean A[i,i] <= (q + (m-1) delta)/(q + m - 1)``. Equality
forces every one of those inequalities, so it is the only one. For other losses than right or wrong see
:meth:`noisewright.optimality.extreme.polytope.LocalPolytope.best`.

>>> answer = optimal_response(["a", "b", "c", "d"], epsilon="0.6931471805599453094", delta="0.1")
>>> round(answer.error(), 12), round(float(answer.lie_probability), 12)
(0.54, 0.18)
>>> answer.gap < 1e-15, str(answer.guarantee)
(True, 'epsilon = 0.693148 per unit of discrete, delta = 0.1')

Reference: Holohan, Leith and Mason, *Differential privacy in metric spaces* (2015); Kairouz, Oh and Viswanath (2014)
for ``delta = 0``."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.channels.certified import LARGEST_EPSILON
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import GuaranteeError, ParameterError
from noisewright.core.exact import Exact, as_fraction, exp_bounds, in_words
from noisewright.core.guarantee import Guarantee
from noisewright.core.labels import encode_label
from noisewright.core.metrics.metric import Discrete
from noisewright.mechanisms.categories.categorical import (
    OverCategories,
    discrete_certificate,
    distinct_categories,
)
from noisewright.mechanisms.categories.response import draw_response, response_channel, response_error, response_proof
from noisewright.mechanisms.foreign_columns import in_kind

__all__ = ["OptimalResponse", "optimal_response"]


def optimal_response(categories: Iterable[Hashable] | int, *, epsilon: Exact, delta: Exact = 0) -> OptimalResponse:
    """The optimal mechanism over the given categories (or over ``0 .. m-1`` for a number ``m``); one of the two may be 0."""
    names = distinct_categories(categories, "optimal response")
    budget, failure = as_fraction(epsilon, "epsilon"), as_fraction(delta, "delta")
    if not 0 <= budget <= LARGEST_EPSILON:
        raise ParameterError(f"epsilon must be from 0 to {LARGEST_EPSILON}, not {in_words(budget)}.")
    if not 0 <= failure < 1:
        raise ParameterError(
            f"delta must be from 0 to below 1, not {in_words(failure)}; a delta of 1 promises nothing."
        )
    if budget + failure == 0:
        raise ParameterError(
            "epsilon and delta are both 0, so every category must look alike; give one of them above 0."
        )
    size = len(names)
    # Enough bits to resolve e^-epsilon / m, 1 - delta, and a small epsilon or delta, and forty or more beyond.
    fine = math.ceil(1 / (budget + failure)).bit_length() + math.ceil(1 / (1 - failure)).bit_length()
    width = 64 + 2 * size.bit_length() + math.ceil(budget * 3 / 2) + fine
    precision = width + 64
    factor = Fraction(exp_bounds(budget, precision)[0], 1 << precision)
    other = math.ceil((1 << width) * (1 - failure) / (factor + size - 1))
    keep = (1 << width) - (size - 1) * other
    if not other <= keep <= factor * other + failure * (1 << width):
        raise GuaranteeError("no integers with this guarantee were found; this is a defect, please report it.")
    return OptimalResponse(names, budget, failure, width, precision, keep, other)


@dataclass(frozen=True)
class OptimalResponse(OverCategories):
    """Randomised response for ``(epsilon, delta)`` with integer probabilities; build it with :func:`optimal_response`."""

    name = "optimal-response"

    epsilon: Fraction
    delta: Fraction
    width: int
    precision: int
    keep: int
    other: int

    @cached_property
    def guarantee(self) -> Guarantee:
        """``(epsilon, delta)`` for the discrete metric."""
        return Guarantee.exactly(self.epsilon, Discrete(), min(self.delta, Fraction(1)))

    @property
    def keep_probability(self) -> Fraction:
        """The probability that the truth is reported."""
        return Fraction(self.keep, 1 << self.width)

    @property
    def lie_probability(self) -> Fraction:
        """The probability of each of the other categories."""
        return Fraction(self.other, 1 << self.width)

    @property
    def bound(self) -> Fraction:
        """A proved lower bound for the probability of a lie, for every mechanism with this guarantee."""
        size = len(self.categories)
        high = Fraction(exp_bounds(self.epsilon, self.precision)[1], 1 << self.precision)
        return (size - 1) * (1 - self.delta) / (high + size - 1)

    @property
    def gap(self) -> Fraction:
        """Difference of this mechanism to that bound: only the rounding of its integers."""
        return 1 - self.keep_probability - self.bound

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One exact draw for every value: replaced by a uniform category (perhaps the same) or kept."""
        return draw_response(self, self._labels, values, rng)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The two integers, which prove the guarantee."""
        names = [encode_label(label) for label in self.categories]
        proof = response_proof(self, max(self.precision, 256))
        return discrete_certificate(self, proof, rng, delta=self.delta, inputs=names)

    def error(self, loss: str = "zero-one") -> float:
        """The expected loss for the category where it is largest; ``zero-one`` is the probability of a lie."""
        return response_error(self, loss)

    def channel(self) -> Channel:
        """The channel of floats."""
        return response_channel(self)

    def __repr__(self) -> str:
        return f"optimal_response({len(self.categories)} categories, {self.guarantee})"
