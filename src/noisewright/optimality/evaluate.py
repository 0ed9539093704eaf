r"""Cost of a channel to someone who knows the prior and acts on its output as well as possible.

For a prior ``pi``, a channel ``M`` and a loss ``L[w, x]`` the *posterior loss* is

.. math:: U_l[\pi \triangleright M] = \sum_y \min_w \sum_x \pi_x M_{xy} L_{wx},

and the action that attains the minimum for output ``y`` is the *remap*. Without any output the loss is the *prior
loss* ``U_l(pi) = min_w sum_x pi_x L[w,x]``; no channel makes it larger. With ``g = B - L`` for a constant ``B`` the
gain is ``B - U_l``.

>>> from noisewright.core.channels.channel import Channel
>>> M = Channel([[4/5, 1/10, 1/10], [1/5, 2/5, 2/5], [1/5, 2/5, 2/5]])
>>> found = posterior_loss(None, M, [[0, 1, 1], [1, 0, 0]])
>>> round(found.value, 9), found.remap
(0.2, (0, 1, 1))
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from noisewright.core.arrays import Floats
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import NoLossError, ParameterError
from noisewright.optimality.losses.gallery import Loss, as_loss
from noisewright.optimality.priors import as_prior

__all__ = [
    "Remapped",
    "face_value_loss",
    "posterior_loss",
    "posterior_losses",
    "prior_loss",
    "secret_losses",
]


@dataclass(frozen=True)
class Remapped:
    """The expected loss after the best remap, and that remap: an action for each output."""

    value: float
    remap: tuple[Hashable, ...]
    places: tuple[int, ...]

    def __float__(self) -> float:
        return self.value


def posterior_loss(prior: object, channel: Channel, loss: object) -> Remapped:
    """The expected loss of acting as well as possible on the channel's output; ``prior=None`` is the uniform one."""
    costs = _costs(prior, channel, loss)
    found, given = costs.sums, costs.loss
    places = found.argmin(axis=0)
    value = float(found[places, np.arange(found.shape[1])].sum())
    return Remapped(value, tuple(given.actions[w] for w in places), tuple(places.tolist()))


def posterior_losses(priors: ArrayLike, channel: Channel, loss: object) -> Floats:
    """The posterior loss at each of several priors, given as the rows of a matrix."""
    _check(channel)
    try:
        many = np.atleast_2d(np.asarray(priors, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(
            "several priors are the rows of a matrix of numbers, one column for each secret."
        ) from None
    given = as_loss(loss, channel.inputs)
    checked = np.array([as_prior(row, channel.inputs).probabilities for row in many])
    values = np.empty(len(checked))
    for start in range(0, len(checked), step := max(1, 10_000_000 // max(channel.matrix.size, given.matrix.size, 1))):
        joints = checked[start : start + step, :, None] * channel.matrix
        values[start : start + step] = (given.matrix @ joints).min(axis=1).sum(axis=1)
    return values


def prior_loss(prior: object, loss: object, secrets: tuple[Hashable, ...] | None = None) -> Remapped:
    """The loss of the best action without any output."""
    names = secrets if secrets is not None else getattr(prior, "secrets", None) or getattr(loss, "secrets", None)
    if names is None:
        raise ParameterError("the prior loss needs a Prior, a Loss with secrets, or secrets=.")
    given = as_loss(loss, names)
    expected = given.matrix @ as_prior(prior, names).probabilities
    best = int(expected.argmin())
    return Remapped(float(expected[best]), (given.actions[best],), (best,))


def face_value_loss(prior: object, channel: Channel, loss: object) -> float:
    """The expected loss of taking each output at face value: outputs are the actions of the loss."""
    _check(channel)
    weights = as_prior(prior, channel.inputs).probabilities
    return float(weights @ secret_losses(channel, loss))


def secret_losses(channel: Channel, loss: object) -> Floats:
    """The expected loss of each secret when outputs are taken at face value; the largest is the minimax loss."""
    _check(channel)
    given = as_loss(loss, channel.inputs, None if isinstance(loss, Loss) else channel.outputs)
    place = {w: i for i, w in enumerate(given.actions)}
    missing = [y for y in channel.outputs if y not in place]
    if missing:
        raise NoLossError(
            "an output taken at face value must be an action of the loss; use posterior_loss for any other."
        )
    matrix = given.matrix[[place[y] for y in channel.outputs]]
    return np.asarray((channel.matrix * matrix.T).sum(axis=1))


@dataclass(frozen=True)
class _Costs:
    sums: Floats
    loss: Loss


def _costs(prior: object, channel: Channel, loss: object) -> _Costs:
    """The joint cost of each action at each output."""
    _check(channel)
    given = as_loss(loss, channel.inputs)
    joint = as_prior(prior, channel.inputs).probabilities[:, None] * channel.matrix
    return _Costs(given.matrix @ joint, given)


def _check(channel: object) -> None:
    if not isinstance(channel, Channel):
        raise ParameterError(
            f"a loss is evaluated on a Channel, not on {type(channel).__name__}; wrap it in Channel(...)."
        )
