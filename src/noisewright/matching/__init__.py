"""Matching: short noisy codes of people's profiles, by which an untrusted server finds similar ones."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.matching.client import Client as Client
    from noisewright.matching.hashing.scheme import Scheme as Scheme
else:
    __getattr__, __dir__ = door(__name__)
