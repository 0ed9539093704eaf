r"""A channel whose distinguishability metric *is* a given metric.

Outputs are the secrets and one extra symbol: ``C[x,y] = (share/n) e^(-epsilon d(x,y))`` for ``y`` among the secrets, and
the rest of the row on the extra symbol. For ``share`` at most 1/2 two rows differ by exactly ``epsilon d``, whatever the
metric (extended and pseudo-metrics included). Its utility is poor by design: it shows that every metric can be realised,
and is a fallback where no better mechanism is known.

**Guarantee.** ``epsilon`` for the metric, exactly, and no less: certified as an integer table.

>>> from noisewright.core.metrics.metric import Euclidean
>>> square = metric_realising([(0, 0), (0, 1), (1, 0), (1, 1)], epsilon=1, metric=Euclidean())
>>> bool(np.allclose(square.channel().distinguishability(), Euclidean().matrix(square.certified.inputs)))
True

Reference: Fernandes, *Differential privacy for metric spaces* (2021), with the constant improved from 1/e to 1/2.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Annotated

import numpy as np

from noisewright.core.channels.certified import check_budget
from noisewright.core.channels.channel import Channel
from noisewright.core.choices import is_number
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, as_fraction, in_words
from noisewright.core.labels import as_labels
from noisewright.core.loading.parameters import EPSILON, METRIC, POINTS, Parameter
from noisewright.core.mechanism import Takes
from noisewright.core.metrics.metric import Metric, as_metric
from noisewright.mechanisms.categories.finite import FiniteMechanism, closest, log_weights
from noisewright.mechanisms.label_columns import EXTRA, check_dense
from noisewright.mechanisms.registry import Entry

__all__ = ["metric_realising", "realising_channel"]

SHARE = Parameter(
    "Probability that goes to the points themselves, at most 1/2; the rest goes to an extra output.", "share = 0.5"
)


def metric_realising(
    points: Annotated[Iterable[Hashable], POINTS],
    *,
    epsilon: Annotated[Exact, EPSILON],
    metric: Annotated[Metric, METRIC],
    share: Annotated[float, SHARE] = 0.5,
) -> FiniteMechanism:
    """The mechanism on ``points`` whose own metric is ``epsilon`` times ``metric``; ``"*"`` is the extra output."""
    names, metric = as_labels(points, "points"), as_metric(metric)
    budget = check_budget(epsilon, closest(metric, names))
    channel = realising_channel(names, float(budget), metric, share)
    return FiniteMechanism(channel.certify(budget, metric), "metric-realising", {"share": share})


def realising_channel(points: Iterable[Hashable], epsilon: float, metric: Metric, share: float = 0.5) -> Channel:
    """The channel itself, in floats."""
    names, metric = as_labels(points, "points"), as_metric(metric)
    if not names:
        raise ParameterError("the metric-realising mechanism needs at least one point.")
    check_dense(len(names))
    if not is_number(share):
        raise ParameterError(f"share must be a number above 0 and at most 1/2, not {type(share).__name__}.")
    if not 0 < (given := as_fraction(share, "share")) <= Fraction(1, 2):
        raise ParameterError(
            f"share must be above 0 and at most 1/2, not {in_words(given)}; beyond 1/2 the guarantee can fail."
        )
    if EXTRA in names:
        raise ParameterError(f"{EXTRA!r} is the name of the extra output, so it cannot be a point; rename that point.")
    logs = math.log(float(share)) - math.log(len(names)) + log_weights(epsilon, metric.matrix(names))
    rest = np.log1p(-np.exp(logs).sum(axis=1, keepdims=True))
    return Channel.from_logs(np.hstack([logs, rest]), names, [*names, EXTRA])


ENTRY = Entry(
    "metric-realising",
    metric_realising,
    Takes("category", parts=None, form="arrow", secrets="points", metric=True),
    summary="realises any finite metric exactly",
    words="points",
)
