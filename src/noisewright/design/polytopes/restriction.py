"""Mechanisms on a few secrets, and their consequences for more: T, properties, layers, and reasoning by restriction.

``M|X`` keeps the rows ``X`` of a channel. For a loss that costs nothing outside ``X`` (or the same for all actions there)
only ``M|X`` counts, so

1. if ``M|{i,j}`` is equivalent to ``T``, the two-input mechanism below, ``M`` is best at every prior for each loss on ``i,
j``;
2. if ``M|X`` is universally optimal for a loss on ``X``, among all private mechanisms on ``X``, then so is ``M``.

The converse fails: the geometric on 0, 1, 2 is best for guessing on {0, 2}, but its restriction is not ``T`` for distance 2,
which cannot be continued to 1. :func:`pair_design` says for which pairs it can.

>>> from noisewright.metrics.base import Line
>>> two_input(["no", "yes"], factor=3).matrix.round(6).tolist()
[[0.75, 0.25], [0.25, 0.75]]
>>> layered_geometric(Line(), range(3), [0, 1, 0], factor=2).matrix.round(4).tolist()  # a fold of the line
[[0.6667, 0.3333], [0.3333, 0.6667], [0.6667, 0.3333]]
>>> print(pair_design(Line(), range(3), (0, 1), factor=2))
holds (exact): a private mechanism is T on 0 and 1.
>>> print(pair_design(Line(), range(3), (0, 2), factor=2))
fails (witness): secret 1 cannot be given probabilities close enough to those of 0 and of 2.

All constructors give a :class:`~noisewright.channels.channel.Channel`; ``nw.mechanism(channel, epsilon=..., metric=...)``
certifies it and draws from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright._utils.validation import as_tolerance
from noisewright.channels.channel import Channel
from noisewright.design.named_losses import as_loss, is_trivial
from noisewright.design.polytopes.kernel_mechanisms import Kernel, kernels_of
from noisewright.design.polytopes.posteriors import PrivatePosteriors, components
from noisewright.design.polytopes.universal import universally_optimal
from noisewright.exceptions import ParameterError
from noisewright.guarantees import EXACT, FAILS, UNDECIDED, WITHIN, Verdict
from noisewright.metrics.base import Discrete, Metric, as_labels
from noisewright.numerics.exact import Exact

__all__ = [
    "PairDesign",
    "is_two_input",
    "layered_geometric",
    "optimal_by_restriction",
    "pair_design",
    "property_mechanism",
    "restrict",
    "two_input",
]


def two_input(
    secrets: Sequence[Hashable],
    *,
    epsilon: Exact | None = None,
    factor: Exact | None = None,
    metric: Metric | None = None,
) -> Channel:
    r"""``T``: the one kernel on two secrets, ``1/(1+q) [[q, 1], [1, q]]`` with ``q = e^(epsilon d)``.

    It is best for every loss and every prior; only on two secrets is there such a mechanism.
    """
    names = as_labels(secrets, "secrets")
    if len(names) != 2:
        raise ParameterError(f"the two-input mechanism has two secrets, not {len(names)}.")
    space = PrivatePosteriors.of(metric or Discrete(), names, epsilon=epsilon, factor=factor)
    return _two_rows(float(space.losses[0, 1]), names, names)


def property_mechanism(
    secrets: Iterable[Hashable],
    chosen: Collection[Hashable] | Callable[[Any], bool],
    *,
    epsilon: Exact | None = None,
    factor: Exact | None = None,
) -> Channel:
    r"""Answers whether the secret is ``"in"`` a set or ``"out"`` of it, with the truth ``e^epsilon`` times as likely as a lie.

    Under the discrete metric it is a kernel, ``T`` on every pair that the set splits, and best at every prior for each
    two-action loss that prefers one action in the set and the other outside it.
    """
    names = as_labels(secrets, "secrets")
    if not callable(chosen) and (isinstance(chosen, (str, bytes)) or not isinstance(chosen, Collection)):
        raise ParameterError(f"a property is a set of secrets or a function of one, not {type(chosen).__name__}.")
    inside = [bool(chosen(x)) if callable(chosen) else x in chosen for x in names]
    if all(inside) or not any(inside):
        raise ParameterError(
            "a property must hold for some of the secrets and not for all; the answer would say nothing."
        )
    space = PrivatePosteriors.of(Discrete(), names, epsilon=epsilon, factor=factor)
    two = _two_rows(space.rate, ("in", "out"), ("in", "out"))
    return two.after(dict(zip(names, ("in" if v else "out" for v in inside), strict=True)), names)


def layered_geometric(
    metric: Metric,
    points: Iterable[Hashable],
    layers: Callable[[Any], int] | Mapping[Any, int] | Sequence[int] | None = None,
    *,
    root: Hashable = None,
    epsilon: Exact | None = None,
    factor: Exact | None = None,
) -> Channel:
    r"""The truncated geometric on the layer of a secret: a kernel for any metric that counts steps.

    ``layers`` maps each point to ``0, 1, ..., m``: a function, a mapping or a list in the order of the points; or each
    point counts its steps from ``root``. The layers of two points differ by at most their number of steps apart, no
    layer is empty, and the steps that change the layer connect all points. Restricted to points along which the layer
    rises one by one it is the geometric; within one layer it is constant. Folds of a line, such as ``0, 1, 2, 1``, are
    of this kind.
    """
    space = PrivatePosteriors.of(metric, points, epsilon=epsilon, factor=factor)
    if space.steps is None:
        raise ParameterError("layers need distances that are whole multiples of one step, such as those of a graph.")
    heights = _heights(space, layers, root)
    steps = space.steps
    pairs = [(i, j) for i in range(space.size) for j in range(i)]
    for i, j in pairs:
        if abs(heights[i] - heights[j]) > steps[i][j]:
            raise ParameterError(
                f"{space.points[i]!r} and {space.points[j]!r} are {steps[i][j]} steps apart but "
                f"{abs(heights[i] - heights[j])} layers, so the geometric on layers would not be private; change the layers."
            )
    top = max(heights)
    if set(heights) != set(range(top + 1)) or top == 0:
        raise ParameterError("layers are numbered 0, 1, 2, ... without a gap, and there are two or more.")
    if max(components([(i, j) for i, j in pairs if steps[i][j] == abs(heights[i] - heights[j]) == 1], space.size)):
        raise ParameterError(
            "the steps that change the layer must connect all points; with these layers another private mechanism is at least as "
            "good for everybody."
        )
    geometric = Channel.from_logs(_geometric_logs(space.step, top + 1), range(top + 1), range(top + 1))
    return geometric.after(dict(zip(space.points, heights, strict=True)), space.points)


def restrict(channel: Channel | Kernel, secrets: Iterable[Hashable]) -> Channel:
    """The rows of some secrets, in the given order; a prior on them must not be scaled up again."""
    given = _as_channel(channel)
    names = as_labels(secrets, "secrets")
    if not names or len(set(names)) < len(names):
        raise ParameterError("a channel is restricted to one or more of its secrets, each named once.")
    return given.after(lambda x: x, names)


def is_two_input(
    channel: Channel | Kernel,
    pair: tuple[Hashable, Hashable],
    *,
    metric: Metric,
    epsilon: Exact | None = None,
    factor: Exact | None = None,
    tolerance: float = 1e-9,
) -> Verdict:
    """Return whether the channel restricted to two secrets is equivalent to ``T`` for their distance."""
    best = two_input(pair, epsilon=epsilon, factor=factor, metric=metric)
    if restrict(channel, pair).equivalent(best, as_tolerance(tolerance)):
        return Verdict(WITHIN, f"on {pair[0]!r} and {pair[1]!r} it is the two-input mechanism T for their distance.")
    return Verdict(FAILS, f"on {pair[0]!r} and {pair[1]!r} it has other posteriors than T, or other weights.", pair)


@dataclass(frozen=True, eq=False)
class PairDesign(Verdict):
    """Whether a private mechanism is ``T`` on a pair; ``channel`` is one of two outputs if there is any."""

    channel: Channel | None = None


def pair_design(
    metric: Metric,
    points: Iterable[Hashable],
    pair: tuple[Hashable, Hashable],
    *,
    epsilon: Exact | None = None,
    factor: Exact | None = None,
) -> PairDesign:
    r"""Return a private mechanism on all points that is ``T`` on the given pair, or the proof that none exists.

    Two outputs suffice: ``p_x`` is the probability of the first. Then ``p_i = q/(1+q)``, ``p_j = 1/(1+q)`` and
    ``p_x <= min(q_xz p_z, 1 - (1 - p_z)/q_xz)`` for all ``x, z`` is required. The right-hand sides rise with ``p_z``,
    so the largest solution is reached by lowering from 1, and there is one iff ``p_i`` and ``p_j`` stay where they are.
    """
    space = PrivatePosteriors.of(metric, points, epsilon=epsilon, factor=factor)
    pair = as_labels(pair, "pair")  # type: ignore[assignment]
    ends = [k for x in pair for k, name in enumerate(space.points) if name == x]
    if len(ends) != 2 or ends[0] == ends[1]:
        raise ParameterError("a pair is two of the points.")
    i, j = ends
    exact = space.base is not None
    slack: Any = 0 if exact else 1e-12
    one: Any = Fraction(1) if exact else 1.0
    ratios: list[list[Any]] = [[space.ratio(x, z, exact) for z in range(space.size)] for x in range(space.size)]
    high = ratios[i][j] / (1 + ratios[i][j])
    values = [one] * space.size
    values[i], values[j] = high, 1 - high
    for _ in range(2 * space.size + 1):
        lowered = [
            min(min(ratios[x][z] * values[z], 1 - (1 - values[z]) / ratios[x][z]) for z in range(space.size))
            for x in range(space.size)
        ]
        if all(v - w <= slack for v, w in zip(values, lowered, strict=True)):
            break
        values = lowered
    if values[i] < high - slack or values[j] < 1 - high - slack:
        blocking = _blocking(ratios, i, j, high)
        return PairDesign(
            FAILS,
            f"secret {space.points[blocking]!r} cannot be given probabilities close enough to those of {pair[0]!r} and of "
            f"{pair[1]!r}.",
            space.points[blocking],
        )
    first = np.array([float(v) for v in values])
    channel = Channel(np.stack([first, 1 - first], axis=1), space.points, pair)
    status = EXACT if space.rational else WITHIN
    return PairDesign(status, f"a private mechanism is T on {pair[0]!r} and {pair[1]!r}.", None, channel)


def optimal_by_restriction(
    channel: Channel | Kernel,
    loss: object,
    *,
    metric: Metric,
    epsilon: Exact | None = None,
    factor: Exact | None = None,
) -> Verdict:
    """Return whether the secrets that the loss depends on settle that the channel is best at every prior.

    Secrets at which all actions cost the same do not count. ``undecided`` means that this reasoning does not apply, not that the
    channel is not optimal.
    """
    channel = _as_channel(channel)
    given = as_loss(loss, channel.inputs)
    if is_trivial(given):
        return Verdict(EXACT, "one action is best whatever is released, so every mechanism is as good as any other.")
    matter = [x for x, column in zip(channel.inputs, given.matrix.T, strict=True) if np.ptp(column) > 0]
    if len(matter) == 2:
        found = is_two_input(channel, (matter[0], matter[1]), metric=metric, epsilon=epsilon, factor=factor)
        if found:
            return Verdict(found.status, f"the loss depends on two secrets only, and {found.reason}")
    elif len(matter) < len(channel.inputs):
        space = PrivatePosteriors.of(metric, matter, epsilon=epsilon, factor=factor)
        verdict = universally_optimal(restrict(channel, matter), given.restrict(matter), kernels_of(space))
        if verdict:
            return Verdict(
                verdict.status, f"the loss depends on {len(matter)} secrets only; on those, {verdict.reason}"
            )
    return Verdict(UNDECIDED, "the secrets that the loss depends on do not settle it.")


def _as_channel(channel: Channel | Kernel) -> Channel:
    if isinstance(channel, Kernel):
        return channel.channel()
    if not isinstance(channel, Channel):
        raise ParameterError(f"a channel is restricted, not {type(channel).__name__}; wrap a matrix in Channel(...).")
    return channel


def _blocking(ratios: list[list[Any]], i: int, j: int, high: Any) -> int:
    """A secret whose largest probability, as seen from the low end of the pair, is too small for the high end."""
    worst, place = None, j
    for x in range(len(ratios)):
        if x in (i, j):
            continue
        most = min(ratios[x][j] * (1 - high), 1 - high / ratios[x][j])
        reach = min(ratios[i][x] * most, 1 - (1 - most) / ratios[i][x])
        if worst is None or reach < worst:
            worst, place = reach, x
    return place


def _two_rows(loss: float, inputs: Iterable[Hashable], outputs: Iterable[Hashable]) -> Channel:
    lie = -loss - math.log1p(math.exp(-loss))
    truth = -math.log1p(math.exp(-loss))
    return Channel.from_logs([[truth, lie], [lie, truth]], inputs, outputs)


def _geometric_logs(step: float, size: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    places = np.arange(size)
    logs = -step * np.abs(places[:, None] - places[None, :]) - math.log1p(math.exp(-step))
    logs[:, 1:-1] += math.log(-math.expm1(-step))
    return np.asarray(logs, dtype=np.float64)


def _heights(space: PrivatePosteriors, layers: Any, root: Hashable) -> list[int]:
    assert space.steps is not None
    if layers is None:
        if root not in space.points:
            raise ParameterError("give the layer of each point with layers=, or one of the points as the root.")
        return list(space.steps[space.points.index(root)])
    if isinstance(layers, Mapping):
        found: list[Any] = [layers.get(x) for x in space.points]
    elif callable(layers):
        found = [layers(x) for x in space.points]
    else:
        found = list(layers) if isinstance(layers, Iterable) else []
    if len(found) != space.size or any(isinstance(v, bool) or not isinstance(v, (int, np.integer)) for v in found):
        raise ParameterError(f"layers are whole numbers, one for each of the {space.size} points.")
    return [int(v) for v in found]
