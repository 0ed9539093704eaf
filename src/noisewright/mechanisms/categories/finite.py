r"""Any channel on finitely many secrets as a mechanism: certified once, then drawn from its integer table.

>>> from noisewright.core.channels.channel import Channel
>>> from noisewright.core.metrics.metric import Line
>>> from noisewright.mechanisms.categories.finite import mechanism
>>> thirds = mechanism(Channel([[4, 1, 1], [2, 2, 2], [1, 1, 4]], normalise=True), epsilon="0.7", metric=Line())
>>> thirds.release([0, 1, 2, 2]).shape, thirds.certificate().numerics
((4,), 'exact')
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.channels.certified import CertifiedChannel
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import ChannelError, GuaranteeError
from noisewright.core.exact import Exact
from noisewright.core.guarantee import Guarantee
from noisewright.core.mechanism import BaseMechanism, fields_alone
from noisewright.core.metrics.metric import Metric
from noisewright.mechanisms.foreign_columns import in_kind
from noisewright.mechanisms.label_columns import Labels
from noisewright.mechanisms.losses import expected_loss
from noisewright.noise.table import TableSampler

__all__ = ["FiniteMechanism", "closest", "log_weights", "mechanism"]


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
