"""Sign bits: on which side of public random directions a vector lies, every bit answered by exact randomised response.

**Guarantee.** ``epsilon`` between any two vectors: each answer costs ``epsilon / bits``, and the losses add up.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np

import noisewright as nw
from noisewright.base import DIMENSION, EPSILON, SEED, BaseMechanism, Entry, Parameter, Takes
from noisewright.certificates import Part, product_certificate
from noisewright.exceptions import DataError, NoLossError, ParameterError
from noisewright.mechanisms import product
from noisewright.resources import Seed, public_keys


@dataclass(frozen=True)
class SignBits(BaseMechanism):
    """A mechanism for vectors, whose outputs are ``bits`` packed into bytes."""

    epsilon: Annotated[int | float | str | Fraction, EPSILON]
    dimension: Annotated[int, DIMENSION]
    seed: Annotated[Seed, SEED]
    bits: Annotated[int, Parameter("Number of answered bits.", "bits = 64")] = 64
    name = "sign-bits"
    no_channel = "there are infinitely many vectors."

    def __post_init__(self) -> None:
        if self.dimension < 1 or self.bits < 1:
            raise ParameterError("sign-bits: dimension and bits must be positive.")
        object.__setattr__(self, "bit", nw.randomised_response([0, 1], epsilon=Fraction(self.epsilon) / self.bits))
        signs = self.seed.generator("signs").bits(self.bits * self.dimension).reshape(self.dimension, self.bits)
        object.__setattr__(self, "directions", np.where(signs, 1.0, -1.0))

    @property
    def guarantee(self) -> nw.Guarantee:
        return nw.Guarantee(float(self.certificate().epsilon), nw.metrics.Discrete())

    def release(self, values, rng=None):
        vectors = np.asarray(values, dtype=np.float64)
        if vectors.shape[-1:] != (self.dimension,) or not np.isfinite(vectors).all():
            raise DataError(f"sign-bits takes vectors of {self.dimension} finite numbers.")
        answers = product([(self.bit, self.bits)]).release(
            (np.atleast_2d(vectors) @ self.directions > 0).astype(np.int64), rng
        )
        packed = [row.tobytes() for row in np.packbits(answers.astype(bool), axis=1)]
        return packed[0] if vectors.ndim == 1 else np.array(packed, dtype=object)

    def certificate(self, rng=None):
        parts = [Part(self.bit.certificate(rng), self.bits)]
        return product_certificate(
            self.name, parts, metric="discrete", simulated=rng is not None, **public_keys(seed=self.seed)
        )

    def error(self, loss="absolute"):
        raise NoLossError("bits are not compared with vectors; use them to find similar ones.")


TAKES = Takes("vector", gives="bytes", dimension=True)
ENTRY = Entry("sign-bits", SignBits, TAKES, summary="private sides of public random directions", words="vectors")
