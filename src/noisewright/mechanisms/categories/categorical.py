r"""Base of mechanisms over categories, whatever their law: the categories, the guarantee, the certificate.

Such a mechanism is a frozen dataclass on :class:`OverCategories`, with an exact ``epsilon`` that it guarantees for the
discrete metric; its file holds its law and nothing else:

>>> @dataclass(frozen=True)
... class Coin(OverCategories):
...     epsilon: Fraction
>>> coin = Coin(distinct_categories(["head", "tail"], "a coin"), Fraction(1, 2))
>>> print(coin.guarantee, coin.map(1.0))
epsilon = 0.5 per unit of discrete 0.5
>>> coin.__getstate__()  # what is pickled: all else is made again where it is used
{'categories': ('head', 'tail'), 'epsilon': Fraction(1, 2)}
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.errors import ParameterError
from noisewright.core.guarantee import Guarantee
from noisewright.core.mechanism import BaseMechanism, fields_alone
from noisewright.core.metrics.metric import Discrete
from noisewright.mechanisms.label_columns import Labels, counted_labels

__all__ = ["OverCategories", "discrete_certificate", "distinct_categories"]


@dataclass(frozen=True)
class OverCategories(BaseMechanism):
    """A mechanism over categories with an exact epsilon, for the discrete metric."""

    categories: tuple[Hashable, ...]

    if (
        TYPE_CHECKING
    ):  # a field of most, worked out by others; a dataclass would take a property for the field's default

        @property
        def name(self) -> str:
            """Name in certificates."""

        @property
        def epsilon(self) -> Fraction:
            """The guaranteed epsilon, exactly."""

    @cached_property
    def guarantee(self) -> Guarantee:
        """``epsilon`` for the discrete metric."""
        return Guarantee.exactly(self.epsilon, Discrete())

    @cached_property
    def _labels(self) -> Labels:
        """The categories, to number values by."""
        return Labels(self.categories)

    __getstate__ = fields_alone


def distinct_categories(categories: Iterable[Hashable] | int, what: str) -> tuple[Hashable, ...]:
    """At least two different categories, given as a list or as the number of them."""
    names = counted_labels(categories, f"the categories of {what}")
    if len(names) < 2:
        raise ParameterError(f"{what} needs at least 2 categories, not {len(names)}.")
    if len(set(names)) < len(names):
        raise ParameterError(f"the categories of {what} must be different from each other.")
    return names


def discrete_certificate(
    made: OverCategories, proof: dict[str, Any], rng: np.random.Generator | None, **named: Any
) -> Certificate:
    """The claim of ``made`` that any two of its categories are ``epsilon`` apart, with its proof."""
    return Certificate.build(
        mechanism=made.name,
        epsilon=made.epsilon,
        metric="discrete",
        distances={"shape": "uniform", "distance": "1"},
        proof=proof,
        simulated=rng is not None,
        **named,
    )
