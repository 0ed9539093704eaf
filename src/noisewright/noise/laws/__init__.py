"""Exact integer samplers, one law a file: geometric and Laplace, Gaussian, staircase, planar, in a range and on a half line."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.noise.laws.clamped import ClampedLaplace as ClampedLaplace
    from noisewright.noise.laws.gaussian import discrete_gaussian as discrete_gaussian
    from noisewright.noise.laws.geometric import GeometricPlan as GeometricPlan
    from noisewright.noise.laws.geometric import discrete_laplace as discrete_laplace
    from noisewright.noise.laws.geometric import geometric_block as geometric_block
    from noisewright.noise.laws.geometric import geometric_plan as geometric_plan
    from noisewright.noise.laws.geometric import laplace_block as laplace_block
    from noisewright.noise.laws.half_line import HalfLineSampler as HalfLineSampler
    from noisewright.noise.laws.planar import discrete_planar_laplace as discrete_planar_laplace
    from noisewright.noise.laws.ranged import RangedSampler as RangedSampler
    from noisewright.noise.laws.staircase import staircase_noise as staircase_noise
else:
    __getattr__, __dir__ = door(__name__)
