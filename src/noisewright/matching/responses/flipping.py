r"""Exact coins for packed bits: every bit of a code is flipped on its own, with an exact probability.

This is bitwise randomised response. With probability ``p >= 1 / (1 + e^epsilon)`` of a flip, codes that differ in ``d`` bits
differ by at most ``epsilon d`` in the logarithm of the probability of any output. Devices and releases draw from here, with
other sources of random bits.

>>> from fractions import Fraction
>>> codes = np.zeros((1000, 2), np.uint8)
>>> noisy = flipped(codes, 12, Fraction(1, 4), np.random.default_rng(1))
>>> round(float(np.bitwise_count(noisy).sum()) / 12_000, 2), int(noisy[:, 1].max()) < 16
(0.25, True)

Reference: Warner (1965).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noisewright.matching.hashing.codes import Codes
from noisewright.noise.bits import Rng
from noisewright.noise.packed import packed_coins

__all__ = ["DeviceBits", "flipped"]


def flipped(codes: Codes, bits: int, p: Fraction, rng: Rng = None) -> Codes:
    """The codes with every one of their ``bits`` bits flipped with probability ``p``, all coins independent."""
    coins = packed_coins(p, -(-codes.size // 8), rng).view(np.uint8)[: codes.size].reshape(codes.shape)
    if bits % 8:
        coins[:, -1] &= np.uint8((1 << bits % 8) - 1)
    coins ^= codes
    return coins


@dataclass(frozen=True)
class DeviceBits:
    """Random bits of the operating system, one by one as they are used: for a device that has Python and NumPy alone."""

    @property
    def for_release(self) -> bool:
        """They are made for that."""
        return True

    @property
    def label(self) -> str:
        """Return where the bits come from."""
        return "random bits of the operating system"

    def words(self, count: int) -> NDArray[np.uint64]:
        """The next words."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)
