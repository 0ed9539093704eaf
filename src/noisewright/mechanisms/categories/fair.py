r"""The explicit fair mechanism on counts: every secret keeps its own value with the same probability.

For counts ``0..n`` with ``a = e^-epsilon``, ``d = |y - x|`` and ``r = min(x, n - x)`` (the length of the shorter side)
the probability of output ``y`` is ``c a^d`` for ``d < r`` and ``c a^ceil((d + r)/2)`` otherwise: beyond the shorter
side the weights of both sides are laid out on the longer one, two to a level. All rows then have the same weights in
another order, so the diagonal ``c`` is the same for every secret (*fair*), and

.. math:: c = \frac{1 - a}{1 + a - 2 a^{n/2 + 1}} \ (n \text{ even}), \qquad
          c = \frac{1 - a}{1 + a - a^{(n+1)/2} - a^{(n+3)/2}} \ (n \text{ odd}).

**Guarantee.** ``epsilon`` for each unit of the line, exactly, for all pairs: the exponents of neighbours differ by at
most one, and the channel is certified as an integer table.

>>> votes = explicit_fair(epsilon="0.5", within=(0, 5))
>>> sorted({round(float(p), 6) for p in votes.channel().matrix.diagonal()})
[0.315263]

It costs accuracy against the truncated geometric; use it where an unequal chance of keeping the truth would be unfair.

Reference: Cormode, Kulkarni and Srivastava, *Constrained differential privacy for count data* (2018).
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from noisewright.core.channels.certified import check_budget
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact
from noisewright.core.loading.parameters import EPSILON, WITHIN
from noisewright.core.mechanism import Takes
from noisewright.core.metrics.metric import Line
from noisewright.mechanisms.categories.finite import FiniteMechanism
from noisewright.mechanisms.numbers.geometric import check_range
from noisewright.mechanisms.registry import Entry

__all__ = ["explicit_fair", "explicit_fair_channel"]

LARGEST = 500
"""More counts than this would make a certificate of many megabytes."""


def explicit_fair(*, epsilon: Annotated[Exact, EPSILON], within: Annotated[tuple[int, int], WITHIN]) -> FiniteMechanism:
    """The explicit fair mechanism on the integers from ``within[0]`` to ``within[1]``."""
    budget = check_budget(epsilon)
    low, high = check_range(within)
    if high - low > LARGEST:
        raise ParameterError(
            f"the explicit fair mechanism is certified as a table of at most {LARGEST + 1} counts, not {high - low + 1}; "
            "use the geometric mechanism for wider ranges."
        )
    channel = explicit_fair_channel(float(budget), high - low)
    shifted = Channel.from_logs(channel.logs, range(low, high + 1), range(low, high + 1))
    return FiniteMechanism(shifted.certify(budget, Line()), "explicit-fair")


def explicit_fair_channel(epsilon: float, n: int) -> Channel:
    """The channel on ``0..n`` in floats."""
    places = np.arange(n + 1)
    apart = np.abs(places[:, None] - places[None, :])
    room = np.minimum(places, n - places)[:, None]
    level = np.where(apart < room, apart, (apart + room + 1) // 2)
    # The weights of every row are 1, then a = e^-epsilon twice, a^2 twice, ...; with an even number of outputs the last one
    # comes once.
    return Channel.from_logs(-epsilon * level - math.log(np.exp(-epsilon * level[0]).sum()))


ENTRY = Entry(
    "explicit-fair",
    explicit_fair,
    Takes("integer", within=True),
    summary="every count keeps its value equally often",
    words="counts",
)
