"""Responses: mechanisms for hashes. Exact coins for packed bits, and the mechanisms of the registry."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.matching.responses.code_metric import CodeDistance as CodeDistance
    from noisewright.matching.responses.flipping import DeviceBits as DeviceBits
    from noisewright.matching.responses.flipping import flipped as flipped
    from noisewright.matching.responses.hashed_vectors import HashedResponse as HashedResponse
    from noisewright.matching.responses.hashed_vectors import lshrr as lshrr
    from noisewright.matching.responses.noisy_vectors import NoisyVectors as NoisyVectors
    from noisewright.matching.responses.noisy_vectors import laplace_hash as laplace_hash
    from noisewright.matching.responses.set_answers import HashedSets as HashedSets
    from noisewright.matching.responses.set_answers import hashed_sets as hashed_sets
else:
    __getattr__, __dir__ = door(__name__)
