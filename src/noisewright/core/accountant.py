r"""The composition accountant: what several releases about one secret cost together.

Losses of independent (or adaptively chosen) releases add. Adding the symmetric losses ``d_C`` is safe but may overstate
the loss: the worst output of one release may favour ``x`` and the worst output of the next ``x'``. The accountant adds
*directed* losses ``max_y ln C[x,y]/C[x',y]`` and symmetrises once, at the end, which is exactly the loss of the product
channel without building it. Deltas add too, for each pair of secrets its own: between secrets some steps apart a
guarantee between neighbours has a larger one.

>>> from noisewright.core.channels.channel import Channel
>>> first = Channel([[0.8, 0.2], [0.4, 0.6]])
>>> second = Channel([[0.6, 0.4], [0.2, 0.8]])
>>> account = Accountant([0, 1]).add(first).add(second)
>>> round(account.epsilon().value, 6), round(first.epsilon().value + second.epsilon().value, 6)
(1.791759, 2.197225)
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from fractions import Fraction

import numpy as np

from noisewright.claims.record import Condition, all_of
from noisewright.core.arrays import Floats
from noisewright.core.channels.audit import Audit
from noisewright.core.channels.channel import Channel
from noisewright.core.choices import is_whole
from noisewright.core.errors import ChannelError, ParameterError
from noisewright.core.exact import float_up
from noisewright.core.guarantee import NO_BUDGET, ContextAware, Guarantee
from noisewright.core.labels import as_labels
from noisewright.core.metrics.metric import Discrete, Metric, as_metric

__all__ = ["Accountant"]


MOST_RELEASES = 2**53
"""More releases than this are not counted at once: floats would not hold the number."""


class Accountant:
    """Sum of the privacy losses of releases about the same secrets; ``add`` takes channels or stated guarantees."""

    def __init__(self, inputs: Iterable[Hashable]) -> None:
        self.inputs = as_labels(inputs, "the secrets of an accountant")
        if not self.inputs:
            raise ParameterError("an accountant needs at least one secret.")
        if len(set(self.inputs)) < len(self.inputs):
            raise ParameterError(
                "the secrets of an accountant must be different from each other; name each of them once."
            )
        self.releases = 0
        self.conditions: tuple[Condition, ...] = ()
        """Under which the sum holds: all conditions of the guarantees that were added."""
        self._directed: Floats = np.zeros((len(self.inputs),) * 2)
        self._deltas: Floats = np.zeros((len(self.inputs),) * 2)

    @property
    def delta(self) -> float:
        """The extra probability of everything added so far, for the pair of secrets where it is largest; rounded up."""
        return float(self._deltas.max())

    def add(self, release: Channel | Guarantee, times: int = 1) -> Accountant:
        """Account for a release, ``times`` over. A guarantee counts with the whole loss and delta that it allows each pair."""
        if not is_whole(times):
            raise ParameterError(f"a release happens a whole number of times, not {type(times).__name__}.")
        times = int(times)
        if times < 0 or times > MOST_RELEASES:
            shown = times if times < 0 else "more than 2^53"
            raise ParameterError(f"a release happens 0 or more times, not {shown}.")
        if isinstance(release, ContextAware):
            raise ParameterError(NO_BUDGET)
        if not isinstance(release, (Channel, Guarantee)):
            raise ParameterError(f"an accountant adds a Channel or a Guarantee, not {type(release).__name__}.")
        if isinstance(release, Channel):
            if release.inputs != self.inputs:
                raise ChannelError("the release must have the accountant's secrets, in the same order.")
            losses, deltas = release.directed(), np.zeros(self._deltas.shape)
        else:
            apart, place = np.unique(release.metric.matrix(self.inputs), return_inverse=True)
            bounds = [release.bound(distance) for distance in apart.tolist()]
            # Where nothing is guaranteed, the loss is infinite and needs no delta.
            extra = [0.0 if math.isinf(b) else release.delta_at(d) for b, d in zip(bounds, apart.tolist(), strict=True)]
            sums = [float_up(times * (Fraction(delta) + Fraction(release.seed_failure))) for delta in extra]
            losses, deltas = (np.array(found)[place].reshape(self._deltas.shape) for found in (bounds, sums))
        if times:
            with np.errstate(over="ignore"):
                self._directed = self._directed + times * losses
        self._deltas = np.minimum(_sum_up(self._deltas, deltas), 1.0)
        if times and isinstance(release, Guarantee):
            self.conditions = all_of(self.conditions, release.conditions)
        self.releases += times
        return self

    def distinguishability(self) -> Floats:
        """The loss of everything added so far, for every pair of secrets, rounded up."""
        both = np.maximum(self._directed, self._directed.T)
        # Each addition rounds by at most half a unit, and a directed loss carries a few units of its own.
        with np.errstate(over="ignore"):
            return np.where(both == 0, 0.0, both * (1 + (self.releases + 8) * 2.0**-52))

    def epsilon(self, metric: Metric | None = None) -> Audit:
        """The smallest epsilon of everything added so far, and the pair that needs it."""
        metric = as_metric(metric, Discrete())
        distances = metric.matrix(self.inputs)
        losses = self.distinguishability()
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratios = np.where((losses == 0) | np.isinf(distances), 0.0, losses / distances)
        first, second = (int(i) for i in np.unravel_index(int(ratios.argmax()), ratios.shape))
        value = float(ratios[first, second])
        delta = float(self._deltas[np.isfinite(distances)].max())
        pair = (self.inputs[first], self.inputs[second]) if value else None
        if value and math.isfinite(value):
            value = math.nextafter(value, math.inf)
        return Audit(value, metric, pair, None, None, delta)

    def guarantee(self, metric: Metric | None = None) -> Guarantee:
        """Return the guarantee of everything added so far."""
        audit = self.epsilon(metric)
        if math.isinf(audit.value):
            raise ParameterError(
                "nothing can be promised: two secrets can be told apart for certain, or are too far apart for what was added."
            )
        return Guarantee(audit.value, audit.metric, audit.delta, conditions=self.conditions)


def _sum_up(first: Floats, second: Floats) -> Floats:
    """Return sums rounded up: Knuth's two-sum gives the error of each float sum."""
    total = first + second
    part = total - first
    rest = (first - (total - part)) + (second - part)
    return np.where(rest > 0, np.nextafter(total, np.inf), total)
