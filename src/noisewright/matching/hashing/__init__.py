"""Hashing: public functions that give similar profiles similar bits, packed codes of bits, and the public file about both.

Bits alone are not private: :mod:`noisewright.matching.responses` makes them so.
"""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.matching.hashing.codes import Codes as Codes
    from noisewright.matching.hashing.codes import as_codes as as_codes
    from noisewright.matching.hashing.codes import code_bytes as code_bytes
    from noisewright.matching.hashing.codes import hamming as hamming
    from noisewright.matching.hashing.codes import hamming_matrix as hamming_matrix
    from noisewright.matching.hashing.codes import packed as packed
    from noisewright.matching.hashing.codes import unpacked as unpacked
    from noisewright.matching.hashing.minhash import MinHash as MinHash
    from noisewright.matching.hashing.projection import Projection as Projection
    from noisewright.matching.hashing.sampling import Sampling as Sampling
    from noisewright.matching.hashing.scheme import FAMILIES as FAMILIES
    from noisewright.matching.hashing.scheme import Family as Family
    from noisewright.matching.hashing.scheme import Hashing as Hashing
    from noisewright.matching.hashing.scheme import Scheme as Scheme
    from noisewright.matching.hashing.structured import FastProjection as FastProjection
else:
    __getattr__, __dir__ = door(__name__)
