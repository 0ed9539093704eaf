r"""k-ary randomised response: keep the true category with some probability, otherwise report one at random.

With ``k`` categories and ``a = e^(-epsilon)`` the truth is reported with probability ``1 / (1 + (k-1) a)`` and every other
category with ``a`` times that. For ``epsilon`` and the discrete metric it reports the truth most often of all mechanisms.

**Guarantee.** ``epsilon`` for the discrete metric, exactly: the two probabilities are integers over a power of two, ``keep`` and
``other``, with ``keep <= e^epsilon other`` proved in integers. No table is built, so a million categories are fine.

>>> smoker = randomised_response(["no", "yes"], epsilon="1.0986")
>>> smoker.release(["no", "yes", "yes"]).shape
(3,)
>>> round(float(smoker.keep_probability), 4)
0.75

Reference: Warner (1965); Kairouz, Oh and Viswanath, *Extremal mechanisms for local differential privacy* (2014).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from noisewright.core.certificate import Certificate
from noisewright.core.certify import check_budget
from noisewright.core.channel import Channel
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, ceil_div, exp_bounds, float_up
from noisewright.core.guarantee import Guarantee
from noisewright.core.labels import encode_label
from noisewright.core.metric import Discrete
from noisewright.mechanisms.losses import expected_loss
from noisewright.mechanisms.values import Labels, check_dense, counted_labels
from noisewright.noise import bernoulli, uniform_below

__all__ = ["ResponseMechanism", "randomised_response"]


def randomised_response(categories: Iterable[Hashable] | int, *, epsilon: Exact) -> ResponseMechanism:
    """k-ary randomised response over the given categories (or over ``0 .. k-1`` for a number ``k``)."""
    names = counted_labels(categories, "the categories of randomised response")
    if len(names) < 2:
        raise ParameterError(f"randomised response needs at least 2 categories, not {len(names)}.")
    if len(set(names)) < len(names):
        raise ParameterError("the categories of randomised response must be different from each other.")
    budget = check_budget(epsilon)
    # The smaller probability is about e^-epsilon / k; forty significant bits of it are kept, and for a small epsilon as
    # many more as it takes to tell e^epsilon from 1, so that the truth stays the likelier answer.
    fine = ceil_div(budget.denominator, budget.numerator).bit_length()
    width = 64 + 2 * len(names).bit_length() + math.ceil(budget * 3 / 2) + fine
    precision = width + 64
    factor = exp_bounds(min(budget, Fraction(precision)), precision)[0]
    other = ceil_div(1 << (width + precision), factor + ((len(names) - 1) << precision))
    return ResponseMechanism(names, budget, width, precision, (1 << width) - (len(names) - 1) * other, other)


@dataclass(frozen=True)
class ResponseMechanism:
    """Randomised response with integer probabilities; build it with :func:`randomised_response`."""

    categories: tuple[Hashable, ...]
    epsilon: Fraction
    width: int
    precision: int
    keep: int
    other: int

    @property
    def name(self) -> str:
        """The name in the registry."""
        return "randomised-response"

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` for the discrete metric."""
        return Guarantee(float_up(self.epsilon), Discrete())

    @property
    def keep_probability(self) -> Fraction:
        """The probability that the truth is reported."""
        return Fraction(self.keep, 1 << self.width)

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One exact draw for every value: replaced by a uniform category (perhaps the same) or kept."""
        codes, form = self._labels.encode(values)
        size = len(self.categories)
        replaced = np.asarray(bernoulli(Fraction(size * self.other, 1 << self.width), codes.shape, rng))
        fresh = np.asarray(uniform_below(size, codes.shape, rng))
        return self._labels.decode(np.where(replaced, fresh, codes), form)

    def map(self, distance: float) -> float:
        """The largest log-ratio for two secrets at this distance."""
        return self.guarantee.bound(distance)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The two integer probabilities and the claim they prove."""
        return Certificate.build(
            mechanism=self.name,
            epsilon=self.epsilon,
            metric="discrete",
            distances={"shape": "uniform", "distance": "1"},
            proof=self.proof(),
            simulated=rng is not None,
            inputs=[encode_label(label) for label in self.categories],
        )

    def proof(self) -> dict[str, Any]:
        """The two integer probabilities, as a certificate states them."""
        return {
            "kind": "response",
            "size": len(self.categories),
            "width": self.width,
            "precision": self.precision,
            "keep": f"{self.keep:x}",
            "other": f"{self.other:x}",
        }

    def error(self, loss: str = "zero-one") -> float:
        """The expected loss for the category where it is largest; ``zero-one`` is the probability of a lie."""
        if loss == "zero-one":
            return float(1 - self.keep_probability)
        return expected_loss(self.channel(), loss)

    def channel(self) -> Channel:
        """The channel of floats."""
        size = len(self.categories)
        check_dense(size)
        if self.epsilon > 600:  # the smaller probability may be too small for a float
            lie = math.log(self.other) - self.width * math.log(2)
            logs = np.full((size, size), lie)
            np.fill_diagonal(logs, math.log1p(-(size - 1) * math.exp(lie)))
            return Channel.from_logs(logs, self.categories, self.categories)
        matrix = np.full((size, size), self.other / (1 << self.width))
        np.fill_diagonal(matrix, self.keep / (1 << self.width))
        return Channel(matrix, self.categories, self.categories)

    @cached_property
    def _labels(self) -> Labels:
        return Labels(self.categories)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def __repr__(self) -> str:
        return f"randomised_response({len(self.categories)} categories, {self.guarantee})"
