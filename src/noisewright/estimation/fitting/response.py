r"""The most likely population behind randomised response, in closed form.

With probability ``other + lift`` for the truth and ``other`` for each other value, let ``t = other / lift``. The most likely
population for shares ``q`` of the reports is

.. math:: p_j = \max(0,\; q_j/\lambda - t), \qquad \text{with } \lambda \text{ such that } \sum_j p_j = 1 .

Sorted with the largest share first, :math:`\lambda_k = (q_{(1)} + \dots + q_{(k)}) / (1 + k t)`, and ``k`` is the
largest number with :math:`q_{(k)} > t \lambda_k`. Therefore it takes a sort, where iterations would take tens of
thousands of steps.

>>> import numpy as np
>>> response_mle(np.array([0.9, 0.1]), other=1/3, lift=1/3).tolist()
[1.0, 0.0]
>>> response_mle(np.array([0.6, 0.4]), other=1/3, lift=1/3).round(12).tolist()
[0.8, 0.2]
"""

from __future__ import annotations

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.errors import ParameterError
from noisewright.estimation.operators.inverses import SINGULAR

__all__ = ["response_mle"]


def response_mle(q: Floats, *, other: float, lift: float) -> Floats:
    """The most likely population for shares ``q``; further axes in front are a batch."""
    if not lift > 0:
        raise ParameterError(SINGULAR)
    t = other / lift
    falling = -np.sort(-q, axis=-1)
    k = np.arange(1, q.shape[-1] + 1)
    levels = np.cumsum(falling, axis=-1) / (1 + k * t)
    count = (falling > t * levels).sum(axis=-1, keepdims=True)  # true for the first ones, then false
    level = np.take_along_axis(levels, count - 1, axis=-1)
    found = np.maximum(q / level - t, 0.0)
    return np.asarray(found / found.sum(axis=-1, keepdims=True))
