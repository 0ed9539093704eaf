r"""UNSAFE: the choice of windows as it was published, with SSIM itself as quality. **Its proof is wrong; the excess is small.**

The published proof takes SSIM to lie in [0, 1], so that a rate of epsilon/2 would cost epsilon. SSIM lies in [-1, 1]: the
spread of the quality is 2, and only a bound of 2 epsilon follows. As it was published, with windows of 3 x 3 cells over 4 levels,
the exact loss between windows over these levels is below the claim at all 11 epsilons from 0.1 to 100 that were computed: 99.66 %
to 99.91 % of it (:func:`raw_losses`). Cells are means of blocks, and lie between levels as well. Among windows with two values
that are multiples of 5, the loss is below the claim up to epsilon 5, and above it from 10 on: by 0.34 % at 10, by 4.04 % at 30,
which is the most, and by 0.15 % at 100. Windows of 2 x 2 cells at a claim of 10 lose more than 10.12.

>>> target = raw_ssim_windows(epsilon=10, window=2, levels=4)
>>> target
UNSAFE raw_ssim_windows(claims 10 for windows)
>>> target.audit() > 10.1
True

:class:`~noisewright.images.pixels.window_choice.WindowChoice` repairs it by clipping or shifting the quality.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from typing import NoReturn

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.errors import GuaranteeError, ParameterError
from noisewright.core.exact import Exact, positive_fraction, upward
from noisewright.images.pictures.similarity import ssim_of, window_ssim

__all__ = ["EPSILONS", "RawSsimWindows", "raw_losses", "raw_ssim_windows", "two_valued"]

MOST, NEAR = 512, 8192
"""Maximum number of outputs compared, and of secrets near each pair."""
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 50.0, 100.0)
LEVELS = (0.0, 85.0, 170.0, 255.0)


def raw_ssim_windows(*, epsilon: Exact, window: int = 2, levels: int = 4) -> RawSsimWindows:
    """UNSAFE: an attack target that claims ``epsilon`` between any two windows."""
    if not 2 <= levels ** (window * window) <= MOST:
        raise ParameterError(f"an attack target has at most {MOST} windows; take 2 x 2 cells and few levels.")
    return RawSsimWindows(positive_fraction(epsilon, "epsilon"), window, levels)


@dataclass(frozen=True, repr=False)
class RawSsimWindows:
    """UNSAFE. Build it with :func:`raw_ssim_windows`."""

    epsilon: Fraction
    window: int
    levels: int

    @property
    def guarantee(self) -> NoReturn:
        """Raise: this mechanism has no guarantee."""
        raise GuaranteeError("UNSAFE raw_ssim_windows is an attack target and guarantees nothing; see audit().")

    def certificate(self, rng: np.random.Generator | None = None) -> NoReturn:
        """Refused."""
        raise GuaranteeError("UNSAFE raw_ssim_windows is an attack target and gets no certificate; audit() shows why.")

    def probabilities(self, windows: Floats) -> Floats:
        """The law of the output for each of some windows, in logarithms, over all windows of its levels."""
        scores = float(self.epsilon / 2) * window_ssim(np.asarray(windows)[:, None, :], self.outputs[None])
        return np.asarray(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))

    @property
    def outputs(self) -> Floats:
        """All windows over the levels."""
        cells, values = self.window**2, np.rint(np.linspace(0, 255, self.levels))
        number = np.arange(self.levels**cells)
        return np.asarray(values[np.stack([number // self.levels**place % self.levels for place in range(cells)], 1)])

    def audit(self) -> float:
        """The largest log-ratio of probabilities that was found: a lower bound of its loss.

        Secrets are the windows over the levels, and others near them (always the same ones).
        """
        rng, outputs = np.random.default_rng(0), self.outputs
        near = outputs[rng.integers(0, len(outputs), NEAR)] + rng.normal(0, 20, (NEAR, outputs.shape[1]))
        logs = self.probabilities(np.concatenate([outputs, np.clip(near, 0, 255)]))
        return float((logs.max(0) - logs.min(0)).max())

    def __repr__(self) -> str:
        return f"UNSAFE raw_ssim_windows(claims {upward(self.epsilon)} for windows)"


def two_valued(step: int, cells: int = 9) -> list[tuple[float, ...]]:
    """Return all windows of at most two values that are multiples of a step of colour, their cells in order."""
    values = [float(value) for value in range(0, 256, step)]
    both = [(a,) * k + (b,) * (cells - k) for k in range(1, cells) for a, b in combinations(values, 2)]
    return [(value,) * cells for value in values] + both


def raw_losses(
    epsilons: Sequence[float] = EPSILONS,
    beside: Sequence[tuple[float, ...]] = (),
    levels: Sequence[float] = LEVELS,
    cells: int = 9,
) -> list[float]:
    """Return the largest loss of the published choice between any two of some windows, as a part of each claimed epsilon.

    The windows are all over the levels and those ``beside`` them, with their cells in any order. Every output is
    counted. SSIM does not change if the cells of both windows are put into another order, and grows with their
    covariance. Therefore outputs are counted by how many cells of each level meet each value of a secret, and the
    order of cells that is best or worst for an output is the sorted one or its reverse.

    >>> [round(part, 4) for part in raw_losses([1, 20])], round(raw_losses([30], two_valued(17))[0], 2) > 1
    ([0.9967, 0.999], True)
    """
    outputs = list(combinations_with_replacement(levels, cells))
    secrets = [*outputs, *(tuple(sorted(secret)) for secret in beside)]
    rates = np.asarray(epsilons, np.float64) / 2
    sums = np.stack([_log_sums(secret, levels, rates) for secret in secrets])
    ordered, sorted_outputs = np.array(secrets), np.array(outputs)[None]
    most, least = (window_ssim(some[:, None], sorted_outputs) for some in (ordered, ordered[:, ::-1]))
    return [
        float(((rate * most - own[:, None]).max(0) - (rate * least - own[:, None]).min(0)).max() / (2 * rate))
        for rate, own in zip(rates, sums.T, strict=True)
    ]


def _log_sums(secret: tuple[float, ...], levels: Sequence[float], rates: Floats) -> Floats:
    """Return the logarithm of the sum of all weights for a secret, at each rate."""
    cells, runs = len(secret), Counter(secret)
    total, squares, cross, many = (np.zeros(1) for _ in range(4))
    for value, length in runs.items():
        rows = np.array(list(combinations_with_replacement(levels, length)))
        counts = np.stack([(rows == level).sum(1) for level in levels], 1)
        orders = [math.lgamma(length + 1) - sum(math.lgamma(n + 1) for n in row) for row in counts.tolist()]
        total, squares, cross, many = (
            np.add.outer(old, new).reshape(-1)
            for old, new in (
                (total, rows.sum(1)),
                (squares, (rows**2).sum(1)),
                (cross, value * rows.sum(1)),
                (many, np.array(orders)),
            )
        )
    mean, own = total / cells, np.array(secret)
    cov = cross / cells - own.mean() * mean
    similarity = ssim_of(own.mean(), mean, own.var(), squares / cells - mean**2, cov)
    return np.array([np.logaddexp.reduce(rate * similarity + many) for rate in rates])
