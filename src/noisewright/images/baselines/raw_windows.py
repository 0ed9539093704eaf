r"""UNSAFE: the choice of windows as it was published, with SSIM itself as quality. **Its stated promise is false.**

The published proof takes SSIM to lie in [0, 1], so that a rate of epsilon/2 would cost epsilon. SSIM lies in [-1, 1]: the
spread of the quality is 2, and only a bound of 2 epsilon follows. What it really loses is often just below the claim, and
sometimes above it: windows of 2 x 2 cells over the levels 0, 85, 170 and 255 at a rate of 5 lose more than 10.12, where 10 is
claimed.

>>> target = raw_ssim_windows(epsilon=10, window=2, levels=4)
>>> target
UNSAFE raw_ssim_windows(claims epsilon = 10 between any two windows)
>>> target.audit() > 10.1
True

:class:`~noisewright.images.pixels.window_choice.WindowChoice` repairs it by clipping or shifting the quality.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.errors import GuaranteeError, ParameterError
from noisewright.core.exact import Exact, positive_fraction, upward
from noisewright.images.pictures.similarity import window_ssim

__all__ = ["RawSsimWindows", "raw_ssim_windows"]

MOST, NEAR = 512, 8192
"""So many outputs are compared at most, for so many secrets beside them."""


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
        """There is none."""
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
        """The largest log-ratio of probabilities that was found: a lower bound of what it loses.

        Secrets are the windows over the levels, and others near them (always the same ones).
        """
        rng, outputs = np.random.default_rng(0), self.outputs
        near = outputs[rng.integers(0, len(outputs), NEAR)] + rng.normal(0, 20, (NEAR, outputs.shape[1]))
        logs = self.probabilities(np.concatenate([outputs, np.clip(near, 0, 255)]))
        return float((logs.max(0) - logs.min(0)).max())

    def __repr__(self) -> str:
        return f"UNSAFE raw_ssim_windows(claims epsilon = {upward(self.epsilon)} between any two windows)"
