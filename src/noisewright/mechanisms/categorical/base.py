"""Base of mechanisms over categories, whatever their law: the categories, the guarantee, the certificate.

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

>>> from noisewright.channels.channel import Channel
>>> from noisewright.metrics.base import Line
>>> from noisewright.mechanisms.categorical.base import mechanism
>>> thirds = mechanism(Channel([[4, 1, 1], [2, 2, 2], [1, 1, 4]], normalise=True), epsilon="0.7", metric=Line())
>>> thirds.release([0, 1, 2, 2]).shape, thirds.certificate().numerics
((4,), 'exact')
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noisewright._utils.validation import fields_alone
from noisewright.base import BaseMechanism, expected_loss
from noisewright.certificates.certificate import Certificate
from noisewright.channels.channel import Channel
from noisewright.channels.integer_table import CertifiedChannel
from noisewright.columns.adapters import in_kind
from noisewright.columns.label_encoder import Labels, counted_labels
from noisewright.exceptions import ChannelError, GuaranteeError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.metrics.base import Discrete, Metric
from noisewright.numerics.exact import Exact
from noisewright.sampling.categorical import TableSampler

__all__ = [
    "FiniteMechanism",
    "OverCategories",
    "closest",
    "discrete_certificate",
    "distinct_categories",
    "log_weights",
    "mechanism",
]


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


# Finite -------------------------------------------------------------------------------------------------------------------
#
# Any channel on finitely many secrets as a mechanism: certified once, then drawn from its integer table.


def mechanism(
    channel: Channel, *, epsilon: Exact | None = None, metric: Metric | None = None, name: str = "channel"
) -> FiniteMechanism:
    """A mechanism that draws from ``channel``; without ``epsilon`` it is certified at the smallest one it has."""
    if not isinstance(channel, Channel):
        raise ChannelError(
            f"a mechanism is made from a Channel, not from {type(channel).__name__}; wrap it in Channel(...)."
        )
    if epsilon is None:
        audit = channel.epsilon(metric)
        if not 0 < audit.value < np.inf:
            raise GuaranteeError(f"{audit}: give an epsilon, or a channel with a finite loss above 0.")
        epsilon = audit.value
    return FiniteMechanism(channel.certify(epsilon, metric), name)


def closest(metric: Metric, points: Sequence[Hashable]) -> Fraction:
    """The smallest distance between two different points; 1 if all points are equal."""
    distances = metric.matrix(points)
    apart = distances[(distances > 0) & np.isfinite(distances)]
    return Fraction(float(apart.min())) if apart.size else Fraction(1)


def log_weights(rate: float, distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """``-rate * distances``: minus infinity exactly where a distance is infinite, however large the products get."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(np.isinf(distances), -np.inf, np.maximum(-rate * distances, -1e300))


@dataclass(frozen=True, eq=False)
class FiniteMechanism(BaseMechanism):
    """A mechanism backed by a certified integer table."""

    certified: CertifiedChannel
    name: str = "channel"
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee that was proved about the table."""
        return self.certified.guarantee

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One exact draw for every secret."""
        codes, form = self._inputs.encode(values)
        return self._outputs.decode(np.asarray(self._sampler.draw(codes, rng)), form)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The integer table and the claim it proves."""
        return Certificate.of(self.certified, self.name, simulated=rng is not None)

    def error(self, loss: str = "absolute") -> float:
        """The expected loss of an output taken at face value, for the secret where that is largest."""
        return expected_loss(self.channel(), loss)

    def channel(self) -> Channel:
        """The table as a channel of floats."""
        return self._channel

    @cached_property
    def _channel(self) -> Channel:
        return self.certified.channel()

    @cached_property
    def _sampler(self) -> TableSampler:
        return TableSampler(self.certified.table, self.certified.width)

    @cached_property
    def _inputs(self) -> Labels:
        return Labels(self.certified.inputs)

    @cached_property
    def _outputs(self) -> Labels:
        return Labels(self.certified.outputs)

    __getstate__ = fields_alone

    def __repr__(self) -> str:
        rows, columns = self.certified.table.shape
        return f"{self.name}({rows} secrets to {columns} outputs, {self.guarantee})"
