r"""The best attacker on blocks of pixels: who has a picture of everyone, knows the mechanism, and names the likeliest.

For levels that are drawn from a table (:mod:`noisewright.images.pixels.exponential`), the likelihood of a candidate is the
product of the entries of the table, one for each block and channel.

>>> from noisewright.images.pixels import pixel_exponential
>>> people = np.random.default_rng(1).integers(0, 256, (4, 6, 6, 1), dtype=np.uint8)
>>> attacker = LevelAttacker(pixel_exponential(epsilon=20, width=6, height=6, block=2, colours="grey"), people)
>>> 0.25 < attacker.success(200, np.random.default_rng(1)) <= attacker.bound
True
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_whole
from noisewright.core.errors import DataError, ParameterError
from noisewright.images.attackers.bayes import gallery_risk
from noisewright.images.pictures.reading import Picture
from noisewright.images.pixels.exponential import PixelExponential, colours_of
from noisewright.images.pixels.mechanism import BlockMechanism
from noisewright.noise.bits import Bits, bits_from

__all__ = ["TOGETHER", "BlockAttacker", "LevelAttacker"]

TOGETHER = 2048
"""Approximate number of pictures drawn at once."""


class BlockAttacker(ABC):
    """Knows the mechanism, one picture of each person of a gallery, and that all of them are equally likely."""

    def __init__(self, mechanism: BlockMechanism, gallery: Picture) -> None:
        if len(gallery) < 2 or gallery.shape[1:] != mechanism.shape:
            raise DataError("a gallery has two people or more, with one picture of the declared size for each.")
        self.people = len(gallery)
        self._allowed = gallery_risk(1 - np.eye(self.people), mechanism.epsilon)

    @property
    def bound(self) -> float:
        """Largest success probability that the guarantee allows any attacker on one release."""
        return self._allowed

    def success(self, copies: int, rng: np.random.Generator | None = None, *, releases: int = 1) -> float:
        """The share of right guesses when every person of the gallery is released ``releases`` times, ``copies`` times over."""
        if not all(is_whole(number) and number >= 1 for number in (copies, releases)):
            raise ParameterError("copies and releases are whole numbers from 1 on.")
        bits, right = bits_from(rng), 0
        together = max(1, TOGETHER // self.people)
        for start in range(0, copies, together):
            who = np.tile(np.arange(self.people), min(together, copies - start))
            logs = sum((self.likelihoods(who, bits) for _ in range(releases)), np.zeros(1))
            right += int((logs.argmax(1) == who).sum())
        return right / (copies * self.people)

    @abstractmethod
    def likelihoods(self, who: NDArray[Any], bits: Bits) -> Floats:
        """These people drawn once, a row for each: the logarithm of the likelihood of each candidate, up to a common term."""


class LevelAttacker(BlockAttacker):
    """On levels that are drawn from a table."""

    def __init__(self, mechanism: PixelExponential, gallery: Picture) -> None:
        super().__init__(mechanism, gallery)
        self._made, self._gallery = replace(mechanism, blur=0.0), gallery
        self._levels = mechanism.nearest(mechanism.blocks.sums(gallery)).reshape(self.people, -1)
        self._logs = np.log(mechanism.table.table.astype(np.float64))

    def likelihoods(self, who: NDArray[Any], bits: Bits) -> Floats:
        """Blocks come out in the colours of their levels."""
        side, colours = self._made.block, colours_of(self._made.levels)
        logs = np.zeros((len(who), self.people))
        drawn = np.stack([self._made.drawn(self._gallery[person], bits)[::side, ::side] for person in who])
        seen = np.searchsorted(colours, drawn.reshape(len(who), -1))
        for place, true in enumerate(self._levels.T):
            logs += self._logs[true][:, seen[:, place]].T
        return logs
