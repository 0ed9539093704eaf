"""Baselines WITHOUT a guarantee, and an attack target whose published proof is wrong: to compare with, never to release with."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.images.baselines.adhoc import blurred_picture as blurred_picture
    from noisewright.images.baselines.adhoc import boxed as boxed
    from noisewright.images.baselines.adhoc import inpainted as inpainted
    from noisewright.images.baselines.adhoc import noisy_singular_values as noisy_singular_values
    from noisewright.images.baselines.adhoc import pixelised as pixelised
    from noisewright.images.baselines.appearance import ActiveAppearance as ActiveAppearance
    from noisewright.images.baselines.k_same import Clusters as Clusters
    from noisewright.images.baselines.k_same import cluster_means as cluster_means
    from noisewright.images.baselines.k_same import k_clusters as k_clusters
    from noisewright.images.baselines.k_same import k_same_codes as k_same_codes
    from noisewright.images.baselines.k_same import k_same_pixels as k_same_pixels
    from noisewright.images.baselines.raw_windows import RawSsimWindows as RawSsimWindows
    from noisewright.images.baselines.raw_windows import raw_losses as raw_losses
    from noisewright.images.baselines.raw_windows import raw_ssim_windows as raw_ssim_windows
    from noisewright.images.baselines.raw_windows import two_valued as two_valued
else:
    __getattr__, __dir__ = door(__name__)
