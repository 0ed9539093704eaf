r"""Private codes of vectors: a public hash, every bit of it flipped with an exact probability (LSHRR).

A vector is hashed to ``bits`` bits by a public :class:`~noisewright.matching.hashing.Scheme`, and each bit goes through
randomised response on its own, with a flip probability of :math:`1 / (1 + e^\epsilon)`, an integer over a power of two, rounded
up. Similar vectors have similar codes, so that a server that sees codes alone can find them.

**Guarantee, whatever the hash and for the seed as it is.** ``epsilon`` for every bit in which the hashes of two vectors differ,
hence ``bits * epsilon`` between any two; exactly. The certificate proves it as a product of independent bits.

**What it means for a distance**, such as an angle, is said by :meth:`HashedResponse.promise`, and is another kind of
statement: it is about two vectors that were fixed before the public seed was drawn, and it holds except for a delta.
Anyone who chooses vectors when the seed is known can find some that are near each other and differ in many bits.

>>> from noisewright.core.seed import Seed
>>> taste = lshrr(epsilon="1/2", dimension=3, bits=64, seed=Seed(bytes(32)))
>>> codes = taste.release([[5.0, 0.0, 3.0], [4.0, 0.0, 3.0]])
>>> codes.shape, codes.dtype.name
((2, 8), 'uint8')
>>> taste.certificate().verify()  # doctest: +NORMALIZE_WHITESPACE
'epsilon = 0.5 per unit of hamming, over 64 independent parts; between hashes of vectors of 3 numbers (projection), as stated;
uses the public seed 000000000000..., as stated'
>>> round(taste.promise(radius=0.05, delta=0.01).loss, 2)
2.02

Reference: Fernandes, Kawamoto and Murakami, *Locality sensitive hashing with extended differential privacy* (2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.certificates.product import parts_of
from noisewright.core.exact import Exact
from noisewright.core.loading.parameters import DIMENSION, EPSILON, SEED, Parameter
from noisewright.core.mechanism import Takes
from noisewright.core.seed import Seed
from noisewright.matching._parameters import BITS, ZERO
from noisewright.matching.hashing.scheme import Scheme
from noisewright.matching.promises.about_seeds import SeedPromise, scheme_promise
from noisewright.matching.responses._columns import give_codes, read_vectors
from noisewright.matching.responses._over_hashes import OverHashes
from noisewright.matching.responses.flipping import flipped
from noisewright.mechanisms.registry import Entry

__all__ = ["HashedResponse", "lshrr"]

FAMILY = Parameter(
    "Hash functions of vectors: projection, fast-projection, sampling or minhash.", 'family = "projection"'
)

NAME = "lshrr"
SHOWN_DELTA = 1e-6
SHOWN_RADIUS = 0.1
"""Default guarantee in words, without a distance and a delta."""


def lshrr(
    *,
    epsilon: Annotated[Exact, EPSILON],
    dimension: Annotated[int, DIMENSION],
    bits: Annotated[int, BITS],
    seed: Annotated[Seed, SEED],
    family: Annotated[Literal["projection", "fast-projection", "sampling", "minhash"], FAMILY] = "projection",
    zero: Annotated[Literal["refuse", "fixed"], ZERO] = "refuse",
) -> HashedResponse:
    """Noisy codes of ``bits`` bits for vectors of ``dimension`` numbers, at ``epsilon`` for every bit that differs.

    ``zero``: a vector of zeros has no direction; one of them refuses all that is released, without telling which it was, or all
    of them have one ``fixed`` code before the noise.
    """
    return HashedResponse(Scheme(dimension=dimension, bits=bits, epsilon=epsilon, seed=seed, family=family, zero=zero))


@dataclass(frozen=True)
class HashedResponse(OverHashes):
    """Noisy codes under a public scheme; build it with :func:`lshrr`, or from the scheme of a service."""

    name = NAME

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One code for every vector, a row of bytes; a column of Arrow gives one."""
        vectors, form = read_vectors(values, self.scheme.dimension)
        return give_codes(flipped(self.scheme.hash(vectors), self.scheme.bits, self.scheme.flip, rng), form)

    def promise(
        self,
        *,
        delta: float,
        radius: float | None = None,
        distance: float | None = None,
        accountant: str = "smallest",
        notion: str = "xdp",
    ) -> SeedPromise:
        """Return the guarantee within a distance of two vectors that were fixed before the seed was drawn."""
        return scheme_promise(
            self.scheme, delta=delta, radius=radius, distance=distance, accountant=accountant, notion=notion
        )

    def in_words(self) -> str:
        """The guarantee for the seed as it is, and the one before it was drawn."""
        text = self.guarantee.in_words()
        if not self.scheme.words.exact or not self.epsilon:
            return text
        return f"{text} {self.promise(radius=SHOWN_RADIUS, delta=SHOWN_DELTA).in_words()}"

    def __repr__(self) -> str:
        return f"lshrr({self.scheme})"


def _rebuilt(certificate: Certificate) -> HashedResponse:
    """The mechanism behind its certificate."""
    stated, (part,) = certificate.document, parts_of(certificate)
    hashing = stated["hashing"]
    return lshrr(
        epsilon=certificate.epsilon,
        bits=part.count or 0,
        seed=Seed.from_hex(stated["seed"]),
        family=hashing["family"],
        dimension=hashing["dimension"],
        zero=hashing["zero"],
    )


ENTRY = Entry(
    NAME,
    lshrr,
    Takes("vector", gives="bytes", form="arrow", dimension=True, unit="differing bit"),
    summary="private codes of vectors, by which similar ones are found",
    words="vectors",
    rebuild=_rebuilt,
)
