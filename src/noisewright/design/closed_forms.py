"""Mechanisms that theory proves to be the best, each with the conditions of its theorem, tested before it is used.

====================  =======================================================================================
constant answer       a loss with one action that is nowhere worse: no output helps
two secrets           ``T = [[e^D, 1], [1, e^D]] / (1 + e^D)`` is best for every loss and every prior
truncated geometric   on an evenly spaced line, for monotone losses and every prior (Ghosh, Roughgarden and
                      Sundararajan 2009); for other losses and spacings where a dual solution proves it
randomised response   one distance for all pairs: zero-one loss at the uniform prior (Kairouz, Oh and Viswanath
                      2014); for other losses and priors where a dual solution proves it
two-output response   one distance for all pairs and two actions: best at every prior (proof below)
layered geometric     a loss that concerns only a chain of a larger space: the geometric of the distance from
                      the chain's end
====================  =======================================================================================

*Two actions, one distance.* Only the probability ``p_x`` of the first action counts, and
``k_x = pi_x (L[0,x] - L[1,x])``: the cost is ``sum k_x p_x`` and a constant. Let ``S`` be where ``k < 0``, ``h`` the
largest ``p`` in ``S`` and ``l`` the smallest outside. The cost is at least ``-K_S h + K_R l`` with ``K`` the sums of
``|k|``, privacy asks ``h <= e^D l`` and ``1 - l <= e^D (1 - h)``, and the corners of that region are ``(0,0)``,
``(1,1)`` and ``T``'s. All three are remaps of the response that distinguishes ``S`` from the rest by ``T``.

Every entry takes a :class:`Setting` and answers with a :class:`Found`, or None where its conditions do not hold.

With ``m`` categories and ``q = e^epsilon`` every other category is reported with probability ``p = (1 - delta)/(q + m
- 1)`` and the truth with ``(q + (m-1) delta)/(q + m - 1)``, which is ``q p + delta``. It is the same as revealing the
truth with probability ``delta`` and running plain randomised response otherwise.

**Guarantee.** ``(epsilon, delta)`` for the discrete metric, exactly: both probabilities are integers over a power of
two, and ``keep <= q other + delta`` is proved in integers when it is built. Only the truth itself is too likely, so
that one comparison covers every set of outputs.

**Optimality.** No ``(epsilon, delta)`` mechanism with outputs among the categories lies less often, neither for the
worst category nor on average over all; nor does any mechanism for a whole table change fewer of its entries: ``A[i,i]
<= q A[k,i] + delta`` summed over all ``i != k`` gives ``mean A[i,i] <= (q + (m-1) delta)/(q + m - 1)``. Equality
forces every one of those inequalities, so it is the only one. For other losses than right or wrong see
:meth:`noisewright.design.polytopes.enumeration.LocalPolytope.best`.

>>> answer = optimal_response(["a", "b", "c", "d"], epsilon="0.6931471805599453094", delta="0.1")
>>> round(answer.error(), 12), round(float(answer.lie_probability), 12)
(0.54, 0.18)
>>> answer.gap < 1e-15, str(answer.guarantee)
(True, 'epsilon = 0.693148 per unit of discrete, delta = 0.1')

Reference: Holohan, Leith and Mason, *Differential privacy in metric spaces* (2015); Kairouz, Oh and Viswanath (2014)
for ``delta = 0``.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats, Indices
from noisewright.certificates.certificate import Certificate
from noisewright.channels.channel import Channel
from noisewright.channels.integer_table import LARGEST_EPSILON
from noisewright.claims.figures import exp_bounds
from noisewright.columns.adapters import in_kind
from noisewright.design.geometric import ACCEPTED, FEW, LineKernel, Moments, monotone_remap
from noisewright.design.loss import Displacement, Loss
from noisewright.design.named_losses import is_monotone
from noisewright.design.solver import floored
from noisewright.exceptions import GuaranteeError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.mechanisms.categorical.base import OverCategories, discrete_certificate, distinct_categories
from noisewright.mechanisms.categorical.randomised_response import (
    draw_response,
    response_channel,
    response_error,
    response_proof,
)
from noisewright.metrics.base import Discrete, Metric, encode_label
from noisewright.metrics.distances import Distances, LineDistances, UniformDistances
from noisewright.numerics.exact import Exact, as_fraction, in_words

__all__ = [
    "CONJECTURE",
    "PRICES",
    "THEOREM",
    "Found",
    "LineSource",
    "OptimalResponse",
    "Setting",
    "best_known",
    "line_steps",
    "optimal_response",
]


THEOREM, PRICES, CONJECTURE = "a theorem", "a dual solution at this prior, in floats", "a conjecture"

PRICED = "a dual solution bounds what any other could save at this prior"

NEARLY = 1e-9
"""Steps of a line that differ by less than this, relatively, are even up to the rounding of the points."""

RISING = "for a loss that rises with the distance on an evenly spaced line it is best at every prior"

LARGEST_TABLE = 250_000
"""Closed forms that need an integer table are not used for more entries than this."""

LARGEST_TEST = 8_000_000
"""The dual test is run on loss matrices of at most this many entries."""

SMALL = 60
"""Up to this many secrets and actions the class of a loss is searched for, to name the theorem."""


@dataclass(frozen=True)
class Setting:
    """One design problem."""

    secrets: tuple[Hashable, ...]
    metric: Metric
    distances: Distances
    epsilon: Fraction
    prior: Floats
    loss: Loss

    @cached_property
    def size(self) -> int:
        """Secrets times actions."""
        return len(self.secrets) * len(self.loss.actions)


@dataclass(frozen=True)
class LineSource:
    """The geometric over ``count`` evenly spaced places with exact ``step``; ``rank[x]`` is the place of secret
    ``x``.
    """

    rank: Indices
    step: Fraction
    count: int


@dataclass(frozen=True)
class Found:
    """A mechanism with its expected loss, a lower bound for all others, and the reason.

    ``logs`` are log-probabilities of actions by secret; or ``line`` (a geometric) or ``response`` (randomised
    response) is drawn from and its output ``y`` answered with action number ``remap[y]``.
    """

    name: str
    reason: str
    status: str
    value: float
    bound: float
    remap: Indices
    logs: Floats | None = None
    line: LineSource | None = None
    response: bool = False


def best_known(setting: Setting) -> Found | None:
    """The first closed form whose conditions hold."""
    for form in (_constant, _two_secrets, _geometric, _two_outputs, _response, _layered):
        found = form(setting)
        if found is not None:
            return found
    return None


def _constant(setting: Setting) -> Found | None:
    if setting.size > LARGEST_TABLE or setting.loss.rule is not None:
        return None
    matrix = setting.loss.matrix[:, setting.prior > 0]
    winners = np.flatnonzero((matrix <= matrix.min(axis=0)).all(axis=1))
    if not len(winners):
        return None
    best = int(winners[0])
    logs = np.full((len(setting.secrets), len(setting.loss.actions)), -np.inf)
    logs[:, best] = 0.0
    value = float(setting.loss.matrix[best] @ setting.prior)
    why = f"action {setting.loss.actions[best]!r} is at least as good as any other at every secret that can occur"
    return Found("constant answer", why, THEOREM, value, value, np.array([best]), logs)


def _two_secrets(setting: Setting) -> Found | None:
    apart = setting.distances.between(0, 1) if len(setting.secrets) == 2 else None
    if not apart:
        return None
    loss = float(setting.epsilon * apart)
    stay, leave = -math.log1p(math.exp(-loss)), -loss - math.log1p(math.exp(-loss))
    raw = np.array([[stay, leave], [leave, stay]])
    why = "on two secrets this response is best for every loss and every prior"
    return _remapped(setting, raw, "two-secret response", why, THEOREM)


def _geometric(setting: Setting) -> Found | None:
    distances, n = setting.distances, len(setting.secrets)
    if not isinstance(distances, LineDistances):
        return None
    order, gaps, common = line_steps(distances)
    if not gaps.all():
        return None
    low, high = int(gaps.min()), int(gaps.max())
    per_unit = setting.epsilon / common
    rank = np.empty(n, dtype=np.intp)
    rank[order] = np.arange(n)
    source = LineSource(rank, Fraction(low, common), n)
    if low == high:
        told = _on_line(setting, order, LineKernel(np.full(n - 1, float(per_unit * low))), even=True)
        if told is None:
            return None
        return Found("truncated geometric", told.why, told.status, told.value, told.bound, told.remap, line=source)
    if setting.size > LARGEST_TABLE:
        return _nearly_even(setting, order, source, float(per_unit * low), float(per_unit * high), high / low - 1)
    told = _on_line(setting, order, LineKernel(np.array([float(per_unit * gap) for gap in gaps.tolist()])), even=False)
    if told is None:
        return None
    logs = np.empty((n, len(setting.loss.actions)))
    logs[order] = told.kernel.merged(told.remap, len(setting.loss.actions))
    name = "truncated geometric of uneven steps"
    return Found(name, told.why, told.status, told.value, told.bound, told.remap, logs)


@dataclass(frozen=True)
class _Told:
    """The geometric with its best remap on a line, its cost, and the least cost of any other mechanism."""

    kernel: LineKernel
    remap: Indices
    value: float
    bound: float
    status: str
    why: str


def _on_line(setting: Setting, order: Indices, kernel: LineKernel, even: bool) -> _Told | None:
    loss, n = setting.loss, len(setting.secrets)
    prior, gap = setting.prior[order], 0.0
    rule = loss.rule if even and loss.actions == loss.secrets else None
    if rule is not None and n > FEW:
        # The rule counts in units of the labels; this is one step of the line in that unit.
        unit = abs(float(loss.secrets[order[1]]) - float(loss.secrets[order[0]]))
        low, high = ((p[0], p[1] * unit, p[2] * unit * unit) for p in (rule.below, rule.above))
        remap, costs = monotone_remap(Moments(prior, float(kernel.steps[0])), Displacement(low, high))
        remap = order[remap]
    elif setting.size <= LARGEST_TEST:
        remap, costs = kernel.remap(prior, loss.matrix[:, order])
    else:
        return None
    value = float(kernel.weights @ costs)
    if rule is not None and rule.symmetric:
        return _Told(kernel, remap, value, value, THEOREM, RISING)
    if setting.size > LARGEST_TEST:
        why = "for losses of ordered single crossing it is conjectured to be best, and no counterexample is known"
        return _Told(kernel, remap, value, -math.inf, CONJECTURE, why)
    if even and max(n, len(loss.actions)) <= SMALL and _monotone_on_line(loss, order):
        return _Told(kernel, remap, value, value, THEOREM, RISING)
    gap = kernel.gap(prior, loss.matrix[:, order], costs)
    return None if math.isinf(gap) else _Told(kernel, remap, value, value - gap, PRICES, PRICED)


def _nearly_even(
    setting: Setting, order: Indices, source: LineSource, low: float, high: float, apart: float
) -> Found | None:
    """The geometric of the smallest step, for points such as tenths in floats that are even up to their rounding.

    It is private because no two points are nearer than their number of smallest steps. And a mechanism that is private
    for the points is private for even ones with the largest step, where theory knows the best.
    """
    n = len(setting.secrets)
    if apart > NEARLY or setting.loss.rule is None or setting.loss.actions != setting.loss.secrets:
        return None
    strict, loose = (_on_line(setting, order, LineKernel(np.full(n - 1, step)), even=True) for step in (low, high))
    if strict is None or loose is None:
        return None
    why = f"{strict.why}; the points are even up to {apart:.1g} of a step, and the gap counts what that may cost"
    # Losses are polynomials of degree 2 at most in distances that are off by as much.
    bound = loose.bound if math.isinf(loose.bound) else loose.bound * (1 - 4 * apart) - 1e-15 * strict.value
    return Found(
        "truncated geometric", why, strict.status, strict.value, min(bound, strict.value), strict.remap, line=source
    )


def line_steps(distances: LineDistances) -> tuple[Indices, NDArray[Any], int]:
    """The order of places along a line, and the exact gaps between neighbours as integers over one denominator."""
    common = math.lcm(*{place.denominator for place in distances.places})
    whole = [place.numerator * (common // place.denominator) for place in distances.places]
    small = max(map(abs, whole)) < 2**61
    spots = np.array(whole, dtype=np.int64 if small else object)
    order = np.argsort(spots, kind="stable")
    return order, np.diff(spots[order]), common


def _monotone_on_line(loss: Loss, order: Indices) -> bool:
    spots = np.empty(len(order))
    spots[order] = np.arange(len(order))
    return bool(is_monotone(loss, None, distances=np.abs(spots[:, None] - spots[None, :])))


def _two_outputs(setting: Setting) -> Found | None:
    if not isinstance(setting.distances, UniformDistances) or len(setting.loss.actions) != 2:
        return None
    matrix = setting.loss.matrix
    first = matrix[0] < matrix[1]
    loss = float(setting.epsilon * setting.distances.distance)
    stay, leave = -math.log1p(math.exp(-loss)), -loss - math.log1p(math.exp(-loss))
    raw = np.where(np.stack([first, ~first], axis=1), stay, leave)
    why = "for two actions and one distance between all secrets, telling the two groups of secrets apart is best at every prior"
    return _remapped(setting, raw, "two-output response", why, THEOREM)


def _response(setting: Setting) -> Found | None:
    if not isinstance(setting.distances, UniformDistances):
        return None
    n, loss = len(setting.secrets), setting.loss
    plain = isinstance(setting.metric, Discrete)
    step = float(setting.epsilon * setting.distances.distance)
    a, spread = math.exp(-step), -math.expm1(-step)
    top = 1 / (1 + (n - 1) * a)
    level = float(setting.prior.max())
    known = (
        loss.made.what == "zero-one loss" and loss.actions == loss.secrets and np.ptp(setting.prior) <= 1e-12 * level
    )
    if known:
        remap, gap, value = np.arange(n), 0.0, (n - 1) * a * top
        status, why = THEOREM, "at the uniform prior it reports the truth most often of all mechanisms"
    elif setting.size <= LARGEST_TEST:
        weighted = loss.matrix * setting.prior
        remap, value, gap = _response_remap(weighted, a, spread)
        if math.isinf(gap):
            return None
        status, why = PRICES, PRICED
    else:
        return None
    if plain:
        return Found("randomised response", why, status, value, value - gap, remap, response=True)
    if setting.size > LARGEST_TABLE:
        return None
    raw = np.full((n, n), math.log(top) - step)
    np.fill_diagonal(raw, math.log(top))
    return Found("randomised response", why, status, value, value - gap, remap, _merged(raw, remap, len(loss.actions)))


def _response_remap(weighted: Floats, a: float, spread: float) -> tuple[Indices, float, float]:
    """The best remap of randomised response, its cost, and how much better another mechanism might be (``inf``: surely is).

    The argument is the same as for the line, see :mod:`~noisewright.design.geometric`. Private columns
    have extreme rays with two levels, 1 on a set and ``a`` outside, so the worst set for a row is where it is negative.
    Costs are taken relative to the best constant action, so that a tiny epsilon leaves something of them.
    """
    n = weighted.shape[1]
    totals = weighted.sum(axis=1)
    fixed = int(totals.argmin())
    beyond = totals - totals[fixed]
    beyond[beyond <= 1e-15 * np.abs(totals)] = 0.0
    sums = a * beyond[:, None] + spread * (weighted - weighted[fixed])
    remap = sums.argmin(axis=0)
    saved = float(sums[remap, np.arange(n)].sum()) / (1 + (n - 1) * a)
    # Not the best constant action's cost less the savings: at a large epsilon next to nothing would be left of them.
    value = float((a * totals[remap] + spread * weighted[remap, np.arange(n)]).sum()) / (1 + (n - 1) * a)
    prices = weighted[fixed] + (sums[remap, np.arange(n)] - a * saved) / spread
    rows = weighted - prices
    scale = float(np.abs(rows).max())
    for lowered in (scale * max(1e-14, 4e-16 * n), ACCEPTED * float(np.abs(weighted).max())):
        high = rows + lowered
        if (a * high.sum(axis=1) + spread * np.minimum(high, 0).sum(axis=1) >= 0).all():
            return remap, value, max(0.0, value - float(prices.sum()) + lowered * n)
    return remap, value, math.inf


def _layered(setting: Setting) -> Found | None:
    n, loss, distances = len(setting.secrets), setting.loss, setting.distances
    if setting.size > LARGEST_TABLE or n > 2000:
        return None
    matters = np.flatnonzero((setting.prior > 0) & (np.ptp(loss.matrix, axis=0) > 0))
    if not 2 <= len(matters) < n:
        return None
    far = max(matters.tolist(), key=lambda x: distances.between(int(matters[0]), x) or 0)
    apart = [distances.between(far, x) for x in range(n)]
    chain = sorted(matters.tolist(), key=lambda x: -1 if apart[x] is None else apart[x] or 0)
    step = apart[chain[1]]
    if not step or any(d is None for d in apart):
        return None
    spans = [
        distances.between(chain[i], chain[j]) == (j - i) * step
        for i in range(len(chain))
        for j in range(i + 1, len(chain))
    ]
    layers = [min((d or Fraction(0)) / step, Fraction(len(chain) - 1)) for d in apart]
    if not all(spans) or any(layer.denominator > 1 for layer in layers):
        return None
    kernel = LineKernel(np.full(len(chain) - 1, float(setting.epsilon * step)))
    prior, matrix = setting.prior[chain], loss.matrix[:, chain]
    remap, costs = kernel.remap(prior, matrix)
    gap = kernel.gap(prior, matrix, costs)
    if math.isinf(gap):
        return None
    rest = np.setdiff1d(np.arange(n), chain)
    value = float(kernel.weights @ costs + (setting.prior[rest] * loss.matrix[0, rest]).sum())
    logs = kernel.merged(remap, len(loss.actions))[[int(layer) for layer in layers]]
    why = (
        f"the loss concerns only a chain of {len(chain)} secrets, on which it is the truncated geometric, and a dual "
        "solution bounds what any other could save there at this prior"
    )
    return Found("layered geometric", why, PRICES, value, value - gap, remap, logs)


def _remapped(setting: Setting, raw: Floats, name: str, why: str, status: str) -> Found:
    """A small channel with its best remap, as a channel onto the actions."""
    joint = setting.prior[:, None] * np.exp(raw)
    sums = setting.loss.matrix @ joint
    remap = sums.argmin(axis=0)
    value = float(sums.min(axis=0).sum())
    return Found(name, why, status, value, value, remap, floored(_merged(raw, remap, len(setting.loss.actions))))


def _merged(raw: Floats, remap: Indices, actions: int) -> Floats:
    logs = np.full((actions, len(raw)), -np.inf)
    for y, w in enumerate(remap.tolist()):
        np.logaddexp(logs[w], raw[:, y], out=logs[w])
    return np.asarray(logs.T)


# Response -----------------------------------------------------------------------------------------------------------------
#
# The best mechanism for categories under ``(epsilon, delta)``: randomised response that lies as rarely as any may.


def optimal_response(categories: Iterable[Hashable] | int, *, epsilon: Exact, delta: Exact = 0) -> OptimalResponse:
    """Optimal mechanism over the given categories (or over ``0`` to ``m - 1`` for a number ``m``); one of the two may be 0."""
    names = distinct_categories(categories, "optimal response")
    budget, failure = as_fraction(epsilon, "epsilon"), as_fraction(delta, "delta")
    if not 0 <= budget <= LARGEST_EPSILON:
        raise ParameterError(f"epsilon must be from 0 to {LARGEST_EPSILON}, not {in_words(budget)}.")
    if not 0 <= failure < 1:
        raise ParameterError(
            f"delta must be from 0 to below 1, not {in_words(failure)}; a delta of 1 promises nothing."
        )
    if budget + failure == 0:
        raise ParameterError(
            "epsilon and delta are both 0, so every category must look alike; give one of them above 0."
        )
    size = len(names)
    # Enough bits to resolve e^-epsilon / m, 1 - delta, and a small epsilon or delta, and forty or more beyond.
    fine = math.ceil(1 / (budget + failure)).bit_length() + math.ceil(1 / (1 - failure)).bit_length()
    width = 64 + 2 * size.bit_length() + math.ceil(budget * 3 / 2) + fine
    precision = width + 64
    factor = Fraction(exp_bounds(budget, precision)[0], 1 << precision)
    other = math.ceil((1 << width) * (1 - failure) / (factor + size - 1))
    keep = (1 << width) - (size - 1) * other
    if not other <= keep <= factor * other + failure * (1 << width):
        raise GuaranteeError("no integers with this guarantee were found; this is a defect, please report it.")
    return OptimalResponse(names, budget, failure, width, precision, keep, other)


@dataclass(frozen=True)
class OptimalResponse(OverCategories):
    """Randomised response for ``(epsilon, delta)`` with integer probabilities; build it with :func:`optimal_response`."""

    name = "optimal-response"

    epsilon: Fraction
    delta: Fraction
    width: int
    precision: int
    keep: int
    other: int

    @cached_property
    def guarantee(self) -> Guarantee:
        """``(epsilon, delta)`` for the discrete metric."""
        return Guarantee.exactly(self.epsilon, Discrete(), min(self.delta, Fraction(1)))

    @property
    def keep_probability(self) -> Fraction:
        """The probability that the truth is reported."""
        return Fraction(self.keep, 1 << self.width)

    @property
    def lie_probability(self) -> Fraction:
        """The probability of each of the other categories."""
        return Fraction(self.other, 1 << self.width)

    @property
    def bound(self) -> Fraction:
        """A proved lower bound for the probability of a lie, for every mechanism with this guarantee."""
        size = len(self.categories)
        high = Fraction(exp_bounds(self.epsilon, self.precision)[1], 1 << self.precision)
        return (size - 1) * (1 - self.delta) / (high + size - 1)

    @property
    def gap(self) -> Fraction:
        """Difference of this mechanism to that bound: only the rounding of its integers."""
        return 1 - self.keep_probability - self.bound

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One exact draw for every value: replaced by a uniform category (perhaps the same) or kept."""
        return draw_response(self, self._labels, values, rng)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The two integers, which prove the guarantee."""
        names = [encode_label(label) for label in self.categories]
        proof = response_proof(self, max(self.precision, 256))
        return discrete_certificate(self, proof, rng, delta=self.delta, inputs=names)

    def error(self, loss: str = "zero-one") -> float:
        """The expected loss for the category where it is largest; ``zero-one`` is the probability of a lie."""
        return response_error(self, loss)

    def channel(self) -> Channel:
        """The channel of floats."""
        return response_channel(self)

    def __repr__(self) -> str:
        return f"optimal_response({len(self.categories)} categories, {self.guarantee})"
