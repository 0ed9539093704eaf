r"""Is a mechanism best for one loss whatever the prior, and is there any that is?

For a loss ``l`` a mechanism ``M`` is *universally l-optimal* if ``U_l[pi > M] <= U_l[pi > N]`` for every prior ``pi`` and
every private ``N``. Kernels suffice as rivals, and finitely many priors suffice as tests:

* while the best remap of ``M`` does not change, ``U_l[pi > M]`` is linear in ``pi``, and the loss of any rival is
  concave. Therefore the difference is largest at a corner of a region where the remap stays the same;
* those corners are where ties between actions, and secrets of probability 0, leave one prior: linear algebra in fractions.

A failure comes with a witness: a prior, a kernel that is better there, and both losses. Where the factors are rational and the
mechanism is given as a kernel or in fractions every comparison is exact; otherwise it is made in floats, and the status says so.

>>> from noisewright.core.metrics.metric import Line
>>> from noisewright.optimality.kernels.kernel_list import kernels
>>> from noisewright.optimality.losses.gallery import absolute, parity
>>> line = kernels(Line(), range(3), factor=2)
>>> fold, geometric = line
>>> print(universally_optimal(geometric, absolute(range(3)), line))
holds (exact): at all 13 priors where its best remap changes no kernel is better.
>>> answer = universally_optimal(geometric, parity(3), line)
>>> answer.status, str(answer.evidence.loss), str(answer.evidence.less), answer.evidence.better is fold
('fails (witness)', '571/1500', '1/3', True)

A mechanism that is universally optimal is a post-processing of a mix of kernels that are. Therefore,
:func:`optimal_kernels` decides whether any exists: it takes the kernels one by one and strikes out, at each witness,
all that are not best there.

>>> four = kernels(Line(), range(4), factor=2)
>>> none = optimal_kernels(parity(4), four)
>>> none.status, none.optimal, len(none.priors) <= 4
('fails (witness)', (), True)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from math import lcm
from typing import Any

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.errors import ParameterError
from noisewright.core.verdict import EXACT, FAILS, UNDECIDED, WITHIN, Verdict
from noisewright.optimality.extreme.point import exact_matrix
from noisewright.optimality.kernels._universal_priors import (
    SAMPLES,
    ChannelEntries,
    PriorPoint,
    remap_corners,
    sample_priors,
    whole_costs,
)
from noisewright.optimality.kernels.decomposition import Given, check_private
from noisewright.optimality.kernels.kernel_list import Kernel, Kernels
from noisewright.optimality.losses.gallery import as_loss

__all__ = ["Existence", "Witness", "at_least_as_good", "optimal_kernels", "universally_optimal"]


TOLERANCE = 1e-12
"""Losses in floats that differ by less than this, relatively, count as equal. What is compared are regrets, sums of numbers that
are 0 or more, so rounding is relative to them."""

WIDEST = 1e-12
"""Spread of an output's probabilities beyond which floats do not find the priors at which remaps change."""


@dataclass(frozen=True, eq=False)
class Witness:
    """A prior at which another mechanism is better, and the two losses there."""

    prior: PriorPoint
    loss: Fraction | float
    less: Fraction | float
    place: int
    """Index of the rival: the place of the kernel in its list."""
    better: Kernel | None = None


@dataclass(frozen=True, eq=False)
class Existence:
    """The universally optimal kernels for a loss, and the priors that struck out all others."""

    status: str
    reason: str
    optimal: tuple[Kernel, ...]
    priors: tuple[PriorPoint, ...]

    def __bool__(self) -> bool:
        return bool(self.optimal)

    def __str__(self) -> str:
        return f"{self.status}: {self.reason}"


def universally_optimal(channel: Given, loss: object, kernels: Kernels) -> Verdict:
    """Return whether no private mechanism is better than ``channel`` for this loss at any prior.

    ``kernels`` are all kernels of the space; the evidence of a failure is a :class:`Witness`. A channel that is not private there
    is refused: it may well be better than all that are.
    """
    _check(kernels)
    mine = ChannelEntries.of(channel, len(kernels.space.points))
    check_private(channel, kernels.space)
    costs = _Costs(as_loss(loss, kernels.space.points).matrix)
    rivals = _Rivals([ChannelEntries.of(kernel, len(kernels.space.points)) for kernel in kernels])
    verdict = _never_beaten(mine, rivals, costs)
    if isinstance(verdict.evidence, Witness):
        found = replace(verdict.evidence, better=kernels[verdict.evidence.place])
        return Verdict(verdict.status, verdict.reason, found)
    return verdict


