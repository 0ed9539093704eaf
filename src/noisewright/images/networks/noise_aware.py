r"""Noise while a network learns, so that its decoder has seen noisy codes before it is given one.

Noise needs the principal components of codes, and these need the encoder, which changes. Therefore the first epoch is
without noise; at the start of every other one, components, ranges and spreads are found again from the codes of all
public faces. Every batch has an epsilon of its own, drawn evenly from 100 to 1000, and the number of components that
:func:`~noisewright.images.faces.counting.component_count` gives for ``alpha`` = 1.3: more noise than in use, where it
is 0.9. Floats are good enough here: the faces are public.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.errors import ParameterError
from noisewright.images.faces.counting import component_count
from noisewright.images.faces.models.basis import Basis
from noisewright.images.networks._torch import Tensor, float_tensor, torch

__all__ = ["TrainingNoise"]

ALPHA = 1.3
EPSILONS = (100.0, 1000.0)


class TrainingNoise:
    """Laplace noise on the leading principal components of codes; the others become their mean."""

    def __init__(self, codes: Floats, device: Any = None) -> None:
        self._basis = found = Basis.fit(codes)
        self._mean, self._directions, self._low, self._high = (
            float_tensor(array, device) for array in (found.mean, found.directions, found.low, found.high)
        )

    def components(self, epsilon: float) -> int:
        """Return how many components are kept at an epsilon: at least one."""
        try:
            return component_count(self._basis.spreads, self._basis.ranges, epsilon=str(epsilon), alpha=ALPHA)
        except ParameterError:
            return 1

    def __call__(self, codes: Tensor, rng: np.random.Generator) -> Tensor:
        """Codes of a batch with noise; what an encoder can do against it is learned through it."""
        epsilon = round(float(rng.uniform(*EPSILONS)), 3)
        kept = self.components(epsilon)
        low, high, directions = self._low[:kept], self._high[:kept], self._directions[:kept]
        places = torch.clamp((codes - self._mean) @ directions.T, low, high)
        noise = float_tensor(rng.laplace(size=(len(codes), kept)) * kept / epsilon, codes.device) * (high - low)
        return torch.clamp(places + noise, low, high) @ directions + self._mean
