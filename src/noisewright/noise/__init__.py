"""Random bits and exact integer samplers: everything in the library that draws, draws from here.

>>> from noisewright.noise import discrete_laplace
>>> noise = discrete_laplace(10, size=5)  # fresh cryptographic noise
>>> noise.shape, noise.dtype.name
((5,), 'int64')

No sampler uses a float to decide an outcome. Each reads as many random bits as the decision needs, so that its law is
the stated one exactly, tails included.
"""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.noise.alias import Alias as Alias
    from noisewright.noise.bits import Bits as Bits
    from noisewright.noise.bits import Rng as Rng
    from noisewright.noise.bits import bits_from as bits_from
    from noisewright.noise.integers import random_order as random_order
    from noisewright.noise.integers import uniform_below as uniform_below
    from noisewright.noise.lattice import Lattice as Lattice
    from noisewright.noise.laws.gaussian import discrete_gaussian as discrete_gaussian
    from noisewright.noise.laws.geometric import discrete_laplace as discrete_laplace
    from noisewright.noise.laws.geometric import geometric as geometric
    from noisewright.noise.laws.planar import discrete_planar_laplace as discrete_planar_laplace
    from noisewright.noise.laws.ranged import RangedSampler as RangedSampler
    from noisewright.noise.laws.staircase import staircase_noise as staircase_noise
    from noisewright.noise.packed import packed_coins as packed_coins
    from noisewright.noise.probability import Probability as Probability
    from noisewright.noise.probability import bernoulli as bernoulli
    from noisewright.noise.probability import bernoulli_exp as bernoulli_exp
    from noisewright.noise.response import response_integers as response_integers
    from noisewright.noise.search import Lookup as Lookup
    from noisewright.noise.table import TableSampler as TableSampler
else:
    __getattr__, __dir__ = door(__name__)
