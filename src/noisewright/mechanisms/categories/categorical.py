r"""What mechanisms over categories share, whatever their law: the categories, the promise for any two of them, the certificate.

Such a mechanism is a frozen dataclass with ``categories`` and an exact ``epsilon``, and promises ``epsilon`` for the discrete
metric. It takes these functions for its own members, so that its file holds its law and nothing else:

>>> from dataclasses import dataclass
>>> from functools import cached_property
>>> @dataclass(frozen=True)
... class Coin:
...     categories: tuple[Hashable, ...]
...     epsilon: Fraction
...     guarantee = cached_property(discrete_guarantee)
...     map = promised_loss
...     labels = cached_property(category_labels)
...     __getstate__ = fields_alone
>>> coin = Coin(distinct_categories(["head", "tail"], "a coin"), Fraction(1, 2))
>>> print(coin.guarantee, coin.map(1.0), coin.labels.encode(["tail", "head"])[0])
epsilon = 0.5 per unit of discrete 0.5 [1 0]
>>> coin.__getstate__()  # what is pickled: the index of the labels and all else is made again where it is used
{'categories': ('head', 'tail'), 'epsilon': Fraction(1, 2)}
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Any, Protocol

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.errors import ParameterError
from noisewright.core.exact import float_up
from noisewright.core.guarantee import Guarantee
from noisewright.core.metrics.metric import Discrete
from noisewright.mechanisms.values import Labels, counted_labels

__all__ = [
    "category_labels",
    "discrete_certificate",
    "discrete_guarantee",
    "distinct_categories",
    "fields_alone",
    "promised_loss",
]


class OverCategories(Protocol):
    """A mechanism over categories with an exact epsilon."""

    @property
    def categories(self) -> tuple[Hashable, ...]:
        """The secrets."""

    @property
    def epsilon(self) -> Fraction:
        """The promised epsilon, exactly."""


class Promising(Protocol):
    """Anything with a guarantee."""

    @property
    def guarantee(self) -> Guarantee:
        """What is promised."""


def distinct_categories(categories: Iterable[Hashable] | int, what: str) -> tuple[Hashable, ...]:
    """At least two different categories, given as a list or as the number of them."""
    names = counted_labels(categories, f"the categories of {what}")
    if len(names) < 2:
        raise ParameterError(f"{what} needs at least 2 categories, not {len(names)}.")
    if len(set(names)) < len(names):
        raise ParameterError(f"the categories of {what} must be different from each other.")
    return names


def discrete_guarantee(mechanism: OverCategories) -> Guarantee:
    """``epsilon`` for the discrete metric."""
    return Guarantee(float_up(mechanism.epsilon), Discrete())


def promised_loss(self: Promising, distance: float) -> float:
    """The largest log-ratio for two secrets at this distance, beside the ``delta`` of the guarantee where it has one."""
    return self.guarantee.bound(distance)


def category_labels(mechanism: OverCategories) -> Labels:
    """The categories, to number values by."""
    return Labels(mechanism.categories)


def fields_alone(self: Any) -> dict[str, Any]:
    """The fields of a dataclass, without what was computed from them and kept."""
    return {name: getattr(self, name) for name in self.__dataclass_fields__}


def discrete_certificate(
    name: str, epsilon: Fraction, proof: dict[str, Any], *, simulated: bool, **named: Any
) -> Certificate:
    """The claim that any two categories are ``epsilon`` apart, with its proof."""
    return Certificate.build(
        mechanism=name,
        epsilon=epsilon,
        metric="discrete",
        distances={"shape": "uniform", "distance": "1"},
        proof=proof,
        simulated=simulated,
        **named,
    )
