r"""Extended privacy of a finite channel, pair by pair: how much delta is needed where each pair is allowed a loss of its own.

A channel is ``(xi, delta)``-XDP if :math:`A(x)(S) \le e^{\xi(x, x')} A(x')(S) + \delta(x, x')` for all secrets and all sets of
outputs. The smallest delta of a pair is :math:`\sum_y \max(0, P_y - e^\xi Q_y)`. With a public seed, the channel is the one that
puts out the seed as well.

>>> bit = Channel([[0.75, 0.25], [0.25, 0.75]])
>>> needed_deltas(bit, [[0, 1], [0.5, 0]]).round(4).tolist()
[[0.0, 0.0704], [0.3378, 0.0]]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from noisewright.core.arrays import Floats
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import ParameterError

__all__ = ["needed_deltas"]


def needed_deltas(channel: Channel, losses: ArrayLike) -> Floats:
    """Return for every ordered pair of secrets (row, column) the smallest delta at the loss that is allowed to it."""
    allowed = np.asarray(losses, dtype=np.float64)
    count = len(channel.inputs)
    if allowed.shape != (count, count) or not (allowed >= 0).all():
        raise ParameterError(f"give a loss from 0 on for every ordered pair of {count} secrets, as a square table.")
    result = np.zeros((count, count))
    with np.errstate(over="ignore", invalid="ignore"):
        for row, (law, factors) in enumerate(zip(channel.matrix, np.exp(allowed), strict=True)):
            others = np.where(channel.matrix > 0, factors[:, None] * channel.matrix, 0.0)  # 0 times infinity is 0
            result[row] = np.maximum(law - others, 0).sum(axis=1)
    return result
