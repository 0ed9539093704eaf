"""Random bits and exact integer samplers: everything in the library that draws, draws from here.

>>> from noisewright.noise import discrete_laplace
>>> noise = discrete_laplace(10, size=5)  # fresh cryptographic noise
>>> noise.shape, noise.dtype.name
((5,), 'int64')

No sampler uses a float to decide an outcome. Each reads as many random bits as the decision needs, so that its law is
the stated one exactly, tails included.
"""

from noisewright.noise.bernoulli import Probability, bernoulli, bernoulli_exp
from noisewright.noise.bits import Bits, Rng, bits_from
from noisewright.noise.integers import uniform_below
from noisewright.noise.lattice import Lattice
from noisewright.noise.laws.gaussian import discrete_gaussian
from noisewright.noise.laws.geometric import discrete_laplace, geometric
from noisewright.noise.laws.planar import discrete_planar_laplace
from noisewright.noise.laws.ranged import RangedSampler
from noisewright.noise.laws.staircase import staircase_noise
from noisewright.noise.table import TableSampler

__all__ = [
    "Bits",
    "Lattice",
    "Probability",
    "RangedSampler",
    "Rng",
    "TableSampler",
    "bernoulli",
    "bernoulli_exp",
    "bits_from",
    "discrete_gaussian",
    "discrete_laplace",
    "discrete_planar_laplace",
    "geometric",
    "staircase_noise",
    "uniform_below",
]
