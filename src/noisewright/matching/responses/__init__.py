"""Responses: what makes hashes private. Exact coins for packed bits, and the mechanisms of the registry."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.matching.responses.flipping import DeviceBits as DeviceBits
    from noisewright.matching.responses.flipping import flipped as flipped
else:
    __getattr__, __dir__ = door(__name__)
