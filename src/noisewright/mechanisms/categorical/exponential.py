r"""The exponential mechanism on a finite metric space, calibrated to the epsilon it really has.

``E[x,y]`` is proportional to ``e^(-t d(x,y) / 2)``. The textbook guarantee is ``t``; because the normaliser changes
little between near secrets the true one lies between ``t/2`` and ``t``. This constructor finds the largest ``t`` whose
*true* epsilon is the requested one, so the same guarantee costs less noise.

**Guarantee.** ``epsilon`` for the metric, exactly, for all pairs: the calibrated channel is certified as an integer table.

>>> rating = exponential(range(5), epsilon=1, metric=Line())
>>> rating.parameters["nominal"] > 1.5  # the textbook would have used 1
True

Reference: McSherry and Talwar, *Mechanism design via differential privacy* (2007).

Outputs are the secrets and one extra symbol: ``C[x,y] = (share/n) e^(-epsilon d(x,y))`` for ``y`` among the secrets, and
the rest of the row on the extra symbol. For ``share`` at most 1/2 two rows differ by exactly ``epsilon d``, whatever the
metric (extended and pseudo-metrics included). Its utility is poor by design: it shows that every metric can be realised,
and is a fallback where no better mechanism is known.

**Guarantee.** ``epsilon`` for the metric, exactly, and no less: certified as an integer table.

>>> from noisewright.metrics.base import Euclidean
>>> square = metric_realising([(0, 0), (0, 1), (1, 0), (1, 1)], epsilon=1, metric=Euclidean())
>>> bool(np.allclose(square.channel().distinguishability(), Euclidean().matrix(square.certified.inputs)))
True

Reference: Fernandes, *Differential privacy for metric spaces* (2021), with the constant improved from 1/e to 1/2.

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

**Guarantee.** ``epsilon = 0``: all secrets look exactly alike. What it gets wrong is what any mechanism has to beat.

>>> guess = uniform(11)
>>> guess.guarantee.epsilon, round(float(guess.channel().matrix[0, 0]), 4)
(0.0, 0.0909)
>>> guess.error()  # at worst, for the counts 0 and 10
5.0
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from noisewright._utils.validation import fields_alone, guided, is_number
from noisewright.base import EPSILON, METRIC, POINTS, WITHIN, BaseMechanism, Entry, Parameter, Takes, expected_loss
from noisewright.certificates.certificate import Certificate
from noisewright.channels.channel import Channel
from noisewright.channels.integer_table import check_budget
from noisewright.claims.figures import float_down
from noisewright.columns.adapters import in_kind
from noisewright.columns.label_encoder import EXTRA, Labels, check_dense, counted_labels
from noisewright.exceptions import ParameterError
from noisewright.guarantees import Guarantee
from noisewright.mechanisms.categorical.base import FiniteMechanism, closest, log_weights
from noisewright.mechanisms.numeric.geometric import check_range
from noisewright.metrics.base import Discrete, Line, Metric, as_labels, as_metric
from noisewright.numerics.exact import Exact, as_fraction, in_words
from noisewright.sampling.random_bits import uniform_below

__all__ = [
    "UniformMechanism",
    "explicit_fair",
    "explicit_fair_channel",
    "exponential",
    "exponential_channel",
    "metric_realising",
    "realising_channel",
    "uniform",
]


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


EXPONENTIAL = Entry(
    "exponential",
    exponential,
    Takes("category", parts=None, form="arrow", secrets="points", metric=True),
    summary="near outputs likelier, calibrated to its true epsilon",
    words="points",
)


# Realising ----------------------------------------------------------------------------------------------------------------
#
# A channel whose distinguishability metric *is* a given metric.


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


METRIC_REALISING = Entry(
    "metric-realising",
    metric_realising,
    Takes("category", parts=None, form="arrow", secrets="points", metric=True),
    summary="realises any finite metric exactly",
    words="points",
)


# Fair ---------------------------------------------------------------------------------------------------------------------
#
# The explicit fair mechanism on counts: every secret keeps its own value with the same probability.


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


EXPLICIT_FAIR = Entry(
    "explicit-fair",
    explicit_fair,
    Takes("integer", within=True),
    summary="every count keeps its value equally often",
    words="counts",
)


# Uniform ------------------------------------------------------------------------------------------------------------------
#
# The uniform responder: any of the outputs with equal probability, whatever the secret. A baseline that reveals
# nothing.


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


UNIFORM = Entry(
    "uniform",
    uniform,
    Takes("category", parts=None, form="arrow", budget="none", secrets="points"),
    summary="any output with equal probability: the baseline",
    words="categories",
)
