r"""The average-case order on hyper-distributions, as a transport of beliefs.

A hyper with weights ``a_i`` on posteriors ``delta^i`` is refined by one with weights ``b_j`` on ``gamma^j`` exactly
when each posterior can be split (``lambda_ij >= 0``, ``sum_j lambda_ij = 1``) so that the mass at j is
``b_j gamma^j = sum_i lambda_ij a_i delta^i``: mass ``lambda_ij a_i`` moves from i to j, and every target is the mean of
its parts. Both must have the same mean, the prior. This is refinement of the channels behind the hypers, so the answer
comes from :mod:`~noisewright.adversary.orders.average`.

If the posteriors of the first are linearly independent *and the means agree*, it is enough that the posteriors of the
second lie in the hull.

>>> from noisewright.core.channels.channel import Channel
>>> fine, coarse = Channel([[0.75, 0.25], [0.25, 0.75]]).push(), Channel([[0.625, 0.375], [0.375, 0.625]]).push()
>>> found = earth_move(fine, coarse)
>>> print(found.status), found.witness.plan.tolist()
holds (exact)
(None, [[0.375, 0.125], [0.125, 0.375]])
>>> print(earth_move(coarse, fine).status)
fails (witness)

Reference: Alvim et al., *The science of quantitative information flow* (2020), chapter 12.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from noisewright.adversary.orders._answering import FORWARD
from noisewright.adversary.orders._pair import check_tolerance
from noisewright.adversary.orders.average import average_refined
from noisewright.adversary.refinement import Refinement
from noisewright.adversary.witness import PostProcessing
from noisewright.core.arrays import Floats
from noisewright.core.channels.channel import Channel
from noisewright.core.channels.hyper import Hyper
from noisewright.core.errors import ParameterError
from noisewright.core.verdict import FAILS

__all__ = ["MeanWitness", "Transport", "earth_move"]


@dataclass(frozen=True, eq=False)
class Transport:
    """``shares[i, j]`` is ``lambda_ij`` and ``plan[i, j]`` the mass that moves; it misses by ``residual`` in the worst entry."""

    shares: Floats
    plan: Floats
    residual: float

    def to_json(self) -> dict[str, Any]:
        """The transport as plain data."""
        return {
            "kind": "transport",
            "shares": self.shares.tolist(),
            "plan": self.plan.tolist(),
            "residual": self.residual,
        }


@dataclass(frozen=True)
class MeanWitness:
    """A secret whose probability is ``before`` in the mean of the first hyper and ``after`` in the mean of the
    second.
    """

    secret: Hashable
    before: float
    after: float

    def to_json(self) -> dict[str, Any]:
        """The difference as plain data."""
        return {"kind": "mean", "secret": str(self.secret), "before": self.before, "after": self.after}


def earth_move(first: Hyper, second: Hyper, tol: float = 1e-8, *, direction: str = FORWARD) -> Refinement:
    """Return whether the second hyper refines the first; the witness is a :class:`Transport` where it does.

    Where it does not, the witness is a :class:`MeanWitness` if the means differ, otherwise the :class:`GainWitness` of the
    channels behind the hypers, on the secrets that the prior does not leave out.
    """
    check_tolerance(tol)
    if not isinstance(first, Hyper) or not isinstance(second, Hyper):
        raise ParameterError("earth moves are between two hypers; push a prior through a channel to get one.")
    if first.inputs != second.inputs:
        raise ParameterError("the two hypers must be about the same secrets in the same order.")
    means = [(h.inners * h.outers).sum(axis=1) for h in (first, second)]
    apart = np.abs(means[0] - means[1])
    if apart.max() > max(tol, 1e-12):
        x = int(apart.argmax())
        witness = MeanWitness(first.inputs[x], float(means[0][x]), float(means[1][x]))
        return Refinement(
            "average", direction, FAILS, "the two hypers have different means", float(apart.max()), witness
        )
    kept = np.flatnonzero(means[0] > 0)
    channels = [_behind(h, kept) for h in (first, second)]
    found = average_refined(channels[0], channels[1], tol, direction=direction)
    if isinstance(found.witness, PostProcessing):
        shares = found.witness.channel.matrix
        plan = shares * first.outers[:, None]
        return replace(found, witness=Transport(shares, plan, found.witness.residual))
    return found


def _behind(hyper: Hyper, kept: Any) -> Channel:
    """The channel that the hyper comes from, on the secrets of positive probability."""
    joint = (hyper.inners * hyper.outers)[kept]
    names = tuple(hyper.inputs[int(x)] for x in kept)
    return Channel(joint / joint.sum(axis=1, keepdims=True), names, tuple(range(joint.shape[1])))
