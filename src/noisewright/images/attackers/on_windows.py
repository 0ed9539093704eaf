r"""The best attacker on windows that were drawn by their likeness: who has a picture of everyone and knows the
mechanism.

A window y is drawn from a true window x with probability :math:`w(x, y) / Z(x)`
(:mod:`noisewright.images.pixels.window_choice`), and cells next to the windows have Laplace noise. Therefore the
likelihood of each candidate is known except for the sums Z, which are added up over all windows where these can be
listed and epsilon' is large, and estimated from random ones otherwise: there, someone may do a little better than this
attacker.

>>> from noisewright.images.pixels import pixel_windows
>>> people = np.random.default_rng(1).integers(0, 256, (4, 12, 12, 1), dtype=np.uint8)
>>> made = pixel_windows(epsilon=40, width=12, height=12, block=2, colours="grey")
>>> attacker = WindowAttacker(made, people)
>>> 0.25 < attacker.success(200, np.random.default_rng(1)) <= attacker.bound
True
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.images.attackers.on_blocks import TOGETHER, BlockAttacker
from noisewright.images.pictures.reading import Picture
from noisewright.images.pictures.similarity import ssim_of
from noisewright.images.pixels.laplace import noisy_sums
from noisewright.images.pixels.mechanism import TOP
from noisewright.images.pixels.window_classes import every_window, level_values
from noisewright.images.pixels.windows import PixelWindows
from noisewright.noise.bits import Bits

__all__ = ["WindowAttacker"]

SAMPLED, LARGE = 1 << 14, 6
"""Number of random windows from which sums are estimated, unless epsilon' is larger than this."""


class WindowAttacker(BlockAttacker):
    """On windows of cells, and on the cells next to them."""

    def __init__(self, mechanism: PixelWindows, gallery: Picture) -> None:
        super().__init__(mechanism, gallery)
        self.mechanism = mechanism
        self._sums = mechanism.blocks.sums(gallery)
        means = self._sums / mechanism.blocks.areas[:, :, None]
        self._windows = np.stack([mechanism.grid.cut(one) for one in means])
        areas = np.broadcast_to(mechanism.blocks.areas[:, :, None], self._sums.shape[1:])
        beside = ~mechanism.grid.covered
        self._edges = [(area, (areas == area) & beside[:, :, None]) for area in np.unique(areas[beside]).tolist()]

    def likelihoods(self, who: NDArray[Any], bits: Bits) -> Floats:
        """Windows by their weights, cells next to them by their distances."""
        made = self.mechanism
        logs = np.zeros((len(who), self.people))
        for area, where in self._edges:
            true = self._sums[:, where].astype(np.float64)
            drawn = noisy_sums(self._sums[who][:, where], area, TOP * area / made.share, bits)
            rate = float(made.share) / (TOP * area)
            for place in range(true.shape[1]):
                logs -= rate * np.abs(drawn[:, place, None].astype(np.float64) - true[None, :, place])
        if made.grid.count:
            codes = made.choice.draw(self._windows[who].reshape(-1, made.choice.cells), bits)
            values = level_values(made.levels)[codes].reshape(len(who), -1, made.choice.cells)
            for place in range(values.shape[1]):
                logs += np.log(self._weights(self._windows[:, place], values[:, place])).T - self._totals[:, place]
        return logs

    def _weights(self, true: Floats, drawn: Floats) -> Floats:
        """The weight of each drawn window (a column) for each true one."""
        (mean, away), (mean_of, away_of) = _centred(true), _centred(drawn)
        cov = away @ away_of.T / true.shape[1]
        likeness = ssim_of(mean[:, None], mean_of, (away**2).mean(1)[:, None], (away_of**2).mean(1), cov)
        return np.asarray(self.mechanism.choice.weights(likeness), np.float64)

    @cached_property
    def _totals(self) -> Floats:
        """The logarithm of the mean weight of all windows, for each true window."""
        choice = self.mechanism.choice
        if choice.listable and choice.rate > LARGE:
            every: NDArray[Any] = every_window(choice.cells, choice.levels)
        else:
            every = np.random.default_rng(0).integers(0, choice.levels, (SAMPLED, choice.cells))
        true = self._windows.reshape(-1, choice.cells)
        totals = np.zeros(len(true))
        for start in range(0, len(every), TOGETHER):
            totals += self._weights(true, level_values(choice.levels)[every[start : start + TOGETHER]]).sum(1)
        return np.asarray(np.log(totals / len(every)).reshape(self._windows.shape[:2]))


def _centred(windows: Floats) -> tuple[Floats, Floats]:
    mean = windows.mean(1)
    return mean, windows - mean[:, None]
