"""Our Laplace mechanism on sets of numbers, with cryptographic bits throughout."""

from __future__ import annotations

from typing import Any

import numpy as np

import noisewright as nw
from bench.work import Work
from noisewright.guarantees import Scope
from noisewright.mechanisms.numeric.calibration import continuous
from noisewright.mechanisms.numeric.feasible_sets import Feasible

__all__ = ["calibration", "gaps", "half_line", "unbounded", "within"]

INTERVALS = ((0, 10), (12, 30), (31, 50), (60, 80), (81, 100))


def within(high: int, size: int) -> Work:
    """Noise inside an interval, every true value a different one."""
    return _release(nw.laplace(epsilon=1, within=(0, high)), np.random.default_rng(1).uniform(0, high, size))


def unbounded(scale: int, size: int) -> Work:
    """Noise without a range."""
    return _release(nw.laplace(epsilon=1, sensitivity=scale), np.random.default_rng(1).uniform(-1000, 1000, size))


def half_line(size: int) -> Work:
    """Noise on a half line for the metric promise."""
    values = np.random.default_rng(1).exponential(5.0, size)
    return _release(nw.laplace(epsilon=1, within=(0, None), scope="metric"), values)


def gaps(size: int) -> Work:
    """Noise on a set with gaps."""
    rng = np.random.default_rng(1)
    lows, highs = np.array(INTERVALS, dtype=float).T
    which = rng.integers(0, len(INTERVALS), size)
    return _release(nw.laplace(epsilon=1, within=INTERVALS), rng.uniform(lows[which], highs[which]))


def calibration(count: int, scope: Scope) -> Work:
    """The scale for a line with many gaps; the answer is that scale."""
    ends = np.sort(np.random.default_rng(1).uniform(0, count, 2 * count)).tolist()
    feasible = Feasible.parse(excluding=tuple(zip(ends[::2], ends[1::2], strict=True)))
    return Work(lambda: continuous(feasible, epsilon=1, scope=scope), 1, lambda found: found.scale)


def _release(mechanism: Any, values: Any) -> Work:
    mechanism.release(values[:1])  # the sampler's tables are made at the first release; that is set-up
    return Work(lambda: mechanism.release(values), values.size, lambda noisy: float(np.abs(noisy - values).mean()))
