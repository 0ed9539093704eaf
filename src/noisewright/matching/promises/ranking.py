r"""Probability of finding a neighbour: the probability that a noisy code puts the nearer of two profiles first, in
closed form.

Someone at angle (or another probability of a different hash) ``near`` from the one who asks, someone else at ``far``,
and ``between`` from each other; all three send noisy codes. For each bit let ``a`` be whether the codes of asker and
neighbour differ, and ``b`` the same for the other one. Hashes are bits, so that the probability that both differ is
(near + far - between) / 2, and the noise of three independent flips follows. The neighbour is put first if its sum of
``a`` is below that of ``b``, and, among equals, half of the time: a law of independent steps -1, 0 and 1, which is
computed exactly.

>>> round(ranked_first(0.1, 0.5, bits=128, epsilon=1), 4), round(ranked_first(0.1, 0.5, bits=16, epsilon=0), 4)
(0.9151, 0.5)
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact
from noisewright.matching.hashing.scheme import checked_bits, checked_epsilon
from noisewright.matching.promises.loss_law import checked_distance, sum_law

__all__ = ["ranked_first"]


def ranked_first(near: float, far: float, *, bits: int, epsilon: Exact, between: float | None = None) -> float:
    """The probability that who is ``near`` comes before who is ``far``; ``between`` the two is ``far`` where it is not given."""
    close, away = checked_distance(near, "near"), checked_distance(far, "far")
    third = away if between is None else checked_distance(between, "between")
    if not abs(close - away) - 1e-12 <= third <= min(close + away, 2 - close - away) + 1e-12:
        raise ParameterError(
            "no three profiles are so far apart: between is at least the difference of near and far and at most their sum, and "
            "the three are at most 2 together."
        )
    flip = 1 / (1 + math.exp(float(checked_epsilon(epsilon))))
    both = max(0.0, (close + away - third) / 2)
    hashed = {(1, 1): both, (1, 0): max(0.0, close - both), (0, 1): max(0.0, away - both)}
    hashed[0, 0] = max(0.0, 1 - sum(hashed.values()))
    steps = np.zeros(3)
    for (a, b), chance in hashed.items():
        for flips in itertools.product((0, 1), repeat=3):
            weight = math.prod(flip if flipped else 1 - flip for flipped in flips)
            steps[1 + (a ^ flips[0] ^ flips[1]) - (b ^ flips[0] ^ flips[2])] += chance * weight
    law, middle = sum_law(steps, checked_bits(bits)), bits
    return float(law[:middle].sum() + law[middle] / 2)
