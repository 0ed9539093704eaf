"""k-ary randomised response: keep the true category with some probability, otherwise report one at random.

With ``k`` categories and ``a = e^(-epsilon)`` the truth is reported with probability ``1 / (1 + (k-1) a)`` and every other
category with ``a`` times that. For ``epsilon`` and the discrete metric it reports the truth most often of all mechanisms.

**Guarantee.** ``epsilon`` for the discrete metric, exactly: the two probabilities are integers over a power of two, ``keep``
and
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
from functools import lru_cache
from typing import Annotated, Any, Protocol

import numpy as np

from noisewright._utils.validation import guided
from noisewright.base import CATEGORIES, EPSILON, Entry, Takes, expected_loss
from noisewright.certificates.certificate import Certificate
from noisewright.channels.channel import Channel
from noisewright.channels.integer_table import check_budget
from noisewright.columns.adapters import in_kind
from noisewright.columns.label_encoder import LARGEST_COUNT, Labels, check_dense
from noisewright.mechanisms.categorical.base import OverCategories, discrete_certificate, distinct_categories
from noisewright.metrics.base import encode_label
from noisewright.numerics.exact import Exact
from noisewright.sampling.bernoulli_bits import bernoulli, response_integers
from noisewright.sampling.categorical import MOST, Alias, whole_thresholds
from noisewright.sampling.random_bits import bits_from, uniform_below

__all__ = [
    "LARGEST_PLAIN",
    "Response",
    "ResponseMechanism",
    "draw_response",
    "randomised_response",
    "response_channel",
    "response_error",
    "response_of",
    "response_proof",
]


LARGEST_PLAIN = 600
"""The largest epsilon for which a channel holds probabilities themselves, not their logarithms."""


@guided
def randomised_response(
    categories: Annotated[Iterable[Hashable] | int, CATEGORIES], *, epsilon: Annotated[Exact, EPSILON]
) -> ResponseMechanism:
    """k-ary randomised response over the given categories (or over ``0`` to ``k - 1`` for a number ``k``)."""
    names = distinct_categories(categories, "randomised response")
    budget = check_budget(epsilon)
    found = response_integers(len(names), budget)
    return ResponseMechanism(names, budget, found.width, found.precision, found.keep, found.other)


@dataclass(frozen=True)
class ResponseMechanism(OverCategories):
    """Randomised response with integer probabilities; build it with :func:`randomised_response`."""

    name = "randomised-response"

    epsilon: Fraction
    width: int
    precision: int
    keep: int
    other: int

    @property
    def keep_probability(self) -> Fraction:
        """The probability that the truth is reported."""
        return Fraction(self.keep, 1 << self.width)

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One exact draw for every value."""
        return draw_response(self, self._labels, values, rng)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The two integer probabilities and the claim they prove."""
        return discrete_certificate(self, self.proof(), rng, inputs=[encode_label(label) for label in self.categories])

    def proof(self) -> dict[str, Any]:
        """The two integer probabilities, as a certificate states them."""
        return response_proof(self, self.precision)

    def error(self, loss: str = "zero-one") -> float:
        """The expected loss for the category where it is largest; ``zero-one`` is the probability of a lie."""
        return response_error(self, loss)

    def channel(self) -> Channel:
        """The channel of floats."""
        return response_channel(self)

    def __repr__(self) -> str:
        return f"randomised_response({len(self.categories)} categories, {self.guarantee})"


# Any response that keeps the truth with one probability and reports each other category with another ---------------------


class Response(Protocol):
    """The truth is reported with probability ``keep / 2**width``, each other category with ``other / 2**width``."""

    @property
    def categories(self) -> tuple[Hashable, ...]:
        """The secrets, which are the outputs too."""

    @property
    def epsilon(self) -> Fraction:
        """The guaranteed epsilon, exactly."""

    @property
    def width(self) -> int:
        """The probabilities are integers over two to this power."""

    @property
    def keep(self) -> int:
        """The one of the truth."""

    @property
    def other(self) -> int:
        """The one of each other category."""


def draw_response(response: Response, labels: Labels, values: Any, rng: np.random.Generator | None) -> Any:
    """One exact draw for every value."""
    codes, form = labels.encode(values)
    size, bits = len(labels), bits_from(rng)
    if size > MOST:  # with probability k other a uniform category, perhaps the same, else the truth
        replaced = np.asarray(bernoulli(Fraction(size * response.other, 1 << response.width), codes.shape, bits))
        return labels.decode(np.where(replaced, uniform_below(size, codes.shape, bits), codes), form)
    drawn = _further(size, response.width, response.keep, response.other).column(codes.shape, bits)
    drawn += codes
    drawn -= size * (drawn >= size)
    return labels.decode(drawn, form)


@lru_cache(maxsize=64)
def _further(size: int, width: int, keep: int, other: int) -> Alias:
    """Return how many categories farther, in a circle, the reported one is: 0 for the truth."""
    return Alias(whole_thresholds([keep + place * other for place in range(size - 1)], width))


def response_proof(response: Response, precision: int) -> dict[str, Any]:
    """The two integer probabilities, as a certificate states them."""
    return {
        "kind": "response",
        "size": len(response.categories),
        "width": response.width,
        "precision": precision,
        "keep": f"{response.keep:x}",
        "other": f"{response.other:x}",
    }


def response_of(proof: Any, epsilon: Fraction, categories: tuple[Hashable, ...] | None) -> ResponseMechanism:
    """The response that a proof states, over these categories or over 0, 1, 2 and so on; refused if the truth is not
    more likely."""
    size, keep, other = proof["size"], int(proof["keep"], 16), int(proof["other"], 16)
    if size > LARGEST_COUNT or (categories is not None and len(categories) != size) or keep < other:
        raise ValueError("no randomised response")
    names = tuple(range(size)) if categories is None else categories
    return ResponseMechanism(names, epsilon, proof["width"], proof["precision"], keep, other)


def response_error(response: Response, loss: str) -> float:
    """The expected loss for the category where it is largest; ``zero-one`` is the probability of a lie."""
    if loss == "zero-one":
        return float(1 - Fraction(response.keep, 1 << response.width))
    return expected_loss(response_channel(response), loss)


def response_channel(response: Response) -> Channel:
    """The channel of floats; in logarithms where the smaller probability may be too small for a float."""
    categories, width = response.categories, response.width
    size = len(categories)
    check_dense(size)
    if response.epsilon > LARGEST_PLAIN:
        lie = math.log(response.other) - width * math.log(2)
        found = np.full((size, size), lie)
        np.fill_diagonal(found, math.log1p(-(size - 1) * math.exp(lie)))
        return Channel.from_logs(found, categories, categories)
    matrix = np.full((size, size), response.other / (1 << width))
    np.fill_diagonal(matrix, response.keep / (1 << width))
    return Channel(matrix, categories, categories)


ENTRY = Entry(
    "randomised-response",
    randomised_response,
    Takes("category", parts=None, form="arrow", secrets="categories"),
    summary="keep the truth or report at random",
    words="categories",
)
