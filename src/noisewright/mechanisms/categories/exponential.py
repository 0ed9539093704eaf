r"""The exponential mechanism on a finite metric space, calibrated to the epsilon it really has.

``E[x,y]`` is proportional to ``e^(-t d(x,y) / 2)``. The textbook guarantee is ``t``; because the normaliser changes
little between near secrets the true one lies between ``t/2`` and ``t``. This constructor finds the largest ``t`` whose
*true* epsilon is the requested one, so the same guarantee costs less noise.

**Guarantee.** ``epsilon`` for the metric, exactly, for all pairs: the calibrated channel is certified as an integer table.

>>> rating = exponential(range(5), epsilon=1, metric=Line())
>>> rating.parameters["nominal"] > 1.5  # the textbook would have used 1
True

Reference: McSherry and Talwar, *Mechanism design via differential privacy* (2007).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Annotated

import numpy as np

from noisewright.core.channels.certified import check_budget
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, float_down
from noisewright.core.labels import as_labels
from noisewright.core.loading.guided import guided
from noisewright.core.loading.parameters import EPSILON, METRIC, POINTS
from noisewright.core.mechanism import Takes
from noisewright.core.metrics.metric import Line, Metric, as_metric
from noisewright.mechanisms.categories.finite import FiniteMechanism, closest, log_weights
from noisewright.mechanisms.label_columns import check_dense
from noisewright.mechanisms.registry import Entry

__all__ = ["exponential", "exponential_channel"]


@guided
def exponential(
    points: Annotated[Iterable[Hashable], POINTS],
    *,
    epsilon: Annotated[Exact, EPSILON],
    metric: Annotated[Metric | None, METRIC] = None,
) -> FiniteMechanism:
    """The exponential mechanism over ``points`` (secrets and outputs alike) with true epsilon ``epsilon``."""
    names, metric = as_labels(points, "points"), as_metric(metric, Line())
    if len(names) < 2:
        raise ParameterError(f"the exponential mechanism needs at least 2 points, not {len(names)}.")
    check_dense(len(names))
    distances = metric.matrix(names)
    if not np.isfinite(distances).all():
        raise ParameterError("the exponential mechanism needs finite distances between all points.")
    budget = check_budget(epsilon, closest(metric, names))
    target = float_down(budget)
    # The true epsilon of nominal t lies in [t/2, t], so t lies in [target, 2 target]; keep the private end of a bisection.
    low, high = target, 2 * target
    for _ in range(60):
        middle = (low + high) / 2
        if exponential_channel(names, middle, metric).epsilon(metric).value <= target:
            low = middle
        else:
            high = middle
    certified = exponential_channel(names, low, metric).certify(budget, metric)
    return FiniteMechanism(certified, "exponential", {"nominal": low})


def exponential_channel(points: Iterable[Hashable], nominal: float, metric: Metric) -> Channel:
    """The channel with weights ``e^(-nominal d / 2)``."""
    from scipy.special import logsumexp

    names = tuple(points)
    logs = log_weights(nominal / 2, metric.matrix(names))
    return Channel.from_logs(logs - logsumexp(logs, axis=1, keepdims=True), names, names)


ENTRY = Entry(
    "exponential",
    exponential,
    Takes("category", parts=None, form="arrow", secrets="points", metric=True),
    summary="near outputs likelier, calibrated to its true epsilon",
    words="points",
)