def at_least_as_good(first: Given, second: Given, loss: object, secrets: Sequence[Any] | None = None) -> Verdict:
    """Return whether the first channel costs no more than the second for this loss, at every prior."""
    names = secrets or getattr(first, "inputs", None) or (first.space.points if isinstance(first, Kernel) else None)
    size = len(names) if names is not None else len(exact_matrix(first))
    costs = _Costs(as_loss(loss, tuple(range(size)) if names is None else tuple(names)).matrix)
    verdict = _never_beaten(ChannelEntries.of(first, size), _Rivals([ChannelEntries.of(second, size)]), costs)
    if isinstance(verdict.evidence, Witness):
        return Verdict(verdict.status, "the second is better at the witness prior.", verdict.evidence)
    words = "at all priors where the best remap of the first changes the second is no better."
    return Verdict(verdict.status, words) if verdict else verdict


def optimal_kernels(loss: object, kernels: Kernels) -> Existence:
    """The kernels that are best for this loss at every prior; none of them means that no mechanism is.

    A loss of two actions counts by the signs of their difference alone: priors take up the sizes.
    """
    _check(kernels)
    size = len(kernels.space.points)
    costs = _Costs(as_loss(loss, kernels.space.points).matrix)
    rivals = _Rivals([ChannelEntries.of(kernel, size) for kernel in kernels])
    alive = list(range(len(rivals)))
    priors: list[PriorPoint] = []
    optimal: list[int] = []
    statuses = set()
    for prior in sample_priors(size):
        left = _best_at(prior, rivals, costs, alive)
        if len(left) < len(alive):
            alive = left
            priors.append(prior)
    while alive:
        verdict = _never_beaten(rivals[alive[0]], rivals, costs, sampled=False)
        statuses.add(verdict.status)
        if isinstance(verdict.evidence, Witness):
            priors.append(verdict.evidence.prior)
            alive = [k for k in _best_at(verdict.evidence.prior, rivals, costs, alive) if k != alive[0]]
            continue
        if verdict:
            optimal.append(alive[0])
        alive = alive[1:]
    found = tuple(kernels[k] for k in optimal)
    exact = kernels.verified and rivals.exact
    if found:
        status = EXACT if exact and WITHIN not in statuses else WITHIN
        best = f"{len(found)} of {len(kernels)} kernels {'is' if len(found) == 1 else 'are'} best at every prior."
        return Existence(status, best, found, tuple(priors))
    if UNDECIDED in statuses:
        words = "some kernels are beaten at no sampled prior, and not all priors could be gone through."
        return Existence(UNDECIDED, words, (), tuple(priors))
    beaten = f"each of {len(kernels)} kernels is beaten at one of {len(priors)} priors"
    words = f"no mechanism is best at every prior: {beaten}."
    return Existence(FAILS, words, (), tuple(priors))


def _check(kernels: object) -> None:
    if not isinstance(kernels, Kernels):
        given = type(kernels).__name__
        raise ParameterError(f"the rivals must be all kernels of a space, kernels(metric, points, ...), not {given}.")


# The test -------------------------------------------------------------------------------------------------------------


class _Costs:
    """A loss in floats and in integers over one denominator, without the actions that no one needs."""

    def __init__(self, matrix: Floats) -> None:
        self.floats = matrix[[w for w in range(len(matrix)) if not _dominated(matrix, w)]]
        self.whole, self.over = whole_costs(self.floats)
        self.regrets = self.floats - self.floats.min(axis=0)
        """Costs above the cheapest action of each secret, which every mechanism pays."""

    def regret(self, prior: Floats, channel: ChannelEntries) -> float:
        """The expected regret with the best remap."""
        return float((self.regrets @ (prior[:, None] * channel.floats)).min(axis=0).sum())

    def at(self, prior: Floats, channel: ChannelEntries) -> float:
        """The expected loss with the best remap."""
        return float((self.floats @ (prior[:, None] * channel.floats)).min(axis=0).sum())

    def exactly(self, prior: PriorPoint, channel: ChannelEntries) -> Fraction:
        """The same in fractions."""
        common = lcm(*(p.denominator for p in prior))
        weights = np.array([int(p * common) for p in prior], dtype=object)
        sums = self.whole @ (weights[:, None] * channel.exact)
        return Fraction(int(sums.min(axis=0).sum()), common * self.over * channel.over)


