r"""Similarity of two pictures: the structural similarity (SSIM) of small windows and of whole pictures, and squared
errors.

.. math:: \text{SSIM}(a, b) =
   \frac{(2\mu_a\mu_b + C_1)(2\sigma_{ab} + C_2)}{(\mu_a^2 + \mu_b^2 + C_1)(\sigma_a^2 + \sigma_b^2 + C_2)},
   \qquad C_1 = (0.01 \cdot 255)^2,\ C_2 = (0.03 \cdot 255)^2.

It is 1 for equal pictures, and **can be negative**, down to about -1.

>>> import numpy as np
>>> ramp = np.arange(0.0, 180.0, 20.0)
>>> round(float(window_ssim(ramp, ramp[::-1])), 6)
-0.978292

Reference: Wang, Bovik, Sheikh and Simoncelli, *Image quality assessment: from error visibility to structural similarity* (2004).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.errors import ParameterError
from noisewright.images.pictures.reading import Picture

__all__ = ["C1", "C2", "blurred", "mse", "ssim", "ssim_of", "window_ssim"]

C1, C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
RADIUS, SIGMA = 5, 1.5
"""The usual window of whole pictures: 11 x 11 pixels with Gaussian weights."""


def window_ssim(first: NDArray[np.floating], second: NDArray[np.floating]) -> Floats:
    """The SSIM of windows, whose pixels are on the last axis: uniform weights, population moments."""
    a, b = (np.asarray(values, np.float64) for values in (first, second))
    mean_a, mean_b = a.mean(-1), b.mean(-1)
    away_a, away_b = a - mean_a[..., None], b - mean_b[..., None]
    var_a, var_b = (away_a**2).mean(-1), (away_b**2).mean(-1)
    return np.asarray(ssim_of(mean_a, mean_b, var_a, var_b, (away_a * away_b).mean(-1)))


def ssim(first: Picture, second: Picture) -> float:
    """The mean SSIM of two pictures over all positions of an 11 x 11 window with Gaussian weights, and over channels.

    Several pictures of one size may be compared with as many others (an axis in front): the mean over all.
    """
    from scipy.ndimage import gaussian_filter

    a, b = (np.asarray(values, np.float64) for values in _both(first, second))
    if min(a.shape[-3:-1]) <= 2 * RADIUS:
        raise ParameterError(f"SSIM is for pictures of at least {2 * RADIUS + 1} pixels on each side.")

    def smooth(values: Floats) -> Floats:
        found = gaussian_filter(values, SIGMA, radius=RADIUS, axes=(-3, -2))
        return np.asarray(found[..., RADIUS:-RADIUS, RADIUS:-RADIUS, :])

    mean_a, mean_b = smooth(a), smooth(b)
    var_a, var_b = smooth(a * a) - mean_a**2, smooth(b * b) - mean_b**2
    return float(ssim_of(mean_a, mean_b, var_a, var_b, smooth(a * b) - mean_a * mean_b).mean())


def mse(first: Picture, second: Picture) -> float:
    """The mean squared difference of two pictures, over pixels and channels; or of several and as many others."""
    a, b = _both(first, second)
    return float(np.mean((a.astype(np.float64) - b) ** 2))


def blurred(values: NDArray[np.floating] | Picture, sigma: float = 1.0) -> Floats:
    """Pictures (..., rows, columns, channels) under a Gaussian with a width in pixels: after noise, it is post-processing."""
    from scipy.ndimage import gaussian_filter

    if not 0 < sigma <= 100:
        raise ParameterError("the sigma of a blur is above 0 and at most 100 pixels.")
    still = (0.0,) * (values.ndim - 3)
    return np.asarray(gaussian_filter(np.asarray(values, np.float64), (*still, sigma, sigma, 0.0), mode="nearest"))


def ssim_of(mean_a: Any, mean_b: Any, var_a: Any, var_b: Any, cov: Any) -> Floats:
    """The formula, from means, variances and covariances."""
    above = (2 * mean_a * mean_b + C1) * (2 * cov + C2)
    return np.asarray(above / ((mean_a**2 + mean_b**2 + C1) * (var_a + var_b + C2)))


def _both(first: Picture, second: Picture) -> tuple[Picture, Picture]:
    if first.shape != second.shape or first.ndim not in (3, 4) or not first.size:
        raise ParameterError("two pictures are compared that have the same size and the same channels.")
    return first, second
