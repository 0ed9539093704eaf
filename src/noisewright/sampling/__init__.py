"""Noise from random bits: exact samplers of the distributions of mechanisms.

>>> from noisewright.sampling import discrete_laplace
>>> noise = discrete_laplace(10, size=5)  # fresh cryptographic noise
>>> noise.shape, noise.dtype.name
((5,), 'int64')

No sampler uses a float to decide an outcome. Each reads as many random bits as the decision needs, so that its law is
the stated one exactly, tails included.
"""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.sampling.bernoulli_bits import Probability as Probability
    from noisewright.sampling.bernoulli_bits import bernoulli as bernoulli
    from noisewright.sampling.bernoulli_bits import bernoulli_exp as bernoulli_exp
    from noisewright.sampling.bounded_laplace import RangedSampler as RangedSampler
    from noisewright.sampling.categorical import TableSampler as TableSampler
    from noisewright.sampling.gaussian import discrete_gaussian as discrete_gaussian
    from noisewright.sampling.laplace import discrete_laplace as discrete_laplace
    from noisewright.sampling.laplace import geometric as geometric
    from noisewright.sampling.laplace import staircase_noise as staircase_noise
    from noisewright.sampling.lattice import Lattice as Lattice
    from noisewright.sampling.planar_laplace import discrete_planar_laplace as discrete_planar_laplace
    from noisewright.sampling.random_bits import Bits as Bits
    from noisewright.sampling.random_bits import bits_from as bits_from
    from noisewright.sampling.random_bits import random_order as random_order
    from noisewright.sampling.random_bits import uniform_below as uniform_below
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "Bits": "random_bits",
            "Lattice": "lattice",
            "Probability": "bernoulli_bits",
            "RangedSampler": "bounded_laplace",
            "TableSampler": "categorical",
            "bernoulli": "bernoulli_bits",
            "bernoulli_exp": "bernoulli_bits",
            "bits_from": "random_bits",
            "discrete_gaussian": "gaussian",
            "discrete_laplace": "laplace",
            "discrete_planar_laplace": "planar_laplace",
            "geometric": "laplace",
            "random_order": "random_bits",
            "staircase_noise": "laplace",
            "uniform_below": "random_bits",
        },
    )