class _Rivals(list[ChannelEntries]):
    """Channels that a mechanism is compared with; outputs that never occur make them alike in shape."""

    def __init__(self, matrices: Sequence[ChannelEntries]) -> None:
        super().__init__(matrices)
        widest = max(m.floats.shape[1] for m in matrices)
        self.stack = np.zeros((len(matrices), len(matrices[0].floats), widest))
        for k, m in enumerate(matrices):
            self.stack[k, :, : m.floats.shape[1]] = m.floats
        self.exact = all(m.exact is not None for m in matrices)

    def losses(self, prior: PriorPoint, costs: _Costs) -> tuple[Floats, Floats]:
        """A prior in floats, and the regret of each channel there."""
        weights = np.array([float(p) for p in prior])
        return weights, np.asarray((costs.regrets @ (weights[:, None] * self.stack)).min(axis=1).sum(axis=1))


def _never_beaten(mine: ChannelEntries, rivals: _Rivals, costs: _Costs, sampled: bool = True) -> Verdict:
    """Return whether no rival has a smaller loss at any prior; the evidence of a failure names the rival by its
    place.
    """
    for prior in islice(sample_priors(costs.floats.shape[1]), SAMPLES if sampled else 0):
        found = _beaten(prior, mine, rivals, costs, ties=False)
        if found is not None:
            return _failure(found)
    exactly = mine.exact is not None and rivals.exact
    if not exactly and _spread(mine.floats) < WIDEST:
        words = "its probabilities spread too widely for floats; no sampled prior shows a better rival; give a rational factor."
        return Verdict(UNDECIDED, words)
    corners, exact, sets = remap_corners(mine, costs.floats, exactly)
    if corners is None:
        words = (
            f"there are {sets} sets of ties to go through, which is too many; no sampled prior shows a better rival."
        )
        return Verdict(UNDECIDED, words)
    for prior in corners:
        found = _beaten(prior, mine, rivals, costs, ties=exact)
        if found is not None:
            return _failure(found)
    words = f"at all {len(corners)} priors where its best remap changes no kernel is better."
    return Verdict(EXACT if exact else WITHIN, words)


def _failure(witness: Witness) -> Verdict:
    return Verdict(
        FAILS,
        f"at the witness prior it costs {float(witness.loss):.9g} and another kernel {float(witness.less):.9g}.",
        witness,
    )


def _beaten(prior: PriorPoint, mine: ChannelEntries, rivals: _Rivals, costs: _Costs, ties: bool) -> Witness | None:
    """The best rival at a prior, if it is better: found in floats, then looked at again in fractions where that can be.

    With ``ties`` fractions also decide where floats show no difference.
    """
    if max(prior) == 1:  # a secret that is known costs the same with any mechanism
        return None
    weights, losses = rivals.losses(prior, costs)
    own = costs.regret(weights, mine)
    best = int(losses.argmin())
    slack = TOLERANCE * max(own, float(losses[best]))
    if losses[best] > own + slack or (losses[best] >= own - slack and not ties):
        return None
    if mine.exact is None or not rivals.exact or not isinstance(prior[0], Fraction):
        return Witness(prior, costs.at(weights, mine), costs.at(weights, rivals[best]), best)
    exactly = {int(k): costs.exactly(prior, rivals[k]) for k in np.flatnonzero(losses <= losses[best] + slack)}
    place = min(exactly, key=lambda k: exactly[k])
    loss = costs.exactly(prior, mine)
    return Witness(prior, loss, exactly[place], place) if exactly[place] < loss else None


def _best_at(prior: PriorPoint, rivals: _Rivals, costs: _Costs, alive: Sequence[int]) -> list[int]:
    """Return the rivals that no other one beats at a prior by more than rounding."""
    _, losses = rivals.losses(prior, costs)
    least = losses.min()
    return [k for k in alive if losses[k] <= least * (1 + TOLERANCE)]


def _spread(matrix: Floats) -> float:
    """The smallest probability of an output that can occur, relative to its largest one."""
    used = matrix[:, matrix.max(axis=0) > 0]
    return float((used.min(axis=0) / used.max(axis=0)).min())


def _dominated(costs: Floats, w: int) -> bool:
    """Return whether another action is at least as good everywhere; of several equal ones the first is not."""
    at_least = (costs <= costs[w]).all(axis=1)
    equal = (costs == costs[w]).all(axis=1)
    return bool((at_least & ~equal).any() or equal[:w].any())
