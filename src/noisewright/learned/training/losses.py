r"""Losses of an adversary on a batch, for many points of a curve at once.

A *play* is what an adversary gets to see: rows, with the private values that belong to them. Rows are sampled releases with one
private value each, or, where there are few outputs, the outputs themselves with the *mass* of every private value: then the
loss is the exact expectation

.. math:: \sum_k P(k, y)\, \ell(h(k), y),

an average of *losses*. The loss of the average belief is another thing: an adversary trained on that undoes the noise, and a
privatiser gets no signal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from noisewright.learned.theory.losses import AdversaryLoss
from noisewright.learned.training._torch import Tensor, torch

__all__ = ["Play", "accuracies", "alpha_loss", "expected_losses", "prior_losses"]


@dataclass
class Play:
    """View of the adversary: ``shown`` (points, rows, numbers), and for every private variable the class of each row
    (``truth``: points or 1, rows, variables) or the mass of every class (``mass``: a tensor for each variable, points,
    rows, classes). ``distortion`` has the mean distortion of every point."""

    shown: Tensor
    distortion: Tensor
    truth: Tensor | None = None
    mass: Sequence[Tensor] | None = None


def alpha_loss(log_belief: Tensor, loss: AdversaryLoss) -> Tensor:
    """``a/(a-1) (1 - b^(1-1/a))`` of beliefs given by their logarithms; ``-log b`` at order 1."""
    if loss.is_log:
        return -log_belief
    share = 1.0 if math.isinf(loss.order) else 1 - 1 / loss.order
    return -torch.expm1(share * log_belief) / share


def expected_losses(play: Play, log_beliefs: Sequence[Tensor], loss: AdversaryLoss) -> Tensor:
    """The mean loss: a row for each private variable, a column for each point."""
    found = []
    for place, beliefs in enumerate(log_beliefs):
        if play.mass is not None:
            found.append((play.mass[place] * alpha_loss(beliefs, loss)).sum(dim=(1, 2)))
        else:
            of_truth = beliefs.gather(2, _truth(play, place, len(beliefs)))
            found.append(alpha_loss(of_truth, loss).mean(dim=(1, 2)))
    return torch.stack(found)


def accuracies(play: Play, log_beliefs: Sequence[Tensor]) -> Tensor:
    """Return how often the most likely class is the true one: a row for each private variable, a column for each point."""
    found = []
    for place, beliefs in enumerate(log_beliefs):
        guess = beliefs.argmax(dim=2, keepdim=True)
        if play.mass is not None:
            found.append(play.mass[place].gather(2, guess).sum(dim=(1, 2)))
        else:
            found.append((guess == _truth(play, place, len(beliefs))).to(beliefs.dtype).mean(dim=(1, 2)))
    return torch.stack(found)


def prior_losses(shares: Sequence[Tensor], loss: AdversaryLoss) -> Tensor:
    """Return the loss of the best adversary without any view: ``H(Y)``, or ``a/(a-1) (1 - |prior|_a)``; from shares of
    classes (points, classes), one tensor for each variable."""
    if loss.is_log:
        return torch.stack([-torch.special.xlogy(share, share).sum(dim=1) for share in shares])
    power = 1.0 if math.isinf(loss.order) else 1 - 1 / loss.order
    return torch.stack([(1 - torch.linalg.vector_norm(share, loss.order, dim=1)) / power for share in shares])


def _truth(play: Play, place: int, points: int) -> Tensor:
    assert play.truth is not None
    return play.truth[:, :, place : place + 1].expand(points, -1, -1)
