r"""The uniform responder: any of the outputs with equal probability, whatever the secret. A baseline that reveals
nothing.

**Guarantee.** ``epsilon = 0``: all secrets look exactly alike. What it gets wrong is what any mechanism has to beat.

>>> guess = uniform(11)
>>> guess.guarantee.epsilon, round(float(guess.channel().matrix[0, 0]), 4)
(0.0, 0.0909)
>>> guess.error()  # at worst, for the counts 0 and 10
5.0
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import ParameterError
from noisewright.core.guarantee import Guarantee
from noisewright.core.loading.parameters import POINTS
from noisewright.core.mechanism import BaseMechanism, Takes, fields_alone
from noisewright.core.metrics.metric import Discrete
from noisewright.mechanisms.foreign_columns import in_kind
from noisewright.mechanisms.label_columns import Labels, check_dense, counted_labels
from noisewright.mechanisms.losses import expected_loss
from noisewright.mechanisms.registry import Entry
from noisewright.noise.integers import uniform_below

__all__ = ["UniformMechanism", "uniform"]


def uniform(points: Annotated[Iterable[Hashable] | int, POINTS]) -> UniformMechanism:
    """The uniform responder over ``points`` (secrets and outputs alike), or over ``0, ..., points - 1``."""
    names = counted_labels(points, "the outputs of the uniform responder")
    if not names or len(set(names)) < len(names):
        raise ParameterError("the uniform responder needs one or more outputs, all different.")
    return UniformMechanism(names)


@dataclass(frozen=True)
class UniformMechanism(BaseMechanism):
    """A uniform choice among ``points``; build it with :func:`uniform`."""

    name = "uniform"

    points: tuple[Hashable, ...]

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of epsilon 0: outputs reveal nothing."""
        return Guarantee(0.0, Discrete())

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One exact draw for every value; the values are checked and then forgotten."""
        codes, form = self._labels.encode(values)
        return self._labels.decode(np.asarray(uniform_below(len(self.points), codes.shape, rng), dtype=np.intp), form)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The output does not depend on the secret."""
        return Certificate.build(
            mechanism=self.name,
            epsilon=Fraction(0),
            metric=str(self.guarantee.metric),
            distances={"shape": "uniform", "distance": "1"},
            proof={"kind": "constant", "outputs": len(self.points)},
            simulated=rng is not None,
        )

    def error(self, loss: str = "absolute") -> float:
        """The expected loss for the secret where it is largest."""
        return expected_loss(self.channel(), loss)

    def channel(self) -> Channel:
        """All rows alike."""
        size = len(self.points)
        check_dense(size)
        return Channel(np.full((size, size), 1 / size), self.points, self.points)

    @cached_property
    def _labels(self) -> Labels:
        return Labels(self.points)

    __getstate__ = fields_alone


ENTRY = Entry(
    "uniform",
    uniform,
    Takes("category", parts=None, form="arrow", budget="none", secrets="points"),
    summary="any output with equal probability: the baseline",
    words="categories",
)
