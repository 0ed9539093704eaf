r"""The composition accountant: what several releases about one secret cost together.

Losses of independent (or adaptively chosen) releases add. Adding the symmetric losses ``d_C`` is safe but may say too much:
the worst output of one release may speak for ``x`` and that of the next for ``x'``. The accountant adds *directed* losses
``max_y ln C[x,y]/C[x',y]`` and symmetrises once, at the end, which is exactly the loss of the product channel without
building it.

>>> from noisewright.core.channel import Channel
>>> first = Channel([[0.8, 0.2], [0.4, 0.6]])
>>> second = Channel([[0.6, 0.4], [0.2, 0.8]])
>>> account = Accountant([0, 1]).add(first).add(second)
>>> round(account.epsilon().value, 6), round(first.epsilon().value + second.epsilon().value, 6)
(1.791759, 2.197225)
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noisewright.core.audit import Audit
from noisewright.core.channel import Channel
from noisewright.core.errors import ChannelError, ParameterError
from noisewright.core.exact import float_up
from noisewright.core.guarantee import Guarantee
from noisewright.core.labels import as_labels
from noisewright.core.metric import Discrete, Metric, as_metric

__all__ = ["Accountant"]

Floats = NDArray[np.float64]

MOST_RELEASES = 2**53
"""More releases than this are not counted at once: floats would not hold the number."""


class Accountant:
    """Adds up what releases about the same secrets reveal; ``add`` takes channels or stated guarantees."""

    def __init__(self, inputs: Iterable[Hashable]) -> None:
        self.inputs = as_labels(inputs, "the secrets of an accountant")
        if not self.inputs:
            raise ParameterError("an accountant needs at least one secret.")
        self.delta = 0.0
        self.releases = 0
        self._directed: Floats = np.zeros((len(self.inputs),) * 2)

    def add(self, release: Channel | Guarantee, times: int = 1) -> Accountant:
        """Account for a release, ``times`` over. A guarantee counts with the whole loss that it allows."""
        if isinstance(times, bool) or not isinstance(times, numbers.Integral):
            raise ParameterError(f"a release happens a whole number of times, not {type(times).__name__}.")
        times = int(times)
        if times < 0 or times > MOST_RELEASES:
            shown = times if times < 0 else "more than 2^53"
            raise ParameterError(f"a release happens 0 or more times, not {shown}.")
        if not isinstance(release, (Channel, Guarantee)):
            raise ParameterError(f"an accountant adds a Channel or a Guarantee, not {type(release).__name__}.")
        if isinstance(release, Channel):
            if release.inputs != self.inputs:
                raise ChannelError("the release must have the accountant's secrets, in the same order.")
            losses, delta = release.directed(), 0.0
        else:
            distances = release.metric.matrix(self.inputs)
            losses = np.vectorize(release.bound, otypes=[np.float64])(distances)
            delta = float_up(Fraction(release.delta) + Fraction(release.seed_failure))
        if times:
            with np.errstate(over="ignore"):
                self._directed = self._directed + times * losses
        self.delta = min(1.0, float_up(Fraction(self.delta) + times * Fraction(delta)))
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
        pair = (self.inputs[first], self.inputs[second]) if value else None
        if value and math.isfinite(value):
            value = math.nextafter(value, math.inf)
        return Audit(value, metric, pair, None, None, self.delta)

    def guarantee(self, metric: Metric | None = None) -> Guarantee:
        """What may be promised about everything added so far."""
        audit = self.epsilon(metric)
        return Guarantee(audit.value, audit.metric, self.delta)
