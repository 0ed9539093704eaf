r"""LapLSH: spherical Laplace noise on the vector, then the public hash. A baseline, in floats.

**Guarantee.** ``epsilon`` for each unit of Euclidean distance, for real numbers and every seed; hashing only
post-processes. There is no delta and no fine print about seeds. But noise of length about n / epsilon hides the
direction of a vector of length 1 wherever n is large, so that codes are hardly better than random ones. The draw is
made in floats, and the certificate states so.

>>> from noisewright.core.seed import Seed
>>> noisy = laplace_hash(epsilon=20, dimension=3, bits=16, seed=Seed(bytes(32)))
>>> noisy.release([[0.6, 0.0, 0.8]]).shape, noisy.certificate().numerics
((1, 2), 'floating')

Reference: Fernandes, Kawamoto and Murakami, *Locality sensitive hashing with extended differential privacy* (2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.errors import DataError, NoLossError
from noisewright.core.exact import Exact, float_up, positive_fraction
from noisewright.core.guarantee import Guarantee
from noisewright.core.loading.parameters import DIMENSION, EPSILON, SEED
from noisewright.core.mechanism import BaseMechanism, Takes, fields_alone
from noisewright.core.metrics.metric import Euclidean
from noisewright.core.resource import public_keys
from noisewright.core.seed import Seed
from noisewright.matching._parameters import BITS
from noisewright.matching.hashing.codes import Codes, code_bytes
from noisewright.matching.hashing.projection import Projection, as_rows
from noisewright.matching.hashing.scheme import Scheme
from noisewright.matching.responses._columns import give_codes, read_vectors
from noisewright.mechanisms.auditing import MechanismAudit
from noisewright.mechanisms.places.vectors import spherical_noise
from noisewright.mechanisms.registry import Entry

__all__ = ["NoisyVectors", "laplace_hash"]

NAME = "laplace-hash"
DRAWN = 1 << 21
"""Maximum number of noise values held at once."""


def laplace_hash(
    *,
    epsilon: Annotated[Exact, EPSILON],
    dimension: Annotated[int, DIMENSION],
    bits: Annotated[int, BITS],
    seed: Annotated[Seed, SEED],
) -> NoisyVectors:
    """Codes of ``bits`` bits of vectors of ``dimension`` numbers with noise for ``epsilon`` a unit of Euclidean distance."""
    scheme = Scheme(dimension=dimension, bits=bits, epsilon=0, seed=seed)  # validates public parameters
    assert scheme.dimension is not None
    return NoisyVectors(positive_fraction(epsilon, "epsilon"), scheme.dimension, scheme.bits, seed)


@dataclass(frozen=True)
class NoisyVectors(BaseMechanism):
    """Hashes of noisy vectors; build it with :func:`laplace_hash`."""

    name = NAME
    no_channel = "there are infinitely many vectors, and the cells of codes have no closed form."

    epsilon: Fraction
    dimension: int
    bits: int
    seed: Seed

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` for each unit of Euclidean distance (of real numbers)."""
        return Guarantee.exactly(self.epsilon, Euclidean())

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One code for every vector, a row of bytes; a column of Arrow gives one."""
        vectors, form = read_vectors(values, self.dimension)
        return give_codes(self._drawn(vectors, rng), form)

    def check(self, values: Any) -> None:
        """Refuse what ``release`` would refuse."""
        self._finite(as_rows(read_vectors(values, self.dimension)[0], self.dimension))

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The claim, marked as floating: it cites a theorem and proves nothing about the draw."""
        return Certificate.of_mechanism(
            self,
            rng,
            distances={"shape": "space", "dimension": self.dimension},
            proof={
                "kind": "theorem",
                "density": "c exp(-epsilon |v|)",
                "by": "triangle inequality, and hashing is post-processing",
                "bits": self.bits,
            },
            numerics="floating",
            **public_keys(seed=self.seed),
        )

    def audit(self) -> MechanismAudit:
        """The loss of the density before hashing."""
        words = "of the density over real numbers, before hashing; the float draw is not proved"
        return MechanismAudit(float_up(self.epsilon), self.guarantee.metric, None, None, None, words=words)

    def error(self, loss: str = "absolute") -> float:
        """Raise `NoLossError`: a code is not a vector."""
        raise NoLossError(
            "codes are not compared with vectors; a server tells how far apart vectors are from their codes."
        )

    @cached_property
    def _hashing(self) -> Projection:
        return Projection(self.dimension, self.bits, self.seed, "fixed")

    @staticmethod
    def _finite(rows: Any) -> None:
        if not np.isfinite(rows.data if hasattr(rows, "tocsr") else rows).all():
            raise DataError("a vector has a number that is missing or infinite; fill it in, or leave that vector out.")

    def _drawn(self, vectors: Any, rng: np.random.Generator | None) -> Codes:
        rows = as_rows(vectors, self.dimension)
        self._finite(rows)
        result = np.empty((rows.shape[0], code_bytes(self.bits)), np.uint8)
        step = max(1, DRAWN // self.dimension)
        for start in range(0, rows.shape[0], step):
            part = rows[start : start + step]
            part = part.toarray() if hasattr(part, "toarray") else part
            result[start : start + step] = self._hashing.hash(
                part + spherical_noise(self.epsilon, self.dimension, len(part), rng)
            )
        return result

    __getstate__ = fields_alone

    def __repr__(self) -> str:
        return f"laplace_hash({self.bits} bits, {self.dimension} numbers, {self.guarantee})"


def _rebuilt(certificate: Certificate) -> NoisyVectors:
    """The mechanism behind its certificate, which states its parameters and proves nothing."""
    stated = certificate.document
    return laplace_hash(
        epsilon=certificate.epsilon,
        dimension=stated["claim"]["distances"]["dimension"],
        bits=stated["proof"]["bits"],
        seed=Seed.from_hex(stated["seed"]),
    )


ENTRY = Entry(
    NAME,
    laplace_hash,
    Takes("vector", gives="bytes", form="arrow", dimension=True),
    summary="codes of vectors with spherical noise, in floats: a baseline",
    words="vectors",
    rebuild=_rebuilt,
)
