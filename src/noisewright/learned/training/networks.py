"""Networks for many points of a curve at once: every tensor has a leading axis of points, and points never mix.

A layer is one batched product (``torch.baddbmm``), so a whole curve trains in about the time of one point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from noisewright.learned.training._torch import Tensor, torch
from noisewright.learned.training.losses import Play

__all__ = ["SLOPE", "BestResponse", "NetworkAdversary", "TableAdversary", "layers", "through"]

SLOPE = 0.2
"""Slope of the leaky part of a rectifier."""
NEARLY_NOTHING = 1e-12
"""Mass that an output without any is given, so that beliefs are defined."""

Named = dict[str, Tensor]


def layers(points: int, sizes: Sequence[int], generator: Any, prefix: str = "", last: float | None = None) -> Named:
    """Weights and offsets of a network from the first size to the last: uniform in the usual range, or, for the last layer,
    normal with a standard deviation of ``last``. Every point starts alike, so that a curve is smooth."""
    found: Named = {}
    for place, (before, after) in enumerate(pairwise(sizes)):
        bound = 1 / math.sqrt(before)
        if last is not None and place == len(sizes) - 2:
            weight = torch.randn(before, after, generator=generator) * last
            offset = torch.zeros(after)
        else:
            weight = (torch.rand(before, after, generator=generator) * 2 - 1) * bound
            offset = (torch.rand(after, generator=generator) * 2 - 1) * bound
        found[f"{prefix}w{place}"] = weight.expand(points, before, after).contiguous()
        found[f"{prefix}b{place}"] = offset.expand(points, 1, after).contiguous()
    return found


def through(parameters: Named, rows: Tensor, prefix: str = "") -> Tensor:
    """Rows (points, rows, numbers) through the layers, with leaky rectifiers between them."""
    place = 0
    while f"{prefix}w{place}" in parameters:
        if place:
            rows = torch.nn.functional.leaky_relu(rows, SLOPE)
        rows = torch.baddbmm(parameters[f"{prefix}b{place}"], rows, parameters[f"{prefix}w{place}"])
        place += 1
    return rows


class NetworkAdversary:
    """Two hidden layers, and a belief about every private variable: ``classes`` has the number of classes of each."""

    def __init__(self, points: int, inputs: int, classes: Sequence[int], hidden: int, generator: Any) -> None:
        self.classes = tuple(classes)
        self.parameters = layers(points, (inputs, hidden, hidden, sum(self.classes)), generator)

    def log_beliefs(self, play: Play) -> list[Tensor]:
        """A tensor (points, rows, classes) for each variable."""
        parts = through(self.parameters, play.shown).split(self.classes, dim=2)
        return [torch.log_softmax(part, dim=2) for part in parts]


class TableAdversary:
    """One belief after each of a few outputs; with two outputs and two classes it has two parameters."""

    def __init__(self, points: int, outputs: int, classes: Sequence[int], dtype: Any) -> None:
        self.parameters = {
            str(place): torch.zeros(points, outputs, many - 1, dtype=dtype) for place, many in enumerate(classes)
        }

    def log_beliefs(self, play: Play) -> list[Tensor]:
        del play
        found = []
        for free in self.parameters.values():
            fixed = torch.zeros(*free.shape[:2], 1, dtype=free.dtype)
            found.append(torch.log_softmax(torch.cat([fixed, free], dim=2), dim=2))
        return found


class BestResponse:
    """The adversary who knows the law: the posterior of every output, tilted to the order of the loss. It has nothing to learn.

    By the envelope theorem the slope of the loss at fixed best beliefs is the slope of the best loss.
    """

    def __init__(self, order: float) -> None:
        self.order = order
        self.parameters: Named = {}

    def log_beliefs(self, play: Play) -> list[Tensor]:
        assert play.mass is not None
        logs = [torch.log(mass.detach() + NEARLY_NOTHING) for mass in play.mass]
        return [torch.log_softmax(self.order * log, dim=2) for log in logs]
